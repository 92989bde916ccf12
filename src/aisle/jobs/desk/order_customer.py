"""What an order says of its customer, as facts of its page: the interface's own fields, and those of our service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_SHOWN = (
    "customer_name", "reference", "description", "comment", "order_type_description", "sales_order_id",
    "stores_allowed",
)  # fmt: skip
"""The fields of an order that are shown as they are. interface: Customer order (list item)."""

_ADDRESS = ("street", "zipcode", "city", "country")
_BESIDE = ("customer_phone", "customer_email", "customer_number", "file_name")


def customer_of(row: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Each fact by its name. What the interface takes and tells nowhere, our own service tells under `aisle`."""
    beside = row.get("aisle")
    beside = beside if isinstance(beside, Mapping) else {}
    told = [(name, _text(row.get(name))) for name in _SHOWN]
    told += [(f"{of}_address", _address(beside, of)) for of in ("customer", "delivery")]
    told += [(name, _text(beside.get(name))) for name in _BESIDE]
    return tuple((name, text) for name, text in told if text)


def _address(beside: Mapping[str, Any], of: str) -> str:
    """On one line, as it is written on a letter: the postal code and the town stand together."""
    street, zipcode, city, country = (_text(beside.get(f"{of}_{part}")) for part in _ADDRESS)
    return ", ".join(part for part in (street, f"{zipcode} {city}".strip(), country) if part)


def _text(value: object) -> str:
    return "" if value is None else str(value).strip()
