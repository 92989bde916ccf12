"""What is sent to a service so that every documented field has a value of its own, and what is read back.

`sent` has a body for each documented resource of a request, `told` a row for each of an answer. Values are unlike each
other, so that one that is found in an answer is the one that was sent.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from tests.service.world import LOGS, World

Body = dict[str, Any]

POOLS = range(1, 11)
TIMES = {
    name: f"2026-07-{day:02d}T08:00:00.000Z"
    for day, name in enumerate(
        (
            "created",
            "expected",
            "expiry",
            "delivery",
            "ordering",
            "validate",
            "store order",
            "store delivery",
            "export",
        ),
        1,
    )
}
COUNTED = "2026-05-27T01:00:00.000Z"
SCANNED = "2026-05-27T02:00:00.000Z"
MODIFIED = "2026-05-27T03:00:00.000Z"
CUSTOMER = ("city", "country", "email", "name", "number", "phone", "street", "zipcode")
ADDRESS = ("city", "country", "street", "zipcode")
NUMBER = "FULL"
PLACE = "L1"
USER = {"Aisle-App-User": "ida"}


def texts(names: str, **said: Any) -> Body:
    """A text of its own for each name, and what is said beside."""
    return {name: f"the {name}" for name in names.split()} | said


STORE: Body = texts(
    "address area_description city contact_details cost_center country_code country_name esl_server_path ip_range_begin"
    " ip_range_end local_server_path phone_number postal_code store_gln store_name store_type_code"
    " store_type_description invent_location legal_entity",
    **{f"store_stock_pool_{pool}": f"the pool {pool}" for pool in POOLS},
    area_id="north",
    area_manager_user_id=5,
    free_fields=[{"key": "k", "sort_order": 1, "value": "v"}],
    is_active=True,
    is_active_data_exchange=False,
    is_warehouse=True,
    last_order_line_exported_on=TIMES["export"],
    opening_hours=[{"key": "monday", "sort_order": 1, "value": "8-18"}],
    ordering_schema=[
        {
            "day": 1,
            "delivery_offset": 2,
            "time": "10:00",
            "category_code": "c",
            "ordering_offset": 1,
            "week_numbers": "1",
        }
    ],
    price_line_id=6,
    store_next_delivery_datetime=TIMES["store delivery"],
    store_next_ordering_datetime=TIMES["store order"],
    store_number="S1",
    store_printers=[
        {
            "is_bluetooth": False,
            "printer_ip": "10.0.0.1",
            "printer_name": "n",
            "printer_serial": "s",
            "printer_type": 1,
            "vendor": "v",
        }
    ],
)
PRODUCT: Body = texts(
    "attention_code barcode base_unit_name brand_code brand_description category_code category_name color color_code"
    " country_code general_ledger group_code image_url margin_category parent_category_code price_compare_unit"
    " price_lines product_details product_name product_type product_url promotion promotion_week purchase_unit_barcode"
    " purchase_unit_name purchase_unit_product_number referral_product_id size size_code smallest_product_number"
    " supplier_id supplier_name supplier_product_number variant_code variant_family volume",
    allow_decimal=True,
    average_weight=1.125,
    barcodes_array="also-1,also-2",
    carrier_item_quantity=12.5,
    category_order=31,
    countries_allowed=["nl"],
    countries_not_allowed=["de"],
    deprecation_date="20301101",
    edit_min_max_percentage=90,
    expiration_min_range=4,
    free_fields=[{"sort_order": 1, "key": "k", "value": "v"}],
    **dict.fromkeys(["is_active", "is_counted", "is_edit_min_max", "is_edit_replenishment", "is_expiration"], True),
    **dict.fromkeys(
        ["is_order_manually", "is_promotion", "is_set", "is_stock", "is_template", "reset_store_stock"], True
    ),
    moq=2.125,
    old_price=9.5,
    price=7.25,
    price_compare_multiplier=3.5,
    product_number=NUMBER,
    promo_stores_allowed=["S1"],
    promo_stores_not_allowed=["S2"],
    promotion_price=6.75,
    purchase_price=4.125,
    purchase_unit_quantity=24.5,
    set_product=[{"set_item_quantity": "2", "set_product_number": "P1"}],
    shelf_label=True,
    shelf_label_barcode=True,
    shelf_label_layout=8,
    shelf_label_price=True,
    shelf_label_quantity=9,
    smallest_quantity=0.375,
    special_price=6.5,
    stores_allowed=["S1", "S2"],
    stores_not_allowed=["S3"],
    units=[{"unit_quantity": 6.5, "unit_barcode": "the unit_barcode", "unit_name": "the unit_name"}],
    variant_factor=1.75,
)
LEVELS: Body = {"product_number": NUMBER, "min": 11, "max": 21}
STORE_PRODUCT: Body = {
    "product_number": NUMBER,
    "attention_codes": ["X", "Y"],
    "average_array": [1, 2.5],
    "average_keys": ["a1", "a2"],
    "default_salesorder_type": "the default_salesorder_type",
    "demand_until_delivery": 13.25,
    "discount_price": 3.125,
    "expiry_date_time": TIMES["expiry"],
    "forecast_array": [33.5, 4],
    "forecast_keys": ["f1", "f2"],
    "history_array": [5.5],
    "history_keys": ["h1"],
    "is_promotion": True,
    "is_replenishment": True,
    "max": 22,
    "min": 12,
    "next_delivery_date": TIMES["delivery"],
    "next_ordering_date": TIMES["ordering"],
    "order_level": 41.5,
    "price": 8.375,
    "validate_expiry_date_time": TIMES["validate"],
}
OWN_PRICES: Body = {"price": 2.75, "old_price": 3.875, "special_price": 2.625, "purchase_price": 1.375}
OWN_PROMOTION = "the promotion of the store"
COUNT: Body = {
    "product_number": NUMBER,
    "location_code": PLACE,
    "scanned_datetime": COUNTED,
    **{f"stock_pool_{pool}": 100 + pool for pool in POOLS},
}
_HEAD: Body = texts(
    "description order_comment order_type_code order_type_description",
    **{f"customer_{name}": f"customer {name}" for name in CUSTOMER},
    **{f"delivery_{name}": f"delivery {name}" for name in ADDRESS},
)
_LINE: Body = {
    "product_number": NUMBER,
    "delivery_date": "2026-06-01",
    "ordering_datetime": TIMES["ordering"],
    "pickup_date": "2026-06-02",
}
ORDER_LINE: Body = _LINE | {
    "line_number": 3,
    "quantity": 9.5,
    "barcode": "line barcode",
    "description": "line description",
    "full_fillment_status": "the full_fillment_status",
    "is_picked": False,
    "is_picked_from_warehouse": True,
    "picked_quantity": 1.25,
    "picking_stock_pool_array": ["5", "6"],
    "preferred_location_code": PLACE,
    "price": 9.99,
    "reference": "LINE",
    "stock_pool": 4,
}
ORDER: Body = _HEAD | {
    "order_number": "ONE",
    "file_name": "the file_name",
    "is_active": True,
    "is_picked": False,
    "is_rejected": False,
    "order_lines": [ORDER_LINE],
    "order_type": "the order_type",
    "reference": "REF-ONE",
    "sales_order_id": "SALES",
    "status_id": 17,
}
MULTI_LINE: Body = _LINE | {
    "line_number": 4,
    "quantity": 8.5,
    "barcode": "multi barcode",
    "description": "multi description",
    "is_picked": False,
    "is_picked_from_warehouse": True,
    "picked_quantity": 2.25,
    "price": 8.99,
    "stock_pool": 7,
}
MULTI_ORDER: Body = {name: f"multi {value}" for name, value in _HEAD.items()} | {
    "order_number": "MANY",
    "is_picked": False,
    "order_lines": [MULTI_LINE],
    "reference": "REF-MANY",
    "store_number": "S1",
    "stores_allowed": ["S1", "S2"],
}
UPDATE_LINE: Body = {
    "line_number": 1,
    "product_number": NUMBER,
    "barcode": "new barcode",
    "delivery_date": "2026-06-11",
    "description": "new description",
    "is_picked": False,
    "is_picked_from_warehouse": True,
    "ordering_datetime": TIMES["delivery"],
    "picked_quantity": 0,
    "pickup_date": "2026-06-12",
    "preferred_location_code": PLACE,
    "price": 5.55,
    "quantity": 7.5,
    "stock_pool": 6,
}
UPDATE: Body = {
    "order_number": "LATER",
    "is_active": True,
    "is_claimed": True,
    "is_picked": False,
    "is_rejected": False,
    "order_lines": [UPDATE_LINE],
}
REJECTION: Body = {
    "order_number": "NEVER",
    "is_rejected": True,
    "rejection_reason_code": "77",
    "rejection_reason_code_description": "the rejection_reason_code_description",
}
_DELIVERY_HEAD: Body = {
    "datetime_created": TIMES["created"],
    "datetime_expected": TIMES["expected"],
    "tracing_url": "the tracing_url",
}
DELIVERY_LINE: Body = {
    "product_number": NUMBER,
    "quantity": 12.5,
    "barcode": "delivery barcode",
    "container_barcode": "the container_barcode",
    "customer_order_line_number": 5,
    "customer_order_number": "HELD",
    "customer_order_shipment_number": "SHIP-1",
    "customer_order_shipment_number_line_number": 71,
    "description": "delivery line description",
    "line_number": 14,
    "purchase_price": 4.875,
    "secondary_order_line_number": 61,
    "secondary_order_number": "SEC-1",
    "target_stock_pool": 3,
}
DELIVERY: Body = _DELIVERY_HEAD | {
    "no_of_containers": 2,
    "order_number": "DEL-1",
    "description": "delivery description",
    "external_reference_number": "EXT-1",
    "order_lines": [DELIVERY_LINE],
    "order_type": 3,
    "reason_code": 51,
    "store_origin": 900,
    "supplier_code": "SUP-1",
    "supplier_name": "Supplier One",
}
MULTI_DELIVERY_LINE: Body = {
    **{name: value for name, value in DELIVERY_LINE.items() if name != "purchase_price"},
    "quantity": 13.5,
    "barcode": "multi delivery barcode",
    "container_barcode": "multi container_barcode",
    "customer_order_shipment_number": "SHIP-2",
    "customer_order_shipment_number_line_number": 72,
    "description": "multi delivery line description",
    "line_number": 15,
    "secondary_order_line_number": 62,
    "secondary_order_number": "SEC-2",
    "target_stock_pool": 4,
}
MULTI_DELIVERY: Body = {
    "no_of_containers": 4,
    "order_number": "DEL-2",
    "store_number": "S1",
    "supplier_name": "Supplier Two",
    "datetime_created": TIMES["delivery"],
    "datetime_expected": TIMES["ordering"],
    "description": "multi delivery description",
    "order_lines": [MULTI_DELIVERY_LINE],
    "order_type": 4,
    "reason_code": 52,
    "supplier_code": "SUP-2",
    "tracing_url": "multi tracing_url",
}
LOSS: Body = {
    "app_user_name": "bea",
    "customer_order_line_number": 5,
    "customer_order_number": "HELD",
    "expected_quantity": 7,
    "location_code": PLACE,
    "loss_comment": "the loss_comment",
    "loss_image": "the loss_image",
    "loss_order_number": "the loss_order_number",
    "modification_datetime": MODIFIED,
    "order_after_date": "2026-09-01T00:00:00.000Z",
    "product_number": NUMBER,
    "reason_code": 12,
    "reference": "HELD",
    "scanned_datetime": SCANNED,
    "source": "the source",
    **{f"stock_pool_{pool}": pool / 8 for pool in POOLS},
}
BARE_COUNT: Body = {"product_number": NUMBER, "location_code": "A2", "counted_quantity": 17.5, "pool_location": 8}
BARE_LOSS: Body = {
    "product_number": NUMBER,
    "quantity": -2.5,
    "pool_location": 5,
    "app_user_name": "lou",
    "loss_order_number": "lost with",
    "modification_datetime": MODIFIED,
    "location_code": PLACE,
}
MOVED: Body = {
    "allow_overage": True,
    "from_location": {"location_code": PLACE, "stock_pool": 4},
    "to_location": {
        "customer_order_line_number": 5,
        "customer_order_number": "HELD",
        "customer_order_shipment_line_number": 73,
        "customer_order_shipment_number": "SHIP-3",
        "location_code": PLACE,
        "stock_pool": 9,
    },
    "product_number": NUMBER,
    "quantity": 6.5,
    "reason_code": "13",
    "reference": "the movement",
    "source": "the movement source",
}
BACK: Body = MOVED | {
    "from_location": MOVED["to_location"],
    "to_location": {"location_code": "A2", "stock_pool": 10},
    "quantity": 1.5,
    "allow_overage": False,
}


class Walk:
    """A store to which all of it is sent; `told` grows as its lists are read."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.told: dict[str, Any] = {}

    async def make(self) -> None:
        """Send and read everything, in an order in which each value is still there when it is read."""
        await self._catalogue()
        await self._stock()
        await self._orders()
        await self._deliveries()
        await self._goods()
        await self._log()

    async def _entry(self, answer: Any) -> Body:
        """The entry of the log that a write has made; what else is booked with it has entries of its own."""
        [number] = answer["data"]
        [entry] = await self.world.rows("/products/stock/storeproductlogs", from_id=number, to_id=number)
        return entry

    async def _rows(self, name: str, path: str, **query: Any) -> list[Body]:
        """The rows of a list, whose envelope is told under its name."""
        self.told[name] = await self.world.get(path, **query)
        found: list[Body] = self.told[name].get("list") or self.told[name].get("records")
        return found

    async def _catalogue(self) -> None:
        world, told = self.world, self.told
        told["StandardResult"] = await world.post("/stores", {"stores": [STORE]})
        told["the store"] = await world.get("/aisle/v1/stores/S1")
        [told["Store"]] = await self._rows("StoreList", "/stores", secondary_key=STORE["store_gln"])
        # Of several pages, the first and the second one of two.
        told["first page"] = await world.get("/stores", page_size=1)
        told["second page"] = await world.get("/stores", page_size=1, page_start=2)
        scroll_id = told["first page"]["scroll_id"]
        told["second page by its scroll id"] = await world.get("/stores", page_size=1, scroll_id=scroll_id)
        told["ConfirmedResult"] = await world.post("/products", {"products": [PRODUCT]})
        place = {"location_code": PLACE, "location_order": 15, "tags": ["cold", "tagged"], "default_stock_pool": "3"}
        await world.post(
            "/aisle/v1/locations", {"locations": [place | {"store_number": "S1", "carrier_code": "CARRIER-7"}]}
        )
        shelves = [{"store_number": "S1", "location_code": f"B{pool}", "default_stock_pool": pool} for pool in POOLS]
        await world.post("/aisle/v1/locations", {"locations": shelves})
        await world.post("/stores/S1/storeproducts", {"store_products": [LEVELS]}, headers=USER)
        await world.put("/stores/S1/storeproducts", [STORE_PRODUCT], headers=USER)
        # A second product, which has no plan of its own: the store's moments are its moments.
        await world.post("/stores/S1/storeproducts", {"store_products": [{"product_number": "P2"}]})
        [told["planned"]] = await world.rows("/storeproducts/stock", product_number="P2")
        own = {"product_number": "P2", "store_number": "S1"}
        await world.post("/products/prices", {"products": [own | OWN_PRICES]})
        discount = {"discount_price": 2.5, "promotion": OWN_PROMOTION}
        await world.post("/products/discountprices", {"products": [own | discount]})
        [told["own prices"]] = await world.rows("/storeproducts/stock", product_number="P2")
        [told["Product"]] = await self._rows("ProductList", "/products", product_number=NUMBER, store_number="S1")
        [told["chain product"]] = await self._rows("ProductList", "/products", product_number=NUMBER)
        told["second products"] = await world.get("/products", page_size=1, page_number=2)
        told["AttributeResult"] = await world.put(
            "/products/attributes", {"products": [{"product_number": NUMBER, "color": PRODUCT["color"]}]}
        )

    async def _stock(self) -> None:
        world, told = self.world, self.told
        recounts = [{"product_number": NUMBER, "location_code": PLACE}]
        recounts += [
            {"product_number": product, "location_code": f"B{pool}"}
            for pool in POOLS
            for product in ("P1", "P2", "P3", "KG", "FEE")[: 1 + pool % 5]
        ]
        told["recounts"] = (await world.post("/aisle/v1/stores/S1/recounts", {"recounts": recounts}))["data"]
        told["LogResult"] = await self._count(COUNT)
        query = {"store_number": "S1", "product_number": NUMBER, "include_locations": True}
        [told["StoreProductStock"]] = await self._rows("StoreProductStockList", "/storeproducts/stock", **query)
        told["StockLocation"] = told["StoreProductStock"]["store_locations"][0]
        told["ProductStockResult"] = await world.get(f"/stores/S1/products/{NUMBER}/stock", include_locations=True)
        [told["ProductStock"]] = told["ProductStockResult"]["products"]
        [around] = await world.get(f"/stores/S2/storeproducts/{NUMBER}/surrounding") or [None]
        told["SurroundingStock"] = around
        # What was ordered is counted from now on, as nobody counts ahead of an order.
        told["counted"] = await self._count(
            COUNT | {"scanned_datetime": "2026-05-29T00:00:00Z", "expected_quantity": 5}
        )
        [told["count"]] = (await world.rows("/products/stock/storeproductlogs"))[-1:]
        told["bare count"] = await self._entry(await self._count(BARE_COUNT))
        await self._count(BARE_COUNT | {"counted_quantity": 0})

    async def _count(self, entry: Body) -> Any:
        return await self.world.post(LOGS, {"storeproductlog": [entry]}, query={"is_counted_quantity": True})

    async def _orders(self) -> None:
        world, told = self.world, self.told
        orders = "/stores/S1/orders/customerorders"
        await world.post(orders, {"orders": [ORDER]})
        await world.post("/orders/customerorders", {"orders": [MULTI_ORDER]})
        await world.order("LATER", {"product_number": NUMBER, "quantity": 9})
        await world.put("/stores/S1/orders/customerorder", {"orders": UPDATE})
        await world.order("NEVER", {"product_number": NUMBER, "quantity": 9})
        await world.put("/stores/S1/orders/customerorder", {"orders": REJECTION})
        await world.order("HELD", {"product_number": NUMBER, "quantity": 99, "line_number": 5, "stock_pool": 4})
        await self._rows("CustomerOrderList", orders, show_lines=True)
        for name, number in (("CustomerOrder", "ONE"), ("many", "MANY"), ("later", "LATER"), ("never", "NEVER")):
            told[name] = await world.see(number)
        told["CustomerOrderLine"] = told["CustomerOrder"]["lines"][0]
        told["many line"], told["later line"] = (told[name]["lines"][0] for name in ("many", "later"))
        await world.order("DONE", {"product_number": NUMBER, "quantity": 4})
        picked = {"line_number": 1, "product_number": NUMBER, "picked_quantity": 3}
        await world.update("DONE", picked, headers=USER)
        told["picked line"] = await world.line("DONE")
        await world.update("DONE", is_active=False)
        told["done"] = await world.see("DONE")
        for name, value in (("is_active", False), ("is_rejected", True), ("is_picked", True)):
            await world.order(f"BY-{name}", {"product_number": NUMBER, "quantity": 1}, **{name: value})
            told[f"by {name}"] = await world.see(f"BY-{name}")
        line = {"product_number": NUMBER, "quantity": 1}
        await world.order("BY-LINE", line | {"is_picked": True})
        told["line by is_picked"] = await world.line("BY-LINE")
        for number, head, more in (("M-1", {"is_picked": True}, {}), ("M-2", {}, {"is_picked": True})):
            body = {"order_number": number, "store_number": "S1", "order_lines": [line | {"line_number": 1} | more]}
            await world.post("/orders/customerorders", {"orders": [body | head]})
        told["many by is_picked"], told["many line by is_picked"] = await world.see("M-1"), await world.line("M-2")
        await world.order("U-1", line)
        await world.update("U-1", is_picked=True)
        told["updated by is_picked"] = await world.see("U-1")

    async def _deliveries(self) -> None:
        world, told = self.world, self.told
        await world.post("/stores/S1/orders/deliveries", {"orders": [DELIVERY]})
        await world.post("/orders/deliveries", {"orders": [MULTI_DELIVERY]})
        [told["fresh"]] = await world.rows("/orders/deliveries", order_number="DEL-1")
        marks = [{"order_number": "DEL-1", "is_downloaded": True}]
        await world.post("/aisle/v1/stores/S1/deliveries", {"deliveries": marks})
        came: Body = {"product_number": NUMBER, "quantity": 2.5, "reference": "DEL-1", "app_user_name": "rex"}
        told["received"] = await self._entry(await world.log(query={"is_from_receipt": True}, **came))
        [told["Delivery"]] = await self._rows("DeliveryList", "/orders/deliveries", order_number="DEL-1")
        [told["DeliveryLine"]] = told["Delivery"]["order_lines"]
        [told["second"]] = await world.rows("/orders/deliveries", order_number="DEL-2")
        [told["second line"]] = told["second"]["order_lines"]
        [told["Receipt"]] = await self._rows("ReceiptList", "/stores/S1/orders/receipts", receipt_type=3)
        [told["ReceiptLine"]] = told["Receipt"]["receipt_lines"]
        third = {"order_number": "DEL-3", "no_of_containers": 1, "order_type": DELIVERY["order_type"]}
        third |= {"order_lines": [{"product_number": "P3", "quantity": 1}]}
        await world.post("/stores/S1/orders/deliveries", {"orders": [third]})
        more: Body = {"product_number": "P3", "quantity": 3, "reference": "DEL-3"}
        told["to review"] = await self._entry(await world.log(query={"is_from_receipt": True}, **more))
        for name, page in (("first receipts", 1), ("second receipts", 2)):
            told[name] = await world.get("/orders/receipts", receipt_type=3, page_size=1, page_start=page)
        told["none"] = await world.get("/orders/receipts", receipt_type=99)

    async def _goods(self) -> None:
        """Goods that are held for an order line at a place, with the shipment that brought them."""
        world, told = self.world, self.told
        movement = "/stores/S1/storeproductlocation/movement"
        told["moved"] = await world.post(movement, [MOVED], headers=USER)
        entries = await world.rows("/products/stock/storeproductlogs", reference=MOVED["reference"])
        told["moved entries"] = {"ids": ",".join(str(row["id"]) for row in entries)}
        told["away"], told["there"] = entries[-2:]
        found = [
            row for row in await self._rows("LocationList", "/stores/S1/locations") if row["location_code"] == PLACE
        ]
        [told["Location"]] = found
        held = [row for row in told["Location"]["stock"] if row.get("customer_order_number") == "HELD"]
        [told["held"]] = [row for row in held if "mostlikelypool9" in row]
        [told["LocationStock"]] = [row for row in told["Location"]["stock"] if "customer_order_number" not in row]
        products = await self._rows("LocationProductList", f"/stores/S1/locations/{PLACE}/products")
        [told["LocationProduct"]] = [row for row in products if "customer_order_number" in row]
        spots = (await world.line("HELD", 5))["store_locations"]
        spots = [row for row in spots if row["location_code"] == PLACE]
        [told["CustomerOrderLineLocation"]] = [row for row in spots if "customer_order_number" not in row]
        [told["held spot"]] = [row for row in spots if "customer_order_number" in row]
        told["held line"] = await world.line("HELD", 5)
        await world.post(movement, [BACK], headers=USER)
        told["from order"], told["to shelf"] = (await world.rows("/products/stock/storeproductlogs"))[-2:]
        missing = {"product_number": "P3", "quantity": 1, "from_location": {"location_code": "A10"}, "to_location": {}}
        tried = [await world.send("POST", movement, [missing | {"allow_overage": may}]) for may in (False, True)]
        told["overage"] = {"refused": tried[0].status_code, "allowed": tried[1].status_code}
        told["refused"] = tried[0].json()
        clearance = "/customerorders/clearance"
        told["cleared"] = await world.post(clearance, {}, query={"location_code_tag": "nowhere"})
        told["clearance"] = {}
        for name, category in (("other", "other"), ("own", PRODUCT["category_code"])):
            await world.post(clearance, {"category_codes": [category]}, query={"location_code_tag": "cold"})
            assigned = (await world.get("/aisle/v1/stores/S1/assignments"))["assignments"]
            told["clearance"][name] = [row["location_tag"] for row in assigned]

    async def _log(self) -> None:
        world, told = self.world, self.told
        told["logged"] = await world.log(**LOSS)
        told["StoreProductLog"] = await self._entry(told["logged"])
        await self._rows("StoreProductLogList", "/products/stock/storeproductlogs")
        told["entry"] = await world.get("/aisle/v1/stores/S1/logs", id=told["StoreProductLog"]["id"])
        counted = await world.get("/aisle/v1/stores/S1/logs", id=told["count"]["id"])
        told["entry of the count"] = counted
        told["loss"] = await self._entry(await world.log(**BARE_LOSS))
        # An entry that is wrong, and is told so.
        told["refused entry"] = await world.log(422, product_number="no such product", quantity=1)
        [told["after"]] = await world.rows("/storeproducts/stock", store_number="S1", product_number=NUMBER)


def plain(value: Any) -> Any:
    """A value as it can be compared: numbers as decimals, texts as they are."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float | Decimal):
        return Decimal(str(value))
    if isinstance(value, list):
        return [plain(one) for one in value]
    return {name: plain(one) for name, one in value.items()}
