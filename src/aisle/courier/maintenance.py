"""Heartbeat, database checkpoints and archiving of old rows, which keep a courier running for months."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import apsw

from aisle.courier.link_state import ServiceLink
from aisle.courier.pauses_and_wake_event import Sleep
from aisle.host.database import checkpoint, fetch_one
from aisle.host.store_and_database_folders import StoreFolder
from aisle.outbox import retention_and_archive

HEARTBEAT_S = 5.0
CHECKPOINT_S = 30.0
ARCHIVE_INTERVAL_S, _ARCHIVE_PAUSE_S = 600.0, 1.0
"""Seconds between two searches for old rows, and between two batches of them."""


@dataclass(eq=False)
class Maintenance:
    """Checkpoints, archive and heartbeat of a courier. `wake` is called when a notification may have been lost."""

    store_folder: StoreFolder
    cache: apsw.Connection
    outbox: apsw.Connection
    link: ServiceLink
    wake: Callable[[], None]
    clock: Callable[[], float]
    sleep: Sleep
    kept: retention_and_archive.Retention = retention_and_archive.DEFAULT_RETENTION
    check_disk: Callable[[], None] = lambda: None
    """Function that finds out whether a full disk has room again."""

    def __post_init__(self) -> None:
        self._checkpointed = 0.0

    async def run_heartbeat(self) -> None:
        """Write the heartbeat, detect lost notifications and checkpoint the databases, in a loop."""
        seen = None
        while True:
            self.check_disk()
            self.link.write_status()
            written = fetch_one(self.outbox, "PRAGMA data_version")
            if written != seen:  # a session wrote; its notification may have been lost
                seen = written
                self.wake()
            now = self.clock()
            if now - self._checkpointed >= CHECKPOINT_S:
                self._checkpointed = now
                self.checkpoint()
            await self.sleep(HEARTBEAT_S)

    async def run_archive(self) -> None:
        """Archive old rows of the outbox in a loop, a batch at a time."""
        while True:
            await self.sleep(ARCHIVE_INTERVAL_S)
            while self.archive_batch():
                await self.sleep(_ARCHIVE_PAUSE_S)

    def archive_batch(self) -> int:
        """Move one batch of old rows out of the outbox, or out of the archive. Return the number of rows."""
        return retention_and_archive.archive_batch(self.store_folder.folder, self.outbox, self.clock(), self.kept)

    def checkpoint(self, *, truncate: bool = False) -> None:
        """Move both write-ahead logs into their databases. `truncate` empties the logs."""
        for connection in (self.cache, self.outbox):
            checkpoint(connection, truncate=truncate)


def release_memory(*connections: apsw.Connection) -> None:
    """Free what these connections and the allocator hold in reserve; takes some milliseconds."""
    gc.collect()
    for connection in connections:
        connection.execute("PRAGMA shrink_memory").fetchall()
    if sys.platform == "linux":
        with suppress(ImportError, OSError, AttributeError):  # another C library, without malloc_trim
            import ctypes

            ctypes.CDLL(None).malloc_trim(0)
