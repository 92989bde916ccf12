"""Every field that the document names: where it goes in and comes out, or why it does not (README: Fields).

The document's tables are those of `tests/contract`. Each field is really sent and read over HTTP (`every_field`): a
claim names the row in which it is found, and the value that was sent. What is never told stands in the README.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any, NamedTuple

import pytest

from aisle.contract.operations import OPERATIONS
from tests.contract.document import BODIES as DOCUMENTED_BODIES
from tests.contract.test_document import RESOURCES, ROWS, blocks
from tests.service import test_conformance
from tests.service.every_field import (
    ADDRESS,
    BACK,
    BARE_COUNT,
    BARE_LOSS,
    COUNTED,
    CUSTOMER,
    DELIVERY,
    DELIVERY_LINE,
    LEVELS,
    LOSS,
    MODIFIED,
    MOVED,
    MULTI_DELIVERY,
    MULTI_DELIVERY_LINE,
    MULTI_LINE,
    MULTI_ORDER,
    NUMBER,
    ORDER,
    ORDER_LINE,
    OWN_PRICES,
    OWN_PROMOTION,
    PLACE,
    POOLS,
    PRODUCT,
    REJECTION,
    SCANNED,
    STORE,
    STORE_PRODUCT,
    UPDATE,
    UPDATE_LINE,
    Walk,
    plain,
)
from tests.service.world import World

NOW = "2026-05-28T20:26:40.000Z"
DOCUMENTED = 850
"""The fields of the document's tables and its parameters are no fewer."""
S1 = 1
"""The ordinal of the store: an id on the wire is a number of the store's, and below it this."""


class At(NamedTuple):
    """In another row than that of the resource, under this name, with this value."""

    row: str
    field: str
    value: Any


class Same(NamedTuple):
    """What another answer told there."""

    row: str
    field: str


class Never(NamedTuple):
    """Told by no answer, or always in the same way: the README says why."""

    always: Any = None


def of_pools(name: str, value: Any) -> dict[str, Any]:
    """A value for each pool; `value` takes the pool."""
    return {f"{name}{pool}": value(pool) for pool in POOLS}


def some(body: Mapping[str, Any], names: str) -> dict[str, Any]:
    """These fields as they were sent."""
    return {name: body[name] for name in names.split()}


def wire_id(number: int) -> int:
    return (number << 20) + S1


COUNTED_QUANTITY = sum(100 + pool for pool in POOLS)
CARRIED = {1: 101 - 3 - 5, 4: 104 - 4}
"""What pools have when the places are read, of which orders and movements have taken something."""
LEFT = sum(CARRIED.get(pool, 100 + pool) for pool in POOLS)
ENVELOPE: dict[str, Any] = {
    "list_filters": At("StoreList", "list_filters", {"secondary_key": [STORE["store_gln"]]}),
    "next_page": At("first page", "next_page", 2),
    "previous_page": At("second page", "previous_page", 1),
    "page_size": At("first page", "page_size", 1),
    "page_start": At("second page", "page_start", 2),
    "total_count": At("first page", "total_count", 4),
    "scroll_id": At("second page by its scroll id", "page_start", 2),
    "server_time": At("first page", "server_time", NOW),
    "sort_column": At("first page", "sort_column", "storeNo"),
    "sort_order": At("first page", "sort_order", "asc"),
    **dict.fromkeys(("list_body", "project_last_modified_date", "task_last_modified_date"), Never()),
}
SHIPMENT: dict[str, Any] = some(
    MOVED["to_location"],
    "customer_order_line_number customer_order_number customer_order_shipment_line_number"
    " customer_order_shipment_number",
)
_IN_PRODUCT = {name: PRODUCT[name] for name in RESOURCES["Product"] if name in PRODUCT}

ANSWERS: dict[str, dict[str, Any]] = {
    "StandardResult": {
        "success": True,
        "data": At("moved", "data", Same("moved entries", "ids")),
        "message": At("refused", "message", "[0]: Only 0 of P3 can be moved from there."),
    },
    "ConfirmedResult": {
        "success": True,
        "data": Never(),
        "message": At("cleared", "message", "No place has the tag 'nowhere'; nothing is to be moved."),
    },
    "PageEnvelope": ENVELOPE,
    "PageCounts": {
        "next_page": At("first receipts", "next_page", 2),
        "previous_page": At("second receipts", "previous_page", 1),
        "page_size": At("first receipts", "page_size", 1),
        "page_start": At("second receipts", "page_start", 2),
        "total_count": At("first receipts", "total_count", 2),
    },
    "CustomerOrder": {
        "is_active": At("by is_active", "is_active", False),
        "is_claimed": At("later", "is_claimed", True),
        "is_picked": At("by is_picked", "is_picked", True),
        "is_rejected": At("by is_rejected", "is_rejected", True),
        "status_id": ORDER["status_id"],
        "total_lines": 1,
        "total_quantity": ORDER_LINE["quantity"],
        "comment": ORDER["order_comment"],
        **some(ORDER, "customer_name description order_number order_type_code order_type_description reference"),
        "sales_order_id": ORDER["sales_order_id"],
        "pickup_date": ORDER_LINE["pickup_date"],
        "rejection_reason_code": At("never", "rejection_reason_code", REJECTION["rejection_reason_code"]),
        "rejection_reason_code_description": At(
            "never", "rejection_reason_code_description", REJECTION["rejection_reason_code_description"]
        ),
        "store_number": "S1",
        "stores_allowed": At("many", "stores_allowed", ",".join(MULTI_ORDER["stores_allowed"])),
        "total_delivery_quantity": At("done", "total_delivery_quantity", 3),
    },
    "CustomerOrderLine": {
        "id": wire_id(1),
        "explicit_order": Never(always=False),
        "is_template": Never(always=False),
        "is_picked": At("by is_picked", "lines.0.is_picked", True),
        **some(ORDER_LINE, "line_number picked_quantity price quantity stock_pool barcode delivery_date description"),
        **some(ORDER_LINE, "picking_stock_pool_array pickup_date preferred_location_code product_number reference"),
        "store_walking_order": 15,
        "delivery_qty": At("done", "lines.0.delivery_qty", 3),
        "moved_quantity": At("held line", "moved_quantity", MOVED["quantity"]),
        "next_ordering_datetime": ORDER_LINE["ordering_datetime"],
        "picked_username": At("picked line", "picked_username", "ida"),
        "stock_location": PLACE,
    },
    "CustomerOrderLineLocation": {
        "location_order": 15,
        "quantity": LEFT,
        **{name: At("held spot", name, value) for name, value in SHIPMENT.items()},
        "default_stock_pool": "3",
        "location_code": PLACE,
        **of_pools("most_likely_pool_", lambda pool: CARRIED.get(pool, 100 + pool)),
        "tags": ["cold", "tagged"],
    },
    "StoreProductStock": {
        "id": wire_id(1),
        "is_replenishment": True,
        "is_stock": True,
        "most_likely_quantity": COUNTED_QUANTITY,
        "adjusted_order_level": STORE_PRODUCT["order_level"] + STORE_PRODUCT["demand_until_delivery"],
        "attention_codes": ",".join([PRODUCT["attention_code"], *STORE_PRODUCT["attention_codes"]]),
        "average_array": '{"a1":1,"a2":2.5}',
        **some(PRODUCT, "barcode category_code category_name category_order group_code product_number promotion_week"),
        **some(PRODUCT, "purchase_unit_name purchase_unit_quantity smallest_product_number"),
        "delivery_datetimes": [STORE_PRODUCT["next_delivery_date"]],
        **some(STORE_PRODUCT, "demand_until_delivery max min order_level price"),
        "forecast": STORE_PRODUCT["forecast_array"][0],
        "forecast_array": '{"f1":33.5,"f2":4}',
        "history_array": '{"h1":5.5}',
        "last_counted_datetime": COUNTED,
        "last_expiry_datetime": STORE_PRODUCT["expiry_date_time"],
        "last_expiry_updatedby": "ida",
        "last_loss_updatedby": At("after", "last_loss_updatedby", BARE_LOSS["app_user_name"]),
        "last_minmax_updatedby": "ida",
        "last_receipt_updatedby": At("after", "last_receipt_updatedby", "rex"),
        "most_likely_datetime": NOW,
        **of_pools("most_likely_pool_", lambda pool: 100 + pool),
        "next_delivery_datetime": STORE_PRODUCT["next_delivery_date"],
        "next_ordering_datetime": STORE_PRODUCT["next_ordering_date"],
        "ordering_datetimes": [STORE_PRODUCT["next_ordering_date"]],
        "original_max": LEVELS["max"],
        "original_min": LEVELS["min"],
        "product_description": PRODUCT["product_name"],
        "referral_product": PRODUCT["referral_product_id"],
        "smallest_item_quantity": PRODUCT["smallest_quantity"],
        "store_number": "S1",
        "storeproduct_attention_codes": ",".join(STORE_PRODUCT["attention_codes"]),
        "validate_expiry_datetime": STORE_PRODUCT["validate_expiry_date_time"],
    },
    "StockLocation": {
        "quantity": COUNTED_QUANTITY,
        "carrier_code": "CARRIER-7",
        "default_stock_pool": "3",
        **of_pools("stock_pool_", lambda pool: 100 + pool),
        "store_location_code": PLACE,
        "tags": ["cold", "tagged"],
    },
    "ProductStockResult": {},
    "ProductStock": {
        "most_likely_stock": COUNTED_QUANTITY,
        "delivery_datetimes": [STORE_PRODUCT["next_delivery_date"]],
        "edit_min_max_percentage": PRODUCT["edit_min_max_percentage"],
        "is_edit_min_max": True,
        **some(STORE_PRODUCT, "max min product_number"),
        "next_delivery_datetime": STORE_PRODUCT["next_delivery_date"],
        "next_ordering_datetime": STORE_PRODUCT["next_ordering_date"],
        "ordering_datetimes": [STORE_PRODUCT["next_ordering_date"]],
        **of_pools("stock_pool_", lambda pool: 100 + pool),
        "store_number": "S1",
    },
    "SurroundingStock": {
        "is_warehouse": True,
        "most_likely_quantity": COUNTED_QUANTITY,
        **some(STORE, "area_description area_id store_name store_number"),
        **of_pools("most_likely_pool_", lambda pool: 100 + pool),
    },
    "Delivery": {
        **some(DELIVERY, "datetime_created datetime_expected external_reference_number no_of_containers order_number"),
        **some(DELIVERY, "store_origin supplier_code supplier_name tracing_url"),
        "import_id": wire_id(1),
        "is_downloaded": True,
        "order_type": str(DELIVERY["order_type"]),
        "status": "partial",
        "store_gln": STORE["store_gln"],
        "store_number": "S1",
        "updated_on": NOW,
    },
    "DeliveryLine": {
        **some(DELIVERY_LINE, "barcode container_barcode customer_order_number customer_order_shipment_number"),
        **some(DELIVERY_LINE, "customer_order_shipment_number_line_number description line_number product_number"),
        **some(DELIVERY_LINE, "quantity target_stock_pool"),
        "base_unit": PRODUCT["base_unit_name"],
        **some(PRODUCT, "category_code group_code purchase_unit_barcode purchase_unit_product_number"),
        "purchase_unit_quantity": PRODUCT["purchase_unit_quantity"],
        "received_quantity": 2.5,
    },
    "Receipt": {
        **some(DELIVERY, "order_number datetime_created datetime_expected supplier_code supplier_name"),
        "store_number": "S1",
        "import_id": wire_id(1),
        "order_type_id": DELIVERY["order_type"],
        "status": "partial",
        "store_gln": STORE["store_gln"],
    },
    "ReceiptLine": {
        "id": wire_id(1),
        **some(DELIVERY_LINE, "barcode container_barcode description line_number product_number"),
        **some(PRODUCT, "category_code group_code"),
        "received_quantity": 2.5,
        "shipped_quantity": DELIVERY_LINE["quantity"],
        "updated_on": NOW,
    },
    "Location": {
        "location_code": PLACE,
        "id": wire_id(6),
        "counter": 1,
        "created_on": NOW,
        "customer_orders": ["HELD"],
        "default_stock_pool": "3",
        "location_order": 15,
        "quantity": LEFT + MOVED["quantity"],
    },
    "LocationStock": {
        **{name: At("held", name, value) for name, value in SHIPMENT.items()},
        **of_pools("mostlikelypool", lambda pool: CARRIED.get(pool, 100 + pool)),
        "product_description": PRODUCT["product_name"],
        "product_number": NUMBER,
        "quantity": LEFT,
        "tags": ["cold", "tagged"],
    },
    "LocationProduct": {
        **SHIPMENT,
        **some(PRODUCT, "product_number barcode image_url"),
        "product_description": PRODUCT["product_name"],
        "quantity": MOVED["quantity"],
    },
    "StoreProductLog": {
        **some(LOSS, "product_number customer_order_line_number customer_order_number expected_quantity location_code"),
        **some(LOSS, "reason_code reference source"),
        "store_number": "S1",
        "id": Same("logged", "data.0"),
        "app_user_name": LOSS["app_user_name"],
        "barcode": PRODUCT["barcode"],
        "cost_center": STORE["cost_center"],
        "counted_quantity": At("count", "counted_quantity", COUNTED_QUANTITY),
        "counting_assignment_id": At("count", "counting_assignment_id", wire_id(1)),
        "counting_lines_remaining": At("count", "counting_lines_remaining", sum(1 + pool % 5 for pool in POOLS)),
        "created_on": NOW,
        "customer_order_shipment_number": At("there", "customer_order_shipment_number", "SHIP-3"),
        "customer_order_shipment_number_line_number": At("there", "customer_order_shipment_number_line_number", 73),
        "general_ledger_credit": At("loss", "general_ledger_credit", PRODUCT["general_ledger"]),
        "general_ledger_debit": PRODUCT["general_ledger"],
        "location": wire_id(6),
        "location_tag": "cold,tagged",
        "moved_on": SCANNED,
        "price": PRODUCT["price"],
        "purchase_price": PRODUCT["purchase_price"],
        "purchase_unit_quantity": PRODUCT["purchase_unit_quantity"],
        "quantity": sum(pool / 8 for pool in POOLS),
        "reason_code_description": LOSS["loss_comment"],
        "reference_id": At("received", "reference_id", wire_id(1)),
        "review_status": At("to review", "review_status", "1"),
        "stock_pool": At("loss", "stock_pool", str(BARE_LOSS["pool_location"])),
        **of_pools("stock_pool_", lambda pool: pool / 8),
        "store_products_price": STORE_PRODUCT["price"],
        "updated_on": NOW,
    },
    "StockPools": {
        name: At("count", f"counting_lines_remaining_stockpool.{name}", value)
        for name, value in of_pools("stock_pool_", lambda pool: 1 + pool % 5).items()
    },
    "LogResult": {
        "data": [wire_id(1)],
        "success": True,
        "message": At(
            "refused entry", "message", "storeproductlog[0].product_number: There is no product no such product."
        ),
    },
    "Store": {
        "storeName": STORE["store_name"],
        "storeNo": "S1",
        "id": S1,
        "areaDescription": STORE["area_description"],
        "areaId": STORE["area_id"],
        "countryCode": STORE["country_code"],
        "inventLocation": STORE["invent_location"],
        "legalEntity": STORE["legal_entity"],
        "isWarhouse": True,
        "lastOrderLineExportedOn": STORE["last_order_line_exported_on"],
        **of_pools("storeStockPool", lambda pool: f"the pool {pool}"),
    },
    "ProductList": {
        "page_number": At("second products", "page_number", 2),
        "page_size": At("second products", "page_size", 1),
        "total_record_count": At("second products", "total_record_count", 6),
    },
    "Product": _IN_PRODUCT
    | {"price": STORE_PRODUCT["price"], "promotion_price": STORE_PRODUCT["discount_price"], "is_store_product": True}
    | {"special_price": At("chain product", "special_price", PRODUCT["special_price"])},
    "ProductFreeField": {
        name: At("Product", f"free_fields.0.{name}", value) for name, value in PRODUCT["free_fields"][0].items()
    },
    "SetProduct": {
        name: At("Product", f"set_product.0.{name}", value) for name, value in PRODUCT["set_product"][0].items()
    },
    "ProductUnit": {name: At("Product", f"units.0.{name}", value) for name, value in PRODUCT["units"][0].items()},
    "AttributeResult": {"data": True, "code": 200, "message": "Products: 1.", "status": "success"},
}


class Body(NamedTuple):
    """What was sent, the row in which its fields are found, and those that are found elsewhere or by another name."""

    sent: Mapping[str, Any]
    row: str
    moved: Mapping[str, Any] = {}


def aside(*names: str) -> dict[str, str]:
    """Fields that are told under `aisle`."""
    return {name: f"aisle.{name}" for name in names}


CUSTOMERS = aside(
    *(f"customer_{name}" for name in CUSTOMER if name != "name"), *(f"delivery_{name}" for name in ADDRESS)
)
IN_LINE = {"is_picked_from_warehouse": "aisle.is_picked_from_warehouse", "ordering_datetime": "next_ordering_datetime"}
IN_DELIVERY = aside("description", "reason_code")
IN_DELIVERY_LINE = {
    **aside("purchase_price", "secondary_order_line_number", "secondary_order_number"),
    "customer_order_line_number": "customer_order_line_number",
}
UPDATED = {
    "attention_codes": At("StoreProductStock", "storeproduct_attention_codes", "X,Y"),
    **{f"{name}_{part}": f"{name}_array" for name in ("average", "forecast", "history") for part in ("array", "keys")},
    "expiry_date_time": "last_expiry_datetime",
    "next_delivery_date": "next_delivery_datetime",
    "next_ordering_date": "next_ordering_datetime",
    "validate_expiry_date_time": "validate_expiry_datetime",
}
UPDATED |= {
    f"{name}_{part}": At("StoreProductStock", f"{name}_array", text)
    for name, text in (("average", '{"a1":1,"a2":2.5}'), ("forecast", '{"f1":33.5,"f2":4}'), ("history", '{"h1":5.5}'))
    for part in ("array", "keys")
}

BODIES: dict[str, Body] = {
    "CustomerOrderCreate": Body(
        ORDER,
        "CustomerOrder",
        {
            **CUSTOMERS,
            **aside("file_name", "order_type"),
            "order_comment": "comment",
            "is_active": At("by is_active", "is_active", False),
            "is_picked": At("by is_picked", "is_picked", True),
            "is_rejected": At("by is_rejected", "is_rejected", True),
        },
    ),
    "CustomerOrderLineCreate": Body(
        ORDER_LINE, "CustomerOrderLine", {**IN_LINE, "is_picked": At("line by is_picked", "is_picked", True)}
    ),
    "MultiStoreCustomerOrderCreate": Body(
        MULTI_ORDER,
        "many",
        {
            **CUSTOMERS,
            "order_comment": "comment",
            "is_picked": At("many by is_picked", "is_picked", True),
            "stores_allowed": At("many", "stores_allowed", "S1,S2"),
        },
    ),
    "MultiStoreCustomerOrderLineCreate": Body(
        MULTI_LINE, "many line", {**IN_LINE, "is_picked": At("many line by is_picked", "is_picked", True)}
    ),
    "CustomerOrderUpdate": Body(
        UPDATE | REJECTION,
        "never",
        {
            "is_active": At("done", "is_active", False),
            "is_claimed": At("later", "is_claimed", True),
            "is_picked": At("updated by is_picked", "is_picked", True),
        },
    ),
    "CustomerOrderLineUpdate": Body(
        UPDATE_LINE,
        "later line",
        {
            **IN_LINE,
            "is_picked": At("updated by is_picked", "lines.0.is_picked", True),
            "picked_quantity": At("picked line", "picked_quantity", 3),
        },
    ),
    "ClearanceRequest": Body(
        {"category_codes": [PRODUCT["category_code"]]},
        "clearance",
        {"category_codes": At("clearance", "own", ["cold"])},
    ),
    "StoreProductUpdate": Body(STORE_PRODUCT, "StoreProductStock", UPDATED),
    "StoreDeliveryCreate": Body(DELIVERY, "Delivery", {**IN_DELIVERY, "order_type": At("Delivery", "order_type", "3")}),
    "StoreDeliveryLineCreate": Body(DELIVERY_LINE, "DeliveryLine", IN_DELIVERY_LINE),
    "MultiStoreDeliveryCreate": Body(
        MULTI_DELIVERY, "second", {**IN_DELIVERY, "order_type": At("second", "order_type", "4")}
    ),
    "MultiStoreDeliveryLineCreate": Body(MULTI_DELIVERY_LINE, "second line", IN_DELIVERY_LINE),
    "StoreProductLogCreate": Body(
        LOSS | BARE_LOSS | BARE_COUNT | LOSS,
        "StoreProductLog",
        {
            "counted_quantity": At("bare count", "counted_quantity", BARE_COUNT["counted_quantity"]),
            "loss_comment": "reason_code_description",
            "loss_image": At("entry", "aisle.loss_image", LOSS["loss_image"]),
            "loss_order_number": At("loss", "reference", BARE_LOSS["loss_order_number"]),
            "modification_datetime": At("loss", "moved_on", MODIFIED),
            "order_after_date": At("after", "next_ordering_datetime", LOSS["order_after_date"]),
            "pool_location": At("loss", "stock_pool", str(BARE_LOSS["pool_location"])),
            "quantity": At("loss", "quantity", BARE_LOSS["quantity"]),
            "scanned_datetime": "moved_on",
        },
    ),
    "StoreCreate": Body(STORE, "the store"),
    "StoreFreeField": Body(
        STORE["free_fields"][0], "the store", {n: f"free_fields.0.{n}" for n in STORE["free_fields"][0]}
    ),
    "OrderingSchema": Body(
        STORE["ordering_schema"][0], "the store", {n: f"ordering_schema.0.{n}" for n in STORE["ordering_schema"][0]}
    ),
    "StorePrinter": Body(
        STORE["store_printers"][0], "the store", {n: f"store_printers.0.{n}" for n in STORE["store_printers"][0]}
    ),
    "MovementItem": Body(
        MOVED, "there", {"allow_overage": At("overage", "refused", 409), "reason_code": At("there", "reason_code", 13)}
    ),
    "MovementEnd": Body(
        MOVED["to_location"],
        "there",
        {
            "customer_order_shipment_line_number": "customer_order_shipment_number_line_number",
            "stock_pool": At("there", "stock_pool", "9"),
        },
    ),
}

SAID_ALSO = (
    At("planned", "next_ordering_datetime", STORE["store_next_ordering_datetime"]),
    At("planned", "next_delivery_datetime", STORE["store_next_delivery_datetime"]),
    *(At("own prices", f"aisle.{name}", value) for name, value in OWN_PRICES.items()),
    At("own prices", "aisle.promotion", OWN_PROMOTION),
    At("overage", "allowed", 200),
    At("clearance", "other", []),
    At("received", "purchase_price", DELIVERY_LINE["purchase_price"]),
    At("StoreProductLog", "reference_id", wire_id(5)),
    At("away", "general_ledger_credit", PRODUCT["general_ledger"]),
    At("away", "stock_pool", "4"),
    At("from order", "customer_order_number", "HELD"),
    At("from order", "quantity", -BACK["quantity"]),
    At("to shelf", "stock_pool", str(BACK["to_location"]["stock_pool"])),
    At("fresh", "is_downloaded", False),
    At("entry", "aisle.loss_order_number", LOSS["loss_order_number"]),
    At("entry", "aisle.modification_datetime", LOSS["modification_datetime"]),
    At("entry of the count", "aisle.expected_quantity", 5),
    At("LogResult", "data", [wire_id(1)]),
    At("StoreList", "list.0.storeNo", "S1"),
    At("none", "list", []),
)
"""What is claimed beside: other values of the same fields, and that they have another effect."""


NEVER_IN = {
    "ConfirmedResult": ("ConfirmedResult", "cleared"),
    "PageEnvelope": ("first page", "CustomerOrderList", "StoreProductStockList", "DeliveryList", "LocationList"),
    "CustomerOrderLine": ("CustomerOrderLine", "many line", "later line", "held line", "picked line"),
}
"""Rows in which a field that is never told would be."""
ALIKE = {NOW}
"""Longer values that two fields of a row share, since both are of one moment."""


def found(told: Mapping[str, Any], row: str, field: str) -> Any:
    """A member of what was told, at a place in dots."""
    value: Any = told[row]
    for part in field.split("."):
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value


def holds_rows(kind: str) -> bool:
    """Whether a field holds objects of another resource, whose fields are claimed there."""
    return kind.removeprefix("array of ") in RESOURCES


def claims() -> Iterator[tuple[str, At]]:
    """Each field that is told: its name, and where."""
    for resource, fields in ANSWERS.items():
        for name, value in fields.items():
            if not isinstance(value, Never):
                yield f"{resource}.{name}", value if isinstance(value, At) else At(resource, name, value)
    for resource, body in BODIES.items():
        for name, field in RESOURCES[resource].items():
            if not holds_rows(field.type):
                where = body.moved.get(name, name)
                sent = body.sent[name] if not isinstance(where, At) else None
                yield f"{resource}.{name}", where if isinstance(where, At) else At(body.row, where, sent)
    for claim in SAID_ALSO:
        yield f"beside: {claim.row} {claim.field}", claim


async def test_every_listed_field_returns_sent_value(world: World) -> None:
    walk = Walk(world)
    await walk.make()
    missing = []
    for name, (row, field, value) in claims():
        try:
            seen = plain(found(walk.told, row, field))
        except (KeyError, IndexError, TypeError):
            missing.append(f"{name}: {row} has no {field}")
            continue
        value = found(walk.told, *value) if isinstance(value, Same) else value
        if seen != plain(value):
            missing.append(f"{name}: {row}.{field} is {seen!r}, and should be {value!r}")
    assert missing == []
    for resource, fields in ANSWERS.items():
        for name, value in fields.items():
            if isinstance(value, Never):
                seen = [walk.told[row].get(name) for row in NEVER_IN[resource]]
                assert seen == [value.always] * len(seen), f"{resource}.{name}"


def test_every_documented_field_is_claimed_or_has_a_reason() -> None:
    asked = {block[0] for block in blocks(DOCUMENTED_BODIES)}
    count = 0
    for resource, fields in RESOURCES.items():
        for name, field in fields.items():
            count += 1
            if holds_rows(field.type):
                inner = field.type.removeprefix("array of ")
                assert inner in ANSWERS or inner in BODIES, f"{resource}.{name} holds {inner}"
            elif resource in asked:
                assert name in BODIES[resource].sent or isinstance(BODIES[resource].moved.get(name), At), (
                    resource,
                    name,
                )
            elif resource in ANSWERS:
                assert name in ANSWERS[resource], f"{resource}.{name}"
            else:
                assert name in ENVELOPE or name in ANSWERS["PageCounts"], f"{resource}.{name}"
    for resource, claimed in ANSWERS.items():
        assert set(claimed) <= set(RESOURCES[resource]), resource
    parameters = [(name, param) for name, row in ROWS.items() for param in row.params or ()]
    assert count + len(parameters) >= DOCUMENTED


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_parameter_has_a_case_in_the_tests_of_parameters(name: str) -> None:
    """`test_conformance` compares answers; `test_authorization` asks with other values in the path."""
    for param in OPERATIONS[name].params:
        if param.where != "path":
            known = param.name in test_conformance.READS.get(name, {})
            assert known or (name, param.name) in test_conformance.ELSEWHERE


def test_readme_lists_fields_never_sent() -> None:
    text = files("aisle.service").joinpath("README.md").read_text(encoding="utf-8")
    _, _, section = text.partition("### Never sent\n")
    section = section.partition("\n#")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    told = {name: row.split("|")[2].strip() for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])}
    never = {
        f"{one}.{name}" for one, fields in ANSWERS.items() for name, value in fields.items() if isinstance(value, Never)
    }
    assert set(told) == never
    assert all(len(reason.split()) > 4 for reason in told.values())


def test_no_value_is_claimed_that_an_answer_has_without_it() -> None:
    """An empty value, or the same for two fields of a row, would be found whatever was sent."""
    seen: dict[tuple[str, str], set[str]] = {}
    for name, claim in claims():
        assert claim.value not in (None, "", {}), name
        if not isinstance(claim.value, Same):
            seen.setdefault((claim.row, str(plain(claim.value))), set()).add(claim.field)
    alike = {key: fields for key, fields in seen.items() if len(fields) > 1 and len(key[1]) > 12}
    assert {key[1] for key in alike} <= ALIKE
