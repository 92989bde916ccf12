"""What a full sync consists of: one stage a list, in the order in which a person needs them.

Each stage says how its list is asked for and how its rows go into the cache. The store's usable part comes first, so
that a first start shows the orders within a moment; stock and catalogue, which are long, come last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from aisle.contract.wire import QueryValue
from aisle.courier.pull.intake import Row
from aisle.courier.pull.single import Pull
from aisle.tuples import NamedTuple

STORES, PEOPLE, HEADERS, LINES = "stores", "people", "headers", "lines"
LOCATIONS, STOCK, PRODUCTS = "locations", "stock", "products"
DELIVERIES, RECEIPTS = "deliveries", "receipts"
RECOUNTS = "recounts"
STAGES = (STORES, PEOPLE, HEADERS, LINES, LOCATIONS, DELIVERIES, RECEIPTS, RECOUNTS, PRODUCTS, STOCK)
SMALL = (STORES, PEOPLE, RECEIPTS, RECOUNTS)
"""Stages that `Pull` reads in one go; all others are walked page by page."""


class Read(NamedTuple):
    """One page, as it is handed on."""

    rows: Sequence[Row]
    ticket: int
    began: float
    generation: int


class Paged(NamedTuple):
    """A stage that walks through pages."""

    operation: str
    of_store: bool
    """The store is in the path."""
    query: dict[str, QueryValue]
    put: Callable[[Pull, Read], Any]
    swept: str = ""
    """The topic whose unseen rows are dropped after a complete pass; empty for none."""
    key: str = ""
    """The field that names a row of these."""
    by: Literal["page", "id"] = "page"
    recent: bool = False
    """Only what has changed in the last weeks is asked for."""


def paged(stage: str, store: str) -> Paged:
    """How a stage walks; not for those of `SMALL`."""
    return _STAGES[stage]._replace(query=_query(_STAGES[stage], store))


def _query(stage: Paged, store: str) -> dict[str, QueryValue]:
    if stage.operation in ("list-store-products-stock", "list-deliveries"):
        return {**stage.query, "store_number": store}
    return dict(stage.query)


def _headers(pull: Pull, read: Read) -> tuple[str, ...]:
    return pull.into.put_orders(read.rows, read.began, read.generation, with_lines=False)


def _lines(pull: Pull, read: Read) -> tuple[str, ...]:
    return pull.into.put_orders(read.rows, read.began)


_STAGES = {
    HEADERS: Paged("list-customer-orders", True, {"page_size": 200}, _headers, "order", "order_number"),
    LINES: Paged(
        "list-customer-orders", True, {"page_size": 40, "show_lines": True, "include_locations": True}, _lines
    ),
    LOCATIONS: Paged(
        "list-locations",
        True,
        {"page_size": 200},
        lambda pull, read: pull.into.put_locations(read.rows, read.ticket, read.generation),
        "location",
        "location_code",
    ),
    DELIVERIES: Paged(
        "list-deliveries",
        False,
        {"page_size": 40},
        lambda pull, read: pull.into.put_deliveries(read.rows, read.began, read.generation),
        "delivery",
        "order_number",
        recent=True,
    ),
    STOCK: Paged(
        "list-store-products-stock",
        False,
        {"page_size": 500, "include_locations": True},
        lambda pull, read: pull.into.put_stock(read.rows, read.ticket, read.began, read.generation),
        "stock",
        "product_number",
        by="id",
    ),
    PRODUCTS: Paged(
        "list-products",
        False,
        {"page_size": 500},
        lambda pull, read: pull.into.put_products(read.rows, read.ticket, read.generation),
        "product",
        "product_number",
    ),
}
