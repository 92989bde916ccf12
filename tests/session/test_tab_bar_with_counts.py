"""Tabs of a desk: on every page, with counts, and open work stays below the page that a tab opens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from aisle.cache.queries import QueryResult
from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import Args, Json, SignIn, Start
from aisle.jobs.view import Frame, msg
from aisle.scan.inputs_and_line_grouping import TAB_KEY, Key
from aisle.session.session import Session, open_session
from aisle.session.tab_bar_with_counts import TABS
from aisle.settings.setting_definitions import Settings
from aisle.tui.layout.screen import layout_screen
from aisle.tui.layout.styled_lines_and_page_parts import plain_lines
from tests.cache import service_rows
from tests.session.test_order_board import home, says  # noqa: F401


@pytest.fixture
def desk(home: StoreFolder) -> Iterator[Session]:  # noqa: F811
    with closing(open_session(home, Settings(terminal="desk", user="U1"))) as session:
        session.start()
        session.resize(120, 40)
        yield session


def press(session: Session, key: str) -> Frame:
    return session.take([Key(key)], 0.0)


def jobs(session: Session) -> list[str]:
    return [stacked.job.name for stacked in session.stack.jobs]


def active(frame: Frame) -> str:
    return next((tab.name for tab in frame.tabs if tab.is_active), "")


@pytest.mark.parametrize("name", TABS)
def test_a_tab_opens_its_page_from_home_and_from_another_tab(desk: Session, name: str) -> None:
    for first in ("", "orders", "log"):
        if first:
            press(desk, TAB_KEY + first)
        frame = press(desk, TAB_KEY + name)
        assert jobs(desk)[-1] == name
        assert active(frame) == name
        assert frame.verdict is None


@pytest.mark.parametrize(
    ("tabs", "ways_back"),
    [
        (("today", "log"), ("today", "home")),
        (("today", "log", "today"), ("home",)),
        (("orders", "products", "orders", "log"), ("orders", "home")),
    ],
)
def test_back_leads_from_a_tab_to_the_page_that_it_was_opened_from(
    desk: Session, tabs: tuple[str, ...], ways_back: tuple[str, ...]
) -> None:
    for name in tabs:
        press(desk, TAB_KEY + name)
    for name in ways_back:
        assert says(desk, "b").view.name.partition(".")[0] == name


def test_back_leads_from_a_tab_to_a_record_and_to_no_help_page(desk: Session) -> None:
    press(desk, f"{TAB_KEY}orders")
    says(desk, "1")
    says(desk, "h")
    press(desk, f"{TAB_KEY}log")
    assert jobs(desk) == ["home", "orders", "order", "log"]
    assert says(desk, "b").view.name == "order"


@pytest.mark.parametrize(("key", "name"), [("f6", "today"), ("f7", "orders"), ("f11", "log")])
def test_function_keys_open_tabs_and_are_shown(desk: Session, key: str, name: str) -> None:
    frame = press(desk, key)
    assert (jobs(desk), active(frame)) == (["home", name], name)
    assert "F6 Today … F11 Log" in plain_lines(layout_screen(frame, 120, 40))[-1]


def test_tabs_count_what_they_open(desk: Session) -> None:
    frame = press(desk, f"{TAB_KEY}orders")
    assert {tab.name: tab.total for tab in frame.tabs}["orders"] == 3
    lines = plain_lines(layout_screen(frame, 120, 40))
    assert "Orders 3" in lines[0]
    assert "Deliveries  " in lines[0], "a tab shows no zero"
    assert lines[1].strip().startswith("Orders:")


def shown_count(session: Session, name: str) -> int | None:
    return {tab.name: tab.total for tab in session.frames.build().tabs}[name]


def test_exceptions_are_counted_once_the_log_is_read_and_then_at_once(
    desk: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    unread, link = ["logs"], desk.store.notifications.link
    monkeypatch.setattr(desk.store.notifications, "link", lambda: link()._replace(unread_lists=tuple(unread)))
    press(desk, f"{TAB_KEY}today")
    assert shown_count(desk, "exceptions") is None
    unread.clear()
    assert shown_count(desk, "exceptions") == 7


def test_a_tab_counts_a_change_with_the_list_of_its_page(desk: Session, home: StoreFolder) -> None:  # noqa: F811
    press(desk, f"{TAB_KEY}orders")
    CacheWriter(open_cache(home.folder, writer=True), "0001").write_orders(
        [service_rows.order("4109", service_rows.line(1, "P1", 3))], lines_known=True, read_began=2.0
    )
    desk.poll()
    assert shown_count(desk, "orders") == 4


def test_keys_that_write_nothing_do_not_count_the_tabs_again(desk: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    press(desk, f"{TAB_KEY}orders")
    asked: list[str] = []
    query = desk.store.reader.query

    def note(name: str, args: Args) -> QueryResult[Json]:
        asked.append(name)
        return query(name, args)

    monkeypatch.setattr(desk.store.reader, "query", note)
    for key in ("down", "up", "down"):
        press(desk, key)
    assert "exceptions" not in asked
    desk.context.at += 11  # orders become late as time passes
    desk.frames.build()
    assert "exceptions" in asked


def test_open_work_stays_below_a_tab_and_goes_on_after_it(desk: Session) -> None:
    says(desk, "4")
    assert jobs(desk) == ["home", "count"]
    press(desk, f"{TAB_KEY}orders")
    assert jobs(desk) == ["home", "count", "orders"]
    assert says(desk, "b").view.name.startswith("count")


def test_a_tab_closes_the_pages_of_a_record(desk: Session) -> None:
    press(desk, f"{TAB_KEY}orders")
    says(desk, "1")
    assert jobs(desk) == ["home", "orders", "order"]
    assert active(desk.frames.build()) == "orders"
    press(desk, f"{TAB_KEY}orders")
    assert jobs(desk) == ["home", "orders"]


def test_keys_go_to_the_next_and_the_previous_tab(desk: Session) -> None:
    names = list(TABS)
    assert [active(press(desk, "ctrl+right")) for _ in names] == names
    assert active(press(desk, "ctrl+right")) == names[0]
    assert active(press(desk, "ctrl+left")) == names[-1]


def test_a_handheld_and_a_terminal_without_a_person_have_no_tabs(home: StoreFolder) -> None:  # noqa: F811
    with closing(open_session(home, Settings(terminal="desk", user="U1"))) as session:
        session.start()
        for size in ((40, 20), (99, 40), (120, 29)):
            assert session.resize(*size).tabs == ()
            assert press(session, f"{TAB_KEY}orders").view.name == "home"
    with closing(open_session(home, Settings(terminal="desk2"))) as session:
        session.start()
        assert session.resize(120, 40).tabs == ()


def test_a_scan_after_a_tab_opens_its_record(desk: Session) -> None:
    press(desk, f"{TAB_KEY}orders")
    assert says(desk, "4102").view.name == "order"


@pytest.mark.parametrize(
    ("role", "name"), [("supervisor", "today"), ("admin", "today"), ("staff", "home"), ("", "home")]
)
def test_a_supervisor_who_signs_in_at_a_desk_begins_with_today(
    home: StoreFolder,  # noqa: F811
    role: str,
    name: str,
) -> None:
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_people([{**service_rows.person("U9", "Fred"), "role": role}])
    for size, page in (((120, 40), name), ((40, 20), "home")):
        with closing(open_session(home, Settings(terminal=f"desk{size}"))) as session:
            session.start()
            session.resize(*size)
            frame = says(session, "U9")
            assert (frame.view.name, frame.verdict and frame.verdict.text.id) == (page, "sign_in.done")


def test_a_browser_opens_on_today_at_a_desk_and_at_home_on_a_phone(home: StoreFolder) -> None:  # noqa: F811
    for size, name in (((120, 40), "today"), ((40, 20), "home")):
        with closing(open_session(home, Settings(terminal="web"), person=SignIn("U1", "Anna"))) as session:
            session.start()
            assert session.resize(*size).view.name == name
            assert session.resize(121, 41).view.name == name, "only at the start"


def count(session: Session, **of: str) -> None:
    """Open a count as a page does."""
    session.event_runner.apply(session.stack.open(Start("count", of), session.context.current()))


def test_a_tab_names_the_open_work_and_none_where_there_is_none(desk: Session) -> None:
    says(desk, "4")
    assert press(desk, f"{TAB_KEY}orders").verdict is None, "nothing is counted yet"
    count(desk, location_code="A-1")
    verdict = press(desk, f"{TAB_KEY}log").verdict
    assert verdict is not None
    assert verdict.text == msg("tab.work_stays", what=msg("count.title_location", place="A-1"))


@pytest.mark.parametrize("of", [{"location_code": "A-1"}, {"product_number": "P1"}])
def test_a_second_count_of_the_same_continues_the_open_one(desk: Session, of: dict[str, str]) -> None:
    count(desk, **of)
    says(desk, "P1", "3")
    before = jobs(desk)
    press(desk, f"{TAB_KEY}exceptions")
    count(desk, **of)
    frame = desk.frames.build()
    assert (jobs(desk), frame.view.name) == (before, "count.product")
    assert frame.verdict is not None
    assert frame.verdict.text.id == "session.work_continued"
