"""Whether all of a delivery has come, by what the service says: kept, so that no list looks at the lines of all."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

import apsw

from aisle.local.cache.products import names
from aisle.local.cache.rows import Malformed, mapping, number
from aisle.local.db import fetch

RECEIVED = "received"
"""The `status` that our own service gives a delivery of which all has come; of one without lines nothing else tells."""

_LINES = """
SELECT d.order_number, d.raw ->> 'status', l.line_number, l.quantity, l.received FROM json_each(?) e
JOIN delivery d ON d.order_number = e.value LEFT JOIN delivery_line l ON l.order_number = d.order_number
"""
_RECEIPTS = """
SELECT r.order_number, r.raw ->> '$.receipt_lines' FROM json_each(?) e JOIN receipt r ON r.order_number = e.value
"""

Amount = int | float
Line = tuple[int, Amount | None, Amount | None]
"""Its number, how much was announced, and how much of it came, where the delivery says so."""


def settle(connection: apsw.Connection, numbers: Iterable[str]) -> None:
    """Notes it of these deliveries: all that was announced is there, and something came. What a delivery does not say
    of its lines, its receipt does."""
    statuses: dict[str, bool] = {}
    lines: dict[str, list[Line]] = {}
    wanted = list(numbers)
    for name, status, line, quantity, received in fetch(connection, _LINES, names(wanted)) if wanted else ():
        statuses[name] = status == RECEIVED
        mine = lines.setdefault(name, [])
        if line is not None:
            mine.append((line, quantity, received))
    silent = [name for name, mine in lines.items() if any(received is None for _, _, received in mine)]
    said = {
        str(name): _said(text) for name, text in (fetch(connection, _RECEIPTS, names(silent)) if silent else ()) if text
    }
    came = [
        (_is_there(mine, said.get(name, {})) if mine else is_received, name)
        for (name, mine), is_received in zip(lines.items(), statuses.values(), strict=True)
    ]
    connection.executemany("UPDATE delivery SET came = ?1 WHERE order_number = ?2 AND came <> ?1", came)


def _is_there(lines: Sequence[Line], said: Mapping[int | None, Amount]) -> bool:
    came = [(quantity, said.get(line, 0) if received is None else received) for line, quantity, received in lines]
    return all(has_come(received, of) for of, received in came) and any(received > 0 for _, received in came)


def has_come(received: Amount | Decimal, of: Amount | Decimal | None) -> bool:
    """Whether a line is done: all that was announced is there, or anything where it is not said how much was."""
    return received > 0 if of is None else received >= of


def _said(text: str) -> dict[int | None, Amount]:
    """What a receipt has of each line; what names none is of no line."""
    found: dict[int | None, Amount] = {}
    for line in json.loads(text):
        try:
            found[mapping(line).get("line_number")] = number(line, "received_quantity") or 0
        except (Malformed, TypeError):
            continue
    return found
