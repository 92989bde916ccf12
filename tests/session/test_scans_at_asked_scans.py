"""Locations scanned while the session asks about another scan: they wait for the answer, and so do goods after them."""

from __future__ import annotations

from decimal import Decimal

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import ASK, WRONG
from tests.cache import service_rows
from tests.session.scanner import Scanner
from tests.session.test_asked_quantity import HAM, TEA, begun, home, shown
from tests.session.test_numbers_after_scan import quantities
from tests.session.test_one_letter_locations import write_locations
from tests.session.test_session import at, say, told

__all__ = ["home"]


@pytest.mark.parametrize("job", ["count", "adjust", "move", "receive"])
@pytest.mark.parametrize("label", ["A-2", "Y"])
@pytest.mark.parametrize("pace", [0.003, 0.0])
def test_a_location_waits_for_the_answer_to_a_weight(home: StoreFolder, job: str, label: str, pace: float) -> None:
    """Goods after it may lie there, so that they wait as well."""
    write_locations(home.root, "Y")
    with at(home, user="U1") as session:
        begun(session, job)
        say(session, HAM)
        jobs, asked = session.stack.snapshot(), session.frames.build().view
        scan = Scanner(session)
        for text in (label, TEA, label):
            scan.rest(2.0)
            assert told(scan.send(f"{text}\r", pace)) == (WRONG, "count.answer_first"), text
            assert (session.stack.snapshot(), session.frames.build().view) == (jobs, asked)
        say(session, "1.5")
        assert quantities(session) == {"P2": Decimal("1.5")}


def test_a_location_waits_while_it_is_asked_which_goods_are_meant(home: StoreFolder) -> None:
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_products([service_rows.product(number, f"Oats {number}", "36000291452") for number in ("P7", "P8")])
    with at(home, user="U1") as session:
        begun(session, "count")
        assert told(say(session, "36000291452")) == (ASK, "session.ambiguous")
        for text in ("A-2", TEA, "A-2"):
            assert told(say(session, text)) == (WRONG, "count.answer_first")
        assert "Oats P7" in shown(say(session, "1"))
        assert not session.page.question.is_asked
