"""Orders by their numbers, several in one request: the same as one after the other."""

from __future__ import annotations

import pytest

from tests.service.world import World

ORDERS = "/aisle/v1/stores/S1/orders"


def asked(*numbers: str) -> str:
    return "\n".join(numbers)


async def made(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=10)
    for number in ("O1", 'O,"2"', "O3"):
        await world.order(number, {"product_number": "P1", "quantity": 2}, {"product_number": "P2", "quantity": 1})
    await world.pick("O1", 1, "P1", 1)
    await world.update("O3", is_active=False)


async def test_named_order_equals_its_list_row_in_any_state(world: World) -> None:
    await made(world)
    found = await world.get(ORDERS, numbers=asked("O3", "O1", 'O,"2"', "O1", "O9"))
    assert [row["order_number"] for row in found["list"]] == ["O1", 'O,"2"', "O3"]
    assert found["server_time"]
    for row in found["list"]:
        path = "/stores/S1/orders/customerorders"
        (alone,) = await world.rows(
            path, order_number=row["order_number"], show_lines=True, include_locations=True, is_active=False
        )
        assert row == alone


async def test_missing_named_orders_are_omitted(world: World) -> None:
    assert (await world.get(ORDERS, numbers=asked("O1")))["list"] == []


@pytest.mark.parametrize("numbers", ["", "\n\n", "%' OR 1=1 --", "O" * 9000])
async def test_impossible_order_number_matches_nothing(world: World, numbers: str) -> None:
    await made(world)
    assert (await world.get(ORDERS, numbers=numbers))["list"] == []


async def test_too_many_are_refused(world: World) -> None:
    await made(world)
    most = [f"X{number}" for number in range(99)]
    found = await world.get(ORDERS, numbers=asked("O1", *most, "O1", ""))
    assert [row["order_number"] for row in found["list"]] == ["O1"]
    answer = await world.send("GET", ORDERS, query={"numbers": asked("O1", *most, "X99")})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "numbers")
