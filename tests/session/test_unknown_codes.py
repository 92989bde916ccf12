"""A code that is none of the store, at scanner pace, books nothing and answers nothing, at any step of any job;
nor does a known code to which the rest of its scan comes late."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs import COUNTS_SCANS
from aisle.scan import grammar
from aisle.scan.grammar_and_meaning_types import Accepts
from aisle.session.session import Session
from tests.session.job_steps import WAYS, stand, step_of
from tests.session.multi_line_codes import single
from tests.session.scanner import Scanner
from tests.session.test_look_up_mid_job import begin, headers_only, way
from tests.session.test_multi_line_scans import PACES, quantities_of
from tests.session.test_session import BARCODES, home, told

__all__ = ["headers_only", "home", "way"]

CODES = (*BARCODES, "A-1", "A-2", "4101", "4102", "AISLE:DONE")
FUZZ = [400, pytest.param(200_000, marks=pytest.mark.full)]
"""Random codes at all steps together."""
TURNS = 4
FIELDS = ("quantity", "counted", "in_hand", "orders", "history", "plan", "location", "finished", "reason", "question")
"""What a job has been told; all else of its state is what it shows."""
even, odd = (
    pytest.mark.parametrize(
        "way",
        [pytest.param(way, marks=() if n % 2 == turn else pytest.mark.full) for n, way in enumerate(WAYS)],
        indirect=True,
    )
    for turn in (0, 1)
)
"""By default every second step; the others have the other test, and all of them that of codes of several lines."""


def said(session: Session) -> Any:
    """What has been said at each job that books; a tote may have any label."""
    levels = [level for level in session.stack.jobs if level.job.name in (*COUNTS_SCANS, "batch", "shortage")]
    return [(level.job.name, [_told(level.state, field) for field in FIELDS]) for level in levels]


def _told(state: Any, field: str) -> Any:
    value = getattr(state, field, None)
    return [getattr(order, "order", order) for order in value] if field == "orders" and value else value


def knows(session: Session, text: str) -> bool:
    """Whether the store knows a code in any of its forms, or it is a printed command, whole or damaged into another."""
    if text.strip().upper() in (*grammar.PRINTED_COMMANDS, *grammar.PRINTED_LETTERS):
        return True
    found = grammar.parse(text.strip(" "), Accepts(), ())
    keys = grammar.look_up_keys(found) if grammar.needs_look_up(found) else ()
    return bool(session.store.reader.find(keys))


def _unknown(dice: Random, session: Session) -> Iterator[str]:
    while True:
        text = single(dice, CODES)
        if text.strip() and not text.startswith("?") and not knows(session, text):
            yield text


@contextmanager
def forgetful(home: StoreFolder, way: str) -> Iterator[tuple[Session, Scanner]]:
    """A session at a step, which it may have stood at before; whatever it writes from then on is an error."""
    with begin(home, way) as session:
        if session.frames.build().view.name != step_of(way):
            stand(home, session, way)

        def forget() -> bool:
            assert not session.store.unit_of_work.has_writes
            session.store.unit_of_work.discard()
            return True

        session.event_runner.commit = forget  # type: ignore[method-assign]
        yield session, Scanner(session)


@pytest.mark.every_case
@pytest.mark.parametrize("count", FUZZ)
@even
def test_a_code_that_is_none_of_the_store_books_and_answers_nothing(home: StoreFolder, way: str, count: int) -> None:
    """A page that searches shows what it found; the next codes come at that step again, a few times."""
    dice, left = Random(f"{way} {count}"), count // len(WAYS)
    for turn in range(TURNS):
        with forgetful(home, way) as (session, scanner):
            texts = _unknown(dice, session)
            while left > 0 and (turn == TURNS - 1 or session.frames.build().view.name == step_of(way)):
                left -= 1
                before, text, pace = said(session), next(texts), dice.choice((0.0, 0.0, *PACES))
                frame = scanner.send(f"{text}\r", pace)
                assert said(session) == before, (text, pace, told(frame))
                scanner.rest(6.0)
        if not left:
            return


LATE = (("5", "7"), ("Muster", "12", "y"), ("y",), ("d",), ("0",), ("12",), ("LOT 7", "2026-11-27"))


@pytest.mark.every_case
@pytest.mark.parametrize("turn", [0, *(pytest.param(turn, marks=pytest.mark.full) for turn in range(1, 40))])
@odd
def test_a_known_code_whose_scan_goes_on_late_books_nothing(home: StoreFolder, way: str, turn: int) -> None:
    """Its further lines come within a tenth of a second after each other."""
    dice = Random(f"{way} {turn}")
    with begin(home, way) as session:
        stand(home, session, way)
        scanner, before = Scanner(session), counted(session)
        sent_before = booked(session)
        lines = (dice.choice(BARCODES), *dice.choice(LATE))
        for line in lines:
            scanner.write(f"{line}\n", dice.choice((0.0, 0.001, 0.003)))
            scanner.rest(dice.choice((0.05, 0.07, 0.09)))
        frame = scanner.rest(2.0)
        assert counted(session) == before, (lines, told(frame))
        assert booked(session) == sent_before, (lines, told(frame))


def counted(session: Session) -> Any:
    """The quantities of the job below all others that books."""
    for level in session.stack.jobs:
        if level.job.name in COUNTS_SCANS:
            return quantities_of(level.state)
    return None


def booked(session: Session) -> dict[str, Decimal]:
    """What the entries that wait add up to: one that was taken back leaves nothing."""
    total: dict[str, Decimal] = {}
    for operation in session.store.operations.unfinished():
        body = operation.body if isinstance(operation.body, dict) else {}  # one in doubt may have any
        for entry in body.get("storeproductlog", ()):
            product = entry["product_number"]
            total[product] = total.get(product, Decimal(0)) + Decimal(entry.get("quantity", 0))
    return {product: quantity for product, quantity in total.items() if quantity}
