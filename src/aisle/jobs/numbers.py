"""Numbers where a quantity is open: the quantity, once it is sure that no number of the store was meant.

Codes of up to seven digits are typed and scanned like quantities. What the store knows by such a number (a product, a
place, an order, a delivery, a badge) is asked about before it counts as a quantity; so is a quantity that nobody would
believe. What it is, or anything else of which a page makes nothing, is said in words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from aisle.jobs.base import Query
from aisle.jobs.view import Msg, msg, raw
from aisle.scan.meaning import DELIVERY, LOCATION, ORDER, PERSON, PRODUCT, REFERENCE, Meaning

SHORTEST = Decimal(10)
"""Nobody means a product, an order or a badge by one digit; places have such codes."""

LIKELY = Decimal(9999)
"""More than this is the number of something that the store knows by it: labels have such codes."""

TIMES = Decimal(10)
"""More than so many times what is known is asked about before it is believed."""

SEVEN_DIGITS = Decimal(10**6)
"""So many and more are always asked about."""

NOT_SO_MANY = "not_so_many"
"""The kind of the way on that says that so many, which are asked about, are not meant."""

NUMBER_OF = ("is_product", "is_location", "is_delivery", "is_order", "is_reference", "is_person")
"""Kinds of ways on that say what digits are the number of."""

MEANT_AS_QUANTITY = 3
"""Digits of an unknown number up to which it was meant as a quantity: orders have four."""


def is_no_code(code: str) -> bool:
    """Whether digits, with or without a point, are too few for a code: somebody meant a quantity where none is open."""
    whole, _, part = code.replace(",", ".").partition(".")
    digits = whole + part
    return digits.isdecimal() and digits.isascii() and len(digits) <= MEANT_AS_QUANTITY


def asked(value: Decimal, code: str) -> Query | None:
    """The question what these digits are the number of; None where they can only be a quantity."""
    if value != value.to_integral_value() or not value or not (code or "0").isdigit():
        return None
    return Query("named", "named", {"code": code or f"{value.to_integral_value():f}"})


def meant(rows: Iterable[Mapping[str, Any]], value: Decimal, kinds: tuple[str, ...]) -> Meaning | None:
    """What the digits are the number of, best of these kinds; rows of the read `named`."""
    return next(iter(meanings(rows, value, kinds)), None)


def is_likely(rows: Iterable[Mapping[str, Any]], value: Decimal) -> bool:
    """Whether digits that the store knows (rows of the read `named`) are that number without a question: nobody means
    so many, and nothing of the number was guessed."""
    return value > LIKELY and not any(row.get("is_guess") for row in rows)


def meanings(rows: Iterable[Mapping[str, Any]], value: Decimal, kinds: tuple[str, ...]) -> tuple[Meaning, ...]:
    """All that the digits are the number of: first what the page can use (`kinds`, best first); rows of the read
    `named`."""
    found = [Meaning(str(row["kind"]), str(row["key"]), str(row["label"]), code=f"{value:f}") for row in rows]
    found = [each for each in found if is_number_of(each.kind, value)]
    order = {kind: rank for rank, kind in enumerate(kinds)}
    return tuple(sorted(found, key=lambda each: order.get(each.kind, len(kinds))))


def is_number_of(kind: str, value: Decimal) -> bool:
    """Whether digits that are the number of such a thing may be meant as that."""
    return value >= SHORTEST or kind in (LOCATION, DELIVERY)


def is_beyond(
    value: Decimal, expected: Decimal, limit: Decimal, said: Decimal = Decimal(0), more: Decimal | None = None
) -> bool:
    """Whether nobody would believe that so many were typed: far more than are `expected`, or the `limit` where none
    are; seven digits always. What was `said` before is believed, and so is what is not far more than that, unless as
    many as the limit were said at once (`more`: by a scan, which adds to the others)."""
    if value <= said:
        return False
    if value >= SEVEN_DIGITS:
        return True
    is_large = bool(limit) and (value if more is None else more) >= limit
    if value <= TIMES * said and not is_large:
        return False
    return value > TIMES * expected if expected > 0 else bool(limit) and value >= limit


def is_scanned_beyond(value: Decimal, known: Decimal, limit: Decimal) -> bool:
    """The same of scans that add up: one more piece is believed while the sum is below the limit."""
    return value >= SEVEN_DIGITS or (bool(limit) and value >= limit and value > TIMES * known)


def prompt(keys: str, *, scans: bool = True) -> Msg:
    """What is asked where letters choose and a number says how many in all; `scans`: a scan goes on from there."""
    return msg("prompt.choose_or_many" if scans else "prompt.choose_or_type", letters=spelt(keys))


def prompt_letter(keys: str, *, scans: bool = True) -> Msg:
    """What is asked where letters choose, and no quantity is open."""
    return msg("prompt.letter_or_scan" if scans else "prompt.letter", letters=spelt(keys))


def spelt(keys: str) -> str:
    """The letters of the choices, one by one."""
    return " ".join(keys)


def question(meaning: Meaning, value: Decimal) -> Msg:
    """Whether so many are meant, or what the digits are the number of."""
    if meaning.kind == ORDER:
        return msg("count.number_of_order", value=value, what=meaning.key)
    if meaning.kind in (PRODUCT, LOCATION):
        id_ = "count.number_of_product" if meaning.kind == PRODUCT else "count.number_of_place"
        return msg(id_, value=value, what=meaning.label or meaning.key)
    return msg("count.number_of_other", value=value, what=what_is(meaning))


def way_other(meaning: Meaning) -> Msg:
    """The choice that digits are the number of something that this page has no use for: then they are nothing."""
    if meaning.kind == ORDER:
        return msg("count.way_order", label=meaning.key)
    return msg("count.way_other", what=what_is(meaning))


def what_is(meaning: Meaning) -> Msg:
    """`order 4101`, `the badge of Petra Oakes`, in words; a product by its name alone."""
    if meaning.kind in (ORDER, REFERENCE):
        return msg("what.order", what=meaning.key)
    if meaning.kind == LOCATION:
        return msg("what.place", what=meaning.key)
    if meaning.kind == DELIVERY:
        return msg("what.delivery", what=meaning.key)
    label = meaning.label or meaning.key
    return msg("what.person", what=label) if meaning.kind == PERSON else raw(label)


def named_apart(products: Sequence[Meaning]) -> Sequence[Meaning]:
    """Products by their names; where two have one, by their numbers too."""
    if len({each.label for each in products}) == len(products):
        return products
    return [each._replace(label=f"{each.label} {each.key}".strip()) for each in products]
