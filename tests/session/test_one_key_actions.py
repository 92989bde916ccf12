"""Letters that act without Enter at a desk, marks by key, and a search that begins with a slash."""

from __future__ import annotations

from pathlib import Path

import pytest

from aisle.jobs.view import DetailView, Frame, ListView, Step
from aisle.scan.inputs_and_line_grouping import ROW_KEY, TAB_KEY, OpenLine, typed_line
from aisle.session.session import Session
from tests.session.every_page import on_page
from tests.session.test_order_board import home, says  # noqa: F401
from tests.session.test_tab_bar_with_counts import desk, press  # noqa: F401

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def board(desk: Session) -> Session:  # noqa: F811
    press(desk, f"{TAB_KEY}orders")
    return desk


def marked(frame: Frame) -> list[str]:
    assert isinstance(frame.view, ListView)
    return [row.key for row in frame.view.rows if row.is_marked]


def test_one_key_letters_are_those_of_a_supervisors_page_at_a_desk(board: Session) -> None:
    assert set(" bhfvmdcljio") <= set(board.frames.build().one_key_letters)
    assert board.resize(80, 24).one_key_letters == ""
    assert board.resize(120, 40).one_key_letters
    assert press(board, f"{TAB_KEY}products").one_key_letters == "", "words search there"
    says(board, "b", "b")
    assert board.frames.build().one_key_letters == "", "home looks words up"


def test_a_page_that_asks_for_words_takes_letters_as_words(board: Session) -> None:
    press(board, "down")
    frame = says(board, "j")
    assert frame.view.name == "order_actions.reason"
    assert frame.one_key_letters == ""


def test_a_blank_marks_and_a_shifted_arrow_marks_a_range(board: Session) -> None:
    press(board, "down")
    assert marked(press(board, "mark")) == ["4101"]
    assert marked(press(board, "mark")) == []
    assert marked(press(board, "shift+down")) == ["4101", "4102"]
    frame = press(board, "shift+down")
    assert marked(frame) == ["4101", "4102", "4103"]
    assert isinstance(frame.view, ListView)
    assert frame.view.cursor == 2
    assert marked(press(board, "mark")) == ["4101", "4102"]
    assert marked(press(board, "shift+up")) == ["4101", "4102", "4103"]


@pytest.mark.parametrize("letter", "li")
def test_a_letter_alone_changes_no_order_without_a_question(board: Session, letter: str) -> None:
    press(board, "down")
    frame = says(board, letter)
    assert frame.view.name == "order_actions.confirm", "words that begin with it are typed without a slash, too"
    assert says(board, "2").view.name == "orders"


def test_without_a_cursor_a_letter_is_for_the_order_that_the_pane_shows(board: Session) -> None:
    frame = says(board, "j")
    assert frame.view.name == "order_actions.reason"
    assert isinstance(frame.view, Step)
    assert dict(frame.view.lines[0].text.args)["order"] == "4101"


def test_three_orders_are_rejected_in_three_entries(board: Session) -> None:
    press(board, "down")
    for key in ("shift+down", "shift+down"):
        press(board, key)
    says(board, "j")
    says(board, "1")
    frame = says(board, "1")
    assert frame.view.name == "order_actions.results"
    assert isinstance(frame.view, ListView)
    assert [row.cells[1].id for row in frame.view.rows] == ["operation_state.queued"] * 3


@pytest.mark.parametrize(("typed", "chosen"), [("1-3", [0, 1, 2]), ("1,3", [0, 2]), ("2, 3", [1, 2]), ("2-9", [])])
def test_several_row_numbers_mark_these_rows(board: Session, typed: str, chosen: list[int]) -> None:
    frame = says(board, "m")
    assert isinstance(frame.view, ListView)
    listed = [row.key for row in frame.view.rows]
    for at in range(1, len(typed)):
        board.take([OpenLine(typed[:at])], 7.0)
    frame = board.take([typed_line(typed, 9.0)], 9.0)
    assert isinstance(frame.view, ListView)
    assert [row.key for row in frame.view.rows] == listed
    assert marked(frame) == [listed[at] for at in chosen]


def test_order_page_has_the_letters_of_the_board(board: Session) -> None:
    frame = says(board, "1")
    assert frame.view.name == "order"
    assert set("cji") <= set(frame.one_key_letters)
    assert says(board, "j").view.name == "order_actions.reason"


@pytest.mark.parametrize("page", ["store_product.confirm", "count.leave", "count.summary"])
def test_a_letter_answers_at_once_at_a_desk_only(aisle_home: Path, page: str) -> None:
    with on_page(aisle_home, page) as session:
        assert "y" in session.page.accepts().choice_letters
        assert "y" not in session.resize(20, 16).one_key_letters
        assert {"y", "b"} <= set(session.resize(120, 40).one_key_letters)


@pytest.mark.parametrize("key", ["f8", f"{TAB_KEY}orders", "ctrl+k"])
def test_a_letter_not_entered_is_not_carried_to_another_page(desk: Session, key: str) -> None:  # noqa: F811
    desk.take([OpenLine("y")], 5.0)
    frame = press(desk, key)
    assert (frame.typed, frame.verdict, frame.dropped_length) == ("", None, 1)
    assert desk.take([OpenLine("y4")], 6.0).typed == "4"
    assert desk.take([OpenLine("")], 7.0).dropped_length == 0


@pytest.mark.parametrize(("page", "heading"), [("orders", "help.letters_at_once"), ("products", "help.letters")])
def test_help_says_whether_letters_act_at_once(desk: Session, page: str, heading: str) -> None:  # noqa: F811
    press(desk, TAB_KEY + page)
    view = press(desk, "f1").view
    assert isinstance(view, DetailView)
    assert heading in {block.title.id for block in view.blocks}


def test_words_after_a_slash_are_a_search(board: Session) -> None:
    frame = board.take([typed_line("/4102", 5.0)], 5.0)
    assert isinstance(frame.view, ListView)
    assert [row.key for row in frame.view.rows] == ["4102"]
    says(board, "b")
    frame = board.take([typed_line("/no such order", 9.0)], 9.0)
    assert isinstance(frame.view, ListView)
    assert frame.view.rows == ()
    assert frame.view.empty.id == "orders.no_match"
    assert dict(frame.view.empty.args)["text"] == "no such order"


def test_a_mark_where_nothing_can_be_marked_changes_nothing(desk: Session) -> None:  # noqa: F811
    for name in ("today", "exceptions", "deliveries", "log", "products"):
        before = press(desk, f"{TAB_KEY}{name}").view
        assert press(desk, "mark").view == before
        assert press(desk, "shift+down").view == before


def test_a_click_ends_the_answer_to_the_input_before(board: Session) -> None:
    says(board, "j")
    dropped = says(board, "b").verdict
    assert dropped is not None
    assert press(board, "down").verdict == dropped
    assert press(board, f"{ROW_KEY}1").verdict is None
