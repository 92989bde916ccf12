"""Digits that are a quantity or the number of goods, and then these goods by another code of theirs: the question is
answered, and whether the digits were one of them as well is unknown. Either they count, or it is said that they do
not."""

from __future__ import annotations

from pathlib import Path

import pytest

from aisle.cache.writer import CacheWriter
from aisle.courier.pull import full_sync_stages_and_progress
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import WRONG
from aisle.session.session import Session
from tests.cache import service_rows
from tests.cache.test_delivery_queries import delivery, line
from tests.copied_databases import copied_home
from tests.session.scanner import Scanner
from tests.session.test_asked_quantity import shown
from tests.session.test_numbers_after_refused_scan import opened
from tests.session.test_numbers_after_scan import quantities
from tests.session.test_session import at, say, told

GUM, TEA = "0042100005264", "4006381333931"

NUMBERS = ("425261", "77")
"""The short form of its barcode, as some scanners send it, and its number."""

FORMS = ("04252614", "042100005264", GUM, f"010{GUM}")
"""Its barcode in the forms in which scanners send it."""

PAGES: dict[str, tuple[str, ...]] = {
    "count": ("count", "A-1", GUM),
    "other counted": ("count", "A-1", TEA),
    "count of goods": ("count", GUM, "A-1"),
    "recount": ("count", "A-1", GUM, "19", "d", "a", "c"),
    "missing": ("count", "A-1", "d"),
    "adjust": ("adjust", "A-1", GUM),
    "move": ("move", "A-1", GUM),
    "other moved": ("move", "A-1", TEA),
    "cart": ("move", "c", "A-1", GUM, "d"),
    "receive": ("receive", "D-1", GUM),
    "other received": ("receive", "D-1", TEA),
    "pick": ("", "4101", GUM),
}


def filled(cache: CacheWriter) -> None:
    cache.write_people([service_rows.person("U1", "Anna Kovac")])
    cache.write_products([service_rows.product("77", "Gum", GUM), service_rows.product("P4", "Tea", TEA)])
    cache.write_stock([service_rows.stock(number, 60, places={"A-1": 60}) for number in ("77", "P4")])
    cache.write_locations([service_rows.location("A-1", 1), service_rows.location("A-2", 2)])
    lines = [service_rows.line(n, number, 40, preferred_location_code="A-1") for n, number in ((1, "77"), (2, "P4"))]
    cache.write_orders([service_rows.order("4101", *lines)], lines_known=True, read_began=1.0)
    cache.write_deliveries([delivery("D-1", line(1, "77", 40), line(2, "P4", 40))], 1.0)
    full_sync_stages_and_progress.save_progress(cache, full_sync_stages_and_progress.SyncProgress(completed=1.0))


@pytest.fixture
def home(aisle_home: Path) -> StoreFolder:
    """A home with goods that have a short number."""
    return copied_home(aisle_home, filled)


def begun(session: Session, page: str) -> None:
    job, *steps = PAGES[page]
    if job:
        opened(session, job, *steps)
    else:
        for step in steps:
            say(session, step)


@pytest.mark.every_case
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("pace", [0.0, 0.006, 0.11])
def test_number_counts_or_is_said_to_be_ignored(
    home: StoreFolder, page: str, number: str, form: str, pace: float
) -> None:
    with at(home, user="U1") as session:
        begun(session, page)
        scan = Scanner(session)
        before = quantities(session).get("77", 0)
        asked = scan.send(f"{number}\r", pace)
        if told(asked)[0] == WRONG or quantities(session).get("77", 0) != before:
            return
        scan.rest(1.0)
        frame = scan.send(f"{form}\r", 0.003)
        more = quantities(session).get("77", 0) - before
        if told(frame)[0] != WRONG and more < 2:
            assert f"ignored: {number}" in shown(frame, 80, 24) or f"not {number}" in shown(frame, 80, 24)


@pytest.mark.parametrize("page", [page for page in PAGES if page != "pick"])
def test_nothing_is_ignored_that_a_letter_says(home: StoreFolder, page: str) -> None:
    with at(home, user="U1") as session:
        begun(session, page)
        frame = say(session, "77")
        letters = session.page.accepts().choice_letters
        frame = say(session, letters[1])
        assert "ignored" not in shown(frame, 80, 24)
        assert "not 77" not in shown(frame, 80, 24)
        frame = say(session, GUM)
        assert "ignored" not in shown(frame, 80, 24), "the number is no longer in question"
