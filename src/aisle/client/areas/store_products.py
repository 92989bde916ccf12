"""Stock of store products and their settings: typed calls. Each raises the errors drawn in `client.errors`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aisle.client.core import Core

if TYPE_CHECKING:
    from aisle.client.areas.bodies import Body, Items, QueryNumber
    from aisle.contract.models.common import StandardResult
    from aisle.contract.models.store_products import (
        ProductStockResult,
        StoreProductsRequest,
        StoreProductStockList,
        StoreProductUpdate,
        SurroundingStock,
    )


class StoreProductCalls(Core):
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
        """One page of stock entries; places only with `include_locations` (interface: List store products stock)."""
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
        """Stock of one product in one store (interface: Retrieve store product stock)."""
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
        """Stock of one product in the stores and warehouses around (interface: Retrieve store product surrounding)."""
        result: list[SurroundingStock] = await self._read(
            "retrieve-store-product-surrounding", {"store_number": store_number, "product_number": product_number}, {}
        )
        return result

    async def update_store_products(
        self,
        store_number: str,
        body: Items[StoreProductUpdate],
    ) -> StandardResult:
        """Sets new settings of products in one store; the body is a bare array (interface: Update store products)."""
        result: StandardResult = await self._write("update-store-products", {"store_number": store_number}, {}, body)
        return result

    async def create_store_products(
        self,
        store_number: str,
        body: Body[StoreProductsRequest],
    ) -> StandardResult:
        """Ranges products in a store. The body is assumed (interface: Create store products)."""
        result: StandardResult = await self._write("create-store-products", {"store_number": store_number}, {}, body)
        return result
