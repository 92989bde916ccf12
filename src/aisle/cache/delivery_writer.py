"""Deliveries and receipts: parsing and writing.

`received_by_delivery_or_receipt` stores with each delivery whether it is received in full.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import apsw

from aisle.barcode_lookup_keys import index_keys
from aisle.cache.product_code_writer import Code, barcodes_of_delivery, delete_codes, delete_unnamed_codes, insert_codes
from aisle.cache.received_by_delivery_or_receipt import update_received
from aisle.cache.row_writing import encode_keys, unseen_sql, upsert, write_changed
from aisle.cache.service_row_parsing import (
    InvalidRow,
    RawRow,
    dump_row,
    index_texts,
    key_field,
    number_field,
    require_object,
    text_field,
)
from aisle.host.database import fetch
from aisle.jobs import store_time
from aisle.scan.grammar_and_meaning_types import DELIVERY, PRODUCT
from aisle.search_text import natural_key


class DeliveryLineRow(NamedTuple):
    """A line of a delivery as stored."""

    order_number: str
    line_number: int
    product_number: str
    quantity: int | float | None
    received: int | float | None
    """Announced and received quantity; None if the delivery does not state it."""
    raw: str


class DeliveryRow(NamedTuple):
    """A delivery as stored. `codes` are the scannable codes of its numbers and containers, one per text line."""

    order_number: str
    expected: str
    text: str
    codes: str
    raw: str
    lines: tuple[DeliveryLineRow, ...]
    product_codes: tuple[tuple[str, str, str], ...]
    """Triples (code, product, base units) from its lines."""


class ReceiptRow(NamedTuple):
    """The receipt of a delivery; `kind` is its type."""

    order_number: str
    kind: str
    import_id: int | float
    raw: str
    text: str


def parse_delivery(service_row: object, store: str) -> DeliveryRow:
    """Parse a delivery. Raise InvalidRow if it is malformed or of another store. interface: Delivery order."""
    raw = require_object(service_row)
    text = dump_row({field: raw[field] for field in raw if field != "order_lines"})
    name = key_field(raw, "order_number")
    _check_store(text_field(raw, "store_number"), store)
    service_lines = raw.get("order_lines") or ()
    if not isinstance(service_lines, list | tuple):
        raise InvalidRow("order_lines is no list", "order_lines")
    lines = tuple(_parse_delivery_line(name, at, line) for at, line in enumerate(service_lines, 1))
    if len({line.line_number for line in lines}) < len(lines):
        raise InvalidRow("a line_number stands there twice", "line_number")
    rows = [require_object(line) for line in service_lines]
    containers = dict.fromkeys(text_field(row, "container_barcode") for row in rows)
    named = (name, text_field(raw, "external_reference_number"), *containers)
    codes = dict.fromkeys(code for text in named if text.strip() for code in index_keys(text))
    supplier = (text_field(raw, "supplier_name"), text_field(raw, "supplier_code"))
    return DeliveryRow(
        name,
        text_field(raw, "datetime_expected"),
        index_texts(*named, *supplier),
        "\n".join(codes),
        text,
        lines,
        tuple(code for row in rows for code in _product_codes(row)),
    )


def _check_store(number: str, store: str) -> None:
    if number not in ("", store):
        raise InvalidRow(f"it belongs to store {number}", "store_number")


def _parse_delivery_line(order_number: str, position: int, service_row: object) -> DeliveryLineRow:
    raw = require_object(service_row)
    line = number_field(raw, "line_number")
    if line is not None and not isinstance(line, int):
        raise InvalidRow(f"line_number is {line!r}", "line_number")
    received = number_field(raw, "received_quantity")
    quantity = number_field(raw, "quantity")
    return DeliveryLineRow(
        order_number,
        position if line is None else line,
        text_field(raw, "product_number"),
        quantity,
        received,
        dump_row(raw),
    )


def _product_codes(raw: object) -> Iterable[tuple[str, str, str]]:
    """Yield the product codes that a line names, so that goods can be received before the catalogue is cached."""
    row = require_object(raw)
    product = text_field(row, "product_number")
    if not product:
        return
    for text in (product, text_field(row, "barcode")):
        yield from ((code, product, "1") for code in index_keys(text))
    each = number_field(row, "purchase_unit_quantity")
    if each and each > 0:
        yield from ((code, product, str(each)) for code in index_keys(text_field(row, "purchase_unit_barcode")))


def parse_receipt(service_row: object, store: str) -> ReceiptRow:
    """Parse a receipt. Raise InvalidRow if it is malformed or of another store. interface: Receipt order."""
    raw = require_object(service_row)
    name = key_field(raw, "order_number")
    _check_store(text_field(raw, "store_number"), store)
    if not isinstance(raw.get("receipt_lines") or [], list):
        raise InvalidRow("receipt_lines is no list", "receipt_lines")
    for line in raw.get("receipt_lines") or ():
        number_field(require_object(line), "received_quantity")
    text = index_texts(name, text_field(raw, "supplier_name"), text_field(raw, "supplier_code"))
    return ReceiptRow(name, text_field(raw, "order_type_id"), _parse_import_id(raw), dump_row(raw), text)


def _parse_import_id(raw: RawRow) -> int | float:
    """Return the sort number of a receipt; 0 if it has no valid one."""
    try:
        return number_field(raw, "import_id") or 0
    except InvalidRow:
        return 0


# Writing


NO_DATE = "~"
"""Sort value after every day."""


def write_deliveries(connection: apsw.Connection, rows: Sequence[DeliveryRow], read_began: float) -> tuple[str, ...]:
    """Write deliveries inside a transaction. Return the numbers of those that changed.

    `read_began`: time at which the read began (seconds since 1970). Rows of a later read are never overwritten by an
    earlier one.
    """
    keys = encode_keys(row.order_number for row in rows)
    stored = {
        str(name): rest
        for name, *rest in fetch(
            connection,
            "SELECT d.order_number, d.read_began, d.raw, d.codes FROM json_each(?) e"
            " JOIN delivery d ON d.order_number = e.value",
            keys,
        )
    }
    before: dict[str, list[str]] = {}
    for name, text in fetch(
        connection,
        "SELECT l.order_number, l.raw FROM json_each(?) e JOIN delivery_line l ON l.order_number = e.value"
        " ORDER BY l.order_number, l.line_number",
        keys,
    ):
        before.setdefault(str(name), []).append(str(text))
    changed = []
    for row in {row.order_number: row for row in rows}.values():
        old = stored.get(row.order_number)
        if old is not None and read_began < old[0]:
            continue
        lines = sorted(row.lines, key=lambda line: line.line_number)
        if old is not None and old[1] == row.raw and before.get(row.order_number, []) == [line.raw for line in lines]:
            connection.execute(
                "UPDATE delivery SET read_began = ? WHERE order_number = ?", (read_began, row.order_number)
            )
            continue
        _write_delivery(connection, row, lines, read_began, "" if old is None else str(old[2]))
        changed.append(row.order_number)
    update_received(connection, changed)
    return tuple(changed)


_DELIVERY_COLUMNS = ("order_number", "expected", "due", "sort", "text", "codes", "read_began", "raw")


def _write_delivery(
    connection: apsw.Connection, row: DeliveryRow, lines: Sequence[DeliveryLineRow], read_began: float, codes: str
) -> None:
    name, many = row.order_number, connection.executemany
    if codes != row.codes:
        delete_codes(connection, _delivery_codes(name, codes))
        insert_codes(connection, _delivery_codes(name, row.codes))
    due, sort = _due_time(row.expected), natural_key(name)
    columns = (name, row.expected, due, sort, row.text, row.codes, read_began, row.raw)
    upsert(connection, "delivery", _DELIVERY_COLUMNS, [columns])
    barcodes = barcodes_of_delivery(connection, name)
    connection.execute("DELETE FROM delivery_line WHERE order_number = ?", (name,))
    delete_unnamed_codes(connection, barcodes)  # so that a corrected number of base units is inserted
    many(
        "INSERT INTO delivery_line (order_number, line_number, product_number, quantity, received, raw)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        lines,
    )
    many(
        "INSERT OR IGNORE INTO code (code, kind, key, factor) VALUES (?, ?, ?, ?)",
        sorted({(code, PRODUCT, product, factor) for code, product, factor in row.product_codes}),
    )


def _due_time(expected: str) -> str:
    """Return the expected time of a delivery in the store's zone."""
    return store_time.to_local_text(expected) or NO_DATE


def recompute_due_times(connection: apsw.Connection) -> int:
    """Recompute the expected times in the zone of this process. Return how many changed."""
    rows = fetch(connection, "SELECT id, expected, due FROM delivery")
    changed = [(new, id_) for id_, expected, due in rows if (new := _due_time(str(expected))) != due]
    connection.executemany("UPDATE delivery SET due = ? WHERE id = ?", changed)
    return len(changed)


def write_receipts(connection: apsw.Connection, rows: Sequence[ReceiptRow]) -> tuple[str, ...]:
    """Write receipts inside a transaction. Return the numbers of the deliveries whose receipt changed."""
    changed = write_changed(connection, "receipt", rows)
    update_received(connection, changed)
    return changed


def delete_deliveries(connection: apsw.Connection, numbers: Iterable[str]) -> tuple[str, ...]:
    """Delete deliveries with their lines, receipts and codes. Return those that existed."""
    rows = fetch(
        connection,
        "SELECT d.order_number, d.codes FROM json_each(?) e JOIN delivery d ON d.order_number = e.value",
        encode_keys(numbers),
    )
    for name, codes in rows:
        delete_codes(connection, _delivery_codes(str(name), str(codes)))
        for table in ("delivery", "delivery_line", "receipt"):
            connection.execute(f"DELETE FROM {table} WHERE order_number = ?", (name,))  # noqa: S608 - names of our own
    return tuple(str(name) for name, _ in rows)


def find_unseen_deliveries(connection: apsw.Connection, generation: int) -> tuple[str, ...]:
    """Return the cached deliveries that a complete pass has not seen."""
    sql = f"SELECT d.order_number FROM delivery d WHERE {unseen_sql('delivery', 'd.order_number')}"  # noqa: S608
    rows = fetch(connection, sql, generation)
    return tuple(str(name) for (name,) in rows)


def delete_unseen_receipts(connection: apsw.Connection, seen: Iterable[str]) -> tuple[str, ...]:
    """Delete and return the receipts that a complete pass has not seen and whose delivery is not cached either."""
    deleted = fetch(
        connection,
        "SELECT r.order_number FROM receipt r"
        " WHERE NOT EXISTS (SELECT 1 FROM delivery d WHERE d.order_number = r.order_number)"
        " AND r.order_number NOT IN (SELECT value FROM json_each(?))",
        encode_keys(seen),
    )
    connection.executemany("DELETE FROM receipt WHERE order_number = ?", deleted)
    return tuple(str(name) for (name,) in deleted)


def _delivery_codes(name: str, codes: str) -> list[Code]:
    """Return the codes of a delivery."""
    return [(code, DELIVERY, name) for code in codes.split("\n") if code]
