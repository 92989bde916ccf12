"""Checks of the host: Python, SQLite, data folder, disk, settings files, token, terminal and scanner."""

from __future__ import annotations

import json
import os
import platform
import shutil
import sys
from collections.abc import Iterable, Sequence
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any, TypedDict
from urllib.parse import urlsplit

import apsw

from aisle import __version__
from aisle.cli.doctor.report import Finding, format_bytes, format_count, note, ok, wrong
from aisle.cli.service_client import store_folder_of
from aisle.client.sign_in_and_token_file import read_token
from aisle.errors import SettingsError, StorageError
from aisle.file_ownership import untrusted_error
from aisle.host import store_and_database_folders
from aisle.host.database import check_sqlite_version
from aisle.jobs.view import msg
from aisle.outbox.retention_and_archive import archive_path
from aisle.service.db.database_interface import GROWING_TABLES
from aisle.session.profile import profile_from_settings
from aisle.session.terminal_screen_and_keys import colour_count
from aisle.settings.parse_settings_file import read_settings_file
from aisle.settings.setting_definitions import EMBEDDED, Settings, service_url
from aisle.settings.settings_files_and_folders import MISSING_FILE, LoadedSettings, file_stamps
from aisle.settings.terminal_name import terminal_name
from aisle.terminal_text import clean, supports_utf8, width
from aisle.tui.message_text import MessageWriter

MIN_PYTHON = (3, 11)
MIN_FREE_BYTES, LOW_FREE_BYTES = 100e6, 1e9
"""Free bytes below which work is in danger, and below which a note is given."""


def check_python(_: LoadedSettings) -> Iterable[Finding]:
    """Check the versions of Python and aisle."""
    running = platform.python_version()
    if sys.version_info < MIN_PYTHON:
        yield wrong("python", running, f"aisle {__version__} needs 3.11.", "Install a newer Python.")
        return
    yield ok("python", f"{running}, aisle {__version__}, {platform.system()} {platform.machine()}", version=running)


def check_sqlite(_: LoadedSettings) -> Iterable[Finding]:
    """Check the SQLite version of apsw."""
    engine = apsw.sqlite_lib_version()
    check_sqlite_version(engine)
    yield ok("sqlite", f"{engine} (apsw {apsw.apsw_version()})", version=engine)


class _FolderFacts(TypedDict):
    folder: str
    filesystem: str
    exists: bool


def check_home(loaded: LoadedSettings) -> Iterable[Finding]:
    """Check that databases can be stored in the data folder."""
    folder = store_folder_of(loaded).folder
    existing = store_and_database_folders.nearest_existing(folder)
    kind = _filesystem_of(existing)
    filesystem_text = f" on {kind}" if kind else ""
    facts: _FolderFacts = {"folder": str(folder), "filesystem": kind, "exists": os.path.exists(folder)}
    if not os.path.isdir(existing):
        yield wrong(
            "home", f"{folder} cannot be made", f"{existing} is not a folder.", "Set AISLE_HOME to a folder.", **facts
        )
    elif store_and_database_folders.is_read_only(existing):
        yield wrong(
            "home",
            f"{existing} cannot be written",
            store_and_database_folders.READ_ONLY_ERROR,
            store_and_database_folders.REMOUNT_ADVICE,
            **facts,
        )
    elif not os.access(existing, os.W_OK | os.X_OK):
        yield wrong("home", f"{existing} cannot be written", "It is not this account's.", "Set AISLE_HOME.", **facts)
    else:
        yield from _check_folder(folder, existing, filesystem_text, facts)
    if os.path.isdir(loaded.data_folder) and loaded.data_folder.stat().st_mode & 0o022:
        yield wrong(
            "home", f"{loaded.data_folder} can be changed by others", "", f"Run: chmod 700 {loaded.data_folder}"
        )
    elif why := untrusted_error(loaded.data_folder, folder=True):
        yield wrong("home", f"{loaded.data_folder} cannot be used", why)


def _check_folder(folder: Path, existing_folder: Path, filesystem_text: str, facts: _FolderFacts) -> Iterable[Finding]:
    try:
        store_and_database_folders.check_disk(existing_folder / "outbox.db", guarded=True)
    except StorageError as error:
        yield wrong("home", f"{folder}{filesystem_text}", str(error), **facts)
        return
    if facts["filesystem"] in ("tmpfs", "ramfs"):
        yield note("home", f"{folder}{filesystem_text}", "It is kept in memory and lost when the power fails.", **facts)
    elif not facts["exists"]:
        yield note("home", f"{folder}{filesystem_text} is not there yet", "The first start makes it.", **facts)
    else:
        yield ok("home", f"{folder}{filesystem_text}", **facts)


def check_disk(loaded: LoadedSettings) -> Iterable[Finding]:
    """Check the free disk space."""
    free = shutil.disk_usage(store_and_database_folders.nearest_existing(loaded.data_folder)).free
    if free < MIN_FREE_BYTES:
        can_grow = store_and_database_folders.has_room(loaded.data_folder)
        then = "Soon nothing can be saved." if can_grow else "Nothing can be saved."
        yield wrong("disk", f"{format_bytes(free)} free", then, "Free some space.", free=free)
    elif free < LOW_FREE_BYTES:
        yield note("disk", f"{format_bytes(free)} free", "That is little.", free=free)
    else:
        yield ok("disk", f"{format_bytes(free)} free", free=free)


def _filesystem_of(folder: Path) -> str:
    try:
        mounts = store_and_database_folders.MOUNTS_FILE.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""
    return store_and_database_folders.file_system_type(folder.resolve(), mounts)


MIN_SIZES = ((20, 16), (40, 8))
"""Columns and rows of the smallest screens that fit a step."""

TRACE_TAIL_BYTES = 1 << 18
"""Number of bytes read at the end of a trace."""

_PLACEHOLDERS = {"end": "a suffix", "one": "one", "other": "another", "ms": "some", "name": "pressed"}
"""Placeholders for arguments of a verdict, which the trace does not store."""


def check_terminal(loaded: LoadedSettings) -> Iterable[Finding]:
    """Check name, type, size, colours and encoding of the terminal."""
    name = terminal_name(loaded.settings)
    kind = os.environ.get("TERM", "")
    encoding = "UTF-8" if supports_utf8() else "ASCII"
    facts: dict[str, object] = {
        "terminal": name,
        "term": kind,
        "encoding": encoding,
        "colours": colour_count(os.environ),
    }
    text = f"{name}: TERM {kind or 'not set'}, {facts['colours'] or 'no'} colours, {encoding}"
    if not sys.stdout.isatty():
        yield ok("terminal", f"{text}; the output is not a terminal", **facts)
        return
    size = os.get_terminal_size(sys.stdout.fileno())
    facts |= {"columns": size.columns, "rows": size.lines}
    text += f", {size.columns}x{size.lines}"
    if not any(size.columns >= columns and size.lines >= rows for columns, rows in MIN_SIZES):
        yield wrong("terminal", text, "That is too small: 20x16 or 40x8 at least.", "Choose a smaller font.", **facts)
    elif not kind:
        yield note(
            "terminal", text, "Programs cannot tell what it can show.", "Set TERM, to vt220 for instance.", **facts
        )
    else:
        yield ok("terminal", text, **facts)


def check_scanner(loaded: LoadedSettings) -> Iterable[Finding]:
    """Report the last verdict of the scanner test, if a trace is written."""
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
        sentence = MessageWriter().write(msg(last, **_PLACEHOLDERS))
        good = last in ("scanner_test.good", "scanner_test.good_aim", "scanner_test.key")
        yield (ok if good else note)("scanner", sentence, finding=last)


def _last_verdict(path: Path) -> str | None:
    """Return the last verdict of the scanner test in the trace."""
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - TRACE_TAIL_BYTES))
        lines = stream.read().decode("utf-8", "replace").splitlines()
    for line in reversed(lines):
        try:
            seen = json.loads(line)
        except ValueError:
            continue  # the first line of the tail, or an incomplete one
        if (
            isinstance(seen, dict)
            and seen.get("job") == "scanner_test"
            and str(seen.get("verdict")).startswith(("scanner_test.", "input."))
        ):
            return str(seen["verdict"])
    return None


_SHOWN = 4
"""Number of tables shown, the largest first."""


def sizes(loaded: LoadedSettings) -> Iterable[Finding]:
    """Report the sizes of this host's databases, and the rows of the embedded service that `aisle purge` can delete."""
    store_folder = store_folder_of(loaded)
    named = {"cache": store_folder.cache, "outbox": store_folder.outbox, "archive": archive_path(store_folder.folder)}
    sizes_by_name = {name: _bytes(path) for name, path in named.items() if path.exists()}
    if not sizes_by_name:
        yield note("sizes", "nothing has been written yet")
        return
    yield ok(
        "sizes", ", ".join(f"{name} {format_bytes(count)}" for name, count in sizes_by_name.items()), **sizes_by_name
    )
    if service_url(loaded.settings) == EMBEDDED and store_folder.service_db.exists():
        yield _size_finding("the embedded store", _bytes(store_folder.service_db), _rows(store_folder.service_db))


def database(named: Path | str) -> Iterable[Finding]:
    """Report the growing tables of a service's database, read-only."""
    if isinstance(named, Path):
        if not named.exists():
            yield wrong("sizes", f"there is no database at {named}")
        else:
            yield _size_finding(f"the database {named}", _bytes(named), _rows(named))
        return
    try:
        from aisle.service.db.postgres_database import read_sizes, redact_dsn
    except ModuleNotFoundError:
        yield wrong("sizes", "PostgreSQL needs asyncpg", todo="Install aisle[postgres].")
        return
    rows = read_sizes(named)
    yield _size_finding(f"the database {redact_dsn(named)}", rows.pop("*"), rows)


def _rows(path: Path) -> dict[str, int]:
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as found:
        existing = {str(row[0]) for row in found.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        return {
            table: int(str(found.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0]))  # noqa: S608 - our own names
            for table in GROWING_TABLES
            if table in existing
        }


def _size_finding(what: str, bytes_: int, rows: dict[str, int]) -> Finding:
    largest = sorted(rows, key=rows.__getitem__, reverse=True)[:_SHOWN]
    text = ", ".join(f"{table} {rows[table]:,} rows" for table in largest if rows[table])
    return ok("sizes", f"{what} {format_bytes(bytes_)}" + (f"; {text}" if text else ""), bytes=bytes_, rows=rows)


def _bytes(path: Path) -> int:
    """Return the size of a database with its WAL file."""
    parts = (path, path.with_name(path.name + "-wal"))
    return sum(part.stat().st_size for part in parts if part.exists())


def check_settings(loaded: LoadedSettings) -> Iterable[Finding]:
    """Check each settings file, then the settings as a whole."""
    stamped = zip(loaded.files, file_stamps(loaded.files), strict=True)
    existing = [path for path, stamp in stamped if stamp != MISSING_FILE]
    for path in existing:
        file = read_settings_file(path, linked=path.parent != loaded.data_folder)
        for problem in file.problems:
            yield wrong("settings", problem, "What the file said before is in force." * (problem in loaded.problems))
        if not file.problems:
            sections = format_count(len(file.stores) + len(file.devices), "section")
            yield ok("settings", f"{path}, {sections}", file=str(path))
    if not existing:
        yield ok("settings", f"no file: {', '.join(str(path) for path in loaded.files) or 'none is looked for'}")
    try:
        profile_from_settings(loaded.settings, loaded.sources)
    except SettingsError as error:
        yield wrong("settings", str(error))


def check_token(loaded: LoadedSettings) -> Iterable[Finding]:
    """Check the token file without showing its content."""
    path = loaded.settings.token_file
    if service_url(loaded.settings) == EMBEDDED:
        yield ok("token", "the embedded store makes its own")
    elif not path:
        yield wrong("token", "there is none", "The service asks for one.", "Set token_file to a file of mode 0600.")
    else:
        try:
            read_token(path)
        except SettingsError as error:
            yield wrong("token", str(error), file=path)
        else:
            yield ok("token", f"{path}, for this account alone", file=path)


DEFAULT = "default"


def print_settings(loaded: LoadedSettings, findings: Sequence[Finding], *, as_json: bool) -> None:
    """Print one line per key: its value and its source (file and section, variable, command line or default)."""
    rows = {name: (_shown_value(name, loaded.settings), loaded.sources.get(name, DEFAULT)) for name in Settings._fields}
    if as_json:
        settings = {name: {"value": value, "from": source} for name, (value, source) in rows.items()}
        print(
            json.dumps(
                {"settings": settings, "wrong": [finding.what for finding in findings]}, indent=1, default=_json_value
            )
        )
        return
    print(clean(f"Store {loaded.settings.store}, terminal {terminal_name(loaded.settings)}"))
    shown = [(name, clean(_format_value(value)), clean(source)) for name, (value, source) in rows.items()]
    widths = [max(width(row[column]) for row in shown) for column in (0, 1)]
    for name, value, source in shown:
        print(f"{name:{widths[0]}}  {value}{' ' * (min(40, widths[1]) - width(value))}  {source}")
    for finding in findings:
        print(clean(f"wrong: {finding.what}"))


def _shown_value(name: str, settings: Settings) -> Any:
    """Return a setting for display, without secrets."""
    value = getattr(settings, name)
    if name == "token_header" and value != Settings._field_defaults[name]:
        return "(set)"
    if name == "base_url" and "@" in value:
        parts = urlsplit(value)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    return value


def _format_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return " | ".join(value) or "-"
    return str(value) or "-"


def _json_value(value: object) -> object:
    return float(value) if isinstance(value, Decimal) else str(value)
