"""Lists of customer orders (interface: List customer orders)."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from aisle.service.db.database_interface import Row
from aisle.service.db.list_query_builder import filter_query, page_query, search_filter
from aisle.service.db.statements import orders as sql
from aisle.service.domain.json_fragments import (
    join_members,
    json_boolean,
    object_members,
    pool_members,
    quoted,
    shipment_members,
    text_member,
)
from aisle.service.domain.quantities import format_quantity
from aisle.service.domain.read_products_and_locations import StoreCatalogue
from aisle.service.domain.states import STATUS_IDS
from aisle.service.domain.timestamps import day_after_days
from aisle.service.errors import Refusal, to_json_bytes, unprocessable
from aisle.service.handlers.list_page import MAX_PAGE_BYTES, list_envelope, page_too_long, parse_scroll_page
from aisle.service.operation_context import Context, OperationCall, ParamValues, Store

MAX_ORDER_NUMBERS = 100
"""Maximum number of orders in a list by numbers."""

_ORDERS_PER_READ = 100
"""Orders whose lines are read at once, so that a page that is too long is noticed early."""


class GoodsAtLocation(NamedTuple):
    """Goods of a product at a location, free or held for one order line."""

    location: str
    pool: int
    order: str
    line: int
    quantity: int
    location_order: int
    sort_key: str
    default_pool: int | None
    tags: str
    shipment: str | None
    shipment_line: int | None


async def list_customer_orders(ctx: Context, call: OperationCall) -> bytes:
    """List a page of the store's orders, oldest first; finished ones only with `is_active=false`."""
    query, page = call.query, parse_scroll_page(call, (int,))
    filters = _parse_filters(ctx, query)
    every = filter_query(sql.ORDER_COUNT, sql.ORDER_FILTERS, filters)
    found = filter_query(sql.ORDER_LIST, sql.ORDER_FILTERS, page.add_to_filters(filters), sql.ORDER_SORT)
    found = page_query(found, page.limit, page.offset)
    total = await every.fetch_count(ctx.tx)
    rows, more = page.split_rows(await found.all(ctx.tx))
    if "order_number" in query and len(rows) == 1:
        ctx.response_headers["ETag"] = f'"{rows[0][-2]}"'
    entries: list[str] = []
    for part in (rows[at : at + _ORDERS_PER_READ] for at in range(0, len(rows), _ORDERS_PER_READ)):
        entries += await _orders_json(ctx, query, part)
        if page.size > 1 and sum(map(len, entries)) > MAX_PAGE_BYTES:
            raise page_too_long(page)
    last = (rows[-1][2],) if rows else None
    return list_envelope(ctx, call, entries, page, total, has_more=more, sort_column="id", last_key=last)


async def _orders_json(ctx: Context, query: ParamValues, rows: list[Row]) -> list[str]:
    """Return the orders as JSON, with their lines if the query asks for them."""
    if not query.get("show_lines"):
        return [_order_json(row, None) for row in rows]
    lines = await _lines_json(ctx, [row[1] for row in rows], query.get("include_locations", False))
    return [_order_json(row, lines.get(row[1], [])) for row in rows]


async def list_orders_by_number(ctx: Context, call: OperationCall) -> bytes:
    """List the named orders of the store in any state, with their lines and the locations of their goods."""
    rows = await ctx.tx.all(sql.ORDERS_BY_NUMBER, ctx.store_number, _parse_order_numbers(call.query.get("numbers", "")))
    lines = await _lines_json(ctx, [row[1] for row in rows], include_locations=True)
    entries = [_order_json(row, lines.get(row[1], [])) for row in rows]
    if len(entries) > 1 and sum(map(len, entries)) > MAX_PAGE_BYTES:
        raise Refusal(413, "These orders are too long for one answer. Ask for fewer.", "numbers")
    return b'{"list":[' + ",".join(entries).encode() + b"]," + to_json_bytes({"server_time": ctx.now})[1:]


def _parse_order_numbers(text: str) -> list[str]:
    """Return the numbers of a query, one per line. Raise Refusal (422) if there are too many."""
    numbers = [number for number in dict.fromkeys(text.split("\n")) if number]
    if len(numbers) > MAX_ORDER_NUMBERS:
        raise unprocessable(f"At most {MAX_ORDER_NUMBERS} orders are listed in one request.", "numbers")
    return numbers


def _parse_filters(ctx: Context, query: ParamValues) -> dict[str, object]:
    filters: dict[str, object] = {"store": ctx.store_number}
    if query.get("is_active", True):
        filters["is_active"] = 1
    if "is_picked" in query:
        filters["is_picked"] = int(query["is_picked"])
    if "order_number" in query:
        filters["order_number"] = query["order_number"]
    if "reference" in query:
        filters["reference"] = (query["reference"], ctx.store_number, query["reference"])
    if "fulfillment_status" in query:
        state = query["fulfillment_status"]
        filters |= {"fulfilment": state.lower()} if state.lower() in STATUS_IDS else {"line_fulfilment": state}
    if "pickup_offset" in query:
        filters["pickup_until"] = day_after_days(ctx.now_seconds, query["pickup_offset"], ctx.time_zone())
    filters |= search_filter("search", query.get("search_text", ""))
    return filters


def _order_json(row: Row, lines: list[str] | None) -> str:
    _, _, _, active, claimed, picked, rejected, status, total_lines, quantity, delivered, version, item = row
    head = (
        f'"is_active":{json_boolean(active)},"is_claimed":{json_boolean(claimed)},"is_picked":{json_boolean(picked)},'
        f'"is_rejected":{json_boolean(rejected)},"status_id":{status},"total_lines":{total_lines},'
        f'"total_quantity":{format_quantity(quantity)},"total_delivery_quantity":{format_quantity(delivered)},"version":{version}'
    )
    return join_members((head, object_members(item), "" if lines is None else f'"lines":[{",".join(lines)}]'))


async def _lines_json(ctx: Context, orders: list[str], include_locations: bool) -> dict[str, list[str]]:
    """Return the lines of these orders as JSON."""
    rows = await ctx.tx.all(sql.LINES_OF_ORDERS, ctx.store_number, orders)
    kept = await StoreCatalogue(ctx, ctx.current_store).has_locations()
    goods_by_product: Mapping[str, list[GoodsAtLocation]] = {}
    preferred: dict[str, int] = {}
    if kept:
        goods, codes = sorted({row[3] for row in rows}), sorted({row[11] for row in rows if row[11]})
        goods_by_product = await _load_goods(ctx, goods)
        preferred = dict(await ctx.tx.all(sql.LOCATION_ORDERS, ctx.store_number, codes))
    found: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows:
        text = _line_json(
            ctx.current_store, row, goods_by_product.get(row[3], ()), preferred, include_locations and kept
        )
        found[row[0]].append(text)
    return found


async def _load_goods(ctx: Context, products: list[str]) -> dict[str, list[GoodsAtLocation]]:
    """Return the goods of these products at locations, each in walking order."""
    found: defaultdict[str, list[GoodsAtLocation]] = defaultdict(list)
    for product, *rest in await ctx.tx.all(sql.LOCATIONS_OF_PRODUCTS, ctx.store_number, products):
        found[product].append(GoodsAtLocation(*rest))
    return found


def _line_json(
    store: Store, row: Row, goods: Iterable[GoodsAtLocation], preferred: Mapping[str, int], include_locations: bool
) -> str:
    order, line, seq, _, quantity, picked, moved, delivered = row[:8]
    closed, pool, pools, preferred_location, picked_by, item, rejected, from_warehouse = row[8:]
    line_goods = [one for one in goods if not one.order or (one.order, one.line) == (order, line)]
    pick_location, walking_order = _pick_location(line_goods, [pool, *json.loads(pools)], preferred_location, preferred)
    head = (
        f'"id":{store.wire_id(seq)},"line_number":{line},"quantity":{format_quantity(quantity)},'
        f'"picked_quantity":{format_quantity(picked)},"moved_quantity":{format_quantity(moved)},"delivery_qty":{format_quantity(delivered)},'
        f'"is_picked":{json_boolean(closed)},"stock_pool":{pool},"store_walking_order":{walking_order}'
    )
    parts = [
        head,
        '"is_rejected":true' if rejected else "",
        '"aisle":{"is_picked_from_warehouse":true}' if from_warehouse else "",
        text_member("preferred_location_code", preferred_location or None),
        text_member("picked_username", picked_by),
        object_members(item),
    ]
    if include_locations:
        parts += [
            text_member("stock_location", pick_location),
            f'"store_locations":[{",".join(_line_locations_json(line_goods))}]',
        ]
    return join_members(parts)


def _pick_location(
    goods: Iterable[GoodsAtLocation], pools: Iterable[int], location: str, preferred: Mapping[str, int]
) -> tuple[str | None, int]:
    """Return the location to pick at: the preferred one, otherwise the first with free stock in the line's pools."""
    if location in preferred:
        return location, preferred[location]
    free = [one for one in goods if not one.order and one.quantity > 0]
    for pool in pools:
        for one in free:
            if one.pool == pool:
                return one.location, one.location_order
    return None, 0


def _line_locations_json(goods: Iterable[GoodsAtLocation]) -> list[str]:
    groups: dict[tuple[str, str, int], list[GoodsAtLocation]] = {}
    for one in goods:
        groups.setdefault((one.location, one.order, one.line), []).append(one)
    return [_line_location_json(group) for group in groups.values()]


def _line_location_json(goods: list[GoodsAtLocation]) -> str:
    one = goods[0]
    pools = {entry.pool: entry.quantity for entry in goods}
    return join_members(
        (
            f'"location_code":{quoted(one.location)},"location_order":{one.location_order},'
            f'"quantity":{format_quantity(sum(pools.values()))}',
            pool_members("most_likely_pool_", pools),
            text_member("default_stock_pool", None if one.default_pool is None else str(one.default_pool)),
            f'"customer_order_number":{quoted(one.order)},"customer_order_line_number":{one.line}' if one.order else "",
            *shipment_members(one.shipment, one.shipment_line),
            f'"tags":{one.tags}',
        )
    )
