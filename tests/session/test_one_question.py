"""Only the question that is shown last has answers; the one before it is shown again when the last is dropped."""

from __future__ import annotations

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.typed_numbers_dates_and_letters import quantity_prompt
from aisle.jobs.view import ASK, WRONG, DetailView, Frame, ListView, Step, msg
from aisle.session.pending_question import AFTER_REFUSED_SCAN, AskedNumber
from tests.cache import service_rows
from tests.run_length import tries
from tests.session.job_steps import WAYS, stand
from tests.session.scanner import Scanner
from tests.session.test_look_up_mid_job import begin, headers_only, way
from tests.session.test_number_answers import SHORT, number_tea
from tests.session.test_numbers_after_refused_scan import TAKING, UNKNOWN, opened, quantity, shown
from tests.session.test_numbers_after_refused_scan import home as store
from tests.session.test_one_letter_locations import write_locations
from tests.session.test_session import BARCODES, at, home, say, told

__all__ = ["headers_only", "home", "store", "way"]


def choices(frame: Frame) -> tuple[object, ...]:
    """The letters that the page offers, with what they say."""
    view = frame.view
    assert isinstance(view, Step | DetailView | ListView)
    return view.choice_letters, view.choices, view.prompt


@pytest.mark.every_case
@pytest.mark.parametrize("yes", ["y", "AISLE:Y", "]C1AISLE:Y"])
@pytest.mark.parametrize("job", TAKING)
def test_yes_is_the_number_that_is_asked_about_last(store: StoreFolder, job: str, yes: str) -> None:
    number_tea(store, SHORT)
    with at(store, user="U1") as session:
        opened(session, job, *TAKING[job])
        asked = say(session, SHORT)
        before = quantity(session)
        assert told(asked)[0] == ASK
        say(session, UNKNOWN)
        frame = say(session, "5")
        assert told(frame) == (ASK, AFTER_REFUSED_SCAN)
        assert choices(frame)[0] == "yx"
        assert choices(frame) != choices(asked)
        assert quantity(session) == before
        say(session, yes)
        assert quantity(session) == 5


@pytest.mark.parametrize("drop", ["x", "b", "u", "X", "AISLE:X"])
@pytest.mark.parametrize("job", TAKING)
def test_the_question_before_it_is_shown_again_when_it_is_dropped(store: StoreFolder, job: str, drop: str) -> None:
    number_tea(store, SHORT)
    with at(store, user="U1") as session:
        opened(session, job, *TAKING[job])
        asked = say(session, SHORT)
        before = quantity(session)
        say(session, UNKNOWN)
        say(session, "5")
        frame = say(session, drop)
        assert (frame.verdict, frame.view) == (asked.verdict, asked.view)
        assert quantity(session) == before
        assert SHORT in shown(say(session, "y"))


@pytest.mark.parametrize("job", TAKING)
def test_no_answer_in_the_read_that_asks(store: StoreFolder, job: str) -> None:
    with at(store, user="U1") as session:
        opened(session, job, *TAKING[job], UNKNOWN)
        before = quantity(session)
        frame = say(session, "5", "y")
        assert quantity(session) == before
        assert told(frame) != (ASK, AFTER_REFUSED_SCAN)


@pytest.mark.parametrize("way", WAYS, indirect=True)
def test_a_letter_of_an_older_question_answers_nothing(home: StoreFolder, way: str) -> None:
    """At every step of every job, also at questions about locations and about more than is needed."""
    with begin(home, way) as session:
        stand(home, session, way)
        older = session.page.accepts()
        say(session, UNKNOWN)
        if told(say(session, "5")) != (ASK, AFTER_REFUSED_SCAN):
            return
        jobs = session.stack.snapshot()
        for letter in older.choice_letters.replace("y", ""):
            say(session, letter)
            assert session.stack.snapshot() == jobs, letter
            assert not session.page.asked_number.text
            say(session, UNKNOWN)
            assert told(say(session, "5")) == (ASK, AFTER_REFUSED_SCAN)


QUESTIONS = [
    *((way, ()) for way in WAYS),
    ("pick.product", ("A-1",)),
    ("pick.product", ("A-1", BARCODES[1])),
    ("pick.product", ("A-1", BARCODES[1], "3")),
    ("pick.product/round", ("A-3",)),
    ("pick.product/round", ("A-3", BARCODES[1])),
]
SCANS = ("A-1", "A-2", "A-3", *BARCODES, "96385074")


@pytest.mark.every_case
@pytest.mark.parametrize(("way", "more"), QUESTIONS[:: tries(2, 1)], indirect=["way"])
def test_a_scan_answers_no_question_under_the_one_about_a_number(
    home: StoreFolder, way: str, more: tuple[str, ...]
) -> None:
    """At every step of every job: the goods stay as they are, and the number can still be confirmed."""
    with begin(home, way) as session:
        stand(home, session, way)
        for scan in more:
            say(session, scan)
        asked, before = told(session.frames.build()), session.stack.snapshot()
        say(session, "ABC-12345")
        frame = say(session, "5")
        is_asked = (asked[0] == ASK and session.stack.snapshot() == before) or session.page.accepts().choices
        if told(frame) != (ASK, AFTER_REFUSED_SCAN) or not is_asked:
            assert not more or way == "pick.product/round"
            return
        jobs = session.stack.snapshot()
        for scan in SCANS:
            assert told(say(session, scan)) == (WRONG, "count.answer_first"), scan
            assert session.stack.snapshot() == jobs, scan
        assert choices(session.frames.build()) == choices(frame)
        answer = say(session, "y")
        too_many = (WRONG, "hand_over.too_many")  # the number is taken, and more than the two goods there
        assert session.stack.snapshot() != jobs or told(answer) == too_many


@pytest.mark.parametrize("job", TAKING)
def test_the_last_question_stands_after_a_kill(store: StoreFolder, job: str) -> None:
    with at(store, user="U1") as session:
        opened(session, job, *TAKING[job], UNKNOWN)
        before = say(session, "5")
        assert told(before) == (ASK, AFTER_REFUSED_SCAN)
    with at(store, user="U1") as session:
        after = session.frames.build()
        assert (after.verdict, choices(after)) == (before.verdict, choices(before))
        say(session, "y")
        assert quantity(session) == 5


@pytest.mark.parametrize("job", TAKING)
def test_a_number_under_the_last_question_is_not_said_to_be_dropped(store: StoreFolder, job: str) -> None:
    number_tea(store, SHORT)
    with at(store, user="U1") as session:
        opened(session, job, *TAKING[job])
        scan = Scanner(session)
        asked = scan.send(f"{SHORT}\r", 0.003)
        assert told(asked)[0] == ASK
        scan.rest(6.0)
        say(session, UNKNOWN)
        assert told(say(session, "5")) == (ASK, AFTER_REFUSED_SCAN)
        frame = say(session, "x")
        assert (frame.verdict, frame.view) == (asked.verdict, asked.view)
        say(session, UNKNOWN)
        say(session, "5")
        assert f"ignored: {SHORT}" in shown(say(session, "y"))
        assert quantity(session) == 5


@pytest.mark.parametrize("job", TAKING)
def test_yes_to_a_quantity_is_asked_once(store: StoreFolder, job: str) -> None:
    """Although a location has this number."""
    write_locations(store.root, "5")
    with at(store, user="U1") as session:
        opened(session, job, *TAKING[job], UNKNOWN)
        assert told(say(session, "5")) == (ASK, AFTER_REFUSED_SCAN)
        say(session, "y")
        assert quantity(session) == 5


@pytest.mark.parametrize("job", TAKING)
def test_a_refused_scan_says_that_the_keyboard_is_wrong(store: StoreFolder, job: str) -> None:
    cache = CacheWriter(open_cache(store.folder, writer=True), "0001")
    cache.write_products([service_rows.product("P9", "Clip", "ABC-1234")])
    number_tea(store, SHORT)
    with at(store, user="U1") as session:
        opened(session, job, *TAKING[job], SHORT, UNKNOWN)
        assert told(say(session, "5")) == (ASK, AFTER_REFUSED_SCAN)
        frame = Scanner(session).send("ABC)1234\r", 0.003)
        assert told(frame) == (WRONG, "session.keyboard_layout")
        assert "scan Clip" in shown(frame)


@pytest.mark.parametrize("is_total", [True, False])
def test_the_question_about_a_number_keeps_what_a_number_does_on_its_page(is_total: bool) -> None:
    page = Step(name="", title=msg("home.receive"), prompt=quantity_prompt("r", is_total=is_total))
    shown = AskedNumber("0.6").show_on(page)
    assert isinstance(shown, Step)
    assert shown.prompt == quantity_prompt("x", is_total=is_total)
