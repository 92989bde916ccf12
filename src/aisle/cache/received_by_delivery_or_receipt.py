"""Received quantities of delivery lines, by their own figures or the receipt; stores whether all was received.

The flag "received in full" is stored with each delivery, so that no list has to read the lines of all.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import NamedTuple

import apsw

from aisle.cache.row_writing import encode_keys
from aisle.cache.service_row_parsing import InvalidRow, number_field, require_object, text_field
from aisle.host.database import fetch

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
