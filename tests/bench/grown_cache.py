"""A store's cache of any size, filled by the courier's own writer, as sessions read it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import rmtree
from typing import Any, NamedTuple

from aisle.cache.reader import CacheReader
from aisle.cache.schema import SCHEMA_VERSION
from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.store_and_database_folders import StoreFolder
from aisle.outbox.operation_queue import open_outbox
from tests.bench import generated_store
from tests.bench.rows_sync import catalogue_entry, stock_entry

BATCH = 5000
LAST = datetime(2026, 3, 2, 18, tzinfo=UTC)
"""When the youngest entry of a log was made."""
WEEK_S = 7 * 86400
URL = "http://127.0.0.1:1"


class Lists(NamedTuple):
    """How much of what lists show beside products, orders and the log."""

    deliveries: int = 0
    """Of three lines; every other one has come, and has its receipt."""
    differing: int = 0
    """Counts of the last week that found something else than the books had."""
    below: int = 0
    """Products of which there is less than none."""


def grow(
    root: Path,
    products: int,
    orders: int = 0,
    logs: int = 0,
    lists: Lists = Lists(),  # noqa: B008
    *,
    crowded: bool = False,
) -> StoreFolder:
    """Fills the cache of a home with so many products, their stock and places, orders of three lines, and entries of
    the log of one week; and with `lists`. In a `crowded` one all of them lie at the first place.

    A home that was filled before by this version is left as it is. The same numbers give the same store.
    """
    home = StoreFolder(root, URL, generated_store.STORE)
    filled = root / f"filled-{SCHEMA_VERSION}-4"
    if filled.exists():
        return home
    rmtree(root, ignore_errors=True)
    goods = [
        each._replace(place=place(0 if crowded else index))
        for index, each in enumerate(generated_store.products(products))
    ]
    with closing(open_cache(home.folder, writer=True)) as connection:
        cache = CacheWriter(connection, generated_store.STORE)
        numbered = list(enumerate(goods, 1))
        for part in chunks(numbered):
            cache.write_products(catalogue_entry(number, each) for number, each in part)
            cache.write_stock(stock_entry(number, each) for number, each in part)
        places = sorted({each.place for each in goods})
        cache.write_locations(
            {"store_number": generated_store.STORE, "location_code": code, "location_order": number, "is_active": True}
            for number, code in enumerate(places, 1)
        )
        cache.write_orders([endless(goods)], lines_known=True, read_began=1.0)
        for numbers in chunks(range(orders)):
            cache.write_orders((order(number, goods) for number in numbers), lines_known=True, read_began=1.0)
        for numbers in chunks(range(logs)):
            cache.write_logs([entry(number, WEEK_S * number / logs, goods) for number in numbers], "2026-01-01")
        for numbers in chunks(range(lists.deliveries)):
            cache.write_deliveries([delivery(number, goods) for number in numbers], read_began=1.0)
            cache.write_receipts([receipt(number, goods) for number in numbers if number % 2])
        for numbers in chunks(range(lists.differing)):
            cache.write_logs([differing(number, logs, goods) for number in numbers], "2026-01-01")
        for part in chunks(numbered[: lists.below]):
            cache.write_stock({**stock_entry(number, each), "most_likely_quantity": -number} for number, each in part)
    filled.touch()
    return home


@contextmanager
def reading(home: StoreFolder) -> Iterator[CacheReader]:
    """A session's side of that cache."""
    with closing(open_outbox(home.folder)) as outbox, closing(CacheReader(home, outbox)) as reads:
        yield reads


def endless(goods: Sequence[generated_store.Product]) -> dict[str, Any]:
    """The order of one line that no run comes to the end of."""
    line = {
        "line_number": 1,
        "product_number": goods[0].number,
        "quantity": generated_store.QUANTITY,
        "picked_quantity": 0,
    }
    head = {"order_number": generated_store.ORDER, "is_active": True, "pickup_date": "2026-01-01T08:00:00Z"}
    return {
        **head,
        "store_number": generated_store.STORE,
        "total_lines": 1,
        "total_quantity": generated_store.QUANTITY,
        "lines": [line],
    }


def order(number: int, goods: Sequence[generated_store.Product]) -> dict[str, Any]:
    """An open order of three lines."""
    chance = random.Random(number)
    lines = [
        {
            "line_number": line,
            "product_number": chance.choice(goods).number,
            "quantity": chance.randrange(1, 5),
            "picked_quantity": 0,
        }
        for line in (1, 2, 3)
    ]
    moment = f"2026-{1 + number % 12:02}-{1 + number % 28:02}T{number % 24:02}:00:00Z"
    head = {"order_number": f"G-{number:07}", "is_active": True, "pickup_date": moment, "customer_name": "Customer"}
    return {
        **head,
        "store_number": generated_store.STORE,
        "total_lines": 3,
        "total_quantity": sum(line["quantity"] for line in lines),
        "lines": lines,
    }


def entry(number: int, ago: float, goods: Sequence[generated_store.Product]) -> dict[str, Any]:
    """An entry of the log, so many seconds before the others end: a movement, or now and then a count or a loss."""
    each = goods[number % len(goods)]
    said: dict[str, Any] = {"source": "movement"}
    if number % 10 == 0:
        said = {"source": "aisle", "reason_code": number % 70 // 10, "reason_code_description": "Damaged"}
    elif number % 25 == 1:
        said = {"source": "aisle", "counted_quantity": 4, "expected_quantity": 4}
    return {
        "id": number + 1,
        "store_number": generated_store.STORE,
        "product_number": each.number,
        "location_code": each.place,
        "quantity": -1,
        "app_user_name": generated_store.USER,
        "moved_on": (LAST - timedelta(seconds=ago)).isoformat(),
        **said,
    }


def delivery(number: int, goods: Sequence[generated_store.Product]) -> dict[str, Any]:
    """A delivery of three lines; every other one has come."""
    lines = [
        {
            "line_number": line,
            "product_number": goods[(number * 3 + line) % len(goods)].number,
            "quantity": 6,
            "received_quantity": 6 if number % 2 else 0,
        }
        for line in (1, 2, 3)
    ]
    moment = f"2026-{1 + number % 12:02}-{1 + number % 28:02}T{number % 24:02}:00:00Z"
    return {
        "order_number": f"D-{number:07}",
        "store_number": generated_store.STORE,
        "supplier_name": f"Supplier {number % 50}",
        "datetime_expected": moment,
        "order_lines": lines,
    }


def receipt(number: int, goods: Sequence[generated_store.Product]) -> dict[str, Any]:
    """What came of it."""
    came = delivery(number, goods)
    return {
        "order_number": came["order_number"],
        "store_number": generated_store.STORE,
        "supplier_name": came["supplier_name"],
        "import_id": number,
        "order_type_id": 1 + number % 3,
        "receipt_lines": [
            {"line_number": line["line_number"], "received_quantity": 6, "shipped_quantity": 6}
            for line in came["order_lines"]
        ],
    }


def differing(number: int, logs: int, goods: Sequence[generated_store.Product]) -> dict[str, Any]:
    """A count of which somebody has to look, in the numbers behind those of the log."""
    counted = {"source": "aisle", "counted_quantity": number % 7, "expected_quantity": 7, "review_status": "1"}
    return {**entry(number * 10 + 1, number % WEEK_S, goods), **counted, "id": logs + number + 1}


def place(index: int) -> str:
    """Where a product lies: ten at a place, twenty places in an aisle, however large the store."""
    return f"{chr(65 + index // 200 % 26)}{index // 5200:03}-{index // 10 % 20:02}"


def chunks(rows: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """The rows in parts of `BATCH`."""
    for first in range(0, len(rows), BATCH):
        yield rows[first : first + BATCH]
