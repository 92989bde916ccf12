"""The order board: a window on all orders that this host knows, filtered and sorted, the outbox laid over it.

Windows on states are read from an index, beginning at a row whose place in the list is known: the first, the last, or
one that was on the screen; their counts are kept by the cache itself. So the last page of 100,000 orders costs what the
first of 100 does. What is sought by anything else is looked for once, in one index that has all of it.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import apsw

from aisle.jobs.base import Json
from aisle.jobs.codec import to_text
from aisle.jobs.store_time import utc
from aisle.local.cache.schema import ABSENT
from aisle.local.db import fetch, fetch_one
from aisle.local.reads.board_filter import IS_SHORT, SORTS, Filter, Key, conditions, filter_of, fits, key_of
from aisle.local.reads.claims import with_claims
from aisle.local.reads.entries import Index
from aisle.local.reads.laid import Known, Pending, laid_lines, order_row
from aisle.local.reads.orders import with_pieces
from aisle.local.reads.overlay import Overlay, Row, decimal, is_full
from aisle.local.reads.rows import Result, moment, window
from aisle.local.reads.silence import last_heard
from aisle.local.reads.standing import PART
from aisle.local.reads.walks import with_walkers, with_wishes
from aisle.tuples import NamedTuple

SIZE = 50

_LAST = {"pickup": "\U0010ffff", "age": 1e18, "number": "\U0010ffff"}
"""Sorts after everything."""

_COLUMNS = (
    "o.order_number, o.status, o.pickup, o.sort, o.first_began, o.text, o.reference, o.claimed, o.header_began,"
    " o.lines_began"
)
"""What the cache says of an order; the last two are noted whenever anything of it is read anew."""

_SHORTS = f"SELECT count(*) FROM line INDEXED BY line_short WHERE order_number = ? AND {IS_SHORT}"  # noqa: S608

TO_PICK = ("open", "partial")

_LATE = """
SELECT ifnull(sum(n), 0) FROM due_tally WHERE status IN (SELECT value FROM json_each(?)) AND day < ?
"""
_LATE_TODAY = """
SELECT count(*) FROM orders INDEXED BY orders_pickup
WHERE pickup > ? AND pickup < ? AND status IN (SELECT value FROM json_each(?))
"""


class Touched(NamedTuple):
    """An order with pending operations: as it will be, and what that was found out from."""

    row: Row
    said: Mapping[str, Any]
    """What the cache says of it."""
    tick: int
    """Of what was pending for it (`Index.tick`)."""


def absent(cache: apsw.Connection, number: str, since: str) -> Result:
    """One row where the service, asked since then, has said that it has no such order; none else."""
    kept = fetch_one(cache, "SELECT cursor FROM sync WHERE topic = ?", ABSENT)
    asked = dict(json.loads(kept[0])).get(number) if kept else None
    found = asked is not None and asked >= datetime.fromisoformat(since).timestamp()
    return ([{"order_number": number}], 1) if found else ([], 0)


class Board:
    """The read `board`; remembers what it counted until cache or outbox change."""

    def __init__(self, outbox: apsw.Connection, overlay: Overlay) -> None:
        self._outbox = outbox
        self._overlay = overlay
        self._stamp: tuple[Any, ...] = ()
        self._touched: dict[str, Touched] = {}
        self._laid: Known = {}
        self._sought: dict[Filter, list[Key]] = {}
        """The whole list of each filter that is more than states."""

    def read(self, cache: apsw.Connection, args: Mapping[str, Json]) -> Result:
        """A window of the board: `first` and `size`, or `anchor` (order_number) and the `row` where it shall stand;
        it gives way where all of the list is in the window, or with `fills`, rather than leave rows blank.

        `near`: order_number and `position` of a row that was read before, from where to look. Rows are those of `order`
        without lines, with `position`, `status`, `short` (lines closed short), `seen_at` (since when this host knows
        it) and `silent_since` (the last that was heard of it, where somebody works on it).
        """
        pending = self._overlay.orders()
        self._renew(cache, pending)
        listed = self._listed(cache, filter_of(args))
        total = listed.total
        first, size = window(args, SIZE)
        near = args.get("near") or {}
        start = listed.start_at(str(near.get("order_number") or ""), near.get("position"))
        if args.get("anchor"):
            key = listed.key_of(str(args["anchor"]))
            if key is not None:
                start = (key, listed.rank(key))
                last = total - size if total <= size or args.get("fills") else total - 1
                first = max(0, min(start[1] - int(args.get("row") or 0), last))
        keys = listed.window(first, size, start)
        rows = [self._row(cache, pending, number) for *_, number in keys]
        found = [{**row, "position": first + at} for at, row in enumerate(rows) if row is not None]
        return self._with_people(cache, found), total

    def late(self, cache: apsw.Connection, now: str) -> int:
        """How many orders that are to be picked should have been by now; those of whole days are counted already."""
        self._renew(cache, self._overlay.orders())
        asked = filter_of({"status": TO_PICK, "late": True, "now": now})
        day, waiting = asked.before[:10], to_text(list(TO_PICK))
        ((before,),) = fetch(cache, _LATE, waiting, day)
        ((today,),) = fetch(cache, _LATE_TODAY, day, asked.before, waiting)
        moved = sum(
            fits(row, said, asked) - fits({"status": said["status"]}, said, asked)
            for row, said, _ in self._touched.values()
        )
        return int(before) + int(today) + moved

    def orders(self, cache: apsw.Connection, args: Mapping[str, Json]) -> Result:
        """The rows of these `orders`, in their order; those that this host does not know are left out."""
        pending = self._overlay.orders()
        self._renew(cache, pending)
        rows = [row for number in args["orders"] if (row := self._row(cache, pending, str(number))) is not None]
        return self._with_people(cache, rows), len(rows)

    def _with_people(self, cache: apsw.Connection, rows: list[Row]) -> list[Row]:
        """Who works on each, and since when nothing was heard of it."""
        with_claims(cache, self._outbox, rows)
        with_wishes(cache, self._outbox, rows)
        with_walkers(cache, self._outbox, rows)
        with_pieces(cache, self._overlay.orders(), rows, self._laid)
        at_work = [row for row in rows if _at_work(row)]
        heard = last_heard(cache, self._outbox, [row["order_number"] for row in at_work])
        for row in rows:
            row["silent_since"] = ""
        for row in at_work:
            row["silent_since"] = max(utc(str(row.get("claimed_on") or "")), heard.get(row["order_number"], ""))
        return rows

    def _renew(self, cache: apsw.Connection, pending: Index) -> None:
        stamp = (*self._overlay.stamp(), fetch(cache, "PRAGMA data_version")[0][0], id(cache))
        if stamp == self._stamp:
            return
        self._stamp, self._sought = (), {}  # what breaks off below is found out anew
        sql = f"SELECT {_COLUMNS} FROM json_each(?) e JOIN orders o ON o.order_number = e.value"  # noqa: S608
        names = [name.strip().removeprefix("o.") for name in _COLUMNS.split(",")]
        found = fetch(cache, sql, to_text(sorted(pending.named())))
        saids = {str(columns[0]): dict(zip(names, columns, strict=True)) for columns in found}
        before, self._touched = self._touched, {}
        for number in saids.keys() & before.keys():
            known = before[number]
            if (known.said, known.tick) == (saids[number], pending.tick(number)):
                self._touched[number] = known
        anew = [number for number in saids if number not in self._touched]
        for at, number in enumerate(anew):
            if at % PART == 0:
                pending.read_ahead(anew[at : at + PART])
            row = self._row(cache, pending, number)
            if row is not None:
                self._touched[number] = Touched(row, saids[number], pending.tick(number))
        self._stamp = stamp

    def _extra(self, asked: Filter) -> list[Key]:
        """Keys of the touched orders that belong into the list."""
        keys = [key_of(said, asked.sort) for row, said, _ in self._touched.values() if fits(row, said, asked)]
        return sorted(keys)

    def _listed(self, cache: apsw.Connection, asked: Filter) -> Listed:
        listed = Listed(cache, asked, self._extra(asked), self._touched)
        if asked.is_plain:
            return listed
        if asked not in self._sought:
            self._sought = {asked: listed.whole()}
        return Sought(cache, asked, self._sought[asked], {})

    def _row(self, cache: apsw.Connection, pending: Pending, number: str) -> Row | None:
        row = order_row(cache, pending, number, self._laid)
        if row is None:
            return None
        began = fetch_one(cache, "SELECT first_began FROM orders WHERE order_number = ?", number)
        row["status"] = status_of(row)
        row["seen_at"] = moment(began[0]) if began and began[0] else ""
        row["short"] = self._short(cache, pending, number)
        return row

    def _short(self, cache: apsw.Connection, pending: Pending, number: str) -> int:
        """How many lines are closed with less than was ordered."""
        if number not in pending:
            return int(fetch(cache, _SHORTS, number)[0][0])
        return sum(map(is_short, laid_lines(cache, pending, number, self._laid)))


def status_of(row: Mapping[str, Any]) -> str:
    """The state of an order in one word."""
    if row.get("is_rejected") and row.get("is_active", True):
        return "rejected"
    if not row.get("is_active", True):
        return "finished"
    if row.get("is_picked"):
        return "picked"
    return "partial" if decimal(row.get("picked_quantity")) > 0 else "open"


def is_short(line: Mapping[str, Any]) -> bool:
    """Whether a line is closed with less than was ordered."""
    return is_full(line) and decimal(line.get("picked_quantity")) < decimal(line.get("quantity"))


def _at_work(row: Mapping[str, Any]) -> bool:
    return row["status"] in ("open", "partial") and (bool(row.get("is_claimed")) or row["status"] == "partial")


class Listed:
    """The list of some states: the cache without the touched orders, and the touched ones that belong into it."""

    def __init__(
        self,
        cache: apsw.Connection,
        asked: Filter,
        extra: list[Key],
        touched: Mapping[str, Touched],
    ) -> None:
        self._asked = asked
        self._cache = cache
        self._extra = extra
        self._touched = touched
        self._columns = SORTS[asked.sort]
        wanted, self._values = conditions(asked)
        if touched:
            wanted.append("o.order_number NOT IN (SELECT value FROM json_each(?))")
            self._values.append(to_text(list(touched)))
        self._where = " AND ".join(wanted)

    @property
    def total(self) -> int:
        """How many there are."""
        rows: dict[str, int] = dict(fetch(self._cache, "SELECT status, n FROM status_tally"))
        hidden = sum(said["status"] in self._asked.status for _, said, _ in self._touched.values())
        return sum(rows.get(status, 0) for status in self._asked.status) - hidden + len(self._extra)

    def whole(self) -> list[Key]:
        """The keys of all of it, in their order."""
        sql = f"SELECT {', '.join(self._columns)} FROM orders o INDEXED BY orders_list WHERE {self._where}"  # noqa: S608
        return sorted([*(tuple(row) for row in fetch(self._cache, sql, *self._values)), *self._extra])

    def key_of(self, number: str) -> Key | None:
        """Where an order stands, or would stand."""
        columns = ", ".join(self._columns)
        found = fetch_one(self._cache, f"SELECT {columns} FROM orders WHERE order_number = ?", number)  # noqa: S608
        return None if found is None else tuple(found)

    def rank(self, key: Key) -> int:
        """How many stand before this key."""
        columns, marks = ", ".join(self._columns), ", ".join("?" * len(key))
        sql = f"SELECT count(*) FROM orders o WHERE ({columns}) < ({marks}) AND {self._where}"  # noqa: S608
        return int(fetch(self._cache, sql, *key, *self._values)[0][0]) + bisect_left(self._extra, key)

    def start_at(self, number: str, position: Json) -> tuple[Key, int] | None:
        """A row that was read before, while it is still known."""
        key = self.key_of(number) if number and isinstance(position, int) else None
        return None if key is None else (key, int(position))

    def window(self, first: int, size: int, start: tuple[Key, int] | None) -> list[Key]:
        """The keys from this position on, read from the nearest row whose position is known."""
        ends: list[tuple[Key, int]] = [((), 0), ((_LAST[self._asked.sort],), self.total)]
        key, at = min([*ends, *([start] if start else [])], key=lambda each: abs(each[1] - first))
        before, behind = max(0, at - first), max(0, first + size - at)
        earlier = self._read(key, before, "<", "DESC") if key and before else []
        later = self._read(key, behind, ">=", "ASC") if behind else []
        return [*earlier, *later][max(0, first - at + len(earlier)) :][:size]

    def _read(self, key: Key, count: int, sign: str, order: str) -> list[Key]:
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
        at = bisect_left(self._extra, key)
        if order == "DESC":
            return sorted([*rows, *self._extra[max(0, at - count) : at]])[-count:]
        return sorted([*rows, *self._extra[at : at + count]])[:count]


class Sought(Listed):
    """A list of which all keys are known already."""

    @property
    def total(self) -> int:
        """How many there are."""
        return len(self._extra)

    def rank(self, key: Key) -> int:
        """How many stand before this key."""
        return bisect_left(self._extra, key)

    def window(self, first: int, size: int, start: tuple[Key, int] | None) -> list[Key]:
        """The keys from this position on."""
        return self._extra[first : first + size]
