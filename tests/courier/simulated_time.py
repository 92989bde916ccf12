"""Time that passes as fast as the work of a courier allows."""

import asyncio
import heapq
from collections.abc import Callable
from itertools import count
from time import monotonic
from typing import Any

START = 1_800_000_000.0
"""Noon of some day."""

_REAL_LIMIT_S = 60.0
_SETTLE = 40
"""Turns of the loop after which nothing is left to do but to wait for time, a request or a thread."""
_QUIET = 4
"""Turns in a row in which nothing was to be called: what comes by a socket is called in the turn after it is read."""
_LOOKS = (1, 2, 3, 5, 8, 13, 21, _SETTLE)
"""The turns after which a condition is looked at: many of them read the cache."""


class Time:
    """A clock and a sleep. Nobody waits: time jumps to the next sleeper once all others have nothing to do."""

    def __init__(self) -> None:
        self.now = START
        self.busy: Callable[[], object] = lambda: False
        """Whether somebody is at work whom the loop does not see, such as a service with threads."""
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = count()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._calls = 0
        """What the loop was asked to call so far."""

    def clock(self) -> float:
        """Seconds since 1970."""
        return self.now

    async def sleep(self, seconds: float) -> None:
        """Returns when time has come that far."""
        awake = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.now + seconds, next(self._order), awake))
        await awake

    async def until(self, condition: Callable[[], object], within_s: float = 3600.0) -> None:
        """Lets time pass until the condition holds; fails when it does not within so many of its seconds."""
        end, real_end = self.now + within_s, monotonic() + _REAL_LIMIT_S
        while not condition():
            assert monotonic() < real_end, "what was waited for does not happen"
            if await self._settled(condition):
                return
            if self.busy():
                await asyncio.sleep(0.0005)
            else:
                self._jump(end)

    async def _settled(self, condition: Callable[[], object]) -> bool:
        """Let all others do what there is to do. Return whether the condition holds."""
        self._count_calls()
        quiet = 0
        for turn in range(1, _SETTLE + 1):
            before = self._calls
            await asyncio.sleep(0)  # one call
            if turn in _LOOKS and condition():
                return True
            quiet = quiet + 1 if self._calls == before + 1 else 0
            if quiet == _QUIET:
                break
        return bool(condition())

    def _count_calls(self) -> None:
        loop = asyncio.get_running_loop()
        if loop is self._loop:
            return
        self._loop, call_soon = loop, loop.call_soon

        def counted(*arguments: Any, **options: Any) -> asyncio.Handle:
            self._calls += 1
            return call_soon(*arguments, **options)

        counting: Any = counted
        loop.call_soon = counting  # type: ignore[method-assign]

    async def pass_(self, seconds: float) -> None:
        """Lets so many seconds pass."""
        end = self.now + seconds
        mark: list[bool] = []
        waking = asyncio.ensure_future(self.sleep(seconds))
        waking.add_done_callback(lambda _: mark.append(True))
        await self.until(lambda: mark, seconds + 1)
        assert self.now >= end

    def wake_due(self) -> None:
        """Wakes whose time has come, in the order in which it came; when people work, it passes without that."""
        while self._sleepers and self._sleepers[0][0] <= self.now:
            _, _, awake = heapq.heappop(self._sleepers)
            if not awake.done():
                awake.set_result(None)

    def _jump(self, end: float) -> None:
        while self._sleepers and self._sleepers[0][2].done():
            heapq.heappop(self._sleepers)
        if not self._sleepers:
            return  # a thread or a socket is at work
        at, _, awake = heapq.heappop(self._sleepers)
        assert at <= end, f"nothing that was waited for happened; the next sleeper wakes {at - end:.1f} s too late"
        self.now = max(self.now, at)
        awake.set_result(None)
