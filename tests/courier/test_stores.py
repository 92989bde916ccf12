"""The stores of the chain: all are read, with the extra fields of our own service, and removed ones leave."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from aisle.outbox.requests_and_token_holders import request_read
from tests.courier.fake_service import Fake, says
from tests.courier.host import Host
from tests.courier.writes import STORE

OWN = "/aisle/v1/stores/"


class Chain(Fake):
    """A service that says more of a store than the list does."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.said: dict[str, Any] = {}
        self.asked: list[str] = []

    async def _handle(self, request: httpx.Request) -> httpx.Response:
        number = request.url.path.removeprefix(OWN)
        if not request.url.path.startswith(OWN) or "/" in number:
            return await super()._handle(request)
        self.asked.append(number)
        said = self.said.get(number)
        body = json.dumps(said or {"success": False, "message": "not yours"}).encode()
        return httpx.Response(200 if said else 403, content=body, headers=self.headers)


@pytest.fixture
def chain(tmp_path: Path) -> Iterator[Host]:
    fake = Chain()
    fake.said = {"0002": {"store_number": "0002", "store_name": "There", "address": "3 Station Road"}}
    host = Host(tmp_path / "home", fake)
    yield host
    host.close()


def page(host: Host, store: str) -> Any:
    rows, _ = host.reads.query("store_page", {"store_number": store})
    return rows[0] if rows else None


async def test_a_page_that_is_opened_brings_what_the_list_does_not_say(chain: Host) -> None:
    fake = chain.fake
    assert isinstance(fake, Chain)
    async with chain.running(chain.courier()) as courier:
        await chain.time.until(lambda: courier.full_sync.progress.completed)
        assert page(chain, "0002")["details"] == "unasked"
        assert fake.asked == []
        for store in ("0002", STORE):
            request_read(chain.desk.db, "store", store, chain.time.now)
        courier.wake()
        await chain.time.until(lambda: page(chain, "0002")["details"] == "yes")
        await chain.time.until(lambda: page(chain, STORE)["details"] == "refused")
        assert page(chain, "0002")["address"] == "3 Station Road"
        fake.said["0002"] = {**fake.said["0002"], "address": "4 Station Road"}
        fake.touch("store", "0002")
        await chain.time.until(lambda: page(chain, "0002")["address"] == "4 Station Road")


async def test_stores_that_are_no_more_leave_and_this_one_stays(chain: Host) -> None:
    fake = chain.fake
    async with chain.running(chain.courier()) as courier:
        await chain.time.until(lambda: courier.full_sync.progress.completed)
        fake.stores = [{"storeNo": "0003", "storeName": "New"}]
        courier.full_sync.request_stages(["stores"])
        await chain.time.until(lambda: page(chain, "0002") is None)
        assert [row["store_number"] for row in chain.reads.query("stores", {})[0]] == [STORE, "0003"]


async def test_a_service_of_the_document_alone_is_asked_for_nothing_else(tmp_path: Path) -> None:
    host = Host(tmp_path / "home", Chain(features=""))
    try:
        async with host.running(host.courier()) as courier:
            await host.time.until(lambda: courier.full_sync.progress.completed)
            host.fake.stores[1]["storeName"] = "Elsewhere"
            request_read(host.desk.db, "store", "0002", host.time.now)
            courier.wake()
            await host.time.until(lambda: page(host, "0002")["store_name"] == "Elsewhere")
        assert isinstance(host.fake, Chain)
        assert host.fake.asked == []
        assert page(host, "0002")["details"] == "unasked"
    finally:
        host.close()


# Stock of stores nearby: read on request, kept with its age, and missing when unavailable


ASK = "retrieve-store-product-surrounding"
FERNHILL = {"store_number": "0003", "store_name": "Fernhill", "is_warehouse": False, "most_likely_quantity": 4.5}
DEPOT = {"store_number": "0900", "is_warehouse": True, "most_likely_quantity": 130, "most_likely_pool_1": 130}
HERE = {"store_number": "0001", "is_warehouse": False, "most_likely_quantity": 9}


def around(host: Host, product: str = "P1") -> Any:
    """What a session reads of it; None while nothing is known."""
    rows, _ = host.reads.query("surrounding", {"product_number": product})
    return rows[0] if rows else None


async def wished(host: Host, product: str = "P1") -> Any:
    """What is known once a wish was followed."""
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        since, _ = host.reads.changes(0)
        assert around(host, product) is None
        request_read(host.desk.db, "surrounding", product, host.time.now)
        courier.wake()
        await host.time.until(lambda: around(host, product) is not None)
        assert ("surrounding", product) in host.reads.changes(since)[1]
    return around(host, product)


async def test_a_wish_brings_the_stores_around_those_with_stock_first(host: Host) -> None:
    empty = {**FERNHILL, "store_number": "0004", "store_name": "Weirside", "most_likely_quantity": 0}
    host.fake.surrounding["P1"] = [HERE, empty, DEPOT, "no row", {"most_likely_quantity": 3}, FERNHILL]
    row = await wished(host)
    assert [(each["store_name"], each["quantity"]) for each in row["stores"]] == [
        ("Fernhill", 4.5), ("0900", 130), ("Weirside", 0),
    ]  # fmt: skip
    assert [each["is_warehouse"] for each in row["stores"]] == [False, True, False]
    assert row["refused"] == ""
    assert row["read_at"].endswith("Z")


async def test_a_service_that_does_not_tell_is_asked_once_and_noted(host: Host) -> None:
    row = await wished(host)
    assert (row["stores"], row["refused"]) == ([], "not told")
    assert host.fake.calls[ASK] == 1


@pytest.mark.parametrize("answer", [says(200, body={"list": []}), says(200), says(500)], ids=["object", "html", "500"])
async def test_an_answer_that_cannot_be_used_is_let_go_after_some_tries(host: Host, answer: Any) -> None:
    host.fake.fail(ASK, answer, answer, answer)
    row = await wished(host)
    assert row["refused"]
    assert host.fake.calls[ASK] == 3


async def test_a_service_of_the_document_alone_tells_too(tmp_path: Any) -> None:
    host = Host(tmp_path / "home", Fake(features=""))
    host.fake.add_products(["P1"])
    host.fake.surrounding["P1"] = [DEPOT]
    try:
        assert len((await wished(host))["stores"]) == 1
    finally:
        host.close()


async def test_an_older_answer_does_not_replace_a_younger_one(host: Host) -> None:
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        courier.cache.write_surrounding("P1", [FERNHILL], 200.0)
        courier.cache.write_surrounding("P1", [DEPOT], 100.0)
        assert [each["store_number"] for each in around(host)["stores"]] == ["0003"]
