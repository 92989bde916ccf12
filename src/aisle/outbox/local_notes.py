"""What this host keeps for everybody who works on it, and no service hears of: claims, reviews, recounts, views,
what goes first or was given to whom, and where stops are taken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import apsw

from aisle.host.database import fetch
from aisle.jobs.job import LocalNote
from aisle.json_codec import to_text

NOTE_KEPT_S = 35 * 86400.0
"""So long a remark is kept; views stay, and languages."""

SAVED_VIEW = "view"

LANGUAGE = "language"
"""What a person, whose app user is the key, wants to be spoken to in."""

PRIORITY, ASSIGNED, RELEASED = "urgent", "given", "released"
"""An order goes before all others; an order of a walk was given to somebody, whose app user is the text; its claim was
released."""

NOT_PUT_DOWN = "lying"
"""An order was left with goods of it at no place, by whom the text says: his app user."""

REDIRECTED = "redirected"
"""An order was left with stops that are taken elsewhere than their lines say: which and where, the text says by the
person who said so."""


class LocalNoteRow(NamedTuple):
    """One remark; `at` is seconds since 1970."""

    key: str
    text: str
    user: str
    at: float


def save_note(connection: apsw.Connection, note: LocalNote, user: str, now: float) -> None:
    """Keeps a remark inside the caller's transaction, in the place of the one with its topic and key; an empty one
    takes that away."""
    connection.execute(
        "DELETE FROM remark WHERE topic NOT IN (?, ?) AND at < ?", (SAVED_VIEW, LANGUAGE, now - NOTE_KEPT_S)
    )
    connection.execute("DELETE FROM remark WHERE topic = ? AND key = ?", (note.topic, note.key))
    if note.text:
        connection.execute(
            "INSERT INTO remark (topic, key, text, user, at) VALUES (?, ?, ?, ?, ?)",
            (note.topic, note.key, note.text, user, now),
        )


def notes_of_topic(connection: apsw.Connection, topic: str) -> dict[str, LocalNoteRow]:
    """All remarks of a topic by their keys."""
    rows = fetch(connection, "SELECT key, text, user, at FROM remark WHERE topic = ? ORDER BY key", topic)
    return {row[0]: LocalNoteRow(*row) for row in rows}


def notes_of_keys(
    connection: apsw.Connection, keys: Sequence[str], *topics: str
) -> dict[tuple[str, str], LocalNoteRow]:
    """The remarks of these topics on these keys alone, by topic and key, however many others are kept."""
    sql = (
        "SELECT r.topic, r.key, r.text, r.user, r.at FROM json_each(?) k CROSS JOIN json_each(?) t"
        " CROSS JOIN remark r ON r.topic = t.value AND r.key = k.value"
    )
    rows = fetch(connection, sql, to_text(list(keys)), to_text(list(topics))) if keys else []
    return {(str(topic), str(row[0])): LocalNoteRow(*row) for topic, *row in rows}


def find_note(connection: apsw.Connection, topic: str, key: str) -> LocalNoteRow | None:
    """One remark; None for none."""
    rows = fetch(connection, "SELECT key, text, user, at FROM remark WHERE topic = ? AND key = ?", topic, key)
    return LocalNoteRow(*rows[0]) if rows else None
