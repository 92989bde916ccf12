"""Codes that nothing has exactly: an exact code comes first, then what the step can use, else the person is asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.courier.pull import full_sync_stages_and_progress
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import ASK, GOOD, WRONG, Frame
from aisle.session.session import Session
from tests.cache import service_rows
from tests.session.test_code_forms import Scanner, at, open_job, said, told

UPC_E, SHORT = "04252614", "425261"


@pytest.fixture
def home(aisle_home: Path) -> StoreFolder:
    """A store whose numbers differ by zeros alone: an order and a place, an order and a UPC-E, a badge and nothing."""
    home = StoreFolder(aisle_home, "embedded", "0001")
    with closing(open_cache(home.folder, writer=True)) as connection:
        cache = CacheWriter(connection, "0001")
        cache.write_products([service_rows.product("P1", "Cola", UPC_E), service_rows.product("P2", "Rusk", "RUSK")])
        cache.write_stock([service_rows.stock(each, 60, places={"A-1": 60}) for each in ("P1", "P2")])
        places = [
            service_rows.location(name, rank) for rank, name in enumerate(("A-1", "036000", "BR-1", "0770011"), 1)
        ]
        cache.write_locations(places)
        cache.write_orders(
            [
                service_rows.order(number, service_rows.line(1, product, 1, preferred_location_code="A-1"))
                for number, product in (("0036000", "P2"), ("0425261", "P2"), ("4101", "P1"), ("00770011", "P2"))
            ],
            lines_known=True,
            read_began=1.0,
        )
        cache.write_people(
            [
                {**service_rows.person("U1", "Gina"), "badge": "G-1"},
                {**service_rows.person("U2", "Hugo"), "badge": "0042526"},
            ]
        )
        full_sync_stages_and_progress.save_progress(cache, full_sync_stages_and_progress.SyncProgress(completed=1.0))
    return home


@pytest.fixture
def session(home: StoreFolder) -> Iterator[Session]:
    with at(home, restricted_codes=()) as session:
        yield session


def choices(frame: Frame) -> list[str]:
    """What may be chosen, in words."""
    from aisle.tui.message_text import MessageWriter

    return [MessageWriter().write(each) for each in getattr(frame.view, "choices", ())]


@pytest.mark.parametrize(("code", "page"), [("036000", "locations"), ("0036000", "pick"), (UPC_E, "look_up")])
def test_an_exact_code_comes_first_at_home(session: Session, code: str, page: str) -> None:
    frame = Scanner(session)(code)
    assert frame.view.name.startswith(page), said(frame)


@pytest.mark.parametrize("job", ["count", "move", "locations", "look_up"])
def test_a_page_takes_the_place_by_its_exact_code_alone(session: Session, job: str) -> None:
    scan = Scanner(session)
    open_job(session, scan, job)
    frame = scan("0036000")
    assert told(frame)[0] != GOOD or "order" in frame.view.name or frame.view.name.startswith("pick"), said(frame)
    assert "036000" not in str(getattr(frame.view, "title", "")).replace("0036000", "")


@pytest.mark.parametrize("job", ["count", "move", "look_up"])
def test_a_page_takes_the_guess_that_it_can_use(session: Session, job: str) -> None:
    scan = Scanner(session)
    open_job(session, scan, job)
    if job != "look_up":
        scan("A-1")
    frame = scan(SHORT)
    assert told(frame)[0] != WRONG, said(frame)
    assert said(frame).startswith(f"{SHORT} is unknown, read as Cola."), said(frame)


def test_two_guesses_are_asked_at_home(session: Session) -> None:
    scan = Scanner(session)
    frame = scan(SHORT)
    assert told(frame)[0] == ASK
    assert choices(frame) == ["order 0425261", "Cola"]
    assert scan("1").view.name.startswith("pick")


def test_two_guesses_of_one_number_are_asked(session: Session) -> None:
    scan = Scanner(session)
    assert choices(scan("770011")) == ["order 00770011", "location 0770011"]
    scan("b")
    open_job(session, scan, "count")
    assert told(scan("770011"))[0] != ASK, "a count has no use for the order"


def test_a_pick_takes_the_product_and_not_the_order(session: Session) -> None:
    scan = Scanner(session)
    scan("4101")
    frame = scan(SHORT)
    assert told(frame)[0] == GOOD, said(frame)
    assert "read as Cola" in said(frame)


@pytest.mark.parametrize("code", ["425261", "36000", "00425261", "000036000", "0000036000"])
def test_no_guess_leaves_what_is_not_put_down(session: Session, code: str) -> None:
    scan = Scanner(session)
    scan("4101")
    before = scan(UPC_E)
    frame = scan(code)
    assert told(frame)[0] in (ASK, WRONG) or said(frame) == "Order 4101 is put down at 036000", said(frame)
    assert frame.view.name == before.view.name


@pytest.mark.parametrize("code", ["42526", "042526", "00042526", "0000042526"])
def test_a_guess_signs_nobody_else_in_without_a_question(session: Session, code: str) -> None:
    scan = Scanner(session)
    frame = scan(code)
    assert told(frame) == (ASK, "session.confirm_guess")
    assert said(frame) == f"{code} is unknown. Is it the badge of Hugo?"
    assert frame.user == "U1"
    assert scan("1").user == "Hugo"


def test_an_exact_badge_signs_in(session: Session) -> None:
    assert Scanner(session)("0042526").user == "Hugo"
