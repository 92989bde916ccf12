"""Rows about the outbox: neither a month of what was sent nor what waits for the link is in the way of a scan."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import apsw

from aisle.cache.reader import CacheReader
from aisle.host.database import transaction
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import Write
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import Author, Intent
from tests.bench import generated_store, grown_cache
from tests.bench.bench import Bench
from tests.bench.grown_cache import grow, reading
from tests.bench.rows_cache import LISTS
from tests.bench.rows_growth import curve, scans, starts, used_ms, worked
from tests.bench.table import Pair, Row, measures

SENT = (1_000, 10_000, 100_000, 500_000)
WAITING = (10, 100, 1_000, 10_000)
BASE = 1
PRODUCTS, ORDERS = 1_000, 200
DAYS = 30
"""For so long what was sent stays in the outbox."""

BY_SENT = ("start", "scan to verdict")
BY_WAITING = ("start", "scan to verdict", "look-up after a colleague's scan", "open orders after a colleague's scan")

LOWEST = 1_000_000
"""The number of the shop's first product."""

_AUTHOR = Author(generated_store.STORE, generated_store.USER, "store", "elsewhere")
_OVER = """
INSERT INTO operation (
  op_id, store, principal, app_user, terminal, operation, lanes, merge_key, path, query, body, sent_body, fingerprint,
  state, live, created_at, occurred_at, confirmed_at, first_sent_at, read_back_at, answer, attempts, has_key
)
WITH RECURSIVE copy (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM copy WHERE i < ?1)
SELECT op_id || i, store, principal, app_user, terminal, operation, lanes, merge_key, path, query, body,
  CAST(body AS BLOB), op_id || i, 'done', 0, ?2 + i * ?3, occurred_at, ?2 + i * ?3, ?2 + i * ?3, ?2 + i * ?3, body, 1, 1
FROM operation, copy WHERE live = 1
"""


@measures("sent", *(Row(f"{name}, 500,000 operations sent", "ms", "10,000", at_most=1.5) for name in BY_SENT))
def by_sent(bench: Bench) -> Sequence[Pair]:
    """A host whose people have done so much in the last month; nothing of it waits any more."""
    sizes = SENT[: bench.times(4, 2)]
    homes = [_with_history(bench.folder / f"sent-{size}", size) for size in sizes]
    found = {"start": starts(bench, homes, [PRODUCTS] * len(homes)), "scan to verdict": scans(bench, homes)}
    return [curve(bench, f"{name}, by what was sent", sizes, found[name], BASE) for name in BY_SENT]


@measures(
    "waiting",
    *(Row(f"{name}, 10,000 operations wait", "ms", "100", at_most=1.5) for name in BY_WAITING),
    Row("memory of a session, 10,000 operations wait", "MB", "100", at_most=1.5),
)
def by_waiting(bench: Bench) -> Sequence[Pair]:
    """A host whose link has been down: so much of its people's work waits, and they go on."""
    sizes = WAITING[: bench.times(4, 3)]
    homes = [_with_waiting(bench.folder / f"waiting-{size}", size) for size in sizes]
    start, look_up, orders, scan = BY_WAITING[0], *BY_WAITING[2:], BY_WAITING[1]
    found = {start: starts(bench, homes, [PRODUCTS] * len(homes))}
    with ExitStack() as stack:
        sides = [stack.enter_context(_beside(home)) for home in homes]
        middle = str(LOWEST + PRODUCTS // 2)
        found[look_up] = _looks(bench, sides, ("product", {"product_number": middle}))
        found[orders] = _looks(bench, sides, LISTS["open orders"])
    found[scan], held = worked(bench, homes)
    figures = [curve(bench, f"{name}, by what waits", sizes, found[name], BASE) for name in BY_WAITING]
    return [*figures, curve(bench, "memory of a session, by what waits", sizes, held, BASE, "MB")]


@contextmanager
def _beside(home: StoreFolder) -> Iterator[tuple[CacheReader, Callable[[], None]]]:
    """A session's reads of a home, and a colleague who writes one more operation beside it."""
    work = _work(random.Random(5))
    with closing(open_outbox(home.folder)) as connection, reading(home) as reads:
        yield reads, lambda: _noted(connection, 1, work)


def _looks(
    bench: Bench, sides: Sequence[tuple[CacheReader, Callable[[], None]]], ask: tuple[str, dict[str, Any]]
) -> list[float]:
    """The middle of what a look takes after something was written, in turns."""
    rounds = []
    for _ in range(bench.times(101, 4)):
        taken = []
        for reads, write in sides:
            write()
            taken.append(used_ms(partial(reads.query, *ask)))
        rounds.append(taken)
    return [statistics.median(each) for each in zip(*rounds[1:], strict=True)]


def _with_waiting(folder: Path, count: int) -> StoreFolder:
    """A home in whose outbox so many operations wait."""
    home = grow(folder, PRODUCTS, ORDERS)
    with closing(open_outbox(home.folder)) as connection:
        (there,) = connection.execute("SELECT count(*) FROM operation WHERE live = 1").fetchone() or (0,)
        _noted(connection, max(0, count - int(there)), _work(random.Random(count)))
    return home


def _with_history(folder: Path, count: int) -> StoreFolder:
    """A home from whose outbox so many operations were sent in the last month."""
    home, kinds = grow(folder, PRODUCTS, ORDERS), 10
    with closing(open_outbox(home.folder)) as connection:
        (there,) = connection.execute("SELECT count(*) FROM operation").fetchone() or (0,)
        if there < count:
            _noted(connection, kinds, _work(random.Random(1)))
            (of,) = connection.execute("SELECT count(*) FROM operation WHERE live = 1").fetchone() or (kinds,)
            copies = -(-count // of)
            with transaction(connection):
                apart = (DAYS - 1) * 86400 / copies
                connection.execute(_OVER, (copies, time.time() - (DAYS - 1) * 86400, apart))
                connection.execute("DELETE FROM operation_lane")
                connection.execute("DELETE FROM operation WHERE live = 1")
    return home


def _noted(connection: apsw.Connection, count: int, work: Iterator[Write]) -> None:
    """So much more of a colleague's work is in the outbox."""
    outbox = OperationQueue(connection)
    with transaction(connection):
        for _ in range(count):
            outbox.enqueue([Intent(next(work), occurred_at="2026-01-01T08:00:00Z")], _AUTHOR)


def _work(chance: random.Random) -> Iterator[Write]:
    """Picks of open orders, counts and movements, in turn, of any products."""
    path, query = {"store_number": generated_store.STORE}, {"AppUserName": generated_store.USER}
    while True:
        index, order = chance.randrange(PRODUCTS), chance.randrange(ORDERS)
        product, here = str(LOWEST + index), grown_cache.place(index)
        base = {"picked_quantity": Decimal(1), "base_picked_quantity": Decimal(0), "is_picked": False}
        line = {"line_number": 1 + chance.randrange(3), "product_number": product, **base}
        lane, number = f"order/G-{order:07}", f"G-{order:07}"
        picked = {"orders": {"order_number": number, "order_lines": [line]}}
        yield Write("update-customer-order", (lane,), path, {}, picked, merge_key=lane)
        counted = {"storeproductlog": [{"product_number": product, "location_code": here, "quantity": Decimal(9)}]}
        yield Write(
            "create-store-product-logs", (f"product/{product}",), path, {**query, "is_counted_quantity": True}, counted
        )
        ends = {"from_location": {"location_code": here}, "to_location": {"location_code": grown_cache.place(0)}}
        moved = [{"product_number": product, "quantity": Decimal(1), **ends}]
        yield Write("create-movement", (f"product/{product}",), path, query, moved)
