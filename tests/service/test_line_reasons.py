"""Why a line is short: kept with the line while it is so, told by the lists and noted once in the log."""

from __future__ import annotations

from typing import Any

import pytest

from tests.service.world import World

GONE: dict[str, Any] = {"rejection_reason_code": "21", "rejection_reason_code_description": "Not found"}
SPILT: dict[str, Any] = {"rejection_reason_code": "S-7", "rejection_reason_code_description": "Spilt"}


async def notes(world: World) -> list[dict[str, Any]]:
    """The entries of shortages."""
    found = await world.rows("/products/stock/storeproductlogs", store_number="S1")
    return [row for row in found if row["source"] == "short"]


async def ordered(world: World, quantity: int = 5) -> None:
    await world.count("P1", "A1", stock_pool_1=2)
    await world.order("O1", {"product_number": "P1", "quantity": quantity}, {"product_number": "P2", "quantity": 1})


def why(line: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in line.items() if name.startswith("rejection_reason")}


async def test_it_is_announced(world: World) -> None:
    answer = await world.call("list-stores")
    assert "line-reasons" in [part.strip() for part in answer.headers["aisle-features"].split(",")]


async def test_a_line_that_is_closed_short_keeps_why_and_the_log_has_it_once(world: World) -> None:
    await ordered(world)
    short: dict[str, Any] = {"is_picked": True, "preferred_location_code": "A1", **GONE}
    await world.pick("O1", 1, "P1", 2, **short)
    line = await world.line("O1")
    assert (line["is_picked"], line["picked_quantity"], why(line)) == (True, 2, GONE)
    await world.pick("O1", 1, "P1", 2, **short)
    [note] = await notes(world)
    assert note["reason_code"] == 21
    assert note["reason_code_description"] == "Not found"
    assert (note["reference"], note["customer_order_number"], note["customer_order_line_number"]) == ("O1", "O1", 1)
    assert (note["product_number"], note["location_code"], note["quantity"]) == ("P1", "A1", 0)
    assert why(await world.line("O1", 2)) == {}
    assert world.books() == {("P1", "", 1, "O1", 1): 2}


async def test_new_reason_is_new_entry_and_letter_code_is_text(world: World) -> None:
    await ordered(world)
    await world.pick("O1", 1, "P1", 2, is_picked=True, **GONE)
    await world.pick("O1", 1, "P1", 2, is_picked=True, **SPILT)
    assert why(await world.line("O1")) == SPILT
    first, second = await notes(world)
    assert "reason_code" not in second
    assert (first["reason_code"], second["reason_code_description"]) == (21, "Spilt")


@pytest.mark.parametrize("later", [{"is_picked": False}, {"picked_quantity": 5}, {"picked_quantity": 3}])
async def test_reason_goes_when_line_is_no_longer_short(world: World, later: dict[str, Any]) -> None:
    await ordered(world)
    await world.pick("O1", 1, "P1", 2, is_picked=True, **GONE)
    await world.update("O1", {"line_number": 1, "product_number": "P1", **later})
    assert why(await world.line("O1")) == {}
    assert len(await notes(world)) == 1


@pytest.mark.parametrize("said", [{"picked_quantity": 2}, {"picked_quantity": 5}, {"is_picked": False}])
async def test_said_of_a_line_that_is_not_short_it_is_let_be(world: World, said: dict[str, Any]) -> None:
    await ordered(world)
    await world.update("O1", {"line_number": 1, "product_number": "P1", **said, **GONE})
    assert why(await world.line("O1")) == {}
    assert await notes(world) == []


async def test_a_movement_that_fills_the_line_ends_it_too(world: World) -> None:
    await ordered(world, quantity=2)
    await world.pick("O1", 1, "P1", 1, is_picked=True, **GONE)
    target = {"location_code": "DESK", "customer_order_number": "O1", "customer_order_line_number": 1}
    await world.move("P1", 2, "A1", target)
    line = await world.line("O1")
    assert (line["picked_quantity"], why(line)) == (2, {})


async def test_line_reason_is_noted_once_per_key_and_refused_with_its_line(world: World) -> None:
    await ordered(world)
    await world.pick("O1", 1, "P1", 9, status=409, is_picked=True, **GONE)
    assert await notes(world) == []
    assert why(await world.line("O1")) == {}
    said = {"line_number": 1, "product_number": "P1", "is_picked": True, "picked_quantity": 0, **GONE}
    headers = {"Idempotency-Key": '"abcdefghijklmnop-1"', "Aisle-App-User": "anna"}
    for _ in range(2):
        await world.update("O1", said, headers=headers)
    [note] = await notes(world)
    assert (note["app_user_name"], note["quantity"]) == ("anna", 0)


async def test_the_wrong_type_is_malformed(world: World) -> None:
    await ordered(world)
    answer = await world.pick("O1", 1, "P1", 2, status=400, rejection_reason_code=21)
    assert answer["errors"][0]["field"].endswith("rejection_reason_code")
