"""Databases of hosts that are copied instead of made: empty ones, and those that many tests begin with."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import apsw
import pytest

from aisle.cache import queries, reader
from aisle.cache.writer import CacheWriter, open_cache
from aisle.host import database
from aisle.host.store_and_database_folders import StoreFolder, make_private_folder
from aisle.outbox.operation_queue import open_outbox
from tests.writes import STORE

CACHE, OUTBOX = "cache.db", "outbox.db"

_LAST_CHANGE = bytes.fromhex("5ac3965ac396")
"""The number of the last change in the file that is copied, as SQLite writes a time in milliseconds: in six bytes."""

_filled: dict[tuple[str, ...], bytes] = {}
"""By module and name of the functions that fill the cache, its store, and the time zone."""


@contextmanager
def copied_databases() -> Iterator[None]:
    """Make each new cache and outbox of this process a copy of an empty one, as long as the block runs."""
    create, in_memory = database._create, queries.empty_cache()
    empty = {CACHE: _content(CACHE, _open_counting), OUTBOX: _content(OUTBOX, open_outbox)}
    assert empty[CACHE].count(_LAST_CHANGE) == 1
    memory = in_memory.serialize("main")
    in_memory.close()

    def copy(path: Path) -> None:
        if path.name not in empty:
            create(path)
            return
        temporary = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
        try:
            _write(temporary, _counting_from_now(empty[path.name]) if path.name == CACHE else empty[path.name])
            with suppress(FileExistsError):
                os.link(temporary, path)
        except OSError:
            temporary.unlink(missing_ok=True)
            create(path)  # it says what is wrong
        finally:
            temporary.unlink(missing_ok=True)

    def copy_in_memory() -> apsw.Connection:
        connection = apsw.Connection(":memory:")
        connection.deserialize("main", memory)
        return connection

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "_create", copy)
        patch.setattr(reader, "empty_cache", copy_in_memory)
        yield


def copy_cache(folder: Path, store: str, *fills: Callable[[CacheWriter], None]) -> None:
    """Put a cache that these functions have filled into the folder, in which nobody works yet.

    They run once in a process and time zone: they know nothing of a test.
    """
    key = (store, os.environ.get("TZ", ""), *(f"{fill.__module__}.{fill.__qualname__}" for fill in fills))
    if key not in _filled:

        def open_filled(made: Path) -> apsw.Connection:
            connection = _open_writer(made)
            for fill in fills:
                fill(CacheWriter(connection, store))
            return connection

        _filled[key] = _content(CACHE, open_filled)
    make_private_folder(folder)
    for name in (CACHE, f"{CACHE}-wal", f"{CACHE}-shm"):
        (folder / name).unlink(missing_ok=True)
    _write(folder / CACHE, _filled[key])


def copied_home(root: Path, *fills: Callable[[CacheWriter], None]) -> StoreFolder:
    """Return a home of the store at the embedded service, with such a cache in it."""
    home = StoreFolder(root, "embedded", STORE)
    copy_cache(home.folder, STORE, *fills)
    return home


def _open_writer(folder: Path) -> apsw.Connection:
    return open_cache(folder, writer=True)


def _content(name: str, open_: Callable[[Path], apsw.Connection]) -> bytes:
    """Return the file of that name that `open_` makes, with all that is in its log."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("AISLE_ALLOW_VOLATILE", "1")
        with closing(open_(Path(folder) / "made")) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return (Path(folder) / "made" / name).read_bytes()


def _write(path: Path, content: bytes) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)


def _open_counting(folder: Path) -> apsw.Connection:
    """Open a cache whose last change has a number that `_counting_from_now` finds."""
    connection = _open_writer(folder)
    last = int.from_bytes(_LAST_CHANGE, "big")
    connection.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'change'", (last,))
    return connection


def _counting_from_now(content: bytes) -> bytes:
    """Return the file with changes numbered above those of any older file, as in a new cache."""
    return content.replace(_LAST_CHANGE, int(time.time() * 1000).to_bytes(len(_LAST_CHANGE), "big"))
