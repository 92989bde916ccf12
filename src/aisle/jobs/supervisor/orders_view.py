"""State and screens of the order board."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from aisle.jobs import pages
from aisle.jobs.claims import ClaimForOther
from aisle.jobs.job import Context
from aisle.jobs.product_page import UNKNOWN_AGE, due_message, seconds_since, store_day, time_message
from aisle.jobs.quantities import order_progress, to_decimal
from aisle.jobs.supervisor.order_filter import BUILT_IN_VIEWS, FILTER_FIELDS, OrderFilter, filter_values
from aisle.jobs.view import BACK, NEXT_PAGE, KeyHint, Line, ListView, Msg, Row, Step, View, msg, raw

if TYPE_CHECKING:
    from aisle.jobs.row_types.orders import OrderHeader, OrdersByNumberRow


class BoardOrder(NamedTuple):
    """Order of the board."""

    number: str
    customer: str = ""
    due: Msg = raw("")
    status: str = "open"
    ordered: Decimal = Decimal(0)
    picked: Decimal = Decimal(0)
    line_count: int = 0
    short_lines: int = 0
    is_claimed: bool = False
    claimed_by: str = ""
    """Name of the claimant, if known."""
    abandoned_at: Msg | None = None
    """Time at which the claimant left the order on this host."""
    idle_s: Decimal = UNKNOWN_AGE
    """Seconds without a change while somebody works on it; below 0: unknown."""
    known_s: Decimal = UNKNOWN_AGE
    """Seconds since this host first received it."""
    rejection_reason: str = ""
    """Reason of its rejection."""
    reference: str = ""
    position: int = 0
    is_priority: bool = False
    priority_by: str = ""
    """Person who gave it priority."""
    picker: str = ""
    """Person whose open batch on this host contains it."""
    assigned_to: str = ""
    """Person it was assigned to, who has not opened it yet."""


class SavedView(NamedTuple):
    """Filter that a person has saved under a name."""

    name: str
    filter: OrderFilter


class OrdersState(NamedTuple):
    """State of the window and of its marks."""

    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    rows: tuple[BoardOrder, ...] = ()
    total: int = 0
    filter: OrderFilter = OrderFilter()
    page: str = ""
    """Empty for the list; `filter`, `field`, `views`, `name`."""
    field: str = ""
    first_choice: int = 0
    """Index of the first choice on the screen."""
    size: int = 12
    """Number of choices on the screen."""
    is_marking: bool = False
    """True if numbers mark rows instead of opening them."""
    marked: tuple[str, ...] = ()
    views: tuple[SavedView, ...] = ()
    view_name: str = ""
    """Own view that was chosen last."""
    is_window_loading: bool = False
    """True while the rows of a window that followed the cursor have not come yet."""
    is_loaded: bool = False
    claims_for_others: tuple[ClaimForOther, ...] = ()
    """Assignments to others made from this page."""


def parse_order_row(row: OrdersByNumberRow, context: Context) -> BoardOrder:
    """Parse a row of the query `order_board` or `orders_by_number`."""
    picked, of = order_progress(row)
    return BoardOrder(
        number=str(row["order_number"]),
        customer=str(row.get("customer_name") or row.get("description") or ""),
        due=due_message(str(row.get("pickup_date") or ""), context.now)
        if row.get("pickup_date")
        else msg("orders.no_date"),
        status=str(row["status"]),
        ordered=of,
        picked=picked,
        line_count=int(to_decimal(row.get("total_lines"))),
        short_lines=int(row.get("short") or 0),
        is_claimed=bool(row.get("is_claimed")),
        claimed_by=str(row.get("claimed_name") or row.get("claimed_by") or ""),
        abandoned_at=time_message(str(row["claim_ended_at"]), store_day(context.now))
        if row.get("claim_ended_at")
        else None,
        idle_s=seconds_since(row.get("idle_since"), context.now) if row.get("idle_since") else UNKNOWN_AGE,
        known_s=seconds_since(row.get("seen_at"), context.now) if row.get("seen_at") else UNKNOWN_AGE,
        rejection_reason=_rejection_reason(row) if row.get("is_rejected") else "",
        reference=str(row.get("reference") or ""),
        position=int(row.get("position") or 0),
        is_priority=bool(row.get("is_priority")),
        priority_by=str(row.get("priority_by") or ""),
        picker=str(row.get("picker_name") or ""),
        assigned_to=str(row.get("assigned_name") or ""),
    )


def _rejection_reason(row: OrderHeader) -> str:
    return str(row.get("rejection_reason_code_description") or row.get("rejection_reason_code") or "")


STATUS_NAMES = {
    "open": "orders.status_open",
    "partial": "orders.status_in_progress",
    "picked": "orders.status_picked",
    "rejected": "orders.status_rejected",
    "finished": "orders.status_finished",
}
"""Names of the states of an order (interface: fulfillment_status)."""

FIELD_NAMES = {
    "state": "orders.field_state",
    "due": "orders.field_due",
    "claim": "orders.field_claim",
    "shorts": "orders.field_shorts",
    "sort": "orders.field_sort",
    "reference": "orders.field_reference",
}

VALUE_NAMES = {
    ("state", "active"): "orders.state_active",
    ("state", "to_pick"): "orders.state_to_pick",
    ("state", "open"): "orders.status_open",
    ("state", "partial"): "orders.status_in_progress",
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

VIEW_NAMES = {
    "active": "orders.state_active",
    "late": "orders.due_late",
    "at_work": "orders.claim_claimed",
    "oldest": "orders.view_oldest",
    "picked": "orders.state_picked",
    "short": "orders.shorts_short",
    "rejected": "orders.state_rejected",
    "finished": "orders.state_finished",
}


def page_view(state: OrdersState) -> View:
    """Return the screen of this state."""
    if not state.page:
        return _list_view(state)
    if state.page == "name":
        return Step(
            name="orders.name",
            title=msg("orders.views"),
            prompt=msg("orders.prompt_name"),
            lines=(Line("note", describe_filter(state.filter)),),
            key_hints=(BACK,),
        )
    return _choice_page(state)


def _choice_page(state: OrdersState) -> ListView:
    """Return the numbered list of filter fields, of one field's values, or of views."""
    choices = page_choices(state)
    rows = choices[state.first_choice : state.first_choice + state.size]
    prompts = {"filter": "orders.prompt_filter", "views": "orders.prompt_views"}
    prompt = "orders.prompt_reference" if state.field == "reference" else "orders.prompt_field"
    titles = {"filter": "orders.filter", "field": FIELD_NAMES.get(state.field, "orders.filter")}
    kept = (
        (KeyHint("k", msg("orders.save_view")), KeyHint("x", msg("orders.delete_view")))
        if state.page == "views"
        else ()
    )
    turn = (NEXT_PAGE,) if len(choices) > state.size else ()
    return ListView(
        name=f"orders.{state.page}",
        title=msg(titles.get(state.page, "orders.views")),
        prompt=msg(prompts.get(state.page, prompt)),
        column_heads=(msg("orders.filter_is", what=describe_filter(state.filter)),),
        rows=tuple(Row(str(at), (text,)) for at, text in enumerate(rows, state.first_choice)),
        first=state.first_choice,
        total=len(choices),
        numbered_rows=len(rows),
        key_hints=(*turn, *kept, BACK),
    )


def page_choices(state: OrdersState) -> tuple[Msg, ...]:
    """Return the choices of the page."""
    if state.page == "filter":
        return (*(_field_text(state.filter, field) for field in FILTER_FIELDS), msg("orders.reset_filter"))
    if state.page == "field":
        return tuple(msg(VALUE_NAMES[state.field, value]) for value in filter_values(state.field))
    if state.page == "views":
        own = tuple(raw(kept.name) for kept in state.views)
        return (*(msg(VIEW_NAMES[name]) for name, _ in BUILT_IN_VIEWS), *own)
    return ()


def _field_text(filter_: OrderFilter, field: str) -> Msg:
    """Return a filter field with its value."""
    return msg("orders.field", name=msg(FIELD_NAMES[field]), value=_value_text(filter_, field))


def _value_text(filter_: OrderFilter, field: str) -> Msg:
    value = getattr(filter_, field)
    if field == "reference" and value:
        return raw(value)
    return msg(VALUE_NAMES[field, value or "none"])


def describe_filter(filter_: OrderFilter) -> Msg:
    """Return the filter in a few words: all fields that differ from the default."""
    parts = [_value_text(filter_, "state")]
    usual = OrderFilter()
    for field in ("due", "claim", "shorts", "sort", "reference"):
        if getattr(filter_, field) != getattr(usual, field):
            parts.append(_value_text(filter_, field))
    text = parts.pop()
    for part in reversed(parts):
        text = msg("orders.join", one=part, other=text)
    return text


def _list_view(state: OrdersState) -> ListView:
    text = state.typed or state.search
    marking = state.is_marking or bool(state.marked)
    heads, rows = order_table(state.rows, state.marked)
    title, empty = _title(state, text, marking), _empty_text(state, text)
    prompt = msg("orders.prompt_marking") if state.is_marking else msg("orders.prompt")
    listed = pages.list_view(state, "orders", title, prompt, heads, rows, *_hints(state, marking), empty=empty)
    return listed._replace(has_progress_bars=True)


_COLUMN_HEADS = (
    msg("head.order"),
    msg("head.pickup"),
    msg("orders.head_state"),
    msg("head.progress"),
    msg("orders.head_claim"),
    msg("head.customer"),
    msg("orders.head_short"),
    msg("orders.head_idle"),
    msg("orders.head_known_since"),
    msg("orders.head_reason"),
    msg("orders.head_reference"),
)


def _title(state: OrdersState, text: str, is_marking: bool) -> Msg:
    """Return the title: the filter, the search and the number of marked orders."""
    if is_marking:
        count = len(state.marked)
        return msg("orders.title_marked_searched" if text else "orders.title_marked", count=count, text=text)
    return msg("orders.title_searched" if text else "orders.title", what=describe_filter(state.filter), text=text)


def _hints(state: OrdersState, is_marking: bool) -> tuple[KeyHint, ...]:
    acting = (
        (KeyHint("a", msg("orders.mark_all")), KeyHint("d", msg("orders.actions")))
        if is_marking
        else (KeyHint("d", msg("orders.actions")),)
    )
    filter_hints = () if is_marking else (KeyHint("f", msg("orders.filter")), KeyHint("v", msg("orders.views")))
    mark = KeyHint("m", msg("orders.mark_end") if state.is_marking else msg("orders.mark"))
    return (*filter_hints, mark, *acting)


def _empty_text(state: OrdersState, text: str) -> Msg:
    if not state.is_loaded:
        return msg("orders.loading")
    if text:
        return msg("orders.no_match", text=text)
    return msg("orders.none_finished") if state.filter.state == "finished" else msg("orders.none")


OPTIONAL_COLUMNS = frozenset({4, 6, 7, 8, 9, 10})
"""Columns left out if no order in the window has a value for them."""

DEFAULT_COLUMNS = (0, 1, 2, 3, 5, 4, 6, 7, 8, 9, 10)
"""Column order of a list. The customer's name has more space if there is no claim."""

IDLE_FIRST_COLUMNS = (0, 7, 4, 5, 3, 2, 1, 6, 8, 9, 10)
"""Column order for stuck orders: first the idle time and the claimant."""


def order_table(
    orders: Sequence[BoardOrder], marked: Sequence[str] = (), columns: Sequence[int] = DEFAULT_COLUMNS
) -> tuple[tuple[Msg, ...], tuple[Row, ...]]:
    """Return heads and rows of a list of orders."""
    rows = [_order_row(order, order.number in marked) for order in orders]
    kept = [at for at in columns if at not in OPTIONAL_COLUMNS or any(row.cells[at] != raw("") for row in rows)]
    heads = tuple(_COLUMN_HEADS[at] for at in kept)
    return heads, tuple(row._replace(cells=tuple(row.cells[at] for at in kept)) for row in rows)


def _order_row(order: BoardOrder, is_marked: bool) -> Row:
    """Return the row of one order."""
    cells = (
        raw(order.number),
        order.due,
        _status_text(order),
        msg("progress.of", done=order.picked, total=order.ordered),
        claim_text(order),
        raw(order.customer),
        msg("orders.short", count=order.short_lines) if order.short_lines else raw(""),
        msg("orders.idle", seconds=str(order.idle_s)) if order.idle_s >= 0 else raw(""),
        msg("orders.idle", seconds=str(order.known_s)) if order.known_s >= 0 else raw(""),
        raw(order.rejection_reason),
        raw(order.reference),
    )
    share = order.picked / order.ordered if order.ordered > 0 else Decimal(0)
    return Row(order.number, cells, min(Decimal(1), share), is_marked)


def _status_text(order: BoardOrder) -> Msg:
    """Return the state of the order, with its priority while something is left to pick."""
    state = msg(STATUS_NAMES.get(order.status, "orders.status_open"))
    return msg("orders.priority", state=state) if order.is_priority and order.status in ("open", "partial") else state


def claim_text(order: BoardOrder) -> Msg:
    """Return who has claimed the order, and when that person left it; empty without a claim."""
    if not order.is_claimed:
        return raw("")
    if order.abandoned_at:
        return msg("home.abandoned_by", who=order.claimed_by, at=order.abandoned_at, due=raw(""))
    return raw(order.claimed_by) if order.claimed_by else msg("orders.claimed_by_somebody")
