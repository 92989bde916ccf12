"""Recounts and reviews go once to our own service, and never to one without them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from aisle.cli.reason_texts import reason_text
from aisle.jobs.job import Write
from aisle.jobs.order_operations import CLOSE_LINE, REOPEN_LINE, OrderAction, decide
from tests.courier.fake_service import OWN, Fake
from tests.courier.test_push_loop import Rig
from tests.courier.test_real_service import Shop

STORE = {"store_number": "0001"}


@pytest.fixture
async def shop(aisle_home: Path) -> AsyncIterator[Shop]:
    shop = Shop(aisle_home)
    yield shop
    shop.close()


def recount(product: str) -> Write:
    return Write("write-recounts", (f"log/{product}",), STORE, {}, {"recounts": [{"product_number": product}]})


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
        (op_id,) = shop.desk.write(Write("write-recounts", (f"recount/{first['id']}",), STORE, {}, body))
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
        (op_id,) = shop.desk.write(Write("review-logs", (f"log/{entry['id']}",), STORE, {}, body))
        courier.wake()
        await shop.time.until(lambda: shop.desk.state(op_id) == "rejected")
    assert shop.desk.outbox.get(op_id).last_error


REJECTION = Write("reject-lines", ("order/O1",), STORE, {}, {"order_number": "O1", "lines": []})


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
