"""Values of store product settings: parsed as typed, sent in an update, and formatted for display.

The settings themselves: `store_product_settings`. Limits: `store_product_limits_and_objections`.
Interface: Update store products.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

from aisle.jobs import store_time
from aisle.jobs.job import Json, Write, money_message
from aisle.jobs.view import Msg, msg, raw
from aisle.row_values import to_decimal
from aisle.store_product_settings import BASE_VALUES, CODES, DAY, FIELD_BY_NAME, FLAG, IS_NEAREST, MONEY, YES

UPDATE = "update-store-products"
"""Name of the operation in the table of operations."""


LEVELS = ("min", "max")
"""Fields that depend on each other: min is never above max, and both have limits set by the product."""

MAX_CODE_LENGTH, MAX_CODES = 20, 8

_LEVEL_RANGE = r"\s*(\d{1,7})\s*-\s*(\d{1,7})\s*"
"""Pattern of both levels, compiled on first use: a start does not need it."""


def update_write(
    product: str,
    store: str,
    changes: Mapping[str, Json],
    base: Mapping[str, str],
    *,
    needs_supervisor: bool = True,
    is_nearest: bool = False,
    more: Mapping[str, Json] | None = None,
) -> Write:
    """Return the write that sets these fields. `base` has their previous values, empty ones included.

    `is_nearest`: the expiry date replaces a later one, whoever set it. `more`: what else is sent of the product.
    """
    known = {name: base.get(name, "") for name in changes}
    nearest = {IS_NEAREST: True} if is_nearest else {}
    item = {"product_number": product, **changes, BASE_VALUES: known, **nearest, **(more or {})}
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
    """Parse a typed day, or a label with dates alone, into `yyyy-MM-dd`; empty if it is invalid. Without a year it is
    the next such day."""
    from aisle.jobs.typed_dates import parse_date, parse_label_date  # a start does not need it

    today = store_time.today(now)
    day = parse_label_date(text, today) or parse_date(text, today)
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
