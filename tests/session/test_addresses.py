"""Addresses in a browser: each page has one, it leads back there, and open work stays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import SignIn
from aisle.jobs.view import Frame
from aisle.scan.inputs_and_line_grouping import ADDRESS_KEY, CHIP_KEY, TAB_KEY
from aisle.session.session import Session, SingleUserSession, open_session
from aisle.settings.setting_definitions import Settings
from tests.session.test_order_board import home, says  # noqa: F401
from tests.session.test_tab_bar_with_counts import jobs, press


@pytest.fixture
def desk(home: StoreFolder) -> Iterator[Session]:  # noqa: F811
    with closing(open_session(home, Settings(terminal="desk", user="U1"))) as session:
        session.start()
        session.resize(120, 40)
        yield session


def go(session: Session, address: str) -> Frame:
    return press(session, f"{ADDRESS_KEY}{address}")


@pytest.mark.parametrize(
    ("address", "opened"),
    [
        ("/", []),
        ("/today", ["today"]),
        ("/orders", ["orders"]),
        ("/orders?state=to_pick&due=late", ["orders"]),
        ("/orders/100", ["orders", "order"]),
        ("/exceptions", ["exceptions"]),
        ("/exceptions?kind=stuck", ["exceptions"]),
        ("/deliveries/7003", ["deliveries"]),
        ("/products/P1", ["products", "look_up"]),
        ("/log", ["log"]),
    ],
)
def test_an_address_opens_its_page_which_has_that_address(desk: Session, address: str, opened: list[str]) -> None:
    assert go(desk, address).address == address
    assert jobs(desk) == ["home", *opened]
    assert go(desk, "/log").address == "/log"
    assert go(desk, address).address == address
    assert jobs(desk) == ["home", *opened]


def test_expiry_checks_have_an_address(desk: Session) -> None:
    assert go(desk, "/expiry").address == "/expiry"
    assert jobs(desk) == ["home", "expiry"]


@pytest.mark.parametrize("wrong", ["/settings", "orders", "//elsewhere.test", "/orders\x1b[2J", ""])
def test_what_is_no_address_changes_nothing(desk: Session, wrong: str) -> None:
    go(desk, "/orders")
    assert go(desk, wrong).address == "/orders"


@pytest.mark.parametrize("address", ["/orders?due=nonsense&x=y", "/exceptions?kind=nonsense"])
def test_filters_that_are_none_are_left_out(desk: Session, address: str) -> None:
    assert go(desk, address).address == address.partition("?")[0]


def test_the_way_back_finds_the_list_as_it_was_left(desk: Session) -> None:
    go(desk, "/orders")
    filtered = press(desk, f"{CHIP_KEY}1").address
    assert filtered == "/orders?state=to_pick&due=late"
    press(desk, f"{CHIP_KEY}0")
    press(desk, "down")
    before = desk.page.top.state
    assert desk.addresses.current.page == "orders"
    says(desk, before.rows[0].number)
    assert jobs(desk) == ["home", "orders", "order"]
    go(desk, "/orders")
    assert jobs(desk) == ["home", "orders"]
    assert desk.page.top.state.cursor == before.cursor


def test_open_work_is_closed_by_no_address(desk: Session) -> None:
    says(desk, "4")
    assert jobs(desk) == ["home", "count"]
    assert desk.frames.build().address == "/"
    go(desk, "/today")
    frame = go(desk, "/orders")
    assert jobs(desk) == ["home", "count", "orders"]
    assert go(desk, "/").address == "/orders"
    assert frame.address == "/orders"


def test_a_browser_begins_at_its_address(home: StoreFolder) -> None:  # noqa: F811
    for user, address, opened in (
        ("U1", "/orders/100", ["orders", "order"]),
        ("U2", "", ["today"]),
        ("U3", "/", ["today"]),
        ("U3", "", ["today", "exceptions"]),
    ):
        with closing(open_session(home, Settings(terminal=f"web-{user}"), person=SignIn(user, "Ann"))) as session:
            assert isinstance(session, SingleUserSession)
            session.first_address = address
            session.start()
            session.resize(120, 40)
            assert jobs(session) == ["home", *opened]
            press(session, f"{TAB_KEY}exceptions")
            session.resize(100, 30)
            assert jobs(session)[-1] == "exceptions"
