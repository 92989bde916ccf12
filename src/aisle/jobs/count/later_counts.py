"""Later counts of the goods that are counted: they are shown at once, and the earlier count is not sent.

A count that is not sent yet has no effect if somebody has counted the same goods since.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from aisle.jobs.count import count_lines
from aisle.jobs.count.changes_since_count import query_changes
from aisle.jobs.count.count_state import CountState, LaterCount, LeftOut, Result
from aisle.jobs.job import Close, Query, Turn
from aisle.jobs.names_in_messages import amount_of, measured, unit_of
from aisle.jobs.view import Line, Msg, Row, msg, raw

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aisle.jobs.count.count_state import CountLine
    from aisle.jobs.row_types.log import LaterCountsRow

LATER_QUERY = "later"
"""Id of the query for later counts while products are counted."""

QUERY_BEFORE_QUESTIONS, QUERY_BEFORE_SENDING = "later_asked", "later_sent"
"""Ids of the same query before the questions at the end of a count, and before it is sent."""


def query_later(state: CountState, id_: str = LATER_QUERY) -> tuple[Query, ...]:
    """Return the queries for counts that somebody made after those of this job, and for what was lost or found since,
    which is answered first; none if nothing is counted."""
    goods = [[item.product, item.location, item.pool, item.counted_at] for item in state.counted_lines]
    return (Query(id_, "later_counts", {"goods": goods}), *query_changes(state)) if goods else ()


def with_later(state: CountState, rows: tuple[LaterCountsRow, ...]) -> CountState:
    """Return the state with the later counts of its lines."""
    found = {
        (row["location_code"], row["product_number"], row["pool"]): LaterCount(
            row["user_name"], row["counted_quantity"], row["at"]
        )
        for row in rows
    }
    items = (
        item if item.counted is None else item._replace(later=found.get((item.location, item.product, item.pool)))
        for item in state.lines
    )
    return state._replace(lines=tuple(items))


def leave_out(state: CountState) -> CountState:
    """Return the state without the counts that have a later one; their stock stays as it is."""
    outdated = [item for item in state.counted_lines if item.later]
    if not outdated:
        return state
    items = tuple(_without_count(item) if item.counted is not None and item.later else item for item in state.lines)
    return state._replace(lines=items, left_out=_left_out(state, outdated))


def note_all_left_out(state: CountState) -> CountState:
    """Return the state with all lines left out so far to report, because nothing else is counted."""
    outdated = [item for item in state.lines if item.counted is None and item.later]
    return state._replace(left_out=_left_out(state, outdated)) if outdated else state


def _left_out(state: CountState, lines: Sequence[CountLine]) -> LeftOut:
    first = lines[0]
    assert first.later is not None, "only lines with a later count are left out"
    return LeftOut(_label(state, first), len(lines), first.later, unit_of(first))


def _label(state: CountState, line: CountLine) -> str:
    """Return the name of a line: its location if a product is counted at several, else its product."""
    return line.location or line.label if state.mode == "product" else line.label


def _without_count(line: CountLine) -> CountLine:
    latest = line.latest or count_lines.expected_stock(line)
    line = line._replace(counted=None, changed=Decimal(0), is_left_as_is=True, needs_recount=False, latest=None)
    return line._replace(**latest._asdict())


def report_left_out(turn: Result) -> Result:
    """Add to the verdict, here and on the page below, which counts are left out; a turn without one leaves that to a
    later turn."""
    left = turn.state.left_out
    if left is None or turn.verdict is None:
        return turn
    told = turn.verdict._replace(detail=left_out_message(left))
    effects = tuple(each._replace(verdict=told) if isinstance(each, Close) else each for each in turn.effects)
    return Turn(turn.state._replace(left_out=None), effects, told)


def left_out_message(left: LeftOut) -> Msg:
    """Return the message for counts that are left out, because somebody counted the same goods later."""
    if left.line_count == 1:
        return _not_used_message(left)
    return msg("count.left_out_many", count=left.line_count, **_args_of(left))


def _not_used_message(left: LeftOut) -> Msg:
    return msg("count.left_out", **_args_of(left))


def _args_of(left: LeftOut) -> dict[str, str | Decimal | Msg]:
    return {"label": left.label, "name": left.later.name, "counted": measured(left.later.counted, left.unit)}


def with_later_mark(state: CountState, line: CountLine, row: Row) -> Row:
    """Return the row of a difference; without its figures and with the later count if it will not be used."""
    if line.later is None:
        return row
    return row._replace(cells=(_not_used_message(_left_out(state, [line])), *(raw("") for _ in row.cells[1:])))


def later_lines(line: CountLine | None) -> tuple[Line, ...]:
    """Return the note that somebody counted the goods of a line after it was counted here."""
    if line is None or line.later is None:
        return ()
    name, counted, at = line.later
    return (Line("note", msg("count.counted_later", name=name, counted=amount_of(line, counted), at=at)),)
