"""Counts that the service has open orders for, into the cache; only our own service keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import apsw

from aisle.cache.field_parsing import dump_row, key_field, require_object, text_field
from aisle.host.database import fetch


class RecountRow(NamedTuple):
    """A count that somebody ordered, of a product at a place; empty for the whole store."""

    id: str
    product_number: str
    location_code: str
    raw: str


def parse_recount(service_row: object) -> RecountRow:
    """`id`, `product_number`, `location_code`, `ordered_by`, `ordered_on`."""
    raw = require_object(service_row)
    return RecountRow(
        key_field(raw, "id"), key_field(raw, "product_number"), text_field(raw, "location_code"), dump_row(raw)
    )


def write_recounts(connection: apsw.Connection, rows: Sequence[RecountRow]) -> tuple[str, ...]:
    """Puts these in the place of all that were there, inside a transaction; the ids that came, changed or went."""
    known = {str(name): str(raw) for name, raw in fetch(connection, "SELECT id, raw FROM recount")}
    wanted = {row.id: row for row in rows}
    gone = [name for name in known if name not in wanted]
    fresh = [row for row in wanted.values() if known.get(row.id) != row.raw]
    connection.executemany("DELETE FROM recount WHERE id = ?", [(name,) for name in gone])
    connection.executemany(
        "INSERT OR REPLACE INTO recount (id, product_number, location_code, raw) VALUES (?, ?, ?, ?)", fresh
    )
    return (*gone, *(row.id for row in fresh))


ASSIGNMENTS_TOPIC = "assignments"
"""When the read began that brought what is in the cache."""


class AssignmentRow(NamedTuple):
    """One assignment; `n` is its place in the order of feet, as the service listed it."""

    id: str
    n: int
    raw: str


def parse_assignment(service_row: object) -> AssignmentRow:
    """`id`, `product_number`, `location_code`, `stock_pool`, `quantity`, `customer_order_number`,
    `customer_order_line_number`, `location_tag`, `created_on`."""
    raw = require_object(service_row)
    for name in ("product_number", "location_code", "customer_order_number"):
        key_field(raw, name)
    return AssignmentRow(key_field(raw, "id"), 0, dump_row(raw))


def write_assignments(connection: apsw.Connection, rows: Sequence[AssignmentRow]) -> tuple[str, ...]:
    """Puts these in the place of all that were there, inside a transaction; the ids that came, changed or went."""
    known = {str(name): str(raw) for name, raw in fetch(connection, "SELECT id, raw FROM assignment")}
    wanted = {row.id: row._replace(n=n) for n, row in enumerate(rows)}
    gone = [name for name in known if name not in wanted]
    connection.execute("DELETE FROM assignment")
    connection.executemany("INSERT INTO assignment (id, n, raw) VALUES (?, ?, ?)", list(wanted.values()))
    return (*gone, *(row.id for row in wanted.values() if known.get(row.id) != row.raw))
