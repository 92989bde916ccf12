"""The courier with our own service and the demo store."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from aisle.cache.reader import CacheReader
from aisle.client import Client, Response, RetryPolicy
from aisle.client.transport import asgi_transport
from aisle.courier.courier import Courier, Runtime
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import Write
from aisle.jobs.view import msg
from aisle.service.app_options_and_limits import ServiceOptions
from aisle.service.open_service_and_admin_token import Service, open_service
from aisle.stored_messages import read_message
from tests.courier.host import URL
from tests.courier.session_outbox import Desk
from tests.courier.simulated_time import Time
from tests.courier.writes import STORE
from tests.service.world import prepare


class Flaky(httpx.AsyncBaseTransport):
    """The service behind a line that loses every request, or every answer, of the kinds that it is told to."""

    def __init__(self, app: Any) -> None:
        self.inner = asgi_transport(app)
        self.lose_request: set[str] = set()
        self.lose_answer: set[str] = set()
        self.lost = 0
        self.in_flight = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """One request, or what becomes of it."""
        if request.method in self.lose_request:
            self.lost += 1
            raise httpx.ConnectError("lost", request=request)
        self.in_flight += 1
        try:
            answer = await self.inner.handle_async_request(request)
        finally:
            self.in_flight -= 1
        if request.method in self.lose_answer:
            self.lost += 1
            raise httpx.ReadTimeout("lost", request=request)
        return answer


class Shop:
    """The demo store with a courier's host in front of it."""

    def __init__(self, root: Path) -> None:
        self.time = Time()
        self.home = StoreFolder(root, URL, STORE)
        prepare(self.home.service_db, demo=True, now=self.time.now)
        self.service: Service = open_service(self.home.service_db, ServiceOptions(self.time.clock), demo=True)
        self.line = Flaky(self.service.app)
        self.time.busy = lambda: self.line.in_flight
        self.desk = Desk(self.home.folder, self.time.clock)
        self.reads = CacheReader(self.home, self.desk.db)

    def client(self, observe: Callable[[Response], None] | None = None, *, straight: bool = False) -> Client:
        """A client of the service, on the flaky line or past it."""
        transport = asgi_transport(self.service.app) if straight else self.line
        token = self.service.ensure_admin_token(self.home.embedded_token)
        return Client(
            URL, token, transport=transport, on_response=observe, retry=RetryPolicy(tries=1), sleep=self.time.sleep
        )

    @asynccontextmanager
    async def courier(self) -> AsyncIterator[Courier]:
        """A courier at work."""
        world = Runtime(self.time.clock, self.time.sleep, lambda: 0.0)
        async with Courier(self.home, self.client, runtime=world) as courier:
            work = asyncio.create_task(courier.run())
            await self.time.until(lambda: courier.full_sync.progress.completed)
            yield courier
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)

    def order(self, number: str) -> dict[str, Any]:
        """An order as a session sees it."""
        (row,) = self.reads.query("order", {"order_number": number})[0]
        return dict(row)

    def first(self) -> dict[str, Any]:
        """The first open order of the list."""
        return self.order(str(self.reads.query("orders", {"size": 1})[0][0]["order_number"]))

    def pick_all(self, order: dict[str, Any]) -> Write:
        """Everything of an order is in the picker's hand."""
        lines = [
            {
                "line_number": line["line_number"],
                "product_number": line["product_number"],
                "picked_quantity": line["quantity"],
                "is_picked": True,
            }
            for line in order["lines"]
        ]
        orders = {"order_number": order["order_number"], "is_picked": True, "order_lines": lines}
        lane = f"order/{order['order_number']}"
        return Write("update-customer-order", (lane,), {"store_number": STORE}, {}, {"orders": orders}, merge_key=lane)

    async def stock(self, product: str) -> Decimal:
        """What the service says of a product."""
        async with self.client(straight=True) as client:
            answer = await client.request(
                "list-store-products-stock", query={"store_number": STORE, "product_number": product}
            )
        return Decimal(str(answer.json()["list"][0]["most_likely_quantity"]))

    def close(self) -> None:
        """Lets go of everything."""
        self.reads.close()
        self.desk.close()
        self.service.close()


class OtherHost(Shop):
    """Another host of the same service."""

    def __init__(self, first: Shop, root: Path) -> None:
        self.time, self.service = first.time, first.service
        self.home = StoreFolder(root, URL, STORE)
        self.line = Flaky(self.service.app)
        self.time.busy = lambda: first.line.in_flight + self.line.in_flight
        self.desk = Desk(self.home.folder, self.time.clock)
        self.reads = CacheReader(self.home, self.desk.db)

    def close(self) -> None:
        """Lets go of the host's own."""
        self.reads.close()
        self.desk.close()


@pytest.fixture
async def shop(aisle_home: Path) -> AsyncIterator[Shop]:
    shop = Shop(aisle_home)
    yield shop
    shop.close()


async def test_the_whole_demo_store_comes_over(shop: Shop) -> None:
    async with shop.courier() as courier:
        assert not courier.operator_notices.recent
        assert courier.link.features
        assert courier.link.features.changes
    _, orders = shop.reads.query("order_board", {"status": ["open", "partial", "picked", "rejected"]})
    async with shop.client(straight=True) as client:
        pages = [envelope async for _, envelope in client.pages("list-customer-orders", path={"store_number": STORE})]
        assert orders == pages[0]["total_count"]
    order = shop.first()
    assert order["lines"]
    assert any(line["locations"] for line in order["lines"])
    assert shop.reads.query("people", {})[1] > 1
    assert shop.reads.query("store", {})[0][0]["pools"]


def demo_person(shop: Shop, user: str) -> dict[str, Any]:
    """Return a person of the demo store as its service takes one."""
    person = next(one for one in shop.reads.query("people", {})[0] if one["user"] == user)
    return {"badge": f"BADGE-{user}", "user": user, "name": person["name"]}


async def test_role_change_and_removal_reach_all_hosts_in_seconds(shop: Shop, tmp_path: Path) -> None:
    with closing(OtherHost(shop, tmp_path / "other")) as other:
        async with shop.courier(), other.courier():
            await shop.time.pass_(1)
            said = demo_person(shop, "U1")

            def are(role: str) -> bool:
                asked = (
                    host.reads.query("clearance_permission", {"user": said["user"]})[0][0] for host in (shop, other)
                )
                return all(row["role"] == role for row in asked)

            assert are("staff")
            for change, role in (({"role": "supervisor"}, "supervisor"), ({"is_active": False}, "")):
                async with shop.client(straight=True) as client:
                    body = {"people": [{**said, **change}]}
                    assert (
                        await client.request_extension("POST", f"/aisle/v1/stores/{STORE}/people", body=body)
                    ).is_success
                await shop.time.until(partial(are, role), within_s=10)


async def test_integration_write_reaches_host_within_seconds(shop: Shop) -> None:
    async with shop.courier():
        product = shop.first()["lines"][0]["product_number"]
        body = {"orders": [{"order_number": "NEW-1", "order_lines": [_ordered(product)]}]}
        async with shop.client(straight=True) as client:
            await client.call("create-customer-orders-one-store", body, store_number=STORE)
            await client.request_extension("POST", "/aisle/v1/locations", body={"locations": [_place()]})
        await shop.time.until(lambda: shop.reads.query("order", {"order_number": "NEW-1"})[1], 5)
        assert shop.order("NEW-1")["lines"][0]["quantity"] == 2
        await shop.time.until(lambda: shop.reads.find(["ZZ-9"]) or shop.reads.find(["zz-9"]), 5)


def _ordered(product: str) -> dict[str, Any]:
    return {"line_number": 1, "product_number": product, "quantity": 2}


def _place() -> dict[str, Any]:
    return {"store_number": STORE, "location_code": "ZZ-9", "location_order": 999}


async def test_too_much_is_refused_and_said(shop: Shop) -> None:
    async with shop.courier() as courier:
        order = shop.first()
        write = shop.pick_all(order)
        write.body["orders"]["order_lines"][0]["picked_quantity"] += 1
        (op_id,) = shop.desk.write(write)
        courier.wake()
        await shop.time.until(lambda: shop.desk.state(op_id) == "rejected")
        assert shop.desk.outbox.get(op_id).last_error
        await shop.time.until(lambda: courier.continuous_sync.read_queue.is_empty)
        assert not shop.order(str(order["order_number"]))["is_picked"]


async def test_who_hands_over_what_another_person_gave_away_is_told_by_whom(shop: Shop, tmp_path: Path) -> None:
    with closing(OtherHost(shop, tmp_path / "other")) as other:
        async with shop.courier(), other.courier():
            await shop.time.pass_(1)
            number = str(shop.first()["order_number"])
            body = {"orders": {"order_number": number, "is_active": False}}
            end = Write("update-customer-order", (f"order/{number}",), {"store_number": STORE}, {}, body)
            (ours,), (theirs,) = shop.desk.write(end), other.desk.write(end._replace(user="U2"))
            await shop.time.until(lambda: {shop.desk.state(ours), other.desk.state(theirs)} == {"done", "rejected"})
            hosts = ((shop.desk, ours, "U2"), (other.desk, theirs, "U1"))
            refused = [(desk.outbox.get(op), user) for desk, op, user in hosts if desk.state(op) == "rejected"]
    ((op, user),) = refused
    who = demo_person(shop, user)["name"]
    assert read_message(op.last_error) == msg("stored_reason.handed_over_by", order=number, who=who)
