"""`aisle backup` and `aisle restore`: the service's SQLite database copied and put back while it is in use."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from aisle.errors import UsageError
from aisle.local.host.home import Home
from aisle.service.storage import named_database
from aisle.service.storage.copies import Copied, back_up, restore
from aisle.settings import EMBEDDED, data_root


def backup(arguments: argparse.Namespace) -> int:
    """Makes a copy."""
    file = Path(arguments.file)
    copied = back_up(_database(arguments.database), file, replace=arguments.replace)
    print(f"{file} holds {_said(copied)}, and was looked through.", file=sys.stderr)
    return 0


def put_back(arguments: argparse.Namespace) -> int:
    """Puts a copy back."""
    database = _database(arguments.database)
    done = restore(Path(arguments.file), database, newer=arguments.yes)
    kept = f" What was there before is in {done.kept}." if done.kept else ""
    print(f"{database} holds {_said(done.copied)} again.{kept}", file=sys.stderr)
    return 0


def _said(copied: Copied) -> str:
    return f"{copied.stores} stores and {copied.legs} rows of the ledger ({copied.size:,} bytes)"


def _database(named: str | None) -> Path:
    if named is None:
        return Home(data_root(os.environ), EMBEDDED, "").service_db
    database = named_database(named)
    if not isinstance(database, Path):
        raise UsageError("PostgreSQL has tools of its own for this: pg_dump and pg_restore, or pg_basebackup.")
    return database
