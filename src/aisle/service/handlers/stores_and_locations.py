"""Stores, and their locations with stock and settings (interface: Stores, Locations)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Final

from aisle.contract.request_bodies.extension_bodies import ExtendedStore, LocationWrite
from aisle.contract.request_encoding import POOL_NUMBERS
from aisle.service.auth.authorization import rows_by_store
from aisle.service.db.database_interface import Row
from aisle.service.db.list_query_builder import Query, filter_query, page_query, search_filter, with_page
from aisle.service.db.schema_and_search_index import natural_sort_key, search_key
from aisle.service.db.statements import stock as stock_sql
from aisle.service.db.statements import stores_and_products as stores_sql
from aisle.service.domain import log_and_audit_writer
from aisle.service.domain.ordering_schedule import schedule_row_problems
from aisle.service.domain.picking_and_moves import parse_pool
from aisle.service.domain.quantities_times_and_json import (
    TimeZone,
    drop_none,
    format_quantity,
    join_members,
    parse_json_object,
    parse_timestamp,
    parse_whole_number,
    pool_members,
    quoted,
    rename_members,
    select_members,
    shipment_members,
    text_member,
    to_json,
    zone_header,
)
from aisle.service.domain.read_products_and_locations import StoreCatalogue
from aisle.service.errors import SUCCESS, conflict, not_found, unprocessable
from aisle.service.handlers.create_and_list_products import translated_names
from aisle.service.handlers.list_page import list_envelope, parse_scroll_page
from aisle.service.http.parameters_and_headers import check_code
from aisle.service.operation_context import CHAIN, Context, OperationCall, Store

_POOL_NAMES = {f"store_stock_pool_{pool}": f"storeStockPool{pool}" for pool in POOL_NUMBERS}
_TIME_FIELDS: Final = ("store_next_ordering_datetime", "store_next_delivery_datetime", "last_order_line_exported_on")


async def list_stores(ctx: Context, call: OperationCall) -> bytes:
    """List the token's stores, by number."""
    query, page = call.query, parse_scroll_page(call, (str,))
    filters: dict[str, object] = {}
    if not ctx.principal.all_stores:
        filters["token"] = ctx.principal.token_id
    if "is_warehouse" in query:
        filters["is_warehouse"] = int(query["is_warehouse"])
    filters |= search_filter("search", query.get("search_text", ""))
    if "secondary_key" in query:
        filters["secondary_key"] = query["secondary_key"]
    total = await filter_query(stores_sql.STORE_COUNT, stores_sql.STORE_FILTERS, filters).fetch_count(ctx.tx)
    found = filter_query(
        stores_sql.STORE_LIST, stores_sql.STORE_FILTERS, page.add_to_filters(filters), stores_sql.STORE_SORT
    )
    rows, more = page.split_rows(await page_query(found, page.limit, page.offset).all(ctx.tx))
    last = (rows[-1][1],) if rows else None
    return list_envelope(
        ctx, call, (row[0] for row in rows), page, total, has_more=more, sort_column="storeNo", last_key=last
    )


async def create_stores(ctx: Context, call: OperationCall) -> bytes:
    """Create or update stores. With `flush`, delete those that the request does not name."""
    received: list[ExtendedStore] = call.body.get("stores", [])
    bodies = [body.copy() for body in received]
    for index, body in enumerate(bodies):
        _check_number(body["store_number"], f"stores[{index}].store_number")
        if not body["store_name"].strip():
            raise unprocessable("A store has a name.", f"stores[{index}].store_name")
        _normalize_times(body, f"stores[{index}]", ctx.time_zone(body["store_number"]))
    numbers = [body["store_number"] for body in bodies]
    if call.query.get("flush"):
        await _delete_unnamed(ctx, numbers)
    found = await ctx.tx.all(stores_sql.STORE_ORDINALS, sorted(set(numbers)))
    stored: dict[str, ExtendedStore] = {row[0]: parse_json_object(row[2]) for row in found}
    ordinals: dict[str, int] = {row[0]: row[1] for row in found}
    if new := [number for number in dict.fromkeys(numbers) if number not in stored]:
        first = await ctx.next_numbers(CHAIN, "store", len(new))
        ordinals |= {number: first + n for n, number in enumerate(new)}
    changes: list[log_and_audit_writer.AuditChange] = []
    for body in bodies:
        number = body["store_number"]
        old = stored.get(number)
        merged = body if old is None else old | body
        ctx.count_records(new=old is None, changed=old is not None and merged != old, same=merged == old)
        changes.append(log_and_audit_writer.AuditChange("store", number, old or {}, merged))
        stored[number] = merged
        ctx.mark_changed(CHAIN, "store", number)
    if bodies:
        await ctx.tx.run_many(
            stores_sql.STORE_SET, [_store_row(ordinals[n], stored[n]) for n in dict.fromkeys(numbers)]
        )
    await log_and_audit_writer.record_changes(ctx, CHAIN, changes)
    return SUCCESS


def _check_number(number: str, field: str) -> None:
    check_code(number, "the number of a store", field)
    if number == CHAIN:
        raise unprocessable(f"{number!r} cannot be the number of a store.", field)


def _normalize_times(body: ExtendedStore, field: str, zone: TimeZone) -> None:
    """Normalize times and check the ordering schema. Raise Refusal: 400 for a bad time, 422 for a bad schema."""
    for name in _TIME_FIELDS:
        if body.get(name):
            body[name] = parse_timestamp(body[name], f"{field}.{name}", zone)
    for number, row in enumerate(body.get("ordering_schema") or ()):
        if problems := schedule_row_problems(row):
            raise unprocessable(f"{'; '.join(problems)}.", f"{field}.ordering_schema[{number}]")


async def _delete_unnamed(ctx: Context, kept_numbers: list[str]) -> None:
    unnamed = [row[0] for row in await ctx.tx.all(stores_sql.STORE_NUMBERS) if row[0] not in set(kept_numbers)]
    in_use = [row[0] for row in await ctx.tx.all(stores_sql.STORES_IN_USE, unnamed)]
    if in_use:
        raise conflict(f"Stores with stock, open orders or tokens stay: {', '.join(in_use[:20])}.", "flush")
    for statement in stores_sql.STORE_DELETES:
        await ctx.tx.run(statement, unnamed)
    for number in unnamed:
        ctx.mark_changed(CHAIN, "store", number)
    await log_and_audit_writer.record_changes(
        ctx, CHAIN, [log_and_audit_writer.AuditChange("store", number, {"is_there": True}, {}) for number in unnamed]
    )


def _store_row(ordinal: int, body: ExtendedStore) -> tuple[object, ...]:
    """Return a row of `store` in the order of `STORE_SET`."""
    item: dict[str, object] = {
        "id": ordinal,
        "storeNo": body["store_number"],
        "storeName": body["store_name"],
        "areaId": body.get("area_id"),
        "areaDescription": body.get("area_description"),
        "countryCode": body.get("country_code"),
        "isWarhouse": body["is_warehouse"],
        "inventLocation": body.get("invent_location"),
        "legalEntity": body.get("legal_entity"),
        "lastOrderLineExportedOn": body.get("last_order_line_exported_on"),
        **rename_members(body, _POOL_NAMES),
    }
    return (
        body["store_number"],
        ordinal,
        body["store_name"],
        int(body["is_warehouse"]),
        int(body["is_active"]),
        body.get("area_id", ""),
        body.get("store_gln", ""),
        search_key((body["store_name"], body["store_number"])),
        to_json(drop_none(item)),
        to_json(body),
        body.get("cost_center", ""),
    )


async def retrieve_store(ctx: Context, call: OperationCall) -> bytes:
    """Return the store under the field names of its creation. A header names the zone of its times, if it is known."""
    ctx.response_headers |= zone_header(ctx.time_zone())
    row = await ctx.tx.one(stores_sql.STORE_DATA, ctx.store_number)
    assert row is not None
    data: str = row[0]
    return data.encode()


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
        count = filter_query(stores_sql.LOCATION_COUNT, stores_sql.LOCATION_FILTERS, filters)
        total = await count.fetch_count(ctx.tx)
    found = filter_query(
        stores_sql.LOCATION_KEYS,
        stores_sql.LOCATION_FILTERS,
        page.add_to_filters(filters),
        stores_sql.LOCATION_SORT,
    )
    rows = await with_page(page_query(found, page.limit, page.offset), stores_sql.LOCATION_PAGE).all(ctx.tx)
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
    rows = await ctx.tx.all(stores_sql.LOCATION_SETTINGS, store.number, codes)
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
    changes = [
        log_and_audit_writer.AuditChange("location", code, before[code], _audited_fields(known[code])) for code in codes
    ]
    await log_and_audit_writer.record_changes(ctx, store.number, changes)
    different = sum(change.before != change.after for change in changes if change.key not in new)
    ctx.count_records(new=len(new), changed=different, same=len(codes) - len(new) - different)
    rows = [
        (store.number, code, seq, natural_sort_key(code), ctx.now, order, pool, tags, search_key((code, tags)), carrier)
        for code, (seq, order, pool, tags, carrier) in known.items()
    ]
    await ctx.tx.run_many(stores_sql.LOCATION_SET, rows)


def _audited_fields(row: tuple[int, int, int | None, str, str] | None) -> dict[str, object]:
    """Return the audited fields of a location."""
    if row is None:
        return {}
    _seq, order, pool, tags, carrier = row
    fields = {"location_order": order, "default_stock_pool": pool, "tags": json.loads(tags), "carrier_code": carrier}
    return {name: value for name, value in fields.items() if value not in (None, "", [])}
