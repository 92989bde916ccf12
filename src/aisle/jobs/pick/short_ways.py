"""The numbered ways on from a shortage: places where more lies, and reasons. Each keeps its number while the page is
open, whatever is heard meanwhile.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from aisle.jobs.amounts import number
from aisle.settings import SHORT_REASONS
from aisle.tuples import NamedTuple

NEAR = 3
"""Places that come before the reasons; so both have a single digit."""

_REASON = re.compile(r"\s*(\d+)\s+(?:(0)\s+)?(\S.*?)\s*")


class Reason(NamedTuple):
    """Why it is missing; `empty` says that nothing at all is left at the place."""

    code: str
    words: str
    empty: bool = False


class Spot(NamedTuple):
    """Another place, and about how much there belongs to no order; `pool` is 0 where nobody keeps pools."""

    place: str
    pool: int
    quantity: Decimal


class Way(NamedTuple):
    """One numbered way on: `place` (its code), `reason` (its code), `reject`; or one that a scan led to: `place` where
    nothing is known, `product` to be looked up; `reject` with a reason, once more to be sure of."""

    kind: str
    key: str = ""


def reasons(lines: Iterable[str], learnt: Iterable[Mapping[str, Any]] = ()) -> tuple[Reason, ...]:
    """The reasons of a table (`code words`, `code 0 words` where nothing is left), then those that orders have named.

    Lines that say something else are left out; where none is left, the usual table stands in.
    """
    found = _table(lines) or _table(SHORT_REASONS)
    for row in learnt:
        code, words = str(row["code"]), str(row["words"])
        if code not in found:
            found[code] = Reason(code, words)
    return tuple(found.values())


def _table(lines: Iterable[str]) -> dict[str, Reason]:
    read = (_REASON.fullmatch(line) for line in lines)
    return {line[1]: Reason(line[1], line[3], bool(line[2])) for line in read if line}


def fitting(found: Iterable[Reason], place: str) -> tuple[Reason, ...]:
    """No place can be empty where nobody knows the place."""
    given = tuple(found)
    return tuple(reason for reason in given if place or not reason.empty) or given


def kept_reasons(known: Sequence[Reason], fresh: Iterable[Reason]) -> tuple[Reason, ...]:
    """Those that are known stay where they are, in the words that they have now; others come behind."""
    by_code = {reason.code: reason for reason in fresh}
    return (*(by_code.pop(reason.code, reason) for reason in known), *by_code.values())


def kept_spots(known: Sequence[Spot], rows: Iterable[Mapping[str, Any]]) -> tuple[Spot, ...]:
    """Places as the books have them now (rows of the read `elsewhere`), behind those that are known already; one that
    has none any more says so."""
    fresh = {
        str(row["location_code"]): Spot(str(row["location_code"]), int(row["pool"]), number(row["quantity"]))
        for row in rows
    }
    old = [fresh.pop(spot.place, spot._replace(quantity=Decimal(0))) for spot in known]
    return (*old, *fresh.values())


def ways_of(spots: Iterable[Spot], known: Iterable[Reason], *, may_reject: bool) -> tuple[Way, ...]:
    """The nearest places, the reasons, the order's rejection, and then the places farther off."""
    places = [Way("place", spot.place) for spot in spots]
    why = [Way("reason", reason.code) for reason in known]
    reject = [Way("reject")] if may_reject else []
    return (*places[:NEAR], *why, *reject, *places[NEAR:])
