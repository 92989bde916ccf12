"""How much of the products of orders lies at each place, with all that this host has still to tell the service."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

import apsw

from aisle.jobs.codec import to_text
from aisle.local.db import fetch
from aisle.local.reads.overlay import Row, decimal
from aisle.local.reads.overlay_goods import Pending, lay_stock
from aisle.local.reads.rows import loaded, stock_places

_STOCK = """
SELECT p.product_number, s.raw, s.began FROM json_each(?) e
JOIN product p ON p.product_number = e.value JOIN stock s ON s.id = p.id
"""
_PLACES = '"store_locations"'
"""Stands in every stock entry that tells of places."""


def with_stock(cache: apsw.Connection, pending: Pending, orders: Iterable[Row]) -> None:
    """Adds to each line its `stock`: what lies of its product at each place, by code. None where nobody says, and for
    what comes from the warehouse, whose stock is not here."""
    lines = [line for order in orders for line in order["lines"]]
    own = [line for line in lines if not _is_from_warehouse(line)]
    numbers = sorted({str(line["product_number"]) for line in own})
    read = ((str(number), raw, began) for number, raw, began in _read(cache, numbers) if _PLACES in raw)
    found = {number: _laid(number, raw, began, pending) for number, raw, began in read}
    for line in lines:
        line["stock"] = {}
    for line in own:
        line["stock"] = _at_own_place(line, found.get(str(line["product_number"])))


def _at_own_place(line: Row, stock: dict[str, Decimal | None] | None) -> dict[str, Decimal]:
    """With none at the place of the line where the store tells of places: one that is empty is in no list of them.
    Places whose quantity nobody said are left out."""
    place = str(line.get("preferred_location_code") or line.get("stock_location") or "")
    if stock is None:
        return {}
    known: dict[str, Decimal | None] = {**({place: Decimal(0)} if place else {}), **stock}
    return {code: quantity for code, quantity in known.items() if quantity is not None}


def _is_from_warehouse(line: Row) -> bool:
    beside = line.get("aisle")
    told = (line, beside if isinstance(beside, dict) else {})
    return any(each.get("is_picked_from_warehouse") in (True, "true") for each in told)


def _read(cache: apsw.Connection, numbers: list[str]) -> list[tuple[str, str, float | None]]:
    return fetch(cache, _STOCK, to_text(numbers)) if numbers else []


def _laid(number: str, raw: str, began: float | None, pending: Pending) -> dict[str, Decimal | None] | None:
    """What lies at each place; None where a place has no code, for any place may be that one."""
    entry = loaded(raw)
    if not all(place.get("store_location_code") for place in entry.get("store_locations") or ()):
        return None
    stock = lay_stock(entry, number, pending.get(number, ()), began)
    return {str(place["location_code"]): _quantity(place) for place in stock_places(stock)}


def _quantity(place: Row) -> Decimal | None:
    return None if place.get("quantity") is None else decimal(place["quantity"])
