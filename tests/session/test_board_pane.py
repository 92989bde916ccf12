"""The pane beside the order board shows the order in focus, on wide screens only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import DetailView, Frame, ListView
from aisle.scan.inputs_and_line_grouping import CHIP_KEY, ROW_KEY, SORT_KEY, Key
from aisle.session.session import Session, open_session
from aisle.settings.setting_definitions import Settings
from aisle.tui.layout.screen import layout_screen
from aisle.tui.layout.styled_lines_and_page_parts import plain_lines
from tests.session.test_order_board import home, opened, says  # noqa: F401


@pytest.fixture
def board(home: StoreFolder) -> Iterator[Session]:  # noqa: F811
    with closing(open_session(home, Settings(terminal="desk", user="U1"))) as session:
        session.start()
        session.resize(200, 50)
        opened(session, "home.orders")
        yield session


def pane(frame: Frame) -> DetailView | None:
    assert isinstance(frame.view, ListView)
    return frame.view.pane


def title(frame: Frame) -> str:
    shown = pane(frame)
    assert shown is not None
    return str(dict(shown.title.args)["order"])


def press(session: Session, *keys: str) -> Frame:
    for key in keys:
        frame = session.take([Key(key)], 0.0)
    return frame


def test_the_pane_follows_the_cursor(board: Session) -> None:
    assert title(press(board, "down")) == "4101"
    assert title(press(board, "down")) == "4102"
    frame = press(board, "end")
    assert title(frame) == "4103"
    shown = pane(frame)
    assert shown is not None
    assert len(shown.blocks[0].rows) == 2
    text = "\n".join(plain_lines(layout_screen(frame, 200, 50)))
    assert "Oat drink" in text
    assert "Bread" in text


def test_without_a_cursor_the_pane_has_the_first_order(board: Session) -> None:
    assert title(board.resize(160, 40)) == "4101"


def test_a_click_selects_a_row_of_the_window_alone(board: Session) -> None:
    frame = press(board, f"{ROW_KEY}2")
    assert isinstance(frame.view, ListView)
    assert frame.view.cursor == 2
    assert title(frame) == "4103"
    assert press(board, f"{ROW_KEY}7").view == frame.view


def test_an_action_on_the_order_shows_in_the_pane(board: Session) -> None:
    press(board, "down")
    frame = says(board, "d", "4")
    assert "order.priority" in [line.text.id for line in pane(frame).lines]  # type: ignore[union-attr]


def test_a_message_ends_with_the_page_that_it_is_about(board: Session) -> None:
    press(board, "down")
    assert says(board, "d", "4").verdict is not None
    assert press(board, "down").verdict is not None
    assert press(board, "enter").verdict is None


def test_a_small_desk_has_no_pane_and_gets_it_when_it_is_large(board: Session) -> None:
    assert pane(board.resize(80, 50)) is None
    assert pane(board.resize(120, 37)) is None
    assert pane(board.resize(200, 29)) is None
    assert title(board.resize(140, 30)) == "4101"


@pytest.mark.parametrize("size", [(100, 38), (120, 40), (139, 50)])
def test_under_140_columns_the_pane_stands_below_the_list(board: Session, size: tuple[int, int]) -> None:
    board.resize(*size)
    frame = press(board, "down", "down")
    assert title(frame) == "4102"
    lines = plain_lines(layout_screen(frame, *size))
    rows = [next(at for at, line in enumerate(lines) if text in line) for text in ("4103", "─" * 60, "f Filter")]
    assert rows == sorted(rows), lines
    assert any("4102" in line for line in lines[rows[1] : rows[2]])


def test_an_empty_list_has_no_pane(board: Session) -> None:
    assert pane(says(board, "nobody of this name")) is None


def chips(frame: Frame) -> list[tuple[str, int | None, bool]]:
    assert isinstance(frame.view, ListView)
    return [(chip.text.id, chip.total, chip.is_active) for chip in frame.view.chips]


def test_chips_count_the_orders_of_each_view_and_a_click_chooses_one(board: Session) -> None:
    frame = press(board, "down")
    assert chips(frame)[0] == ("orders.state_active", 3, True)
    at = [name for name, _, _ in chips(frame)].index("orders.state_rejected")
    assert chips(frame)[at] == ("orders.state_rejected", 0, False)
    frame = press(board, f"{CHIP_KEY}{at}")
    assert chips(frame)[at] == ("orders.state_rejected", 0, True)
    assert isinstance(frame.view, ListView)
    assert frame.view.rows == ()
    press(board, f"{CHIP_KEY}0", "down")
    frame = says(board, "d", "3", "1", "1")
    assert chips(frame)[at] == ("orders.state_rejected", 1, False), "what waits for the service counts too"
    text = "\n".join(plain_lines(layout_screen(frame, 200, 50)))
    assert "rejected 1" in text


def test_a_heading_sorts_the_board_and_turns_the_order(board: Session) -> None:
    for sort, is_descending in (("number", False), ("number", True), ("customer", False)):
        frame = press(board, f"{SORT_KEY}{sort}")
        assert isinstance(frame.view, ListView)
        assert frame.view.sorting == (sort, is_descending)
    assert press(board, f"{SORT_KEY}nothing").view == frame.view
