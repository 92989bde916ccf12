"""Codes that fit several records, and labels that say two things: the person is asked, and each of them is named."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.courier.pull import full_sync_stages_and_progress
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import ASK, GOOD, WRONG, ListView
from aisle.session.session import Session
from aisle.tui.message_text import MessageWriter
from tests.cache import service_rows
from tests.copied_databases import copy_cache
from tests.session.test_code_forms import Scanner, at, counted, open_job, said, told
from tests.session.test_guessed_codes import choices

COLA, GOUDA = "4000000000006", "9520009000012"


def fill(cache: CacheWriter) -> None:
    """Records whose numbers differ by leading zeros alone, and cheese that lies in one of two pools."""
    by_weight = {"allow_decimal": True, "base_unit_name": "kg"}
    cache.write_products(
        [
            service_rows.product("4500", "Cola", COLA),
            service_rows.product("0042", "Tea", "TEA"),
            service_rows.product("P3", "Gouda", GOUDA, **by_weight),
            service_rows.product("P4", "Gouda piece", "96385074"),
            service_rows.product("45000", "Rusk", "RUSK"),
        ]
    )
    cache.write_stock([service_rows.stock(each, 60, places={"X-01": 60}) for each in ("4500", "0042", "P3", "45000")])
    pools = {"store_location_code": "X-02", "quantity": 17, "stock_pool_1": 17, "stock_pool_2": 0}
    cache.write_stock([service_rows.stock("P4", 17) | {"store_locations": [pools]}])
    places = ("X-01", "X-02", "004500", "42", "0045000")
    cache.write_locations([service_rows.location(name, rank) for rank, name in enumerate(places, 1)])
    lines = [service_rows.line(1, "4500", 2, preferred_location_code="X-01"), service_rows.line(2, "P3", 2)]
    cache.write_orders(
        [service_rows.order(number, *lines) for number in ("04500", "42", "4101")], lines_known=True, read_began=1.0
    )
    expected = [{"line_number": 1, "product_number": "4500", "quantity": 4}]
    cache.write_deliveries([{"order_number": "D-1", "store_number": "0001", "order_lines": expected}], read_began=1.0)
    names = {"storeNo": "0001", "storeName": "Here", "storeStockPool1": "Shop floor", "storeStockPool2": "Shop window"}
    cache.write_stores([names])
    full_sync_stages_and_progress.save_progress(cache, full_sync_stages_and_progress.SyncProgress(completed=1.0))


@pytest.fixture
def session(aisle_home: Path) -> Iterator[Session]:
    home = StoreFolder(aisle_home, "embedded", "0001")
    copy_cache(home.folder, "0001", fill)
    with at(home, restricted_codes=()) as session:
        yield session


@pytest.mark.parametrize(
    ("job", "scans", "offered"),
    [
        ("move", ("X-01", COLA), ["Cola", "Order 04500"]),
        ("count", ("X-01", COLA), ["Product Cola", "Not a quantity: order 04500"]),
        ("adjust", (COLA,), ["Product Cola", "Not a quantity: order 04500"]),
        ("receive", ("D-1", COLA), ["Product Cola", "Not a quantity: order 04500"]),
    ],
)
def test_all_that_a_number_fits_is_offered(
    session: Session, job: str, scans: tuple[str, ...], offered: list[str]
) -> None:
    scan = Scanner(session)
    open_job(session, scan, "count" if job == "adjust" else job)
    frame = scan(*(("1",) if job == "adjust" else ()), *scans, "0004500")
    assert told(frame)[0] == ASK, said(frame)
    assert choices(frame) == ["Quantity 4500", "Location 004500", *offered]
    letters = getattr(frame.view, "choice_letters", "")
    assert len(letters) == len(offered) + 2


def test_goods_are_moved_to_the_place_that_somebody_chooses(session: Session) -> None:
    scan = Scanner(session)
    open_job(session, scan, "move")
    frame = scan("X-01", COLA, "0004500")
    assert said(scan(frame.view.choice_letters[1])) == "Moved 1 × Cola to 004500"  # type: ignore[union-attr]


def test_a_place_by_its_exact_code_is_not_asked_about(session: Session) -> None:
    scan = Scanner(session)
    open_job(session, scan, "move")
    assert said(scan("X-01", COLA, "004500")) == "Moved 1 × Cola to 004500"


@pytest.mark.parametrize(("job", "first"), [("move", "X-01"), ("count", "X-01"), ("receive", "D-1"), ("", "4101")])
def test_a_number_too_large_for_a_quantity_is_asked_about_as_well(session: Session, job: str, first: str) -> None:
    scan = Scanner(session)
    if job:
        open_job(session, scan, job)
    frame = scan(first, COLA, "000045000")
    assert told(frame)[0] == ASK, said(frame)
    assert len(choices(frame)) > 1


def test_records_of_several_kinds_with_one_number_are_asked_about_at_home(session: Session) -> None:
    scan = Scanner(session)
    frame = scan("42")
    assert told(frame)[0] == ASK, said(frame)
    assert choices(frame) == ["order 42", "location 42"]
    assert scan("2").view.name.startswith("locations")


@pytest.mark.parametrize("code", ["042", "00042", "000042", "0000042"])
def test_a_short_number_with_other_zeros_is_asked_about(session: Session, code: str) -> None:
    scan = Scanner(session)
    frame = scan(code)
    assert told(frame)[0] == ASK, said(frame)
    assert choices(frame) == ["order 42", "Tea", "location 42"]


@pytest.mark.parametrize("job", ["move", "count", "receive", "look_up", "locations"])
@pytest.mark.parametrize("code", ["042", "00042"])
def test_a_job_asks_about_what_it_can_use(session: Session, job: str, code: str) -> None:
    scan = Scanner(session)
    open_job(session, scan, job)
    frame = scan(code)
    assert told(frame)[0] == ASK, said(frame)
    assert sorted(choices(frame)) == ["Tea", "location 42"]


@pytest.mark.parametrize("code", ["0042", "04500", "004500", "4500"])
def test_an_exact_number_opens_its_record(session: Session, code: str) -> None:
    frame = Scanner(session)(code)
    assert told(frame)[0] not in (ASK, WRONG), said(frame)
    assert frame.view.name != "home"


def test_goods_in_another_pool_are_not_said_to_be_missing(session: Session) -> None:
    scan = Scanner(session)
    open_job(session, scan, "move")
    frame = scan("X-02", "k", "2", "1", "96385074")
    assert said(frame) == "No Gouda piece expected at X-02 in pool Shop window."


def test_a_list_without_entries_names_its_filter(session: Session) -> None:
    scan = Scanner(session)
    open_job(session, scan, "log")
    frame = scan("4500", "X-02")
    assert isinstance(frame.view, ListView)
    assert MessageWriter().write(frame.view.empty) == "Nothing matches “X-02”."


@pytest.mark.parametrize(
    ("measures", "is_asked"),
    [
        ("3103000750" + "3202000500", True),
        ("3202000500" + "3103000750", True),
        ("3103000750" + "3562000500", True),
        ("3103000750" + "3202000165", False),
        ("3103000750" + "3203001653", False),
        ("3103000750" + "3113000300", False),
        ("3103000750", False),
    ],
)
@pytest.mark.parametrize("job", ["", "count", "move"])
def test_weights_that_contradict_each_other_are_asked_about(
    session: Session, job: str, measures: str, is_asked: bool
) -> None:
    scan = Scanner(session)
    if job:
        open_job(session, scan, job)
    frame = scan("X-01" if job else "4101", f"010{GOUDA}{measures}")
    if not is_asked:
        assert told(frame)[0] == GOOD, said(frame)
    else:
        assert told(frame) == (ASK, "session.ask_quantity_in"), said(frame)
        assert said(frame).endswith("How much of Gouda is it, in kg?")
    if job == "count" and not is_asked:
        assert counted(frame) == Decimal("0.75")


@pytest.mark.parametrize("amount", ["3922000275", "3932978000275", "3902000275"])
def test_an_amount_is_said_to_be_a_price(session: Session, amount: str) -> None:
    scan = Scanner(session)
    frame = scan("4101", f"010{GOUDA}{amount}")
    assert told(frame)[0] == ASK, said(frame)
    assert said(frame) == "On the label: price 2.75. How much of Gouda is it, in kg?"


@pytest.mark.parametrize(("windows", "named"), [(3, True), (0, False)])
def test_the_question_for_a_weight_names_the_pool(aisle_home: Path, windows: int, named: bool) -> None:
    home = StoreFolder(aisle_home, "embedded", "0001")
    copy_cache(home.folder, "0001", fill)
    pools = {"store_location_code": "X-01", "quantity": 9 + windows, "stock_pool_1": 9, "stock_pool_2": windows}
    stock = service_rows.stock("P3", 9 + windows) | {"store_locations": [pools]}
    with closing(open_cache(home.folder, writer=True)) as connection:
        CacheWriter(connection, "0001").write_stock([stock])
    with at(home, restricted_codes=()) as session:
        scan = Scanner(session)
        open_job(session, scan, "count")
        frame = scan("X-01", GOUDA)
        assert told(frame)[0] == ASK, said(frame)
        assert ("Gouda (Shop floor)" in said(frame)) is named, said(frame)
        assert ("(Shop floor)" in said(scan("0.5"))) is named
