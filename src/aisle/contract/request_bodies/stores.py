"""Creation of stores: a store with its address, opening times and ordering schema (interface: Create stores)."""

from __future__ import annotations

from typing import Required

from aisle.contract.request_bodies import (
    ExactNumber,
    OrNull,
    PoolNamesRequest,
    RequestBody,
    StrictBool,
    list_body,
)


class StoreFreeField(RequestBody, total=False):
    """Free key and value of a store, also used for opening hours (interface: Create stores)."""

    key: OrNull[str]
    sort_order: OrNull[ExactNumber]
    value: OrNull[str]


class OrderingSchema(RequestBody, total=False):
    """Ordering day of a store, with its delivery offset (interface: Create stores)."""

    day: Required[ExactNumber]
    delivery_offset: Required[ExactNumber]
    time: Required[str]
    category_code: OrNull[str]
    ordering_offset: OrNull[ExactNumber]
    week_numbers: OrNull[str]


class StorePrinter(RequestBody, total=False):
    """Printer of a store (interface: Create stores)."""

    is_bluetooth: Required[StrictBool]
    printer_ip: OrNull[str]
    printer_name: OrNull[str]
    printer_serial: OrNull[str]
    printer_type: OrNull[ExactNumber]
    vendor: OrNull[str]


class StoreCreate(PoolNamesRequest, total=False):
    """Store to create or update (interface: Create stores)."""

    is_active: Required[StrictBool]
    is_active_data_exchange: Required[StrictBool]
    is_warehouse: Required[StrictBool]
    store_name: Required[str]
    store_number: Required[str]
    address: OrNull[str]
    area_description: OrNull[str]
    area_id: OrNull[str]
    area_manager_user_id: OrNull[ExactNumber]
    city: OrNull[str]
    contact_details: OrNull[str]
    cost_center: OrNull[str]
    country_code: OrNull[str]
    country_name: OrNull[str]
    esl_server_path: OrNull[str]
    free_fields: OrNull[list[StoreFreeField]]
    ip_range_begin: OrNull[str]
    ip_range_end: OrNull[str]
    local_server_path: OrNull[str]
    opening_hours: OrNull[list[StoreFreeField]]
    ordering_schema: OrNull[list[OrderingSchema]]
    phone_number: OrNull[str]
    postal_code: OrNull[str]
    price_line_id: OrNull[ExactNumber]
    store_gln: OrNull[str]
    store_next_delivery_datetime: OrNull[str]
    store_next_ordering_datetime: OrNull[str]
    store_printers: OrNull[list[StorePrinter]]
    store_type_code: OrNull[str]
    store_type_description: OrNull[str]


StoresRequest = list_body("StoresRequest", "stores", StoreCreate)
