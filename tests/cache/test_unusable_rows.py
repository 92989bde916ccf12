"""Any value in any field of a row: the row is left out with a reason, or every page reads it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import apsw
import pytest

from aisle.cache.reader import CacheReader
from aisle.cache.row_parsing_and_writing import dump_row
from aisle.cache.writer import CacheWriter, WriteResult
from aisle.outbox.operation_queue import OperationQueue
from tests.cache.service_rows import line, location, order, product, put_orders, stock, store
from tests.writes import STORE, enqueue, movement, update

RUBBISH: tuple[Any, ...] = (
    None, 7, -1.5, True, "", "x", "7", "2026-13-45", [], ["x", None, 7, [], {}], [{}], [[{}]], {}, {"a": 1}, 1e300,
    10**400,
)  # fmt: skip
NOW = "2026-03-02T12:00:00+00:00"
Row = dict[str, Any]
Path = tuple[str | int, ...]


def paths(value: Any, here: Path = ()) -> Iterator[Path]:
    """Of every field, however deep."""
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield (*here, key)
            yield from paths(each, (*here, key))


def spoilt(good: Callable[[str], Row], names: tuple[str, ...]) -> Iterator[Row]:
    """The row with each rubbish in each field, each as a row of its own number."""
    count = 0
    for path in paths(good("")):
        for rubbish in RUBBISH:
            count += 1
            row: Any = copy.deepcopy(good(f"R{count}"))
            inner = row
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = copy.deepcopy(rubbish)
            if path[0] not in names:
                yield row


PLACES = [
    {"location_code": "A", "quantity": 3, "most_likely_pool_1": 3, "location_order": 1, "default_stock_pool": 1},
    {"location_code": "A", "quantity": 1, "customer_order_number": "R1", "customer_order_line_number": 1},
]
SPOT = {
    "store_location_code": "A", "quantity": 3, "stock_pool_1": 3, "location_order": 1, "default_stock_pool": 1,
    "tags": ["t"],
}  # fmt: skip


def an_order(number: str) -> Row:
    lines = line(1, "P1", 3, 2, store_locations=PLACES, pickup_date="2026-03-01", barcode="87", moved_quantity=1)
    about = {"customer_name": "Ann", "reference": "REF", "description": "d", "comment": "c", "claimed_by": "U1"}
    return order(number, lines, is_claimed=True, claimed_on=NOW, **about)


def a_stock_entry(number: str) -> Row:
    figures = {"price": 2, "min": 1, "max": 3, "history_array": '{"W1":3}', "most_likely_pool_1": 3, "name": "n"}
    return {**stock(number, 3, "88", product_description="Oat", **figures), "store_locations": [dict(SPOT)]}


def a_product(number: str) -> Row:
    units = [{"unit_barcode": "89", "unit_quantity": 6}]
    more = {"category_code": "C", "supplier_id": "S", "variant_family": "F", "is_promotion": True, "price": 2}
    parts = {"barcodes_array": ["90"], "set_products": [{"product_number": "P1", "quantity": 2}]}
    return product(number, "Oat", "91", base_unit_name="kg", allow_decimal=True, units=units, **more, **parts)


def a_delivery(number: str) -> Row:
    line_ = {"line_number": 1, "product_number": "P1", "quantity": 3, "barcode": "92", "container_barcode": "C1"}
    head = {"order_number": number, "store_number": STORE, "datetime_expected": "2026-03-02", "supplier_name": "S"}
    return {**head, "order_type": 1, "order_lines": [{**line_, "purchase_unit_barcode": "93"}]}


def a_receipt(number: str) -> Row:
    line_ = {"line_number": 1, "product_number": "P1", "received_quantity": 1, "updated_on": NOW}
    head = {"order_number": number, "store_number": STORE, "order_type_id": 1, "import_id": 5, "supplier_name": "S"}
    return {**head, "receipt_lines": [line_]}


def an_entry(number: str) -> Row:
    moved = {"moved_on": NOW, "location_code": "A", "app_user_name": "U1", "customer_order_number": "R1"}
    counted = {"counted_quantity": 3, "expected_quantity": 2, "reason_code": 1, "reason_code_description": "broken"}
    return {"id": number, "product_number": "P1", "quantity": 1, "price": 2, "review_status": 1, **moved, **counted}


WHOLE = (
    "orders", "search", "locations", "deliveries", "receipts", "receipt_kinds", "reasons", "short_reasons",
    "unread_lists",
    "stores", "catalogue", "unconfirmed", "needing_person", "order_board", "differences", "negative_stock",
    "recounts", "excess_receipts", "entries_to_review", "tags", "picked_orders",
    "assignments",
    "today", "today_hours", "today_terminals", "exceptions", "my_entries", "log", "losses", "people", "stuck",
    "uncollected",
)  # fmt: skip


def everything(reads: CacheReader, numbers: tuple[str, ...], *named: str) -> None:
    """Asks for all pages, and for those of these numbers."""
    said = {"now": NOW, "minutes": 5, "pickup_days": 1, "user": "U1", "size": 10_000}
    for name in WHOLE:
        reads.query(name, said)
    for kind in ("category", "supplier"):
        reads.query("facets", {"kind": kind})
    reads.query("today_locations", {**said, "kind": "pick"})
    reads.query("order_board", {**said, "short": True, "late": True, "search": "r1"})
    for number in numbers:
        for name in named:
            asked = {"order_number": number, "product_number": number, "location_code": number}
            reads.query(name, {**said, **asked, "product_numbers": [number]})


KINDS: dict[
    str, tuple[Callable[[str], Row], tuple[str, ...], Callable[[CacheWriter, list[Row]], WriteResult], tuple[str, ...]]
] = {
    "order": (an_order, ("order_number",), lambda cache, rows: put_orders(cache, *rows), ("order", "order_history")),
    "header": (an_order, ("order_number",), lambda cache, rows: cache.write_orders(rows, False, 1.0), ("order",)),
    "stock": (
        a_stock_entry,
        ("product_number",),
        lambda cache, rows: cache.write_stock(rows, 0, 1.0),
        ("product", "store_product", "other_locations", "catalogue_page", "locations_of_products"),
    ),
    "product": (
        a_product,
        ("product_number",),
        lambda cache, rows: cache.write_products(rows),
        ("product", "store_product", "catalogue_page"),
    ),
    "delivery": (a_delivery, ("order_number",), lambda cache, rows: cache.write_deliveries(rows, 1.0), ("delivery",)),
    "receipt": (a_receipt, ("order_number",), lambda cache, rows: cache.write_receipts(rows), ("delivery",)),
    "log": (an_entry, ("id",), lambda cache, rows: cache.write_logs(rows, "2026-01-01"), ()),
    "place": (
        lambda number: location(number, 3, tags=["t"], description="d"),
        ("location_code",),
        lambda cache, rows: cache.write_locations(rows),
        ("location", "location_use"),
    ),
    "store": (
        lambda number: store(number, "There", areaId="7", areaDescription="a", countryCode="NL"),
        ("storeNo",),
        lambda cache, rows: cache.write_stores(rows),
        (),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_page_reads_it_or_it_is_left_out(
    cache: CacheWriter, reads: CacheReader, outbox_db: apsw.Connection, kind: str
) -> None:
    good, names, put, named = KINDS[kind]
    cache.write_products([product("P1", "Plain")])
    cache.write_stock([stock("P1", 3, places={"A": 3})])
    cache.write_deliveries([a_delivery("R1")], 1.0)
    rows = list(spoilt(good, names))
    written = put(cache, rows)
    assert len(written.keys) + len(written.skipped) == len(rows)
    assert put(cache, [good("R0")]).skipped == ()
    writes = []
    for number in written.keys[::7]:
        if kind in ("order", "header"):
            writes.append(update(number, {1: 1}))
        elif kind == "stock":
            writes.append(movement("O1", number))
    enqueue(OperationQueue(outbox_db), *writes)
    everything(reads, (*written.keys, "R0"), *named)


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(ValueError, match="set is no JSON"):
        dump_row({"a": [set()]})
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(RecursionError):
        dump_row({"a": deep})
