"""Orders: created in one store and in several, repeated, flushed, rejected, finished, listed."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.service.world import START, World, line_end

ORDERS, PEOPLE = "/stores/S1/orders/customerorders", "/aisle/v1/stores/S1/people"


async def test_a_new_order_has_defaults_of_the_catalogue_and_nothing_is_picked(world: World) -> None:
    """`test_every_field` tells that each field comes back."""
    said = {"product_number": "P2", "quantity": 2, "barcode": "123", "description": "tea, please", "price": 2.25}
    await world.order("O1", said, {"product_number": "P1", "quantity": 1}, status_id=77, order_type="X")
    order = await world.see("O1")
    first, second = order["lines"]
    assert (order["status_id"], order["order_type_code"], order["version"], order["is_claimed"]) == (77, "X", 1, False)
    assert (order["total_lines"], order["total_quantity"], order["total_delivery_quantity"]) == (2, 3, 0)
    assert (first["barcode"], first["description"], float(first["price"])) == ("123", "tea, please", 2.25)
    assert (first["picked_quantity"], first["moved_quantity"], first["is_picked"]) == (0, 0, False)
    assert (second["barcode"], second["description"]) == ("4006381333931", "Müsli [/b] 50%")
    assert first["id"] < second["id"] < 2**53


async def test_an_unknown_product_refuses_the_whole_request(world: World) -> None:
    good = {"order_number": "O1", "order_lines": [{"line_number": 1, "product_number": "P1", "quantity": 1}]}
    bad = {"order_number": "O2", "order_lines": [{"line_number": 1, "product_number": "NONE", "quantity": 1}]}
    answer = await world.post(ORDERS, {"orders": [good, bad]}, 422)
    assert answer["errors"][0]["field"] == "orders[1].order_lines[0].product_number"
    assert await world.rows(ORDERS) == []


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ({"quantity": -1}, 422),
        ({"quantity": 0}, 422),
        ({"quantity": 0.0}, 422),
        ({"quantity": -0.0}, 422),
        ({"quantity": 0, "is_picked": True}, 422),
        ({"quantity": 0, "picked_quantity": 0}, 422),
        ({"product_number": "KG", "quantity": 0}, 422),
        ({"product_number": "FEE", "quantity": 0}, 422),
        pytest.param({"line_number": 1.5}, 422, marks=pytest.mark.drawn),
        ({"line_number": 1}, 422),
        pytest.param({"stock_pool": 12}, 422, marks=pytest.mark.drawn),
        ({"picking_stock_pool_array": ["x"]}, 422),
        pytest.param({"picked_quantity": 3}, 422, marks=pytest.mark.drawn),
        ({"pickup_date": "soon"}, 400),
        ({"delivery_date": "soon"}, 400),
        ({"ordering_datetime": "2026-13-01"}, 400),
        ({"picking_stock_pool_array": ["1" * 5000]}, 422),
        ({"quantity": "2"}, 400),
        ({"is_picked": 1}, 400),
        ({"walking": 1}, 400),
    ],
)
async def test_lines_that_cannot_be_are_refused(world: World, line: dict[str, Any], status: int) -> None:
    good = {"product_number": "P1", "quantity": 2}
    answer = await world.order("O1", good, {"line_number": 2, **good, **line}, status=status)
    assert answer["success"] is False
    assert "order_lines[1]" in answer["message"]
    assert await world.rows(ORDERS) == []


async def test_a_repeat_is_a_repeat_and_another_content_a_conflict(world: World) -> None:
    line = {"product_number": "P1", "quantity": 2}
    await world.order("O1", line, reference="R")
    await world.pick("O1", 1, "P1", 1)
    await world.order("O1", line, reference="R")
    several = {"order_number": "O1", "reference": "R", "store_number": "S1", "order_lines": [line | {"line_number": 1}]}
    await world.post("/orders/customerorders", {"orders": [several]})
    assert (await world.line("O1"))["picked_quantity"] == 1
    fresh = {"order_number": "O2", "order_lines": []}
    other = {"order_number": "O1", "order_lines": [line | {"line_number": 1, "quantity": 3}]}
    answer = await world.post(ORDERS, {"orders": [fresh, other]}, 409)
    assert answer["errors"][0]["field"] == "orders[1].order_number"
    assert len(await world.rows(ORDERS)) == 1


async def test_picked_lines_take_their_goods_when_the_order_is_made(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=9)
    await world.order(
        "O1", {"product_number": "P1", "quantity": 4, "picked_quantity": 3}, {"product_number": "P1", "quantity": 2}
    )
    await world.order("O2", {"product_number": "P1", "quantity": 2}, is_picked=True)
    assert world.books() == {("P1", "A1", 1): 4, ("P1", "", 1, "O1", 1): 3, ("P1", "", 1, "O2", 1): 2}
    assert [row["status_id"] for row in await world.rows(ORDERS)] == [2, 3]
    await world.order("O3", {"product_number": "P1", "quantity": 1, "is_picked": True}, is_active=False)
    assert world.books()[("P1", "A1", 1)] == 3
    assert (await world.line("O3"))["delivery_qty"] == 1


async def test_orders_for_several_stores_go_to_their_stores_or_nowhere(world: World) -> None:
    def order(number: str, store: str | None) -> dict[str, Any]:
        line = {"line_number": 1, "product_number": "P1", "quantity": 1}
        return {"order_number": number, "store_number": store, "stores_allowed": ["S1", "S2"], "order_lines": [line]}

    await world.post("/orders/customerorders", {"orders": [order("O1", "S1"), order("O2", "S2")]})
    for store, number in (("S1", "O1"), ("S2", "O2")):
        [row] = await world.rows(f"/stores/{store}/orders/customerorders")
        assert (row["order_number"], row["stores_allowed"]) == (number, "S1,S2")
    await world.post("/orders/customerorders", {"orders": [order("O3", "S1"), order("O4", None)]}, 422)
    await world.post("/orders/customerorders", {"orders": [order("O3", "S1"), order("O4", "NONE")]}, 403)
    assert len(await world.rows(ORDERS)) == 1


async def test_flush_releases_what_was_held_and_leaves_other_stores_alone(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=9)
    line = {"line_number": 1, "product_number": "P1", "quantity": 4}
    await world.order("O1", line)
    await world.move("P1", 1, "A1", line_end("O1", 1, "DESK"))
    await world.pick("O1", 1, "P1", 3)
    await world.post("/stores/S2/orders/customerorders", {"orders": [{"order_number": "X", "order_lines": [line]}]})
    staff = world.client_for("integration")
    body = {"orders": [{"order_number": "O9", "order_lines": [line]}]}
    await world.post(ORDERS, body, 403, query={"flush": True}, client=staff)
    await world.post(ORDERS, body, query={"flush": True})
    assert [row["order_number"] for row in await world.rows(ORDERS)] == ["O9"]
    assert len(await world.rows("/stores/S2/orders/customerorders")) == 1
    assert world.books() == {("P1", "A1", 1): 6, ("P1", "DESK", 1): 1, ("P1", "", 1): 2}
    assert await world.rows(ORDERS, order_number="O1", is_active=False) == []


async def test_order_loaded_again_by_flush_is_of_no_earlier_shipment(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=9)
    orders = [{"order_number": "O1", "order_lines": [{"line_number": 1, "product_number": "P1", "quantity": 4}]}]
    line = {"product_number": "P1", "quantity": 1, "customer_order_number": "O1", "customer_order_line_number": 1}
    line["customer_order_shipment_number"] = "SHIP"
    delivery = {"order_number": "D1", "no_of_containers": 1, "supplier_name": "S", "order_lines": [line]}
    await world.post(ORDERS, {"orders": orders})
    await world.post("/stores/S1/orders/deliveries", {"orders": [delivery]})
    found = []
    for flush in (False, True):
        await world.post(ORDERS, {"orders": orders}, query={"flush": flush})
        await world.move("P1", 1, "A1", line_end("O1", 1, "DESK"))
        found.append(await world.rows("/stores/S1/locations/DESK/products", customer_order_shipment_number="SHIP"))
    assert [len(rows) for rows in found] == [1, 0]


async def test_reject_frees_goods_where_they_lie_and_lists_what_is_in_hand(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=9)
    await world.order("O1", {"product_number": "P1", "quantity": 4})
    await world.move("P1", 1, "A1", line_end("O1", 1, "DESK"))
    await world.pick("O1", 1, "P1", 3)
    staff = world.client_for("staff")
    body = {"orders": {"order_number": "O1", "is_rejected": True}}
    await world.put("/stores/S1/orders/customerorder", body, 403, client=staff)
    await world.update("O1", is_rejected=True, rejection_reason_code="7", rejection_reason_code_description="late")
    assert world.books() == {("P1", "A1", 1): 6, ("P1", "DESK", 1): 1, ("P1", "", 1): 2}
    order = await world.see("O1")
    assert (order["is_rejected"], order["is_active"], order["status_id"]) == (True, True, 4)
    assert (order["rejection_reason_code"], order["rejection_reason_code_description"]) == ("7", "late")
    [back] = (await world.get("/aisle/v1/stores/S1/put-backs"))["put_backs"]
    assert (back["location_code"], back["quantity"], back["customer_order_number"]) == ("A1", 2, "O1")
    await world.pick("O1", 1, "P1", 1, status=409)
    await world.move("P1", 1, None, "A1")
    assert (await world.get("/aisle/v1/stores/S1/put-backs"))["put_backs"][0]["quantity"] == 1
    await world.move("P1", 1, None, "A1")
    assert (await world.get("/aisle/v1/stores/S1/put-backs"))["put_backs"] == []
    await world.update("O1", is_rejected=False)
    assert not [name for name in await world.see("O1") if name.startswith("rejection")], "the reason went with it"
    await world.pick("O1", 1, "P1", 1)


async def test_finish_takes_held_goods_out_and_cannot_be_undone(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=9)
    await world.order("O1", {"product_number": "P1", "quantity": 4})
    await world.move("P1", 1, "A1", line_end("O1", 1, "DESK"))
    await world.pick("O1", 1, "P1", 3)
    await world.update("O1", is_active=False)
    assert world.books() == {("P1", "A1", 1): 6}
    order = await world.see("O1")
    line = order["lines"][0]
    assert (order["status_id"], order["total_delivery_quantity"]) == (5, 3)
    assert (line["picked_quantity"], line["delivery_qty"], line["moved_quantity"]) == (3, 3, 1)
    assert await world.rows(ORDERS) == []
    await world.update("O1", is_active=True, status=409)
    await world.pick("O1", 1, "P1", 4, status=409)
    await world.update("O1", is_rejected=True, status=409)
    await world.pick("O1", 1, "P1", 3)
    await world.update("O1", is_active=False)


async def test_claims_and_orders_called_picked(world: World) -> None:
    await world.order("O1", {"product_number": "P1", "quantity": 2}, {"product_number": "P2", "quantity": 2})
    await world.update("O1", is_claimed=True)
    assert (await world.see("O1"))["is_claimed"] is True
    await world.pick("O1", 2, "P2", 1)
    await world.update("O1", is_picked=True)
    order = await world.see("O1")
    assert (order["is_picked"], [line["picked_quantity"] for line in order["lines"]]) == (True, [2, 1])
    await world.update("O1", is_picked=False, status=409)


async def test_last_picks_of_two_independent_hosts_are_both_accepted(world: World) -> None:
    await world.order("O1", {"product_number": "P1", "quantity": 2}, {"product_number": "P2", "quantity": 2})
    for line, product in ((1, "P1"), (2, "P2")):
        said = {"line_number": line, "product_number": product, "picked_quantity": 2, "is_picked": True}
        await world.update("O1", said, is_picked=False)
    order = await world.see("O1")
    assert (order["is_picked"], [line["picked_quantity"] for line in order["lines"]]) == (True, [2, 2])


async def test_stale_session_does_not_pick_reopened_line(world: World) -> None:
    await world.count("P2", "A1", stock_pool_1=5)
    await world.order("O1", {"product_number": "P1", "quantity": 2}, {"product_number": "P2", "quantity": 3})
    await world.pick("O1", 2, "P2", 3)
    await world.pick("O1", 2, "P2", 0, is_picked=False)
    said = {"line_number": 1, "product_number": "P1", "picked_quantity": 2, "is_picked": True}
    await world.update("O1", said, is_picked=True)
    order = await world.see("O1")
    lines = [(line["picked_quantity"], line["is_picked"]) for line in order["lines"]]
    assert (order["is_picked"], lines) == (False, [(2, True), (0, False)])
    assert world.books()[("P2", "A1", 1)] == 5


async def test_finished_order_accepts_same_lines_again(world: World) -> None:
    await world.order("O1", {"product_number": "P1", "quantity": 2}, {"product_number": "P2", "quantity": 2})
    said = {"line_number": 1, "product_number": "P1", "picked_quantity": 2, "is_picked": True}
    await world.update("O1", said)
    await world.update("O1", is_active=False)
    await world.update("O1", said, is_picked=True)
    await world.update("O1", said | {"picked_quantity": 1}, is_picked=False, status=409)
    await world.update("O1", is_picked=True, status=409)


@pytest.mark.parametrize(
    "lost",
    [
        {"rejection_reason_code": "7"},
        {"order_lines": [{"rejection_reason_code": "7"}]},
        {"order_lines": [{"is_picked": False}]},
        {"order_lines": [{"is_picked_from_warehouse": True}]},
        {"order_lines": [{"price": 0.2}]},
        {"order_lines": [{"pickup_date": "2026-06-01"}]},
        {"order_lines": [{"stock_pool": 3}]},
        {"order_lines": [{"preferred_location_code": "A2"}]},
    ],
    ids=str,
)
async def test_finished_order_takes_no_change_of_any_field(world: World, lost: dict[str, Any]) -> None:
    await world.order("O1", {"product_number": "P1", "quantity": 2, "price": 0.1})
    picked = {"line_number": 1, "product_number": "P1", "picked_quantity": 1, "is_picked": True, "price": 0.1}
    await world.update("O1", picked, is_active=False)
    lines = [{"line_number": 1, "product_number": "P1", **line} for line in lost.get("order_lines", ())]
    await world.update("O1", *lines, status=409, **{name: lost[name] for name in lost if name != "order_lines"})
    await world.update("O1", picked | {"stock_pool": 3, "preferred_location_code": "A2"}, is_claimed=True)


async def test_price_that_is_sent_again_is_no_change(world: World) -> None:
    line = {"line_number": 1, "product_number": "P1", "price": 0.1}
    await world.order("O1", line | {"quantity": 2})
    await world.update("O1", line)
    assert (await world.get("/aisle/v1/stores/S1/audit", subject="order"))["audit"] == []


async def test_filters_of_the_list(world: World) -> None:
    today = "2026-05-28"
    assert START == 1_780_000_000.0  # 2026-05-28
    line = {"product_number": "P1", "quantity": 1}
    await world.order("O1", line | {"pickup_date": today}, reference="R1", customer_city="Älmhult")
    await world.order("O2", line | {"pickup_date": "2026-05-30", "reference": "LR"}, customer_name="50%_off")
    await world.order("O3", line, is_active=False)
    await world.order("O4", line, is_picked=True)
    await world.order("O5", line | {"quantity": 2, "picked_quantity": 1})

    async def numbers(**query: Any) -> list[str]:
        return [row["order_number"] for row in await world.rows(ORDERS, **query)]

    assert await numbers() == ["O1", "O2", "O4", "O5"]
    assert await numbers(is_active=True) == ["O1", "O2", "O4", "O5"]
    assert await numbers(is_active=False) == ["O1", "O2", "O3", "O4", "O5"]
    assert await numbers(is_picked=True) == ["O4"]
    assert await numbers(is_picked=False) == ["O1", "O2", "O5"]
    assert await numbers(order_number="O2") == ["O2"]
    assert await numbers(reference="R1") == ["O1"]
    assert await numbers(reference="LR") == ["O2"]
    assert await numbers(search_text="almhult") == ["O1"]
    assert await numbers(search_text="50%_") == ["O2"]
    assert await numbers(search_text="5__1") == []
    assert await numbers(fulfillment_status="partial") == ["O5"]
    assert await numbers(fulfillment_status="finished", is_active=False) == ["O3"]
    assert await numbers(pickup_offset=0) == ["O1", "O4", "O5"]
    assert await numbers(pickup_offset=2) == ["O1", "O2", "O4", "O5"]
    assert await numbers(pickup_offset=-1) == ["O4", "O5"]
    assert "lines" not in (await world.rows(ORDERS))[0]


@pytest.mark.parametrize(
    ("said", "day"),
    [
        *(("2026-05-30", "2026-05-30"), ("20260530", "2026-05-30"), ("2026-W22-6", "2026-05-30")),
        *(("2026-05-30T23:30:00", "2026-05-30"), ("2026-05-30T12:00:00Z", "2026-05-30")),
        *(("2026-05-30T00:30:00+02:00", "2026-05-29"), ("2026-05-30 23:30:00-05:00", "2026-05-31")),
    ],
)
async def test_an_order_is_due_on_the_day_of_the_store_that_its_lines_name(
    world: World, said: str, day: str, in_zone: Callable[[str], None]
) -> None:
    in_zone("UTC")
    line = {"product_number": "P1", "quantity": 1}
    await world.order("O1", line | {"pickup_date": "2026-06-02"}, line | {"pickup_date": said})
    await world.update("O1", is_claimed=True)
    offset = int(day[-2:]) - 28
    for asked, due in ((offset - 1, []), (offset, [day])):
        assert [row["pickup_date"] for row in await world.rows(ORDERS, pickup_offset=asked)] == due
    assert (await world.line("O1", 2))["pickup_date"] == said


async def test_lines_show_where_their_goods_lie_only_when_asked(world: World) -> None:
    await world.count("P1", "A2", stock_pool_1=4, stock_pool_3=1)
    await world.count("P1", "BACK", stock_pool_2=4)
    await world.order("O1", {"product_number": "P1", "quantity": 2, "picking_stock_pool_array": ["2"]})
    await world.order("O2", {"product_number": "P1", "quantity": 2})
    await world.move("P1", 1, "A2", line_end("O1", 1, "DESK"))
    await world.move("P1", 1, "A2", line_end("O2", 1, "DESK"))
    [plain] = (await world.rows(ORDERS, order_number="O1", show_lines=True))[0]["lines"]
    assert "store_locations" not in plain
    assert plain["store_walking_order"] == 20
    line = await world.line("O1")
    assert line["stock_location"] == "A2"
    assert [
        (one["location_code"], one["quantity"], one.get("customer_order_number")) for one in line["store_locations"]
    ] == [("A2", 3, None), ("BACK", 4, None), ("DESK", 1, "O1")]
    assert line["store_locations"][0]["most_likely_pool_3"] == 1
    assert line["store_locations"][1]["default_stock_pool"] == "2"


async def test_a_store_without_locations_shows_none(world: World) -> None:
    line = {"line_number": 1, "product_number": "P1", "quantity": 3}
    await world.post("/stores/S2/orders/customerorders", {"orders": [{"order_number": "O2", "order_lines": [line]}]})
    [order] = await world.rows("/stores/S2/orders/customerorders", show_lines=True, include_locations=True)
    assert "store_locations" not in order["lines"][0]


@pytest.mark.parametrize("quantity", [0, -1, 0.0, -0.0])
async def test_a_line_cannot_be_changed_to_order_nothing(world: World, quantity: float) -> None:
    await world.order("O1", {"product_number": "P1", "quantity": 2})
    answer = await world.update("O1", {"line_number": 1, "product_number": "P1", "quantity": quantity}, status=422)
    assert "above 0" in answer["message"]
    assert "reject it" in answer["message"]
    assert (await world.line("O1"))["quantity"] == 2


NAMED_ORDERS = "/aisle/v1/stores/S1/orders"


def asked(*numbers: str) -> str:
    return "\n".join(numbers)


async def make_named(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=10)
    for number in ("O1", 'O,"2"', "O3"):
        await world.order(number, {"product_number": "P1", "quantity": 2}, {"product_number": "P2", "quantity": 1})
    await world.pick("O1", 1, "P1", 1)
    await world.update("O3", is_active=False)


async def test_named_order_equals_its_list_row_in_any_state(world: World) -> None:
    await make_named(world)
    found = await world.get(NAMED_ORDERS, numbers=asked("O3", "O1", 'O,"2"', "O1", "O9"))
    assert [row["order_number"] for row in found["list"]] == ["O1", 'O,"2"', "O3"]
    assert found["server_time"]
    for row in found["list"]:
        path = "/stores/S1/orders/customerorders"
        (alone,) = await world.rows(
            path, order_number=row["order_number"], show_lines=True, include_locations=True, is_active=False
        )
        assert row == alone


async def test_missing_named_orders_are_omitted(world: World) -> None:
    assert (await world.get(NAMED_ORDERS, numbers=asked("O1")))["list"] == []


@pytest.mark.parametrize("numbers", ["", "\n\n", "%' OR 1=1 --", "O" * 9000])
async def test_impossible_order_number_matches_nothing(world: World, numbers: str) -> None:
    await make_named(world)
    assert (await world.get(NAMED_ORDERS, numbers=numbers))["list"] == []


async def test_too_many_are_refused(world: World) -> None:
    await make_named(world)
    most = [f"X{number}" for number in range(99)]
    found = await world.get(NAMED_ORDERS, numbers=asked("O1", *most, "O1", ""))
    assert [row["order_number"] for row in found["list"]] == ["O1"]
    answer = await world.send("GET", NAMED_ORDERS, query={"numbers": asked("O1", *most, "X99")})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "numbers")


async def test_a_second_person_does_not_hand_the_same_order_over(world: World) -> None:
    await world.post(PEOPLE, {"people": [{"badge": "B1", "user": "anna", "name": "Anna Kovac"}]})
    await world.order("O1", {"product_number": "P1", "quantity": 1, "is_picked": True})

    async def finish(user: str, status: int = 200) -> Any:
        headers = {"Aisle-App-User": user} if user else {}
        return await world.update("O1", is_active=False, status=status, headers=headers)

    await finish("anna")
    assert (await finish("ben", 409))["handed_over"] == {"order_number": "O1", "by": "Anna Kovac"}
    await finish("anna")
    await finish("")
