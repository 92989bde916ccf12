"""One process of the app behind one browser, and the packets between it and the websocket."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from aisle.terminal_packets import HEADER_BYTES, MAX_PACKET_BYTES, PRELUDE, encode_packet

log = logging.getLogger("aisle.web")

LEAVING_S: Final = 10.0
"""How long a session may take to end, before it is ended."""

_LONGEST_LINE: Final = 1 << 16


class Start(NamedTuple):
    """How the process is started: its command line, variables, and descriptors that it inherits."""

    argv: Sequence[str]
    environ: Mapping[str, str]
    fds: Sequence[int] = ()
    token: str = ""
    """Of the person who signed in, until that moment; told by the pipe, where no one else reads."""
    until: float = 0.0


class AppProcess:
    """The process from its first frame to its end, which does not depend on the app. What goes wrong there is said
    where this server's own errors are said."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        show: Callable[[bytes], Awaitable[None]],
        hang_up: Callable[[], Awaitable[None]],
        on_left: Callable[[], None],
    ) -> None:
        """What the app draws goes to `show`, which raises ConnectionError when nobody is there; then `hang_up`.

        `on_left` is called when the app ends as somebody at it wanted, and not because the browser went away.
        """
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._stdin = process.stdin
        self._stdout = process.stdout
        self._show = show
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
        hang_up: Callable[[], Awaitable[None]],
        on_left: Callable[[], None],
    ) -> AppProcess:
        """Start it with so many columns and rows. Its person has said the PIN, and is not asked for it again."""
        process = await asyncio.create_subprocess_exec(
            *start.argv,
            f"--columns={size[0]}",
            f"--rows={size[1]}",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=dict(start.environ),
            pass_fds=tuple(start.fds),
            start_new_session=True,  # what is typed where the server runs is not for its screens
            limit=_LONGEST_LINE,
        )
        started = cls(process, show, hang_up, on_left)
        if start.token:
            await started._tell({"type": "pass", "token": start.token, "until": int(start.until)})
        return started

    async def type(self, data: bytes) -> None:
        """What is typed or scanned goes to the app."""
        await self._send(b"D", data)

    async def resize(self, columns: int, rows: int) -> None:
        """The browser's window has another size."""
        await self._tell({"type": "resize", "width": columns, "height": rows})

    async def stop(self) -> None:
        """The browser is gone: so is its session, at the step where it stands."""
        self._stopping = True
        await self._tell({"type": "quit"})
        self._stdin.close()
        for end in (None, self._process.terminate, self._process.kill):
            if end is not None:
                with contextlib.suppress(ProcessLookupError):
                    end()
            done, _ = await asyncio.wait({self._running}, timeout=LEAVING_S)
            if done:
                return

    async def _tell(self, message: Mapping[str, Any]) -> None:
        await self._send(b"M", json.dumps(message).encode())

    async def _send(self, kind: bytes, data: bytes) -> None:
        with contextlib.suppress(ConnectionError, RuntimeError):  # it has ended
            self._stdin.write(encode_packet(kind, data))
            await self._stdin.drain()

    async def _run(self) -> None:
        """Hand on what the app writes, until it has ended."""
        try:
            with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError, ValueError):
                if await self._stdout.readline() == PRELUDE:
                    await self._hand_on()
            while await self._stdout.read(_LONGEST_LINE):  # what nobody sees must not hold up its end
                pass
        finally:
            status = await self._process.wait()
            if status and not self._stopping:
                log.warning("A session has ended with status %d.", status)
            elif not self._stopping:
                self._on_left()
            await self._hang_up()

    async def _hand_on(self) -> None:
        """Packet by packet, until one cannot be read or nobody takes it any more."""
        while True:
            head = await self._stdout.readexactly(HEADER_BYTES)
            size = int.from_bytes(head[1:], "big")
            if size > MAX_PACKET_BYTES:
                return
            content = await self._stdout.readexactly(size)
            if head[:1] == b"D":
                await self._show(content)
