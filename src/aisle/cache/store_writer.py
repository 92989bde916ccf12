"""Writing of the chain's stores, the details that our own service has of one, and the people of the store."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import apsw

from aisle.barcode_keys import index_keys
from aisle.cache.field_parsing import PersonRow, RawRow, StoreRow, dump_row
from aisle.cache.product_writer import insert_codes
from aisle.host.database import fetch
from aisle.scan.meaning import PERSON


def write_stores(connection: apsw.Connection, rows: Sequence[StoreRow]) -> tuple[str, ...]:
    """Write stores of the list inside a transaction. Return the numbers of those that are new or changed."""
    stored = dict(fetch(connection, "SELECT store_number, raw FROM store"))
    fresh = [row for row in rows if stored.get(row.store_number) != row.raw]
    connection.executemany("INSERT OR REPLACE INTO store (store_number, text, raw) VALUES (?, ?, ?)", fresh)
    return tuple(row.store_number for row in fresh)


def write_store_details(
    connection: apsw.Connection, number: str, details: RawRow | None, refusal: str, read_began: float
) -> tuple[str, ...]:
    """Write the details of a store from its creation; None and the reason if the service refuses them.

    Return the number if anything changed. interface: Create stores.
    """
    raw = dump_row(details) if details is not None else ""
    before = fetch(connection, "SELECT raw, refused FROM store_details WHERE store_number = ?", number)
    connection.execute(
        "INSERT OR REPLACE INTO store_details (store_number, read_began, refused, raw) VALUES (?, ?, ?, ?)",
        (number, read_began, refusal, raw),
    )
    return () if before == [(raw, refusal)] else (number,)


def has_store_details(connection: apsw.Connection, number: str) -> bool:
    """Return True if the details of a store were ever requested."""
    return bool(fetch(connection, "SELECT 1 FROM store_details WHERE store_number = ?", number))


def delete_stores(connection: apsw.Connection, numbers: Sequence[str]) -> tuple[str, ...]:
    """Delete and return these stores."""
    for table in ("store", "store_details"):
        connection.executemany(f"DELETE FROM {table} WHERE store_number = ?", [(number,) for number in numbers])  # noqa: S608
    return tuple(numbers)


def stores_except(connection: apsw.Connection, seen: Iterable[str]) -> list[str]:
    """Return the stored stores that are not among these."""
    keys = json.dumps(sorted(seen))
    rows = fetch(
        connection, "SELECT store_number FROM store WHERE store_number NOT IN (SELECT value FROM json_each(?))", keys
    )
    return [str(number) for (number,) in rows]


def write_people(connection: apsw.Connection, rows: Sequence[PersonRow]) -> tuple[str, ...]:
    """Replace all people inside a transaction. Return the users that were added, changed or removed."""
    stored = dict(fetch(connection, "SELECT user, raw FROM person"))
    people = {row.user: row for row in rows}
    changed = [user for user, row in people.items() if stored.get(user) != row.raw]
    changed += [user for user in stored if user not in people]
    if not changed:
        return ()
    connection.execute("DELETE FROM person")
    connection.execute("DELETE FROM code WHERE kind = ?", (PERSON,))
    connection.executemany("INSERT INTO person (user, name, badge, text, raw) VALUES (?, ?, ?, ?, ?)", people.values())
    codes = [(row.user, text) for row in people.values() for text in (row.user, row.badge)]
    insert_codes(connection, {(code, PERSON, user) for user, text in codes for code in index_keys(text)})
    return tuple(changed)
