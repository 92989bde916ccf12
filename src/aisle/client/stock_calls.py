"""Typed calls of stock, locations and logs. Each raises the errors listed in `client.errors`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aisle.client.base import BaseClient

if TYPE_CHECKING:
    from aisle.client.body_types import Body, Items, QueryNumber
    from aisle.contract.models.base import StandardResult
    from aisle.contract.models.stock import (
        LocationList,
        LocationProductList,
        LogResult,
        MovementItem,
        ProductStockResult,
        StoreProductLogList,
        StoreProductLogsRequest,
        StoreProductsRequest,
        StoreProductStockList,
        StoreProductUpdate,
        SurroundingStock,
    )


class StoreProductCalls(BaseClient):
    """Stock of store products and their settings (interface: Endpoints)."""

    async def list_store_products_stock(
        self,
        *,
        article_no: str | None = None,
        barcode: str | None = None,
        category_code: str | None = None,
        parent_category_code: str | None = None,
        product_number: str | None = None,
        store_number: str | None = None,
        exclude_customer_order_stock: bool | None = None,
        from_id: QueryNumber | None = None,
        to_id: QueryNumber | None = None,
        include_locations: bool | None = None,
        last_modified_date: str | None = None,
        last_stock_modified_datetime: str | None = None,
        page_size: QueryNumber | None = None,
        page_start: QueryNumber | None = None,
        search_text: str | None = None,
    ) -> StoreProductStockList:
        """Read one page of stock entries; locations only with `include_locations` (interface: List store products
        stock).
        """
        result: StoreProductStockList = await self._read(
            "list-store-products-stock",
            {},
            {
                "article_no": article_no,
                "barcode": barcode,
                "category_code": category_code,
                "parent_category_code": parent_category_code,
                "product_number": product_number,
                "store_number": store_number,
                "exclude_customer_order_stock": exclude_customer_order_stock,
                "from_id": from_id,
                "to_id": to_id,
                "include_locations": include_locations,
                "last_modified_date": last_modified_date,
                "last_stock_modified_datetime": last_stock_modified_datetime,
                "page_size": page_size,
                "page_start": page_start,
                "search_text": search_text,
            },
        )
        return result

    async def retrieve_store_product_stock(
        self,
        store_number: str,
        product_number: str,
        *,
        exclude_customer_order_stock: bool | None = None,
        include_locations: bool | None = None,
        include_zero_lines: bool | None = None,
    ) -> ProductStockResult:
        """Read the stock of one product in one store (interface: Retrieve store product stock)."""
        result: ProductStockResult = await self._read(
            "retrieve-store-product-stock",
            {"store_number": store_number, "product_number": product_number},
            {
                "exclude_customer_order_stock": exclude_customer_order_stock,
                "include_locations": include_locations,
                "include_zero_lines": include_zero_lines,
            },
        )
        return result

    async def retrieve_store_product_surrounding(
        self,
        store_number: str,
        product_number: str,
    ) -> list[SurroundingStock]:
        """Read a product's stock in stores and warehouses nearby (interface: Retrieve store product surrounding)."""
        result: list[SurroundingStock] = await self._read(
            "retrieve-store-product-surrounding", {"store_number": store_number, "product_number": product_number}, {}
        )
        return result

    async def update_store_products(
        self,
        store_number: str,
        body: Items[StoreProductUpdate],
    ) -> StandardResult:
        """Set new settings of products in one store; the body is a bare array (interface: Update store products)."""
        result: StandardResult = await self._write("update-store-products", {"store_number": store_number}, {}, body)
        return result

    async def create_store_products(
        self,
        store_number: str,
        body: Body[StoreProductsRequest],
    ) -> StandardResult:
        """Add products to a store's range. The body is assumed (interface: Create store products)."""
        result: StandardResult = await self._write("create-store-products", {"store_number": store_number}, {}, body)
        return result


class LocationCalls(BaseClient):
    """Locations, and movements between them (interface: Endpoints)."""

    async def list_locations(
        self,
        store_number: str,
        *,
        accept_language: str | None = None,
        app_username: str | None = None,
        ignore_customerorder_stock: bool | None = None,
        page_size: QueryNumber | None = None,
        page_start: QueryNumber | None = None,
        search_text: str | None = None,
    ) -> LocationList:
        """Read one page of a store's locations, with the stock on them (interface: List locations)."""
        result: LocationList = await self._read(
            "list-locations",
            {"store_number": store_number},
            {
                "accept_language": accept_language,
                "app_username": app_username,
                "ignore_customerorder_stock": ignore_customerorder_stock,
                "page_size": page_size,
                "page_start": page_start,
                "search_text": search_text,
            },
        )
        return result

    async def list_location_products(
        self,
        store_number: str,
        location_code: str,
        *,
        advance_search: bool | None = None,
        customer_order_number: str | None = None,
        customer_order_shipment_number: str | None = None,
        page_size: QueryNumber | None = None,
        page_start: QueryNumber | None = None,
        search_text: str | None = None,
        accept_language: str | None = None,
    ) -> LocationProductList:
        """Read one page of the products at one location (interface: List location products)."""
        result: LocationProductList = await self._read(
            "list-location-products",
            {"store_number": store_number, "location_code": location_code},
            {
                "advance_search": advance_search,
                "customer_order_number": customer_order_number,
                "customer_order_shipment_number": customer_order_shipment_number,
                "page_size": page_size,
                "page_start": page_start,
                "search_text": search_text,
            },
            {"Accept-Language": accept_language},
        )
        return result

    async def create_movement(
        self,
        store_number: str,
        body: Items[MovementItem],
        *,
        app_user_name: str | None = None,
    ) -> StandardResult:
        """Move goods between locations of one store; the body is a bare array (interface: Create movement)."""
        result: StandardResult = await self._write(
            "create-movement", {"store_number": store_number}, {"AppUserName": app_user_name}, body
        )
        return result


class LogCalls(BaseClient):
    """Store product logs (interface: Endpoints)."""

    async def list_store_product_logs(
        self,
        *,
        article_number: str | None = None,
        from_id: QueryNumber | None = None,
        to_id: QueryNumber | None = None,
        is_historic: bool | None = None,
        is_reviewed: bool | None = None,
        last_modified_date: str | None = None,
        to_modified_date: str | None = None,
        page_size: QueryNumber | None = None,
        page_start: QueryNumber | None = None,
        reason_code: QueryNumber | None = None,
        reference: str | None = None,
        review_status: QueryNumber | None = None,
        store_number: str | None = None,
    ) -> StoreProductLogList:
        """Read one page of log entries. Dates are yyyy-MM-dd (interface: List store product logs)."""
        result: StoreProductLogList = await self._read(
            "list-store-product-logs",
            {},
            {
                "article_number": article_number,
                "from_id": from_id,
                "to_id": to_id,
                "is_historic": is_historic,
                "is_reviewed": is_reviewed,
                "last_modified_date": last_modified_date,
                "to_modified_date": to_modified_date,
                "page_size": page_size,
                "page_start": page_start,
                "reason_code": reason_code,
                "reference": reference,
                "review_status": review_status,
                "store_number": store_number,
            },
        )
        return result

    async def create_store_product_logs(
        self,
        store_number: str,
        body: Body[StoreProductLogsRequest],
        *,
        app_user_name: str | None = None,
        is_counted_quantity: bool | None = None,
        is_from_receipt: bool | None = None,
    ) -> LogResult:
        """Create log entries: counts, losses, receipts (interface: Create store product logs)."""
        result: LogResult = await self._write(
            "create-store-product-logs",
            {"store_number": store_number},
            {
                "appUserName": app_user_name,
                "is_counted_quantity": is_counted_quantity,
                "is_from_receipt": is_from_receipt,
            },
            body,
        )
        return result
