"""Store product logs: typed calls. Each raises the errors drawn in `client.errors`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aisle.client.core import Core

if TYPE_CHECKING:
    from aisle.client.areas.bodies import Body, QueryNumber
    from aisle.contract.models.logs import LogResult, StoreProductLogList, StoreProductLogsRequest


class LogCalls(Core):
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
        """One page of log entries. Dates are yyyy-MM-dd (interface: List store product logs)."""
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
        """Creates log entries: counts, losses, receipts (interface: Create store product logs)."""
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
