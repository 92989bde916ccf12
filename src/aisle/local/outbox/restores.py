"""Restores of the service that were noticed on this host, or told it: when, and what was sent again for each."""

from __future__ import annotations

import apsw

from aisle.local.db import fetch
from aisle.tuples import NamedTuple

NOTICED, TOLD = "noticed", "told"
"""The courier found it out; an operator said so (`aisle outbox replay`)."""


class Restore(NamedTuple):
    """One restore. Moments are seconds since 1970."""

    n: int
    noticed_at: float
    how: str
    """NOTICED or TOLD."""
    again: int
    """Operations that are sent again under their keys."""
    looked_for: int
    """Operations that are looked for, since the service keeps no keys."""


def note_restore(connection: apsw.Connection, at: float, how: str, again: int, looked_for: int = 0, n: int = 0) -> int:
    """Keeps it, inside the caller's transaction, in the place of the note of this number, if it has one; its number."""
    connection.execute(
        "INSERT OR REPLACE INTO restore (n, noticed_at, how, again, looked_for) VALUES (?, ?, ?, ?, ?)",
        (n or None, at, how, again, looked_for),
    )
    return n or connection.last_insert_rowid()


def restores(connection: apsw.Connection, since: float = 0.0, after: int = 0) -> list[Restore]:
    """The restores since a moment, behind the one of that number, youngest first."""
    rows = fetch(
        connection,
        "SELECT n, noticed_at, how, again, looked_for FROM restore WHERE noticed_at >= ? AND n > ? ORDER BY n DESC",
        since,
        after,
    )
    return [Restore(*row) for row in rows]


def on_the_way(connection: apsw.Connection) -> tuple[int, int]:
    """(waiting, for a person): of what was sent again or looked for after a restore, what is not settled yet."""
    rows = fetch(
        connection,
        "SELECT state IN ('rejected', 'needs_person'), count(*) FROM operation"
        " WHERE live = 1 AND replayed_at IS NOT NULL AND state <> 'done' GROUP BY 1",
    )
    of = {bool(stuck): int(count) for stuck, count in rows}
    return of.get(False, 0), of.get(True, 0)
