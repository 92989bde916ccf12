"""Deliveries: read with the store, after changes, and after receipts of this host."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from aisle.barcode_numbers import lookup_keys
from aisle.jobs.job import Context, Write
from aisle.jobs.receive.receive_state_and_differences import ReceiptEntry, ReceiveState, receipt_write
from aisle.outbox.requests_and_token_holders import request_read
from tests.courier.fake_service import Fake, says
from tests.courier.host import Host
from tests.courier.test_real_service import Shop
from tests.courier.writes import STORE

CONTEXT = Context(store=STORE, user="U1", now="2027-01-15T11:59:00Z")


def receipt(number: str, *entries: ReceiptEntry, sign: int = 1) -> Write:
    """As the receive job writes it."""
    return receipt_write(ReceiveState(delivery_number=number), entries, CONTEXT, sign)


def received(host: Any, number: str) -> list[tuple[str, int]] | None:
    """(product, received) of a delivery as a session sees it; None where it knows none."""
    rows, _ = host.reads.query("delivery", {"order_number": number})
    return [(line["product_number"], int(line["received"])) for line in rows[0]["lines"]] if rows else None


@pytest.fixture
def document(aisle_home: Path) -> Host:
    """A host at a service that implements the document alone, with a delivery that is expected."""
    host = Host(aisle_home, Fake(""))
    host.fake.add_products(["P1", "P2"])
    host.fake.add_delivery("IN-1", ("P1", 4), ("P2", 2), container="C-1")
    return host


async def test_deliveries_come_with_the_store_and_on_a_wish(document: Host) -> None:
    host = document
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        assert received(host, "IN-1") == [("P1", 0), ("P2", 0)]
        assert [each.key for each in host.reads.find(lookup_keys("C-1"))] == ["IN-1"]
        host.fake.add_delivery("IN-2", ("P1", 1))
        host.fake.add_delivery("IN-3", ("P1", 1))
        request_read(host.desk.db, "delivery", "IN-2", host.time.now)
        courier.wake()
        await host.time.until(lambda: received(host, "IN-2") is not None)
        assert received(host, "IN-3") is None
        request_read(host.desk.db, "deliveries", "", host.time.now)
        courier.wake()
        await host.time.until(lambda: received(host, "IN-3") is not None)
        del host.fake.deliveries["IN-2"]
        request_read(host.desk.db, "delivery", "IN-2", host.time.now)
        courier.wake()
        await host.time.until(lambda: received(host, "IN-2") is None)


async def test_a_service_without_receipts_costs_no_delivery_and_is_said(document: Host) -> None:
    host = document
    host.fake.fail("list-store-receipts", says(404), says(404))
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        assert received(host, "IN-1") is not None
        assert courier.full_sync.progress.missing == ("receipts",)


async def test_receipts_come_type_by_type(document: Host) -> None:
    host = document
    host.fake.add_delivery("IN-7", ("P1", 1), order_type="7")
    host.fake.receipts = [
        {"order_number": f"R-{kind}", "store_number": STORE, "order_type_id": kind, "receipt_lines": []}
        for kind in (1, 2, 7, 8)
    ]
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        rows, _ = host.reads.query("receipts", {})
        assert {row["order_number"] for row in rows} == {"R-1", "R-2", "R-7"}


async def test_unlisted_receipts_are_removed_unless_list_failed(document: Host) -> None:
    host = document
    made = {"store_number": STORE, "order_type_id": 1, "receipt_lines": []}

    def kept() -> set[str]:
        return {row["order_number"] for row in host.reads.query("receipts", {})[0]}

    host.fake.receipts = [{**made, "order_number": number} for number in ("R-1", "R-2", "IN-1")]
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        assert kept() == {"R-1", "R-2", "IN-1"}
        host.fake.receipts = [{**made, "order_number": "R-2"}]
        host.fake.fail("list-store-receipts", says(404))
        await courier.single_reads.delivery_reader.read_receipts()
        assert kept() == {"R-1", "R-2", "IN-1"}
        await courier.single_reads.delivery_reader.read_receipts()
        assert kept() == {"R-2", "IN-1"}


async def test_receipt_stays_on_screen_until_service_reports_it(document: Host) -> None:
    host = document
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        writes = receipt("IN-1", ReceiptEntry("P1", 1, Decimal(3))), receipt("IN-1", ReceiptEntry("P2", 2, Decimal(2)))
        ids = host.desk.write(*writes)
        assert received(host, "IN-1") == [("P1", 3), ("P2", 2)]
        courier.wake()
        await host.time.until(lambda: all(host.desk.is_read_back(op_id) for op_id in ids))
        assert received(host, "IN-1") == [("P1", 3), ("P2", 2)]
        host.desk.write(receipt("IN-1", ReceiptEntry("P1", 1, Decimal(1)), sign=-1))
        assert received(host, "IN-1") == [("P1", 2), ("P2", 2)]
        courier.wake()
        await host.time.until(lambda: host.fake.deliveries["IN-1"]["order_lines"][0]["received_quantity"] == 2)
    bodies = [json.loads(request.content) for request in host.fake.requests if request.method == "POST"]
    entries = [entry for body in bodies for entry in body["storeproductlog"]]
    assert {entry["reference"] for entry in entries} == {"IN-1"}
    assert not any("line_number" in entry for entry in entries)
    assert all(entry["source"].startswith("aisle/") for entry in entries)


async def test_delivery_read_during_push_counts_goods_once(document: Host) -> None:
    host = document
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        seen: set[tuple[tuple[str, int], ...]] = set()
        for number in range(4):
            host.desk.write(receipt("IN-1", ReceiptEntry("P1", 1, Decimal(1))))
            request_read(host.desk.db, "delivery", "IN-1", host.time.now)
            courier.wake()
            want = number + 1

            def there(want: int = want) -> bool:
                now = received(host, "IN-1") or []
                seen.add(tuple(now))
                return dict(now)["P1"] == want and not courier.outbox.records_changed_since(host.time.now)

            await host.time.until(there)
        await host.time.until(lambda: host.desk.states() == ["done"] * 4)
    assert {dict(each)["P1"] for each in seen} <= {1, 2, 3, 4}


@pytest.fixture
async def shop(aisle_home: Path) -> AsyncIterator[Shop]:
    shop = Shop(aisle_home)
    yield shop
    shop.close()


async def test_our_own_service_tells_of_a_delivery_and_counts_by_line(shop: Shop) -> None:
    async with shop.courier() as courier:
        product = str(shop.first()["lines"][0]["product_number"])
        before = await shop.stock(product)
        line = {"product_number": product, "quantity": 2}
        body = {"orders": [{"order_number": "IN-1", "no_of_containers": 1, "order_lines": [line, line]}]}
        async with shop.client(straight=True) as client:
            await client.call("create-store-deliveries", body, store_number=STORE)
            courier.wake()
            await shop.time.until(lambda: received(shop, "IN-1") is not None, 60)
            (op_id,) = shop.desk.write(receipt("IN-1", ReceiptEntry(product, 2, Decimal(2))))
            courier.wake()
            await shop.time.until(lambda: shop.desk.is_read_back(op_id), 60)
            assert received(shop, "IN-1") == [(product, 0), (product, 2)]
            assert await shop.stock(product) == before + 2
            rows, _ = shop.reads.query("receipts", {})
            mine = [row["received_quantity"] for row in rows if row["order_number"] == "IN-1"]
            assert mine == [2], "beside those of the demo store"


async def test_receipts_show_before_they_are_sent_what_our_own_service_books(shop: Shop) -> None:
    """What is over on a named line fills another line; an undo is filled by the excess of another line."""
    async with shop.courier() as courier:
        product = str(shop.first()["lines"][0]["product_number"])
        lines = [{"product_number": product, "quantity": quantity} for quantity in (4, 10, 3)]
        body = {"orders": [{"order_number": "IN-1", "no_of_containers": 1, "order_lines": lines}]}
        async with shop.client(straight=True) as client:
            await client.call("create-store-deliveries", body, store_number=STORE)
        courier.wake()
        await shop.time.until(lambda: received(shop, "IN-1") is not None, 60)
        for line, quantity, figures in (
            (1, 4, [4, 0, 0]),
            (1, 4, [4, 4, 0]),
            (3, 9, [4, 10, 3]),
            (3, 4, [4, 10, 7]),
            (1, -4, [4, 10, 3]),
            (2, -10, [4, 0, 3]),
        ):
            entry = ReceiptEntry(product, line, Decimal(abs(quantity)))
            (op_id,) = shop.desk.write(receipt("IN-1", entry, sign=1 if quantity > 0 else -1))
            assert [came for _, came in received(shop, "IN-1") or ()] == figures
            courier.wake()
            await shop.time.until(partial(shop.desk.is_read_back, op_id), 60)
            assert [came for _, came in received(shop, "IN-1") or ()] == figures
