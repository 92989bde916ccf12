"""What sessions would like to have fresh soon; the courier takes it when it can. A lost wish harms nobody."""

from __future__ import annotations

import apsw

from aisle.local.db import fetch, fetch_one, transaction

EVERYTHING = "everything"
"""The key with which a wish for orders means the whole store, read anew."""
LISTS = "lists"
"""The key with which it means the list of orders, and every list that could not be read."""


def add_wish(connection: apsw.Connection, topic: str, key: str, at: float) -> None:
    """Adds a wish inside the caller's transaction; the same wish twice is one."""
    connection.execute("INSERT OR IGNORE INTO wish (topic, key, at) VALUES (?, ?, ?)", (topic, key, at))


def wish(connection: apsw.Connection, topic: str, key: str, at: float) -> None:
    """Adds a wish in a transaction of its own."""
    with transaction(connection):
        add_wish(connection, topic, key, at)


def take_wishes(connection: apsw.Connection, limit: int = 100) -> list[tuple[str, str]]:
    """Takes the oldest wishes off the list: (topic, key) each."""
    if fetch_one(connection, "SELECT 1 FROM wish") is None:
        return []
    with transaction(connection):
        rows = fetch(connection, "SELECT topic, key FROM wish ORDER BY at, topic, key LIMIT ?", limit)
        connection.executemany("DELETE FROM wish WHERE topic = ? AND key = ?", rows)
    return [(str(topic), str(key)) for topic, key in rows]
