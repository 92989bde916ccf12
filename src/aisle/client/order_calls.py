"""Typed calls of customer orders, deliveries and receipts. Each raises the errors listed in `client.errors`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aisle.client.base import BaseClient

if TYPE_CHECKING:
    from aisle.client.body_types import Body, QueryNumber
    from aisle.contract.models.base import StandardResult
    from aisle.contract.models.deliveries import (
        DeliveryList,
        MultiStoreDeliveriesRequest,
        ReceiptList,
        StoreDeliveriesRequest,
    )
    from aisle.contract.models.orders import (
        ClearanceRequest,
        CustomerOrderList,
        CustomerOrdersRequest,
        CustomerOrderUpdateRequest,
        MultiStoreCustomerOrdersRequest,
    )


class CustomerOrderCalls(BaseClient):
    """Customer orders (interface: Endpoints)."""

    async def list_customer_orders(
        self,
        store_number: str,
        *,
        fulfillment_status: str | None = None,
        include_locations: bool | None = None,
        is_active: bool | None = None,
        is_picked: bool | None = None,
        order_number: str | None = None,
        page_size: QueryNumber | None = None,
        page_start: QueryNumber | None = None,
        pickup_offset: QueryNumber | None = None,
        reference: str | None = None,
        search_text: str | None = None,
        show_lines: bool | None = None,
    ) -> CustomerOrderList:
        """Read one page of a store's orders; lines only with `show_lines` (interface: List customer orders)."""
        result: CustomerOrderList = await self._read(
            "list-customer-orders",
            {"store_number": store_number},
            {
                "fulfillment_status": fulfillment_status,
                "include_locations": include_locations,
                "is_active": is_active,
                "is_picked": is_picked,
                "order_number": order_number,
                "page_size": page_size,
                "page_start": page_start,
                "pickup_offset": pickup_offset,
                "reference": reference,
                "search_text": search_text,
                "show_lines": show_lines,
            },
        )
        return result

    async def create_customer_orders_one_store(
        self,
        store_number: str,
        body: Body[CustomerOrdersRequest],
    ) -> StandardResult:
        """Create orders in one store; an unknown product refuses them all (interface: Create customer orders)."""
        result: StandardResult = await self._write(
            "create-customer-orders-one-store", {"store_number": store_number}, {}, body
        )
        return result

    async def create_customer_orders_several_stores(
        self,
        body: Body[MultiStoreCustomerOrdersRequest],
    ) -> StandardResult:
        """Create orders that each name their own store (interface: Create customer orders)."""
        result: StandardResult = await self._write("create-customer-orders-several-stores", {}, {}, body)
        return result

    async def update_customer_order(
        self,
        store_number: str,
        body: Body[CustomerOrderUpdateRequest],
    ) -> StandardResult:
        """Set new values of one order and of the lines that are named (interface: Update customer order)."""
        result: StandardResult = await self._write("update-customer-order", {"store_number": store_number}, {}, body)
        return result

    async def create_customer_order_clearance(
        self,
        body: Body[ClearanceRequest],
        *,
        location_code_tag: str,
    ) -> StandardResult:
        """Create movement assignments that clear held goods. It may affect every store, so it is never repeated in
        doubt.

        interface: Create customer order clearance.
        """
        result: StandardResult = await self._write(
            "create-customer-order-clearance", {}, {"location_code_tag": location_code_tag}, body
        )
        return result


class DeliveryCalls(BaseClient):
    """Deliveries and receipts (interface: Endpoints)."""

    async def list_deliveries(
        self,
        *,
        delivery_date: str | None = None,
        group_code: str | None = None,
        last_modified_date: str | None = None,
        order_number: str | None = None,
        status: str | None = None,
        store_number: str | None = None,
        supplier_code: str | None = None,
        supplier_name: str | None = None,
        is_submitted: bool | None = None,
        page_size: QueryNumber | None = None,
        page_start: QueryNumber | None = None,
    ) -> DeliveryList:
        """Read one page of deliveries (interface: List deliveries)."""
        result: DeliveryList = await self._read(
            "list-deliveries",
            {},
            {
                "delivery_date": delivery_date,
                "group_code": group_code,
                "last_modified_date": last_modified_date,
                "order_number": order_number,
                "status": status,
                "store_number": store_number,
                "supplier_code": supplier_code,
                "supplier_name": supplier_name,
                "is_submitted": is_submitted,
                "page_size": page_size,
                "page_start": page_start,
            },
        )
        return result

    async def create_store_deliveries(
        self,
        store_number: str,
        body: Body[StoreDeliveriesRequest],
        *,
        container_override: bool | None = None,
    ) -> StandardResult:
        """Create deliveries for one store (interface: Create store deliveries)."""
        result: StandardResult = await self._write(
            "create-store-deliveries",
            {"store_number": store_number},
            {},
            body,
            {"container_override": container_override},
        )
        return result

    async def create_multi_store_deliveries(
        self,
        body: Body[MultiStoreDeliveriesRequest],
        *,
        container_override: bool | None = None,
    ) -> StandardResult:
        """Create deliveries that each name their own store (interface: Create multi store deliveries)."""
        result: StandardResult = await self._write(
            "create-multi-store-deliveries", {}, {}, body, {"container_override": container_override}
        )
        return result

    async def list_receipts(
        self,
        *,
        receipt_type: QueryNumber,
        from_id: QueryNumber | None = None,
        to_id: QueryNumber | None = None,
        is_submitted: bool | None = None,
        last_modified_date: str | None = None,
        order_number: str | None = None,
        store_number: str | None = None,
        page_size: QueryNumber | None = None,
        page_start: QueryNumber | None = None,
    ) -> ReceiptList:
        """Read one page of receipts of any store (interface: List receipts)."""
        result: ReceiptList = await self._read(
            "list-receipts",
            {},
            {
                "receipt_type": receipt_type,
                "from_id": from_id,
                "to_id": to_id,
                "is_submitted": is_submitted,
                "last_modified_date": last_modified_date,
                "order_number": order_number,
                "store_number": store_number,
                "page_size": page_size,
                "page_start": page_start,
            },
        )
        return result

    async def list_store_receipts(
        self,
        store_number: str,
        *,
        receipt_type: QueryNumber,
        from_id: QueryNumber | None = None,
        to_id: QueryNumber | None = None,
        is_submitted: bool | None = None,
        last_modified_date: str | None = None,
        order_number: str | None = None,
        page_size: QueryNumber | None = None,
        page_start: QueryNumber | None = None,
    ) -> ReceiptList:
        """Read one page of one store's receipts (interface: List store receipts)."""
        result: ReceiptList = await self._read(
            "list-store-receipts",
            {"store_number": store_number},
            {
                "receipt_type": receipt_type,
                "from_id": from_id,
                "to_id": to_id,
                "is_submitted": is_submitted,
                "last_modified_date": last_modified_date,
                "order_number": order_number,
                "page_size": page_size,
                "page_start": page_start,
            },
        )
        return result
