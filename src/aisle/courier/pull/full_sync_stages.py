"""Stages of a full sync: one for each list, in the order in which people need them.

A stage defines how its list is requested and how its rows are written. The first stages make the store usable: a first
start shows orders within a moment. Stock and catalogue are long and come last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from aisle.client.paging import Row
from aisle.contract.request_encoding import QueryValue
from aisle.courier.pull.single_reads import SingleReads

STORES, PEOPLE, HEADERS, LINES = "stores", "people", "headers", "lines"
LOCATIONS, STOCK, PRODUCTS = "locations", "stock", "products"
DELIVERIES, RECEIPTS = "deliveries", "receipts"
RECOUNTS = "recounts"
STAGES = (STORES, PEOPLE, HEADERS, LINES, LOCATIONS, DELIVERIES, RECEIPTS, RECOUNTS, PRODUCTS, STOCK)
UNPAGED_STAGES = (STORES, PEOPLE, RECEIPTS, RECOUNTS)
"""Stages that are read in one go; all others are read page by page."""


class PageRead(NamedTuple):
    """One page with the number and time of its read."""

    rows: Sequence[Row]
    read_number: int
    began: float
    generation: int


class PagedStage(NamedTuple):
    """Stage that is read page by page."""

    operation: str
    store_in: Literal["path", "query", "nowhere"]
    """Where a request names the store."""
    query: dict[str, QueryValue]
    write: Callable[[SingleReads, PageRead], Any]
    sweep_topic: str = ""
    """Topic whose unseen rows are deleted after a complete pass; empty for none."""
    key_field: str = ""
    """Name of the field that identifies a row."""
    paging: Literal["page", "id"] = "page"
    only_recent: bool = False
    """True if only rows changed in the last weeks are requested."""


def paged_stage(stage: str) -> PagedStage:
    """Return the definition of a stage; not for those of `UNPAGED_STAGES`."""
    return _PAGED_STAGES[stage]


def _write_headers(single_reads: SingleReads, read: PageRead) -> tuple[str, ...]:
    return single_reads.cache_update.put_orders(read.rows, read.began, read.generation, with_lines=False)


def _write_lines(single_reads: SingleReads, read: PageRead) -> tuple[str, ...]:
    return single_reads.cache_update.put_orders(read.rows, read.began)


_PAGED_STAGES = {
    HEADERS: PagedStage("list-customer-orders", "path", {"page_size": 200}, _write_headers, "order", "order_number"),
    LINES: PagedStage(
        "list-customer-orders", "path", {"page_size": 40, "show_lines": True, "include_locations": True}, _write_lines
    ),
    LOCATIONS: PagedStage(
        "list-locations",
        "path",
        {"page_size": 200},
        lambda pull, read: pull.cache_update.put_locations(read.rows, read.read_number, read.generation),
        "location",
        "location_code",
    ),
    DELIVERIES: PagedStage(
        "list-deliveries",
        "query",
        {"page_size": 40},
        lambda pull, read: pull.cache_update.put_deliveries(read.rows, read.began, read.generation),
        "delivery",
        "order_number",
        only_recent=True,
    ),
    STOCK: PagedStage(
        "list-store-products-stock",
        "query",
        {"page_size": 500, "include_locations": True},
        lambda pull, read: pull.cache_update.put_stock(read.rows, read.read_number, read.began, read.generation),
        "stock",
        "product_number",
        paging="id",
    ),
    PRODUCTS: PagedStage(
        "list-products",
        "nowhere",
        {"page_size": 500},
        lambda pull, read: pull.cache_update.put_products(read.rows, read.read_number, read.generation),
        "product",
        "product_number",
    ),
}
