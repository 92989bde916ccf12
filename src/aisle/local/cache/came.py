"""Whether all of a delivery has come, by what the service says: kept, so that no list looks at the lines of all."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from decimal import Decimal

import apsw

from aisle.local.cache.products import names
from aisle.local.cache.rows import Malformed, mapping, number, word
from aisle.local.db import fetch
from aisle.tuples import NamedTuple

RECEIVED = "received"
"""The `status` that our own service gives a delivery of which all has come; of one without lines nothing else tells."""

_LINES = """
SELECT d.order_number, d.raw ->> 'status', l.line_number, l.product_number, ifnull(l.raw ->> 'barcode', ''),
l.quantity, l.received FROM json_each(?) e
JOIN delivery d ON d.order_number = e.value LEFT JOIN delivery_line l ON l.order_number = d.order_number
"""
_RECEIPTS = """
SELECT r.order_number, r.raw ->> '$.receipt_lines' FROM json_each(?) e JOIN receipt r ON r.order_number = e.value
"""

Amount = int | float
ZERO = Decimal(0)


class Line(NamedTuple):
    """A line of a delivery as the delivery says it."""

    number: int
    product: str
    barcode: str
    quantity: Amount | Decimal | None
    received: Amount | Decimal | None
    """Both None where it does not say it."""


def settle(connection: apsw.Connection, numbers: Iterable[str]) -> None:
    """Notes it of these deliveries: all that was announced is there, and something came. What a delivery does not say
    of its lines, its receipt does."""
    statuses: dict[str, bool] = {}
    lines: dict[str, list[Line]] = {}
    wanted = list(numbers)
    for name, status, number_, *line in fetch(connection, _LINES, names(wanted)) if wanted else ():
        statuses[name] = status == RECEIVED
        mine = lines.setdefault(name, [])
        if number_ is not None:
            mine.append(Line(number_, *line))
    silent = [name for name, mine in lines.items() if any(line.received is None for line in mine)]
    said = {
        str(name): json.loads(text)
        for name, text in (fetch(connection, _RECEIPTS, names(silent)) if silent else ())
        if text
    }
    came = [
        (_is_there(mine, said.get(name)) if mine else is_received, name)
        for (name, mine), is_received in zip(lines.items(), statuses.values(), strict=True)
    ]
    connection.executemany("UPDATE delivery SET came = ?1 WHERE order_number = ?2 AND came <> ?1", came)


def _is_there(lines: Sequence[Line], receipt: object) -> bool:
    came = [(line.quantity, of or ZERO) for line, of in zip(lines, received(lines, receipt), strict=True)]
    return all(has_come(part, of) for of, part in came) and any(part > 0 for _, part in came)


def received(lines: Sequence[Line], receipt: object) -> list[Decimal | None]:
    """How much of each of these lines of a delivery came: as it says itself, else as the lines of its receipt do (by
    their line number, else by product or barcode, line after line); None where nobody says it."""
    found = [None if line.received is None else _exact(line.received) for line in lines]
    silent = [at for at, line in enumerate(lines) if line.received is None]
    if not silent or not isinstance(receipt, list) or not receipt:
        return found
    for at in silent:
        found[at] = ZERO
    unnumbered: dict[tuple[int, ...], Decimal] = {}
    for row in receipt:
        amount, at = _amount_of(row), _numbered(lines, row)
        if at in silent:
            found[at] = (found[at] or ZERO) + amount
        elif at < 0:
            alike = tuple(of for of, line in enumerate(lines) if _is_of(line, row))
            unnumbered[alike] = unnumbered.get(alike, ZERO) + amount
    for alike, amount in unnumbered.items():
        _spread(lines, found, alike, amount)
    return found


def _exact(value: Amount | Decimal) -> Decimal:
    return value if isinstance(value, Decimal) else Decimal(str(value))


def _amount_of(row: object) -> Decimal:
    try:
        return _exact(number(mapping(row), "received_quantity") or 0)
    except (Malformed, TypeError):
        return ZERO


def _numbered(lines: Sequence[Line], row: object) -> int:
    """The line that a line of a receipt names by its number; -1 for none, or where that is of another product."""
    said = row if isinstance(row, dict) else {}
    line, product = said.get("line_number"), word(said, "product_number")
    at = next((at for at, each in enumerate(lines) if line is not None and each.number == line), -1)
    return -1 if at >= 0 and product and lines[at].product and lines[at].product != product else at


def _is_of(line: Line, row: object) -> bool:
    """Whether a line has the product of a line of a receipt."""
    said = row if isinstance(row, dict) else {}
    product, barcode = word(said, "product_number"), word(said, "barcode")
    if product and line.product:
        return line.product == product
    return bool(barcode) and line.barcode == barcode


def _spread(lines: Sequence[Line], found: list[Decimal | None], alike: Sequence[int], amount: Decimal) -> None:
    """What came of a product, in all, goes to its lines in order, what is too much to the last; without what the
    delivery says of some of them."""
    silent = [at for at in alike if lines[at].received is None]
    left = amount - sum((found[at] or ZERO for at in alike if at not in silent), ZERO)
    for at in silent:
        before, of = found[at] or ZERO, lines[at].quantity
        room = left if at == silent[-1] or of is None else _exact(of) - before
        part = max(ZERO, min(left, room))
        found[at], left = before + part, left - part


def has_come(received: Amount | Decimal, of: Amount | Decimal | None) -> bool:
    """Whether a line is done: all that was announced is there, or anything where it is not said how much was."""
    return received > 0 if of is None else received >= of
