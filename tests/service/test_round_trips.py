"""What `test_every_field` does not tell of fields that are kept: searches, flags, and all fields of a product."""

from __future__ import annotations

from typing import Any, get_type_hints

import pytest

from aisle.contract.operations import OPERATIONS
from aisle.contract.request_bodies import body_type
from aisle.service.domain.quantities_times_and_json import INT32_FIELDS
from tests.service.every_field import ADDRESS, CUSTOMER
from tests.service.fields import documented, given, object_type_of
from tests.service.world import World

STOCK = "/storeproducts/stock"
LOGS = "/products/stock/storeproductlogs"
NUMBER = 2.5
WAREHOUSE_LINE = {"product_number": "KG", "quantity": 2.5, "picked_quantity": 1.25, "is_picked_from_warehouse": True}


def in_it(part: dict[str, Any], whole: dict[str, Any]) -> None:
    """Every member of a part is in the whole, and the same."""
    assert {name: whole.get(name) for name in part} == part


@pytest.mark.parametrize("several", [False, True])
async def test_an_order_is_found_by_each_text_of_its_customer(world: World, several: bool) -> None:
    names = [f"customer_{name}" for name in CUSTOMER] + [f"delivery_{name}" for name in ADDRESS]
    texts = {name: f"the {name}" for name in names} | ({} if several else {"file_name": "the file"})
    path = "/orders/customerorders" if several else "/stores/S1/orders/customerorders"
    head = {"order_number": "FULL", "store_number": "S1"} if several else {"order_number": "FULL"}
    body = head | texts | {"order_lines": [{"line_number": 1, **WAREHOUSE_LINE}]}
    await world.post(path, {"orders": [body]})
    for value in texts.values():
        found = await world.rows("/stores/S1/orders/customerorders", search_text=value.upper())
        assert [row["order_number"] for row in found] == ["FULL"], value
    assert world.books() == {}, "picked in the warehouse, so nothing left a place here"


async def test_flags_and_kind_of_a_new_order(world: World) -> None:
    await world.order("TYPE", order_type="O")
    await world.order("OFF", is_active=False)
    await world.order("NO", is_rejected=True)
    assert (await world.see("TYPE"))["order_type_code"] == "O"
    shown = [await world.see(number) for number in ("OFF", "NO")]
    assert [(order["is_active"], order["is_rejected"]) for order in shown] == [(False, False), (True, True)]


async def test_a_line_that_is_picked_in_the_warehouse_from_now_on_moves_nothing(world: World) -> None:
    await world.order("O1", {"product_number": "KG", "quantity": 9})
    await world.pick("O1", 1, "KG", 0, is_picked_from_warehouse=True)
    await world.pick("O1", 1, "KG", 1)
    assert world.books() == {}


async def test_a_new_store_product_has_the_fields_of_a_changed_one_and_whether_stock_is_kept(world: World) -> None:
    changed = documented("update-store-products")
    assert documented("create-store-products") == {f"store_products.{name}" for name in {*changed, "is_stock"}}
    said = {"product_number": "P2", "min": 2, "max": 8, "is_stock": False}
    await world.post("/stores/S2/storeproducts", {"store_products": [said]})
    [entry] = await world.rows(STOCK, store_number="S2")
    in_it(said, entry)


async def test_products(world: World) -> None:
    item = object_type_of(get_type_hints(body_type(OPERATIONS["create-or-update-products"]))["products"])
    body: dict[str, Any] = {}
    for name, hint in get_type_hints(item).items():
        kind = str(hint)
        number = 2 if name in INT32_FIELDS else 2.5
        body[name] = (
            ["S1"] if "list[str]" in kind else True if "bool" in kind else number if "Decimal" in kind else name
        )
    body["free_fields"] = [{"sort_order": 1, "key": "k", "value": "v"}]
    body["set_product"] = [{"set_item_quantity": "2", "set_product_number": "P1"}]
    body["units"] = [{"unit_quantity": 6, "unit_barcode": "666", "unit_name": "six"}]
    body["stores_not_allowed"] = []
    body["deprecation_date"] = "20261101"
    assert given(body) == documented("create-or-update-products")
    groups = {"category_name": "Hot", "category_order": 3, "parent_category_code": "all", "group_code": "G"}
    await world.post("/products", {"products": [body | groups]})
    [record] = (await world.get("/products", product_number="product_number"))["records"]
    in_it({name: value for name, value in (body | groups).items() if name != "is_store_product"}, record)
    for code in ("666", "barcode", "barcodes_array", "purchase_unit_barcode"):
        assert (await world.get("/products", barcode=code))["total_record_count"] == 1
    await world.post("/stores/S1/storeproducts", {"store_products": [{"product_number": "product_number"}]})
    [entry] = await world.rows(STOCK, store_number="S1")
    told = {"referral_product": "referral_product_id", "smallest_item_quantity": NUMBER, "price": NUMBER}
    told |= {name: name for name in ("promotion_week", "purchase_unit_name", "smallest_product_number")}
    told |= {
        "product_description": "product_name",
        "attention_codes": "attention_code",
        "purchase_unit_quantity": NUMBER,
    }
    in_it(told | {name: groups[name] for name in ("category_name", "category_order", "group_code")}, entry)


async def test_ordering_is_put_off_to_the_later_date(world: World) -> None:
    await world.log(product_number="P1", quantity=1, order_after_date="2026-07-01T00:00:00.000Z")
    await world.log(product_number="P1", quantity=1, order_after_date="2026-06-01")
    [row] = await world.rows(STOCK, product_number="P1")
    assert row["next_ordering_datetime"] == "2026-07-01T00:00:00.000Z"


async def test_a_count_without_pools_is_of_the_named_pool(world: World) -> None:
    await world.count("KG", "A2", counted_quantity=3, pool_location=4)
    in_it({"counted_quantity": 3, "stock_pool": "4", "source": "count"}, (await world.rows(LOGS))[-1])


async def test_goods_of_a_line_are_moved_by_their_shipment(world: World) -> None:
    await world.order("O1", {"product_number": "P1", "quantity": 9})
    line = {"customer_order_number": "O1", "customer_order_line_number": 1, "customer_order_shipment_number": "SH"}
    await world.move("P1", 2, None, line | {"location_code": "A1", "stock_pool": 3}, allow_overage=True)
    held = {"location_code": "A1", "stock_pool": 3, "customer_order_shipment_number": "SH"}
    await world.move("P1", 1, held, "DESK")
    assert world.books()[("P1", "A1", 3, "O1", 1)] == 1
    await world.move("P1", 1, held | {"customer_order_shipment_number": "NONE"}, "DESK", 422)
