"""Services with wrong clocks or day filters: movements are seen all the same."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from tests.courier.fake_service import name_of
from tests.courier.host import Host

HOUR = 3600.0
SLOW_S = 1000.0
"""A little more than the slow round takes."""

Filter = Callable[[float, float], bool]
"""Whether something that changed at the one moment has changed since the other."""


def by_the_second(changed: float, since: float) -> bool:
    """As it should be."""
    return changed >= since


def by_the_day(changed: float, since: float) -> bool:
    """The time of day is ignored, and today is not after today."""
    return int(changed // 86400) > int(since // 86400)


def from_the_day(changed: float, since: float) -> bool:
    """The time of day is ignored."""
    return int(changed // 86400) >= int(since // 86400)


FOREIGN: dict[str, tuple[float, Filter, bool]] = {
    "3 h ahead": (3 * HOUR, by_the_second, False),
    "3 h behind": (-3 * HOUR, by_the_second, False),
    "25 h behind": (-25 * HOUR, by_the_second, False),
    "3 h behind, and says so": (-3 * HOUR, by_the_second, True),
    "a year behind, and says so": (-366 * 24 * HOUR, by_the_second, True),
    "a year ahead": (366 * 24 * HOUR, by_the_second, False),
    "by the day": (0.0, by_the_day, False),
    "from the day": (0.0, from_the_day, True),
}


class Foreign:
    """A service that announces nothing, with a clock and a filter of its own."""

    def __init__(self, host: Host, off: float, matches: Filter, says: bool) -> None:
        host.fake.features = ""
        self.host, self.off, self.matches, self.says = host, off, matches, says
        self.changed: dict[str, float] = {}
        self.real = host.fake._list_store_products_stock
        host.fake._list_store_products_stock = self.stock  # type: ignore[method-assign]

    @property
    def now(self) -> float:
        """What its clock says."""
        return self.host.time.now + self.off

    def move(self, product: str, quantity: int) -> None:
        """Somebody takes or brings something."""
        self.host.fake.stock[product]["most_likely_quantity"] = quantity
        self.changed[product] = self.now

    def stock(self, request: httpx.Request) -> tuple[int, Any]:
        """The list, filtered as this service understands it."""
        status, body = self.real(request)
        since = request.url.params.get("last_stock_modified_datetime")
        if since:
            asked = datetime.fromisoformat(since).astimezone(UTC).timestamp()
            body["list"] = [
                row for row in body["list"] if self.matches(self.changed.get(row["product_number"], 0.0), asked)
            ]
        if self.says:
            body["server_time"] = datetime.fromtimestamp(self.now, UTC).isoformat()
        return status, body


@pytest.mark.parametrize(
    "how",
    [
        pytest.param(how, id=name, marks=() if name in ("3 h behind", "by the day") else pytest.mark.full)
        for name, how in FOREIGN.items()
    ],
)
async def test_movements_are_seen_within_one_slow_interval(host: Host, how: tuple[float, Filter, bool]) -> None:
    foreign = Foreign(host, *how)
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        for quantity in (3, 8, 1):
            await host.time.pass_(700)
            foreign.move("P1", quantity)
            await host.time.until(lambda: host.quantity("P1") == quantity, SLOW_S)  # noqa: B023 - used at once
        assert host.state() == "live"
        assert not courier.operator_log.recent


async def test_the_usual_look_asks_for_little(host: Host) -> None:
    Foreign(host, 0.0, by_the_second, False)
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        host.fake.requests.clear()
        await host.time.pass_(3600)
    looks = [
        host.time.now - datetime.fromisoformat(request.url.params["last_stock_modified_datetime"]).timestamp()
        for request in host.fake.requests
        if name_of(request) == "list-store-products-stock" and request.url.params.get("last_stock_modified_datetime")
    ]
    far = [back for back in looks if back > 7200]
    assert len(looks) - len(far) >= 50
    assert 3 <= len(far) <= 5
