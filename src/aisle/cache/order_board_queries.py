"""What of the order board is asked for, and what that means of an order: in SQL, and of one that is laid over, so that
both say the same. Pure.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import apsw

from aisle.cache.claim_queries import add_batch_pickers, add_claims, add_priority
from aisle.cache.open_order_list import ORDER_BATCH
from aisle.cache.order_history_queries import last_events
from aisle.cache.order_overlay import Overlay, Row, is_line_complete, to_decimal
from aisle.cache.order_queries import add_pieces
from aisle.cache.overlaid_order import OverlaidOrders, PendingByOrder, load_order_header, overlaid_lines
from aisle.cache.overlay_index import OverlayIndex
from aisle.cache.row_values import QueryResult, iso_time, window_bounds
from aisle.cache.schema import ABSENT_ORDERS
from aisle.host.database import fetch, fetch_one
from aisle.jobs.job import Json
from aisle.jobs.store_time import to_utc_text
from aisle.json_codec import to_text
from aisle.search_text import normalise_text

ORDER_STATUSES = ("open", "partial", "picked", "rejected", "finished")
"""interface: fulfillment_status, in the words of our own service."""

SortKey = tuple[Any, ...]
"""What the list is sorted by; the last part is the order's number."""

SORT_COLUMNS = {
    "pickup": ("pickup", "sort", "order_number"),
    "age": ("first_began", "sort", "order_number"),
    "number": ("sort", "order_number"),
}
"""Columns of the cache by what the list is sorted by."""

IS_SHORT_SQL = "(raw ->> 'is_picked') IN (1, 'true') AND (raw ->> 'picked_quantity') < (raw ->> 'quantity')"
_HAS_SHORT_SQL = f"o.order_number IN (SELECT order_number FROM line INDEXED BY line_short WHERE {IS_SHORT_SQL})"  # noqa: S608


class BoardFilter(NamedTuple):
    """What of the list is asked for. Empty parts ask for nothing."""

    status: tuple[str, ...] = ORDER_STATUSES
    words: tuple[str, ...] = ()
    """Of number, reference, customer, description and comment; folded."""
    reference: str = ""
    claimed: bool | None = None
    short: bool = False
    """Has a line that is closed with less than was ordered."""
    due_before: str = ""
    """Due before this moment or day; without a date they are none of these."""
    due_until: str = ""
    """Due up to this day, or without a date (interface: pickup_offset)."""
    sort: str = "pickup"

    @property
    def is_plain(self) -> bool:
        """Whether the states alone are asked for, whose counts are kept."""
        return self == BoardFilter(self.status, sort=self.sort)


def parse_filter(args: Mapping[str, Json]) -> BoardFilter:
    """What the arguments of the read ask for; `now` (ISO 8601) is needed for `late` and `pickup_offset`."""
    status = tuple(word for word in ORDER_STATUSES if word in (args.get("status") or ORDER_STATUSES))
    now = datetime.fromisoformat(str(args["now"])).astimezone() if args.get("now") else None
    offset = args.get("pickup_offset")
    until = (now + timedelta(days=int(offset))).date().isoformat() + "~" if now and offset is not None else ""
    return BoardFilter(
        status=status,
        words=tuple(normalise_text(str(args.get("search") or "")).split()),
        reference=str(args.get("reference") or ""),
        claimed=args.get("claimed"),
        short=bool(args.get("short")),
        due_before=now.replace(tzinfo=None).isoformat(timespec="seconds") if now and args.get("late") else "",
        due_until=until,
        sort=str(args["sort"]) if args.get("sort") in SORT_COLUMNS else "pickup",
    )


def sort_key(cached: Mapping[str, Any], sort: str) -> SortKey:
    """Where an order stands in the list, by what the cache says of it."""
    return tuple(cached[name] for name in SORT_COLUMNS[sort])


def matches(row: Row, cached: Mapping[str, Any], board_filter: BoardFilter) -> bool:
    """Whether a touched order, as it will be, is one of those that are asked for."""
    pickup = str(cached["pickup"])
    return (
        row["status"] in board_filter.status
        and all(word in cached["text"] for word in board_filter.words)
        and (not board_filter.reference or cached["reference"] == board_filter.reference)
        and (board_filter.claimed is None or bool(row.get("is_claimed")) == board_filter.claimed)
        and (not board_filter.short or row["short"] > 0)
        and (
            not board_filter.due_before
            or pickup < (board_filter.due_before if len(pickup) > 10 else board_filter.due_before[:10])
        )
        and (not board_filter.due_until or pickup <= board_filter.due_until or pickup == "~")
    )


def sql_conditions(board_filter: BoardFilter) -> tuple[list[str], list[Any]]:
    """What it says in SQL of an order `o`, and its values."""
    wanted, values = ["o.status IN (SELECT value FROM json_each(?))"], [to_text(list(board_filter.status))]
    if set(board_filter.status) == set(ORDER_STATUSES):
        wanted, values = ["1"], []
    for word in board_filter.words:
        wanted.append("instr(o.text, ?)")
        values.append(word)
    if board_filter.reference:
        wanted.append("o.reference = ?")
        values.append(board_filter.reference)
    if board_filter.claimed is not None:
        wanted.append(f"o.claimed = {int(board_filter.claimed)}")
    if board_filter.short:
        wanted.append(_HAS_SHORT_SQL)
    if board_filter.due_before:
        wanted.append("o.pickup < ? AND (length(o.pickup) > 10 OR o.pickup < ?)")
        values += [board_filter.due_before, board_filter.due_before[:10]]
    if board_filter.due_until:
        wanted.append("(o.pickup <= ? OR o.pickup = '~')")
        values.append(board_filter.due_until)
    return wanted, values


DEFAULT_SIZE = 50

_END_KEYS = {"pickup": "\U0010ffff", "age": 1e18, "number": "\U0010ffff"}
"""Sorts after everything."""

_ORDER_COLUMNS = (
    "o.order_number, o.status, o.pickup, o.sort, o.first_began, o.text, o.reference, o.claimed, o.header_began,"
    " o.lines_began"
)
"""What the cache says of an order; the last two are noted whenever anything of it is read anew."""

_COUNT_SHORT_LINES = f"SELECT count(*) FROM line INDEXED BY line_short WHERE order_number = ? AND {IS_SHORT_SQL}"  # noqa: S608

STATUSES_TO_PICK = ("open", "partial")

_COUNT_DUE_DAYS = """
SELECT ifnull(sum(n), 0) FROM due_tally WHERE status IN (SELECT value FROM json_each(?)) AND day < ?
"""
_COUNT_DUE_TODAY = """
SELECT count(*) FROM orders INDEXED BY orders_pickup
WHERE pickup > ? AND pickup < ? AND status IN (SELECT value FROM json_each(?))
"""


class PendingOrder(NamedTuple):
    """An order with pending operations: as it will be, and what that was found out from."""

    row: Row
    cached: Mapping[str, Any]
    """What the cache says of it."""
    revision: int
    """Of what was pending for it (`Index.tick`)."""


def find_absent_order(cache: apsw.Connection, number: str, since: str) -> QueryResult:
    """One row where the service, asked since then, has said that it has no such order; none else."""
    kept = fetch_one(cache, "SELECT cursor FROM sync WHERE topic = ?", ABSENT_ORDERS)
    asked = dict(json.loads(kept[0])).get(number) if kept else None
    found = asked is not None and asked >= datetime.fromisoformat(since).timestamp()
    return ([{"order_number": number}], 1) if found else ([], 0)


class OrderBoard:
    """The read `board`; remembers what it counted until cache or outbox change."""

    def __init__(self, outbox: apsw.Connection, overlay: Overlay) -> None:
        self._outbox = outbox
        self._overlay = overlay
        self._revision: tuple[Any, ...] = ()
        self._pending_orders: dict[str, PendingOrder] = {}
        self._overlaid: OverlaidOrders = {}
        self._filtered_keys: dict[BoardFilter, list[SortKey]] = {}
        """The whole list of each filter that is more than states."""

    def read(self, cache: apsw.Connection, args: Mapping[str, Json]) -> QueryResult:
        """A window of the board: `first` and `size`, or `anchor` (order_number) and the `row` where it shall stand;
        it gives way where all of the list is in the window, or with `fills`, rather than leave rows blank.

        `near`: order_number and `position` of a row that was read before, from where to look. Rows are those of `order`
        without lines, with `position`, `status`, `short` (lines closed short), `seen_at` (since when this host knows
        it) and `silent_since` (the last that was heard of it, where somebody works on it).
        """
        pending = self._overlay.by_order()
        self._refresh(cache, pending)
        listed = self._filtered_list(cache, parse_filter(args))
        total = listed.total
        first, size = window_bounds(args, DEFAULT_SIZE)
        near = args.get("near") or {}
        start = listed.known_start(str(near.get("order_number") or ""), near.get("position"))
        if args.get("anchor"):
            key = listed.key_of(str(args["anchor"]))
            if key is not None:
                start = (key, listed.rank(key))
                last = total - size if total <= size or args.get("fills") else total - 1
                first = max(0, min(start[1] - int(args.get("row") or 0), last))
        keys = listed.window(first, size, start)
        rows = [self._load_row(cache, pending, number) for *_, number in keys]
        found = [{**row, "position": first + at} for at, row in enumerate(rows) if row is not None]
        return self._add_people(cache, found), total

    def count_late(self, cache: apsw.Connection, now: str) -> int:
        """How many orders that are to be picked should have been by now; those of whole days are counted already."""
        self._refresh(cache, self._overlay.by_order())
        asked = parse_filter({"status": STATUSES_TO_PICK, "late": True, "now": now})
        day, waiting = asked.due_before[:10], to_text(list(STATUSES_TO_PICK))
        ((before,),) = fetch(cache, _COUNT_DUE_DAYS, waiting, day)
        ((today,),) = fetch(cache, _COUNT_DUE_TODAY, day, asked.due_before, waiting)
        moved = sum(
            matches(row, said, asked) - matches({"status": said["status"]}, said, asked)
            for row, said, _ in self._pending_orders.values()
        )
        return int(before) + int(today) + moved

    def rows_of_orders(self, cache: apsw.Connection, args: Mapping[str, Json]) -> QueryResult:
        """The rows of these `orders`, in their order; those that this host does not know are left out."""
        pending = self._overlay.by_order()
        self._refresh(cache, pending)
        rows = [row for number in args["orders"] if (row := self._load_row(cache, pending, str(number))) is not None]
        return self._add_people(cache, rows), len(rows)

    def _add_people(self, cache: apsw.Connection, rows: list[Row]) -> list[Row]:
        """Who works on each, and since when nothing was heard of it."""
        add_claims(cache, self._outbox, rows)
        add_priority(cache, self._outbox, rows)
        add_batch_pickers(cache, self._outbox, rows)
        add_pieces(cache, self._overlay.by_order(), rows, self._overlaid)
        at_work = [row for row in rows if _is_in_work(row)]
        heard = last_events(cache, self._outbox, [row["order_number"] for row in at_work])
        for row in rows:
            row["silent_since"] = ""
        for row in at_work:
            row["silent_since"] = max(to_utc_text(str(row.get("claimed_on") or "")), heard.get(row["order_number"], ""))
        return rows

    def _refresh(self, cache: apsw.Connection, pending: OverlayIndex) -> None:
        stamp = (*self._overlay.revision(), fetch(cache, "PRAGMA data_version")[0][0], id(cache))
        if stamp == self._revision:
            return
        self._revision, self._filtered_keys = (), {}  # what breaks off below is found out anew
        sql = f"SELECT {_ORDER_COLUMNS} FROM json_each(?) e JOIN orders o ON o.order_number = e.value"  # noqa: S608
        names = [name.strip().removeprefix("o.") for name in _ORDER_COLUMNS.split(",")]
        found = fetch(cache, sql, to_text(sorted(pending.possible_keys())))
        saids = {str(columns[0]): dict(zip(names, columns, strict=True)) for columns in found}
        before, self._pending_orders = self._pending_orders, {}
        for number in saids.keys() & before.keys():
            known = before[number]
            if (known.cached, known.revision) == (saids[number], pending.revision(number)):
                self._pending_orders[number] = known
        anew = [number for number in saids if number not in self._pending_orders]
        for at, number in enumerate(anew):
            if at % ORDER_BATCH == 0:
                pending.preload(anew[at : at + ORDER_BATCH])
            row = self._load_row(cache, pending, number)
            if row is not None:
                self._pending_orders[number] = PendingOrder(row, saids[number], pending.revision(number))
        self._revision = stamp

    def _pending_keys(self, board_filter: BoardFilter) -> list[SortKey]:
        """Keys of the touched orders that belong into the list."""
        keys = [
            sort_key(said, board_filter.sort)
            for row, said, _ in self._pending_orders.values()
            if matches(row, said, board_filter)
        ]
        return sorted(keys)

    def _filtered_list(self, cache: apsw.Connection, board_filter: BoardFilter) -> BoardList:
        listed = BoardList(cache, board_filter, self._pending_keys(board_filter), self._pending_orders)
        if board_filter.is_plain:
            return listed
        if board_filter not in self._filtered_keys:
            self._filtered_keys = {board_filter: listed.all_keys()}
        return FilteredList(cache, board_filter, self._filtered_keys[board_filter], {})

    def _load_row(self, cache: apsw.Connection, pending: PendingByOrder, number: str) -> Row | None:
        row = load_order_header(cache, pending, number, self._overlaid)
        if row is None:
            return None
        began = fetch_one(cache, "SELECT first_began FROM orders WHERE order_number = ?", number)
        row["status"] = order_status(row)
        row["seen_at"] = iso_time(began[0]) if began and began[0] else ""
        row["short"] = self._count_short(cache, pending, number)
        return row

    def _count_short(self, cache: apsw.Connection, pending: PendingByOrder, number: str) -> int:
        """How many lines are closed with less than was ordered."""
        if number not in pending:
            return int(fetch(cache, _COUNT_SHORT_LINES, number)[0][0])
        return sum(map(is_short_line, overlaid_lines(cache, pending, number, self._overlaid)))


def order_status(row: Mapping[str, Any]) -> str:
    """The state of an order in one word."""
    if row.get("is_rejected") and row.get("is_active", True):
        return "rejected"
    if not row.get("is_active", True):
        return "finished"
    if row.get("is_picked"):
        return "picked"
    return "partial" if to_decimal(row.get("picked_quantity")) > 0 else "open"


def is_short_line(line: Mapping[str, Any]) -> bool:
    """Whether a line is closed with less than was ordered."""
    return is_line_complete(line) and to_decimal(line.get("picked_quantity")) < to_decimal(line.get("quantity"))


def _is_in_work(row: Mapping[str, Any]) -> bool:
    return row["status"] in ("open", "partial") and (bool(row.get("is_claimed")) or row["status"] == "partial")


class BoardList:
    """The list of some states: the cache without the touched orders, and the touched ones that belong into it."""

    def __init__(
        self,
        cache: apsw.Connection,
        board_filter: BoardFilter,
        pending_keys: list[SortKey],
        pending_orders: Mapping[str, PendingOrder],
    ) -> None:
        self._filter = board_filter
        self._cache = cache
        self._pending_keys = pending_keys
        self._pending_orders = pending_orders
        self._columns = SORT_COLUMNS[board_filter.sort]
        wanted, self._values = sql_conditions(board_filter)
        if pending_orders:
            wanted.append("o.order_number NOT IN (SELECT value FROM json_each(?))")
            self._values.append(to_text(list(pending_orders)))
        self._where = " AND ".join(wanted)

    @property
    def total(self) -> int:
        """How many there are."""
        rows: dict[str, int] = dict(fetch(self._cache, "SELECT status, n FROM status_tally"))
        hidden = sum(said["status"] in self._filter.status for _, said, _ in self._pending_orders.values())
        return sum(rows.get(status, 0) for status in self._filter.status) - hidden + len(self._pending_keys)

    def all_keys(self) -> list[SortKey]:
        """The keys of all of it, in their order."""
        sql = f"SELECT {', '.join(self._columns)} FROM orders o INDEXED BY orders_list WHERE {self._where}"  # noqa: S608
        return sorted([*(tuple(row) for row in fetch(self._cache, sql, *self._values)), *self._pending_keys])

    def key_of(self, number: str) -> SortKey | None:
        """Where an order stands, or would stand."""
        columns = ", ".join(self._columns)
        found = fetch_one(self._cache, f"SELECT {columns} FROM orders WHERE order_number = ?", number)  # noqa: S608
        return None if found is None else tuple(found)

    def rank(self, key: SortKey) -> int:
        """How many stand before this key."""
        columns, marks = ", ".join(self._columns), ", ".join("?" * len(key))
        sql = f"SELECT count(*) FROM orders o WHERE ({columns}) < ({marks}) AND {self._where}"  # noqa: S608
        return int(fetch(self._cache, sql, *key, *self._values)[0][0]) + bisect_left(self._pending_keys, key)

    def known_start(self, number: str, position: Json) -> tuple[SortKey, int] | None:
        """A row that was read before, while it is still known."""
        key = self.key_of(number) if number and isinstance(position, int) else None
        return None if key is None else (key, int(position))

    def window(self, first: int, size: int, start: tuple[SortKey, int] | None) -> list[SortKey]:
        """The keys from this position on, read from the nearest row whose position is known."""
        ends: list[tuple[SortKey, int]] = [((), 0), ((_END_KEYS[self._filter.sort],), self.total)]
        key, at = min([*ends, *([start] if start else [])], key=lambda each: abs(each[1] - first))
        before, behind = max(0, at - first), max(0, first + size - at)
        earlier = self._read_keys(key, before, "<", "DESC") if key and before else []
        later = self._read_keys(key, behind, ">=", "ASC") if behind else []
        return [*earlier, *later][max(0, first - at + len(earlier)) :][:size]

    def _read_keys(self, key: SortKey, count: int, sign: str, order: str) -> list[SortKey]:
        """So many keys from one on, or before it, in the order of the list."""
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
    """A list of which all keys are known already."""

    @property
    def total(self) -> int:
        """How many there are."""
        return len(self._pending_keys)

    def rank(self, key: SortKey) -> int:
        """How many stand before this key."""
        return bisect_left(self._pending_keys, key)

    def window(self, first: int, size: int, start: tuple[SortKey, int] | None) -> list[SortKey]:
        """The keys from this position on."""
        return self._pending_keys[first : first + size]
