"""The store product log: counts, losses, receipts, movements (interface: Store product log entry)."""

from __future__ import annotations

from pydantic import Field

from aisle.contract.models._base import AnswerModel, Exact, Number, RequestModel
from aisle.contract.models._pools import StockPools, StockPoolsRequest
from aisle.contract.models.common import PageEnvelope


class StoreProductLog(StockPools):
    """One log entry, as listed (interface: Store product log entry)."""

    product_number: str
    store_number: str
    id: Number | None = None
    app_user_name: str | None = None
    barcode: str | None = None
    cost_center: str | None = None
    counted_quantity: Number | None = None
    counting_assignment_id: Number | None = None
    counting_lines_remaining: Number | None = None
    counting_lines_remaining_stockpool: StockPools | None = None
    created_on: str | None = None
    customer_order_line_number: Number | None = None
    customer_order_number: str | None = None
    customer_order_shipment_number: str | None = None
    customer_order_shipment_number_line_number: Number | None = None
    expected_quantity: Number | None = None
    general_ledger_credit: str | None = None
    general_ledger_debit: str | None = None
    location: Number | None = None
    location_code: str | None = None
    location_tag: str | None = None
    moved_on: str | None = None
    price: Number | None = None
    purchase_price: Number | None = None
    purchase_unit_quantity: Number | None = None
    quantity: Number | None = None
    reason_code: Number | None = None
    reason_code_description: str | None = None
    reference: str | None = None
    reference_id: Number | None = None
    review_status: str | None = None
    source: str | None = None
    stock_pool: str | None = None
    store_products_price: Number | None = None
    updated_on: str | None = None


class StoreProductLogList(PageEnvelope):
    """A page of log entries."""

    rows: list[StoreProductLog] = Field(alias="list")


class StoreProductLogCreate(StockPoolsRequest):
    """A log entry to create; every field is optional (interface: Create store product logs)."""

    app_user_name: str | None = None
    customer_order_number: str | None = None
    location_code: str | None = None
    loss_comment: str | None = None
    loss_image: str | None = None
    loss_order_number: str | None = None
    product_number: str | None = None
    reference: str | None = None
    source: str | None = None
    counted_quantity: Exact | None = None
    customer_order_line_number: Exact | None = None
    expected_quantity: Exact | None = None
    pool_location: Exact | None = None
    quantity: Exact | None = None
    reason_code: Exact | None = None
    modification_datetime: str | None = None
    order_after_date: str | None = None
    scanned_datetime: str | None = None


class StoreProductLogsRequest(RequestModel):
    """The body that creates log entries; the array is called `storeproductlog`."""

    storeproductlog: list[StoreProductLogCreate] | None = None


class LogResult(AnswerModel):
    """The answer to creating log entries: `data` is an array of numbers."""

    data: list[Number] | None = None
    message: str | None = None
    success: bool | None = None
