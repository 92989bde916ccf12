"""Question before an order is handed over: a scan that drops it says so."""

from __future__ import annotations

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.store_folder import StoreFolder
from aisle.jobs.job import Start
from tests.cache import service_rows
from tests.session.test_batch import CODES, at, home, say

__all__ = ["home"]


@pytest.mark.parametrize("scan", ["4102", CODES["P1"], "A-1"])
def test_a_scan_at_a_hand_over_says_that_it_is_not_done(home: StoreFolder, scan: str) -> None:
    line = service_rows.line(1, "P1", 1, picked_quantity=1, preferred_location_code="A-1")
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_orders([service_rows.order("4105", line, is_picked=True)], lines_known=True, read_began=1.0)
    with at(home) as session:
        session.start_batch()
        session.event_runner.open(Start("order_actions", {"orders": ["4105"], "kind": "hand_over"}))
        session.event_runner.commit()
        assert session.stack.top.job.step_name(session.stack.top.state) == "order_actions.confirm"
        verdict = say(session, scan).verdict
        assert verdict is not None
        assert verdict.detail is not None
        assert verdict.detail.id == "order_actions.not_answered"
