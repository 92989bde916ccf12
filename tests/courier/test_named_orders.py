"""Orders that change together are read in one request where the service allows it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from aisle.outbox.observed_behaviour import KEEPS_OMITTED_LINES, NO, YES
from aisle.session.job_context_and_query_answers import iso_time
from tests.courier.document_service import Plain
from tests.courier.host import Host
from tests.courier.simulated_time import Time
from tests.courier.test_real_service import Shop
from tests.courier.test_request_counts import Heard
from tests.courier.test_request_counts import shop as heard_shop  # noqa: F401 - a fixture
from tests.courier.writes import STORE, update

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
            await client.call("update-customer-order", body, store_number=STORE)


def claimed(shop: Shop, orders: list[str]) -> bool:
    return all(shop.order(number)["is_claimed"] for number in orders)


async def test_orders_changed_together_are_read_in_one_request(shop: Shop) -> None:
    assert isinstance(shop.line, Noted)
    async with shop.courier() as courier:
        orders = numbers(shop, 5)
        shop.line.asked.clear()
        await commented(shop, orders)
        await shop.time.until(lambda: claimed(shop, orders), 10)
        await shop.time.until(lambda: courier.continuous_sync.read_queue.is_empty)
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
        await shop.time.until(lambda: courier.continuous_sync.read_queue.is_empty)
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


# Two hosts on one order, at a slow service of the document alone: an update names only the lines that it changes as


LATENCY_S = 0.7
PUT = "PUT"


class Slow(Plain):
    """Each request is as long on its way as each answer."""

    def __init__(self, time: Time) -> None:
        super().__init__(time)
        self.updates: list[dict[str, Any]] = []
        """Orders as updates said them, as they arrived."""
        self.latency_s = LATENCY_S

    async def _handle(self, request: httpx.Request) -> httpx.Response:
        await self.time.sleep(self.latency_s / 2)
        if request.method == PUT:
            self.updates.append(json.loads(request.content)["orders"])
        answer = await super()._handle(request)
        await self.time.sleep(self.latency_s / 2)
        return answer


class Two:
    """Two hosts, their couriers at work, and one clock."""

    def __init__(self, root: Path) -> None:
        self.a = Host(root / "a")
        self.time = self.a.time
        self.service = Slow(self.time)
        self.b = Host(root / "b")
        self.hosts = (self.a, self.b)
        for host in self.hosts:
            host.time, host.fake = self.time, self.service
        self.service.add_products(f"P{n}" for n in range(1, 4))
        for number in ("O1", "O2"):
            self.service.add_order(number, 3)
            for line in self.service.orders[number]["lines"]:
                line["quantity"] = 30

    async def work(self, host: Host, *writes: Any) -> None:
        host.desk.write(*writes)
        self.couriers[self.hosts.index(host)].wake()

    async def __aenter__(self) -> Two:
        self.service.latency_s = 0.0
        self.couriers = [host.courier() for host in self.hosts]
        self._running = [host.running(courier) for host, courier in zip(self.hosts, self.couriers, strict=True)]
        for running in self._running:
            await running.__aenter__()
        await self.time.until(lambda: all(courier.full_sync.progress.completed for courier in self.couriers))
        self.service.latency_s = LATENCY_S
        return self

    async def __aexit__(self, *exc: object) -> None:
        for running in self._running:
            await running.__aexit__(*exc)

    def rests(self) -> bool:
        return all(set(host.desk.states()) <= {"done", "closed", "rejected"} for host in self.hosts)

    def picked(self, order: str) -> dict[int, int]:
        return {line["line_number"]: int(line["picked_quantity"]) for line in self.service.orders[order]["lines"]}

    def known(self) -> list[str]:
        return [courier.observations.get(KEEPS_OMITTED_LINES) for courier in self.couriers]


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Two]:
    made = Two(tmp_path)
    yield made
    for host in made.hosts:
        host.close()


async def picks(two: Two, order: str, host: Host, line: int, rounds: int, pause_s: float) -> None:
    """Somebody picks one line of an order, piece by piece."""
    for n in range(1, rounds + 1):
        await two.work(host, update(order, {line: n}))
        await two.time.sleep(pause_s)


@pytest.mark.parametrize("pause_s", [0.1, 0.5, 0.9, 1.7])
async def test_no_line_of_another_host_is_said_again_with_an_old_value(two: Two, pause_s: float) -> None:
    async with two:
        for host in two.hosts:
            await two.work(host, update("O1", {2: 1} if host is two.a else {2: 2}))
            await two.time.until(two.rests, 120)
        await two.time.until(lambda: two.known() == [YES, YES], 60)
        before = len(two.service.updates)
        work = [picks(two, "O2", host, line, 8, pause_s) for host, line in ((two.a, 1), (two.b, 3))]
        tasks = [asyncio.ensure_future(each) for each in work]
        await two.time.until(lambda: all(task.done() for task in tasks) and two.rests(), 600)
        assert two.picked("O2") == {1: 8, 2: 0, 3: 8}
        assert all(len(said["order_lines"]) == 1 for said in two.service.updates[before:])


async def test_first_partial_update_shows_whether_lines_are_kept(two: Two) -> None:
    async with two:
        await two.work(two.a, update("O1", {1: 1}))
        await two.time.until(lambda: two.known()[0] == YES, 20)
        (first,) = two.service.updates
        assert sorted(line["line_number"] for line in first["order_lines"]) == [1, 2], "one is left out, at its first"
        await two.work(two.a, update("O1", {1: 2}))
        await two.time.until(lambda: len(two.service.updates) == 2, 20)
        assert [line["line_number"] for line in two.service.updates[-1]["order_lines"]] == [1]


async def test_a_claim_finds_it_out_too(two: Two) -> None:
    async with two:
        await two.work(two.a, update("O1", {}, is_claimed=True))
        await two.time.until(lambda: two.known()[0] == YES, 20)
        assert len(two.service.updates[0]["order_lines"]) == 2


async def test_a_service_that_replaces_whole_orders_is_told_whole_orders(two: Two) -> None:
    two.service.forgets_lines = True
    async with two:
        await two.work(two.a, update("O1", {1: 1}))
        await two.time.until(lambda: two.known()[0] == NO and two.rests(), 120)
        assert two.picked("O1") == {1: 1, 2: 0, 3: 0}, "what it forgot was said again"
        assert any("forgets lines" in notice.text for notice in two.couriers[0].operator_notices.recent)
        await two.work(two.a, update("O1", {3: 2}))
        await two.time.until(two.rests, 120)
        await two.work(two.a, update("O1", {2: 4}))
        await two.time.until(two.rests, 120)
        assert two.picked("O1") == {1: 1, 2: 4, 3: 2}
        assert all(len(said["order_lines"]) == 3 for said in two.service.updates[2:])


async def test_touched_lines_are_always_named(two: Two) -> None:
    two.service.forgets_lines = True
    lines = two.service.orders["O1"]["lines"]
    lines[1]["picked_quantity"], lines[2]["is_picked"] = 2, True
    async with two:
        await two.work(two.a, update("O1", {1: 1}))
        await two.time.until(two.rests, 120)
        assert two.known()[0] == ""
        assert two.picked("O1") == {1: 1, 2: 2, 3: 0}


async def test_an_answer_that_is_lost_is_no_reason_to_forget_what_was_left_out(two: Two) -> None:
    two.service.forgets_lines = True

    def lost(fake: Any, request: httpx.Request) -> httpx.Response:
        fake.answer(request)
        raise httpx.ReadTimeout("no answer", request=request)

    async with two:
        two.service.fail("update-customer-order", lost)
        await two.work(two.a, update("O1", {1: 1}))
        await two.time.until(lambda: two.known()[0] == NO and two.rests(), 600)
        assert two.picked("O1") == {1: 1, 2: 0, 3: 0}
