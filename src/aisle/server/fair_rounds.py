"""Rounds of the event loop: a client with much to do at once delays only itself.

The event loop serves every connection in each iteration. With hundreds of ready ones an iteration would take as long as
all of them, and any other client would wait for several iterations.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from aisle.caller_addresses import address_key

_IN_ROUND: Final = 8
"""Maximum number of steps in one iteration of the loop."""
_ROUND_S: Final = 0.005
"""Seconds after which a round begins no further step, since some take milliseconds."""


class FairRounds:
    """Steps of clients, a few per iteration of the loop, in turn by client."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, deque[Callable[[], object]]] = OrderedDict()
        self._begun = 0
        self._is_planned = False

    def begin(self, client: str, later: Callable[[], object]) -> bool:
        """Return True if a step may begin now. Otherwise `later` is called in the client's turn."""
        if self._waiting or self._begun >= _IN_ROUND:
            self.wait(client, later)
            return False
        self._begun += 1
        self._plan()
        return True

    def wait(self, client: str, later: Callable[[], object]) -> None:
        """Call `later` in the client's turn, in a later iteration."""
        self._waiting.setdefault(client, deque()).append(later)
        self._plan()

    def _plan(self) -> None:
        if not self._is_planned:
            self._is_planned = True
            asyncio.get_running_loop().call_soon(self._round)

    def _round(self) -> None:
        self._is_planned = False
        self._begun = 0
        clock = asyncio.get_running_loop().time
        until = clock() + _ROUND_S
        while self._waiting and self._begun < _IN_ROUND and clock() < until:
            client, steps = self._waiting.popitem(last=False)
            step = steps.popleft()
            if steps:
                self._waiting[client] = steps
            self._begun += 1
            step()
        if self._begun:
            self._plan()


_PART: Final = 16 << 10
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
