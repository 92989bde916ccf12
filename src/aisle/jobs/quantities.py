"""Amounts as rows of the store have them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from aisle.jobs.job import Query
from aisle.jobs.view import Msg, msg, raw
from aisle.scan.meaning import DELIVERY, LOCATION, ORDER, PERSON, PRODUCT, REFERENCE, Match

MAX_DIGITS = 30
"""So many digits before or behind the point a number may have, and be reckoned with and written out."""


def to_decimal(value: Any, default: Decimal = Decimal(0)) -> Decimal:
    """A number of the store's data as Decimal; whatever is missing, no number or beyond all reckoning gives the
    default."""
    if value is None or isinstance(value, bool):
        return default
    try:
        found = value if isinstance(value, Decimal) else Decimal(str(value))
    except ArithmeticError:
        return default
    return found if found.is_finite() and -MAX_DIGITS <= found.adjusted() <= MAX_DIGITS else default


def to_decimal_or_none(value: Any) -> Decimal | None:
    """The same; None where it is missing."""
    return None if value is None else to_decimal(value)


def order_progress(row: Mapping[str, Any]) -> tuple[Decimal, Decimal]:
    """(picked, ordered) of an order; in pieces where some of it is measured, for kilos and pieces have no sum."""
    if "pieces" in row:
        return to_decimal(row["picked_pieces"]), to_decimal(row["pieces"])
    return to_decimal(row.get("picked_quantity")), to_decimal(row.get("total_quantity"))


MIN_RECORD_NUMBER = Decimal(10)
"""Nobody means a product, an order or a badge by one digit; places have such codes."""

MAX_LIKELY_QUANTITY = Decimal(9999)
"""More than this is the number of something that the store knows by it: labels have such codes."""

IMPLAUSIBLE_FACTOR = Decimal(10)
"""More than so many times what is known is asked about before it is believed."""

ALWAYS_ASKED_FROM = Decimal(10**6)
"""So many and more are always asked about."""

DROP_QUANTITY = "not_so_many"
"""The kind of the way on that says that so many, which are asked about, are not meant."""

RECORD_CHOICES = ("is_product", "is_location", "is_delivery", "is_order", "is_reference", "is_person")
"""Kinds of ways on that say what digits are the number of."""

MAX_QUANTITY_DIGITS = 3
"""Digits of an unknown number up to which it was meant as a quantity: orders have four."""


def is_too_short_for_code(code: str) -> bool:
    """Whether digits, with or without a point, are too few for a code: somebody meant a quantity where none is open."""
    whole, _, part = code.replace(",", ".").partition(".")
    digits = whole + part
    return digits.isdecimal() and digits.isascii() and len(digits) <= MAX_QUANTITY_DIGITS


def query_by_number(value: Decimal, code: str) -> Query | None:
    """The question what these digits are the number of; None where they can only be a quantity."""
    if value != value.to_integral_value() or not value or not (code or "0").isdigit():
        return None
    return Query("named", "named", {"code": code or f"{value.to_integral_value():f}"})


def best_match(rows: Iterable[Mapping[str, Any]], value: Decimal, kinds: tuple[str, ...]) -> Match | None:
    """What the digits are the number of, best of these kinds; rows of the read `named`."""
    return next(iter(matches_of_number(rows, value, kinds)), None)


def is_likely_number(rows: Iterable[Mapping[str, Any]], value: Decimal) -> bool:
    """Whether digits that the store knows (rows of the read `named`) are that number without a question: nobody means
    so many, and nothing of the number was guessed."""
    return value > MAX_LIKELY_QUANTITY and not any(row.get("is_guess") for row in rows)


def matches_of_number(rows: Iterable[Mapping[str, Any]], value: Decimal, kinds: tuple[str, ...]) -> tuple[Match, ...]:
    """All that the digits are the number of: first what the page can use (`kinds`, best first); rows of the read
    `named`."""
    found = [Match(str(row["kind"]), str(row["key"]), str(row["label"]), code=f"{value:f}") for row in rows]
    found = [each for each in found if may_be_number_of(each.kind, value)]
    order = {kind: rank for rank, kind in enumerate(kinds)}
    return tuple(sorted(found, key=lambda each: order.get(each.kind, len(kinds))))


def may_be_number_of(kind: str, value: Decimal) -> bool:
    """Whether digits that are the number of such a thing may be meant as that."""
    return value >= MIN_RECORD_NUMBER or kind in (LOCATION, DELIVERY)


def is_implausible(
    value: Decimal, expected: Decimal, limit: Decimal, entered: Decimal = Decimal(0), added: Decimal | None = None
) -> bool:
    """Whether nobody would believe that so many were typed: far more than are `expected`, or the `limit` where none
    are; seven digits always. What was `said` before is believed, and so is what is not far more than that, unless as
    many as the limit were said at once (`more`: by a scan, which adds to the others)."""
    if value <= entered:
        return False
    if value >= ALWAYS_ASKED_FROM:
        return True
    is_large = bool(limit) and (value if added is None else added) >= limit
    if value <= IMPLAUSIBLE_FACTOR * entered and not is_large:
        return False
    return value > IMPLAUSIBLE_FACTOR * expected if expected > 0 else bool(limit) and value >= limit


def is_implausible_scan(value: Decimal, known: Decimal, limit: Decimal) -> bool:
    """The same of scans that add up: one more piece is believed while the sum is below the limit."""
    return value >= ALWAYS_ASKED_FROM or (bool(limit) and value >= limit and value > IMPLAUSIBLE_FACTOR * known)


def quantity_prompt(keys: str, *, scans: bool = True) -> Msg:
    """What is asked where letters choose and a number says how many in all; `scans`: a scan goes on from there."""
    return msg("prompt.choose_or_many" if scans else "prompt.choose_or_type", letters=spell_letters(keys))


def letter_prompt(keys: str, *, scans: bool = True) -> Msg:
    """What is asked where letters choose, and no quantity is open."""
    return msg("prompt.letter_or_scan" if scans else "prompt.letter", letters=spell_letters(keys))


def spell_letters(keys: str) -> str:
    """The letters of the choices, one by one."""
    return " ".join(keys)


def number_question(match: Match, value: Decimal) -> Msg:
    """Whether so many are meant, or what the digits are the number of."""
    if match.kind == ORDER:
        return msg("count.number_of_order", value=value, what=match.key)
    if match.kind in (PRODUCT, LOCATION):
        id_ = "count.number_of_product" if match.kind == PRODUCT else "count.number_of_place"
        return msg(id_, value=value, what=match.label or match.key)
    return msg("count.number_of_other", value=value, what=name_of(match))


def other_choice_text(match: Match) -> Msg:
    """The choice that digits are the number of something that this page has no use for: then they are nothing."""
    if match.kind == ORDER:
        return msg("count.way_order", label=match.key)
    return msg("count.way_other", what=name_of(match))


def name_of(match: Match) -> Msg:
    """`order 4101`, `the badge of Petra Oakes`, in words; a product by its name alone."""
    if match.kind in (ORDER, REFERENCE):
        return msg("what.order", what=match.key)
    if match.kind == LOCATION:
        return msg("what.place", what=match.key)
    if match.kind == DELIVERY:
        return msg("what.delivery", what=match.key)
    label = match.label or match.key
    return msg("what.person", what=label) if match.kind == PERSON else raw(label)


def with_distinct_names(products: Sequence[Match]) -> Sequence[Match]:
    """Products by their names; where two have one, by their numbers too."""
    if len({each.label for each in products}) == len(products):
        return products
    return [each._replace(label=f"{each.label} {each.key}".strip()) for each in products]
