"""The pages of what a supervisor has to settle."""

from __future__ import annotations

from aisle.jobs import window
from aisle.jobs.base import priced
from aisle.jobs.desk.exceptions_review import is_kept
from aisle.jobs.desk.exceptions_state import Exceptions, Row
from aisle.jobs.desk.orders_view import SILENT_FIRST, table
from aisle.jobs.view import BACK, ON, Hint, Line, ListWindow, Msg, Step, View, msg, raw, signed
from aisle.jobs.view import Row as Shown

_KINDS = {
    "doubts": "exceptions.doubts",
    "differences": "exceptions.differences",
    "impossible": "exceptions.impossible",
    "stuck": "exceptions.stuck",
    "late": "exceptions.late",
    "recounts": "exceptions.recounts",
}

_ABOUT = {
    "doubts": "exceptions.about_doubts",
    "differences": "exceptions.about_differences",
    "impossible": "exceptions.about_impossible",
    "stuck": "exceptions.about_stuck",
    "late": "exceptions.about_late",
    "recounts": "exceptions.about_recounts",
}

_CANNOT = {
    "below": "exceptions.below",
    "more": "exceptions.more",
    "missing": "exceptions.missing",
    "overdrawn": "exceptions.overdrawn",
}

_PROMPTS = {
    "differences": "exceptions.prompt_differences",
    "impossible": "exceptions.prompt_impossible",
    "stuck": "exceptions.prompt_stuck",
    "recounts": "exceptions.prompt_recounts",
}


def view(state: Exceptions, at: str) -> View:
    """The page of this state."""
    if state.asking:
        return _question(state, at)
    return _list(state, at) if state.kind else _summary(state)


def choices(state: Exceptions) -> tuple[Msg, ...]:
    """What the numbers of a question do."""
    if state.asking in ("approve", "recount"):
        return (msg("act.yes"), msg("act.no"))
    ways = (msg("exceptions.approve"), msg("exceptions.recount"), msg("exceptions.count_now"), msg("exceptions.look"))
    return ways if state.asking else ()


def _summary(state: Exceptions) -> ListWindow:
    counts, value = dict(state.counts), priced(state.value)
    rows = tuple(
        Shown(kind, (msg(_KINDS[kind]), msg("number", value=counts[kind]), msg(_ABOUT[kind], value=value)))
        for kind in state.kinds
        if kind in counts
    )
    turn = (ON,) if len(state.kinds) < len(_KINDS) else ()
    return ListWindow(
        name="exceptions",
        title=msg("exceptions.title"),
        prompt=msg("exceptions.prompt"),
        heads=(msg("exceptions.head_kind"), msg("exceptions.head_count"), msg("exceptions.head_about")),
        rows=rows,
        first=state.first,
        total=len(counts),
        cursor=state.cursor,
        numbered=len(rows),
        empty=msg("exceptions.loading"),
        hints=(*turn, BACK),
    )


def _list(state: Exceptions, at: str) -> ListWindow:
    heads, rows = _table(state)
    marking = state.marking or bool(state.marked)
    title = msg("exceptions.title_marked", count=len(state.marked)) if marking else msg(_KINDS[state.kind])
    prompt = msg("exceptions.prompt_marking" if state.marking else _PROMPTS[state.kind])
    empty = msg("exceptions.none") if state.loaded else msg("exceptions.loading")
    listed = window.shown(state, at, title, prompt, heads, rows, *_hints(state), empty=empty)
    return listed._replace(bars=state.kind == "stuck")


def _hints(state: Exceptions) -> tuple[Hint, ...]:
    undo = (Hint("u", msg("hint.undo")),) if state.kind == "differences" and state.approved else ()
    if state.kind == "differences" and state.rows:
        decide = Hint("e", msg("exceptions.approve")), Hint("r", msg("exceptions.recount"))
        mark = Hint("m", msg("orders.mark_end" if state.marking else "orders.mark"))
        return (mark, Hint("a", msg("orders.all")), *decide, *undo)
    return (Hint("x", msg("exceptions.withdraw")),) if state.kind == "recounts" and state.rows else undo


def _table(state: Exceptions) -> tuple[tuple[Msg, ...], tuple[Shown, ...]]:
    label, place = msg("exceptions.head_product"), msg("browse.head_place")
    if state.kind == "stuck":
        return table([row.listed for row in state.rows if row.listed], columns=SILENT_FIRST)
    if state.kind == "differences":
        first = (label, msg("exceptions.head_difference"), msg("exceptions.head_value"), place)
        more = (msg("exceptions.head_counted"), msg("doubts.head_who"), msg("doubts.head_at"))
        return (*first, *more), tuple(_difference(row, row.key in state.marked) for row in state.rows)
    if state.kind == "impossible":
        return (label, msg("exceptions.head_what"), msg("exceptions.head_where")), tuple(
            _impossible(row) for row in state.rows
        )
    return (label, place, msg("doubts.head_who"), msg("doubts.head_at")), tuple(_recount(row) for row in state.rows)


def _value(row: Row) -> Msg:
    if row.value is None:
        return msg("exceptions.no_price")
    return signed(row.value, priced(abs(row.value)))


def _difference(row: Row, marked: bool) -> Shown:
    counted = msg("number", value=row.of)
    cells = (raw(row.label), signed(row.quantity), _value(row), raw(row.place), counted, raw(row.who))
    return Shown(row.key, (*cells, msg("moment", at=row.at)), marked=marked)


def _impossible(row: Row) -> Shown:
    what = msg(_CANNOT[row.kind], quantity=row.quantity, of=row.of)
    where = msg("exceptions.order", order=row.order) if row.order else raw(row.place)
    return Shown(row.key, (raw(row.label), what, where if row.order or row.place else msg("exceptions.whole_store")))


def _recount(row: Row) -> Shown:
    place = raw(row.place) if row.place else msg("exceptions.whole_store")
    return Shown(row.key, (raw(row.label), place, raw(row.who), msg("moment", at=row.at)))


def _question(state: Exceptions, at: str) -> Step:
    if state.asking in ("approve", "recount"):
        many = "exceptions.approve_many" if state.asking == "approve" else "exceptions.recount_many"
        lines: tuple[Line, ...] = (Line("product", msg(many, count=len(state.marked))),)
    else:
        lines = tuple(line for row in state.chosen for line in _about(row, is_kept(state, row)))
    return Step(
        name=at,
        title=msg("exceptions.differences"),
        prompt=msg("act.prompt_what"),
        lines=lines,
        choices=choices(state),
        hints=(BACK,),
    )


def _about(row: Row, kept: bool) -> tuple[Line, ...]:
    """One difference: what, how much, what it is worth, who and when; whether the service keeps who approves it."""
    far = msg("exceptions.counted", counted=row.of, difference=signed(row.quantity))
    worth = (
        msg("exceptions.worth", value=priced(abs(row.value))) if row.value is not None else msg("exceptions.no_price")
    )
    by = msg("exceptions.by", who=row.who, at=msg("moment", at=row.at))
    where = (Line("place", raw(row.place)),) if row.place else ()
    notes = (worth, by) if kept else (worth, by, msg("exceptions.kept_here"))
    return (Line("product", raw(row.label)), *where, Line("quantity", far), *(Line("note", note) for note in notes))
