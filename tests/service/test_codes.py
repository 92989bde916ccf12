"""Codes are text, whatever is in them: in paths, queries and bodies, of stores, places, products, orders, deliveries.

All stand beside each other in one store, each with a quantity of its own, so that none is taken for another.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from aisle.service.http.app import normalize_path
from tests.run_length import tries
from tests.service.world import API, LOGS, World, line_end, store_body

_ALWAYS = (
    "A/12",
    "A%2F12",
    "A%252F12",
    "a/../b",
    "..x",
    "a b",
    "a  b",
    "#",
    "a?b=c&d=e",
    "%",
    "\\",
    "' OR '1'='1",
    "x'; DROP TABLE store; --",
    "$1",
    "é",
    "e\u0301",
    "🧺",
    "\x1b[31mred",
    "*",
    "A" * 500,
    "🧺" * 500,
)
_FURTHER = (
    "../../etc/passwd",
    "...",
    "a+b",
    "a%20b",
    "#1",
    "a#b",
    "a;b",
    "_",
    "100%",
    "'",
    '"',
    '"); DELETE FROM leg; --',
    "?1",
    ":name",
    "NULL",
    "ß",
    "👩\u200d🏭",
    "\u202eabc",
    "[/b]",
    "a\nb",
    "a\tb",
    "0",
    "00",
    "-1",
    "1e3",
    "{store_number}",
    "A" * 499 + "/",
    "A" * 900,
)
CODES = (*_ALWAYS, *_FURTHER)[: tries(len(_ALWAYS), len(_ALWAYS) + len(_FURTHER))]


def segment(code: str) -> str:
    """A code as one segment of a path."""
    return quote(code, safe="")


def at(code: str) -> int:
    """The quantity that belongs to this code alone."""
    return 1 + CODES.index(code)


def entry(code: str, **fields: Any) -> dict[str, Any]:
    return {"product_number": "P1", "quantity": at(code), **fields}


async def written(world: World, entries: list[dict[str, Any]], **query: Any) -> None:
    await world.post(LOGS, {"storeproductlog": entries}, query=query)


async def test_of_places(world: World) -> None:
    places = [{"store_number": "S1", "location_code": code} for code in CODES]
    await world.post("/aisle/v1/locations", {"locations": places})
    await written(world, [entry(code, location_code=code) for code in CODES], is_counted_quantity=True)
    listed = await world.rows("/stores/S1/locations", page_size=1000)
    assert set(CODES) <= {row["location_code"] for row in listed}
    for code in CODES:
        [row] = await world.rows(f"/stores/S1/locations/{segment(code)}/products")
        assert row["quantity"] == at(code)
    await world.order("O1", *({"product_number": "P1", "quantity": 1} for _ in CODES))
    for line, code in enumerate(CODES, 1):
        await world.move("P1", 1, code, line_end("O1", line, code))
    lines = (await world.see("O1"))["lines"]
    free = [row for row in lines[0]["store_locations"] if "customer_order_number" not in row]
    assert {row["location_code"]: row["quantity"] for row in free} == {code: at(code) - 1 for code in CODES[1:]}
    logs = await world.rows("/products/stock/storeproductlogs", store_number="S1", page_size=1000)
    assert [row["location_code"] for row in logs if row["source"] == "count"] == list(CODES)


async def test_of_products(world: World) -> None:
    products = [{"product_number": code, "product_name": code, "barcode": code.strip()} for code in CODES]
    await world.post("/products", {"products": products})
    await written(world, [entry(code, product_number=code) for code in CODES])
    for code in CODES:
        one = await world.get(f"/stores/S1/products/{segment(code)}/stock")
        assert one["products"][0]["product_number"] == code
        assert one["products"][0]["most_likely_stock"] == at(code)
        await world.get(f"/stores/S1/storeproducts/{segment(code)}/surrounding")
        [row] = await world.rows("/storeproducts/stock", store_number="S1", product_number=code)
        assert (row["product_number"], row["most_likely_quantity"]) == (code, at(code))
        found = (await world.get("/products", product_number=code))["records"]
        assert [row["product_name"] for row in found] == [code]
    await world.order("O1", *({"product_number": code, "quantity": 1} for code in CODES))
    for line, code in enumerate(CODES, 1):
        await world.pick("O1", line, code, 1)
    assert [line["product_number"] for line in (await world.see("O1"))["lines"]] == list(CODES)
    await world.update("O1", is_active=False)
    await written(world, [entry(code, product_number=code, quantity=1 - at(code)) for code in CODES if at(code) > 1])
    gone = await world.send("DELETE", "/products", {"product_numbers": list(CODES)})
    assert gone.status_code == 200, gone.text
    kept = (await world.get("/products", page_size=1000))["records"]
    assert {row["product_number"] for row in kept} == {"P1", "P2", "P3", "KG", "FEE"}


async def test_of_orders_and_deliveries(world: World) -> None:
    for code in CODES:
        await world.order(code, {"product_number": "P1", "quantity": at(code)}, reference=code)
    for code in CODES:
        await world.pick(code, 1, "P1", at(code))
        [row] = await world.rows("/stores/S1/orders/customerorders", order_number=code, show_lines=True)
        assert (row["order_number"], row["lines"][0]["picked_quantity"]) == (code, at(code))
        found = await world.rows("/stores/S1/orders/customerorders", reference=code)
        assert [row["order_number"] for row in found] == [code]
        await world.move("P1", at(code), line_end(code, 1), line_end(code, 1, "DESK"))
    held = {key[3]: amount for key, amount in world.books().items() if len(key) == 5}
    assert held == {code: at(code) for code in CODES}
    told = await world.get("/aisle/v1/stores/S1/changes", since=0, limit=1000)
    assert set(CODES) <= {change["key"] for change in told["changes"] if change["topic"] == "order"}
    for code in CODES:
        await world.update(code, is_active=False)
        line = {"product_number": "P2", "quantity": at(code)}
        delivery = {"order_number": code, "no_of_containers": 1, "supplier_name": code, "order_lines": [line]}
        await world.post("/stores/S1/orders/deliveries", {"orders": [delivery]})
    receipts = [entry(code, product_number="P2", reference=code) for code in CODES]
    await written(world, receipts, is_from_receipt=True)
    for code in CODES:
        [row] = await world.rows("/orders/deliveries", store_number="S1", order_number=code)
        assert (row["order_number"], row["status"], row["supplier_name"]) == (code, "received", code)
        logs = await world.rows("/products/stock/storeproductlogs", store_number="S1", reference=code)
        assert [log["quantity"] for log in logs if log["source"] == "receipt"] == [at(code)]


async def test_of_stores_and_people(world: World) -> None:
    bodies: list[dict[str, Any]] = [store_body(code) for code in CODES if code != "*"]
    await world.post("/stores", {"stores": bodies})
    for code in [body["store_number"] for body in bodies]:
        place = {"store_number": code, "location_code": code}
        await world.post("/aisle/v1/locations", {"locations": [place]})
        assert [row["location_code"] for row in await world.rows(f"/stores/{segment(code)}/locations")] == [code]
        who = {"badge": code, "user": code, "name": code}
        await world.post(f"/aisle/v1/stores/{segment(code)}/people", {"people": [who]})
        [person] = (await world.get(f"/aisle/v1/stores/{segment(code)}/people"))["people"]
        assert (person["badge"], person["user"], person["name"]) == (code, code, code)
        async with world.client_for("staff", [code]) as client:
            answer = await world.send("GET", "/stores", client=client)
            assert [row["storeNo"] for row in answer.json()["list"]] == [code]


ORDER_LINE = {"line_number": 1, "product_number": "P1", "quantity": 1}
CREATED = [
    ("/products", "products", "product_number", {}),
    ("/stores", "stores", "store_number", store_body("")),
    ("/stores/S1/orders/customerorders", "orders", "order_number", {"order_lines": [ORDER_LINE]}),
    ("/stores/S1/orders/deliveries", "orders", "order_number", {"no_of_containers": 1, "order_lines": [ORDER_LINE]}),
    ("/aisle/v1/locations", "locations", "location_code", {"store_number": "S1"}),
    ("/aisle/v1/stores/S1/people", "people", "badge", {"user": "U", "name": "N"}),
    ("/aisle/v1/stores/S1/people", "people", "user", {"badge": "B", "name": "N"}),
]
ENDS = ["X ", " X", "X\u00a0", "\tX", "X\n", "\u202fX", "X\u3000", "\ufeffX", "X\u200b", "X \u2060"]


@pytest.mark.parametrize(("path", "array", "name", "body"), CREATED)
async def test_new_keys_with_blanks_at_their_ends_are_refused(
    path: str, array: str, name: str, body: dict[str, Any], world: World
) -> None:
    for key in ENDS:
        answer = await world.post(path, {array: [{**body, name: key}]}, 422)
        assert answer["message"].endswith("has blanks at its ends; send 'X'.")
        assert answer["errors"][0]["field"].endswith(name)
    for key in ("X", "x", "0X", "X X"):
        other = {"badge": f"B{key}", "user": f"U{key}"} if array == "people" else {}
        await world.post(path, {array: [{**body, **other, name: key}]})


def test_a_code_is_one_segment() -> None:
    for code in CODES:
        path = f"{API}/stores/S1/locations/{segment(code)}/products"
        assert normalize_path({"raw_path": path.encode(), "path": path}).split("/") == path.split("/")
