"""Goods that are booked again elsewhere after an undo that the service refuses, since others have moved them on."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from aisle.jobs.job import Write
from aisle.outbox.operation_record import CLOSED, CONFIRMED, QUEUED, REFUSED
from aisle.stored_messages import is_stored_message, store_text
from tests.courier.test_real_service import OtherHost, Shop
from tests.courier.test_undo_as_booked import _done, _logs, _tried, shop, stocked
from tests.courier.writes import STORE, movement

__all__ = ["shop", "stocked"]

ORDER, DELIVERY = "O-9", "IN-9"
HELD = {"customer_order_number": ORDER, "customer_order_line_number": 1}
FOLLOWS = "stored_reason.follows_refused_undo"


def _receipt(shop: Shop, product: str, quantity: int, place: str) -> Write:
    """Goods of the delivery for the order."""
    write = _logs(shop, product, quantity=quantity, reference=DELIVERY, line_number=1, location_code=place)
    lanes = (f"delivery/{DELIVERY}", *write.lanes)
    return write._replace(lanes=lanes, query={**write.query, "is_from_receipt": True})


def _update(**fields: Any) -> Write:
    body = {"orders": {"order_number": ORDER, **fields}}
    return Write("update-customer-order", (f"order/{ORDER}",), {"store_number": STORE}, {}, body)


def _pick(product: str, picked: int) -> Write:
    line = {"line_number": 1, "product_number": product, "base_picked_quantity": 0, "picked_quantity": picked}
    return _update(order_lines=[{**line, "preferred_location_code": "ZZ-9"}])


def _put_down(product: str, frm: str, to: str) -> Write:
    """Two of the order's goods are put down at a location, or taken from it; empty: in hand."""
    ends = [{**HELD, "location_code": place} if place else HELD for place in (frm, to)]
    item = {"product_number": product, "quantity": 2, "from_location": ends[0], "to_location": ends[1]}
    lanes = (f"order/{ORDER}", f"product/{product}")
    return Write("create-movement", lanes, {"store_number": STORE}, {"AppUserName": "U1"}, [item])


class Pair(NamedTuple):
    """Steps of one person, and what others book before the undo arrives."""

    done: Sequence[Write]
    others: Sequence[Write]
    undo: Write
    again: Write


def _pair(shop: Shop, kind: str, product: str) -> Pair:
    match kind:
        case "receive":
            steps = [_receipt(shop, product, *step) for step in ((2, "ZZ-1"), (-2, "ZZ-1"), (2, "ZZ-2"))]
            return Pair(steps[:1], [_update(is_active=False)], *steps[1:])
        case "put down":
            done = [_pick(product, 4), _put_down(product, "", "ZZ-1")]
            others = [_put_down(product, "ZZ-1", "ZZ-3")]
            return Pair(done, others, _put_down(product, "ZZ-1", ""), _put_down(product, "", "ZZ-2"))
        case "move":
            moves = [movement(product, 2, *ends) for ends in (("ZZ-9", "ZZ-1"), ("ZZ-1", "ZZ-9"), ("ZZ-9", "ZZ-2"))]
            moves[1].body[0]["undone_datetime"] = "2027-01-15T11:59:00Z"
            return Pair(moves[:1], [movement(product, 2, "ZZ-1", "ZZ-3")], *moves[1:])
    lost = _logs(shop, product, quantity=-2, reason_code=1)
    reference = f"undo-{lost.body['storeproductlog'][0]['scanned_datetime']}"
    undo = _logs(shop, product, quantity=2, reference=reference, pool_location=99)  # as if the pool were closed since
    return Pair([lost], [], undo, _logs(shop, product, quantity=-2, reason_code=1, location_code="ZZ-1"))


async def _prepare(shop: Shop, product: str) -> None:
    line = {"line_number": 1, "product_number": product, "quantity": 6}
    order = {"order_number": ORDER, "order_lines": [line]}
    expected = {"product_number": product, "quantity": 6, "line_number": 1, **HELD}
    delivery = {"order_number": DELIVERY, "no_of_containers": 1, "order_lines": [expected]}
    places = [{"store_number": STORE, "location_code": f"ZZ-{n}", "location_order": 900 + n} for n in (1, 2, 3, 8)]
    async with shop.client(straight=True) as client:
        await client.call("create-customer-orders-one-store", {"orders": [order]}, store_number=STORE)
        await client.call("create-store-deliveries", {"orders": [delivery]}, store_number=STORE)
        await client.request_extension("POST", "/aisle/v1/locations", body={"locations": places})


async def _figures(shop: Shop, product: str) -> dict[str, Decimal]:
    """Return the stock by location."""
    query: dict[str, Any] = {"store_number": STORE, "product_number": product, "include_locations": True}
    async with shop.client(straight=True) as client:
        rows = (await client.request("list-store-products-stock", query=query)).json()["list"]
    return {row["store_location_code"]: Decimal(str(row["quantity"])) for row in rows[0]["store_locations"]}


async def _book_elsewhere(shop: Shop, folder: Path, writes: Sequence[Write]) -> None:
    """Book these on another host."""
    with closing(OtherHost(shop, folder)) as other:
        async with other.courier():
            other.desk.write(*writes)
            await _done(other)


KINDS = ["receive", "put down", "move", "loss"]


@pytest.mark.every_case
@pytest.mark.parametrize("known", ["refused before", "refused after"])
@pytest.mark.parametrize("kind", KINDS)
async def test_goods_booked_again_after_a_refused_undo_count_once(
    shop: Shop, stocked: str, tmp_path: Path, kind: str, known: str
) -> None:
    async with shop.courier():
        await _prepare(shop, stocked)
        pair = _pair(shop, kind, stocked)
        for write in pair.done:
            shop.desk.write(write)
            await _done(shop)
        shop.line.lose_request = {"POST", "PUT"}
        await _book_elsewhere(shop, tmp_path / "other", pair.others)
        before = await _figures(shop, stocked)
        (undo,) = shop.desk.write(pair.undo)
        _tried(shop.desk, undo)
        if known == "refused before":
            shop.line.lose_request = set()
            await _done(shop)
        (again,) = shop.desk.write(pair.again)
        shop.line.lose_request = set()
        states = await _done(shop, undo, again)
        assert (states, await _figures(shop, stocked)) == ([REFUSED, REFUSED], before)
        assert is_stored_message(shop.desk.outbox.get(again).last_error, FOLLOWS)


STEPS = ((2, "ZZ-1"), (-2, "ZZ-1"), (2, "ZZ-2"), (-2, "ZZ-2"), (2, "ZZ-3"), (1, "ZZ-3"))
"""Two pieces are booked, undone and booked again, twice; a third piece comes after them."""


def _refuse(shop: Shop, op_id: str) -> None:
    shop.desk.outbox.refuse(op_id, store_text("The order is finished."))


def _booked(shop: Shop, ids: Sequence[str]) -> list[str]:
    shop.desk.outbox.begin_sending(ids[0], b"{}")
    shop.desk.outbox.confirm(ids[0])
    return [*ids]


@pytest.mark.parametrize("known", range(2, 6))
async def test_all_that_follows_a_refused_undo_is_refused_with_it(shop: Shop, known: int) -> None:
    """The undo is refused after so many steps."""
    ids = _booked(shop, shop.desk.write(_receipt(shop, "P1", *STEPS[0])))
    for step in STEPS[1:]:
        ids += shop.desk.write(_receipt(shop, "P1", *step))
        if len(ids) == known:
            _refuse(shop, ids[1])
    states = [shop.desk.state(op_id) for op_id in ids]
    assert states[:2] == [CONFIRMED, REFUSED]
    assert [state in (REFUSED, CLOSED) for state in states[2:]] == [True, True, True, False]


async def test_goods_that_come_after_the_refusal_is_known_are_booked(shop: Shop) -> None:
    ids = _booked(shop, shop.desk.write(_receipt(shop, "P1", *STEPS[0])))
    ids += shop.desk.write(_receipt(shop, "P1", *STEPS[1]))
    _refuse(shop, ids[1])
    for place in ("ZZ-1", "ZZ-2"):
        ids += shop.desk.write(_receipt(shop, "P1", 2, place)._replace(told=(ids[1],)))
    assert [shop.desk.state(op_id) for op_id in ids] == [CONFIRMED, REFUSED, QUEUED, QUEUED]


async def test_what_follows_the_undo_of_a_refused_booking_is_sent(shop: Shop) -> None:
    ids = [op_id for step in STEPS[:3] for op_id in shop.desk.write(_receipt(shop, "P1", *step))]
    _refuse(shop, ids[0])
    assert [shop.desk.state(op_id) for op_id in ids] == [CLOSED, CLOSED, QUEUED]
    assert [op.op_id for op in shop.desk.outbox.sendable()] == ids[2:]
