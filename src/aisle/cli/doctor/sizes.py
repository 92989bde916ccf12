"""How large the files are that grow with time, and in the embedded store which of its tables."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from aisle.cli.compose import home_of
from aisle.cli.doctor.report import Finding, note, ok, size
from aisle.settings import EMBEDDED, Loaded, base_url

_SHOWN = 4
"""So many tables are named: the largest."""


def sizes(loaded: Loaded) -> Iterable[Finding]:
    """Files of this host with their companions; what `aisle purge` takes away is worth a word."""
    from aisle.local.outbox.archive import path_of

    home = home_of(loaded)
    named = {"cache": home.cache, "outbox": home.outbox, "archive": path_of(home.folder)}
    bytes_ = {name: _bytes(path) for name, path in named.items() if path.exists()}
    if not bytes_:
        yield note("sizes", "nothing has been written yet")
        return
    yield ok("sizes", ", ".join(f"{name} {size(count)}" for name, count in bytes_.items()), **bytes_)
    if base_url(loaded.settings) == EMBEDDED and home.service_db.exists():
        yield _service(home.service_db)


def _service(path: Path) -> Finding:
    """The tables that grow, counted without changing anything."""
    import apsw

    from aisle.service.storage.base import GROWING

    facts: dict[str, Any] = {"bytes": _bytes(path)}
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as found:
        there = {str(row[0]) for row in found.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        rows = {
            table: int(str(found.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0]))  # noqa: S608 - our own names
            for table in GROWING
            if table in there
        }
    largest = sorted(rows, key=rows.__getitem__, reverse=True)[:_SHOWN]
    told = ", ".join(f"{table} {rows[table]:,} rows" for table in largest if rows[table])
    what = f"the embedded store {size(facts['bytes'])}" + (f"; {told}" if told else "")
    return ok("sizes", what, **facts, rows=rows)


def _bytes(path: Path) -> int:
    """A database with its log."""
    parts = (path, path.with_name(path.name + "-wal"))
    return sum(part.stat().st_size for part in parts if part.exists())
