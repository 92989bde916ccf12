"""Deliveries with their lines, and what was received of them, into the cache.

Interface: Delivery order, Receipt order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import apsw

from aisle.code_forms import index_keys
from aisle.jobs import store_time
from aisle.local.cache.came import settle
from aisle.local.cache.codes import Code, add_codes, drop_codes
from aisle.local.cache.products import names
from aisle.local.cache.rows import Malformed, Raw, dumped, key, mapping, number, search_text, word
from aisle.local.db import fetch
from aisle.local.fold import natural
from aisle.scan.meaning import DELIVERY, PRODUCT
from aisle.tuples import NamedTuple

LATE = "~"
"""Sorts after every day."""


class LineRow(NamedTuple):
    """A line of a delivery."""

    order_number: str
    line_number: int
    product_number: str
    quantity: int | float | None
    received: int | float | None
    """Both None where the delivery does not say it."""
    raw: str


class DeliveryRow(NamedTuple):
    """A delivery; `codes` are those that lead to it, one a line: its numbers and its containers."""

    order_number: str
    expected: str
    text: str
    codes: str
    raw: str
    lines: tuple[LineRow, ...]
    products: tuple[tuple[str, str, str], ...]
    """(code, product, base units) as its lines say them."""


class ReceiptRow(NamedTuple):
    """What came of a delivery; `kind` is its type."""

    order_number: str
    kind: str
    import_id: int | float
    raw: str
    text: str


def delivery_row(given: object, store: str) -> DeliveryRow:
    """interface: Delivery order. One of another store is malformed."""
    raw = mapping(given)
    text = dumped({field: raw[field] for field in raw if field != "order_lines"})
    name = key(raw, "order_number")
    _is_ours(word(raw, "store_number"), store)
    said = raw.get("order_lines") or ()
    if not isinstance(said, list | tuple):
        raise Malformed("order_lines is no list", "order_lines")
    lines = tuple(_line(name, at, line) for at, line in enumerate(said, 1))
    if len({line.line_number for line in lines}) < len(lines):
        raise Malformed("a line_number stands there twice", "line_number")
    rows = [mapping(line) for line in said]
    containers = dict.fromkeys(word(row, "container_barcode") for row in rows)
    named = (name, word(raw, "external_reference_number"), *containers)
    codes = dict.fromkeys(code for text in named if text.strip() for code in index_keys(text))
    supplier = (word(raw, "supplier_name"), word(raw, "supplier_code"))
    return DeliveryRow(
        name,
        word(raw, "datetime_expected"),
        search_text(*named, *supplier),
        "\n".join(codes),
        text,
        lines,
        tuple(code for row in rows for code in _product_codes(row)),
    )


def _is_ours(said: str, store: str) -> None:
    if said not in ("", store):
        raise Malformed(f"it belongs to store {said}", "store_number")


def _line(order_number: str, at: int, given: object) -> LineRow:
    raw = mapping(given)
    line = number(raw, "line_number")
    if line is not None and not isinstance(line, int):
        raise Malformed(f"line_number is {line!r}", "line_number")
    received = number(raw, "received_quantity")
    quantity = number(raw, "quantity")
    return LineRow(
        order_number, at if line is None else line, word(raw, "product_number"), quantity, received, dumped(raw)
    )


def _product_codes(raw: object) -> Iterable[tuple[str, str, str]]:
    """What a line says of its product's codes: with it goods can be received before the catalogue is here."""
    row = mapping(raw)
    product = word(row, "product_number")
    if not product:
        return
    for text in (product, word(row, "barcode")):
        yield from ((code, product, "1") for code in index_keys(text))
    each = number(row, "purchase_unit_quantity")
    if each and each > 0:
        yield from ((code, product, str(each)) for code in index_keys(word(row, "purchase_unit_barcode")))


def receipt_row(given: object, store: str) -> ReceiptRow:
    """interface: Receipt order. One of another store is malformed."""
    raw = mapping(given)
    name = key(raw, "order_number")
    _is_ours(word(raw, "store_number"), store)
    if not isinstance(raw.get("receipt_lines") or [], list):
        raise Malformed("receipt_lines is no list", "receipt_lines")
    for line in raw.get("receipt_lines") or ():
        number(mapping(line), "received_quantity")
    text = search_text(name, word(raw, "supplier_name"), word(raw, "supplier_code"))
    return ReceiptRow(name, word(raw, "order_type_id"), _import_id(raw), dumped(raw), text)


def _import_id(raw: Raw) -> int | float:
    """What receipts are sorted by; 0 for what is no number."""
    try:
        return number(raw, "import_id") or 0
    except Malformed:
        return 0


def write_deliveries(connection: apsw.Connection, rows: Sequence[DeliveryRow], began: float) -> tuple[str, ...]:
    """Writes deliveries inside a transaction; the numbers of those that changed.

    `began` is the moment at which the read began. What a later read has brought is never overwritten by an earlier one.
    """
    wanted = names(row.order_number for row in rows)
    known = {
        str(name): rest
        for name, *rest in fetch(
            connection,
            "SELECT d.order_number, d.began, d.raw, d.codes FROM json_each(?) e"
            " JOIN delivery d ON d.order_number = e.value",
            wanted,
        )
    }
    before: dict[str, list[str]] = {}
    for name, text in fetch(
        connection,
        "SELECT l.order_number, l.raw FROM json_each(?) e JOIN delivery_line l ON l.order_number = e.value"
        " ORDER BY l.order_number, l.line_number",
        wanted,
    ):
        before.setdefault(str(name), []).append(str(text))
    changed = []
    for row in {row.order_number: row for row in rows}.values():
        old = known.get(row.order_number)
        if old is not None and began < old[0]:
            continue
        lines = sorted(row.lines, key=lambda line: line.line_number)
        if old is not None and old[1] == row.raw and before.get(row.order_number, []) == [line.raw for line in lines]:
            connection.execute("UPDATE delivery SET began = ? WHERE order_number = ?", (began, row.order_number))
            continue
        _write(connection, row, lines, began, "" if old is None else str(old[2]))
        changed.append(row.order_number)
    settle(connection, changed)
    return tuple(changed)


_UPSERT = """
INSERT INTO delivery (order_number, expected, due, sort, text, codes, began, raw) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (order_number) DO UPDATE SET expected = excluded.expected, due = excluded.due, text = excluded.text,
  codes = excluded.codes, began = excluded.began, raw = excluded.raw
"""


def _write(connection: apsw.Connection, row: DeliveryRow, lines: Sequence[LineRow], began: float, codes: str) -> None:
    name, many = row.order_number, connection.executemany
    if codes != row.codes:
        drop_codes(connection, _codes(name, codes))
        add_codes(connection, _codes(name, row.codes))
    many(
        "INSERT OR IGNORE INTO code (code, kind, key, factor) VALUES (?, ?, ?, ?)",
        sorted({(code, PRODUCT, product, factor) for code, product, factor in row.products}),
    )
    connection.execute(
        _UPSERT,
        (
            name,
            row.expected,
            _due(row.expected),
            natural(name),
            row.text,
            row.codes,
            began,
            row.raw,
        ),
    )
    connection.execute("DELETE FROM delivery_line WHERE order_number = ?", (name,))
    many(
        "INSERT INTO delivery_line (order_number, line_number, product_number, quantity, received, raw)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        lines,
    )


def _due(expected: str) -> str:
    """When a delivery is expected, in the time of the store."""
    return store_time.local(expected) or LATE


def date_deliveries(connection: apsw.Connection) -> int:
    """Computes anew when deliveries are expected, in the zone in which this process works; how many are different."""
    rows = fetch(connection, "SELECT id, expected, due FROM delivery")
    changed = [(new, id_) for id_, expected, due in rows if (new := _due(str(expected))) != due]
    connection.executemany("UPDATE delivery SET due = ? WHERE id = ?", changed)
    return len(changed)


def write_receipts(connection: apsw.Connection, rows: Sequence[ReceiptRow]) -> tuple[str, ...]:
    """Writes receipts inside a transaction; the numbers of the deliveries of those that changed."""
    known = dict(
        fetch(
            connection,
            "SELECT r.order_number, r.raw FROM json_each(?) e JOIN receipt r ON r.order_number = e.value",
            names(row.order_number for row in rows),
        )
    )
    fresh = [row for row in rows if known.get(row.order_number) != row.raw]
    connection.executemany(
        "INSERT INTO receipt (order_number, kind, import_id, raw, text) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (order_number) DO UPDATE SET kind = excluded.kind, import_id = excluded.import_id,"
        " raw = excluded.raw, text = excluded.text",
        fresh,
    )
    changed = tuple(row.order_number for row in fresh)
    settle(connection, changed)
    return changed


def drop_deliveries(connection: apsw.Connection, numbers: Iterable[str]) -> tuple[str, ...]:
    """Deletes deliveries with all that hangs on them; those that were there."""
    rows = fetch(
        connection,
        "SELECT d.order_number, d.codes FROM json_each(?) e JOIN delivery d ON d.order_number = e.value",
        names(numbers),
    )
    for name, codes in rows:
        drop_codes(connection, _codes(str(name), str(codes)))
        for table in ("delivery", "delivery_line", "receipt"):
            connection.execute(f"DELETE FROM {table} WHERE order_number = ?", (name,))  # noqa: S608 - names of our own
    return tuple(str(name) for name, _ in rows)


def unseen_deliveries(connection: apsw.Connection, generation: int) -> tuple[str, ...]:
    """The deliveries in the cache that a complete pass has not met."""
    rows = fetch(
        connection,
        "SELECT d.order_number FROM delivery d WHERE NOT EXISTS (SELECT 1 FROM seen s"
        " WHERE s.topic = 'delivery' AND s.generation = ? AND s.key = d.order_number)",
        generation,
    )
    return tuple(str(name) for (name,) in rows)


def drop_receipts(connection: apsw.Connection, seen: Iterable[str]) -> tuple[str, ...]:
    """Deletes the receipts that a complete pass has not met and whose delivery is not here either; which."""
    gone = fetch(
        connection,
        "SELECT r.order_number FROM receipt r"
        " WHERE NOT EXISTS (SELECT 1 FROM delivery d WHERE d.order_number = r.order_number)"
        " AND r.order_number NOT IN (SELECT value FROM json_each(?))",
        names(seen),
    )
    connection.executemany("DELETE FROM receipt WHERE order_number = ?", gone)
    return tuple(str(name) for (name,) in gone)


def drop_strange_codes(connection: apsw.Connection) -> None:
    """Deletes the codes of products that the store does not know, once no delivery and no order names them any more."""
    connection.execute(
        "DELETE FROM code WHERE kind = ?"
        " AND NOT EXISTS (SELECT 1 FROM product p WHERE p.product_number = code.key)"
        " AND NOT EXISTS (SELECT 1 FROM delivery_line d WHERE d.product_number = code.key)"
        " AND NOT EXISTS (SELECT 1 FROM line l WHERE l.product_number = code.key)",
        (PRODUCT,),
    )


def _codes(name: str, codes: str) -> list[Code]:
    """What leads to a delivery."""
    return [(code, DELIVERY, name) for code in codes.split("\n") if code]
