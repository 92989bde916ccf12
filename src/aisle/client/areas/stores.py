"""Stores: typed calls. Each raises the errors drawn in `client.errors`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aisle.client.core import Core

if TYPE_CHECKING:
    from aisle.client.areas.bodies import Body, QueryNumber
    from aisle.contract.models.common import StandardResult
    from aisle.contract.models.stores import StoreList, StoresRequest


class StoreCalls(Core):
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
        """One page of stores; `secondary_key` has at most 500 characters (interface: List stores)."""
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
        """Creates or updates stores (interface: Create stores)."""
        result: StandardResult = await self._write("create-stores", {}, {}, body)
        return result
