"""A number or letter at the pace of a scanner chooses nothing on any page: it may be a part of a code, or a label."""

from __future__ import annotations

from pathlib import Path

import pytest

from aisle.jobs.view import WRONG
from aisle.scan.grammar_and_meaning_types import Choice
from aisle.session.session import Session
from tests.session.every_page import PAGES, on_page
from tests.session.scanner import Scanner
from tests.session.test_session import told

CHOOSING = ("orders", "order", "exceptions", "stores", "products", "clearance", "today", "palette", "home", "sign_in")
"""Some of the pages where numbers choose."""

NUMBERS = ("1", "2", "3", "9", "12", "١")


def numbers_that_choose(session: Session, pace: float) -> list[str]:
    """The numbers that mean a choice on the page, each sent by a scanner: none does anything."""
    scan = Scanner(session)
    tried = []
    for number in NUMBERS:
        scan.rest(6.0)  # nothing that came before has to do with it
        session.start_batch()
        if not isinstance(session.resolver.resolve(number), Choice):
            continue
        tried.append(number)
        before, stack = session.frames.build().view, [(each.job_id, each.state) for each in session.stack.jobs]
        frame = scan.send(f"{number}\r", pace)
        assert told(frame) == (WRONG, "input.type_choice")
        assert frame.view == before
        assert [(each.job_id, each.state) for each in session.stack.jobs] == stack
    return tried


@pytest.mark.parametrize("pace", [0.0, 0.003, 0.012])
@pytest.mark.parametrize("page", PAGES)
def test_no_number_at_scanner_pace_chooses_on_any_page(aisle_home: Path, page: str, pace: float) -> None:
    with on_page(aisle_home, page) as session:
        waiting = len(session.store.operations.unfinished())
        assert numbers_that_choose(session, pace) or page not in CHOOSING
        assert len(session.store.operations.unfinished()) == waiting


@pytest.mark.parametrize("pace", [0.0, 0.003, 0.012])
@pytest.mark.parametrize("number", ["02", "001", "12", "120"])
def test_no_number_at_scanner_pace_is_a_quantity_where_a_reason_is_asked(
    aisle_home: Path, number: str, pace: float
) -> None:
    with on_page(aisle_home, "adjust.reason") as session:
        scan = Scanner(session)
        scan.rest(6.0)
        assert told(scan.send(f"{number}\r", pace)) == (WRONG, "input.type_choice")
        assert session.frames.build().view.name == "adjust.reason"


def letters_that_choose(session: Session, pace: float) -> list[str]:
    """The letters of the choices on the page, each sent by a scanner: none answers, and none confirms."""
    scan, accepts = Scanner(session), session.stack.top.job.accepts(session.stack.top.state)
    for letter in accepts.choice_letters:
        scan.rest(6.0)
        before, stack = session.frames.build().view, [(each.job_id, each.state) for each in session.stack.jobs]
        frame = scan.send(f"{letter}\r", pace)
        assert told(frame) == (WRONG, "input.scan_not_accepted" if accepts.typed_only else "input.type_choice")
        assert frame.view == before
        assert [(each.job_id, each.state) for each in session.stack.jobs] == stack
    return list(accepts.choice_letters)


LETTERED = (
    "pick.product/asked", "pick.return", "batch/claimed", "count.missing", "count.leave", "adjust.quantity/over",
    "move.take/over", "move.where", "move.leave", "receive.leave", "store_product.confirm",
)  # fmt: skip
"""Pages whose choices are letters."""


@pytest.mark.parametrize("pace", [0.0, 0.003, 0.012])
@pytest.mark.parametrize("page", PAGES)
def test_no_letter_at_scanner_pace_answers_on_any_page(aisle_home: Path, page: str, pace: float) -> None:
    with on_page(aisle_home, page) as session:
        waiting = len(session.store.operations.unfinished())
        assert letters_that_choose(session, pace) or page not in LETTERED
        assert len(session.store.operations.unfinished()) == waiting


@pytest.mark.parametrize("page", ["count.missing", "count.leave", "move.leave", "store_product.confirm"])
def test_the_same_letter_typed_answers(aisle_home: Path, page: str) -> None:
    with on_page(aisle_home, page) as session:
        scan, before = Scanner(session), session.frames.build().view
        scan.rest(6.0)
        letter = session.stack.top.job.accepts(session.stack.top.state).choice_letters[0]
        scan.send(f"{letter}\r", 0.003)
        assert scan.send(f"{letter}\r", 0.12).view != before
