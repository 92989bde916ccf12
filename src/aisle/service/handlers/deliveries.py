"""Deliveries: announced for one store or several, and listed (interface: Deliveries)."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from aisle.service.amounts import goods, whole_number
from aisle.service.answers import DONE, against_rule, conflict
from aisle.service.barcodes import products_of
from aisle.service.context import Call, Context, Store
from aisle.service.delivery_text import delivery_item, delivery_text, grouped, line_item
from aisle.service.encode import compact, loaded, without_none
from aisle.service.few import Listed, page_keys
from aisle.service.limits import check_code
from aisle.service.pages import Page, envelope, over_stores, scrolled_page
from aisle.service.sql import deliveries as sql
from aisle.service.sql.compose import Query, around, filtered, merged, paged, searched
from aisle.service.states import EXPECTED, RECEIVED
from aisle.service.stock.book import Book, Product
from aisle.service.stock.update import order_pool
from aisle.service.storage import Row
from aisle.service.text import search_key
from aisle.service.times import day, parsed
from aisle.service.tokens import enter
from aisle.tuples import NamedTuple

Body = dict[str, Any]
PURCHASE = 1
"""The type of a delivery whose creator says none."""

# Of a line the interface shows these in no list.
_KEPT = ("purchase_price", "secondary_order_number", "secondary_order_line_number")
_SHIPMENT_LINE = "customer_order_shipment_number_line_number"
# Where a row of a page has the number that orders it.
_SEQ, _RECEIPT_SEQ = 2, 7
_EQUAL = ("order_number", "status", "supplier_code", "group_code")


class Kind(NamedTuple):
    """Deliveries or receipts: the counter that numbers them, their keys over the chain, their filters, their orders."""

    counter: str
    keys: str
    filters: Mapping[str, str]
    of_store: str
    of_chain: str


DELIVERIES = Kind(
    "delivery", sql.DELIVERY_CHAIN_KEYS, sql.DELIVERY_FILTERS, sql.DELIVERY_ORDER_STORE, sql.DELIVERY_ORDER_CHAIN
)
RECEIPTS = Kind(
    "receipt", sql.RECEIPT_CHAIN_KEYS, sql.RECEIPT_FILTERS, sql.RECEIPT_ORDER_STORE, sql.RECEIPT_ORDER_CHAIN
)


async def list_deliveries(ctx: Context, call: Call) -> bytes:
    """A page of deliveries with their lines, oldest first: of one store, or of all that the token covers."""
    query, page = call.query, scrolled_page(call, (int, int))
    asked, store = await scope(ctx, query)
    asked |= {name: query[name] for name in _EQUAL if name in query}
    if "supplier_name" in query:
        asked |= searched("supplier_name", query["supplier_name"])
    if "delivery_date" in query:
        asked["expected_on"] = day(query["delivery_date"], "delivery_date")
    asked |= modified_or_submitted(query)
    total, found = await of_page(ctx, page, asked, store, DELIVERIES)
    groups, more = page.cut(found)
    entries = [delivery_text(group) for group in groups]
    last = groups[-1][0][2:4] if groups else None
    return envelope(ctx, call, entries, page, total, more=more, sort="import_id", last=last)


async def of_page(
    ctx: Context, page: Page, asked: Mapping[str, object], store: Store | None, kind: Kind
) -> tuple[int | None, list[list[Row]]]:
    """How many deliveries or receipts there are, and those of a page, each as the rows of its lines."""
    count = partial(filtered, sql.DELIVERY_COUNT, kind.filters)
    if store:
        found = filtered(sql.DELIVERY_KEYS, kind.filters, page.behind(asked), kind.of_store)
        return await count(asked).total(ctx.tx), await _lines(ctx, paged(found, page.limit, page.offset), kind)

    def keys(filters: Mapping[str, object], stores: Sequence[str]) -> Query:
        if stores:
            return merged(kind.keys, kind.filters, filters, {"store": stores}, kind.of_chain)
        return filtered(kind.keys, kind.filters, filters, kind.of_chain)

    every = partial(filtered, kind.keys, kind.filters)

    async def read() -> list[list[Row]]:
        found = await page_keys(ctx, page, asked, Listed(kind.counter, every, keys))
        return await _lines(ctx, found, kind) if found else []

    # Each has to be looked into for its lines' groups.
    most = page.size if "group_code" in asked else None
    return await over_stores(ctx.tx, every(asked), page, read, most)


async def _lines(ctx: Context, keys: Query, kind: Kind) -> list[list[Row]]:
    rows = await around(keys, sql.DELIVERY_PAGE).all(ctx.tx)
    return grouped(rows, by=_RECEIPT_SEQ if kind is RECEIPTS else _SEQ)


async def scope(ctx: Context, query: Body) -> tuple[dict[str, object], Store | None]:
    """The filter that keeps a list inside the named store, or inside those of the token."""
    if "store_number" in query:
        store = await enter(ctx.tx, ctx.principal, query["store_number"])
        return {"store": store.number}, store
    return ({} if ctx.principal.all_stores else {"token": ctx.principal.token_id}), None


def modified_or_submitted(query: Body) -> dict[str, object]:
    """The filters that deliveries and receipts share."""
    asked: dict[str, object] = {}
    if "is_submitted" in query:
        asked["submitted" if query["is_submitted"] else "not_submitted"] = RECEIVED
    if "last_modified_date" in query:
        asked["modified"] = parsed(query["last_modified_date"], "last_modified_date")
    return asked


async def create_store_deliveries(ctx: Context, call: Call) -> bytes:
    """Announce deliveries to one store, all or none."""
    bodies = list(enumerate(call.body.get("orders") or []))
    await _create(ctx, ctx.here, bodies, call.header.get("container_override", False))
    return DONE


async def create_multi_store_deliveries(ctx: Context, call: Call) -> bytes:
    """Announce deliveries that name their stores, all or none."""
    by_store: defaultdict[str, list[tuple[int, Body]]] = defaultdict(list)
    for index, body in enumerate(call.body.get("orders") or []):
        by_store[body["store_number"]].append((index, body))
    for store_number in sorted(by_store):
        store = await enter(ctx.tx, ctx.principal, store_number)
        await _create(ctx, store, by_store[store_number], call.header.get("container_override", False))
    return DONE


async def _create(ctx: Context, store: Store, bodies: Iterable[tuple[int, Body]], override: bool) -> None:
    given = [(index, without_none(body)) for index, body in bodies]
    numbers = sorted({body["order_number"] for _, body in given})
    known = {row[0]: (row[1], row[2]) for row in await ctx.tx.all(sql.DELIVERIES_KNOWN, store.number, numbers)}
    book = Book(ctx, store)
    lines = [line for _, body in given for line in body.get("order_lines") or []]
    await book.load(line["product_number"] for line in lines if line.get("product_number"))
    for index, body in given:
        number, print_, field = body["order_number"], _fingerprint(body), f"orders[{index}]"
        check_code(number, "the number of a delivery", f"{field}.order_number")
        before, status = known.get(number, ("", EXPECTED))
        if before == print_:
            continue
        if before and not override:
            raise conflict(f"Delivery {number} exists with another content.", f"{field}.order_number")
        if status != EXPECTED:
            raise conflict(f"Goods of delivery {number} have been received.", f"{field}.order_number")
        rows = [
            await _line(book, raw, f"{field}.order_lines[{n}]") for n, raw in enumerate(body.get("order_lines") or [])
        ]
        await _store(ctx, store, body, print_, _numbered(rows, field), field)
        known[number] = (print_, EXPECTED)


async def mark_deliveries(ctx: Context, call: Call) -> bytes:
    """Say of announced deliveries that somebody has downloaded them, or under which number others know them.

    Raises Refusal (422) for a delivery that is not there.
    """
    marks = [without_none(mark) for mark in call.body["deliveries"]]
    numbers = sorted({mark["order_number"] for mark in marks})
    known = {row[0]: loaded(row[1]) for row in await ctx.tx.all(sql.DELIVERY_ITEMS, ctx.here.number, numbers)}
    for index, mark in enumerate(marks):
        number = mark.pop("order_number")
        if number not in known:
            raise against_rule(f"There is no delivery {number}.", f"deliveries[{index}].order_number")
        if known[number] | mark == known[number]:
            continue
        known[number] |= mark
        await ctx.tx.run(sql.DELIVERY_ITEM_SET, ctx.here.number, number, compact(known[number]), ctx.now)
        ctx.changed(ctx.here.number, "delivery", number)
    return DONE


def _fingerprint(body: Body) -> str:
    """What makes an announcement the same, whichever of the two operations brings it."""
    content = {name: value for name, value in body.items() if name != "store_number"}
    content["order_lines"] = [dict(sorted(without_none(line).items())) for line in body.get("order_lines") or []]
    return hashlib.sha256(compact(dict(sorted(content.items()))).encode()).hexdigest()


async def _line(book: Book, raw: Body, field: str) -> Body:
    """A line with its product and figures looked up and checked. Raises Refusal (422)."""
    said = without_none(raw)
    product = await _product(book, said, field)
    quantity = goods(said["quantity"], f"{field}.quantity", whole=not product.allow_decimal)
    if quantity < 0:
        raise against_rule("Less than nothing cannot be delivered.", f"{field}.quantity")
    pool = said.get("target_stock_pool")
    named = "customer_order_number" in said, "customer_order_line_number" in said
    if any(named) and not all(named):
        raise against_rule("An order line is named by order and line.", f"{field}.customer_order_line_number")
    shipment_line = said.get(_SHIPMENT_LINE)
    return {
        "number": whole_number(said["line_number"], f"{field}.line_number") if "line_number" in said else None,
        "product": product,
        "quantity": quantity,
        "pool": None if pool is None else order_pool(pool, f"{field}.target_stock_pool"),
        "order": said.get("customer_order_number", ""),
        "order_line": whole_number(said.get("customer_order_line_number", 0), f"{field}.customer_order_line_number"),
        "shipment_line": None if shipment_line is None else whole_number(shipment_line, f"{field}.{_SHIPMENT_LINE}"),
        "said": said,
    }


async def _product(book: Book, said: Body, field: str) -> Product:
    """The product that a line names by its number, or by its barcode alone. Raises Refusal (422)."""
    if said.get("product_number"):
        return await book.product(said["product_number"], f"{field}.product_number")
    code = said.get("barcode", "")
    found = await products_of(book.ctx.tx, code)
    if len(found) != 1:
        known = "Several products have" if found else "No product has"
        message = f"{known} the barcode {code}." if code else "A line needs a product number or a barcode."
        raise against_rule(message, f"{field}.product_number")
    return await book.product(found[0], f"{field}.product_number")


def _numbered(rows: list[Body], field: str) -> list[Body]:
    """The lines, each with a number of its own; those without one take the next that is free."""
    numbers = [row["number"] for row in rows if row["number"] is not None]
    taken = set(numbers)
    if len(numbers) != len(taken):
        raise against_rule("Two lines have one number.", f"{field}.order_lines")
    after = 0
    for row in rows:
        if row["number"] is None:
            after = next(n for n in range(after + 1, after + len(rows) + 2) if n not in taken)
            row["number"] = after
    return rows


async def _store(ctx: Context, store: Store, body: Body, print_: str, lines: list[Body], field: str) -> None:
    number = body["order_number"]
    await ctx.tx.run(sql.DELIVERY_LINES_DROP, store.number, number)
    item = delivery_item(ctx, body, field)
    kept = {name: value for name, value in body.items() if name != "order_lines"}
    row = (
        await ctx.take(store.number, "delivery"),
        store.ordinal,
        whole_number(body.get("order_type", PURCHASE), f"{field}.order_type"),
        EXPECTED,
        body.get("supplier_code", ""),
        search_key((body.get("supplier_name"),)),
        item.get("datetime_expected", "")[:10],
        ctx.now,
        print_,
        compact(item),
        compact(kept),
    )
    await ctx.tx.run(sql.DELIVERY_SET, store.number, number, *row)
    first = await ctx.take(store.number, "delivery_line", len(lines)) if lines else 0
    await ctx.tx.many(sql.DELIVERY_LINE_ADD, [_row(ctx, store, number, first + n, one) for n, one in enumerate(lines)])
    for line in lines:
        shipment = line["said"].get("customer_order_shipment_number")
        if line["order"] and shipment:
            key = (store.number, line["order"], line["order_line"])
            await ctx.tx.run(sql.SHIPMENT_SET, *key, shipment, line["shipment_line"])
    ctx.changed(store.number, "delivery", number)


def _row(ctx: Context, store: Store, number: str, seq: int, line: Body) -> tuple[object, ...]:
    """A row of `delivery_line`, in the order of `DELIVERY_LINE_ADD`."""
    aside = {name: line["said"][name] for name in _KEPT if name in line["said"]}
    return (
        store.number,
        number,
        line["number"],
        seq,
        line["product"].number,
        line["quantity"],
        0,
        line["pool"],
        line["order"],
        line["order_line"],
        ctx.now,
        compact(line_item(line["said"], aside)),
        compact(aside),
    )
