"""A database that is put back from an earlier copy of itself, on either engine, while the service uses it.

A SQLite file by SQLite's own backup, as `aisle restore` does it; a PostgreSQL schema row by row, as a dump of its data.
"""

from __future__ import annotations

import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import apsw

from aisle.service.db import Database, Transaction
from aisle.service.db.postgres import PostgresDatabase
from aisle.service.db.postgres_transaction import PostgresTransaction
from tests.service.postgres import who_refers_first

Copy = bytes | dict[str, list[Any]]


def copy_of(where: Path | Database) -> Copy:
    """The database as it is at this moment: a SQLite file, or the storage of a PostgreSQL."""
    if isinstance(where, Path):
        with closing(apsw.Connection(str(where))) as database:
            return database.serialize("main")
    tables = who_refers_first(cast("PostgresDatabase", where))

    async def work(tx: Transaction) -> dict[str, list[Any]]:
        return {table: await tx.all(f"SELECT * FROM {table}") for table in reversed(tables)}

    return where.read_now(work)


def put_back(where: Path | Database, copy: Copy) -> None:
    """The database is as it was then, in one transaction that a running service sees as any other."""
    if isinstance(where, Path):
        assert isinstance(copy, bytes)
        _put_back_file(where, copy)
        return
    rows = copy
    assert isinstance(rows, dict)

    async def work(tx: Transaction) -> None:
        assert isinstance(tx, PostgresTransaction)
        await tx.connection.execute(";".join(f"DELETE FROM {table}" for table in reversed(rows)))
        for table, records in rows.items():
            if records:
                await tx.connection.copy_records_to_table(table, records=[tuple(row) for row in records])

    where.write_now(work)


def _put_back_file(path: Path, copy: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "copy.db"
        file.write_bytes(copy)
        with closing(apsw.Connection(str(path))) as target, closing(apsw.Connection(str(file))) as source:
            target.set_busy_timeout(5000)
            with target.backup("main", source, "main") as backup:
                backup.step(-1)
