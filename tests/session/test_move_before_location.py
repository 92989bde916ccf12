"""A product that lies at several places, scanned again before anybody has said where from: each scan counts, or is said
not to be taken."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from aisle.cache.writer import CacheWriter
from aisle.courier.pull import full_sync_stages_and_progress
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import ASK, WRONG
from tests.cache import service_rows
from tests.copied_databases import copy_cache
from tests.session.scanner import Scanner
from tests.session.test_numbers_after_refused_scan import opened
from tests.session.test_numbers_after_scan import quantities
from tests.session.test_session import at, say, told

TEA, SALT = "4006381333931", "5901234123457"
FIVE = f"010{TEA}305"
"""A label of five of them."""


def fill(cache: CacheWriter) -> None:
    """Tea and salt at two places each."""
    cache.write_people([service_rows.person("U1", "Anna Kovac")])
    cache.write_products([service_rows.product("P1", "Tea", TEA), service_rows.product("P2", "Salt", SALT)])
    cache.write_stock([service_rows.stock(number, 90, places={"A-1": 45, "A-2": 45}) for number in ("P1", "P2")])
    cache.write_locations([service_rows.location("A-1", 1), service_rows.location("A-2", 2)])
    full_sync_stages_and_progress.save_progress(cache, full_sync_stages_and_progress.SyncProgress(completed=1.0))


@pytest.fixture
def home(aisle_home: Path) -> StoreFolder:
    """Tea and salt at two places each."""
    home = StoreFolder(aisle_home, "embedded", "0001")
    copy_cache(home.folder, "0001", fill)
    return home


SCANS: dict[tuple[str, ...], int] = {
    (TEA, TEA, TEA): 3,
    (TEA, f"12*{TEA}"): 13,
    (f"12*{TEA}",): 12,
    (f"12*{TEA}", TEA): 13,
    (TEA, "12*", TEA): 13,
    (TEA, FIVE): 6,
    (FIVE, FIVE, TEA): 11,
    (TEA, "96385074", TEA): 2,
    (TEA, SALT, TEA): 2,
}


@pytest.mark.parametrize("where", ["1", "A-1"])
@pytest.mark.parametrize("scans", SCANS, ids=" ".join)
def test_each_scan_before_the_place_counts(home: StoreFolder, scans: tuple[str, ...], where: str) -> None:
    with at(home, user="U1") as session:
        opened(session, "move")
        for scan in scans:
            frame = say(session, scan)
        if sum(TEA in scan for scan in scans) > 1 or scans[0] != TEA:
            assert told(frame) == (ASK, "move.where_from_quantity")
        say(session, where)
        assert quantities(session) == {"P1": Decimal(SCANS[scans])}


def test_the_same_in_one_write_and_at_the_pace_of_a_scanner(home: StoreFolder) -> None:
    for pace in (0.0, 0.006):
        with at(home, user="U1") as session:
            opened(session, "move")
            scan = Scanner(session)
            scan.send(f"{TEA}\r" * 3, pace)
            scan.rest(1.0)
            scan.send("1\r", 0.2)
            assert quantities(session) == {"P1": Decimal(3)}
            say(session, "b", "1")


def test_another_product_before_the_place_is_said_not_to_be_taken(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        opened(session, "move", TEA)
        assert told(say(session, SALT)) == (WRONG, "count.answer_first")
        say(session, "b", SALT, "2")
        assert quantities(session) == {"P2": Decimal(1)}
