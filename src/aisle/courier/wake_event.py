"""Event that wakes a loop of the courier."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

Sleep = Callable[[float], Awaitable[None]]


class WakeEvent:
    """Event that a loop of the courier sleeps on. If nobody waits, it stays set for the next wait."""

    def __init__(self, sleep: Sleep) -> None:
        self._sleep = sleep
        self._event = asyncio.Event()

    def set(self) -> None:
        """End the wait, or the next one."""
        self._event.set()

    async def wait(self, seconds: float | None) -> bool:
        """Wait for `seconds` (None: without limit). Return whether the event was set before they passed."""
        if not self._event.is_set() and (seconds is None or seconds > 0):
            await self._wait_with_timeout(seconds)
        was_set = self._event.is_set()
        self._event.clear()
        return was_set

    async def _wait_with_timeout(self, seconds: float | None) -> None:
        if seconds is None:
            await self._event.wait()
            return
        woken = asyncio.ensure_future(self._event.wait())
        timeout = asyncio.ensure_future(self._sleep(seconds))
        try:
            await asyncio.wait((woken, timeout), return_when=asyncio.FIRST_COMPLETED)
        finally:
            woken.cancel()
            timeout.cancel()
