"""Every field of bodies that bring, count and move goods is kept, and shown where the document shows it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.service.fields import data_of, documented, given, in_it
from tests.service.world import World

STOCK = "/storeproducts/stock"
TIME = "2026-06-05T08:00:00.000Z"

DELIVERY: dict[str, Any] = {
    "order_number": "FULL",
    "no_of_containers": 2,
    "datetime_created": TIME,
    "datetime_expected": TIME,
    "description": "what it is",
    "order_type": 2,
    "reason_code": 5,
    "supplier_code": "SUP",
    "supplier_name": "Supplier",
    "tracing_url": "https://example.org/t",
}
DELIVERY_LINE: dict[str, Any] = {
    "product_number": "KG",
    "quantity": 2.5,
    "barcode": "777",
    "container_barcode": "C",
    "customer_order_line_number": 1,
    "customer_order_number": "O",
    "customer_order_shipment_number": "SH",
    "customer_order_shipment_number_line_number": 7,
    "description": "apples",
    "line_number": 4,
    "secondary_order_line_number": 6,
    "secondary_order_number": "SEC",
    "target_stock_pool": 3,
}
HIDDEN = ("secondary_order_line_number", "secondary_order_number", "purchase_price")


@pytest.mark.parametrize("several", [False, True])
async def test_deliveries(world: World, several: bool) -> None:
    name = "create-multi-store-deliveries" if several else "create-store-deliveries"
    head = DELIVERY | ({"store_number": "S1"} if several else {"store_origin": 900})
    line = DELIVERY_LINE | ({} if several else {"purchase_price": 1.25})
    body = head | {"order_lines": [line]}
    assert given(body) == documented(name)
    await world.post("/orders/deliveries" if several else "/stores/S1/orders/deliveries", {"orders": [body]})
    [seen] = await world.rows("/orders/deliveries", store_number="S1")
    kept = {"description": "what it is", "reason_code": 5}
    in_it({name: value for name, value in head.items() if name not in kept} | {"order_type": "2"}, seen)
    in_it({name: value for name, value in line.items() if name not in HIDDEN}, seen["order_lines"][0])
    in_it(kept, await data_of(world, "SELECT data FROM delivery WHERE store_number = $1", "S1"))
    hidden = {name: line[name] for name in HIDDEN if name in line}
    in_it(hidden, await data_of(world, "SELECT data FROM delivery_line WHERE store_number = $1", "S1"))


async def test_log_entries(world: World) -> None:
    await world.order("O1", {"product_number": "KG", "quantity": 90})
    pools = {f"stock_pool_{pool}": pool + 0.5 for pool in range(1, 11)}
    entry: dict[str, Any] = {
        "app_user_name": "bea",
        "customer_order_number": "O1",
        "customer_order_line_number": 1,
        "location_code": "A1",
        "loss_comment": "fell down",
        "loss_image": "picture",
        "loss_order_number": "LOSS",
        "product_number": "KG",
        "reference": "REF",
        "source": "scan",
        "expected_quantity": 7,
        "reason_code": 12,
        "modification_datetime": "2026-05-27T01:00:00.000Z",
        "scanned_datetime": "2026-05-27T02:00:00.000Z",
        "order_after_date": "2026-07-01T00:00:00.000Z",
        **pools,
    }
    bare = {"counted_quantity": 3, "quantity": 2, "pool_location": 4}
    leaves = {leaf.removeprefix("storeproductlog.") for leaf in documented("create-store-product-logs")}
    assert given(entry | bare) == leaves
    await world.log(**entry)
    shown = {
        "app_user_name": "bea",
        "customer_order_number": "O1",
        "customer_order_line_number": 1,
        "location_code": "A1",
        "reason_code_description": "fell down",
        "product_number": "KG",
        "reference": "REF",
        "source": "scan",
        "expected_quantity": 7,
        "reason_code": 12,
        "moved_on": "2026-05-27T02:00:00.000Z",
        "quantity": sum(pools.values()),
        **pools,
    }
    path = "/products/stock/storeproductlogs"
    in_it(shown, (await world.rows(path))[-1])
    kept = {name: entry[name] for name in ("loss_image", "loss_comment", "loss_order_number", "order_after_date")}
    in_it(kept, await data_of(world, "SELECT data FROM stock_log WHERE store_number = $1", "S1"))
    [row] = await world.rows(STOCK, product_number="KG")
    assert row["next_ordering_datetime"] == "2026-07-01T00:00:00.000Z"
    early = {"modification_datetime": entry["modification_datetime"], "loss_order_number": "LOSS"}
    await world.log(product_number="KG", quantity=2, pool_location=4, order_after_date="2026-06-01", **early)
    in_it({"quantity": 2, "stock_pool": "4", "reference": "LOSS"}, (await world.rows(path))[-1])
    assert (await world.rows(path))[-1]["moved_on"] == entry["modification_datetime"]
    assert (await world.rows(STOCK, product_number="KG"))[0] | row == (await world.rows(STOCK))[0] | row
    await world.count("KG", "A2", counted_quantity=3, pool_location=4)
    in_it({"counted_quantity": 3, "stock_pool": "4", "source": "count"}, (await world.rows(path))[-1])


async def test_a_reason_is_called_what_the_store_s_log_called_it_last(world: World) -> None:
    def told(rows: list[dict[str, Any]]) -> list[Any]:
        return [row.get("reason_code_description") for row in rows]

    async def log(*entries: tuple[int | None, str | None], store: str = "S1") -> list[Any]:
        lost = [
            {"product_number": "P1", "quantity": -1, "reason_code": code, "loss_comment": words}
            for code, words in entries
        ]
        path = f"/stores/{store}/products/stock/storeproductlogs"
        await world.post(path, {"storeproductlog": lost})
        return told((await world.rows("/products/stock/storeproductlogs", store_number=store))[-len(lost) :])

    assert await log((1, None), (None, "no code"), (None, None)) == [None, "no code", None]
    assert await log((1, None), (1, "Broken"), (1, None), (2, None)) == [None, "Broken", "Broken", None]
    assert await log((1, None), (1, ""), (2, "Lost"), (2, "Gone")) == ["Broken", "Broken", "Lost", "Gone"]
    assert await log((1, None), (2, None), (3, None)) == ["Broken", "Gone", None]
    assert await log((1, None), store="S2") == [None]
    await world.move("P1", 1, None, "A1", allow_overage=True, reason_code="2")
    rows = await world.rows("/products/stock/storeproductlogs", store_number="S1")
    assert told(rows[-2:]) == ["Gone", "Gone"]
    await world.order("O1", {"product_number": "P1", "quantity": 3})
    await world.update("O1", {"line_number": 1, "product_number": "P1", "is_picked": True, "picked_quantity": 1})
    said = {"line_number": 1, "product_number": "P1", "rejection_reason_code": "2"}
    await world.update("O1", said)
    note = (await world.rows("/products/stock/storeproductlogs", store_number="S1"))[-1]
    assert (note["source"], note["reason_code"], note["reason_code_description"]) == ("short", 2, "Gone")


async def test_movements(world: World) -> None:
    await world.order("O1", {"product_number": "P1", "quantity": 9})
    end = {
        "customer_order_line_number": 1,
        "customer_order_number": "O1",
        "customer_order_shipment_line_number": 6,
        "customer_order_shipment_number": "SH",
        "location_code": "A1",
        "stock_pool": 3,
    }
    about = {"reason_code": "12", "reference": "REF", "source": "scan"}
    item = {"product_number": "P1", "quantity": 2, "allow_overage": True, **about, "to_location": end}
    body = item | {"from_location": {"location_code": "A2", "stock_pool": 2}}
    full = item | {"from_location": end}
    assert given(full) == documented("create-movement")
    await world.post("/stores/S1/storeproductlocation/movement", [body | {"allow_overage": False}], 409)
    await world.post("/stores/S1/storeproductlocation/movement", [body])
    assert world.books() == {("P1", "A2", 2): -2, ("P1", "A1", 3, "O1", 1): 2}
    away, there = (await world.rows("/products/stock/storeproductlogs"))[-2:]
    told = about | {"reason_code": 12}
    in_it(told | {"location_code": "A2", "stock_pool": "2", "quantity": -2}, away)
    line = {"customer_order_number": "O1", "customer_order_line_number": 1, "customer_order_shipment_number": "SH"}
    in_it(told | line | {"location_code": "A1", "stock_pool": "3", "quantity": 2}, there)
    assert there["customer_order_shipment_number_line_number"] == 6
    [held] = await world.rows("/stores/S1/locations/A1/products")
    in_it(line | {"customer_order_shipment_line_number": 6}, held)
    [place] = [row for row in await world.rows("/stores/S1/locations") if row["location_code"] == "A1"]
    in_it(line | {"customer_order_shipment_line_number": 6}, place["stock"][0])
    spots = (await world.line("O1"))["store_locations"]
    in_it(line | {"customer_order_shipment_line_number": 6}, next(one for one in spots if one["location_code"] == "A1"))
    by_shipment = {"location_code": "A1", "stock_pool": 3, "customer_order_shipment_number": "SH"}
    await world.move("P1", 1, by_shipment, "DESK")
    assert world.books()[("P1", "A1", 3, "O1", 1)] == 1
    await world.move("P1", 1, by_shipment | {"customer_order_shipment_number": "NONE"}, "DESK", 422)
