"""A location code with other leading zeros: each step shows the stored code that it was taken as, or refuses it."""

from __future__ import annotations

from pathlib import Path

import pytest

from aisle.cache.writer import CacheWriter
from aisle.courier.pull import full_sync_stages_and_progress
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import Start
from aisle.jobs.view import WRONG
from aisle.session.session import Session
from tests.cache import service_rows
from tests.cache.test_delivery_queries import delivery, line
from tests.copied_databases import copied_home
from tests.session.test_code_forms import Scanner, at, said, told

TEA = "9520001100017"
FORMS = [("X-2", "X-02"), ("X-002", "X-02"), ("12", "0012"), ("00012", "0012"), ("7", "007"), ("B-3", "B-003")]


def filled(cache: CacheWriter) -> None:
    """Tea lies at each place; an order and a delivery have it."""
    places = ["A-1", "X-02", "0012", "007", "B-003"]
    cache.write_people([service_rows.person("U1", "Anna Kovac")])
    cache.write_products([service_rows.product("P4", "Tea", TEA)])
    cache.write_stock([service_rows.stock("P4", 60, places=dict.fromkeys(places, 12))])
    cache.write_locations([service_rows.location(code, row) for row, code in enumerate(places, 1)])
    lines = [service_rows.line(1, "P4", 3, preferred_location_code="A-1")]
    cache.write_orders([service_rows.order("4101", *lines)], lines_known=True, read_began=1.0)
    cache.write_deliveries([delivery("D-1", line(1, "P4", 40))], 1.0)
    full_sync_stages_and_progress.save_progress(cache, full_sync_stages_and_progress.SyncProgress(completed=1.0))


@pytest.fixture
def home(aisle_home: Path) -> StoreFolder:
    """A home with that store in its cache."""
    return copied_home(aisle_home, filled)


STEPS: dict[str, tuple[str, tuple[str, ...]]] = {
    "count": ("count", ()),
    "count, next place": ("count", ("A-1",)),
    "adjust": ("adjust", ("1",)),
    "move from": ("move", ()),
    "move to": ("move", ("A-1", TEA)),
    "receive, put away": ("receive", ("D-1", TEA)),
    "locations": ("locations", ()),
    "pick, another place": ("pick", ()),
    "pick, taken where": ("pick", ("X-02", TEA)),
    "pick, put down": ("pick", ("A-1", TEA, "3")),
}


def at_step(session: Session, scan: Scanner, step: str) -> None:
    job, codes = STEPS[step]
    session.event_runner.open(Start(job, {"order_number": "4101"} if job == "pick" else {}))
    scan(*codes)


@pytest.mark.parametrize(("code", "stored"), FORMS)
@pytest.mark.parametrize("step", STEPS)
def test_each_step_shows_the_stored_code(home: StoreFolder, step: str, code: str, stored: str) -> None:
    with at(home) as session:
        scan = Scanner(session)
        at_step(session, scan, step)
        frame = scan(code)
        kind, text_id = told(frame)
        shown = f"{said(frame)} {frame.view.title} {getattr(frame.view, 'choices', '')}"
        is_quantity = text_id in ("move.taken", "pick.picked") and said(frame).startswith((f"{code} × ", f"{code} of "))
        assert stored in shown or kind == WRONG or is_quantity
