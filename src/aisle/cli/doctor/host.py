"""The host: Python, SQLite, the folder that everything lies in, and the disk below it."""

from __future__ import annotations

import json
import os
import platform
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from aisle import __version__
from aisle.cli.doctor.report import Finding, format_bytes, note, ok, wrong
from aisle.cli.service_client import store_folder_of
from aisle.errors import StorageError
from aisle.host import file_system as disks
from aisle.jobs.view import msg
from aisle.session.query_answers import colour_count
from aisle.settings import LoadedSettings, terminal_name
from aisle.text import supports_utf8

MIN_PYTHON = (3, 11)
MIN_FREE_BYTES, LOW_FREE_BYTES = 100e6, 1e9
"""Bytes below which work is in danger, and below which it is time to think of it."""


def check_python(_: LoadedSettings) -> Iterable[Finding]:
    """The interpreter, and the program itself."""
    running = platform.python_version()
    if sys.version_info < MIN_PYTHON:
        yield wrong("python", running, f"aisle {__version__} needs 3.11.", "Install a newer Python.")
        return
    yield ok("python", f"{running}, aisle {__version__}, {platform.system()} {platform.machine()}", version=running)


def check_sqlite(_: LoadedSettings) -> Iterable[Finding]:
    """The engine that apsw brings."""
    import apsw

    from aisle.host.database import check_sqlite_version

    engine = apsw.sqlite_lib_version()
    check_sqlite_version(engine)
    yield ok("sqlite", f"{engine} (apsw {apsw.apsw_version()})", version=engine)


def check_home(loaded: LoadedSettings) -> Iterable[Finding]:
    """Whether databases can lie where they are to lie."""
    folder = store_folder_of(loaded).folder
    there = disks.nearest_existing(folder)
    kind = _filesystem_of(there)
    on = f" on {kind}" if kind else ""
    facts: dict[str, Any] = {"folder": str(folder), "filesystem": kind, "exists": os.path.exists(folder)}
    if not os.path.isdir(there):
        yield wrong(
            "home", f"{folder} cannot be made", f"{there} is no folder.", "Set AISLE_HOME to a folder.", **facts
        )
    elif disks.is_read_only(there):
        yield wrong("home", f"{there} cannot be written", disks.READ_ONLY_ERROR, disks.REMOUNT_ADVICE, **facts)
    elif not os.access(there, os.W_OK | os.X_OK):
        yield wrong("home", f"{there} cannot be written", "It is not this account's.", "Set AISLE_HOME.", **facts)
    else:
        yield from _check_folder(folder, there, on, facts)
    if os.path.isdir(loaded.data_folder) and loaded.data_folder.stat().st_mode & 0o022:
        yield wrong(
            "home", f"{loaded.data_folder} can be changed by others", "", f"Run: chmod 700 {loaded.data_folder}"
        )


def _check_folder(
    folder: Path, existing_folder: Path, filesystem_text: str, facts: dict[str, Any]
) -> Iterable[Finding]:
    try:
        disks.check_disk(existing_folder / "outbox.db", guarded=True)
    except StorageError as error:
        yield wrong("home", f"{folder}{filesystem_text}", str(error), **facts)
        return
    if facts["filesystem"] in ("tmpfs", "ramfs"):
        yield note("home", f"{folder}{filesystem_text}", "It lies in memory and is lost when the power goes.", **facts)
    elif not facts["exists"]:
        yield note("home", f"{folder}{filesystem_text} is not there yet", "The first start makes it.", **facts)
    else:
        yield ok("home", f"{folder}{filesystem_text}", **facts)


def check_disk(loaded: LoadedSettings) -> Iterable[Finding]:
    """Room for what is still to be noted."""
    free = shutil.disk_usage(disks.nearest_existing(loaded.data_folder)).free
    if free < MIN_FREE_BYTES:
        yield wrong(
            "disk", f"{format_bytes(free)} free", "Soon nothing can be noted any more.", "Free some space.", free=free
        )
    elif free < LOW_FREE_BYTES:
        yield note("disk", f"{format_bytes(free)} free", "That is little.", free=free)
    else:
        yield ok("disk", f"{format_bytes(free)} free", free=free)


def _filesystem_of(folder: Path) -> str:
    try:
        mounts = disks.MOUNTS_FILE.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""
    return disks.file_system_type(folder.resolve(), mounts)


MIN_SIZES = ((20, 16), (40, 8))
"""Columns and rows of the smallest screens that have room for a step."""

TRACE_TAIL_BYTES = 1 << 18
"""Bytes at the end of a trace that are looked through."""

_PLACEHOLDERS = {"end": "a suffix", "one": "one", "other": "another", "ms": "some", "name": "pressed"}
"""What stands for the arguments of a sentence, which the trace does not keep."""


def check_terminal(loaded: LoadedSettings) -> Iterable[Finding]:
    """Name, kind, size, colours and encoding."""
    name = terminal_name(loaded.settings)
    kind = os.environ.get("TERM", "")
    encoding = "UTF-8" if supports_utf8() else "ASCII"
    facts: dict[str, Any] = {"terminal": name, "term": kind, "encoding": encoding, "colours": colour_count(os.environ)}
    told = f"{name}: TERM {kind or 'not set'}, {facts['colours'] or 'no'} colours, {encoding}"
    if not sys.stdout.isatty():
        yield ok("terminal", f"{told}; this is printed to no screen", **facts)
        return
    size = os.get_terminal_size(sys.stdout.fileno())
    facts |= {"columns": size.columns, "rows": size.lines}
    told += f", {size.columns}x{size.lines}"
    if not any(size.columns >= columns and size.lines >= rows for columns, rows in MIN_SIZES):
        yield wrong("terminal", told, "That is too small: 20x16 or 40x8 at least.", "Choose a smaller font.", **facts)
    elif not kind:
        yield note(
            "terminal", told, "Programs cannot know what it can do.", "Set TERM, to vt220 for instance.", **facts
        )
    else:
        yield ok("terminal", told, **facts)


def check_scanner(loaded: LoadedSettings) -> Iterable[Finding]:
    """The last sentence of the scanner's test in the trace, where one is written."""
    trace = loaded.settings.trace
    if not trace:
        yield ok("scanner", "test it in the app: home, more, test the scanner")
        return
    path = Path(trace)
    if not path.exists():
        yield note("scanner", f"there is no trace {path} yet")
        return
    last = _last_verdict(path)
    if last is None:
        yield ok("scanner", f"nothing was tested lately ({path})")
    else:
        from aisle.tui.message_text import MessageWriter

        sentence = MessageWriter().write(msg(last, **_PLACEHOLDERS))
        good = last in ("doctor.fine", "doctor.fine_aim", "doctor.key")
        yield (ok if good else note)("scanner", sentence, finding=last)


def _last_verdict(path: Path) -> str | None:
    """The verdict of the last input that the scanner's test looked at."""
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - TRACE_TAIL_BYTES))
        lines = stream.read().decode("utf-8", "replace").splitlines()
    for line in reversed(lines):
        try:
            seen = json.loads(line)
        except ValueError:
            continue  # the first line of the tail, or one that is being written
        if isinstance(seen, dict) and seen.get("job") == "doctor" and str(seen.get("verdict")).startswith("doctor."):
            return str(seen["verdict"])
    return None
