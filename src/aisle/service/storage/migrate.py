"""Numbered migrations, each in one transaction. A database that is newer than the program is left alone."""

from __future__ import annotations

import json

import apsw

from aisle.errors import StorageError
from aisle.service.product_codes import keys_of
from aisle.service.sql.schema import GRAMS, MEASURED, MIGRATIONS, NARROW, REFOLDED
from aisle.service.storage import grams
from aisle.service.text import measured, refolded


def migrate(connection: apsw.Connection) -> None:
    """Bring the database to the newest schema. Raises StorageError when it is newer still."""
    version = _version(connection)
    if version > len(MIGRATIONS):
        raise StorageError(
            f"The database has schema {version}, this program knows {len(MIGRATIONS)}: use the newer program."
        )
    connection.create_scalar_function("refolded", lambda *said: refolded(str(said[0])), 1, deterministic=True)
    connection.create_scalar_function("measured", lambda *said: measured(*map(str, said)), 2, deterministic=True)
    connection.create_scalar_function("code_keys", lambda *said: json.dumps(keys_of(str(said[0]))), 1)
    while version < len(MIGRATIONS):
        _apply(connection, version + 1, MIGRATIONS[version])
        version = _version(connection)  # another process may have done more of it meanwhile


def _apply(connection: apsw.Connection, number: int, statements: tuple[str, ...]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have done it while this one waited for the lock.
        if _version(connection) < number:
            for statement in statements:
                connection.execute(_dialect(statement))
            connection.execute(f"PRAGMA user_version = {number:d}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _version(connection: apsw.Connection) -> int:
    row = connection.execute("PRAGMA user_version").fetchone()
    return int(row[0]) if row else 0


def _dialect(statement: str) -> str:
    """A statement of the schema as SQLite takes it.

    Narrow tables lie in their primary key: one tree to walk instead of two.
    """
    if statement == GRAMS:
        return grams.SQLITE
    if statement in REFOLDED and statement.startswith("UPDATE product "):
        return grams.REFOLDED if statement == REFOLDED[0] else ""
    if statement == MEASURED:
        return ";".join((statement, *grams.KEPT))
    words = statement.split(None, 3)
    narrow = words[:2] == ["CREATE", "TABLE"] and words[2] in NARROW
    return f"{statement} WITHOUT ROWID" if narrow else statement
