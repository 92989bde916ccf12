"""Job that lists unconfirmed operations and lets a person resolve those that are refused or in doubt."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import partial
from operator import itemgetter
from typing import NamedTuple

from aisle.jobs.job import (
    ARRIVED,
    CLOSED_BY_HAND,
    DIFFERENCE,
    OVERAGE,
    RESEND,
    Args,
    Context,
    Effect,
    Event,
    Query,
    Refresh,
    Resolve,
    Rows,
    Start,
    Turn,
    reply,
)
from aisle.jobs.list_cursor_and_search import PAGE_LETTERS, ListOptions, reject_input
from aisle.jobs.list_page_base_class import Column, ListFilter, ListPage
from aisle.jobs.pages_and_page_job import Action, DetailPage, FormPage, Page, PageJob
from aisle.jobs.row_types.operations_and_session_answers import ComparedFigureRow, OperationItemRow, UnconfirmedRow
from aisle.jobs.supervisor.service_fields_and_values import YES_NO, field_label, format_value
from aisle.jobs.view import ASK, BACK, GOOD, INFO, NEXT_PAGE, STATE_WORDS, Block, KeyHint, Line, Msg, msg, raw
from aisle.scan.grammar_and_meaning_types import LOCATION, ORDER, PRODUCT, Accepts, Match, Text
from aisle.stored_messages import is_stored_message, read_message

COUNT, OPEN_ORDER = "count", "open_order"
"""Choices that open another job: count the location, open the order."""

OPEN_STORE_PRODUCT = "setting"
"""Choice that opens the product whose settings the operation changes."""

OPEN_BLOCKING = "open_blocking"
"""Choice that opens the operation that must be resolved before this one can be sent."""

PUT_BACK, OTHER_ORDER = "put_back", "other_order"
"""Choices for goods that an order did not get: put back, or given to another order. Both close the operation by
hand."""


class UnconfirmedState(NamedTuple):
    """State of the list, and of one entry if `entry` is set."""

    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    options: ListOptions = ListOptions()
    rows: tuple[UnconfirmedRow, ...] = ()
    total: int = 0
    entry: UnconfirmedRow | None = None
    page: int = 0
    outcome: str = ""
    """State of the operations that the list shows; empty for all."""
    question: str = ""
    """`resend` while the person is asked whether to send it again, `close_by_hand` while asked how it was resolved."""


Result = Turn[UnconfirmedState]


def operation_choices(operation: UnconfirmedRow) -> tuple[str, ...]:
    """Return all choices for the operation, in the order of their numbers."""
    first = (OPEN_BLOCKING,) if operation["waits_for"] else ()
    is_stuck = first or operation["outcome"] in ("refused", "in_doubt")
    counted = (COUNT,) if operation["location"] and is_stuck else ()
    page = (OPEN_STORE_PRODUCT,) if operation["kind"] == "setting" and operation["product"] else ()
    return (*first, *operation["ways"], *counted, *page, *((OPEN_ORDER,) if operation["order"] else ()))


# List

_OPERATION_TEXTS = {
    "move": "unconfirmed.describe_move",
    "count": "unconfirmed.describe_count",
    "change": "unconfirmed.describe_change",
}


def describe_operation(operation: UnconfirmedRow) -> Msg:
    """Return the operation in one line."""
    items, order = operation["items"], operation["order"]
    if operation["kind"] == "setting" and items:
        return msg("unconfirmed.describe_store_product", label=items[0]["label"] or items[0]["product_number"])
    if operation["kind"] not in _OPERATION_TEXTS or not items:
        return msg("order.title", order=order) if order else raw(operation["operation"])
    text = _describe_item(operation, items[0])
    return msg("unconfirmed.describe_more", what=text, count=len(items) - 1) if len(items) > 1 else text


def _describe_item(operation: UnconfirmedRow, item: OperationItemRow) -> Msg:
    return msg(
        _OPERATION_TEXTS[operation["kind"]],
        quantity="?" if item["quantity"] is None else item["quantity"],
        label=item["label"] or item["product_number"],
        source=item["from"] or msg("move.no_location_short"),
        target=item["to"] or msg("move.no_location_short"),
    )


def _state_name(operation: UnconfirmedRow) -> Msg:
    return msg(STATE_WORDS[operation["outcome"]])


def _user_text(operation: UnconfirmedRow) -> Msg:
    name = operation["pin"]
    return msg("unconfirmed.user_waits_for_pin", name=name) if name else raw(operation["user"])


CHIP_TEXTS: Mapping[str, Msg] = {
    "": msg("log.all"),
    **{outcome: msg(STATE_WORDS[outcome]) for outcome in ("refused", "in_doubt", "queued", "sending")},
}
"""Text of each chip by the state that it filters by; those that may need a person first."""


class UnconfirmedList(ListPage[UnconfirmedState, UnconfirmedRow]):
    """List of unconfirmed operations."""

    name = "unconfirmed"
    no_rows_text = msg("unconfirmed.empty")
    title_text = msg("home.unconfirmed")
    query_name = "unconfirmed"
    columns = (
        Column(msg("head.state"), _state_name, sort="outcome"),
        Column(msg("unconfirmed.head_what"), describe_operation, sort="operation"),
        Column(msg("unconfirmed.head_user"), _user_text, sort="user"),
        Column(msg("head.time"), lambda row: msg("moment", at=row["at"]), sort="at"),
    )
    key = itemgetter("op_id")

    def prompt(self, state: UnconfirmedState) -> Msg:
        return msg("unconfirmed.prompt" if state.total else "unconfirmed.prompt_none")

    def arguments(self, state: UnconfirmedState, context: Context) -> Args:
        return {"outcome": state.outcome}

    def filters(self, state: UnconfirmedState) -> tuple[ListFilter, ...]:
        return tuple(ListFilter(text, {"outcome": outcome}) for outcome, text in CHIP_TEXTS.items())

    def actions(self, state: UnconfirmedState) -> tuple[Action[UnconfirmedState], ...]:
        return (Action(msg("deliveries.next_subset"), self.choose_next_filter, "v"),) if state.options.is_desk else ()

    def open_row(self, state: UnconfirmedState, row: UnconfirmedRow, context: Context) -> Result:
        return Turn(state, (_query_chosen(row["op_id"]),))

    def open_scanned(self, state: UnconfirmedState, match: Match, context: Context) -> Result:
        """Open the first entry in the window that contains the scanned record."""
        for row in state.rows:
            places = {place for item in row["items"] for place in (item["from"], item["to"])}
            products = {item["product_number"] for item in row["items"]}
            named = {ORDER: {row["order"]}, PRODUCT: products, LOCATION: places}
            if match.key in named.get(match.kind, set()):
                return self.open_row(state, row, context)
        return reply(state, INFO, "unconfirmed.none_for", label=match.label or match.key)


def _query_chosen(op_id: str) -> Query:
    """Return the query for a chosen entry. A window is not journalled; this answer is, so replay knows the entry."""
    return Query("chosen", "unconfirmed", {"op_id": op_id})


# Entry

_CHOICE_TEXTS = {
    ARRIVED: "unconfirmed.choice_arrived",
    RESEND: "unconfirmed.choice_resend",
    CLOSED_BY_HAND: "unconfirmed.choice_close_by_hand",
    OVERAGE: "unconfirmed.choice_overage",
    DIFFERENCE: "unconfirmed.choice_difference",
    PUT_BACK: "pick.choice_put_back",
    OTHER_ORDER: "unconfirmed.choice_other_order",
    OPEN_BLOCKING: "unconfirmed.choice_open_blocking",
    COUNT: "move.choice_count",
    OPEN_ORDER: "look_up.choice_order",
    OPEN_STORE_PRODUCT: "unconfirmed.choice_open_store_product",
}
_STATE_NOTES = {
    "queued": "unconfirmed.note_queued",
    "sending": "unconfirmed.note_sending",
    "confirmed": "unconfirmed.note_confirmed",
}
_EVIDENCE_TEXTS = {
    "there": "unconfirmed.evidence_present",
    "not_there": "unconfirmed.evidence_absent",
    "mixed": "unconfirmed.evidence_mixed",
}
_ORDER_FIELD_TEXTS = {
    "is_active": "unconfirmed.field_active",
    "is_claimed": "unconfirmed.field_claimed",
    "is_picked": "unconfirmed.field_picked",
    "is_rejected": "unconfirmed.field_rejected",
}


def _entry_of(state: UnconfirmedState) -> UnconfirmedRow:
    assert state.entry is not None, "the pages of an entry open with it"
    return state.entry


class EntryPage(DetailPage[UnconfirmedState]):
    """Page of one operation, with the choices that resolve it."""

    name = "unconfirmed.entry"

    def title(self, state: UnconfirmedState) -> Msg:
        return _state_name(_entry_of(state))

    def prompt(self, state: UnconfirmedState) -> Msg:
        return msg("unconfirmed.choose" if operation_choices(_entry_of(state)) else "unconfirmed.prompt_none")

    def lines(self, state: UnconfirmedState) -> tuple[Line, ...]:
        entry = _entry_of(state)
        return (Line("product", describe_operation(entry)), *(Line("note", note) for note in _notes(entry)))

    def blocks(self, state: UnconfirmedState) -> tuple[Block, ...]:
        entry = _entry_of(state)
        items, owner = entry["items"], entry["principal"]
        is_listed = len(items) > 1 or entry["kind"] == "pick"
        about = (
            (msg("unconfirmed.head_user"), raw(entry["user"])),
            *(((msg("unconfirmed.head_token_owner"), raw(owner)),) if owner else ()),
            (msg("head.time"), msg("moment", at=entry["at"])),
            (msg("store.id"), raw(entry["op_id"])),
        )
        return (
            Block(msg("unconfirmed.comparisons"), tuple(_comparison_cells(entry, side) for side in entry["sides"])),
            Block(msg("hint.lines"), tuple(_item_cells(item) for item in items) if is_listed else ()),
            Block(msg("deliveries.about"), about),
        )

    def actions(self, state: UnconfirmedState) -> tuple[Action[UnconfirmedState], ...]:
        entry = _entry_of(state)
        args = {"place": entry["location"], "key": entry["order"]}
        return tuple(
            Action(msg(_CHOICE_TEXTS[choice], **args), partial(_follow_choice, choice))
            for choice in operation_choices(entry)
        )

    def key_hints(self, state: UnconfirmedState) -> tuple[KeyHint, ...]:
        return (NEXT_PAGE, BACK)

    def accepts(self, state: UnconfirmedState) -> Accepts:
        return super().accepts(state)._replace(typed_only=True)

    def go_back(self, state: UnconfirmedState, context: Context) -> Result:
        state = state._replace(entry=None, page=0)
        return Turn(state, (LIST.query(state, context),))


def _notes(operation: UnconfirmedRow) -> tuple[Msg, ...]:
    why = operation["why"]
    if operation["outcome"] == "refused":
        text = read_message(why)
        return (text if is_stored_message(why) else msg("store_product.refused", why=text),)
    if operation["waits_for"]:
        return (msg("unconfirmed.note_blocked"),)
    if operation["pin"]:
        return (msg("unconfirmed.note_pin", name=operation["pin"]),)
    if operation["outcome"] != "in_doubt":
        return (msg(_STATE_NOTES[operation["outcome"]]),)
    if not operation["asked"]:
        first = msg("unconfirmed.note_reconciling")
    elif operation["verdict"] == "changed":
        first = msg("stored_reason.order_changed")
    elif operation["verdict"]:
        first = msg("unconfirmed.note_unknown")
    else:
        first = msg("raw.cut", text=read_message(why))
    return (first, msg(_EVIDENCE_TEXTS[operation["evidence"]])) if operation["evidence"] else (first,)


def _comparison_cells(operation: UnconfirmedRow, side: ComparedFigureRow) -> tuple[Msg, ...]:
    subject, before, ours, after = side["subject"], side["before"], side["ours"], side["after"]
    if subject in _ORDER_FIELD_TEXTS:
        was, sent, now = (YES_NO.get(each or "", msg("verdict.ask")) for each in (before, ours, after))
        return _cells_of(msg(_ORDER_FIELD_TEXTS[subject]), was, sent, now)
    if operation["kind"] == "setting":
        was, sent, now = (
            msg("verdict.ask") if each is None else format_value(subject, each) for each in (before, ours, after)
        )
        return _cells_of(field_label(subject), was, sent, now)
    label = next((item["label"] for item in operation["items"] if item["product_number"] == subject), subject)
    is_only = len({each["subject"] for each in operation["sides"]}) == 1
    where = side["location"] if side["location"] and is_only else f"{label} {side['location']}".strip()
    sent_quantity = _format_quantity(ours) if ours else None
    return _cells_of(raw(where), _format_quantity(before or "?"), sent_quantity, _format_quantity(after or "?"))


def _cells_of(
    label: Msg, before: str | Decimal | Msg, ours: str | Decimal | Msg | None, after: str | Decimal | Msg
) -> tuple[Msg, ...]:
    sent = () if ours is None else (msg("unconfirmed.our_value", ours=ours),)
    return (label, msg("unconfirmed.comparison", before=before, after=after), *sent)


def _format_quantity(text: str) -> str | Decimal | Msg:
    """Format a quantity that has decimals, with its sign or `=`; other text is unchanged."""
    sign = text[0] if text[0] in "+=" else ""
    try:
        value = Decimal(text.removeprefix(sign))
    except ArithmeticError:
        return text
    if value == value.to_integral_value():
        return text
    return msg("count.signed", sign=sign, value=value) if sign else value


def _item_cells(item: OperationItemRow) -> tuple[Msg, ...]:
    quantity = raw("?") if item["quantity"] is None else msg("number", value=item["quantity"])
    ends = [raw(place) for place in (item["from"], item["to"]) if place]
    return (raw(item["label"] or item["product_number"]), quantity, *ends)


# Resolution

RESOLUTIONS = {
    "counted": msg("unconfirmed.resolution_counted"),
    "corrected": msg("unconfirmed.resolution_corrected"),
    "nothing": msg("unconfirmed.resolution_nothing"),
}
"""Notes stored with an operation resolved by hand. Any other note is typed."""

_QUESTIONS = {RESEND: "unconfirmed.ask_resend", CLOSED_BY_HAND: "unconfirmed.ask_close_by_hand"}
_RESOLVED_TEXTS = {
    ARRIVED: "unconfirmed.resolved_arrived",
    RESEND: "unconfirmed.resolved_resend",
    OVERAGE: "unconfirmed.resolved_overage",
    DIFFERENCE: "unconfirmed.resolved_difference",
    CLOSED_BY_HAND: "unconfirmed.resolved_by_hand",
}


class Question(FormPage[UnconfirmedState]):
    """Question before the operation is resolved."""

    typed_only = True
    note: Msg

    def title(self, state: UnconfirmedState) -> Msg:
        return _state_name(_entry_of(state))

    def lines(self, state: UnconfirmedState) -> tuple[Line, ...]:
        return (Line("product", describe_operation(_entry_of(state))), Line("note", self.note))

    def letters(self, state: UnconfirmedState) -> str:
        return PAGE_LETTERS  # they turn pages below, so they are no answer here

    def go_back(self, state: UnconfirmedState, context: Context) -> Result:
        return Turn(state._replace(question=""))


class ResendQuestion(Question):
    """Question whether to send the operation again."""

    name = "unconfirmed.resend"
    prompt_text = msg("unconfirmed.choose")
    note = msg("unconfirmed.note_resend")

    def actions(self, state: UnconfirmedState) -> tuple[Action[UnconfirmedState], ...]:
        return (
            Action(msg("order_actions.yes"), lambda state, _: _resolve(state, RESEND)),
            Action(msg("order_actions.no"), self.go_back),
        )


class CloseQuestion(Question):
    """Question how the operation was resolved by hand. Another answer may be typed."""

    name = "unconfirmed.close_by_hand"
    prompt_text = msg("unconfirmed.choose_resolution")
    note = msg("unconfirmed.note_close_by_hand")

    def actions(self, state: UnconfirmedState) -> tuple[Action[UnconfirmedState], ...]:
        return tuple(Action(text, partial(_close_by_hand, note)) for note, text in RESOLUTIONS.items())

    def accepts(self, state: UnconfirmedState) -> Accepts:
        return super().accepts(state)._replace(search=True, typed_only=True)

    def handle_other_input(self, state: UnconfirmedState, event: Event, context: Context) -> Result:
        return _close_by_hand(event.text, state, context) if isinstance(event, Text) else reject_input(state, event)


def _follow_choice(choice: str, state: UnconfirmedState, context: Context) -> Result:
    operation = _entry_of(state)
    if choice == COUNT:
        return Turn(state, (Start("count", {"location_code": operation["location"]}),))
    if choice == OPEN_ORDER:
        return Turn(state, (Start("pick", {"order_number": operation["order"], "view_only": True}),))
    if choice == OPEN_STORE_PRODUCT:
        return Turn(state, (Start("store_product", {"product_number": operation["product"]}),))
    if choice == OPEN_BLOCKING:
        return Turn(state, (_query_chosen(operation["waits_for"]),))
    if choice in (PUT_BACK, OTHER_ORDER):
        return _close_by_hand(choice, state, context)
    if choice in (ARRIVED, OVERAGE, DIFFERENCE):
        return _resolve(state, choice)
    return reply(state._replace(question=choice), ASK, _QUESTIONS[choice])


def _close_by_hand(note: str, state: UnconfirmedState, context: Context) -> Result:
    return _resolve(state, CLOSED_BY_HAND, note)


def _resolve(state: UnconfirmedState, decision: str, note: str = "") -> Result:
    """Resolve the operation. It leaves the list at once; refresh both sides, so that the screens show them."""
    operation = _entry_of(state)
    rows = tuple(row for row in state.rows if row["op_id"] != operation["op_id"])
    state = state._replace(rows=rows, total=max(len(rows), state.total - 1), entry=None, question="", page=0, cursor=-1)
    refreshes = [Refresh("order", operation["order"])] if operation["order"] else []
    products = [item["product_number"] for item in operation["items"][:4]]
    refreshes += [Refresh("product", product) for product in products if product]
    return reply(state, GOOD, _RESOLVED_TEXTS[decision], Resolve(operation["op_id"], decision, note), *refreshes)


LIST, ENTRY = UnconfirmedList(), EntryPage()
QUESTIONS = {RESEND: ResendQuestion(), CLOSED_BY_HAND: CloseQuestion()}


class UnconfirmedJob(PageJob[UnconfirmedState]):
    """Job that shows unconfirmed operations, one entry, and the question before it is resolved."""

    name = "unconfirmed"
    lists = ()
    state_type = UnconfirmedState
    steps: tuple[str, ...] = ("unconfirmed", "unconfirmed.entry", "unconfirmed.resend", "unconfirmed.close_by_hand")
    preferred_kinds = (ORDER, PRODUCT, LOCATION)

    def page(self, state: UnconfirmedState) -> Page[UnconfirmedState]:
        if state.entry is None:
            return LIST
        return QUESTIONS[state.question] if state.question else ENTRY

    def queries(self, state: UnconfirmedState, context: Context) -> tuple[Effect, ...]:
        entry = state.entry
        one = (Query("open_entry", "unconfirmed", {"op_id": entry["op_id"]}, is_live=True),) if entry else ()
        return (LIST.query(state, context), *one)

    def handle_rows(self, state: UnconfirmedState, answer: Rows, context: Context) -> Result:
        match answer:
            case Rows("open_entry", rows):
                return _update_entry(state, rows)
            case Rows("chosen", rows):
                return Turn(state._replace(entry=rows[0], page=0) if rows else state)
        return LIST.handle_rows(state, answer, context)

    def handle_scan(self, state: UnconfirmedState, matches: tuple[Match, ...], context: Context) -> Result:
        if state.entry is not None:
            return super().handle_scan(state, matches, context)
        return LIST.open_scanned(state, matches[0], context)


def _update_entry(state: UnconfirmedState, rows: tuple[UnconfirmedRow, ...]) -> Result:
    """Update the entry. Close it if it is over: found late, or resolved by somebody else."""
    if state.entry is None:
        return Turn(state)
    if not rows:
        closed = state._replace(entry=None, question="", page=0)
        return reply(closed, INFO, "unconfirmed.resolved_meanwhile")
    now, before = rows[0], state.entry
    if now["outcome"] == before["outcome"]:
        return Turn(state._replace(entry=now))
    return reply(state._replace(entry=now, question=""), INFO, "unconfirmed.state_changed", word=_state_name(now))
