"""A query parameter that an operation does not have is refused with the nearest that it has, on every route."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from aisle.contract.operations import EXTENSIONS, OPERATIONS
from aisle.service.app_options_and_limits import ServiceOptions
from aisle.service.http.app import App
from aisle.service.http.openapi.document import build_document
from tests.service.test_monitoring import serving
from tests.service.world import API, World

ORDERS = "/stores/S1/orders/customerorders"
STOCK = "/storeproducts/stock"
LOGS = "/products/stock/storeproductlogs"


@pytest.mark.parametrize(
    ("path", "name", "near"),
    [
        (ORDERS, "Flush", None),
        (ORDERS, "Show_Lines", "show_lines"),
        (ORDERS, "showLines", "show_lines"),
        (ORDERS, "show-lines", "show_lines"),
        (ORDERS, "show_line", "show_lines"),
        (ORDERS, "page", "page_size"),
        (ORDERS, "pagesize", "page_size"),
        (ORDERS, "PageStart", "page_start"),
        (ORDERS, "is_actve", "is_active"),
        (ORDERS, "ordernumber", "order_number"),
        (ORDERS, "pickup_ofset", "pickup_offset"),
        (STOCK, "exclude_customerorder_stock", "exclude_customer_order_stock"),
        (STOCK, "excludeCustomerOrderStock", "exclude_customer_order_stock"),
        (STOCK, "ArticleNo", "article_no"),
        (STOCK, "storeNumber", "store_number"),
        ("/stores/S1/locations", "ignore_customer_order_stock", "ignore_customerorder_stock"),
        ("/stores/S1/locations", "appUserName", "app_username"),
        (LOGS, "articel_number", "article_number"),
        (LOGS, "is_history", "is_historic"),
        (LOGS, "from", "from_id"),
        ("/orders/receipts?receipt_type=1", "Receipt_Type", "receipt_type"),
        ("/stores", "secondarykey", "secondary_key"),
        ("/products", "pageNumber", "page_number"),
    ],
)
async def test_the_nearest_name_is_told(world: World, path: str, name: str, near: str | None) -> None:
    url = f"{API}{path}{'&' if '?' in path else '?'}{name}=true"
    answer = await world.client.get(url)
    assert answer.status_code == 400, answer.text
    [error] = answer.json()["errors"]
    assert error["field"] == name
    assert error["message"].startswith("There is no such parameter here.")
    assert error["message"].endswith(f"The nearest is {near}.") if near else "Known are" in error["message"]


@pytest.mark.parametrize(
    ("method", "path", "query", "words"),
    [
        ("POST", "/stores", "Flush=true", "The nearest is flush."),
        ("POST", "/stores/S1/orders/customerorders", "FLUSH=true", "The nearest is flush."),
        ("POST", "/orders/customerorders", "flush%20=true", "The nearest is flush."),
        ("POST", f"/stores/S1{LOGS}", "isCountedQuantity=true", "The nearest is is_counted_quantity."),
        ("POST", f"/stores/S1{LOGS}", "app_user_name=x", "The nearest is appUserName."),
        ("POST", "/stores/S1/storeproductlocation/movement", "appUserName=x", "The nearest is AppUserName."),
        ("POST", "/customerorders/clearance", "location_code_tag=x&tag=x", "Known are location_code_tag."),
        ("POST", "/orders/deliveries", "container_override=true", "It is a header of this operation."),
        ("PUT", "/stores/S1/storeproducts", "store_number=S1", "It stands in the path of this operation."),
        ("DELETE", "/products", "product_number=P1", "This operation takes none."),
        ("GET", ORDERS, "=1", "Known are"),
        ("GET", ORDERS, "%00=1", "Known are"),
        ("GET", ORDERS, "utm_source=mail&_=1", "Known are"),
    ],
)
async def test_what_else_is_told(world: World, method: str, path: str, query: str, words: str) -> None:
    body = b"[]" if "storeproducts" in path or "movement" in path else b"{}"
    answer = await world.client.request(method, f"{API}{path}?{query}", content=None if method == "GET" else body)
    assert answer.status_code == 400, answer.text
    assert words in answer.json()["errors"][0]["message"]


async def test_a_flush_in_the_wrong_case_takes_nothing_away(world: World) -> None:
    """It was a success before, and nothing was taken away; now its sender knows."""
    await world.order("O1", {"product_number": "P1", "quantity": 1})
    answer = await world.send("POST", ORDERS, {"orders": []}, query={"Flush": "true"})
    assert answer.status_code == 400
    assert (await world.see("O1"))["is_active"]
    assert (await world.send("POST", ORDERS, {"orders": []}, query={"flush": "true"})).status_code == 200
    assert await world.rows(ORDERS) == []


@pytest.mark.parametrize("name", [*OPERATIONS, *EXTENSIONS])
async def test_every_operation_refuses_them(world: World, name: str) -> None:
    [(path, method)] = [
        (path, method)
        for path, pages in build_document()["paths"].items()
        for method, page in pages.items()
        if page["operationId"] == name
    ]
    url = path.replace("{store_number}", "S1").replace("{product_number}", "P1").replace("{location_code}", "A1")
    url = url.replace("{log_id}", "1")
    answer = await world.client.request(method.upper(), url, params={"no_such_thing": 1})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "no_such_thing")


@pytest.mark.parametrize("path", ["/aisle/v1/health", "/aisle/v1/ready", "/openapi.json", "/docs", "/docs/favicon.png"])
async def test_pages_about_the_service_refuse_them(world: World, path: str) -> None:
    assert (await world.client.get(path)).status_code == 200
    answer = await world.client.get(path, params={"verbose": 1})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "verbose")
    assert (await world.client.get("/aisle/v1/nowhere", params={"verbose": 1})).status_code == 404


async def test_all_that_are_unknown_are_named(world: World) -> None:
    answer = await world.client.get(API + ORDERS, params={"Page_Size": 1, "reference": "x", "Reference": "y"})
    assert [one["field"] for one in answer.json()["errors"]] == ["Page_Size", "Reference"]
    many = {f"p{n}": n for n in range(99)} | {"x" * 5000: 1}
    answer = await world.client.get(API + ORDERS, params=many)
    assert answer.status_code == 400
    assert len(answer.content) < 20_000


async def test_unauthorised_caller_gets_no_parameter_hint(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is one looked for, which takes milliseconds."""
    searches = list[str]()
    monkeypatch.setattr("aisle.service.http.parameters_and_headers.nearest_name", lambda name, _: searches.append(name))
    async with world.open_client("no token") as stranger:
        answer = await stranger.get(API + ORDERS, params={"Show_Lines": 1})
        assert answer.status_code == 401
    assert not searches
    await world.client.get(API + ORDERS, params={f"p{n}": n for n in range(99)})
    assert len(searches) == 5


async def test_a_lenient_service_ignores_them(world: World) -> None:
    await world.order("O1", {"product_number": "P1", "quantity": 1})
    app = App(world.service.database, ServiceOptions(clock=lambda: world.now, lenient=True))
    headers = {"Authorization": f"Bearer {world.secret}"}
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://service", headers=headers
    ) as ours:
        answer = await ours.get(API + ORDERS, params={"Show_Lines": "true", "page_size": 5})
        assert answer.status_code == 200
        assert [row["order_number"] for row in answer.json()["list"]] == ["O1"]
        assert (await ours.post(API + ORDERS, params={"Flush": "true"}, json={"orders": []})).status_code == 200
        assert (await ours.get("/aisle/v1/health", params={"verbose": 1})).status_code == 200
        assert (await ours.get(API + ORDERS, params={"page_size": "x"})).status_code == 400
    assert len(await world.rows(ORDERS)) == 1


def test_the_command_line_has_it(aisle_home: Path) -> None:
    for flags, status in (((), 400), (("--lenient",), 200)):
        with serving(aisle_home, "--empty", *flags) as (_, url):
            assert httpx.get(f"{url}/aisle/v1/health", params={"Verbose": 1}).status_code == status


@pytest.mark.parametrize(
    ("path", "body", "field", "near"),
    [
        ("/products", {"products": [{"product_number": "1", "Price": 2}]}, "products[0].Price", "price"),
        ("/products", {"products": [{"product_number": "1", "barcod": ""}]}, "products[0].barcod", "barcode"),
        ("/products", {"products": [{"units": [{"unitName": ""}]}]}, "products[0].units[0].unitName", "unit_name"),
        ("/stores", {"store": []}, "store", "stores"),
        ("/stores", {"stores": [{"isWarehouse": True}]}, "stores[0].isWarehouse", "is_warehouse"),
        (ORDERS, {"orders": [{"order_lines": [{"qty": 1}]}]}, "orders[0].order_lines[0].qty", None),
        (ORDERS, {"orders": [{"orderNumber": "1"}]}, "orders[0].orderNumber", "order_number"),
        ("/orders/deliveries", {"orders": [{"supplier": "x"}]}, "orders[0].supplier", "supplier_name"),
        (f"/stores/S1{LOGS}", {"storeproductlogs": []}, "storeproductlogs", "storeproductlog"),
        ("/stores/S1/storeproductlocation/movement", [{"from": {}}], "[0].from", "from_location"),
        (
            "/stores/S1/storeproductlocation/movement",
            [{"from_location": {"stockpool": 1}}],
            "[0].from_location.stockpool",
            "stock_pool",
        ),
    ],
)
async def test_the_nearest_field_of_a_body_is_told(
    world: World, path: str, body: Any, field: str, near: str | None
) -> None:
    answer = await world.client.post(API + path, content=json.dumps(body))
    assert answer.status_code == 400
    told = {one["field"]: one["message"] for one in answer.json()["errors"]}
    rest = f"The nearest is {near}." if near else "Look at its spelling, or leave it out."
    assert told[field] == f"There is no such field here. {rest}"


PLACES = [
    ("PUT", "/stores/S1/orders/customerorder", {"order_number": "1"}, "order_number", "orders"),
    ("POST", ORDERS, {"order_number": "1"}, "order_number", "orders[0]"),
    ("POST", ORDERS, {"order_lines": []}, "order_lines", "orders[0]"),
    ("POST", ORDERS, {"line_number": 1}, "line_number", "orders[0].order_lines[0]"),
    ("POST", ORDERS, {"orders": [{"line_number": 1}]}, "orders[0].line_number", "orders[0].order_lines[0]"),
    (
        "POST",
        ORDERS,
        {"orders": [{"order_lines": [{"order_number": "1"}]}]},
        "orders[0].order_lines[0].order_number",
        "orders[0]",
    ),
    ("POST", ORDERS, {"orders": [{"orders": []}]}, "orders[0].orders", "the body itself"),
    ("POST", "/products", {"product_number": "1"}, "product_number", "products[0]"),
    ("POST", "/stores", {"store_number": "1"}, "store_number", "stores[0]"),
    ("POST", f"/stores/S1{LOGS}", {"location_code": "A"}, "location_code", "storeproductlog[0]"),
    (
        "POST",
        "/stores/S1/storeproductlocation/movement",
        [{"location_code": "A"}],
        "[0].location_code",
        "[0].from_location",
    ),
]


@pytest.mark.parametrize(("method", "path", "body", "field", "place"), PLACES)
async def test_the_place_of_a_field_of_a_body_is_told(
    world: World, method: str, path: str, body: Any, field: str, place: str
) -> None:
    answer = await world.client.request(method, API + path, content=json.dumps(body))
    told = {one["field"]: one["message"] for one in answer.json()["errors"]}
    assert told[field] == f"There is no such field here. It belongs into {place}."
