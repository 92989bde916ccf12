"""App process of one browser, and the packets between it and the websocket."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, NamedTuple

from aisle.browser_addresses_and_packets import HEADER_BYTES, MAX_PACKET_BYTES, PRELUDE, encode_packet

log = logging.getLogger("aisle.web")

LEAVING_S: Final = 10.0
"""Seconds for a session to end, before the process is terminated and then killed."""

_LONGEST_LINE: Final = 1 << 16


class Start(NamedTuple):
    """Start parameters of a process: command line, environment and inherited file descriptors."""

    argv: Sequence[str]
    environ: Mapping[str, str]
    fds: Sequence[int] = ()
    token: str = ""
    """Token of the person, valid until `until`. It is sent through the pipe, which no other process can read."""
    until: float = 0.0


class AppProcess:
    """App process from its first frame to its end. Its standard error is that of the server."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        show: Callable[[bytes], Awaitable[None]],
        hear: Callable[[Mapping[str, object]], Awaitable[None]],
        hang_up: Callable[[int], None],
        on_left: Callable[[], None],
    ) -> None:
        """Wrap a started process.

        What it draws goes to `show`, its messages go to `hear`. `hang_up` is called with its status at its end.
        `on_left` is called before if the person ends the app, and not if it is stopped.
        """
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._stdin = process.stdin
        self._stdout = process.stdout
        self._show = show
        self._hear = hear
        self._hang_up = hang_up
        self._on_left = on_left
        self._stopping = False
        self._running = asyncio.create_task(self._run())

    @classmethod
    async def start(
        cls,
        start: Start,
        size: tuple[int, int],
        show: Callable[[bytes], Awaitable[None]],
        hear: Callable[[Mapping[str, object]], Awaitable[None]],
        hang_up: Callable[[int], None],
        on_left: Callable[[], None],
    ) -> AppProcess:
        """Start the app with this screen size. It gets the person's token, so that it asks for no PIN again."""
        process = await asyncio.create_subprocess_exec(
            *start.argv,
            f"--columns={size[0]}",
            f"--rows={size[1]}",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=dict(start.environ),
            pass_fds=tuple(start.fds),
            start_new_session=True,  # Keys typed in the server's terminal must not reach the app.
            limit=_LONGEST_LINE,
        )
        started = cls(process, show, hear, hang_up, on_left)
        if start.until:
            await started.tell({"type": "pass", "token": start.token, "until": int(start.until)})
        return started

    async def type(self, text: str, number: int = 0) -> None:
        """Send typed or scanned text to the app. The app tells when it has taken the text of this number."""
        data = encode_packet(b"D", text.encode("utf-8", "replace"))
        await self._send(data + _message({"type": "mark", "number": number}) if number else data)

    async def resize(self, columns: int, rows: int) -> None:
        """Send the new size of the browser's window."""
        await self.tell({"type": "resize", "width": columns, "height": rows})

    async def attach(self, columns: int, rows: int) -> None:
        """Tell the app that another page shows it, which knows nothing of its modes and its screen."""
        await self.tell({"type": "attach", "width": columns, "height": rows})

    async def stop(self) -> None:
        """End the session because the browser is gone. Its state is kept at the current step."""
        self._stopping = True
        with contextlib.suppress(ConnectionError, RuntimeError):  # The process has ended.
            self._stdin.write(_message({"type": "quit"}))
        self._stdin.close()
        for end in (None, self._process.terminate, self._process.kill):
            if end is not None:
                with contextlib.suppress(ProcessLookupError):
                    end()
            done, _ = await asyncio.wait({self._running}, timeout=LEAVING_S)
            if done:
                return

    async def tell(self, message: Mapping[str, object]) -> None:
        """Send a message to the app."""
        await self._send(_message(message))

    async def _send(self, packet: bytes) -> None:
        with contextlib.suppress(ConnectionError, RuntimeError):  # The process has ended.
            self._stdin.write(packet)
            await self._stdin.drain()

    async def _run(self) -> None:
        """Pass frames on until the process ends."""
        try:
            with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError, ValueError):
                if await self._stdout.readline() == PRELUDE:
                    await self._hand_on()
            # Discard the rest, so that a full pipe does not block the end.
            while await self._stdout.read(_LONGEST_LINE):
                pass
        finally:
            status = await self._process.wait()
            if status and not self._stopping:
                log.warning("A session has ended with status %d.", status)
            elif not self._stopping:
                self._on_left()
            self._hang_up(status)

    async def _hand_on(self) -> None:
        """Pass packets on until one is invalid."""
        while True:
            head = await self._stdout.readexactly(HEADER_BYTES)
            size = int.from_bytes(head[1:], "big")
            if size > MAX_PACKET_BYTES:
                return
            content = await self._stdout.readexactly(size)
            if head[:1] == b"D":
                await self._show(content)
            elif head[:1] == b"M":
                await self._hear(json.loads(content))


def _message(message: Mapping[str, object]) -> bytes:
    return encode_packet(b"M", json.dumps(message).encode())
