"""Goods lost, found or moved since they were counted: a count is booked as of its time, so that they come off or on it.

What left or came between two scans of a line is part of its counted quantity.

What was booked before the count and is undone since changes the stock that the count is compared with.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from aisle.jobs.count.sent_count_types import StockChange
from aisle.jobs.job import Query
from aisle.jobs.names_in_messages import amount_of
from aisle.jobs.store_time import to_utc_text
from aisle.jobs.view import Line, Msg, msg
from aisle.operation_body_types import UNDO_PREFIX

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aisle.jobs.count.count_state import CountLine, CountState
    from aisle.jobs.row_types.log import MovesSinceRow, MyEntriesRow

CHANGES_QUERY = "changes"
"""Id of the query for what was lost or found since products were counted."""

MOVES_QUERY = "moves"
"""Id of the query for what came or left otherwise."""

_EARLIEST = "0001"
"""Time before all others."""

MAX_ENTRIES = 1000
"""Number of entries of the counted products that are read at most."""


def query_changes(state: CountState) -> tuple[Query, ...]:
    """Return the queries for entries of the counted products since the first count; none if nothing is counted."""
    counted = state.counted_lines
    if not counted:
        return ()
    since = min(item.first_at for item in counted)
    products = list(dict.fromkeys(item.product for item in counted))
    args = {"now": since, "since": since, "products": products, "size": MAX_ENTRIES}
    moves = Query(MOVES_QUERY, "moves_since", {"since": since, "products": products})
    return (Query(CHANGES_QUERY, "my_entries", args), moves)


def with_changes(state: CountState, rows: tuple[MyEntriesRow, ...]) -> CountState:
    """Return the state with what was lost or found, and with undos of that; counts and refused entries are left out."""
    times = {row["id"]: row["at"] for row in rows}
    changes = tuple(
        StockChange(
            row["product_number"],
            row["location_code"],
            row["pool"],
            row["difference"] or Decimal(0),
            row["at"],
            undone_at=_undone_at(row, times),
        )
        for row in rows
        if row["counted_quantity"] is None and row["outcome"] not in ("refused", "resolved")
    )
    return apply_changes(state._replace(stock_changes=changes))


def with_moves(state: CountState, rows: tuple[MovesSinceRow, ...]) -> CountState:
    """Return the state with what came or left otherwise."""
    moves = (
        StockChange(
            row["product_number"],
            row["location_code"],
            row["pool"],
            row["quantity"],
            row["at"],
            undone_at=row["undone_at"],
        )
        for row in rows
    )
    return apply_changes(state._replace(moves=tuple(moves)))


def _undone_at(row: MyEntriesRow, times: Mapping[str, str]) -> str:
    """Return when the entry was made that a row undoes, the earliest time if it is not in these rows; else empty."""
    reference = str(row.get("reference") or "")
    if not reference.startswith(UNDO_PREFIX):
        return ""
    entry = reference.removeprefix(UNDO_PREFIX)
    return times.get(entry) or (to_utc_text(entry) if "T" in entry else _EARLIEST)


def apply_changes(state: CountState) -> CountState:
    """Return the state with what was lost or found between the scans of its lines, and with the expected stock as if
    what is undone since a line was counted had never been booked."""
    lines = (_line_with_undone(state, _line_with_changed(state, line)) for line in state.lines)
    return state._replace(lines=tuple(lines))


def _line_with_changed(state: CountState, line: CountLine) -> CountLine:
    if line.counted is None:
        return line
    changed = change_between(state, line, line.first_at, line.counted_at)
    return line._replace(counted=line.entered + changed, changed=changed)


def _line_with_undone(state: CountState, line: CountLine) -> CountLine:
    is_comparable = line.counted is not None and not line.later
    counted_at = _utc(line.counted_at)
    undone = (
        each.quantity
        for each in (*state.stock_changes, *state.moves)
        if _time_of(each) <= counted_at < each.counted_at and _is_of(state, each, line)
    )
    total = sum(undone, Decimal(0)) if is_comparable else Decimal(0)
    return line._replace(expected=line.expected - line.undone + total, undone=total)


def change_between(state: CountState, line: CountLine, after: str, until: str = "") -> Decimal:
    """Return what came less what left of a line's goods after one time, until another or until now.

    What is undone is as if it had never been booked: an undo counts at the time of what it undoes.
    """
    begin, end = _utc(after), _utc(until)
    found = (
        each.quantity
        for each in (*state.stock_changes, *state.moves)
        if begin < _time_of(each) and (not end or _time_of(each) <= end) and _is_of(state, each, line)
    )
    return sum(found, Decimal(0))


def _time_of(change: StockChange) -> str:
    return change.undone_at or change.counted_at


def _utc(text: str) -> str:
    return to_utc_text(text) if text else ""


def change_since(state: CountState, line: CountLine) -> Decimal:
    """Return the quantity of a counted line that came since less what left; 0 if others counted it later."""
    if line.counted is None or line.later:
        return Decimal(0)
    return change_between(state, line, line.counted_at)


def _is_of(state: CountState, change: StockChange, line: CountLine) -> bool:
    place = change.product, change.location.casefold()
    if place != (line.product, line.location.casefold()):
        return False
    pools = [item.pool for item in state.lines if (item.product, item.location.casefold()) == place]
    pool = change.pool or state.usual_pool
    return line.pool == (pool if pool in pools else 0)


def reviewed_lines(state: CountState) -> tuple[CountLine, ...]:
    """Return the counted lines that are shown before they are sent: those with a difference, then those of which goods
    were only lost or found since."""
    adjusted = state._replace(moves=())
    changed = (item for item in state.lines if not item.difference and change_since(adjusted, item))
    return (*state.differing_lines, *changed)


def has_changes(state: CountState) -> bool:
    """Return True if goods of a counted line left or came since."""
    return any(booked_message(state, item) for item in state.lines)


def booked_message(state: CountState, line: CountLine) -> Msg | None:
    """Return what was counted, what left or came since, and what will be booked; None if nothing was."""
    change = line.changed + change_since(state, line)
    if not change or line.later:
        return None
    amounts = {"counted": line.entered, "quantity": abs(change), "booked": line.entered + change}
    id_ = "count.less_since" if change < 0 else "count.more_since"
    return msg(id_, **{name: amount_of(line, amount) for name, amount in amounts.items()})


def booked_lines(state: CountState, line: CountLine) -> tuple[Line, ...]:
    """Return the note of what will be booked for a line, if goods of it left or came since."""
    booked = booked_message(state, line)
    return (Line("note", booked),) if booked else ()
