"""Places of the store into the cache, with their codes and tags. interface: Location."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from aisle.code_forms import index_keys
from aisle.local.cache.codes import add_codes, drop_codes
from aisle.local.cache.products import names
from aisle.local.cache.rows import LocationRow
from aisle.local.cache.tags import keep_tags
from aisle.local.db import fetch
from aisle.scan.meaning import LOCATION


def write_locations(connection: apsw.Connection, rows: Sequence[LocationRow]) -> tuple[str, ...]:
    """Puts places in, inside a transaction; the codes of those that are new or changed."""
    known = dict(
        fetch(
            connection,
            "SELECT l.location_code, l.raw FROM json_each(?) e JOIN location l ON l.location_code = e.value",
            names(row.location_code for row in rows),
        )
    )
    fresh = [row for row in rows if known.get(row.location_code) != row.raw]
    connection.executemany(
        "INSERT OR REPLACE INTO location (location_code, location_order, raw) VALUES (?, ?, ?)", fresh
    )
    keep_tags(connection, (row.location_code for row in fresh))
    codes = [(code, LOCATION, row.location_code) for row in fresh for code in index_keys(row.location_code)]
    add_codes(connection, codes)
    return tuple(row.location_code for row in fresh)


def drop_locations(connection: apsw.Connection, generation: int) -> tuple[str, ...]:
    """Takes places out that a pass of the list has not seen; which."""
    gone = fetch(
        connection,
        "SELECT l.location_code FROM location l WHERE NOT EXISTS (SELECT 1 FROM seen s"
        " WHERE s.topic = 'location' AND s.generation = ? AND s.key = l.location_code)",
        generation,
    )
    drop_codes(connection, [(code, LOCATION, place) for (place,) in gone for code in index_keys(place)])
    connection.executemany("DELETE FROM location WHERE location_code = ?", gone)
    keep_tags(connection, (place for (place,) in gone))
    return tuple(str(place) for (place,) in gone)
