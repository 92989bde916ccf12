"""Deliveries and receipts: parsing and writing, and the received quantities of delivery lines.

The flag "received in full" is stored with each delivery, so that no list has to read the lines of all.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import NamedTuple

import apsw

from aisle.barcode_numbers import index_keys
from aisle.cache.product_code_writer import Code, barcodes_of_delivery, delete_codes, delete_unnamed_codes, insert_codes
from aisle.cache.row_parsing_and_writing import (
    InvalidRow,
    RawRow,
    dump_row,
    encode_keys,
    index_texts,
    key_field,
    number_field,
    require_object,
    text_field,
    unseen_sql,
    upsert,
    write_changed,
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


STATUS_RECEIVED = "received"
"""`status` of a fully received delivery of our own service; the only sign if the delivery has no lines."""

_DELIVERY_LINES = """
SELECT d.order_number, d.raw ->> 'status', l.line_number, l.product_number, ifnull(l.raw ->> 'barcode', ''),
l.quantity, l.received FROM json_each(?) e
JOIN delivery d ON d.order_number = e.value LEFT JOIN delivery_line l ON l.order_number = d.order_number
"""
_RECEIPT_LINES = """
SELECT r.order_number, r.raw ->> '$.receipt_lines' FROM json_each(?) e JOIN receipt r ON r.order_number = e.value
"""

Amount = int | float
ZERO = Decimal(0)


class DeliveryLine(NamedTuple):
    """A line of a delivery as the delivery itself states it."""

    number: int
    product: str
    barcode: str
    quantity: Amount | Decimal | None
    received: Amount | Decimal | None
    """Announced and received quantity; None if the delivery does not state it."""


def update_received(connection: apsw.Connection, numbers: Iterable[str]) -> None:
    """Store for each of these deliveries if it is received in full, which it never is if nothing came, and the greatest
    percentage that a line lacks.

    Quantities that a delivery does not state are taken from its receipt.
    """
    statuses: dict[str, bool] = {}
    lines: dict[str, list[DeliveryLine]] = {}
    names = list(numbers)
    for name, status, number_, *line in fetch(connection, _DELIVERY_LINES, encode_keys(names)) if names else ():
        statuses[name] = status == STATUS_RECEIVED
        own_lines = lines.setdefault(name, [])
        if number_ is not None:
            own_lines.append(DeliveryLine(number_, *line))
    unstated = [name for name, own_lines in lines.items() if any(line.received is None for line in own_lines)]
    receipts = {
        str(name): json.loads(text)
        for name, text in (fetch(connection, _RECEIPT_LINES, encode_keys(unstated)) if unstated else ())
        if text
    }
    states = [
        (*(_receipt_state(own_lines, receipts.get(name)) if own_lines else (is_received, 100.0)), name)
        for (name, own_lines), is_received in zip(lines.items(), statuses.values(), strict=True)
    ]
    connection.executemany(
        "UPDATE delivery SET is_received = ?1, lacks = ?2 WHERE order_number = ?3 AND (is_received, lacks) <> (?1, ?2)",
        states,
    )


def _receipt_state(lines: Sequence[DeliveryLine], receipt: object) -> tuple[bool, float]:
    """Return if lines are received in full, and the greatest percentage that one of them lacks."""
    quantities = [received or ZERO for received in received_quantities(lines, receipt)]
    parts = [(line.quantity, received) for line, received in zip(lines, quantities, strict=True)]
    is_received = all(is_line_received(received, announced) for announced, received in parts) and any(
        received > 0 for received in quantities
    )
    return is_received, max(_percentage_lacked(announced, received) for announced, received in parts)


def _percentage_lacked(announced: Amount | Decimal | None, received: Decimal) -> float:
    if is_line_received(received, announced):
        return 0.0
    return 100 - float(received) / float(announced) * 100 if announced else 100.0


def received_quantities(lines: Sequence[DeliveryLine], receipt: object) -> list[Decimal | None]:
    """Return the received quantity of each line of a delivery; None if unknown.

    It is the line's own figure, else that of the receipt: by line number, else by product or barcode, line after line.
    """
    found = [None if line.received is None else _to_decimal(line.received) for line in lines]
    unstated = [at for at, line in enumerate(lines) if line.received is None]
    if not unstated or not isinstance(receipt, list) or not receipt:
        return found
    for at in unstated:
        found[at] = ZERO
    unnumbered: dict[tuple[int, ...], Decimal] = {}
    for row in receipt:
        amount, at = _received_in_row(row), _line_of_receipt_row(lines, row)
        if at in unstated:
            found[at] = (found[at] or ZERO) + amount
        elif at < 0:
            candidates = tuple(of for of, line in enumerate(lines) if _has_product_of(line, row))
            unnumbered[candidates] = unnumbered.get(candidates, ZERO) + amount
    for candidates, amount in unnumbered.items():
        _split_over_lines(lines, found, candidates, amount)
    return found


def _to_decimal(value: Amount | Decimal) -> Decimal:
    return value if isinstance(value, Decimal) else Decimal(str(value))


def _received_in_row(row: object) -> Decimal:
    try:
        return _to_decimal(number_field(require_object(row), "received_quantity") or 0)
    except (InvalidRow, TypeError):
        return ZERO


def _line_of_receipt_row(lines: Sequence[DeliveryLine], row: object) -> int:
    """Return the index of the line that a receipt row names by number; -1 if there is none or its product differs."""
    receipt_row = row if isinstance(row, dict) else {}
    line, product = receipt_row.get("line_number"), text_field(receipt_row, "product_number")
    at = next((at for at, each in enumerate(lines) if line is not None and each.number == line), -1)
    return -1 if at >= 0 and product and lines[at].product and lines[at].product != product else at


def _has_product_of(line: DeliveryLine, row: object) -> bool:
    """Return True if a line has the product of a receipt row."""
    receipt_row = row if isinstance(row, dict) else {}
    product, barcode = text_field(receipt_row, "product_number"), text_field(receipt_row, "barcode")
    if product and line.product:
        return line.product == product
    return bool(barcode) and line.barcode == barcode


def _split_over_lines(
    lines: Sequence[DeliveryLine], received: list[Decimal | None], candidates: Sequence[int], quantity: Decimal
) -> None:
    """Distribute the received quantity of a product over its lines in order; the last one takes the excess.

    Lines that state their received quantity are deducted first and not changed.
    """
    unstated = [at for at in candidates if lines[at].received is None]
    remaining = quantity - sum((received[at] or ZERO for at in candidates if at not in unstated), ZERO)
    for at in unstated:
        before, announced = received[at] or ZERO, lines[at].quantity
        fitting = remaining if at == unstated[-1] or announced is None else _to_decimal(announced) - before
        part = max(ZERO, min(remaining, fitting))
        received[at], remaining = before + part, remaining - part


def is_line_received(received: Amount | Decimal, announced: Amount | Decimal | None, may_lack: Decimal = ZERO) -> bool:
    """Return True if a line is complete: everything announced has come, or anything if no quantity was announced.

    `may_lack` is the part that measured goods may lack.
    """
    return received > 0 if announced is None else received >= _to_decimal(announced) - may_lack
