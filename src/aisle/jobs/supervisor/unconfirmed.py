"""Job that lists unconfirmed operations and lets a person resolve those that are refused or in doubt."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from aisle.jobs.supervisor.unconfirmed_view import (
    _QUESTIONS,
    COUNT,
    OPEN_BLOCKING,
    OPEN_ORDER,
    OPEN_STORE_PRODUCT,
    OTHER_ORDER,
    PUT_BACK,
    RESOLUTIONS,
    Comparison,
    Item,
    UnconfirmedOperation,
    UnconfirmedState,
    operation_choices,
    page_choices,
    page_view,
)
from aisle.jobs.view import ASK, GOOD, INFO, STATE_WORDS, WRONG, Verdict, View, msg
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
