"""When outbox.db or its log is deleted, or another put in its place, while people work: who has it open holds it all.

The first who notices puts a copy back where it was. All others find by a mark in the old file that this has been done,
and go on with the copy. Where another file is there by now, that one stays, and the copy is kept beside it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import apsw

from aisle.errors import StorageError
from aisle.local.db import LOGS, Precious, fetch_one
from aisle.local.host.disk import alone_in, file_id, private_folder
from aisle.local.told import Told, told
from aisle.tuples import NamedTuple

KEPT = "outbox-kept-"
"""How the name of a copy begins that could not be put back."""

_PUT_BACK = 0x61736C65
"""The application_id of a file of which a copy was put back; it is in no other."""


class Rescued(NamedTuple):
    """What became of what a connection held."""

    whole: bool
    """All of it is at its place again."""
    kept: Path | None = None
    """Where the copy is, when another file is at its place."""

    @property
    def told(self) -> Told:
        """For people."""
        if self.whole:
            return told("told.put_back")
        return told("told.kept_beside", file=self.kept.name if self.kept else "")


def put_back(connection: apsw.Connection) -> Rescued:
    """Puts what this connection holds back to its place, or beside whatever is there now.

    The connection itself is of no more use: it is to be closed, and the file opened anew. Raises StorageError.
    """
    path = Path(connection.filename)
    if not isinstance(connection, Precious):
        raise StorageError(f"{path} is not a file that is kept safe.")
    private_folder(path.parent)
    try:
        with alone_in(path.parent):
            if not connection.is_gone:
                return Rescued(True)
            return _put_back(connection, path)
    except (OSError, apsw.Error) as error:
        told_why = f"{path} was deleted, and cannot be put back: {error}. Leave aisle running."
        raise StorageError(told_why, trouble="gone") from error


def _put_back(connection: Precious, path: Path) -> Rescued:
    if _is_put_back(connection):
        if file_id(path) is None:
            raise StorageError(f"{path} was deleted again. Leave aisle, and start it anew.", trouble="gone_again")
        return Rescued(True)
    connection.execute("BEGIN IMMEDIATE")  # nobody writes to the old one any more
    copy = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    try:
        _write(copy, connection.serialize("main"))
        if file_id(path) not in (None, connection.file):
            kept = path.with_name(f"{KEPT}{connection.file[1] if connection.file else 0}.db")
            copy.replace(kept)
            return Rescued(False, kept)
        for log in LOGS:  # whoever needs them has them open
            path.with_name(path.name + log).unlink(missing_ok=True)
        copy.replace(path)  # of which the log alone was deleted, or that is not there
        _sync(path.parent)
        connection.execute(f"PRAGMA application_id={_PUT_BACK}").fetchall()
        connection.execute("COMMIT")
        return Rescued(True)
    finally:
        copy.unlink(missing_ok=True)
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _is_put_back(connection: Precious) -> bool:
    row = fetch_one(connection, "PRAGMA application_id")
    return row is not None and row[0] == _PUT_BACK


def _write(path: Path, content: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def copies(folder: Path) -> list[Path]:
    """The copies that could not be put back, oldest first."""
    with suppress(OSError):
        return sorted(folder.glob(f"{KEPT}*.db"), key=lambda path: path.stat().st_mtime)
    return []
