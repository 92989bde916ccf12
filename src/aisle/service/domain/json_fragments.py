"""JSON text of rows, composed of parts that were encoded when they were stored, and of numbers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Any, TypeVar

from aisle.service.domain.quantities import format_quantity
from aisle.service.errors import to_json_bytes

_T = TypeVar("_T")

quoted = encode_basestring
"""Function that returns a text as JSON."""


def to_json(value: Any) -> str:
    """Return a value as compact JSON text, as it is stored."""
    return to_json_bytes(value).decode()


def object_members(object_json: str) -> str:
    """Return the members of a stored object without its braces."""
    return object_json[1:-1]


def join_members(parts: Iterable[str]) -> str:
    """Return an object of these groups of members, without the empty ones."""
    return "{" + ",".join(part for part in parts if part) + "}"


def text_member(name: str, value: str | None) -> str:
    """Return a text member; empty for None."""
    return "" if value is None else f'"{name}":{quoted(value)}'


def json_boolean(value: object) -> str:
    """Return a JSON boolean."""
    return "true" if value else "false"


def pool_members(prefix: str, pools: Mapping[int, int]) -> str:
    """Return one member per pool, named by the prefix and the pool's number."""
    return ",".join(f'"{prefix}{pool}":{format_quantity(pools[pool])}' for pool in sorted(pools))


def shipment_members(shipment: str | None, line: int | None) -> tuple[str, str]:
    """Return the members for the shipment of an order line, under the names of the stock lists."""
    return (
        text_member("customer_order_shipment_number", shipment),
        "" if line is None else f'"customer_order_shipment_line_number":{line}',
    )


def drop_none(value: Mapping[str, _T | None]) -> dict[str, _T]:
    """Return the members without those that are None."""
    return {name: item for name, item in value.items() if item is not None}


def rename_members(value: Mapping[str, object], names: Mapping[str, str]) -> dict[str, object]:
    """Return the members that have another name elsewhere, under that name."""
    return {other: value[name] for name, other in names.items() if name in value}


def select_members(value: Mapping[str, object], names: Iterable[str]) -> dict[str, object]:
    """Return the members with these names."""
    return {name: value[name] for name in names if name in value}


def parse_json_object(object_json: str) -> Any:
    """Parse a stored object; the caller knows its type.

    A number with a fraction becomes a Decimal, so that it equals that of a request.
    """
    return json.loads(object_json, parse_float=Decimal)


def body_fingerprint(body: Mapping[str, Any]) -> str:
    """Return a hash of a new order or delivery, which is equal for one store and for several."""
    content = {name: value for name, value in sorted(body.items()) if name != "store_number"}
    content["order_lines"] = [dict(sorted(line.items())) for line in body.get("order_lines", [])]
    return hashlib.sha256(to_json(dict(sorted(content.items()))).encode()).hexdigest()
