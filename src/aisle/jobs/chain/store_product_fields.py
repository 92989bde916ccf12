"""What a store says of a product of its own: the fields that can be written, their values as people type them, and what
binds them. Interface: Update store products, Store product stock entry.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from aisle.jobs import store_time
from aisle.jobs.amounts import number
from aisle.jobs.base import Json, Write, whole
from aisle.tuples import NamedTuple

UPDATE = "update-store-products"
"""The operation, by its name in the table of operations."""

BASE = "base"
"""In an item: what the fields stood at for the person who changes them, as `plain` has it. It is not sent."""

WHOLE, NUMBER, MONEY, FLAG, CODES, DAY = "whole", "number", "money", "flag", "codes", "day"
NUMERIC = (WHOLE, NUMBER, MONEY)


class Field(NamedTuple):
    """One thing that a store can say of a product."""

    name: str
    """In an update."""
    shown: str
    """In a stock entry."""
    kind: str


FIELDS = (
    Field("min", "min", WHOLE),
    Field("max", "max", WHOLE),
    Field("order_level", "order_level", NUMBER),
    Field("is_replenishment", "is_replenishment", FLAG),
    Field("attention_codes", "storeproduct_attention_codes", CODES),
    Field("expiry_date_time", "last_expiry_datetime", DAY),
    Field("validate_expiry_date_time", "validate_expiry_datetime", DAY),
    Field("is_promotion", "is_promotion", FLAG),
    Field("price", "price", MONEY),
    Field("discount_price", "discount_price", MONEY),
)
"""In the order in which they are shown."""

BY_NAME = {field.name: field for field in FIELDS}

LEVELS = ("min", "max")
"""They hang together: one is never above the other, and both are bound by what the product allows."""

YES, NO = "yes", "no"
MOST = Decimal(9_999_999)
LONGEST_CODE, MOST_CODES = 20, 8

_RANGE = re.compile(r"\s*(\d{1,7})\s*-\s*(\d{1,7})\s*")
_DAYS = re.compile(r"\+\s*(\d{1,4})")
_DATE = re.compile(r"(\d{1,2})[-./ ](\d{1,2})(?:[-./ ](\d{4}|\d{2}))?[-./ ]?")
_ISO = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")


def plain(field: Field, value: Json) -> str:
    """A value as one text, however a service writes it; empty where nothing is said."""
    if value is None:
        return ""
    if field.kind == FLAG:
        return YES if value is True or str(value).casefold() in ("true", "1", YES) else NO
    if field.kind == CODES:
        codes = value if isinstance(value, list | tuple) else re.split(r"[,;\s]+", str(value))
        return ",".join(str(code) for code in codes if code)
    if field.kind == DAY:
        return _day_of(str(value))
    if isinstance(value, bool) or number(value, MOST + 1) > MOST:
        return ""
    return whole(number(value))


def values_of(row: Mapping[str, Any]) -> dict[str, str]:
    """What a stock entry says of the fields, by their names; those it says nothing of are left out."""
    return {field.name: plain(field, row[field.shown]) for field in FIELDS if row.get(field.shown) is not None}


def said_of(item: Mapping[str, Any]) -> dict[str, str]:
    """What an item of an update says of the fields."""
    return {field.name: plain(field, item[field.name]) for field in FIELDS if field.name in item}


def _day_of(text: str) -> str:
    """The day in the store of what names one; what does not stays as it is."""
    day = store_time.day_meant(text) or store_time.day_of(text)
    return text if day is None else day.isoformat()


def write(product: str, store: str, changes: Mapping[str, Json], base: Mapping[str, str]) -> Write:
    """Says these fields of the product anew; `base` is what they stood at, at nothing included."""
    known = {name: base.get(name, "") for name in changes}
    item = {"product_number": product, **changes, BASE: known}
    return Write(UPDATE, (f"product/{product}",), {"store_number": store}, {}, [item], supervises=True)


# What is typed


def both_levels(text: str) -> tuple[Decimal, Decimal] | None:
    """Min and max out of `6-24`."""
    found = _RANGE.fullmatch(text)
    return (Decimal(found[1]), Decimal(found[2])) if found else None


def codes_of(text: str) -> list[str] | None:
    """Attention codes as they are typed; None where they are too long or too many."""
    codes = list(dict.fromkeys(code for code in re.split(r"[,;\s]+", text.strip()) if code))
    fits = codes and len(codes) <= MOST_CODES and all(len(code) <= LONGEST_CODE for code in codes)
    return codes if fits else None


def day_of(text: str, now: str) -> str:
    """A day as people type it, `yyyy-MM-dd`: `+14`, `1.12`, `1-12-2026`, `2026-12-01`; empty where it is none.

    Without a year it is the next such day.
    """
    today, text = store_time.day_of(now) or date.fromisoformat(now[:10]), text.strip()
    try:
        if days := _DAYS.fullmatch(text):
            return (today + timedelta(days=int(days[1]))).isoformat()
        if iso := _ISO.fullmatch(text):
            return date(int(iso[1]), int(iso[2]), int(iso[3])).isoformat()
        if said := _DATE.fullmatch(text):
            return _next(int(said[1]), int(said[2]), said[3] or "", today).isoformat()
    except (ValueError, OverflowError):
        pass
    return ""


def _next(day: int, month: int, year: str, today: date) -> date:
    if year:
        return date(int(year) + (2000 if len(year) == 2 else 0), month, day)
    found = date(today.year, month, day)
    return found if found >= today else date(today.year + 1, month, day)


def moment_of(day: str) -> str:
    """How a day is sent: the interface has moments."""
    return f"{day}T00:00:00Z"


# What binds it


class Room(NamedTuple):
    """How far a level may be moved in this store."""

    low: Decimal
    high: Decimal
    start: Decimal
    percentage: Decimal


def room_of(start: Decimal | None, percentage: Decimal) -> Room | None:
    """From what stood before any local change; None where nothing binds it: no percentage, or no start."""
    if start is None or percentage <= 0:
        return None
    span = (abs(start) * percentage / 100).to_integral_value(rounding="ROUND_CEILING")
    return Room(max(Decimal(0), start - span), start + span, start, percentage)
