"""Parameters of writes, and of reads that write down who asks: each changes an effect."""

from __future__ import annotations

from typing import Any

import pytest

from tests.service.world import World


@pytest.mark.parametrize("several", [False, True])
async def test_flush_of_orders(world: World, several: bool) -> None:
    path = "/orders/customerorders" if several else "/stores/S1/orders/customerorders"

    def body(number: str) -> dict[str, Any]:
        return {"orders": [{"order_number": number} | ({"store_number": "S1"} if several else {})]}

    for number, query, seen in (
        ("O1", {}, ["O1"]),
        ("O2", {"flush": False}, ["O1", "O2"]),
        ("O3", {"flush": True}, ["O3"]),
    ):
        await world.post(path, body(number), query=query)
        assert [row["order_number"] for row in await world.rows("/stores/S1/orders/customerorders")] == seen


async def test_flush_of_stores(world: World) -> None:
    store = {"store_number": "S9", "store_name": "New", "is_warehouse": False}
    body = {"stores": [store | {"is_active": True, "is_active_data_exchange": True}]}
    await world.post("/stores", body, query={"flush": False})
    assert len(await world.rows("/stores")) == 5
    await world.post("/stores", body, query={"flush": True})
    assert [row["storeNo"] for row in await world.rows("/stores")] == ["S9"]


async def test_the_tag_of_a_clearance(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=5)
    await world.order("O1", {"product_number": "P1", "quantity": 2})
    await world.move(
        "P1", 2, "A1", {"location_code": "A1", "customer_order_number": "O1", "customer_order_line_number": 1}
    )
    for tag, count in (("none", 0), ("shelf", 1)):
        await world.post("/customerorders/clearance", {}, query={"location_code_tag": tag})
        assert len((await world.get("/aisle/v1/stores/S1/assignments"))["assignments"]) == count
    assert (await world.send("POST", "/customerorders/clearance", {})).status_code == 400


@pytest.mark.parametrize("path", ["/stores/S1/orders/deliveries", "/orders/deliveries"])
async def test_the_header_that_replaces_a_delivery(world: World, path: str) -> None:
    store = {"store_number": "S1"} if path == "/orders/deliveries" else {}
    head = {"order_number": "D1", "supplier_name": "S", **store}
    await world.post(path, {"orders": [head | {"no_of_containers": 1}]})
    for override in (None, "false"):
        headers = {} if override is None else {"container_override": override}
        await world.post(path, {"orders": [head | {"no_of_containers": 2}]}, 409, headers=headers)
    await world.post(path, {"orders": [head | {"no_of_containers": 2}]}, headers={"container_override": "true"})
    assert [row["no_of_containers"] for row in await world.rows("/orders/deliveries")] == [2]


async def test_log_parameters_set_user_and_kind_of_entry(world: World) -> None:
    entry: dict[str, Any] = {"product_number": "P1", "quantity": 5, "reference": "D1"}
    delivery = {"order_number": "D1", "no_of_containers": 1, "order_lines": [{"product_number": "P1", "quantity": 9}]}
    await world.post("/stores/S1/orders/deliveries", {"orders": [delivery]})
    for query, stock, source, user, received in (
        ({}, 5, "change", None, 0),
        ({"appUserName": "bea"}, 10, "change", "bea", 0),
        ({"is_counted_quantity": True}, 5, "count", None, 0),
        ({"is_from_receipt": True}, 10, "receipt", None, 5),
    ):
        await world.log(query=query, **entry)
        seen = (await world.rows("/products/stock/storeproductlogs"))[-1]
        assert (seen["source"], seen.get("app_user_name")) == (source, user)
        assert (await world.rows("/storeproducts/stock"))[0]["most_likely_quantity"] == stock
        [row] = await world.rows("/orders/deliveries")
        assert row["order_lines"][0]["received_quantity"] == received


async def test_who_moved_it(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=5)
    for query, user in (({}, None), ({"AppUserName": "bea"}, "bea")):
        item = {"product_number": "P1", "quantity": 1, "from_location": {"location_code": "A1"}}
        item["to_location"] = {"location_code": "A2"}
        await world.post("/stores/S1/storeproductlocation/movement", [item], query=query)
        assert (await world.rows("/products/stock/storeproductlogs"))[-1].get("app_user_name") == user


async def test_who_looks_at_the_places(world: World) -> None:
    seen: list[Any] = []
    world.service.options = world.service.options._replace(record_request=seen.append)
    del world.service.__dict__["app"]
    async with world.open_client(world.secret) as client:
        for query in ({}, {"app_username": "bea"}):
            await world.send("GET", "/stores/S1/locations", query=query, client=client)
    assert [one["user"] for one in seen] == [None, "bea"]
