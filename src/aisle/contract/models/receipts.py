"""Receipts: goods that arrived (interface: Receipt order, Receipts)."""

from __future__ import annotations

from pydantic import Field

from aisle.contract.models._base import AnswerModel, Number
from aisle.contract.models.common import PageCounts


class ReceiptLine(AnswerModel):
    """One line of a receipt (interface: Receipt order)."""

    id: Number | None = None
    barcode: str | None = None
    category_code: str | None = None
    container_barcode: str | None = None
    description: str | None = None
    group_code: str | None = None
    line_number: Number | None = None
    product_number: str | None = None
    received_quantity: Number | None = None
    shipped_quantity: Number | None = None
    updated_on: str | None = None


class Receipt(AnswerModel):
    """One receipt order with its lines (interface: Receipt order)."""

    order_number: str
    store_number: str
    datetime_created: str | None = None
    datetime_expected: str | None = None
    import_id: Number | None = None
    order_type_id: Number | None = None
    receipt_lines: list[ReceiptLine] | None = None
    status: str | None = None
    store_gln: str | None = None
    supplier_code: str | None = None
    supplier_name: str | None = None


class ReceiptList(PageCounts):
    """A page of receipts, in the reduced envelope."""

    rows: list[Receipt] = Field(alias="list")
