"""Bad weather between two real processes: a TCP proxy that delays, squeezes, swallows, cuts and refuses.

It runs on a thread of its own; `set` changes the weather at any time, for the connections that stand as for new ones.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from random import Random
from typing import NamedTuple, Self


class Weather(NamedTuple):
    """What happens to connections and to their bytes."""

    name: str
    refuses: bool = False
    """Connections are turned away, and those that stand are closed."""
    resets: float = 0.0
    """Chance that a piece of data ends its connection by a reset instead of passing."""
    swallows_up: bool = False
    """What goes to the service never arrives, and nobody is told: the connection stays half open."""
    swallows_down: bool = False
    """The same for what comes from it."""
    delay_s: float = 0.0
    """Every piece of data is so much later."""
    bytes_a_second: float = 0.0
    """0 for no limit."""


FINE = Weather("fine")
SLOW = Weather("slow", delay_s=0.15, bytes_a_second=8000)
GONE = Weather("gone", refuses=True)
RESETTING = Weather("resetting", resets=0.4)
LOST_UP = Weather("lost on the way there", swallows_up=True)
LOST_DOWN = Weather("lost on the way back", swallows_down=True)
HOLE = Weather("a hole", swallows_up=True, swallows_down=True)

STORMS = (SLOW, GONE, RESETTING, LOST_UP, LOST_DOWN, HOLE)

_PIECE = 1200
_RESET = struct.pack("ii", 1, 0)


class Proxy:
    """Listens on a port of this machine and passes on to `port`, as the weather is."""

    def __init__(self, port: int, seed: int = 0) -> None:
        self.weather = FINE
        self.passed = 0
        """Connections that were accepted."""
        self._to = port
        self._chance = Random(seed)
        self._standing: set[socket.socket] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.setblocking(False)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._run, name="weather", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._listener.close()

    def set(self, weather: Weather) -> None:
        """From now on the weather is this."""
        self._loop.call_soon_threadsafe(self._turn, weather)

    def _turn(self, weather: Weather) -> None:
        self.weather = weather
        if weather.refuses:
            for each in list(self._standing):
                _reset(each)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        accepting = self._loop.create_task(self._accept())
        self._loop.run_forever()
        for task in (accepting, *self._tasks):
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(accepting, *self._tasks, return_exceptions=True))
        for each in list(self._standing):
            each.close()
        self._loop.close()

    async def _accept(self) -> None:
        while True:
            near, _ = await self._loop.sock_accept(self._listener)
            near.setblocking(False)
            if self.weather.refuses:
                _reset(near)
                near.close()
                continue
            self.passed += 1
            self._standing.add(near)
            task = self._loop.create_task(self._serve(near))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _serve(self, near: socket.socket) -> None:
        far = socket.socket()
        far.setblocking(False)
        self._standing.add(far)
        try:
            await self._loop.sock_connect(far, ("127.0.0.1", self._to))
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pump(near, far, up=True))
                both.create_task(self._pump(far, near, up=False))
        except* OSError:
            pass
        finally:
            self._standing -= {near, far}
            near.close()
            far.close()

    async def _pump(self, source: socket.socket, sink: socket.socket, *, up: bool) -> None:
        """One direction of a connection; once something was swallowed, all that follows is."""
        deaf = False
        while data := await self._loop.sock_recv(source, _PIECE):
            weather = self.weather
            deaf = deaf or (weather.swallows_up if up else weather.swallows_down)
            if self._chance.random() < weather.resets:
                _reset(source)
                raise ConnectionResetError
            slowed = len(data) / weather.bytes_a_second if weather.bytes_a_second else 0.0
            if weather.delay_s or slowed:
                await asyncio.sleep(weather.delay_s + slowed)
            if not deaf:
                await self._loop.sock_sendall(sink, data)
        if not deaf:
            sink.shutdown(socket.SHUT_WR)


def _reset(each: socket.socket) -> None:
    """The other side hears a reset, and whoever waits for data here hears the end of it."""
    try:
        each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        each.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
