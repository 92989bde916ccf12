"""Notes that this host keeps for everybody who works on it and never sends to the service.

Topics: claims, reviews, recounts, saved views, priority and assignment of orders, redirected stops, languages,
themes, the pages that people left, those that ask for a confirmation, and accepted excess of deliveries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import apsw

from aisle.host.database import fetch
from aisle.jobs.job import ACCEPTED_EXCESS, LocalNote
from aisle.named_tuple_json import to_text

NOTE_KEPT_S = 35 * 86400.0
"""Seconds for which a note is kept, except those that stay."""

SAVED_VIEW = "view"

LANGUAGE, THEME = "language", "theme"
"""Language and colour theme that a person wants; the key is the app user."""

LIST = "list"
"""Columns and sort order that a person chose for a list; the key is the app user and the name of the list."""

PAGES = "pages"
"""Pages that a person left at a desk; the key is the app user, also with the terminal."""

QUESTION = "question"
"""Pages whose uppermost asks for a confirmation; the key is the app user with the terminal."""

PRIORITY, ASSIGNED, RELEASED = "priority", "assigned", "released"
"""Topics of an order: it has priority; it is assigned to the app user in the text; its claim was released."""

NOT_PUT_DOWN = "not_put_down"
"""Topic of an order that was left with goods at no location; the text is the app user who left it."""

REDIRECTED = "redirected"
"""Topic of an order that was left with redirected stops.

The text has stops and locations by the person who set them.
"""


_LASTING_TOPICS = (SAVED_VIEW, LANGUAGE, THEME, LIST, ACCEPTED_EXCESS)
"""Topics of notes that stay."""


class LocalNoteRow(NamedTuple):
    """One note; `at` is in seconds since 1970."""

    key: str
    text: str
    user: str
    at: float


def save_note(connection: apsw.Connection, note: LocalNote, user: str, now: float) -> None:
    """Store a note inside the caller's transaction, replacing the one with its topic and key.

    An empty text deletes it.
    """
    connection.execute(
        "DELETE FROM local_note WHERE topic NOT IN (SELECT value FROM json_each(?)) AND at < ?",
        (to_text(_LASTING_TOPICS), now - NOTE_KEPT_S),
    )
    connection.execute("DELETE FROM local_note WHERE topic = ? AND key = ?", (note.topic, note.key))
    if note.text:
        connection.execute(
            "INSERT INTO local_note (topic, key, text, user, at) VALUES (?, ?, ?, ?, ?)",
            (note.topic, note.key, note.text, user, now),
        )


def notes_of_topic(connection: apsw.Connection, topic: str) -> dict[str, LocalNoteRow]:
    """Return all notes of a topic by key."""
    rows = fetch(connection, "SELECT key, text, user, at FROM local_note WHERE topic = ? ORDER BY key", topic)
    return {row[0]: LocalNoteRow(*row) for row in rows}


def notes_of_keys(
    connection: apsw.Connection, keys: Sequence[str], *topics: str
) -> dict[tuple[str, str], LocalNoteRow]:
    """Return the notes of these topics on these keys, by topic and key; cost does not depend on other notes."""
    sql = (
        "SELECT r.topic, r.key, r.text, r.user, r.at FROM json_each(?) k CROSS JOIN json_each(?) t"
        " CROSS JOIN local_note r ON r.topic = t.value AND r.key = k.value"
    )
    rows = fetch(connection, sql, to_text(list(keys)), to_text(list(topics))) if keys else []
    return {(str(topic), str(row[0])): LocalNoteRow(*row) for topic, *row in rows}


def find_note(connection: apsw.Connection, topic: str, key: str) -> LocalNoteRow | None:
    """Return one note; None if there is none."""
    rows = fetch(connection, "SELECT key, text, user, at FROM local_note WHERE topic = ? AND key = ?", topic, key)
    return LocalNoteRow(*rows[0]) if rows else None
