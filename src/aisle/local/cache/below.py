"""Stock that cannot be, of which there is less than none: kept apart, so that a list of it need not look at all stock.

interface: Store product stock entry, Stock location entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs.amounts import number

SIGN = ":-"
"""Stands in every stock entry with a number below zero."""


def below_of(entry: Mapping[str, Any]) -> list[tuple[str, Decimal]]:
    """The places with less than nothing, and how much; an empty one for what lies at none."""
    places = entry.get("store_locations")
    spots = [
        (str(place.get("store_location_code") or ""), number(place.get("quantity")))
        for place in (places if isinstance(places, list) else ())
        if isinstance(place, dict)
    ]
    at_places = sum((quantity for _, quantity in spots), Decimal(0))
    whole = number(entry.get("most_likely_quantity"))
    if whole < at_places or (whole < 0 and not spots):
        spots.insert(0, ("", whole - at_places))
    return [(place, quantity) for place, quantity in spots if quantity < 0]
