"""Rows of queries have exactly the declared fields and types, and jobs pass declared arguments."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import types
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, NotRequired, Union, get_args, get_origin, get_type_hints

import apsw
import pytest
from typing_extensions import is_typeddict

import aisle.jobs
import aisle.jobs.row_types
from aisle.cache.location_queries import MAX_KEYED_PRODUCTS
from aisle.cache.queries import MODULE_BY_QUERY, find_query, topics_of_query
from aisle.cache.reader import CacheReader
from aisle.cache.store_lists_writer import ASSIGNMENTS_TOPIC
from aisle.cache.writer import CacheWriter, LinkRow
from aisle.contract.answer_schemas import answer_schemas
from aisle.contract.request_bodies.stores import StoreCreate
from aisle.host.database import transaction
from aisle.host.notify_sockets import ANYTHING
from aisle.jobs.job import PARTLY_RECEIVED, LocalNote, Request, Write
from aisle.jobs.log_writes_and_refusals import log_write
from aisle.jobs.row_types import raw_service_rows
from aisle.jobs.supervisor.order_filter import view_key
from aisle.outbox import requests_and_token_holders
from aisle.outbox.local_notes import LIST, SAVED_VIEW, save_note
from aisle.outbox.operation_queue import OperationQueue
from tests.cache import test_unusable_rows as good
from tests.cache.service_rows import line, location, order, person, product, put_orders, stock, store
from tests.writes import ANNA, STORE, intents, movement, update

NOW = good.NOW
QUERIES = {name: find_query(name) for name in MODULE_BY_QUERY}
ROW_TYPE = re.compile(r"(?:QueryResult|WindowRows)\[(\w+)\]")
INTERFACE_OBJECTS = {
    raw_service_rows.ServiceOrder: ("CustomerOrder",),
    raw_service_rows.ServiceLine: ("CustomerOrderLine",),
    raw_service_rows.ServiceProduct: ("Product", "StoreProductStock"),
    raw_service_rows.ServiceStore: ("Store",),
}


def row_types() -> dict[str, Any]:
    """All row types by query name, as the queries declare them."""
    names = [each.name for each in pkgutil.iter_modules(aisle.jobs.row_types.__path__)]
    modules = [importlib.import_module(f"aisle.jobs.row_types.{name}") for name in names]
    by_name = {name: value for module in modules for name, value in vars(module).items()}
    found = {name: ROW_TYPE.search(query.read.__annotations__["return"]) for name, query in QUERIES.items()}
    return {name: by_name[match[1]] for name, match in found.items() if match}


def interface_fields(kind: Any) -> set[str]:
    """Further fields that rows of a type may have: those of the service's object that it is built on."""
    bases = [base for base in INTERFACE_OBJECTS if base.__annotations__.keys() <= kind.__annotations__.keys()]
    bodies = set(get_type_hints(StoreCreate)) if raw_service_rows.ServiceStore in bases else set[str]()
    names = [name for base in bases for name in INTERFACE_OBJECTS[base]]
    return bodies.union(*(answer_schemas()[name]["properties"] for name in names))


def faults(value: Any, hint: Any, path: str) -> Iterator[str]:
    """What of a value is not as declared."""
    if get_origin(hint) in (Union, types.UnionType):
        found = [list(faults(value, each, path)) for each in get_args(hint)]
        if all(found):
            yield min(found, key=len)[0] if len(found) == 1 else f"{path}: {value!r} is no {hint}"
    elif get_origin(hint) is NotRequired:
        yield from faults(value, get_args(hint)[0], path)
    elif is_typeddict(hint):
        yield from faults_of_row(value, hint, path)
    elif get_origin(hint) is list and isinstance(value, list):
        for at, each in enumerate(value):
            yield from faults(each, get_args(hint)[0], f"{path}[{at}]")
    elif get_origin(hint) is dict and isinstance(value, dict):
        for key, each in value.items():
            yield from faults(key, get_args(hint)[0], f"{path} key")
            yield from faults(each, get_args(hint)[1], f"{path}.{key}")
    elif get_origin(hint) is tuple and isinstance(value, tuple):
        hints = get_args(hint)[:1] * len(value) if get_args(hint)[-1] is ... else get_args(hint)
        for each, kind in zip(value, hints, strict=True):
            yield from faults(each, kind, path)
    elif hint is not Any and type(value) is not hint:
        yield f"{path}: {value!r} is no {hint}"


def faults_of_row(row: Any, kind: Any, path: str) -> Iterator[str]:
    hints = get_type_hints(kind, include_extras=True)
    optional = {name for base in INTERFACE_OBJECTS for name in base.__annotations__}
    for name in row.keys() - hints.keys() - interface_fields(kind):
        yield f"{path}: {name} is not declared"
    for name, hint in hints.items():
        if name in row:
            yield from faults(row[name], hint, f"{path}.{name}")
        elif get_origin(hint) is not NotRequired and name not in optional and kind.__total__:
            yield f"{path}: {name} is missing"


def _documented(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ("name", "set_products")}


@pytest.fixture
def stocked(cache: CacheWriter, outbox_db: apsw.Connection) -> CacheWriter:
    """A store with something for nearly every query, and pending operations of two people."""
    cache.write_stores([store("0001", "High Street", storeStockPool1="Shelf", areaId="7"), store("0002", "Depot")])
    cache.write_store_details("0002", {"store_number": "0002", "opening_hours": []}, 1.0)
    cache.write_people([person("U1", "Anna Berg", "supervisor"), person("U2", "Ben Okafor")])
    cache.write_products(
        [_documented(good.a_product("P1")), product("P2", "Whole", set_products=[{"set_product_number": "P1"}])]
    )
    cache.write_stock(
        [_documented(good.a_stock_entry("P1")), stock("P2", -2, places={"A": -2}, validate_expiry_datetime=NOW)], 0, 1.0
    )
    cache.write_locations([location("A", 1, tags=["t"]), location("B", 2, tags=["pickup"])])
    lines = [line(1, "P1", 3, 1, picked_username="U2"), line(2, "P2", 1, rejection_reason_code="1", description="Oat")]
    reason = {"rejection_reason_code": "7", "rejection_reason_code_description": "Broken"}
    put_orders(cache, good.an_order("O1"), order("O2", *lines), order("O3", *lines, **reason))
    cache.write_orders([order("O4")], False, 1.0)
    held = [{"location_code": "A", "quantity": 1, "customer_order_number": "O6"}]
    put_orders(cache, order("O6", line(1, "P1", 2, 1, moved_quantity=1, store_locations=held)))
    put_orders(cache, order("O5", line(1, "P1", 1, 1), is_picked=True, pickup_date="2020-01-01"))
    twice = {"line_number": 1, "product_number": "P2", "quantity": 3, "received_quantity": 6}
    cache.write_deliveries([good.a_delivery("D1"), {**good.a_delivery("D2"), "order_lines": [twice]}], 1.0)
    cache.write_receipts([good.a_receipt("D1")])
    loss = {"quantity": -1, "reason_code": 1, "reason_code_description": "broken", "moved_on": NOW}
    cache.write_logs(
        [good.an_entry("1"), {"id": 2, "product_number": "P1", "app_user_name": "U1", "review_status": "1", **loss}],
        "2026-01-01",
    )
    cache.write_surrounding("P1", [{"store_number": "0002", "most_likely_quantity": 2, "is_warehouse": True}], 1.0)
    cache.write_recounts([{"id": 1, "product_number": "P2", "location_code": "A", "ordered_on": NOW}])
    task = {"product_number": "P1", "location_code": "A", "quantity": 1, "customer_order_number": "O1"}
    cache.write_assignments([{"id": "T1", "customer_order_line_number": 1, "location_tag": "t", **task}])
    with cache.transaction():
        cache.set_cursor(ASSIGNMENTS_TOPIC, 1000.0)
    cache.set_link(LinkRow("live", last_ok=1000.0, features="people, sign-in, reviews"))
    counted = log_write(
        [{"product_number": "P1", "counted_quantity": Decimal(2), "source": "aisle"}], ["P1"], STORE, "U1"
    )
    setting = Write("update-store-products", ("product/P1",), {}, {}, [{"product_number": "P1", "min": 1}])
    with transaction(outbox_db):
        queue = OperationQueue(outbox_db)
        queue.enqueue(intents(update("O2", {1: 2}), movement("O2", "P1"), counted, setting), ANNA)
        save_note(outbox_db, LocalNote("priority", "O1", "1"), "U1", 1000.0)
        save_note(outbox_db, LocalNote("assigned", "O1", "U2"), "U1", 1000.0)
        save_note(outbox_db, LocalNote("language", "U1", "nl"), "U1", 1000.0)
        save_note(outbox_db, LocalNote(PARTLY_RECEIVED, "D1", "1"), "U1", 1000.0)
        save_note(outbox_db, LocalNote(LIST, "U1/orders", '{"sort": ""}'), "U1", 1000.0)
        save_note(outbox_db, LocalNote(SAVED_VIEW, f"{view_key('U1')}mine", '{"state": "open"}'), "U1", 1000.0)
        request = Request("clearance", {}, 60.0)
        requests_and_token_holders.insert_request(outbox_db, "R", request, ANNA, 1000.0)
    return cache


ARGUMENTS: dict[str, Any] = {
    **{
        "now": NOW,
        "minutes": 5,
        "pickup_days": 1,
        "user": "U1",
        "size": 10_000,
        "first": 0,
        "since": "2020-01-01T00:00:00Z",
    },
    **{"order_number": "O1", "orders": ["O1", "O2"], "product_number": "P1", "product_numbers": ["P1", "P2"]},
    **{"location_code": "A", "code": "P1", "store_number": "0002", "tag": "t", "kind": "", "request_id": "R"},
    **{"operation": "create-movement", "op_id": "", "terminal": "t1"},
}
OWN_ARGUMENTS: dict[str, dict[str, Any]] = {
    "orders": {"not_put_down": True},
    "assigned_orders": {"user": "U2"},
    "assignment_left": {"id": "T1"},
    "pick_list": {"orders": ["O1"]},
    "list_choices": {"key": "U1/orders"},
    "search": {"search": "oat"},
    "records": {"search": "O1"},
    "facets": {"kind": "category"},
    "today_locations": {"kind": "pick"},
    "deliveries_expecting": {"product_number": "P1"},
    "delivery": {"order_number": "D1"},
    "excess_receipts": {"order_number": ""},
    "checked_products": {"products": ["P1"]},
    "expiry_checks": {"day": "2026-12-31"},
    "due_checks": {"day": "2026-12-31"},
    "counts_since": {"goods": [["P1", "A", 0]]},
    "later_counts": {"goods": [["P1", "A", 0, "2026-01-01T00:00:00Z"]]},
    "moves_since": {"products": ["P1"], "since": "2020-01-01T00:00:00Z"},
    "unused_counts": {"user": "U1", "since": "2026-01-01T00:00:00Z"},
    "counts_booked_otherwise": {"user": "U1", "since": "2026-01-01T00:00:00Z"},
    "order_history": {"order_number": "O2"},
    "log": {"location_code": "", "product_number": "", "since": ""},
    "unexpected_product": {"orders": [], "products": ["P2"]},
    "my_entries": {"product_number": ""},
    "order_counts": {"views": [{"status": ["open"]}, {"status": ["open"], "short": True}]},
}
WITHOUT_ROWS = {
    "absent_order",
    "counts_booked_otherwise",
    "counts_since",
    "due_checks",
    "later_counts",
    "needing_person",
    "open_work",
    "refused_operations",
    "today_terminals",
    "undos_after_counts",
    "unused_counts",
}
"""Queries without rows in this store, or with a number alone; other tests have them."""


def test_rows_have_the_declared_fields(reads: CacheReader, stocked: CacheWriter) -> None:
    kinds = row_types()
    assert kinds.keys() == QUERIES.keys()
    found, empty = [], set()
    for query, declaration in QUERIES.items():
        given = {**ARGUMENTS, **OWN_ARGUMENTS.get(query, {})}
        rows, _ = reads.query(query, {name: given[name] for name in declaration.arguments.split() if name in given})
        empty |= {query} if not rows else set()
        found += [fault for row in rows for fault in faults(row, kinds[query], query)]
    assert found == [], found
    assert empty == WITHOUT_ROWS


def test_no_query_fails_for_a_search_of_very_many_words(reads: CacheReader, stocked: CacheWriter) -> None:
    typed = " ".join(f"{number}g" for number in range(1_400))
    for query, declaration in QUERIES.items():
        names = declaration.arguments.split()
        if "search" in names:
            given = {**ARGUMENTS, **OWN_ARGUMENTS.get(query, {}), "search": typed}
            reads.query(query, {name: given[name] for name in names if name in given})


def queries_of_jobs() -> Iterator[tuple[str, set[str]]]:
    """The name of each query in the text of a job, with the arguments that it spells out."""
    for file in Path(aisle.jobs.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in CALLS:
                name, args = node.args[1:3] if len(node.args) > 2 else (None, None)
                if isinstance(name, ast.Constant) and isinstance(args, ast.Dict):
                    keys = {str(key.value) for key in args.keys if isinstance(key, ast.Constant)}
                    yield str(name.value), keys


CALLS = ("Query", "query_window")
OF_THE_SESSION = {"file": {"file"}, "terminal": set[str](), "message_texts": {"messages"}}


def test_jobs_pass_declared_arguments() -> None:
    known = {name: set(each.arguments.split()) for name, each in QUERIES.items()} | OF_THE_SESSION
    assert [(name, keys - known[name]) for name, keys in queries_of_jobs() if keys - known[name]] == []


# Topics of a page, derived from its queries


ASKED = re.compile(r"\bQuery\(\s*[^,()]+(?:\([^()]*\))?, \"(?P<name>[a-z_]+)\"")
WIDE = {
    "assignments",
    "order_board",
    "order_counts",
    "clearance_permission",
    "differences",
    "exceptions",
    "order_history",
    "held_by_category",
    "negative_stock",
    "tags",
} | {f"today{part}" for part in ("", "_hours", "_locations", "_terminals")}
"""Reads of a supervisor's pages that are made of so much that anything may change them."""


def asked() -> set[str]:
    """The names of all reads that jobs ask for."""
    folder = Path(aisle.jobs.__file__).parent
    return {found["name"] for file in folder.rglob("*.py") for found in ASKED.finditer(file.read_text("utf-8"))}


def test_every_read_that_a_job_asks_for_says_what_it_shows() -> None:
    names = asked()
    assert {"order", "product", "location", "orders", "order_board"} <= names
    assert {name for name in names if topics_of_query(name, {}, ()) == {ANYTHING}} == WIDE & names


def test_reads_that_nobody_knows_may_show_anything() -> None:
    assert topics_of_query("something new", {}, ()) == {ANYTHING}
    assert MODULE_BY_QUERY.keys() >= WIDE


@pytest.mark.parametrize(
    ("name", "args", "rows", "shown"),
    [
        ("order", {"order_number": "4101"}, [], {"order/4101"}),
        ("order", {}, [], {"order"}),
        ("order", {"order_number": "a\nb"}, [], {"order"}),
        ("orders", {"search": ""}, [{"order_number": "1"}], {"order"}),
        ("orders_by_number", {"orders": ["1", "2"]}, [], {"order/1", "order/2"}),
        ("product", {"product_number": "P/1"}, [], {"product/P/1"}),
        ("search", {}, [{"product_number": "P1"}, {"product_number": "P2"}], {"product/P1", "product/P2"}),
        ("search", {}, [], {"product"}),
        (
            "location",
            {"location_code": "A-1"},
            [{"location_code": "A-1", "products": [{"product_number": "P1"}]}],
            {"location/A-1", "product/P1"},
        ),
        ("locations_of_products", {"product_numbers": ["P1"]}, [], {"product/P1"}),
        ("refused_operations", {}, [], {"refusal"}),
        ("assigned_orders", {"user": "U1"}, [], set()),
    ],
)
def test_what_an_answer_shows(
    name: str, args: dict[str, object], rows: list[dict[str, object]], shown: set[str]
) -> None:
    assert topics_of_query(name, args, rows) == shown


def test_a_page_of_very_many_products_is_rung_for_any_of_them() -> None:
    products = [{"product_number": f"P{number}"} for number in range(MAX_KEYED_PRODUCTS + 1)]
    place = {"location_code": "A-1"}
    assert topics_of_query("location", place, [{"products": products[:-1]}]) >= {"location/A-1", "product/P0"}
    assert topics_of_query("location", place, [{"products": products}]) == {"location/A-1", "product"}
