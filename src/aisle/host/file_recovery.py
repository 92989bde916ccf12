"""When outbox.db or its log is deleted, or another put in its place, while people work: who has it open holds it all.

The first who notices puts a copy back where it was. All others find by a mark in the old file that this has been done,
and go on with the copy. Where another file is there by now, that one stays, and the copy is kept beside it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import apsw

from aisle.errors import StorageError
from aisle.host.database import WAL_SUFFIXES, GuardedConnection, fetch_one, is_replaced, schema_version
from aisle.host.file_system import file_id, lock_folder, make_private_folder
from aisle.outbox.outcome_reasons import StoredMessage, store_message

COPY_PREFIX = "outbox-kept-"
"""How the name of a copy begins that could not be put back."""

_RECOVERED_MARK = 0x61736C65
"""The application_id of a file of which a copy was put back; it is in no other."""


class Recovery(NamedTuple):
    """What became of what a connection held."""

    is_complete: bool
    """All of it is at its place again."""
    copy_path: Path | None = None
    """Where the copy is, when another file is at its place."""

    @property
    def message(self) -> StoredMessage:
        """For people."""
        if self.is_complete:
            return store_message("told.put_back")
        return store_message("told.kept_beside", file=self.copy_path.name if self.copy_path else "")


def recover_file(connection: apsw.Connection) -> Recovery:
    """Puts what this connection holds back to its place, or beside whatever is there now.

    The connection itself is of no more use: it is to be closed, and the file opened anew. Raises StorageError.
    """
    path = Path(connection.filename)
    if not isinstance(connection, GuardedConnection):
        raise StorageError(f"{path} is not a file that is kept safe.")
    make_private_folder(path.parent)
    try:
        with lock_folder(path.parent):
            if not connection.is_replaced:
                return Recovery(True)
            return _recover(connection, path)
    except (OSError, apsw.Error) as error:
        told_why = f"{path} was deleted, and cannot be put back: {error}. Leave aisle running."
        raise StorageError(told_why, kind="gone") from error


def _recover(connection: GuardedConnection, path: Path) -> Recovery:
    if _is_recovered(connection):
        if file_id(path) is None:
            raise StorageError(f"{path} was deleted again. Leave aisle, and start it anew.", kind="gone_again")
        return Recovery(True)
    connection.execute("BEGIN IMMEDIATE")  # nobody writes to the old one any more
    copy = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    try:
        _write_durably(copy, connection.serialize("main"))
        if file_id(path) not in (None, connection.file_id):
            kept = path.with_name(f"{COPY_PREFIX}{connection.file_id[1] if connection.file_id else 0}.db")
            copy.replace(kept)
            return Recovery(False, kept)
        for log in WAL_SUFFIXES:  # whoever needs them has them open
            path.with_name(path.name + log).unlink(missing_ok=True)
        copy.replace(path)  # of which the log alone was deleted, or that is not there
        _sync_folder(path.parent)
        connection.execute(f"PRAGMA application_id={_RECOVERED_MARK}").fetchall()
        connection.execute("COMMIT")
        return Recovery(True)
    finally:
        copy.unlink(missing_ok=True)
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _is_recovered(connection: GuardedConnection) -> bool:
    row = fetch_one(connection, "PRAGMA application_id")
    return row is not None and row[0] == _RECOVERED_MARK


def _write_durably(path: Path, content: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def list_copies(folder: Path) -> list[Path]:
    """The copies that could not be put back, oldest first."""
    with suppress(OSError):
        return sorted(folder.glob(f"{COPY_PREFIX}*.db"), key=lambda path: path.stat().st_mtime)
    return []


FILES_GONE = "its files are gone"
"""Ends a term that goes on at once, with new ones."""
NEWER_PROGRAM = "a newer program has changed its files"
"""Ends a term for good: that program's courier follows."""


class WatchedDatabase:
    """One database as it was when the work began."""

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        self._db = connection
        self._path = path
        self._file = file_id(path)
        self._version = schema_version(connection)

    @property
    def problem(self) -> str:
        """Why nobody can work with it any more; empty while one can."""
        if file_id(self._path) != self._file or is_replaced(self._db):
            return FILES_GONE
        with suppress(StorageError, apsw.Error):  # trouble that passes
            if schema_version(self._db) > self._version:
                return NEWER_PROGRAM
        return ""


def first_problem(databases: Sequence[WatchedDatabase]) -> str:
    """Why the work cannot go on as it is; empty while it can."""
    return next((why for ground in databases if (why := ground.problem)), "")
