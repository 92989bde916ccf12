"""Job that shows one order with its lines and history, and starts actions on it."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import partial
from typing import NamedTuple

from aisle.browser_addresses_and_packets import PageAddress
from aisle.jobs import claim, names_in_messages
from aisle.jobs.job import Args, Closed, Context, Effect, Event, Query, Refresh, Rows, Start, Turn, reply
from aisle.jobs.list_cursor_and_search import open_record
from aisle.jobs.names_in_messages import measured
from aisle.jobs.pages_and_page_job import Action, DetailPage, Page, PageJob, refuse
from aisle.jobs.printed_pick_list import printed_pick_list, query_pick_list
from aisle.jobs.row_types.orders import OrderHistoryRow, OrderLineRow, OrderRow
from aisle.jobs.store_time import to_local_text
from aisle.jobs.sums_of_goods_and_progress import goods_text
from aisle.jobs.supervisor.order_action_job import (
    ACTION_LETTERS,
    ACTION_NAMES,
    KIND_BY_NUMBER,
    numbered_action,
    refuse_kind,
)
from aisle.jobs.supervisor.order_action_writes import (
    ACTION_NUMBERS,
    CLAIM,
    CLOSE_LINE,
    HAND_OVER,
    PICK,
    PRIORITY,
    REJECT,
    RELEASE,
    REMOVE_PRIORITY,
    REOPEN,
    REOPEN_LINE,
    SPLIT,
)
from aisle.jobs.supervisor.order_rows import STATUS_NAMES, BoardOrder, parse_order_row
from aisle.jobs.typed_numbers_dates_and_letters import not_an_order
from aisle.jobs.view import INFO, Block, DetailView, Line, Msg, msg, raw
from aisle.scan.grammar_and_meaning_types import LOCATION, ORDER, PRODUCT, REFERENCE, Choice, Match
from aisle.stored_messages import read_message

MAX_HISTORY = 60
"""Most events on the page."""


class OrderState(NamedTuple):
    """State of the page: the order as far as this host knows it."""

    number: str = ""
    order: BoardOrder | None = None
    details: OrderRow | None = None
    """The order with its lines."""
    history: tuple[OrderHistoryRow, ...] = ()
    state: str = "confirmed"
    """State of the last operation on the order."""
    why: str = ""
    is_choosing_line: bool = False
    """True if numbers choose a line."""
    short_line: int = 0
    """Number of the short line whose page is open."""
    page: int = 0
    is_desk: bool = False
    """True if the screen is that of a desk."""
    undo: tuple[Args, ...] = ()
    """Actions that undo the last action of this page."""
    claims_for_others: tuple[claim.ClaimForOther, ...] = ()
    """Assignments to others made from this page."""
    opened_at: str = ""
    """Time at which the page was opened and the order requested from the service."""
    is_absent: bool = False
    """True if the service has answered since then that it has no such order."""

    @property
    def lines(self) -> list[OrderLineRow]:
        """Lines of the order, as far as they are known."""
        return self.details["lines"] if self.details else []

    @property
    def has_open_lines(self) -> bool:
        """True if lines can be acted on."""
        return bool(self.lines and self.order and self.order.status not in ("rejected", "finished"))


Result = Turn[OrderState]
Cells = tuple[Msg, ...]

# Lines and blocks

_GOODS_EVENT_NAMES = {
    "pick": "log.kind_pick",
    "unpick": "log.kind_unpick",
    "movement": "log.kind_movement",
    "count": "log.kind_count",
    "receipt": "log.kind_receipt",
    "finish": "log.kind_finish",
}
"""Names of events that concern goods."""

_EVENT_TEXTS = {
    "short": "order.event_short",
    "opened": "pick.reopened",
    "claimed": "order.event_claimed",
    "released": "order.event_released",
    "rejected": "orders.status_rejected",
    "taken_back": "order.event_rejection_undone",
    "finished": "orders.status_finished",
    "reopened": "order.event_rejection_undone",
    "assigned": "order.event_assigned",
    "quantity": "order.event_quantity",
    "due": "order.event_due",
}

_STATE_TEXTS = {
    "queued": "operation_state.queued",
    "sending": "operation_state.sending",
    "refused": "operation_state.refused",
    "in_doubt": "operation_state.in_doubt",
}
"""Notes for states of an operation that is not confirmed."""

_LAST_STATE_TEXTS = {
    "queued": "unconfirmed.note_queued",
    "sending": "unconfirmed.note_sending",
    "refused": "store_product.refused",
    "in_doubt": "order.last_in_doubt",
}


_CUSTOMER_FIELDS = (
    ("customer_name", msg("head.customer")),
    ("reference", msg("orders.head_reference")),
    ("description", msg("order.description")),
    ("comment", msg("label.comment")),
    ("order_type_description", msg("head.type")),
    ("sales_order_id", msg("order.sales_order")),
    ("stores_allowed", msg("product.stores_allowed")),
)
"""Fields of an order that are shown unchanged. Interface: Customer order (list item)."""

_EXTRA_FIELDS = (
    ("customer_phone", msg("order.phone")),
    ("customer_email", msg("order.email")),
    ("customer_number", msg("order.customer_number")),
    ("file_name", msg("order.file")),
)
"""Fields that the interface accepts but never shows. Aisle's own service returns them under `aisle`."""


def customer_rows(order: OrderRow) -> tuple[Cells, ...]:
    """Return the customer data with their labels."""
    told = order.get("aisle")
    extra: Mapping[str, object] = told if isinstance(told, Mapping) else {}
    addresses = (
        (msg("order.address"), _address(extra, "customer")),
        (msg("order.delivery_address"), _address(extra, "delivery")),
    )
    texts = (*_texts(order, _CUSTOMER_FIELDS), *addresses, *_texts(extra, _EXTRA_FIELDS))
    return tuple((label, raw(text)) for label, text in texts if text)


def _texts(row: Mapping[str, object], fields: tuple[tuple[str, Msg], ...]) -> tuple[tuple[Msg, str], ...]:
    return tuple((label, _strip_text(row.get(name))) for name, label in fields)


def _address(extra: Mapping[str, object], prefix: str) -> str:
    """Return the address on one line, with postal code and town together."""
    parts = ("street", "zipcode", "city", "country")
    street, zipcode, city, country = (_strip_text(extra.get(f"{prefix}_{part}")) for part in parts)
    return ", ".join(part for part in (street, f"{zipcode} {city}".strip(), country) if part)


def _strip_text(value: object) -> str:
    return "" if value is None else str(value).strip()


def _lines(state: OrderState) -> tuple[Line, ...]:
    order = state.order
    if order is None:
        missing = msg("order.absent", order=state.number) if state.is_absent else msg("order.unknown")
        return (Line("product", msg("order.title", order=state.number)), Line("note", missing))
    head = (
        msg("pick.join", more=order.number, what=order.customer)
        if order.customer
        else msg("order.title", order=order.number)
    )
    far = msg(
        "order.progress",
        state=msg(STATUS_NAMES[order.status]),
        done=goods_text(order.goods.picked),
        total=goods_text(order.goods.ordered),
        due=order.due,
    )
    notes = [claim_message(order), _batch_message(order), _priority_message(order)]
    if order.status == "rejected" and order.rejection_reason:
        notes.append(msg("order.rejected_why", why=order.rejection_reason))
    if places := dict.fromkeys(each["location_code"] for line in state.lines for each in line["put_down"]):
        notes.append(msg("order.waits_at_location", place=names_in_messages.list_locations(places)))
    if state.state in _LAST_STATE_TEXTS:
        notes.append(msg(_LAST_STATE_TEXTS[state.state], why=read_message(state.why)))
    return (Line("product", head), Line("quantity", far), *(Line("note", note) for note in notes if note))


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
    if state.order is None:
        return ()
    known_s, about = state.order.known_s, customer_rows(state.details) if state.details else ()
    if known_s >= 0:
        about = (*about, (msg("orders.head_known_since"), msg("orders.idle", seconds=str(known_s))))
    past = tuple(_history_cells(row) for row in state.history)
    return (
        _line_block(state),
        Block(msg("deliveries.about"), about),
        Block(msg("order.history"), past or ((msg("list.empty"),),)),
    )


def _line_block(state: OrderState) -> Block:
    are_known = not state.details or state.details["lines_known"]
    missing = msg("list.empty" if are_known else "stores.loading")
    is_rejected = state.order is not None and state.order.status == "rejected"
    rows = tuple(_line_cells(line, is_rejected=is_rejected) for line in state.lines)
    return Block(msg("batch.lines", count=len(rows)), rows or ((missing,),), is_wide=True)


def line_label(line: OrderLineRow) -> str:
    """Return the name of a line's product, or its number."""
    return line["description"] or line["product_number"]


def _line_cells(line: OrderLineRow, *, is_rejected: bool = False) -> Cells:
    total = measured(line["quantity"], line["unit"] if line["allow_decimal"] else "")
    far = msg("progress.of", done=line["picked_quantity"], total=total)
    put_down, stocked = ([each["location_code"] for each in rows] for rows in (line["put_down"], line["locations"]))
    location = msg("order.put_down_at", place=", ".join(put_down)) if put_down else raw(", ".join(stocked[:2]))
    picker = line.get("picked_name") or line.get("picked_username") or ""
    return (raw(line_label(line)), far, _line_state(line, is_rejected=is_rejected), location, raw(picker))


def _is_complete(line: OrderLineRow) -> bool:
    may_lack = line.get("may_lack", Decimal(0)) if line["is_picked"] else Decimal(0)
    return line["picked_quantity"] >= line["quantity"] - may_lack


def _line_state(line: OrderLineRow, *, is_rejected: bool) -> Msg:
    if is_rejected:
        return msg("order.line_rejected")
    if _is_complete(line):
        return msg("order.line_full")
    if line["is_picked"]:
        reason = line.get("rejection_reason_code_description")
        return msg("order.line_short_why", why=reason) if reason else msg("order.line_short")
    return msg("orders.status_open")


def _history_cells(row: OrderHistoryRow) -> Cells:
    event = _EVENT_TEXTS.get(row["event"], "order.event_other")
    what = msg(event, what=row["event"], quantity=row["quantity"], label=row["label"])
    if name := _GOODS_EVENT_NAMES.get(row["event"]):
        goods = msg("goods.one", quantity=row["quantity"], label=row["label"])
        what = msg("order.event_other", what=msg(name), label=goods)
    if row["location"]:
        what = msg("orders.join", one=what, other=row["location"])
    if row["event"] == "due":
        what = msg(event, due=msg("moment", at=to_local_text(row["why"])))
    elif row["why"]:
        what = msg("order.event_reason", what=what, why=read_message(row["why"]))
    state_text = msg(_STATE_TEXTS[row["outcome"]]) if row["outcome"] in _STATE_TEXTS else raw("")
    if row["event"] == "claimed" and row["user"]:  # the order names who has it, and not who gave it
        return (msg("order.event_claimed_by", who=row["user"]), raw(""), msg("moment", at=row["at"]), state_text)
    return (what, raw(row["user"]), msg("moment", at=row["at"]), state_text)


def order_pane(state: OrderState) -> DetailView:
    """Return the order for the pane beside a list."""
    blocks = _blocks(state) if state.details else ()
    return DetailView("order.pane", msg("order.title", order=state.number), raw(""), _lines(state), blocks)


# Pages


def possible_actions(order: BoardOrder | None) -> tuple[str, ...]:
    """Return the possible actions on the order."""
    if order is None or order.status == "finished":
        return ()
    if order.status == "rejected":
        return (REOPEN,)
    is_open = order.status in ("open", "partial")
    split = (SPLIT,) if order.picker or order.assigned_to else ()
    walk = (REMOVE_PRIORITY if order.is_priority else PRIORITY, *split) if is_open else ()
    release = (RELEASE,) if order.is_claimed else ()
    finish = (HAND_OVER,) if not order.goods.picked.is_nothing or order.status == "picked" else ()
    return (CLAIM, REJECT, *walk, *finish, *release)


class OrderPage(DetailPage[OrderState]):
    """Page of the order. Numbers act on it."""

    name = "order"

    def title(self, state: OrderState) -> Msg:
        return msg("order.title", order=state.number)

    def prompt(self, state: OrderState) -> Msg:
        return msg("unconfirmed.choose" if possible_actions(state.order) else "order.prompt_read")

    def lines(self, state: OrderState) -> tuple[Line, ...]:
        return _lines(state)

    def blocks(self, state: OrderState) -> tuple[Block, ...]:
        return _blocks(state)

    def at_desk(self, state: OrderState, is_desk: bool) -> OrderState:
        return state if state.is_desk == is_desk else state._replace(is_desk=is_desk)

    def actions(self, state: OrderState) -> tuple[Action[OrderState], ...]:
        is_open = state.order is not None and state.order.status in ("open", "partial")
        return (
            *((numbered_action(PICK, _start_pick),) if is_open else ()),
            *(numbered_action(kind, partial(_start_action, kind)) for kind in self._kinds(state)),
            *((Action(msg("order.choose_line"), _choose_line, "e"),) if state.has_open_lines else ()),
            *((Action(msg("hint.undo"), _undo, "u"),) if state.undo else ()),
            *((Action(msg("orders.print"), _print, "P"),) if is_open and state.is_desk else ()),
            *(_letter_actions(state) if state.is_desk else ()),
        )

    def handle_other_input(self, state: OrderState, event: Event, context: Context) -> Result:
        if isinstance(event, Choice) and event.number in KIND_BY_NUMBER:
            return refuse_kind(state, event.number)
        return super().handle_other_input(state, event, context)

    @staticmethod
    def _kinds(state: OrderState) -> list[str]:
        return sorted(possible_actions(state.order), key=ACTION_NUMBERS.__getitem__)


def _print(state: OrderState, context: Context) -> Result:
    return Turn(state, (query_pick_list((state.number,)),))


def _start_pick(state: OrderState, context: Context) -> Result:
    return Turn(state, (Start("pick", {"order_number": state.number, "view_only": True}),))


def _letter_actions(state: OrderState) -> tuple[Action[OrderState], ...]:
    """Return the actions by their letters on the order board."""
    kinds = possible_actions(state.order)
    return tuple(
        Action(msg(ACTION_NAMES[kind]), partial(_start_action, kind, is_one_key=True), letter)
        for letter, kind in ACTION_LETTERS.items()
        if kind in kinds
    )


def _start_action(kind: str, state: OrderState, context: Context, *, is_one_key: bool = False) -> Result:
    if kind == HAND_OVER:
        return Turn(state, (Start("hand_over", {"order_number": state.number}),))
    args = {"orders": [state.number], "kind": kind, **({"is_one_key": True} if is_one_key else {})}
    return Turn(state, (Start("order_actions", args),))


def _choose_line(state: OrderState, context: Context) -> Result:
    return Turn(state._replace(is_choosing_line=True, page=0))


def _undo(state: OrderState, context: Context) -> Result:
    return Turn(state._replace(undo=()), (Start("order_actions", {"undo": list(state.undo)}),))


class LinesPage(OrderPage):
    """Lines of the order. Numbers act on them."""

    name = "order.lines"

    def prompt(self, state: OrderState) -> Msg:
        return msg("order.prompt_lines")

    def blocks(self, state: OrderState) -> tuple[Block, ...]:
        return (_line_block(state)._replace(numbered_rows=self.numbered_rows(state)),)

    def actions(self, state: OrderState) -> tuple[Action[OrderState], ...]:
        return ()

    def numbered_rows(self, state: OrderState) -> int:
        return len(state.lines)

    def handle_other_input(self, state: OrderState, event: Event, context: Context) -> Result:
        match event:
            case Choice(number) if number <= len(state.lines):
                return _act_on_line(state, state.lines[number - 1])
        return super().handle_other_input(state, event, context)

    def go_back(self, state: OrderState, context: Context) -> Result:
        return Turn(state._replace(is_choosing_line=False, page=0))


def _act_on_line(state: OrderState, line: OrderLineRow) -> Result:
    """Look up the product of a complete line. Ask what to do with a short one. Close any other line as short."""
    if _is_complete(line):
        return _look_up(state, line)
    if line["is_picked"]:
        return Turn(state._replace(short_line=line["line_number"]))
    return _start_line_action(CLOSE_LINE, state, line)


def _look_up(state: OrderState, line: OrderLineRow) -> Result:
    args = {"product_number": line["product_number"], "label": line_label(line)}
    return Turn(state, (Start("look_up", args),))


def _start_line_action(kind: str, state: OrderState, line: OrderLineRow) -> Result:
    args = {"orders": [state.number], "kind": kind, "line": line["line_number"], "label": line_label(line)}
    return Turn(state, (Start("order_actions", args),))


class ShortLinePage(OrderPage):
    """Page of a short line. Its shortage is undone, or its product looked up; Back leaves it short."""

    name = "order.short_line"

    def prompt(self, state: OrderState) -> Msg:
        return msg("unconfirmed.choose")

    def lines(self, state: OrderState) -> tuple[Line, ...]:
        line = _short_line(state)
        if line is None:
            return super().lines(state)
        product, progress, why, *_ = _line_cells(line)
        return (Line("product", product), Line("quantity", progress), *(Line("note", each) for each in (why, _STAYS)))

    def blocks(self, state: OrderState) -> tuple[Block, ...]:
        return ()

    def actions(self, state: OrderState) -> tuple[Action[OrderState], ...]:
        line = _short_line(state)
        if line is None:
            return ()
        return (
            Action(msg("order_actions.reopen_line"), lambda state, _: _start_line_action(REOPEN_LINE, state, line)),
            Action(msg("look_up.title"), lambda state, _: _look_up(state, line)),
        )

    def go_back(self, state: OrderState, context: Context) -> Result:
        return Turn(state._replace(short_line=0, page=0))


_STAYS = msg("order.short_line_stays")


def _short_line(state: OrderState) -> OrderLineRow | None:
    """Return the line whose page is open, None once it is no longer short."""
    found = (line for line in state.lines if line["line_number"] == state.short_line)
    return next((line for line in found if line["is_picked"] and not _is_complete(line)), None)


PAGE, LINES, SHORT_LINE = OrderPage(), LinesPage(), ShortLinePage()


class OrderJob(PageJob[OrderState]):
    """Job that shows all data of an order and starts actions on it."""

    name = "order"
    lists = ("headers", "lines")
    state_type = OrderState
    steps: tuple[str, ...] = ("order", "order.lines", "order.short_line")
    journalled = False
    preferred_kinds = (ORDER, REFERENCE, PRODUCT, LOCATION)

    def page(self, state: OrderState) -> Page[OrderState]:
        if _short_line(state):
            return SHORT_LINE
        return LINES if state.is_choosing_line else PAGE

    def address(self, state: OrderState) -> PageAddress:
        return PageAddress("orders", state.number)

    def handle_opened(self, state: OrderState, args: Args, context: Context) -> Result:
        return self._open_order(str(args["order_number"]), context)

    def _open_order(self, number: str, context: Context) -> Result:
        state = OrderState(number, opened_at=context.now)
        return Turn(
            state, (*self.queries(state, context), Refresh("order", number), Refresh("audit", number), Refresh("logs"))
        )

    def queries(self, state: OrderState, context: Context) -> tuple[Effect, ...]:
        order, args = state.number, {"order_number": state.number}
        return (
            Query("state", "orders_by_number", {"orders": [order]}, is_live=True),
            Query("order", "order", args, is_live=True),
            Query("order_history", "order_history", {**args, "size": MAX_HISTORY}, is_live=True),
            Query("outcome", "order_outcomes", {"orders": [order]}, is_live=True),
            Query("absent_order", "absent_order", {**args, "since": state.opened_at}, is_live=True),
        )

    def query_again(self, state: OrderState, context: Context) -> Result:
        claims = claim.query_claims(state.claims_for_others)
        return Turn(state, (*self.queries(state, context), *claims))

    def handle_closed(self, state: OrderState, event: Closed, context: Context) -> Result:
        if event.job == "order_actions":
            undo = tuple((event.answer or {}).get("undo") or ()) or state.undo
            given = claim.with_new_claims(state.claims_for_others, event.answer)
            state = state._replace(undo=undo, claims_for_others=given)
            state = state._replace(is_choosing_line=False, short_line=0, page=0) if event.answer else state
        return Turn(state, self.queries(state, context))

    def handle_rows(self, state: OrderState, answer: Rows, context: Context) -> Result:
        match answer:
            case Rows("assigned_orders"):
                kept, verdict = claim.report_lost_claims(state.claims_for_others, answer)
                return Turn(state._replace(claims_for_others=kept), (), verdict)
            case Rows("state", rows):
                return Turn(state._replace(order=parse_order_row(rows[0], context) if rows else None))
            case Rows("absent_order", rows):
                return Turn(state._replace(is_absent=bool(rows)))
            case Rows("order", rows):
                state = state._replace(details=rows[0] if rows else None)
                return Turn(state._replace(is_choosing_line=state.is_choosing_line and bool(state.lines)))
            case Rows("pick_list", rows):
                return Turn(state, (printed_pick_list(rows),))
            case Rows("order_history", rows):
                return Turn(state._replace(history=rows))
            case Rows("outcome", (row, *_)):
                return Turn(state._replace(state=row["outcome"], why=row["why"]))
        return Turn(state)

    def handle_scan(self, state: OrderState, matches: tuple[Match, ...], context: Context) -> Result:
        """Open another scanned order, or the look-up of a product or location."""
        kind, key, label = matches[0].kind, matches[0].key, matches[0].label or matches[0].key
        if kind in (ORDER, REFERENCE) and key != state.number:
            return self._open_order(key, context)
        if kind in (ORDER, REFERENCE):
            return reply(state, INFO, "order.this_one", order=key)
        if start := open_record(kind, key, label):
            return Turn(state, (start,))
        return refuse(state, not_an_order(matches[0]))
