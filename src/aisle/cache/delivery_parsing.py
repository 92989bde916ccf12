"""Parsing of the service's deliveries and receipts into the rows that the cache stores."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from aisle.barcode_keys import index_keys
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
