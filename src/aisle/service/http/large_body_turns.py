"""Turns of large bodies: few are in memory at once, so that no token uses all of it (README: Running it)."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from aisle.service.errors import Refusal

MIB = 1 << 20
SMALL = MIB // 16
"""Bytes up to which a body never waits."""
MOST_OF_TOKEN = 16
"""Maximum number of simultaneous bodies above `SMALL` of one token."""
_CARRIED_OUT = 4
"""Number of bodies up to one MiB that run at once. Larger ones are read one after the other."""


class Turns:
    """Large bodies in progress in this process."""

    def __init__(self) -> None:
        self._of_tokens: Counter[str] = Counter()
        self._middle = asyncio.Semaphore(_CARRIED_OUT)
        self._large = asyncio.Semaphore(1)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[Turn]:
        """Open the turn of one request."""
        async with AsyncExitStack() as held:
            yield Turn(self._of_tokens, self._middle, self._large, held)


class Turn:
    """Turn of one request, until it has run."""

    def __init__(
        self, of_tokens: Counter[str], middle: asyncio.Semaphore, large: asyncio.Semaphore, held: AsyncExitStack
    ) -> None:
        self._of_tokens = of_tokens
        self._middle = middle
        self._large = large
        self._held = held
        self._is_counted = self._is_large = False

    async def begin(self, token_id: str, size: int) -> None:
        """Announce this many bytes of a token's body. Above one MiB, wait until no other such body is in progress.

        Raise Refusal (429) if too many bodies of the token are in progress.
        """
        if size > SMALL and not self._is_counted:
            self._count(token_id)
        if size > MIB and not self._is_large:
            await self._held.enter_async_context(self._large)
            self._is_large = True

    async def carry_out(self) -> None:
        """Wait until few other bodies run, if the complete body is not small."""
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
