"""Job that shows one order with its lines and history, and starts actions on it."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from aisle.jobs import claims, stored_message
from aisle.jobs.job import (
    Args,
    Changed,
    Close,
    Closed,
    Context,
    Effect,
    Event,
    Job,
    Opened,
    Query,
    Refresh,
    Resumed,
    Rows,
    Start,
    Turn,
)
from aisle.jobs.order_operations import (
    CLAIM,
    CLOSE_LINE,
    HAND_OVER,
    PRIORITY,
    REJECT,
    RELEASE,
    REMOVE_PRIORITY,
    REOPEN,
    REOPEN_LINE,
    SPLIT,
)
from aisle.jobs.pages import PAGE_LETTERS, open_record, reject_input, turn_page
from aisle.jobs.quantities import to_decimal
from aisle.jobs.stored_message import read_message
from aisle.jobs.supervisor.order_actions import ACTION_NAMES
from aisle.jobs.supervisor.orders_view import STATUS_NAMES, BoardOrder, parse_order_row
from aisle.jobs.view import BACK, INFO, PAGE_HINTS, WRONG, Block, DetailView, KeyHint, Line, Msg, Verdict, msg, raw
from aisle.scan.meaning import (
    LOCATION,
    ORDER,
    PRODUCT,
    REFERENCE,
    Accepts,
    Back,
    Choice,
    Command,
    CursorKey,
    Match,
    Scan,
)

if TYPE_CHECKING:
    from aisle.jobs.row_types.orders import OrderHeader, OrderHistoryRow, OrderLineRow, OrderRow

PICK = "pick"
"""Action of the page that starts another job instead of `order_actions`."""


class OrderLine(NamedTuple):
    """Line of the order."""

    number: int
    product: str
    label: str
    ordered: Decimal
    picked: Decimal
    moved: Decimal
    is_closed: bool
    picked_by: str = ""
    """Person who picked it last."""
    locations: tuple[str, ...] = ()
    """Locations with free stock of the product, in walking order."""
    put_down_at: tuple[tuple[str, Decimal], ...] = ()
    """Locations of its picked goods, with quantities."""
    reason: str = ""

    @property
    def is_complete(self) -> bool:
        """True if its whole quantity is picked."""
        return self.picked >= self.ordered


class HistoryRow(NamedTuple):
    """Event in the history of the order."""

    at: str
    user: str
    event: str
    label: str = ""
    quantity: Decimal = Decimal(0)
    location: str = ""
    """Location, if known."""
    why: str = ""
    state: str = ""
    """State of the operation behind it, if it comes from this host."""


class OrderState(NamedTuple):
    """State of the page: the order as far as this host knows it."""

    number: str = ""
    order: BoardOrder | None = None
    customer_fields: tuple[tuple[str, str], ...] = ()
    """Fields of the interface beside the figures: name and value."""
    lines: tuple[OrderLine, ...] = ()
    lines_known: bool = True
    history: tuple[HistoryRow, ...] = ()
    state: str = "confirmed"
    """State of the last operation on the order."""
    why: str = ""
    is_choosing_line: bool = False
    """True if numbers choose a line."""
    page: int = 0
    undo: tuple[Args, ...] = ()
    """Actions that undo the last action of this page."""
    claims_for_others: tuple[claims.ClaimForOther, ...] = ()
    """Assignments to others made from this page."""
    opened_at: str = ""
    """Time at which the page was opened and the order requested from the service."""
    is_absent: bool = False
    """True if the service has answered since then that it has no such order."""

    @property
    def actions(self) -> tuple[str, ...]:
        """Possible actions on the order, in the order of their numbers. A claim that comes or goes changes no other
        number."""
        if self.order is None or self.order.status == "finished":
            return ()
        if self.order.status == "rejected":
            return (REOPEN,)
        open_ = self.order.status in ("open", "partial")
        pick = (PICK,) if open_ else ()
        walk = (REMOVE_PRIORITY if self.order.is_priority else PRIORITY, SPLIT) if open_ else ()
        release = (RELEASE,) if self.order.is_claimed else ()
        finish = (HAND_OVER,) if self.order.picked > 0 or self.order.status == "picked" else ()
        return (*pick, CLAIM, REJECT, *walk, *finish, *release)


_ORDER_FIELDS = (
    "customer_name", "reference", "description", "comment", "order_type_description", "sales_order_id",
    "stores_allowed",
)  # fmt: skip
"""Fields of an order that are shown unchanged. Interface: Customer order (list item)."""

_ADDRESS_PARTS = ("street", "zipcode", "city", "country")
_SERVICE_FIELDS = ("customer_phone", "customer_email", "customer_number", "file_name")


def parse_customer(row: OrderHeader) -> tuple[tuple[str, str], ...]:
    """Return names and values of the customer data.

    Aisle's own service returns under `aisle` what the interface accepts but never shows.
    """
    service_fields = row.get("aisle")
    service_fields = service_fields if isinstance(service_fields, Mapping) else {}
    fields = [(name, _strip_text(row.get(name))) for name in _ORDER_FIELDS]
    fields += [(f"{of}_address", _address(service_fields, of)) for of in ("customer", "delivery")]
    fields += [(name, _strip_text(service_fields.get(name))) for name in _SERVICE_FIELDS]
    return tuple((name, text) for name, text in fields if text)


def _address(service_fields: Mapping[str, object], prefix: str) -> str:
    """Return the address on one line, with postal code and town together."""
    street, zipcode, city, country = (_strip_text(service_fields.get(f"{prefix}_{part}")) for part in _ADDRESS_PARTS)
    return ", ".join(part for part in (street, f"{zipcode} {city}".strip(), country) if part)


def _strip_text(value: object) -> str:
    return "" if value is None else str(value).strip()


_CUSTOMER_FIELD_TEXTS = {
    "customer_name": "head.customer",
    "reference": "orders.head_reference",
    "description": "order.description",
    "comment": "label.comment",
    "order_type_description": "order.type",
    "sales_order_id": "order.sales_order",
    "stores_allowed": "order.stores",
    "customer_address": "order.address",
    "delivery_address": "order.delivery_address",
    "customer_phone": "order.phone",
    "customer_email": "order.email",
    "customer_number": "order.customer_number",
    "file_name": "order.file",
}

_EVENT_TEXTS = {
    "pick": "order.event_pick",
    "unpick": "order.event_unpick",
    "movement": "order.event_movement",
    "short": "order.event_short",
    "count": "order.event_count",
    "receipt": "order.event_receipt",
    "opened": "order.event_line_reopened",
    "claimed": "order.event_claimed",
    "released": "order.event_released",
    "rejected": "order.event_rejected",
    "taken_back": "order.event_rejection_undone",
    "finished": "order.event_finished",
    "finish": "order.event_finish",
    "reopened": "order.event_reopened",
}

_STATE_TEXTS = {
    "queued": "order.state_queued",
    "sending": "order.state_sending",
    "refused": "order.state_refused",
    "in_doubt": "order.state_in_doubt",
}
"""Notes for states of an operation that is not confirmed."""

_LAST_STATE_TEXTS = {
    "queued": "order.last_queued",
    "sending": "order.last_sending",
    "refused": "order.last_refused",
    "in_doubt": "order.last_in_doubt",
}


def page_view(state: OrderState) -> DetailView:
    """Return the page of the order, or its lines to choose from."""
    return DetailView(
        name="order.lines" if state.is_choosing_line else "order",
        title=msg("order.title", order=state.number),
        prompt=_prompt(state),
        lines=_lines(state),
        blocks=(_line_block(state, numbered=True),) if state.is_choosing_line else _blocks(state),
        page=state.page,
        choices=()
        if state.is_choosing_line
        else tuple(msg(ACTION_NAMES.get(action, "order.pick")) for action in state.actions),
        key_hints=_hints(state),
    )


def _prompt(state: OrderState) -> Msg:
    if state.is_choosing_line:
        return msg("order.prompt_lines")
    return msg("order.prompt") if state.actions else msg("order.prompt_read")


def _hints(state: OrderState) -> tuple[KeyHint, ...]:
    closed = state.order is None or state.order.status in ("rejected", "finished")
    lines = () if closed or state.is_choosing_line or not state.lines else (KeyHint("l", msg("order.choose_line")),)
    undo = (KeyHint("u", msg("hint.undo")),) if state.undo and not state.is_choosing_line else ()
    return (
        *lines,
        *undo,
        *PAGE_HINTS,
        BACK,
    )


def _lines(state: OrderState) -> tuple[Line, ...]:
    """Return the lines on customer, progress and obstacles."""
    order = state.order
    if order is None:
        return (
            Line("product", msg("order_actions.one_order", order=state.number)),
            Line("note", _missing_message(state)),
        )
    head = (
        msg("order.order_of_customer", order=order.number, who=order.customer)
        if order.customer
        else msg("order_actions.one_order", order=order.number)
    )
    far = msg(
        "order.progress", state=msg(STATUS_NAMES[order.status]), done=order.picked, total=order.ordered, due=order.due
    )
    lines = [Line("product", head), Line("quantity", far)]
    lines += [
        Line("note", each) for each in (claim_message(order), _batch_message(order), _priority_message(order)) if each
    ]
    if order.status == "rejected" and order.rejection_reason:
        lines.append(Line("note", msg("order.rejected_why", why=order.rejection_reason)))
    if places := dict.fromkeys(place for line in state.lines for place, _ in line.put_down_at):
        lines.append(Line("note", msg("order.waits_at_location", place=stored_message.list_locations(places))))
    if state.state in _LAST_STATE_TEXTS:
        lines.append(Line("note", msg(_LAST_STATE_TEXTS[state.state], why=read_message(state.why))))
    return tuple(lines)


def _missing_message(state: OrderState) -> Msg:
    """Return the message that the order is missing: unknown here, or also absent at the service."""
    return msg("order.absent", order=state.number) if state.is_absent else msg("order.unknown")


def claim_message(order: BoardOrder) -> Msg | None:
    """Return who works on the order; None unless something is left to pick."""
    if order.status not in ("open", "partial"):
        return None
    silent = order.idle_s >= 0
    if order.is_claimed and order.abandoned_at:
        return msg("order.abandoned_by", who=order.claimed_by, at=order.abandoned_at)
    if order.is_claimed and order.claimed_by:
        args = {"who": order.claimed_by, "seconds": str(order.idle_s)}
        return msg("order.claimed_idle", **args) if silent else msg("order.claimed_by", who=order.claimed_by)
    if order.is_claimed:
        return msg("order.claimed")
    return msg("order.idle", seconds=str(order.idle_s)) if silent else None


def _batch_message(order: BoardOrder) -> Msg | None:
    """Return whose batch the order is in, or to whom it was assigned for their batch."""
    if order.status not in ("open", "partial"):
        return None
    if order.picker:
        return msg("order.in_batch_of", who=order.picker)
    return msg("order.assigned_to", who=order.assigned_to) if order.assigned_to else None


def _priority_message(order: BoardOrder) -> Msg | None:
    if not order.is_priority or order.status not in ("open", "partial"):
        return None
    return msg("order.priority", who=order.priority_by)


def _blocks(state: OrderState) -> tuple[Block, ...]:
    facts = [(msg(_CUSTOMER_FIELD_TEXTS[name]), raw(value)) for name, value in state.customer_fields]
    if state.order and state.order.known_s >= 0:
        facts.append((msg("orders.head_known_since"), msg("orders.idle", seconds=str(state.order.known_s))))
    past = tuple(_history_row(each) for each in state.history)
    blocks = (
        _line_block(state),
        Block(msg("order.about"), tuple(facts)),
        Block(msg("order.history"), past or ((msg("order.no_history"),),)),
    )
    return tuple(block for block in blocks if block.rows) if state.order else ()


def _line_block(state: OrderState, *, numbered: bool = False) -> Block:
    rows = tuple(_line_row(line) for line in state.lines)
    if not rows and not numbered:
        rows = ((msg("order.lines_loading") if not state.lines_known else msg("order.no_lines"),),)
    count = len(state.lines)
    return Block(msg("order.lines_title", count=count), rows, numbered_rows=count if numbered else 0)


def _line_row(line: OrderLine) -> tuple[Msg, ...]:
    cells = [raw(line.label), msg("progress.of", done=line.picked, total=line.ordered), _line_state(line)]
    where = ", ".join(place for place, _ in line.put_down_at) or ", ".join(line.locations[:2])
    location = msg("order.put_down_at", place=where) if line.put_down_at else raw(where)
    return (*cells, location, raw(line.picked_by))


def _line_state(line: OrderLine) -> Msg:
    if line.is_complete:
        return msg("order.line_full")
    if line.is_closed:
        return msg("order.line_short_why", why=line.reason) if line.reason else msg("order.line_short")
    return msg("order.line_open")


def _history_row(row: HistoryRow) -> tuple[Msg, ...]:
    what = msg(_EVENT_TEXTS.get(row.event, "order.event_other"), what=row.event, quantity=row.quantity, label=row.label)
    if row.location:
        what = msg("order.event_at", what=what, place=row.location)
    if row.why:
        what = msg("order.event_reason", what=what, why=read_message(row.why))
    state_text = msg(_STATE_TEXTS[row.state]) if row.state in _STATE_TEXTS else raw("")
    return (what, raw(row.user), msg("moment", at=row.at), state_text)


MAX_HISTORY = 60
"""Most events on the page."""

Result = Turn[OrderState]


class OrderJob(Job[OrderState]):
    """Job that shows all data of an order and starts actions on it."""

    name = "order"
    steps: tuple[str, ...] = ("order", "order.lines")
    version = 1
    journalled = False

    def begin(self) -> OrderState:
        """Return the state without an order."""
        return OrderState()

    def accepts(self, state: OrderState) -> Accepts:
        """Accept numbers for actions; a letter switches them to lines."""
        if state.is_choosing_line:
            return Accepts(choices=len(state.lines), command_letters=PAGE_LETTERS)
        lines = "l" if state.lines and state.order and state.order.status not in ("rejected", "finished") else ""
        return Accepts(choices=len(state.actions), command_letters=PAGE_LETTERS + lines + ("u" if state.undo else ""))

    def prefers(self, state: OrderState) -> tuple[str, ...]:
        """Prefer another order, then a product or location."""
        return (ORDER, REFERENCE, PRODUCT, LOCATION)

    def step_name(self, state: OrderState) -> str:
        """Return one of `steps`."""
        return "order.lines" if state.is_choosing_line else "order"

    def view(self, state: OrderState) -> DetailView:
        """Return the page."""
        return page_view(state)

    def handle(self, state: OrderState, event: Event, context: Context) -> Result:
        """Return the next state. Changes are queried, numbers act, letters turn the page."""
        match event:
            case Opened(args):
                return _open_order(str(args["order_number"]), context)
            case Rows("assigned_orders"):
                kept, verdict = claims.report_lost_claims(state.claims_for_others, event)
                return Turn(state._replace(claims_for_others=kept), (), verdict)
            case Rows():
                return _handle_rows(state, event, context)
            case Changed() | Resumed():
                return Turn(state, (*_queries(state), *claims.query_claims(state.claims_for_others)))
            case Closed("order_actions", answer):
                undo = tuple((answer or {}).get("undo") or ()) or state.undo
                state = state._replace(claims_for_others=claims.with_new_claims(state.claims_for_others, answer))
                choosing, page = (False, 0) if answer else (state.is_choosing_line, state.page)
                return Turn(state._replace(undo=undo, is_choosing_line=choosing, page=page), _queries(state))
            case Closed():
                return Turn(state, _queries(state))
            case Back() if state.is_choosing_line:
                return Turn(state._replace(is_choosing_line=False, page=0))
            case Back():
                return Turn(state, (Close(),))
        return _handle_input(state, event, context)


def _open_order(order: str, context: Context) -> Result:
    page = OrderState(order, opened_at=context.now)
    return Turn(page, (*_queries(page), Refresh("order", order), Refresh("logs")))


def _queries(state: OrderState) -> tuple[Effect, ...]:
    order, args = state.number, {"order_number": state.number}
    return (
        Query("state", "orders_by_number", {"orders": [order]}, is_live=True),
        Query("order", "order", args, is_live=True),
        Query("past", "order_history", {**args, "size": MAX_HISTORY}, is_live=True),
        Query("outcome", "order_outcomes", {"orders": [order]}, is_live=True),
        Query("absent_order", "absent_order", {**args, "since": state.opened_at}, is_live=True),
    )


def _handle_rows(state: OrderState, answer: Rows, context: Context) -> Result:
    match answer:
        case Rows("state", rows, _):
            return Turn(state._replace(order=parse_order_row(rows[0], context) if rows else None))
        case Rows("absent_order", rows, _):
            return Turn(state._replace(is_absent=bool(rows)))
        case Rows("order", rows, _):
            return Turn(_with_order(state, rows[0]) if rows else state._replace(lines=(), customer_fields=()))
        case Rows("past", rows, _):
            return Turn(state._replace(history=tuple(_parse_history_row(row) for row in rows)))
        case Rows("outcome", rows, _) if rows:
            return Turn(state._replace(state=str(rows[0]["outcome"]), why=str(rows[0]["why"])))
    return Turn(state)


def _with_order(state: OrderState, row: OrderRow) -> OrderState:
    lines = tuple(_parse_line(line) for line in row.get("lines") or ())
    choosing = state.is_choosing_line and bool(lines)
    return state._replace(
        customer_fields=parse_customer(row),
        lines=lines,
        lines_known=bool(row.get("lines_known")),
        is_choosing_line=choosing,
    )


def _parse_line(row: OrderLineRow) -> OrderLine:
    return OrderLine(
        number=int(row["line_number"]),
        product=str(row.get("product_number") or ""),
        label=str(row.get("description") or row.get("product_number") or ""),
        ordered=to_decimal(row.get("quantity")),
        picked=to_decimal(row.get("picked_quantity")),
        moved=to_decimal(row.get("moved_quantity")),
        is_closed=bool(row.get("is_picked")),
        picked_by=str(row.get("picked_name") or row.get("picked_username") or ""),
        locations=tuple(str(place["location_code"]) for place in row.get("locations") or ()),
        put_down_at=tuple(
            (str(place["location_code"]), to_decimal(place["quantity"])) for place in row.get("put_down") or ()
        ),
        reason=str(row.get("rejection_reason_code_description") or ""),
    )


def _parse_history_row(row: OrderHistoryRow) -> HistoryRow:
    return HistoryRow(
        at=str(row["at"]),
        user=str(row["user"]),
        event=str(row["event"]),
        label=str(row["label"]),
        quantity=to_decimal(row["quantity"]),
        location=str(row.get("location") or ""),
        why=str(row["why"]),
        state=str(row["outcome"]),
    )


def _handle_input(state: OrderState, event: Event, context: Context) -> Result:
    match event:
        case Choice(choice) if state.is_choosing_line and choice <= len(state.lines):
            return _act_on_line(state, state.lines[choice - 1])
        case Choice(choice) if not state.is_choosing_line and choice <= len(state.actions):
            return _run_action(state, state.actions[choice - 1])
        case Command("l") if state.lines:
            return Turn(state._replace(is_choosing_line=True, page=0))
        case Command("u") if state.undo:
            return Turn(state._replace(undo=()), (Start("order_actions", {"undo": list(state.undo)}),))
        case Command("n" | "p" as key) | CursorKey(key):
            return Turn(state._replace(page=turn_page(state.page, key)))
        case Scan(meanings):
            return _handle_scan(state, meanings[0], context)
    return reject_input(state, event)


def _run_action(state: OrderState, action: str) -> Result:
    if action == PICK:
        return Turn(state, (Start("pick", {"order_number": state.number, "view_only": True}),))
    return Turn(state, (Start("order_actions", {"orders": [state.number], "kind": action}),))


def _act_on_line(state: OrderState, line: OrderLine) -> Result:
    """Look up the product of a complete line. Close any other line with its picked quantity, or reopen it."""
    if line.is_complete:
        return Turn(state, (Start("look_up", {"product_number": line.product, "label": line.label}),))
    kind = REOPEN_LINE if line.is_closed else CLOSE_LINE
    args = {"orders": [state.number], "kind": kind, "line": line.number, "label": line.label}
    return Turn(state, (Start("order_actions", args),))


def _handle_scan(state: OrderState, match: Match, context: Context) -> Result:
    kind, key, label = match.kind, match.key, match.label or match.key
    if kind in (ORDER, REFERENCE):
        if key != state.number:
            return _open_order(key, context)
        return Turn(state, (), Verdict(INFO, msg("order.this_one", order=key)))
    if start := open_record(kind, key, label):
        return Turn(state, (start,))
    return Turn(state, (), Verdict(WRONG, msg("orders.is_person", name=label)))
