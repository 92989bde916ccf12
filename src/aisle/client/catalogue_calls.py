"""Typed calls of catalogue and stores. Each raises the errors listed in `client.errors`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aisle.client.base import BaseClient

if TYPE_CHECKING:
    from aisle.client.body_types import Body, QueryNumber
    from aisle.contract.models.base import StandardResult
    from aisle.contract.models.products import (
        AttributeResult,
        DeleteProductsRequest,
        DiscountPricesRequest,
        PricesRequest,
        ProductAttributesRequest,
        ProductFreeFieldsRequest,
        ProductList,
        ProductsRequest,
    )
    from aisle.contract.models.stores import StoreList, StoresRequest


class ProductCalls(BaseClient):
    """Product catalogue (interface: Endpoints)."""

    async def create_or_update_products(
        self,
        body: Body[ProductsRequest],
    ) -> StandardResult:
        """Create or update products. The body is assumed (interface: Create or update products)."""
        result: StandardResult = await self._write("create-or-update-products", {}, {}, body)
        return result

    async def list_products(
        self,
        *,
        product_number: str | None = None,
        barcode: str | None = None,
        search_text: str | None = None,
        category_code: str | None = None,
        is_active: bool | None = None,
        last_modified_date: str | None = None,
        store_number: str | None = None,
        page_size: QueryNumber | None = None,
        page_number: QueryNumber | None = None,
        page_start: QueryNumber | None = None,
    ) -> ProductList:
        """Read one page of the catalogue. The parameters are assumed (interface: List products)."""
        result: ProductList = await self._read(
            "list-products",
            {},
            {
                "product_number": product_number,
                "barcode": barcode,
                "search_text": search_text,
                "category_code": category_code,
                "is_active": is_active,
                "last_modified_date": last_modified_date,
                "store_number": store_number,
                "page_size": page_size,
                "page_number": page_number,
                "page_start": page_start,
            },
        )
        return result

    async def delete_products(
        self,
        body: Body[DeleteProductsRequest],
    ) -> StandardResult:
        """Delete products. The body is assumed (interface: Delete products)."""
        result: StandardResult = await self._write("delete-products", {}, {}, body)
        return result

    async def update_product_attributes(
        self,
        body: Body[ProductAttributesRequest],
    ) -> AttributeResult:
        """Update attributes of products. The body is assumed (interface: Update product attributes)."""
        result: AttributeResult = await self._write("update-product-attributes", {}, {}, body)
        return result

    async def create_prices(
        self,
        body: Body[PricesRequest],
    ) -> StandardResult:
        """Set prices. The body is assumed (interface: Create prices)."""
        result: StandardResult = await self._write("create-prices", {}, {}, body)
        return result

    async def create_discount_prices(
        self,
        body: Body[DiscountPricesRequest],
    ) -> StandardResult:
        """Set discount prices. The body is assumed (interface: Create discount prices)."""
        result: StandardResult = await self._write("create-discount-prices", {}, {}, body)
        return result

    async def create_product_free_fields(
        self,
        body: Body[ProductFreeFieldsRequest],
    ) -> StandardResult:
        """Set free fields. The body is assumed (interface: Create product free fields)."""
        result: StandardResult = await self._write("create-product-free-fields", {}, {}, body)
        return result


class StoreCalls(BaseClient):
    """Stores (interface: Endpoints)."""

    async def list_stores(
        self,
        *,
        is_warehouse: bool | None = None,
        page_size: QueryNumber | None = None,
        page_start: QueryNumber | None = None,
        search_text: str | None = None,
        secondary_key: str | None = None,
    ) -> StoreList:
        """Read one page of stores; `secondary_key` has at most 500 characters (interface: List stores)."""
        result: StoreList = await self._read(
            "list-stores",
            {},
            {
                "is_warehouse": is_warehouse,
                "page_size": page_size,
                "page_start": page_start,
                "search_text": search_text,
                "secondary_key": secondary_key,
            },
        )
        return result

    async def create_stores(
        self,
        body: Body[StoresRequest],
    ) -> StandardResult:
        """Create or update stores (interface: Create stores)."""
        result: StandardResult = await self._write("create-stores", {}, {}, body)
        return result
