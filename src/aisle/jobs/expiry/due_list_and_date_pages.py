"""Pages of the expiry check: the list of products due today, and the questions about the one in hand.

A number is the date here, because no quantity is open. A number that names something in the store is asked back.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from operator import itemgetter

from aisle.jobs.expiry.expiry_state import (
    CONFIRM,
    DATE,
    PAST_DAYS,
    PRICE,
    CheckedProduct,
    ExpiryState,
    GivenDate,
    Result,
    back_to_list,
    count_label,
    day_message,
    drop_question,
    in_hand,
    is_discount_due,
    standing_date,
    today_of,
    unlikely_reason,
)
from aisle.jobs.expiry.send_and_undo_check import query_undo, send_check, send_label
from aisle.jobs.job import Args, Context, Effect, Event, Query, Refresh, Start, Turn, money_message, reply
from aisle.jobs.list_page_base_class import Column, ListPage
from aisle.jobs.pages_and_page_job import Action, FormPage, refuse
from aisle.jobs.row_types.products import ExpiryCheckRow
from aisle.jobs.typed_numbers_dates_and_letters import (
    DROP,
    LETTER_OF_CHOICE,
    YES,
    has_length_of_date,
    letter_prompt,
    parse_date,
    parse_label_date,
)
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Line, Msg, View, msg, raw
from aisle.scan.grammar_and_meaning_types import PRODUCT, Accepts, Choice, Match, Quantity, Text, UnknownCode

NONE = LETTER_OF_CHOICE["nowhere"]
"""Letter by which there are no goods, or no discount."""

Actions = tuple[Action[ExpiryState], ...]


def parse_typed(text: str, context: Context) -> date | None:
    """Return the expiry date that a text means; None if it is none."""
    return parse_date(text, today_of(context), past_days=PAST_DAYS)


class ProductPage(FormPage[ExpiryState]):
    """Question about the product in hand. Its choices have letters, because a number is a date or a price."""

    choice_letters = ""

    def title(self, state: ExpiryState) -> Msg:
        return msg("expiry.title", count=state.total)

    def lines(self, state: ExpiryState) -> tuple[Line, ...]:
        product = in_hand(state)
        location = (Line("location", raw(product.location)),) if product.location else ()
        return (*location, Line("product", raw(product.label)), *self.notes(state))

    def notes(self, state: ExpiryState) -> tuple[Line, ...]:
        """Return the lines on what is asked."""
        return ()

    def view(self, state: ExpiryState) -> View:
        return self.step(state)._replace(choice_letters=self.choice_letters)

    def accepts(self, state: ExpiryState) -> Accepts:
        return super().accepts(state)._replace(choice_letters=self.choice_letters)


class DatePage(ProductPage):
    """Question for the nearest expiry date."""

    name = "expiry.date"
    choice_letters = NONE
    prompt_text = msg("expiry.prompt_date")

    def notes(self, state: ExpiryState) -> tuple[Line, ...]:
        if state.found_expired:
            return (Line("quantity", msg("expiry.rest", day=day_message(state.found_expired))),)
        known = in_hand(state).known_expiry if state.known_now is None else state.known_now
        return (Line("quantity", msg("expiry.known", day=day_message(known)) if known else msg("expiry.not_known")),)

    def actions(self, state: ExpiryState) -> Actions:
        none = Action(msg("expiry.none_here"), lambda state, context: read_again(state, GivenDate(), context))
        undo = Action(msg("hint.undo"), ask_undo, "u", is_hinted=bool(state.sent))
        return (none, undo)

    def accepts(self, state: ExpiryState) -> Accepts:
        return super().accepts(state)._replace(date=True)

    def handle_text(self, state: ExpiryState, text: str, context: Context) -> Result:
        if label := _date_of_label(text, context):
            return read_again(state, label, context)
        day = parse_typed(text, context)
        if day is None:
            return refuse(state, msg("expiry.no_date", text=text))
        return read_again(state, GivenDate(day.isoformat()), context)

    def handle_other_input(self, state: ExpiryState, event: Event, context: Context) -> Result:
        """Handle text. A code that nothing has may be a date that a slow link sent at once: that is asked."""
        if isinstance(event, UnknownCode):
            if label := _date_of_label(event.code, context):
                return read_again(state, label, context)
            return _ask_code(state, event.code, context)
        return super().handle_other_input(state, event, context)

    def go_back(self, state: ExpiryState, context: Context) -> Result:
        label, is_rest = in_hand(state).label, bool(state.found_expired)
        left = back_to_list(state)
        id_ = "expiry.rest_not_checked" if is_rest else "expiry.not_checked"
        return reply(left, INFO, id_, DUE_LIST.query(left, context), label=label)


def _date_of_label(text: str, context: Context) -> GivenDate | None:
    """Return the date of a label that has nothing else; None for other text, and for a date that may be typed."""
    day = parse_label_date(text, today_of(context), past_days=PAST_DAYS)
    return GivenDate(day.isoformat(), is_label=True) if day else None


def read_again(state: ExpiryState, given: GivenDate, context: Context) -> Result:
    """Query the product in hand before an answer is taken."""
    return Turn(drop_question(state)._replace(given=given), (query_again(in_hand(state).number, context),))


def take_given(state: ExpiryState, product: CheckedProduct, context: Context) -> Result:
    """Take the answer for the product as it is now."""
    given, fresh = state.given, drop_question(state)._replace(phase=DATE, product=product, known_now=None)
    if given is None:
        return Turn(fresh)
    if not given.day:
        return _send(fresh, None, context)
    return give_date(fresh, date.fromisoformat(given.day), context, is_label=given.is_label)


def give_date(state: ExpiryState, day: date, context: Context, *, is_label: bool = False) -> Result:
    """Take a date that was typed or scanned, or ask if it is unlikely."""
    state = (count_label(state) if is_label else state)._replace(is_label=is_label)
    reason = unlikely_reason(day, context)
    return _ask_if_right(state, day, reason) if reason else _take_nearest(state, day, context)


def _ask_if_right(state: ExpiryState, day: date, reason: str) -> Result:
    asking = state._replace(phase=CONFIRM, day=day.isoformat(), other=None)
    return reply(asking, ASK, reason, day=day_message(day.isoformat()), label=in_hand(state).label)


def _take_nearest(state: ExpiryState, day: date, context: Context) -> Result:
    """Take a date, unless a nearer one stands: then a label changes nothing, and a typed date is asked back."""
    standing = standing_date(state, context)
    if not standing or day.isoformat() <= standing:
        return take_date(state, day, context)
    if not state.is_label:
        asking = state._replace(is_later_asked=True)
        return _ask_if_right(asking, day, "expiry.is_later")
    count, product = max(2, state.last_labels.labels), in_hand(state)
    kept, writes = send_label(state, day, standing, context)
    return reply(kept, GOOD, "expiry.nearest_of", *writes, count=count, day=day_message(standing), label=product.label)


def _ask_code(state: ExpiryState, code: str, context: Context) -> Result:
    """Ask whether an unknown code is the date of the product in hand; refuse it if it is none."""
    day = parse_typed(code, context)
    if day is None and has_length_of_date(code):
        return refuse(state, msg("expiry.no_date", text=code))
    if day is None:
        return refuse(state, msg("count.unknown", code=code))
    asking = state._replace(phase=CONFIRM, day=day.isoformat(), other=Match("", code, code=code))
    return reply(
        asking, ASK, "expiry.code_or_date", code=code, day=day_message(day.isoformat()), label=in_hand(state).label
    )


def take_date(state: ExpiryState, day: date, context: Context) -> Result:
    """Book what is expired as a loss, ask for a discount, or send the date."""
    product, state = in_hand(state), drop_question(state)._replace(phase=DATE)
    if day <= today_of(context):
        expired = {"product_number": product.number, "label": product.label, "expired_on": day.isoformat()}
        return Turn(state._replace(day=day.isoformat()), (Start("adjust", expired),))
    if is_discount_due(product, day, context) and product.may_discount:
        return reply(
            state._replace(phase=PRICE, day=day.isoformat()), ASK, "expiry.which_discount", label=product.label
        )
    return _send(state, day, context)


def _send(state: ExpiryState, day: date | None, context: Context, discount: Decimal | None = None) -> Result:
    done, writes, verdict = send_check(state, day, context, discount)
    return Turn(done, writes, verdict)  # the list is queried again after the write


class ConfirmPage(ProductPage):
    """Question whether an unlikely date is right, or whether a number means a date.

    Another typed date replaces a typed one. A label waits for the answer: what is expired may be on the shelf.
    """

    name = "expiry.confirm"
    choice_letters = YES + DROP
    prompt_text = letter_prompt(YES + DROP, scans=False)

    def notes(self, state: ExpiryState) -> tuple[Line, ...]:
        return (Line("quantity", day_message(state.day)),)

    def actions(self, state: ExpiryState) -> Actions:
        no = msg("expiry.choice_not_date", what=state.other.label or state.other.key) if state.other else None
        return (
            Action(msg("expiry.choice_date", day=day_message(state.day)), _confirm),
            Action(no or msg("order_actions.no"), _open_other),
            Action(msg("hint.undo"), _reject, "u", is_hinted=False),
        )

    def accepts(self, state: ExpiryState) -> Accepts:
        return super().accepts(state)._replace(date=True)

    def handle_other_input(self, state: ExpiryState, event: Event, context: Context) -> Result:
        match event:
            case Text(text) | UnknownCode(text) if state.is_label or _date_of_label(text, context):
                return refuse(state, msg("count.answer_first", what=text))
        return DATE_PAGE.handle_other_input(state, event, context)

    def go_back(self, state: ExpiryState, context: Context) -> Result:
        return reply(drop_question(state)._replace(phase=DATE), INFO, "session.dropped")


def _confirm(state: ExpiryState, context: Context) -> Result:
    day = date.fromisoformat(state.day)
    if state.other is not None:
        return read_again(state, GivenDate(state.day), context)
    return take_date(state, day, context) if state.is_later_asked else _take_nearest(state, day, context)


def _reject(state: ExpiryState, context: Context) -> Result:
    return CONFIRM_PAGE.go_back(state, context)


def _open_other(state: ExpiryState, context: Context) -> Result:
    """Open the product that a number means instead of a date; without one, drop the question."""
    other = state.other
    if other is None or other.kind != PRODUCT or other.key == in_hand(state).number:
        return _reject(state, context)
    asking = drop_question(state)._replace(phase=DATE, pending_scan=other)
    return Turn(asking, open_product(other.key, context))


class PricePage(ProductPage):
    """Question for the discount price shortly before the expiry date."""

    name = "expiry.price"
    choice_letters = NONE
    prompt_text = msg("expiry.prompt_price")

    def notes(self, state: ExpiryState) -> tuple[Line, ...]:
        price = msg("expiry.price_now", price=money_message(in_hand(state).price))
        return (Line("quantity", price), Line("note", msg("expiry.expires", day=day_message(state.day))))

    def actions(self, state: ExpiryState) -> Actions:
        undo = Action(msg("hint.undo"), self.go_back, "u", is_hinted=False)
        return (Action(msg("expiry.no_discount"), _send_without_discount), undo)

    def accepts(self, state: ExpiryState) -> Accepts:
        return super().accepts(state)._replace(quantity=True, decimals=True)

    def handle_other_input(self, state: ExpiryState, event: Event, context: Context) -> Result:
        match event:
            case Quantity(value):
                return _set_discount(state, value, context)
            case Choice():
                return refuse(state, msg("expiry.prompt_price"))
        return super().handle_other_input(state, event, context)

    def go_back(self, state: ExpiryState, context: Context) -> Result:
        return Turn(state._replace(phase=DATE, day=""))


def _send_without_discount(state: ExpiryState, context: Context) -> Result:
    return _send(state, date.fromisoformat(state.day), context)


def _set_discount(state: ExpiryState, value: Decimal, context: Context) -> Result:
    """Send the date and the discount price, if it is below the price.

    A number of the store, or a large one, is not below the price."""
    if not 0 < value < in_hand(state).price:
        return reply(state, WRONG, "expiry.not_below", price=money_message(in_hand(state).price))
    return _send(state, date.fromisoformat(state.day), context, value)


DATE_PAGE = DatePage()
CONFIRM_PAGE = ConfirmPage()
PRICE_PAGE = PricePage()


class DueList(ListPage[ExpiryState, ExpiryCheckRow]):
    """List of the due products in walking order."""

    name = "expiry"
    query_name = "expiry_checks"
    has_two_line_rows = True
    prompt_text = msg("expiry.prompt_list")
    no_rows_text = msg("expiry.none_due")
    columns = (
        Column(msg("head.location"), lambda row: raw(row["location_code"])),
        Column(msg("head.product"), lambda row: raw(row["product_name"] or row["product_number"])),
        Column(msg("store_product.of_expiry"), lambda row: _day(row["expiry"]), is_optional=True),
        Column(msg("expiry.head_due"), lambda row: _day(row["due"])),
    )
    key = itemgetter("product_number")

    def title(self, state: ExpiryState) -> Msg:
        return msg("expiry.title", count=state.total)

    def usual_columns(self, state: ExpiryState) -> tuple[Column[ExpiryCheckRow], ...]:
        """Return the columns to show; a handheld leaves the day of the check to the name."""
        return self.columns if state.options.is_desk else self.columns[:-1]

    def arguments(self, state: ExpiryState, context: Context) -> Args:
        return {"day": today_of(context).isoformat()}

    def actions(self, state: ExpiryState) -> tuple[Action[ExpiryState], ...]:
        return (Action(msg("hint.undo"), ask_undo, "u", is_hinted=bool(state.sent)),)

    def open_row(self, state: ExpiryState, row: ExpiryCheckRow, context: Context) -> Result:
        return Turn(state, open_product(row["product_number"], context))

    def handle_text(self, state: ExpiryState, text: str, context: Context) -> Result:
        return refuse(state, msg("count.unknown", code=text))


def _day(day: str) -> Msg:
    return msg("moment", at=day) if day else raw("")


def query_product(number: str, context: Context) -> Query:
    """Return the query for a product to check. It is journalled, so that a resumed job needs no list."""
    return Query("product", "store_product", {"product_number": number, "user": context.user})


def open_product(number: str, context: Context) -> tuple[Effect, ...]:
    """Return the query for a product to check, and a refresh, because others may check it, too."""
    return query_product(number, context), Refresh("product", number)


GIVEN_QUERY, SHOWN_QUERY = "given", "shown"
"""Ids of the queries for the product in hand: before an answer is taken, and for the screen."""


def query_again(number: str, context: Context) -> Query:
    """Return the query for the product in hand before an answer is taken. It is journalled."""
    return query_product(number, context)._replace(id=GIVEN_QUERY)


def query_shown(number: str, context: Context) -> Query:
    """Return the query for what the screen shows of the product in hand."""
    return query_product(number, context)._replace(id=SHOWN_QUERY, is_live=True)


def ask_undo(state: ExpiryState, context: Context) -> Result:
    """Query the product of the last check, to undo it; a loss is undone by the job that booked it."""
    if not state.sent:
        return reply(state, WRONG, "pick.nothing_to_undo")
    last, earlier = state.sent[-1], state.sent[:-1]
    if last.loss:
        undone = state._replace(sent=earlier, found_expired="")
        return Turn(undone, (Start("adjust", {"undo": last.loss}),))
    return Turn(state, (query_undo(state, context),))


DUE_LIST = DueList()
