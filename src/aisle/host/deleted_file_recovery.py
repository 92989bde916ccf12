"""Recovery of outbox.db if it or its log is deleted or replaced while in use: every open connection still has all data.

The first process that notices restores a copy at the path. All others find a mark in the old file that this was done,
and continue with the copy. If another file is at the path by then, it stays, and the copy is stored beside it.
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
from aisle.host.file_locks import file_id, lock_folder
from aisle.host.store_and_database_folders import make_private_folder
from aisle.stored_messages import StoredMessage, store_message

COPY_PREFIX = "outbox-kept-"
"""Prefix of the name of a copy that could not be restored at the path."""

_RECOVERED_MARK = 0x61736C65
"""application_id that marks a file whose copy was restored; no other file has it."""


class Recovery(NamedTuple):
    """Result of a recovery."""

    is_complete: bool
    """True if all data are at the path again."""
    copy_path: Path | None = None
    """Path of the copy if another file is at the path."""

    @property
    def message(self) -> StoredMessage:
        """Message for people."""
        if self.is_complete:
            return store_message("stored_reason.file_put_back")
        return store_message("stored_reason.file_kept", file=self.copy_path.name if self.copy_path else "")


def recover_file(connection: apsw.Connection) -> Recovery:
    """Restore the data of this connection at its path, or beside a new file there.

    Afterwards the connection is useless: close it and open the file again. Raise StorageError if the recovery fails.
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
        text = f"{path} was deleted, and cannot be put back: {error}. Leave aisle running."
        raise StorageError(text, kind="gone") from error


def _recover(connection: GuardedConnection, path: Path) -> Recovery:
    if _is_recovered(connection):
        if file_id(path) is None:
            raise StorageError(f"{path} was deleted again. Leave aisle, and start it anew.", kind="gone_again")
        return Recovery(True)
    connection.execute("BEGIN IMMEDIATE")  # blocks writers of the old file
    copy = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    try:
        content = connection.serialize("main")
        if file_id(path) not in (None, connection.file_id) and path.read_bytes() == content:
            return _mark_recovered(connection)  # a process restored it, and died before it could mark it
        _write_durably(copy, content)
        if file_id(path) not in (None, connection.file_id):
            kept_path = path.with_name(f"{COPY_PREFIX}{connection.file_id[1] if connection.file_id else 0}.db")
            copy.replace(kept_path)
            return Recovery(False, kept_path)
        for log in WAL_SUFFIXES:  # those who need them have them open
            path.with_name(path.name + log).unlink(missing_ok=True)
        copy.replace(path)  # the path is free, or has the same file without its log
        _sync_folder(path.parent)
        return _mark_recovered(connection)
    finally:
        copy.unlink(missing_ok=True)
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _mark_recovered(connection: GuardedConnection) -> Recovery:
    connection.execute(f"PRAGMA application_id={_RECOVERED_MARK}").fetchall()
    connection.execute("COMMIT")
    return Recovery(True)


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
    """Return the copies that could not be restored at the path, oldest first."""
    with suppress(OSError):
        return sorted(folder.glob(f"{COPY_PREFIX}*.db"), key=lambda path: path.stat().st_mtime)
    return []


FILES_GONE = "its files are gone"
"""Problem that ends a courier's term; it continues at once with new files."""
NEWER_PROGRAM = "a newer program has changed its files"
"""Problem that ends a courier's term for good; the newer program's courier follows."""


class WatchedDatabase:
    """One database with the state it had when the work began."""

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        self._db = connection
        self._path = path
        self._file = file_id(path)
        self._version = schema_version(connection)

    @property
    def problem(self) -> str:
        """Reason for which the database can no longer be used; empty if it can."""
        if file_id(self._path) != self._file or is_replaced(self._db):
            return FILES_GONE
        with suppress(StorageError, apsw.Error):  # an error that may be temporary
            if schema_version(self._db) > self._version:
                return NEWER_PROGRAM
        return ""


def first_problem(databases: Sequence[WatchedDatabase]) -> str:
    """Return the first reason for which the work cannot continue; empty if it can."""
    return next((why for database in databases if (why := database.problem)), "")
