"""Writing of locations and their tags.

Tags have a table of their own, because they are queried live and few locations have any.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import apsw

from aisle.barcode_keys import index_keys
from aisle.cache.field_parsing import LocationRow
from aisle.cache.product_writer import delete_codes, encode_keys, insert_codes
from aisle.host.database import fetch
from aisle.json_codec import to_text
from aisle.scan.meaning import LOCATION

_INSERT_TAGS = """
INSERT OR IGNORE INTO tag SELECT t.value, l.location_code FROM json_each(?) e
JOIN location l ON l.location_code = e.value, json_each(l.raw, '$.tags') t
WHERE json_type(l.raw, '$.tags') = 'array' AND t.type IN ('text', 'integer') AND t.value <> ''
"""


def update_tags(connection: apsw.Connection, locations: Iterable[str]) -> None:
    """Update the tags of these locations from their rows; deleted locations lose theirs."""
    named = to_text(list(locations))
    connection.execute("DELETE FROM tag WHERE location_code IN (SELECT value FROM json_each(?))", (named,))
    connection.execute(_INSERT_TAGS, (named,))


def count_tags(connection: apsw.Connection) -> list[tuple[str, int]]:
    """Return each tag with its number of locations."""
    rows = fetch(connection, "SELECT tag, n FROM tag_tally WHERE n > 0 ORDER BY tag")
    return [(str(tag), int(count)) for tag, count in rows]


def locations_with_tag(connection: apsw.Connection, tag: str, locations: Iterable[str]) -> set[str]:
    """Return those of these locations that have the tag."""
    sql = "SELECT e.value FROM json_each(?) e CROSS JOIN tag t ON t.tag = ? AND t.location_code = e.value"
    return {str(code) for (code,) in fetch(connection, sql, to_text(list(locations)), tag)}


def tagged_locations(connection: apsw.Connection, tags: Iterable[str]) -> set[str]:
    """Return the locations that have any of these tags."""
    sql = "SELECT t.location_code FROM json_each(?) e CROSS JOIN tag t ON t.tag = e.value"
    return {str(code) for (code,) in fetch(connection, sql, to_text(list(tags)))}


def write_locations(connection: apsw.Connection, rows: Sequence[LocationRow]) -> tuple[str, ...]:
    """Write locations inside a transaction. Return the codes of those that are new or changed."""
    stored = dict(
        fetch(
            connection,
            "SELECT l.location_code, l.raw FROM json_each(?) e JOIN location l ON l.location_code = e.value",
            encode_keys(row.location_code for row in rows),
        )
    )
    fresh = [row for row in rows if stored.get(row.location_code) != row.raw]
    connection.executemany(
        "INSERT OR REPLACE INTO location (location_code, location_order, raw) VALUES (?, ?, ?)", fresh
    )
    update_tags(connection, (row.location_code for row in fresh))
    codes = [(code, LOCATION, row.location_code) for row in fresh for code in index_keys(row.location_code)]
    insert_codes(connection, codes)
    return tuple(row.location_code for row in fresh)


def delete_unseen_locations(connection: apsw.Connection, generation: int) -> tuple[str, ...]:
    """Delete and return the locations that a pass of the list has not seen."""
    deleted = fetch(
        connection,
        "SELECT l.location_code FROM location l WHERE NOT EXISTS (SELECT 1 FROM seen_key s"
        " WHERE s.topic = 'location' AND s.generation = ? AND s.key = l.location_code)",
        generation,
    )
    delete_codes(
        connection,
        [
            (code, LOCATION, code_of_location)
            for (code_of_location,) in deleted
            for code in index_keys(code_of_location)
        ],
    )
    connection.executemany("DELETE FROM location WHERE location_code = ?", deleted)
    update_tags(connection, (code_of_location for (code_of_location,) in deleted))
    return tuple(str(code_of_location) for (code_of_location,) in deleted)
