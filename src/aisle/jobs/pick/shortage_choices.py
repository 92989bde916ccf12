"""Choices of a shortage: other locations with stock, and reasons.

Each keeps its number while the page is open, whatever arrives later.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from aisle.jobs.typed_numbers_dates_and_letters import OfferedChoice
from aisle.row_values import to_decimal
from aisle.settings.setting_definitions import SHORTAGE_REASONS

if TYPE_CHECKING:
    from aisle.jobs.row_types.locations import OtherLocationsRow
    from aisle.jobs.row_types.log import ShortReasonsRow

MAX_NEAR = 3
"""Number of locations before the reasons, so that both have one digit."""

_REASON = re.compile(r"\s*(\d+)\s+(?:(0)\s+)?(\S.*?)\s*")


class Reason(NamedTuple):
    """Reason of a shortage; `is_location_empty` means that nothing is left at the location."""

    code: str
    text: str
    is_location_empty: bool = False


class OtherLocation(NamedTuple):
    """Another location and its approximate stock held by no order; `pool` is 0 in a store without pools."""

    location: str
    pool: int
    quantity: Decimal


def parse_reasons(lines: Iterable[str], from_orders: Iterable[ShortReasonsRow] = ()) -> tuple[Reason, ...]:
    """Return the reasons of a table, then those used on orders. A table line is `code words`, or `code 0 words` if the
    location is empty. Lines of another form are ignored; an empty table is replaced by the default one."""
    found = _parse_table(lines) or _parse_table(SHORTAGE_REASONS)
    for row in from_orders:
        code, text = str(row["code"]), str(row["text"])
        if code not in found:
            found[code] = Reason(code, text)
    return tuple(found.values())


def _parse_table(lines: Iterable[str]) -> dict[str, Reason]:
    read = (_REASON.fullmatch(line) for line in lines)
    return {line[1]: Reason(line[1], line[3], bool(line[2])) for line in read if line}


def reasons_for_location(reasons: Iterable[Reason], location: str) -> tuple[Reason, ...]:
    """Return the reasons that are possible here: without a location, none says that it is empty."""
    all_reasons = tuple(reasons)
    return tuple(reason for reason in all_reasons if location or not reason.is_location_empty) or all_reasons


def merge_reasons(known: Sequence[Reason], fresh: Iterable[Reason]) -> tuple[Reason, ...]:
    """Update the texts of known reasons in their order, and append new ones."""
    by_code = {reason.code: reason for reason in fresh}
    return (*(by_code.pop(reason.code, reason) for reason in known), *by_code.values())


def merge_locations(known: Sequence[OtherLocation], rows: Iterable[OtherLocationsRow]) -> tuple[OtherLocation, ...]:
    """Update known locations from rows of `other_locations`, and append new ones; one without a row has stock 0."""
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
) -> tuple[OfferedChoice, ...]:
    """Return the nearest locations, the reasons, the rejection of the order, and then the other locations."""
    places = [OfferedChoice("location", spot.location) for spot in locations]
    why = [OfferedChoice("reason", reason.code) for reason in reasons]
    reject = [OfferedChoice("reject")] if may_reject else []
    return (*places[:MAX_NEAR], *why, *reject, *places[MAX_NEAR:])
