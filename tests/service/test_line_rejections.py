"""Lines that are rejected with a reason: their goods go back, and nobody picks them until they are taken up again."""

from __future__ import annotations

from typing import Any

import pytest

from tests.service.world import World, line_end

REJECT = "/aisle/v1/stores/S1/line-rejections"
WHY: dict[str, Any] = {"rejection_reason_code": "21", "rejection_reason_code_description": "Broken"}


async def reject(world: World, *lines: dict[str, Any], status: int = 200, order: str = "O1", **options: Any) -> Any:
    return await world.post(REJECT, {"order_number": order, "lines": list(lines)}, status, **options)


async def ordered(world: World) -> None:
    """Five of P1, of which two are in the hand and one stands at the desk; one P2, untouched."""
    await world.count("P1", "A1", stock_pool_1=10)
    await world.order("O1", {"product_number": "P1", "quantity": 5}, {"product_number": "P2", "quantity": 1})
    await world.pick("O1", 1, "P1", 3)
    await world.move("P1", 1, line_end("O1", 1), line_end("O1", 1, "DESK"))


async def test_rejected_line_frees_goods_and_logs_reason(world: World) -> None:
    await ordered(world)
    await reject(world, {"line_number": 1, **WHY})
    line = await world.line("O1")
    assert (line["is_rejected"], line["is_picked"], line["picked_quantity"]) == (True, True, 0)
    assert {name: line[name] for name in WHY} == WHY
    assert world.books() == {("P1", "A1", 1): 7, ("P1", "", 1): 2, ("P1", "DESK", 1): 1}
    backs = (await world.get("/aisle/v1/stores/S1/put-backs"))["put_backs"]
    assert [(row["product_number"], row["location_code"], row["quantity"]) for row in backs] == [("P1", "A1", 2)]
    logs = await world.rows("/products/stock/storeproductlogs", store_number="S1", reference="O1")
    [entry] = [row for row in logs if row["source"] == "rejected"]
    assert (entry["reason_code"], entry["reason_code_description"], entry["quantity"]) == (21, "Broken", 0)
    seen = await world.see("O1")
    assert (seen["is_picked"], seen["status_id"]) == (False, 1)
    await reject(world, {"line_number": 1, **WHY})
    assert (await world.see("O1"))["version"] > seen["version"]
    assert (
        len([row for row in await world.rows("/products/stock/storeproductlogs") if row["source"] == "rejected"]) == 1
    )


async def test_rejected_line_reserves_nothing_and_order_counts_as_picked(world: World) -> None:
    await ordered(world)
    await reject(world, {"line_number": 1, **WHY})
    [row] = await world.rows(
        "/storeproducts/stock", store_number="S1", product_number="P1", exclude_customer_order_stock=True
    )
    assert row["most_likely_quantity"] == 10, "nothing is reserved"
    await world.pick("O1", 2, "P2", 1)
    assert (await world.see("O1"))["is_picked"] is True
    await world.update("O1", is_active=False)
    assert [line["delivery_qty"] for line in (await world.see("O1"))["lines"]] == [0, 1]


async def test_taken_up_again_it_is_open_with_nothing_picked(world: World) -> None:
    await ordered(world)
    await reject(world, {"line_number": 1, **WHY}, {"line_number": 2, **WHY})
    assert (await world.see("O1"))["status_id"] == 3
    await reject(world, {"line_number": 1, "is_rejected": False})
    line = await world.line("O1")
    assert "is_rejected" not in line
    assert "rejection_reason_code" not in line
    assert (line["is_picked"], line["picked_quantity"]) == (False, 0)
    await world.pick("O1", 1, "P1", 5)
    assert (await world.line("O1"))["is_picked"] is True
    await reject(world, {"line_number": 1, "is_rejected": False})
    assert (await world.line("O1"))["picked_quantity"] == 5, "a line that is not rejected stays as it is"


@pytest.mark.parametrize(
    "said", [{"picked_quantity": 1}, {"is_picked": False}, {"picked_quantity": 0, "is_picked": False}]
)
async def test_nobody_picks_it_meanwhile(world: World, said: dict[str, Any]) -> None:
    await ordered(world)
    await reject(world, {"line_number": 1, **WHY})
    before = world.books()
    answer = await world.update("O1", {"line_number": 1, "product_number": "P1", **said}, status=409)
    assert answer["line"]["is_rejected"] is True
    await world.move("P1", 1, "A1", line_end("O1", 1, "DESK"), status=409)
    entry: dict[str, Any] = {"customer_order_number": "O1", "customer_order_line_number": 1}
    await world.count("P1", "DESK", 409, stock_pool_1=1, **entry)
    await world.log(409, product_number="P1", quantity=1, **entry)
    await world.update("O1", {"line_number": 1, "product_number": "P1", "picked_quantity": 0})
    await world.update("O1", {"line_number": 1, "product_number": "P1", "quantity": 4}, status=409)
    assert (await world.line("O1"))["is_picked"] is True
    assert world.books() == before


async def test_pick_of_rejected_line_returns_what_to_put_back(world: World) -> None:
    await ordered(world)
    await reject(world, {"line_number": 1, **WHY})
    said = {
        "line_number": 1,
        "product_number": "P1",
        "base_picked_quantity": 3,
        "picked_quantity": 5,
        "is_picked": True,
    }
    answer = await world.update("O1", said)
    assert (answer["left"][0]["left"], answer["left"][0]["is_rejected"]) == (2, True)
    assert (await world.line("O1"))["picked_quantity"] == 0


async def test_line_stays_rejected_through_order_reject_and_reopen(world: World) -> None:
    await ordered(world)
    await reject(world, {"line_number": 2, **WHY})
    await world.update("O1", is_rejected=True)
    await reject(world, {"line_number": 1, **WHY}, status=409)
    await world.update("O1", is_rejected=False)
    lines = (await world.see("O1"))["lines"]
    assert [(line.get("is_rejected", False), line["is_picked"]) for line in lines] == [(False, False), (True, True)]


async def test_what_cannot_be_rejected(world: World) -> None:
    await ordered(world)
    before = world.books(), await world.see("O1")
    await reject(world, {"line_number": 1, **WHY}, order="NONE", status=404)
    await reject(world, {"line_number": 1, **WHY}, {"line_number": 9, **WHY}, status=422)
    await reject(world, {"line_number": 1}, status=422)
    await reject(world, {"line_number": 1, "rejection_reason_code": ""}, status=422)
    for said in ("false", "no", "0"):  # which would else be heard as true
        await reject(world, {"line_number": 1, "is_rejected": said, **WHY}, status=400)
    await reject(world, {"line_number": 1, **WHY}, headers={"If-Match": '"1"'}, status=412)
    assert (world.books(), await world.see("O1")) == before
    await world.update("O1", is_active=False)
    await reject(world, {"line_number": 2, **WHY}, status=409)
    async with world.client_for("staff", ["S1"]) as staff:
        body = {"order_number": "O1", "lines": [{"line_number": 2, **WHY}]}
        assert (await world.send("POST", REJECT, body, client=staff)).status_code == 403


async def test_a_receipt_for_it_stays_free(world: World) -> None:
    await ordered(world)
    await reject(world, {"line_number": 2, **WHY})
    line = {"product_number": "P2", "quantity": 1, "customer_order_number": "O1", "customer_order_line_number": 2}
    delivery = {"order_number": "D1", "no_of_containers": 1, "order_lines": [line], "supplier_name": "S"}
    await world.post("/stores/S1/orders/deliveries", {"orders": [delivery]})
    await world.log(query={"is_from_receipt": True}, product_number="P2", quantity=1, reference="D1")
    assert world.books()[("P2", "", 1)] == 1
