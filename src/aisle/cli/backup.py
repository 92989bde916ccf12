"""`aisle backup` and `aisle restore`: copy the service's SQLite database, and put the copy back, while it is in use."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from aisle.errors import UsageError
from aisle.host.store_folder import StoreFolder
from aisle.service.db import parse_database_url
from aisle.service.db.backup import BackupInfo, back_up, restore
from aisle.settings import EMBEDDED, find_data_folder


def backup(arguments: argparse.Namespace) -> int:
    """Make a backup."""
    file = Path(arguments.file)
    copied = back_up(_database_path(arguments.database), file, replace=arguments.replace)
    print(f"{file} holds {_describe_backup(copied)}, and was looked through.", file=sys.stderr)
    return 0


def restore_backup(arguments: argparse.Namespace) -> int:
    """Restore a backup."""
    database = _database_path(arguments.database)
    done = restore(Path(arguments.file), database, allow_loss=arguments.yes)
    kept = f" What was there before is in {done.previous}." if done.previous else ""
    print(f"{database} holds {_describe_backup(done.backup)} again.{kept}", file=sys.stderr)
    return 0


def _describe_backup(copied: BackupInfo) -> str:
    return f"{copied.stores} stores and {copied.legs} rows of the ledger ({copied.size:,} bytes)"


def _database_path(url: str | None) -> Path:
    if url is None:
        return StoreFolder(find_data_folder(os.environ), EMBEDDED, "").service_db
    database = parse_database_url(url)
    if not isinstance(database, Path):
        raise UsageError("PostgreSQL has tools of its own for this: pg_dump and pg_restore, or pg_basebackup.")
    return database
