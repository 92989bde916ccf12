"""Fair start of requests: a client with many simultaneous requests delays only itself.

The event loop serves every connection in each iteration. With hundreds of ready requests an iteration would take as
long as all of them, and any other client would wait for several iterations.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from aisle.addresses import address_key

_IN_ROUND: Final = 8
"""Maximum number of requests that start in one iteration of the loop."""
_PART: Final = 64 << 10
"""Bytes of the parts in which longer answers are written.

Cached answers that nobody reads are then not copied per client.
"""


class FairStarts:
    """Outermost ASGI middleware that starts a few requests per iteration, taking turns by address."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self._begun = 0
        self._is_in_round = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if self._waiting or self._begun >= _IN_ROUND:
            await self._turn(address_key((scope.get("client") or ("",))[0]))
        else:
            self._begun += 1
            self._plan_round()
        await self._app(scope, receive, _send_in_parts(send))

    async def _turn(self, address: str) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(address, deque()).append(turn)
        await turn

    def _plan_round(self) -> None:
        if not self._is_in_round:
            self._is_in_round = True
            asyncio.get_running_loop().call_soon(self._round)

    def _round(self) -> None:
        self._is_in_round = False
        self._begun = 0
        while self._waiting and self._begun < _IN_ROUND:
            address, turns = self._waiting.popitem(last=False)
            turn = turns.popleft()
            if turns:
                self._waiting[address] = turns
            if not turn.done():
                turn.set_result(None)
                self._begun += 1
        if self._begun:
            self._plan_round()


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
