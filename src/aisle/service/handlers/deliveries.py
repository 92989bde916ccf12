"""Deliveries and receipts: announce for one or several stores, list, mark (interface: Deliveries)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import count as count_from
from typing import Final, NamedTuple

from aisle.contract.request_bodies import ExactNumber
from aisle.contract.request_bodies.deliveries import MultiStoreDeliveryLineCreate
from aisle.contract.request_bodies.extension_bodies import DeliveryMark, ExtendedDelivery, ExtendedProduct
from aisle.service.auth.authorization import authorize_store, rows_by_store
from aisle.service.db.database_interface import Row
from aisle.service.db.list_query_builder import Query, filter_query, merge_queries, page_query, search_filter, with_page
from aisle.service.db.schema_and_search_index import search_key
from aisle.service.db.statements import orders_and_deliveries as sql
from aisle.service.domain.order_line import incomplete_line_refusal
from aisle.service.domain.picking_and_moves import parse_pool
from aisle.service.domain.quantities_times_and_json import (
    TimeZone,
    body_fingerprint,
    day_of_stored_time,
    format_quantity,
    join_members,
    object_members,
    parse_day,
    parse_json_object,
    parse_quantity,
    parse_thousandths,
    parse_timestamp,
    parse_timestamp_or_day,
    parse_whole_number,
    quoted,
    select_members,
    text_member,
    to_json,
    to_json_number,
)
from aisle.service.domain.read_products_and_locations import Product, StoreCatalogue
from aisle.service.domain.states import DELIVERY_OPEN, DELIVERY_RECEIVED
from aisle.service.errors import SUCCESS, conflict, unprocessable
from aisle.service.handlers.create_and_list_products import find_products_by_codes
from aisle.service.handlers.list_page import (
    MultiStoreList,
    Page,
    count_and_read,
    list_envelope,
    page_key_query,
    parse_page,
    parse_scroll_page,
    reduced_envelope,
)
from aisle.service.http.parameters_and_headers import check_code
from aisle.service.operation_context import Context, OperationCall, ParamValues, Store, split_wire_id

UNDOCUMENTED_DELIVERY_FIELDS = ("description", "reason_code")
PURCHASE_ORDER_TYPE = 1
"""Default type of a delivery."""

# Fields of a line that the interface never returns.
_STORED_ONLY_FIELDS = ("purchase_price", "secondary_order_number", "secondary_order_line_number")
_SHIPMENT_LINE_FIELD: Final = "customer_order_shipment_number_line_number"
# Columns of a page's row with the number that orders it.
_DELIVERY_NUMBER_COLUMN, _RECEIPT_NUMBER_COLUMN = 2, 7
_EQUALITY_FILTERS = ("order_number", "status", "supplier_code", "group_code")


class NewDeliveryLine(MultiStoreDeliveryLineCreate, total=False):
    """Line of a delivery to create, with the field that only one of the two operations has."""

    purchase_price: ExactNumber


class NewDelivery(ExtendedDelivery, total=False):
    """Delivery to create, with the fields that only one of the two operations has."""

    store_number: str
    order_lines: list[NewDeliveryLine]  # type: ignore[misc]


class ListKind(NamedTuple):
    """Kind of list, deliveries or receipts: its counter, keys over the chain, filters and orders."""

    counter: str
    key_statement: str
    filters: Mapping[str, str]
    store_sort: str
    chain_sort: str


DELIVERIES = ListKind(
    "delivery", sql.DELIVERY_CHAIN_KEYS, sql.DELIVERY_FILTERS, sql.DELIVERY_SORT_STORE, sql.DELIVERY_SORT_CHAIN
)
RECEIPTS = ListKind(
    "receipt", sql.RECEIPT_CHAIN_KEYS, sql.RECEIPT_FILTERS, sql.RECEIPT_SORT_STORE, sql.RECEIPT_SORT_CHAIN
)


async def list_deliveries(ctx: Context, call: OperationCall) -> bytes:
    """List a page of deliveries with their lines, oldest first, of one store or of all stores of the token."""
    query, page = call.query, parse_scroll_page(call, (int, int))
    filters, store = await store_filter(ctx, query)
    filters |= select_members(query, _EQUALITY_FILTERS)
    filters |= search_filter("supplier_name", query.get("supplier_name", ""))
    if "delivery_date" in query:
        filters["expected_on"] = parse_day(query["delivery_date"], "delivery_date", ctx.time_zone(store))
    filters |= common_filters(query, ctx.time_zone(store))
    total, found = await read_page(ctx, page, filters, store, DELIVERIES)
    groups, more = page.split_rows(found)
    entries = [delivery_json(group) for group in groups]
    last = groups[-1][0][2:4] if groups else None
    return list_envelope(ctx, call, entries, page, total, has_more=more, sort_column="import_id", last_key=last)


async def read_page(
    ctx: Context, page: Page, list_filters: Mapping[str, object], store: Store | None, kind: ListKind
) -> tuple[int | None, list[list[Row]]]:
    """Return the number of deliveries or receipts, and those of a page, each as the rows of its lines."""
    count = partial(filter_query, sql.DELIVERY_COUNT, kind.filters)
    if store:
        found = filter_query(sql.DELIVERY_KEYS, kind.filters, page.add_to_filters(list_filters), kind.store_sort)
        return await count(list_filters).fetch_count(ctx.tx), await _read_lines(
            ctx, page_query(found, page.limit, page.offset), kind
        )

    def keys(filters: Mapping[str, object], stores: Sequence[str]) -> Query:
        if stores:
            return merge_queries(kind.key_statement, kind.filters, filters, {"store": stores}, kind.chain_sort)
        return filter_query(kind.key_statement, kind.filters, filters, kind.chain_sort)

    every = partial(filter_query, kind.key_statement, kind.filters)

    async def read() -> list[list[Row]]:
        found = await page_key_query(ctx, page, list_filters, MultiStoreList(kind.counter, every, keys))
        return await _read_lines(ctx, found, kind) if found else []

    # The filter by group has to read the lines of each delivery.
    most = page.size if "group_code" in list_filters else None
    return await count_and_read(ctx.tx, every(list_filters), page, read, most)


async def _read_lines(ctx: Context, keys: Query, kind: ListKind) -> list[list[Row]]:
    rows = await with_page(keys, sql.DELIVERY_PAGE).all(ctx.tx)
    return group_by_delivery(
        rows, number_column=_RECEIPT_NUMBER_COLUMN if kind is RECEIPTS else _DELIVERY_NUMBER_COLUMN
    )


async def store_filter(ctx: Context, query: ParamValues) -> tuple[dict[str, object], Store | None]:
    """Return the filter that limits a list to the store of the path or query, or to those of the token."""
    store = ctx.store
    if "store_number" in query:
        store = await authorize_store(ctx.tx, ctx.principal, query["store_number"])
    if store:
        return {"store": store.number}, store
    return ({} if ctx.principal.all_stores else {"token": ctx.principal.token_id}), None


def common_filters(query: ParamValues, zone: TimeZone) -> dict[str, object]:
    """Return the filters that deliveries and receipts share."""
    filters: dict[str, object] = {}
    if "is_submitted" in query:
        filters["submitted" if query["is_submitted"] else "not_submitted"] = DELIVERY_RECEIVED
    if "last_modified_date" in query:
        filters["modified"] = parse_timestamp(query["last_modified_date"], "last_modified_date", zone)
    return filters


async def create_deliveries(ctx: Context, call: OperationCall) -> bytes:
    """Announce deliveries to the path's store, or to the stores that they name: all or none."""
    bodies: list[NewDelivery] = call.body.get("orders", [])
    async for store, store_bodies in rows_by_store(ctx, bodies):
        await _create_deliveries(ctx, store, store_bodies, call.header.get("container_override", False))
    return SUCCESS


async def _create_deliveries(ctx: Context, store: Store, given: list[tuple[int, NewDelivery]], override: bool) -> None:
    numbers = sorted({body["order_number"] for _, body in given})
    known = {row[0]: (row[1], row[2]) for row in await ctx.tx.all(sql.DELIVERY_FINGERPRINTS, store.number, numbers)}
    catalogue = StoreCatalogue(ctx, store)
    lines = [line for _, body in given for line in body.get("order_lines", [])]
    by_code = await find_products_by_codes(
        ctx.tx, {line.get("barcode", "") for line in lines if not line.get("product_number")}
    )
    numbers_of_codes = (number for found in by_code.values() for number in found[:2])
    await catalogue.load([*(line.get("product_number", "") for line in lines), *numbers_of_codes])
    parsed: dict[str, _ParsedDelivery] = {}
    for index, body in given:
        number, print_, field = body["order_number"], body_fingerprint(body), f"orders[{index}]"
        check_code(number, "the number of a delivery", f"{field}.order_number")
        before, status = known.get(number, ("", DELIVERY_OPEN))
        ctx.count_records(new=not before, changed=bool(before) and before != print_, same=before == print_)
        if before == print_:
            continue
        if before and not override:
            raise conflict(f"Delivery {number} exists with another content.", f"{field}.order_number")
        if status != DELIVERY_OPEN:
            raise conflict(f"Goods of delivery {number} have been received.", f"{field}.order_number")
        rows = [
            await _parse_line(catalogue, by_code, raw, f"{field}.order_lines[{n}]")
            for n, raw in enumerate(body.get("order_lines", []))
        ]
        parsed[number] = _parse_delivery(ctx, store, body, print_, _number_lines(rows, field), field)
        known[number] = (print_, DELIVERY_OPEN)
    await _store_deliveries(ctx, store, parsed)


async def mark_deliveries(ctx: Context, call: OperationCall) -> bytes:
    """Mark announced deliveries as downloaded, or set the number that other systems use for them.

    Refuse with 422 if the store has no such delivery.
    """
    marks: list[DeliveryMark] = call.body["deliveries"]
    numbers = sorted({mark["order_number"] for mark in marks})
    known = {
        row[0]: parse_json_object(row[1]) for row in await ctx.tx.all(sql.DELIVERY_ITEMS, ctx.store_number, numbers)
    }
    changed: dict[str, tuple[str, str, str, str]] = {}
    for index, mark in enumerate(marks):
        number, fields = mark["order_number"], {name: value for name, value in mark.items() if name != "order_number"}
        if number not in known:
            raise unprocessable(f"There is no delivery {number}.", f"deliveries[{index}].order_number")
        if known[number] | fields == known[number]:
            continue
        known[number] |= fields
        changed[number] = (ctx.store_number, number, to_json(known[number]), ctx.now)
        ctx.mark_changed(ctx.store_number, "delivery", number)
    ctx.defer(sql.DELIVERY_ITEM_SET, changed.values())
    return SUCCESS


class _ParsedLine(NamedTuple):
    number: int | None
    product: Product
    quantity: int
    pool: int | None
    order: str
    order_line: int
    shipment_line: int | None
    body: NewDeliveryLine


class _ParsedDelivery(NamedTuple):
    """Delivery to store: its row after store, number and sequence, and its lines."""

    row: tuple[object, ...]
    lines: list[_ParsedLine]


async def _parse_line(
    catalogue: StoreCatalogue, by_code: Mapping[str, list[str]], line_body: NewDeliveryLine, field: str
) -> _ParsedLine:
    """Return a line with its product and validated figures. Raise Refusal (422) if it is invalid."""
    product = await _get_product(catalogue, by_code, line_body, field)
    quantity = parse_quantity(line_body["quantity"], f"{field}.quantity", whole=not product.allow_decimal)
    if quantity < 0:
        raise unprocessable("Less than nothing cannot be delivered.", f"{field}.quantity")
    pool = line_body.get("target_stock_pool")
    named = bool(line_body.get("customer_order_number")), "customer_order_line_number" in line_body
    if any(named) and not all(named):
        raise incomplete_line_refusal(field, has_order=named[0])
    shipment_line = line_body.get(_SHIPMENT_LINE_FIELD)
    order_line = line_body.get("customer_order_line_number", 0)
    return _ParsedLine(
        parse_whole_number(line_body["line_number"], f"{field}.line_number") if "line_number" in line_body else None,
        product,
        quantity,
        None if pool is None else parse_pool(pool, f"{field}.target_stock_pool"),
        line_body.get("customer_order_number", ""),
        parse_whole_number(order_line, f"{field}.customer_order_line_number"),
        None if shipment_line is None else parse_whole_number(shipment_line, f"{field}.{_SHIPMENT_LINE_FIELD}"),
        line_body,
    )


async def _get_product(
    catalogue: StoreCatalogue, by_code: Mapping[str, list[str]], line_body: NewDeliveryLine, field: str
) -> Product:
    """Return the product of a line, by its number or barcode. Raise Refusal (422) if it is not unique."""
    if line_body.get("product_number"):
        return await catalogue.get_product(line_body["product_number"], f"{field}.product_number")
    code = line_body.get("barcode", "")
    found = by_code.get(code, [])
    if len(found) != 1:
        known = "Several products have" if found else "No product has"
        message = f"{known} the barcode {code}." if code else "A line needs a product number or a barcode."
        raise unprocessable(message, f"{field}.product_number")
    return await catalogue.get_product(found[0], f"{field}.product_number")


def _number_lines(rows: list[_ParsedLine], field: str) -> list[_ParsedLine]:
    """Number the lines. Lines without a number get the next free one. Raise Refusal (422) for a repeated number."""
    numbers = [row.number for row in rows if row.number is not None]
    taken = set(numbers)
    if len(numbers) != len(taken):
        raise unprocessable("Two lines have one number.", f"{field}.order_lines")
    free = (number for number in count_from(1) if number not in taken)
    return [row if row.number is not None else row._replace(number=next(free)) for row in rows]


def _parse_delivery(
    ctx: Context, store: Store, body: NewDelivery, fingerprint: str, lines: list[_ParsedLine], field: str
) -> _ParsedDelivery:
    """Return the delivery as it is stored. Raise Refusal for an invalid time or number."""
    item = delivery_fields(ctx, store, body, field)
    kept = {name: value for name, value in body.items() if name != "order_lines"}
    row = (
        store.ordinal,
        DELIVERY_OPEN,
        parse_whole_number(body.get("order_type", PURCHASE_ORDER_TYPE), f"{field}.order_type"),
        body.get("supplier_code", ""),
        search_key((body.get("supplier_name"),)),
        day_of_stored_time(str(item.get("datetime_expected", "")), ctx.time_zone(store)),
        ctx.now,
        fingerprint,
        to_json(item),
        to_json(kept),
    )
    return _ParsedDelivery(row, lines)


async def _store_deliveries(ctx: Context, store: Store, parsed: Mapping[str, _ParsedDelivery]) -> None:
    """Write new and changed deliveries by few statements."""
    if not parsed:
        return
    await ctx.tx.run(sql.LINES_OF_DELIVERIES_DELETE, store.number, list(parsed))
    first = await ctx.next_numbers(store.number, "delivery", len(parsed))
    await ctx.tx.run_many(
        sql.DELIVERY_SET,
        [(store.number, number, first + n, *one.row) for n, (number, one) in enumerate(parsed.items())],
    )
    lines = [(number, line) for number, one in parsed.items() for line in one.lines]
    first = await ctx.next_numbers(store.number, "delivery_line", len(lines)) if lines else 0
    await ctx.tx.run_many(
        sql.DELIVERY_LINE_ADD,
        [_delivery_line_row(ctx, store, number, first + n, line) for n, (number, line) in enumerate(lines)],
    )
    await ctx.tx.run_many(
        sql.SHIPMENT_SET,
        [
            (store.number, line.order, line.order_line, shipment, line.shipment_line)
            for _, line in lines
            if line.order and (shipment := line.body.get("customer_order_shipment_number"))
        ],
    )
    for number in parsed:
        ctx.mark_changed(store.number, "delivery", number)


def _delivery_line_row(ctx: Context, store: Store, number: str, seq: int, line: _ParsedLine) -> tuple[object, ...]:
    """Return a row of `delivery_line` in the order of `DELIVERY_LINE_ADD`."""
    undocumented = select_members(line.body, _STORED_ONLY_FIELDS)
    return (
        store.number,
        number,
        line.number,
        seq,
        line.product.number,
        line.quantity,
        0,
        line.pool,
        line.order,
        line.order_line,
        ctx.now,
        to_json(delivery_line_fields(line.body, undocumented)),
        to_json(undocumented),
    )


_DELIVERY_FIELDS = ("external_reference_number", "supplier_code", "supplier_name", "tracing_url")
_LINE_FIELDS: Final = (
    "barcode",
    "container_barcode",
    "customer_order_shipment_number",
    "customer_order_shipment_number_line_number",
    "description",
)
_WHOLE_NUMBERS: Final = ("no_of_containers", "store_origin")
LINE_COLUMN = 10
"""First column of a line in a row of `DELIVERY_PAGE`."""


def delivery_fields(ctx: Context, store: Store, body: NewDelivery, field: str) -> dict[str, object]:
    """Return the fields of a delivery for lists. Raise Refusal: 400 for an invalid time, 422 for an invalid number."""
    item = select_members(body, _DELIVERY_FIELDS)
    zone = ctx.time_zone(store)
    item["datetime_created"] = parse_timestamp(
        body.get("datetime_created") or ctx.now, f"{field}.datetime_created", zone
    )
    if body.get("datetime_expected"):
        item["datetime_expected"] = parse_timestamp_or_day(
            body["datetime_expected"], f"{field}.datetime_expected", zone
        )
    for name in _WHOLE_NUMBERS:
        if name in body:
            item[name] = to_json_number(parse_thousandths(body[name], f"{field}.{name}", whole=True))
    item["is_downloaded"] = False
    undocumented = select_members(body, UNDOCUMENTED_DELIVERY_FIELDS)
    return item | ({"aisle": undocumented} if undocumented else {})


def delivery_line_fields(body: NewDeliveryLine, extra_fields: Mapping[str, object]) -> dict[str, object]:
    """Return the fields of a line for lists. `extra_fields` are those that the interface does not have."""
    item: dict[str, object] = {name: json_value(body[name]) for name in _LINE_FIELDS if name in body}
    return item | ({"aisle": extra_fields} if extra_fields else {})


def json_value(value: str | ExactNumber) -> str | int | float:
    """Return a number of the wire in its shortest form, and text unchanged."""
    return value if isinstance(value, str) else to_json_number(parse_thousandths(value, "order_lines", whole=True))


def group_by_delivery(rows: Iterable[Row], number_column: int) -> list[list[Row]]:
    """Group rows by delivery, with lines in order. Deliveries are sorted by the number column and their store."""
    groups: dict[tuple[int, int], list[Row]] = {}
    for row in rows:
        groups.setdefault((row[number_column], row[3]), []).append(row)
    return [sorted(groups[key], key=lambda row: row[LINE_COLUMN] or 0) for key in sorted(groups)]


def delivery_json(rows: list[Row]) -> str:
    """Return one delivery of a list as JSON."""
    store, number_, seq, ordinal, kind, status, updated, _, item, store_json = rows[0][:LINE_COLUMN]
    lines = (_delivery_line_json(row[LINE_COLUMN:]) for row in rows if row[LINE_COLUMN] is not None)
    return join_members(
        (
            f'"order_number":{quoted(number_)},"store_number":{quoted(store)},"order_type":"{kind}"',
            f'"import_id":{Store(store, ordinal).wire_id(seq)},"status":{quoted(status)}',
            f'"updated_on":{quoted(updated)}',
            text_member("store_gln", parse_json_object(store_json).get("store_gln")),
            object_members(item),
            f'"order_lines":[{",".join(lines)}]',
        )
    )


def _delivery_line_json(row: Row) -> str:
    line, _, product, quantity, received, pool, order, order_line, _, item, product_json = row
    line_fields: NewDeliveryLine = parse_json_object(item)
    product_fields: ExtendedProduct = parse_json_object(product_json)
    return join_members(
        (
            f'"line_number":{line},"product_number":{quoted(product)},"quantity":{format_quantity(quantity)}',
            f'"received_quantity":{format_quantity(received)}',
            "" if pool is None else f'"target_stock_pool":{pool}',
            f'"customer_order_number":{quoted(order)},"customer_order_line_number":{order_line}' if order else "",
            *catalogue_members(line_fields, product_fields),
            text_member("base_unit", product_fields.get("base_unit_name")),
            text_member("purchase_unit_barcode", product_fields.get("purchase_unit_barcode")),
            text_member("purchase_unit_product_number", product_fields.get("purchase_unit_product_number")),
            _number_member("purchase_unit_quantity", product_fields.get("purchase_unit_quantity")),
            object_members(item),
        )
    )


def catalogue_members(line_fields: NewDeliveryLine, product_fields: ExtendedProduct) -> tuple[str, ...]:
    """Return the catalogue's members that the line does not have itself."""
    return (
        "" if "barcode" in line_fields else text_member("barcode", product_fields.get("barcode") or None),
        "" if "description" in line_fields else text_member("description", product_fields.get("product_name")),
        text_member("category_code", product_fields.get("category_code")),
        text_member("group_code", product_fields.get("group_code") or product_fields.get("category_code")),
    )


def _number_member(name: str, value: ExactNumber | None) -> str:
    return "" if value is None else f'"{name}":{value}'


async def list_receipts(ctx: Context, call: OperationCall) -> bytes:
    """List a page of receipts by id, of one store or of all stores of the token."""
    query, page = call.query, parse_page(call.query)
    filters, store = await store_filter(ctx, query)
    filters["receipt_type"] = query["receipt_type"]
    if "order_number" in query:
        filters["order_number"] = query["order_number"]
    filters |= {name: split_wire_id(query[name]) for name in ("from_id", "to_id") if name in query}
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
