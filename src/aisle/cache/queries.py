"""Queries of a session: their declaration and registry, read-only connections, and windows on long lists.

A query is a function (context, arguments) that returns rows of a type of aisle.jobs.row_types. `declare_query` gives it
its name, its arguments (`first` and `size` are the window) and the topics whose change would change its answer.
Queries that the session answers itself: aisle.session.job_context_and_query_answers.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import apsw

from aisle.cache.locations_in_walk_order import WalkOrder, WalkOrderCache
from aisle.cache.pending_operations import Overlay, OverlayIndex
from aisle.cache.schema import CACHE_TABLES, SCHEMA_VERSION
from aisle.cache.stock_overlay import apply_to_stock, pending_by_product
from aisle.cache.stored_row_values import Row, parse_row
from aisle.errors import StorageError
from aisle.host.database import check_not_newer, connect, fetch, schema_version
from aisle.host.notify_sockets import ANYTHING, format_topic
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import MAX_SORTED, Args, Json
from aisle.jobs.walk_order_sort_keys import natural_key
from aisle.named_tuple_json import to_text

F = TypeVar("F", bound=Callable[..., Any])


TopicsOf = Callable[[Args, Sequence[Json]], Iterable[str]]
"""Function that returns the topics of an answer from its arguments and rows."""


def whole_topics(*topics: str) -> TopicsOf:
    """Return these topics. None: an answer to one input, or of data without a topic."""
    return lambda _args, _rows: topics


def topic_of(topic: str, field: str, *more: str) -> TopicsOf:
    """Return the topic of the one object named by this argument, all objects of the topic without it; and `more`."""
    return lambda args, _rows: (format_topic(topic, str(args.get(field) or "")), *more)


def topics_of_list(topic: str, field: str) -> TopicsOf:
    """Return the topics of the objects listed by this argument."""
    return lambda args, _rows: [format_topic(topic, str(each)) for each in args.get(field) or ()]


def topics_of_rows(topic: str, field: str) -> TopicsOf:
    """Return the topics of the objects in the rows; the whole topic if there are no rows."""
    return lambda _args, rows: [format_topic(topic, str(row.get(field) or "")) for row in rows] or [topic]


class DeclaredQuery(NamedTuple):
    """One query."""

    arguments: str
    """Names of its arguments."""
    topics_of: TopicsOf
    read: Callable[[QueryContext, Args], Any]
    sorts: tuple[str, ...] = ()
    """Fields of its rows by which it reads them from an index."""


DECLARED: dict[str, DeclaredQuery] = {}
"""Queries of the modules loaded so far, by name."""


_ANY_TOPIC = whole_topics(ANYTHING)


def declare_query(
    name: str, arguments: str, topics_of: TopicsOf = _ANY_TOPIC, sorts: tuple[str, ...] = ()
) -> Callable[[F], F]:
    """Declare the decorated function as the query of this name. By default any change may concern its answer."""

    def declare(read: F) -> F:
        DECLARED[name] = DeclaredQuery(arguments, topics_of, read, sorts)
        return read

    return declare


_QUERIES_BY_MODULE = {
    "chain_catalogue_queries": ("catalogue", "catalogue_page", "facets"),
    "people_and_claim_queries": (
        "assigned_orders",
        "features",
        "list_choices",
        "people",
        "person",
        "preferences",
        "user_token",
    ),
    "clearance_and_assignment_queries": (
        "assignment_left",
        "assignments",
        "clearance_permission",
        "held_by_category",
        "tags",
    ),
    "code_queries": ("records_by_number",),
    "delivery_queries": ("deliveries", "deliveries_expecting", "delivery", "next_deliveries", "partly_received"),
    "receipt_queries": ("excess_receipts", "receipt_kinds", "receipts"),
    "count_and_review_queries": (
        "differences",
        "entries_to_review",
        "later_counts",
        "moves_since",
        "recounts",
        "unused_counts",
    ),
    "exception_queries": ("exceptions", "negative_stock", "picked_orders", "stuck", "uncollected"),
    "expiry_check_queries": ("checked_products", "due_checks", "expiry_checks"),
    "goods_in_hand_queries": ("open_work",),
    "location_queries": ("held_goods", "location", "location_use", "locations", "locations_of_products"),
    "log_queries": ("counts_booked_otherwise", "counts_since", "log", "log_sums", "losses", "my_entries", "reasons"),
    "unconfirmed_operation_queries": (
        "needing_person",
        "refused_operations",
        "request_state",
        "unconfirmed",
        "undos_after_counts",
    ),
    "order_board_queries": ("absent_order", "order_board", "order_counts", "orders_by_number", "saved_views"),
    "order_event_queries": ("order_history", "order_outcomes"),
    "order_queries": ("order", "order_to_pick", "orders", "orders_with_product", "pick_list"),
    "product_queries": ("product", "search", "store_product", "surrounding"),
    "record_search": ("records",),
    "chain_store_queries": ("store", "store_page", "stores"),
    "shortage_and_unexpected_scan_queries": (
        "other_locations",
        "pickup_locations",
        "short_reasons",
        "stock_at_location",
        "unexpected_product",
    ),
    "today_queries": ("today", "today_hours", "today_locations", "today_terminals"),
    "reader": ("unread_lists",),
}
MODULE_BY_QUERY = {name: module for module, names in _QUERIES_BY_MODULE.items() for name in names}

_WITHOUT_TOPICS = ("file", "message_texts", "terminal")
"""Queries of the session whose answers no change concerns."""


def find_query(name: str) -> DeclaredQuery:
    """Return a query by name. Raise KeyError if there is none."""
    if name not in DECLARED:
        import_module(f"aisle.cache.{MODULE_BY_QUERY[name]}")
    return DECLARED[name]


def topics_of_query(name: str, args: Args, rows: Sequence[Json]) -> frozenset[str]:
    """Return the topics whose change would change this answer; any for an unknown query."""
    if name in MODULE_BY_QUERY:
        return frozenset(find_query(name).topics_of(args, rows))
    return frozenset(() if name in _WITHOUT_TOPICS else (ANYTHING,))


T = TypeVar("T")

_STOCK_OF_PRODUCTS = """
SELECT p.product_number, s.raw, s.read_began FROM json_each(?) e
JOIN product p ON p.product_number = e.value JOIN stock s ON s.id = p.id ORDER BY e.key
"""


class QueryContext:
    """Connections that queries read from, and what they have computed before."""

    def __init__(self, store_folder: StoreFolder, outbox: apsw.Connection) -> None:
        self.store_folder = store_folder
        self.outbox = outbox
        self.pools: Mapping[int, str] = {}
        """Names of the configured stock pools; empty for those that the store names."""
        self.weight_tolerance = Decimal(0)
        """Percentage that a picked or received line of goods by weight may lack."""
        self.overlay = Overlay(outbox)
        self._kept: dict[type, Any] = {}

    def use_cache(self, cache: apsw.Connection) -> None:
        """Read from another cache from now on."""
        self.cache = cache
        self._walk_orders = WalkOrderCache()

    @property
    def pending_orders(self) -> OverlayIndex:
        """Index of pending operations by order, oldest first."""
        return self.overlay.by_order()

    @property
    def pending_products(self) -> OverlayIndex:
        """Index of pending operations by product, oldest first."""
        return pending_by_product(self.overlay)

    @property
    def cache_version(self) -> int:
        """Number that changes when another process has written to the cache."""
        return int(fetch(self.cache, "PRAGMA data_version")[0][0])

    def keep(self, kind: type[T]) -> T:
        """Return the one object of this type that a query keeps between its calls."""
        if kind not in self._kept:
            self._kept[kind] = kind()
        found: T = self._kept[kind]
        return found

    def overlaid_stock(self, numbers: Iterable[str]) -> Iterator[tuple[str, Row]]:
        """Yield number and stock entry of those of these products that have one, with pending operations applied.

        They come in this order; each is computed when its turn comes.
        """
        asked, pending = list(numbers), self.pending_products
        pending.preload(number for number in asked if pending.may_contain(number))
        for number, raw, began in fetch(self.cache, _STOCK_OF_PRODUCTS, to_text(asked)) if asked else ():
            yield str(number), apply_to_stock(parse_row(raw), str(number), pending.get(number, ()), began)

    def walk_order(self) -> WalkOrder:
        """Return the locations in walking order."""
        return self._walk_orders.current(self.cache, self.cache_version)


R = TypeVar("R")
"""Type of the rows of a query, of aisle.jobs.row_types."""

M = TypeVar("M", bound=Mapping[str, Any])

QueryResult = tuple[list[R], int]
"""Rows and the total number."""


class WindowRows(NamedTuple, Generic[R]):
    """Result of a query that stops counting at a limit."""

    rows: list[R]
    total: int
    is_partial: bool = False
    """True if there may be more than were counted."""


def window_bounds(args: Args, size: int = 20) -> tuple[int, int]:
    """Return (first, size) of the requested window; `size` if the query names no size."""
    first, requested = args.get("first"), args.get("size")
    return max(0, int(first or 0)), size if requested is None else max(0, int(requested))


SortKey = tuple[Any, ...]
"""Sort key of the list; no two rows share one, as its last part identifies the row."""

ReadKeys = Callable[[bool, int, int], Sequence[SortKey]]
"""Function (from the end, count, skip) that returns keys in reading direction."""


def read_along(connection: apsw.Connection, select: str, order: Sequence[str], *values: Any) -> ReadKeys:
    """Return a function that reads the rows of a query in this order: columns, each perhaps with ` DESC`."""

    def read(from_end: bool, count: int, skip: int) -> list[SortKey]:
        by = ", ".join(_reverse(column) if from_end else column for column in order)
        return fetch(connection, f"{select} ORDER BY {by} LIMIT ? OFFSET ?", *values, count, skip)

    return read


def _reverse(column: str) -> str:
    return column.removesuffix(" DESC") if column.endswith(" DESC") else f"{column} DESC"


def page(rows: list[R], args: Args, size: int = 20) -> QueryResult[R]:
    """Return the requested window on rows that are all known."""
    first, size = window_bounds(args, size)
    return rows[first : first + size], len(rows)


def read_window(read: ReadKeys, total: int, first: int, size: int) -> list[SortKey]:
    """Return the keys of a window on a list with `total` cached rows, in the order of the list."""
    count = min(size, total - first)
    if count <= 0:
        return []
    behind = total - first - count
    from_end = behind < first
    rows = list(read(from_end, count, behind if from_end else first))
    return rows[::-1] if from_end else rows


def read_merged_window(read: ReadKeys, total: int, extra: Sequence[SortKey], first: int, size: int) -> list[SortKey]:
    """Return the keys of a window with `extra` rows merged in, which are sorted like the list.

    `total` is the number of cached rows without the extra ones.
    """
    if not extra:
        return read_window(read, total, first, size)
    # Reading this many rows earlier suffices: no more extra rows can precede the window.
    start = max(0, first - len(extra))
    rows = read_window(read, total, start, first + size - start)
    if start and not rows:
        return []
    extra_before = bisect_left(extra, rows[0]) if start else 0
    merged = sorted([*rows, *extra[extra_before:]])
    offset = first - start - extra_before
    return merged[offset : offset + size]


ValueKey = tuple[int, Any]


class SortedList:
    """Last list that was sorted in memory, kept for its next window until `stamp` changes."""

    def __init__(self) -> None:
        self._source: tuple[Args, object] | None = None
        self._whole: WindowRows[Json] = WindowRows([], 0)

    def window(self, read: Callable[[Args], WindowRows[Json]], args: Args, stamp: object) -> WindowRows[Json]:
        """Return a window on the whole list, sorted by the field `order_by` of its rows. Empty fields come last.

        A list of more than `MAX_SORTED` rows keeps its own order.
        """
        unsorted = {**args, "order_by": "", "descending": False}
        source = {**args, "first": 0, "size": MAX_SORTED}, stamp
        if self._source != source:
            if read({**unsorted, "first": 0, "size": 0}).total > MAX_SORTED:
                return read(unsorted)
            whole = read({**unsorted, "first": 0, "size": MAX_SORTED})
            self._source, self._whole = source, whole._replace(rows=sort_rows(whole.rows, args))
        first, size = window_bounds(args)
        return self._whole._replace(rows=[{**row} for row in self._whole.rows[first : first + size]])


def sort_rows(rows: Sequence[M], args: Args) -> list[M]:
    """Return rows sorted by their field `order_by`, in reverse if `descending`. Empty fields come last."""
    field = str(args["order_by"])
    filled = [row for row in rows if row.get(field) not in (None, "")]
    empty = [row for row in rows if row.get(field) in (None, "")]
    return [*sorted(filled, key=lambda row: _sort_key(row[field]), reverse=bool(args.get("descending"))), *empty]


def _sort_key(value: Json) -> ValueKey:
    """Return a key by which values of any type compare: numbers by size, then texts with A-2 before A-10."""
    if isinstance(value, int | float | Decimal):
        return 0, value
    if isinstance(value, Mapping | list | tuple):
        return 2, str(value)
    return 1, natural_key(str(value))


def open_for_reading(folder: Path) -> apsw.Connection:
    """Open the cache of a home folder as it is. Raise StorageError if there is none that this program can read."""
    path = folder / "cache.db"
    if not path.exists():
        raise StorageError(f"{path} is not there yet. The courier makes it.")
    connection = connect(path, read_only=True)
    check_not_newer(connection, SCHEMA_VERSION)
    if schema_version(connection) != SCHEMA_VERSION:
        raise StorageError(f"{path} is of another version. The courier makes it anew.")
    return connection


def empty_cache() -> apsw.Connection:
    """Return an empty cache in memory, for a session to read while there is no file."""
    connection = apsw.Connection(":memory:")
    connection.execute(CACHE_TABLES).fetchall()
    connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}").fetchall()
    return connection
