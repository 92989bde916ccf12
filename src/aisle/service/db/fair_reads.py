"""Turns at the readers of a database: callers take turns, however many reads one of them sends."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Final

from aisle.service.db.database import Busy, TooManyWaiting

MOST_WAITING: Final = 64
"""Maximum number of waiting long reads of one caller."""
CALLER: ContextVar[str] = ContextVar("aisle-caller", default="")
"""Key of the caller; '' for the service itself."""


class FairTurns:
    """Limited number of simultaneous turns, granted to callers in rotation; threads may share it."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
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
                    raise Busy("The database has been busy with other reads for too long.") from problem
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
            waiting = self._waiting.get(caller, deque())
            if len(waiting) >= MOST_WAITING:
                raise TooManyWaiting(f"{MOST_WAITING} long reads of this caller wait already.")
            self._waiting[caller] = waiting
            future = asyncio.get_running_loop().create_future()
            waiting.append(future)
            return future

    def _give_back(self) -> None:
        with self._lock:
            if not self._waiting:
                self._free += 1
                return
            caller, waiting = self._waiting.popitem(last=False)
            future = waiting.popleft()
            if waiting:
                self._waiting[caller] = waiting
        future.get_loop().call_soon_threadsafe(self._hand_on, future)

    def _hand_on(self, future: asyncio.Future[None]) -> None:
        if future.done():  # The caller gave up.
            self._give_back()
        else:
            future.set_result(None)
