"""Picking over HTTP: where goods come from, where they go back, and how lines close."""

from decimal import Decimal
from typing import Any

import pytest

from tests.service.world import World, line_end


async def test_pick_uses_line_pool_first_then_others_in_walk_order(world: World) -> None:
    await world.count("P1", "A10", stock_pool_1=2)
    await world.count("P1", "A2", stock_pool_1=1)
    await world.count("P1", "BACK", stock_pool_2=5)
    await world.order("O1", {"product_number": "P1", "quantity": 6, "picking_stock_pool_array": ["2"]})
    await world.pick("O1", 1, "P1", 2)
    assert world.books() == {("P1", "A10", 1): 1, ("P1", "BACK", 2): 5, ("P1", "", 1, "O1", 1): 2}
    await world.pick("O1", 1, "P1", 6)
    assert world.books() == {("P1", "BACK", 2): 2, ("P1", "", 1, "O1", 1): 3, ("P1", "", 2, "O1", 1): 3}
    assert (await world.see("O1"))["is_picked"] is True


async def test_pick_beyond_stock_is_flagged_and_makes_no_location_negative(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=1)
    await world.order("O1", {"product_number": "P1", "quantity": 3})
    await world.pick("O1", 1, "P1", 3)
    assert world.books() == {("P1", "", 1): -2, ("P1", "", 1, "O1", 1): 3}
    flagged = await world.rows("/products/stock/storeproductlogs", store_number="S1", review_status=1)
    assert {row["source"] for row in flagged} == {"pick"}
    [entry] = await world.rows("/storeproducts/stock", store_number="S1", product_number="P1")
    assert entry["most_likely_quantity"] == entry["most_likely_pool_1"] == 1


async def test_the_update_may_name_where_the_goods_were_taken(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=5)
    await world.count("P1", "BACK", stock_pool_2=1)
    await world.order("O1", {"product_number": "P1", "quantity": 3})
    await world.pick("O1", 1, "P1", 1, preferred_location_code="BACK", stock_pool=2)
    assert world.books() == {("P1", "A1", 1): 5, ("P1", "", 2, "O1", 1): 1}
    await world.pick("O1", 1, "P1", 3, preferred_location_code="BACK", stock_pool=2)
    assert world.books()[("P1", "", 2)] == -2
    line = await world.line("O1")
    assert (line["stock_pool"], "preferred_location_code" in line) == (1, False)


async def test_unknown_location_is_refused_or_kept_as_preference(world: World) -> None:
    await world.order("O1", {"product_number": "P1", "quantity": 3})
    answer = await world.pick("O1", 1, "P1", 1, status=422, preferred_location_code="NOWHERE")
    assert answer["errors"][0]["field"] == "orders.order_lines[0].preferred_location_code"
    line = {"line_number": 1, "product_number": "P1", "quantity": 3}
    await world.post("/stores/S2/orders/customerorders", {"orders": [{"order_number": "O2", "order_lines": [line]}]})
    said = {"line_number": 1, "product_number": "P1", "picked_quantity": 2, "preferred_location_code": "NOWHERE"}
    body = {"orders": {"order_number": "O2", "order_lines": [said]}}
    await world.put("/stores/S2/orders/customerorder", body)
    assert world.books("S2") == {("P1", "", 1): -2, ("P1", "", 1, "O2", 1): 2}


async def test_the_place_the_order_prefers_comes_first(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=5)
    await world.count("P1", "A10", stock_pool_1=5)
    await world.order("O1", {"product_number": "P1", "quantity": 6, "preferred_location_code": "A10"})
    assert (await world.line("O1"))["store_walking_order"] == 20
    await world.pick("O1", 1, "P1", 6)
    assert world.books() == {("P1", "A1", 1): 4, ("P1", "", 1, "O1", 1): 6}


async def test_lowering_puts_goods_back_where_they_came_from_the_last_first(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=2)
    await world.count("P1", "A2", stock_pool_1=2)
    await world.order("O1", {"product_number": "P1", "quantity": 4})
    await world.pick("O1", 1, "P1", 4)
    await world.pick("O1", 1, "P1", 1)
    assert world.books() == {("P1", "A1", 1): 1, ("P1", "A2", 1): 2, ("P1", "", 1, "O1", 1): 1}
    await world.pick("O1", 1, "P1", 0)
    assert world.books() == {("P1", "A1", 1): 2, ("P1", "A2", 1): 2}
    sources = [row["source"] for row in await world.rows("/products/stock/storeproductlogs", store_number="S1")]
    back = ["unpick", "unpick", "in_hand", "unpick", "in_hand"]
    assert sources == ["count", "count", "pick", "pick", "in_hand", *back]


async def test_lowering_from_a_base_puts_goods_back_where_it_names(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=5)
    await world.count("P1", "A2", stock_pool_1=5)
    await world.order("O1", {"product_number": "P1", "quantity": 9})
    await world.pick("O1", 1, "P1", 2, base_picked_quantity=0, preferred_location_code="A1")
    await world.pick("O1", 1, "P1", 4, base_picked_quantity=2, preferred_location_code="A2")
    await world.pick("O1", 1, "P1", 3, base_picked_quantity=4, preferred_location_code="A1")
    assert world.books() == {("P1", "A1", 1): 4, ("P1", "A2", 1): 3, ("P1", "", 1, "O1", 1): 3}
    await world.pick("O1", 1, "P1", 0, base_picked_quantity=3, preferred_location_code="A2", stock_pool=1)
    assert world.books() == {("P1", "A1", 1): 4, ("P1", "A2", 1): 6}


async def test_goods_that_two_locations_lacked_go_back_by_location(world: World) -> None:
    """Of each location's books they lacked one."""
    await world.count("P1", "A1", stock_pool_1=1)
    await world.order("O1", {"product_number": "P1", "quantity": 9})
    await world.pick("O1", 1, "P1", 1, base_picked_quantity=0, preferred_location_code="A1")
    await world.pick("O1", 1, "P1", 2, base_picked_quantity=1, preferred_location_code="A2")
    assert world.books() == {("P1", "", 1): -1, ("P1", "", 1, "O1", 1): 2}
    await world.pick("O1", 1, "P1", 1, base_picked_quantity=2, preferred_location_code="A1")
    assert world.books() == {("P1", "A1", 1): 1, ("P1", "", 1): -1, ("P1", "", 1, "O1", 1): 1}
    await world.move("P1", 1, line_end("O1", 1), line_end("O1", 1, "DESK"))
    await world.move("P1", 1, line_end("O1", 1, "DESK"), line_end("O1", 1))
    await world.pick("O1", 1, "P1", 0, base_picked_quantity=1, preferred_location_code="A2")
    assert world.books() == {("P1", "A1", 1): 1}


async def test_moved_goods_must_move_back_before_pick_is_lowered(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=4)
    await world.order("O1", {"product_number": "P1", "quantity": 4})
    await world.pick("O1", 1, "P1", 3)
    await world.move("P1", 2, line_end("O1", 1), line_end("O1", 1, "DESK"))
    answer = await world.pick("O1", 1, "P1", 1, status=409)
    assert "2 moved, move them back first" in answer["message"]
    assert answer["line"]["moved_quantity"] == 2
    await world.pick("O1", 1, "P1", 2)
    await world.move("P1", 2, line_end("O1", 1, "DESK"), "A1")
    assert world.books() == {("P1", "A1", 1): 4}
    line = await world.line("O1")
    assert (line["picked_quantity"], line["moved_quantity"]) == (0, 0)


@pytest.mark.parametrize(
    ("said", "picked", "closed"),
    [
        ({"is_picked": True}, 3, True),
        ({"is_picked": False}, 0, False),
        ({"picked_quantity": 0, "is_picked": True}, 0, True),
        ({"picked_quantity": 2, "is_picked": True}, 2, True),
        ({"picked_quantity": 2}, 2, False),
        ({"picked_quantity": 3}, 3, True),
        ({"picked_quantity": 3, "is_picked": False}, 3, True),
    ],
)
async def test_closing_an_untouched_line(world: World, said: dict[str, Any], picked: int, closed: bool) -> None:
    await world.order("O1", {"product_number": "P1", "quantity": 3})
    await world.update("O1", {"line_number": 1, "product_number": "P1", **said})
    line = await world.line("O1")
    assert (line["picked_quantity"], line["is_picked"]) == (picked, closed)
    assert (await world.see("O1"))["is_picked"] is closed


async def test_closing_a_touched_line_closes_it_short_and_opening_it_opens_it(world: World) -> None:
    await world.order("O1", {"product_number": "P1", "quantity": 3})
    await world.pick("O1", 1, "P1", 1)
    await world.update("O1", {"line_number": 1, "product_number": "P1", "is_picked": True})
    assert (await world.line("O1"))["picked_quantity"] == 1
    assert (await world.see("O1"))["is_picked"] is True
    await world.update("O1", {"line_number": 1, "product_number": "P1", "is_picked": False})
    order = await world.see("O1")
    assert (order["is_picked"], order["is_active"], order["status_id"]) == (False, True, 2)


async def test_excess_pick_is_refused_with_current_line(world: World) -> None:
    await world.order("O1", {"product_number": "P1", "quantity": 3})
    await world.pick("O1", 1, "P1", 2)
    before = await world.see("O1")
    answer = await world.pick("O1", 1, "P1", 4, status=409)
    assert answer["line"] | {"picked_quantity": 2, "quantity": 3} == answer["line"]
    said = {"line_number": 1, "product_number": "P1"}
    await world.update("O1", said | {"quantity": 1}, status=409)
    await world.update("O1", said | {"product_number": "P2"}, status=422)
    await world.update("O1", said | {"line_number": 2}, status=422)
    await world.update("O1", said | {"picked_quantity": -1}, status=422)
    await world.update("O1", said | {"picked_quantity": 1.5}, status=422)
    await world.update("NONE", said, status=404)
    assert await world.see("O1") == before


async def test_a_refused_line_takes_the_whole_update_with_it(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=9)
    await world.order("O1", {"product_number": "P1", "quantity": 3}, {"product_number": "P2", "quantity": 1})
    before, books = await world.see("O1"), world.books()
    good = {"line_number": 1, "product_number": "P1", "picked_quantity": 3}
    await world.update("O1", good, {"line_number": 2, "product_number": "P2", "picked_quantity": 2}, status=409)
    assert (await world.see("O1"), world.books()) == (before, books)


async def test_lines_that_are_not_named_stay_untouched_and_named_fields_change(world: World) -> None:
    await world.order("O1", {"product_number": "P1", "quantity": 3}, {"product_number": "P2", "quantity": 1})
    untouched = await world.line("O1", 2)
    await world.update(
        "O1",
        {
            "line_number": 1,
            "product_number": "P1",
            "quantity": 5,
            "price": 1.25,
            "description": "new",
            "pickup_date": "2026-06-01",
            "preferred_location_code": "A2",
            "stock_pool": 3,
        },
    )
    line, order = await world.line("O1"), await world.see("O1")
    assert await world.line("O1", 2) == untouched
    assert (line["quantity"], line["price"], line["description"]) == (5, Decimal("1.25"), "new")
    assert (line["preferred_location_code"], line["stock_pool"]) == ("A2", 3)
    assert (order["total_quantity"], order["pickup_date"]) == (6, "2026-06-01")


async def test_who_picked_is_known(world: World) -> None:
    await world.order("O1", {"product_number": "P1", "quantity": 3})
    said = {"line_number": 1, "product_number": "P1", "picked_quantity": 1}
    await world.update("O1", said, headers={"Aisle-App-User": "Chloë".encode()})
    assert (await world.line("O1"))["picked_username"] == "Chloë"
    taken, in_hand = await world.rows("/products/stock/storeproductlogs", store_number="S1")
    assert (taken["source"], taken["quantity"]) == ("pick", -1)
    assert (in_hand["source"], in_hand["quantity"]) == ("in_hand", 1)
    for entry in (taken, in_hand):
        assert (entry["app_user_name"], entry["customer_order_number"]) == ("Chloë", "O1")


async def test_goods_without_stock_are_picked_without_legs(world: World) -> None:
    await world.order("O1", {"product_number": "FEE", "quantity": 1})
    await world.pick("O1", 1, "FEE", 1)
    assert world.books() == {}
    assert (await world.see("O1"))["is_picked"] is True
    await world.update("O1", is_active=False)
    assert (await world.line("O1"))["delivery_qty"] == 1


async def test_quantities_are_exact_and_fractions_only_where_they_are_allowed(world: World) -> None:
    await world.count("KG", "A1", stock_pool_1=10)
    await world.order("O1", {"product_number": "KG", "quantity": 0.3})
    await world.pick("O1", 1, "KG", 0.1)
    await world.pick("O1", 1, "KG", 0.3)
    assert world.books() == {("KG", "A1", 1): Decimal("9.7"), ("KG", "", 1, "O1", 1): Decimal("0.3")}
    await world.order("O2", {"product_number": "KG", "quantity": 0.0005}, status=422)
    await world.order("O2", {"product_number": "P1", "quantity": 0.5}, status=422)
    await world.order("O2", {"product_number": "P1", "quantity": 1e13}, status=422)


async def test_warehouse_lines_move_no_stock_here_until_their_goods_arrive(world: World) -> None:
    await world.order("O1", {"product_number": "P1", "quantity": 3, "is_picked_from_warehouse": True})
    await world.pick("O1", 1, "P1", 3)
    assert world.books() == {}
    receipt: dict[str, Any] = {"product_number": "P1", "customer_order_number": "O1", "customer_order_line_number": 1}
    await world.log(query={"is_from_receipt": True}, quantity=2, location_code="DESK", **receipt)
    assert world.books() == {("P1", "DESK", 1, "O1", 1): 2}
    assert (await world.line("O1"))["picked_quantity"] == 3
    await world.log(query={"is_from_receipt": True}, quantity=2, location_code="DESK", **receipt)
    assert world.books() == {("P1", "DESK", 1, "O1", 1): 3, ("P1", "DESK", 1): 1}
    flagged = await world.rows("/products/stock/storeproductlogs", store_number="S1", review_status=1)
    assert [row["source"] for row in flagged] == ["receipt"]
    await world.pick("O1", 1, "P1", 1, status=409)
    await world.update("O1", is_active=False)
    assert (await world.line("O1"))["delivery_qty"] == 3


@pytest.mark.parametrize("way", ["receipt", "count", "movement"])
async def test_goods_that_arrive_for_a_warehouse_line_are_those_picked_there(world: World, way: str) -> None:
    await world.log(product_number="P1", location_code="A1", quantity=4)
    await world.order("O1", {"product_number": "P1", "quantity": 3, "is_picked_from_warehouse": True})
    await world.pick("O1", 1, "P1", 3)
    named: dict[str, Any] = {"customer_order_number": "O1", "customer_order_line_number": 1}

    async def come(quantity: int, status: int = 200) -> None:
        match way:
            case "receipt":
                entry = {"product_number": "P1", "location_code": "DESK", "quantity": quantity, **named}
                await world.log(query={"is_from_receipt": True}, **entry)
            case "count":
                held = world.books().get(("P1", "DESK", 1, "O1", 1), 0)
                await world.count("P1", "DESK", status, stock_pool_1=int(held) + quantity, **named)
            case _:
                await world.move("P1", quantity, "A1", line_end("O1", 1, "DESK"), status)

    for quantity, held in ((2, 2), (1, 3)):
        await come(quantity)
        assert world.books()[("P1", "DESK", 1, "O1", 1)] == held
        line = await world.line("O1")
        assert (line["picked_quantity"], line["moved_quantity"], line["is_picked"]) == (3, held, True)
    await come(1, 409)
    assert world.books()[("P1", "DESK", 1, "O1", 1)] == 3


async def test_in_each_pool_what_lies_at_no_place_comes_after_the_places(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=1)
    await world.count("P1", "BACK", stock_pool_2=5)
    await world.log(product_number="P1", quantity=2)
    await world.order("O1", {"product_number": "P1", "quantity": 4, "picking_stock_pool_array": ["2"]})
    await world.pick("O1", 1, "P1", 2)
    assert world.books() == {("P1", "", 1): 1, ("P1", "BACK", 2): 5, ("P1", "", 1, "O1", 1): 2}
    await world.pick("O1", 1, "P1", 4)
    assert world.books() == {("P1", "BACK", 2): 4, ("P1", "", 1, "O1", 1): 3, ("P1", "", 2, "O1", 1): 1}


async def test_short_line_reopens_on_pick_but_not_on_move(world: World) -> None:
    await world.order("O1", {"product_number": "P1", "quantity": 3})
    await world.pick("O1", 1, "P1", 1, is_picked=True)
    await world.move("P1", 1, line_end("O1", 1), line_end("O1", 1, "DESK"))
    line = await world.line("O1")
    assert (line["is_picked"], line["picked_quantity"], line["moved_quantity"]) == (True, 1, 1)
    await world.pick("O1", 1, "P1", 2)
    assert (await world.line("O1"))["is_picked"] is False


async def test_an_ordered_quantity_cannot_fall_below_what_is_picked(world: World) -> None:
    await world.order("O1", {"product_number": "P1", "quantity": 3})
    await world.pick("O1", 1, "P1", 2)
    answer = await world.update("O1", {"line_number": 1, "product_number": "P1", "quantity": 1}, status=409)
    assert answer["errors"][0]["field"] == "orders.order_lines[0].quantity"
    await world.update("O1", {"line_number": 1, "product_number": "P1", "quantity": 1, "picked_quantity": 1})
    assert (await world.see("O1"))["is_picked"] is True
    await world.update("O1", {"line_number": 1, "product_number": "P1", "quantity": 2})
    assert (await world.see("O1"))["is_picked"] is False


async def test_goods_put_down_and_taken_up_again_go_back_where_they_came_from(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=2)
    await world.count("P1", "A2", stock_pool_1=3)
    await world.order("O1", {"product_number": "P1", "quantity": 4})
    await world.pick("O1", 1, "P1", 4)
    await world.move("P1", 4, line_end("O1", 1), line_end("O1", 1, "DESK"))
    await world.move("P1", 4, line_end("O1", 1, "DESK"), line_end("O1", 1))
    await world.pick("O1", 1, "P1", 2)
    assert world.books() == {("P1", "A2", 1): 3, ("P1", "", 1, "O1", 1): 2}
    await world.pick("O1", 1, "P1", 0)
    assert world.books() == {("P1", "A1", 1): 2, ("P1", "A2", 1): 3}
    logs = await world.rows("/products/stock/storeproductlogs", store_number="S1")
    assert [row["location_code"] for row in logs if row["source"] == "unpick"] == ["A2", "A1"]


async def test_goods_moved_from_a_shelf_to_a_line_s_place_know_that_shelf(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=2)
    await world.order("O1", {"product_number": "P1", "quantity": 2})
    await world.move("P1", 2, "A1", line_end("O1", 1, "DESK"))
    await world.move("P1", 1, line_end("O1", 1, "DESK"), line_end("O1", 1, "BACK"))
    await world.move("P1", 1, line_end("O1", 1, "BACK"), line_end("O1", 1))
    await world.pick("O1", 1, "P1", 1)
    assert world.books() == {("P1", "A1", 1): 1, ("P1", "DESK", 1, "O1", 1): 1}
    await world.move("P1", 1, line_end("O1", 1, "DESK"), line_end("O1", 1))
    await world.update("O1", is_rejected=True)
    assert [row["location_code"] for row in (await world.get("/aisle/v1/stores/S1/put-backs"))["put_backs"]] == ["A1"]


async def test_goods_counted_away_have_no_source_location(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=3)
    await world.order("O1", {"product_number": "P1", "quantity": 3})
    await world.pick("O1", 1, "P1", 3)
    await world.move("P1", 3, line_end("O1", 1), line_end("O1", 1, "DESK"))
    await world.move("P1", 1, line_end("O1", 1, "DESK"), "A2")
    await world.move("P1", 2, line_end("O1", 1, "DESK"), line_end("O1", 1))
    await world.pick("O1", 1, "P1", 0)
    assert world.books() == {("P1", "A1", 1): 2, ("P1", "A2", 1): 1}
