"""A number at the pace of a scanner chooses nothing on any page: it may be a part of a code, or a one-digit label."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from aisle.cache.writer import CacheWriter
from aisle.host.store_folder import StoreFolder
from aisle.jobs import JOBS
from aisle.jobs.job import Start
from aisle.jobs.view import WRONG
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.scan.inputs import Key
from aisle.scan.meaning import Choice
from aisle.session.session import Session
from tests.cache import service_rows
from tests.copied_databases import copy_cache
from tests.session.job_steps import WAYS, stand
from tests.session.scanner import Scanner
from tests.session.test_look_up_mid_job import with_headers_only
from tests.session.test_session import at, say, small_store, told

NUMBERS = ("1", "2", "3", "9", "12", "١")


def supervised_store(cache: CacheWriter) -> None:
    """The small store with a supervisor and a count that differs from the books."""
    small_store(cache)
    cache.write_people([service_rows.person("U1", "Anna Kovac", "supervisor"), service_rows.person("U2", "Anna Berg")])
    cache.write_locations([{**service_rows.location("A-4", 4), "tags": ["Autumn"]}])
    cache.write_stores([{"storeName": name, "storeNo": name} for name in ("0001", "0002")])
    entry = {"id": 900, "product_number": "P1", "store_number": "0001", "counted_quantity": 2, "expected_quantity": 9}
    known = {"created_on": "2026-03-02T08:00:00Z", "app_user_name": "U2", "review_status": "1", "location_code": "A-1"}
    cache.write_logs([entry | known], "2026-01-01")


@pytest.fixture
def home(aisle_home: Path) -> StoreFolder:
    """That store."""
    home = StoreFolder(aisle_home, "embedded", "0001")
    copy_cache(home.folder, "0001", supervised_store)
    return home


def press(key: str) -> Callable[[Session], None]:
    """A key that is no text."""

    def pressed(session: Session) -> None:
        session.take([Key(key)], 0.0)

    return pressed


DESK: dict[str, tuple[str | Callable[[Session], None], ...]] = {
    "orders": ("orders",),
    "orders/many": ("orders", "m"),
    "order": ("orders", "1"),
    "order_actions.reason": ("orders", "1", "3"),
    "order_actions.confirm": ("orders", "1", "3", "1"),
    "exceptions": ("exceptions",),
    "exceptions.differences": ("exceptions", "2"),
    "exceptions.one": ("exceptions", "2", "1"),
    "stores": ("stores",),
    "products": ("products",),
    "clearance": ("clearance",),
    "today": ("today",),
    "palette": (press("f5"),),
    "home": ("home",),
    "sign_in": ("o", "anna"),
}
"""Pages of supervisors, and those that the table of job steps leaves out."""


def numbers_that_choose(session: Session, pace: float) -> list[str]:
    """The numbers that mean a choice on the page, each sent by a scanner: none does anything."""
    scan = Scanner(session)
    tried = []
    for number in NUMBERS:
        scan.rest(6.0)  # nothing that came before has to do with it
        session.start_batch()
        if not isinstance(session.resolver.resolve(number), Choice):
            continue
        tried.append(number)
        before, stack = session.frames.build().view, [(each.job_id, each.state) for each in session.stack.jobs]
        frame = scan.send(f"{number}\r", pace)
        assert told(frame) == (WRONG, "input.type_choice")
        assert frame.view == before
        assert [(each.job_id, each.state) for each in session.stack.jobs] == stack
    return tried


@pytest.mark.parametrize("way", WAYS)
def test_no_number_at_scanner_pace_chooses_at_a_step(aisle_home: Path, way: str) -> None:
    home = StoreFolder(aisle_home, "embedded", "0001")
    copy_cache(home.folder, "0001", small_store, with_headers_only)
    if before := WAYS[way].before:
        before(home)
    with at(home, user="U1", **WAYS[way].terms) as session:
        stand(home, session, way)
        numbers_that_choose(session, 0.003)


@pytest.mark.parametrize("pace", [0.0, 0.012])
@pytest.mark.parametrize("page", DESK)
def test_no_number_at_scanner_pace_chooses_on_a_page_of_a_desk(home: StoreFolder, page: str, pace: float) -> None:
    with at(home, user="U1") as session:
        first, *rest = DESK[page]
        if isinstance(first, str) and first in JOBS:
            session.start_batch()
            session.event_runner.open(Start(first, {}))
            session.event_runner.commit()
        else:
            rest = [first, *rest]
        for step in rest:
            say(session, step) if isinstance(step, str) else step(session)
        assert session.frames.build().view.name == page.partition("/")[0]
        assert numbers_that_choose(session, pace)
        assert not OperationQueue(open_outbox(home.folder)).unfinished()
