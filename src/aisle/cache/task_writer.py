"""Writing of ordered recounts and clearance assignments. Only our own service has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import apsw

from aisle.cache.field_parsing import dump_row, key_field, require_object, text_field
from aisle.host.database import fetch


class RecountRow(NamedTuple):
    """A recount that somebody ordered, of a product at a location; an empty location means the whole store."""

    id: str
    product_number: str
    location_code: str
    raw: str


def parse_recount(service_row: object) -> RecountRow:
    """Parse a recount: `id`, `product_number`, `location_code`, `ordered_by`, `ordered_on`."""
    raw = require_object(service_row)
    return RecountRow(
        key_field(raw, "id"), key_field(raw, "product_number"), text_field(raw, "location_code"), dump_row(raw)
    )


def write_recounts(connection: apsw.Connection, rows: Sequence[RecountRow]) -> tuple[str, ...]:
    """Replace all recounts inside a transaction. Return the ids that were added, changed or removed."""
    stored = {str(name): str(raw) for name, raw in fetch(connection, "SELECT id, raw FROM recount")}
    row_by_id = {row.id: row for row in rows}
    deleted = [name for name in stored if name not in row_by_id]
    fresh = [row for row in row_by_id.values() if stored.get(row.id) != row.raw]
    connection.executemany("DELETE FROM recount WHERE id = ?", [(name,) for name in deleted])
    connection.executemany(
        "INSERT OR REPLACE INTO recount (id, product_number, location_code, raw) VALUES (?, ?, ?, ?)", fresh
    )
    return (*deleted, *(row.id for row in fresh))


ASSIGNMENTS_TOPIC = "assignments"
"""Row of `sync` with the time at which the read of the cached assignments began."""


class AssignmentRow(NamedTuple):
    """One assignment; `n` is its position in walking order, as the service listed it."""

    id: str
    n: int
    raw: str


def parse_assignment(service_row: object) -> AssignmentRow:
    """Parse an assignment.

    Fields: `id`, `product_number`, `location_code`, `stock_pool`, `quantity`, `customer_order_number`,
    `customer_order_line_number`, `location_tag`, `created_on`.
    """
    raw = require_object(service_row)
    for name in ("product_number", "location_code", "customer_order_number"):
        key_field(raw, name)
    return AssignmentRow(key_field(raw, "id"), 0, dump_row(raw))


def write_assignments(connection: apsw.Connection, rows: Sequence[AssignmentRow]) -> tuple[str, ...]:
    """Replace all assignments inside a transaction. Return the ids that were added, changed or removed."""
    stored = {str(name): str(raw) for name, raw in fetch(connection, "SELECT id, raw FROM assignment")}
    row_by_id = {row.id: row._replace(n=n) for n, row in enumerate(rows)}
    deleted = [name for name in stored if name not in row_by_id]
    connection.execute("DELETE FROM assignment")
    connection.executemany("INSERT INTO assignment (id, n, raw) VALUES (?, ?, ?)", list(row_by_id.values()))
    return (*deleted, *(row.id for row in row_by_id.values() if stored.get(row.id) != row.raw))
