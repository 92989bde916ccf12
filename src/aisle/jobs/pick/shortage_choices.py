"""The numbered ways on from a shortage: places where more lies, and reasons. Each keeps its number while the page is
open, whatever is heard meanwhile.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from aisle.jobs.quantities import to_decimal
from aisle.settings import SHORTAGE_REASONS

MAX_NEAR = 3
"""Places that come before the reasons; so both have a single digit."""

_REASON = re.compile(r"\s*(\d+)\s+(?:(0)\s+)?(\S.*?)\s*")


class Reason(NamedTuple):
    """Why it is missing; `empty` says that nothing at all is left at the place."""

    code: str
    text: str
    is_location_empty: bool = False


class OtherLocation(NamedTuple):
    """Another place, and about how much there belongs to no order; `pool` is 0 where nobody keeps pools."""

    location: str
    pool: int
    quantity: Decimal


class ShortageChoice(NamedTuple):
    """One numbered way on: `place` (its code), `reason` (its code), `reject`; or one that a scan led to: `place` where
    nothing is known, `product` to be looked up; `reject` with a reason, once more to be sure of."""

    kind: str
    key: str = ""


def parse_reasons(lines: Iterable[str], from_orders: Iterable[Mapping[str, Any]] = ()) -> tuple[Reason, ...]:
    """The reasons of a table (`code words`, `code 0 words` where nothing is left), then those that orders have named.

    Lines that say something else are left out; where none is left, the usual table stands in.
    """
    found = _parse_table(lines) or _parse_table(SHORTAGE_REASONS)
    for row in from_orders:
        code, words = str(row["code"]), str(row["words"])
        if code not in found:
            found[code] = Reason(code, words)
    return tuple(found.values())


def _parse_table(lines: Iterable[str]) -> dict[str, Reason]:
    read = (_REASON.fullmatch(line) for line in lines)
    return {line[1]: Reason(line[1], line[3], bool(line[2])) for line in read if line}


def reasons_for_location(reasons: Iterable[Reason], location: str) -> tuple[Reason, ...]:
    """No place can be empty where nobody knows the place."""
    given = tuple(reasons)
    return tuple(reason for reason in given if location or not reason.is_location_empty) or given


def merge_reasons(known: Sequence[Reason], fresh: Iterable[Reason]) -> tuple[Reason, ...]:
    """Those that are known stay where they are, in the words that they have now; others come behind."""
    by_code = {reason.code: reason for reason in fresh}
    return (*(by_code.pop(reason.code, reason) for reason in known), *by_code.values())


def merge_locations(known: Sequence[OtherLocation], rows: Iterable[Mapping[str, Any]]) -> tuple[OtherLocation, ...]:
    """Places as the books have them now (rows of the read `elsewhere`), behind those that are known already; one that
    has none any more says so."""
    fresh = {
        str(row["location_code"]): OtherLocation(
            str(row["location_code"]), int(row["pool"]), to_decimal(row["quantity"])
        )
        for row in rows
    }
    old = [fresh.pop(spot.location, spot._replace(quantity=Decimal(0))) for spot in known]
    return (*old, *fresh.values())


def list_choices(
    locations: Iterable[OtherLocation], reasons: Iterable[Reason], *, may_reject: bool
) -> tuple[ShortageChoice, ...]:
    """The nearest places, the reasons, the order's rejection, and then the places farther off."""
    places = [ShortageChoice("place", spot.location) for spot in locations]
    why = [ShortageChoice("reason", reason.code) for reason in reasons]
    reject = [ShortageChoice("reject")] if may_reject else []
    return (*places[:MAX_NEAR], *why, *reject, *places[MAX_NEAR:])
