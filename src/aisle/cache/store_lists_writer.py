"""Writing of the chain's stores, and of this store's locations, people, ordered recounts and assignments.

Tags of locations have a table of their own, because they are queried live and few locations have any.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import apsw

from aisle.barcode_keys import index_keys
from aisle.cache.product_writer import (
    changed_rows,
    delete_codes,
    encode_keys,
    insert_codes,
    replaced_keys,
    unseen_sql,
)
from aisle.cache.service_row_parsing import (
    LocationRow,
    PersonRow,
    RawRow,
    StoreRow,
    dump_row,
    key_field,
    require_object,
    text_field,
)
from aisle.host.database import fetch
from aisle.scan.grammar_types import LOCATION, PERSON


def write_stores(connection: apsw.Connection, rows: Sequence[StoreRow]) -> tuple[str, ...]:
    """Write stores of the list inside a transaction. Return the numbers of those that are new or changed."""
    fresh = changed_rows(connection, "store", "store_number", {row.store_number: row for row in rows})
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


def delete_unseen_stores(connection: apsw.Connection, seen: Iterable[str]) -> tuple[str, ...]:
    """Delete and return the stores that are not among these."""
    sql = "SELECT store_number FROM store WHERE store_number NOT IN (SELECT value FROM json_each(?))"
    deleted = fetch(connection, sql, encode_keys(seen))
    for table in ("store", "store_details"):
        connection.executemany(f"DELETE FROM {table} WHERE store_number = ?", deleted)  # noqa: S608
    return tuple(str(number) for (number,) in deleted)


def write_people(connection: apsw.Connection, rows: Sequence[PersonRow]) -> tuple[str, ...]:
    """Replace all people inside a transaction. Return the users that were added, changed or removed."""
    people = {row.user: row for row in rows}
    changed = replaced_keys(connection, "person", "user", people)
    if changed:
        connection.execute("DELETE FROM person")
        connection.execute("DELETE FROM code WHERE kind = ?", (PERSON,))
        sql = "INSERT INTO person (user, name, badge, text, raw) VALUES (?, ?, ?, ?, ?)"
        connection.executemany(sql, people.values())
        codes = [(row.user, text) for row in people.values() for text in (row.user, row.badge)]
        insert_codes(connection, {(code, PERSON, user) for user, text in codes for code in index_keys(text)})
    return changed


# Locations


_INSERT_TAGS = """
INSERT OR IGNORE INTO tag SELECT t.value, l.location_code FROM json_each(?) e
JOIN location l ON l.location_code = e.value, json_each(l.raw, '$.tags') t
WHERE json_type(l.raw, '$.tags') = 'array' AND t.type IN ('text', 'integer') AND t.value <> ''
"""


def _update_tags(connection: apsw.Connection, locations: Iterable[str]) -> None:
    """Update the tags of these locations from their rows; deleted locations lose theirs."""
    named = encode_keys(locations)
    connection.execute("DELETE FROM tag WHERE location_code IN (SELECT value FROM json_each(?))", (named,))
    connection.execute(_INSERT_TAGS, (named,))


def write_locations(connection: apsw.Connection, rows: Sequence[LocationRow]) -> tuple[str, ...]:
    """Write locations inside a transaction. Return the codes of those that are new or changed."""
    fresh = changed_rows(connection, "location", "location_code", {row.location_code: row for row in rows})
    connection.executemany(
        "INSERT OR REPLACE INTO location (location_code, location_order, raw) VALUES (?, ?, ?)", fresh
    )
    changed = tuple(row.location_code for row in fresh)
    _update_tags(connection, changed)
    insert_codes(connection, [(code, LOCATION, name) for name in changed for code in index_keys(name)])
    return changed


def delete_unseen_locations(connection: apsw.Connection, generation: int) -> tuple[str, ...]:
    """Delete and return the locations that a pass of the list has not seen."""
    sql = f"SELECT l.location_code FROM location l WHERE {unseen_sql('location', 'l.location_code')}"  # noqa: S608
    deleted = tuple(str(name) for (name,) in fetch(connection, sql, generation))
    delete_codes(connection, [(code, LOCATION, name) for name in deleted for code in index_keys(name)])
    connection.executemany("DELETE FROM location WHERE location_code = ?", [(name,) for name in deleted])
    _update_tags(connection, deleted)
    return deleted


# Tasks, which only our own service has


class RecountRow(NamedTuple):
    """A recount that somebody ordered, of a product at a location; an empty location means the whole store."""

    id: str
    product_number: str
    location_code: str
    raw: str


def parse_recount(service_row: object) -> RecountRow:
    """Parse a recount: `id`, `product_number`, `location_code`, `ordered_by`, `ordered_on`."""
    raw = require_object(service_row)
    return RecountRow(
        key_field(raw, "id"), key_field(raw, "product_number"), text_field(raw, "location_code"), dump_row(raw)
    )


def write_recounts(connection: apsw.Connection, rows: Sequence[RecountRow]) -> tuple[str, ...]:
    """Replace all recounts inside a transaction. Return the ids that were added, changed or removed."""
    recounts = {row.id: row for row in rows}
    changed = replaced_keys(connection, "recount", "id", recounts)
    connection.execute("DELETE FROM recount")
    sql = "INSERT INTO recount (id, product_number, location_code, raw) VALUES (?, ?, ?, ?)"
    connection.executemany(sql, recounts.values())
    return changed


ASSIGNMENTS_TOPIC = "assignments"
"""Row of `sync` with the time at which the read of the cached assignments began."""


class AssignmentRow(NamedTuple):
    """One assignment; `n` is its position in walking order, as the service listed it."""

    id: str
    n: int
    raw: str


def parse_assignment(service_row: object) -> AssignmentRow:
    """Parse an assignment.

    Fields: `id`, `product_number`, `location_code`, `stock_pool`, `quantity`, `customer_order_number`,
    `customer_order_line_number`, `location_tag`, `created_on`.
    """
    raw = require_object(service_row)
    for name in ("product_number", "location_code", "customer_order_number"):
        key_field(raw, name)
    return AssignmentRow(key_field(raw, "id"), 0, dump_row(raw))


def write_assignments(connection: apsw.Connection, rows: Sequence[AssignmentRow]) -> tuple[str, ...]:
    """Replace all assignments inside a transaction. Return the ids that were added, changed or removed."""
    assignments = {row.id: row._replace(n=n) for n, row in enumerate(rows)}
    changed = replaced_keys(connection, "assignment", "id", assignments)
    connection.execute("DELETE FROM assignment")
    connection.executemany("INSERT INTO assignment (id, n, raw) VALUES (?, ?, ?)", assignments.values())
    return changed
