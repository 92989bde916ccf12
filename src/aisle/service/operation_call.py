"""Call of an operation: a request validated against the contract, with all query parameters and headers by name."""

from __future__ import annotations

from typing import Any, NamedTuple, TypedDict


class QueryValues(TypedDict, total=False):
    """Query parameters of all operations; a request has those that it was sent with."""

    AppUserName: str
    accept_language: str
    advance_search: bool
    after: int
    after_user: str
    appUserName: str
    app_username: str
    article_no: str
    article_number: str
    barcode: str
    category_code: str
    customer_order_number: str
    customer_order_shipment_number: str
    delivery_date: str
    exclude_customer_order_stock: bool
    flush: bool
    from_id: int
    fulfillment_status: str
    group_code: str
    id: int
    ignore_customerorder_stock: bool
    include_locations: bool
    include_zero_lines: bool
    is_active: bool
    is_counted_quantity: bool
    is_from_receipt: bool
    is_historic: bool
    is_picked: bool
    is_reviewed: bool
    is_submitted: bool
    is_warehouse: bool
    keys: str
    known: str
    last_modified_date: str
    last_stock_modified_datetime: str
    limit: int
    location_code_tag: str
    mark: str
    numbers: str
    order_number: str
    page_number: int
    page_size: int | str
    """Text in some lists of the document."""
    page_start: int | str
    parent_category_code: str
    pickup_offset: int
    product_number: str
    reason_code: int
    receipt_type: int
    reference: str
    review_status: int
    scroll_id: str
    search_text: str
    secondary_key: str
    show_lines: bool
    since: int
    state: str
    status: str
    store_number: str
    subject: str
    supplier_code: str
    supplier_name: str
    to_id: int
    to_modified_date: str


HeaderValues = TypedDict(
    "HeaderValues", {"Accept-Language": str, "Aisle-Door": str, "container_override": bool}, total=False
)
"""Header parameters of all operations."""


class OperationCall(NamedTuple):
    """Request that was validated against the contract: plain values under the names of the document."""

    path: dict[str, str]
    query: QueryValues
    body: Any = None
    header: HeaderValues = HeaderValues()
