"""A typed number that a scanned label replaces while it is in question is told as not taken, once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from string import ascii_lowercase

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import Start
from aisle.jobs.view import ASK, Msg, Verdict, msg
from aisle.scan.grammar_and_meaning_types import PRODUCT, Match, Scan
from aisle.session.input_batch import RefusedInputs
from aisle.session.session import Session
from tests.cache import service_rows
from tests.session.scanner import Scanner
from tests.session.test_number_answers import number_tea
from tests.session.test_numbers_after_refused_scan import TAKING, TEA, opened, shown
from tests.session.test_numbers_after_refused_scan import home as store
from tests.session.test_session import at, say

__all__ = ["store"]


@pytest.mark.every_case
@pytest.mark.parametrize("job", TAKING)
def test_a_typed_number_replaced_by_a_scanned_one_is_told(store: StoreFolder, job: str) -> None:
    number_tea(store, "17")
    with at(store, user="U1") as session:
        opened(session, job, *TAKING[job])
        say(session, "17")
        assert session.page.accepts().is_number_asked
        frame = Scanner(session).send("19\r", 0.03)
        assert frame.verdict is not None
        assert (str(frame.verdict.text).count("'why'"), "17" in shown(frame)) == (1, True), frame.verdict


@contextmanager
def number_asked(store: StoreFolder, job: str) -> Iterator[Session]:
    """A session that asks in this job whether 17 is a quantity or tea."""
    number_tea(store, "17")
    order = service_rows.order("4101", service_rows.line(1, "P1", 20, preferred_location_code="A-1"))
    cache = CacheWriter(open_cache(store.folder, writer=True), "0001")
    cache.write_orders([order], lines_known=True, read_began=1.0)
    with at(store, user="U1") as session:
        session.event_runner.open(Start(job, {"order_number": "4101"} if job == "pick" else {}))
        say(session, *TAKING.get(job, (TEA,)))
        say(session, "17")
        assert session.page.accepts().is_number_asked
        yield session


COMMANDS = sorted(set(ascii_lowercase) - {"x", "y"})
"""Letters that do not answer whether a number is a quantity or a product."""


@pytest.mark.parametrize("letter", COMMANDS)
@pytest.mark.parametrize("job", [*TAKING, "pick"])
def test_a_command_at_the_question_about_a_number_does_not_drop_it_unsaid(
    store: StoreFolder, job: str, letter: str
) -> None:
    with number_asked(store, job) as session:
        frame = say(session, letter)
        if session.stack.top.job.name == "help":
            frame = say(session, "b")
        is_told = "17" in shown(frame) or "session.dropped" in str(frame.verdict)
        assert is_told or session.page.accepts().is_number_asked, frame.verdict


def test_a_shortage_says_that_the_number_typed_before_is_ignored(store: StoreFolder) -> None:
    with number_asked(store, "pick") as session:
        frame = say(session, "s")
        assert frame.verdict
        assert frame.verdict.text.id == "shortage.opened"
        assert frame.verdict.detail == msg("session.input_not_applied", count=1, why=msg("number", value=Decimal(17)))


def test_goods_joined_to_a_question_are_taken() -> None:
    scan = Scan((Match(PRODUCT, "P1"),))
    where = [msg("pick.taken_where", label="Beans", quantity=Decimal(n)) for n in (1, 2, 3)]
    report: Msg = msg("session.number_not_applied", why=msg("number", value=Decimal(3)), said=where[1])
    refused = RefusedInputs()
    for text in (where[0], report, where[2]):
        refused = refused.add(scan, Verdict(ASK, text), 2)
    assert refused.lines == 0
