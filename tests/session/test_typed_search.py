"""Products found by what is typed into a session: a letter is a search, pages are turned, and none is told falsely."""

from __future__ import annotations

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import ASK, INFO, WRONG, Frame, ListView
from aisle.scan.inputs_and_line_grouping import OpenLine
from aisle.session.session import Session
from tests.cache import service_rows
from tests.session.test_session import at, home, say, told

__all__ = ["home"]


@pytest.fixture(autouse=True)
def shelves(home: StoreFolder) -> None:
    """More teas than a page has."""
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_products(
        [
            *(service_rows.product(f"T{n:03d}", f"Tea tin {n}") for n in range(140)),
            service_rows.product("W", "Wax extra"),
        ]
    )


def listed(frame: Frame) -> ListView:
    """The list on the page."""
    assert isinstance(frame.view, ListView)
    return frame.view


def typed(session: Session, text: str) -> Frame:
    """What is on the line, not ended with Enter."""
    return session.take([OpenLine(text)], 0.0)


@pytest.mark.parametrize("way", [("2",), ("7", "9", "2")])
def test_a_letter_is_a_search_whose_pages_are_turned(home: StoreFolder, way: tuple[str, ...]) -> None:
    with at(home, user="U1") as session:
        session.resize(40, 20)
        say(session, *way)
        while_typing = listed(typed(session, "t"))
        assert (while_typing.first, while_typing.total, while_typing.prompt.id) == (0, 100, "look_up.prompt_typed")
        kept = listed(say(session, "t"))
        assert (kept.rows, kept.prompt.id) == (while_typing.rows, "look_up.prompt_list")
        on = listed(say(session, "n"))
        assert on.first == len(kept.rows)
        assert on.rows[0] != kept.rows[0]
        assert listed(say(session, "p")).rows == kept.rows


def test_digits_that_are_no_number_of_a_row_are_a_search(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        session.resize(40, 20)
        say(session, "2", "tin")
        assert told(say(session, "38")) == (INFO, "list.found")
        assert {"T038", "T138"} <= {row.key for row in listed(session.frames.build()).rows}


@pytest.mark.parametrize("way", [("2",), ("7", "9", "2")])
def test_digits_that_are_typed_on_keep_their_list(home: StoreFolder, way: tuple[str, ...]) -> None:
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_products([service_rows.product(f"95200017{n:05d}", f"Nail {n}") for n in range(15)])
    with at(home, user="U1") as session:
        session.resize(40, 20)
        say(session, *way)
        totals = [listed(typed(session, "9520001700003"[:length])).total for length in range(4, 14)]
        assert totals == [15] * 8 + [10, 1]
        assert listed(typed(session, "")).total != 1


def test_a_letter_at_home_finds_and_opens_nothing_by_itself(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        assert told(say(session, "k")) == (ASK, "home.found_picked")
        assert session.frames.build().view.name == "home"
        assert say(session, "x").view.name == "look_up.product"


def put(home: StoreFolder, first: int, *names: str) -> None:
    """So many products more as there are names."""
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_products([service_rows.product(f"Z{first + n}", name) for n, name in enumerate(names)])


def test_what_has_three_short_words_is_found_among_what_has_two_of_them(home: StoreFolder) -> None:
    put(home, 1000, *["Cd ef", "Ab cd", "Ab ef"] * 120, *["Ab cd ef"] * 3)
    with at(home, user="U1") as session:
        assert told(say(session, "2", "ab cd ef")) == (INFO, "list.found")
        view = listed(session.frames.build())
        assert (view.total, view.may_have_more) == (3, False)


def test_a_letter_is_looked_for_in_what_has_the_long_and_the_short_words(home: StoreFolder) -> None:
    put(home, 1000, *["Tea lemon"] * 20, *["Quinoa"] * 120, *["Tea aqua cl"] * 3)
    with at(home, user="U1") as session:
        assert told(say(session, "2", "tea q cl")) == (INFO, "list.found")
        view = listed(session.frames.build())
        assert (view.total, view.may_have_more) == (3, False)


def test_what_goes_on_in_another_script_is_not_passed_over(home: StoreFolder) -> None:
    put(home, 1000, *["Cd茶 ef"] * 3, "Cd ef")
    with at(home, user="U1") as session:
        assert told(say(session, "2", "cd ef")) == (INFO, "list.found_more")
        assert listed(session.frames.build()).name == "look_up.list"


@pytest.mark.parametrize("way", [("2",), ("7", "9", "2")])
def test_a_hit_that_may_not_be_the_only_one_is_listed_and_not_opened(home: StoreFolder, way: tuple[str, ...]) -> None:
    put(home, 1000, *["Mix"] * 120, "Tea xo", *["Tea maxi"] * 3)
    with at(home, user="U1") as session:
        say(session, *way, "tea x")
        view = listed(session.frames.build())
        assert (view.total, view.may_have_more) == (1, True)


@pytest.mark.parametrize("way", [("2",), ("7", "9", "2")])
def test_a_slip_leaves_the_list_as_it_is(home: StoreFolder, way: tuple[str, ...]) -> None:
    put(home, 1000, "Mixed soap", "Mixed salt")
    with at(home, user="U1") as session:
        say(session, *way, "mixed")
        before = listed(session.frames.build())
        assert before.total == 2
        for slip, why in (("3", "input.no_choice_back"), ("n", "input.no_page"), ("P", "input.no_page")):
            assert told(say(session, slip)) == (WRONG, why)
            assert listed(session.frames.build()).rows == before.rows


@pytest.mark.parametrize("text", ["tea x", "tea z x"])
@pytest.mark.parametrize("way", [(), ("2",)])
def test_what_was_not_looked_for_everywhere_is_not_said_to_be_nowhere(
    home: StoreFolder, text: str, way: tuple[str, ...]
) -> None:
    with at(home, user="U1") as session:
        assert told(say(session, *way, text)) == (WRONG, "count.unknown")
    put(home, 1000, *["Mixz"] * 120)
    with at(home, user="U1") as session:
        frame = say(session, *way, text)
        assert told(frame) == (WRONG, "look_up.not_yet_found")
        assert told(say(session, "xylophone")) == (WRONG, "count.unknown")
        if way:
            assert listed(typed(session, text)).empty.id == "look_up.not_yet_found"
            assert listed(typed(session, "xylo")).empty.id == "look_up.no_match"
