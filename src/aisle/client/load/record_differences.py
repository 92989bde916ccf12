"""Differences between an order or delivery of a file and the one of the same number in the service, in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

_LISTED_NAMES = {
    "order_comment": "comment",
    "order_type": "order_type_code",
    "ordering_datetime": "next_ordering_datetime",
}
"""Fields that a list shows under another name."""
_OF_WORK = ("is_picked", "picked_quantity", "is_active", "is_rejected", "status_id", "full_fillment_status")
"""Fields that work on an order changes; they are named only if nothing else differs."""
_WITHOUT_DEFAULT = (
    *("customer_city", "customer_country", "customer_email", "customer_name", "customer_number", "customer_phone"),
    *("customer_street", "customer_zipcode", "delivery_city", "delivery_country", "delivery_street"),
    *("delivery_zipcode", "file_name", "order_comment", "reference", "sales_order_id", "order_type_description"),
    *("supplier_code", "supplier_name", "tracing_url", "reason_code", "store_origin", "datetime_expected"),
)
_WITHOUT_DEFAULT_OF_LINE = (
    *("delivery_date", "ordering_datetime", "reference", "preferred_location_code", "container_barcode"),
    *("customer_order_number", "customer_order_line_number", "purchase_price", "secondary_order_number"),
    *("secondary_order_line_number", "target_stock_pool", "price", "picking_stock_pool_array"),
    "is_picked_from_warehouse",
)
"""Fields that the service has only if they were sent; otherwise they are missing, 0 or an empty list."""


def describe_differences(mine: Mapping[str, Any], its: Mapping[str, Any], noun: str) -> list[str]:
    """Return what the record of the service has otherwise than that of the file: every field with both values.

    `noun` is what the record is, an order or a delivery.
    """
    found = [*_differences(mine, its, _WITHOUT_DEFAULT)]
    lines, known = ({_number(line): line for line in _lines_of(body)} for body in (mine, its))
    both = [number for number in lines if number in known]
    for number in both:
        of_line = _differences(lines[number], known[number], _WITHOUT_DEFAULT_OF_LINE)
        found += [f"line {number} has {one.replace(' is ', ' ', 1)}" for one in of_line]
    found += [f"the {noun} has no line {number} there" for number in lines if number not in known]
    found += [f"line {number} there is not in the file" for number in known if number not in lines]
    if not found:
        found = [*_differences(mine, its, (), of_work=True)]
        for number in both:
            of_line = _differences(lines[number], known[number], (), of_work=True)
            found += [f"line {number} has {one.replace(' is ', ' ', 1)}" for one in of_line]
    return found


def _differences(
    mine: Mapping[str, Any], its: Mapping[str, Any], without_default: Sequence[str], *, of_work: bool = False
) -> Iterator[str]:
    """Yield the fields that differ: of work, or the others."""
    listed = {**its, **(its.get("aisle") or {})}
    for name in dict.fromkeys((*mine, *without_default)):
        value, other = mine.get(name), listed.get(name, listed.get(_LISTED_NAMES.get(name, name)))
        is_sent = name in mine
        if name in _NOT_COMPARED or (name in _OF_WORK) != of_work or (other is None and name not in _SENT_ONLY):
            continue
        if (is_sent and not _is_same(value, other)) or (not is_sent and other):
            yield f"{name} is {_text(other)} there and {_text(value)} in the file"


_SENT_ONLY = frozenset((*_WITHOUT_DEFAULT, *_WITHOUT_DEFAULT_OF_LINE))
_NOT_COMPARED = ("order_lines", "lines", "order_number", "store_number", "line_number")


def _lines_of(body: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the lines of an order or delivery, as it is sent or listed."""
    return [line for line in body.get("order_lines") or body.get("lines") or () if isinstance(line, Mapping)]


def _number(line: Mapping[str, Any]) -> str:
    number = line.get("line_number")
    return f"{number:f}" if isinstance(number, Decimal) else str(number)


def _text(value: object) -> str:
    if value in (None, "", []):
        return "empty"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "|".join(map(str, value))
    if isinstance(value, str) and value.endswith("Z") and (moment := _moment(value)):
        return f"{moment.astimezone():%Y-%m-%d %H:%M}"
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def _is_same(value: object, other: object) -> bool:
    if isinstance(value, list | bool) or isinstance(other, bool):
        return _text(value) == _text(other)
    try:
        return str(value) == str(other if other is not None else "") or Decimal(str(value)) == Decimal(str(other))
    except InvalidOperation:
        first, second = _moment(value), _moment(other)
        return first is not None and second is not None and first.astimezone() == second.astimezone()


def _moment(value: object) -> datetime | None:
    """Return a time; one without a zone is of this host's."""
    try:
        return datetime.fromisoformat(str(value))
    except ValueError:
        return None
