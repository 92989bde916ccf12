"""Orders of the service's answers as rows of the cache; pure. One that makes no sense raises `Malformed`.

Interface: Customer order, Order line, Line location.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from aisle.jobs import store_time
from aisle.jobs.amounts import number as amount
from aisle.local.cache.rows import Malformed, Raw, dumped, figure, flag, key, mapping, number, search_text, word
from aisle.local.cache.schema_orders import CLOSED, OPEN, PICKED
from aisle.local.fold import natural
from aisle.tuples import NamedTuple

NO_DATE = "~"
"""Sorts after every pickup date."""

Spots = tuple[tuple[str, str], ...]
"""Places, and how much lies at each: codes with the texts of numbers."""


class OrderRow(NamedTuple):
    """The header of an order."""

    order_number: str
    state: int
    pickup: str
    sort: str
    text: str
    label: str
    reference: str
    picked_quantity: int | float | None
    raw: str


class LineRow(NamedTuple):
    """A line of an order; the first six are kept, and where its goods lie."""

    order_number: str
    line_number: int
    product_number: str
    raw: str
    in_hand: str
    """How much was picked and lies at no place; text of a number."""
    wrong: int
    """Whether more of it is picked than was ordered, or laid down than its places hold."""
    held: Spots
    """Where its goods lie for the order."""
    picked_quantity: int | float
    pickup_date: str
    barcode: str


def order_row(given: object, lines: list[LineRow] | None) -> OrderRow:
    """interface: Customer order. `lines` are its lines where they are known."""
    raw = mapping(given)
    order_number = key(raw, "order_number")
    text = dumped({name: raw[name] for name in raw if name != "lines"})
    closed = not flag(raw, "is_active", default=True) or flag(raw, "is_rejected")
    named = (word(raw, "customer_name"), word(raw, "description"), word(raw, "comment"))
    return OrderRow(
        order_number,
        CLOSED if closed else PICKED if flag(raw, "is_picked") else OPEN,
        pickup_of(word(raw, "pickup_date"), (line.pickup_date for line in lines or ())),
        natural(order_number),
        search_text(order_number, word(raw, "reference"), *named),
        named[0] or named[1],
        word(raw, "reference"),
        None if lines is None else sum(line.picked_quantity for line in lines),
        text,
    )


def pickup_of(said: str, of_lines: Iterable[str]) -> str:
    """When an order is picked up, in the time of the store: as it says itself, else the first of its lines."""
    return store_time.local(said) or min((store_time.local(text) for text in of_lines if text), default=NO_DATE)


def order_lines(given: object) -> list[LineRow]:
    """interface: Order line; all lines of an order, by number. Two lines of one number make the order malformed."""
    raw = mapping(given)
    order_number = key(raw, "order_number")
    lines = raw.get("lines") or ()
    if not isinstance(lines, list | tuple):
        raise Malformed("lines is no list", "lines")
    rows = sorted((_line(order_number, mapping(line)) for line in lines), key=lambda row: row.line_number)
    if len({row.line_number for row in rows}) < len(rows):
        raise Malformed("a line_number stands there twice", "line_number")
    return rows


def _line(order_number: str, raw: Raw) -> LineRow:
    line_number = number(raw, "line_number")
    if not isinstance(line_number, int):
        raise Malformed(f"line_number is {line_number!r}", "line_number")
    figure(raw, "quantity")
    number(raw, "moved_quantity")
    picked = number(raw, "picked_quantity") or 0
    product, pickup, barcode = (word(raw, name) for name in ("product_number", "pickup_date", "barcode"))
    in_hand, held = _laid(order_number, line_number, raw, picked)
    wrong = int(bool(wrong_of(raw)))
    return LineRow(order_number, line_number, product, dumped(raw), in_hand, wrong, held, picked, pickup, barcode)


def wrong_of(raw: Raw) -> tuple[str, Decimal, Decimal] | None:
    """What of a line cannot be: (`more`, how much more is picked than was ordered, that), or (`missing`, how much more
    lies somewhere than its places hold, that). interface: Line location."""
    if not (raw.get("picked_quantity") or raw.get("moved_quantity")):
        return None
    picked, moved = amount(raw.get("picked_quantity")), amount(raw.get("moved_quantity"))
    ordered, entries = amount(raw.get("quantity")), raw.get("store_locations")
    if picked > ordered:
        return "more", picked - ordered, ordered
    if moved > 0 and isinstance(entries, list) and entries:
        spots = (each for each in entries if isinstance(each, dict) and each.get("location_code"))
        mine = [each.get("quantity") for each in spots if each.get("customer_order_number")]
        if None in mine:
            return None
        kept = sum((amount(quantity) for quantity in mine), Decimal(0))
        if moved > kept:
            return "missing", moved - kept, kept
    return None


def _laid(
    order_number: str, line_number: int, raw: Raw, picked: int | float
) -> tuple[str, tuple[tuple[str, str], ...]]:
    """What of a line is in hand, and what lies at places for it. interface: Line location."""
    entries = raw.get("store_locations")
    entries = entries if isinstance(entries, list | tuple) else ()
    named = [entry for entry in entries if isinstance(entry, dict) and entry.get("customer_order_number")]
    if not (named or picked):
        return "0", ()
    laid, held = Decimal(0), dict[str, Decimal]()
    for entry in named:
        code, quantity = word(entry, "location_code"), _amount(entry, "quantity")
        if not code or word(entry, "customer_order_number") != order_number:
            continue
        if entry.get("quantity") is None:  # so much of it lies there as is in no hand
            laid += Decimal(str(picked))
        laid += quantity
        if _amount(entry, "customer_order_line_number") in (0, line_number):
            held[code] = held.get(code, Decimal(0)) + quantity
    in_hand = Decimal(str(picked)) - max(_amount(raw, "moved_quantity"), laid)
    return str(max(Decimal(0), in_hand)), tuple((code, str(quantity)) for code, quantity in held.items() if quantity)


def _amount(raw: Raw, name: str) -> Decimal:
    """A number; 0 for what is none."""
    try:
        return Decimal(str(number(raw, name) or 0))
    except Malformed:
        return Decimal(0)
