"""Stores: the camelCase list and the snake_case creation (interface: Store, Stores)."""

from __future__ import annotations

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from aisle.contract.models.base import (
    ExactNumber,
    Number,
    PageEnvelope,
    PoolNames,
    PoolNamesRequest,
    RequestModel,
    StrictBool,
)


class Store(PoolNames):
    """Store, as listed, in camelCase; `isWarhouse` is the interface's spelling (interface: Store)."""

    model_config = ConfigDict(alias_generator=to_camel)

    store_name: str
    store_no: str
    id: Number | None = None
    area_description: str | None = None
    area_id: str | None = None
    country_code: str | None = None
    invent_location: str | None = None
    legal_entity: str | None = None
    is_warehouse: bool | None = Field(default=None, alias="isWarhouse")
    last_order_line_exported_on: str | None = None


class StoreList(PageEnvelope):
    """Page of stores."""

    rows: list[Store] = Field(alias="list")


class StoreFreeField(RequestModel):
    """Free key and value of a store, also used for opening hours (interface: Create stores)."""

    key: str | None = None
    sort_order: ExactNumber | None = None
    value: str | None = None


class OrderingSchema(RequestModel):
    """Ordering day of a store, with its delivery offset (interface: Create stores)."""

    day: ExactNumber
    delivery_offset: ExactNumber
    time: str
    category_code: str | None = None
    ordering_offset: ExactNumber | None = None
    week_numbers: str | None = None


class StorePrinter(RequestModel):
    """Printer of a store (interface: Create stores)."""

    is_bluetooth: StrictBool
    printer_ip: str | None = None
    printer_name: str | None = None
    printer_serial: str | None = None
    printer_type: ExactNumber | None = None
    vendor: str | None = None


class StoreCreate(PoolNamesRequest):
    """Store to create or update (interface: Create stores)."""

    is_active: StrictBool
    is_active_data_exchange: StrictBool
    is_warehouse: StrictBool
    store_name: str
    store_number: str
    address: str | None = None
    area_description: str | None = None
    area_id: str | None = None
    area_manager_user_id: ExactNumber | None = None
    city: str | None = None
    contact_details: str | None = None
    cost_center: str | None = None
    country_code: str | None = None
    country_name: str | None = None
    esl_server_path: str | None = None
    free_fields: list[StoreFreeField] | None = None
    ip_range_begin: str | None = None
    ip_range_end: str | None = None
    local_server_path: str | None = None
    opening_hours: list[StoreFreeField] | None = None
    ordering_schema: list[OrderingSchema] | None = None
    phone_number: str | None = None
    postal_code: str | None = None
    price_line_id: ExactNumber | None = None
    store_gln: str | None = None
    store_next_delivery_datetime: str | None = None
    store_next_ordering_datetime: str | None = None
    store_printers: list[StorePrinter] | None = None
    store_type_code: str | None = None
    store_type_description: str | None = None


class StoresRequest(RequestModel):
    """Body that creates or updates stores."""

    stores: list[StoreCreate] | None = None
