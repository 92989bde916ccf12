"""Fair turns: waiting callers are served in rotation."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Final

from aisle.server.caller_turns import Caller, CallerQueue
from aisle.service.db.database_interface import Busy, TooManyWaiting

MOST_WAITING: Final = 64
"""Maximum number of turns that one caller waits for."""

MOST_KNOWN: Final = 10_000
"""Maximum number of callers that are known."""


_SERVICE: Final = Caller()
CALLER: ContextVar[Caller] = ContextVar("aisle-caller", default=_SERVICE)
"""Caller of the current request; the service itself outside of one.

The group is the id of the token that a person signed in with, or of the token itself; '' for the service itself.
"""


class KnownCallers:
    """Callers by the hashes of their tokens, as far as they were valid lately. All others are one group."""

    def __init__(self) -> None:
        self._by_hash: OrderedDict[str, Caller] = OrderedDict()

    def find(self, token_hash: str, address: str) -> Caller:
        """Return the caller with this token. Without a known one the address is a member of the group of strangers."""
        return self._by_hash.get(token_hash) or Caller("?", address)

    def add(self, token_hash: str, caller: Caller) -> None:
        """Add the caller, or keep it longer."""
        self._by_hash[token_hash] = caller
        self._by_hash.move_to_end(token_hash)
        if len(self._by_hash) > MOST_KNOWN:
            self._by_hash.popitem(last=False)

    def remove(self, token_hash: str) -> None:
        """Remove the caller of a token that is valid no longer."""
        self._by_hash.pop(token_hash, None)


class FairTurns:
    """Limited number of simultaneous turns, granted to callers in rotation; threads may share it."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._waiting = CallerQueue[asyncio.Future[None]]()
        self._lock = Lock()

    @asynccontextmanager
    async def turn(self, seconds: float) -> AsyncIterator[bool]:
        """Wait at most this many seconds for a turn. Yield True if it was necessary to wait.

        Raise Busy after the time, TooManyWaiting if this caller has too many waiting reads.
        """
        waiting = self._take_or_wait()
        if waiting is not None:
            try:
                async with asyncio.timeout(seconds):
                    await waiting
            except BaseException as problem:
                if waiting.done() and not waiting.cancelled():
                    self._give_back()
                if isinstance(problem, TimeoutError):
                    raise Busy("The service has been busy with other requests for too long.") from problem
                raise
        try:
            yield waiting is not None
        finally:
            self._give_back()

    def _take_or_wait(self) -> asyncio.Future[None] | None:
        caller = CALLER.get()
        with self._lock:
            if self._free:
                self._free -= 1
                return None
            if self._waiting.count(caller) >= MOST_WAITING:
                raise TooManyWaiting(f"{MOST_WAITING} requests of this caller wait already.")
            future = asyncio.get_running_loop().create_future()
            self._waiting.add(caller, future)
            return future

    def _give_back(self) -> None:
        with self._lock:
            if not self._waiting:
                self._free += 1
                return
            future = self._waiting.take()
        future.get_loop().call_soon_threadsafe(self._hand_on, future)

    def _hand_on(self, future: asyncio.Future[None]) -> None:
        if future.done():  # The caller gave up.
            self._give_back()
        else:
            future.set_result(None)
