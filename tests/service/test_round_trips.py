"""Every field of every body is kept: shown by a list under the document's name, told by the store, or in the database.

The fields are the contract's; a field that is in no table makes a test fail. Goods are in `test_round_trips_goods`.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, get_type_hints

import pytest

from aisle.contract.models import body_type
from aisle.contract.wire import OPERATIONS
from aisle.service.domain.quantities import INT32_FIELDS
from tests.service.fields import documented, given, in_it, object_type_of
from tests.service.world import World

STOCK = "/storeproducts/stock"
NUMBER = 2.5
TIME = "2026-06-05T08:00:00.000Z"

CUSTOMER = ["city", "country", "email", "name", "number", "phone", "street", "zipcode"]
ORDER: dict[str, Any] = {
    "order_number": "FULL",
    **{f"customer_{name}": f"customer {name}" for name in CUSTOMER},
    **{f"delivery_{name}": f"delivery {name}" for name in ("city", "country", "street", "zipcode")},
    "description": "what it is",
    "order_comment": "ring twice",
    "order_type_code": "T",
    "order_type_description": "type",
    "reference": "REF",
    "is_picked": False,
}
ONE_STORE = {"file_name": "file", "sales_order_id": "SALES", "status_id": 17, "is_active": True, "is_rejected": False}
LINE: dict[str, Any] = {
    "line_number": 3,
    "product_number": "KG",
    "quantity": 2.5,
    "barcode": "777",
    "delivery_date": "2026-06-01",
    "description": "apples",
    "is_picked": False,
    "is_picked_from_warehouse": True,
    "ordering_datetime": TIME,
    "pickup_date": "2026-06-02",
    "picked_quantity": 1.25,
    "price": 9.99,
    "stock_pool": 4,
}
LINE_ONE = {
    "full_fillment_status": "later",
    "picking_stock_pool_array": ["5", "6"],
    "preferred_location_code": "A2",
    "reference": "LINE",
}
SHOWN_ORDER = {
    "order_number": "FULL",
    "customer_name": "customer name",
    "description": "what it is",
    "comment": "ring twice",
    "order_type_code": "T",
    "order_type_description": "type",
    "reference": "REF",
    "is_picked": False,
    "is_active": True,
    "is_rejected": False,
    "pickup_date": "2026-06-02",
    "store_number": "S1",
}
SHOWN_LINE = {
    **{name: value for name, value in LINE.items() if name not in ("is_picked_from_warehouse", "ordering_datetime")},
    "price": Decimal("9.99"),
    "next_ordering_datetime": TIME,
}


@pytest.mark.parametrize("several", [False, True])
async def test_orders(world: World, several: bool) -> None:
    name = "create-customer-orders-several-stores" if several else "create-customer-orders-one-store"
    line = LINE if several else LINE | LINE_ONE
    more = {"store_number": "S1", "stores_allowed": ["S1", "S2"]} if several else ONE_STORE | {"order_type": "unheard"}
    body = ORDER | more | {"order_lines": [line]}
    assert given(body) == documented(name)
    path = "/orders/customerorders" if several else "/stores/S1/orders/customerorders"
    await world.post(path, {"orders": [body]})
    seen = await world.see("FULL")
    told = {"stores_allowed": "S1,S2"} if several else {"sales_order_id": "SALES", "status_id": 17}
    in_it(SHOWN_ORDER | told, seen)
    in_it(SHOWN_LINE | ({} if several else LINE_ONE), seen["lines"][0])
    assert world.books() == {}, "picked in the warehouse, so nothing left a place here"
    for value in [value for name, value in body.items() if name.startswith(("customer_", "delivery_", "file_"))]:
        found = await world.rows("/stores/S1/orders/customerorders", search_text=str(value).upper())
        assert [row["order_number"] for row in found] == ["FULL"], value
    if not several:
        await world.order("TYPE", order_type="O")
        assert (await world.see("TYPE"))["order_type_code"] == "O"
        await world.order("OFF", is_active=False)
        await world.order("NO", is_rejected=True)
        assert [(await world.see(number))["is_rejected"] for number in ("OFF", "NO")] == [False, True]
        assert (await world.see("OFF"))["is_active"] is False


async def test_an_update_of_an_order(world: World) -> None:
    await world.order("FULL", {"product_number": "KG", "quantity": 9, "line_number": 3})
    line = LINE | {"preferred_location_code": "A2", "picked_quantity": 0, "stock_pool": 6}
    flags = {"is_active": True, "is_claimed": True, "is_picked": False, "is_rejected": False}
    reason = {"rejection_reason_code": "7", "rejection_reason_code_description": "none left"}
    body = {"order_number": "FULL", **flags, **reason, "order_lines": [line]}
    assert given(body) == documented("update-customer-order")
    await world.put("/stores/S1/orders/customerorder", {"orders": body})
    seen = await world.see("FULL")
    in_it(flags | reason, seen)
    changed = {"picked_quantity": 0, "stock_pool": 6, "preferred_location_code": "A2"}
    in_it(SHOWN_LINE | changed, seen["lines"][0])
    await world.pick("FULL", 3, "KG", 1)
    assert world.books() == {}, "it is picked in the warehouse now"


async def test_store_products(world: World) -> None:
    said: dict[str, Any] = {
        "product_number": "P2",
        "attention_codes": ["X", "Y"],
        "average_array": [1, 2.5],
        "average_keys": ["a", "b"],
        "default_salesorder_type": "D",
        "demand_until_delivery": 1.5,
        "discount_price": 2,
        "expiry_date_time": TIME,
        "forecast_array": [3, 4],
        "forecast_keys": ["w1", "w2"],
        "history_array": [5],
        "history_keys": ["h"],
        "is_promotion": True,
        "is_replenishment": True,
        "max": 8,
        "min": 2,
        "next_delivery_date": TIME,
        "next_ordering_date": TIME,
        "order_level": 4,
        "price": 2.75,
        "validate_expiry_date_time": TIME,
    }
    shown = {
        "storeproduct_attention_codes": "X,Y",
        "average_array": '{"a":1,"b":2.5}',
        "default_salesorder_type": "D",
        "demand_until_delivery": Decimal("1.5"),
        "adjusted_order_level": Decimal("5.5"),
        "discount_price": 2,
        "last_expiry_datetime": TIME,
        "forecast_array": '{"w1":3,"w2":4}',
        "forecast": 3,
        "history_array": '{"h":5}',
        "is_promotion": True,
        "is_replenishment": True,
        "max": 8,
        "min": 2,
        "next_delivery_datetime": TIME,
        "next_ordering_datetime": TIME,
        "order_level": 4,
        "price": Decimal("2.75"),
        "validate_expiry_datetime": TIME,
    }
    assert given(said) == documented("update-store-products")
    assert documented("create-store-products") == {f"store_products.{leaf}" for leaf in {*said, "is_stock"}}
    await world.put("/stores/S1/storeproducts", [said])
    await world.post("/stores/S2/storeproducts", {"store_products": [said | {"is_stock": False}]})
    for store, is_stock in (("S1", True), ("S2", False)):
        [entry] = await world.rows(STOCK, store_number=store)
        in_it(shown | {"is_stock": is_stock}, entry)
    [single] = (await world.get("/stores/S1/products/P2/stock"))["products"]
    in_it({"min": 2, "max": 8, "next_delivery_datetime": TIME, "ordering_datetimes": [TIME]}, single)


async def test_stores(world: World) -> None:
    texts = [leaf for leaf in documented("create-stores") if "." not in leaf]
    typed: dict[str, Any] = {
        "area_manager_user_id": 5,
        "price_line_id": 6,
        "is_active": True,
        "is_active_data_exchange": False,
        "is_warehouse": True,
        "store_number": "S9",
        "store_next_ordering_datetime": TIME,
        "store_next_delivery_datetime": TIME,
    }
    body: dict[str, Any] = {name: typed.get(name, f"the {name}") for name in texts}
    body["free_fields"] = [{"key": "k", "sort_order": 1, "value": "v"}]
    body["opening_hours"] = [{"key": "monday", "sort_order": 1, "value": "8-18"}]
    week = {"category_code": "c", "ordering_offset": 1, "week_numbers": "1,3"}
    body["ordering_schema"] = [{"day": 1, "delivery_offset": 2, "time": "10:00", **week}]
    printer = {"printer_ip": "10.0.0.1", "printer_name": "n", "printer_serial": "s", "printer_type": 1, "vendor": "v"}
    body["store_printers"] = [{"is_bluetooth": False, **printer}]
    assert given(body) == documented("create-stores")
    await world.post("/stores", {"stores": [body]})
    assert await world.get("/aisle/v1/stores/S9") == body
    [seen] = await world.rows("/stores", secondary_key="the store_gln")
    shown = {"storeNo": "S9", "storeName": "the store_name", "areaId": "the area_id", "isWarhouse": True}
    shown |= {"areaDescription": "the area_description", "countryCode": "the country_code"}
    in_it(shown | {f"storeStockPool{pool}": f"the store_stock_pool_{pool}" for pool in range(1, 11)}, seen)


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


def test_the_other_bodies_are_those_that_have_tests_of_their_own() -> None:
    shown = {
        "create-customer-orders-one-store",
        "create-customer-orders-several-stores",
        "update-customer-order",
        "update-store-products",
        "create-store-products",
        "create-store-deliveries",
        "create-multi-store-deliveries",
        "create-store-product-logs",
        "create-stores",
        "create-or-update-products",
        "create-movement",
    }
    # `test_products` and `test_clearance` say every field of these.
    others = {
        "create-customer-order-clearance",
        "delete-products",
        "update-product-attributes",
        "create-prices",
        "create-discount-prices",
        "create-product-free-fields",
    }
    assert shown | others == {name for name, row in OPERATIONS.items() if row.body}
