"""Deliveries and receipts as their lists show them (interface: Delivery order, Receipt order)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from aisle.service.amounts import number, plain, thousandths
from aisle.service.context import Context, Store
from aisle.service.encode import fragment, joined, loaded, member, quoted
from aisle.service.sql.schema_fields import OF_DELIVERIES
from aisle.service.storage import Row
from aisle.service.times import parsed

Body = dict[str, Any]

_HEAD = ("external_reference_number", "supplier_code", "supplier_name", "tracing_url")
_LINE = (
    "barcode",
    "container_barcode",
    "customer_order_shipment_number",
    "customer_order_shipment_number_line_number",
    "description",
)
_FIRST_OF_LINE = 10
"""Where the columns of a line begin in a row of `DELIVERY_PAGE`."""


def delivery_item(ctx: Context, body: Body, field: str) -> Body:
    """What a list shows of a delivery beside its lines. Raises Refusal: 400 a time that is none, 422 a number."""
    item: Body = {name: body[name] for name in _HEAD if name in body}
    item["datetime_created"] = parsed(body.get("datetime_created") or ctx.now, f"{field}.datetime_created")
    if body.get("datetime_expected"):
        item["datetime_expected"] = parsed(body["datetime_expected"], f"{field}.datetime_expected")
    for name in ("no_of_containers", "store_origin"):
        if name in body:
            item[name] = plain(thousandths(body[name], f"{field}.{name}", whole=True))
    item["is_downloaded"] = False
    aside = {name: body[name] for name in OF_DELIVERIES if name in body}
    return item | ({"aisle": aside} if aside else {})


def line_item(said: Body, aside: Body) -> Body:
    """What a list shows of a line beside its figures; `aside` is what the interface has no field for."""
    item = {name: plain_or_text(said[name]) for name in _LINE if name in said}
    return item | ({"aisle": aside} if aside else {})


def plain_or_text(value: Any) -> Any:
    """A number of the wire as the shortest number, anything else as it is."""
    return value if isinstance(value, str) else plain(thousandths(value, "order_lines", whole=True))


def grouped(rows: Iterable[Row], by: int) -> list[list[Row]]:
    """The rows of one delivery each, with its lines in order; deliveries by the column `by` and their store."""
    groups: dict[tuple[int, int], list[Row]] = {}
    for row in rows:
        groups.setdefault((row[by], row[3]), []).append(row)
    return [sorted(groups[key], key=lambda row: row[_FIRST_OF_LINE] or 0) for key in sorted(groups)]


def delivery_text(rows: list[Row]) -> str:
    """One delivery of a list."""
    store, number_, seq, ordinal, kind, status, updated, _, item, about = rows[0][:_FIRST_OF_LINE]
    lines = (_delivery_line(row[_FIRST_OF_LINE:]) for row in rows if row[_FIRST_OF_LINE] is not None)
    return joined(
        (
            f'"order_number":{quoted(number_)},"store_number":{quoted(store)},"order_type":"{kind}"',
            f'"import_id":{Store(store, ordinal).wire_id(seq)},"status":{quoted(status)}',
            f'"updated_on":{quoted(updated)}',
            member("store_gln", loaded(about).get("store_gln")),
            fragment(item),
            f'"order_lines":[{",".join(lines)}]',
        )
    )


def _delivery_line(row: Row) -> str:
    line, _, product, quantity, received, pool, order, order_line, _, item, about = row
    said, known = loaded(item), loaded(about)
    return joined(
        (
            f'"line_number":{line},"product_number":{quoted(product)},"quantity":{number(quantity)}',
            f'"received_quantity":{number(received)}',
            "" if pool is None else f'"target_stock_pool":{pool}',
            f'"customer_order_number":{quoted(order)},"customer_order_line_number":{order_line}' if order else "",
            *_of_catalogue(said, known),
            member("base_unit", known.get("base_unit_name")),
            member("purchase_unit_barcode", known.get("purchase_unit_barcode")),
            member("purchase_unit_product_number", known.get("purchase_unit_product_number")),
            _figure("purchase_unit_quantity", known.get("purchase_unit_quantity")),
            fragment(item),
        )
    )


def _of_catalogue(said: Body, known: Body) -> tuple[str, ...]:
    """What a line does not say of itself, the catalogue says."""
    return (
        "" if "barcode" in said else member("barcode", known.get("barcode") or None),
        "" if "description" in said else member("description", known.get("product_name")),
        member("category_code", known.get("category_code")),
        member("group_code", known.get("group_code") or known.get("category_code")),
    )


def _figure(name: str, value: Any) -> str:
    return "" if value is None else f'"{name}":{value}'


def receipt_text(rows: list[Row]) -> str:
    """One receipt of a list: what came of a delivery."""
    store, number_, _, ordinal, kind, status, _, receipt, item, about = rows[0][:_FIRST_OF_LINE]
    at, head = Store(store, ordinal), loaded(item)
    lines = (_receipt_line(at, row[_FIRST_OF_LINE:]) for row in rows if row[_FIRST_OF_LINE] is not None)
    return joined(
        (
            f'"order_number":{quoted(number_)},"store_number":{quoted(store)},"order_type_id":{kind}',
            f'"import_id":{at.wire_id(receipt)},"status":{quoted(status)}',
            member("store_gln", loaded(about).get("store_gln")),
            *(
                member(name, head.get(name))
                for name in ("datetime_created", "datetime_expected", "supplier_code", "supplier_name")
            ),
            f'"receipt_lines":[{",".join(lines)}]',
        )
    )


def _receipt_line(store: Store, row: Row) -> str:
    line, seq, product, quantity, received, _, _, _, updated, item, about = row
    said, known = loaded(item), loaded(about)
    return joined(
        (
            f'"id":{store.wire_id(seq)},"line_number":{line},"product_number":{quoted(product)}',
            f'"received_quantity":{number(received)},"shipped_quantity":{number(quantity)}',
            *_of_catalogue(said, known),
            *(member(name, said.get(name)) for name in ("barcode", "description", "container_barcode")),
            f'"updated_on":{quoted(updated)}',
        )
    )
