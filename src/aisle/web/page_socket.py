"""Websocket of one page: what is shown and said on it, and what the browser sends."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any, Final

from starlette.types import Message
from starlette.websockets import WebSocket

from aisle.web.sign_ins import BrowserSession

LAST_INPUTS_S: Final = 2.0
"""Seconds for what a closed page has sent already, if its app takes it slowly or not at all."""

LEFT, SERVER_STOPS = 1000, 1012
"""Close codes: the app or the page has ended; the server ends, and another one may follow."""
ENDED, ELSEWHERE, TOO_MANY, FAILED = 4000, 4001, 4002, 4003
"""Close codes: the sign-in has ended; the window goes on in another page; the person has too many windows; the app has
failed."""
PAGE_IS_GONE: Final = 1001
"""Close code of a browser whose page was closed or loaded again."""


class PageSocket:
    """Websocket of one page, from the first message of the browser to its end."""

    def __init__(self, session: BrowserSession, socket: WebSocket) -> None:
        self.session = session
        self.is_silent = asyncio.Event()
        """Set while nothing is read from it: before its turn, and when all that it has sent is passed on."""
        self.is_silent.set()
        self.browser_code = 0
        """Close code of the browser; 0 while it is open or was closed from here."""
        self._socket = socket
        self._is_closed = False
        self._ends_at: float | None = None
        self._patience: asyncio.Timeout | None = None

    @contextlib.asynccontextmanager
    async def conversation(self) -> AsyncIterator[None]:
        """Context that is left at the latest `LAST_INPUTS_S` after the websocket was closed from here."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(self._ends_at) as self._patience:
                yield

    async def show(self, data: bytes) -> None:
        """Send screen data. Raise ConnectionError if the browser is gone."""
        await self._send({"type": "websocket.send", "bytes": data})

    async def say(self, message: Any) -> None:
        """Send a message as JSON. Raise ConnectionError if the browser is gone."""
        await self._send({"type": "websocket.send", "text": json.dumps(message)})

    async def close(self, code: int = LEFT) -> None:
        """Close the websocket. The browser may be gone already."""
        if not self._is_closed:
            with contextlib.suppress(ConnectionError):
                await self._send({"type": "websocket.close", "code": code})
            self._is_closed = True
            self._ends_at = asyncio.get_running_loop().time() + LAST_INPUTS_S
            if self._patience is not None:
                with contextlib.suppress(RuntimeError):  # It has ended.
                    self._patience.reschedule(self._ends_at)

    async def texts(self) -> AsyncIterator[str]:
        """Yield the messages of the browser until one side closes."""
        while (message := await self._socket.receive())["type"] == "websocket.receive":
            if (text := message.get("text")) is not None:
                yield text
        self.browser_code = 0 if self._is_closed else int(message.get("code") or LEFT)
        self._is_closed = True

    async def _send(self, message: Message) -> None:
        if self._is_closed:
            raise ConnectionResetError
        try:
            await self._socket.send(message)
        except Exception as problem:  # The type of the error depends on the server.
            self._is_closed = True
            raise ConnectionResetError from problem
