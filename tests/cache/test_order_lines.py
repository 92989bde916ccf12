"""The lines of an order that is read again and again: what is kept is what was read last, and only what differs is
written."""

from __future__ import annotations

from contextlib import closing
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter, LinkRow, open_cache
from aisle.host.database import fetch
from aisle.jobs.pick.pick_line import parse_lines
from aisle.outbox.operation_queue import OperationQueue
from tests.cache import service_rows
from tests.cache.service_rows import line, location, order, product, put_orders, stock
from tests.run_length import tries
from tests.writes import enqueue, update

LINES = st.dictionaries(st.integers(1, 4), st.tuples(st.sampled_from(("P1", "P2")), st.integers(0, 2)), max_size=4)


def there(db: apsw.Connection) -> list[tuple[int, str, int]]:
    sql = "SELECT line_number, product_number, raw ->> 'picked_quantity' FROM line WHERE order_number = 'O1' ORDER BY 1"
    return [(int(number), str(product), int(picked)) for number, product, picked in fetch(db, sql)]


@settings(max_examples=tries(40, 1000), deadline=None)
@given(reads=st.lists(st.one_of(st.none(), LINES), min_size=1, max_size=5))
def test_the_lines_are_those_of_the_last_read(reads: list[dict[int, tuple[str, int]] | None]) -> None:
    with TemporaryDirectory() as folder, closing(open_cache(Path(folder), writer=True)) as db:
        cache, last = CacheWriter(db, "0001"), dict[int, tuple[str, int]]()
        put_orders(cache, order("O2", line(1, "P1")))
        for began, lines in enumerate(reads, 1):
            whole = order("O1", *(line(number, *of[:1], 3, of[1]) for number, of in (lines or {}).items()))
            before, known = last, began > 1
            last = last if lines is None else lines
            written = cache.write_orders([whole], lines_known=lines is not None, read_began=float(began))
            assert there(db) == sorted((number, *of) for number, of in last.items())
            if known and before != last:
                assert written.changed == ("O1",)
        assert fetch(db, "SELECT line_number FROM line WHERE order_number = 'O2'") == [(1,)]


def test_a_line_that_says_the_same_is_not_written_again(cache: CacheWriter, cache_db: apsw.Connection) -> None:
    lines = [line(number, f"P{number}") for number in range(1, 5)]
    put_orders(cache, order("O1", *lines))
    cache_db.execute("CREATE TEMP TABLE noted (line_number)")
    for event, row in (("INSERT", "new"), ("DELETE", "old")):
        cache_db.execute(
            f"CREATE TEMP TRIGGER noted_{event} AFTER {event} ON main.line"
            f" BEGIN INSERT INTO noted VALUES ({row}.line_number); END"
        )
    lines[1]["picked_quantity"] = 2
    cache.write_orders([order("O1", *lines[:3])], lines_known=True, read_began=2.0)
    assert {number for (number,) in fetch(cache_db, "SELECT line_number FROM noted")} == {2, 4}
    assert [number for number, *_ in there(cache_db)] == [1, 2, 3]


def test_an_order_whose_lines_are_gone_is_begun_by_nobody(cache: CacheWriter, cache_db: apsw.Connection) -> None:
    """Its header is what it was: some services forget the lines that an update does not name."""
    said = {"total_lines": 1, "total_quantity": 3}
    put_orders(cache, order("O1", line(1, "P1", 3, 2), **said))
    assert fetch(cache_db, "SELECT status, picked_quantity FROM orders") == [("partial", 2)]
    cache.write_orders([order("O1", **said)], True, 2.0)
    assert there(cache_db) == []
    assert fetch(cache_db, "SELECT status, picked_quantity FROM orders") == [("open", 0)]


# Stock of an order's products is read only for its picker


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
    put_orders(cache, service_rows.order("O1", *lines))


@pytest.mark.parametrize(
    ("link", "learns"),
    [(None, True), (LinkRow(last_ok=1.0, features="claims, pick-place"), True), (LinkRow(last_ok=1.0), False)],
)
def test_an_order_to_pick_says_whether_the_service_learns_locations(
    cache: CacheWriter, reads: CacheReader, link: LinkRow | None, learns: bool
) -> None:
    an_order(cache)
    if link:
        cache.set_link(link)
    ((row,), _) = reads.query("order_to_pick", {"order_number": "O1"})
    assert row["learns_locations"] is learns


def test_an_order_to_pick_says_what_lies_at_each_place(cache: CacheWriter, reads: CacheReader) -> None:
    an_order(cache)
    lying = {"A-1": Decimal(4), "A-2": Decimal(5)}
    assert [line["stock"] for line in read(reads, "order_to_pick")] == [lying, lying]
    by_pool = {"A-1": {"1": 4}, "A-2": {"1": 5}}
    assert [line["stock_by_pool"] for line in read(reads, "order_to_pick")] == [by_pool, by_pool]
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
    assert not any(name in line for line in looked_at for name in ("stock", "stock_by_pool"))
    shared = [
        {name: line[name] for name in line if name not in ("stock", "stock_by_pool", "held_goods")} for line in to_pick
    ]
    assert looked_at == shared


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


@pytest.mark.parametrize(("is_named", "stock"), [(True, {"": Decimal(0)}), (False, {})])
def test_stock_at_no_location_is_known(
    cache: CacheWriter, reads: CacheReader, is_named: bool, stock: dict[str, Decimal]
) -> None:
    """Of a store whose stock names locations; without them nothing is known."""
    cache.write_products([service_rows.product("P3")])
    cache.write_stock([service_rows.stock("P3", 3, places={} if is_named else None)])
    cache.write_orders([service_rows.order("O1", service_rows.line(1, "P3", 2))], lines_known=True, read_began=2.0)
    (line,) = read(reads, "order_to_pick")
    assert line["stock"] == stock


@pytest.mark.parametrize("places", [{}, {"A-2": 5}])
def test_location_whose_stock_ran_out_has_none(cache: CacheWriter, reads: CacheReader, places: dict[str, int]) -> None:
    """The line still names it, without being preferred; the list of the stock leaves it out."""
    cache.write_products([service_rows.product("P3")])
    cache.write_stock([service_rows.stock("P3", 0, places=places)])
    empty = {"location_code": "A-1", "location_order": 1, "quantity": 0}
    lines = [service_rows.line(1, "P3", 2) | {"store_locations": [empty]}]
    cache.write_orders([service_rows.order("O1", *lines)], lines_known=True, read_began=2.0)
    (line,) = read(reads, "order_to_pick")
    assert line["stock"] == {"A-1": 0} | places


# What the cache keeps of goods that lie somewhere for orders: each line's places by themselves, so that a page reads


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
    put_orders(cache, *(waiting(number) for number in range(30)))
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
    assert not put_orders(cache, order("O1", *lines)).skipped
    (row,) = reads.query("location", {"location_code": "PU-1"})[0]
    assert row["products"][0]["held"] == [{"order_number": "O1", "line_number": 1, "quantity": Decimal(2)}]


def test_goods_of_another_order_are_not_put_down_for_this_one(cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_locations([location("PU-1", 1, tags=["pickup"])])
    other = line(1, "P", 4, 2, moved_quantity=2, store_locations=[laid("O2", "PU-1", 2)])
    put_orders(cache, order("O1", other))
    (row,) = reads.query("order", {"order_number": "O1"})[0]
    assert row["lines"][0]["put_down"] == []
    (row,) = reads.query("orders_by_number", {"orders": ["O1"]})[0]
    assert row["put_down_at"] == []
    assert reads.query("held_by_category", {"tag": "pickup"})[0] == []
    (row,) = reads.query("negative_stock", {"size": 9})[0]
    assert (row["kind"], row["quantity"]) == ("missing", 2)


def test_a_place_is_used_by_the_last_order_that_lies_there(
    cache: CacheWriter, reads: CacheReader, outbox_db: apsw.Connection
) -> None:
    cache.write_locations([location("PU-1", 1)])
    cache.write_products([product("P")])
    cache.write_stock([stock("P", places={"PU-1": 50})])
    put_orders(cache, *(waiting(number) for number in range(25)))

    def reject(*numbers: int) -> bool:
        rejected = (update(f"O{number}", {}, merge=False, is_rejected=True) for number in numbers)
        enqueue(OperationQueue(outbox_db), *rejected)
        return bool(reads.query("location_use", {"location_code": "PU-1"})[0][0]["is_used"])

    assert reject(*(number for number in range(25) if number != 9))
    assert not reject(9)


def held_goods(cache: CacheWriter, shelf: int = 0) -> None:
    """Order O2 has four of P1 at PU-1; the shelf has so many, and O1 needs four."""
    places = [{"store_location_code": "PU-1", "quantity": 4, "stock_pool_1": 4}]
    places += [{"store_location_code": "Z-1", "quantity": shelf, "stock_pool_1": shelf}] if shelf else []
    cache.write_products([product("P1")])
    cache.write_stock([stock("P1", places=None) | {"store_locations": places}])
    cache.write_locations([location("PU-1", 1), location("Z-1", 2)])
    other = line(1, "P1", 4, 4, moved_quantity=4, store_locations=[laid("O2", "PU-1", 4)])
    put_orders(cache, order("O1", line(1, "P1", 4)), order("O2", other))


@pytest.mark.parametrize(("shelf", "place"), [(0, ""), (3, "Z-1")])
def test_goods_held_for_another_order_are_no_place_to_pick(
    cache: CacheWriter, reads: CacheReader, shelf: int, place: str
) -> None:
    held_goods(cache, shelf)
    row = reads.query("order_to_pick", {"order_number": "O1"})[0][0]
    (take,) = parse_lines(row["lines"], "O1")
    assert take.location == place
    assert dict(take.stock_when_read).get("PU-1") == 0
    assert take.held_for == (("O2", Decimal(4)),)
    assert [place for place, _ in take.stocked_locations] == [place] * bool(shelf)


def test_unknown_quantity_stays_unknown_where_goods_are_held(cache: CacheWriter, reads: CacheReader) -> None:
    held_goods(cache)
    cache.write_stock([stock("P1", places=None) | {"store_locations": [{"store_location_code": "PU-1"}]}])
    (line,) = reads.query("order_to_pick", {"order_number": "O1"})[0][0]["lines"]
    assert line["stock"] == {}
    (row,), _ = reads.query("locations_of_products", {"product_numbers": ["P1"]})
    assert (row["location_code"], row["quantity"]) == ("PU-1", None)


def test_goods_are_not_put_away_where_all_is_held(cache: CacheWriter, reads: CacheReader) -> None:
    held_goods(cache)
    assert reads.query("locations_of_products", {"product_numbers": ["P1"]})[0] == []


def test_held_goods_of_a_product_name_their_order(cache: CacheWriter, reads: CacheReader) -> None:
    held_goods(cache)
    row = {"order_number": "O2", "line_number": 1, "quantity": Decimal(4)}
    assert reads.query("held_goods", {"product_number": "P1"}) == ([{"location_code": "PU-1", **row}], 1)
    at = {"product_number": "P1", "location_code": "pu-1"}
    assert reads.query("stock_at_location", at)[0][0]["held_goods"] == [row]
    assert reads.query("held_goods", {"product_number": "P9"}) == ([], 0)
