"""Deliveries and receipts: typed calls. Each raises the errors drawn in `client.errors`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aisle.client.core import Core

if TYPE_CHECKING:
    from aisle.client.areas.bodies import Body, QueryNumber
    from aisle.contract.models.common import StandardResult
    from aisle.contract.models.deliveries import DeliveryList, MultiStoreDeliveriesRequest, StoreDeliveriesRequest
    from aisle.contract.models.receipts import ReceiptList


class DeliveryCalls(Core):
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
        """One page of deliveries (interface: List deliveries)."""
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
        """Creates deliveries for one store (interface: Create store deliveries)."""
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
        """Creates deliveries that each name their own store (interface: Create multi store deliveries)."""
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
        """One page of receipts of any store (interface: List receipts)."""
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
        """One page of one store's receipts (interface: List store receipts)."""
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
