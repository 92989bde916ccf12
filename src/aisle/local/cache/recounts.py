"""Counts that the service has open orders for, into the cache; only our own service keeps them."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from aisle.local.cache.rows import dumped, key, mapping, word
from aisle.local.db import fetch
from aisle.tuples import NamedTuple


class RecountRow(NamedTuple):
    """A count that somebody ordered, of a product at a place; empty for the whole store."""

    id: str
    product_number: str
    location_code: str
    raw: str


def recount_row(given: object) -> RecountRow:
    """`id`, `product_number`, `location_code`, `ordered_by`, `ordered_on`."""
    raw = mapping(given)
    return RecountRow(key(raw, "id"), key(raw, "product_number"), word(raw, "location_code"), dumped(raw))


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
