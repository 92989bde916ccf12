"""A service of keys that does not always announce them, on a simulated clock: each write is booked once."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from aisle.courier.service_features import FEATURES_HEADER, Features
from aisle.outbox.operation_state import CONFIRMED
from tests.faults.link import Line
from tests.faults.test_world import assert_worked, work
from tests.faults.world import world


async def test_writes_that_leave_while_no_keys_are_announced_are_booked_once(
    aisle_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They have keys of the service's own, so the set is checked by what they name."""
    deliver, hidden = Line.handle_async_request, [True]

    async def lied(self: Line, request: httpx.Request) -> httpx.Response:
        answer = await deliver(self, request)
        if hidden[0] and FEATURES_HEADER in answer.headers:
            del answer.headers[FEATURES_HEADER]
        return answer

    async with world(aisle_home) as shop:
        monkeypatch.setattr(Line, "handle_async_request", lied)
        courier = shop.host.courier
        assert courier is not None
        courier.link.features = Features()  # as after a list without the header
        work(shop.host.person("dock-1", "anna"))
        await shop.step(300)
        hidden[0] = False
        await shop.quiet()
        shop.check()
        assert_worked(shop)
        done = [op for op in shop.host.operations() if not op.superseded_by]
        assert {op.state for op in done} == {CONFIRMED}
        assert not all(op.has_key for op in done)
