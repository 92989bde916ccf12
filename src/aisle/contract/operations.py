"""Operations of the interface, and its extensions (README: Extensions), as plain tuples that load fast."""

from __future__ import annotations

from typing import Literal, NamedTuple

ParamLocation = Literal["path", "query", "header"]
WireType = Literal["string", "number", "boolean"]
Paging = Literal["envelope", "reduced", "products"]


class Param(NamedTuple):
    """Parameter of an operation, with the interface's spelling of its name."""

    name: str
    where: ParamLocation
    type: WireType = "string"
    required: bool = False
    max_length: int | None = None
    assumed: bool = False


class Operation(NamedTuple):
    """Operation of the interface.

    `body` names a type of `aisle.contract.request_bodies`, `result` a shape of answers.json; `body_array` and
    `result_array` are True if the JSON is a bare array of them. `assumed` names parts that the interface does not show
    and that aisle defines: "params", "body".
    """

    name: str
    area: str
    method: str
    path: str
    params: tuple[Param, ...]
    body: str | None
    body_array: bool
    result: str
    result_array: bool
    paging: Paging | None
    write: bool
    success_required: bool
    assumed: tuple[str, ...]

    def params_in(self, where: ParamLocation) -> tuple[Param, ...]:
        """Return the parameters in `where`, in the interface's order."""
        return tuple(param for param in self.params if param.where == where)


BASE_PATH = "/api/v2/public"
_STORE_PATH = BASE_PATH + "/stores/{store_number}"
_TYPE_LETTERS: dict[str, WireType] = {"": "string", "n": "number", "b": "boolean"}


def _parse_param(spec: str, where: ParamLocation, *, assumed: bool = False) -> Param:
    """Parse `name:b!<=9`: the type's letter (n is a number, b a boolean), required, and the maximum length."""
    spec, _, limit = spec.partition("<=")
    required = spec.endswith("!")
    name, _, short = spec.rstrip("!").partition(":")
    return Param(name, where, _TYPE_LETTERS[short], required, int(limit) if limit else None, assumed)


def _path_params(path: str) -> list[Param]:
    """Return the parameters in a path."""
    return [Param(part[1:-1], "path", "string", True) for part in path.split("/") if part.startswith("{")]


def define(
    name: str,
    area: str,
    method: str,
    path: str,
    result: str,
    *,
    query: str = "",
    header: str = "",
    body: str | None = None,
    paging: Paging | None = None,
    assumed: tuple[str, ...] = (),
) -> Operation:
    """Define an operation; `query` and `header` are in the form of `_parse_param`, `[]` marks a bare array."""
    are_params_assumed = "params" in assumed
    params = _path_params(path)
    params += [_parse_param(spec, "query", assumed=are_params_assumed) for spec in query.split()]
    params += [_parse_param(spec, "header", assumed=are_params_assumed) for spec in header.split()]
    return Operation(
        name=name,
        area=area,
        method=method,
        path=path,
        params=tuple(params),
        body=body.removesuffix("[]") if body else None,
        body_array=bool(body and body.endswith("[]")),
        result=result.removesuffix("[]"),
        result_array=result.endswith("[]"),
        paging=paging,
        write=method != "GET",
        success_required=result == "ConfirmedResult",
        assumed=assumed,
    )


_ORDERS = "Customer orders"
_STORE_PRODUCTS = "Store products"
_DELIVERIES = "Deliveries"
_RECEIPTS = "Receipts"
_LOCATIONS = "Locations"
_LOGS = "Store product logs"
_STORES = "Stores"
_PRODUCTS = "Products"
_MOVEMENT = "Movement"

_DEFINITIONS = (
    define(
        "list-customer-orders", _ORDERS, "GET", _STORE_PATH + "/orders/customerorders", "CustomerOrderList",
        query="fulfillment_status include_locations:b is_active:b is_picked:b order_number page_size:n page_start:n"
        " pickup_offset:n reference search_text show_lines:b",
        paging="envelope",
    ),
    define(
        "create-customer-orders-one-store", _ORDERS, "POST", _STORE_PATH + "/orders/customerorders", "ConfirmedResult",
        query="flush:b", body="CustomerOrdersRequest",
    ),
    define(
        "create-customer-orders-several-stores", _ORDERS, "POST", BASE_PATH + "/orders/customerorders",
        "ConfirmedResult",
        query="flush:b", body="MultiStoreCustomerOrdersRequest",
    ),
    define(
        "update-customer-order", _ORDERS, "PUT", _STORE_PATH + "/orders/customerorder", "ConfirmedResult",
        body="CustomerOrderUpdateRequest",
    ),
    define(
        "create-customer-order-clearance", _ORDERS, "POST", BASE_PATH + "/customerorders/clearance", "ConfirmedResult",
        query="location_code_tag!", body="ClearanceRequest",
    ),
    define(
        "list-store-products-stock", _STORE_PRODUCTS, "GET", BASE_PATH + "/storeproducts/stock",
        "StoreProductStockList",
        query="article_no barcode category_code parent_category_code product_number store_number"
        " exclude_customer_order_stock:b from_id:n to_id:n include_locations:b last_modified_date"
        " last_stock_modified_datetime page_size:n page_start:n search_text",
        paging="envelope",
    ),
    define(
        "retrieve-store-product-stock", _STORE_PRODUCTS, "GET", _STORE_PATH + "/products/{product_number}/stock",
        "ProductStockResult",
        query="exclude_customer_order_stock:b include_locations:b include_zero_lines:b",
    ),
    define(
        "retrieve-store-product-surrounding", _STORE_PRODUCTS, "GET",
        _STORE_PATH + "/storeproducts/{product_number}/surrounding", "SurroundingStock[]",
    ),
    define(
        "update-store-products", _STORE_PRODUCTS, "PUT", _STORE_PATH + "/storeproducts", "StandardResult",
        body="StoreProductUpdate[]",
    ),
    define(
        "create-store-products", _STORE_PRODUCTS, "POST", _STORE_PATH + "/storeproducts", "StandardResult",
        body="StoreProductsRequest", assumed=("body",),
    ),
    define(
        "list-deliveries", _DELIVERIES, "GET", BASE_PATH + "/orders/deliveries", "DeliveryList",
        query="delivery_date group_code last_modified_date order_number status store_number supplier_code supplier_name"
        " is_submitted:b page_size:n page_start:n",
        paging="envelope",
    ),
    define(
        "create-store-deliveries", _DELIVERIES, "POST", _STORE_PATH + "/orders/deliveries", "StandardResult",
        header="container_override:b", body="StoreDeliveriesRequest",
    ),
    define(
        "create-multi-store-deliveries", _DELIVERIES, "POST", BASE_PATH + "/orders/deliveries", "StandardResult",
        header="container_override:b", body="MultiStoreDeliveriesRequest",
    ),
    define(
        "list-receipts", _RECEIPTS, "GET", BASE_PATH + "/orders/receipts", "ReceiptList",
        query="receipt_type:n! from_id:n to_id:n is_submitted:b last_modified_date order_number store_number"
        " page_size:n page_start:n",
        paging="reduced",
    ),
    define(
        "list-store-receipts", _RECEIPTS, "GET", _STORE_PATH + "/orders/receipts", "ReceiptList",
        query="receipt_type:n! from_id:n to_id:n is_submitted:b last_modified_date order_number page_size:n"
        " page_start:n",
        paging="reduced",
    ),
    define(
        "list-locations", _LOCATIONS, "GET", _STORE_PATH + "/locations", "LocationList",
        query="accept_language app_username ignore_customerorder_stock:b page_size:n page_start:n search_text",
        paging="envelope",
    ),
    define(
        "list-location-products", _LOCATIONS, "GET", _STORE_PATH + "/locations/{location_code}/products",
        "LocationProductList",
        query="advance_search:b customer_order_number customer_order_shipment_number page_size:n page_start:n"
        " search_text",
        header="Accept-Language", paging="envelope",
    ),
    define(
        "list-store-product-logs", _LOGS, "GET", BASE_PATH + "/products/stock/storeproductlogs", "StoreProductLogList",
        query="article_number from_id:n to_id:n is_historic:b is_reviewed:b last_modified_date to_modified_date"
        " page_size:n page_start:n reason_code:n reference review_status:n store_number",
        paging="envelope",
    ),
    define(
        "create-store-product-logs", _LOGS, "POST", _STORE_PATH + "/products/stock/storeproductlogs", "LogResult",
        query="appUserName is_counted_quantity:b is_from_receipt:b", body="StoreProductLogsRequest",
    ),
    define(
        "list-stores", _STORES, "GET", BASE_PATH + "/stores", "StoreList",
        query="is_warehouse:b page_size page_start search_text secondary_key<=500", paging="envelope",
    ),
    define(
        "create-stores", _STORES, "POST", BASE_PATH + "/stores", "StandardResult",
        query="flush:b", body="StoresRequest",
    ),
    define(
        "create-or-update-products", _PRODUCTS, "POST", BASE_PATH + "/products", "ConfirmedResult",
        body="ProductsRequest", assumed=("body",),
    ),
    define(
        "list-products", _PRODUCTS, "GET", BASE_PATH + "/products", "ProductList",
        query="product_number barcode search_text category_code is_active:b last_modified_date store_number page_size:n"
        " page_number:n page_start:n",
        paging="products", assumed=("params",),
    ),
    define(
        "delete-products", _PRODUCTS, "DELETE", BASE_PATH + "/products", "ConfirmedResult",
        body="DeleteProductsRequest", assumed=("params", "body"),
    ),
    define(
        "update-product-attributes", _PRODUCTS, "PUT", BASE_PATH + "/products/attributes", "AttributeResult",
        body="ProductAttributesRequest", assumed=("body",),
    ),
    define(
        "create-prices", _PRODUCTS, "POST", BASE_PATH + "/products/prices", "ConfirmedResult",
        body="PricesRequest", assumed=("body",),
    ),
    define(
        "create-discount-prices", _PRODUCTS, "POST", BASE_PATH + "/products/discountprices", "ConfirmedResult",
        body="DiscountPricesRequest", assumed=("body",),
    ),
    define(
        "create-product-free-fields", _PRODUCTS, "POST", BASE_PATH + "/products/freefields", "ConfirmedResult",
        body="ProductFreeFieldsRequest", assumed=("body",),
    ),
    define(
        "create-movement", _MOVEMENT, "POST", _STORE_PATH + "/storeproductlocation/movement", "StandardResult",
        query="AppUserName", body="MovementItem[]",
    ),
)  # fmt: skip

OPERATIONS: dict[str, Operation] = {row.name: row for row in _DEFINITIONS}


EXTENSION_AREA = "aisle"
SIGN_IN_CHANNEL_HEADER = "Aisle-Door"
"""Header with the channel of a sign-in."""
SCROLL_PARAM = Param("scroll_id", "query", "string", max_length=2000, assumed=True)
"""Parameter of every list with the common envelope, beside those of the document."""

_EXTENSION_STORE_PATH = "/aisle/v1/stores/{store_number}"
_PAGE_QUERY = "after:n limit:n"
_AUDIT_QUERY = _PAGE_QUERY + " last_modified_date subject key"


def _define(name: str, method: str, path: str, body: str | None = None, query: str = "", header: str = "") -> Operation:
    return define(name, EXTENSION_AREA, method, path, "StandardResult", query=query, header=header, body=body)


_EXTENSION_DEFINITIONS = (
    _define("retrieve-store", "GET", _EXTENSION_STORE_PATH),
    _define("review-logs", "POST", _EXTENSION_STORE_PATH + "/reviews", "ReviewsRequest"),
    _define("write-locations", "POST", "/aisle/v1/locations", "LocationsRequest"),
    _define("list-people", "GET", _EXTENSION_STORE_PATH + "/people", query="after_user limit:n"),
    _define("write-people", "POST", _EXTENSION_STORE_PATH + "/people", "PeopleRequest"),
    _define("sign-in", "POST", "/aisle/v1/sign-in", "SignInRequest", header=SIGN_IN_CHANNEL_HEADER),
    _define("list-recounts", "GET", _EXTENSION_STORE_PATH + "/recounts", query="state " + _PAGE_QUERY),
    _define("write-recounts", "POST", _EXTENSION_STORE_PATH + "/recounts", "RecountsRequest"),
    _define("reject-lines", "POST", _EXTENSION_STORE_PATH + "/line-rejections", "LineRejectionsRequest"),
    _define("list-changes", "GET", _EXTENSION_STORE_PATH + "/changes", query="since:n limit:n mark known<=4000"),
    _define("list-unknown-keys", "GET", _EXTENSION_STORE_PATH + "/keys", query="keys<=16384"),
    _define("list-named-orders", "GET", _EXTENSION_STORE_PATH + "/orders", query="numbers<=16384"),
    _define("retrieve-log-entry", "GET", _EXTENSION_STORE_PATH + "/logs", query="id:n!"),
    _define("mark-deliveries", "POST", _EXTENSION_STORE_PATH + "/deliveries", "DeliveryMarksRequest"),
    _define("list-put-backs", "GET", _EXTENSION_STORE_PATH + "/put-backs", query=_PAGE_QUERY),
    _define("list-assignments", "GET", _EXTENSION_STORE_PATH + "/assignments", query=_PAGE_QUERY),
    _define("list-tokens", "GET", "/aisle/v1/tokens"),
    _define("create-token", "POST", "/aisle/v1/tokens", "TokenRequest"),
    _define("revoke-token", "POST", "/aisle/v1/token-revocations", "TokenRevokeRequest"),
    _define("list-audit", "GET", _EXTENSION_STORE_PATH + "/audit", query=_AUDIT_QUERY),
    _define("list-chain-audit", "GET", "/aisle/v1/audit", query=_AUDIT_QUERY),
)

EXTENSIONS: dict[str, Operation] = {extension.name: extension for extension in _EXTENSION_DEFINITIONS}
