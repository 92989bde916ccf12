"""The host: Python, SQLite, the folder that everything lies in, and the disk below it."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from aisle import __version__
from aisle.cli.compose import home_of
from aisle.cli.doctor.report import Finding, note, ok, size, wrong
from aisle.errors import StorageError
from aisle.local.host import disk as disks
from aisle.settings import Loaded

OLDEST = (3, 11)
SCARCE, LITTLE = 100e6, 1e9
"""Bytes below which work is in danger, and below which it is time to think of it."""


def python(_: Loaded) -> Iterable[Finding]:
    """The interpreter, and the program itself."""
    running = platform.python_version()
    if sys.version_info < OLDEST:
        yield wrong("python", running, f"aisle {__version__} needs 3.11.", "Install a newer Python.")
        return
    yield ok("python", f"{running}, aisle {__version__}, {platform.system()} {platform.machine()}", version=running)


def sqlite(_: Loaded) -> Iterable[Finding]:
    """The engine that apsw brings."""
    import apsw

    from aisle.local.db import refuse_old_engine

    engine = apsw.sqlite_lib_version()
    refuse_old_engine(engine)
    yield ok("sqlite", f"{engine} (apsw {apsw.apsw_version()})", version=engine)


def home(loaded: Loaded) -> Iterable[Finding]:
    """Whether databases can lie where they are to lie."""
    folder = home_of(loaded).folder
    there = disks.nearest(folder)
    kind = _kind(there)
    on = f" on {kind}" if kind else ""
    facts: dict[str, Any] = {"folder": str(folder), "filesystem": kind, "exists": os.path.exists(folder)}
    if not os.path.isdir(there):
        yield wrong(
            "home", f"{folder} cannot be made", f"{there} is no folder.", "Set AISLE_HOME to a folder.", **facts
        )
    elif disks.is_read_only(there):
        yield wrong("home", f"{there} cannot be written", disks.READ_ONLY, disks.MOUNT_AGAIN, **facts)
    elif not os.access(there, os.W_OK | os.X_OK):
        yield wrong("home", f"{there} cannot be written", "It is not this account's.", "Set AISLE_HOME.", **facts)
    else:
        yield from _told(folder, there, on, facts)
    if os.path.isdir(loaded.root) and loaded.root.stat().st_mode & 0o022:
        yield wrong("home", f"{loaded.root} can be changed by others", "", f"Run: chmod 700 {loaded.root}")


def _told(folder: Path, there: Path, on: str, facts: dict[str, Any]) -> Iterable[Finding]:
    try:
        disks.refuse_bad_disk(there / "outbox.db", precious=True)
    except StorageError as error:
        yield wrong("home", f"{folder}{on}", str(error), **facts)
        return
    if facts["filesystem"] in ("tmpfs", "ramfs"):
        yield note("home", f"{folder}{on}", "It lies in memory and is lost when the power goes.", **facts)
    elif not facts["exists"]:
        yield note("home", f"{folder}{on} is not there yet", "The first start makes it.", **facts)
    else:
        yield ok("home", f"{folder}{on}", **facts)


def disk(loaded: Loaded) -> Iterable[Finding]:
    """Room for what is still to be noted."""
    free = shutil.disk_usage(disks.nearest(loaded.root)).free
    if free < SCARCE:
        yield wrong("disk", f"{size(free)} free", "Soon nothing can be noted any more.", "Free some space.", free=free)
    elif free < LITTLE:
        yield note("disk", f"{size(free)} free", "That is little.", free=free)
    else:
        yield ok("disk", f"{size(free)} free", free=free)


def _kind(folder: Path) -> str:
    try:
        mounts = disks.MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""
    return disks.filesystem(folder.resolve(), mounts)
