"""How large the files are that grow with time, and of a service's database which of its tables."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from aisle.cli.doctor.report import Finding, format_bytes, note, ok, wrong
from aisle.cli.service_client import store_folder_of
from aisle.settings import EMBEDDED, LoadedSettings, service_url

_SHOWN = 4
"""So many tables are named: the largest."""


def sizes(loaded: LoadedSettings) -> Iterable[Finding]:
    """Files of this host with their companions; what `aisle purge` takes away is worth a word."""
    from aisle.outbox.archive import archive_path

    home = store_folder_of(loaded)
    named = {"cache": home.cache, "outbox": home.outbox, "archive": archive_path(home.folder)}
    bytes_ = {name: _bytes(path) for name, path in named.items() if path.exists()}
    if not bytes_:
        yield note("sizes", "nothing has been written yet")
        return
    yield ok("sizes", ", ".join(f"{name} {format_bytes(count)}" for name, count in bytes_.items()), **bytes_)
    if service_url(loaded.settings) == EMBEDDED and home.service_db.exists():
        yield _told("the embedded store", _bytes(home.service_db), _rows(home.service_db))


def database(named: Path | str) -> Iterable[Finding]:
    """The tables of a service's database that grow, found out without changing anything."""
    if isinstance(named, Path):
        if not named.exists():
            yield wrong("sizes", f"there is no database at {named}")
        else:
            yield _told(f"the database {named}", _bytes(named), _rows(named))
        return
    try:
        from aisle.service.db.postgres import read_sizes, redact_dsn
    except ModuleNotFoundError:
        yield wrong("sizes", "PostgreSQL needs asyncpg", todo="Install aisle[postgres].")
        return
    rows = read_sizes(named)
    yield _told(f"the database {redact_dsn(named)}", rows.pop("*"), rows)


def _rows(path: Path) -> dict[str, int]:
    import apsw

    from aisle.service.db.database import GROWING_TABLES

    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as found:
        there = {str(row[0]) for row in found.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        return {
            table: int(str(found.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0]))  # noqa: S608 - our own names
            for table in GROWING_TABLES
            if table in there
        }


def _told(what: str, bytes_: int, rows: dict[str, int]) -> Finding:
    largest = sorted(rows, key=rows.__getitem__, reverse=True)[:_SHOWN]
    told = ", ".join(f"{table} {rows[table]:,} rows" for table in largest if rows[table])
    return ok("sizes", f"{what} {format_bytes(bytes_)}" + (f"; {told}" if told else ""), bytes=bytes_, rows=rows)


def _bytes(path: Path) -> int:
    """A database with its log."""
    parts = (path, path.with_name(path.name + "-wal"))
    return sum(part.stat().st_size for part in parts if part.exists())
