"""Parsing of the service's orders and their lines, with checks, into the rows that `order_writer` writes.

A malformed order raises InvalidRow. interface: Customer order, Order line, Line location.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from reprlib import repr as short_repr
from typing import NamedTuple

from aisle.cache.schema import ORDER_CLOSED, ORDER_OPEN, ORDER_PICKED
from aisle.cache.service_row_parsing import (
    InvalidRow,
    RawRow,
    check_entries,
    dump_row,
    flag_field,
    index_texts,
    key_field,
    number_field,
    require_object,
    required_number,
    text_field,
)
from aisle.decimal_of_row import to_decimal
from aisle.jobs import store_time
from aisle.search_text import natural_key, normalise_text

NO_PICKUP_DATE = "~"
"""Sort value after every pickup date."""


HeldQuantities = tuple[tuple[str, str], ...]
"""Locations with the quantity at each, as text."""


class OrderRow(NamedTuple):
    """Header of an order as stored."""

    order_number: str
    state: int
    pickup: str
    sort: str
    text: str
    label: str
    customer: str
    """Normalised label, by which lists are sorted."""
    reference: str
    picked_quantity: int | float | None
    raw: str


class OrderLineRow(NamedTuple):
    """A line of an order. The first six fields are stored in `line`, `held` in a table of its own."""

    order_number: str
    line_number: int
    product_number: str
    raw: str
    in_hand: str
    """Picked quantity at no location, as text."""
    is_inconsistent: int
    """1 if more is picked than was ordered, or more was put down than its locations hold; else 0."""
    held: HeldQuantities
    """Goods held for the order, by location."""
    picked_quantity: int | float
    pickup_date: str
    barcode: str


def parse_order(service_row: object, lines: list[OrderLineRow] | None) -> OrderRow:
    """Parse the header of an order; `lines` are its lines if known. interface: Customer order."""
    raw = require_object(service_row)
    order_number = key_field(raw, "order_number")
    text = dump_row({name: raw[name] for name in raw if name != "lines"})
    closed = not flag_field(raw, "is_active", default=True) or flag_field(raw, "is_rejected")
    named = (text_field(raw, "customer_name"), text_field(raw, "description"), text_field(raw, "comment"))
    return OrderRow(
        order_number,
        ORDER_CLOSED if closed else ORDER_PICKED if flag_field(raw, "is_picked") else ORDER_OPEN,
        pickup_time(text_field(raw, "pickup_date"), (line.pickup_date for line in lines or ())),
        natural_key(order_number),
        index_texts(order_number, text_field(raw, "reference"), *named, *_phone_texts(raw)),
        named[0] or named[1],
        normalise_text(named[0] or named[1]),
        text_field(raw, "reference"),
        None if lines is None else sum(line.picked_quantity for line in lines),
        text,
    )


def _phone_texts(raw: RawRow) -> tuple[str, str]:
    """Return the customer's phone number as written and as digits. Only our own service sends it."""
    own = raw.get("aisle")
    phone = text_field(own, "customer_phone") if isinstance(own, dict) else ""
    return phone, "".join(filter(str.isdecimal, phone))


def pickup_time(order_date: str, line_dates: Iterable[str]) -> str:
    """Return the pick-up time of an order in the store's zone: its own, else the earliest of its lines."""
    return store_time.to_local_text(order_date) or min(
        (store_time.to_local_text(text) for text in line_dates if text), default=NO_PICKUP_DATE
    )


def parse_order_lines(service_row: object) -> list[OrderLineRow]:
    """Parse all lines of an order, sorted by number. interface: Order line.

    Raise InvalidRow if there are too many, or if two have the same number.
    """
    raw = require_object(service_row)
    order_number = key_field(raw, "order_number")
    lines = raw.get("lines") or ()
    if not isinstance(lines, list | tuple):
        raise InvalidRow("lines is no list", "lines")
    check_entries(lines, "lines")
    objects = _with_few_locations([require_object(line) for line in lines])
    rows = sorted((_parse_order_line(order_number, line) for line in objects), key=lambda row: row.line_number)
    if len({row.line_number for row in rows}) < len(rows):
        raise InvalidRow("a line_number stands there twice", "line_number")
    return rows


_MAX_LOCATIONS, _MIN_LOCATIONS = 5_000, 5
"""Locations in all lines of an order, which a session reads at once; locations that are kept of each line."""


def _with_few_locations(lines: list[RawRow]) -> list[RawRow]:
    """Return the lines; of an order with too many locations, only those of each line that hold the most goods."""
    found = [value if isinstance(value := line.get("store_locations"), list) else [] for line in lines]
    for locations in found:
        check_entries(locations, "store_locations")
    if sum(map(len, found)) <= _MAX_LOCATIONS:
        return lines
    most = max(_MIN_LOCATIONS, _MAX_LOCATIONS // len(lines))
    return [
        {**line, "store_locations": sorted(locations, key=_goods_at, reverse=True)[:most]} if locations else line
        for line, locations in zip(lines, found, strict=True)
    ]


def _goods_at(location: object) -> tuple[bool, Decimal]:
    """Return whether a location of a line holds goods of an order, and the quantity."""
    entry = location if isinstance(location, dict) else {}
    return bool(entry.get("customer_order_number")), _decimal_field(entry, "quantity")


def _parse_order_line(order_number: str, raw: RawRow) -> OrderLineRow:
    line_number = number_field(raw, "line_number")
    if not isinstance(line_number, int):
        raise InvalidRow(f"line_number is {short_repr(raw.get('line_number'))}", "line_number")
    required_number(raw, "quantity")
    number_field(raw, "moved_quantity")
    picked = number_field(raw, "picked_quantity") or 0
    product, pickup, barcode = (text_field(raw, name) for name in ("product_number", "pickup_date", "barcode"))
    in_hand, held = in_hand_and_held(order_number, line_number, raw, picked)
    is_inconsistent = int(bool(find_inconsistency(order_number, raw)))
    return OrderLineRow(
        order_number, line_number, product, dump_row(raw), in_hand, is_inconsistent, held, picked, pickup, barcode
    )


def find_inconsistency(order_number: str, raw: RawRow) -> tuple[str, Decimal, Decimal] | None:
    """Return what is impossible in a line, or None. interface: Line location.

    (`more`, excess of the picked over the ordered quantity, ordered quantity), or (`missing`, excess of the moved
    quantity over that at its locations, quantity there).
    """
    if not (raw.get("picked_quantity") or raw.get("moved_quantity")):
        return None
    picked, moved = to_decimal(raw.get("picked_quantity")), to_decimal(raw.get("moved_quantity"))
    ordered, entries = to_decimal(raw.get("quantity")), raw.get("store_locations")
    if picked > ordered:
        return "more", picked - ordered, ordered
    if moved > 0 and isinstance(entries, list) and entries:
        at_locations = (each for each in entries if isinstance(each, dict) and each.get("location_code"))
        quantities = [
            each.get("quantity") for each in at_locations if text_field(each, "customer_order_number") == order_number
        ]
        if None in quantities:
            return None
        at_location = sum((to_decimal(quantity) for quantity in quantities), Decimal(0))
        if moved > at_location:
            return "missing", moved - at_location, at_location
    return None


def in_hand_and_held(
    order_number: str, line_number: int, raw: RawRow, picked: int | float | Decimal
) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the quantity of a line in hand, and its goods by location. interface: Line location."""
    entries = raw.get("store_locations")
    entries = entries if isinstance(entries, list | tuple) else ()
    named = [entry for entry in entries if isinstance(entry, dict) and entry.get("customer_order_number")]
    if not (named or picked):
        return "0", ()
    put_down, held = Decimal(0), dict[str, Decimal]()
    for entry in named:
        code, quantity = text_field(entry, "location_code"), _decimal_field(entry, "quantity")
        if not code or text_field(entry, "customer_order_number") != order_number:
            continue
        if entry.get("quantity") is None:  # a location without a quantity holds all that is not in hand
            put_down += Decimal(str(picked))
        put_down += quantity
        if _decimal_field(entry, "customer_order_line_number") in (0, line_number):
            held[code] = held.get(code, Decimal(0)) + quantity
    in_hand = Decimal(str(picked)) - max(_decimal_field(raw, "moved_quantity"), put_down)
    return str(max(Decimal(0), in_hand)), tuple((code, str(quantity)) for code, quantity in held.items() if quantity)


def _decimal_field(raw: RawRow, name: str) -> Decimal:
    """Return a number field; 0 if invalid."""
    try:
        return Decimal(str(number_field(raw, name) or 0))
    except InvalidRow:
        return Decimal(0)
