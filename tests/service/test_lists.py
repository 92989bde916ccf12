"""Lists: pages, totals, filters, and what an entry shows."""

from collections.abc import Sequence
from decimal import Decimal
from types import ModuleType
from typing import Any

import pytest

from aisle.client import Client
from aisle.client.transport import asgi_transport
from aisle.service.db import database_interface, postgres_connection, sqlite_connection_and_transaction
from aisle.service.db.database_interface import Row
from aisle.service.domain.quantities_times_and_json import format_timestamp
from aisle.service.handlers import list_page, order_create_and_list
from tests.service.busy_store import busy
from tests.service.world import LOCATIONS, PRODUCTS, World, line_end, store_body
from tests.service.world import LOGS as LOGS_OF

STOCK = "/storeproducts/stock"
LOGS = "/products/stock/storeproductlogs"


async def ranged(world: World, store: str, *numbers: str) -> None:
    """These products in the range of a store."""
    items = [{"product_number": number} for number in numbers]
    await world.post(f"/stores/{store}/storeproducts", {"store_products": items})


@pytest.mark.parametrize("path", [STOCK, "/stores", "/stores/S1/locations", "/products", LOGS])
async def test_pages_hold_each_row_once_and_say_what_comes_before_and_after(world: World, path: str) -> None:
    for store in ("S1", "S2"):
        entries = [{"product_number": number, "quantity": 1} for number in ("P1", "P2", "P3", "KG")]
        await world.post(f"/stores/{store}/products/stock/storeproductlogs", {"storeproductlog": entries})
    rows_in = "records" if path == "/products" else "list"
    total_in = "total_record_count" if path == "/products" else "total_count"
    whole = (await world.get(path))[rows_in]
    seen = []
    for number in range(1, -(-len(whole) // 2) + 1):
        page = await world.get(path, page_size=2, page_start=number)
        seen += page[rows_in]
        assert page[total_in] == len(whole)
        if rows_in == "list":
            last = number * 2 >= len(whole)
            assert page["next_page"] == (None if last else number + 1)
            assert page["previous_page"] == (number - 1 or None)
            assert (page["page_start"], page["page_size"]) == (number, 2)
    assert seen == whole
    beyond = await world.get(path, page_size=2, page_start=99)
    assert beyond[rows_in] == []
    if rows_in == "list":
        assert beyond["previous_page"] == -(-len(whole) // 2), "the last page that has rows"
    for bad in ({"page_start": 0}, {"page_size": 0}, {"page_size": "x"}, {"page_start": "1.5"}):
        assert (await world.send("GET", path, query=bad)).status_code == 400
    assert (await world.get(path, page_size=5000))["page_size"] == 1000


DELIVERIES = "/orders/deliveries"
RECEIPTS = "/orders/receipts"


@pytest.mark.parametrize(
    ("path", "query"),
    [
        (STOCK, {}),
        (STOCK, {"from_id": 1}),
        (STOCK, {"search_text": "5000"}),
        (LOGS, {}),
        (LOGS, {"from_id": 1, "is_historic": True}),
        (DELIVERIES, {}),
        (RECEIPTS, {"receipt_type": 1}),
    ],
)
async def test_a_long_list_over_stores_is_counted_no_further_than_it_has_to_be(
    world: World, monkeypatch: pytest.MonkeyPatch, path: str, query: dict[str, Any]
) -> None:
    await busy(world)
    client = world.client_for("staff", ["S1", "S2"])

    async def page(number: int, **more: Any) -> dict[str, Any]:
        asked = {**query, "page_size": 1, "page_start": number, **more}
        answer = await world.send("GET", path, query=asked, client=client)
        found: dict[str, Any] = answer.json()
        return found

    whole = await world.rows(path, **query)
    assert len(whole) >= 2
    monkeypatch.setattr(list_page, "MAX_COUNTED", len(whole))
    assert (await page(1))["total_count"] == len(whole)
    monkeypatch.setattr(list_page, "MAX_COUNTED", len(whole) - 1)
    for scrolled in (False, path != RECEIPTS):
        scroll: dict[str, Any] = {}
        for number, row in enumerate(whole, 1):
            shown = await page(number, **scroll)
            assert (shown["list"], "total_count" in shown) == ([row], False)
            assert shown["next_page"] == (number + 1 if number < len(whole) else None)
            scroll = {"scroll_id": shown.get("scroll_id")} if scrolled else {}
    beyond = await page(len(whole) + 5)
    assert (beyond["list"], beyond["next_page"]) == ([], None)
    monkeypatch.setattr(list_page, "MAX_COUNTED", 0)
    of_store = await world.get(path, store_number="S1", **query)
    assert of_store["total_count"] == len(of_store["list"]) > 0


async def test_a_stock_entry_shows_settings_stock_and_places(world: World) -> None:
    """`test_every_field` tells that each setting comes back."""
    await world.count("P2", "A1", stock_pool_1=5)
    await world.count("P2", "BACK", stock_pool_2=3, stock_pool_3=1)
    await world.order("O1", {"product_number": "P2", "quantity": 4})
    await world.move("P2", 1, "A1", line_end("O1", 1, "DESK"))
    setting = {
        "product_number": "P2",
        "min": 2,
        "max": 8,
        "average_array": [1, 2.5],
        "expiry_date_time": "2026-07-01",
        "validate_expiry_date_time": "2026-07-02T10:00:00+02:00",
    }
    await world.put("/stores/S1/storeproducts", [setting], headers={"Aisle-App-User": "bea"})
    [entry] = await world.rows(STOCK, store_number="S1", product_number="P2", include_locations=True)
    expected = {
        "product_description": "Tea",
        "most_likely_quantity": 9,
        "most_likely_pool_1": 5,
        "most_likely_pool_2": 3,
        "most_likely_pool_3": 1,
        "original_min": 2,
        "original_max": 8,
        "average_array": "[1,2.5]",
        "last_expiry_datetime": "2026-07-01T00:00:00.000Z",
        "last_expiry_updatedby": "bea",
        "last_minmax_updatedby": "bea",
        "validate_expiry_datetime": "2026-07-02T08:00:00.000Z",
        "most_likely_datetime": format_timestamp(world.now),
        "last_counted_datetime": format_timestamp(world.now),
    }
    assert {name: entry.get(name) for name in expected} == expected
    assert [(one["store_location_code"], one["quantity"]) for one in entry["store_locations"]] == [
        ("A1", 4),
        ("BACK", 4),
        ("DESK", 1),
    ]
    assert entry["store_locations"][0]["tags"] == ["shelf"]
    assert entry["store_locations"][1] | {"stock_pool_2": 3, "stock_pool_3": 1} == entry["store_locations"][1]
    assert entry["store_locations"][1]["default_stock_pool"] == "2"
    await world.put("/stores/S1/storeproducts", [{"product_number": "P2", "max": 9}])
    [entry] = await world.rows(STOCK, store_number="S1", product_number="P2")
    assert (entry["max"], entry["original_max"], entry["min"]) == (9, 8, 2)
    assert "store_locations" not in entry


@pytest.mark.parametrize(
    ("item", "status"),
    [
        ({"product_number": "NONE"}, 422),
        ({"product_number": "P1", "min": 5, "max": 4}, 422),
        ({"product_number": "P1", "min": 1.5}, 422),
        ({"product_number": "P1", "next_delivery_date": "soon"}, 400),
        ({"min": 1}, 400),
    ],
)
async def test_settings_that_cannot_be_refuse_the_whole_request(
    world: World, item: dict[str, Any], status: int
) -> None:
    answer = await world.put("/stores/S1/storeproducts", [{"product_number": "P2", "min": 1}, item], status)
    assert answer["errors"][0]["field"].startswith("[1]")
    assert await world.rows(STOCK, store_number="S1") == []


async def test_reserved_and_held_goods_are_left_out_where_that_is_asked(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=5, stock_pool_2=5)
    await world.order(
        "O1", {"product_number": "P1", "quantity": 4}, {"product_number": "P1", "quantity": 9, "stock_pool": 2}
    )
    await world.order("O2", {"product_number": "P1", "quantity": 2, "is_picked_from_warehouse": True})
    await world.order("O3", {"product_number": "P1", "quantity": 2}, is_rejected=True)
    await world.order("O4", {"product_number": "P1", "quantity": 2, "picked_quantity": 0, "is_picked": True})
    await world.pick("O1", 1, "P1", 1)
    [entry] = await world.rows(STOCK, store_number="S1", exclude_customer_order_stock=True, include_locations=True)
    assert (entry["most_likely_pool_1"], entry["most_likely_pool_2"]) == (5 - 1 - 3, 5 - 9)
    assert entry["most_likely_quantity"] == -3
    single = (await world.get("/stores/S1/products/P1/stock", exclude_customer_order_stock=True))["products"][0]
    assert (single["most_likely_stock"], single["stock_pool_2"]) == (-3, -4)
    full = (await world.get("/stores/S1/products/P1/stock"))["products"][0]
    assert (full["most_likely_stock"], full["stock_pool_1"], full["stock_pool_2"]) == (10, 5, 5)


async def test_filters_of_the_stock_list(world: World) -> None:
    await ranged(world, "S1", "P1", "P2", "KG")
    await ranged(world, "S2", "P1")
    start = world.now
    world.now += 3600
    await world.count("P2", None, counted_quantity=1)

    async def found(**query: Any) -> list[tuple[str, str]]:
        return [(row["store_number"], row["product_number"]) for row in await world.rows(STOCK, **query)]

    everything = [("S1", "P1"), ("S2", "P1"), ("S1", "P2"), ("S1", "KG")]
    assert await found() == everything
    ids = [row["id"] for row in await world.rows(STOCK)]
    assert ids == sorted(ids)
    assert await found(from_id=ids[1], to_id=ids[2]) == everything[1:3]
    assert await found(from_id=ids[1] + 1, store_number="S1") == [("S1", "P2"), ("S1", "KG")]
    assert await found(store_number="S2") == [("S2", "P1")]
    assert await found(product_number="P2") == await found(article_no="P2") == [("S1", "P2")]
    assert await found(barcode="05000000000012") == [("S1", "P2")]
    assert await found(category_code="food") == [("S1", "P1"), ("S2", "P1")]
    assert await found(parent_category_code="food") == []
    assert await found(search_text="musli [/B]") == [("S1", "P1"), ("S2", "P1")]
    assert await found(search_text="50000") == [("S1", "P2")]
    assert await found(search_text="%") == [("S1", "P1"), ("S2", "P1")]
    assert await found(last_stock_modified_datetime=format_timestamp(start + 1)) == [("S1", "P2")]
    assert await found(last_modified_date=format_timestamp(start)) == everything
    assert await found(last_modified_date=format_timestamp(start + 1)) == []
    await world.post("/products", {"products": [{"product_number": "KG", "product_name": "Pears"}]})
    assert await found(last_modified_date=format_timestamp(start + 1)) == [("S1", "KG")]
    for query in ({"search_text": "tea"}, {"store_number": "S1"}, {"barcode": "1"}):
        assert (await world.get(STOCK, **query))["total_count"] == len(await found(**query))


async def test_one_product_s_stock(world: World) -> None:
    await world.put("/stores/S1/storeproducts", [{"product_number": "P1", "min": 1, "max": 5}])
    await world.count("P1", "A1", stock_pool_1=5)
    await world.count("P1", "A2", stock_pool_1=0)
    await world.move("P1", 5, "A1", "A10")
    [item] = (await world.get("/stores/S1/products/P1/stock", include_locations=True))["products"]
    assert (item["most_likely_stock"], item["min"], item["max"]) == (5, 1, 5)
    assert [one["store_location_code"] for one in item["store_locations"]] == ["A10"]
    [item] = (await world.get("/stores/S1/products/P1/stock", include_locations=True, include_zero_lines=True))[
        "products"
    ]
    assert [one["store_location_code"] for one in item["store_locations"]] == ["A1", "A10"]
    assert await world.get("/stores/S1/products/P3/stock") == {"products": []}
    assert (await world.send("GET", "/stores/S1/products/NONE/stock")).status_code == 404


async def test_the_stores_around_and_the_warehouses(world: World) -> None:
    for store, quantity in (("S1", 1), ("S2", 2), ("S3", 3), ("W", 4)):
        entry = {"product_number": "P1", "quantity": quantity}
        await world.post(f"/stores/{store}/products/stock/storeproductlogs", {"storeproductlog": [entry]})
    around = await world.get("/stores/S1/storeproducts/P1/surrounding")
    assert [(row["store_number"], row["most_likely_quantity"], row["is_warehouse"]) for row in around] == [
        ("S2", 2, False),
        ("W", 4, True),
    ]
    assert (around[0]["area_description"], around[0]["store_name"]) == ("Area north", "Second")
    only_s1 = world.client_for("staff", ["S1"])
    answer = await world.send("GET", "/stores/S1/storeproducts/P1/surrounding", client=only_s1)
    assert len(answer.json()) == 2
    assert (await world.send("GET", "/stores/S1/storeproducts/NONE/surrounding")).status_code == 404
    assert await world.get("/stores/S1/storeproducts/P2/surrounding") == []


async def test_locations_and_what_lies_on_them(world: World) -> None:
    await world.count("P1", "A2", stock_pool_1=3, stock_pool_2=1)
    await world.count("P2", "A2", stock_pool_1=2)
    await world.order("O1", {"product_number": "P1", "quantity": 2})
    await world.move("P1", 2, "A2", line_end("O1", 1, "A10"))
    rows = await world.rows("/stores/S1/locations")
    assert [row["location_code"] for row in rows] == ["A1", "A2", "A10", "BACK", "DESK"]
    by_code = {row["location_code"]: row for row in rows}
    assert by_code["A2"]["quantity"] == 4
    assert [(one["product_number"], one["mostlikelypool1"]) for one in by_code["A2"]["stock"]] == [("P1", 1), ("P2", 2)]
    assert by_code["A10"]["customer_orders"] == ["O1"]
    assert by_code["A10"]["stock"][0]["customer_order_line_number"] == 1
    assert by_code["BACK"]["default_stock_pool"] == "2"
    assert by_code["A1"]["stock"] == []
    free = await world.rows("/stores/S1/locations", ignore_customerorder_stock=True, search_text="a10")
    assert [(row["location_code"], row["quantity"], row["customer_orders"]) for row in free] == [("A10", 0, [])]
    assert len(await world.rows("/stores/S1/locations", search_text="shelf")) == 1
    products = await world.rows("/stores/S1/locations/A2/products")
    assert [(row["product_number"], row["quantity"], row["barcode"]) for row in products] == [
        ("P1", 2, "4006381333931"),
        ("P2", 2, "5000000000012"),
    ]
    at_a10 = "/stores/S1/locations/A10/products"
    assert (await world.rows(at_a10))[0]["customer_order_number"] == "O1"
    assert len(await world.rows(at_a10, customer_order_number="O1")) == 1
    assert await world.rows(at_a10, customer_order_number="O2") == []
    assert await world.rows(at_a10, customer_order_shipment_number="S") == []
    assert len(await world.rows("/stores/S1/locations/A2/products", search_text="TEA")) == 1
    assert await world.rows("/stores/S1/locations/A2/products", search_text="food") == []
    assert len(await world.rows("/stores/S1/locations/A2/products", search_text="food", advance_search=True)) == 1
    for text, count in (("FOOD", 1), ("category_code", 0), ("2.5", 1)):
        found = await world.rows("/stores/S1/locations/A2/products", search_text=text, advance_search=True)
        assert len(found) == count, text
    assert (await world.get("/stores/S1/locations/A2/products", page_size=1))["total_count"] == 2
    assert (await world.send("GET", "/stores/S1/locations/NOWHERE/products")).status_code == 404


async def test_filters_of_the_log(world: World) -> None:
    await world.log(product_number="P1", quantity=1, reference="R1", reason_code=3)
    world.now += 86400
    await world.log(product_number="P2", quantity=-1, reference="R1x")
    await world.post(
        "/stores/S2/products/stock/storeproductlogs", {"storeproductlog": [{"product_number": "P3", "quantity": 1}]}
    )

    async def found(**query: Any) -> list[str]:
        return [row["product_number"] for row in await world.rows(LOGS, **query)]

    assert sorted(await found()) == ["P1", "P2", "P3"]
    ids = [row["id"] for row in await world.rows(LOGS)]
    assert ids == sorted(ids)
    assert await found(from_id=ids[1], to_id=ids[1]) == [(await found())[1]]
    assert await found(store_number="S1") == ["P1", "P2"]
    for store in ("S1", "S2"):
        own = [row["id"] for row in await world.rows(LOGS, store_number=store)]
        for one in ids:
            above = await world.rows(LOGS, store_number=store, from_id=one)
            below = await world.rows(LOGS, store_number=store, to_id=one)
            assert [row["id"] for row in above] == [number for number in own if number >= one]
            assert [row["id"] for row in below] == [number for number in own if number <= one]
    assert await found(article_number="P2") == ["P2"]
    assert await found(reference="R1") == ["P1"]
    assert await found(reason_code=3) == ["P1"]
    assert await found(review_status=1) == ["P2"]
    assert sorted(await found(review_status=0)) == ["P1", "P3"]
    assert await found(review_status=2) == await found(review_status=0, is_reviewed=True) == []
    assert await found(is_reviewed=True) == []
    assert sorted(await found(is_reviewed=False)) == ["P1", "P2", "P3"]
    day_one, day_two = format_timestamp(world.now - 86400)[:10], format_timestamp(world.now)[:10]
    assert await found(to_modified_date=day_one) == ["P1"]
    assert sorted(await found(last_modified_date=day_two)) == ["P2", "P3"]
    world.now += 90 * 86400
    assert sorted(await found()) == ["P1", "P2", "P3"]
    # The last day of their month is 90 days ago, and a day more.
    world.now += 2 * 86400
    assert sorted(await found()) == sorted(await found(reason_code=3) + ["P2", "P3"])
    world.now += 86400
    assert await found() == await found(reason_code=3) == []
    assert sorted(await found(is_historic=True)) == ["P1", "P2", "P3"]
    assert (await world.get(LOGS, is_historic=True, page_size=1))["total_count"] == 3
    assert await found(store_number="S1") == []
    await world.log(product_number="P3", quantity=2)
    recent = await world.get(LOGS, store_number="S1")
    assert ([row["product_number"] for row in recent["list"]], recent["total_count"]) == (["P3"], 1)
    assert await found(store_number="S1", is_historic=True) == ["P1", "P2", "P3"]


MONTHS = [("S1", "P1", 0), ("S1", "P2", 0), ("S2", "P1", 33), ("S1", "P1", 33), ("S3", "P2", 62), ("S1", "P2", 62)]


@pytest.mark.parametrize("stores", [None, ["S1", "S2"]], ids=["all", "few"])
async def test_the_log_over_stores_has_its_months_in_one_order(world: World, stores: list[str] | None) -> None:
    start, ids = world.now, {}
    # The last one is of a host whose clock is in the next month already.
    for store, number, day in [*MONTHS, ("S2", "P1", 93)]:
        world.now = start + day * 86400
        path = LOGS_OF.replace("S1", store)
        answer = await world.post(path, {"storeproductlog": [{"product_number": number, "quantity": 1}]})
        if not stores or store in stores:
            ids[answer["data"][0]] = number, day
    client = world.client_for("staff", stores)

    async def found(**query: Any) -> list[int]:
        answer = await world.send("GET", LOGS, query=query, client=client)
        assert answer.status_code == 200, answer.text
        assert answer.json()["total_count"] >= len(answer.json()["list"])
        return [row["id"] for row in answer.json()["list"]]

    for today, first in ((72, 0), (96, 33), (128, 62), (159, 93), (190, 999)):
        world.now = start + today * 86400
        whole = sorted(one for one, (_, day) in ids.items() if day >= first)
        assert await found() == whole
        assert await found(is_historic=True) == sorted(ids)
        for size in (1, 2, 3):
            pages = [await found(page_size=size, page_start=n + 1) for n in range(len(whole) // size + 1)]
            assert pages == [whole[n * size :][:size] for n in range(len(whole) // size + 1)]
        for number in ("P1", "P2"):
            mine = [one for one in whole if ids[one][0] == number]
            assert await found(article_number=number) == mine
            assert await found(article_number=number, page_size=1, page_start=2) == mine[1:2]
        for place, one in enumerate(whole):
            assert await found(from_id=one, page_size=2) == whole[place:][:2]
            assert await found(to_id=one) == whole[: place + 1]


async def test_filters_of_the_store_list_whose_paging_is_text(world: World) -> None:
    await world.post("/stores", {"stores": [store_body("S2", "Second", store_gln="871")]})

    async def found(**query: Any) -> list[str]:
        return [row["storeNo"] for row in await world.rows("/stores", **query)]

    assert await found() == ["S1", "S2", "S3", "W"]
    assert await found(is_warehouse=True) == ["W"]
    assert await found(search_text="DEP") == await found(search_text="w") == ["W"]
    assert await found(secondary_key="871") == ["S2"]
    assert await found(page_size="2", page_start="2") == ["S3", "W"]
    [row] = await world.rows("/stores", search_text="second")
    assert row == {
        "id": 2,
        "storeNo": "S2",
        "storeName": "Second",
        "areaId": "north",
        "areaDescription": "Area north",
        "isWarhouse": False,
        "storeStockPool1": "Shelf",
    }
    assert (await world.send("GET", "/stores", query={"secondary_key": "x" * 501})).status_code == 400


async def test_store_flush_keeps_stores_that_are_in_use(world: World) -> None:
    await world.log(product_number="P1", quantity=1)
    answer = await world.post("/stores", {"stores": [store_body("S2"), store_body("NEW")]}, 409, query={"flush": True})
    assert "S1" in answer["message"]
    assert len(await world.rows("/stores")) == 4
    await world.log(product_number="P1", quantity=-1)
    await world.order("O1")
    await world.post("/stores", {"stores": [store_body("S2")]}, 409, query={"flush": True})
    await world.update("O1", is_active=False)
    await world.post("/stores", {"stores": [store_body("S2"), store_body("NEW")]}, query={"flush": True})
    world.token("staff", ["NEW"])
    await world.post("/stores", {"stores": [store_body("S2")]}, 409, query={"flush": True})
    assert [row["storeNo"] for row in await world.rows("/stores")] == ["NEW", "S2"]
    assert await world.rows(STOCK) == []


async def test_products_come_back_as_they_were_sent_and_updates_merge(world: World) -> None:
    product = {
        "product_number": "X 1",
        "product_name": "Extra",
        "barcode": "1",
        "barcodes_array": "22,33 44",
        "units": [{"unit_quantity": 6, "unit_barcode": "666", "unit_name": "six"}],
        "price": 1.1,
        "free_fields": [{"sort_order": 1, "key": "k", "value": "v"}],
        "stores_allowed": ["S1"],
    }
    await world.post("/products", {"products": [product]})
    [record] = (await world.get("/products", product_number="X 1"))["records"]
    assert record | product | {"price": Decimal("1.1")} == record
    assert record["shelf_label_quantity"] == record["carrier_item_quantity"] == 1
    for code in ("1", "22", "33", "44", "666", "000666"):
        assert (await world.get("/products", barcode=code))["total_record_count"] == 1
    await world.post("/products", {"products": [{"product_number": "X 1", "barcodes_array": "55"}]})
    [record] = (await world.get("/products", barcode="55"))["records"]
    assert (record["product_name"], record["units"]) == ("Extra", product["units"])
    assert (await world.get("/products", barcode="22"))["records"] == []
    assert (await world.get("/products", search_text="extr"))["total_record_count"] == 1
    assert (await world.get("/products", is_active=False))["records"] == []
    await ranged(world, "S1", "X 1")
    [record] = (await world.get("/products", store_number="S1"))["records"]
    assert record["is_store_product"] is True
    assert (await world.get("/products", page_number=2, page_size=4))["page_number"] == 2


@pytest.mark.parametrize("path", ["/stores/S1/orders/customerorders", "/orders/deliveries", LOGS])
async def test_a_list_without_rows_has_no_page_before_any_other(world: World, path: str) -> None:
    for number in (1, 2, 9999):
        page = await world.get(path, page_start=number)
        assert (page["list"], page["previous_page"], page["next_page"]) == ([], None, None)


async def counted(world: World, path: str, **query: Any) -> int:
    """How many rows a list has, read to its end in pages of two; each page says the same."""
    number, rows = 1, 0
    page_start = "page_number" if path == "/products" else "page_start"
    while True:
        body = await world.get(path, **query, page_size=2, **{page_start: number})
        total = body.get("total_count", body.get("total_record_count"))
        found = len(body.get("list", body.get("records", ())))
        rows, number = rows + found, number + 1
        if not found:
            assert total == rows, f"{path} {query}"
            return rows


async def test_totals_follow_what_comes_and_goes(world: World) -> None:
    async def totals() -> list[int]:
        return [
            await counted(world, "/products"),
            await counted(world, "/products", store_number="S1"),
            await counted(world, STOCK, store_number="S1"),
            await counted(world, "/stores/S1/locations"),
        ]

    assert await totals() == [5, 0, 0, 5]
    await world.post("/stores/S1/storeproducts", {"store_products": [{"product_number": "P1"}]})
    more = [{"product_number": number, "product_name": "More"} for number in ("N1", "N2", "P1")]
    await world.post("/products", {"products": more})
    await world.post("/products", {"products": more})
    assert await totals() == [7, 1, 1, 5]
    await world.send("DELETE", "/products", {"product_numbers": ["N1", "P1", "nothing"]})
    assert await totals() == [5, 0, 0, 5]
    await world.post("/products", {"products": more})
    await world.put("/products/attributes", {"products": [{"product_number": "N2", "color": "red"}]})
    await world.post(
        "/aisle/v1/locations", {"locations": [{"store_number": "S1", "location_code": "NEW"}, LOCATIONS[0]]}
    )
    assert await totals() == [7, 0, 0, 6]


@pytest.mark.parametrize("gone", [False, True])
async def test_totals_from_an_id_to_another(world: World, gone: bool) -> None:
    numbers = [product["product_number"] for product in PRODUCTS]
    for store in ("S1", "S2"):
        body = {"store_products": [{"product_number": number} for number in numbers]}
        await world.post(f"/stores/{store}/storeproducts", body)
    if gone:
        await world.send("DELETE", "/products", {"product_numbers": numbers[1:2]})
    for store in ("S1", "S2"):
        ids = [row["id"] for row in await world.rows(STOCK, store_number=store)]
        every = sorted([*ids, *(each + step for each in ids for step in (-1, 1))])
        for low in every:
            assert await counted(world, STOCK, store_number=store, from_id=low) == sum(each >= low for each in ids)
            assert await counted(world, STOCK, store_number=store, to_id=low) == sum(each <= low for each in ids)
        between = await counted(world, STOCK, store_number=store, from_id=ids[1], to_id=ids[-2])
        assert between == len(ids) - 2


async def test_a_store_that_was_removed_and_is_back_has_none_of_its_places(world: World) -> None:
    *others, ninth = map(store_body, ("S1", "S2", "S3", "W", "S9"))
    await world.post("/stores", {"stores": [ninth]})
    await world.post("/aisle/v1/locations", {"locations": [{"store_number": "S9", "location_code": "A"}]})
    assert await counted(world, "/stores/S9/locations") == 1
    await world.post("/stores", {"stores": others}, query={"flush": True})
    await world.post("/stores", {"stores": [ninth]})
    assert await counted(world, "/stores/S9/locations") == 0
    await world.post("/aisle/v1/locations", {"locations": [{"store_number": "S9", "location_code": "B"}]})
    assert await counted(world, "/stores/S9/locations") == 1


async def fill_our_lists(world: World) -> None:
    """Four people, put-backs, assignments, recounts and entries of the audit."""
    numbers = [f"N{n}" for n in range(4)]
    await world.post("/products", {"products": [{"product_number": one, "product_name": "x" * 300} for one in numbers]})
    people = [{"badge": number, "user": number, "name": "x" * 300, "role": "staff"} for number in numbers]
    await world.post("/aisle/v1/stores/S1/people", {"people": people})
    recounts = [{"product_number": number} for number in numbers]
    await world.post("/aisle/v1/stores/S1/recounts", {"recounts": recounts})
    lines = [{"line_number": n, "product_number": one, "quantity": 1} for n, one in enumerate(numbers, 1)]
    for order in ("BACK", "HELD"):
        await world.order(order, *lines)
    for n, number in enumerate(numbers, 1):
        await world.count(number, "A1", stock_pool_1=9)
        await world.pick("BACK", n, number, 1)
        await world.move(number, 1, "A1", line_end("HELD", n, "A1"))
    await world.update("BACK", is_rejected=True)
    await world.post("/customerorders/clearance", {}, query={"location_code_tag": "shelf"})


OUR_LISTS = {"people": "people", "put-backs": "put_backs", "assignments": "assignments", "recounts": "recounts"}


def add_few(size: database_interface.ResultSize, rows: Sequence[Row]) -> None:
    """Refuse a result of more than two rows."""
    size._bytes += len(rows)
    if size._bytes > 2:
        raise database_interface.ResultTooLong("too long")


@pytest.mark.parametrize(
    ("bound", "most"),
    [
        ((list_page, "MAX_PAGE_SIZE", 1000), 4),
        ((list_page, "MAX_PAGE_BYTES", 300), 1),
        ((database_interface.ResultSize, "add", add_few), 1),
    ],
)
async def test_our_lists_are_bounded_in_rows_and_bytes_and_read_to_their_ends(
    world: World, monkeypatch: pytest.MonkeyPatch, bound: tuple[Any, str, Any], most: int
) -> None:
    await fill_our_lists(world)
    monkeypatch.setattr(sqlite_connection_and_transaction, "_UNMEASURED_ROWS", 1)
    monkeypatch.setattr(postgres_connection, "STEP_ROWS", 1)
    monkeypatch.setattr(*bound)
    async with Client("http://127.0.0.1:1", world.secret, transport=asgi_transport(world.service.app)) as client:
        for path, name in {**OUR_LISTS, "audit": "audit"}.items():
            whole = f"/aisle/v1/stores/S1/{path}"
            for limit, count in ((1, 1), (1000, most)):
                page = await world.get(whole, limit=limit, **({"subject": "person"} if path == "audit" else {}))
                assert (len(page[name]), page["more"]) == (count, count < 4), (path, limit)
            assert (await world.send("GET", whole, query={"limit": 1001})).status_code == 400
            if path in OUR_LISTS:
                _, rows = await client.extension_list(whole, name)
                assert len({str(row) for row in rows}) == len(rows) == 4, path


@pytest.mark.parametrize(
    ("bound", "path", "field"),
    [
        ((list_page, "MAX_PAGE_BYTES"), "/stores/S1/orders/customerorders", "page_size"),
        ((database_interface, "MAX_RESULT_BYTES"), "/stores/S1/orders/customerorders", "page_size"),
        ((order_create_and_list, "MAX_PAGE_BYTES"), "/aisle/v1/stores/S1/orders", "numbers"),
    ],
)
async def test_too_long_answers_are_refused_before_they_are_read_whole(
    world: World, monkeypatch: pytest.MonkeyPatch, bound: tuple[ModuleType, str], path: str, field: str
) -> None:
    for number in range(3):
        await world.order(f"O{number}", order_comment="c" * 900)
    monkeypatch.setattr(sqlite_connection_and_transaction, "_UNMEASURED_ROWS", 1)
    monkeypatch.setattr(postgres_connection, "STEP_ROWS", 1)
    monkeypatch.setattr(*bound, 900)
    query = {"numbers": "O0\nO1\nO2"} if field == "numbers" else {}
    answer = await world.send("GET", path, query=query)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (413, field)
