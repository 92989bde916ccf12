"""The tags of places in the cache, in a table of their own: asked for live, and few places of many have any."""

from __future__ import annotations

from collections.abc import Iterable

import apsw

from aisle.jobs.codec import to_text
from aisle.local.db import fetch

_TAGS = """
INSERT OR IGNORE INTO tag SELECT t.value, l.location_code FROM json_each(?) e
JOIN location l ON l.location_code = e.value, json_each(l.raw, '$.tags') t
WHERE json_type(l.raw, '$.tags') = 'array' AND t.type IN ('text', 'integer') AND t.value <> ''
"""


def keep_tags(connection: apsw.Connection, codes: Iterable[str]) -> None:
    """Brings the tags of these places to what is said of them now; those that are gone have none."""
    named = to_text(list(codes))
    connection.execute("DELETE FROM tag WHERE location_code IN (SELECT value FROM json_each(?))", (named,))
    connection.execute(_TAGS, (named,))


def tag_counts(connection: apsw.Connection) -> list[tuple[str, int]]:
    """Each tag, and how many places have it."""
    rows = fetch(connection, "SELECT tag, n FROM tag_tally WHERE n > 0 ORDER BY tag")
    return [(str(tag), int(count)) for tag, count in rows]


def having(connection: apsw.Connection, tag: str, codes: Iterable[str]) -> set[str]:
    """Those of these places that have the tag."""
    sql = "SELECT e.value FROM json_each(?) e CROSS JOIN tag t ON t.tag = ? AND t.location_code = e.value"
    return {str(code) for (code,) in fetch(connection, sql, to_text(list(codes)), tag)}


def tagged_places(connection: apsw.Connection, tags: Iterable[str]) -> set[str]:
    """The places that have any of these tags."""
    sql = "SELECT t.location_code FROM json_each(?) e CROSS JOIN tag t ON t.tag = e.value"
    return {str(code) for (code,) in fetch(connection, sql, to_text(list(tags)))}
