"""Folder of one store at one service: paths of all files of this host; where a database may lie, and who owns it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from aisle.errors import StorageError
from aisle.file_ownership import untrusted_error

LOCK_FILE, LOG_FILE = "courier.lock", "courier.log"


class StoreFolder(NamedTuple):
    """Layout of one store's data, made of the data root, the service's address and the store number."""

    root: Path
    base_url: str
    store: str

    @property
    def name(self) -> str:
        """Short unique name for the pair of address and store: 16 hexadecimal digits."""
        return short_hash(f"{self.base_url.rstrip('/')}\n{self.store}".encode("utf-8", "surrogateescape"))

    @property
    def folder(self) -> Path:
        """The store's folder; `open_outbox`, `open_cache`, `LeaderLock` and the sockets create it (0700)."""
        return self.root / self.name

    @property
    def cache(self) -> Path:
        """cache.db: data of the service; can be rebuilt."""
        return self.folder / "cache.db"

    @property
    def outbox(self) -> Path:
        """outbox.db: journal and outbox; must not be lost."""
        return self.folder / "outbox.db"

    @property
    def lock(self) -> Path:
        """Lock file, held by the one courier of this store on this host."""
        return self.folder / LOCK_FILE

    @property
    def sockets(self) -> Path:
        """Folder of the sockets."""
        return self.folder / "run"

    @property
    def courier_log(self) -> Path:
        """Log file of the courier."""
        return self.folder / LOG_FILE

    @property
    def service_db(self) -> Path:
        """Database of the embedded service, one for all stores of this root."""
        return self.root / "service.db"

    @property
    def embedded_token(self) -> Path:
        """Generated token of the embedded service (0600); no token of another service has this name."""
        return self.root / "embedded.token"


def short_hash(data: bytes) -> str:
    """Return a hash in 16 hexadecimal digits, for file names."""
    return sha256(data).hexdigest()[:16]


MOUNTS_FILE = Path("/proc/self/mountinfo")

_NETWORK_FILE_SYSTEMS = (
    "nfs",
    "cifs",
    "smb",
    "afs",
    "ceph",
    "lustre",
    "gpfs",
    "glusterfs",
    "beegfs",
    "davfs",
    "ncpfs",
    "gfs",
    "ocfs",
)

_LOCAL_FUSE_TYPES = ("fuse.fuse-overlayfs", "fuseblk")
_MEMORY_FILE_SYSTEMS = ("tmpfs", "ramfs")


READ_ONLY_ERROR = "Nothing can be written to its file system, which is mounted read-only."
REMOUNT_ADVICE = "Mount it for writing (a disk with errors ends up so: ask your administrator), or set AISLE_HOME."


def nearest_existing(path: Path) -> Path:
    """Return the path itself, or the nearest existing folder above it, as far as this account can see."""
    return next((part for part in (path, *path.parents) if os.path.exists(part)), Path("/"))


def is_read_only(path: Path) -> bool:
    """Return True if the file system of a path is mounted read-only."""
    return bool(os.statvfs(nearest_existing(path)).f_flag & os.ST_RDONLY)


def has_room(path: Path) -> bool:
    """Return True if a database on the file system of a path can grow.

    On a full one a short write may succeed in a part of the file that is free, and the next one fails. A file system
    without blocks says nothing of its size.
    """
    found = os.statvfs(nearest_existing(path))
    return not found.f_blocks or found.f_bavail * found.f_frsize >= _ROOM_BYTES


_ROOM_BYTES = 1 << 20


def make_private_folder(folder: Path) -> None:
    """Create a folder and its missing parents for this account alone (0700).

    Raise StorageError if that fails or the file system is read-only. Raise it too if others may change the folder, or
    the courier's lock or log in it.
    """
    if is_read_only(folder):
        raise StorageError(f"{folder} cannot be used. {READ_ONLY_ERROR} {REMOUNT_ADVICE}", kind="read_only")
    try:
        for missing in reversed([part for part in (folder, *folder.parents) if not part.exists()]):
            missing.mkdir(mode=0o700, exist_ok=True)
        _check_ownership(folder)
    except OSError as error:
        raise StorageError(
            f"The folder {folder} cannot be made: {error.strerror}. Check AISLE_HOME and its owner.", kind="shut"
        ) from error


def _check_ownership(folder: Path) -> None:
    files = (untrusted_error(folder / name) for name in (LOCK_FILE, LOG_FILE))
    for why in (untrusted_error(folder, folder=True), *files):
        if why:
            raise StorageError(why, kind="shut")


def file_system_type(folder: Path, mounts: str) -> str:
    """Return the type of the file system of an absolute, resolved folder; empty if no mount is known.

    `mounts` is the text of /proc/self/mountinfo. Of two mounts at one path the later one counts.
    """
    best, found_type = -1, ""
    path = os.fspath(folder).rstrip("/") + "/"
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split(" ")
        if len(fields) < 5 or not after:
            continue
        point = _unescape(fields[4]).rstrip("/") + "/"
        if len(point) >= best and path.startswith(point):
            best, found_type = len(point), after.split(" ", 1)[0]
    return found_type


def _unescape(field: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), field) if "\\" in field else field


def check_disk(
    path: Path, *, guarded: bool, mounts: str | None = None, environ: Mapping[str, str] = os.environ
) -> None:
    """Raise StorageError if a database must not lie at `path`: on a network file system, or, if guarded, in memory.

    If the mounts cannot be read (not Linux, no /proc), every path is accepted.
    """
    if mounts is None:
        try:
            mounts = MOUNTS_FILE.read_text(encoding="utf-8", errors="surrogateescape")
        except OSError:
            return
    kind = file_system_type(path.parent.resolve(), mounts)
    if kind.startswith(_NETWORK_FILE_SYSTEMS) or (kind.startswith("fuse") and kind not in _LOCAL_FUSE_TYPES):
        raise StorageError(
            f"{path} lies on a network or user-space file system ({kind}). The sessions of a host share this database "
            "through memory, which does not work there. Set AISLE_HOME to a folder on a local disk.",
            kind="place",
        )
    if guarded and kind in _MEMORY_FILE_SYSTEMS and environ.get("AISLE_ALLOW_VOLATILE") != "1":
        raise StorageError(
            f"{path} lies in memory ({kind}) and would be lost when the power goes. It holds work that the service has "
            "not confirmed yet. Set AISLE_HOME to a folder on a disk; AISLE_ALLOW_VOLATILE=1 if nothing here matters.",
            kind="place",
        )
