"""A store in the middle of its work, in which every filter of every list finds something and leaves something out."""

from __future__ import annotations

from typing import Any

from tests.service.world import LOGS, START, World, line_end, store_body

DAY = 86400.0
RECEIPT = {"is_from_receipt": True}
TOMORROW = "2026-05-29"


async def busy(world: World) -> None:
    """Catalogue, stock, orders, deliveries, receipts and logs of S1, and a little of S2; two days of it."""
    world.now = START - 130 * DAY
    await _catalogue(world)
    await world.log(product_number="P3", quantity=1, reference="OLD")
    world.now = START - 2 * DAY
    await world.count("P1", "A1", stock_pool_1=9)
    await world.count("P2", "A1", stock_pool_1=2, stock_pool_2=3)
    await world.count("P1", "A2", stock_pool_1=2)
    await world.move("P1", 2, "A2", "A1", reference="M1")
    await _deliveries(world)
    world.now = START
    await _orders(world)
    await world.put("/stores/S1/storeproducts", [{"product_number": "P2", "min": 1}])
    await world.log(product_number="P2", quantity=-20, reason_code=3, reference="LOST")
    [flagged] = await world.rows("/products/stock/storeproductlogs", review_status=1, reason_code=3)
    await world.log(product_number="P2", quantity=-1, reason_code=4)
    await world.post("/aisle/v1/stores/S1/reviews", {"reviews": [{"id": int(flagged["id"])}]})
    await world.post(LOGS.replace("S1", "S2"), {"storeproductlog": [{"product_number": "P2", "quantity": 1}]})


async def _catalogue(world: World) -> None:
    name = [{"sort_order": 1, "key": "product_name.nl", "value": "Muesli (nl)"}]
    products: list[dict[str, Any]] = [
        {"product_number": "P1", "parent_category_code": "all", "group_code": "G1", "free_fields": name},
        {"product_number": "P2", "category_code": "hot", "product_details": "in a tin"},
        {"product_number": "P3", "is_active": False},
    ]
    await world.post("/products", {"products": products})
    await world.post("/stores", {"stores": [store_body("S2", "Second", store_gln="871")]})


async def _orders(world: World) -> None:
    line = {"product_number": "P1", "quantity": 4, "full_fillment_status": "later", "pickup_date": "2026-07-01"}
    await world.order("O1", line, reference="R1", customer_name="Anna")
    await world.order("O2", {"product_number": "P2", "quantity": 1, "picked_quantity": 1, "pickup_date": TOMORROW})
    await world.order("O3", {"product_number": "P1", "quantity": 1})
    await world.update("O3", is_active=False)
    shipped = line_end("O1", 1, "DESK") | {"customer_order_shipment_number": "SH1"}
    await world.move("P1", 2, "A1", shipped)
    await world.move("P2", 1, "A1", "DESK")


async def _deliveries(world: World) -> None:
    def body(number: str, product: str, kind: int, supplier: str, day: str) -> dict[str, Any]:
        line = {"product_number": product, "quantity": 4}
        head = {"order_number": number, "no_of_containers": 1, "order_type": kind, "datetime_expected": day}
        return head | {"supplier_code": supplier[0], "supplier_name": supplier, "order_lines": [line]}

    first = body("D1", "P1", 1, "Alpha", "2026-06-01")
    second = body("D2", "P2", 1, "Beta", "2026-06-02")
    await world.post("/stores/S1/orders/deliveries", {"orders": [first, second]})
    there = body("D3", "P2", 1, "Beta", "2026-06-02") | {"store_number": "S2"}
    third = body("D4", "P2", 2, "Beta", "2026-06-03") | {"store_number": "S1"}
    await world.post("/orders/deliveries", {"orders": [there, third]})
    await world.log(query=RECEIPT, product_number="P1", quantity=4, reference="D1")
    entry = {"product_number": "P2", "quantity": 1, "reference": "D3"}
    await world.post(LOGS.replace("S1", "S2"), {"storeproductlog": [entry]}, query=RECEIPT)
    world.now += DAY
    await world.log(query=RECEIPT, product_number="P2", quantity=1, reference="D2")
    await world.log(query=RECEIPT, product_number="P2", quantity=1, reference="D4")
