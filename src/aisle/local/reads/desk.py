"""The reads of a supervisor's pages, by name; loaded when the first of them is asked for.

`board`, `orders_by_number` and `absent` (order_number, since): see aisle.local.reads.board. `history` (order_number,
size) and `outcomes` (orders, since): see aisle.local.reads.history. `exceptions` (now, minutes): one row with how many
there are of each kind. `differences`, `impossible`, `stuck` (now, minutes): windows (first, size), see
aisle.local.reads.exceptions; `recounts` as well, see aisle.local.reads.recounts. `views` (user): the filters that a
person has kept.
Of clearances `clearing`, `tags`, `tagged`, `assignments` and `ask`: see aisle.local.reads.clearing.
Of today `today`, `today_hours`, `today_places`, `today_terminals`: see aisle.local.reads.today.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import apsw

from aisle.jobs.base import Json
from aisle.jobs.desk.orders_filter import view_key
from aisle.local.outbox import asks
from aisle.local.outbox.doubts import trouble
from aisle.local.outbox.remarks import VIEW, remarks
from aisle.local.reads import clearing as reads_clearing
from aisle.local.reads import exceptions
from aisle.local.reads import today as reads_today
from aisle.local.reads.board import Board, absent
from aisle.local.reads.history import history, outcomes
from aisle.local.reads.overdrawn import Overdrawn
from aisle.local.reads.overlay import Overlay, Row
from aisle.local.reads.recounts import recounts
from aisle.local.reads.rows import Result, window

SIZE = 50


class Desk:
    """The reads, on one outbox and whatever cache there is."""

    def __init__(self, outbox: apsw.Connection, overlay: Overlay) -> None:
        self._outbox = outbox
        self._overlay = overlay
        self._board = Board(outbox, overlay)
        self._overdrawn = Overdrawn()
        self._named: Mapping[str, Callable[[apsw.Connection, Mapping[str, Json]], Result]] = {
            "board": self._board.read,
            "orders_by_number": self._board.orders,
            "absent": lambda cache, args: absent(cache, str(args["order_number"]), str(args["since"])),
            "history": lambda cache, args: history(cache, outbox, args),
            "outcomes": lambda _, args: outcomes(outbox, args),
            "differences": lambda cache, args: exceptions.differences(cache, outbox, args),
            "impossible": lambda cache, args: exceptions.impossible(cache, self._overdrawn, args),
            "stuck": self._stuck,
            "recounts": lambda cache, args: _windowed(recounts(cache, outbox), args),
            "exceptions": self._exceptions,
            "views": self._views,
            "clearing": reads_clearing.clearing,
            "tags": lambda cache, _: reads_clearing.tags(cache),
            "tagged": reads_clearing.tagged,
            "assignments": lambda cache, args: reads_clearing.assignments(cache, outbox, overlay, args),
            "today": lambda cache, args: reads_today.today(cache, outbox, lambda now: self._late(cache, now), args),
            "today_hours": lambda cache, args: reads_today.hours(cache, outbox, args),
            "today_places": reads_today.Places().read,
            "today_terminals": lambda cache, _: reads_today.terminals(cache, outbox),
            "ask": lambda _, args: asks.read(outbox, str(args["ask_id"])),
        }

    def read(self, name: str, cache: apsw.Connection, args: Mapping[str, Json]) -> Result:
        """(rows, how many there are in all) of a named read."""
        return self._named[name](cache, args)

    def _stuck(self, cache: apsw.Connection, args: Mapping[str, Json]) -> Result:
        numbers = exceptions.stuck(cache, self._outbox, args)
        first, size = window(args, SIZE)
        rows, _ = self._board.orders(cache, {"orders": numbers[first : first + size]})
        for row in rows:
            row["silent_since"] = row["silent_since"] or row["seen_at"]
        return rows, len(numbers)

    def _exceptions(self, cache: apsw.Connection, args: Mapping[str, Json]) -> Result:
        differences, value = exceptions.to_look_at(cache, self._outbox)
        row: Row = {
            "doubts": trouble(self._outbox)[1],
            "differences": differences,
            "value": value,
            "impossible": exceptions.cannot_be(cache, self._overdrawn),
            "stuck": len(exceptions.stuck(cache, self._outbox, args)),
            "late": self._late(cache, str(args["now"])),
            "recounts": len(recounts(cache, self._outbox)),
        }
        return [row], 1

    def _late(self, cache: apsw.Connection, now: str) -> int:
        return self._board.late(cache, now)

    def _views(self, _: apsw.Connection, args: Mapping[str, Json]) -> Result:
        prefix = view_key(str(args["user"]))
        rows: list[Row] = [
            {"name": key.removeprefix(prefix), "filter": json.loads(kept.text)}
            for key, kept in remarks(self._outbox, VIEW).items()
            if key.startswith(prefix)
        ]
        return rows, len(rows)


def _windowed(rows: list[Row], args: Mapping[str, Json]) -> Result:
    """A window on a list, or the rows that it asks for by their `keys`."""
    if args.get("keys"):
        wanted = [row for row in rows if row.get("key") in args["keys"]]
        return wanted, len(wanted)
    first, size = window(args, SIZE)
    return rows[first : first + size], len(rows)
