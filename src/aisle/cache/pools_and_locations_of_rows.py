"""Pools and locations that stored rows name, and their walking order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, TypeVar

import apsw

from aisle.cache.stored_row_values import Row
from aisle.host.database import fetch
from aisle.jobs.job import Json
from aisle.jobs.walk_order_sort_keys import NO_WALK_ORDER
from aisle.named_tuple_json import to_text
from aisle.row_values import to_decimal
from aisle.search_text import natural_key

if TYPE_CHECKING:
    from aisle.jobs.row_types.orders import LocatedRow, LocationStockRow, PutDownRow
    from aisle.jobs.row_types.raw_service_rows import Number

L = TypeVar("L", bound="LocatedRow")


def pool_quantities(raw: Row, prefix: str) -> dict[str, Json]:
    """Return the pools of a row that have a value, by number as text."""
    return {pool: value for pool, name in _pool_fields(prefix) if (value := raw.get(name))}


@cache
def _pool_fields(prefix: str) -> tuple[tuple[str, str], ...]:
    return tuple((str(pool), f"{prefix}{pool}") for pool in range(1, 11))


def used_pools(names: Mapping[str, Json], configured_pools: Mapping[int, str]) -> dict[str, Json]:
    """Return the pools in use, by number as text: the configured ones with the store's names, else all named ones."""
    return (
        {str(pool): names.get(str(pool)) or name for pool, name in configured_pools.items()}
        if configured_pools
        else dict(names)
    )


def load_walk_orders(cache: apsw.Connection, codes: Iterable[str]) -> dict[str, Number]:
    """Return the walking order of those of these locations that have one."""
    rows = fetch(
        cache,
        "SELECT l.location_code, l.location_order FROM json_each(?) e JOIN location l ON l.location_code = e.value"
        " WHERE l.location_order IS NOT NULL",
        to_text(list(codes)),
    )
    return {str(code): to_decimal(order) for code, order in rows}


def location_entries(raw: Row) -> list[Row]:
    """Return the location entries of a row."""
    entries = raw.get("store_locations")
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def stock_locations(raw: Row) -> list[LocationStockRow]:
    """Return the locations of a stock entry. interface: Stock location entry."""
    return [
        _location_row(entry, "store_location_code", "stock_pool_")
        for entry in location_entries(raw)
        if entry.get("store_location_code")
    ]


def line_locations(raw: Row) -> list[LocationStockRow]:
    """Return the locations of an order line with free goods. interface: Line location."""
    return [
        _location_row(entry, "location_code", "most_likely_pool_")
        for entry in location_entries(raw)
        if entry.get("location_code") and not entry.get("customer_order_number")
    ]


def held_locations(raw: Row, order_number: str) -> list[PutDownRow]:
    """Return the locations where goods of a line of this order are held. interface: Line location."""
    return [
        {"location_code": str(entry["location_code"]), "quantity": entry_quantity(entry, "most_likely_pool_")}
        for entry in location_entries(raw)
        if entry.get("location_code") and str(entry.get("customer_order_number") or "") == order_number
    ]


def entry_quantity(entry: Row, pool_prefix: str) -> Decimal | None:
    """Return the quantity of an entry, in total or else over its pools; None if it states neither."""
    if entry.get("quantity") is not None:
        return to_decimal(entry["quantity"])
    pool_values = [entry[name] for _, name in _pool_fields(pool_prefix) if entry.get(name) is not None]
    return sum((to_decimal(quantity) for quantity in pool_values), Decimal(0)) if pool_values else None


def _location_row(entry: Row, code: str, pool_prefix: str) -> LocationStockRow:
    return {
        "location_code": str(entry[code]),
        "location_order": to_decimal(entry.get("location_order")) or None,
        "quantity": entry_quantity(entry, pool_prefix),
        "pools": pool_quantities(entry, pool_prefix),
        "default_stock_pool": entry.get("default_stock_pool"),
    }


def sort_by_walk_order(locations: Sequence[L], orders: Mapping[str, Number]) -> list[L]:
    """Return locations in walking order; sets `location_order` of each that has one, in place."""
    for location in locations:
        location["location_order"] = location["location_order"] or orders.get(location["location_code"])
    return sorted(
        locations,
        key=lambda location: (
            to_decimal(location["location_order"], NO_WALK_ORDER),
            natural_key(str(location["location_code"])),
        ),
    )
