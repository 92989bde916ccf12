"""Stores: list, create, update, and delete by `flush` (interface: Stores)."""

from __future__ import annotations

from typing import Final

from aisle.contract.request_bodies.extension_bodies import ExtendedStore
from aisle.contract.request_encoding import POOL_NUMBERS
from aisle.service.db.list_query_builder import filter_query, page_query, search_filter
from aisle.service.db.product_search_index import search_key
from aisle.service.db.statements import stores_and_locations as stores_sql
from aisle.service.domain import audit
from aisle.service.domain.json_fragments import drop_none, parse_json_object, rename_members, to_json
from aisle.service.domain.ordering_schedule import schedule_row_problems
from aisle.service.domain.timestamps import TimeZone, parse_timestamp, zone_header
from aisle.service.errors import SUCCESS, conflict, unprocessable
from aisle.service.handlers.list_page import list_envelope, parse_scroll_page
from aisle.service.http.parameter_values import check_code
from aisle.service.operation_context import CHAIN, Context, OperationCall

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
    changes: list[audit.AuditChange] = []
    for body in bodies:
        number = body["store_number"]
        old = stored.get(number)
        merged = body if old is None else old | body
        ctx.count_records(new=old is None, changed=old is not None and merged != old, same=merged == old)
        changes.append(audit.AuditChange("store", number, old or {}, merged))
        stored[number] = merged
        ctx.mark_changed(CHAIN, "store", number)
    if bodies:
        await ctx.tx.run_many(
            stores_sql.STORE_SET, [_store_row(ordinals[n], stored[n]) for n in dict.fromkeys(numbers)]
        )
    await audit.record_changes(ctx, CHAIN, changes)
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
    await audit.record_changes(
        ctx, CHAIN, [audit.AuditChange("store", number, {"is_there": True}, {}) for number in unnamed]
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
