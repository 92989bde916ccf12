"""Goods that a clearance wants moved, into the cache; only our own service lists them."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from aisle.local.cache.rows import dumped, key, mapping
from aisle.local.db import fetch
from aisle.tuples import NamedTuple

CURSOR = "assignments"
"""When the read began that brought what is in the cache."""


class AssignmentRow(NamedTuple):
    """One assignment; `n` is its place in the order of feet, as the service listed it."""

    id: str
    n: int
    raw: str


def assignment_row(given: object) -> AssignmentRow:
    """`id`, `product_number`, `location_code`, `stock_pool`, `quantity`, `customer_order_number`,
    `customer_order_line_number`, `location_tag`, `created_on`."""
    raw = mapping(given)
    for name in ("product_number", "location_code", "customer_order_number"):
        key(raw, name)
    return AssignmentRow(key(raw, "id"), 0, dumped(raw))


def write_assignments(connection: apsw.Connection, rows: Sequence[AssignmentRow]) -> tuple[str, ...]:
    """Puts these in the place of all that were there, inside a transaction; the ids that came, changed or went."""
    known = {str(name): str(raw) for name, raw in fetch(connection, "SELECT id, raw FROM assignment")}
    wanted = {row.id: row._replace(n=n) for n, row in enumerate(rows)}
    gone = [name for name in known if name not in wanted]
    connection.execute("DELETE FROM assignment")
    connection.executemany("INSERT INTO assignment (id, n, raw) VALUES (?, ?, ?)", list(wanted.values()))
    return (*gone, *(row.id for row in wanted.values() if known.get(row.id) != row.raw))
