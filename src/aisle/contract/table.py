"""The 29 operations of the interface, as data, in the document's order (interface: Endpoints).

Parameters are written short: `name` is a string, `name:n` a number, `name:b` a boolean, `!` means required, `<=500`
limits the length. Requests that the document does not show are marked `assumed`.
"""

from __future__ import annotations

from aisle.contract.operation import Operation, Paging, Param, Where, WireType

BASE = "/api/v2/public"
_STORE = BASE + "/stores/{store_number}"
_TYPES: dict[str, WireType] = {"": "string", "n": "number", "b": "boolean"}


def _param(spec: str, where: Where, assumed: bool) -> Param:
    spec, _, limit = spec.partition("<=")
    required = spec.endswith("!")
    name, _, short = spec.rstrip("!").partition(":")
    return Param(name, where, _TYPES[short], required, int(limit) if limit else None, assumed)


def _path_params(path: str) -> list[Param]:
    return [Param(part[1:-1], "path", "string", True) for part in path.split("/") if part.startswith("{")]


def _operation(
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
    guess = "params" in assumed
    params = _path_params(path)
    params += [_param(spec, "query", guess) for spec in query.split()]
    params += [_param(spec, "header", guess) for spec in header.split()]
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

_ROWS = (
    _operation(
        "list-customer-orders", _ORDERS, "GET", _STORE + "/orders/customerorders", "CustomerOrderList",
        query="fulfillment_status include_locations:b is_active:b is_picked:b order_number page_size:n page_start:n"
        " pickup_offset:n reference search_text show_lines:b",
        paging="envelope",
    ),
    _operation(
        "create-customer-orders-one-store", _ORDERS, "POST", _STORE + "/orders/customerorders", "ConfirmedResult",
        query="flush:b", body="CustomerOrdersRequest",
    ),
    _operation(
        "create-customer-orders-several-stores", _ORDERS, "POST", BASE + "/orders/customerorders", "ConfirmedResult",
        query="flush:b", body="MultiStoreCustomerOrdersRequest",
    ),
    _operation(
        "update-customer-order", _ORDERS, "PUT", _STORE + "/orders/customerorder", "ConfirmedResult",
        body="CustomerOrderUpdateRequest",
    ),
    _operation(
        "create-customer-order-clearance", _ORDERS, "POST", BASE + "/customerorders/clearance", "ConfirmedResult",
        query="location_code_tag!", body="ClearanceRequest",
    ),
    _operation(
        "list-store-products-stock", _STORE_PRODUCTS, "GET", BASE + "/storeproducts/stock", "StoreProductStockList",
        query="article_no barcode category_code parent_category_code product_number store_number"
        " exclude_customer_order_stock:b from_id:n to_id:n include_locations:b last_modified_date"
        " last_stock_modified_datetime page_size:n page_start:n search_text",
        paging="envelope",
    ),
    _operation(
        "retrieve-store-product-stock", _STORE_PRODUCTS, "GET", _STORE + "/products/{product_number}/stock",
        "ProductStockResult",
        query="exclude_customer_order_stock:b include_locations:b include_zero_lines:b",
    ),
    _operation(
        "retrieve-store-product-surrounding", _STORE_PRODUCTS, "GET",
        _STORE + "/storeproducts/{product_number}/surrounding", "SurroundingStock[]",
    ),
    _operation(
        "update-store-products", _STORE_PRODUCTS, "PUT", _STORE + "/storeproducts", "StandardResult",
        body="StoreProductUpdate[]",
    ),
    _operation(
        "create-store-products", _STORE_PRODUCTS, "POST", _STORE + "/storeproducts", "StandardResult",
        body="StoreProductsRequest", assumed=("body",),
    ),
    _operation(
        "list-deliveries", _DELIVERIES, "GET", BASE + "/orders/deliveries", "DeliveryList",
        query="delivery_date group_code last_modified_date order_number status store_number supplier_code supplier_name"
        " is_submitted:b page_size:n page_start:n",
        paging="envelope",
    ),
    _operation(
        "create-store-deliveries", _DELIVERIES, "POST", _STORE + "/orders/deliveries", "StandardResult",
        header="container_override:b", body="StoreDeliveriesRequest",
    ),
    _operation(
        "create-multi-store-deliveries", _DELIVERIES, "POST", BASE + "/orders/deliveries", "StandardResult",
        header="container_override:b", body="MultiStoreDeliveriesRequest",
    ),
    _operation(
        "list-receipts", _RECEIPTS, "GET", BASE + "/orders/receipts", "ReceiptList",
        query="receipt_type:n! from_id:n to_id:n is_submitted:b last_modified_date order_number store_number"
        " page_size:n page_start:n",
        paging="reduced",
    ),
    _operation(
        "list-store-receipts", _RECEIPTS, "GET", _STORE + "/orders/receipts", "ReceiptList",
        query="receipt_type:n! from_id:n to_id:n is_submitted:b last_modified_date order_number page_size:n"
        " page_start:n",
        paging="reduced",
    ),
    _operation(
        "list-locations", _LOCATIONS, "GET", _STORE + "/locations", "LocationList",
        query="accept_language app_username ignore_customerorder_stock:b page_size:n page_start:n search_text",
        paging="envelope",
    ),
    _operation(
        "list-location-products", _LOCATIONS, "GET", _STORE + "/locations/{location_code}/products",
        "LocationProductList",
        query="advance_search:b customer_order_number customer_order_shipment_number page_size:n page_start:n"
        " search_text",
        header="Accept-Language", paging="envelope",
    ),
    _operation(
        "list-store-product-logs", _LOGS, "GET", BASE + "/products/stock/storeproductlogs", "StoreProductLogList",
        query="article_number from_id:n to_id:n is_historic:b is_reviewed:b last_modified_date to_modified_date"
        " page_size:n page_start:n reason_code:n reference review_status:n store_number",
        paging="envelope",
    ),
    _operation(
        "create-store-product-logs", _LOGS, "POST", _STORE + "/products/stock/storeproductlogs", "LogResult",
        query="appUserName is_counted_quantity:b is_from_receipt:b", body="StoreProductLogsRequest",
    ),
    _operation(
        "list-stores", _STORES, "GET", BASE + "/stores", "StoreList",
        query="is_warehouse:b page_size page_start search_text secondary_key<=500", paging="envelope",
    ),
    _operation(
        "create-stores", _STORES, "POST", BASE + "/stores", "StandardResult",
        query="flush:b", body="StoresRequest",
    ),
    _operation(
        "create-or-update-products", _PRODUCTS, "POST", BASE + "/products", "ConfirmedResult",
        body="ProductsRequest", assumed=("body",),
    ),
    _operation(
        "list-products", _PRODUCTS, "GET", BASE + "/products", "ProductList",
        query="product_number barcode search_text category_code is_active:b last_modified_date store_number page_size:n"
        " page_number:n page_start:n",
        paging="products", assumed=("params",),
    ),
    _operation(
        "delete-products", _PRODUCTS, "DELETE", BASE + "/products", "ConfirmedResult",
        body="DeleteProductsRequest", assumed=("params", "body"),
    ),
    _operation(
        "update-product-attributes", _PRODUCTS, "PUT", BASE + "/products/attributes", "AttributeResult",
        body="ProductAttributesRequest", assumed=("body",),
    ),
    _operation(
        "create-prices", _PRODUCTS, "POST", BASE + "/products/prices", "ConfirmedResult",
        body="PricesRequest", assumed=("body",),
    ),
    _operation(
        "create-discount-prices", _PRODUCTS, "POST", BASE + "/products/discountprices", "ConfirmedResult",
        body="DiscountPricesRequest", assumed=("body",),
    ),
    _operation(
        "create-product-free-fields", _PRODUCTS, "POST", BASE + "/products/freefields", "ConfirmedResult",
        body="ProductFreeFieldsRequest", assumed=("body",),
    ),
    _operation(
        "create-movement", _MOVEMENT, "POST", _STORE + "/storeproductlocation/movement", "StandardResult",
        query="AppUserName", body="MovementItem[]",
    ),
)  # fmt: skip

OPERATIONS: dict[str, Operation] = {row.name: row for row in _ROWS}
