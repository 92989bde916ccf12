"""Turns of large bodies: few are in memory at once, so that nobody takes all of it (README: Running it)."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from aisle.service.errors import Refusal

MIB = 1 << 20
SMALL = MIB // 16
"""Bodies up to so many bytes never wait."""
MOST_OF_TOKEN = 16
"""So many bodies over that of one token are taken at once."""
_CARRIED_OUT = 4
"""So many bodies up to a MiB are carried out at once; larger ones are read one after the other."""


class Turns:
    """Whose large bodies are under way in this process."""

    def __init__(self) -> None:
        self._of_tokens: Counter[str] = Counter()
        self._middle = asyncio.Semaphore(_CARRIED_OUT)
        self._large = asyncio.Semaphore(1)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[Turn]:
        """What one request does with its body."""
        async with AsyncExitStack() as held:
            yield Turn(self._of_tokens, self._middle, self._large, held)


class Turn:
    """One request's, until it is carried out."""

    def __init__(
        self, of_tokens: Counter[str], middle: asyncio.Semaphore, large: asyncio.Semaphore, held: AsyncExitStack
    ) -> None:
        self._of_tokens = of_tokens
        self._middle = middle
        self._large = large
        self._held = held
        self._is_counted = self._is_large = False

    async def begin(self, token_id: str, size: int) -> None:
        """So many bytes come from this token, or have come: more than a MiB wait here until nobody else has so much.

        Raises Refusal (429) where too much of the token is under way.
        """
        if size > SMALL and not self._is_counted:
            self._count(token_id)
        if size > MIB and not self._is_large:
            await self._held.enter_async_context(self._large)
            self._is_large = True

    async def carry_out(self) -> None:
        """The body is there: one that is no small one waits until few others are carried out."""
        if self._is_counted and not self._is_large:
            await self._held.enter_async_context(self._middle)

    def _count(self, token_id: str) -> None:
        if self._of_tokens[token_id] >= MOST_OF_TOKEN:
            message = f"{MOST_OF_TOKEN} bodies over {SMALL >> 10} KiB of this token are being carried out already."
            raise Refusal(429, message, retry_after=1)
        self._of_tokens[token_id] += 1
        self._held.callback(self._uncount, token_id)
        self._is_counted = True

    def _uncount(self, token_id: str) -> None:
        self._of_tokens[token_id] -= 1
        if not self._of_tokens[token_id]:
            del self._of_tokens[token_id]
