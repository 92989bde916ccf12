"""A database that is put back from an earlier copy of itself, on either engine, while the service uses it.

A SQLite file by SQLite's own backup, as `aisle restore` does it; a PostgreSQL schema row by row, as a dump of its data.
"""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any, Generic, Protocol, TypeVar, cast

import apsw

from aisle.service.db.database_interface import Database, Transaction
from aisle.service.db.postgres_connection import PostgresTransaction
from aisle.service.db.postgres_database import PostgresDatabase
from tests.service.postgres import who_refers_first
from tests.service.world import World

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


class Write(Protocol):
    """A write that was confirmed to a host."""

    key: str


W = TypeVar("W", bound=Write)


class RestoredLife(ABC, Generic[W]):
    """Three hosts at a service that is put back to any copy again and again, and hears what it lost in any order."""

    steps = 30
    share_of_work = 0.7

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.dice = Random(seed)
        self.hosts: list[list[W]] = [[], [], []]
        self.known: set[str] = set()
        """The keys that the database has."""
        self.copies: list[tuple[Copy, frozenset[str]]] = []

    @abstractmethod
    async def work(self) -> None:
        """A new write of a host."""

    @abstractmethod
    async def repeat(self, write: W) -> None:
        """A write that was lost is sent again."""

    async def go(self) -> None:
        self.copy()
        for _ in range(self.steps):
            if self.dice.random() < self.share_of_work:
                await self.work()
                if self.dice.random() < 0.4:
                    self.copy()
            else:
                await self.restore()

    def copy(self) -> None:
        self.copies.append((copy_of(self.world.path), frozenset(self.known)))

    def confirm(self, write: W) -> None:
        """A host has heard that it was done."""
        self.dice.choice(self.hosts).append(write)
        self.known.add(write.key)

    async def restore(self) -> None:
        at = self.dice.randrange(len(self.copies))
        put_back(self.world.path, self.copies[at][0])
        self.known = set(self.copies[at][1])
        if self.dice.random() < 0.7:
            del self.copies[at + 1 :]
        self.world.now += self.dice.randint(60, 4000)
        lost = [[write for write in host if write.key not in self.known] for host in self.hosts]
        while waiting := [host for host in lost if host]:
            write = self.dice.choice(waiting).pop(0)
            await self.repeat(write)
            self.known.add(write.key)
            if self.dice.random() < 0.2:
                self.copy()
