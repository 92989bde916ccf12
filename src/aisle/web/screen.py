"""One screen in one browser: a process of the app, and the packets between it and the websocket."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from aiohttp import web
from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

from aisle.packets import HEAD, LARGEST, PRELUDE
from aisle.tuples import NamedTuple

log = logging.getLogger("aisle.web")

LEAVING_S: Final = 10.0
"""How long a session may take to end, before it is ended."""

_LONGEST_LINE: Final = 1 << 16


class Start(NamedTuple):
    """How the process of a screen is started: its command line, variables, and descriptors that it inherits."""

    argv: Sequence[str]
    environ: Mapping[str, str]
    fds: Sequence[int] = ()
    token: str = ""
    """Of the person who signed in, until that moment; told by the pipe, where no one else reads."""
    until: float = 0.0


class Screen(AppService):
    """textual-serve's, but without a shell between, with an end that does not depend on the app, and what went wrong
    there goes where this server's own errors go."""

    def __init__(
        self, start: Start, socket: web.WebSocketResponse, downloads: DownloadManager, on_left: Callable[[], None]
    ) -> None:
        """`on_left` is called when the app ends as somebody at it wanted, and not because the browser went away."""
        super().__init__(
            "",
            write_bytes=socket.send_bytes,
            write_str=socket.send_str,
            close=self._hang_up,
            download_manager=downloads,
        )
        self._start = start
        self._socket = socket
        self._on_left = on_left
        self._stopping = False

    async def _open_app_process(self, width: int = 80, height: int = 24) -> asyncio.subprocess.Process:
        self._process = process = await asyncio.create_subprocess_exec(
            *self._start.argv,
            f"--columns={width}",
            f"--rows={height}",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=dict(self._start.environ),
            pass_fds=tuple(self._start.fds),
            start_new_session=True,  # what is typed where the server runs is not for its screens
            limit=_LONGEST_LINE,
        )
        self._stdin = process.stdin
        return process

    async def start(self, width: int, height: int) -> None:
        """Whose screen it is has said the PIN already, and is not asked for it again."""
        await super().start(width, height)
        if self._start.token:
            await self.send_meta({"type": "pass", "token": self._start.token, "until": int(self._start.until)})

    async def run(self) -> None:
        """Hands on what the app writes, until it has ended."""
        process = self._process
        assert process is not None
        assert process.stdout is not None
        try:
            with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError, ValueError):
                if await process.stdout.readline() == PRELUDE:
                    await self._hand_on(process.stdout)
            while await process.stdout.read(_LONGEST_LINE):  # what nobody sees must not hold up its end
                pass
        finally:
            status = await process.wait()
            if status and not self._stopping:
                log.warning("A session has ended with status %d.", status)
            elif not self._stopping:
                self._on_left()
            with contextlib.suppress(ConnectionError, RuntimeError):
                await self.remote_close()

    async def _hand_on(self, stream: asyncio.StreamReader) -> None:
        """Packet by packet, until one cannot be read or nobody takes it any more."""
        while True:
            head = await stream.readexactly(HEAD)
            size = int.from_bytes(head[1:], "big")
            if size > LARGEST:
                return
            content = await stream.readexactly(size)
            match head[:1]:
                case b"D":
                    await self.on_data(content)
                case b"M":
                    await self.on_meta(content)
                case b"P":
                    await self.on_packed(content)

    async def _hang_up(self) -> None:
        await self._socket.close()

    async def stop(self) -> None:
        """The browser is gone: so is its session, at the step where it stands."""
        if self._process is None or self._stdin is None:
            return
        self._stopping = True
        if self._task is None:  # the browser went while it began
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
            return
        await self._download_manager.cancel_app_downloads(app_service_id=self.app_service_id)
        with contextlib.suppress(ConnectionError):  # it has ended by itself
            await self.send_meta({"type": "quit"})
        self._stdin.close()
        for end in (None, self._process.terminate, self._process.kill):
            if end is not None:
                with contextlib.suppress(ProcessLookupError):
                    end()
            done, _ = await asyncio.wait({self._task}, timeout=LEAVING_S)
            if done:
                return
