"""State of an expiry check, the product that is being checked, and the day of its next check."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import NamedTuple

from aisle.jobs.job import Context, Policy, Turn
from aisle.jobs.list_cursor_and_search import ListOptions
from aisle.jobs.row_types.products import ExpiryCheckRow, StoreProductRow
from aisle.jobs.store_time import today
from aisle.jobs.view import Msg, msg
from aisle.row_values import to_decimal
from aisle.scan.grammar_and_meaning_types import Match
from aisle.scan.gs1 import nearest_century
from aisle.store_product_settings import parse_entry_values

LIST, DATE, CONFIRM, PRICE = "list", "date", "confirm", "price"
"""Pages of the job."""

EXPIRY, CHECK, DISCOUNT = "expiry_date_time", "validate_expiry_date_time", "discount_price"
"""Fields of an update that a check sets."""

MAX_UNDO = 20
"""Number of checks that can be undone, the last one first."""

PAST_DAYS = 60
"""Days for which a date without a year is taken as past, not as one of next year."""

MAX_DAYS = Decimal(36_500)
"""Most days that a setting or a product can name."""


class CheckedProduct(NamedTuple):
    """Product that is being checked. Empty fields are unknown."""

    number: str
    label: str
    location: str = ""
    values: tuple[tuple[str, str], ...] = ()
    """Plain text of its settings by their name in an update, with changes under way applied."""
    own_days: Decimal = Decimal(0)
    """Days before its expiry at which the chain wants to act; 0 if it states none."""
    price: Decimal = Decimal(0)
    may_discount: bool = False
    """True if the person may change prices."""
    keeps_all: bool = False
    """True if the service returns every field that it accepts, and takes an empty date for none."""
    is_ranged: bool = True
    """True if it is in the store's stock list."""

    def value(self, name: str) -> str:
        """Return the plain text of a setting; empty if it is unknown."""
        return dict(self.values).get(name, "")

    @property
    def known_expiry(self) -> str:
        """Expiry date known so far; empty if there is none.

        Another service may mean something else by `last_expiry_datetime`, such as the time of the last check.
        """
        return self.value(EXPIRY) if self.keeps_all else ""


class SentCheck(NamedTuple):
    """Check that was sent: plain text of each field that it set, before and after."""

    product: str
    label: str
    before: tuple[tuple[str, str], ...]
    after: tuple[tuple[str, str], ...]
    loss: str = ""
    """Loss of expired goods that was booked instead, as the job `adjust` gave it."""
    label_day: str = ""
    """Date of a label that changed nothing, because a nearer date stood. Our own service keeps it, so that `after` is
    empty then; others were sent nothing."""


class GivenDate(NamedTuple):
    """Answer for the product in hand, whose data is read again before it is taken."""

    day: str = ""
    """Empty if there are no goods."""
    is_label: bool = False
    """True if a label has the date; the piece may be one of several."""


class LabelCount(NamedTuple):
    """Number of labels of the product whose label was scanned last."""

    product: str = ""
    labels: int = 0


class ExpiryState(NamedTuple):
    """Window of the list, the product in hand, and the checks that can be undone."""

    phase: str = LIST
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    options: ListOptions = ListOptions()
    rows: tuple[ExpiryCheckRow, ...] = ()
    total: int = 0
    pending_scan: Match | None = None
    """Scanned product whose data is being read."""
    product: CheckedProduct | None = None
    day: str = ""
    """Date that was given, while something about it is asked."""
    other: Match | None = None
    """Record with the number that was typed as a date, while the person is asked which is meant."""
    found_expired: str = ""
    """Date of the goods that were found expired and are booked as a loss. The date of what is left is asked next."""
    sent: tuple[SentCheck, ...] = ()
    given: GivenDate | None = None
    """Answer that is taken once the product is read again, because others may have set its date since."""
    is_label: bool = False
    """True if the date in question is that of a label."""
    is_later_asked: bool = False
    """True while the question is whether a date later than the one that stands is right."""
    last_labels: LabelCount = LabelCount()
    known_now: str | None = None
    """Expiry date of the product in hand as others set it since; None if nobody did. It is only shown."""
    opened_at: str = ""
    """Time from which on refusals are reported."""
    reported_refusals: tuple[str, ...] = ()
    reported_dates: tuple[tuple[str, str], ...] = ()
    """Products, and the dates of other people that were reported to stand in place of the one given here."""


Result = Turn[ExpiryState]


def parse_checked_product(row: StoreProductRow) -> CheckedProduct:
    """Parse a row of the query `store_product`."""
    locations = [each["location_code"] for each in row.get("locations") or () if each["quantity"] != 0]
    return CheckedProduct(
        number=str(row["product_number"]),
        label=str(row.get("product_name") or row.get("product_description") or row["product_number"]),
        location=str(locations[0]) if locations else "",
        values=tuple(parse_entry_values(row).items()),
        own_days=to_decimal(row.get("expiration_min_range")),
        price=to_decimal(row.get("price")),
        may_discount=bool(row.get("may_edit")),
        keeps_all=bool(row.get("keeps_all")),
        is_ranged=bool(row.get("is_ranged")),
    )


def today_of(context: Context) -> date:
    """Return the day of the store."""
    return today(context.now)


def label_date(label: Match, context: Context) -> date:
    """Return the expiry date of a label."""
    return nearest_century(date.fromisoformat(label.expiry), today_of(context))


def days_before(product: CheckedProduct, policy: Policy) -> timedelta:
    """Return how long before its expiry a product is checked: as the chain says for it, else as the setting says."""
    days = product.own_days if product.own_days > 0 else policy.expiry_check_days
    return _span(days)


def _span(days: Decimal) -> timedelta:
    return timedelta(days=int(min(days, MAX_DAYS)))


def next_check(product: CheckedProduct, day: date | None, context: Context) -> date:
    """Return the day of the next check, at least tomorrow. Without a date there were no goods to check."""
    today, ahead = today_of(context), days_before(product, context.policy)
    return max(today + timedelta(days=1), today + ahead if day is None else day - ahead)


def standing_date(state: ExpiryState, context: Context) -> str:
    """Return the date that was given for the product in hand if its next check is not due; empty if it is.

    Nearer goods may be left, so that no later date replaces it by itself.
    """
    product, today = in_hand(state), today_of(context).isoformat()
    if product.value(CHECK) <= today:
        return ""
    known = product.known_expiry or _last_given(state, product.number)
    return known if known >= today else ""


def _last_given(state: ExpiryState, product: str) -> str:
    """Return the date that was sent last for a product; empty if none was."""
    checks = (dict(each.after) for each in reversed(state.sent) if each.product == product)
    return next((after[EXPIRY] for after in checks if EXPIRY in after), "")


def count_label(state: ExpiryState) -> ExpiryState:
    """Return the state with one more label of the product in hand."""
    number, last = in_hand(state).number, state.last_labels
    return state._replace(last_labels=LabelCount(number, last.labels + 1 if last.product == number else 1))


def uncount_label(state: ExpiryState, product: str) -> ExpiryState:
    """Return the state with one label of a product less."""
    last = state.last_labels
    return state._replace(last_labels=LabelCount(product, last.labels - 1)) if last.product == product else state


def unlikely_reason(day: date, context: Context) -> str:
    """Return the message id of the question about an unlikely date; empty for a likely one."""
    today, far = today_of(context), _span(context.policy.expiry_far_days)
    if day < today:
        return "expiry.is_past"
    if day == today:
        return "expiry.is_today"
    return "expiry.is_far" if day > today + far else ""


def is_discount_due(product: CheckedProduct, day: date, context: Context) -> bool:
    """Return True if the store wants a discount so shortly before the expiry. The price has to be known for it."""
    last = today_of(context) + _span(context.policy.expiry_discount_days)
    return product.price > 0 and today_of(context) < day <= last


def day_message(day: str) -> Msg:
    """Return a day with its year."""
    return msg("store_product.day", at=day)


def in_hand(state: ExpiryState) -> CheckedProduct:
    """Return the product in hand, which every page over the list has."""
    assert state.product is not None, "the pages over the list open with a product"
    return state.product


def back_to_list(state: ExpiryState) -> ExpiryState:
    """Return the state without a product in hand."""
    left = state._replace(phase=LIST, product=None, pending_scan=None, found_expired="", known_now=None)
    return drop_question(left)


def drop_question(state: ExpiryState) -> ExpiryState:
    """Return the state without a date in question."""
    return state._replace(day="", other=None, given=None, is_label=False, is_later_asked=False)
