"""The order board: its filter, its rows and its windows, with pending operations overlaid.

A filter is expressed twice, as SQL for cached orders and as `matches` for overlaid ones; both must agree.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import apsw

from aisle.cache.order_event_queries import last_events
from aisle.cache.order_overlay import (
    STATE_BY_STATUS,
    OrderColumns,
    PendingOrder,
    PendingOrders,
    count_short_lines,
    load_order_header,
    order_status,
    overlaid_lines,
    put_down_locations,
)
from aisle.cache.order_queries import add_pieces
from aisle.cache.people_and_claim_queries import add_batch_pickers, add_claims, add_priority
from aisle.cache.queries import (
    QueryContext,
    QueryResult,
    SortKey,
    declare_query,
    topic_of,
    topics_of_list,
    whole_topics,
    window_bounds,
)
from aisle.cache.schema import ABSENT_ORDERS, IS_SHORT_SQL
from aisle.cache.stored_row_values import iso_time
from aisle.host.database import fetch, fetch_one
from aisle.jobs.job import Args, Json
from aisle.jobs.store_time import to_utc_text
from aisle.jobs.supervisor.order_filter import view_key
from aisle.named_tuple_json import to_text
from aisle.outbox.local_notes import SAVED_VIEW, notes_of_topic
from aisle.search_text import order_search_words

ORDER_STATUSES = tuple(STATE_BY_STATUS)
STATUSES_TO_PICK = ("open", "partial")
STATUSES_WITH_GOODS = ("partial", "picked")

if TYPE_CHECKING:
    from aisle.jobs.row_types.orders import (
        AbsentOrderRow,
        OrderBoardRow,
        OrderCountRow,
        OrdersByNumberRow,
        SavedViewsRow,
    )

SORT_COLUMNS = {
    "pickup": ("pickup", "sort", "order_number"),
    "age": ("first_read_began", "sort", "order_number"),
    "number": ("sort", "order_number"),
    "customer": ("customer", "sort", "order_number"),
    "state": ("status", "pickup", "sort", "order_number"),
    "progress": ("progress", "sort", "order_number"),
    "claim": ("claimant", "pickup", "sort", "order_number"),
}
"""Columns of the cache by sort order."""

_SHORT_LINES_SQL = f"""
FROM line INDEXED BY line_short WHERE {IS_SHORT_SQL} AND NOT (
  (raw ->> 'picked_quantity') * 100 >= (raw ->> 'quantity') * (100 - ?) - 0.001
  AND EXISTS (SELECT 1 FROM product WHERE product.product_number = line.product_number AND allow_decimal)
)"""  # noqa: S608 - conditions of our own
"""Lines closed short of the ordered quantity, by more than the percentage that goods by weight may lack."""
_HAS_SHORT_SQL = f"o.order_number IN (SELECT order_number {_SHORT_LINES_SQL})"


class BoardFilter(NamedTuple):
    """A filter of the board. Empty fields do not filter."""

    status: tuple[str, ...] = ORDER_STATUSES
    words: tuple[str, ...] = ()
    """Normalised words that number, reference, customer, phone, description or comment must contain."""
    reference: str = ""
    claimed: bool | None = None
    short: bool = False
    """True: only orders with a line closed short of the ordered quantity."""
    tolerance: Decimal = Decimal(0)
    """Percentage that goods by weight may lack without being short; only set with `short`."""
    due_before: str = ""
    """Only orders due before this moment or day; orders without a date never match."""
    due_until: str = ""
    """Only orders due up to this day or without a date. interface: pickup_offset."""
    sort: str = "pickup"
    is_descending: bool = False

    @property
    def is_plain(self) -> bool:
        """True if only states are filtered; their counts are stored."""
        return self == BoardFilter(self.status, sort=self.sort, is_descending=self.is_descending)

    @property
    def is_late(self) -> bool:
        """True if it leaves the unpicked orders that are overdue; an index counts them."""
        late = BoardFilter(STATUSES_TO_PICK, due_before=self.due_before, sort=self.sort)
        return bool(self.due_before) and self._replace(is_descending=False) == late


def parse_filter(args: Args, tolerance: Decimal = Decimal(0)) -> BoardFilter:
    """Return the filter for a query's arguments; `late` and `pickup_offset` need `now` (ISO 8601). `tolerance` is the
    percentage that goods by weight may lack."""
    status = tuple(word for word in ORDER_STATUSES if word in (args.get("status") or ORDER_STATUSES))
    now = datetime.fromisoformat(str(args["now"])).astimezone() if args.get("now") else None
    offset = args.get("pickup_offset")
    until = (now + timedelta(days=int(offset))).date().isoformat() + "~" if now and offset is not None else ""
    return BoardFilter(
        status=status,
        words=tuple(order_search_words(str(args.get("search") or ""))),
        reference=str(args.get("reference") or ""),
        claimed=args.get("claimed"),
        short=bool(args.get("short")),
        tolerance=tolerance if args.get("short") else Decimal(0),
        due_before=now.replace(tzinfo=None).isoformat(timespec="seconds") if now and args.get("late") else "",
        due_until=until,
        sort=str(args["sort"]) if args.get("sort") in SORT_COLUMNS else "pickup",
        is_descending=bool(args.get("descending")),
    )


def sort_key(order: OrderColumns, sort: str) -> SortKey:
    """Return the sort key of an order."""
    values = order._asdict()
    return tuple(values[name] for name in SORT_COLUMNS[sort])


def matches(order: OrderColumns, board_filter: BoardFilter) -> bool:
    """Return True if an order with pending operations matches the filter once they are done."""
    pickup, due_before = order.pickup, board_filter.due_before
    return (
        order.status in board_filter.status
        and all(word in order.text for word in board_filter.words)
        and (not board_filter.reference or order.reference == board_filter.reference)
        and (board_filter.claimed is None or bool(order.claimed) == board_filter.claimed)
        and (not board_filter.short or order.short > 0)
        and (not due_before or pickup < (due_before if len(pickup) > 10 else due_before[:10]))
        and (not board_filter.due_until or pickup <= board_filter.due_until or pickup == "~")
    )


def sql_conditions(board_filter: BoardFilter) -> tuple[list[str], list[Any]]:
    """Return the filter as SQL conditions on an order `o`, and their values."""
    # with the plus sign an index on the sort order is read, not one on the states
    conditions, values = ["+o.status IN (SELECT value FROM json_each(?))"], [to_text(list(board_filter.status))]
    if set(board_filter.status) == set(ORDER_STATUSES):
        conditions, values = ["1"], []
    for word in board_filter.words:
        conditions.append("instr(o.text, ?)")
        values.append(word)
    if board_filter.reference:
        conditions.append("o.reference = ?")
        values.append(board_filter.reference)
    if board_filter.claimed is not None:
        conditions.append(f"o.claimed = {int(board_filter.claimed)}")
    if board_filter.short:
        conditions.append(_HAS_SHORT_SQL)
        values.append(str(board_filter.tolerance))
    if board_filter.due_before:
        conditions.append("o.pickup < ? AND (length(o.pickup) > 10 OR o.pickup < ?)")
        values += [board_filter.due_before, board_filter.due_before[:10]]
    if board_filter.due_until:
        conditions.append("(o.pickup <= ? OR o.pickup = '~')")
        values.append(board_filter.due_until)
    return conditions, values


_FROM_LIST_INDEX = "FROM orders o INDEXED BY orders_list"
_SORTS_OF_LIST_INDEX = ("pickup", "age", "number")
"""Sort orders whose columns the index `orders_list` has."""

MAX_COUNTED_ORDERS = 5000
"""Most orders of a store among which those of any filter are counted for its chip."""

_LAST_TEXT, _LAST_NUMBER = "\U0010ffff", 1e18
_END_KEYS = dict.fromkeys(SORT_COLUMNS, _LAST_TEXT) | {"age": _LAST_NUMBER, "progress": _LAST_NUMBER}
"""Keys that sort after all others."""

_COUNT_SHORT_LINES = f"SELECT count(*) {_SHORT_LINES_SQL} AND order_number = ?"

_COUNT_LATE = """
SELECT count(*) FROM orders INDEXED BY orders_status
WHERE status IN (SELECT value FROM json_each(?)) AND pickup < ? AND pickup <> ?
"""


@declare_query("absent_order", "order_number since", topic_of("absent", "order_number"))
def find_absent_order(context: QueryContext, args: Args) -> QueryResult[AbsentOrderRow]:
    """Return one row if the service, asked `since` then, answered that it has no such order; otherwise none."""
    number, since = str(args["order_number"]), datetime.fromisoformat(str(args["since"])).timestamp()
    cursor = fetch_one(context.cache, "SELECT cursor FROM sync WHERE topic = ?", ABSENT_ORDERS)
    asked_at = dict(json.loads(cursor[0])).get(number) if cursor else None
    return ([{"order_number": number}], 1) if asked_at is not None and asked_at >= since else ([], 0)


@declare_query(
    "order_board",
    "status search reference claimed short late pickup_offset sort descending now anchor row fills near first size",
)
def query_order_board(context: QueryContext, args: Args) -> QueryResult[OrderBoardRow]:
    """Return a window of the board: `first` and `size`, or `anchor` (order_number) and its `row` in the window.

    The anchor yields if the whole list fits the window, or with `fills`, rather than leave rows blank. `near`:
    order_number and `position` of a row read before, to search from.
    """
    listed = context.keep(OrderBoard).filtered_list(context, parse_filter(args, context.weight_tolerance))
    total = listed.total
    first, size = window_bounds(args, 50)
    near = args.get("near") or {}
    start = listed.known_start(str(near.get("order_number") or ""), near.get("position"))
    if args.get("anchor"):
        key = listed.key_of(str(args["anchor"]))
        if key is not None:
            start = (key, listed.rank(key))
            last = total - size if total <= size or args.get("fills") else total - 1
            first = max(0, min(start[1] - int(args.get("row") or 0), last))
    keys = listed.window(first, size, start)
    rows = context.keep(OrderBoard).window_rows(context, [number for *_, number in keys])
    found: list[OrderBoardRow] = [{**row, "position": first + at} for at, row in enumerate(rows) if row is not None]
    _add_people(context, found)
    return found, total


@declare_query("order_counts", "views now")
def order_counts(context: QueryContext, args: Args) -> QueryResult[OrderCountRow]:
    """Return the number of orders of each of `views` (arguments of `order_board`), if it is stored or soon counted."""
    board, now = context.keep(OrderBoard), str(args["now"])
    ((known,),) = fetch(context.cache, "SELECT ifnull(sum(n), 0) FROM status_tally")
    counts_all = int(known) <= MAX_COUNTED_ORDERS
    tolerance = context.weight_tolerance
    filters = [parse_filter({**view, "now": now, "sort": "pickup"}, tolerance) for view in args["views"]]
    rows: list[OrderCountRow] = [
        {"count": board.filtered_list(context, each).total if counts_all or each.is_plain or each.is_late else None}
        for each in filters
    ]
    return rows, len(rows)


@declare_query("orders_by_number", "orders", topics_of_list("order", "orders"))
def orders_by_number(context: QueryContext, args: Args) -> QueryResult[OrdersByNumberRow]:
    """Return the rows of these `orders` in the given order; unknown numbers are left out."""
    rows = [row for number in args["orders"] if (row := _load_row(context, str(number))) is not None]
    _add_people(context, rows)
    return rows, len(rows)


@declare_query("saved_views", "user", whole_topics())
def saved_views(context: QueryContext, args: Args) -> QueryResult[SavedViewsRow]:
    """Return the views that a person has saved."""
    prefix = view_key(str(args["user"]))
    rows: list[SavedViewsRow] = [
        {"name": key.removeprefix(prefix), "filter": json.loads(note.text)}
        for key, note in notes_of_topic(context.outbox, SAVED_VIEW).items()
        if key.startswith(prefix)
    ]
    return rows, len(rows)


def _add_people(context: QueryContext, rows: Sequence[OrdersByNumberRow]) -> None:
    """Add to each order who works on it and the time of its last event, in place."""
    cache, outbox = context.cache, context.outbox
    add_claims(cache, outbox, rows)
    add_priority(cache, outbox, rows)
    add_batch_pickers(cache, outbox, rows)
    add_pieces(context, rows)
    in_work = [row for row in rows if _is_in_work(row)]
    last_event_by_order = last_events(cache, outbox, [row["order_number"] for row in in_work])
    for row in rows:
        row["idle_since"] = ""
    for row in in_work:
        claimed_on = to_utc_text(str(row.get("claimed_on") or ""))
        row["idle_since"] = max(claimed_on, last_event_by_order.get(row["order_number"], ""))


def _load_row(context: QueryContext, number: str) -> OrdersByNumberRow | None:
    header = load_order_header(context, number)
    if header is None:
        return None
    row = cast("OrdersByNumberRow", header)
    began = fetch_one(context.cache, "SELECT first_read_began FROM orders WHERE order_number = ?", number)
    row["status"] = order_status(row)
    row["seen_at"] = iso_time(began[0]) if began and began[0] else ""
    row["short"] = _count_short(context, number)
    row["put_down_at"] = put_down_locations(context, number) if row["status"] in STATUSES_WITH_GOODS else []
    return row


def _count_short(context: QueryContext, number: str) -> int:
    """Return the number of lines closed short of the ordered quantity."""
    if number not in context.pending_orders:
        return int(fetch(context.cache, _COUNT_SHORT_LINES, str(context.weight_tolerance), number)[0][0])
    return count_short_lines(context, overlaid_lines(context, number))


class OrderBoard:
    """Orders with pending operations, and keys of the last filter, kept until cache or outbox change."""

    def __init__(self) -> None:
        self._revision: tuple[Any, ...] = ()
        self._pending_orders: Mapping[str, PendingOrder] = {}
        self._filtered_keys: dict[BoardFilter, list[SortKey]] = {}
        """All keys of each filter that is more than states."""
        self._window_rows: dict[str, OrdersByNumberRow | None] = {}
        """Rows of the last window by order."""

    def window_rows(self, context: QueryContext, numbers: Sequence[str]) -> list[OrdersByNumberRow | None]:
        """Return the rows of a window. Those of the last window are not read again until something changes."""
        self._refresh(context)
        kept = self._window_rows
        self._window_rows = {each: kept[each] if each in kept else _load_row(context, each) for each in numbers}
        return [row and row.copy() for row in self._window_rows.values()]

    def filtered_list(self, context: QueryContext, board_filter: BoardFilter) -> BoardList:
        """Return the list of a filter."""
        self._refresh(context)
        ascending, parts = board_filter._replace(is_descending=False), (context.cache, board_filter)
        if board_filter.is_plain:
            return BoardList(*parts, self._pending_keys(board_filter), self._pending_orders)
        if board_filter.is_late and board_filter.sort == "pickup":
            total = self._count_late(context, board_filter)
            return BoardList(*parts, self._pending_keys(board_filter), self._pending_orders, total)
        if ascending not in self._filtered_keys:
            listed = BoardList(*parts, self._pending_keys(board_filter), self._pending_orders, 0)
            self._filtered_keys = {ascending: listed.all_keys()}
        return FilteredList(*parts, self._filtered_keys[ascending], self._pending_orders)

    def count_late(self, context: QueryContext, now: str) -> int:
        """Return the number of unpicked orders that are overdue at `now`."""
        return self.filtered_list(context, parse_filter({"status": STATUSES_TO_PICK, "late": True, "now": now})).total

    def _count_late(self, context: QueryContext, late_filter: BoardFilter) -> int:
        """Return the number of unpicked orders that are overdue. One of today without a time is not."""
        due, waiting = late_filter.due_before, to_text(list(STATUSES_TO_PICK))
        ((cached,),) = fetch(context.cache, _COUNT_LATE, waiting, due, due[:10])
        change = sum(
            matches(order.now, late_filter) - matches(order.cached, late_filter)
            for order in self._pending_orders.values()
        )
        return int(cached) + change

    def _refresh(self, context: QueryContext) -> None:
        stamp = (*context.overlay.revision(), context.cache_version, id(context.cache))
        if stamp != self._revision:
            self._window_rows, self._filtered_keys = {}, {}
            self._revision = ()  # an exception below leads to another try next time
            self._pending_orders = context.keep(PendingOrders).all(context)
            self._revision = stamp

    def _pending_keys(self, board_filter: BoardFilter) -> list[SortKey]:
        """Return the sorted keys of the orders with pending operations that match the filter."""
        return sorted(
            sort_key(order.now, board_filter.sort)
            for order in self._pending_orders.values()
            if matches(order.now, board_filter)
        )


def _is_in_work(row: OrdersByNumberRow) -> bool:
    return row["status"] in ("open", "partial") and (bool(row.get("is_claimed")) or row["status"] == "partial")


class BoardList:
    """List of a filter: cached orders without those with pending operations, and the matching ones of these.

    `total` is its number of orders if it is known; else those of the states are counted.
    """

    def __init__(
        self,
        cache: apsw.Connection,
        board_filter: BoardFilter,
        pending_keys: list[SortKey],
        pending_orders: Mapping[str, PendingOrder],
        total: int | None = None,
    ) -> None:
        self._filter = board_filter
        self._cache = cache
        self._pending_keys = pending_keys
        self._pending_orders = pending_orders
        self._columns = SORT_COLUMNS[board_filter.sort]
        conditions, self._values = sql_conditions(board_filter)
        if pending_orders:
            conditions.append("o.order_number NOT IN (SELECT value FROM json_each(?))")
            self._values.append(to_text(list(pending_orders)))
        self._where = " AND ".join(conditions)
        self.total = self._count() if total is None else total
        """Number of orders in the list."""

    def _count(self) -> int:
        rows: dict[str, int] = dict(fetch(self._cache, "SELECT status, n FROM status_tally"))
        hidden = sum(each.cached.status in self._filter.status for each in self._pending_orders.values())
        return sum(rows.get(status, 0) for status in self._filter.status) - hidden + len(self._pending_keys)

    def all_keys(self) -> list[SortKey]:
        """Return all keys in the order of the list."""
        source = _FROM_LIST_INDEX if self._filter.sort in _SORTS_OF_LIST_INDEX else "FROM orders o"
        sql = f"SELECT {', '.join(self._columns)} {source} WHERE {self._where}"
        return sorted([*(tuple(row) for row in fetch(self._cache, sql, *self._values)), *self._pending_keys])

    def key_of(self, number: str) -> SortKey | None:
        """Return the sort key of an order; None if it is not cached."""
        if number in self._pending_orders:
            return sort_key(self._pending_orders[number].now, self._filter.sort)
        columns = ", ".join(self._columns)
        found = fetch_one(self._cache, f"SELECT {columns} FROM orders WHERE order_number = ?", number)  # noqa: S608
        return None if found is None else tuple(found)

    def rank(self, key: SortKey) -> int:
        """Return the number of orders before this key in the list."""
        rank = self._rank(key)
        return max(0, self.total - 1 - rank) if self._filter.is_descending else rank

    def _rank(self, key: SortKey) -> int:
        """Return the number of orders with lower keys."""
        columns, marks = ", ".join(self._columns), ", ".join("?" * len(key))
        sql = f"SELECT count(*) FROM orders o WHERE ({columns}) < ({marks}) AND {self._where}"  # noqa: S608
        return int(fetch(self._cache, sql, *key, *self._values)[0][0]) + bisect_left(self._pending_keys, key)

    def known_start(self, number: str, position: Json) -> tuple[SortKey, int] | None:
        """Return key and position of a row that was read before; None if it is no longer cached."""
        key = self.key_of(number) if number and isinstance(position, int) else None
        return None if key is None else (key, int(position))

    def window(self, first: int, size: int, start: tuple[SortKey, int] | None) -> list[SortKey]:
        """Return the keys from a position on, read from the nearest row with a known position."""
        if not self._filter.is_descending:
            return self._window(first, size, start)
        end = self.total - first
        mirrored = (start[0], self.total - 1 - start[1]) if start else None
        return self._window(max(0, end - size), min(size, end), mirrored)[::-1] if end > 0 else []

    def _window(self, first: int, size: int, start: tuple[SortKey, int] | None) -> list[SortKey]:
        ends: list[tuple[SortKey, int]] = [((), 0), ((_END_KEYS[self._filter.sort],), self.total)]
        key, at = min([*ends, *([start] if start else [])], key=lambda each: abs(each[1] - first))
        before, behind = max(0, at - first), max(0, first + size - at)
        earlier = self._read_keys(key, before, "<", "DESC") if key and before else []
        later = self._read_keys(key, behind, ">=", "ASC") if behind else []
        return [*earlier, *later][max(0, first - at + len(earlier)) :][:size]

    def _read_keys(self, key: SortKey, count: int, sign: str, order: str) -> list[SortKey]:
        """Return `count` keys from one on, or before it, in the direction of `order`."""
        columns = ", ".join(self._columns)
        where, values = self._where, [*self._values]
        if key:
            compared = ", ".join(self._columns[: len(key)])
            where = f"({compared}) {sign} ({', '.join('?' * len(key))}) AND {where}"
            values = [*key, *values]
        by = ", ".join(f"{column} {order}" for column in self._columns)
        sql = f"SELECT {columns} FROM orders o WHERE {where} ORDER BY {by} LIMIT ?"  # noqa: S608
        rows = [tuple(row) for row in fetch(self._cache, sql, *values, count)]
        at = bisect_left(self._pending_keys, key)
        if order == "DESC":
            return sorted([*rows, *self._pending_keys[max(0, at - count) : at]])[-count:]
        return sorted([*rows, *self._pending_keys[at : at + count]])[:count]


class FilteredList(BoardList):
    """A list whose keys are all known."""

    def _count(self) -> int:
        return len(self._pending_keys)

    def _rank(self, key: SortKey) -> int:
        return bisect_left(self._pending_keys, key)

    def _window(self, first: int, size: int, start: tuple[SortKey, int] | None) -> list[SortKey]:
        return self._pending_keys[first : first + size]
