"""What holds of bodies, whichever operation brings them."""

from __future__ import annotations

from typing import Any

import pytest

from aisle.contract.operations import OPERATIONS
from aisle.service.http.request_body import PRICE_FIELDS
from tests.service.fields import documented
from tests.service.world import World

REQUIRED: dict[str, Any] = {"location_code_tag": "shelf"}
"""Parameters that operations with a body need."""

LINE = {"line_number": 1, "product_number": "P1", "quantity": 2}
ORDER = {"order_number": "O1", "order_lines": [LINE]}
DELIVERY = {"order_number": "D1", "no_of_containers": 1, "order_lines": [LINE]}
SEVERAL = {"store_number": "S1", "supplier_name": "Supplier"}
PRICED: dict[str, tuple[str, Any]] = {
    "create-customer-orders-one-store": ("orders[0].order_lines[0].", {"orders": [ORDER]}),
    "create-customer-orders-several-stores": (
        "orders[0].order_lines[0].",
        {"orders": [ORDER | {"store_number": "S1"}]},
    ),
    "update-customer-order": ("orders.order_lines[0].", {"orders": ORDER}),
    "update-store-products": ("[0].", [{"product_number": "P1"}]),
    "create-store-products": ("store_products[0].", {"store_products": [{"product_number": "P1"}]}),
    "create-store-deliveries": ("orders[0].order_lines[0].", {"orders": [DELIVERY]}),
    "create-or-update-products": ("products[0].", {"products": [{"product_number": "P1"}]}),
    "create-prices": ("products[0].", {"products": [{"product_number": "P1", "price": 1}]}),
    "create-discount-prices": ("products[0].", {"products": [{"product_number": "P1", "discount_price": 1}]}),
}


def prices(name: str) -> set[str]:
    """The prices in an operation's body."""
    return {leaf.rpartition(".")[2] for leaf in documented(name)} & PRICE_FIELDS


def put(body: Any, where: str, name: str, value: object) -> Any:
    """The body with a price at its place."""
    if isinstance(body, list):
        return [put(body[0], where, name, value)]
    part, _, rest = where.removeprefix("[0].").partition(".")
    if not part:
        return body | {name: value}
    part = part.removesuffix("[0]")
    return body | {part: put(body[part], rest, name, value)}


def test_every_body_with_a_price_is_here_and_no_price_has_another_name() -> None:
    bodies = [name for name, row in OPERATIONS.items() if row.body]
    assert {name for name in bodies if prices(name)} == set(PRICED)
    named = {leaf.rpartition(".")[2] for name in bodies for leaf in documented(name) if "price" in leaf}
    others = {"price_compare_multiplier", "price_compare_unit", "price_line_id", "price_lines", "shelf_label_price"}
    assert named == PRICE_FIELDS | others


@pytest.mark.parametrize(
    ("name", "price"),
    [
        pytest.param(name, price, marks=pytest.mark.drawn if name == "update-customer-order" else ())
        for name in PRICED
        for price in sorted(prices(name))
    ],
)
async def test_no_price_is_below_zero(world: World, name: str, price: str) -> None:
    where, body = PRICED[name]
    if name == "update-customer-order":
        await world.order("O1", LINE)
    row = OPERATIONS[name]
    path = row.path.removeprefix("/api/v2/public").replace("{store_number}", "S1")
    for value in (-1, -0.001):
        answer = await world.send(row.method, path, put(body, where, price, value))
        assert answer.status_code == 422, answer.text
        assert answer.json()["errors"] == [{"field": where + price, "message": "A price is not below zero."}]
    answer = await world.send(row.method, path, put(body, where, price, 0))
    assert answer.status_code == 200, answer.text


UNIT = {"unit_quantity": -6, "unit_barcode": "1"}


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/products", {"products": [{"product_number": "P1", "edit_min_max_percentage": -1}]}, "products[0]"),
        ("/products", {"products": [{"product_number": "P1", "purchase_unit_quantity": -1}]}, "products[0]"),
        ("/products", {"products": [{"product_number": "P1", "units": [UNIT]}]}, "products[0].units[0]"),
        ("/stores/S1/orders/deliveries", {"orders": [DELIVERY | {"no_of_containers": -1}]}, "orders[0]"),
    ],
)
async def test_calculated_fields_refuse_negative_values(world: World, path: str, body: Any, field: str) -> None:
    answer = await world.post(path, body, 422)
    assert answer["detail"] == "Write 0 or more."
    assert answer["errors"][0]["field"].rpartition(".")[0] == field


async def test_a_price_below_zero_refuses_the_whole_request(world: World) -> None:
    said = [{"product_number": "P2", "price": 9}, {"product_number": "P3", "price": -1}]
    answer = await world.send("PUT", "/stores/S1/storeproducts", said)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "[1].price")
    assert not await world.rows("/storeproducts/stock", store_number="S1")


@pytest.mark.parametrize("content", [b"", b" \n"])
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.drawn if name == "update-store-products" else ())
        for name, row in OPERATIONS.items()
        if row.body
    ],
)
async def test_a_body_that_is_not_there_is_an_object_without_fields(world: World, name: str, content: bytes) -> None:
    row = OPERATIONS[name]
    path = row.path.replace("{store_number}", "S1")
    query = {param.name: REQUIRED[param.name] for param in row.params_in("query") if param.required}
    answers = [
        await world.client.request(row.method, path, params=query, content=sent)
        for sent in (content, b"{}" if not row.body_array else b"[]")
    ]
    if row.body_array:
        assert [answer.status_code for answer in answers] == [400, 200]
        assert answers[0].json()["detail"] == "There is no body; a list is wanted, in brackets: […]."
    else:
        assert answers[0].status_code == (400 if name == "delete-products" else 200), answers[0].text
        assert answers[0].json() == answers[1].json()


@pytest.mark.parametrize("path", ["/stores/S1/orders/customerorders", "/orders/customerorders", "/stores"])
async def test_flush_needs_a_body(world: World, path: str) -> None:
    await world.order("O1", {"product_number": "P1", "quantity": 1})
    answer = await world.send("POST", path, query={"flush": True})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "body")
    assert len(await world.rows("/stores/S1/orders/customerorders")) == 1
    assert len(await world.rows("/stores")) == 4
