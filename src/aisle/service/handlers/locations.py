"""Places of a store and what lies on them (interface: Locations)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from aisle.service.amounts import number
from aisle.service.answers import missing
from aisle.service.context import Call, Context, Store
from aisle.service.encode import joined, loaded, member, pool_members, quoted, shipment_members
from aisle.service.handlers.languages import names
from aisle.service.pages import envelope, scrolled_page
from aisle.service.sql import locations as sql
from aisle.service.sql.compose import Query, around, filtered, paged, searched
from aisle.service.stock.book import Book
from aisle.service.storage import Row

# Where the columns of a balance begin in a row of the page, after those of the place.
_BALANCE = 7
_OF_ORDERS = ("customer_order_number", "customer_order_shipment_number")


async def list_locations(ctx: Context, call: Call) -> bytes:
    """A page of places in walking order, with the stock on each."""
    query, page = call.query, scrolled_page(call, (int, str, str))
    ctx.app_user = query.get("app_username", ctx.app_user)
    asked: dict[str, object] = {"store": ctx.here.number}
    if "search_text" in query:
        asked |= searched("search", query["search_text"])
    # From the store's counters where nothing else is asked.
    one = Query(sql.LOCATION_COUNT_ONE, (ctx.here.number,))
    every = one if len(asked) == 1 else filtered(sql.LOCATION_COUNT, sql.LOCATION_FILTERS, asked)
    total = await every.total(ctx.tx)
    found = filtered(sql.LOCATION_KEYS, sql.LOCATION_FILTERS, page.behind(asked), sql.LOCATION_ORDER)
    rows = await around(paged(found, page.limit, page.offset), sql.LOCATION_PAGE).all(ctx.tx)
    translated = await names(ctx, query.get("accept_language"), {row[_BALANCE] for row in rows if row[_BALANCE]})
    groups = _by_place(rows)
    keys, more = page.cut(sorted(groups))
    free_only = query.get("ignore_customerorder_stock", False)
    entries = (_location(ctx.here, groups[key], free_only, translated) for key in keys)
    last = keys[-1] if keys else None
    return envelope(ctx, call, entries, page, total, more=more, sort="location_order", last=last)


def _by_place(rows: Iterable[Row]) -> dict[tuple[int, str, str], list[Row]]:
    groups: dict[tuple[int, str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row[2], row[6], row[0]), []).append(row)
    return groups


def _location(store: Store, rows: list[Row], free_only: bool, translated: Mapping[str, str]) -> str:
    code, seq, order, pool, tags, created, _ = rows[0][:_BALANCE]
    stock: dict[tuple[str, str, int], dict[int, int]] = {}
    about: dict[tuple[str, str, int], Row] = {}
    for product, name, customer_order, line, of, quantity, *shipment in (row[_BALANCE:] for row in rows):
        if product is None or (free_only and customer_order):
            continue
        key = (product, customer_order, line)
        about[key] = (translated.get(product, name), *shipment)
        stock.setdefault(key, {})[of] = quantity
    orders = sorted({key[1] for key in stock if key[1]})
    entries = (_stock(key, about[key], pools, tags) for key, pools in sorted(stock.items()))
    return joined(
        (
            f'"id":{store.wire_id(seq)},"location_code":{quoted(code)},"location_order":{order},'
            f'"counter":{len({key[0] for key in stock})},'
            f'"quantity":{number(sum(sum(pools.values()) for pools in stock.values()))},"created_on":{quoted(created)},'
            f'"customer_orders":[{",".join(map(quoted, orders))}]',
            member("default_stock_pool", None if pool is None else str(pool)),
            f'"tags":{tags}',
            f'"stock":[{",".join(entries)}]',
        )
    )


def _stock(key: tuple[str, str, int], about: Row, pools: dict[int, int], tags: str) -> str:
    product, order, line = key
    name, shipment, shipment_line = about
    return joined(
        (
            f'"product_number":{quoted(product)},"product_description":{quoted(name)},'
            f'"quantity":{number(sum(pools.values()))}',
            f'"customer_order_number":{quoted(order)},"customer_order_line_number":{line}' if order else "",
            *shipment_members(shipment, shipment_line),
            # Here the pools are spelled without an underscore before the digit.
            pool_members("mostlikelypool", pools),
            f'"tags":{tags}',
        )
    )


async def list_location_products(ctx: Context, call: Call) -> bytes:
    """A page of what lies at one place, by product and order line. Raises Refusal (404): no such place."""
    query, page, code = call.query, scrolled_page(call, (str, str, int)), call.path["location_code"]
    if await Book(ctx, ctx.here).known_place(code) is None:
        raise missing(f"There is no location {code}.")
    asked: dict[str, object] = {"store": ctx.here.number, "place": code, "stocked": 0}
    asked |= {name: query[name] for name in _OF_ORDERS if name in query}
    asked |= _searched(query)
    total = await _at_place(asked).total(ctx.tx)
    order = sql.AT_PLACE_GROUP + " " + sql.AT_PLACE_ORDER
    found = filtered(sql.AT_PLACE, sql.AT_PLACE_FILTERS, page.behind(asked), order)
    rows, more = page.cut(await paged(found, page.limit, page.offset).all(ctx.tx))
    translated = await names(ctx, call.header.get("Accept-Language"), {row[0] for row in rows})
    entries = [_product(row, translated.get(row[0]) or row[4]) for row in rows]
    last = rows[-1][:3] if rows else None
    return envelope(ctx, call, entries, page, total, more=more, sort="product_number", last=last)


def _at_place(asked: Mapping[str, object]) -> Query:
    return filtered(sql.AT_PLACE_COUNT, sql.AT_PLACE_FILTERS, asked, sql.AT_PLACE_GROUP + ") counted")


def _searched(query: dict[str, Any]) -> dict[str, object]:
    """A search through name and barcode; the advanced one through everything the catalogue says of the product."""
    if "search_text" not in query:
        return {}
    return {**searched("detail" if query.get("advance_search") else "search", query["search_text"])}


def _product(row: Row, name: str) -> str:
    product, order, line, quantity, _, barcode, item, shipment, shipment_line = row
    return joined(
        (
            f'"product_number":{quoted(product)},"product_description":{quoted(name)},"quantity":{number(quantity)}',
            member("barcode", barcode or None),
            f'"customer_order_number":{quoted(order)},"customer_order_line_number":{line}' if order else "",
            *shipment_members(shipment, shipment_line),
            member("image_url", loaded(item).get("image_url")),
        )
    )
