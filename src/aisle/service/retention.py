"""Purge of old orders, deliveries, logs and other rows in batches, each of which locks one store briefly.

`cli/purge` calls `purge` with the settings `keep_…_days` (SERVING.md: Retention). Expired tokens are deleted, too. Old
legs of a product become one leg per location, pool and order line. Old entries of the log become one opening balance
per product and location. The sums stay equal, so that stock remains the sum of the ledger and of the log.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections import defaultdict
from collections.abc import Callable, Coroutine, Sequence
from decimal import Decimal
from functools import partial
from itertools import accumulate, takewhile
from typing import Any, NamedTuple

from aisle.errors import UsageError
from aisle.service.app_options_and_limits import KEYS_KEPT_DAYS
from aisle.service.db.database_interface import Database, Row, Transaction
from aisle.service.db.statements import logs_and_changes as writes_sql
from aisle.service.db.statements import people_and_tokens as people_sql
from aisle.service.db.statements import retention as sql
from aisle.service.db.statements.logs_and_changes import COUNTER_SET, COUNTER_VALUE, LOG_ADD, LOG_FIRST
from aisle.service.db.statements.stock import LEG_ADD
from aisle.service.db.statements.stores_and_products import STORE_NUMBERS
from aisle.service.domain.quantities_times_and_json import (
    THOUSANDTHS_PER_UNIT,
    format_quantity,
    format_timestamp,
    join_members,
    object_members,
    parse_json_object,
    quoted,
    to_json,
)
from aisle.service.domain.states import NOTHING_TO_REVIEW
from aisle.service.handlers.log_list import HISTORIC_DAYS
from aisle.service.operation_context import CHAIN, CHANGES_FORGOTTEN

WRITE_HISTORY_DAYS = 60
"""Days that a host may be offline and still detect that the database was restored from an earlier copy."""
MIN_AGE_DAYS = max(WRITE_HISTORY_DAYS, HISTORIC_DAYS + 31)
"""Minimum age of purged rows.

Hosts that were offline still query the ledger for their writes, and lists of the log have whole months.
"""
_LEAST = {"changes": WRITE_HISTORY_DAYS, "answers": KEYS_KEPT_DAYS}
"""Lower minimum ages of some parts.

Hosts that were offline for longer read all lists; `Aisle-Features` tells them how long keys are stored.
"""

_PRODUCTS_PER_BATCH, _ROWS_PER_BATCH, _ORDERS = 20, 1000, 100
_PAUSE_S = 0.01
_DAY = 86400.0
_OPENING_KIND = "opening"
_OPENINGS = "log_opening"
"""Counter with the number of a store's last opening balance, which precede all entries."""


class PurgedRows(NamedTuple):
    """Numbers of purged rows; of ledger and log, less the rows that replace them."""

    ledger: int = 0
    log: int = 0
    changes: int = 0
    orders: int = 0
    deliveries: int = 0
    answers: int = 0
    audit: int = 0


PARTS = PurgedRows._fields


class _Batch(NamedTuple):
    """Number of rows of a batch, and True if there may be more."""

    gone: int
    more: bool


_Step = Callable[[Database, str, str], Coroutine[Any, Any, int]]
"""Step that purges one part of a store up to a time."""


def least_days(part: str) -> int:
    """Return the minimum age in days of purged rows of a part."""
    return _LEAST.get(part, MIN_AGE_DAYS)


async def purge(database: Database, before: float, now: float, parts: Sequence[str] = PARTS) -> PurgedRows:
    """Purge rows older than `before` (seconds since 1970).

    It may be interrupted at any time and repeated. Raise UsageError if the time is too recent.
    """
    least = max(map(least_days, parts))
    if before > now - least * _DAY:
        raise UsageError(f"Nothing that is younger than {least} days is purged.")
    until, purged = format_timestamp(before), dict.fromkeys(PARTS, 0)
    stores = [str(row[0]) for row in await database.read(lambda tx: tx.all(STORE_NUMBERS))]
    for store in (*stores, CHAIN):
        for part in parts:
            if store != CHAIN or part in _OF_CHAIN:
                purged[part] += await _STEPS[part](database, store, until)
    return PurgedRows(**purged)


async def _in_batches(
    storage: Database, store: str, batch: Callable[[Transaction], Coroutine[Any, Any, _Batch]]
) -> int:
    """Run batches until the last one, with pauses for other writers. Return the number of rows."""
    purged, more = 0, True
    while more:
        dropped, more = await storage.write(batch, stores=[store])
        purged += dropped
        await asyncio.sleep(_PAUSE_S)
    return purged


async def _purge_ledger(database: Database, store: str, until: str) -> int:
    """Sum up the ledger, a few products per batch; products with many legs separately, in steps."""
    purged, last = 0, ""
    while found := await database.read(_run_query(sql.LEDGER_PRODUCTS, store, last, until, _PRODUCTS_PER_BATCH)):
        several = [str(product) for product, count in found if count <= _ROWS_PER_BATCH // _PRODUCTS_PER_BATCH]
        if several:
            purged += await _sum_up(database, store, several, until, until)
        for product in (str(row[0]) for row in found if row[0] not in several):
            purged += await _ledger_of(database, store, product, until)
        last = str(found[-1][0])
    return purged


async def _ledger_of(storage: Database, store: str, product: str, until: str) -> int:
    """Sum up the ledger of one product from its oldest leg. Earlier sums are among the oldest legs of the next step."""
    purged, before = 0, ""
    while True:
        row = await storage.read(_run_query(sql.LEDGER_STEP, store, product, until, _ROWS_PER_BATCH))
        step = str(row[0][0]) if row else until
        if step == before:  # No progress: the oldest legs are all sums.
            step = until
        purged += await _sum_up(storage, store, [product], step, until)
        if step == until:
            return purged
        before = step


async def _sum_up(storage: Database, store: str, products: list[str], step: str, until: str) -> int:
    purged: int = await storage.write(_sum_up_products(store, products, step, until), stores=[store])
    await asyncio.sleep(_PAUSE_S)
    return purged


def _run_query(statement: str, *args: object) -> Any:
    async def work(tx: Transaction) -> Any:
        return await tx.all(statement, *args)

    return work


def _sum_up_products(store: str, products: list[str], step: str, until: str) -> Any:
    """Return work that sums up the legs of some products up to `step`. Products with sums only stay unchanged.

    The last step deletes empty balances that have no leg then.
    """

    async def work(tx: Transaction) -> int:
        by_product: defaultdict[str, list[Any]] = defaultdict(list)
        for row in await tx.all(sql.LEDGER_SUMS, store, products, step, until):
            by_product[row[0]].append(row)
        rows = {name: sums for name, sums in by_product.items() if any(row[6] > 1 or not row[5] for row in sums)}
        if not rows:
            return 0
        op_id, sums = f"{until}-{secrets.token_hex(6)}", [row for each in rows.values() for row in each]
        kept = [row for row in sums if row[5]]
        await tx.run(sql.LEDGER_DELETE, store, list(rows), step, until)
        legs = [(store, op_id, n, _OPENING_KIND, *row[:5], row[5], row[7], row[8]) for n, row in enumerate(kept)]
        await tx.run_many(LEG_ADD, legs)
        if step == until:
            await tx.run(sql.EMPTY_BALANCES_DELETE, store, list(rows))
        return sum(int(row[6]) for row in sums) - len(kept)

    return work


async def _purge_log(database: Database, store: str, until: str) -> int:
    return await _in_batches(database, store, _opened(store, until))


class _Opening(NamedTuple):
    """Sum of the entries of a product at a location, and the last of them."""

    quantity: int
    last: Row


def _opened(store: str, until: str) -> Any:
    """Return work that replaces the oldest entries by opening balances.

    The log has no gaps, since the number of entries is calculated from its first and last number. Opening balances
    precede the first entry, in the numbers of removed entries.
    """

    async def work(tx: Transaction) -> _Batch:
        row = await tx.one(COUNTER_VALUE, store, _OPENINGS)
        opened = int(row[0]) if row else 0
        oldest = await tx.all(sql.LOG_OLDEST, store, opened, _ROWS_PER_BATCH)
        old = list(takewhile(lambda row: row[3] < until, oldest))
        if not old:
            return _Batch(0, False)
        first, end = await tx.all(LOG_FIRST, store), int(old[-1][0])
        known = await tx.all(sql.LOG_OPENINGS, store, list({row[2] for row in old}), opened)
        kept = _summed_entries([*known, *old])
        summed = [int(row[0]) for row in (*known, *old)]
        start = int(first[0][0]) + len(summed) - len(kept)
        moved = [row for row in await tx.all(sql.LOG_BEGINNING, store, start) if row[0] not in set(summed)]
        await tx.run(sql.LOG_DELETE, store, summed + [int(row[0]) for row in moved])
        rows = [(row[1], row[2], row[3], row[4]) for row in moved] + [_opening(store, one) for one in kept]
        free = (seq for seq in summed if seq >= start)
        await tx.run_many(LOG_ADD, [_entry(store, seq, *row) for seq, row in zip(free, rows, strict=True)])
        await tx.run(COUNTER_SET, store, _OPENINGS, end)
        return _Batch(len(summed) - len(kept), len(old) == _ROWS_PER_BATCH)

    return work


def _summed_entries(rows: list[Row]) -> list[_Opening]:
    """Sum up entries by product and location, without sums of zero."""
    sums: dict[tuple[str, str], _Opening] = {}
    for row in rows:
        item = json.loads(row[4], parse_float=Decimal)
        key = str(row[2]), item.get("location_code", "")
        before = sums[key].quantity if key in sums else 0
        sums[key] = _Opening(before + int(Decimal(item.get("quantity", 0)) * THOUSANDTHS_PER_UNIT), row)
    return [one for one in sums.values() if one.quantity]


def _opening(store: str, opening: _Opening) -> tuple[int, str, str, str]:
    """Return ordinal, product, time and JSON of an opening balance. The location is that of the last entry."""
    _seq, ordinal, product, created_on, text = opening.last
    last, quantity = parse_json_object(text), format_quantity(opening.quantity)
    location_fields = {name: last[name] for name in ("barcode", "location", "location_code") if name in last}
    item = join_members(
        (
            f'"product_number":{quoted(product)},"store_number":{quoted(store)}',
            object_members(to_json(location_fields)),
            f'"created_on":"{created_on}","moved_on":"{created_on}","quantity":{quantity},"source":"{_OPENING_KIND}"',
        )
    )
    return ordinal, product, created_on, item


def _entry(store: str, seq: int, ordinal: int, product: str, created_on: str, item: str) -> tuple[object, ...]:
    """Return a row of `stock_log` in the order of `LOG_ADD`."""
    return store, seq, ordinal, _OPENING_KIND, product, "", None, NOTHING_TO_REVIEW, created_on, created_on, item, "{}"


async def _purge_changes(storage: Database, store: str, until: str) -> int:
    """Purge changes from the first. The last purged number is stored: hosts that have read less read all lists."""

    async def work(tx: Transaction) -> _Batch:
        rows = await tx.all(sql.CHANGES_OLDEST, store, _ROWS_PER_BATCH)
        old = list(takewhile(lambda row: row[1] < until, rows))
        if old:
            await tx.run(sql.CHANGES_DROP, store, old[-1][0])
            await tx.run(COUNTER_SET, store, CHANGES_FORGOTTEN, old[-1][0])
        return _Batch(len(old), len(old) == _ROWS_PER_BATCH)

    return await _in_batches(storage, store, work)


def _delete_with_lines(old: str, removals: tuple[str, ...]) -> _Step:
    """Return a step that deletes finished rows with their lines, limited by the number of lines per batch."""

    async def step(storage: Database, store: str, until: str) -> int:
        async def work(tx: Transaction) -> _Batch:
            found = await tx.all(old, store, until, _ORDERS)
            lines = accumulate(int(row[1]) for row in found)
            numbers = [
                row[0]
                for n, (row, upto) in enumerate(zip(found, lines, strict=True))
                if not n or upto <= _ROWS_PER_BATCH
            ]
            for statement in removals if numbers else ():
                await tx.run(statement, store, numbers)
            return _Batch(len(numbers), len(numbers) < len(found) or len(found) == _ORDERS)

        return await _in_batches(storage, store, work)

    return step


def _delete_rows(old: str, drop: str) -> _Step:
    """Return a step that deletes rows without dependent rows. They are searched without the store's lock."""

    async def step(storage: Database, store: str, until: str) -> int:
        purged = 0
        while found := await storage.read(_run_query(old, store, until, _ROWS_PER_BATCH)):
            await storage.write(_run_query(drop, store, [row[0] for row in found]), stores=[store])
            purged += len(found)
            await asyncio.sleep(_PAUSE_S)
        return purged

    return step


def _each(*steps: _Step) -> _Step:
    """Return a step that runs several steps."""

    async def step(storage: Database, store: str, until: str) -> int:
        return sum([await one(storage, store, until) for one in steps])

    return step


_purge_orders = _each(
    _delete_with_lines(sql.ORDERS_OLD, sql.ORDER_REMOVALS),
    _delete_rows(sql.PUT_BACKS_OLD, sql.PUT_BACKS_DROP),
    _delete_rows(sql.ASSIGNMENTS_OLD, sql.ASSIGNMENTS_DROP),
)
_purge_deliveries = _delete_with_lines(sql.DELIVERIES_OLD, sql.DELIVERY_REMOVALS)

_STEPS: dict[str, _Step] = {
    "ledger": _purge_ledger,
    "log": _each(_purge_log, _delete_rows(sql.RECOUNTS_OLD, sql.RECOUNTS_DROP)),
    "changes": _purge_changes,
    "orders": _purge_orders,
    "deliveries": _purge_deliveries,
    "answers": _delete_rows(sql.ANSWERS_OLD, sql.ANSWERS_DROP),
    "audit": _delete_rows(sql.AUDIT_OLD, sql.AUDIT_DELETE),
}
_OF_CHAIN = frozenset({"changes", "answers", "audit"})
"""Parts that the chain has, too."""

_EXPIRED_RETENTION_S = 86400.0
"""Seconds after which expired tokens of people, and wrong PINs, are deleted."""
_EXPIRED_ROWS_PER_BATCH = 1_000


async def delete_expired(database: Database, now: float, keys_days: int) -> None:
    """Delete expired tokens and failures of people, and old answers, histories and times of writes.

    They are deleted in several transactions, so that other writers wait for none of them long.
    """
    yesterday = format_timestamp(now - _EXPIRED_RETENTION_S)
    while await database.write(partial(_delete_tokens, before=yesterday), stores=()):
        pass
    await _delete_failures(database, format_timestamp(now), yesterday)
    for days, step, delete in (
        (keys_days, writes_sql.OLD_RESPONSES_STEP, writes_sql.OLD_RESPONSES_DELETE),
        (WRITE_HISTORY_DAYS, writes_sql.OLD_LATEST_WRITES_STEP, writes_sql.OLD_LATEST_WRITES_DELETE),
        (WRITE_HISTORY_DAYS, writes_sql.OLD_WRITE_HISTORY_STEP, writes_sql.OLD_WRITE_HISTORY_DELETE),
    ):
        work = partial(_delete_step, step=step, delete=delete, before=format_timestamp(now - days * _DAY))
        while await database.write(work, stores=()):
            pass


async def _delete_tokens(tx: Transaction, before: str) -> bool:
    """Delete a batch of expired tokens of people; return True if more may be left."""
    rows = await tx.all(people_sql.EXPIRED_TOKENS, before, _EXPIRED_ROWS_PER_BATCH)
    tokens = [row[0] for row in rows]
    if tokens:
        await tx.run(people_sql.STORES_OF_TOKENS_DELETE, tokens)
        await tx.run(people_sql.TOKENS_DELETE, tokens)
    return len(tokens) == _EXPIRED_ROWS_PER_BATCH


async def _delete_failures(database: Database, now: str, before: str) -> None:
    """Delete failures to sign in that lock nobody any more."""
    query = _run_query(people_sql.OLD_SIGN_IN_FAILURES, before, now, _EXPIRED_ROWS_PER_BATCH)
    while found := await database.read(query):
        rows = [(*row, before) for row in found]

        async def delete(tx: Transaction, rows: list[Row] = rows) -> None:
            await tx.run_many(people_sql.OLD_SIGN_IN_FAILURE_DELETE, rows)

        await database.write(delete, stores={row[0] for row in found})


async def _delete_step(tx: Transaction, step: str, delete: str, before: str) -> bool:
    """Delete a batch of old rows; return True if more are left."""
    row = await tx.one(step, before, _EXPIRED_ROWS_PER_BATCH)
    await tx.run(delete, row[0] if row else before)
    return row is not None
