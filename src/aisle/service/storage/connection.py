"""One SQLite connection seen as `Tx`, and the driver that runs a coroutine without an event loop."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Coroutine, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import lru_cache
from json.encoder import encode_basestring_ascii
from pathlib import Path
from time import monotonic, sleep
from typing import Any, TypeVar, cast

import apsw

from aisle.errors import StorageError
from aisle.service.storage.base import Busy, Duplicate, Row, Statement, failed, grouped, question, tables_of
from aisle.service.storage.grams import KEPT, WRITES, narrowed, words_of

T = TypeVar("T")

# What is asked of these alone is asked again and again, by each request, and they are hardly ever written to.
_SELDOM = frozenset({"store", "token", "token_store"})

_PRAGMAS = (
    "PRAGMA foreign_keys = ON",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA mmap_size = 0",
    "PRAGMA synchronous = FULL",
    "PRAGMA cache_size = -4000",
    "PRAGMA journal_size_limit = 67108864",
)


def opened(path: Path, busy_ms: int, *, read_only: bool = False) -> apsw.Connection:
    """A connection with every safety on. Raises StorageError when the file is not a database that can be used, and Busy
    when another process holds it for longer than that."""
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE, statementcachesize=400)
    except apsw.Error as problem:
        raise StorageError(f"{path} cannot be opened as a database: {problem}.") from problem
    try:
        connection.set_busy_timeout(busy_ms)
        mode = _into_wal(connection, busy_ms)
        for pragma in _PRAGMAS:
            connection.execute(pragma).fetchall()
        connection.create_scalar_function("words_of", lambda *said: words_of(str(said[0])), 1, deterministic=True)
        if read_only:
            connection.execute("PRAGMA query_only = ON").fetchall()
    except apsw.BusyError as problem:
        connection.close()
        raise held(path, busy_ms) from problem
    except apsw.Error as problem:
        connection.close()
        raise StorageError(f"{path} cannot be opened as a database: {problem}.") from problem
    if mode != [("wal",)]:
        connection.close()
        raise StorageError(f"{path} lies on a file system that several processes cannot share.")
    return connection


DISK = (apsw.FullError, apsw.IOError, apsw.CorruptError, apsw.CantOpenError)
"""Failures of the file or its disk, and not of a statement."""


def outside(problem: BaseException) -> BaseException:
    """The failure as callers know it, whatever the engine calls it."""
    if isinstance(problem, apsw.BusyError):
        return Busy("Another writer holds the database; try again.")
    return failed(problem) if isinstance(problem, (*DISK, apsw.ReadOnlyError)) else problem


def held(path: Path, busy_ms: int) -> Busy:
    """Another process has not come to an end with the file in so many milliseconds."""
    seconds = f"{busy_ms / 1000:.0f} seconds"
    return Busy(f"{path} has been held by another process for {seconds}; start again when it is done.")


def _into_wal(connection: apsw.Connection, busy_ms: int) -> list[tuple[apsw.SQLiteValue, ...]]:
    """The mode the file is in then. SQLite asks nobody's patience for this one statement, so that is done here."""
    until = monotonic() + busy_ms / 1000
    while True:
        try:
            return connection.execute("PRAGMA journal_mode = WAL").fetchall()
        except apsw.BusyError:
            if monotonic() > until:
                raise
            sleep(0.005)


def keep_words(connection: apsw.Connection) -> None:
    """Searches find by words what was written to the catalogue and waits for it."""
    for statement in KEPT:
        connection.execute(statement)


@lru_cache(maxsize=2000)
def _sqlite_text(sql: str, alone: tuple[int, ...] = ()) -> str:
    """The catalogue's common SQL as SQLite takes it: numbered parameters, and lists as JSON, but for those of one."""
    for number in alone:
        sql = sql.replace(f"= ANY(${number})", f"= ${number}")
    text = re.sub(r"= ANY\(\$(\d+)\)", r"IN (SELECT value FROM json_each(?\1))", sql)
    return re.sub(r"\$(\d+)", r"?\1", text)


def _taken(sql: str, args: Sequence[object]) -> tuple[str, Sequence[apsw.SQLiteValue]]:
    """A statement as SQLite takes it, and its parameters. A list of one is a value like others."""
    alone: tuple[int, ...] = ()
    if list in map(type, args):
        alone = tuple([n for n, arg in enumerate(args, 1) if isinstance(arg, list) and len(arg) == 1])
        args = tuple([(arg[0] if len(arg) == 1 else _listed(arg)) if isinstance(arg, list) else arg for arg in args])
    return narrowed(_sqlite_text(sql, alone), args), cast("Sequence[apsw.SQLiteValue]", args)


def _listed(values: list[object]) -> str:
    """A list as JSON. Most are of a few codes, for which a whole encoder takes longer than their statement does."""
    texts = [value for value in values if type(value) is str]
    return f"[{','.join(map(encode_basestring_ascii, texts))}]" if len(texts) == len(values) else json.dumps(values)


@lru_cache(maxsize=2000)
def _is_of_seldom(sql: str) -> bool:
    """Whether a statement asks of nothing but what is seldom written."""
    return _asks(sql) and tables_of(sql) <= _SELDOM


@lru_cache(maxsize=2000)
def _writes_to_seldom(sql: str) -> bool:
    return not (_asks(sql) or tables_of(sql).isdisjoint(_SELDOM))


def _asks(sql: str) -> bool:
    return sql.lstrip().startswith("SELECT")


def drive(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never waits to its end. Raises RuntimeError when it does wait for something."""
    try:
        work.send(None)
    except StopIteration as done:
        return cast("T", done.value)
    work.close()
    raise RuntimeError("Work inside a transaction waited for something outside of it.")


class Entangled(BaseException):
    """What a part wrote has to be undone by itself, and nothing marks where it began. The whole has to be undone."""


class SqliteTx:
    """`Tx` over one connection; used by one thread."""

    hopeful = False
    """Whether parts are not marked, since they will hardly fail once they have written: for each page that is written
    to behind a mark SQLite puts down what stood there, which takes as long as the rest of a small write."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self._depth = 0
        self._known: dict[tuple[object, ...], list[Row]] = {}
        """Answers of this transaction that hold as long as nothing is written to what they are about."""

    async def all(self, sql: str, *args: object) -> list[Row]:
        return self._execute(sql, args)

    async def one(self, sql: str, *args: object) -> Row | None:
        # The whole answer is fetched: a statement that writes and returns has to run to its end.
        rows = self._remembered(sql, args) if _is_of_seldom(sql) else self._execute(sql, args)
        return rows[0] if rows else None

    async def run(self, sql: str, *args: object) -> None:
        self._execute(sql, args)

    async def many(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        self._note(sql)
        try:
            self.connection.executemany(_sqlite_text(sql), cast("Iterable[Sequence[apsw.SQLiteValue]]", rows))
            if WRITES in sql:
                keep_words(self.connection)
        except apsw.ConstraintError as problem:
            raise Duplicate(str(problem)) from problem

    async def ahead(self, questions: Iterable[Statement]) -> None:
        """Nothing is far from here."""

    async def together(self, statements: Iterable[Statement]) -> None:
        for sql, rows in grouped(statements).items():
            await self.many(sql, rows)

    def _remembered(self, sql: str, args: Sequence[object]) -> list[Row]:
        """Its rows, which many requests that are carried out in one transaction ask for."""
        asked = question(sql, args)
        if (known := self._known.get(asked)) is None:
            known = self._known[asked] = self._execute(sql, args)
        return known

    def _note(self, sql: str) -> None:
        """What a statement writes to is not as it was."""
        if self._known and _writes_to_seldom(sql):
            self._known.clear()

    def _execute(self, sql: str, args: Sequence[object]) -> list[Row]:
        self._note(sql)
        try:
            return self._query(*_taken(sql, args))
        except apsw.ConstraintError as problem:
            raise Duplicate(str(problem)) from problem

    def _query(self, text: str, args: Sequence[apsw.SQLiteValue]) -> list[Row]:
        return self.connection.execute(text, args).fetchall()

    def savepoint(self) -> AbstractAsyncContextManager[None]:
        """Raises Entangled, in a hopeful transaction, where the part fails and has written something."""
        return _Unmarked(self.connection) if self.hopeful else self._marked()

    @asynccontextmanager
    async def _marked(self) -> AsyncIterator[None]:
        self._depth += 1
        name = f"s{self._depth}"
        self.connection.execute(f"SAVEPOINT {name}")
        try:
            yield
        except BaseException:
            self._known.clear()
            self._leave(f"ROLLBACK TO {name}", f"RELEASE {name}")
            raise
        else:
            self._leave(f"RELEASE {name}")

    def _leave(self, *statements: str) -> None:
        self._depth -= 1
        if self.connection.in_transaction:
            for statement in statements:
                self.connection.execute(statement)

    def begin(self, statement: str) -> None:
        """Start a transaction."""
        self._depth = 0
        self._known.clear()
        self.connection.execute(statement)

    def end(self, statement: str) -> None:
        """End the transaction, unless SQLite has ended it already."""
        if self.connection.in_transaction:
            self.connection.execute(statement)


class _Unmarked:
    """A part without a savepoint, which can only be left as it is where it failed before it wrote anything."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    async def __aenter__(self) -> None:
        self._before = self._connection.total_changes()

    async def __aexit__(self, kind: object, problem: BaseException | None, trace: object) -> None:
        written = self._connection.in_transaction and self._connection.total_changes() != self._before
        if problem is not None and written:
            raise Entangled from problem
