"""Picks and movements through session, outbox and courier to our own service."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from aisle.scan.inputs_and_line_grouping import Line
from aisle.session.session import Session, open_session
from aisle.settings.setting_definitions import Settings
from tests.courier.test_real_service import Shop
from tests.courier.writes import STORE

CASES = 12
UP = "PU-01"


@pytest.fixture
async def shop(aisle_home: Path) -> AsyncIterator[Shop]:
    shop = Shop(aisle_home)
    yield shop
    shop.close()


def say(session: Session, *texts: str) -> None:
    """Lines, each in a queue of its own; none of them may be wrong or lead to a question."""
    for text in texts:
        frame = session.take([Line(text, "cr", 0.0, 0.0, 0.0)], 0.0)
        assert not frame.verdict or frame.verdict.kind != "wrong", (text, frame)


def home(session: Session) -> list[str]:
    """Back to home; the ids of its menu."""
    for _ in range(5):
        frame = session.take([Line("b", "cr", 0.0, 0.0, 0.0)], 0.0)
        if frame.view.name == "home":
            return [choice.id for choice in frame.view.choices]
    raise AssertionError(frame.view)


def move(session: Session, *texts: str) -> None:
    """The move job, from home and back."""
    say(session, str(home(session).index("home.move") + 1), *texts)
    home(session)


def pick(session: Session, order: str, code: str, quantity: int) -> None:
    """So many more of the only line of an order, if any."""
    if quantity:
        say(session, order, f"{quantity}*{code}")
        home(session)


async def goods(shop: Shop, count: int) -> list[dict[str, Any]]:
    """Products with a barcode and twenty pieces or more at one place, in one pool."""
    async with shop.client(straight=True) as client:
        query: dict[str, Any] = {"store_number": STORE, "include_locations": True, "page_size": 500}
        answer = await client.request("list-store-products-stock", query=query)
    rows = [row for row in answer.json()["list"] if row["barcode"] and len(row["store_locations"]) == 1]
    return [row for row in rows if row["store_locations"][0]["quantity"] >= 20][:count]


async def held(shop: Shop, order: str) -> tuple[Any, ...]:
    """What the service has of the only line of an order: picked, moved, and what is kept where."""
    async with shop.client(straight=True) as client:
        query: dict[str, Any] = {
            "order_number": order,
            "show_lines": True,
            "include_locations": True,
            "is_active": False,
        }
        answer = await client.request("list-customer-orders", path={"store_number": STORE}, query=query)
    (line,) = answer.json()["list"][0]["lines"]
    kept = [place for place in line["store_locations"] if place.get("customer_order_number")]
    places = sorted((place["location_code"], place["quantity"]) for place in kept)
    return line["picked_quantity"], line["moved_quantity"], line["is_picked"], places


async def test_picking_then_moving_is_moving_then_picking(shop: Shop) -> None:
    random = Random(7)
    rows = await goods(shop, CASES)
    cases = []
    for number, row in enumerate(rows):
        quantity = random.randint(1, 9)
        picked = random.randint(1, quantity)
        cases.append((f"CASE-{number}", row, quantity, picked, random.randint(1, picked)))
    orders = [
        {
            "order_number": f"{name}-{way}",
            "order_lines": [{"line_number": 1, "product_number": row["product_number"], "quantity": quantity}],
        }
        for name, row, quantity, *_ in cases
        for way in "AB"
    ]
    async with shop.client(straight=True) as client:
        await client.call("create-customer-orders-one-store", {"orders": orders}, store_number=STORE)
    async with shop.courier() as courier:
        session = open_session(shop.home, Settings(terminal="dock", user="U1"))
        session.start()
        for name, row, _, picked, moved in cases:
            code, place = row["barcode"], row["store_locations"][0]["store_location_code"]
            pick(session, f"{name}-A", code, picked)
            move(session, f"{name}-A", f"{moved}*{code}", f"{name}-A", UP)
            move(session, place, f"{moved}*{code}", f"{name}-B", UP)
            if random.random() < 0.5:
                courier.wake()
                await asyncio.sleep(0)
            pick(session, f"{name}-B", code, picked - moved)
        courier.wake()
        await shop.time.until(lambda: not any(shop.desk.outbox.pending_counts()))
        session.close()
        assert set(shop.desk.states()) <= {"done", "closed"}
    after = {row["product_number"]: row for row in await goods(shop, 10_000)}
    for name, row, quantity, picked, moved in cases:
        first, second = await held(shop, f"{name}-A"), await held(shop, f"{name}-B")
        assert first == second == (picked, moved, picked == quantity, [(UP, moved)])
        left = after.get(row["product_number"])
        assert left is None or left["most_likely_quantity"] == row["most_likely_quantity"]


async def test_a_refused_movement_leaves_the_screen_and_is_told(shop: Shop) -> None:
    (row,) = await goods(shop, 1)
    number, place = row["product_number"], row["store_locations"][0]["store_location_code"]
    async with shop.courier() as courier:
        session = open_session(shop.home, Settings(terminal="dock", user="U1"))
        session.start()
        say(session, str(home(session).index("home.move") + 1), place, f"5*{row['barcode']}")
        there = int(row["store_locations"][0]["quantity"])
        loss = {"product_number": number, "location_code": place, "stock_pool_1": -there}
        async with shop.client(straight=True) as client:
            await client.request(
                "create-store-product-logs",
                path={"store_number": STORE},
                query={"is_counted_quantity": False},
                body=json.dumps({"storeproductlog": [loss]}).encode(),
            )
        say(session, UP)
        courier.wake()
        await shop.time.until(lambda: "rejected" in shop.desk.states())
        await shop.time.until(lambda: courier.continuous_sync.read_queue.is_empty)
        frame = session.poll()
        assert frame is not None
        assert frame.verdict is not None
        assert frame.verdict.text.id == "receive.refused"
        assert frame.link.needs_person == 1
        (target,) = shop.reads.query("location", {"location_code": UP})[0]
        assert number not in {each["product_number"] for each in target["products"]}
        session.close()
