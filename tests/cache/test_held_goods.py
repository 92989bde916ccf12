"""What the cache keeps of goods that lie somewhere for orders: each line's places by themselves, so that a page reads
what lies there and no more, however much waits for customers elsewhere."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import apsw
import pytest

from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter
from aisle.host.database import fetch, transaction
from aisle.outbox.operation_queue import OperationQueue
from tests.cache.service_rows import line, location, order, product, stock
from tests.writes import ANNA, intents, update


def laid(order_number: str, code: str, quantity: float = 1, line_number: int | None = 1) -> dict[str, Any]:
    """interface: Line location, of goods that lie there for a line."""
    named = {} if line_number is None else {"customer_order_line_number": line_number}
    return {"location_code": code, "quantity": quantity, "customer_order_number": order_number, **named}


def waiting(number: int) -> dict[str, Any]:
    """A picked order whose goods lie at PU-1; what of them is for sale lies at A and B, as a service says it."""
    free = [{"location_code": code, "quantity": 99} for code in "AB"]
    mine = line(1, "P", 1, 1, moved_quantity=1, store_locations=[*free, laid(f"O{number}", "PU-1")])
    return order(f"O{number}", mine, is_picked=True)


def steps(reads: CacheReader, name: str, args: dict[str, Any]) -> int:
    """How far the cache had to go for a read that was asked before: the steps of all its statements."""
    reads.query(name, args)
    taken: list[int] = []
    reads._cache.trace_v2(
        apsw.SQLITE_TRACE_PROFILE, lambda told: taken.append(told["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"])
    )
    reads.query(name, args)
    reads._cache.trace_v2(0, None)
    assert taken
    return sum(taken)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("location", {"location_code": "A"}),
        ("location_use", {"location_code": "A"}),
        ("location_use", {"location_code": "PU-1"}),
        ("product", {"product_number": "P"}),
    ],
)
def test_what_a_page_reads_does_not_grow_with_what_waits_for_customers(
    cache: CacheWriter, reads: CacheReader, name: str, args: dict[str, Any]
) -> None:
    cache.write_locations([location(code, number) for number, code in enumerate(("A", "B", "PU-1"), 1)])
    cache.write_products([product("P")])
    cache.write_stock([stock("P", 500, places={"A": 99, "B": 99, "PU-1": 300})])
    cache.write_orders([waiting(number) for number in range(30)], lines_known=True, read_began=1.0)
    few = steps(reads, name, args)
    cache.write_orders([waiting(number) for number in range(30, 330)], lines_known=True, read_began=2.0)
    assert steps(reads, name, args) == few


def test_what_is_kept_follows_the_lines(cache: CacheWriter, cache_db: apsw.Connection) -> None:
    def put(at: float, *orders: dict[str, Any]) -> list[tuple[Any, ...]]:
        cache.write_orders(orders, lines_known=True, read_began=at)
        return kept()

    def kept() -> list[tuple[Any, ...]]:
        return fetch(
            cache_db, "SELECT order_number, line_number, location_code, quantity FROM put_down ORDER BY 1, 2, 3"
        )

    first = line(1, "P", 3, 3, store_locations=[laid("O1", "PU-1", 1.5), laid("O1", "PU-1", 0.5), laid("O1", "PU-2")])
    second = line(2, "Q", 3, 3, store_locations=[laid("O1", "PU-1", 2, 2), laid("O2", "PU-1", 4), laid("O1", "", 1, 2)])
    assert put(1, order("O1", first, second)) == [
        ("O1", 1, "PU-1", "2.0"),
        ("O1", 1, "PU-2", "1"),
        ("O1", 2, "PU-1", "2"),
    ]
    carried = line(1, "P", 3, 3, store_locations=[laid("O1", "PU-3", 3)])
    assert put(2, order("O1", carried, second)) == [("O1", 1, "PU-3", "3"), ("O1", 2, "PU-1", "2")]
    assert put(3, order("O1", second)) == [("O1", 2, "PU-1", "2")]
    cache.write_orders([order("O1", is_picked=True)], lines_known=False, read_began=4)
    assert kept() == [("O1", 2, "PU-1", "2")]
    assert put(5, order("O1", line(2, "Q", 3, 3))) == []
    assert put(6, order("O1", carried)) == [("O1", 1, "PU-3", "3")]
    cache.delete_absent_orders(["O1"], read_began=9)
    assert kept() == []


def test_places_that_make_no_sense_hold_nothing(cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_locations([location("PU-1", 1)])
    cache.write_stock([stock("P", places={"PU-1": 5})])
    odd = [None, "PU-1", {}, {"location_code": "PU-1"}, {**laid("O1", "PU-1"), "quantity": "many"}]
    lines = [line(1, "P", store_locations=[*odd, laid("O1", "PU-1", 2, None)]), line(2, "P", store_locations={"a": 1})]
    assert not cache.write_orders([order("O1", *lines)], lines_known=True, read_began=1.0).skipped
    (row,) = reads.query("location", {"location_code": "PU-1"})[0]
    assert row["products"][0]["held"] == [{"order_number": "O1", "line_number": 1, "quantity": Decimal(2)}]


def test_a_place_is_used_by_the_last_order_that_lies_there(
    cache: CacheWriter, reads: CacheReader, outbox_db: apsw.Connection
) -> None:
    cache.write_locations([location("PU-1", 1)])
    cache.write_products([product("P")])
    cache.write_stock([stock("P", places={"PU-1": 50})])
    cache.write_orders([waiting(number) for number in range(25)], lines_known=True, read_began=1.0)

    def reject(*numbers: int) -> bool:
        rejected = (update(f"O{number}", {}, merge=False, is_rejected=True) for number in numbers)
        with transaction(outbox_db):
            OperationQueue(outbox_db).enqueue(intents(*rejected), ANNA)
        return bool(reads.query("location_use", {"location_code": "PU-1"})[0][0]["is_used"])

    assert reject(*(number for number in range(25) if number != 9))
    assert not reject(9)
