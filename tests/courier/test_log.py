"""The store's log is read on request: completely once, then new entries."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from aisle.jobs.count.count_state import log_write
from aisle.outbox.session_requests import request_read
from tests.courier.test_real_service import Shop
from tests.courier.writes import STORE


@pytest.fixture
async def shop(aisle_home: Path) -> AsyncIterator[Shop]:
    shop = Shop(aisle_home)
    yield shop
    shop.close()


def counted(shop: Shop, product: str) -> list[dict[str, Any]]:
    """The day's entries of a product as a session sees them."""
    now = datetime.fromtimestamp(shop.time.now, UTC).isoformat()
    return list(shop.reads.query("my_entries", {"now": now, "product_number": product})[0])


def count(product: str, quantity: int) -> Any:
    return {"product_number": product, "counted_quantity": quantity, "expected_quantity": 1, "source": "aisle"}


async def test_the_log_comes_on_a_wish_and_goes_on_after_a_count(shop: Shop) -> None:
    async with shop.courier() as courier:
        product = str(shop.first()["lines"][0]["product_number"])
        asked: list[Any] = []
        pages = courier.single_reads.client.pages

        def spied(name: str, **how: Any) -> Any:
            asked.extend([how["query"]] if name == "list-store-product-logs" else [])
            return pages(name, **how)

        courier.single_reads.client.pages = spied  # type: ignore[method-assign]
        async with shop.client(straight=True) as client:
            body = {"storeproductlog": [{**count(product, 41), "app_user_name": "ben"}]}
            await client.create_store_product_logs(STORE, body, is_counted_quantity=True)
        assert not asked
        request_read(shop.desk.db, "logs", "", shop.time.now)
        courier.wake()
        await shop.time.until(lambda: any(row["counted_quantity"] == 41 for row in counted(shop, product)), 30)
        assert "from_id" not in asked[0]
        (op_id,) = shop.desk.write(log_write([count(product, 40)], [product], STORE, "U1", is_count=True))
        courier.wake()
        await shop.time.until(lambda: shop.desk.is_read_back(op_id), 30)
        await shop.time.until(lambda: asked[1:] and len(counted(shop, product)) >= 2, 30)
        assert asked[-1]["from_id"] > 1
        mine = next(row for row in counted(shop, product) if row["counted_quantity"] == 40)
        assert (mine["outcome"], mine["key"]) == ("confirmed", f"{op_id}.0")
        assert mine["id"].isdecimal()


async def test_log_pages_load_older_entries_and_losses_by_reason(shop: Shop) -> None:
    async with shop.courier() as courier:
        product = str(shop.first()["lines"][0]["product_number"])
        asked: list[Any] = []
        pages = courier.single_reads.client.pages

        def spied(name: str, **how: Any) -> Any:
            asked.extend([how["query"]] if name == "list-store-product-logs" else [])
            return pages(name, **how)

        courier.single_reads.client.pages = spied  # type: ignore[method-assign]
        old = (datetime.fromtimestamp(shop.time.now, UTC) - timedelta(days=30)).isoformat()
        lost = {"product_number": product, "quantity": -2, "reason_code": 1, "scanned_datetime": old}
        async with shop.client(straight=True) as client:
            await client.create_store_product_logs(STORE, {"storeproductlog": [lost]})
        day = datetime.fromtimestamp(shop.time.now - 40 * 86400, UTC).date().isoformat()
        for topic, count in (("", 1), ("losses/1,2", 3), (f"since/{day}", 4), ("", 5)):
            request_read(shop.desk.db, "logs", topic, shop.time.now)
            courier.wake()
            await shop.time.until(lambda count=count: len(asked) >= count, 30)  # type: ignore[misc]
        week, damaged, expired, back, again = asked
        assert (damaged["reason_code"], expired["reason_code"]) == (1, 2)
        assert damaged["last_modified_date"] < day
        assert (week["last_modified_date"] > day, back["last_modified_date"]) == (True, day)
        assert "from_id" not in back
        assert (again["last_modified_date"], again["from_id"] > 1) == (day, True)
        assert shop.reads.query("log", {"reason_code": "1", "product_number": product})[1] == 1


async def test_watched_log_shows_others_entries_with_change_feed(shop: Shop) -> None:
    async with shop.courier() as courier:
        product = str(shop.first()["lines"][0]["product_number"])
        request_read(shop.desk.db, "logs", "", shop.time.now)
        courier.wake()
        await shop.time.until(lambda: courier.cache.cursor("logs"), 30)
        async with shop.client(straight=True) as client:
            body = {"storeproductlog": [{**count(product, 43), "app_user_name": "ben"}]}
            await client.create_store_product_logs(STORE, body, is_counted_quantity=True)
        await shop.time.until(lambda: any(row["counted_quantity"] == 43 for row in counted(shop, product)), 30)
