"""The file cache.db for its writer: create, empty and open it, recompute its times after a change of the time zone."""

from __future__ import annotations

import json
import os
import time
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import apsw

from aisle.cache.cache_for_reading import open_for_reading
from aisle.cache.delivery_writer import recompute_due_times
from aisle.cache.log_writer import recompute_log_times
from aisle.cache.order_writer import recompute_pickup_times
from aisle.cache.schema import CACHE_TABLES, SCHEMA_VERSION
from aisle.errors import StorageError
from aisle.host.database import check_not_newer, connect, empty_database, fetch_one, schema_version, transaction
from aisle.settings.time_zone import LOCALTIME

WAL_PAGES = 4096
"""Pages of the write-ahead log at which the one writer checkpoints. A full sync writes a hundred times as many."""


def open_cache(folder: Path, *, writer: bool) -> apsw.Connection:
    """Open the cache of a home folder. Raise StorageError if there is none that can be read.

    The writer creates the file, and empties one that is damaged or of an older version. The change feed of the new file
    continues above the numbers of the old one. The writer also recomputes days and times if the zone of this process is
    another one. A file of a newer program is never changed. A reader gets the file as it is.
    """
    path = folder / "cache.db"
    if not writer:
        return open_for_reading(folder)
    if not path.exists():
        for log in ("-wal", "-shm"):  # left by a deleted database; SQLite must not read them into the new one
            path.with_name(path.name + log).unlink(missing_ok=True)
    try:
        connection = connect(path)
        found = schema_version(connection)
    except StorageError as error:
        if not isinstance(error.__cause__, apsw.CorruptError | apsw.NotADBError):
            raise
        found = -1
    if found > SCHEMA_VERSION:
        with closing(connection):
            check_not_newer(connection, SCHEMA_VERSION)
    if found not in (0, SCHEMA_VERSION):
        empty_database(path)
        connection = connect(path)
    if schema_version(connection) == 0:
        with transaction(connection):
            connection.execute(CACHE_TABLES).fetchall()
            connection.execute("INSERT INTO sqlite_sequence VALUES ('change', ?)", (int(time.time() * 1000),))
            connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}").fetchall()
    connection.wal_autocheckpoint(WAL_PAGES)

    recompute_times(connection)
    return connection


ZONE_TOPIC = "zone"
"""Row of `sync` with the zone.

Rows with unchanged text are never written again, so no later read would correct their times.
"""


def recompute_times(connection: apsw.Connection) -> tuple[str, ...]:
    """Recompute the stored times if the zone of this process differs from that of the last writer.

    Return the topics in which anything changed.
    """
    zone = json.dumps(_zone_identity())
    stored = fetch_one(connection, "SELECT cursor FROM sync WHERE topic = ?", ZONE_TOPIC)
    if stored is not None and stored[0] == zone:
        return ()
    with transaction(connection):
        changed_counts = {
            "order": recompute_pickup_times(connection),
            "delivery": recompute_due_times(connection),
            "log": recompute_log_times(connection),
        }
        changed = tuple(topic for topic, count in changed_counts.items() if count)
        connection.executemany("INSERT INTO change (topic, key) VALUES (?, '')", [(topic,) for topic in changed])
        connection.execute("INSERT OR REPLACE INTO sync (topic, cursor) VALUES (?, ?)", (ZONE_TOPIC, zone))
    return changed


def _zone_identity() -> str:
    """Return a text that identifies the zone of this process: its name, or a hash of the host's zone file."""
    variable = os.environ.get("TZ")
    if variable is not None:
        return variable
    try:
        with open(LOCALTIME, "rb") as stream:
            return f"{LOCALTIME} {sha256(stream.read()).hexdigest()}"
    except OSError:
        return LOCALTIME
