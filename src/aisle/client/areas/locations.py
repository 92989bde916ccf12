"""Locations, and movement between them: typed calls. Each raises the errors drawn in `client.errors`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aisle.client.core import Core

if TYPE_CHECKING:
    from aisle.client.areas.bodies import Items, QueryNumber
    from aisle.contract.models.common import StandardResult
    from aisle.contract.models.locations import LocationList, LocationProductList
    from aisle.contract.models.movement import MovementItem


class LocationCalls(Core):
    """Locations, and movement between them (interface: Endpoints)."""

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
        """One page of a store's places, with the stock on them (interface: List locations)."""
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
        """One page of the products at one place (interface: List location products)."""
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
        """Moves goods between places of one store; the body is a bare array (interface: Create movement)."""
        result: StandardResult = await self._write(
            "create-movement", {"store_number": store_number}, {"AppUserName": app_user_name}, body
        )
        return result
