"""Rules for one row of the service: difference of a count, price of a log entry, locations with negative stock."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from aisle.cache.service_row_parsing import RawRow
from aisle.decimal_of_row import to_decimal

STATUS_REVIEWED = "2"
"""Value of `review_status` for an approved entry, in the numbers of our own service. interface: review_status."""


def difference_of_count(entry: RawRow, user: str) -> Decimal | None:
    """Return counted minus expected quantity; None if nobody has to review it."""
    if entry.get("counted_quantity") is None or str(entry.get("review_status")) == STATUS_REVIEWED:
        return None
    counted, expected = to_decimal(entry["counted_quantity"]), entry.get("expected_quantity")
    difference = to_decimal(entry.get("quantity")) if expected is None else counted - to_decimal(expected)
    if not difference or (not user and expected is not None and not to_decimal(expected)):
        return None  # stock from loading the store is no count
    return difference


_PRICE_FIELDS = ("store_products_price", "price")

ENTRY_PRICE_SQL = f"coalesce({', '.join(f'nullif(CAST(l.raw ->> {each!r} AS REAL), 0)' for each in _PRICE_FIELDS)})"
"""Price stated by the log entry `l` (see `entry_price`)."""


def entry_price(entry: RawRow) -> Any:
    """Return the price stated by a log entry: the store's own, else the chain's; None if it has none, or 0."""
    return next((entry[each] for each in _PRICE_FIELDS if to_decimal(entry.get(each))), None)


def negative_stock(entry: RawRow) -> list[tuple[str, Decimal]]:
    """Return the locations with a negative quantity; an empty code is the stock outside of locations."""
    locations = entry.get("store_locations")
    quantities = [
        (str(location.get("store_location_code") or ""), to_decimal(location.get("quantity")))
        for location in (locations if isinstance(locations, list) else ())
        if isinstance(location, dict)
    ]
    at_places = sum((quantity for _, quantity in quantities), Decimal(0))
    total = to_decimal(entry.get("most_likely_quantity"))
    if total < at_places or (total < 0 and not quantities):
        quantities.insert(0, ("", total - at_places))
    return [(location, quantity) for location, quantity in quantities if quantity < 0]
