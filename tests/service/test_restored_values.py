"""What hosts say of a thing, and not how much of it, after a restore: what was said last stands, whoever comes first
(README: After a restore)."""

from __future__ import annotations

from typing import Any

import pytest

from aisle.service.domain.quantities_times_and_json import format_timestamp
from tests.service.test_restores import ORDERS, Said, copied, line, restored
from tests.service.world import World

SETTINGS = "/stores/S1/storeproducts"
REJECTIONS = "/aisle/v1/stores/S1/line-rejections"
WHY, OTHER = {"rejection_reason_code": "21"}, {"rejection_reason_code": "22"}


@pytest.fixture
async def goods(world: World) -> Said:
    """Ten of P1 at A1, and an order of four of it."""
    await world.count("P1", "A1", stock_pool_1=10)
    await world.order("O1", {"product_number": "P1", "quantity": 4})
    return Said(world)


def at(world: World, minutes: float) -> dict[str, str]:
    """Something that happened so many minutes ago."""
    return {"Aisle-Occurred-At": format_timestamp(world.now - 60 * minutes)}


def setting(product: str = "P1", **fields: Any) -> list[dict[str, Any]]:
    return [{"product_number": product, **fields}]


def rejection(number: int, **said: Any) -> dict[str, Any]:
    return {"order_number": "O1", "lines": [{"line_number": number, **said}]}


async def shown(world: World, product: str = "P1") -> dict[str, Any]:
    [row] = await world.rows("/storeproducts/stock", store_number="S1", product_number=product)
    return row


FIELDS = [
    ("min", 3, 9),
    ("max", 40, 90),
    ("price", 2, 5),
    ("attention_codes", ["A"], ["B"]),
    ("is_promotion", True, False),
]


@pytest.mark.parametrize(("name", "older", "later"), FIELDS, ids=[field[0] for field in FIELDS])
async def test_a_later_setting_of_another_host_stands(
    world: World, goods: Said, name: str, older: Any, later: Any
) -> None:
    copy = copied(world)
    await goods("a1", "PUT", SETTINGS, setting(**{name: older}), headers=at(world, 60))
    restored(world, copy)
    await world.put(SETTINGS, setting(**{name: later}), headers=at(world, 30))
    before = await shown(world)
    for _ in range(2):
        answer = await goods.again("a1", 412)
        assert f"{name} of product P1 was changed later" in answer["message"]
        assert await shown(world) == before
    restored(world, copy)
    await goods.again("a1")


@pytest.mark.parametrize("first", ["older", "later"])
async def test_hosts_that_lost_settings_come_back_in_any_order(world: World, goods: Said, first: str) -> None:
    copy = copied(world)
    await goods("older", "PUT", SETTINGS, setting(min=3), headers=at(world, 60))
    await goods("later", "PUT", SETTINGS, setting(min=9), headers=at(world, 30))
    restored(world, copy)
    await goods.again(first)
    if first == "older":
        await goods.again("later")
    else:
        await goods.again("older", 412)
    assert (await shown(world))["min"] == 9


async def test_settings_that_are_no_later_ones_are_said_again(world: World, goods: Said) -> None:
    """Another field, another product, an older one, and what an integrator loads again."""
    copy = copied(world)
    await goods("a1", "PUT", SETTINGS, setting(min=3), headers=at(world, 60))
    restored(world, copy)
    await world.put(SETTINGS, setting(price=5), headers=at(world, 30))
    await world.put(SETTINGS, setting("P2", min=5), headers=at(world, 30))
    await world.put(SETTINGS, setting(min=5), headers=at(world, 90))
    await world.post(SETTINGS, {"store_products": setting(min=1)})
    await goods.again("a1")
    row = await shown(world)
    assert (row["min"], row["price"]) == (3, 5)


async def test_first_time_values_apply_in_order_of_arrival(world: World, goods: Said) -> None:
    await world.put(SETTINGS, setting(min=9), headers=at(world, 30))
    await world.put(SETTINGS, setting(min=3), headers=at(world, 60))
    assert (await shown(world))["min"] == 3


async def test_a_later_word_on_a_line_stands(world: World, goods: Said) -> None:
    copy = copied(world)
    await goods("a1", "POST", REJECTIONS, rejection(1, **WHY), headers=at(world, 60))
    restored(world, copy)
    await world.post(REJECTIONS, rejection(1, **OTHER), headers=at(world, 40))
    await goods.again("a1")
    assert (await world.line("O1"))["rejection_reason_code"] == "22", "it is rejected for the later reason"
    restored(world, copy)
    await world.post(REJECTIONS, rejection(1, **OTHER), headers=at(world, 40))
    await world.post(REJECTIONS, rejection(1, is_rejected=False), headers=at(world, 30))
    answer = await goods.again("a1", 412)
    assert "Line 1 of order O1 was changed later" in answer["message"]
    assert not (await world.line("O1")).get("is_rejected")
    restored(world, copy)
    await world.update("O1", line(1, 0, 2)["order_lines"][0], headers=at(world, 30))
    await goods.again("a1", 412)
    assert (await world.line("O1"))["picked_quantity"] == 2
    restored(world, copy)
    await goods.again("a1")
    assert (await world.line("O1"))["is_rejected"] is True


async def test_rejection_after_reopen_stands_after_restore(world: World, goods: Said) -> None:
    copy = copied(world)
    await goods("a1", "POST", REJECTIONS, rejection(1, **WHY), headers=at(world, 60))
    await goods("a2", "POST", REJECTIONS, rejection(1, is_rejected=False), headers=at(world, 50))
    restored(world, copy)
    await world.post(REJECTIONS, rejection(1, **OTHER), headers=at(world, 30))
    await goods.again("a1")
    await goods.again("a2", 412)
    found = await world.line("O1")
    assert (found["is_rejected"], found["rejection_reason_code"]) == (True, "22")


async def test_a_line_that_was_closed_short_is_as_it_was_said_last(world: World, goods: Said) -> None:
    copy = copied(world)
    await goods("a1", "PUT", ORDERS, {"orders": line(1, 0, 1, is_picked=True, **WHY)}, headers=at(world, 60))
    restored(world, copy)
    await world.update("O1", line(1, 0, 2, is_picked=False)["order_lines"][0], headers=at(world, 30))
    await goods.again("a1")
    found = await world.line("O1")
    assert (found["picked_quantity"], found["is_picked"]) == (3, False), "picked by both, and open"
    restored(world, copy)
    await world.update("O1", line(1, 0, 2, is_picked=True, **OTHER)["order_lines"][0], headers=at(world, 30))
    await goods.again("a1")
    found = await world.line("O1")
    assert (found["picked_quantity"], found["is_picked"], found["rejection_reason_code"]) == (3, True, "22")
    restored(world, copy)
    await world.update("O1", line(1, 0, 0, is_picked=True, **OTHER)["order_lines"][0], headers=at(world, 40))
    await world.update("O1", line(1, 0, 0, is_picked=False)["order_lines"][0], headers=at(world, 30))
    await goods.again("a1")
    found = await world.line("O1")
    assert (found["picked_quantity"], found["is_picked"]) == (1, False)
    restored(world, copy)
    await world.update("O1", line(1, 0, 1)["order_lines"][0], headers=at(world, 90))
    await goods.again("a1")
    found = await world.line("O1")
    assert (found["picked_quantity"], found["is_picked"], found["rejection_reason_code"]) == (2, True, "21")


async def test_a_pick_that_is_said_again_opens_no_line_that_was_closed_later(world: World, goods: Said) -> None:
    copy = copied(world)
    await goods("a1", "PUT", ORDERS, {"orders": line(1, 0, 1)}, headers=at(world, 60))
    await goods("a2", "PUT", ORDERS, {"orders": line(1, 1, 2, is_picked=False)}, headers=at(world, 50))
    restored(world, copy)
    await world.update("O1", line(1, 0, 1, is_picked=True, **OTHER)["order_lines"][0], headers=at(world, 30))
    await goods.again("a1")
    await goods.again("a2")
    found = await world.line("O1")
    assert (found["picked_quantity"], found["is_picked"], found["rejection_reason_code"]) == (3, True, "22")
