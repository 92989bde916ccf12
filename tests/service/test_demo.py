"""The demo store is believable, complete in itself, and the same on every machine."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from aisle.barcode_numbers import check_digit
from aisle.contract.request_bodies.deliveries import StoreDeliveryCreate
from aisle.contract.request_bodies.orders import CustomerOrderCreate, CustomerOrderUpdateRequest
from aisle.contract.request_bodies.products import ProductWrite
from aisle.contract.request_bodies.store_products_logs_movements import (
    MovementItem,
    StoreProductCreate,
    StoreProductLogCreate,
)
from aisle.contract.request_bodies.stores import StoreCreate
from aisle.service.auth import tokens_and_pins
from aisle.service.demo.seed import (
    CREATE_ORDERS,
    OPENING_DAY,
    STORE,
    SUPERVISOR_PIN,
    Body,
    DemoRequest,
    DemoStore,
    load_demo_store,
)
from aisle.service.domain.order_line import REASON_FIELDS

TODAY = date(2026, 3, 2)
DELIVERIES, LOGS, MOVEMENT, UPDATE_ORDER = (
    "create-store-deliveries",
    "create-store-product-logs",
    "create-movement",
    "update-customer-order",
)


@pytest.fixture(scope="module")
def demo() -> DemoStore:
    return load_demo_store(TODAY)


def barcodes(product: Body) -> list[str]:
    further = product.get("barcodes_array", "")
    return [
        product["barcode"],
        *([further_code for further_code in further.split(",") if further_code]),
        *(unit["unit_barcode"] for unit in product.get("units", [])),
        *([product["purchase_unit_barcode"]] if "purchase_unit_barcode" in product else []),
    ]


def test_sizes_are_those_of_a_small_shop(demo: DemoStore) -> None:
    places = Counter(place["store_number"] for place in demo.locations)
    assert 390 <= len(demo.products) <= 430
    assert places == {STORE: 120, "0900": 40}
    assert len(demo.orders) == 40
    assert Counter(store["is_warehouse"] for store in demo.stores) == {False: 4, True: 1}
    assert {len(order["order_lines"]) for order in demo.orders} == set(range(1, 9))
    assert Counter(person["role"] for person in demo.people) == {"staff": 5, "supervisor": 2}


def test_every_barcode_has_the_right_check_digit_and_one_owner(demo: DemoStore) -> None:
    codes = [code for product in demo.products for code in barcodes(product)]
    for code in codes:
        assert len(code) in (8, 13, 14)
        assert code[-1] == check_digit(code[:-1])
        assert code.lstrip("1").startswith(("952", "2"))
    assert len(codes) == len(set(codes))
    assert {len(code) for code in codes} == {8, 13, 14}


def test_numbers_and_names_are_unique(demo: DemoStore) -> None:
    for key, rows in (
        ("product_number", demo.products),
        ("product_name", demo.products),
        ("order_number", demo.orders),
        ("reference", demo.orders),
        ("store_number", demo.stores),
        ("badge", demo.people),
        ("user", demo.people),
    ):
        values = [row[key] for row in rows]
        assert len(values) == len(set(values)), key


def test_the_catalogue_has_one_of_each_kind(demo: DemoStore) -> None:
    products = {product["product_number"]: product for product in demo.products}
    assert any(product["allow_decimal"] and product["base_unit_name"] == "kg" for product in demo.products)
    assert any(not product["is_stock"] for product in demo.products)
    assert any(product.get("units") for product in demo.products)
    assert any(product.get("barcodes_array") for product in demo.products)
    assert {"AGE18", "FRAGILE", "CHILLED"} <= {product.get("attention_code") for product in demo.products}
    (old,) = (product for product in demo.products if not product["is_active"])
    assert products[old["referral_product_id"]]["product_name"] == "Chocolaterie Noé Chocolate Milk 100 g"
    names = " ".join(product["product_name"] for product in demo.products)
    assert all(word in names for word in ("Müsli", "Crème brûlée", "Jalapeño"))


def test_the_walk_goes_up_one_aisle_and_down_the_next(demo: DemoStore) -> None:
    places = [place for place in demo.locations if place["store_number"] == STORE]
    assert [place["location_order"] for place in places] == sorted({place["location_order"] for place in places})
    codes = [place["location_code"] for place in places]
    for walked in (["A-01-1", "A-05-3", "B-05-1", "B-01-3", "C-01-1"], ["PR-04", "A-01-1", "FR-01", "FZ-01", "PU-01"]):
        assert [codes.index(code) for code in walked] == sorted(codes.index(code) for code in walked)
    assert [place["location_code"] for place in places if "pickup" in place["tags"]] == [
        f"PU-0{n}" for n in range(1, 7)
    ]


def test_most_shelves_hold_what_is_ordered_and_a_few_do_not(demo: DemoStore) -> None:
    stock = dict.fromkeys((product["product_number"] for product in demo.products if product["is_stock"]), 0.0)
    for entry in demo.counts[STORE]:
        stock[entry["product_number"]] += entry.get("stock_pool_1", 0)
    short = [
        line["product_number"]
        for order in demo.orders
        for line in order["order_lines"]
        if stock.get(line["product_number"], line["quantity"]) < line["quantity"]
    ]
    assert 0 < len(short) < 10


def test_some_orders_are_begun_and_most_are_not(demo: DemoStore) -> None:
    orders = {order["order_number"]: order for order in demo.orders}
    begun = [deed.body["orders"] for deed in demo.requests if deed.operation == UPDATE_ORDER]
    begun = [said for said in begun if said["order_number"] in orders]
    assert 3 <= len(begun) <= 8
    for said in begun:
        picked = {line["line_number"]: line["picked_quantity"] for line in said["order_lines"]}
        lines = orders[said["order_number"]]["order_lines"]
        assert any(picked.get(line["line_number"], 0) < line["quantity"] for line in lines)
    assert not {"4101", "4113"} & {said["order_number"] for said in begun}


def test_order_numbers_can_be_typed_and_the_first_needs_scans_alone(demo: DemoStore) -> None:
    assert all(len(order["order_number"]) == 4 for order in demo.orders)
    products = {product["product_number"]: product for product in demo.products}
    for order in demo.orders[:4]:
        for line in order["order_lines"]:
            assert products[line["product_number"]]["is_stock"]
            assert not products[line["product_number"]]["allow_decimal"]


def test_demo_store_is_reproducible_and_moves_with_date(demo: DemoStore) -> None:
    assert load_demo_store(TODAY) == demo
    dates = {line["pickup_date"] for order in demo.orders for line in order["order_lines"]}
    assert min(dates) == (TODAY - timedelta(days=1)).isoformat()
    assert max(dates) > (TODAY + timedelta(days=2)).isoformat()
    later = load_demo_store(TODAY + timedelta(days=9))
    assert later._replace(orders=[], requests=[], store_products=[]) == demo._replace(
        orders=[], requests=[], store_products=[]
    )
    assert [deed[:4] for deed in later.requests] == [deed[:4] for deed in demo.requests]
    assert later.orders[0]["order_lines"][0]["pickup_date"] == (TODAY + timedelta(days=8)).isoformat()


def test_every_body_fits_the_contract(demo: DemoStore) -> None:
    kinds: tuple[tuple[Any, list[Any]], ...] = (
        (StoreCreate, demo.stores),
        (ProductWrite, demo.products),
        (StoreProductLogCreate, [entry for entries in demo.counts.values() for entry in entries]),
        (CustomerOrderCreate, bodies_of(demo, CREATE_ORDERS, "orders")),
        (StoreDeliveryCreate, bodies_of(demo, DELIVERIES, "orders")),
        (StoreProductCreate, demo.store_products),
        (StoreProductLogCreate, bodies_of(demo, LOGS, "storeproductlog")),
        (
            CustomerOrderUpdateRequest,
            [documented(deed.body) for deed in demo.requests if deed.operation == UPDATE_ORDER],
        ),
        (MovementItem, [item for deed in demo.requests if deed.operation == MOVEMENT for item in deed.body]),
    )
    for kind, rows in kinds:
        assert rows
        assert TypeAdapter(list[kind]).validate_python(rows) == rows  # type: ignore[valid-type]


def documented(body: Body) -> Body:
    """An update without the reasons of its lines, which are an extension."""
    order = dict(body["orders"])
    if "order_lines" in order:
        order["order_lines"] = [
            {name: value for name, value in line.items() if name not in REASON_FIELDS} for line in order["order_lines"]
        ]
    return {"orders": order}


def bodies_of(demo: DemoStore, operation: str, name: str) -> list[Body]:
    """The items of all requests of this operation."""
    return [item for deed in demo.requests if deed.operation == operation for item in deed.body[name]]


def test_a_supervisor_has_the_pin_that_is_told(demo: DemoStore) -> None:
    [fred] = (person for person in demo.people if "pin_hash" in person)
    assert fred["role"] == "supervisor"
    assert tokens_and_pins.is_valid_pin(SUPERVISOR_PIN)
    assert tokens_and_pins.are_equal(tokens_and_pins.rehash(SUPERVISOR_PIN, fred["pin_hash"]), fred["pin_hash"])


@pytest.mark.parametrize("hour", [0, 3, 23])
def test_deeds_are_done_before_now_and_after_the_opening(demo: DemoStore, hour: int) -> None:
    now = 20_000 * 86400.0 + hour * 3600
    moments = [deed.sent_at(now) for deed in demo.requests]
    assert max(moments) < now
    assert min(moments) > DemoRequest(OPENING_DAY, 360, "", "").sent_at(now)
    assert {deed.days for deed in demo.requests} >= {0, 1, 2, 7, 14, 21}


def test_containers_can_be_scanned_and_one_delivery_has_a_product_thrice(demo: DemoStore) -> None:
    deliveries = {body["order_number"]: body for body in bodies_of(demo, DELIVERIES, "orders")}
    for body in deliveries.values():
        boxes = {line["container_barcode"] for line in body["order_lines"]}
        assert len(boxes) == body["no_of_containers"]
        assert all(len(box) == 20 and box[:2] == "00" and box[-1] == check_digit(box[2:-1]) for box in boxes)
    lines = Counter(line["product_number"] for line in deliveries["7002"]["order_lines"])
    assert max(lines.values()) == 3
    assert deliveries["7003"]["datetime_expected"] < TODAY.isoformat()
    assert any("customer_order_number" in line for line in deliveries["7005"]["order_lines"])


def test_every_code_that_the_readme_tells_to_try_is_there(demo: DemoStore) -> None:
    table = (Path(__file__).parents[2] / "README.md").read_text().split("## Run it")[1].split("From home:")[0]
    told = set(re.findall(r"\b\d{4,}\b", table))
    codes = {code for product in demo.products for code in (product["product_number"], *barcodes(product))}
    codes |= {order["order_number"] for order in bodies_of(demo, CREATE_ORDERS, "orders")}
    for delivery in bodies_of(demo, DELIVERIES, "orders"):
        codes |= {delivery["order_number"], *(line["container_barcode"] for line in delivery["order_lines"])}
    codes |= {store["store_number"] for store in demo.stores}
    assert len(told) >= 10
    assert told <= codes | {SUPERVISOR_PIN}
    assert SUPERVISOR_PIN in told
    places = {place["location_code"] for place in demo.locations}
    assert {"A-01-1", "BR-01"} <= places & set(re.findall(r"[A-Z]+-\d\d(?:-\d)?", table))
