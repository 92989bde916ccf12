"""What the order board shows: the list, its filter, and the views that were kept."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from aisle.jobs import window
from aisle.jobs.desk.orders_filter import BUILT_IN, FIELDS, Filter, options
from aisle.jobs.desk.orders_rows import Board, Listed
from aisle.jobs.view import BACK, ON, Hint, Line, ListWindow, Msg, Row, Step, View, msg, raw

STATUS = {
    "open": "orders.status_open",
    "partial": "orders.status_partial",
    "picked": "orders.status_picked",
    "rejected": "orders.status_rejected",
    "finished": "orders.status_finished",
}
"""The states of an order (interface: fulfillment_status)."""

FIELD = {
    "state": "orders.field_state",
    "due": "orders.field_due",
    "claim": "orders.field_claim",
    "shorts": "orders.field_shorts",
    "sort": "orders.field_sort",
    "reference": "orders.field_reference",
}

OPTION = {
    ("state", "active"): "orders.state_active",
    ("state", "to_pick"): "orders.state_to_pick",
    ("state", "open"): "orders.status_open",
    ("state", "partial"): "orders.status_partial",
    ("state", "picked"): "orders.state_picked",
    ("state", "rejected"): "orders.state_rejected",
    ("state", "finished"): "orders.state_finished",
    ("state", "all"): "orders.any",
    ("due", "any"): "orders.any",
    ("due", "late"): "orders.due_late",
    ("due", "today"): "orders.due_today",
    ("due", "tomorrow"): "orders.due_tomorrow",
    ("due", "week"): "orders.due_week",
    ("claim", "any"): "orders.any",
    ("claim", "claimed"): "orders.claim_claimed",
    ("claim", "free"): "orders.claim_free",
    ("shorts", "any"): "orders.any",
    ("shorts", "short"): "orders.shorts_short",
    ("sort", "pickup"): "orders.sort_pickup",
    ("sort", "age"): "orders.sort_age",
    ("sort", "number"): "orders.sort_number",
    ("reference", "none"): "orders.any",
}

VIEWS = {
    "active": "orders.state_active",
    "late": "orders.due_late",
    "at_work": "orders.claim_claimed",
    "oldest": "orders.view_oldest",
    "picked": "orders.state_picked",
    "short": "orders.shorts_short",
    "rejected": "orders.state_rejected",
    "finished": "orders.state_finished",
}


def view(state: Board) -> View:
    """The page of this state."""
    if not state.page:
        return _list(state)
    if state.page == "name":
        return Step(
            name="orders.name",
            title=msg("orders.views"),
            prompt=msg("orders.prompt_name"),
            lines=(Line("note", said(state.filter)),),
            hints=(BACK,),
        )
    return _setting(state)


def _setting(state: Board) -> ListWindow:
    """The parts of the filter, the words of one part, or the views: numbered."""
    told = choices(state)
    rows = told[state.top : state.top + state.size]
    prompts = {"filter": "orders.prompt_filter", "views": "orders.prompt_views"}
    prompt = "orders.prompt_reference" if state.field == "reference" else "orders.prompt_field"
    titles = {"filter": "orders.filter", "field": FIELD.get(state.field, "orders.filter")}
    kept = (Hint("k", msg("orders.keep")), Hint("x", msg("orders.forget"))) if state.page == "views" else ()
    turn = (ON,) if len(told) > state.size else ()
    return ListWindow(
        name=f"orders.{state.page}",
        title=msg(titles.get(state.page, "orders.views")),
        prompt=msg(prompts.get(state.page, prompt)),
        heads=(msg("orders.filter_is", what=said(state.filter)),),
        rows=tuple(Row(str(at), (text,)) for at, text in enumerate(rows, state.top)),
        first=state.top,
        total=len(told),
        numbered=len(rows),
        hints=(*turn, *kept, BACK),
    )


def choices(state: Board) -> tuple[Msg, ...]:
    """What the numbers of a page do."""
    if state.page == "filter":
        return (*(_field(state.filter, field) for field in FIELDS), msg("orders.everything"))
    if state.page == "field":
        return tuple(msg(OPTION[state.field, word]) for word in options(state.field))
    if state.page == "views":
        own = tuple(raw(kept.name) for kept in state.views)
        return (*(msg(VIEWS[name]) for name, _ in BUILT_IN), *own)
    return ()


def _field(filter_: Filter, field: str) -> Msg:
    """A part of the filter, and how it stands."""
    return msg("orders.field", name=msg(FIELD[field]), value=_value(filter_, field))


def _value(filter_: Filter, field: str) -> Msg:
    word = getattr(filter_, field)
    if field == "reference" and word:
        return raw(word)
    return msg(OPTION[field, word or "none"])


def said(filter_: Filter) -> Msg:
    """The whole filter in a few words: what differs from the list of all."""
    parts = [_value(filter_, "state")]
    usual = Filter()
    for field in ("due", "claim", "shorts", "sort", "reference"):
        if getattr(filter_, field) != getattr(usual, field):
            parts.append(_value(filter_, field))
    text = parts.pop()
    for part in reversed(parts):
        text = msg("orders.both", one=part, other=text)
    return text


def _list(state: Board) -> ListWindow:
    text = state.typed or state.search
    marking = state.marking or bool(state.marked)
    heads, rows = table(state.rows, state.marked)
    title, empty = _title(state, text, marking), _empty(state, text)
    prompt = msg("orders.prompt_marking") if state.marking else msg("orders.prompt")
    listed = window.shown(state, "orders", title, prompt, heads, rows, *_hints(state, marking), empty=empty)
    return listed._replace(bars=True)


_HEADS = (
    msg("head.order"),
    msg("head.pickup"),
    msg("orders.head_state"),
    msg("head.progress"),
    msg("orders.head_claim"),
    msg("head.customer"),
    msg("orders.head_short"),
    msg("orders.head_silent"),
    msg("orders.head_seen"),
    msg("orders.head_why"),
    msg("orders.head_reference"),
)


def _title(state: Board, text: str, marking: bool) -> Msg:
    """What is listed: marked ones beside it, and the words that are looked for always."""
    if marking:
        count = len(state.marked)
        return msg("orders.title_marked_sought" if text else "orders.title_marked", count=count, text=text)
    return msg("orders.title_sought" if text else "orders.title", what=said(state.filter), text=text)


def _hints(state: Board, marking: bool) -> tuple[Hint, ...]:
    acting = (Hint("a", msg("orders.all")), Hint("d", msg("orders.do"))) if marking else (Hint("d", msg("orders.do")),)
    look = () if marking else (Hint("f", msg("orders.filter")), Hint("v", msg("orders.views")))
    mark = Hint("m", msg("orders.mark_end") if state.marking else msg("orders.mark"))
    return (*look, mark, *acting)


def _empty(state: Board, text: str) -> Msg:
    if not state.loaded:
        return msg("orders.loading")
    if text:
        return msg("orders.no_match", text=text)
    return msg("orders.none_finished") if state.filter.state == "finished" else msg("orders.none")


OPTIONAL = frozenset({4, 6, 7, 8, 9, 10})
"""Columns that are left out where none of the orders in sight has anything to say in them."""

USUAL = (0, 1, 2, 3, 5, 4, 6, 7, 8, 9, 10)
"""The order of the columns of a list: a name may run on where nobody has the order."""

SILENT_FIRST = (0, 7, 4, 5, 3, 2, 1, 6, 8, 9, 10)
"""The order of the columns where it matters most since when nothing was heard, and of whom."""


def table(
    orders: Sequence[Listed], marked: Sequence[str] = (), columns: Sequence[int] = USUAL
) -> tuple[tuple[Msg, ...], tuple[Row, ...]]:
    """Heads and rows of a list of orders."""
    rows = [_row(order, order.number in marked) for order in orders]
    kept = [at for at in columns if at not in OPTIONAL or any(row.cells[at] != raw("") for row in rows)]
    heads = tuple(_HEADS[at] for at in kept)
    return heads, tuple(row._replace(cells=tuple(row.cells[at] for at in kept)) for row in rows)


def _row(order: Listed, marked: bool) -> Row:
    """One order of a list."""
    cells = (
        raw(order.number),
        order.due,
        _stands(order),
        msg("progress.of", done=order.picked, total=order.of),
        claim(order),
        raw(order.who),
        msg("orders.short", count=order.short) if order.short else raw(""),
        msg("orders.silent", seconds=str(order.silent)) if order.silent >= 0 else raw(""),
        msg("orders.silent", seconds=str(order.seen)) if order.seen >= 0 else raw(""),
        raw(order.why),
        raw(order.reference),
    )
    share = order.picked / order.of if order.of > 0 else Decimal(0)
    return Row(order.number, cells, min(Decimal(1), share), marked)


def _stands(order: Listed) -> Msg:
    """Its state, and that it goes first while there is something to pick."""
    state = msg(STATUS.get(order.status, "orders.status_open"))
    return msg("orders.urgent", state=state) if order.urgent and order.status in ("open", "partial") else state


def claim(order: Listed) -> Msg:
    if not order.claimed:
        return raw("")
    if order.left:
        return msg("home.left_by", who=order.by, at=order.left, due=raw(""))
    return raw(order.by) if order.by else msg("orders.somebody")
