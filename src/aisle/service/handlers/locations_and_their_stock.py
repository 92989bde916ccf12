"""Locations of a store: lists with their stock (interface: Locations), and their settings (README: Extensions)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from aisle.contract.request_bodies.extension_bodies import LocationWrite
from aisle.service.auth.authorization import rows_by_store
from aisle.service.db.database_interface import Row
from aisle.service.db.list_query_builder import Query, filter_query, page_query, search_filter, with_page
from aisle.service.db.product_search_index import natural_sort_key, search_key
from aisle.service.db.statements import stock as stock_sql
from aisle.service.db.statements import stores_and_locations as locations_sql
from aisle.service.domain import audit
from aisle.service.domain.json_fragments import (
    join_members,
    parse_json_object,
    pool_members,
    quoted,
    select_members,
    shipment_members,
    text_member,
    to_json,
)
from aisle.service.domain.picking import parse_pool
from aisle.service.domain.quantities import format_quantity, parse_whole_number
from aisle.service.domain.read_products_and_locations import StoreCatalogue
from aisle.service.errors import SUCCESS, not_found
from aisle.service.handlers.create_and_list_products import translated_names
from aisle.service.handlers.list_page import list_envelope, parse_scroll_page
from aisle.service.http.parameter_values import check_code
from aisle.service.operation_context import Context, OperationCall, Store

# First column of a balance in a row of the page, after those of the location.
_BALANCE_COLUMN = 7
_ORDER_FILTERS = ("customer_order_number", "customer_order_shipment_number")


async def list_locations(ctx: Context, call: OperationCall) -> bytes:
    """List a page of locations in walking order, with the stock of each."""
    query, page = call.query, parse_scroll_page(call, (int, str, str))
    ctx.app_user = query.get("app_username", ctx.app_user)
    filters: dict[str, object] = {"store": ctx.store_number}
    filters |= search_filter("search", query.get("search_text", ""))
    # The store's counter has the number if there is no filter.
    if len(filters) == 1:
        total = await ctx.last_number(ctx.store_number, "location")
    else:
        count = filter_query(locations_sql.LOCATION_COUNT, locations_sql.LOCATION_FILTERS, filters)
        total = await count.fetch_count(ctx.tx)
    found = filter_query(
        locations_sql.LOCATION_KEYS,
        locations_sql.LOCATION_FILTERS,
        page.add_to_filters(filters),
        locations_sql.LOCATION_SORT,
    )
    rows = await with_page(page_query(found, page.limit, page.offset), locations_sql.LOCATION_PAGE).all(ctx.tx)
    translated = await translated_names(
        ctx, query.get("accept_language"), {row[_BALANCE_COLUMN] for row in rows if row[_BALANCE_COLUMN]}
    )
    groups = _group_by_location(rows)
    keys, more = page.split_rows(sorted(groups))
    free_only = query.get("ignore_customerorder_stock", False)
    entries = (_location_json(ctx.current_store, groups[key], free_only, translated) for key in keys)
    last = keys[-1] if keys else None
    return list_envelope(ctx, call, entries, page, total, has_more=more, sort_column="location_order", last_key=last)


def _group_by_location(rows: Iterable[Row]) -> dict[tuple[int, str, str], list[Row]]:
    groups: dict[tuple[int, str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row[2], row[6], row[0]), []).append(row)
    return groups


def _location_json(store: Store, rows: list[Row], free_only: bool, product_names: Mapping[str, str]) -> str:
    code, seq, order, pool, tags, created, _ = rows[0][:_BALANCE_COLUMN]
    stock: dict[tuple[str, str, int], dict[int, int]] = {}
    descriptions: dict[tuple[str, str, int], Row] = {}
    for product, name, customer_order, line, balance_pool, quantity, *shipment in (
        row[_BALANCE_COLUMN:] for row in rows
    ):
        if product is None or (free_only and customer_order):
            continue
        key = (product, customer_order, line)
        descriptions[key] = (product_names.get(product, name), *shipment)
        stock.setdefault(key, {})[balance_pool] = quantity
    orders = sorted({key[1] for key in stock if key[1]})
    entries = (_stock_json(key, descriptions[key], pools, tags) for key, pools in sorted(stock.items()))
    return join_members(
        (
            f'"id":{store.wire_id(seq)},"location_code":{quoted(code)},"location_order":{order},'
            f'"counter":{len({key[0] for key in stock})},'
            f'"quantity":{format_quantity(sum(sum(pools.values()) for pools in stock.values()))},'
            f'"created_on":{quoted(created)},'
            f'"customer_orders":[{",".join(map(quoted, orders))}]',
            text_member("default_stock_pool", None if pool is None else str(pool)),
            f'"tags":{tags}',
            f'"stock":[{",".join(entries)}]',
        )
    )


def _stock_json(key: tuple[str, str, int], description: Row, pools: dict[int, int], tags: str) -> str:
    product, order, line = key
    name, shipment, shipment_line = description
    return join_members(
        (
            f'"product_number":{quoted(product)},"product_description":{quoted(name)},'
            f'"quantity":{format_quantity(sum(pools.values()))}',
            f'"customer_order_number":{quoted(order)},"customer_order_line_number":{line}' if order else "",
            *shipment_members(shipment, shipment_line),
            # Here the names of pools have no underscore before the digit.
            pool_members("mostlikelypool", pools),
            f'"tags":{tags}',
        )
    )


async def list_location_products(ctx: Context, call: OperationCall) -> bytes:
    """List a page of the goods at one location, by product and order line.

    Raise Refusal (404) if there is no such location.
    """
    query, page, code = call.query, parse_scroll_page(call, (str, str, int)), call.path["location_code"]
    if await StoreCatalogue(ctx, ctx.current_store).find_location(code) is None:
        raise not_found(f"There is no location {code}.")
    filters: dict[str, object] = {"store": ctx.store_number, "place": code, "stocked": 0}
    filters |= select_members(query, _ORDER_FILTERS)
    # An advanced search looks through all fields of the product.
    searched = "detail" if query.get("advance_search") else "search"
    filters |= search_filter(searched, query.get("search_text", ""))
    total = await _count_query(filters).fetch_count(ctx.tx)
    order = stock_sql.GOODS_AT_LOCATION_GROUP + " " + stock_sql.GOODS_AT_LOCATION_SORT
    found = filter_query(
        stock_sql.GOODS_AT_LOCATION, stock_sql.GOODS_AT_LOCATION_FILTERS, page.add_to_filters(filters), order
    )
    rows, more = page.split_rows(await page_query(found, page.limit, page.offset).all(ctx.tx))
    translated = await translated_names(ctx, call.header.get("Accept-Language"), {row[0] for row in rows})
    entries = [_product_json(row, translated.get(row[0]) or row[4]) for row in rows]
    last = rows[-1][:3] if rows else None
    return list_envelope(ctx, call, entries, page, total, has_more=more, sort_column="product_number", last_key=last)


def _count_query(filters: Mapping[str, object]) -> Query:
    return filter_query(
        stock_sql.GOODS_AT_LOCATION_COUNT,
        stock_sql.GOODS_AT_LOCATION_FILTERS,
        filters,
        stock_sql.GOODS_AT_LOCATION_GROUP + ") counted",
    )


def _product_json(row: Row, name: str) -> str:
    product, order, line, quantity, _, barcode, item, shipment, shipment_line = row
    return join_members(
        (
            f'"product_number":{quoted(product)},"product_description":{quoted(name)},"quantity":{format_quantity(quantity)}',
            text_member("barcode", barcode or None),
            f'"customer_order_number":{quoted(order)},"customer_order_line_number":{line}' if order else "",
            *shipment_members(shipment, shipment_line),
            text_member("image_url", parse_json_object(item).get("image_url")),
        )
    )


async def write_locations(ctx: Context, call: OperationCall) -> bytes:
    """Create locations or change their named fields, in one store or several."""
    locations: list[LocationWrite] = call.body["locations"]
    async for store, bodies in rows_by_store(ctx, locations):
        await _write_store_locations(ctx, store, bodies)
    return SUCCESS


async def _write_store_locations(ctx: Context, store: Store, bodies: list[tuple[int, LocationWrite]]) -> None:
    codes = sorted({body["location_code"] for _, body in bodies})
    rows = await ctx.tx.all(locations_sql.LOCATION_SETTINGS, store.number, codes)
    known: dict[str, tuple[int, int, int | None, str, str]] = {row[0]: tuple(row[1:]) for row in rows}
    new = [code for code in codes if code not in known]
    first = await ctx.next_numbers(store.number, "location", len(new)) if new else 0
    before = {code: _audited_fields(known.get(code)) for code in codes}
    known |= {code: (first + n, 0, None, "[]", "") for n, code in enumerate(new)}
    for index, body in bodies:
        code, field = body["location_code"], f"locations[{index}]"
        check_code(code, "the code of a location", f"{field}.location_code")
        seq, order, pool, tags, carrier = known[code]
        if "location_order" in body:
            order = parse_whole_number(body["location_order"], f"{field}.location_order")
        if "default_stock_pool" in body:
            pool = parse_pool(body["default_stock_pool"], f"{field}.default_stock_pool")
        tags = to_json(body["tags"]) if "tags" in body else tags
        known[code] = (seq, order, pool, tags, body.get("carrier_code", carrier))
        ctx.mark_changed(store.number, "location", code)
    changes = [audit.AuditChange("location", code, before[code], _audited_fields(known[code])) for code in codes]
    await audit.record_changes(ctx, store.number, changes)
    different = sum(change.before != change.after for change in changes if change.key not in new)
    ctx.count_records(new=len(new), changed=different, same=len(codes) - len(new) - different)
    rows = [
        (store.number, code, seq, natural_sort_key(code), ctx.now, order, pool, tags, search_key((code, tags)), carrier)
        for code, (seq, order, pool, tags, carrier) in known.items()
    ]
    await ctx.tx.run_many(locations_sql.LOCATION_SET, rows)


def _audited_fields(row: tuple[int, int, int | None, str, str] | None) -> dict[str, object]:
    """Return the audited fields of a location."""
    if row is None:
        return {}
    _seq, order, pool, tags, carrier = row
    fields = {"location_order": order, "default_stock_pool": pool, "tags": json.loads(tags), "carrier_code": carrier}
    return {name: value for name, value in fields.items() if value not in (None, "", [])}
