"""A session that ends in order keeps its pages: the next one at the terminal stands there, with cursor and question.

A confirmation stands after a kill too, on a handheld as at a desk.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import SignIn, Start
from aisle.jobs.view import Frame, ListView
from aisle.scan.inputs_and_line_grouping import TAB_KEY, Key, OpenLine
from aisle.session.keep_and_restore_pages import KeptPages
from aisle.session.session import Session, open_session
from aisle.settings.setting_definitions import Settings
from tests.session.test_order_board import home, says  # noqa: F401

HANDHELD = (20, 16)


@contextmanager
def window(
    home: StoreFolder,  # noqa: F811
    terminal: str = "web-U1",
    size: tuple[int, int] = (120, 40),
) -> Iterator[Session]:
    person = SignIn("U1", "Anna")
    with closing(open_session(home, Settings(terminal=terminal), person=person)) as session:
        session.start(size)
        yield session


def press(session: Session, *keys: str) -> Frame:
    for key in keys:
        frame = session.take([Key(key)], 0.0)
    return frame


def cursor(frame: Frame) -> int:
    assert isinstance(frame.view, ListView)
    return frame.view.cursor


def test_a_list_keeps_its_sort_and_its_cursor(home: StoreFolder) -> None:  # noqa: F811
    with window(home) as session:
        press(session, f"{TAB_KEY}orders")
        before = says(session, "s")
        before = press(session, "down", "down")
        assert isinstance(before.view, ListView)
        assert cursor(before) == 1
    for _ in range(2):
        with window(home) as session:
            after = session.frames.build()
            assert isinstance(after.view, ListView)
            assert after.view._replace(pane=None) == before.view._replace(pane=None)
            assert after.address == before.address


def test_a_question_above_a_list_stays_open(home: StoreFolder) -> None:  # noqa: F811
    with window(home) as session:
        press(session, f"{TAB_KEY}orders", "down", "down")
        asked = says(session, "j")
        assert asked.view.name == "order_actions.reason"
    with window(home) as session:
        after = session.frames.build()
        assert after.view == asked.view
        assert cursor(says(session, "b")) == 1


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
def test_each_window_finds_its_own_page(home: StoreFolder, order: tuple[int, int]) -> None:  # noqa: F811
    pages = {1: "orders", 2: "log"}
    with window(home, "web-1") as first, window(home, "web-2") as second:
        press(first, f"{TAB_KEY}orders")
        press(second, f"{TAB_KEY}log")
    for number in order:
        with window(home, f"web-{number}") as session:
            assert session.frames.build().view.name == pages[number]


def test_a_page_follows_its_person_to_a_terminal_without_one(home: StoreFolder) -> None:  # noqa: F811
    with window(home, "web-1") as session:
        press(session, f"{TAB_KEY}log")
    with window(home, "web-2") as session:
        assert session.frames.build().view.name == "log"


def test_half_a_search_is_not_kept(home: StoreFolder) -> None:  # noqa: F811
    with window(home) as session:
        press(session, f"{TAB_KEY}orders")
        session.take([OpenLine("ben")], 0.0)
    with window(home) as session:
        frame = session.frames.build()
        assert isinstance(frame.view, ListView)
        assert frame.view.total == 3


@pytest.mark.parametrize("answer", ["", "b", "2"])
def test_a_question_stands_after_a_kill_until_it_is_answered(
    home: StoreFolder,  # noqa: F811
    answer: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with window(home) as session:
        press(session, f"{TAB_KEY}orders", "down", "down")
        says(session, "j")
        asked = says(session, "1")
        assert asked.view.name == "order_actions.confirm"
        if answer:
            says(session, answer)
            says(session, "b")
        monkeypatch.setattr(session.kept_pages, "keep", lambda: None)  # a killed program keeps nothing at its end
    with window(home) as session:
        after = session.frames.build()
        assert (after.view == asked.view) is not bool(answer)


@pytest.mark.parametrize("begin", [Start("order_actions", {"orders": ["4101"], "kind": "hand_over"})])
@pytest.mark.parametrize("answer", ["1", "2", "b"])
def test_a_question_stands_on_a_killed_handheld_until_it_is_answered(
    home: StoreFolder,  # noqa: F811
    begin: Start,
    answer: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At its terminal only, however often the program is killed."""
    monkeypatch.setattr(KeptPages, "keep", lambda _: None)
    with window(home, "hh-1", HANDHELD) as session:
        session.start_batch()
        session.event_runner.open(begin)
        session.event_runner.commit()
        asked = says(session, "xyz").view
        assert asked.name == "order_actions.confirm"
    with window(home, "hh-2", HANDHELD) as session:
        assert session.frames.build().view.name == "home"
    for text in ("xyz", answer):
        with window(home, "hh-1", HANDHELD) as session:
            assert session.frames.build().view == asked
            says(session, text)
    with window(home, "hh-1", HANDHELD) as session:
        assert session.frames.build().view.name == "home"
