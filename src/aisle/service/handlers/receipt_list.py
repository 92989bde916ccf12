"""Receipts of deliveries: lists (interface: Deliveries)."""

from __future__ import annotations

from typing import Final

from aisle.contract.request_bodies.extension_bodies import ExtendedProduct
from aisle.service.db.database import Row
from aisle.service.domain.json_fragments import join_members, parse_json_object, quoted, text_member
from aisle.service.domain.quantities import format_quantity
from aisle.service.handlers.deliveries import (
    LINE_COLUMN,
    RECEIPTS,
    NewDeliveryLine,
    catalogue_members,
    common_filters,
    read_page,
    store_filter,
)
from aisle.service.handlers.list_page import Page, parse_page, reduced_envelope
from aisle.service.operation_call import OperationCall, QueryValues
from aisle.service.operation_context import Context, Store, split_wire_id


async def list_receipts(ctx: Context, call: OperationCall) -> bytes:
    """List a page of receipts by id, of one store or of all stores of the token."""
    filters, store = await store_filter(ctx, call.query)
    return await _receipts_page(ctx, call.query, filters, store)


async def list_store_receipts(ctx: Context, call: OperationCall) -> bytes:
    """List a page of one store's receipts by id."""
    return await _receipts_page(ctx, call.query, {"store": ctx.current_store.number}, ctx.current_store)


async def _receipts_page(ctx: Context, query: QueryValues, filters: dict[str, object], store: Store | None) -> bytes:
    page: Page = parse_page(query)
    filters["receipt_type"] = query["receipt_type"]
    if "order_number" in query:
        filters["order_number"] = query["order_number"]
    for name in ("from_id", "to_id"):
        if name in query:
            filters[name] = split_wire_id(query[name])
    filters |= common_filters(query, ctx.time_zone(store))
    total, found = await read_page(ctx, page, filters, store, RECEIPTS)
    groups, more = page.split_rows(found)
    return reduced_envelope([receipt_json(group) for group in groups], page, total, has_more=more)


_RECEIPT_LINE_FIELDS: Final = ("barcode", "description", "container_barcode")


def receipt_json(rows: list[Row]) -> str:
    """Return one receipt of a list as JSON."""
    store, number_, _, ordinal, kind, status, _, receipt, item, store_json = rows[0][:LINE_COLUMN]
    delivery_store, head_fields = Store(store, ordinal), parse_json_object(item)
    lines = (_receipt_line_json(delivery_store, row[LINE_COLUMN:]) for row in rows if row[LINE_COLUMN] is not None)
    return join_members(
        (
            f'"order_number":{quoted(number_)},"store_number":{quoted(store)},"order_type_id":{kind}',
            f'"import_id":{delivery_store.wire_id(receipt)},"status":{quoted(status)}',
            text_member("store_gln", parse_json_object(store_json).get("store_gln")),
            *(
                text_member(name, head_fields.get(name))
                for name in ("datetime_created", "datetime_expected", "supplier_code", "supplier_name")
            ),
            f'"receipt_lines":[{",".join(lines)}]',
        )
    )


def _receipt_line_json(store: Store, row: Row) -> str:
    line, seq, product, quantity, received, _, _, _, updated, item, product_json = row
    line_fields: NewDeliveryLine = parse_json_object(item)
    product_fields: ExtendedProduct = parse_json_object(product_json)
    return join_members(
        (
            f'"id":{store.wire_id(seq)},"line_number":{line},"product_number":{quoted(product)}',
            f'"received_quantity":{format_quantity(received)},"shipped_quantity":{format_quantity(quantity)}',
            *catalogue_members(line_fields, product_fields),
            *(text_member(name, line_fields[name]) for name in _RECEIPT_LINE_FIELDS if name in line_fields),
            f'"updated_on":{quoted(updated)}',
        )
    )
