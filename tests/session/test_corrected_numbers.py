"""A number after a refused scan is confirmed only by itself, by `y`, or by a scan that is taken; so is a choice."""

from __future__ import annotations

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import ASK
from tests.cache import service_rows
from tests.session.test_numbers_after_refused_scan import RICE, SALT, TAKING, TEA, UNKNOWN, opened, quantity, shown
from tests.session.test_numbers_after_refused_scan import home as store
from tests.session.test_session import at, say, told

home = store

ASKED = (ASK, "input.number_after_refused_scan")
ASKED_CHOICE = (ASK, "input.choice_after_refused_scan")


@pytest.mark.parametrize("between", [(), ("x",)], ids=["at once", "after x"])
@pytest.mark.parametrize("confirm", ["13", "y"])
@pytest.mark.parametrize("job", TAKING)
def test_another_number_is_asked_about_too(home: StoreFolder, job: str, confirm: str, between: tuple[str, ...]) -> None:
    with at(home, user="U1") as session:
        opened(session, job, *TAKING[job])
        before = quantity(session)
        say(session, UNKNOWN)
        for number in ("12", "13", "12", "13"):
            assert told(say(session, number)) == ASKED
            assert quantity(session) == before
            for text in between if confirm == "13" and number == "12" else ():
                say(session, text)
        assert told(say(session, confirm)) != ASKED
        assert shown(session.frames.build()).count("13")
        if job not in ("adjust", "receive"):  # one goes on, the other asks about more than announced
            assert quantity(session) == 13
            say(session, "14")
            assert quantity(session) == 14, "further numbers are free"


@pytest.mark.parametrize("job", TAKING)
def test_a_scan_that_is_taken_ends_it(home: StoreFolder, job: str) -> None:
    with at(home, user="U1") as session:
        opened(session, job, *TAKING[job], UNKNOWN, "5", TEA)
        assert told(say(session, "4")) != ASKED
        assert quantity(session) == 4


def test_another_number_is_asked_about_after_a_restart(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        opened(session, "count", *TAKING["count"], UNKNOWN, "12")
    with at(home, user="U1") as session:
        assert told(say(session, "13")) == ASKED
    with at(home, user="U1") as session:
        assert told(say(session, "13")) != ASKED
        assert quantity(session) == 13


@pytest.fixture
def pools(home: StoreFolder) -> StoreFolder:
    """The home with salt at two places, and two pools of stock."""
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_stores([{"storeNo": "0001", "storeStockPool1": "Shop", "storeStockPool2": "Backroom"}])
    cache.write_stock([service_rows.stock("P2", 9, places={"A-1": 5, "A-2": 4})])
    return home


QUESTIONS = {
    "reason": ("adjust", ("A-1", TEA, "2"), "adjust.reason"),
    "location of a loss": ("adjust", (SALT,), "adjust.location"),
    "location of a move": ("move", (SALT,), "move.from"),
    "pool": ("count", ("A-1", "k"), "count.pool"),
}
"""Numbered questions of jobs, with the scans to them."""


@pytest.mark.parametrize("refused", [UNKNOWN, RICE])
@pytest.mark.parametrize("confirm", ["2", "y"])
@pytest.mark.parametrize("name", QUESTIONS)
def test_the_number_of_a_choice_is_asked_about(pools: StoreFolder, name: str, confirm: str, refused: str) -> None:
    job, scans, page = QUESTIONS[name]
    with at(pools, user="U1") as session:
        frame = opened(session, job, *scans)
        assert frame.view.name == page
        assert told(say(session, refused))[0] == "wrong"
        for number in ("1", "2"):
            frame = say(session, number)
            assert told(frame) == ASKED_CHOICE
            assert frame.view.name == page
        frame = say(session, confirm)
        assert told(frame) != ASKED_CHOICE
        assert frame.view.name != page, "the choice is taken"


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_number_of_a_choice_is_taken_without_a_refused_scan(pools: StoreFolder, name: str) -> None:
    job, scans, page = QUESTIONS[name]
    with at(pools, user="U1") as session:
        opened(session, job, *scans)
        assert say(session, "2").view.name != page


def test_the_number_of_a_choice_is_asked_about_after_a_restart(pools: StoreFolder) -> None:
    job, scans, page = QUESTIONS["reason"]
    with at(pools, user="U1") as session:
        opened(session, job, *scans, UNKNOWN, "2")
    with at(pools, user="U1") as session:
        assert session.frames.build().view.name == page
        assert told(say(session, "3")) == ASKED_CHOICE
        assert say(session, "y").view.name != page


@pytest.mark.parametrize("letter", ["x", "b"])
def test_a_dropped_choice_shows_the_question_again(pools: StoreFolder, letter: str) -> None:
    job, scans, page = QUESTIONS["reason"]
    with at(pools, user="U1") as session:
        opened(session, job, *scans, UNKNOWN, "2")
        assert say(session, letter).view.name == page
        assert told(say(session, "3")) == ASKED_CHOICE
