"""Every operation sends its exact method, path, query, headers and body, and returns its answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from decimal import Decimal
from typing import Any, NamedTuple

import pytest

from aisle.client import Client
from aisle.contract.operations import OPERATIONS
from aisle.contract.request_bodies.orders import (
    ClearanceRequest,
    CustomerOrderCreate,
    CustomerOrderLineCreate,
    CustomerOrdersRequest,
)
from aisle.contract.request_bodies.store_products_logs_movements import MovementEnd, MovementItem
from aisle.errors import ContractError
from tests.client.recording_service import Service, reply

API = "/api/v2/public"
ODD = "A/12 #50%é"
ODD_ENCODED = "A%2F12%20%2350%25%C3%A9"


DONE = {"success": True}


class Case(NamedTuple):
    """A call, and what it has to look like on the wire."""

    call: Callable[[Client], Awaitable[Any]]
    method: str
    target: str
    body: bytes = b""
    answer: Any = DONE
    headers: tuple[tuple[str, str], ...] = ()


ORDERS_PAGE = {"list": [], "page_size": 1, "page_start": 1, "total_count": 0}
ORDERS = CustomerOrdersRequest(
    orders=[
        CustomerOrderCreate(
            order_number="O-1",
            order_lines=[CustomerOrderLineCreate(line_number=1, product_number="P", quantity=Decimal("2.50"))],
        )
    ]
)

CASES: dict[str, Case] = {
    "list-customer-orders": Case(
        lambda c: c.call("list-customer-orders", store_number=ODD, is_active=False, page_size=20, page_start=2),
        "GET", f"{API}/stores/{ODD_ENCODED}/orders/customerorders?is_active=false&page_size=20&page_start=2",
        answer=ORDERS_PAGE,
    ),
    "create-customer-orders-one-store": Case(
        lambda c: c.call("create-customer-orders-one-store", ORDERS, store_number="7"),
        "POST", f"{API}/stores/7/orders/customerorders",
        b'{"orders":[{"order_number":"O-1","order_lines":[{"line_number":1,"product_number":"P","quantity":2.50}]}]}',
    ),
    "create-customer-orders-several-stores": Case(
        lambda c: c.call(
            "create-customer-orders-several-stores", {"orders": [{"order_number": "O", "store_number": "1"}]}
        ),
        "POST", f"{API}/orders/customerorders", b'{"orders":[{"order_number":"O","store_number":"1"}]}',
    ),
    "update-customer-order": Case(
        lambda c: c.call(
            "update-customer-order", {"orders": {"order_number": "Ö", "is_claimed": None}}, store_number=ODD
        ),
        "PUT", f"{API}/stores/{ODD_ENCODED}/orders/customerorder",
        '{"orders":{"order_number":"Ö","is_claimed":null}}'.encode(),
    ),
    "create-customer-order-clearance": Case(
        lambda c: c.call(
            "create-customer-order-clearance", ClearanceRequest(category_codes=["A"]), location_code_tag="x&y"
        ),
        "POST", f"{API}/customerorders/clearance?location_code_tag=x%26y", b'{"category_codes":["A"]}',
    ),
    "list-store-products-stock": Case(
        lambda c: c.call("list-store-products-stock", store_number="0042", from_id=5, include_locations=True),
        "GET", f"{API}/storeproducts/stock?store_number=0042&from_id=5&include_locations=true",
        answer={"list": []},
    ),
    "retrieve-store-product-stock": Case(
        lambda c: c.call(
            "retrieve-store-product-stock", store_number="7", product_number=ODD, include_zero_lines=False
        ),
        "GET", f"{API}/stores/7/products/{ODD_ENCODED}/stock?include_zero_lines=false", answer={},
    ),
    "retrieve-store-product-surrounding": Case(
        lambda c: c.call("retrieve-store-product-surrounding", store_number="7", product_number=ODD),
        "GET", f"{API}/stores/7/storeproducts/{ODD_ENCODED}/surrounding",
        answer=[{"is_warehouse": True, "most_likely_quantity": 2}],
    ),
    "update-store-products": Case(
        lambda c: c.call("update-store-products", [{"product_number": "P", "max": Decimal("10")}], store_number="7"),
        "PUT", f"{API}/stores/7/storeproducts", b'[{"product_number":"P","max":10}]',
    ),
    "create-store-products": Case(
        lambda c: c.call("create-store-products", {"store_products": [{"product_number": "P"}]}, store_number="7"),
        "POST", f"{API}/stores/7/storeproducts", b'{"store_products":[{"product_number":"P"}]}',
    ),
    "list-deliveries": Case(
        lambda c: c.call("list-deliveries", delivery_date="2026-01-31", is_submitted=True),
        "GET", f"{API}/orders/deliveries?delivery_date=2026-01-31&is_submitted=true", answer={"list": []},
    ),
    "create-store-deliveries": Case(
        lambda c: c.call("create-store-deliveries", {"orders": []}, store_number=ODD, container_override=True),
        "POST", f"{API}/stores/{ODD_ENCODED}/orders/deliveries", b'{"orders":[]}',
        headers=(("container_override", "true"),),
    ),
    "create-multi-store-deliveries": Case(
        lambda c: c.call("create-multi-store-deliveries", {"orders": []}, container_override=False),
        "POST", f"{API}/orders/deliveries", b'{"orders":[]}',
        headers=(("container_override", "false"),),
    ),
    "list-receipts": Case(
        lambda c: c.call("list-receipts", receipt_type=1, store_number="7", from_id=3),
        "GET", f"{API}/orders/receipts?receipt_type=1&from_id=3&store_number=7", answer={"list": []},
    ),
    "list-store-receipts": Case(
        lambda c: c.call("list-store-receipts", store_number=ODD, receipt_type=2),
        "GET", f"{API}/stores/{ODD_ENCODED}/orders/receipts?receipt_type=2", answer={"list": []},
    ),
    "list-locations": Case(
        lambda c: c.call(
            "list-locations",
            store_number="7", app_username="U 1", ignore_customerorder_stock=True, accept_language="nl",
        ),
        "GET", f"{API}/stores/7/locations?accept_language=nl&app_username=U%201&ignore_customerorder_stock=true",
        answer={"list": []},
    ),
    "list-location-products": Case(
        lambda c: c.call(
            "list-location-products",
            store_number="7", location_code=ODD, advance_search=True, **{"Accept-Language": "nl-NL"},
        ),
        "GET", f"{API}/stores/7/locations/{ODD_ENCODED}/products?advance_search=true", answer={"list": []},
        headers=(("Accept-Language", "nl-NL"),),
    ),
    "list-store-product-logs": Case(
        lambda c: c.call("list-store-product-logs", reference="R#1", is_historic=True, review_status=0),
        "GET", f"{API}/products/stock/storeproductlogs?is_historic=true&reference=R%231&review_status=0",
        answer={"list": []},
    ),
    "create-store-product-logs": Case(
        lambda c: c.call(
            "create-store-product-logs", {"storeproductlog": [{"counted_quantity": 3}]},
            store_number="7", appUserName="U1", is_counted_quantity=True,
        ),
        "POST", f"{API}/stores/7/products/stock/storeproductlogs?appUserName=U1&is_counted_quantity=true",
        b'{"storeproductlog":[{"counted_quantity":3}]}', {"data": [1, 2]},
    ),
    "list-stores": Case(
        lambda c: c.call("list-stores", page_size=50, page_start=2, is_warehouse=False, secondary_key="k"),
        "GET", f"{API}/stores?is_warehouse=false&page_size=50&page_start=2&secondary_key=k", answer={"list": []},
    ),
    "create-stores": Case(
        lambda c: c.call("create-stores", {"stores": []}), "POST", f"{API}/stores", b'{"stores":[]}', {"data": "1"},
    ),
    "create-or-update-products": Case(
        lambda c: c.call("create-or-update-products", {"products": [{"product_number": "P"}]}),
        "POST", f"{API}/products", b'{"products":[{"product_number":"P"}]}',
    ),
    "list-products": Case(
        lambda c: c.call("list-products", barcode="871", page_number=2, page_size=10),
        "GET", f"{API}/products?barcode=871&page_size=10&page_number=2",
        answer={"page_number": 2, "page_size": 10, "total_record_count": 0},
    ),
    "delete-products": Case(
        lambda c: c.call("delete-products", {"product_numbers": ["P"]}),
        "DELETE", f"{API}/products", b'{"product_numbers":["P"]}',
    ),
    "update-product-attributes": Case(
        lambda c: c.call("update-product-attributes", {"products": []}),
        "PUT", f"{API}/products/attributes", b'{"products":[]}', {"data": True},
    ),
    "create-prices": Case(
        lambda c: c.call("create-prices", {"products": []}), "POST", f"{API}/products/prices", b'{"products":[]}',
    ),
    "create-discount-prices": Case(
        lambda c: c.call("create-discount-prices", {"products": []}),
        "POST", f"{API}/products/discountprices", b'{"products":[]}',
    ),
    "create-product-free-fields": Case(
        lambda c: c.call("create-product-free-fields", {"products": []}),
        "POST", f"{API}/products/freefields", b'{"products":[]}',
    ),
    "create-movement": Case(
        lambda c: c.call(
            "create-movement",
            [MovementItem(to_location=MovementEnd(stock_pool=1), quantity=Decimal("1.50")), {"reason_code": "9"}],
            store_number=ODD, AppUserName="Zoë",
        ),
        "POST", f"{API}/stores/{ODD_ENCODED}/storeproductlocation/movement?AppUserName=Zo%C3%AB",
        b'[{"to_location":{"stock_pool":1},"quantity":1.50},{"reason_code":"9"}]',
    ),
}  # fmt: skip


def test_every_operation_has_a_case() -> None:
    assert set(CASES) == set(OPERATIONS)


@pytest.mark.parametrize("name", CASES)
async def test_an_operation_on_the_wire(name: str) -> None:
    case = CASES[name]
    service = Service(reply(body=case.answer))
    async with service.client() as client:
        result = await case.call(client)
    [sent] = service.sent
    assert (sent.method, sent.target, sent.body) == (case.method, case.target, case.body)
    assert sent.headers["authorization"] == "Bearer secret-token"
    assert sent.headers["accept"] == "application/json"
    assert sent.headers.get("content-type") == ("application/json" if case.body else None)
    for header, value in case.headers:
        assert sent.headers[header] == value
    assert result == case.answer


@pytest.mark.parametrize("name", [op.name for op in OPERATIONS.values() if op.write])
async def test_a_call_never_flushes(name: str) -> None:
    service = Service(reply())
    async with service.client() as client:
        with pytest.raises(ContractError, match="flush"):
            await client.call(name, {}, flush=True)
    assert service.sent == []


async def test_localised_calls_use_client_language() -> None:
    service = Service(reply(body={"list": [], "page_size": 1, "page_start": 1, "total_count": 0}))
    async with service.client(language="de") as client:
        await client.call("list-locations", store_number="7")
        await client.call("list-locations", store_number="7", accept_language="nl")
        await client.call("list-location-products", store_number="7", location_code="L")
        await client.call("list-location-products", store_number="7", location_code="L", **{"Accept-Language": "nl"})
        _ = [page async for page in client.pages("list-locations", path={"store_number": "7"})]
        await client.call("list-stores")
        await client.request("list-locations", path={"store_number": "7"})
    asked = [(sent.target.partition("?")[2], sent.headers.get("accept-language")) for sent in service.sent]
    german, dutch = ("accept_language=de", None), ("accept_language=nl", None)
    assert asked == [german, dutch, ("", "de"), ("", "nl"), (asked[4][0], None), ("", None), ("", None)]
    assert "accept_language=de" in asked[4][0]


@pytest.mark.parametrize(
    "call",
    [
        lambda c: c.call("list-locations", store_number=".."),
        lambda c: c.call("list-locations", store_number=""),
        lambda c: c.call("list-stores", secondary_key="k" * 501),
        lambda c: c.call("create-movement", [{"quantity": float("nan")}], store_number="7"),
        lambda c: c.call(
            "list-location-products", store_number="7", location_code="L", **{"Accept-Language": "nl\r\nX: 1"}
        ),
        lambda c: c.request("list-stores", query={"flush": True}),
        lambda c: c.request("list-store"),
        lambda c: c.request("create-movement", path={"store_number": "7"}, headers={"X": "a\nb"}),
        lambda c: c.request_extension("GET", "/api/v2/public/stores"),
        lambda c: c.request_extension("GET", "/aisle/v1/../stores"),
        lambda c: c.request_extension("GET", "/aisle/v1/people?role=admin"),
    ],
)
async def test_invalid_request_is_not_sent(call: Callable[[Client], Awaitable[Any]]) -> None:
    service = Service(reply())
    async with service.client() as client:
        with pytest.raises(ContractError):
            await call(client)
    assert service.sent == []
