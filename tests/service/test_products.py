"""Parts of products that are written by themselves, prices of stores, how far a store moves min and max, deletion."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from aisle.service.domain.quantities_times_and_json import format_timestamp
from tests.service.world import World

STOCK = "/storeproducts/stock"
PRICES = "/products/prices"
DISCOUNTS = "/products/discountprices"
FREE_FIELDS = "/products/freefields"


async def product(world: World, number: str, **query: Any) -> dict[str, Any]:
    """A product of the catalogue."""
    [record] = (await world.get("/products", product_number=number, **query))["records"]
    return dict(record)


async def entry(world: World, number: str, store: str = "S1") -> dict[str, Any]:
    """Its stock entry in a store."""
    [row] = await world.rows(STOCK, store_number=store, product_number=number)
    return row


async def delete(world: World, *numbers: str, status: int = 200) -> Any:
    """Products are deleted."""
    answer = await world.send("DELETE", "/products", {"product_numbers": list(numbers)})
    assert answer.status_code == status, answer.text
    return answer.json()


ATTRIBUTES: dict[str, Any] = {
    "attention_code": "A",
    "average_weight": 1.25,
    "brand_code": "B",
    "brand_description": "Brand",
    "category_code": "hot",
    "color": "red",
    "color_code": "R",
    "country_code": "NL",
    "margin_category": "m",
    "product_details": "details",
    "product_type": "t",
    "size": "XL",
    "size_code": "x",
    "variant_code": "v",
    "variant_factor": 0.5,
    "variant_family": "f",
    "volume": "1 l",
}


async def test_attributes_are_changed_and_the_rest_stays(world: World) -> None:
    before = await product(world, "P2")
    answer = await world.put("/products/attributes", {"products": [{"product_number": "P2", **ATTRIBUTES}]})
    assert answer == {"data": True, "code": 200, "message": "Products: 1.", "status": "success"}
    after = await product(world, "P2")
    assert after == before | ATTRIBUTES
    assert (await world.get("/products", category_code="hot"))["total_record_count"] == 1
    await world.put("/products/attributes", {"products": [{"product_number": "NONE", "size": "S"}]}, 422)


async def test_changed_fields_are_named_in_a_short_header(world: World) -> None:
    names = sorted(name for name, value in ATTRIBUTES.items() if isinstance(value, str))
    for text in ("é" * 100, "ü" * 100):
        body = {"products": [{"product_number": one} | dict.fromkeys(names, text) for one in ("P1", "P2")]}
        answer = await world.send("PUT", "/products/attributes", body)
        assert answer.status_code == 200
    found = json.loads(answer.headers["Aisle-Changes"])
    assert sorted(found) == names
    assert found[names[0]] == [2, "*", "P1", "é" * 24, "ü" * 24]
    assert [len(one) for one in found.values()] == [5] * 12 + [1] * (len(names) - 12)
    assert len(answer.headers["Aisle-Changes"]) < 4096
    again = await world.send("PUT", "/products/attributes", body)
    assert "Aisle-Changes" not in again.headers


async def test_changed_figures_come_before_changed_texts(world: World) -> None:
    texts = [name for name, value in ATTRIBUTES.items() if isinstance(value, str)]
    for figure, text in ((1, "a"), (2, "b")):
        body: dict[str, Any] = {"product_number": "P1"} | dict.fromkeys(texts, text)
        body |= {"price": figure, "purchase_unit_quantity": figure, "is_active": figure == 1}
        answer = await world.send("POST", "/products", {"products": [body]})
        assert answer.status_code == 200
    found = json.loads(answer.headers["Aisle-Changes"])
    assert {*texts, "price", "purchase_unit_quantity", "is_active"} <= found.keys()
    assert all(len(found[name]) == 5 for name in ("price", "purchase_unit_quantity", "is_active"))


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("same " * 9 + "x", "same " * 9 + "y", ["…me same x", "…me same y"]),
        ("a" * 40, "b" * 40, ["a" * 24, "b" * 24]),
        ("short", "short too", ["short", "short too"]),
        ("s" * 30, "s" * 31, ["…ssssssss", "…sssssssss"]),
    ],
)
async def test_two_long_values_are_shown_where_they_differ(
    before: str, after: str, shown: list[str], world: World
) -> None:
    for text in (before, after):
        answer = await world.send("PUT", "/products/attributes", {"products": [{"product_number": "P2", "size": text}]})
    assert json.loads(answer.headers["Aisle-Changes"])["size"][3:] == shown


async def test_a_price_of_the_catalogue_makes_the_one_before_it_the_old_one(world: World) -> None:
    said = {"product_number": "P2", "price": 3, "purchase_price": 1, "special_price": 2.25}
    said |= {"price_compare_unit": "kg", "price_compare_multiplier": 4}
    await world.post(PRICES, {"products": [said]})
    assert (await product(world, "P2")) | said | {"old_price": Decimal("2.5")} == await product(world, "P2")
    await world.post(PRICES, {"products": [{"product_number": "P2", "price": 3}]})
    assert (await product(world, "P2"))["old_price"] == Decimal("2.5")
    await world.post(PRICES, {"products": [{"product_number": "P2", "price": 4, "old_price": 9}]})
    assert (await product(world, "P2"))["old_price"] == 9


async def test_a_store_has_prices_of_its_own(world: World) -> None:
    said = {"product_number": "P2", "store_number": "S1", "price": 3, "old_price": 4, "purchase_price": 1}
    await world.post(PRICES, {"products": [said | {"special_price": 2}]})
    assert (await entry(world, "P2"))["price"] == 3
    assert (await product(world, "P2"))["price"] == Decimal("2.5")
    there = await product(world, "P2", store_number="S1")
    shown = {"price": 3, "old_price": 4, "purchase_price": 1, "special_price": 2, "is_store_product": True}
    assert there | shown == there
    await world.post(PRICES, {"products": [{"product_number": "P2", "store_number": "S1", "price": 5}]})
    assert (await product(world, "P2", store_number="S1"))["old_price"] == 3


INEXACT_PRICES = ("1.99", "2.49", "4.60", "4.80", "19.99", "2.99", "3.49", "0.07", "0.1", "1234567.01", "2.50", "3")


@pytest.mark.parametrize("price", INEXACT_PRICES)
@pytest.mark.parametrize("store", [{}, {"store_number": "S1"}], ids=["catalogue", "store"])
async def test_a_price_that_is_said_again_keeps_the_old_price(price: str, store: dict[str, str], world: World) -> None:
    said = {"product_number": "P2", **store}
    for again in (said | {"price": 2.75}, *[said | {"price": float(price)}] * 3):
        await world.post(PRICES, {"products": [again]})
    assert (await product(world, "P2", **store))["old_price"] == Decimal("2.75")


@pytest.mark.parametrize("store", [{}, {"store_number": "S1"}], ids=["catalogue", "store"])
async def test_an_unchanged_price_gets_no_old_price(store: dict[str, str], world: World) -> None:
    said = {"product_number": "P2", "price": 2.49, **store}
    await world.post("/products", {"products": [{"product_number": "P2", "price": 2.49}]})
    for _ in range(2):
        await world.post(PRICES, {"products": [said]})
    assert not (await product(world, "P2", **store)).get("old_price")


async def test_the_first_price_of_a_store_has_that_of_the_catalogue_before_it(world: World) -> None:
    async def shown() -> tuple[Any, Any]:
        found = await product(world, "P2", store_number="S1")
        return found["price"], found.get("old_price")

    own = {"product_number": "P2", "store_number": "S1"}
    await world.post(PRICES, {"products": [{"product_number": "P2", "price": 4}]})
    await world.post(PRICES, {"products": [own | {"price": 4}]})
    assert await shown() == (4, Decimal("2.5"))
    await world.post(PRICES, {"products": [own | {"price": 4.6}]})
    assert await shown() == (Decimal("4.6"), 4)
    await world.post(PRICES, {"products": [{"product_number": "P2", "price": 6}]})
    assert await shown() == (Decimal("4.6"), 4)
    await world.post(
        PRICES, {"products": [{"product_number": "P1", "price": 6}, own | {"product_number": "P1", "price": 7}]}
    )
    await world.post(PRICES, {"products": [{"product_number": "P1", "price": 8}]})
    found = await product(world, "P1", store_number="S1")
    assert (found["price"], found["old_price"]) == (7, 6)


async def test_a_price_of_the_store_alone_does_not_show_other_prices_of_the_catalogue(world: World) -> None:
    await world.post(PRICES, {"products": [{"product_number": "P2", "price": 2.5, "special_price": 2.25}]})
    await world.post("/stores/S1/storeproducts", {"store_products": [{"product_number": "P2", "price": 3}]})
    await world.post(PRICES, {"products": [{"product_number": "P2", "price": 6}]})
    found = await product(world, "P2", store_number="S1")
    assert (found["price"], found.get("old_price"), found.get("special_price")) == (3, None, None)


async def test_discount_prices_of_the_catalogue_and_of_a_store(world: World) -> None:
    said = {"product_number": "P2", "promotion": "Spring", "promotion_week": "22"}
    await world.post(DISCOUNTS, {"products": [said | {"discount_price": 2}]})
    shown = said | {"promotion_price": 2, "is_promotion": True}
    assert (await product(world, "P2")) | shown == await product(world, "P2")
    store = said | {"discount_price": 1.5, "store_number": "S1", "promotion": "Two for one", "promotion_week": "23"}
    await world.post(DISCOUNTS, {"products": [store]})
    row = await entry(world, "P2")
    assert (row["discount_price"], row["is_promotion"], row["promotion_week"]) == (Decimal("1.5"), True, "23")
    found = await product(world, "P2", store_number="S1")
    assert (found["promotion_price"], found["promotion"], found["promotion_week"]) == (1.5, "Two for one", "23")
    found = await product(world, "P2")
    assert (found["promotion_price"], found["promotion"]) == (2, "Spring")
    end = {"product_number": "P2", "discount_price": 2, "is_promotion": False}
    await world.post(DISCOUNTS, {"products": [end]})
    assert (await product(world, "P2"))["is_promotion"] is False


@pytest.mark.parametrize("path", [PRICES, DISCOUNTS])
async def test_prices_that_cannot_be_change_nothing(world: World, path: str) -> None:
    field = "price" if path == PRICES else "discount_price"
    good = {"product_number": "P2", field: 7}
    for bad, status in (
        ({"product_number": "NONE", field: 1}, 422),
        ({"product_number": "P1", field: -1}, 422),
        ({"product_number": "P1", field: 1.2345}, 422),
        ({"product_number": "P1"}, 400),
        ({"product_number": "P1", field: 1, "store_number": "NONE"}, 403),
        ({"product_number": "NONE", field: 1, "store_number": "S1"}, 422),
    ):
        await world.post(path, {"products": [good, bad]}, status)
    if path == PRICES:
        bad = {"product_number": "P1", field: 1, "store_number": "S1", "price_compare_unit": "kg"}
        assert (await world.post(path, {"products": [good, bad]}, 422))["errors"][0]["field"].startswith("products[1]")
    assert (await product(world, "P2"))["price"] == Decimal("2.5")


async def test_a_token_of_some_stores_sets_their_prices_and_not_the_catalogue_s(world: World) -> None:
    client = world.client_for("integration", ["S1"])
    good = {"product_number": "P2", "price": 3, "store_number": "S1"}
    await world.post(PRICES, {"products": [good]}, client=client)
    for bad in (good | {"store_number": "S2"}, {"product_number": "P2", "price": 3}):
        await world.post(PRICES, {"products": [bad]}, 403, client=client)
    for path in (FREE_FIELDS,):
        await world.post(path, {"products": []}, 403, client=client)
    answer = await world.send("DELETE", "/products", {"product_numbers": []}, client=client)
    assert answer.status_code == 403


async def test_free_fields_are_set_by_their_keys(world: World) -> None:
    first = [{"sort_order": 2, "key": "b", "value": "2"}, {"sort_order": 1, "key": "a", "value": "1"}]
    await world.post(FREE_FIELDS, {"products": [{"product_number": "P1", "free_fields": first}]})
    assert (await product(world, "P1"))["free_fields"] == [first[1], first[0]]
    news = [{"sort_order": 3, "key": "a", "value": "new"}]
    await world.post(FREE_FIELDS, {"products": [{"product_number": "P1", "free_fields": news}]})
    assert (await product(world, "P1"))["free_fields"] == [first[0], news[0]]
    await world.post("/products", {"products": [{"product_number": "P1", "free_fields": []}]})
    assert (await product(world, "P1"))["free_fields"] == []
    await world.post(FREE_FIELDS, {"products": [{"product_number": "NONE", "free_fields": news}]}, 422)


async def test_a_product_with_stock_is_not_deleted(world: World) -> None:
    await world.log(product_number="P1", quantity=2)
    assert "P1" in (await delete(world, "P1", "P2", status=409))["message"]
    assert (await world.get("/products"))["total_record_count"] == 5
    await world.log(product_number="P1", quantity=-2)
    assert await delete(world, "P1", "P2", "NONE") == {"success": True, "message": "Products deleted: 2."}
    assert await delete(world, "P1") == {"success": True, "message": "Products deleted: 0."}
    assert [row["product_number"] for row in (await world.get("/products"))["records"]] == ["FEE", "KG", "P3"]


async def test_a_product_of_an_open_order_or_delivery_is_not_deleted(world: World) -> None:
    await world.order("O1", {"product_number": "P1", "quantity": 1})
    line = {"product_number": "P2", "quantity": 1}
    body = {"order_number": "D1", "no_of_containers": 1, "order_lines": [line]}
    await world.post("/stores/S1/orders/deliveries", {"orders": [body]})
    for number in ("P1", "P2"):
        await delete(world, number, status=409)
    await world.update("O1", is_rejected=True)
    await delete(world, "P1", status=409)
    await world.update("O1", is_active=False)
    await delete(world, "P1")
    await world.log(query={"is_from_receipt": True}, product_number="P2", quantity=1, reference="D1")
    await world.log(product_number="P2", quantity=-1)
    await delete(world, "P2")
    assert (await world.see("O1"))["lines"][0]["product_number"] == "P1"
    [seen] = await world.rows("/orders/deliveries", order_number="D1")
    assert seen["order_lines"][0]["product_number"] == "P2"


@pytest.mark.parametrize(("days", "expected_in", "status"), [(89, 0, 409), (91, 0, 200), (91, 2, 409)])
async def test_what_did_not_come_for_long_is_not_expected(
    world: World, days: int, expected_in: int, status: int
) -> None:
    line = {"product_number": "P2", "quantity": 2}
    body: dict[str, Any] = {"order_number": "D1", "no_of_containers": 1, "order_lines": [line]}
    body["datetime_expected"] = format_timestamp(world.now + expected_in * 86400)
    await world.post("/stores/S1/orders/deliveries", {"orders": [body]})
    await world.log(query={"is_from_receipt": True}, product_number="P2", quantity=1, reference="D1")
    await world.log(product_number="P2", quantity=-1)
    world.now += days * 86400
    await delete(world, "P2", status=status)


async def test_a_deleted_product_is_nowhere_until_it_is_made_again(world: World) -> None:
    items = [{"product_number": number} for number in ("P1", "P2", "P3")]
    await world.post("/stores/S1/storeproducts", {"store_products": items})
    cursor = (await world.get("/aisle/v1/stores/S1/changes"))["cursor"]
    await delete(world, "P2")
    assert {"topic": "product", "key": "P2", "chain": True} in (
        await world.get("/aisle/v1/stores/S1/changes", since=cursor)
    )["changes"]
    for query in ({"store_number": "S1"}, {}):
        page = await world.get(STOCK, **query)
        assert [row["product_number"] for row in page["list"]] == ["P1", "P3"]
        assert page["total_count"] == 2
    second = await world.get(STOCK, store_number="S1", page_size=1, page_start=2)
    assert ([row["product_number"] for row in second["list"]], second["next_page"]) == (["P3"], None)
    assert (await world.get("/products", barcode="5000000000012"))["records"] == []
    assert (await world.send("GET", "/stores/S1/products/P2/stock")).status_code == 404
    await world.order("O", {"product_number": "P2", "quantity": 1}, status=422)
    await world.log(422, product_number="P2", quantity=1)
    await world.post("/products", {"products": [{"product_number": "P2", "product_name": "Coffee"}]})
    assert "price" not in await product(world, "P2")
    await world.log(product_number="P2", quantity=1)
    assert (await world.get(STOCK, store_number="S1"))["total_count"] == 3
    assert (await entry(world, "P2"))["product_description"] == "Coffee"


async def levels(world: World, client: Any = None, status: int = 200, **said: Any) -> Any:
    """Settings of P1 in S1."""
    options = {"client": client} if client else {}
    return await world.put("/stores/S1/storeproducts", [{"product_number": "P1", **said}], status, **options)


async def test_a_store_moves_min_and_max_within_the_percentage(world: World) -> None:
    await world.post("/products", {"products": [{"product_number": "P1", "edit_min_max_percentage": 25}]})
    central = world.client_for("integration")
    local = world.client_for("supervisor", ["S1"])
    await levels(world, central, min=10, max=21)
    for good in ({"min": 8}, {"min": 13}, {"max": 15}, {"max": 27}, {"min": 10, "max": 21}):
        await levels(world, local, **good)
    for bad in ({"min": 6}, {"min": 14}, {"max": 14}, {"max": 28}, {"min": 10, "max": 40}):
        answer = await levels(world, local, 422, **bad)
        assert "25 %" in answer["message"]
        await levels(world, None, 422, **bad)
    row = await entry(world, "P1")
    assert (row["min"], row["max"], row["original_min"], row["original_max"]) == (10, 21, 10, 21)
    await levels(world, local, min=12)
    assert (await entry(world, "P1"))["original_min"] == 10
    await levels(world, central, min=30, max=60)
    row = await entry(world, "P1")
    assert (row["min"], row["original_min"], row["original_max"]) == (30, 30, 60)
    await levels(world, local, 422, min=21)
    await levels(world, local, min=22)


async def test_staff_write_only_the_dates_of_an_expiry_check(world: World) -> None:
    staff = world.client_for("staff", ["S1"])
    dates: dict[str, Any] = dict.fromkeys(("expiry_date_time", "validate_expiry_date_time"), "2026-12-07T00:00:00Z")
    await levels(world, staff, 403, **dates)  # it is not in the range
    await levels(world, min=1)
    before = await entry(world, "P1")
    await levels(world, staff, **dates)
    row = await entry(world, "P1")
    assert {row.pop(name)[:10] for name in ("last_expiry_datetime", "validate_expiry_datetime")} == {"2026-12-07"}
    assert row.pop("last_expiry_updatedby")
    assert row == before
    for more in ({"discount_price": 1}, {"price": 1}, {"min": 1}):
        await levels(world, staff, 403, **dates, **more)
    await levels(world, staff, expiry_date_time="", validate_expiry_date_time="")
    assert (await entry(world, "P1")).keys() - {"last_expiry_updatedby"} == before.keys()


async def test_predicted_figures_keep_decimal_places(world: World) -> None:
    said: dict[str, Any] = {"forecast_array": [3.14159265, 1e-7, 2], "average_array": [2.0001]}
    said |= {"history_array": [0.33333]}
    await levels(world, **said, demand_until_delivery=2.6666666667, order_level=10.25)
    row = await entry(world, "P1")
    assert {name: json.loads(row[name]) for name in said} == said
    assert [float(row[name]) for name in ("forecast", "demand_until_delivery", "order_level")] == [
        3.14159265, 2.6666666667, 10.25,
    ]  # fmt: skip
    assert float(row["adjusted_order_level"]) == 12.9166666667
    await levels(world, order_level=4)
    assert float((await entry(world, "P1"))["adjusted_order_level"]) == 6.6666666667
    bad: dict[str, Any]
    for bad, field in (({"forecast_array": [1, 1e13]}, "forecast_array[1]"), ({"order_level": -1e13}, "order_level")):
        answer = await levels(world, status=422, **bad)
        assert answer["errors"][0]["field"] == f"[0].{field}"
    for bad in ({"forecast_array": ["1"]}, {"forecast_array": [[1]]}, {"order_level": [1]}, {"order_level": True}):
        await levels(world, status=400, **bad)


async def test_fields_fixed_by_chain_cannot_be_changed_by_store(world: World) -> None:
    fixed = {"product_number": "P1", "is_edit_min_max": False, "is_edit_replenishment": False}
    await world.post("/products", {"products": [fixed]})
    await world.post(
        "/stores/S1/storeproducts", {"store_products": [{"product_number": "P1", "min": 2, "is_replenishment": True}]}
    )
    await levels(world, min=2, is_replenishment=True, price=3)
    await levels(world, status=422, min=3)
    await levels(world, status=422, is_replenishment=False)
    central = world.client_for("integration")
    await levels(world, central, min=3, is_replenishment=False)


@pytest.mark.parametrize("value", [1.5, 1 << 31, -(1 << 31) - 1])
async def test_int32_fields_refuse_other_numbers(world: World, value: Any) -> None:
    before = await product(world, "P1")
    for name in ("edit_min_max_percentage", "shelf_label_quantity", "expiration_min_range", "shelf_label_layout"):
        if value > 0 or name != "edit_min_max_percentage":
            said = {"product_number": "P1", name: value}
            answer = await world.post("/products", {"products": [{"product_number": "P2"}, said]}, 422)
            assert answer["errors"][0]["field"] == f"products[1].{name}"
    fields = {"product_number": "P1", "free_fields": [{"sort_order": 1, "key": "a"}, {"sort_order": value, "key": "b"}]}
    for path in ("/products", FREE_FIELDS):
        answer = await world.post(path, {"products": [fields]}, 422)
        assert answer["errors"][0]["field"] == "products[0].free_fields[1].sort_order"
    await levels(world, status=422, max=value)
    await levels(world, status=422, min=value)
    assert await product(world, "P1") == before
    largest = {"shelf_label_quantity": (1 << 31) - 1, "expiration_min_range": 2.0}
    await world.post("/products", {"products": [{"product_number": "P1", **largest}]})
    assert {name: (await product(world, "P1"))[name] for name in largest} == largest


async def test_a_week_of_a_promotion_is_told_once(world: World) -> None:
    """The store's own, where both have one."""
    await world.post("/products", {"products": [{"product_number": "P1", "promotion_week": "23"}]})
    said = {"product_number": "P1", "store_number": "S1", "discount_price": 2}
    await world.post(DISCOUNTS, {"products": [said]})
    assert (await entry(world, "P1"))["promotion_week"] == "23"
    await world.post(DISCOUNTS, {"products": [said | {"promotion_week": "24"}]})
    assert (await entry(world, "P1"))["promotion_week"] == "24"


@pytest.mark.parametrize("field", ["stores_allowed", "stores_not_allowed"])
async def test_a_store_ranges_only_what_is_for_it(world: World, field: str) -> None:
    stores = ["S2"] if field == "stores_allowed" else ["S1"]
    await world.post("/products", {"products": [{"product_number": "P1", field: stores}]})
    body = {"store_products": [{"product_number": "P1"}]}
    await world.post("/stores/S1/storeproducts", body, 422)
    await world.post("/stores/S2/storeproducts", body)
    await world.log(product_number="P1", quantity=1)  # goods that are there are there
    await world.post("/products", {"products": [{"product_number": "P1", field: []}]})
    await world.post("/stores/S1/storeproducts", body)


async def test_deliveries_are_in_the_change_feed(world: World) -> None:
    cursor = (await world.get("/aisle/v1/stores/S1/changes"))["cursor"]

    async def news() -> list[str]:
        nonlocal cursor
        answer = await world.get("/aisle/v1/stores/S1/changes", since=cursor)
        cursor = answer["cursor"]
        return [one["key"] for one in answer["changes"] if one["topic"] == "delivery"]

    body = {"order_number": "D1", "no_of_containers": 1, "order_lines": [{"product_number": "P1", "quantity": 2}]}
    await world.post("/stores/S1/orders/deliveries", {"orders": [body]})
    assert await news() == ["D1"]
    await world.post("/stores/S1/orders/deliveries", {"orders": [body]})
    assert await news() == []
    await world.post(
        "/stores/S1/orders/deliveries",
        {"orders": [body | {"no_of_containers": 2}]},
        headers={"container_override": "true"},
    )
    assert await news() == ["D1"]
    await world.log(query={"is_from_receipt": True}, product_number="P1", quantity=1, reference="D1")
    assert await news() == ["D1"]


@pytest.mark.parametrize("series", ["average", "forecast", "history"])
async def test_each_array_value_has_its_own_key(world: World, series: str) -> None:
    array, keys = f"{series}_array", f"{series}_keys"

    async def said(fields: dict[str, Any], status: int = 200) -> Any:
        answer = await world.put("/stores/S1/storeproducts", [{"product_number": "P1", **fields}], status)
        return answer.get("errors")

    lost = {"field": f"[0].{keys}", "message": f"{keys} has 1 and {array} has 2: each value has a key of its own."}
    assert await said({array: [1, 2], keys: ["a"]}, 422) == [lost]
    await said({array: [1], keys: ["a", "b"]}, 422)
    await said({array: [1, 2], keys: ["a", "a"]}, 422)
    assert not await world.rows(STOCK, store_number="S1")
    await said({array: [1, 2]})
    assert (await entry(world, "P1"))[array] == "[1,2]"
    await said({array: [1, 2], keys: ["a", "b"]})
    assert (await entry(world, "P1"))[array] == '{"a":1,"b":2}'
    assert await said({array: [3]}, 422) == [
        {"field": f"[0].{array}", "message": f"{keys} has 2 and {array} has 1: each value has a key of its own."}
    ]
    await said({array: [3], keys: [], "price": 2})
    assert (await entry(world, "P1"))[array] == "[3]"
    body = {"store_products": [{"product_number": "P1", array: [1, 2], keys: ["a"]}]}
    answer = await world.post("/stores/S1/storeproducts", body, 422)
    assert answer["errors"][0]["field"] == f"store_products[0].{keys}"


async def test_a_product_needs_no_more_than_its_number(world: World) -> None:
    await world.post("/products", {"products": [{"product_number": "NEW"}]})
    made = await product(world, "NEW")
    assert (made["product_name"], made["barcode"]) == ("NEW", "")
    assert not (await world.get("/products", barcode="0"))["records"]


async def test_two_products_with_one_barcode_are_both_found_by_it(world: World) -> None:
    await world.post("/products", {"products": [{"product_number": one, "barcode": "777"} for one in ("N1", "N2")]})
    found = (await world.get("/products", barcode="000777"))["records"]
    assert [one["product_number"] for one in found] == ["N1", "N2"]
    assert (await world.get("/products", barcode="0777"))["records"] == [], "no barcode is as short as that"


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("9520001100017", ["9520001100017", "09520001100017", "952000110001", "952000110001705", "(01)09520001100017"]),
        ("9520001100017", ["９５２０００１１０００１７", "9 520001 100017", "*9520001100017*"]),
        ("04252614", ["425261", "0425261", "04252614", "042100005264", "0042100005264", "42100005264"]),
        ("042100005264", ["425261", "0425261", "04252614", "00042100005264"]),
        ("0-306-40615-2", ["0306406152", "9780306406157"]),
        ("9780306406157", ["0306406152", "0-306-40615-2"]),
        ("X-12a", ["X-12a", "x-12A", "*X-12A*"]),
    ],
)
async def test_a_barcode_is_found_in_every_form(world: World, stored: str, asked: list[str]) -> None:
    await world.post("/products", {"products": [{"product_number": "N1", "barcode": stored}]})
    await world.post("/stores/S1/storeproducts", {"store_products": [{"product_number": "N1"}]})
    for code in asked:
        assert [one["product_number"] for one in (await world.get("/products", barcode=code))["records"]] == ["N1"], (
            code
        )
        assert [row["product_number"] for row in await world.rows(STOCK, store_number="S1", barcode=code)] == ["N1"]


async def test_a_barcode_that_is_guessed_is_the_one_of_one_product_alone(world: World) -> None:
    both = [("N1", "04252614"), ("N2", "14252611")]
    await world.post("/products", {"products": [{"product_number": one, "barcode": code} for one, code in both]})
    assert (await world.get("/products", barcode="425261"))["records"] == []
    [found] = (await world.get("/products", barcode="0425261"))["records"]
    assert found["product_number"] == "N1"


@pytest.mark.parametrize("said", ["20261101", "2026-11-01", "2026-11-01T00:00:00Z", "20261101T0000", "", None])
async def test_an_end_of_sale_is_told_as_it_was_said(world: World, said: str | None) -> None:
    await world.post("/products", {"products": [{"product_number": "P1", "deprecation_date": said}]})
    assert (await product(world, "P1")).get("deprecation_date") == said


@pytest.mark.parametrize(
    "said", ["gone", "20261301", "2026", "2026-W45-1", "2026W451", "01.11.2026", "20261101 and more"]
)
async def test_an_end_of_sale_that_is_no_date_is_refused(world: World, said: str) -> None:
    body = {"products": [{"product_number": "P2"}, {"product_number": "P1", "deprecation_date": said}]}
    answer = await world.post("/products", body, 400)
    assert answer["errors"][0]["field"] == "products[1].deprecation_date"
    assert "deprecation_date" not in await product(world, "P1")


@pytest.mark.parametrize(
    ("field", "shown"),
    [
        ("next_delivery_date", "next_delivery_datetime"),
        ("next_ordering_date", "next_ordering_datetime"),
        ("expiry_date_time", "last_expiry_datetime"),
        ("validate_expiry_date_time", "validate_expiry_datetime"),
    ],
)
@pytest.mark.parametrize("empty", ["", " "])
async def test_an_empty_time_takes_the_stored_one_away(world: World, field: str, shown: str, empty: str) -> None:
    path = "/stores/S1/storeproducts"
    await world.put(path, [{"product_number": "P1", field: "2030-03-04T15:00:00Z"}])
    [row] = await world.rows("/storeproducts/stock", store_number="S1", product_number="P1")
    assert row[shown] == "2030-03-04T15:00:00.000Z"
    await world.put(path, [{"product_number": "P1", field: empty}])
    [row] = await world.rows("/storeproducts/stock", store_number="S1", product_number="P1")
    assert not row.get(shown)
    assert not row.get("delivery_datetimes")
    assert not row.get("ordering_datetimes")
    await world.put(path, [{"product_number": "P1", field: "no time"}], 400)


@pytest.mark.parametrize("store", [{}, {"store_number": "S1"}], ids=["catalogue", "store"])
async def test_an_old_price_of_nothing_takes_it_away(store: dict[str, str], world: World) -> None:
    said = {"product_number": "P2", **store}
    await world.post(PRICES, {"products": [said | {"price": 4, "old_price": 5}]})
    await world.post(PRICES, {"products": [said | {"price": 4, "old_price": 0}]})
    assert "old_price" not in await product(world, "P2", **store)
    await world.post(PRICES, {"products": [said | {"price": 3, "old_price": 0}]})
    found = await product(world, "P2", **store)
    assert (found["price"], found.get("old_price")) == (3, None)


@pytest.mark.parametrize("store", [{}, {"store_number": "S1"}], ids=["catalogue", "store"])
async def test_a_discount_of_nothing_ends_it(store: dict[str, str], world: World) -> None:
    said = {"product_number": "P2", **store}
    await world.post(DISCOUNTS, {"products": [said | {"discount_price": 2}]})
    await world.post(DISCOUNTS, {"products": [said | {"discount_price": 0}]})
    found = await product(world, "P2", **store)
    assert (found.get("promotion_price"), found["is_promotion"]) == (None, False)
