"""Stages of a full sync, in the order in which people need them, and its progress, saved in the cache.

A stage defines how its list is requested and how its rows are written. The first stages make the store usable: a first
start shows orders within a moment. Stock and catalogue are long and come last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from aisle.cache.writer import CacheWriter
from aisle.client.paging import Row
from aisle.contract.request_encoding import QueryValue
from aisle.courier.pull.single_reads import SingleReads
from aisle.outbox.operation_record import DUPLICATE_KEY, UnusableRows
from aisle.stored_messages import NO_MESSAGE, StoredMessage

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


PROGRESS_CURSOR = "full"


class StagePosition(NamedTuple):
    """Position inside one stage."""

    stage: str
    generation: int
    next: int = 1
    """Page, or lowest id, to request next."""
    by_id: bool = False
    first_total: int = -1
    """Total that the list reported at the beginning of the pass; -1 if it reports none."""
    last_total: int = -1
    unreadable_pages: int = 0
    """Number of pages that had to be skipped."""
    pass_number: int = 1
    reason: StoredMessage = NO_MESSAGE
    """Reason for which the last of those pages could not be read."""
    rows: int = 0
    """Number of valid rows so far."""
    left_out: int = 0
    """Number of invalid rows so far."""
    left_out_reason: str = ""
    """Error of the last of them."""
    repeated_previously: int = 0
    """Number of rows whose key a later row has too, found in the pass before this one."""
    repeated: int = 0
    """The same number, confirmed by two passes."""


class SyncProgress(NamedTuple):
    """Stages that are still to be read, and the position in the present one."""

    todo: tuple[str, ...] = ()
    at: StagePosition | None = None
    generation: int = 0
    """Last generation number given to a pass."""
    full: bool = False
    """True while everything is read again; screens show it."""
    done: int = 0
    total: int = 0
    completed: float = 0
    """Time at which everything was last read, in seconds since 1970; 0 for never."""
    missing: tuple[str, ...] = ()
    """Lists that could not be read, or not completely, at the last try."""
    reasons: tuple[tuple[str, StoredMessage], ...] = ()
    """Reason for each of them."""
    left_out: tuple[UnusableRows, ...] = ()
    """Rows that could not be used when their lists were last read to the end."""

    @property
    def is_idle(self) -> bool:
        """True if there is nothing to read."""
        return not self.todo and self.at is None

    def reason_of(self, name: str) -> StoredMessage:
        """Return why a list is missing; an empty message if unknown."""
        return dict(self.reasons).get(name, NO_MESSAGE)

    def with_missing(self, name: str, reason: StoredMessage) -> SyncProgress:
        """Return a copy with this list marked as missing."""
        read = self.with_read(name)
        return read._replace(missing=(*read.missing, name), reasons=(*read.reasons, (name, reason)))

    def with_read(self, name: str) -> SyncProgress:
        """Return a copy with this list marked as read."""
        return self._replace(
            missing=tuple(other for other in self.missing if other != name),
            reasons=tuple(pair for pair in self.reasons if pair[0] != name),
        )

    def left_out_count(self, name: str, *, repeated: bool = False) -> int:
        """Return the number of rows left out of a list: invalid ones, or with `repeated` those with a repeated key."""
        found = (
            each.rows for each in self.left_out if each.list_name == name and (each.reason == DUPLICATE_KEY) == repeated
        )
        return sum(found)

    def with_left_out(self, name: str, *found: UnusableRows) -> SyncProgress:
        """Return a copy in which `found` replaces what was left out of one list."""
        others = tuple(each for each in self.left_out if each.list_name != name)
        return self._replace(left_out=(*others, *(each for each in found if each.rows)))


def load_progress(cache: CacheWriter) -> SyncProgress:
    """Return the progress saved in the cache; an empty one if it is invalid."""
    kept = cache.cursor(PROGRESS_CURSOR)
    try:
        return _parse_progress(kept) if kept else SyncProgress()
    except (TypeError, ValueError, AttributeError):
        return SyncProgress()


def _parse_progress(saved: dict[str, Any]) -> SyncProgress:
    at = StagePosition(**saved["at"]) if saved.get("at") else None
    reasons = tuple((str(name), why) for name, why in saved.get("reasons", ()))
    left_out = tuple(UnusableRows(str(name), int(rows), str(why)) for name, rows, why in saved.get("left_out", ()))
    parsed = {"missing": tuple(saved.get("missing", ())), "reasons": reasons, "left_out": left_out}
    return SyncProgress(**{**saved, "todo": tuple(saved["todo"]), "at": at, **parsed})


def save_progress(cache: CacheWriter, progress: SyncProgress) -> None:
    """Save the progress. Call it in the transaction of the rows."""
    at = progress.at._asdict() if progress.at else None
    cache.set_cursor(PROGRESS_CURSOR, {**progress._asdict(), "at": at})
