"""Judgement whether a typed number is a quantity or the number of a record, and whether a quantity is plausible.

That it is no choice was decided in `scan/grammar`.
A number at the pace of a scanner: `session/ask_if_number_is_quantity`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from aisle.jobs.job import Query
from aisle.jobs.view import Msg, msg, raw
from aisle.scan.grammar_and_meaning_types import DELIVERY, LOCATION, ORDER, PERSON, PRODUCT, REFERENCE, Match

if TYPE_CHECKING:
    from aisle.jobs.row_types.locations import RecordsByNumberRow

MIN_RECORD_NUMBER = Decimal(10)
"""Smallest number read as that of a badge or closed order. Most quantities have one digit, and these records are of no
use where one is open: of one digit only products, locations, deliveries and active orders are asked about."""

IMPLAUSIBLE_FACTOR = Decimal(10)
"""Factor above the expected quantity from which a confirmation is asked."""

ALWAYS_ASKED_FROM = Decimal(10**6)
"""Quantity from which a confirmation is always asked."""

DROP_QUANTITY = "not_so_many"
"""Kind of the choice that drops the quantity in question."""

MAX_LIKELY_QUANTITY = Decimal(9999)
"""Largest likely quantity. A greater number that is known to the store names a record: labels have such codes."""
MAX_RECORD_CHOICES = 8
"""Most records with the typed digits that are offered beside the quantity."""

RECORD_CHOICES = ("is_product", "is_location", "is_delivery", "is_order", "is_reference", "is_person")
"""Kinds of choices that read digits as the number of a record."""
MAX_QUANTITY_DIGITS = 3
"""Most digits of an unknown number that is taken for a quantity. Orders have four digits."""


class QuantityQuestion(NamedTuple):
    """Question about a quantity that is stored nowhere else: if so many are meant, or what the typed digits name."""

    quantity: Decimal
    matches: tuple[Match, ...] = ()
    """Records with these digits. Without one it is asked if so many are meant."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of its choices: the quantity, then the records, or that the quantity is dropped."""
        return ("quantity", *([f"is_{each.kind}" for each in self.matches] or [DROP_QUANTITY]))

    def choices(self, quantity: Decimal | Msg) -> tuple[Msg, ...]:
        """Return the texts of its choices; `quantity` is with its unit."""
        records = [_record_choice(match) for match in self.matches] or [msg("order_actions.no")]
        return (msg("count.choice_quantity", quantity=quantity), *records)

    def match_of_choice(self, number: int) -> Match | None:
        """Return the record of a choice; None for the quantity and for dropping it."""
        return self.matches[number - 2] if 2 <= number < len(self.matches) + 2 else None

    def names(self, match: Match) -> bool:
        """Return True if a scan says what the digits are: the number of this record."""
        return any((each.kind, each.key) == (match.kind, match.key) for each in self.matches)

    def text(self, quantity: Decimal | Msg, label: str | Msg) -> Msg:
        """Return the question; `quantity` is with its unit."""
        if not self.matches:
            return msg("count.confirm_quantity", value=quantity, label=label)
        return number_question(self.matches[0], self.quantity, *self.matches[1:])


def _record_choice(match: Match) -> Msg:
    if match.kind not in (PRODUCT, LOCATION):
        return other_choice_text(match)
    id_ = "locations.title_location" if match.kind == LOCATION else "count.choice_product"
    return msg(id_, label=match.label or match.key)


def is_too_short_for_code(code: str) -> bool:
    """Return True if digits, also with a decimal point, are too few for a code: a quantity was typed where none is
    expected."""
    whole, _, part = code.replace(",", ".").partition(".")
    digits = whole + part
    return digits.isdecimal() and digits.isascii() and len(digits) <= MAX_QUANTITY_DIGITS


def has_decimal_point(code: str) -> bool:
    """Return True if digits have a decimal point or comma among them, as a quantity has."""
    digits = code.replace(",", ".").replace(".", "", 1)
    return digits != code and digits.isdecimal() and digits.isascii()


def query_by_number(value: Decimal, code: str) -> Query | None:
    """Return the query for records with this number, or None if it can only be a quantity. `code` is the number as
    typed (`007`, `2.5`) if the value does not say it; a product of numbers (`3*4`) is no code."""
    if not value or not (has_decimal_point(code) or code.isdigit() if code else value == value.to_integral_value()):
        return None
    return Query("records_by_number", "records_by_number", {"code": code or f"{value.to_integral_value():f}"})


def best_match(rows: Iterable[RecordsByNumberRow], value: Decimal, kinds: tuple[str, ...]) -> Match | None:
    """Return the best record with this number, from rows of the query `records_by_number`; `kinds` are best first."""
    return next(iter(matches_of_number(rows, value, kinds)), None)


def is_likely_number(rows: Iterable[RecordsByNumberRow], value: Decimal) -> bool:
    """Return True if known digits are certainly a number: too large for a quantity, and no match is a guess. `rows` are
    those of the query `records_by_number`."""
    listed = tuple(rows)
    is_guess = any(row.get("is_guess") for row in listed) or are_several_guesses(listed)
    return value > MAX_LIKELY_QUANTITY and not is_guess and not are_goods_and_location(listed)


def are_goods_and_location(rows: Iterable[RecordsByNumberRow]) -> bool:
    """Return True if the digits are on goods and on a location: which one is meant has to be asked."""
    return {PRODUCT, LOCATION} <= {row["kind"] for row in rows}


def are_several_guesses(rows: Iterable[RecordsByNumberRow]) -> bool:
    """Return True if digits fit several records with other leading zeros, none of them exactly. Goods and locations
    come before orders, as for a scan (`resolve`)."""
    names = [(row["kind"], row["key"]) for row in rows if row.get("has_other_zeros")]
    usable = [name for name in names if name[0] in (PRODUCT, LOCATION)] or names
    return len(set(usable)) > 1


def matches_of_number(rows: Iterable[RecordsByNumberRow], value: Decimal, kinds: tuple[str, ...]) -> tuple[Match, ...]:
    """Return the records with this number, from rows of `records_by_number`; usable kinds (best first) come first."""
    usable = [row for row in rows if may_be_number_of(row["kind"], value, is_active=bool(row.get("is_active")))]
    found = [Match(str(row["kind"]), str(row["key"]), str(row["label"]), code=f"{value:f}") for row in usable]
    orders = {each.key for each in found if each.kind == ORDER}
    found = [each for each in found if each.kind != REFERENCE or each.key not in orders]
    order = {kind: rank for rank, kind in enumerate(kinds)}
    return tuple(sorted(found, key=lambda each: order.get(each.kind, len(kinds))))[:MAX_RECORD_CHOICES]


def may_be_number_of(kind: str, value: Decimal, *, is_active: bool = False) -> bool:
    """Return True if digits of this value may mean a record of that kind; of orders, an active one."""
    is_active_order = is_active and kind in (ORDER, REFERENCE)
    return value >= MIN_RECORD_NUMBER or kind in (LOCATION, DELIVERY, PRODUCT) or is_active_order


def number_question(match: Match, value: Decimal, *others: Match) -> Msg:
    """Return the question whether digits are a quantity or name this record, or one of several."""
    if others:
        return msg("move.number_of", quantity=value)
    return msg("count.number_of_other", value=value, what=name_of(match))


def other_choice_text(match: Match) -> Msg:
    """Return the text of the choice that digits name a record this page cannot use. They then have no effect."""
    return msg("count.choice_other", what=name_of(match))


def name_of(match: Match) -> Msg:
    """Return a record in words: `order 4101`, `the badge of Petra Oakes`; a product by its name alone."""
    if match.kind in (ORDER, REFERENCE):
        return msg("record_name.order", what=match.key)
    if match.kind == LOCATION:
        return msg("record_name.location", what=match.key)
    if match.kind == DELIVERY:
        return msg("record_name.delivery", what=match.key)
    label = match.label or match.key
    return msg("record_name.person", what=label) if match.kind == PERSON else raw(label)


def is_other_kind(match: Match, other: Match) -> bool:
    """Return True if two records with one code are of different kinds; an order and its reference are one."""
    orders = (ORDER, REFERENCE)
    return match.kind != other.kind and not (match.kind in orders and other.kind in orders)


def not_an_order(match: Match) -> Msg:
    """Return the refusal of a record where an order is scanned."""
    return msg("page.not_this", what=name_of(match))


def distinct_labels(label: str, product: str, scanned: Match) -> dict[str, str]:
    """Return the names of a product and of what was scanned (`label`, `what`); equal ones with their numbers."""
    what = scanned.label or scanned.key
    if label == what and product != scanned.key:
        return {"label": f"{label} {product}", "what": f"{what} {scanned.key}"}
    return {"label": label, "what": what}


def with_distinct_names(products: Sequence[Match]) -> Sequence[Match]:
    """Return the products with distinct labels. If two share a name, all get their number added."""
    if len({each.label for each in products}) == len(products):
        return products
    return [each._replace(label=f"{each.label} {each.key}".strip()) for each in products]


def is_implausible(
    value: Decimal, expected: Decimal, limit: Decimal, entered: Decimal = Decimal(0), added: Decimal | None = None
) -> bool:
    """Return True if a quantity must be confirmed. It is implausible if it is far more than `expected`, or at least
    `limit` if nothing is expected; seven digits always are.

    `entered` was entered before and is plausible, and so is what is not far above it if `entered` itself is far more
    than expected. A scan adds to it: it is implausible only if what it adds (`added`) is more than expected, and later
    only if that is far more, or at least `limit`.
    """
    if value <= entered:
        return False
    if value >= ALWAYS_ASKED_FROM:
        return True
    is_large = bool(limit) and (value if added is None else added) >= limit
    if expected <= 0:
        return bool(limit) and value >= limit and (is_large or value > IMPLAUSIBLE_FACTOR * entered)
    usual = IMPLAUSIBLE_FACTOR * expected
    if value <= usual:
        return False
    is_far_before = entered > usual
    if added is None:
        return is_large or not is_far_before or value > IMPLAUSIBLE_FACTOR * entered
    return is_large or added > (usual if is_far_before else expected)


def is_implausible_sum(value: Decimal, expected: Decimal, limit: Decimal, entered: Decimal, scanned: Decimal) -> bool:
    """Return True if a typed quantity, or the sum after `scanned` more, must be confirmed."""
    if scanned == 1:
        return is_implausible_scan(value, max(expected, entered), limit)
    return is_implausible(value, expected, limit, entered, scanned or None)


def is_implausible_scan(value: Decimal, known: Decimal, limit: Decimal) -> bool:
    """Return True if the sum of single scans must be confirmed. One more piece is plausible while the sum is below
    `limit`."""
    return value >= ALWAYS_ASKED_FROM or (bool(limit) and value >= limit and value > IMPLAUSIBLE_FACTOR * known)
