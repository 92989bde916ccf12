"""Deliveries that are announced, what comes of them, and the receipts that show it."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from aisle.service.domain.states import delivery_state
from tests.service.world import LOGS, World, store_body

DELIVERIES = "/stores/S1/orders/deliveries"
MANY = "/orders/deliveries"
RECEIPT = {"is_from_receipt": True}


def announced(number: str, *lines: dict[str, Any], **head: Any) -> dict[str, Any]:
    """A delivery of one store."""
    return {"order_number": number, "no_of_containers": 1, "order_lines": list(lines), **head}


async def announce(world: World, number: str, *lines: dict[str, Any], status: int = 200, **head: Any) -> Any:
    """It, sent to S1."""
    return await world.post(DELIVERIES, {"orders": [announced(number, *lines, **head)]}, status)


async def receive(world: World, product: str, quantity: Any, status: int = 200, **entry: Any) -> Any:
    """Goods of delivery D1 come in."""
    said = {"product_number": product, "quantity": quantity, "reference": "D1", **entry}
    return await world.log(status, RECEIPT, **said)


async def see(world: World, number: str = "D1") -> dict[str, Any]:
    """A delivery of S1."""
    rows = await world.rows(MANY, store_number="S1", order_number=number)
    assert len(rows) == 1, rows
    return rows[0]


async def figures(world: World, number: str = "D1") -> tuple[str, list[tuple[int, Any]]]:
    """Its state, and what was received of each line."""
    seen = await see(world, number)
    return seen["status"], [(line["line_number"], line["received_quantity"]) for line in seen["order_lines"]]


async def test_times_and_missing_fields_of_a_delivery(world: World) -> None:
    """`test_every_field` tells that each field comes back."""
    times: dict[str, Any] = {"datetime_created": "2026-05-01T10:00:00+02:00", "datetime_expected": "2026-05-04"}
    line = {"product_number": "P2", "quantity": 6, "line_number": 4, "description": "Tea, boxed"}
    await announce(world, "D1", line, {"product_number": "KG", "quantity": 1.5}, **times)
    seen = await see(world)
    assert (seen["datetime_created"], seen["datetime_expected"]) == ("2026-05-01T08:00:00.000Z", "2026-05-04")
    assert (seen["order_type"], seen["status"], seen["is_downloaded"]) == ("1", "open", False)
    assert "aisle" not in seen
    first, second = seen["order_lines"]
    assert (second["line_number"], second["description"], second["received_quantity"]) == (4, "Tea, boxed", 0)
    assert (first["line_number"], first["description"], first["barcode"]) == (1, "Loose apples", "2000000000017")
    assert float(first["quantity"]) == 1.5


@pytest.mark.parametrize(
    "line",
    [
        {"product_number": "NONE"},
        {"quantity": -1},
        {"quantity": 0.5},
        {"target_stock_pool": 11},
        {"customer_order_number": "O1"},
        {"customer_order_line_number": 1},
        {"line_number": 1.5},
        {"product_number": "", "barcode": "999"},
        {"product_number": ""},
    ],
)
async def test_a_line_that_cannot_be_refuses_the_whole_request(world: World, line: dict[str, Any]) -> None:
    good = announced("D0", {"product_number": "P1", "quantity": 1})
    bad = announced("D1", {"product_number": "P1", "quantity": 1} | line)
    await world.post(DELIVERIES, {"orders": [good, bad]}, 422)
    assert await world.rows(MANY) == []


async def test_line_numbers_are_given_where_none_are_said_and_never_twice(world: World) -> None:
    await announce(
        world, "D1", *({"product_number": "P1", "quantity": 1, **number} for number in ({}, {"line_number": 1}, {}))
    )
    assert await figures(world) == ("open", [(1, 0), (2, 0), (3, 0)])
    twice = [{"product_number": "P1", "quantity": 1, "line_number": 1}] * 2
    await announce(world, "D2", *twice, status=422)


async def test_a_repeat_is_a_repeat_and_another_content_needs_the_override(world: World) -> None:
    line = {"product_number": "P1", "quantity": 4}
    await announce(world, "D1", line)
    await announce(world, "D1", line)
    before = await see(world)
    await announce(world, "D1", line | {"quantity": 5}, status=409)
    assert await see(world) == before
    body = {"orders": [announced("D1", line | {"quantity": 5})]}
    await world.post(DELIVERIES, body, headers={"container_override": "true"})
    after = await see(world)
    assert [one["quantity"] for one in after["order_lines"]] == [5]
    assert after["import_id"] == before["import_id"]
    await receive(world, "P1", 1)
    body = {"orders": [announced("D1", line | {"quantity": 6})]}
    await world.post(DELIVERIES, body, 409, headers={"container_override": "true"})
    await world.post(DELIVERIES, body, 400, headers={"container_override": "perhaps"})


async def test_deliveries_of_several_stores_go_to_their_stores_or_nowhere(world: World) -> None:
    line = {"barcode": "04006381333931", "quantity": 2}
    orders = [announced(f"D-{store}", line, store_number=store, supplier_name="S") for store in ("S1", "S2")]
    await world.post(MANY, {"orders": orders})
    rows = await world.rows(MANY)
    assert [(row["store_number"], row["order_lines"][0]["product_number"]) for row in rows] == [
        ("S1", "P1"),
        ("S2", "P1"),
    ]
    assert [row["order_number"] for row in await world.rows(MANY, page_size=1, page_start=2)] == ["D-S2"]
    bad = [announced("D9", line, store_number=store, supplier_name="S") for store in ("S1", "NONE")]
    await world.post(MANY, {"orders": bad}, 403)
    assert len(await world.rows(MANY)) == 2
    client = world.client_for("staff", ["S2"])
    answer = await world.send("GET", MANY, client=client)
    assert [row["store_number"] for row in answer.json()["list"]] == ["S2"]
    assert (await world.send("GET", MANY, query={"store_number": "S1"}, client=client)).status_code == 403


async def test_filters_of_deliveries(world: World) -> None:
    line = {"product_number": "P1", "quantity": 1}
    await announce(world, "D1", line, supplier_code="A", supplier_name="Müller", datetime_expected="2026-06-01")
    world.now += 100_000
    await announce(world, "D2", {"product_number": "P2", "quantity": 1}, supplier_code="B", supplier_name="Moss")
    await receive(world, "P1", 1)

    async def found(**query: Any) -> list[str]:
        return [row["order_number"] for row in await world.rows(MANY, **query)]

    assert await found() == ["D1", "D2"]
    assert await found(supplier_code="A") == await found(supplier_name="MULL") == ["D1"]
    assert await found(delivery_date="2026-06-01") == await found(group_code="food") == ["D1"]
    assert await found(status="received") == await found(is_submitted=True) == ["D1"]
    assert await found(status="open") == await found(is_submitted=False) == ["D2"]
    assert await found(last_modified_date="2026-05-29") == ["D1", "D2"]
    assert await found(last_modified_date="2030-01-01") == []
    answer = await world.send("GET", MANY, query={"delivery_date": "soon"})
    assert answer.status_code == 400


async def test_received_goods_fill_lines_in_order_and_show_on_receipt(world: World) -> None:
    await announce(
        world,
        "D1",
        {"product_number": "P1", "quantity": 4},
        {"product_number": "P2", "quantity": 2},
        {"product_number": "P1", "quantity": 3},
        order_type=2,
    )
    assert await world.rows("/orders/receipts", receipt_type=2) == []
    await receive(world, "P1", 5, location_code="A1")
    assert await figures(world) == ("partial", [(1, 4), (2, 0), (3, 1)])
    await receive(world, "P1", 2)
    await receive(world, "P2", 2)
    assert await figures(world) == ("received", [(1, 4), (2, 2), (3, 3)])
    assert world.books() == {("P1", "A1", 1): 5, ("P1", "", 1): 2, ("P2", "", 1): 2}
    (row,) = await world.rows("/stores/S1/orders/receipts", receipt_type=2)
    assert (row["order_number"], row["order_type_id"], row["status"]) == ("D1", 2, "received")
    assert [(line["shipped_quantity"], line["received_quantity"]) for line in row["receipt_lines"]] == [
        (4, 4),
        (2, 2),
        (3, 3),
    ]
    assert await world.rows("/orders/receipts", receipt_type=1) == []
    logs = await world.rows("/products/stock/storeproductlogs", reference="D1")
    assert [(log["source"], log["quantity"], log["review_status"]) for log in logs] == [
        ("receipt", 5, "0"),
        ("receipt", 2, "0"),
        ("receipt", 2, "0"),
    ]


async def test_excess_and_unannounced_goods_are_received_and_flagged(world: World) -> None:
    await announce(world, "D1", {"product_number": "P1", "quantity": 4})
    await receive(world, "P1", 6)
    await receive(world, "P2", 1)
    assert await figures(world) == ("received", [(1, 6), (2, 1)])
    assert world.books() == {("P1", "", 1): 6, ("P2", "", 1): 1}
    logs = await world.rows("/products/stock/storeproductlogs", review_status=1)
    assert [(log["product_number"], log["quantity"]) for log in logs] == [("P1", 6), ("P2", 1)]


async def test_receipt_names_line_and_respects_pool_and_order_line(world: World) -> None:
    await world.order("O1", {"product_number": "P1", "quantity": 3}, {"product_number": "P1", "quantity": 9})
    held: dict[str, Any] = {"customer_order_number": "O1", "customer_order_line_number": 1}
    await announce(
        world,
        "D1",
        {"product_number": "P1", "quantity": 2, "target_stock_pool": 4},
        {"product_number": "P1", "quantity": 5, **held},
        {"product_number": "P1", "quantity": 1},
    )
    await receive(world, "P1", 1, line_number=3, location_code="BACK")
    await receive(world, "P1", 3, location_code="A1")
    assert await figures(world) == ("partial", [(1, 2), (2, 1), (3, 1)])
    assert world.books() == {("P1", "BACK", 2): 1, ("P1", "A1", 4): 2, ("P1", "A1", 1, "O1", 1): 1}
    await receive(world, "P1", 3, stock_pool_6=3, line_number=2)
    assert world.books()["P1", "", 6] == 1, "the line was for three, one of them has come before"
    assert world.books()["P1", "", 6, "O1", 1] == 2
    assert (await world.line("O1"))["picked_quantity"] == 3
    await receive(world, "P1", 1, 422, line_number=9)
    await receive(world, "P2", 1, 422, line_number=1)


async def test_entry_for_order_line_fills_its_delivery_lines_first(world: World) -> None:
    await world.order("O1", {"product_number": "P1", "quantity": 9})
    held: dict[str, Any] = {"customer_order_number": "O1", "customer_order_line_number": 1}
    await announce(world, "D1", *({"product_number": "P1", "quantity": 2, **to} for to in ({}, held)))
    await receive(world, "P1", 3, **held)
    assert await figures(world) == ("partial", [(1, 1), (2, 2)])
    assert world.books() == {("P1", "", 1, "O1", 1): 3}


@pytest.mark.parametrize("named", [("O1", 1), ("O2", 1), ("O2", 7), ("O9", 1)])
async def test_goods_for_an_order_line_that_cannot_take_them_are_free_and_flagged(
    world: World, named: tuple[str, int]
) -> None:
    """The order is closed, the line is of another product, or one of them does not exist."""
    for number, product in (("O1", "P1"), ("O2", "P2")):
        await world.order(number, {"product_number": product, "quantity": 3})
    order, line = named
    held = {"customer_order_number": order, "customer_order_line_number": line}
    await announce(world, "D1", {"product_number": "P1", "quantity": 3, **held})
    await world.update("O1", is_rejected=True)
    await receive(world, "P1", 3)
    assert world.books() == {("P1", "", 1): 3}
    assert await figures(world) == ("received", [(1, 3)])
    (log,) = await world.rows("/products/stock/storeproductlogs", review_status=1)
    assert (log["product_number"], log["quantity"]) == ("P1", 3)


async def test_undo_of_receipt_starts_at_last_line_within_received(world: World) -> None:
    await announce(world, "D1", *({"product_number": "P1", "quantity": 2} for _ in range(2)))
    await receive(world, "P1", 3)
    await receive(world, "P1", -2)
    assert await figures(world) == ("partial", [(1, 1), (2, 0)])
    await receive(world, "P1", -2, 409)
    await receive(world, "P1", -1)
    assert await figures(world) == ("open", [(1, 0), (2, 0)])
    assert world.books() == {}


async def announce_for_order(world: World, *, picked: int = 0) -> None:
    """An order of P1 that is partly picked, and a delivery that brings all of it."""
    await world.order("O1", {"product_number": "P1", "quantity": 3})
    if picked:
        await world.count("P1", "A1", stock_pool_1=picked)
        await world.pick("O1", 1, "P1", picked)
    held = {"customer_order_number": "O1", "customer_order_line_number": 1}
    await announce(world, "D1", {"product_number": "P1", "quantity": 3, **held})


@pytest.mark.parametrize("picked", [0, 1, 3])
async def test_undo_of_receipt_takes_back_what_the_order_line_got_and_what_stayed_free(
    world: World, picked: int
) -> None:
    await announce_for_order(world, picked=picked)
    before = world.books()
    await receive(world, "P1", 3, location_code="DESK", line_number=1)
    await receive(world, "P1", -3, location_code="DESK", line_number=1)
    assert world.books() == before
    assert (await world.line("O1"))["picked_quantity"] == picked
    await receive(world, "P1", 3, location_code="A2", line_number=1)
    assert await figures(world) == ("received", [(1, 3)])


async def test_each_of_two_receipts_is_undone_by_itself(world: World) -> None:
    await announce_for_order(world)
    await receive(world, "P1", 2, location_code="DESK", line_number=1)
    await receive(world, "P1", 4, location_code="DESK", line_number=1)
    assert world.books() == {("P1", "DESK", 1, "O1", 1): 3, ("P1", "DESK", 1): 3}
    await receive(world, "P1", -4, location_code="DESK", line_number=1)
    assert world.books() == {("P1", "DESK", 1, "O1", 1): 2}
    await receive(world, "P1", 1, location_code="A2", line_number=1)
    await receive(world, "P1", -2, location_code="DESK", line_number=1)
    assert world.books() == {("P1", "A2", 1, "O1", 1): 1}


async def test_a_receipt_that_is_undone_in_the_same_request_leaves_nothing(world: World) -> None:
    await announce_for_order(world)
    entry = {"product_number": "P1", "reference": "D1", "line_number": 1, "location_code": "DESK"}
    body = {"storeproductlog": [{**entry, "quantity": quantity} for quantity in (5, -5)]}
    await world.post(LOGS, body, query=RECEIPT)
    assert world.books() == {}
    assert (await world.line("O1"))["picked_quantity"] == 0


@pytest.mark.parametrize("picked", [0, 2, 6])
async def test_undo_of_receipt_keeps_what_was_picked_in_the_warehouse(world: World, picked: int) -> None:
    await world.order("O1", {"product_number": "P1", "quantity": 6, "is_picked_from_warehouse": True})
    if picked:
        await world.pick("O1", 1, "P1", picked)
    held = {"customer_order_number": "O1", "customer_order_line_number": 1}
    await announce(world, "D1", {"product_number": "P1", "quantity": 6, **held})
    for _ in range(2):
        await receive(world, "P1", 3, location_code="DESK", line_number=1)
    assert (await world.line("O1"))["picked_quantity"] == 6
    await receive(world, "P1", -3, location_code="DESK", line_number=1)
    assert (await world.line("O1"))["picked_quantity"] == max(3, picked)
    await receive(world, "P1", -3, location_code="DESK", line_number=1)
    line = await world.line("O1")
    assert (line["picked_quantity"], line["is_picked"]) == (picked, picked == 6)
    assert world.books() == {}


async def test_undo_of_receipt_is_refused_once_the_order_was_handed_over(world: World) -> None:
    await announce_for_order(world)
    await receive(world, "P1", 3, location_code="DESK", line_number=1)
    await world.update("O1", is_active=False)
    assert world.books() == {}
    refused = await receive(world, "P1", -3, 409, location_code="DESK", line_number=1)
    assert "Order O1 is finished" in refused["message"]
    assert world.books() == {}
    assert await figures(world) == ("received", [(1, 3)])


async def test_goods_that_stayed_free_are_taken_back_after_the_order_was_handed_over(world: World) -> None:
    await announce_for_order(world, picked=3)
    await receive(world, "P1", 3, location_code="DESK", line_number=1)
    await world.update("O1", is_active=False)
    await receive(world, "P1", -3, location_code="DESK", line_number=1)
    assert world.books() == {}


async def announce_on_three_lines(world: World) -> None:
    """P1 for two lines of an order, and ten for the shelf."""
    await world.order("O1", {"product_number": "P1", "quantity": 4}, {"product_number": "P1", "quantity": 3})
    lines: list[dict[str, Any]] = [{"quantity": 4}, {"quantity": 10}, {"quantity": 3}]
    for at, line in ((0, 1), (2, 2)):
        lines[at] |= {"customer_order_number": "O1", "customer_order_line_number": line}
    await announce(world, "D1", *({"product_number": "P1", **line} for line in lines))


async def picked(world: World) -> list[Any]:
    """What is picked of the lines of O1."""
    return [(await world.line("O1", line))["picked_quantity"] for line in (1, 2)]


async def test_what_is_over_on_a_named_line_fills_the_open_lines_those_for_orders_first(world: World) -> None:
    await announce_on_three_lines(world)
    await receive(world, "P1", 4, line_number=1, location_code="A1")
    await receive(world, "P1", 4, line_number=1, location_code="A2")
    assert await figures(world) == ("partial", [(1, 4), (2, 1), (3, 3)])
    assert await picked(world) == [4, 3]
    assert await world.rows("/products/stock/storeproductlogs", review_status=1) == []
    await receive(world, "P1", -4, line_number=1, location_code="A2")
    assert await figures(world) == ("partial", [(1, 4), (2, 0), (3, 0)])
    assert world.books() == {("P1", "A1", 1, "O1", 1): 4}
    await receive(world, "P1", -5, 409, line_number=1, location_code="A1")
    await receive(world, "P1", 15, line_number=1, location_code="A2")
    assert await figures(world) == ("received", [(1, 6), (2, 10), (3, 3)])
    assert len(await world.rows("/products/stock/storeproductlogs", review_status=1)) == 1


@pytest.mark.parametrize("excess_line", [2, 3])
async def test_undo_fills_the_line_that_it_empties_with_the_excess_of_another(world: World, excess_line: int) -> None:
    await announce_on_three_lines(world)
    await receive(world, "P1", 4, line_number=1, location_code="A1")
    for line, quantity in ((2, 10), (3, 3), (excess_line, 4)):
        await receive(world, "P1", quantity, line_number=line, location_code="A2")
    await receive(world, "P1", -4, line_number=1, location_code="A1")
    assert await figures(world) == ("received", [(1, 4), (2, 10), (3, 3)])
    assert await picked(world) == [4, 3]
    books: dict[tuple[Any, ...], int] = {("P1", "A2", 1): 10, ("P1", "A2", 1, "O1", 1): 4, ("P1", "A2", 1, "O1", 2): 3}
    assert world.books() == books
    for line, quantity in ((3, 3), (1, 4), (2, 10)):
        await receive(world, "P1", -quantity, line_number=line, location_code="A2")
    assert await figures(world) == ("open", [(1, 0), (2, 0), (3, 0)])
    assert (world.books(), await picked(world)) == ({}, [0, 0])


@pytest.mark.parametrize("seed", range(6))
async def test_no_line_lacks_what_another_has_too_many_and_the_log_is_the_stock(world: World, seed: int) -> None:
    await announce_on_three_lines(world)
    random, booked = Random(seed), list[dict[str, Any]]()
    for _ in range(12):
        entry: dict[str, Any]
        if booked and random.random() < 0.4:
            entry = booked.pop(random.randrange(len(booked)))
            await receive(world, **entry | {"quantity": -entry["quantity"]})
        else:
            place = random.choice(("A1", "A2", "BACK"))
            entry = {"quantity": random.randint(1, 8), "line_number": random.randint(1, 3), "location_code": place}
            booked.append({"product": "P1", **entry})
            await receive(world, **booked[-1])
        _, lines = await figures(world)
        received, counts = sum(quantity for _, quantity in lines), dict(lines)
        assert received == sum(entry["quantity"] for entry in booked)
        lacks = any(counts[line] < quantity for line, quantity in ((1, 4), (2, 10), (3, 3)))
        assert not lacks or received == sum(min(counts[n], q) for n, q in ((1, 4), (2, 10), (3, 3)))
        assert await picked(world) == [min(4, counts[1]), min(3, counts[3])]
        logged, stock = Counter[str](), dict[str, Any]()
        for log in await world.rows("/products/stock/storeproductlogs", reference="D1"):
            logged[log["location_code"]] += log["quantity"]
        for key, quantity in world.books().items():
            stock[key[1]] = stock.get(key[1], 0) + quantity
            assert quantity >= 0
        assert +logged == {place: quantity for place, quantity in stock.items() if quantity}


async def test_undo_holds_no_more_of_the_excess_than_still_lies_there(world: World) -> None:
    await announce_on_three_lines(world)
    await receive(world, "P1", 4, line_number=1, location_code="A1")
    await receive(world, "P1", 13, line_number=2, location_code="A2")
    await receive(world, "P1", 4, line_number=2, location_code="BACK")
    await world.log(200, {}, product_number="P1", quantity=-3, location_code="BACK")
    await receive(world, "P1", -4, line_number=1, location_code="A1")
    assert await figures(world) == ("received", [(1, 4), (2, 10), (3, 3)])
    assert await picked(world) == [1, 3]
    assert world.books()["P1", "BACK", 2, "O1", 1] == 1
    flagged = await world.rows("/products/stock/storeproductlogs", review_status=1)
    assert [each["quantity"] for each in flagged] == [4, -4]


async def test_a_reference_that_is_no_delivery_is_a_receipt_all_the_same(world: World) -> None:
    await receive(world, "P1", 2, reference="whatever")
    await receive(world, "P1", 1, reference="")
    assert world.books() == {("P1", "", 1): 3}
    assert await world.rows("/orders/receipts", receipt_type=1) == []


async def test_goods_without_stock_are_received_without_legs(world: World) -> None:
    await announce(world, "D1", {"product_number": "FEE", "quantity": 2})
    await receive(world, "FEE", 2)
    assert (await figures(world), world.books()) == (("received", [(1, 2)]), {})


async def test_a_refused_entry_leaves_its_delivery_as_it_was(world: World) -> None:
    await announce(world, "D1", {"product_number": "P1", "quantity": 2})
    entries = [{"product_number": "P1", "quantity": 1, "reference": "D1"}, {"product_number": "NONE", "quantity": 1}]
    path = "/stores/S1/products/stock/storeproductlogs"
    await world.post(path, {"storeproductlog": entries}, 422, query=RECEIPT)
    assert await figures(world) == ("open", [(1, 0)])


async def test_receipts_are_read_by_id_and_missed_by_nobody(world: World) -> None:
    for n in range(5):
        await announce(world, f"D{n}", {"product_number": "P1", "quantity": 2}, supplier_name="S")
    for n in (3, 1, 4):
        await world.log(200, RECEIPT, product_number="P1", quantity=n % 2 + 1, reference=f"D{n}")
    rows = await world.rows("/orders/receipts", receipt_type=1)
    assert [row["order_number"] for row in rows] == ["D3", "D1", "D4"]
    ids = [row["import_id"] for row in rows]
    assert ids == sorted(ids)

    async def found(**query: Any) -> list[str]:
        return [row["order_number"] for row in await world.rows("/stores/S1/orders/receipts", receipt_type=1, **query)]

    assert await found(from_id=ids[1]) == ["D1", "D4"]
    assert await found(to_id=ids[1]) == ["D3", "D1"]
    assert await found(is_submitted=True) == ["D3", "D1"]
    assert await found(is_submitted=False) == await found(order_number="D4") == ["D4"]
    assert await found(last_modified_date="2030-01-01") == []
    page = await world.get("/orders/receipts", receipt_type=1, page_size=2, page_start=2)
    assert set(page) == {"list", "next_page", "previous_page", "page_size", "page_start", "total_count"}
    assert (len(page["list"]), page["previous_page"], page["next_page"], page["total_count"]) == (1, 1, None, 3)
    assert (await world.send("GET", "/orders/receipts")).status_code == 400


@pytest.mark.parametrize(
    ("lines", "state"),
    [
        ([], "open"),
        ([(2, 0)], "open"),
        ([(2, 1)], "partial"),
        ([(2, 2), (1, 0)], "partial"),
        ([(2, 2), (0, 0)], "received"),
        ([(2, 3), (1, 1)], "received"),
    ],
)
def test_the_state_of_a_delivery_follows_from_its_lines(lines: list[tuple[int, int]], state: str) -> None:
    assert delivery_state(lines) == state


async def test_a_store_that_is_taken_away_takes_its_deliveries_along(world: World) -> None:
    line = {"product_number": "P1", "quantity": 1}
    await world.post("/stores/S2/orders/deliveries", {"orders": [announced("D1", line)]})
    await world.post("/stores", {"stores": [store_body("S1", "First")]}, query={"flush": True})
    assert await world.rows(MANY) == []
    await announce(world, "D1", line)
