"""Quantities: exact integer thousandths inside, JSON numbers on the wire."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from aisle.service.errors import unprocessable

THOUSANDTHS_PER_UNIT = 1000
_NUMBER_LIMIT = 10**12
NUMBER_LIMIT = Decimal(_NUMBER_LIMIT)
INT64_LIMIT = (1 << 63) - 1
"""Limit of an integer and its negative in both databases."""
QUANTITY_LIMIT = 10**9
"""Limit of the quantity in one location or on one line. Sums of any number of them fit both databases."""
INT32_LIMIT = (1 << 31) - 1
INT32_FIELDS = frozenset(
    {
        "category_order",
        "edit_min_max_percentage",
        "expiration_min_range",
        "max",
        "min",
        "shelf_label_layout",
        "shelf_label_quantity",
    }
)
"""Numbers of bodies that the interface returns as int32."""


def parse_thousandths(value: int | float | Decimal, field: str, *, whole: bool = False) -> int:
    """Parse a number of the wire into thousandths. `whole` refuses fractions (products without `allow_decimal`).

    Raise Refusal (422) for more than three decimal places, refused fractions, and numbers above 10^12.
    """
    if isinstance(value, int):
        if -_NUMBER_LIMIT <= value <= _NUMBER_LIMIT:
            return int(value) * THOUSANDTHS_PER_UNIT
        exact = Decimal(value)
    else:
        try:
            exact = Decimal(repr(value)) if isinstance(value, float) else value
        except InvalidOperation:
            raise unprocessable(f"{value} is not a number.", field) from None
    if not exact.is_finite() or exact > NUMBER_LIMIT or exact < -NUMBER_LIMIT:
        raise unprocessable(f"{value} is too large.", field)
    # Checked before the calculation, which would round an exponent of minus a million away.
    exponent = exact.as_tuple().exponent
    scaled = exact * THOUSANDTHS_PER_UNIT if isinstance(exponent, int) and exponent > -12 else Decimal("0.1")
    if scaled != scaled.to_integral_value():
        raise unprocessable(f"{value} has more than three decimal places; round it.", field)
    if whole and scaled % THOUSANDTHS_PER_UNIT:
        raise unprocessable(f"{value} is not a whole number.", field)
    return int(scaled)


def parse_whole_number(value: int | float | Decimal, field: str) -> int:
    """Parse an integer of the wire. Raise Refusal (422) for a fraction."""
    return parse_thousandths(value, field, whole=True) // THOUSANDTHS_PER_UNIT


def parse_quantity(value: int | float | Decimal, field: str, *, whole: bool = False) -> int:
    """Parse a quantity of goods into thousandths. Raise Refusal (422) like `parse_thousandths`, or above the limit."""
    amount = parse_thousandths(value, field, whole=whole)
    if abs(amount) > QUANTITY_LIMIT * THOUSANDTHS_PER_UNIT:
        raise unprocessable(f"{value} is too large: {QUANTITY_LIMIT:,} is the most that there can be.", field)
    return amount


def parse_row_id(value: int | float | Decimal, field: str) -> int:
    """Parse the id of a row, of any size. Raise Refusal (422) for a fraction."""
    return value if isinstance(value, int) else parse_whole_number(value, field)


def parse_int32(value: int | float | Decimal, field: str) -> int:
    """Parse a number that the interface returns as int32. Raise Refusal (422) if it is out of range."""
    found = parse_whole_number(value, field)
    if abs(found) > INT32_LIMIT:
        raise unprocessable(f"{value} is too large.", field)
    return found


def format_quantity(amount: int) -> str:
    """Format thousandths as a JSON number: `12`, `0.5`, `-1.25`."""
    if amount % THOUSANDTHS_PER_UNIT == 0:
        return str(amount // THOUSANDTHS_PER_UNIT)
    sign = "-" if amount < 0 else ""
    whole, rest = divmod(abs(amount), THOUSANDTHS_PER_UNIT)
    return f"{sign}{whole}.{rest:03d}".rstrip("0")


def to_json_number(amount: int) -> int | float:
    """Return thousandths as the shortest number for `json.dumps`."""
    return amount // THOUSANDTHS_PER_UNIT if amount % THOUSANDTHS_PER_UNIT == 0 else amount / THOUSANDTHS_PER_UNIT
