"""A disk whose power can be cut: it keeps what was synced, and of what was only written any part, in any order.

An apsw VFS notes every write, truncation, deletion and sync of the files it opens. `after_cut` rebuilds the folder as a
disk might hold it when the power went at some moment: all that a sync had promised, and of the rest what chance lets
arrive: whole writes, single sectors of them, or nothing. SQLite's shared memory cannot pass through such a VFS, so the
connections on it lock exclusively; log, checkpoint and sync are the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import apsw

NAME = "power"
SECTOR = 512

WRITE, TRUNCATE, DELETE, SYNC = "write", "truncate", "delete", "sync"


class Did(NamedTuple):
    """One thing that was done to a file."""

    what: str
    file: str
    """Its name within the folder."""
    at: int = 0
    """Where the data goes, or the new length."""
    data: bytes = b""


class Disk:
    """All that was done to the files of a folder since `begin`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.done: list[Did] = []
        self._before = {path.name: path.read_bytes() for path in _kept(folder)}

    def after_cut(self, moment: int, chance: Random, into: Path) -> None:
        """The folder as it may be found when the power goes after the first `moment` things of `done`."""
        files = {name: bytearray(data) for name, data in self._before.items()}
        pending: dict[str, list[Did]] = {}
        for did in self.done[:moment]:
            if did.what == SYNC:
                for earlier in pending.pop(did.file, []):
                    _apply(files, earlier)
            else:
                pending.setdefault(did.file, []).append(did)
        for unsynced in pending.values():
            for did in _what_arrived(unsynced, chance):
                _apply(files, did)
        into.mkdir(mode=0o700)
        for name, data in files.items():
            (into / name).write_bytes(data)
            (into / name).chmod(0o600)


def _kept(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_file() and not path.name.endswith("-shm")]


def _what_arrived(unsynced: list[Did], chance: Random) -> Iterator[Did]:
    """Of things that no sync has promised: all, none, or any of them, torn and in any order."""
    luck = chance.random()
    if luck < 0.2:
        return
    if luck < 0.4:
        yield from unsynced
        return
    arrived = [did for did in unsynced if chance.random() < luck]
    if luck > 0.7:
        chance.shuffle(arrived)
    for did in arrived:
        if did.what == WRITE and chance.random() < 0.5:
            yield from _torn(did, chance)
        else:
            yield did


def _torn(did: Did, chance: Random) -> Iterator[Did]:
    """Single sectors of a write."""
    first = did.at - did.at % SECTOR
    for start in range(first, did.at + len(did.data), SECTOR):
        if chance.random() < 0.5:
            low, high = max(start, did.at), min(start + SECTOR, did.at + len(did.data))
            yield did._replace(at=low, data=did.data[low - did.at : high - did.at])


def _apply(files: dict[str, bytearray], did: Did) -> None:
    if did.what == DELETE:
        files.pop(did.file, None)
        return
    data = files.setdefault(did.file, bytearray())
    if did.what == TRUNCATE:
        del data[did.at :]
        data.extend(bytes(did.at - len(data)))
        return
    data.extend(bytes(max(0, did.at - len(data))))
    data[did.at : did.at + len(did.data)] = did.data


class _File(apsw.VFSFile):
    """A file whose changes are noted; one that is not of the folder passes unnoted."""

    def __init__(self, disk: Disk, base: str, name: Any, flags: list[int]) -> None:
        path = Path(name.filename() if isinstance(name, apsw.URIFilename) else name or "")
        self._disk = disk
        self._name = path.name if path.parent == disk.folder else ""
        super().__init__(base, name, flags)

    def _note(self, what: str, at: int = 0, data: bytes = b"") -> None:
        if self._name:
            self._disk.done.append(Did(what, self._name, at, data))

    def xWrite(self, data: bytes, offset: int) -> None:
        super().xWrite(data, offset)
        self._note(WRITE, offset, bytes(data))

    def xTruncate(self, newsize: int) -> None:
        super().xTruncate(newsize)
        self._note(TRUNCATE, newsize)

    def xSync(self, flags: int) -> None:
        super().xSync(flags)
        self._note(SYNC)


class _Vfs(apsw.VFS):
    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._base = apsw.vfs_names()[0]
        super().__init__(NAME, self._base, makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> Any:
        return _File(self._disk, self._base, name, flags)

    def xDelete(self, name: str, syncdir: bool) -> None:
        super().xDelete(name, syncdir)
        path = Path(name)
        if path.parent == self._disk.folder:
            self._disk.done.append(Did(DELETE, path.name))
            if syncdir:
                self._disk.done.append(Did(SYNC, path.name))


@contextmanager
def disk_under(folder: Path) -> Iterator[Disk]:
    """Databases opened inside the block lie on such a disk; those of the folder are noted.

    What lies in the folder before counts as synced.
    """
    disk = Disk(folder)
    vfs = _Vfs(disk)
    apsw.connection_hooks.append(_alone)
    try:
        yield disk
    finally:
        apsw.connection_hooks.remove(_alone)
        vfs.unregister()


def _alone(connection: apsw.Connection) -> None:
    connection.execute("PRAGMA locking_mode=EXCLUSIVE").fetchall()
