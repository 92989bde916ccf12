"""`aisle purge`: deletes old data from the service's database and from this host's outbox and archive, while in use."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

import click

from aisle.cli.options import database_option, parse_time, settings_from_options
from aisle.cli.service_client import store_folder_of
from aisle.errors import UsageError
from aisle.host.store_and_database_folders import StoreFolder
from aisle.outbox.operation_queue import open_outbox
from aisle.outbox.retention_and_archive import (
    JOURNAL_DAYS,
    OPERATION_DAYS,
    Retention,
    archive_batch,
    archive_path,
    delete_archived_events,
    open_archive,
)
from aisle.service.app_options_and_limits import keys_kept
from aisle.service.db import parse_database_url
from aisle.service.open_service_and_admin_token import open_service
from aisle.service.retention import PARTS, least_days, purge
from aisle.settings.setting_definitions import EMBEDDED, Settings
from aisle.settings.settings_files_and_folders import LoadedSettings

OUTBOX, ARCHIVE = "outbox", "archive"
OF_HOST = {OUTBOX: OPERATION_DAYS, ARCHIVE: JOURNAL_DAYS}
"""Parts of this host, with the minimum age in days; the courier purges them regularly."""
_DAY = 86400.0


@click.command("purge")
@click.option(
    "--before",
    metavar="TIME",
    help="Delete what is older than this day or moment of the store, or than so many days: 400d.",
    show_default="the settings keep_…_days",
)
@click.option("--only", multiple=True, type=click.Choice((*PARTS, *OF_HOST)), help="Purge only this part; repeatable.")
@database_option
def purge_data(before: str | None, only: Sequence[str], database: str | None) -> int:
    """Delete old data from the service's database while it is in use, and what this host keeps of its store; sums stay
    the same.
    """
    now, loaded = time.time(), settings_from_options({})
    limit = parse_time(before, now) if before else None
    path = _database(database, only, loaded)
    parts = only or ((*PARTS, *OF_HOST) if path else OF_HOST)
    before_by_part = {part: _before(part, limit, loaded.settings, now) for part in parts}
    _check(before_by_part, now, loaded.settings, is_said=limit is not None)
    deleted = _service(path, before_by_part, now) if path else {}
    folder = store_folder_of(loaded).folder
    if OUTBOX in before_by_part:
        deleted[OUTBOX] = _outbox(folder, now, _kept(limit, loaded.settings, now))
    if before_by_part.get(ARCHIVE):
        deleted[ARCHIVE] = _archive(folder, before_by_part[ARCHIVE])
    text = ", ".join(f"{count} of the {part}" for part, count in deleted.items())
    print(f"Rows that are gone: {text or 'none'}.", file=sys.stderr)
    return 0


def _database(named: str | None, only: Sequence[str], loaded: LoadedSettings) -> Path | str | None:
    """Return the service's database; None if only files of this host are purged. Raise UsageError."""
    database = parse_database_url(named) if named else StoreFolder(loaded.data_folder, EMBEDDED, "").service_db
    if not isinstance(database, Path) or database.exists():
        return database
    if named or any(part in PARTS for part in only):
        raise UsageError(f"There is no service database at {database}.")
    return None


def _before(part: str, said: float | None, settings: Settings, now: float) -> float:
    """Return the time before which a part is purged; 0.0 for never."""
    if said is not None:
        return said
    days = float(getattr(settings, _setting(part)))
    return now - days * _DAY if days else 0.0


def _setting(part: str) -> str:
    """Return the name of the setting for a part's retention."""
    return "keep_operations_days" if part == OUTBOX else f"keep_{part}_days"


def _kept(said: float | None, settings: Settings, now: float) -> Retention:
    """Return the retention of outbox and journal; the archive is purged separately."""
    if said is None:
        return Retention(float(settings.keep_operations_days), float(settings.keep_journal_days), 0)
    days = (now - said) / _DAY
    return Retention(days, max(days, JOURNAL_DAYS), 0)


def _check(asked: Mapping[str, float], now: float, settings: Settings, *, is_said: bool) -> None:
    """Raise UsageError if a part would lose data that must be kept, such as answers promised to hosts."""
    promised = {"answers": keys_kept(settings.keep_answers_days)} if is_said else {}
    for part, before in asked.items():
        least = promised.get(part) or OF_HOST.get(part) or least_days(part)
        if before > now - least * _DAY:
            source = "--before" if is_said else _setting(part)
            raise UsageError(
                f"{source} is too near: nothing of the {part} that is younger than {least} days is purged."
            )


def _service(database: Path | str, asked: Mapping[str, float], now: float) -> dict[str, int]:
    deleted = {}
    service = open_service(database)
    try:
        for part in (part for part in PARTS if asked.get(part)):
            deleted[part] = asyncio.run(purge(service.database, asked[part], now, [part]))[PARTS.index(part)]
    finally:
        service.close()
    return deleted


def _outbox(folder: Path, now: float, kept: Retention) -> int:
    """Delete old operations and move old journal events to the archive; return the number of rows."""
    deleted = 0
    if not (folder / "outbox.db").exists():
        return deleted
    with closing(open_outbox(folder)) as outbox:
        while moved := archive_batch(folder, outbox, now, kept):
            deleted += moved
    return deleted


def _archive(folder: Path, before: float) -> int:
    """Delete old events from the archive; return their number."""
    deleted = 0
    if not archive_path(folder).exists():
        return deleted
    with closing(open_archive(folder)) as archive:
        while dropped := delete_archived_events(archive, before):
            deleted += dropped
    return deleted
