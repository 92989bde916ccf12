"""Stock of an order's products is read only for its picker."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import apsw
import pytest

from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter
from tests.cache import service_rows

FROM_WAREHOUSE: list[dict[str, Any]] = [
    {"is_picked_from_warehouse": True},
    {"aisle": {"is_picked_from_warehouse": True}},
]


def read(reads: CacheReader, name: str) -> list[dict[str, Any]]:
    (row,), _ = reads.query(name, {"order_number": "O1"})
    return list(row["lines"])


def an_order(cache: CacheWriter, **line: Any) -> None:
    cache.write_products([service_rows.product("P1"), service_rows.product("P2")])
    cache.write_stock([service_rows.stock(number, 9, places={"A-1": 4, "A-2": 5}) for number in ("P1", "P2")])
    lines = [service_rows.line(1, "P1", 2) | line, service_rows.line(2, "P2", 2)]
    cache.write_orders([service_rows.order("O1", *lines)], lines_known=True, read_began=1.0)


def test_an_order_to_pick_says_what_lies_at_each_place(cache: CacheWriter, reads: CacheReader) -> None:
    an_order(cache)
    lying = {"A-1": Decimal(4), "A-2": Decimal(5)}
    assert [line["stock"] for line in read(reads, "order_to_pick")] == [lying, lying]
    assert reads.query("order_to_pick", {"order_number": "none"}) == ([], 0)


def test_an_order_that_is_only_looked_at_reads_no_stock_of_places(cache: CacheWriter, reads: CacheReader) -> None:
    an_order(cache)
    asked: list[str] = []
    reads._cache.trace_v2(apsw.SQLITE_TRACE_STMT, lambda told: asked.append(told["sql"]))
    looked_at = read(reads, "order")
    few = len(asked)
    to_pick = read(reads, "order_to_pick")
    reads._cache.trace_v2(0, None)
    assert len(asked) - few > few, "what lies at each place is a read of its own"
    assert not any("stock" in line for line in looked_at)
    assert looked_at == [{name: line[name] for name in line if name != "stock"} for line in to_pick]


@pytest.mark.parametrize("line", FROM_WAREHOUSE)
def test_of_what_comes_from_the_warehouse_nothing_lies_here(
    cache: CacheWriter, reads: CacheReader, line: dict[str, Any]
) -> None:
    an_order(cache, **line)
    first, second = read(reads, "order_to_pick")
    assert (first["stock"], bool(second["stock"])) == ({}, True)


@pytest.mark.parametrize(("places", "stock"), [({}, {"A-1": Decimal(0)}), (None, {}), ({"A-2": 5}, None)])
def test_a_place_that_is_empty_is_in_no_list_and_has_none(
    cache: CacheWriter, reads: CacheReader, places: dict[str, int] | None, stock: dict[str, Decimal] | None
) -> None:
    an_order(cache, preferred_location_code="A-1")
    with_another = [service_rows.stock("P3", 0, places=places)]
    cache.write_products([service_rows.product("P3")])
    cache.write_stock(with_another)
    lines = [service_rows.line(1, "P3", 2, preferred_location_code="A-1")]
    cache.write_orders([service_rows.order("O1", *lines)], lines_known=True, read_began=2.0)
    (line,) = read(reads, "order_to_pick")
    assert line["stock"] == (stock if stock is not None else {"A-1": Decimal(0), "A-2": Decimal(5)})
