"""Fields of the interface as rows of a page; values of store product settings: parsed, sent, formatted.

The settings themselves: `store_product_settings`. Limits: `store_product_limits_and_objections`.
Interface: Update store products.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs import store_time
from aisle.jobs.job import Json, Write, format_number, money_message
from aisle.jobs.view import Msg, msg, raw
from aisle.row_values import to_decimal
from aisle.store_product_settings import BASE_VALUES, CODES, DAY, FIELD_BY_NAME, FLAG, IS_NEAREST, MONEY, YES

Cells = tuple[Msg, ...]

YES_NO = {"yes": msg("unconfirmed.yes"), "no": msg("unconfirmed.no")}


LABEL_IDS: Mapping[str, str] = {
    "product.category_name": "clearance.head_category",
    "product.is_order_manually": "products.title_by_hand",
    "product.is_promotion": "products.title_promotion",
    "product.product_type": "head.type",
    "product.supplier_name": "head.supplier",
    "store.phone_number": "order.phone",
    "store.store_type_description": "head.type",
    "product.brand_description": "head.brand",
    "product.country_code": "store.country_name",
    "product.deprecation_date": "label.ends",
    "product.discount_price": "store_product.of_discount",
    "product.price": "label.price",
    "product.product_details": "deliveries.about",
    "product.referral_product_id": "label.referral",
    "store.area_description": "stores.head_area",
    "store.store_next_delivery_datetime": "look_up.delivery",
    "store.store_next_ordering_datetime": "look_up.ordering",
}
"""Message ids of the labels that other pages have too. The id of any other label is the label itself."""


def label_message(label: str) -> Msg:
    """Return the message of a label."""
    return msg(LABEL_IDS.get(label, label))


def field_name(label: str) -> str:
    """Return the name of the field with that label. A label is the resource's name and the field's name."""
    return label.partition(".")[2]


def field_rows(
    values: Mapping[str, object],
    labels: Iterable[str],
    to_message: Callable[[str, str], Msg] = lambda _, text: raw(text),
) -> tuple[Cells, ...]:
    """Return the fields with these labels that have a value. `to_message` gets a field's name and text."""
    texts = ((label, format_field(values.get(field_name(label)))) for label in labels)
    return tuple((label_message(label), to_message(field_name(label), text)) for label, text in texts if text)


def free_field_rows(value: Any) -> tuple[Cells, ...]:
    """Return free keys and values in their sort order."""
    rows = sorted(list_of_mappings(value), key=lambda each: _sort_order(each.get("sort_order")))
    return tuple((raw(format_field(row["key"])), raw(format_field(row.get("value")))) for row in rows if row.get("key"))


def format_field(value: Any) -> str:
    """Return a value of a resource as text: numbers without exponent, lists with commas; empty for nothing."""
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float | Decimal):
        return format_number(Decimal(str(value)))
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {format_field(item)}" for name, item in value.items() if format_field(item))
    if isinstance(value, list | tuple):
        return ", ".join(filter(None, map(format_field, value)))
    return str(value)


def list_of_mappings(value: Any) -> Iterable[Mapping[str, Any]]:
    """Return the mappings of a list; other elements are ignored."""
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _sort_order(value: Any) -> float:
    return float(value) if isinstance(value, int | float | Decimal) else 0.0


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
    from aisle.jobs.typed_numbers_dates_and_letters import parse_date, parse_label_date  # a start does not need it

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
