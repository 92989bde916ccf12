"""Parsing of rows as cache.db stores them: JSON, sums and times.

Rows of the service before they are stored: `service_row_parsing`.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal

from aisle.decimal_of_row import to_decimal
from aisle.jobs.job import Json
from aisle.jobs.walk_order_sort_keys import NO_WALK_ORDER

Row = dict[str, Json]
"""Object of the service as stored. It may lack any field of the interface and have others."""


def _parse_fraction(text: str) -> Decimal | int:
    value = Decimal(text)
    return int(value) if value.adjusted() < NO_WALK_ORDER.adjusted() and value == value.to_integral_value() else value


def _parse_constant(word: str) -> None:
    """Return None for NaN and the infinities."""


_DECODER = json.JSONDecoder(parse_float=_parse_fraction, parse_constant=_parse_constant)
"""Shared decoder, because making one takes as long as parsing a row."""


def parse_row(raw: str) -> Row:
    """Parse a stored row: whole numbers as int, fractions as Decimal."""
    row: Row = _DECODER.decode(raw)
    return row


def round_sum(value: float) -> Decimal:
    """Return a stored sum as Decimal, rounded to six digits; digits beyond are rounding errors."""
    return Decimal(int(value)) if value.is_integer() else to_decimal(round(value, 6))


def iso_time(at: float) -> str:
    """Return seconds since 1970 as ISO 8601 UTC, in the form of `to_utc_text`."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
