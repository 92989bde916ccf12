"""Topics of a page, derived from its queries."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import aisle.jobs
from aisle.cache.location_queries import MAX_KEYED_PRODUCTS
from aisle.cache.query_registry import MODULE_BY_QUERY, topics_of_query
from aisle.host.notify_sockets import ANYTHING

ASKED = re.compile(r"\bQuery\(\s*[^,()]+(?:\([^()]*\))?, \"(?P<name>[a-z_]+)\"")
WIDE = {
    "assignments",
    "order_board",
    "clearance_permission",
    "differences",
    "exceptions",
    "order_history",
    "held_by_category",
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
