"""Sizes of the files that grow with time, and of the tables of a service's database."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import apsw

from aisle.cli.doctor.report import Finding, format_bytes, note, ok, wrong
from aisle.cli.service_client import store_folder_of
from aisle.outbox.archive import archive_path
from aisle.service.db.database import GROWING_TABLES
from aisle.settings import EMBEDDED, LoadedSettings, service_url

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
        from aisle.service.db.postgres import read_sizes, redact_dsn
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
