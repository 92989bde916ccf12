"""Turns of callers: rounds of the event loop, and a queue for callers. One with much to do delays only itself.

The event loop serves every connection in each iteration. With hundreds of ready ones an iteration would take as long as
all of them, and any other client would wait for several iterations.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable
from functools import partial
from typing import Final, Generic, NamedTuple, TypeVar

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from aisle.caller_addresses import address_key

_IN_ROUND: Final = 8
"""Maximum number of steps in one iteration of the loop."""
_ROUND_S: Final = 0.005
"""Seconds after which a round begins no further step, since some take milliseconds."""


_MOST_KNOWN: Final = 10_000
KNOW_CLIENT: Final = "aisle.know_client"
"""Key of the scope for a function that the application calls if it knows who asks."""


class KnownClients:
    """Addresses with a client that the application knew lately."""

    def __init__(self) -> None:
        self._addresses: OrderedDict[str, None] = OrderedDict()

    def add(self, address: str) -> None:
        """Add an address, or keep it longer."""
        self._addresses[address] = None
        self._addresses.move_to_end(address)
        if len(self._addresses) > _MOST_KNOWN:
            self._addresses.popitem(last=False)

    def group_of(self, client: str) -> str:
        """Return the group that takes turns: the client itself if it is a known address, else that of all strangers."""
        return client if client in self._addresses else ""


class FairRounds:
    """Steps of clients, a few per iteration of the loop, in turn by group and then by client."""

    def __init__(self, known: KnownClients) -> None:
        self._known = known
        self._waiting = CallerQueue[Callable[[], object]]()
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
        self._waiting.add(Caller(self._known.group_of(client), client), later)
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
            self._begun += 1
            self._waiting.take()()
        if self._begun:
            self._plan()


_PART: Final = 16 << 10
"""Bytes of the parts in which longer answers are written.

Cached answers that nobody reads are then not copied per client.
"""


class FairStarts:
    """Outermost ASGI middleware that starts a few requests per iteration, taking turns by address."""

    def __init__(self, app: ASGIApp, known: KnownClients) -> None:
        self._app = app
        self._known = known
        self._rounds = FairRounds(known)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        turn, client = asyncio.Event(), address_key((scope.get("client") or ("",))[0])
        scope[KNOW_CLIENT] = partial(self._known.add, client)
        if not self._rounds.begin(client, turn.set):
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


T = TypeVar("T")


class Caller(NamedTuple):
    """Who waits for turns. Groups take turns, and within a group its members."""

    group: str = ""
    member: str = ""


class CallerQueue(Generic[T]):
    """Queue that hands out the items of its groups in rotation, of their members in rotation, and then in order."""

    def __init__(self) -> None:
        self._by_group: OrderedDict[str, OrderedDict[str, deque[T]]] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self._by_group)

    def count(self, caller: Caller) -> int:
        """Return the number of waiting items of a caller."""
        members = self._by_group.get(caller.group)
        return len(members.get(caller.member, ())) if members else 0

    def add(self, caller: Caller, item: T) -> None:
        """Add an item. A caller without waiting items goes behind all others."""
        self._by_group.setdefault(caller.group, OrderedDict()).setdefault(caller.member, deque()).append(item)

    def take(self) -> T:
        """Remove and return the next item. Its group, and its caller in it, go behind all others."""
        group, members = self._by_group.popitem(last=False)
        member, items = members.popitem(last=False)
        item = items.popleft()
        if items:
            members[member] = items
        if members:
            self._by_group[group] = members
        return item
