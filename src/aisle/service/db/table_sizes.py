"""Sizes of the tables that grow with time, for metrics and the decision to purge."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic

from aisle.errors import AisleError
from aisle.service.db import Database, Transaction
from aisle.service.db.statements import access

REFRESH_SECONDS = 900.0
"""Seconds after which sizes are read again."""
_TIMEOUT_S = 2.0


async def load_table_sizes(database: Database) -> dict[str, int]:
    """Return the rows by table; on PostgreSQL from its statistics. `*` has the bytes of the database."""

    async def work(tx: Transaction) -> dict[str, int]:
        rows = [row for statement in database.size_statements for row in await tx.all(statement)]
        return {str(name): int(count) for name, count in rows}

    return await database.read(work)


class TableSizes:
    """Last known sizes of the tables."""

    def __init__(self, database: Database, now: Callable[[], float] = monotonic) -> None:
        self.by_table: dict[str, int] = {}
        self._database = database
        self._now = now
        self._loaded_at = -REFRESH_SECONDS

    async def refresh(self) -> None:
        """Check that the database answers, and update the sizes if they are old. Give up after `_TIMEOUT_S`."""
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                if self._now() - self._loaded_at < REFRESH_SECONDS:
                    await self._database.read(_query_database)
                else:
                    self.by_table, self._loaded_at = await load_table_sizes(self._database), self._now()
        except (AisleError, TimeoutError):
            return


async def _query_database(tx: Transaction) -> None:
    await tx.one(access.HAS_DATA)
