"""Codes that stand on several products: none of them is taken for another."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from aisle.barcode_numbers import issn_13_of
from aisle.cache.writer import CacheWriter, open_cache
from aisle.courier.pull import full_sync_stages_and_progress
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import Start
from aisle.jobs.view import ASK, GOOD, INFO, Frame, Step
from aisle.session.session import Session
from aisle.tui.message_text import MessageWriter
from tests.cache import service_rows
from tests.copied_databases import copy_cache
from tests.session.test_count import at, say, told

CODE, OTHER = "4006381333931", "5901234123457"


def fill(cache: CacheWriter) -> None:
    """A home with a place of two products, one of which has the code of a third that lies nowhere near."""
    cache.write_products(
        [
            service_rows.product("P1", "Apple juice", CODE),
            service_rows.product("P2", "Pear juice", OTHER),
            service_rows.product("P3", "Cherry juice", CODE),
            service_rows.product("P4", "Same name", "96385074"),
            service_rows.product("P5", "Same name", "96385074"),
            service_rows.product("P6", "Grape juice", "96385074"),
        ]
    )
    places = {"P2": {"A-1": 5}, "P3": {"A-1": 7}, "P1": {"A-2": 4}}
    cache.write_stock([service_rows.stock(number, 9, places=where) for number, where in places.items()])
    cache.write_locations([service_rows.location("A-1", 1), service_rows.location("A-2", 2)])
    lines = [{"line_number": 1, "product_number": "P3", "quantity": 4}]
    cache.write_deliveries([{"order_number": "D-1", "store_number": "0001", "order_lines": lines}], read_began=1.0)


@pytest.fixture
def home(aisle_home: Path) -> StoreFolder:
    """A home with a place of two products, one of which has the code of a third that lies nowhere near."""
    home = StoreFolder(aisle_home, "embedded", "0001")
    copy_cache(home.folder, "0001", fill)
    return home


def opened(session: Session, job: str, *scans: str, **args: Any) -> Frame:
    """What is on the screen with this job on top, after these scans."""
    session.event_runner.open(Start(job, args))
    return say(session, *scans)


def choices(frame: Frame) -> list[str]:
    """What the numbers mean."""
    assert isinstance(frame.view, Step)
    return [str(dict(choice.args)["text"]) for choice in frame.view.choices]


def test_shared_code_means_product_at_current_location(home: StoreFolder) -> None:
    with at(home) as session:
        assert told(opened(session, "count", "A-1", CODE)) == (GOOD, "count.counted_of")
        item = session.stack.top.state.current_line
        assert (item.product, item.counted) == ("P3", Decimal(1))
    with at(home) as session:
        opened(session, "move", "A-1", f"3*{CODE}")
        assert [(part.product, part.quantity) for part in session.stack.top.state.in_hand] == [("P3", Decimal(3))]


def test_the_product_of_a_code_that_a_delivery_brings_is_received(home: StoreFolder) -> None:
    with at(home) as session:
        assert told(opened(session, "receive", "D-1", CODE))[0] == GOOD
        assert session.stack.top.state.in_hand.product == "P3"


@pytest.mark.parametrize(("choice", "product"), [("1", "P1"), ("2", "P3")])
def test_which_product_is_meant_is_asked_where_nothing_tells(home: StoreFolder, choice: str, product: str) -> None:
    with at(home) as session:
        frame = opened(session, "adjust", f"2*{CODE}")
        assert told(frame) == (ASK, "session.ambiguous")
        assert choices(frame) == ["2 x Apple juice", "2 x Cherry juice"]
        say(session, choice)
        state = session.stack.top.state
        assert (state.line.product, state.quantity) == (product, 2)
    with at(home) as session:
        assert told(opened(session, "look_up", CODE)) == (ASK, "session.ambiguous")
        say(session, choice)
        assert session.stack.top.state.product_number == product


def test_a_look_at_one_of_several_products_is_asked_for_as_well(home: StoreFolder) -> None:
    with at(home) as session:
        assert told(opened(session, "count", "A-2", f"?{CODE}")) == (ASK, "session.ambiguous")
        say(session, "2")
        assert (session.stack.top.job.name, session.stack.top.state.product_number) == ("look_up", "P3")
        assert told(say(session, CODE)) == (GOOD, "count.counted_of")
        assert session.stack.top.state.current_line.product == "P1", "it lies where somebody counts"


def test_more_than_two_equal_names_are_reported_by_number(home: StoreFolder) -> None:
    with at(home) as session:
        frame = opened(session, "adjust", "96385074")
        assert told(frame) == (ASK, "session.ambiguous_of")
        assert choices(frame) == ["Same name P4", "Same name P5", "Grape juice P6"]
        say(session, "3")
        assert session.stack.top.state.line.product == "P6"


def test_a_scan_of_which_nobody_says_what_it_was_is_said_not_to_be_taken(home: StoreFolder) -> None:
    with at(home) as session:
        opened(session, "count", "A-2", OTHER)
        assert told(opened(session, "adjust", CODE)) == (ASK, "session.ambiguous")
        frame = say(session, CODE)
        assert told(frame) == (ASK, "session.number_not_applied")
        frame = say(session, OTHER)
        assert told(frame) == (ASK, "session.number_not_applied"), "where it was is asked"
        assert frame.verdict
        assert f"1 ignored: {CODE}: Apple juice or Cherry juice?" in MessageWriter().write(frame.verdict.text)
        assert session.stack.top.state.line.product == "P2"
        say(session, "b", CODE)
        assert told(say(session, "1"))[1] != "session.not_applied_first"
        say(session, "b", CODE)
        assert told(say(session, "b")) == (INFO, "session.dropped")


@pytest.mark.parametrize("count", [2, 9, 10, 22, 23, 24, 60])
@pytest.mark.parametrize("job", ["count", "adjust", "look_up"])
def test_every_product_of_a_code_can_be_chosen_however_many_there_are(home: StoreFolder, job: str, count: int) -> None:
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_products([service_rows.product(f"Q{n:02}", f"Twin {n:02}", "4000000000006") for n in range(count)])
    scans = ("A-1", OTHER, "4000000000006") if job == "count" else ("4000000000006",)
    with at(home) as session:
        frame = opened(session, job, *scans)
        seen: list[str] = []
        while True:
            keys = getattr(frame.view, "choice_letters", "")
            more = "session.more_choices" in [choice.id for choice in frame.view.choices]
            shown = [str(dict(choice.args)["text"]) for choice in frame.view.choices if choice.id == "raw"]
            assert len(frame.view.choices) <= 9
            assert not keys or len(keys) == len(frame.view.choices)
            assert not (more and keys) or keys[-1] == "m"
            if not more or shown[0] in seen:
                seen += [] if more else shown
                break
            seen += shown
            frame = say(session, "m" if keys else str(len(frame.view.choices)))
            assert told(frame)[0] == ASK
        assert seen == [f"Twin {n:02}" for n in range(count)]
        at_last = session.page.question.scans[session.page.question.first]
        first = keys[0] if keys else "1"
        if count > 9:
            assert told(say(session, "m" if keys else "9", first))[1] == "input.scan_not_accepted", "not seen yet"
            at_last = session.page.question.scans[session.page.question.first]
        say(session, first)
        top = session.stack.top.state
        assert at_last.matches[0].key in str(top)


def test_more_guesses_than_are_asked_about_at_once_are_no_unknown_code(home: StoreFolder) -> None:
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    full_sync_stages_and_progress.save_progress(cache, full_sync_stages_and_progress.SyncProgress(completed=1.0))
    cache.write_products(
        [service_rows.product(f"M{n}", f"Month {n}", code) for n, code in enumerate(list(issn_13_of("12345679"))[:30])]
    )
    with at(home) as session:
        frame = opened(session, "adjust", "1234-5679")
        assert told(frame) == (ASK, "session.ambiguous_of")
        assert len(session.page.question.scans) == 30
