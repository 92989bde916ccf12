"""Settings of a product in a store: their fields, and the parsing of what is typed and stored.

Interface: Update store products.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import NamedTuple

from aisle.dates_without_time import is_date
from aisle.jobs import store_time
from aisle.jobs.job import Json, Write, format_number, money_message
from aisle.jobs.quantities_and_plausibility import to_decimal
from aisle.jobs.view import Msg, msg, raw

UPDATE = "update-store-products"
"""Name of the operation in the table of operations."""

BASE_VALUES = "base"
"""Key of an item with the field values that the person saw before the change, as plain text. It is not sent."""

WHOLE_NUMBER, NUMBER, MONEY, FLAG, CODES, DAY = "whole", "number", "money", "flag", "codes", "day"
NUMERIC = (WHOLE_NUMBER, NUMBER, MONEY)


class Field(NamedTuple):
    """Setting of a product in a store."""

    name: str
    """Name in an update."""
    entry_name: str
    """Name in a stock entry."""
    kind: str
    label: Msg


FIELDS = (
    Field("min", "min", WHOLE_NUMBER, msg("store_product.of_min")),
    Field("max", "max", WHOLE_NUMBER, msg("store_product.of_max")),
    Field("order_level", "order_level", NUMBER, msg("store_product.of_order_level")),
    Field("is_replenishment", "is_replenishment", FLAG, msg("store_product.of_replenishment")),
    Field("attention_codes", "storeproduct_attention_codes", CODES, msg("store_product.of_attention")),
    Field("expiry_date_time", "last_expiry_datetime", DAY, msg("store_product.of_expiry")),
    Field("validate_expiry_date_time", "validate_expiry_datetime", DAY, msg("store_product.of_check_expiry")),
    Field("is_promotion", "is_promotion", FLAG, msg("store_product.of_promotion")),
    Field("price", "price", MONEY, msg("store_product.of_price")),
    Field("discount_price", "discount_price", MONEY, msg("store_product.of_discount")),
)
"""Fields in the order of display."""

FIELD_BY_NAME = {field.name: field for field in FIELDS}

LEVELS = ("min", "max")
"""Fields that depend on each other: min is never above max, and both have limits set by the product."""

YES, NO = "yes", "no"
MAX_VALUE = Decimal(9_999_999)
MAX_CODE_LENGTH, MAX_CODES = 20, 8

# Patterns, compiled on first use: a start does not need them
_LEVEL_RANGE = r"\s*(\d{1,7})\s*-\s*(\d{1,7})\s*"
_NO_YEAR = "0001"
"""Year by which some services mean no time."""


def plain_text(field: Field, value: Json) -> str:
    """Return a value as plain text, whatever format a service uses; empty if it is missing."""
    if value is None:
        return ""
    if field.kind == FLAG:
        return YES if value is True or str(value).casefold() in ("true", "1", YES) else NO
    if field.kind == CODES:
        codes = value if isinstance(value, list | tuple) else re.split(r"[,;\s]+", str(value))
        return ",".join(str(code) for code in codes if code)
    if field.kind == DAY:
        return _parse_store_day(str(value))
    if isinstance(value, bool) or to_decimal(value, MAX_VALUE + 1) > MAX_VALUE:
        return ""
    return format_number(to_decimal(value))


def parse_entry_values(row: Mapping[str, object]) -> dict[str, str]:
    """Return the values of a stock entry by field name; missing fields are left out."""
    return {
        field.name: plain_text(field, row[field.entry_name])
        for field in FIELDS
        if row.get(field.entry_name) is not None
    }


def parse_update_values(item: Mapping[str, object]) -> dict[str, str]:
    """Return the values of an update's item by field name."""
    return {field.name: plain_text(field, item[field.name]) for field in FIELDS if field.name in item}


def entry_day(row: Mapping[str, object], name: str) -> str:
    """Return the day of a field of a stock entry, by its name in an update; empty if it states no day."""
    field = FIELD_BY_NAME[name]
    day = plain_text(field, row.get(field.entry_name))
    return day if is_date(day) and not day.startswith(_NO_YEAR) else ""


def expiry_check_day(row: Mapping[str, object]) -> str:
    """Return the day on which the expiry date of a stock entry's product is to be checked; empty if none is set."""
    return entry_day(row, "validate_expiry_date_time")


def _parse_store_day(text: str) -> str:
    """Return the day in the zone of the store; invalid text is unchanged."""
    day = store_time.named_day(text) or store_time.day_in_store(text)
    return text if day is None else day.isoformat()


def update_write(
    product: str, store: str, changes: Mapping[str, Json], base: Mapping[str, str], *, needs_supervisor: bool = True
) -> Write:
    """Return the write that sets these fields. `base` has their previous values, empty ones included."""
    known = {name: base.get(name, "") for name in changes}
    item = {"product_number": product, **changes, BASE_VALUES: known}
    return Write(
        UPDATE, (f"product/{product}",), {"store_number": store}, {}, [item], needs_supervisor=needs_supervisor
    )


def update_value(name: str, text: str) -> Json:
    """Return a field's value as an update sends it, from its plain text."""
    kind = FIELD_BY_NAME[name].kind
    if kind == FLAG:
        return text == YES
    if kind == CODES:
        return text.split(",")
    return format_day_as_datetime(text) if kind == DAY else to_decimal(text)


# Typed values


def parse_level_range(text: str) -> tuple[Decimal, Decimal] | None:
    """Parse min and max from `6-24`."""
    found = re.fullmatch(_LEVEL_RANGE, text)
    return (Decimal(found[1]), Decimal(found[2])) if found else None


def parse_codes(text: str) -> list[str] | None:
    """Parse typed attention codes; None if they are too long or too many."""
    codes = list(dict.fromkeys(code for code in re.split(r"[,;\s]+", text.strip()) if code))
    fits = codes and len(codes) <= MAX_CODES and all(len(code) <= MAX_CODE_LENGTH for code in codes)
    return codes if fits else None


def parse_day(text: str, now: str) -> str:
    """Parse a typed day into `yyyy-MM-dd`; empty if it is invalid. Without a year it is the next such day."""
    from aisle.jobs.typed_dates import parse_date  # a start does not need it

    day = parse_date(text, store_time.day_in_store(now) or date.fromisoformat(now[:10]))
    return day.isoformat() if day else ""


def format_day_as_datetime(day: str) -> str:
    """Return a day as it is sent: the interface has only date-times."""
    return f"{day}T00:00:00Z"


# Texts


def field_label(name: str) -> Msg:
    """Return the name of a field."""
    return FIELD_BY_NAME[name].label


def format_value(name: str, text: str) -> Msg:
    """Return a field's value for display, from its plain text."""
    kind = FIELD_BY_NAME[name].kind
    if kind == FLAG and text:
        return msg("unconfirmed.yes" if text == YES else "unconfirmed.no")
    if not text:
        return msg("store_product.unknown")
    if kind == DAY:
        return msg("store_product.day", at=text)
    if kind == CODES:
        return raw(text.replace(",", ", "))
    return money_message(to_decimal(text)) if kind == MONEY else msg("number", value=to_decimal(text))
