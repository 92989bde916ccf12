"""A number belongs to the scan before it: after one that was not taken it is asked back, in every job that counts."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.courier.pull import full_sync_stages_and_progress
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import Start
from aisle.jobs.view import ASK, GOOD, Frame, Msg, Verdict, msg, raw
from aisle.scan.grammar_and_meaning_types import PRODUCT, Match, Scan
from aisle.scan.inputs_and_line_grouping import Key, Line
from aisle.session.input_batch import RefusedInputs
from aisle.session.session import Session
from aisle.tui.layout.screen import layout_screen
from aisle.tui.layout.styled_lines_and_page_parts import plain_lines
from aisle.tui.message_text import MessageWriter
from tests.cache import service_rows
from tests.cache.test_delivery_queries import delivery, line
from tests.copied_databases import copy_cache
from tests.session.test_session import at, say, told

TEA, SALT, RICE = "4006381333931", "5901234123457", "9780201379624"
UNKNOWN = "96385074"


def fill(cache: CacheWriter) -> None:
    """A home with two products at a place, and one that is weighed."""
    cache.write_people([service_rows.person("U1", "Anna Kovac")])
    cache.write_products(
        [
            service_rows.product("P1", "Tea", TEA),
            service_rows.product("P2", "Salt", SALT),
            service_rows.product("P3", "Rice", RICE, allow_decimal=True, base_unit_name="kg"),
        ]
    )
    places = {"P1": {"A-1": 45, "A-2": 4}, "P2": {"A-1": 5}, "P3": {"A-1": 7}}
    cache.write_stock([service_rows.stock(number, 70, places=where) for number, where in places.items()])
    cache.write_locations([service_rows.location("A-1", 1), service_rows.location("A-2", 2)])
    cache.write_deliveries([delivery("D-1", line(1, "P1", 9), line(2, "P3", 40))], 1.0)
    full_sync_stages_and_progress.save_progress(cache, full_sync_stages_and_progress.SyncProgress(completed=1.0))


@pytest.fixture
def home(aisle_home: Path) -> StoreFolder:
    """A home with two products at a place, and one that is weighed."""
    home = StoreFolder(aisle_home, "embedded", "0001")
    copy_cache(home.folder, "0001", fill)
    return home


def opened(session: Session, job: str, *scans: str) -> Frame:
    """The job on the screen, after these scans."""
    session.event_runner.open(Start(job, {}))
    frame = session.frames.build()
    for scan in scans:
        frame = say(session, scan)
    return frame


def shown(frame: Frame) -> str:
    return " ".join(" ".join(plain_lines(layout_screen(frame, 80, 24))).split())


TAKING: dict[str, tuple[str, ...]] = {
    "count": ("A-1", TEA),
    "receive": ("D-1", TEA),
    "adjust": ("A-1", TEA),
    "move": ("A-1", TEA),
}
"""To a step where the quantity of tea is open."""

REFUSED = {"unknown": UNKNOWN, "broken": "4006381333930", "words of a code": "ABC-12345", "other": SALT}
"""Scans of which nothing is taken; `other` where the step has no use for another product."""


def quantity(session: Session) -> Decimal:
    """How many of tea there are by now."""
    state = session.stack.top.state
    match session.stack.top.job.name:
        case "count":
            return Decimal(sum(each.counted or 0 for each in state.lines if each.product == "P1"))
        case "adjust":
            return Decimal(state.quantity)
        case "move":
            return Decimal(sum(part.quantity for part in state.in_hand if part.product == "P1"))
    return Decimal(state.in_hand.quantity if state.in_hand and state.in_hand.product == "P1" else 0)


@pytest.mark.parametrize("refused", [name for name in REFUSED if name != "other"])
@pytest.mark.parametrize("job", TAKING)
def test_a_number_after_a_refused_scan_is_asked_back(home: StoreFolder, job: str, refused: str) -> None:
    with at(home, user="U1") as session:
        opened(session, job, *TAKING[job])
        if job != "adjust":  # which goes on to the reason with the first number
            say(session, "3")
        before = quantity(session)
        assert before == (1 if job == "adjust" else 3)
        say(session, REFUSED[refused])
        frame = say(session, "4")
        assert told(frame) == (ASK, "input.number_after_refused_scan")
        assert "Tea" in shown(frame)
        assert quantity(session) == before
        say(session, "4")
        assert quantity(session) == 4, "typed again it is meant"


@pytest.mark.parametrize("job", ["adjust"])
def test_the_same_after_another_product(home: StoreFolder, job: str) -> None:
    with at(home, user="U1") as session:
        opened(session, job, *TAKING[job])
        say(session, SALT)
        assert told(say(session, "4")) == (ASK, "input.number_after_refused_scan")
        assert quantity(session) == 1


@pytest.mark.parametrize("job", TAKING)
def test_a_scan_that_is_taken_has_its_number(home: StoreFolder, job: str) -> None:
    with at(home, user="U1") as session:
        opened(session, job, *TAKING[job])
        say(session, UNKNOWN)
        say(session, TEA)
        assert told(say(session, "4"))[1] != "input.number_after_refused_scan"
        assert quantity(session) == 4


def test_a_place_or_letter_that_is_refused_asks_nothing_back(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        opened(session, "count", *TAKING["count"])
        say(session, "x")
        assert told(say(session, "4"))[1] == "count.counted_of"


def test_a_number_while_it_is_asked_what_is_counted_next_counts_nothing(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        opened(session, "count", TEA, "45")
        assert told(say(session, SALT)) == (ASK, "count.other_product")
        assert told(say(session, "12"))[1] == "input.choose_letter"
        assert quantity(session) == 45


def test_the_last_number_of_the_last_place_counts(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        opened(session, "count", TEA, "4", "n", "5", "6")
        items = session.stack.top.state.lines
        assert {(each.location, each.counted) for each in items} >= {("A-1", Decimal(4)), ("A-2", Decimal(6))}
        assert {each.counted for each in items if not each.location} == {None}


# Goods that are sold by measure


WEIGHED: dict[str, tuple[str, ...]] = {
    "count": ("A-1", RICE),
    "receive": ("D-1", RICE),
    "adjust": ("A-1", RICE),
    "move": ("A-1", RICE),
}


@pytest.mark.parametrize("form", [RICE, "P3", f"0{RICE}", f"]E0{RICE}"])
@pytest.mark.parametrize("job", WEIGHED)
def test_a_plain_code_of_weighed_goods_is_asked_about(home: StoreFolder, job: str, form: str) -> None:
    with at(home, user="U1") as session:
        frame = opened(session, job, *WEIGHED[job][:-1], form)
        assert told(frame) == (ASK, "session.type_in")
        assert "Rice" in shown(frame)
        say(session, "2.75")
        job_, state = session.stack.top.job, session.stack.top.state
        assert "2.75" in shown(session.frames.build()), (job_.name, state)
        say(session, form)
        say(session, "b")
        assert "2.75" in shown(session.frames.build()), "what is dropped adds nothing"


def test_a_count_of_weighed_goods_begins_without_one_kilogram(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        opened(session, "count", RICE)
        assert {each.counted for each in session.stack.top.state.lines} == {None}


@pytest.mark.parametrize(
    ("said", "answer"), [("1.5*", "count.counted_of"), ("1*", "session.type_in"), ("2*", "session.type_each_in")]
)
def test_a_whole_factor_before_weighed_goods_means_pieces(home: StoreFolder, said: str, answer: str) -> None:
    with at(home, user="U1") as session:
        assert told(opened(session, "count", "A-1", f"{said}{RICE}"))[1] == answer


# Of two things


def test_a_right_scan_after_a_question_of_two_is_shown_as_taken(home: StoreFolder) -> None:
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_products([service_rows.product("P7", "Oats", UNKNOWN), service_rows.product("P8", "Bran", UNKNOWN)])
    with at(home, user="U1") as session:
        opened(session, "count", "A-1")
        assert told(say(session, UNKNOWN)) == (ASK, "session.ambiguous")
        frame = say(session, TEA)
        assert told(frame) == (GOOD, "session.number_not_applied")
        assert quantity(session) == 1
        assert "Oats" in shown(frame)


# What is said of several scans


def test_scans_that_are_added_to_the_one_in_question_are_not_told_as_refused(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        opened(session, "receive", "D-1")
        lines = [Line(f"14*{TEA}", "cr", 0.0, 0.0, 0.0)] * 2
        assert told(session.take(lines, 0.0)) == (ASK, "receive.more_than_announced")
        assert quantity(session) in (0, 28)


@pytest.mark.parametrize(
    ("question", "is_told"),
    [
        (msg("receive.more_than_announced", label="Tea", quantity=Decimal(28), pending=Decimal(9)), False),
        (msg("receive.more_than_announced", label="Salt", quantity=Decimal(28), pending=Decimal(9)), True),
        (msg("receive.more_than_announced", label="Tea", quantity=Decimal(14), pending=Decimal(9)), True),
        (msg("receive.not_announced", label="Tea"), True),
    ],
)
def test_a_question_in_the_place_of_another_is_told_unless_it_is_the_same_for_more(
    question: Msg, is_told: bool
) -> None:
    first = msg("receive.more_than_announced", label="Tea", quantity=Decimal(14), pending=Decimal(9))
    refused = RefusedInputs()
    for text in (first, question):
        refused = refused.add(Scan((Match(PRODUCT, "P1", "Tea"),)), Verdict(ASK, text), 3)
    assert (refused.lines > 0) == is_told


@pytest.mark.parametrize("key", ["down", "up", "enter", "pagedown"])
def test_a_report_of_a_scan_that_was_not_taken_goes_with_the_next_key(home: StoreFolder, key: str) -> None:
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_products([service_rows.product("P7", "Oats", UNKNOWN), service_rows.product("P8", "Bran", UNKNOWN)])
    with at(home, user="U1") as session:
        opened(session, "count", "A-1", UNKNOWN)
        assert told(say(session, TEA)) == (GOOD, "session.number_not_applied")
        assert told(session.take([Key(key)], 0.0)) == (GOOD, "count.counted_of")


@pytest.mark.parametrize("language", ["en", "de", "nl", "fr"])
@pytest.mark.parametrize("length", range(3))
def test_no_sentence_ends_with_two_full_stops(language: str, length: int) -> None:
    writer = MessageWriter(language=language)
    unknown = msg("count.unknown", code="X1")
    for said in (unknown, msg("move.where_from", label="Tea"), msg("session.store_label"), raw("Dr.")):
        text = writer.write(msg("frame.and_more", what=said, more=msg("session.store_label")), length)
        assert not re.search(r"[.?!] ?[.,]", text), text
        assert writer.write(msg("session.store_label"), length) in text


@pytest.mark.parametrize("phase", ["location", "reason"])
def test_a_product_is_not_told_to_wait_for_itself(home: StoreFolder, phase: str) -> None:
    with at(home, user="U1") as session:
        frame = opened(session, "adjust", TEA) if phase == "location" else opened(session, "adjust", "A-1", TEA, "d")
        assert frame.view.name == f"adjust.{phase}"
        assert told(say(session, TEA))[1] == "count.answer_first"


def test_two_products_of_one_name_are_told_apart(home: StoreFolder) -> None:
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_products([service_rows.product("P7", "Tea", UNKNOWN)])
    with at(home, user="U1") as session:
        opened(session, "adjust", "A-1", TEA)
        frame = say(session, UNKNOWN)
        assert told(frame)[1] == "count.product_first"
        assert "First Tea P1, then Tea P7" in shown(frame)


@pytest.mark.parametrize(("count", "text"), [(1, "1 more order?"), (2, "2 more orders?")])
def test_one_order_is_no_orders(count: int, text: str) -> None:
    assert MessageWriter().write(msg("batch.confirm_count", count=count), 1) == text
