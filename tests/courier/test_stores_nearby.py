"""Stock of stores nearby: read on request, kept with its age, and missing when unavailable."""

from typing import Any

import pytest

from aisle.outbox.session_requests import request_read
from tests.courier.fake_service import Fake, says
from tests.courier.host import Host

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
