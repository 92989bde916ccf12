"""The store's log is read on request: completely once, then new entries."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from aisle.cli.print_rows_and_messages import reason_text
from aisle.jobs.job import Write
from aisle.jobs.log_writes_and_refusals import log_write
from aisle.jobs.supervisor.order_action_writes import CLOSE_LINE, REOPEN_LINE, OrderAction, decide
from aisle.outbox.requests_and_token_holders import request_read
from tests.courier.fake_service import OWN, Fake
from tests.courier.test_push_loop import Rig
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
            await client.call("create-store-product-logs", body, store_number=STORE, is_counted_quantity=True)
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
            await client.call("create-store-product-logs", {"storeproductlog": [lost]}, store_number=STORE)
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
            await client.call("create-store-product-logs", body, store_number=STORE, is_counted_quantity=True)
        await shop.time.until(lambda: any(row["counted_quantity"] == 43 for row in counted(shop, product)), 30)


# Recounts and reviews go once to our own service, and never to one without them


STORE_RECOUNTS = {"store_number": "0001"}


def recount(product: str) -> Write:
    return Write("write-recounts", (f"log/{product}",), STORE_RECOUNTS, {}, {"recounts": [{"product_number": product}]})


async def recounts(shop: Shop) -> list[dict[str, Any]]:
    """Those that the service has."""
    async with shop.client(straight=True) as client:
        answer = await client.request_extension("GET", "/aisle/v1/stores/0001/recounts")
    found: list[dict[str, Any]] = answer.json()["recounts"]
    return found


async def test_a_recount_is_ordered_once_though_its_answers_are_lost(shop: Shop) -> None:
    async with shop.courier() as courier:
        product = str(shop.first()["lines"][0]["product_number"])
        shop.line.lose_answer.add("POST")
        (op_id,) = shop.desk.write(recount(product))
        courier.wake()
        await shop.time.until(lambda: shop.line.lost > 1)
        shop.line.lose_answer.clear()
        await shop.time.until(lambda: shop.desk.state(op_id) == "done")
    (ordered,) = await recounts(shop)
    assert (ordered["product_number"], ordered["ordered_by"]) == (product, "U1")


async def test_recounts_of_anybody_are_listed_until_withdrawn(shop: Shop) -> None:
    def listed() -> dict[str, str]:
        return {row["product_number"]: row["key"] for row in shop.reads.query("recounts", {})[0]}

    async with shop.courier() as courier:
        async with shop.client(straight=True) as client:
            pages = [rows async for rows, _ in client.pages("list-products", query={"page_size": 500})]
            product, other = [str(row["product_number"]) for row in pages[0][:2]]
            body = {"recounts": [{"product_number": product}]}
            await client.request_extension("POST", "/aisle/v1/stores/0001/recounts", body=body)
        courier.wake()
        await shop.time.until(lambda: product in listed())
        (op_id,) = shop.desk.write(recount(other))
        assert listed()[other] == f"{other}/", "before anybody has heard of it"
        courier.wake()
        await shop.time.until(lambda: shop.desk.is_read_back(op_id))
        (first, second) = await recounts(shop)
        assert listed() == {product: str(first["id"]), other: str(second["id"])}
        body = {"recounts": [{"id": first["id"], "state": "withdrawn"}]}
        (op_id,) = shop.desk.write(Write("write-recounts", (f"recount/{first['id']}",), STORE_RECOUNTS, {}, body))
        assert listed() == {other: str(second["id"])}
        courier.wake()
        await shop.time.until(lambda: shop.desk.is_read_back(op_id))
        assert listed() == {other: str(second["id"])}
    assert [row["id"] for row in await recounts(shop)] == [second["id"]]


async def test_review_of_entry_without_difference_is_refused_and_reported(shop: Shop) -> None:
    async with shop.client(straight=True) as client:
        answer = await client.request("list-store-product-logs", query={"store_number": "0001", "page_size": 1})
    entry = answer.json()["list"][0]
    async with shop.courier() as courier:
        body = {"reviews": [{"id": entry["id"], "review_status": 2}]}
        (op_id,) = shop.desk.write(Write("review-logs", (f"log/{entry['id']}",), STORE_RECOUNTS, {}, body))
        courier.wake()
        await shop.time.until(lambda: shop.desk.state(op_id) == "rejected")
    assert shop.desk.outbox.get(op_id).last_error


async def test_reviewed_entry_leaves_the_list_when_it_was_read_back(shop: Shop) -> None:
    def to_review() -> list[str]:
        return [row["key"] for row in shop.reads.query("entries_to_review", {"first": 0, "size": 9})[0]]

    async with shop.courier() as courier:
        request_read(shop.desk.db, "logs", "", shop.time.now)
        courier.wake()
        await shop.time.until(to_review, 30)
        key, *others = to_review()
        body = {"reviews": [{"id": int(key), "review_status": 2}]}
        (op_id,) = shop.desk.write(Write("review-logs", (f"log/{key}",), STORE_RECOUNTS, {}, body))
        courier.wake()
        await shop.time.until(lambda: shop.desk.is_read_back(op_id))
        assert to_review() == others


@pytest.mark.parametrize("most_single_reads", [200, 0], ids=["one", "many"])
async def test_entry_that_another_host_reviews_leaves_the_list(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, most_single_reads: int
) -> None:
    monkeypatch.setattr("aisle.courier.pull.change_feed.MAX_SINGLE_READS", most_single_reads)

    def to_review() -> list[str]:
        return [row["key"] for row in shop.reads.query("entries_to_review", {"first": 0, "size": 9})[0]]

    async with shop.courier() as courier:
        request_read(shop.desk.db, "logs", "", shop.time.now)
        courier.wake()
        await shop.time.until(to_review, 30)
        key, *others = to_review()
        async with shop.client(straight=True) as client:
            body = {"reviews": [{"id": int(key), "review_status": 2}]}
            await client.request_extension("POST", f"/aisle/v1/stores/{STORE}/reviews", body=body)
        await shop.time.until(lambda: to_review() == others, 30)


REJECTION = Write("reject-lines", ("order/O1",), STORE_RECOUNTS, {}, {"order_number": "O1", "lines": []})


@pytest.mark.parametrize(("write", "what"), [(recount("P1"), "recounts"), (REJECTION, "line-rejections")])
@pytest.mark.parametrize("features", ["", OWN], ids=["document", "without"])
async def test_a_service_that_takes_none_is_never_asked(
    aisle_home: Path, features: str, write: Write, what: str
) -> None:
    rig = Rig(aisle_home, Fake(features))
    try:
        (op_id,) = rig.desk.write(write)
        await rig.deliver()
        assert rig.desk.state(op_id) == "rejected"
        assert what in reason_text(rig.desk.outbox.get(op_id).last_error)
        assert not [request for request in rig.fake.requests if "/aisle/v1/" in request.url.path]
    finally:
        await rig.close()


async def test_line_reject_and_reopen_happen_once_despite_lost_answers(shop: Shop) -> None:
    async with shop.courier() as courier:
        order = shop.first()
        number, line = str(order["order_number"]), next(each for each in order["lines"] if not each["picked_quantity"])

        def stands() -> tuple[bool, bool]:
            (now,) = [each for each in shop.order(number)["lines"] if each["line_number"] == line["line_number"]]
            return bool(now.get("is_rejected")), bool(now["is_picked"])

        for deed, expected in (
            (OrderAction(CLOSE_LINE, reason="Damaged", line=line["line_number"]), (True, True)),
            (OrderAction(REOPEN_LINE, line=line["line_number"]), (False, False)),
        ):
            now: Any = shop.order(number)
            (write,) = decide(number, now, deed, "0001", can_reject_lines=True).writes
            assert isinstance(write, Write)
            shop.line.lose_answer.add("POST")
            lost = shop.line.lost
            (op_id,) = shop.desk.write(write)
            assert stands() == expected, "on the screens before anybody has heard of it"
            courier.wake()
            await shop.time.until(lambda lost=lost: shop.line.lost > lost + 1)  # type: ignore[misc]
            shop.line.lose_answer.clear()
            await shop.time.until(lambda op_id=op_id: shop.desk.is_read_back(op_id))  # type: ignore[misc]
            assert stands() == expected, "and when it was read back"
