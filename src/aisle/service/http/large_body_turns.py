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
MOST_BYTES = 32 * MIB
"""Bytes of bodies up to a MiB, and of the first MiB of larger ones, that are in memory at once; of answers, too."""
TOKEN_BYTES, ADDRESS_BYTES = MOST_BYTES // 4, MOST_BYTES // 2
"""Of them those of one token, and of one address."""


class HeldBytes:
    """What bodies, or answers, take at once, of all callers, of each token and of each address."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._sum = 0
        self._by_key = Counter[str]()

    def add(self, token_id: str, address: str, size: int) -> None:
        """Note that so many bytes more are to come; of a caller who has none, whatever it is. Raises Refusal: 429 where
        one caller has too many, 503 where all have."""
        for key, most in ((f"token {token_id}", TOKEN_BYTES), (f"address {address}", ADDRESS_BYTES)):
            if self._by_key[key] and self._by_key[key] + size > most:
                whose = key.partition(" ")[0]
                raise Refusal(
                    429, f"{self._what} of {most // MIB} MiB of this {whose} are under way already.", retry_after=1
                )
        if self._sum and self._sum + size > MOST_BYTES:
            raise Refusal(503, f"{self._what} of {MOST_BYTES // MIB} MiB are under way already.", retry_after=1)
        self._change(token_id, address, size)

    def remove(self, token_id: str, address: str, size: int) -> None:
        """Note that they are gone."""
        self._change(token_id, address, -size)

    def _change(self, token_id: str, address: str, size: int) -> None:
        self._sum += size
        for key in (f"token {token_id}", f"address {address}"):
            self._by_key[key] += size
            if not self._by_key[key]:
                del self._by_key[key]


class Turns:
    """Whose large bodies are under way in this process."""

    def __init__(self) -> None:
        self._of_tokens: Counter[str] = Counter()
        self._bytes = HeldBytes("Bodies")
        self._middle = asyncio.Semaphore(_CARRIED_OUT)
        self._large = asyncio.Semaphore(1)

    @asynccontextmanager
    async def turn(self, address: str) -> AsyncIterator[Turn]:
        """What one request from an address does with its body."""
        async with AsyncExitStack() as held:
            yield Turn(self._of_tokens, self._bytes, address, self._middle, self._large, held)


class Turn:
    """One request's, until it is carried out."""

    def __init__(
        self,
        of_tokens: Counter[str],
        held_bytes: HeldBytes,
        address: str,
        middle: asyncio.Semaphore,
        large: asyncio.Semaphore,
        held: AsyncExitStack,
    ) -> None:
        self._bytes = held_bytes
        self._address = address
        self._size = 0
        self._of_tokens = of_tokens
        self._middle = middle
        self._large = large
        self._held = held
        self._is_counted = self._is_large = False

    async def begin(self, token_id: str, size: int) -> None:
        """So many bytes come from this token, or have come: more than a MiB wait here until nobody else has so much.

        Raises Refusal where too much of the token or its address is under way (429), or of all (503).
        """
        self._hold(token_id, min(size, MIB))
        if size > SMALL and not self._is_counted:
            self._count(token_id)
        if size > MIB and not self._is_large:
            await self._held.enter_async_context(self._large)
            self._is_large = True

    async def carry_out(self) -> None:
        """The body is there: one that is no small one waits until few others are carried out."""
        if self._is_counted and not self._is_large:
            await self._held.enter_async_context(self._middle)

    def _hold(self, token_id: str, size: int) -> None:
        if size > self._size:
            size = max(size, min(2 * self._size, MIB))  # in large steps, whatever parts it comes in
            self._bytes.add(token_id, self._address, size - self._size)
            self._held.callback(self._bytes.remove, token_id, self._address, size - self._size)
            self._size = size

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
