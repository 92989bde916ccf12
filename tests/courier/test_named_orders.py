"""Orders that change together are read in one request where the service allows it."""

import json

import httpx
import pytest

from aisle.session.terminal_settings import iso_time
from tests.courier.test_real_service import Shop
from tests.courier.test_request_counts import Heard
from tests.courier.test_request_counts import shop as heard_shop  # noqa: F401 - a fixture
from tests.courier.writes import STORE

NAMED = f"/aisle/v1/stores/{STORE}/orders"


class Noted(Heard):
    """A line on which requests for several orders may be refused, or answered by nonsense."""

    refuses: bool = False
    garbles: bool = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """One request; of several orders perhaps an answer that makes no sense, or none."""
        answer = await super().handle_async_request(request)
        if request.url.path != NAMED or not (self.refuses or self.garbles):
            return answer
        if self.refuses:
            return httpx.Response(400, json={"success": False, "message": "No."})
        body = {**json.loads(await answer.aread()), "list": [1]}
        return httpx.Response(200, json=body, headers={"aisle-features": answer.headers["aisle-features"]})

    def several(self) -> list[list[str]]:
        """The numbers of each request for several orders."""
        return [sorted(query["numbers"].split("\n")) for query in self.of(NAMED)]

    def single(self) -> list[str]:
        """The numbers of the requests for one order."""
        return sorted(query["order_number"] for query in self.of("/customerorders") if "order_number" in query)


@pytest.fixture
def shop(heard_shop: Shop) -> Shop:  # noqa: F811
    """The same, on a line of that kind."""
    heard_shop.line = Noted(heard_shop.service.app)
    return heard_shop


def numbers(shop: Shop, count: int) -> list[str]:
    """The first open orders of the list."""
    return sorted(str(row["order_number"]) for row in shop.reads.query("orders", {"size": count})[0])


async def commented(shop: Shop, orders: list[str], **more: bool) -> None:
    """Somebody elsewhere changes these orders."""
    async with shop.client(straight=True) as client:
        for number in orders:
            body = {"orders": {"order_number": number, "is_claimed": True, **more}}
            await client.update_customer_order(STORE, body)


def claimed(shop: Shop, orders: list[str]) -> bool:
    return all(shop.order(number)["is_claimed"] for number in orders)


async def test_orders_changed_together_are_read_in_one_request(shop: Shop) -> None:
    assert isinstance(shop.line, Noted)
    async with shop.courier() as courier:
        orders = numbers(shop, 5)
        shop.line.asked.clear()
        await commented(shop, orders)
        await shop.time.until(lambda: claimed(shop, orders), 10)
        await shop.time.until(lambda: courier.incremental_sync.read_queue.is_empty)
    assert shop.line.several() == [orders]
    assert shop.line.single() == []


async def test_single_order_is_read_by_order_number(shop: Shop) -> None:
    assert isinstance(shop.line, Noted)
    async with shop.courier():
        orders = numbers(shop, 1)
        shop.line.asked.clear()
        await commented(shop, orders)
        await shop.time.until(lambda: claimed(shop, orders), 10)
    assert (shop.line.several(), shop.line.single()) == ([], orders)


async def test_picks_leave_the_overlay_by_it_and_finished_orders_the_list(shop: Shop) -> None:
    assert isinstance(shop.line, Noted)
    async with shop.courier() as courier:
        picked, ended, other = numbers(shop, 3)
        shop.line.asked.clear()
        (op_id,) = shop.desk.write(shop.pick_all(shop.order(picked)))
        await commented(shop, [other])
        await commented(shop, [ended], is_active=False)
        courier.wake()
        await shop.time.until(lambda: shop.desk.state(op_id) == "done")
        await shop.time.until(lambda: shop.desk.outbox.get(op_id).read_back_at is not None, 10)
        await shop.time.until(lambda: claimed(shop, [other]), 10)
        assert shop.order(picked)["is_picked"]
        assert ended not in numbers(shop, 100)
    assert {picked, ended, other} <= {number for some in shop.line.several() for number in some}


@pytest.mark.parametrize("how", ["refuses", "garbles"])
async def test_failed_combined_read_falls_back_to_single_reads(shop: Shop, how: str) -> None:
    assert isinstance(shop.line, Noted)
    async with shop.courier() as courier:
        orders = numbers(shop, 4)
        shop.line.asked.clear()
        setattr(shop.line, how, True)
        await commented(shop, orders)
        await shop.time.until(lambda: claimed(shop, orders), 20)
        await shop.time.until(lambda: courier.incremental_sync.read_queue.is_empty)
    assert shop.line.several() == [orders]
    assert shop.line.single() == orders


@pytest.mark.parametrize("several", [True, False])
async def test_absent_order_is_recorded_for_the_requester(shop: Shop, *, several: bool) -> None:
    async with shop.courier() as courier:
        await courier.sync_once()
        began = courier.single_reads.now()
        await (
            courier.single_reads.read_orders(["999999", numbers(shop, 1)[0]])
            if several
            else courier.single_reads.read_order("999999")
        )

    def said(since: float) -> int:
        return shop.reads.query("absent_order", {"order_number": "999999", "since": iso_time(since)})[1]

    assert (said(began), said(began + 1)) == (1, 0)


async def test_removed_order_is_reported_once_and_missing_order_each_time(shop: Shop) -> None:
    """Who picks it asks for it again when he hears that it has changed; who looks for it hears of every answer."""
    told: list[str] = []
    async with shop.courier() as courier:
        await courier.sync_once()
        courier.single_reads.notify = told.extend
        for _ in range(3):
            await courier.single_reads.read_order("999999")
        assert told == ["order/999999", *3 * ["absent/999999"]]
