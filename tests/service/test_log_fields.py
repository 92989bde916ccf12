"""What the log tells bookkeepers, marks of deliveries, and what answers tell beside (README: Fields)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.service.world import LOGS, World, store_body

ENTRIES = "/products/stock/storeproductlogs"
DELIVERIES = "/stores/S1/orders/deliveries"
MARKS = "/aisle/v1/stores/S1/deliveries"
BOOKS = ("price", "store_products_price", "purchase_price", "purchase_unit_quantity", "cost_center", "location_tag")
ACCOUNTS = ("general_ledger_debit", "general_ledger_credit")
PRODUCT = {
    "product_number": "P3",
    "price": 4.5,
    "purchase_price": 2.25,
    "purchase_unit_quantity": 6,
    "general_ledger": "7001",
}


async def last(world: World, count: int = 1) -> list[dict[str, Any]]:
    return (await world.rows(ENTRIES))[-count:]


def told(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: row[name] for name in names if name in row}


async def cost_center(world: World) -> None:
    await world.post("/stores", {"stores": [store_body("S1", "First", cost_center="CC-9")]})


async def test_an_entry_tells_prices_and_accounts_as_they_were(world: World) -> None:
    await cost_center(world)
    await world.post("/products", {"products": [PRODUCT]})
    await world.put("/stores/S1/storeproducts", [{"product_number": "P3", "price": 4.75}])
    await world.log(product_number="P3", quantity=3, location_code="A1")
    [before] = await last(world)
    figures = {"price": Decimal("4.5"), "store_products_price": Decimal("4.75"), "purchase_price": Decimal("2.25")}
    where = {"purchase_unit_quantity": 6, "cost_center": "CC-9", "location_tag": "shelf"}
    assert told(before, *BOOKS) == figures | where
    await world.post("/products", {"products": [PRODUCT | {"price": 5, "general_ledger": "7002"}]})
    await world.log(product_number="P3", quantity=-1)
    [after] = await last(world)
    assert told(after, *BOOKS, *ACCOUNTS) == {
        **figures,
        "price": 5,
        "purchase_unit_quantity": 6,
        "cost_center": "CC-9",
        "general_ledger_credit": "7002",
    }
    assert (await world.rows(ENTRIES))[-2] == before


async def test_what_nobody_said_is_not_told(world: World) -> None:
    await world.log(product_number="P1", quantity=3, location_code="A10")
    assert told((await last(world))[0], *BOOKS, *ACCOUNTS, "reference_id", "counting_assignment_id") == {}


@pytest.mark.parametrize(
    ("work", "accounts"),
    [
        ("gain", ["debit"]),
        ("loss", ["credit"]),
        ("count up", ["debit"]),
        ("count down", ["credit"]),
        ("count same", [None]),
        ("receipt", ["debit"]),
        ("move", ["credit", "debit"]),
        ("pick", ["credit", "debit"]),
        ("unpick", ["debit", "credit"]),
        ("short", ["credit", "debit", None]),
        ("no stock kept", ["debit"]),
    ],
)
async def test_account_is_debited_by_incoming_and_credited_by_outgoing_goods(
    world: World, work: str, accounts: list[str | None]
) -> None:
    await world.post("/products", {"products": [PRODUCT, {"product_number": "FEE", "general_ledger": "7001"}]})
    await world.count("P3", "A1", stock_pool_1=5)
    await world.order("O1", {"product_number": "P3", "quantity": 4})
    entry: dict[str, Any] = {"product_number": "P3", "location_code": "A1"}
    if work.startswith("count"):
        await world.count("P3", "A1", stock_pool_1={"up": 7, "down": 2, "same": 5}[work.split()[1]])
    elif work in ("gain", "loss", "receipt"):
        await world.log(query={"is_from_receipt": work == "receipt"}, **entry, quantity=-2 if work == "loss" else 2)
    elif work == "move":
        await world.move("P3", 2, "A1", "A2")
    elif work == "no stock kept":
        await world.log(product_number="FEE", quantity=1)
    else:
        await world.pick("O1", 1, "P3", 2)
    if work == "unpick":
        await world.pick("O1", 1, "P3", 0)
    if work == "short":
        reason = {"rejection_reason_code": "3", "is_picked": True}
        await world.update("O1", {"line_number": 1, "product_number": "P3", **reason})
    rows = await last(world, len(accounts))
    assert [told(row, *ACCOUNTS) for row in rows] == [
        {f"general_ledger_{account}": "7001"} if account else {} for account in accounts
    ]


async def test_a_count_that_was_ordered_tells_what_is_left_to_count(world: World) -> None:
    recounts = [{"product_number": "P1", "location_code": place} for place in ("A1", "A2", "BACK")]
    ids = (await world.post("/aisle/v1/stores/S1/recounts", {"recounts": [*recounts, {"product_number": "P2"}]}))[
        "data"
    ]
    world.now += 60
    counted = [
        {"product_number": "P1", "location_code": "A2", "counted_quantity": 1},
        {"product_number": "P3", "location_code": "A2", "counted_quantity": 1},
        {"product_number": "P1", "location_code": "BACK", "counted_quantity": 1},
    ]
    await world.post(LOGS, {"storeproductlog": counted})
    rows = await last(world, 3)
    names = ("counting_assignment_id", "counting_lines_remaining", "counting_lines_remaining_stockpool")
    assert [told(row, *names) for row in rows] == [
        dict(zip(names, (ids[1], 3, {"stock_pool_1": 2, "stock_pool_2": 1}), strict=True)),
        {},
        dict(zip(names, (ids[2], 2, {"stock_pool_1": 2}), strict=True)),
    ]
    await world.count("P1", "A2", counted_quantity=1)
    assert told((await last(world))[0], *names) == {}, "it is counted"
    listed = (await world.get("/aisle/v1/stores/S1/recounts", state="counted"))["recounts"]
    assert [row["count_log_id"] for row in listed] == [rows[0]["id"], rows[2]["id"]]


async def test_a_reference_has_the_id_of_what_it_names(world: World) -> None:
    line = {"product_number": "P3", "quantity": 4, "purchase_price": 1.5}
    await world.post(DELIVERIES, {"orders": [{"order_number": "D1", "no_of_containers": 1, "order_lines": [line]}]})
    await world.post("/products", {"products": [PRODUCT]})
    [delivery] = await world.rows("/orders/deliveries")
    await world.log(query={"is_from_receipt": True}, product_number="P3", quantity=2, reference="D1")
    [row] = await last(world)
    assert told(row, "reference_id", "purchase_price") == {
        "reference_id": delivery["import_id"],
        "purchase_price": Decimal("1.5"),
    }
    await world.log(query={"is_from_receipt": True}, product_number="P3", quantity=2, reference="elsewhere")
    assert told((await last(world))[0], "reference_id", "purchase_price") == {"purchase_price": Decimal("2.25")}
    await world.order("O1", {"product_number": "P3", "quantity": 1})
    await world.pick("O1", 1, "P3", 1)
    [row] = await last(world)
    assert (row["reference"], row["reference_id"]) == ("O1", (await world.line("O1"))["id"])


async def test_single_log_entry_shows_fields_its_list_lacks(world: World) -> None:
    await world.log(product_number="P1", quantity=-1, loss_image="data:image/png;base64,AAAA", loss_comment="fell")
    await world.post(LOGS.replace("S1", "S2"), {"storeproductlog": [{"product_number": "P1", "quantity": 1}]})
    mine, other = await world.rows(ENTRIES)
    seen = await world.get("/aisle/v1/stores/S1/logs", id=mine["id"])
    assert seen.pop("aisle") == {"loss_image": "data:image/png;base64,AAAA", "loss_comment": "fell"}
    assert seen == mine
    for wrong in (other["id"], mine["id"] + 1, 0, -1, 1 << 40):
        assert (await world.send("GET", "/aisle/v1/stores/S1/logs", query={"id": wrong})).status_code == 404
    for wrong in ("", "x"):
        assert (await world.send("GET", "/aisle/v1/stores/S1/logs", query={"id": wrong})).status_code == 400
    assert (await world.send("GET", "/aisle/v1/stores/S1/logs")).status_code == 400


async def test_a_delivery_is_marked(world: World) -> None:
    line = {"product_number": "P1", "quantity": 4}
    body = {"order_number": "D1", "no_of_containers": 1, "order_lines": [line], "external_reference_number": "E-1"}
    await world.post(DELIVERIES, {"orders": [body]})
    names = ("is_downloaded", "external_reference_number", "no_of_containers")

    async def seen() -> dict[str, Any]:
        [row] = await world.rows("/orders/deliveries")
        return told(row, *names)

    assert await seen() == {"is_downloaded": False, "external_reference_number": "E-1", "no_of_containers": 1}
    since = (await world.get("/aisle/v1/stores/S1/changes"))["cursor"]
    world.now += 60
    for _ in range(2):
        await world.post(MARKS, {"deliveries": [{"order_number": "D1", "is_downloaded": True}]})
    assert await seen() == {"is_downloaded": True, "external_reference_number": "E-1", "no_of_containers": 1}
    changes = (await world.get("/aisle/v1/stores/S1/changes", since=since))["changes"]
    assert [(one["topic"], one["key"]) for one in changes] == [("delivery", "D1")]
    await world.post(MARKS, {"deliveries": [{"order_number": "D1", "external_reference_number": "E-2"}]})
    assert await seen() == {"is_downloaded": True, "external_reference_number": "E-2", "no_of_containers": 1}
    await world.post(DELIVERIES, {"orders": [body]})
    assert (await seen())["external_reference_number"] == "E-2", "hearing the same again changes nothing"
    await world.post(DELIVERIES, {"orders": [body | {"no_of_containers": 2}]}, headers={"container_override": "true"})
    assert await seen() == {"is_downloaded": False, "external_reference_number": "E-1", "no_of_containers": 2}
    bad = {"deliveries": [{"order_number": "D1", "is_downloaded": True}, {"order_number": "NONE"}]}
    answer = await world.post(MARKS, bad, 422)
    assert answer["errors"] == [{"field": "deliveries[1].order_number", "message": "There is no delivery NONE."}]
    assert (await seen())["is_downloaded"] is False
    async with world.client_for("staff", ["S1"]) as client:
        assert (await world.send("POST", MARKS, {"deliveries": []}, client=client)).status_code == 403


async def test_a_carrier_stands_at_a_place_until_it_is_taken_away(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=5)

    async def seen() -> Any:
        [row] = (await world.get("/stores/S1/products/P1/stock", include_locations=True))["products"]
        return row["store_locations"][0].get("carrier_code")

    place = {"store_number": "S1", "location_code": "A1"}
    for said, carrier in (
        ({}, None),
        ({"carrier_code": "C1"}, "C1"),
        ({"tags": []}, "C1"),
        ({"carrier_code": ""}, None),
    ):
        await world.post("/aisle/v1/locations", {"locations": [place | said]})
        assert await seen() == carrier


async def test_an_entry_has_the_words_of_its_own_reason(world: World) -> None:
    """What somebody wrote of a loss is no name of its code: others' losses would be printed with it."""

    async def told(count: int) -> list[Any]:
        rows = await world.rows("/products/stock/storeproductlogs", store_number="S1")
        return [(row.get("reason_code"), row.get("reason_code_description")) for row in rows[-count:]]

    losses = [(1, None), (None, "no code"), (None, None), (1, "Fell off, Ann"), (1, None), (1, ""), (2, "Gone")]
    lost = [
        {"product_number": "P1", "quantity": -1, "reason_code": code, "loss_comment": words} for code, words in losses
    ]
    await world.post(LOGS, {"storeproductlog": lost})
    assert await told(len(losses)) == [(code, words or None) for code, words in losses]
    await world.move("P1", 1, None, "A1", allow_overage=True, reason_code="2")
    assert await told(2) == [(2, None), (2, None)]
    await world.order("O1", {"product_number": "P1", "quantity": 3})
    await world.update("O1", {"line_number": 1, "product_number": "P1", "is_picked": True, "picked_quantity": 1})
    said = {"line_number": 1, "product_number": "P1", "rejection_reason_code": "2"}
    await world.update("O1", said)
    note = (await world.rows("/products/stock/storeproductlogs", store_number="S1"))[-1]
    assert (note["source"], note["reason_code"], note.get("reason_code_description")) == ("short", 2, None)
