"""What this host keeps for everybody who works on it, and no service hears of: claims, reviews, recounts, views,
and what goes first or was given to whom."""

from __future__ import annotations

from typing import NamedTuple

import apsw

from aisle.jobs.base import Remark
from aisle.local.db import fetch

KEPT_S = 35 * 86400.0
"""So long a remark is kept; views stay."""

VIEW = "view"

URGENT, GIVEN, RELEASED = "urgent", "given", "released"
"""An order goes before all others; an order of a walk was given to somebody, whose app user is the text; its claim was
released."""


class Kept(NamedTuple):
    """One remark; `at` is seconds since 1970."""

    key: str
    text: str
    user: str
    at: float


def keep_remark(connection: apsw.Connection, remark: Remark, user: str, now: float) -> None:
    """Keeps a remark inside the caller's transaction, in the place of the one with its topic and key; an empty one
    takes that away."""
    connection.execute("DELETE FROM remark WHERE topic <> ? AND at < ?", (VIEW, now - KEPT_S))
    connection.execute("DELETE FROM remark WHERE topic = ? AND key = ?", (remark.topic, remark.key))
    if remark.text:
        connection.execute(
            "INSERT INTO remark (topic, key, text, user, at) VALUES (?, ?, ?, ?, ?)",
            (remark.topic, remark.key, remark.text, user, now),
        )


def remarks(connection: apsw.Connection, topic: str) -> dict[str, Kept]:
    """All remarks of a topic by their keys."""
    rows = fetch(connection, "SELECT key, text, user, at FROM remark WHERE topic = ? ORDER BY key", topic)
    return {row[0]: Kept(*row) for row in rows}


def remark_of(connection: apsw.Connection, topic: str, key: str) -> Kept | None:
    """One remark; None for none."""
    rows = fetch(connection, "SELECT key, text, user, at FROM remark WHERE topic = ? AND key = ?", topic, key)
    return Kept(*rows[0]) if rows else None
