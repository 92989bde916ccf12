"""Customer orders, listed (interface: List customer orders)."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from aisle.service.amounts import number
from aisle.service.answers import against_rule, dumps
from aisle.service.context import Call, Context, Store
from aisle.service.encode import flag, fragment, joined, member, pool_members, quoted, shipment_members
from aisle.service.pages import bounded, envelope, scrolled_page
from aisle.service.sql import orders as sql
from aisle.service.sql.compose import Query, filtered, paged, searched
from aisle.service.sql.locations import PLACES_ANY
from aisle.service.states import STATUS_ID
from aisle.service.stock.book import Book
from aisle.service.storage import Row, Statement
from aisle.service.times import shifted
from aisle.tuples import NamedTuple

MOST_NAMED = 100
"""Orders that are listed by their numbers in one request."""

_TOGETHER = 100
"""Orders whose lines are read at once: a page that is too long is noticed before all of it is in memory."""


class Lying(NamedTuple):
    """Goods of a product at a place, free or held for one order line."""

    place: str
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


async def list_customer_orders(ctx: Context, call: Call) -> bytes:
    """A page of the store's orders, oldest first; finished ones only with `is_active=false`."""
    query, page = call.query, scrolled_page(call, (int,))
    asked = _asked(ctx, query)
    every = filtered(sql.ORDER_COUNT, sql.ORDER_FILTERS, asked)
    found = filtered(sql.ORDER_KEYS, sql.ORDER_FILTERS, page.behind(asked), sql.ORDER_ORDER)
    found = paged(found, page.limit, page.offset)
    await ctx.tx.ahead(_of_one(ctx, query, every, found))
    total = await every.total(ctx.tx)
    rows, more = page.cut(await found.all(ctx.tx))
    if "order_number" in query and len(rows) == 1:
        ctx.headers["ETag"] = f'"{rows[0][-2]}"'
    entries: list[str] = []
    for part in (rows[at : at + _TOGETHER] for at in range(0, len(rows), _TOGETHER)):
        entries += await _orders(ctx, query, part)
        bounded(entries, page)
    last = (rows[-1][2],) if rows else None
    return envelope(ctx, call, entries, page, total, more=more, sort="id", last=last)


async def _orders(ctx: Context, query: Mapping[str, Any], rows: list[Row]) -> list[str]:
    """These orders encoded, with their lines where the query wants them."""
    if not query.get("show_lines"):
        return [_order(row, None) for row in rows]
    lines = await _lines(ctx, [row[1] for row in rows], query.get("include_locations", False))
    return [_order(row, lines.get(row[1], [])) for row in rows]


async def list_named(ctx: Context, call: Call) -> bytes:
    """These orders of the store, whatever has become of them, with their lines and what lies where of those."""
    rows = await ctx.tx.all(sql.ORDERS_NAMED, ctx.here.number, _named(call.query.get("numbers", "")))
    lines = await _lines(ctx, [row[1] for row in rows], include_locations=True)
    entries = [_order(row, lines.get(row[1], [])) for row in rows]
    return b'{"list":[' + ",".join(entries).encode() + b"]," + dumps({"server_time": ctx.now})[1:]


def _named(text: str) -> list[str]:
    """The numbers in a query, one a line. Raises Refusal (422) for too many."""
    numbers = [number for number in dict.fromkeys(text.split("\n")) if number]
    if len(numbers) > MOST_NAMED:
        raise against_rule(f"At most {MOST_NAMED} orders are listed in one request.", "numbers")
    return numbers


def _of_one(ctx: Context, query: Mapping[str, Any], *queries: Query) -> Iterator[Statement]:
    """What is asked for one order; of a list each query is planned by itself."""
    if "order_number" in query:
        yield from (each.statement for each in queries)
        if query.get("show_lines"):
            yield sql.LINES_OF_PAGE, (ctx.here.number, [query["order_number"]])
            yield PLACES_ANY, (ctx.here.number,)


def _asked(ctx: Context, query: Mapping[str, Any]) -> dict[str, object]:
    asked: dict[str, object] = {"store": ctx.here.number}
    if query.get("is_active", True):
        asked["is_active"] = 1
    if "is_picked" in query:
        asked["is_picked"] = int(query["is_picked"])
    if "order_number" in query:
        asked["order_number"] = query["order_number"]
    if "reference" in query:
        asked["reference"] = (query["reference"], ctx.here.number, query["reference"])
    if "fulfillment_status" in query:
        state = query["fulfillment_status"]
        asked |= {"fulfilment": state.lower()} if state.lower() in STATUS_ID else {"line_fulfilment": state}
    if "pickup_offset" in query:
        asked["pickup_until"] = shifted(ctx.seconds, query["pickup_offset"], ctx.zone())
    if "search_text" in query:
        asked |= searched("search", query["search_text"])
    return asked


def _order(row: Row, lines: list[str] | None) -> str:
    _, _, _, active, claimed, picked, rejected, status, total_lines, quantity, delivered, version, item = row
    head = (
        f'"is_active":{flag(active)},"is_claimed":{flag(claimed)},"is_picked":{flag(picked)},'
        f'"is_rejected":{flag(rejected)},"status_id":{status},"total_lines":{total_lines},'
        f'"total_quantity":{number(quantity)},"total_delivery_quantity":{number(delivered)},"version":{version}'
    )
    return joined((head, fragment(item), "" if lines is None else f'"lines":[{",".join(lines)}]'))


async def _lines(ctx: Context, orders: list[str], include_locations: bool) -> dict[str, list[str]]:
    """The encoded lines of these orders."""
    rows = await ctx.tx.all(sql.LINES_OF_PAGE, ctx.here.number, orders)
    kept = await Book(ctx, ctx.here).has_places()
    lying: Mapping[str, list[Lying]] = {}
    preferred: dict[str, int] = {}
    if kept:
        goods, codes = sorted({row[3] for row in rows}), sorted({row[11] for row in rows if row[11]})
        if len(orders) == 1:
            here = ctx.here.number
            await ctx.tx.ahead([(sql.PLACES_OF_PRODUCTS, (here, goods)), (sql.PLACE_ORDERS, (here, codes))])
        lying, preferred = await _lying(ctx, goods), await _location_orders(ctx, codes)
    found: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows:
        text = _line(ctx.here, row, lying.get(row[3], ()), preferred, include_locations and kept)
        found[row[0]].append(text)
    return found


async def _lying(ctx: Context, products: list[str]) -> dict[str, list[Lying]]:
    """What lies at places of these products, each in walking order."""
    found: defaultdict[str, list[Lying]] = defaultdict(list)
    for product, *rest in await ctx.tx.all(sql.PLACES_OF_PRODUCTS, ctx.here.number, products):
        found[product].append(Lying(*rest))
    return found


async def _location_orders(ctx: Context, codes: list[str]) -> dict[str, int]:
    return dict(await ctx.tx.all(sql.PLACE_ORDERS, ctx.here.number, codes))


def _line(store: Store, row: Row, lying: Iterable[Lying], preferred: Mapping[str, int], include_locations: bool) -> str:
    order, line, seq, _, quantity, picked, moved, delivered, closed, pool, pools, place, by, item, rejected, depot = row
    mine = [one for one in lying if not one.order or (one.order, one.line) == (order, line)]
    at, walking_order = _pick_place(mine, [pool, *json.loads(pools)], place, preferred)
    head = (
        f'"id":{store.wire_id(seq)},"line_number":{line},"quantity":{number(quantity)},'
        f'"picked_quantity":{number(picked)},"moved_quantity":{number(moved)},"delivery_qty":{number(delivered)},'
        f'"is_picked":{flag(closed)},"stock_pool":{pool},"store_walking_order":{walking_order}'
    )
    parts = [
        head,
        '"is_rejected":true' if rejected else "",
        '"aisle":{"is_picked_from_warehouse":true}' if depot else "",
        member("preferred_location_code", place or None),
        member("picked_username", by),
        fragment(item),
    ]
    if include_locations:
        parts += [member("stock_location", at), f'"store_locations":[{",".join(_line_locations(mine))}]']
    return joined(parts)


def _pick_place(
    mine: Iterable[Lying], pools: Iterable[int], place: str, preferred: Mapping[str, int]
) -> tuple[str | None, int]:
    """Where a picker is sent: the preferred place, or the first on the way with free stock in the line's pools."""
    if place in preferred:
        return place, preferred[place]
    free = [one for one in mine if not one.order and one.quantity > 0]
    for pool in pools:
        for one in free:
            if one.pool == pool:
                return one.place, one.location_order
    return None, 0


def _line_locations(mine: Iterable[Lying]) -> list[str]:
    spots: dict[tuple[str, str, int], list[Lying]] = {}
    for one in mine:
        spots.setdefault((one.place, one.order, one.line), []).append(one)
    return [_line_location(group) for group in spots.values()]


def _line_location(group: list[Lying]) -> str:
    one = group[0]
    pools = {entry.pool: entry.quantity for entry in group}
    return joined(
        (
            f'"location_code":{quoted(one.place)},"location_order":{one.location_order},'
            f'"quantity":{number(sum(pools.values()))}',
            pool_members("most_likely_pool_", pools),
            member("default_stock_pool", None if one.default_pool is None else str(one.default_pool)),
            f'"customer_order_number":{quoted(one.order)},"customer_order_line_number":{one.line}' if one.order else "",
            *shipment_members(one.shipment, one.shipment_line),
            f'"tags":{one.tags}',
        )
    )
