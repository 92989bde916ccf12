"""Fair start of requests: a client with many simultaneous requests delays only itself."""

from __future__ import annotations

import asyncio
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from aisle.caller_keys import address_key
from aisle.server.fair_rounds import FairRounds

_PART: Final = 64 << 10
"""Bytes of the parts in which longer answers are written.

Cached answers that nobody reads are then not copied per client.
"""


class FairStarts:
    """Outermost ASGI middleware that starts a few requests per iteration, taking turns by address."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._rounds = FairRounds()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        turn = asyncio.Event()
        if not self._rounds.begin(address_key((scope.get("client") or ("",))[0]), turn.set):
            await turn.wait()
        await self._app(scope, receive, _send_in_parts(send))


def _send_in_parts(send: Send) -> Send:
    async def send_parts(message: Message) -> None:
        body = message.get("body", b"")
        if len(body) <= _PART:
            await send(message)
            return
        for start in range(0, len(body), _PART):
            more = start + _PART < len(body) or message.get("more_body", False)
            await send({**message, "body": body[start : start + _PART], "more_body": more})

    return send_parts
