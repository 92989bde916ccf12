"""Job that lists unconfirmed operations and lets a person resolve those that are refused or in doubt."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from aisle.jobs import pages
from aisle.jobs.job import (
    ARRIVED,
    CLOSED_BY_HAND,
    DIFFERENCE,
    OVERAGE,
    RESEND,
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
    Resolve,
    Resumed,
    Rows,
    Start,
    Turn,
)
from aisle.jobs.pages import page_size
from aisle.jobs.stored_message import is_stored_message, read_message
from aisle.jobs.supervisor.store_product_view import field_label, format_value
from aisle.jobs.view import (
    ASK,
    BACK,
    GOOD,
    INFO,
    NEXT_PAGE,
    STATE_WORDS,
    WRONG,
    Block,
    DetailView,
    Line,
    ListView,
    Msg,
    Row,
    Step,
    Verdict,
    View,
    msg,
    raw,
)
from aisle.scan.meaning import (
    LOCATION,
    ORDER,
    PRODUCT,
    Accepts,
    Back,
    Choice,
    Command,
    CursorKey,
    Match,
    Scan,
    Text,
    UnknownCode,
)

if TYPE_CHECKING:
    from aisle.jobs.row_types.operations import OperationItemRow, UnconfirmedRow

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
_RESOLVED_TEXTS = {
    ARRIVED: "unconfirmed.resolved_arrived",
    RESEND: "unconfirmed.resolved_resend",
    OVERAGE: "unconfirmed.resolved_overage",
    DIFFERENCE: "unconfirmed.resolved_difference",
    CLOSED_BY_HAND: "unconfirmed.resolved_by_hand",
}

Result = Turn[UnconfirmedState]


class UnconfirmedJob(Job[UnconfirmedState]):
    """Job that shows unconfirmed operations, one entry, and the question before it is resolved."""

    name = "unconfirmed"
    steps: tuple[str, ...] = ("unconfirmed", "unconfirmed.entry", "unconfirmed.resend", "unconfirmed.close_by_hand")
    version = 1
    journalled = True

    def begin(self) -> UnconfirmedState:
        """Return the state before the first query."""
        return UnconfirmedState()

    def accepts(self, state: UnconfirmedState) -> Accepts:
        """Accept numbers for rows and choices. A resolution by hand may be typed."""
        if state.entry is None:
            return Accepts(choices=pages.numbered_rows(state), command_letters=pages.page_letters(state))
        return Accepts(
            choices=len(page_choices(state)),
            command_letters="np",
            search=state.question == CLOSED_BY_HAND,
            typed_only=True,
        )

    def prefers(self, state: UnconfirmedState) -> tuple[str, ...]:
        """Prefer an order, product or location, to find the entry that contains it."""
        return (ORDER, PRODUCT, LOCATION)

    def step_name(self, state: UnconfirmedState) -> str:
        """Return the name of the list, of the entry or of the question."""
        if state.entry is None:
            return "unconfirmed"
        return f"unconfirmed.{state.question}" if state.question else "unconfirmed.entry"

    def handle(self, state: UnconfirmedState, event: Event, context: Context) -> Result:
        """Return the next state. A number opens an entry, then chooses how to resolve it."""
        match event:
            case Rows("unconfirmed", rows, _):
                return pages.handle_rows(state, event, tuple(_parse_operation(row) for row in rows), context, _query)
            case Rows("doubt", rows, _):
                return _update_entry(state, rows)
            case Rows("chosen", rows, _):
                return Turn(state._replace(entry=_parse_operation(rows[0]), page=0) if rows else state)
            case Opened() | Closed() | Resumed() | Changed():
                return Turn(state, _queries(state, context))
            case Back():
                return _go_back(state, context)
            case Text(text) | UnknownCode(text) if state.question != CLOSED_BY_HAND:
                return Turn(state, (), Verdict(WRONG, msg("unconfirmed.unknown", text=text)))
        return (
            _handle_list_input(state, event, context)
            if state.entry is None
            else _handle_entry_input(state, state.entry, event)
        )

    def view(self, state: UnconfirmedState) -> View:
        """Return the screen of the step."""
        return page_view(state, self.step_name(state))


def _queries(state: UnconfirmedState, context: Context) -> tuple[Effect, ...]:
    return (_query(state, context), *((_query_entry(state.entry),) if state.entry else ()))


def _query_entry(operation: UnconfirmedOperation) -> Query:
    return Query("doubt", "unconfirmed", {"op_id": operation.op_id}, is_live=True)


def _query(state: UnconfirmedState, context: Context) -> Query:
    return pages.query_window("unconfirmed", "unconfirmed", {}, state.first, page_size(context))


def _update_entry(state: UnconfirmedState, rows: tuple[UnconfirmedRow, ...]) -> Result:
    """Update the entry. Close it if it is over: found late, or resolved by somebody else."""
    if state.entry is None:
        return Turn(state)
    if not rows:
        return Turn(
            state._replace(entry=None, question="", page=0), (), Verdict(INFO, msg("unconfirmed.resolved_meanwhile"))
        )
    now = _parse_operation(rows[0])
    if now.state != state.entry.state:
        return Turn(
            state._replace(entry=now, question=""),
            (),
            Verdict(INFO, msg("unconfirmed.state_changed", word=msg(STATE_WORDS[now.state]))),
        )
    return Turn(state._replace(entry=now))


def _go_back(state: UnconfirmedState, context: Context) -> Result:
    if state.question:
        return Turn(state._replace(question=""))
    if state.entry is not None:
        state = state._replace(entry=None, page=0)
        return Turn(state, (_query(state, context),))
    return Turn(state, (Close(),))


def _handle_list_input(state: UnconfirmedState, event: Event, context: Context) -> Result:
    if isinstance(event, Scan):
        return _open_scanned(state, event.matches[0], context)
    return pages.handle_list_input(state, event, context, _query, _open_entry)


def _open_entry(state: UnconfirmedState, operation: UnconfirmedOperation, context: Context) -> Result:
    """Return the query for a chosen row. A window is not journalled; this answer is, so replay knows the row."""
    return Turn(state, (Query("chosen", "unconfirmed", {"op_id": operation.op_id}),))


def _open_scanned(state: UnconfirmedState, match: Match, context: Context) -> Result:
    """Open the first entry in the window that contains the scanned record."""
    for operation in state.rows:
        places = {place for item in operation.items for place in (item.source, item.target)}
        products = {item.product for item in operation.items}
        named = {ORDER: {operation.order}, PRODUCT: products, LOCATION: places}.get(match.kind, set())
        if match.key in named:
            return _open_entry(state, operation, context)
    return Turn(state, (), Verdict(INFO, msg("unconfirmed.none_for", label=match.label or match.key)))


def _handle_entry_input(state: UnconfirmedState, operation: UnconfirmedOperation, event: Event) -> Result:
    match event:
        case Choice(number) if state.question == RESEND:
            return _resolve(state, operation, RESEND) if number == 1 else Turn(state._replace(question=""))
        case Choice(number) if state.question == CLOSED_BY_HAND:
            return _resolve(state, operation, CLOSED_BY_HAND, RESOLUTIONS[number - 1])
        case Text(text) if state.question == CLOSED_BY_HAND:
            return _resolve(state, operation, CLOSED_BY_HAND, text)
        case Choice(number) if number <= len(operation_choices(operation)):
            return _follow_choice(state, operation, operation_choices(operation)[number - 1])
        case Command("n" | "p" as key) | CursorKey(key) if not state.question:
            return Turn(state._replace(page=pages.turn_page(state.page, key)))
    return Turn(state)


def _follow_choice(state: UnconfirmedState, operation: UnconfirmedOperation, choice: str) -> Result:
    if choice == COUNT:
        return Turn(state, (Start("count", {"location_code": operation.location}),))
    if choice == OPEN_ORDER:
        return Turn(state, (Start("pick", {"order_number": operation.order, "view_only": True}),))
    if choice == OPEN_STORE_PRODUCT:
        return Turn(state, (Start("store_product", {"product_number": operation.product}),))
    if choice == OPEN_BLOCKING:
        first = UnconfirmedOperation(operation.blocked_by, "in_doubt")
        return Turn(state._replace(entry=first, page=0), (_query_entry(first),))
    if choice in (PUT_BACK, OTHER_ORDER):
        return _resolve(state, operation, CLOSED_BY_HAND, choice)
    if choice in (ARRIVED, OVERAGE, DIFFERENCE):
        return _resolve(state, operation, choice)
    return Turn(state._replace(question=choice), (), Verdict(ASK, msg(_QUESTIONS[choice])))


def _resolve(state: UnconfirmedState, operation: UnconfirmedOperation, decision: str, note: str = "") -> Result:
    """Resolve the operation. It leaves the list at once; refresh both sides, so that the screens show them."""
    rows = tuple(row for row in state.rows if row.op_id != operation.op_id)
    state = state._replace(rows=rows, total=max(len(rows), state.total - 1), entry=None, question="", page=0, cursor=-1)
    refreshes = [Refresh("order", operation.order)] if operation.order else []
    refreshes += [Refresh("product", item.product) for item in operation.items[:4] if item.product]
    return Turn(
        state, (Resolve(operation.op_id, decision, note), *refreshes), Verdict(GOOD, msg(_RESOLVED_TEXTS[decision]))
    )


def _parse_operation(row: UnconfirmedRow) -> UnconfirmedOperation:
    return UnconfirmedOperation(
        op_id=str(row["op_id"]),
        state=str(row["outcome"]),
        needs_person=bool(row["asked"]),
        kind=str(row["kind"]),
        operation=str(row["operation"]),
        user=str(row["user"]),
        at=str(row["at"]),
        why=str(row["why"]),
        finding=str(row["verdict"]),
        evidence=str(row["evidence"]),
        items=tuple(_parse_item(item) for item in row["items"]),
        comparisons=tuple(Comparison(**side) for side in row["sides"]),
        choices=tuple(str(choice) for choice in row["ways"]),
        order=str(row["order"]),
        location=str(row["location"]),
        product=str(row["product"]),
        blocked_by=str(row["waits_for"]),
        token_owner=str(row.get("principal") or ""),
        waits_for_pin_of=str(row.get("pin") or ""),
    )


def _parse_item(row: OperationItemRow) -> Item:
    return Item(
        product=str(row["product_number"]),
        label=str(row["label"]),
        quantity=row["quantity"],
        line=int(row["line"] or 0),
        source=str(row["from"]),
        target=str(row["to"]),
    )
