"""The chain's stores, and this store's locations, people, ordered recounts and assignments: parsing and writing.

Tags of locations have a table of their own, because they are queried live and few locations have any.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import apsw

from aisle.barcode_numbers import index_keys
from aisle.cache.product_code_writer import delete_codes, insert_codes
from aisle.cache.row_parsing_and_writing import (
    RawRow,
    dump_row,
    encode_keys,
    index_texts,
    key_field,
    number_field,
    replace_all,
    require_object,
    text_field,
    unseen_sql,
    write_changed,
)
from aisle.host.database import fetch
from aisle.scan.grammar_and_meaning_types import LOCATION, PERSON


class StoreRow(NamedTuple):
    """A store of the chain."""

    store_number: str
    text: str
    raw: str


def parse_store(service_row: object) -> StoreRow:
    """Parse a store. interface: Store (list item)."""
    raw = require_object(service_row)
    text = dump_row(raw)
    number_ = key_field(raw, "storeNo")
    about = (text_field(raw, name) for name in ("storeName", "areaDescription", "areaId", "countryCode"))
    return StoreRow(number_, index_texts(number_, *about), text)


def write_stores(connection: apsw.Connection, rows: Sequence[StoreRow]) -> tuple[str, ...]:
    """Write stores of the list inside a transaction. Return the numbers of those that are new or changed."""
    return write_changed(connection, "store", rows)


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


class PersonRow(NamedTuple):
    """A person who works in the store."""

    user: str
    name: str
    badge: str
    text: str
    raw: str


def parse_person(service_row: object) -> PersonRow:
    """Parse a person: `user`, `name`, `badge`, `role`."""
    raw = require_object(service_row)
    text = dump_row(raw)
    user, name, badge = key_field(raw, "user"), text_field(raw, "name"), text_field(raw, "badge")
    return PersonRow(user, name, badge, index_texts(name, user, badge), text)


def write_people(connection: apsw.Connection, rows: Sequence[PersonRow]) -> tuple[str, ...]:
    """Replace all people inside a transaction. Return the users that were added, changed or removed."""
    changed = replace_all(connection, "person", "user", rows)
    if changed:
        connection.execute("DELETE FROM code WHERE kind = ?", (PERSON,))
        codes = [(row.user, text) for row in rows for text in (row.user, row.badge)]
        insert_codes(connection, {(code, PERSON, user) for user, text in codes for code in index_keys(text)})
    return changed


# Locations


class LocationRow(NamedTuple):
    """A location of the store."""

    location_code: str
    location_order: int | float | None
    """Order on a walk; None if it has none, for which our own service writes 0."""
    raw: str


def parse_location(service_row: object) -> LocationRow:
    """Parse a location. Its stock is left out, because the stock list has it. interface: Location."""
    raw = require_object(service_row)
    text = dump_row({name: raw[name] for name in raw if name != "stock"})
    return LocationRow(key_field(raw, "location_code"), number_field(raw, "location_order") or None, text)


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
    changed = write_changed(connection, "location", rows)
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
    return replace_all(connection, "recount", "id", rows)


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
    changed = replace_all(connection, "assignment", "id", rows)
    connection.executemany("UPDATE assignment SET n = ? WHERE id = ?", [(n, row.id) for n, row in enumerate(rows)])
    return changed
