"""Question before an order is handed over: another order drops it and says so; any other scan is not taken."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import Start
from aisle.session.session import Session
from aisle.tui.message_text import MessageWriter
from tests.cache import service_rows
from tests.session.test_batch import CODES, at, home, say

__all__ = ["home"]


@contextmanager
def hand_over(home: StoreFolder) -> Iterator[Session]:
    """A session at the question before a hand-over."""
    line = service_rows.line(1, "P1", 1, picked_quantity=1, preferred_location_code="A-1")
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_orders([service_rows.order("4105", line, is_picked=True)], lines_known=True, read_began=1.0)
    with at(home) as session:
        session.start_batch()
        session.event_runner.open(Start("order_actions", {"orders": ["4105"], "kind": "hand_over"}))
        session.event_runner.commit()
        assert session.stack.top.job.step_name(session.stack.top.state) == "order_actions.confirm"
        yield session


def test_another_order_at_a_hand_over_says_that_it_is_not_done(home: StoreFolder) -> None:
    with hand_over(home) as session:
        verdict = say(session, "4102").verdict
        assert verdict is not None
        assert verdict.detail is not None
        assert verdict.detail.id == "order_actions.not_answered"


@pytest.mark.parametrize(
    ("scan", "what"),
    [
        (CODES["P1"], "Product P1"),
        (CODES["P9"], "Product P9"),
        ("A-1", "location A-1"),
        ("PU-1", "location PU-1"),
        ("BADGE-U2", "the badge of Ben Okafor"),
    ],
)
def test_any_other_scan_is_not_taken_and_the_question_stays(home: StoreFolder, scan: str, what: str) -> None:
    with hand_over(home) as session:
        before = session.frames.build().view
        frame = say(session, scan)
        assert frame.verdict is not None
        assert MessageWriter().write(frame.verdict.text) == f"Ignored: {what}. Answer first: 1 is yes, 2 is no"
        assert (frame.verdict.detail, frame.view) == (None, before)
