"""Settings of a product in a store: fields of an update and of a stock entry, and their values as plain text.

Interface: Update store products. What is typed and shown: `jobs/supervisor/service_fields_and_values`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import NamedTuple

from aisle.jobs import store_time
from aisle.jobs.job import Json, format_number
from aisle.jobs.view import Msg, msg
from aisle.row_values import is_date, to_decimal

BASE_VALUES = "base"
"""Key of an item with the field values that the person saw before the change, as plain text. It is not sent."""

IS_NEAREST = "is_nearest"
"""Key of an item whose expiry date replaces a later one that somebody else set meanwhile."""

LABEL_EXPIRY, LABEL_CHECK = "label_expiry_date", "label_check_date"
"""Keys of an item with a later expiry date that was found, and of the check that it would have."""

UNDONE_EXPIRY = "undone_expiry_date"
"""Key of an item that undoes an expiry date which was given."""

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
    Field("is_promotion", "is_promotion", FLAG, msg("products.title_promotion")),
    Field("price", "price", MONEY, msg("label.price")),
    Field("discount_price", "discount_price", MONEY, msg("store_product.of_discount")),
)
"""Fields in the order of display."""

FIELD_BY_NAME = {field.name: field for field in FIELDS}

YES, NO = "yes", "no"

MAX_VALUE = Decimal(9_999_999)

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


def settings_to_send(items: Iterable[Mapping[str, object]], *, keeps_dates: bool) -> list[Mapping[str, object]]:
    """Return the items as they are sent. `keeps_dates`: the service keeps the dates given at expiry checks."""
    unknown = {BASE_VALUES} if keeps_dates else {BASE_VALUES, IS_NEAREST, LABEL_EXPIRY, LABEL_CHECK, UNDONE_EXPIRY}
    return [{name: item[name] for name in item if name not in unknown} for item in items]


def replaces_later_date(item: Mapping[str, object], now: Mapping[str, str]) -> bool:
    """Return True if an item brings a nearer expiry date than the present one, which it may replace."""
    ours, theirs = (values.get("expiry_date_time", "") for values in (parse_update_values(item), now))
    return item.get(IS_NEAREST) is True and bool(ours) and ours <= theirs


def apply_settings(stock: dict[str, object], item: Mapping[str, object]) -> None:
    """Apply the settings of an item to a stock entry, in place."""
    for field in FIELDS:
        if field.name in item:
            value = item[field.name]
            stock[field.entry_name] = ",".join(value) if isinstance(value, list | tuple) else value
