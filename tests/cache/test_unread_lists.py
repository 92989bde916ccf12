"""Which lists were never read completely, from the sync progress."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aisle.cache.reader import CacheReader
from aisle.cache.store_queries import LISTS_SHOWN
from aisle.cache.writer import CacheWriter, open_cache
from aisle.courier.pull.sync_progress import StagePosition, SyncProgress, save_progress
from aisle.host.store_folder import StoreFolder
from aisle.outbox.operation_queue import open_outbox
from tests.writes import STORE


@pytest.mark.parametrize(
    ("progress", "left"),
    [
        (None, LISTS_SHOWN),
        (SyncProgress(("lines", "products"), StagePosition("headers", 1), full=True), ("headers", "lines", "products")),
        (SyncProgress(("products",), full=True, missing=("deliveries",)), ("deliveries", "products")),
        (SyncProgress(("deliveries", "receipts")), LISTS_SHOWN),
        (SyncProgress(("headers",), full=True, completed=5.0), ()),
    ],
)
def test_what_the_first_sync_has_not_reached_is_unread(aisle_home: Path, progress: Any, left: tuple[str, ...]) -> None:
    home = StoreFolder(aisle_home, "embedded", STORE)
    db, outbox = open_cache(home.folder, writer=True), open_outbox(home.folder)
    cache, reads = CacheWriter(db, STORE), CacheReader(home, outbox)
    try:
        if progress:
            save_progress(cache, progress)
        assert reads.link(0.0).unread_lists == (*left, "logs")
        assert [row["list"] for row in reads.query("unread_lists", {})[0]] == [*left, "logs"]
        cache.set_cursor("logs_span", {"since": "2026-11-13", "asked": 0.0})
        assert reads.link(0.0).unread_lists == left
    finally:
        reads.close()
        outbox.close()
        db.close()
