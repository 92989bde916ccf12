"""Which lists were never read to their end, from what the sync keeps of itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aisle.courier.pull.progress import At, Progress, save
from aisle.local.cache.writer import Cache, open_cache
from aisle.local.host.home import Home
from aisle.local.outbox.outbox import open_outbox
from aisle.local.reads.reads import Reads
from aisle.local.reads.unread import SHOWN_LISTS
from tests.local.kit import STORE


@pytest.mark.parametrize(
    ("progress", "left"),
    [
        (None, SHOWN_LISTS),
        (Progress(("lines", "products"), At("headers", 1), full=True), ("headers", "lines", "products")),
        (Progress(("products",), full=True, missing=("deliveries",)), ("deliveries", "products")),
        (Progress(("deliveries", "receipts")), SHOWN_LISTS),
        (Progress(("headers",), full=True, completed=5.0), ()),
    ],
)
def test_what_the_first_sync_has_not_reached_is_unread(aisle_home: Path, progress: Any, left: tuple[str, ...]) -> None:
    home = Home(aisle_home, "embedded", STORE)
    db, outbox = open_cache(home.folder, writer=True), open_outbox(home.folder)
    cache, reads = Cache(db, STORE), Reads(home, outbox)
    try:
        if progress:
            save(cache, progress)
        assert reads.link(0.0).unread == (*left, "logs")
        assert [row["list"] for row in reads.query("unread", {})[0]] == [*left, "logs"]
        cache.set_cursor("logs_span", {"since": "2026-11-13", "asked": 0.0})
        assert reads.link(0.0).unread == left
    finally:
        reads.close()
        outbox.close()
        db.close()
