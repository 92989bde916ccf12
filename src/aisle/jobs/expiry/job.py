"""Job that checks expiry dates: a scan and the nearest date for each product. Interface: Update store products."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

from aisle.jobs.expiry.due_list_and_date_pages import (
    CONFIRM_PAGE,
    DATE_PAGE,
    DUE_LIST,
    GIVEN_QUERY,
    PRICE_PAGE,
    SHOWN_QUERY,
    give_date,
    open_product,
    parse_typed,
    query_shown,
    read_again,
    take_given,
)
from aisle.jobs.expiry.expiry_state import (
    CONFIRM,
    DATE,
    LIST,
    MAX_UNDO,
    PRICE,
    ExpiryState,
    GivenDate,
    Result,
    SentCheck,
    back_to_list,
    day_message,
    drop_question,
    in_hand,
    label_date,
    parse_checked_product,
    today_of,
)
from aisle.jobs.expiry.send_and_undo_check import (
    REFUSED_CHECKS,
    STANDING_QUERY,
    UNDO_QUERY,
    query_refused,
    query_standing,
    report_other_dates,
    report_refused,
    undo_check,
)
from aisle.jobs.job import Args, Closed, Context, Effect, Event, Rows, Turn, reply
from aisle.jobs.pages_and_page_job import Page, PageJob, refuse
from aisle.jobs.typed_numbers_dates_and_letters import name_of
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, msg
from aisle.scan.grammar_and_meaning_types import MISSING_SEPARATOR, PRODUCT, Match

if TYPE_CHECKING:
    from aisle.jobs.row_types.products import StoreProductRow


PAGES: dict[str, Page[ExpiryState]] = {LIST: DUE_LIST, DATE: DATE_PAGE, CONFIRM: CONFIRM_PAGE, PRICE: PRICE_PAGE}

MAX_TYPED_DATE = 10
"""Most characters of a date that may be the code of something, too: `07.12.2026`."""


class ExpiryJob(PageJob[ExpiryState]):
    """Job that checks the expiry dates that are due, and any others that are scanned."""

    name = "expiry"
    lists = ("products", "stock")
    version = 5
    state_type = ExpiryState
    steps: tuple[str, ...] = tuple(page.name for page in PAGES.values())
    topics = ("product", "location", "outbox")
    requery_after_write = True
    preferred_kinds = (PRODUCT,)

    def handle(self, state: ExpiryState, event: Event, context: Context) -> Result:
        """Handle an event. A good verdict may take several lines: a short one cuts what tells products apart."""
        turn = super().handle(state, event, context)
        if turn.verdict is None or turn.verdict.kind != GOOD:
            return turn
        return turn._replace(verdict=turn.verdict._replace(is_multiline=True))

    def page(self, state: ExpiryState) -> Page[ExpiryState]:
        return PAGES[state.phase]

    def can_undo(self, state: ExpiryState) -> bool:
        return bool(state.sent)

    def quantity_product(self, state: ExpiryState) -> tuple[str, str]:
        """Return the product that a typed date is for."""
        is_asked = state.product is not None and state.phase in (DATE, CONFIRM)
        return (state.product.number, state.product.label) if state.product and is_asked else ("", "")

    def uses_product(self, state: ExpiryState, product: str) -> bool:
        return state.product is not None and state.product.number == product

    def handle_opened(self, state: ExpiryState, args: Args, context: Context) -> Result:
        return self.query_again(state._replace(opened_at=context.now), context)

    def queries(self, state: ExpiryState, context: Context) -> tuple[Effect, ...]:
        shown = (query_shown(state.product.number, context),) if state.product else ()
        refused = (query_refused(state.opened_at),) if state.sent else ()
        return (DUE_LIST.query(state, context), *shown, *query_standing(state, context), *refused)

    def handle_rows(self, state: ExpiryState, answer: Rows, context: Context) -> Result:
        row = answer.rows[0] if answer.rows else None
        match answer.id:
            case "expiry_checks":
                return DUE_LIST.handle_rows(state, answer, context)
            case "product":
                opened, scanned = state._replace(pending_scan=None), state.pending_scan
                return _open_product(opened, row, scanned, context)
            case id_ if id_ == SHOWN_QUERY:
                return Turn(_with_known(state, row))
            case id_ if id_ == GIVEN_QUERY:
                return take_given(state, parse_checked_product(row), context) if row else _lose_product(state)
            case id_ if id_ == UNDO_QUERY:
                return undo_check(state, row, context)
            case id_ if id_ == STANDING_QUERY:
                return report_other_dates(state, answer.rows, context)
            case id_ if id_ == REFUSED_CHECKS:
                return report_refused(state, answer.rows, context)
        return Turn(state)

    def handle_closed(self, state: ExpiryState, event: Closed, context: Context) -> Result:
        """Ask for the date of what is left once what is expired is booked as a loss."""
        if event.job != "adjust" or state.phase != DATE or not state.day:
            return self.query_again(state, context)
        if event.answer is None or event.answer["quantity"] >= 0:
            return reply(state._replace(day=""), INFO, "expiry.no_loss", label=in_hand(state).label)
        product, loss = in_hand(state), str(event.answer.get("sent") or "")
        sent = (*state.sent, SentCheck(product.number, product.label, (), (), loss))[-MAX_UNDO:] if loss else state.sent
        return Turn(state._replace(day="", found_expired=state.day, sent=sent))

    def handle_scan(self, state: ExpiryState, matches: tuple[Match, ...], context: Context) -> Result:
        first = matches[0]
        is_date_open = state.phase in (DATE, CONFIRM) and not state.is_label
        if is_date_open and (day := _typed_date(first, context)):
            return _ask_number(state, first, day)
        product = next((each for each in matches if each.kind == PRODUCT), None)
        if product is None:
            return refuse(state, msg("page.not_this", what=name_of(first)))
        if state.phase == LIST or (state.phase == DATE and in_hand(state).number != product.key):
            return Turn(state._replace(pending_scan=product), open_product(product.key, context))
        if state.phase != DATE:
            return refuse(state, msg("count.answer_first", what=name_of(product)))
        if not product.expiry:
            return _ask_date(state, product)
        return read_again(state, GivenDate(label_date(product, context).isoformat(), is_label=True), context)


def _with_known(state: ExpiryState, row: StoreProductRow | None) -> ExpiryState:
    """Return the state with the expiry date of the product in hand as it is now."""
    if row is None or state.product is None or state.product.number != str(row["product_number"]):
        return state
    return state._replace(known_now=parse_checked_product(row).known_expiry)


def _lose_product(state: ExpiryState) -> Result:
    return reply(back_to_list(state), WRONG, "store_product.not_ranged")


def _ask_date(state: ExpiryState, label: Match | None, kind: str = ASK) -> Result:
    """Ask for the date of the product in hand. A label without a separator may have had it."""
    if label and label.may_hide_expiry:
        return reply(state, WRONG, MISSING_SEPARATOR)
    return reply(state, kind, "expiry.which_date", label=in_hand(state).label)


def _typed_date(match: Match, context: Context) -> date | None:
    """Return the date that the code of a record may be; None if it certainly is the code."""
    if len(match.code) <= 2:
        days = (today_of(context) + timedelta(days=ahead) for ahead in range(62))
        return next((day for day in days if str(day.day) == match.code.lstrip("0")), None)
    return parse_typed(match.code, context) if len(match.code) <= MAX_TYPED_DATE else None


def _ask_number(state: ExpiryState, match: Match, day: date) -> Result:
    asking = state._replace(phase=CONFIRM, day=day.isoformat(), other=match)
    return reply(
        asking, ASK, "expiry.number_of", code=match.code, day=day_message(day.isoformat()), what=name_of(match)
    )


def _open_product(state: ExpiryState, row: StoreProductRow | None, scanned: Match | None, context: Context) -> Result:
    """Ask for the date of a product, or take the one on its label. Another product in hand stays unchecked."""
    product = parse_checked_product(row) if row else None
    if product is None or not product.is_ranged:
        return reply(state, WRONG, "store_product.not_ranged")
    left = state.product
    opened = drop_question(state)._replace(phase=DATE, product=product, found_expired="", known_now=None)
    is_other = left is not None and left.number != product.number
    if scanned and scanned.expiry:
        turn = give_date(opened, label_date(scanned, context), context, is_label=True)
        return _with_open_product(state, turn) if is_other else turn
    if left and is_other:
        return reply(opened, GOOD, "expiry.instead", label=product.label, left=left.label)
    return _ask_date(opened, scanned, GOOD)


def _with_open_product(before: ExpiryState, turn: Result) -> Result:
    """Go on with the product that was in hand once the label of another one is taken. Say that it is not checked if
    there is a question about the other one first."""
    label = in_hand(before).label
    verdict = turn.verdict and turn.verdict._replace(detail=msg("expiry.not_checked", label=label))
    if turn.state.product is not None:
        return turn._replace(verdict=verdict)
    state = turn.state._replace(phase=DATE, product=before.product, found_expired=before.found_expired)
    verdict = verdict and verdict._replace(detail=msg("expiry.which_date", label=label))
    return turn._replace(state=state._replace(known_now=before.known_now), verdict=verdict)
