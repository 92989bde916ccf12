"""The catalogue: created, updated, listed (interface: Products; its bodies and parameters are assumed)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from aisle.code_forms import split_codes
from aisle.service import audit
from aisle.service.amounts import INT32, int32
from aisle.service.answers import DONE, against_rule, dumps, malformed
from aisle.service.barcodes import asked_keys
from aisle.service.context import CHAIN, Call, Context
from aisle.service.encode import compact, loaded, without_none
from aisle.service.limits import check_code
from aisle.service.pages import asked_page, bounded
from aisle.service.product_codes import codes_of
from aisle.service.sql import core
from aisle.service.sql import products as sql
from aisle.service.sql.compose import Query, filtered, paged, searched
from aisle.service.sql.stock import STOCK_COUNT_ONE
from aisle.service.text import search_key
from aisle.service.times import parsed
from aisle.service.tokens import enter
from aisle.service.values import PRICES

Body = dict[str, Any]

# What the document requires of a product and its creator did not say.
_DEFAULTS: Body = {
    "barcode": "",
    "carrier_item_quantity": 1,
    "edit_min_max_percentage": 0,
    "price_compare_multiplier": 1,
    "shelf_label_quantity": 1,
    "is_active": True,
    "is_stock": True,
    "allow_decimal": False,
}
# What a stock entry shows of the product, and under which name.
_ENTRY = {
    "barcode": "barcode",
    "category_code": "category_code",
    "category_name": "category_name",
    "category_order": "category_order",
    "product_name": "product_description",
    "promotion_week": "promotion_week",
    "purchase_unit_name": "purchase_unit_name",
    "purchase_unit_quantity": "purchase_unit_quantity",
    "referral_product_id": "referral_product",
    "smallest_quantity": "smallest_item_quantity",
    "smallest_product_number": "smallest_product_number",
}
# What a store may have of its own, and how the product list calls it.
_OWN = {
    "price": "price",
    "old_price": "old_price",
    "purchase_price": "purchase_price",
    "special_price": "special_price",
    "discount_price": "promotion_price",
    "is_promotion": "is_promotion",
    "promotion": "promotion",
    "promotion_week": "promotion_week",
}
_AT_ONCE = 1000
PRODUCTS = "product"
"""The counter of the catalogue's products."""
GONE = "store_product_gone"
"""The counter of a store's products whose entry is gone, because the product was deleted."""
_DAY = re.compile(r"\d{4}(-?)\d{2}\1\d{2}(?!\d)", re.ASCII)


async def known_products(ctx: Context, numbers: Iterable[str]) -> dict[str, Body]:
    """The products of these numbers that there are."""
    return {row[0]: loaded(row[1]) for row in await ctx.tx.all(sql.PRODUCTS_OLD, sorted(set(numbers)))}


async def create_or_update_products(ctx: Context, call: Call) -> bytes:
    """Create products, or change the named fields of those that exist."""
    said = call.body.get("products") or []
    for index, body in enumerate(map(without_none, said)):
        check_code(body["product_number"], "the number of a product", f"products[{index}].product_number")
        check_name(body, f"products[{index}]")
        _check_day(body, f"products[{index}].deprecation_date")
        _check_whole(body, f"products[{index}]")
        check_sorting(body, f"products[{index}]")
    for start in range(0, len(said), _AT_ONCE):
        await _write(ctx, [without_none(body) for body in said[start : start + _AT_ONCE]])
    return DONE


async def _write(ctx: Context, bodies: list[Body]) -> None:
    """Some of the products: to have the rows of all of them at once takes much memory."""
    known = await known_products(ctx, {body["product_number"] for body in bodies})
    written: dict[str, Body] = {}
    for body in bodies:
        # Whether the store ranges it is for each store to say.
        body.pop("is_store_product", None)
        number = body["product_number"]
        old = written.get(number) or known.get(number) or {"product_name": number, **_DEFAULTS}
        written[number] = old | body
    await keep(ctx, known, written)


def check_name(said: Body, field: str) -> None:
    """Raises Refusal (422) for a product that would have no name."""
    if not said.get("product_name", "-").strip():
        raise against_rule("A product has a name.", f"{field}.product_name")


def _check_day(said: Body, field: str) -> None:
    """Raises Refusal (400) for an end of sale that is no date; an empty one takes it away."""
    text = said.get("deprecation_date", "").strip()
    if text and not _DAY.match(text):
        raise malformed(f"{text!r} is no date: yyyyMMdd, or an ISO 8601 date or time.", field)
    if text:
        parsed(text, field)


def _check_whole(said: Body, field: str) -> None:
    """Raises Refusal (422) for a number that is told as int32, and is none."""
    for name in sorted(INT32 & said.keys()):
        int32(said[name], f"{field}.{name}")


def check_sorting(said: Body, field: str) -> None:
    """Raises Refusal (422) for free fields whose order is no int32."""
    for index, one in enumerate(said.get("free_fields") or ()):
        int32(one["sort_order"], f"{field}.free_fields[{index}].sort_order")


async def keep(ctx: Context, known: dict[str, Body], written: dict[str, Body]) -> None:
    """Store the products that are not as they were, with their codes, and tell followers."""
    changed = {number: item for number, item in written.items() if compact(item) != compact(known.get(number))}
    await audit.note(
        ctx,
        CHAIN,
        [
            audit.Change("product", number, known.get(number, {}), item if number in known else _first(item))
            for number, item in changed.items()
        ],
    )
    await ctx.tx.many(sql.PRODUCT_SET, [_row(item, ctx.now) for item in changed.values()])
    await ctx.tx.run(sql.CODES_DROP, list(changed))
    await ctx.tx.many(sql.CODE_ADD, [(code, number) for number, item in changed.items() for code in codes_of(item)])
    count(ctx, len(changed.keys() - known.keys()))
    for number in changed:
        ctx.changed(CHAIN, "product", number)


def _first(item: Body) -> Body:
    """What the audit says of a product that is new: what it is called, and its prices."""
    return {name: item[name] for name in ("product_name", "barcode", *sorted(PRICES)) if item.get(name)}


def count(ctx: Context, more: int) -> None:
    """So many more products are in the catalogue, or fewer."""
    if more:
        ctx.later(core.COUNTER_ADD, [(CHAIN, PRODUCTS, more)])


async def list_products(ctx: Context, call: Call) -> bytes:
    """A page of the catalogue, by number; with `store_number`, of what that store ranges."""
    query = call.query
    page = asked_page(query, "page_number" if "page_number" in query else "page_start")
    asked: dict[str, object] = {"known": ()}
    asked |= {name: query[name] for name in ("product_number", "category_code") if name in query}
    if "is_active" in query:
        asked["is_active"] = int(query["is_active"])
    if "barcode" in query:
        asked["barcode"] = (await asked_keys(ctx.tx, query["barcode"]),)
    if "search_text" in query:
        asked |= searched("search", query["search_text"])
    if "last_modified_date" in query:
        asked["modified"] = parsed(
            query["last_modified_date"], "last_modified_date", ctx.zone(query.get("store_number"))
        )
    if "store_number" in query:
        asked["store"] = (await enter(ctx.tx, ctx.principal, query["store_number"])).number
    total = await _total(ctx, asked)
    found = filtered(sql.PRODUCT_LIST, sql.PRODUCT_FILTERS, asked, sql.PRODUCT_ORDER)
    rows = [row[0] for row in await paged(found, page.size, page.offset).all(ctx.tx)]
    if "store_number" in query:
        rows = await _as_in_store(ctx, query["store_number"], rows)
    head = {"page_number": page.number, "page_size": page.size, "total_record_count": total}
    return dumps(head)[:-1] + b',"records":[' + ",".join(bounded(rows, page)).encode() + b"]}"


async def _total(ctx: Context, asked: dict[str, object]) -> int:
    """How many there are; of all, and of all that a store ranges, counters know it."""
    if list(asked) == ["known"]:
        return await ctx.last(CHAIN, PRODUCTS)
    if list(asked) == ["known", "store"]:
        return await Query(STOCK_COUNT_ONE, (asked["store"],)).total(ctx.tx)
    return await filtered(sql.PRODUCT_COUNT, sql.PRODUCT_FILTERS, asked).total(ctx.tx)


async def _as_in_store(ctx: Context, store_number: str, rows: list[str]) -> list[str]:
    """The products as the store has them: ranged, and with its own prices."""
    items = [loaded(row) for row in rows]
    numbers = [item["product_number"] for item in items]
    own = {row[0]: loaded(row[2]) for row in await ctx.tx.all(sql.STORE_PRODUCT_OLD, store_number, numbers)}
    found = []
    for item in items:
        said = own[item["product_number"]]
        prices = {shown: said[name] for name, shown in _OWN.items() if name in said}
        found.append(compact(item | prices | {"is_store_product": True}))
    return found


def said_of(value: Any) -> Iterator[object]:
    """Every value that stands somewhere in what the catalogue says of a product."""
    if isinstance(value, (dict, list)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from said_of(part)
    elif value is not None and not isinstance(value, bool):
        yield value


def group_of(item: Body) -> str:
    """The group that a product belongs to: its own, or its category."""
    group: str = item.get("group_code") or item.get("category_code", "")
    return group


def _grouped(item: Body) -> Body:
    return {"group_code": group_of(item)} if group_of(item) else {}


def _row(item: Body, now: str) -> tuple[object, ...]:
    """A row of `product`, in the order of `PRODUCT_SET`."""
    return (
        item["product_number"],
        item["product_name"],
        item["barcode"],
        item.get("category_code", ""),
        item.get("parent_category_code", ""),
        int(item["is_active"]),
        int(item["is_stock"]),
        int(item["allow_decimal"]),
        compact(item["price"]) if "price" in item else "",
        item.get("attention_code", ""),
        search_key(
            (item["product_name"], item["barcode"], *split_codes(item.get("barcodes_array", "")), *codes_of(item))
        ),
        compact({name: item[field] for field, name in _ENTRY.items() if field in item} | _grouped(item)),
        compact(item),
        now,
        group_of(item),
        search_key(said_of(item)),
    )
