"""Labels of one character on locations: sent by a scanner they answer nothing, however late their Enter comes."""

from __future__ import annotations

import string
from collections.abc import Iterable
from pathlib import Path

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import WRONG
from aisle.scan.grammar_and_meaning_types import Command
from aisle.session.session import Session
from tests.cache import service_rows
from tests.session.every_page import PAGES, on_page
from tests.session.scanner import Scanner
from tests.session.test_asked_quantity import shown
from tests.session.test_codes_of_several_kinds import PLACE, is_taken, write_labels
from tests.session.test_numbers_after_refused_scan import opened
from tests.session.test_scanned_choices import LETTERED
from tests.session.test_session import told

PACES = (0.015, 0.025, 0.06, 0.09)
"""Seconds between the label and its Enter: of a scanner, through a busy host or a slow link."""

TYPED = 0.12
REFUSED = "input.location_or_typed"


def write_locations(folder: Path, labels: Iterable[str] = string.ascii_uppercase) -> None:
    """Give the store a location for each of these characters."""
    cache = CacheWriter(open_cache(StoreFolder(folder, "embedded", "0001").folder, writer=True), "0001")
    cache.write_locations([service_rows.location(label, 60) for label in labels])


def stack_of(session: Session) -> list[tuple[str, object]]:
    """The open jobs with their states."""
    return [(each.job_id, each.state) for each in session.stack.jobs]


@pytest.mark.parametrize("pace", [0.025, 0.09])
@pytest.mark.parametrize("page", LETTERED)
def test_no_label_answers_on_any_page(aisle_home: Path, page: str, pace: float) -> None:
    with on_page(aisle_home, page) as session:
        write_locations(aisle_home)
        write_labels(aisle_home)
        scan, before, stack = Scanner(session), session.frames.build().view, stack_of(session)
        letters, waiting = session.page.accepts().choice_letters, len(session.store.operations.unfinished())
        session.start_batch()
        is_location_taken = is_taken(session, f"]C0{PLACE}")
        for label in letters if is_location_taken else letters + letters.upper():
            scan.rest(6.0)
            frame = scan.send(f"{label}\r", pace)
            assert told(frame) == (WRONG, REFUSED), (label, shown(frame))
            assert len(session.store.operations.unfinished()) == waiting
            assert (stack_of(session), frame.view) == (stack, before)


@pytest.mark.parametrize("page", [page for page in PAGES if page not in LETTERED])
def test_no_label_is_a_command_on_any_page(aisle_home: Path, page: str) -> None:
    with on_page(aisle_home, page) as session:
        write_locations(aisle_home)
        accepts = session.page.accepts()
        if session.stack.top.job.raw_input or accepts.text:
            return
        scan, stack = Scanner(session), stack_of(session)
        for letter in dict.fromkeys(f"b{accepts.command_letters}"):
            scan.rest(6.0)
            session.start_batch()
            if letter in "hn" or not isinstance(session.resolver.resolve(letter), Command):
                continue
            waiting = len(session.store.operations.unfinished())
            frame = scan.send(f"{letter}\r", 0.06)
            assert told(frame) == (WRONG, REFUSED), (letter, told(frame), shown(frame))
            assert [job for job, _ in stack_of(session)] == [job for job, _ in stack]
            assert len(session.store.operations.unfinished()) == waiting


@pytest.mark.parametrize("pace", [0.0, *PACES])
@pytest.mark.parametrize("label", ["B", "C", "K", "N", "Y", "5"])
@pytest.mark.parametrize("job", ["move", "count", "adjust", "home"])
def test_a_page_that_takes_a_location_takes_its_label(aisle_home: Path, job: str, label: str, pace: float) -> None:
    with on_page(aisle_home, "home") as session:
        write_locations(aisle_home, "BCKNY5")
        if job != "home":
            opened(session, job)
        scan = Scanner(session)
        scan.rest(6.0)
        frame = scan.send(f"{label}\r", pace)
        assert told(frame)[0] != WRONG, shown(frame)
        assert label in shown(frame)
        assert frame.view.name in ("locations.location", "move.take", "count.product", "adjust.product")


@pytest.mark.parametrize("page", ["count.missing", "count.leave", "move.leave", "move.take/over"])
def test_an_answer_is_typed_or_repeated(aisle_home: Path, page: str) -> None:
    for paces in ((TYPED,), (0.06, 0.06), (0.06, TYPED)):
        folder = aisle_home / str(len(paces)) / str(paces[-1])
        with on_page(folder, page) as session:
            write_locations(folder)
            scan, before = Scanner(session), stack_of(session)
            letter = session.page.accepts().choice_letters[0]
            for pace in paces:
                assert stack_of(session) == before
                scan.rest(6.0)
                scan.send(f"{letter}\r", pace)
            assert stack_of(session) != before


def test_a_label_that_is_repeated_does_not_answer(aisle_home: Path) -> None:
    with on_page(aisle_home, "move.leave") as session:
        write_locations(aisle_home)
        scan, before = Scanner(session), stack_of(session)
        letter = session.page.accepts().choice_letters[0].upper()
        for _ in range(3):
            scan.rest(6.0)
            assert told(scan.send(f"{letter}\r", 0.06))[0] == WRONG
        assert stack_of(session) == before


@pytest.mark.parametrize("pace", [0.025, 0.06])
@pytest.mark.parametrize("page", ["count.missing", "count.leave", "move.leave"])
def test_a_store_without_such_labels_takes_a_fast_answer(aisle_home: Path, page: str, pace: float) -> None:
    with on_page(aisle_home, page) as session:
        scan, before = Scanner(session), stack_of(session)
        scan.rest(6.0)
        scan.send(f"{session.page.accepts().choice_letters[0]}\r", pace)
        assert stack_of(session) != before
