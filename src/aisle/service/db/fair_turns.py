"""Fair turns: waiting callers are served in rotation."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Final, Generic

from aisle.service.db.database_interface import Busy, T, TooManyWaiting

MOST_WAITING: Final = 64
"""Maximum number of turns that one caller waits for."""

CALLER: ContextVar[str] = ContextVar("aisle-caller", default="")
"""Key of the caller; '' for the service itself."""


class CallerQueue(Generic[T]):
    """Queue that hands out the items of its callers in rotation, and those of one caller in their order."""

    def __init__(self) -> None:
        self._by_caller: OrderedDict[str, deque[T]] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self._by_caller)

    def count(self, caller: str) -> int:
        """Return the number of waiting items of a caller."""
        return len(self._by_caller.get(caller, ()))

    def add(self, caller: str, item: T) -> None:
        """Add an item. A caller without waiting items goes behind all others."""
        self._by_caller.setdefault(caller, deque()).append(item)

    def take(self) -> T:
        """Remove and return the next item. Its caller goes behind all others."""
        caller, items = self._by_caller.popitem(last=False)
        item = items.popleft()
        if items:
            self._by_caller[caller] = items
        return item


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
