"""Quantities are exact: whole thousandths inside, JSON numbers outside."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from aisle.service.errors import unprocessable

THOUSANDTHS_PER_UNIT = 1000
_NUMBER_LIMIT = 10**12
NUMBER_LIMIT = Decimal(_NUMBER_LIMIT)
INT64_LIMIT = (1 << 63) - 1
"""Of a whole number, and below none of its negative; more has no place in either database."""
QUANTITY_LIMIT = 10**9
"""In one place, or wanted by one line: sums of them, however many there are, have room in either database."""
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
"""Numbers of bodies that the interface tells again as int32."""


def parse_thousandths(value: int | float | Decimal, field: str, *, whole: bool = False) -> int:
    """A number of the wire in thousandths. `whole` refuses fractions (products without `allow_decimal`).

    Raises Refusal (422) for more than three decimal places, fractions where none are allowed, and absurd sizes.
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
    # Before it is computed with: an exponent of minus a million would be rounded away.
    exponent = exact.as_tuple().exponent
    scaled = exact * THOUSANDTHS_PER_UNIT if isinstance(exponent, int) and exponent > -12 else Decimal("0.1")
    if scaled != scaled.to_integral_value():
        raise unprocessable(f"{value} has more than three decimal places.", field)
    if whole and scaled % THOUSANDTHS_PER_UNIT:
        raise unprocessable(f"{value} is not a whole number.", field)
    return int(scaled)


def parse_whole_number(value: int | float | Decimal, field: str) -> int:
    """A number of the wire that counts or names something. Raises Refusal (422) for a fraction."""
    return parse_thousandths(value, field, whole=True) // THOUSANDTHS_PER_UNIT


def parse_quantity(value: int | float | Decimal, field: str, *, whole: bool = False) -> int:
    """A quantity of goods in thousandths. Raises Refusal (422) as `thousandths` does, and for more than can be."""
    amount = parse_thousandths(value, field, whole=whole)
    if abs(amount) > QUANTITY_LIMIT * THOUSANDTHS_PER_UNIT:
        raise unprocessable(f"{value} is too large: {QUANTITY_LIMIT:,} is the most that there can be.", field)
    return amount


def parse_row_id(value: int | float | Decimal, field: str) -> int:
    """The id of a row as lists tell it, however large. Raises Refusal (422) for a fraction."""
    return value if isinstance(value, int) else parse_whole_number(value, field)


def parse_int32(value: int | float | Decimal, field: str) -> int:
    """A number that the interface tells as int32. Raises Refusal (422) for what is none."""
    found = parse_whole_number(value, field)
    if abs(found) > INT32_LIMIT:
        raise unprocessable(f"{value} is too large.", field)
    return found


def format_quantity(amount: int) -> str:
    """Thousandths as the text of a JSON number: `12`, `0.5`, `-1.25`."""
    if amount % THOUSANDTHS_PER_UNIT == 0:
        return str(amount // THOUSANDTHS_PER_UNIT)
    sign = "-" if amount < 0 else ""
    whole, rest = divmod(abs(amount), THOUSANDTHS_PER_UNIT)
    return f"{sign}{whole}.{rest:03d}".rstrip("0")


def to_json_number(amount: int) -> int | float:
    """Thousandths as the shortest number for `json.dumps`."""
    return amount // THOUSANDTHS_PER_UNIT if amount % THOUSANDTHS_PER_UNIT == 0 else amount / THOUSANDTHS_PER_UNIT
