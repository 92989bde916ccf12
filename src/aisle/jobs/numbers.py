"""Digits where a quantity is open may be the number of something: what they are the number of is asked about.

Codes of up to seven digits are typed and scanned like quantities. A place or an order of just that code is meant as
likely as so many pieces, and a product too, unless its number is as short as most quantities are.
What that is, or anything else of which a page makes nothing, is said in words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from aisle.jobs.base import Query
from aisle.jobs.view import Msg, msg, raw
from aisle.scan.meaning import DELIVERY, LOCATION, ORDER, PERSON, PRODUCT, REFERENCE, Meaning

SHORTEST = 3
"""Digits of the number of a product or an order that is asked about."""

LIKELY = Decimal(9999)
"""More than this is rather the number of something than a quantity."""

MANY, TIMES = Decimal(1000), Decimal(10)
"""So many, and so many times what is known, is asked about before it is believed."""


def asked(value: Decimal, code: str) -> Query | None:
    """The question what these digits are the number of; None where they can only be a quantity."""
    if value != value.to_integral_value() or not value or not (code or "0").isdigit():
        return None
    return Query("named", "named", {"code": code or f"{value:f}"})


def meant(rows: Iterable[Mapping[str, Any]], value: Decimal, kinds: tuple[str, ...]) -> Meaning | None:
    """What the digits are the number of, of these kinds, best first; rows of the read `named`."""
    return next(iter(meanings(rows, value, kinds)), None)


def meanings(rows: Iterable[Mapping[str, Any]], value: Decimal, kinds: tuple[str, ...]) -> tuple[Meaning, ...]:
    """All that the digits are the number of, of these kinds, best first; rows of the read `named`."""
    found = [Meaning(str(row["kind"]), str(row["key"]), str(row["label"]), code=f"{value:f}") for row in rows]
    usable = [each for each in found if each.kind in kinds and (each.kind != PRODUCT or _is_long(value))]
    return tuple(sorted(usable, key=lambda each: kinds.index(each.kind)))


def or_order(value: Decimal, kinds: tuple[str, ...]) -> tuple[str, ...]:
    """What digits may be the number of where an order is of no use: these kinds, and an order last, unless its number
    is short."""
    return (*kinds, ORDER) if _is_long(value) else kinds


def _is_long(value: Decimal) -> bool:
    return value >= Decimal(10) ** (SHORTEST - 1)


def is_beyond(value: Decimal, known: Decimal) -> bool:
    """Whether nobody would believe that there are so many, where `known` is what there was."""
    return value >= MANY and value > TIMES * known


def prompt(choices: int, *, scans: bool = True) -> Msg:
    """What is asked where numbers choose and any other one says how many in all; `scans`: a scan goes on from there."""
    id_ = "prompt.choose_or_many" if scans else "prompt.choose_or_type"
    return msg(id_, numbers=f"1-{choices}" if choices > 1 else "1")


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
