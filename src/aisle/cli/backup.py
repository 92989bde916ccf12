"""`aisle backup` and `aisle restore`: copy the service's SQLite database, and put the copy back, while it is in use."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from aisle.cli.options import FILE, database_option
from aisle.errors import UsageError
from aisle.host.store_and_database_folders import StoreFolder
from aisle.service.db import parse_database_url
from aisle.service.db.sqlite_backup_and_restore import BackupInfo, back_up, restore
from aisle.settings.setting_definitions import EMBEDDED
from aisle.settings.settings_files_and_folders import trusted_data_folder


@click.command()
@click.argument("file", type=FILE)
@click.option("--replace", is_flag=True, help="Replace FILE if it exists.")
@database_option
def backup(file: str, replace: bool, database: str | None) -> int:
    """Copy the service's SQLite database to FILE (mode 0600), also while it is in use."""
    copied = back_up(_database_path(database), Path(file), replace=replace)
    print(f"{file} holds {_describe_backup(copied)}, and was looked through.", file=sys.stderr)
    return 0


@click.command("restore")
@click.argument("file", type=FILE)
@click.option("--yes", is_flag=True, help="Allow the loss of what the database has and the copy lacks.")
@database_option
def restore_backup(file: str, yes: bool, database: str | None) -> int:
    """Put a copy of the service's SQLite database back, also while the service runs; FILE is the copy."""
    path = _database_path(database)
    done = restore(Path(file), path, allow_loss=yes)
    kept = f" What was there before is in {done.previous}." if done.previous else ""
    print(f"{path} holds {_describe_backup(done.backup)} again.{kept}", file=sys.stderr)
    return 0


def _describe_backup(copied: BackupInfo) -> str:
    return f"{copied.stores} stores and {copied.legs} rows of the ledger ({copied.size:,} bytes)"


def _database_path(url: str | None) -> Path:
    if url is None:
        return StoreFolder(trusted_data_folder(), EMBEDDED, "").service_db
    database = parse_database_url(url)
    if not isinstance(database, Path):
        raise UsageError("PostgreSQL has tools of its own for this: pg_dump and pg_restore, or pg_basebackup.")
    return database
