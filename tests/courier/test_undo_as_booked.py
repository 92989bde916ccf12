"""Undo of counts and losses that wait unsent, or after which somebody counted, on two hosts of one service."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import closing
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from aisle.host.database import transaction
from aisle.jobs.job import Write
from aisle.jobs.view import msg
from aisle.outbox.operation_record import CLOSED, CONFIRMED, REFUSED, reason_of_operation
from aisle.stored_messages import LATER_COUNT, is_stored_message, read_message
from tests.courier.session_outbox import Desk
from tests.courier.test_real_service import OtherHost, Shop
from tests.courier.writes import STORE


@pytest.fixture
async def shop(aisle_home: Path) -> AsyncIterator[Shop]:
    shop = Shop(aisle_home)
    yield shop
    shop.close()


def _now(shop: Shop) -> str:
    shop.time.now += 1
    return datetime.fromtimestamp(shop.time.now, UTC).isoformat()


def _logs(shop: Shop, product: str, *, is_count: bool = False, **fields: Any) -> Write:
    """Return the operation of a count, a loss or an undo of the product at its place."""
    entry = {"product_number": product, "location_code": "ZZ-9", "app_user_name": "U1", "source": "aisle"}
    entry |= {"scanned_datetime": _now(shop), **fields}
    path, query = {"store_number": STORE}, {"appUserName": "U1", "is_counted_quantity": is_count}
    return Write("create-store-product-logs", (f"product/{product}",), path, query, {"storeproductlog": [entry]})


def _undo(shop: Shop, undone: Write, quantity: str) -> Write:
    [entry] = undone.body["storeproductlog"]
    reference = f"undo-{entry['scanned_datetime']}"
    return _logs(shop, entry["product_number"], quantity=Decimal(quantity), reference=reference)


def _tried(desk: Desk, op_id: str) -> None:
    """Make a waiting operation one that was tried, so that it may have left and its undo waits behind it."""
    with transaction(desk.db):
        desk.db.execute("UPDATE operation SET attempts = 1 WHERE op_id = ?", (op_id,))


async def _done(shop: Shop, *op_ids: str) -> list[str]:
    """Wait until nothing waits any more. Return the states of these operations."""
    ended = (CONFIRMED, REFUSED, CLOSED)
    await shop.time.until(lambda: all(op.state in ended for op in shop.desk.all()), within_s=600)
    return [shop.desk.state(op_id) for op_id in op_ids]


async def _stock(shop: Shop, product: str) -> Decimal:
    query: dict[str, Any] = {"store_number": STORE, "product_number": product, "include_locations": True}
    async with shop.client(straight=True) as client:
        rows = (await client.request("list-store-products-stock", query=query)).json()["list"]
    places = rows[0]["store_locations"]
    return sum((Decimal(str(row["quantity"])) for row in places if row["store_location_code"] == "ZZ-9"), Decimal(0))


def _product(shop: Shop) -> str:
    return str(shop.first()["lines"][0]["product_number"])


@pytest.fixture
async def stocked(shop: Shop) -> str:
    """Ten pieces of a product at ZZ-9. Return its number."""
    async with shop.courier():
        product = _product(shop)
        async with shop.client(straight=True) as client:
            place = {"store_number": STORE, "location_code": "ZZ-9", "location_order": 999}
            await client.request_extension("POST", "/aisle/v1/locations", body={"locations": [place]})
        shop.desk.write(_logs(shop, product, is_count=True, counted_quantity=Decimal(10)))
        await _done(shop)
    return product


async def test_undo_behind_a_waiting_count_reverses_what_was_booked(shop: Shop, stocked: str, tmp_path: Path) -> None:
    """This terminal saw 10 and counted 9; another host had found 2 more before, so that 3 less were booked."""
    with closing(OtherHost(shop, tmp_path / "other")) as other:
        async with shop.courier(), other.courier():
            shop.line.lose_request = {"POST"}
            other.desk.write(_logs(other, stocked, quantity=Decimal(2)))
            await _done(other)
            count = _logs(shop, stocked, is_count=True, counted_quantity=Decimal(9), expected_quantity=Decimal(10))
            undo = _undo(shop, count, "1")
            (count_id,) = shop.desk.write(count)
            _tried(shop.desk, count_id)
            (undo_id,) = shop.desk.write(undo)
            shop.line.lose_request = set()
            assert await _done(shop, undo_id) == [CONFIRMED]
            assert await _stock(shop, stocked) == 12


@pytest.mark.parametrize("undone", ["count", "loss"])
async def test_undo_leaves_what_was_counted_since(shop: Shop, stocked: str, tmp_path: Path, undone: str) -> None:
    with closing(OtherHost(shop, tmp_path / "other")) as other:
        async with shop.courier(), other.courier():
            shop.line.lose_request = {"POST"}
            if undone == "count":
                write = _logs(shop, stocked, is_count=True, counted_quantity=Decimal(9), expected_quantity=Decimal(10))
            else:
                write = _logs(shop, stocked, quantity=Decimal(-1), reason_code=1)
            (op_id,) = shop.desk.write(write)
            _tried(shop.desk, op_id)
            other.desk.write(_logs(other, stocked, is_count=True, counted_quantity=Decimal(8)))
            await _done(other)
            (undo_id,) = shop.desk.write(_undo(shop, write, "1"))
            shop.line.lose_request = set()
            await _done(shop)
            assert await _stock(shop, stocked) == 8
            assert not [op for op in shop.desk.all() if op.state == REFUSED], "nothing is left to do"
            (late,) = [op for op in shop.desk.all() if is_stored_message(op.last_error, LATER_COUNT)]
            assert (late.state, late.body["storeproductlog"][0]["reference"][:5]) == (CLOSED, "undo-")
            assert read_message(reason_of_operation(late)) == msg(LATER_COUNT, counted=Decimal(8))
            assert shop.desk.state(undo_id) == CLOSED


async def test_undo_of_a_later_count_that_was_undone_itself(shop: Shop, stocked: str, tmp_path: Path) -> None:
    with closing(OtherHost(shop, tmp_path / "other")) as other:
        async with shop.courier(), other.courier():
            shop.line.lose_request = {"POST"}
            count = _logs(shop, stocked, is_count=True, counted_quantity=Decimal(9), expected_quantity=Decimal(10))
            _tried(shop.desk, *shop.desk.write(count))
            later = _logs(other, stocked, is_count=True, counted_quantity=Decimal(8))
            other.desk.write(later)
            await _done(other)
            other.desk.write(_undo(other, later, "2"))
            await _done(other)
            shop.desk.write(_undo(shop, count, "1"))
            shop.line.lose_request = set()
            await _done(shop)
            assert await _stock(shop, stocked) == 10


async def test_undo_of_a_count_brings_a_late_loss_back_which_can_be_undone(
    shop: Shop, stocked: str, tmp_path: Path
) -> None:
    with closing(OtherHost(shop, tmp_path / "other")) as other:
        async with shop.courier(), other.courier():
            shop.line.lose_request = {"POST"}
            loss = _logs(shop, stocked, quantity=Decimal(-3), reason_code=1)
            shop.desk.write(loss)
            count = _logs(other, stocked, is_count=True, counted_quantity=Decimal(8))
            other.desk.write(count)
            await _done(other)
            shop.line.lose_request = set()
            await _done(shop)
            figures = [await _stock(shop, stocked)]
            for host, undo in ((other, _undo(other, count, "2")), (shop, _undo(shop, loss, "3"))):
                host.desk.write(undo)
                await _done(host)
                figures.append(await _stock(shop, stocked))
            assert figures == [8, 7, 10]


async def test_undo_of_a_refused_count_is_nothing(shop: Shop, stocked: str) -> None:
    async with shop.courier():
        shop.line.lose_request = {"POST"}
        count = _logs(shop, stocked, is_count=True, counted_quantity=Decimal(9), pool_location=99)
        _tried(shop.desk, *shop.desk.write(count))
        (undo_id,) = shop.desk.write(_undo(shop, count, "1"))
        shop.line.lose_request = set()
        assert await _done(shop, undo_id) == [CLOSED]
        assert await _stock(shop, stocked) == 10


@pytest.mark.parametrize(("seen", "is_read"), [("1", True), ("5", True), ("-2", False)])
async def test_undo_of_a_count_that_was_booked(shop: Shop, stocked: str, seen: str, is_read: bool) -> None:
    async with shop.courier():
        count = _logs(shop, stocked, is_count=True, counted_quantity=Decimal(9), expected_quantity=Decimal(3))
        (count_id,) = shop.desk.write(count)
        if is_read:
            await shop.time.until(lambda: shop.desk.is_read_back(count_id))
        shop.desk.write(_undo(shop, count, seen))
        await _done(shop)
        assert await _stock(shop, stocked) == 10


async def _last_counted(shop: Shop, product: str) -> str:
    query = {"store_number": STORE, "product_number": product}
    async with shop.client(straight=True) as client:
        rows = (await client.request("list-store-products-stock", query=query)).json()["list"]
    return str(rows[0]["last_counted_datetime"])


async def _recount_states(shop: Shop) -> list[str]:
    async with shop.client(straight=True) as client:
        answer = await client.request_extension("GET", f"/aisle/v1/stores/{STORE}/recounts", query={"state": "all"})
    return [row["state"] for row in answer.json()["recounts"]]


@pytest.mark.every_case
@pytest.mark.parametrize("counted", [10, 9])
@pytest.mark.parametrize("state", ["unsent", "tried", "booked", "read back"])
async def test_a_count_is_as_if_never_made_after_its_undo(shop: Shop, stocked: str, state: str, counted: int) -> None:
    """Ten are there: one count differs, the other does not."""
    async with shop.courier():
        async with shop.client(straight=True) as client:
            body = {"recounts": [{"product_number": stocked, "location_code": "ZZ-9"}]}
            await client.request_extension("POST", f"/aisle/v1/stores/{STORE}/recounts", body=body)
        before = await _last_counted(shop, stocked)
        shop.line.lose_request = {"POST"} if state in ("unsent", "tried") else set()
        count = _logs(shop, stocked, is_count=True, counted_quantity=counted, expected_quantity=10)
        (count_id,) = shop.desk.write(count)
        if state == "tried":
            _tried(shop.desk, count_id)
        elif state == "unsent":
            await shop.time.until(lambda: shop.line.lost)
        else:
            assert await _done(shop, count_id) == [CONFIRMED]
            assert [await _last_counted(shop, stocked) > before, await _recount_states(shop)] == [True, ["counted"]]
        if state == "read back":
            await shop.time.until(lambda: shop.desk.is_read_back(count_id))
        (undo_id,) = shop.desk.write(_undo(shop, count, str(10 - counted)))
        shop.line.lose_request = set()
        ends = [CLOSED, CLOSED] if state == "unsent" else [CONFIRMED, CONFIRMED]
        assert await _done(shop, count_id, undo_id) == ends
        assert (await _last_counted(shop, stocked), await _recount_states(shop)) == (before, ["open"])
        assert await _stock(shop, stocked) == 10


@pytest.mark.parametrize("is_sent", [True, False])
async def test_what_another_host_counted_since_stays(shop: Shop, stocked: str, tmp_path: Path, is_sent: bool) -> None:
    with closing(OtherHost(shop, tmp_path / "other")) as other:
        async with shop.courier(), other.courier():
            shop.line.lose_request = set() if is_sent else {"POST"}
            count = _logs(shop, stocked, is_count=True, counted_quantity=10, expected_quantity=10)
            (count_id,) = shop.desk.write(count)
            if is_sent:
                await _done(shop)
            other.desk.write(_logs(other, stocked, is_count=True, counted_quantity=10))
            await _done(other)
            counted_on = await _last_counted(shop, stocked)
            (undo_id,) = shop.desk.write(_undo(shop, count, "0"))
            shop.line.lose_request = set()
            await _done(shop)
            assert [shop.desk.state(each) for each in (count_id, undo_id)] == [CONFIRMED if is_sent else CLOSED, CLOSED]
            assert await _last_counted(shop, stocked) == counted_on
            assert await _stock(shop, stocked) == 10


@pytest.mark.parametrize(("undone", "back"), [("loss", "3"), ("found", "-3"), ("count", "3")])
@pytest.mark.parametrize("arrives", ["after the undo", "before the undo"])
async def test_a_late_count_between_an_entry_and_its_undo_stands(
    shop: Shop, stocked: str, tmp_path: Path, undone: str, back: str, arrives: str
) -> None:
    """This host counts without a link what another one books wrongly and undoes meanwhile."""
    with closing(OtherHost(shop, tmp_path / "other")) as other:
        async with shop.courier(), other.courier():
            shop.line.lose_request = {"POST"}
            if undone == "count":
                write = _logs(other, stocked, is_count=True, counted_quantity=Decimal(7), expected_quantity=Decimal(10))
            else:
                write = _logs(other, stocked, quantity=-Decimal(back), reason_code=1)
            other.desk.write(write)
            await _done(other)
            shop.desk.write(_logs(shop, stocked, is_count=True, counted_quantity=Decimal(10)))
            undo = _undo(other, write, back)
            if arrives == "after the undo":
                other.desk.write(undo)
                await _done(other)
            shop.line.lose_request = set()
            await _done(shop)
            if arrives == "before the undo":
                other.desk.write(undo)
                await _done(other)
            assert await _stock(shop, stocked) == 10
