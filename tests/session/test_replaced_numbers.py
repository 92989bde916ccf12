"""A typed number that a scanned label replaces while it is in question is told as not taken, once."""

from __future__ import annotations

from decimal import Decimal

import pytest

from aisle.host.store_folder import StoreFolder
from aisle.jobs.view import ASK, Msg, Verdict, msg
from aisle.scan.grammar_and_meaning_types import PRODUCT, Match, Scan
from aisle.session.input_batch import RefusedInputs
from tests.session.scanner import Scanner
from tests.session.test_number_answers import number_tea
from tests.session.test_numbers_after_refused_scan import TAKING, opened, shown
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


def test_goods_joined_to_a_question_are_taken() -> None:
    scan = Scan((Match(PRODUCT, "P1"),))
    where = [msg("pick.taken_where", label="Beans", quantity=Decimal(n)) for n in (1, 2, 3)]
    report: Msg = msg("session.number_not_applied", why=msg("number", value=Decimal(3)), said=where[1])
    refused = RefusedInputs()
    for text in (where[0], report, where[2]):
        refused = refused.add(scan, Verdict(ASK, text), 2)
    assert refused.lines == 0
