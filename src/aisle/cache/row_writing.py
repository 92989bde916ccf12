"""Writing of parsed rows, alike for all lists: invalid rows are left out, unchanged ones are not written again.

The fields of a parsed row are the columns of its table; the first one is its key, `raw` the row as stored.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple, Protocol, TypeVar

import apsw

from aisle.cache.service_row_parsing import InvalidRow, OverlongRow, replace_surrogates, truncate_texts
from aisle.host.database import fetch

CHUNK_ROWS = 1000
"""Rows that are looked up in one query."""


_MAX_REASON = 200
"""Characters of the reason for which a row was left out."""


T = TypeVar("T")


class ParsedRow(Protocol):
    """Parsed row: a NamedTuple whose fields are the columns of its table; the first one is its key."""

    @property
    def raw(self) -> str: ...
    @property
    def _fields(self) -> tuple[str, ...]: ...
    def __getitem__(self, at: int, /) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...


R = TypeVar("R", bound=ParsedRow)


class SkippedRow(NamedTuple):
    """A row that was left out."""

    row: Any
    reason: str
    field: str = ""
    """Invalid field, if the error concerns one."""


class WriteResult(NamedTuple):
    """Result of writing rows."""

    keys: tuple[str, ...]
    """Keys of all valid rows."""
    changed: tuple[str, ...]
    """Keys of the rows that differ from the cached ones."""
    skipped: tuple[SkippedRow, ...]


def parse_rows(rows: Iterable[Any], parse: Callable[[Any], T]) -> tuple[list[T], tuple[SkippedRow, ...]]:
    """Return the valid rows, and the invalid ones with the reason."""
    good: list[T] = []
    bad: list[SkippedRow] = []
    for row in rows:
        try:
            good.append(_parse_row(row, parse))
        except (ValueError, OverflowError, RecursionError) as error:
            bad.append(SkippedRow(row, str(error)[:_MAX_REASON], error.field if isinstance(error, InvalidRow) else ""))
    return good, tuple(bad)


def _parse_row(row: Any, parse: Callable[[Any], T]) -> T:
    try:
        return parse(row)
    except (UnicodeEncodeError, OverlongRow):  # A row may be both.
        return parse(truncate_texts(replace_surrogates(row)))


def split_chunks(rows: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield the rows in chunks of `CHUNK_ROWS`."""
    for first in range(0, len(rows), CHUNK_ROWS):
        yield rows[first : first + CHUNK_ROWS]


def encode_keys(rows: Iterable[str]) -> str:
    """Return keys as one parameter for json_each."""
    return json.dumps(list(rows))


@cache
def _upsert_sql(table: str, columns: tuple[str, ...]) -> str:
    marks, changes = ", ".join("?" * len(columns)), ", ".join(f"{name} = excluded.{name}" for name in columns[1:])
    return (
        f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608 - names of our own
        f" ON CONFLICT ({columns[0]}) DO UPDATE SET {changes}"
    )


def upsert(connection: apsw.Connection, table: str, columns: tuple[str, ...], rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows with these columns, or update those whose key, the first column, is stored."""
    connection.executemany(_upsert_sql(table, columns), rows)


def changed_rows(connection: apsw.Connection, table: str, rows: Iterable[R]) -> list[R]:
    """Return those of the rows that are not stored, or stored with another text; of two with one key the last."""
    by_key = {row[0]: row for row in rows}
    if not by_key:
        return []
    key = next(iter(by_key.values()))._fields[0]
    sql = f"SELECT t.{key}, t.raw FROM json_each(?) e JOIN {table} t ON t.{key} = e.value"  # noqa: S608 - names of our own
    stored = dict(fetch(connection, sql, encode_keys(by_key)))
    return [row for name, row in by_key.items() if stored.get(name) != row.raw]


def write_changed(connection: apsw.Connection, table: str, rows: Iterable[R]) -> tuple[str, ...]:
    """Write rows that are new or changed. Return their keys."""
    fresh = changed_rows(connection, table, rows)
    if fresh:
        upsert(connection, table, fresh[0]._fields, [tuple(row) for row in fresh])
    return tuple(str(row[0]) for row in fresh)


def replace_all(connection: apsw.Connection, table: str, key: str, rows: Iterable[R]) -> tuple[str, ...]:
    """Replace all rows of a table. Return the keys that were added, changed or removed."""
    by_key = {str(row[0]): row for row in rows}
    stored = dict(fetch(connection, f"SELECT {key}, raw FROM {table}"))  # noqa: S608 - names of our own
    gone = [(name,) for name in stored if name not in by_key]
    connection.executemany(f"DELETE FROM {table} WHERE {key} = ?", gone)  # noqa: S608 - names of our own
    return (*write_changed(connection, table, by_key.values()), *(str(name) for (name,) in gone))


def unseen_sql(topic: str, key: str) -> str:
    """Return the condition for rows that a complete pass has not seen; the parameter is its number."""
    return f"NOT EXISTS (SELECT 1 FROM seen_key s WHERE s.topic = '{topic}' AND s.generation = ? AND s.key = {key})"  # noqa: S608
