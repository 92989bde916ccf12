"""Number of requests to our own service: nothing twice, and several things together."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest

from aisle.client import Client, Response
from aisle.courier.notify import PRODUCT, Topic
from aisle.courier.pull.change_feed import ChangeFeed
from aisle.courier.pull.run_queued_reads import PendingReadBacks
from aisle.courier.pull.single_reads import SingleReads
from aisle.host.database import transaction
from tests.courier.host import Host
from tests.courier.test_picks_and_moves import goods
from tests.courier.test_real_service import Flaky, Shop
from tests.courier.writes import STORE, movement, update

STOCK, CATALOGUE, CHANGES, MOVEMENT = "/storeproducts/stock", "/products", "/changes", "/movement"


class Heard(Flaky):
    """A line on which nothing is lost, and each request is written down: its path, and what it asks for."""

    def __init__(self, app: Any) -> None:
        super().__init__(app)
        self.asked: list[tuple[str, dict[str, str]]] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.asked.append((request.url.path, dict(request.url.params)))
        return await super().handle_async_request(request)

    def of(self, end: str) -> list[dict[str, str]]:
        """What was asked for below the paths that end so."""
        return [query for path, query in self.asked if path.endswith(end)]


@pytest.fixture
async def shop(aisle_home: Path) -> AsyncIterator[Shop]:
    shop = Shop(aisle_home)
    shop.line = Heard(shop.service.app)
    yield shop
    shop.close()


def line_of(shop: Shop) -> Heard:
    assert isinstance(shop.line, Heard)
    return shop.line


async def lost(client: Client, products: list[str]) -> None:
    """Somebody elsewhere says of each of these products that two pieces are gone."""
    entries = [{"product_number": product, "quantity": -2} for product in products]
    path, body = {"store_number": STORE}, json.dumps({"storeproductlog": entries}).encode()
    assert (await client.request("create-store-product-logs", path=path, body=body)).is_success


async def test_written_data_is_read_back_once(shop: Shop) -> None:
    """The answer to a write, and soon after it the change feed, both say that it changed something."""
    (row,) = await goods(shop, 1)
    line, number = line_of(shop), row["product_number"]
    async with shop.courier() as courier:
        await shop.time.pass_(3)
        line.asked.clear()
        (op_id,) = shop.desk.write(movement(number, 1, row["store_locations"][0]["store_location_code"], "PU-01"))
        courier.wake()
        await shop.time.until(lambda: shop.desk.is_read_back(op_id))
        await shop.time.pass_(10)
    assert [query.get("product_number") for query in line.of(STOCK)] == [number]
    assert not line.of(CATALOGUE)


async def test_close_confirmations_share_one_read_back(shop: Shop) -> None:
    rows = await goods(shop, 12)
    line = line_of(shop)
    async with shop.courier() as courier:
        await shop.time.pass_(3)
        line.asked.clear()
        op_ids: list[str] = []
        for row in rows:
            place = row["store_locations"][0]["store_location_code"]
            op_ids += shop.desk.write(movement(row["product_number"], 1, place, "PU-01"))
            courier.wake()
            await shop.time.pass_(0.05)
        await shop.time.until(lambda: all(map(shop.desk.is_read_back, op_ids)))
        looks = len(line.of(CHANGES))
    assert looks <= 3
    assert len(line.of(STOCK)) <= 1 + looks, "what was confirmed before the first look, and what came behind it"
    assert len(line.of(MOVEMENT)) == len(rows)


async def test_many_changed_products_come_in_one_request(shop: Shop) -> None:
    rows = await goods(shop, 40)
    numbers, line = [row["product_number"] for row in rows], line_of(shop)
    before = {row["product_number"]: row["most_likely_quantity"] for row in rows}
    async with shop.courier(), shop.client(straight=True) as client:
        await lost(client, numbers[:1])
        await shop.time.pass_(5)
        line.asked.clear()
        await lost(client, numbers[1:])
        await shop.time.until(lambda: all(stock_of(shop, number) == before[number] - 2 for number in numbers), 10)
    assert len(line.of(STOCK)) == 1
    assert not line.of(CATALOGUE)


async def test_product_missing_in_list_is_read_singly(shop: Shop, monkeypatch: Any) -> None:
    """A write that was long on its way says an earlier moment of itself than the list is asked for."""
    rows = await goods(shop, 12)
    numbers, line = [row["product_number"] for row in rows], line_of(shop)
    before = {row["product_number"]: row["most_likely_quantity"] for row in rows}
    async with shop.courier() as courier, shop.client(straight=True) as client:
        await lost(client, numbers[:1])
        await shop.time.pass_(5)
        monkeypatch.setattr(
            courier.single_reads,
            "mark_server_time",
            lambda: setattr(courier.single_reads, "_previous_marked_time", "2099-01-01T00:00:00Z"),
        )
        line.asked.clear()
        await lost(client, numbers[1:])
        await shop.time.until(lambda: all(stock_of(shop, number) == before[number] - 2 for number in numbers), 10)
    assert sorted(query.get("product_number", "") for query in line.of(STOCK)) == ["", *sorted(numbers[1:])]


async def test_next_courier_scans_unread_operations_once(host: Host, monkeypatch: Any) -> None:
    """Not once more for each of them: a host that was cut off may have left thousands."""
    unread, looks = PendingReadBacks.unread_topics, itertools.count()

    def counted(self: PendingReadBacks) -> list[Topic]:
        next(looks)
        return unread(self)

    monkeypatch.setattr(PendingReadBacks, "unread_topics", counted)
    op_ids = host.desk.write(*(update(f"O{n}", {1: 1}) for n in range(1, 31)))
    with transaction(host.desk.db):
        host.desk.db.execute("UPDATE operation SET state = 'done', first_sent_at = 1, confirmed_at = 1")
    async with host.courier() as courier:
        assert next(looks) <= 1
        await courier.sync_once()
    assert all(map(host.desk.is_read_back, op_ids))


async def test_retry_after_also_holds_back_list_reads(shop: Shop) -> None:
    rows = await goods(shop, 6)
    line = line_of(shop)
    async with shop.courier() as courier:
        await shop.time.pass_(5)
        courier.link.pause(30)
        line.asked.clear()
        courier.continuous_sync.request_read(Topic(PRODUCT, row["product_number"]) for row in rows)
        await courier.continuous_sync.read_queue.read_all()
        assert not line.asked
        await shop.time.until(lambda: len(line.of(STOCK)) > len(rows), 40)
    first, *others = line.of(STOCK)
    assert "product_number" not in first, "the list is asked first; of these it brings none, for none has changed"
    assert sorted(query["product_number"] for query in others) == sorted(row["product_number"] for row in rows)


async def test_the_catalogue_is_asked_where_it_has_changed(shop: Shop) -> None:
    (row,) = await goods(shop, 1)
    number, line = row["product_number"], line_of(shop)
    async with shop.courier(), shop.client(straight=True) as client:
        await shop.time.pass_(3)
        line.asked.clear()
        await lost(client, [number])
        await shop.time.until(lambda: line.of(STOCK), 10)
        await shop.time.pass_(3)
        assert not line.of(CATALOGUE)
        body = {"products": [{"product_number": number, "product_name": "Plum jam"}]}
        assert (await client.request("create-or-update-products", body=json.dumps(body).encode())).is_success
        await shop.time.until(lambda: name_in_cache(shop, number) == "Plum jam", 10)
    assert [query["product_number"] for query in line.of(CATALOGUE)] == [number]


def stock_of(shop: Shop, number: str) -> Any:
    (row,) = shop.reads.query("product", {"product_number": number})[0]
    return row["most_likely_quantity"]


def name_in_cache(shop: Shop, number: str) -> Any:
    (row,) = shop.reads.query("product", {"product_number": number})[0]
    return row["product_name"]


# The change feed of our own service, and where a new courier resumes it


class Service:
    """A service that answers with these pages in turn, and the cache of a host."""

    def __init__(self, *pages: dict[str, Any]) -> None:
        self.pages = [*pages]
        self.asked: list[dict[str, Any]] = []
        self.kept: dict[str, Any] = {}
        self.store = "0001"
        self.client = self
        self.cache = SimpleNamespace(
            cursor=self.kept.get, set_cursor=self.kept.__setitem__, transaction=self.transaction
        )

    @contextmanager
    def transaction(self) -> Iterator[None]:
        yield

    async def request_extension(self, method: str, path: str, query: dict[str, Any]) -> Response:
        self.asked.append(query)
        told = {"changes": [], "more": False, "restored": False, **self.pages.pop(0)}
        return Response(200, {}, json.dumps(told).encode())

    def feed(self) -> ChangeFeed:
        """That of a courier which begins now."""
        return ChangeFeed(cast(SingleReads, self))


async def test_a_restore_to_between_what_was_kept_and_what_was_heard_is_noticed() -> None:
    order = {"topic": "order", "key": "O1"}
    service = Service({"cursor": 4, "mark": "a"}, {"cursor": 7, "mark": "b", "changes": [order]})
    feed = service.feed()
    await feed.skip_to_end()
    feed.advance(await feed.read())  # its rows come to the cache, and the courier ends
    service.pages = [{"cursor": 5, "mark": "c", "restored": True}]
    news = await service.feed().read()
    assert (service.asked[-1]["since"], service.asked[-1]["mark"]) == (7, "b")
    assert (news.is_restored, news.cursor, news.mark) == (True, 5, "c")


async def test_unsaved_changes_are_read_again() -> None:
    order = {"topic": "order", "key": "O1"}
    service = Service({"cursor": 4, "mark": "a"}, {"cursor": 7, "mark": "b", "changes": [order]})
    feed = service.feed()
    await feed.skip_to_end()
    feed.advance(await feed.read())
    service.pages = [{"cursor": 7, "mark": "b"}, {"cursor": 7, "mark": "b", "changes": [order]}]
    begun = service.feed()
    news = await begun.read()
    assert [(topic.name, topic.key) for topic in news.single_topics] == [("order", "O1")]
    assert not news.is_restored
    begun.advance(news)
    begun.save(news)
    service.pages = [{"cursor": 7, "mark": "b"}]
    await service.feed().read()
    assert len(service.asked) == 5, "where all was kept it is asked once"
