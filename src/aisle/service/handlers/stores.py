"""Stores: listed, created, updated, and taken away by a flush (interface: Stores)."""

from __future__ import annotations

from typing import Any

from aisle.contract.wire import POOLS
from aisle.service import audit
from aisle.service.answers import DONE, against_rule, conflict
from aisle.service.context import CHAIN, Call, Context
from aisle.service.encode import compact, loaded, without_none
from aisle.service.limits import check_code
from aisle.service.ordering import is_row
from aisle.service.pages import envelope, scrolled_page
from aisle.service.sql import stores as sql
from aisle.service.sql.compose import filtered, paged, searched
from aisle.service.text import search_key
from aisle.service.times import Zone, parsed

_TIMES = ("store_next_ordering_datetime", "store_next_delivery_datetime", "last_order_line_exported_on")


async def list_stores(ctx: Context, call: Call) -> bytes:
    """The token's stores, by number."""
    query, page = call.query, scrolled_page(call, (str,))
    asked: dict[str, object] = {}
    if not ctx.principal.all_stores:
        asked["token"] = ctx.principal.token_id
    if "is_warehouse" in query:
        asked["is_warehouse"] = int(query["is_warehouse"])
    if "search_text" in query:
        asked |= searched("search", query["search_text"])
    if "secondary_key" in query:
        asked["secondary_key"] = query["secondary_key"]
    total = await filtered(sql.STORE_COUNT, sql.STORE_FILTERS, asked).total(ctx.tx)
    found = filtered(sql.STORE_LIST, sql.STORE_FILTERS, page.behind(asked), sql.STORE_ORDER)
    rows, more = page.cut(await paged(found, page.limit, page.offset).all(ctx.tx))
    last = (rows[-1][1],) if rows else None
    return envelope(ctx, call, (row[0] for row in rows), page, total, more=more, sort="storeNo", last=last)


async def create_stores(ctx: Context, call: Call) -> bytes:
    """Create or update stores; with `flush`, take away those that the request does not name."""
    bodies = [without_none(body) for body in call.body.get("stores") or []]
    for index, body in enumerate(bodies):
        _check_number(body["store_number"], f"stores[{index}].store_number")
        if not body["store_name"].strip():
            raise against_rule("A store has a name.", f"stores[{index}].store_name")
        _check_times(body, f"stores[{index}]", ctx.zone(body["store_number"]))
    numbers = [body["store_number"] for body in bodies]
    if call.query.get("flush"):
        await _remove_others(ctx, numbers)
    known = {row[0]: (row[1], loaded(row[2])) for row in await ctx.tx.all(sql.STORE_ORDINALS, sorted(set(numbers)))}
    changes: list[audit.Change] = []
    for body in bodies:
        number = body["store_number"]
        ordinal, old = known.get(number) or (await ctx.take(CHAIN, "store"), {})
        merged = old | body
        changes.append(audit.Change("store", number, old, merged))
        await ctx.tx.run(sql.STORE_SET, *_row(ordinal, merged))
        known[number] = (ordinal, merged)
        ctx.changed(CHAIN, "store", number)
    await audit.note(ctx, CHAIN, changes)
    return DONE


def _check_number(number: str, field: str) -> None:
    check_code(number, "the number of a store", field)
    if number == CHAIN:
        raise against_rule(f"{number!r} cannot be the number of a store.", field)


def _check_times(body: dict[str, Any], field: str, zone: Zone) -> None:
    """The next moments in their one form. Raises Refusal: 400 for one that is none, 422 for a schema that says none."""
    for name in _TIMES:
        if body.get(name):
            body[name] = parsed(body[name], f"{field}.{name}", zone)
    for number, row in enumerate(body.get("ordering_schema") or ()):
        if not is_row(row):
            raise against_rule("This names no day, time or weeks.", f"{field}.ordering_schema[{number}]")


async def _remove_others(ctx: Context, kept: list[str]) -> None:
    gone = [row[0] for row in await ctx.tx.all(sql.STORES_ALL) if row[0] not in set(kept)]
    in_use = [row[0] for row in await ctx.tx.all(sql.STORE_IN_USE, gone)]
    if in_use:
        raise conflict(f"Stores with stock, open orders or tokens stay: {', '.join(in_use[:20])}.", "flush")
    for statement in sql.STORE_REMOVALS:
        await ctx.tx.run(statement, gone)
    for number in gone:
        ctx.changed(CHAIN, "store", number)
    await audit.note(ctx, CHAIN, [audit.Change("store", number, {"is_there": True}, {}) for number in gone])


def _row(ordinal: int, body: dict[str, Any]) -> tuple[object, ...]:
    """A row of `store`, in the order of `STORE_SET`."""
    item = {
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
        **{f"storeStockPool{pool}": body.get(f"store_stock_pool_{pool}") for pool in POOLS},
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
        compact(without_none(item)),
        compact(body),
        body.get("cost_center", ""),
    )
