"""How large the tables are that grow with time: for figures and for who decides what to purge."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic

from aisle.errors import AisleError
from aisle.service.sql import core
from aisle.service.storage import Storage, Tx

PERIOD_S = 900.0
"""So long sizes stand before they are asked for again."""
_PATIENCE_S = 2.0


async def sizes_of(storage: Storage) -> dict[str, int]:
    """Rows by table; on PostgreSQL as its statistics have them. `*` is the bytes of the database."""

    async def work(tx: Tx) -> dict[str, int]:
        rows = [row for statement in storage.sizes for row in await tx.all(statement)]
        return {str(name): int(count) for name, count in rows}

    return await storage.read(work)


class Sizes:
    """The last sizes that could be had."""

    def __init__(self, storage: Storage, now: Callable[[], float] = monotonic) -> None:
        self.known: dict[str, int] = {}
        self._storage = storage
        self._now = now
        self._at = -PERIOD_S

    async def look(self) -> None:
        """Ask the database whether it is there, and now and then for its sizes; nobody waits long for that."""
        try:
            async with asyncio.timeout(_PATIENCE_S):
                if self._now() - self._at < PERIOD_S:
                    await self._storage.read(_touch)
                else:
                    self.known, self._at = await sizes_of(self._storage), self._now()
        except (AisleError, TimeoutError):
            return


async def _touch(tx: Tx) -> None:
    await tx.one(core.IS_FILLED)
