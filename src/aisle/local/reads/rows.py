"""Raw answers in the cache as rows for a job."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from typing import Any

import apsw

from aisle.jobs.base import Json
from aisle.jobs.codec import to_text
from aisle.local.db import fetch
from aisle.local.fold import natural
from aisle.local.reads.overlay import Row, decimal
from aisle.tuples import NamedTuple

Result = tuple[list[Row], int]
"""Rows, and how many there are in all."""


class Found(NamedTuple):
    """The same of a read that stops counting."""

    rows: list[Row]
    total: int
    partly: bool = False
    """There may be more than are counted."""


LAST = Decimal(10) ** 12
"""Where a place without a walking order goes."""


def window(args: Mapping[str, Json], size: int) -> tuple[int, int]:
    """(first, size) of a window that is asked for; `size` when nobody says how many rows."""
    first, wanted = args.get("first"), args.get("size")
    return max(0, int(first or 0)), size if wanted is None else max(0, int(wanted))


def _fraction(text: str) -> Decimal | int:
    value = Decimal(text)
    return int(value) if value.adjusted() < LAST.adjusted() and value == value.to_integral_value() else value


def _nothing(word: str) -> None:
    """What is infinite, or no number at all, says nothing."""


_DECODER = json.JSONDecoder(parse_float=_fraction, parse_constant=_nothing)
"""Made once: to make one takes as long as to read a row."""


def loaded(raw: str) -> Row:
    """A kept row: whole numbers as int, fractions as Decimal."""
    row: Row = _DECODER.decode(raw)
    return row


def summed(value: float) -> Decimal:
    """A sum that the cache keeps: what adding fractions has left behind the sixth digit says nothing."""
    return Decimal(int(value)) if value.is_integer() else decimal(round(value, 6))


def moment(at: float) -> str:
    """Seconds since 1970 as ISO 8601 UTC."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def pools(raw: Mapping[str, Any], prefix: str) -> dict[str, Json]:
    """The pools of a row that say anything, by number as text."""
    return {pool: value for pool, name in _pool_names(prefix) if (value := raw.get(name))}


@cache
def _pool_names(prefix: str) -> tuple[tuple[str, str], ...]:
    return tuple((str(pool), f"{prefix}{pool}") for pool in range(1, 11))


def in_use(named: Mapping[str, Json], settled: Mapping[int, str]) -> dict[str, Json]:
    """The pools that are used, by number as text: those of the settings under the store's own names, else all named."""
    return {str(pool): named.get(str(pool)) or name for pool, name in settled.items()} if settled else dict(named)


def location_orders(cache: apsw.Connection, codes: Iterable[str]) -> dict[str, Json]:
    """The walking order of places that have one."""
    rows = fetch(
        cache,
        "SELECT l.location_code, l.location_order FROM json_each(?) e JOIN location l ON l.location_code = e.value"
        " WHERE l.location_order IS NOT NULL",
        to_text(list(codes)),
    )
    return {str(code): decimal(order) for code, order in rows}


def place_entries(raw: Mapping[str, Any]) -> list[Row]:
    """Where the goods of a row lie, as far as it says that in rows."""
    entries = raw.get("store_locations")
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def stock_places(raw: Mapping[str, Any]) -> list[Row]:
    """The places of a stock entry. interface: Stock location entry."""
    return [
        _place(entry, "store_location_code", "stock_pool_")
        for entry in place_entries(raw)
        if entry.get("store_location_code")
    ]


def line_places(raw: Mapping[str, Any]) -> list[Row]:
    """The places of an order line where free goods lie. interface: Line location."""
    return [
        _place(entry, "location_code", "most_likely_pool_")
        for entry in place_entries(raw)
        if entry.get("location_code") and not entry.get("customer_order_number")
    ]


def kept_places(raw: Mapping[str, Any]) -> list[Row]:
    """The places where goods of an order line are kept. interface: Line location."""
    return [
        {"location_code": str(entry["location_code"]), "quantity": said_of(entry, "most_likely_pool_")}
        for entry in place_entries(raw)
        if entry.get("location_code") and entry.get("customer_order_number")
    ]


def said_of(entry: Mapping[str, Any], pool_prefix: str) -> Decimal | None:
    """How much lies at a place: in all, else in all its pools; None where the entry says neither."""
    if entry.get("quantity") is not None:
        return decimal(entry["quantity"])
    said = [entry[name] for _, name in _pool_names(pool_prefix) if entry.get(name) is not None]
    return sum((decimal(quantity) for quantity in said), Decimal(0)) if said else None


def _place(entry: Mapping[str, Any], code: str, pool_prefix: str) -> Row:
    return {
        "location_code": str(entry[code]),
        "location_order": entry.get("location_order"),
        "quantity": said_of(entry, pool_prefix),
        "pools": pools(entry, pool_prefix),
        "default_stock_pool": entry.get("default_stock_pool"),
    }


def walked(places: Sequence[Row], orders: Mapping[str, Json]) -> list[Row]:
    """Places in the order of feet, each with its walking order where it has one."""
    for place in places:
        place["location_order"] = place["location_order"] or orders.get(place["location_code"])
    return sorted(
        places, key=lambda place: (decimal(place["location_order"]) or LAST, natural(str(place["location_code"])))
    )
