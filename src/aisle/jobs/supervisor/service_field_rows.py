"""Fields of the interface's resources as rows of a page, under the names that people read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs.job import format_number
from aisle.jobs.view import Msg, msg, raw

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
