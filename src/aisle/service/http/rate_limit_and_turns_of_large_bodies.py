"""Limit of a caller's requests per second, and turns of large bodies and answers in memory (SERVING.md).

The limit of one body's size: `request_body`.
"""

from __future__ import annotations

import math
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from threading import Lock
from time import monotonic

from aisle.service.db.database_interface import FairTurns
from aisle.service.errors import Refusal

# Maximum number of buckets. The least recently used one is full again anyway.
_MAX_KEYS = 10_000
_BURST_SECONDS = 10


class RateLimiter:
    """Rate limiter with one bucket per key; threads may share it."""

    def __init__(self, rate: float, now: Callable[[], float] = monotonic) -> None:
        self._rate = rate
        self._capacity = max(1.0, rate * _BURST_SECONDS)
        self._now = now
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = Lock()

    def count_request(self, key: str) -> None:
        """Count one request. Raise Refusal (429) with the seconds until the next one is accepted."""
        level = self._changed(key, 1, least=1)
        if level < 1:
            wait = max(1, math.ceil((1 - level) / self._rate))
            raise Refusal(429, f"Too many requests; the next is answered in {wait} s.", retry_after=wait)

    def check(self, key: str) -> None:
        """Raise Refusal (429) if more was charged than the bucket had."""
        level = self._changed(key, 0)
        if level < 0:
            wait = max(1, math.ceil(-level / self._rate))
            raise Refusal(429, f"Too much was sent; the next body is taken in {wait} s.", retry_after=wait)

    def charge(self, key: str, amount: float) -> None:
        """Charge an amount that has arrived already. The level may become negative."""
        self._changed(key, amount)

    def _changed(self, key: str, amount: float, least: float = float("-inf")) -> float:
        """Subtract an amount if the level is at least `least`. Return the level before."""
        if self._rate <= 0:
            return self._capacity
        now = self._now()
        with self._lock:
            level, then = self._levels.pop(key, (self._capacity, now))
            level = min(self._capacity, level + (now - then) * self._rate)
            self._levels[key] = (level - amount if level >= least else level, now)
            if len(self._levels) > _MAX_KEYS:
                self._levels.popitem(last=False)
        return level


MIB = 1 << 20
SMALL = MIB // 16
"""Bytes up to which bodies are not counted."""
BRIEF = SMALL // 8
"""Bytes up to which a body never waits: some dozen rows, whose write takes a few milliseconds."""
_TURN_SECONDS = 30.0
"""Seconds that a body above `BRIEF` waits for its turn to run."""
MOST_BYTES = 24 * MIB
"""Maximum bytes of bodies in memory at once; the same for long answers."""
TOKEN_BYTES, ADDRESS_BYTES = 8 * MIB, 16 * MIB
"""Share of one token, and of one address."""


class HeldBytes:
    """Bytes of bodies, or of answers, in memory, in total, by token and by address."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._sum = 0
        self._by_key = Counter[str]()

    def add(self, token_id: str, address: str, size: int) -> None:
        """Add bytes that will arrive; the first ones of a caller are always allowed.

        Raise Refusal: 429 if one caller has too many, 503 if all together have.
        """
        for key, most in ((f"token {token_id}", TOKEN_BYTES), (f"address {address}", ADDRESS_BYTES)):
            if self._by_key[key] and self._by_key[key] + size > most:
                owner = key.partition(" ")[0]
                raise Refusal(
                    429, f"{self._what} of {most // MIB} MiB of this {owner} are under way already.", retry_after=1
                )
        if self._sum and self._sum + size > MOST_BYTES:
            raise Refusal(503, f"{self._what} of {MOST_BYTES // MIB} MiB are under way already.", retry_after=1)
        self._change(token_id, address, size)

    def remove(self, token_id: str, address: str, size: int) -> None:
        """Remove bytes."""
        self._change(token_id, address, -size)

    def _change(self, token_id: str, address: str, size: int) -> None:
        self._sum += size
        for key in (f"token {token_id}", f"address {address}"):
            self._by_key[key] += size
            if not self._by_key[key]:
                del self._by_key[key]


class Turns:
    """Bodies in progress in this process."""

    def __init__(self) -> None:
        self.bytes = HeldBytes("Bodies")
        self.running = FairTurns(1)

    @asynccontextmanager
    async def turn(self, address: str) -> AsyncIterator[Turn]:
        """Open the turn of one request from an address."""
        async with AsyncExitStack() as held:
            yield Turn(self, address, held)


class Turn:
    """Turn of one request, until it has run."""

    def __init__(self, turns: Turns, address: str, held: AsyncExitStack) -> None:
        self._turns = turns
        self._address = address
        self._size = 0
        self._held = held

    def begin(self, token_id: str, size: int) -> None:
        """Announce this many bytes of a token's body.

        Raise Refusal: 429 if too much of the token or its address is in progress, 503 if all together have too much.
        """
        if size > self._size:
            size = max(size, min(2 * self._size, MIB))  # In large steps, however small the parts are.
            self._turns.bytes.add(token_id, self._address, size - self._size)
            self._held.callback(self._turns.bytes.remove, token_id, self._address, size - self._size)
            self._size = size

    async def wait_to_run(self) -> bool:
        """Wait until no other body runs, if the complete body is not brief. Return True if that was necessary.

        Callers take turns. Otherwise several would keep the database's writer busy in a row.
        Raise Busy if it takes too long.
        """
        if self._size <= BRIEF:
            return False
        return await self._held.enter_async_context(self._turns.running.turn(_TURN_SECONDS))
