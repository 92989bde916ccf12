"""Pages of unconfirmed operations: the list, one operation with what may be done, and the question before it."""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

from aisle.jobs import pages
from aisle.jobs.job import CLOSED_BY_HAND, RESEND
from aisle.jobs.stored_message import is_stored_message, read_message
from aisle.jobs.supervisor.store_product_view import field_label, format_value
from aisle.jobs.view import (
    BACK,
    NEXT_PAGE,
    STATE_WORDS,
    Block,
    DetailView,
    Line,
    ListView,
    Msg,
    Row,
    Step,
    View,
    msg,
    raw,
)

COUNT, OPEN_ORDER = "count", "look"
"""Choices that open another job: count the location, open the order."""

OPEN_STORE_PRODUCT = "setting"
"""Choice that opens the product whose settings the operation changes."""

OPEN_BLOCKING = "first"
"""Choice that opens the operation that must be resolved before this one can be sent."""

PUT_BACK, OTHER_ORDER = "put_back", "other_order"
"""Choices for goods that an order did not get: put back, or given to another order. Both close the operation by
hand."""


class Item(NamedTuple):
    """Part of an operation."""

    product: str = ""
    label: str = ""
    quantity: Decimal | None = None
    line: int = 0
    source: str = ""
    """Location it came from, or still is at."""
    target: str = ""


class Comparison(NamedTuple):
    """Value at the service before, value sent, value at the service now; None if unknown."""

    subject: str
    location: str = ""
    before: str | None = None
    ours: str | None = None
    after: str | None = None


class UnconfirmedOperation(NamedTuple):
    """Operation that is not confirmed."""

    op_id: str
    state: str
    """`noted`, `sent`, `confirmed`, `refused` or `unclear`."""
    needs_person: bool = False
    """True if it waits for a person; otherwise it continues automatically."""
    kind: str = ""
    """`move`, `count`, `change`, `pick`, `setting` or `other`."""
    operation: str = ""
    user: str = ""
    at: str = ""
    why: str = ""
    finding: str = ""
    evidence: str = ""
    items: tuple[Item, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    choices: tuple[str, ...] = ()
    order: str = ""
    location: str = ""
    product: str = ""
    blocked_by: str = ""
    """op_id of the operation in doubt before it."""
    token_owner: str = ""
    """Person whose token it is sent with; empty for the store's token."""
    waits_for_pin_of: str = ""
    """Person whose PIN it waits for."""


class UnconfirmedState(NamedTuple):
    """State of the list, and of one entry if `entry` is set."""

    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    rows: tuple[UnconfirmedOperation, ...] = ()
    total: int = 0
    entry: UnconfirmedOperation | None = None
    page: int = 0
    question: str = ""
    """`again` while the person is asked whether to send it again, `by_hand` while asked how it was resolved."""


def operation_choices(operation: UnconfirmedOperation) -> tuple[str, ...]:
    """Return all choices for the operation, in the order of their numbers."""
    first = (OPEN_BLOCKING,) if operation.blocked_by else ()
    counted = (COUNT,) if operation.location and (first or operation.state in ("refused", "in_doubt")) else ()
    page = (OPEN_STORE_PRODUCT,) if operation.kind == "setting" and operation.product else ()
    return (*first, *operation.choices, *counted, *page, *((OPEN_ORDER,) if operation.order else ()))


RESOLUTIONS = ("counted", "corrected", "nothing")
"""Notes stored with an operation resolved by hand. Any other note is typed."""

_RESOLUTION_TEXTS = (
    msg("unconfirmed.resolution_counted"),
    msg("unconfirmed.resolution_corrected"),
    msg("unconfirmed.resolution_nothing"),
)

_CHOICE_TEXTS = {
    "arrived": "unconfirmed.choice_arrived",
    "resend": "unconfirmed.choice_resend",
    "close_by_hand": "unconfirmed.choice_close_by_hand",
    "overage": "unconfirmed.choice_overage",
    "difference": "unconfirmed.choice_difference",
    "put_back": "unconfirmed.choice_put_back",
    "other_order": "unconfirmed.choice_other_order",
    "first": "unconfirmed.choice_open_blocking",
    "count": "unconfirmed.choice_count",
    "look": "unconfirmed.choice_open_order",
    "setting": "unconfirmed.choice_open_store_product",
}

_OPERATION_TEXTS = {
    "move": "unconfirmed.describe_move",
    "count": "unconfirmed.describe_count",
    "change": "unconfirmed.describe_change",
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


def page_view(state: UnconfirmedState, step_name: str) -> View:
    """Return the screen of this state."""
    if state.entry is None:
        return _list_view(state)
    return _question_view(state, state.entry, step_name) if state.question else _entry_view(state, state.entry)


def page_choices(state: UnconfirmedState) -> tuple[Msg, ...]:
    """Return the choices of an entry's page."""
    if state.question == RESEND:
        return (msg("unconfirmed.resend_yes"), msg("unconfirmed.resend_no"))
    if state.question == CLOSED_BY_HAND:
        return _RESOLUTION_TEXTS
    entry = state.entry
    if entry is None:
        return ()
    return tuple(
        msg(_CHOICE_TEXTS[choice], place=entry.location, order=entry.order) for choice in operation_choices(entry)
    )


def _list_view(state: UnconfirmedState) -> ListView:
    return pages.list_view(
        state,
        "unconfirmed",
        msg("unconfirmed.title"),
        msg("unconfirmed.prompt") if state.total else msg("unconfirmed.prompt_none"),
        (
            msg("unconfirmed.head_state"),
            msg("unconfirmed.head_what"),
            msg("unconfirmed.head_user"),
            msg("unconfirmed.head_at"),
        ),
        tuple(_operation_row(operation) for operation in state.rows),
        empty=msg("unconfirmed.empty"),
    )


def _operation_row(operation: UnconfirmedOperation) -> Row:
    who = (
        msg("unconfirmed.user_waits_for_pin", name=operation.waits_for_pin_of)
        if operation.waits_for_pin_of
        else raw(operation.user)
    )
    cells = (msg(STATE_WORDS[operation.state]), describe_operation(operation), who, msg("moment", at=operation.at))
    return Row(operation.op_id, cells)


def describe_operation(operation: UnconfirmedOperation) -> Msg:
    """Return the operation in one line."""
    first = operation.items[0] if operation.items else None
    if operation.kind == "setting" and first is not None:
        return msg("unconfirmed.describe_store_product", label=first.label or first.product)
    if operation.kind not in _OPERATION_TEXTS or first is None:
        return msg("unconfirmed.describe_pick", order=operation.order) if operation.order else raw(operation.operation)
    text = _describe_item(operation, first)
    return (
        msg("unconfirmed.describe_more", what=text, count=len(operation.items) - 1)
        if len(operation.items) > 1
        else text
    )


def _describe_item(operation: UnconfirmedOperation, item: Item) -> Msg:
    quantity = "?" if item.quantity is None else item.quantity
    return msg(
        _OPERATION_TEXTS[operation.kind],
        quantity=quantity,
        label=item.label or item.product,
        source=item.source or msg("unconfirmed.no_location"),
        target=item.target or msg("unconfirmed.no_location"),
    )


def _entry_view(state: UnconfirmedState, operation: UnconfirmedOperation) -> DetailView:
    blocks = []
    if operation.comparisons:
        blocks.append(
            Block(
                msg("unconfirmed.comparisons"),
                tuple(_comparison_row(operation, side) for side in operation.comparisons),
            )
        )
    if len(operation.items) > 1 or (operation.items and operation.kind == "pick"):
        blocks.append(Block(msg("unconfirmed.items"), tuple(_item_row(item) for item in operation.items)))
    blocks.append(
        Block(
            msg("unconfirmed.about"),
            (
                (msg("unconfirmed.head_user"), raw(operation.user)),
                *(
                    ((msg("unconfirmed.head_token_owner"), raw(operation.token_owner)),)
                    if operation.token_owner
                    else ()
                ),
                (msg("unconfirmed.head_at"), msg("moment", at=operation.at)),
                (msg("unconfirmed.operation_id"), raw(operation.op_id)),
            ),
        )
    )
    return DetailView(
        name="unconfirmed.entry",
        title=msg(STATE_WORDS[operation.state]),
        prompt=msg("unconfirmed.choose") if page_choices(state) else msg("unconfirmed.prompt_entry"),
        lines=(Line("product", describe_operation(operation)), *(Line("note", note) for note in _notes(operation))),
        blocks=tuple(blocks),
        page=state.page,
        choices=page_choices(state),
        key_hints=(NEXT_PAGE, BACK),
    )


def _notes(operation: UnconfirmedOperation) -> tuple[Msg, ...]:
    """Return notes on the state of the operation and on the evidence found."""
    if operation.state == "refused":
        return (
            msg(
                "unconfirmed.note_why" if is_stored_message(operation.why) else "unconfirmed.note_refused",
                why=read_message(operation.why),
            ),
        )
    if operation.blocked_by:
        return (msg("unconfirmed.note_blocked"),)
    if operation.waits_for_pin_of:
        return (msg("unconfirmed.note_pin", name=operation.waits_for_pin_of),)
    if operation.state != "in_doubt":
        return (msg(_STATE_NOTES[operation.state]),)
    if not operation.needs_person:
        first = msg("unconfirmed.note_reconciling")
    elif operation.finding == "changed":
        first = msg("unconfirmed.note_changed")
    else:
        first = (
            msg("unconfirmed.note_unknown")
            if operation.finding
            else msg("unconfirmed.note_why", why=read_message(operation.why))
        )
    return (first, msg(_EVIDENCE_TEXTS[operation.evidence])) if operation.evidence else (first,)


_ORDER_FIELD_TEXTS = {
    "is_active": "unconfirmed.field_active",
    "is_claimed": "unconfirmed.field_claimed",
    "is_picked": "unconfirmed.field_picked",
    "is_rejected": "unconfirmed.field_rejected",
}

_YES_NO_TEXTS = {"yes": "unconfirmed.yes", "no": "unconfirmed.no"}


def _compare_setting(comparison: Comparison) -> tuple[Msg, ...]:
    """Return the values of a product setting on both sides."""
    was, ours, now = (
        msg("unconfirmed.unknown_value") if value is None else format_value(comparison.subject, value)
        for value in (comparison.before, comparison.ours, comparison.after)
    )
    return (
        field_label(comparison.subject),
        msg("unconfirmed.comparison", before=was, after=now),
        msg("unconfirmed.our_value", ours=ours),
    )


def _compare_order_field(comparison: Comparison) -> tuple[Msg, ...]:
    """Return the values of an order field on both sides."""
    was, ours, now = (
        msg(_YES_NO_TEXTS.get(value or "", "unconfirmed.unknown_value"))
        for value in (comparison.before, comparison.ours, comparison.after)
    )
    return (
        msg(_ORDER_FIELD_TEXTS[comparison.subject]),
        msg("unconfirmed.comparison", before=was, after=now),
        msg("unconfirmed.our_value", ours=ours),
    )


def _comparison_row(operation: UnconfirmedOperation, comparison: Comparison) -> tuple[Msg, ...]:
    if comparison.subject in _ORDER_FIELD_TEXTS:
        return _compare_order_field(comparison)
    if operation.kind == "setting":
        return _compare_setting(comparison)
    label = next((item.label for item in operation.items if item.product == comparison.subject), comparison.subject)
    alone = len({each.subject for each in operation.comparisons}) == 1
    where = comparison.location if comparison.location and alone else f"{label} {comparison.location}".strip()
    values = msg(
        "unconfirmed.comparison",
        before=_format_quantity(comparison.before or "?"),
        after=_format_quantity(comparison.after or "?"),
    )
    return (
        raw(where),
        values,
        *((msg("unconfirmed.our_value", ours=_format_quantity(comparison.ours)),) if comparison.ours else ()),
    )


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


def _item_row(item: Item) -> tuple[Msg, ...]:
    quantity = raw("?") if item.quantity is None else msg("number", value=item.quantity)
    ends = [raw(place) for place in (item.source, item.target) if place]
    return (raw(item.label or item.product), quantity, *ends)


def _question_view(state: UnconfirmedState, operation: UnconfirmedOperation, step_name: str) -> Step:
    note = msg("unconfirmed.note_resend") if state.question == RESEND else msg("unconfirmed.note_close_by_hand")
    return Step(
        name=step_name,
        title=msg(STATE_WORDS[operation.state]),
        prompt=msg("unconfirmed.choose") if state.question == RESEND else msg("unconfirmed.choose_resolution"),
        lines=(Line("product", describe_operation(operation)), Line("note", note)),
        choices=page_choices(state),
        key_hints=(BACK,),
    )


_QUESTIONS = {RESEND: "unconfirmed.ask_resend", CLOSED_BY_HAND: "unconfirmed.ask_close_by_hand"}
