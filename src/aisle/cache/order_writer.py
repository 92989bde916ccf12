"""Orders and their lines: parsing with checks, and writing of rows, codes, search, deletion and audit.

A malformed order raises InvalidRow. interface: Customer order, Order line, Line location.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from reprlib import repr as short_repr
from typing import Any, NamedTuple

import apsw

from aisle.barcode_numbers import index_keys
from aisle.cache.product_code_writer import ProductBarcode, delete_codes, delete_unnamed_codes, insert_codes
from aisle.cache.row_parsing_and_writing import (
    InvalidRow,
    RawRow,
    check_entries,
    dump_row,
    encode_keys,
    flag_field,
    index_texts,
    key_field,
    number_field,
    require_object,
    required_number,
    split_chunks,
    text_field,
    unseen_sql,
)
from aisle.cache.schema import (
    CLAIMANT_SQL,
    IS_CLAIMED_SQL,
    MIN_SEARCH_PART,
    ORDER_CLOSED,
    ORDER_OPEN,
    ORDER_PICKED,
    PROGRESS_SQL,
    STATUS_SQL,
)
from aisle.host.database import fetch
from aisle.jobs import store_time
from aisle.row_values import to_decimal
from aisle.scan.grammar_and_meaning_types import ORDER, PRODUCT, REFERENCE
from aisle.search_text import natural_key, normalise_text

# Writing


class OrderRead(NamedTuple):
    """One order of an answer."""

    order_number: str
    header: OrderRow
    lines: list[OrderLineRow] | None
    """Lines of the order; None if the answer has headers only."""


class _KnownOrder(NamedTuple):
    """Cached columns of an order."""

    header_read_began: float
    lines_read_began: float | None
    raw: str
    reference: str
    pickup: str
    text: str


BATCH_ROWS = 5000
"""Rows in memory at once while all orders are scanned."""


MAX_WORD = 40
"""Letters of a word that are indexed; numbers are shorter."""


def word_endings(text: str) -> str:
    """Return all endings of the words of a text, so that a prefix search finds text inside of words."""
    words = dict.fromkeys(text.split())
    return " ".join(word[at:] for word in words for at in range(max(1, min(len(word), MAX_WORD) - MIN_SEARCH_PART + 1)))


_UPSERT_ORDER = """
INSERT INTO orders (order_number, state, pickup, sort, text, label, customer, reference, picked_quantity, raw,
  header_read_began, lines_read_began, first_read_began)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (order_number) DO UPDATE SET
  state = excluded.state, pickup = excluded.pickup, sort = excluded.sort, text = excluded.text, label = excluded.label,
  customer = excluded.customer, reference = excluded.reference, raw = excluded.raw,
  header_read_began = excluded.header_read_began,
  picked_quantity = ifnull(excluded.picked_quantity, picked_quantity),
  lines_read_began = ifnull(excluded.lines_read_began, lines_read_began)
"""


def write_orders(connection: apsw.Connection, reads: Sequence[OrderRead], read_began: float) -> tuple[str, ...]:
    """Write orders inside a transaction. Return the numbers of those that changed.

    `read_began`: time at which the read began. Rows of a later read are never overwritten by an earlier one.
    """
    changed: list[str] = []
    for chunk in split_chunks(reads):
        stored = _known_orders(connection, [read.order_number for read in chunk])
        bulk = _OrderBatch(connection, read_began)
        for read in {read.order_number: read for read in chunk}.values():
            if bulk.add(read, stored.get(read.order_number)):
                changed.append(read.order_number)
        bulk.write()
    return tuple(changed)


_UPDATE_STATUS = f"""
UPDATE orders SET status = {STATUS_SQL}, claimed = {IS_CLAIMED_SQL}, claimant = {CLAIMANT_SQL},
  progress = {PROGRESS_SQL}
WHERE order_number IN (SELECT value FROM json_each(?))
  AND (status, claimed, claimant, progress) <> ({STATUS_SQL}, {IS_CLAIMED_SQL}, {CLAIMANT_SQL}, {PROGRESS_SQL})
"""  # noqa: S608 - conditions of our own


_INSERT_SEARCH = """
INSERT OR REPLACE INTO order_search (rowid, parts) SELECT o.id, t.parts FROM (SELECT ? AS parts, ? AS number) t
JOIN orders o ON o.order_number = t.number
"""


_HELD_MARK = '"customer_order_number"'
"""Text in every line with goods at a location."""


class _OrderBatch:
    """Orders collected for a bulk write."""

    def __init__(self, connection: apsw.Connection, read_began: float) -> None:
        self._db = connection
        self._read_began = read_began
        self._headers: list[tuple[Any, ...]] = []
        self._confirmed: list[tuple[float, float | None, int | float | None, str]] = []
        self._lines: list[tuple[Any, ...]] = []
        self._held: list[tuple[Any, ...]] = []
        self._moved_lines: list[tuple[str, int]] = []
        """Lines whose goods were at a location and may be elsewhere now."""
        self._replaced_lines: list[tuple[str]] = []
        self._codes: list[tuple[str, str, str]] = []
        self._deleted_lines: list[tuple[str, int]] = []
        self._product_code_pairs: set[tuple[str, str]] = set()
        """Pairs of a number or barcode and the product that a line has it for."""
        self._deleted_codes: list[tuple[str, str, str]] = []
        self._before: dict[str, list[tuple[int, str]]] = {}
        self._texts: list[tuple[str, str]] = []
        self._former_barcodes: list[ProductBarcode] = []
        """Barcodes of lines as they were."""

    def add(self, read: OrderRead, old: _KnownOrder | None) -> bool:
        """Collect an order. Return True if it differs from the cached one."""
        header, lines = read.header, read.lines
        if old is not None and lines is not None and self._read_began < (old.lines_read_began or 0):
            lines = None
        has_new_lines = lines is not None and self._replace_lines(header.order_number, lines, old)
        lines_read_began = None if lines is None else self._read_began
        is_older = old is not None and self._read_began < old.header_read_began
        if lines is None and old is not None and header.pickup == NO_PICKUP_DATE:
            header = header._replace(pickup=old.pickup)
        if is_older or (old is not None and (old.raw, old.pickup) == (header.raw, header.pickup)):
            began = old.header_read_began if old is not None and is_older else self._read_began
            self._confirmed.append(
                (began, lines_read_began, None if lines is None else header.picked_quantity, header.order_number)
            )
            return has_new_lines
        self._headers.append((*header, self._read_began, lines_read_began, self._read_began))
        self._index_order(header, old)
        return True

    def _replace_lines(self, number: str, lines: list[OrderLineRow], old: _KnownOrder | None) -> bool:
        """Collect the lines of an order that differ.

        Each line is in indexes, and mostly a pick has changed only one.
        """
        has_lines = old is not None and old.lines_read_began is not None
        before: dict[int, str] = {}
        if has_lines:
            before = dict(fetch(self._db, "SELECT line_number, raw FROM line WHERE order_number = ?", number))
        else:
            self._replaced_lines.append((number,))
        fresh = [line for line in lines if before.get(line.line_number) != line.raw]
        deleted = before.keys() - {line.line_number for line in lines}
        if has_lines and not (fresh or deleted):
            return False
        self._deleted_lines += [(number, line_number) for line_number in deleted]
        self._former_barcodes += _former_barcodes(before, fresh, deleted)
        self._moved_lines += [
            (number, line.line_number) for line in fresh if _HELD_MARK in before.get(line.line_number, "")
        ]
        self._lines += [line[:6] for line in fresh]
        self._held += [(number, line.line_number, line.product_number, *held) for line in fresh for held in line.held]
        self._product_code_pairs.update(
            (line.product_number, line.product_number) for line in lines if line.product_number
        )
        self._product_code_pairs.update((line.barcode, line.product_number) for line in lines if line.barcode)
        return True

    def _index_order(self, header: OrderRow, old: _KnownOrder | None) -> None:
        number = header.order_number
        if old is None or old.text != header.text:
            self._texts.append((word_endings(header.text), number))
        if old is None:
            self._codes += [(code, ORDER, number) for code in index_keys(number)]
        elif old.reference != header.reference:
            self._deleted_codes += [(code, REFERENCE, number) for code in index_keys(old.reference)]
        if old is None or old.reference != header.reference:
            self._codes += [(code, REFERENCE, number) for code in index_keys(header.reference)]

    def _product_codes(self) -> list[tuple[str, str, str]]:
        """Return the product codes from the lines, so that an order can be picked before the catalogue is cached."""
        return sorted((code, PRODUCT, number) for text, number in self._product_code_pairs for code in index_keys(text))

    def write(self) -> None:
        """Write everything collected."""
        many = self._db.executemany
        many(_UPSERT_ORDER, self._headers)
        many(_INSERT_SEARCH, self._texts)
        many(
            "UPDATE orders SET header_read_began = ?, lines_read_began = ifnull(?, lines_read_began),"
            " picked_quantity = ifnull(?, picked_quantity) WHERE order_number = ?",
            self._confirmed,
        )
        self._db.execute(
            _UPDATE_STATUS, (encode_keys([*(row[0] for row in self._headers), *(row[3] for row in self._confirmed)]),)
        )
        many("DELETE FROM line WHERE order_number = ?", self._replaced_lines)
        many("DELETE FROM line WHERE order_number = ? AND line_number = ?", self._deleted_lines)
        many("DELETE FROM put_down WHERE order_number = ? AND line_number = ?", self._moved_lines)
        many(
            "INSERT OR REPLACE INTO line (order_number, line_number, product_number, raw, in_hand, is_inconsistent)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            self._lines,
        )
        many(
            "INSERT OR REPLACE INTO put_down (order_number, line_number, product_number, location_code, quantity)"
            " VALUES (?, ?, ?, ?, ?)",
            self._held,
        )
        delete_unnamed_codes(self._db, self._former_barcodes)
        delete_codes(self._db, self._deleted_codes)
        many("INSERT OR IGNORE INTO code (code, kind, key, factor) VALUES (?, ?, ?, '1')", self._product_codes())
        insert_codes(self._db, self._codes)


def _former_barcodes(
    before: Mapping[int, str], fresh: Iterable[OrderLineRow], deleted: Iterable[int]
) -> Iterator[ProductBarcode]:
    """Yield the barcodes that lines of an order had and have no more; `before` are their rows by number."""
    now = {line.line_number: (line.product_number, line.barcode) for line in fresh if line.line_number in before}
    for line_number in (*now, *deleted):
        raw = json.loads(before[line_number])
        barcode = text_field(raw, "product_number"), text_field(raw, "barcode")
        if barcode[1] and barcode != now.get(line_number):
            yield barcode


def _known_orders(connection: apsw.Connection, numbers: Iterable[str]) -> dict[str, _KnownOrder]:
    rows = fetch(
        connection,
        "SELECT o.order_number, o.header_read_began, o.lines_read_began, o.raw, o.reference, o.pickup, o.text"
        " FROM json_each(?) e JOIN orders o ON o.order_number = e.value",
        encode_keys(numbers),
    )
    return {number: _KnownOrder(*rest) for number, *rest in rows}


_PICKUP_DATES = """
SELECT o.id, o.pickup, o.raw ->> 'pickup_date',
  (SELECT json_group_array(l.raw ->> 'pickup_date') FROM line l WHERE l.order_number = o.order_number)
FROM orders o WHERE o.id > ? ORDER BY o.id LIMIT ?
"""


def recompute_pickup_times(connection: apsw.Connection) -> int:
    """Recompute the pick-up times in the zone of this process. Return how many changed."""
    last, count = 0, 0
    while rows := fetch(connection, _PICKUP_DATES, last, BATCH_ROWS):
        last = rows[-1][0]
        found = (
            (pickup_time(_as_text(stated), map(_as_text, json.loads(lines))), old, id_)
            for id_, old, stated, lines in rows
        )
        changed = [(new, id_) for new, old, id_ in found if new != old]
        connection.executemany("UPDATE orders SET pickup = ? WHERE id = ?", changed)
        count += len(changed)
    return count


def _as_text(said: object) -> str:
    return "" if said is None else str(said)


def delete_orders(connection: apsw.Connection, numbers: Sequence[str]) -> tuple[str, ...]:
    """Delete orders with their lines and codes. Return those that existed."""
    rows = fetch(
        connection,
        "SELECT order_number, reference FROM orders WHERE order_number IN (SELECT value FROM json_each(?))",
        encode_keys(numbers),
    )
    codes = [(code, ORDER, number) for number, _ in rows for code in index_keys(number)]
    codes += [(code, REFERENCE, number) for number, reference in rows for code in index_keys(reference)]
    deleted = [(number,) for number, _ in rows]
    delete_codes(connection, codes)
    connection.executemany("DELETE FROM line WHERE order_number = ?", deleted)
    connection.executemany("DELETE FROM orders WHERE order_number = ?", deleted)
    return tuple(str(number) for number, _ in rows)


def find_unseen_orders(connection: apsw.Connection, generation: int) -> tuple[str, ...]:
    """Return the cached open and picked orders that a pass of the list has not seen."""
    unseen = unseen_sql("order", "o.order_number")
    sql = f"SELECT o.order_number FROM orders o WHERE o.state < 2 AND {unseen} ORDER BY o.sort"  # noqa: S608
    rows = fetch(connection, sql, generation)
    return tuple(str(number) for (number,) in rows)


MAX_AUDITED_ORDERS = 500
"""Greatest number of orders with the list of who changed them; the last read ones are kept."""


def write_order_audit(
    connection: apsw.Connection, number: str, entries: Sequence[Mapping[str, Any]], read_began: float
) -> bool:
    """Write who changed an order inside a transaction. Return True if that is news; an older read is none."""
    text = json.dumps(entries, ensure_ascii=False)
    before = fetch(connection, "SELECT raw, read_began FROM order_audit WHERE order_number = ?", number)
    if before and float(before[0][1]) > read_began:
        return False
    connection.execute("INSERT OR REPLACE INTO order_audit VALUES (?, ?, ?)", (number, read_began, text))
    connection.execute(
        "DELETE FROM order_audit WHERE order_number IN"
        " (SELECT order_number FROM order_audit ORDER BY read_began DESC LIMIT -1 OFFSET ?)",
        (MAX_AUDITED_ORDERS,),
    )
    return str(before[0][0]) != text if before else bool(entries)


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
