"""Movements: between places, to order lines and from them, and what is refused."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.run_length import tries
from tests.service.world import World, line_end


@pytest.mark.parametrize(("named", "pool"), [(None, "3"), (2, "2")])
async def test_both_log_entries_of_a_movement_name_the_pool(world: World, named: int | None, pool: str) -> None:
    await world.count("P1", "A1", stock_pool_3=5)
    target = {"location_code": "BACK"} | ({"stock_pool": named} if named else {})
    await world.move("P1", 2, {"location_code": "A1", "stock_pool": 3}, target)
    entries = await world.rows("/products/stock/storeproductlogs")
    moved = {entry["quantity"]: entry.get("stock_pool") for entry in entries if "counted_quantity" not in entry}
    assert moved == {-2: "3", 2: pool}


async def test_goods_move_between_places_and_the_log_has_both_ends(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=5)
    answer = await world.move("P1", 2, "A1", "A2", reference="R1", reason_code="7")
    assert world.books() == {("P1", "A1", 1): 3, ("P1", "A2", 1): 2}
    rows = await world.rows("/products/stock/storeproductlogs", store_number="S1", reference="R1")
    assert [(row["location_code"], row["quantity"], row["reason_code"]) for row in rows] == [
        ("A1", -2, 7),
        ("A2", 2, 7),
    ]
    assert answer["data"] == ",".join(str(row["id"]) for row in rows)
    assert {row["source"] for row in rows} == {"movement"}


async def test_movement_pools_default_first_then_ascending_and_kept(world: World) -> None:
    await world.count("P1", "BACK", stock_pool_1=1, stock_pool_2=1, stock_pool_3=1)
    await world.move("P1", 2, "BACK", "A1")
    assert world.books() == {("P1", "BACK", 3): 1, ("P1", "A1", 1): 1, ("P1", "A1", 2): 1}
    await world.move("P1", 1, {"location_code": "BACK", "stock_pool": 3}, {"location_code": "A1", "stock_pool": 1})
    assert world.books() == {("P1", "A1", 1): 2, ("P1", "A1", 2): 1}
    await world.move("P1", 2, "A1", {"location_code": "A1", "stock_pool": 2})
    assert world.books() == {("P1", "A1", 2): 3}
    await world.move("P1", 1, "A1", {"location_code": "A1", "stock_pool": 2}, status=409)


async def test_a_list_of_nothing_is_done_and_said_to_have_moved_nothing(world: World) -> None:
    answer = await world.post("/stores/S1/storeproductlocation/movement", [], 200)
    assert answer == {"success": True, "data": "", "message": "The list is empty: there was nothing to move."}
    assert world.books() == {}


async def _logged(world: World) -> dict[str | None, Any]:
    """The sums of the log's quantities by location code."""
    sums: dict[str | None, Any] = {}
    for row in await world.rows("/products/stock/storeproductlogs", store_number="S1"):
        sums[row.get("location_code")] = sums.get(row.get("location_code"), 0) + row["quantity"]
    return sums


@pytest.mark.parametrize(
    ("picked", "moved", "sums", "entries"),
    [
        (3, 3, {"A1": 7, "A2": 3, None: 0}, [("in_hand", None, -3), ("movement", "A2", 3)]),
        (3, 2, {"A1": 7, "A2": 2, None: 1}, [("in_hand", None, -2), ("movement", "A2", 2)]),
        (3, 5, {"A1": 5, "A2": 5, None: 0}, [("in_hand", None, -3), ("movement", "A1", -2), ("movement", "A2", 5)]),
        (0, 4, {"A1": 6, "A2": 4}, [("movement", "A1", -4), ("movement", "A2", 4)]),
    ],
)
async def test_goods_in_hand_leave_no_location(
    world: World, picked: int, moved: int, sums: dict[str | None, int], entries: list[Any]
) -> None:
    await world.count("P1", "A1", stock_pool_1=10)
    await world.order("O1", {"product_number": "P1", "quantity": 6})
    if picked:
        await world.pick("O1", 1, "P1", picked, preferred_location_code="A1")
    answer = await world.move("P1", moved, "A1", line_end("O1", 1, "A2"), reference="R1")
    rows = await world.rows("/products/stock/storeproductlogs", store_number="S1", reference="R1")
    assert [(row["source"], row.get("location_code"), row["quantity"]) for row in rows] == entries
    assert answer["data"] == ",".join(str(row["id"]) for row in rows)
    assert await _logged(world) == sums
    await world.update("O1", is_active=False)
    assert await _logged(world) == sums | {"A2": 0, None: 0} if picked else sums | {"A2": 0}


async def test_no_code_is_no_place(world: World) -> None:
    await world.count("P1", None, counted_quantity=4)
    await world.move("P1", 3, None, "A1")
    await world.move("P1", 1, "A1", None)
    assert world.books() == {("P1", "", 1): 2, ("P1", "A1", 1): 2}


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"quantity": 6}, 409),
        ({"quantity": 0}, 422),
        ({"quantity": -1}, 422),
        ({"quantity": 0.5}, 422),
        ({"quantity": None}, 422),
        ({"product_number": "NONE"}, 422),
        ({"product_number": None}, 422),
        ({"product_number": "FEE"}, 422),
        ({"to_location": {"location_code": "NOWHERE"}}, 422),
        ({"from_location": {"location_code": "NOWHERE"}}, 422),
        pytest.param({"to_location": {"location_code": "A1"}}, 422, marks=pytest.mark.drawn),
        ({"to_location": {"stock_pool": 11}}, 422),
        ({"to_location": line_end("O1", 9)}, 422),
        ({"to_location": line_end("NONE", 1)}, 422),
        pytest.param({"to_location": line_end("O1", 2)}, 422, marks=pytest.mark.drawn),
        ({"to_location": {"customer_order_number": "O1"}}, 422),
        ({"to_location": line_end("O1", 1), "quantity": 4}, 409),
        ({"from_location": line_end("O1", 1)}, 409),
        ({"quantity": "2"}, 400),
        ({"surprise": 1}, 400),
    ],
)
async def test_a_bad_item_refuses_the_whole_request(world: World, change: dict[str, Any], status: int) -> None:
    await world.count("P1", "A1", stock_pool_1=5)
    await world.order("O1", {"product_number": "P1", "quantity": 2}, {"product_number": "P2", "quantity": 2})
    good = {"product_number": "P1", "quantity": 1}
    good |= {"from_location": {"location_code": "A1"}, "to_location": {"location_code": "A2"}}
    books = world.books()
    answer = await world.post("/stores/S1/storeproductlocation/movement", [good, good | change], status)
    assert answer["success"] is False
    assert answer["errors"][0]["field"].startswith("[1]")
    assert world.books() == books


async def test_overage_takes_the_place_below_none_and_is_flagged(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=1)
    await world.move("P1", 3, "A1", "A2", allow_overage=True)
    assert world.books() == {("P1", "A1", 1): -2, ("P1", "A2", 1): 3}
    [flagged] = await world.rows("/products/stock/storeproductlogs", store_number="S1", review_status=1)
    assert (flagged["location_code"], flagged["review_status"]) == ("A1", "1")


async def test_move_to_line_uses_goods_in_hand_first_and_picks_excess(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=5)
    await world.order("O1", {"product_number": "P1", "quantity": 4})
    await world.pick("O1", 1, "P1", 1)
    await world.move("P1", 3, "A1", line_end("O1", 1, "DESK"))
    assert world.books() == {("P1", "A1", 1): 2, ("P1", "DESK", 1, "O1", 1): 3}
    line = await world.line("O1")
    assert (line["picked_quantity"], line["moved_quantity"], line["is_picked"]) == (3, 3, False)
    await world.move("P1", 2, "A1", line_end("O1", 1, "DESK"), status=409)
    await world.move("P1", 1, "A1", line_end("O1", 1, "DESK"))
    assert (await world.see("O1"))["is_picked"] is True


async def test_a_move_from_a_line_to_free_lowers_picked_and_moved(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=5)
    await world.order("O1", {"product_number": "P1", "quantity": 4})
    await world.move("P1", 4, "A1", line_end("O1", 1, "DESK"))
    await world.move("P1", 1, line_end("O1", 1, "DESK"), "A2")
    line = await world.line("O1")
    assert (line["picked_quantity"], line["moved_quantity"], line["is_picked"]) == (3, 3, False)
    assert world.books() == {("P1", "A1", 1): 1, ("P1", "A2", 1): 1, ("P1", "DESK", 1, "O1", 1): 3}


async def test_goods_move_from_line_to_line(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=5)
    await world.order("O1", {"product_number": "P1", "quantity": 2}, {"product_number": "P1", "quantity": 2})
    await world.pick("O1", 1, "P1", 2)
    await world.move("P1", 1, line_end("O1", 1), line_end("O1", 2))
    assert [line["picked_quantity"] for line in (await world.see("O1"))["lines"]] == [1, 1]
    await world.pick("O1", 2, "P1", 0)
    assert world.books() == {("P1", "A1", 1): 4, ("P1", "", 1, "O1", 1): 1}


async def test_a_closed_order_takes_and_gives_no_goods(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=5)
    await world.order("O1", {"product_number": "P1", "quantity": 2})
    await world.update("O1", is_rejected=True)
    await world.move("P1", 1, "A1", line_end("O1", 1, "DESK"), status=409)
    await world.update("O1", is_rejected=False, is_active=False)
    await world.move("P1", 1, "A1", line_end("O1", 1, "DESK"), status=409)


@settings(max_examples=tries(5, 12), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moved=st.integers(1, 4), picked=st.integers(1, 4), pools=st.sampled_from([(1, None), (1, 2)]))
async def test_pick_then_move_equals_move_then_pick(
    world: World, moved: int, picked: int, pools: tuple[int, int | None]
) -> None:
    async def pick(order: str, quantity: int) -> None:
        await world.pick(order, 1, "P1", quantity)

    async def move(order: str) -> None:
        await world.move("P1", moved, "A1", line_end(order, 1, "DESK", pools[1]))

    goal = max(moved, picked)
    outcomes = []
    for order, moves_first in ((f"A{moved}{picked}{pools[1]}", False), (f"B{moved}{picked}{pools[1]}", True)):
        await world.count("P1", "A1", stock_pool_1=9)
        await world.count("P1", "DESK", stock_pool_1=0, stock_pool_2=0)
        await world.order(order, {"product_number": "P1", "quantity": 4})
        if moves_first:
            await move(order)
            await pick(order, goal)
        else:
            await pick(order, picked)
            await move(order)
        line = await world.line(order)
        held = {key[:3]: have for key, have in world.books().items() if key[3:4] == (order,)}
        outcomes.append((line["picked_quantity"], line["moved_quantity"], held, world.books()[("P1", "A1", 1)]))
        await world.update(order, is_active=False)
    assert outcomes[0] == outcomes[1]


async def test_the_place_s_default_pool_goes_first(world: World) -> None:
    await world.count("P1", "BACK", stock_pool_1=1, stock_pool_2=1)
    await world.move("P1", 1, "BACK", "A1")
    assert world.books() == {("P1", "BACK", 1): 1, ("P1", "A1", 2): 1}


async def test_a_move_to_a_line_without_a_place_is_a_pick_from_there(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=5)
    await world.count("P1", "A2", stock_pool_1=5)
    await world.order("O1", {"product_number": "P1", "quantity": 4})
    await world.pick("O1", 1, "P1", 1)
    await world.move("P1", 1, "A2", line_end("O1", 1))
    assert (await world.line("O1"))["picked_quantity"] == 2
    await world.pick("O1", 1, "P1", 1)
    assert world.books() == {("P1", "A1", 1): 4, ("P1", "A2", 1): 5, ("P1", "", 1, "O1", 1): 1}


async def test_goods_in_hand_of_several_pools_keep_where_they_came_from(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=1)
    await world.count("P1", "BACK", stock_pool_2=1)
    await world.order("O1", {"product_number": "P1", "quantity": 2, "picking_stock_pool_array": ["2"]})
    await world.pick("O1", 1, "P1", 2)
    await world.move("P1", 1, line_end("O1", 1, pool=2), line_end("O1", 1, "DESK"))
    await world.pick("O1", 1, "P1", 1)
    assert world.books() == {("P1", "A1", 1): 1, ("P1", "DESK", 2, "O1", 1): 1}
