"""Waiting for a while, or until somebody rings."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

Sleep = Callable[[float], Awaitable[None]]


class Alarm:
    """What a loop of the courier sleeps on. A ring while nobody sleeps is kept for the next wait."""

    def __init__(self, sleep: Sleep) -> None:
        self._sleep = sleep
        self._rung = asyncio.Event()

    def ring(self) -> None:
        """Ends the wait, or the next one."""
        self._rung.set()

    async def wait(self, seconds: float | None) -> bool:
        """Waits so many seconds, None for ever; True when it was rung before they were over."""
        if not self._rung.is_set() and (seconds is None or seconds > 0):
            await self._either(seconds)
        rung = self._rung.is_set()
        self._rung.clear()
        return rung

    async def _either(self, seconds: float | None) -> None:
        if seconds is None:
            await self._rung.wait()
            return
        ring = asyncio.ensure_future(self._rung.wait())
        time = asyncio.ensure_future(self._sleep(seconds))
        try:
            await asyncio.wait((ring, time), return_when=asyncio.FIRST_COMPLETED)
        finally:
            ring.cancel()
            time.cancel()
