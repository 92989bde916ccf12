"""What every simulated store has, whatever service it is at: hosts, a clock that all of them live by, and an end."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from random import Random
from time import monotonic

import httpx

from aisle.courier.pull.read_timetable import PullIntervals
from tests.courier.simulated_time import Time
from tests.faults.host import Host
from tests.faults.link import Line

_MOST_TURNS = 100_000
"""Turns of the loop after which who is still at work will never rest."""
_REAL_LIMIT_S = 60.0
"""Real seconds that a service may be at work on one request."""
_LONGEST_S = 7200.0
"""Simulated seconds after which what still waits will wait for ever."""
_MOMENT_S = 1e-6
"""Between two looks at the clock, while no time passes."""
_MOST_AHEAD_S = 1.0
"""So far from the time that passes the clock may come by being looked at."""


class Clock(Time):
    """The courier tests' clock, for a loop that nobody works beside: it jumps as soon as nothing is left to do.

    It says no moment twice, as a courier's own does: what is read after a confirmation begins later than it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._said = self.now

    def clock(self) -> float:
        """Seconds since 1970, each time a little later."""
        is_same = 0 <= self._said - self.now < _MOST_AHEAD_S  # else time has passed, or was set
        self._said = self._said + _MOMENT_S if is_same else self.now
        return self._said

    async def until(self, condition: Callable[[], object], within_s: float = _LONGEST_S) -> None:
        """Lets time pass until the condition holds; fails when it does not within so many of its seconds."""
        end = self.now + within_s
        while True:
            await self.rest()
            if condition():
                return
            assert self._sleepers, "what was waited for does not happen, and nobody waits for anything else"
            self._jump(end)

    async def rest(self) -> None:
        """Returns when everybody waits for time to pass."""
        ready = asyncio.get_running_loop()._ready  # type: ignore[attr-defined]  # whom the loop would let go on now
        real_end = monotonic() + _REAL_LIMIT_S
        turns = 0
        while turns < _MOST_TURNS:
            await asyncio.sleep(0)
            turns += bool(ready) or monotonic() >= real_end
            if not ready and not self.busy():
                return
            if not ready and monotonic() < real_end:  # for a database of threads, or of another process
                await asyncio.sleep(0.0005)
        raise AssertionError(f"somebody is at work without end, and no time passes: {asyncio.all_tasks()}")


class Shop(ABC):
    """Hosts at one service. `secret` is their token, `transport` what their lines lead to."""

    secret = "token"
    transport: httpx.AsyncBaseTransport

    def __init__(self, folder: Path, seed: int) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder = folder
        self.seed = seed
        self.random = Random(seed)
        """Chance for whoever tests; hosts have their own."""
        self.time = Clock()
        self.time.busy = lambda: any(host.line.busy for host in self.hosts)
        self.hosts: list[Host] = []
        self.pace = PullIntervals()
        """Of couriers that begin from now on."""

    @property
    def host(self) -> Host:
        """The first host."""
        return self.hosts[0]

    @abstractmethod
    def crash_in(self, statements: int | None) -> None:
        """The service's process ends at that statement; None: not any more."""

    def line(self, host: Host) -> Line:
        """The line from a host to the service."""
        return Line(self.transport, self.time.sleep, self.crash_in)

    async def add_host(self) -> Host:
        """Another host, with a courier that has the whole store in its cache."""
        host = Host(self, f"host-{len(self.hosts) + 1}")
        self.hosts.append(host)
        await host.start()
        await self.time.until(lambda: host.courier and host.courier.full_sync.progress.completed)
        return host

    async def step(self, seconds: float = 0.0) -> None:
        """The couriers do what they can do now, and for so many seconds."""
        await self.time.rest()
        if seconds:
            await self.time.pass_(seconds)
            await self.time.rest()

    async def close(self) -> None:
        """Lets go of everything."""
        for host in self.hosts:
            await host.close()
