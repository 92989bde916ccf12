"""What is old leaves the service's database, in batches that hold a store's lock for a moment each (README: Retention).

Of the ledger the legs of a product before a moment become one for each place, pool and order line: what they sum up to
is the same before and after, and the stock goes on to be the sum of the ledger.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import defaultdict
from itertools import takewhile
from typing import Any

from aisle.errors import UsageError
from aisle.service.context import CHAIN
from aisle.service.gate import HISTORY_DAYS
from aisle.service.handlers.logs import HISTORIC_DAYS
from aisle.service.sql import retention as sql
from aisle.service.sql.stock import LEG_ADD
from aisle.service.sql.stores import STORES_ALL
from aisle.service.storage import Storage, Tx
from aisle.service.times import moment
from aisle.tuples import NamedTuple

LEAST_DAYS = max(HISTORY_DAYS, HISTORIC_DAYS + 31)
"""Nothing younger goes: hosts that were away for so long still ask what the ledger knows of their writes, and lists of
the log hold whole months of it."""
PARTS = ("ledger", "log", "audit")

_PRODUCTS, _ROWS = 20, 1000
_PAUSE_S = 0.01
_DAY = 86400.0
_KIND = "opening"


class Purged(NamedTuple):
    """Rows that are gone; of the ledger, less those that took their place."""

    ledger: int = 0
    log: int = 0
    audit: int = 0


async def purge(storage: Storage, before: float, now: float, parts: tuple[str, ...] = PARTS) -> Purged:
    """Drop what is older than `before` (seconds since 1970).

    It may be ended at any moment and begun anew. Raises UsageError for a moment that is too near.
    """
    if before > now - LEAST_DAYS * _DAY:
        raise UsageError(f"Nothing that is younger than {LEAST_DAYS} days is purged.")
    until, total = moment(before), Purged()
    stores = [str(row[0]) for row in await storage.read(lambda tx: tx.all(STORES_ALL))]
    for store in (*stores, CHAIN):
        ledger = await _ledger(storage, store, until) if "ledger" in parts and store != CHAIN else 0
        log = await _log(storage, store, until) if "log" in parts and store != CHAIN else 0
        audit = await _audit(storage, store, until) if "audit" in parts else 0
        total = Purged(total.ledger + ledger, total.log + log, total.audit + audit)
    return total


async def _ledger(storage: Storage, store: str, until: str) -> int:
    gone, last = 0, ""
    while True:
        found = await storage.read(_query(sql.LEDGER_PRODUCTS, store, last, until, _PRODUCTS))
        products = [str(row[0]) for row in found]
        if not products:
            return gone
        gone += await storage.write(_summed(store, products, until), stores=[store])
        last = products[-1]
        await asyncio.sleep(_PAUSE_S)


def _query(statement: str, *args: object) -> Any:
    async def work(tx: Tx) -> Any:
        return await tx.all(statement, *args)

    return work


def _summed(store: str, products: list[str], until: str) -> Any:
    """Sums the old legs of some products up; those of a product that were summed up before, and no more, stay."""

    async def work(tx: Tx) -> int:
        by_product: defaultdict[str, list[Any]] = defaultdict(list)
        for row in await tx.all(sql.LEDGER_SUMS, store, products, until):
            by_product[row[0]].append(row)
        rows = {name: sums for name, sums in by_product.items() if any(row[6] > 1 or not row[5] for row in sums)}
        if not rows:
            return 0
        op_id, sums = f"{until}-{secrets.token_hex(6)}", [row for each in rows.values() for row in each]
        kept = [row for row in sums if row[5]]
        await tx.run(sql.LEDGER_DROP, store, list(rows), until)
        legs = [(store, op_id, n, _KIND, *row[:5], row[5], row[7], row[8]) for n, row in enumerate(kept)]
        await tx.many(LEG_ADD, legs)
        return sum(int(row[6]) for row in sums) - len(kept)

    return work


async def _log(storage: Storage, store: str, until: str) -> int:
    """Entries go from the first on, without a gap: how many there are is told by the first and the last number."""
    gone = 0
    while True:
        dropped: int = await storage.write(_oldest_dropped(store, until), stores=[store])
        gone += dropped
        if dropped < _ROWS:
            return gone
        await asyncio.sleep(_PAUSE_S)


def _oldest_dropped(store: str, until: str) -> Any:
    async def work(tx: Tx) -> int:
        rows = await tx.all(sql.LOG_OLDEST, store, _ROWS)
        old: list[int] = [row[0] for row in takewhile(lambda row: row[1] < until, rows)]
        if old:
            await tx.run(sql.LOG_DROP, store, old[-1])
        return len(old)

    return work


async def _audit(storage: Storage, store: str, until: str) -> int:
    gone = 0
    while True:
        dropped = await storage.write(_query(sql.AUDIT_DROP, store, until, _ROWS), stores=[store])
        gone += len(dropped)
        if len(dropped) < _ROWS:
            return gone
        await asyncio.sleep(_PAUSE_S)
