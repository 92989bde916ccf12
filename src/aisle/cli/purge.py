"""`aisle purge`: what is old leaves the service's database, while it is in use."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from aisle.errors import UsageError
from aisle.local.host.home import Home
from aisle.service.factory import open_service
from aisle.service.retention import PARTS, purge
from aisle.service.storage import named_database
from aisle.settings import EMBEDDED, data_root

_DAY = 86400.0


def run(arguments: argparse.Namespace) -> int:
    """Purges, and says what is gone."""
    now = time.time()
    home = Home(data_root(os.environ), EMBEDDED, "")
    database = named_database(arguments.database) if arguments.database else home.service_db
    if isinstance(database, Path) and not database.exists():
        raise UsageError(f"There is no service database at {database}.")
    service = open_service(database)
    try:
        parts = tuple(arguments.only or PARTS)
        gone = asyncio.run(purge(service.storage, _moment(arguments.before, now), now, parts))
    finally:
        service.close()
    print(f"Gone: {gone.ledger} rows of the ledger, {gone.log} of the log, {gone.audit} of the audit.", file=sys.stderr)
    return 0


def _moment(text: str, now: float) -> float:
    """A day or moment (UTC where it names no zone), or so many days ago: `400d`. Raises UsageError."""
    if text.endswith("d") and text[:-1].isascii() and text[:-1].isdigit() and len(text) < 8:
        return now - int(text[:-1]) * _DAY
    try:
        said = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"--before {text} is no day and no number of days: 2025-01-01, or 400d.") from None
    return (said if said.tzinfo else said.replace(tzinfo=UTC)).timestamp()
