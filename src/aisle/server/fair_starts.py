"""Requests begin in turn: whoever sends many at once waits for them himself, and nobody else does.

The loop hears every connection in each of its rounds. With hundreds of them that have a request ready, a round would
take as long as all of these together, and a visitor waits for several rounds.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_IN_ROUND: Final = 8
"""So many requests begin in one round of the loop."""
_PART: Final = 64 << 10
"""Longer answers are written in such parts: what nobody reads waits where it is, once for all who asked for it."""
_HOME_BITS: Final = 64


def address_key(host: str) -> str:
    """What stands for whoever asks from an address: of the newer kind everybody has as many as he likes, all with the
    same beginning."""
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, IPv6Address):
        mapped = address.ipv4_mapped
        return str(mapped or ip_network((int(address) >> _HOME_BITS << _HOME_BITS, _HOME_BITS)))
    return str(address)


class FairStarts:
    """ASGI middleware, outermost: in each round a few requests begin, of all addresses in turn."""

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
