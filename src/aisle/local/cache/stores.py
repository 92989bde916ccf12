"""The stores of the chain in the cache: the list, and what our own service says of one beyond it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import apsw

from aisle.local.cache.rows import StoreRow, dumped
from aisle.local.db import fetch


def write_stores(connection: apsw.Connection, rows: Sequence[StoreRow]) -> tuple[str, ...]:
    """Puts stores of the list in, inside a transaction; the numbers of those that are new or changed."""
    known = dict(fetch(connection, "SELECT store_number, raw FROM store"))
    fresh = [row for row in rows if known.get(row.store_number) != row.raw]
    connection.executemany("INSERT OR REPLACE INTO store (store_number, text, raw) VALUES (?, ?, ?)", fresh)
    return tuple(row.store_number for row in fresh)


def write_store_said(
    connection: apsw.Connection, number: str, said: Mapping[str, Any] | None, refused: str, began: float
) -> tuple[str, ...]:
    """All that was said of a store when it was made (interface: Create stores); None with the reason where the service
    does not tell. The number, where something is new."""
    raw = dumped(said) if said is not None else ""
    before = fetch(connection, "SELECT raw, refused FROM store_said WHERE store_number = ?", number)
    connection.execute(
        "INSERT OR REPLACE INTO store_said (store_number, began, refused, raw) VALUES (?, ?, ?, ?)",
        (number, began, refused, raw),
    )
    return () if before == [(raw, refused)] else (number,)


def knows_store(connection: apsw.Connection, number: str) -> bool:
    """Whether more than the list says of a store was ever asked for."""
    return bool(fetch(connection, "SELECT 1 FROM store_said WHERE store_number = ?", number))


def drop_stores(connection: apsw.Connection, numbers: Sequence[str]) -> tuple[str, ...]:
    """Takes stores out that are no more."""
    for table in ("store", "store_said"):
        connection.executemany(f"DELETE FROM {table} WHERE store_number = ?", [(number,) for number in numbers])  # noqa: S608
    return tuple(numbers)


def other_stores(connection: apsw.Connection, seen: Iterable[str]) -> list[str]:
    """The stores that are not among these."""
    kept = json.dumps(sorted(seen))
    rows = fetch(
        connection, "SELECT store_number FROM store WHERE store_number NOT IN (SELECT value FROM json_each(?))", kept
    )
    return [str(number) for (number,) in rows]
