"""A row of a desk's list that changes while it is on the screen is marked for three seconds, by a sign."""

from __future__ import annotations

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import CHANGED_S, Frame, ListView
from aisle.scan.inputs_and_line_grouping import SORT_KEY, TAB_KEY
from aisle.session.session import Session
from aisle.tui.layout.screen import layout_screen
from aisle.tui.layout.styled_lines_and_page_parts import plain_lines
from tests.cache import service_rows
from tests.session.test_order_board import home  # noqa: F401
from tests.session.test_tab_bar_with_counts import desk, press  # noqa: F401

pytestmark = pytest.mark.usefixtures("home")


def changed(frame: Frame | None) -> list[str]:
    assert frame is not None
    assert isinstance(frame.view, ListView)
    return [row.key for row in frame.view.rows if row.is_changed]


def test_a_changed_row_is_marked_for_three_seconds(home: StoreFolder, desk: Session) -> None:  # noqa: F811
    now = 1_795_000_000.0
    desk.context.clock = lambda: now
    assert changed(press(desk, f"{TAB_KEY}orders")) == []
    lines = (service_rows.line(1, "P1", 3, 2), service_rows.line(2, "P2", 3, 1))
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_orders([service_rows.order("4102", *lines)], lines_known=True, read_began=9.0)
    frame = desk.poll()
    assert frame is not None
    assert changed(frame) == ["4102"]
    assert [line.split()[:2] for line in rows_of(frame) if line.startswith("2~")] == [["2~", "4102"]]
    now += CHANGED_S - 0.1
    assert changed(desk.poll()) == ["4102"]
    now += 0.1
    assert changed(desk.poll()) == []


def rows_of(frame: Frame) -> list[str]:
    return [line.strip() for line in plain_lines(layout_screen(frame, 120, 40))]


def test_another_order_of_the_rows_and_another_page_change_no_row(desk: Session) -> None:  # noqa: F811
    press(desk, f"{TAB_KEY}orders")
    for key in (f"{SORT_KEY}number", f"{SORT_KEY}number", "down", "end"):
        assert changed(press(desk, key)) == []
    assert changed(press(desk, f"{TAB_KEY}log")) == []
    assert changed(press(desk, f"{TAB_KEY}orders")) == []


def test_an_age_that_grows_is_no_change(desk: Session) -> None:  # noqa: F811
    now = 1_795_000_000.0
    desk.context.clock = lambda: now
    press(desk, f"{TAB_KEY}orders")
    now += 3600
    press(desk, f"{TAB_KEY}orders")
    assert changed(desk.poll()) == []
