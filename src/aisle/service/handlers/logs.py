"""The store product log: listed, and written by counts, changes and receipts (interface: Store product logs)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from aisle.contract.wire import pool_fields
from aisle.service.amounts import goods, plain, thousandths, whole_number
from aisle.service.answers import against_rule, dumps, missing
from aisle.service.context import Call, Context, Store, split_id, wire_id
from aisle.service.encode import fragment, joined, loaded, quoted, without_none
from aisle.service.few import Listed, page_keys
from aisle.service.handlers import store_products
from aisle.service.pages import Page, envelope, over_stores, scrolled_page
from aisle.service.request import clamped
from aisle.service.sql import logs as sql
from aisle.service.sql import products as product_sql
from aisle.service.sql.compose import Query, around, filtered, merged, paged
from aisle.service.states import NOTHING, REVIEWED
from aisle.service.stock.book import Book, Place, Product
from aisle.service.stock.change import Coming, change_free, change_held
from aisle.service.stock.counting import Difference, count_free, count_held
from aisle.service.stock.ledger import Ledger
from aisle.service.stock.line import OrderLine, open_line
from aisle.service.stock.logs import Entry, LogWriter
from aisle.service.stock.order import refresh, refresh_orders
from aisle.service.stock.receipt import Delivery, DeliveryLine, Part, Receiving
from aisle.service.stock.recount import close_recounts, met_recounts
from aisle.service.stock.update import order_pool
from aisle.service.storage import Row
from aisle.service.times import day, day_after, moment, parsed
from aisle.service.tokens import enter
from aisle.tuples import NamedTuple

Body = dict[str, Any]
# Entries of months that ended longer ago than this are listed only with `is_historic=true`.
HISTORIC_DAYS = 90
_POOLS = pool_fields("stock_pool_")
# When it happened: the last of these that an entry names.
_WHEN = ("modification_datetime", "scanned_datetime")
_KEPT = ("loss_comment", "loss_image", "loss_order_number", "modification_datetime", "order_after_date")


async def list_store_product_logs(ctx: Context, call: Call) -> bytes:
    """A page of log entries by id: of one store, or of all that the token covers."""
    query, page = call.query, scrolled_page(call, (int, int))
    store = await enter(ctx.tx, ctx.principal, query["store_number"]) if "store_number" in query else None
    zone = ctx.zone(store)
    asked: dict[str, object] = {
        name: query[name] for name in ("article_number", "review_status", "reason_code", "reference") if name in query
    }
    if asked.get("review_status") == NOTHING:
        asked["nothing_to_review"] = asked.pop("review_status")
    if query.get("is_reviewed"):
        asked["reviewed"] = REVIEWED
    if "last_modified_date" in query:
        asked["modified_from"] = parsed(
            day(query["last_modified_date"], "last_modified_date", zone), "last_modified_date", zone
        )
    if "to_modified_date" in query:
        asked["modified_before"] = day_after(query["to_modified_date"], "to_modified_date", zone)
    total, found = await (_of_store(ctx, page, query, asked, store) if store else _of_chain(ctx, page, query, asked))
    rows, more = page.cut(found)
    entries = (_entry(row) for row in rows)
    last = rows[-1][:2] if rows else None
    return envelope(ctx, call, entries, page, total, more=more, sort="id", last=last)


def _entry(row: Row, aside: str = "") -> str:
    seq, ordinal, review, updated, item = row
    head = f'"id":{wire_id(seq, ordinal)},"review_status":"{review}","updated_on":{quoted(updated)}'
    return joined((head, fragment(item), aside))


async def retrieve_log_entry(ctx: Context, call: Call) -> bytes:
    """One entry of the store's log, as its list tells it, with what the list has no field for: pictures of losses too.

    Raises Refusal (404) where the store has no such entry.
    """
    seq, ordinal = split_id(call.query["id"])
    row = await ctx.tx.one(sql.LOG_ENTRY, ctx.here.number, seq)
    if row is None or row[1] != ordinal:
        raise missing(f"Store {ctx.here.number} has no entry {call.query['id']}.")
    return _entry(row[:5], f'"aisle":{row[5]}').encode()


async def _of_chain(
    ctx: Context, page: Page, query: Mapping[str, Any], asked: dict[str, object]
) -> tuple[int | None, list[Row]]:
    """How many entries there are in the token's stores, and those of a page."""
    if not ctx.principal.all_stores:
        asked["token"] = ctx.principal.token_id
    asked |= {name: split_id(query[name]) for name in ("from_id", "to_id") if name in query}
    months: list[str] = []
    if not query.get("is_historic"):
        if asked.keys() <= sql.LOG_OF_MONTHS:
            months = _months(ctx)
        else:
            asked["since"] = _months(ctx)[0]
    listed = Listed("log", partial(_any_order, months), partial(_keys, months))

    async def read() -> list[Row]:
        keys = await page_keys(ctx, page, asked, listed)
        return sorted(await around(keys, sql.LOG_PAGE).all(ctx.tx), key=lambda row: row[:2]) if keys else []

    # A few stores are counted one by one.
    every = _any_order if "token" in asked else _keys
    return await over_stores(ctx.tx, every(months, asked), page, read)


def _keys(months: Sequence[str], asked: Mapping[str, object], stores: Sequence[str] = ()) -> Query:
    """Where the chain's entries are, in the order of their list; of these months and stores, if any are named."""
    one_of = {name: values for name, values in (("store", stores), ("month", months)) if values}
    if one_of:
        return merged(sql.LOG_KEYS, sql.LOG_FILTERS, asked, one_of, sql.LOG_ORDER_CHAIN)
    return filtered(sql.LOG_KEYS, sql.LOG_FILTERS, asked, sql.LOG_ORDER_CHAIN)


def _any_order(months: Sequence[str], asked: Mapping[str, object]) -> Query:
    named = {"months": list(months)} if months else {}
    return filtered(sql.LOG_KEYS, sql.LOG_FILTERS, {**asked, **named})


async def _of_store(
    ctx: Context, page: Page, query: Mapping[str, Any], asked: dict[str, object], store: Store
) -> tuple[int, list[Row]]:
    """The same of one store. Its numbers have no gaps: where nothing else is asked, nothing has to be counted."""
    first, last = await _numbers(ctx, query, store)
    offset, count = page.offset, partial(filtered, sql.LOG_COUNT, sql.LOG_FILTERS)
    if asked:
        total = await count(asked | {"store": store.number, "beyond": first - 1, "until": last}).total(ctx.tx)
    else:
        total, offset = max(0, last - first + 1), 0
        first += page.offset
        last = min(last, max(first, int(page.after[0]) + 1 if page.after else 0) + page.limit - 1)
    behind = page.behind(asked | {"store": store.number, "beyond": first - 1, "until": last})
    found = filtered(sql.LOG_LIST, sql.LOG_FILTERS, behind, sql.LOG_ORDER_STORE)
    return total, await paged(found, page.limit, offset).all(ctx.tx)


async def _numbers(ctx: Context, query: Mapping[str, Any], store: Store) -> tuple[int, int]:
    """The first and the last number of a store's own that an entry may have: by age, and by the ids that are asked for.

    They bound the store's own numbers, so that no other store's entries are met.
    """
    last = await ctx.last(store.number, "log")
    if query.get("is_historic"):  # what is older was purged
        row = await ctx.tx.one(sql.LOG_FIRST, store.number)
    else:
        row = await ctx.tx.one(sql.LOG_FIRST_SINCE, store.number, _months(ctx)[0])
    first = row[0] if row else last + 1
    if "from_id" in query:
        seq, ordinal = split_id(query["from_id"])
        first = max(first, seq + (store.ordinal < ordinal))
    if "to_id" in query:
        seq, ordinal = split_id(query["to_id"])
        last = min(last, seq - (store.ordinal > ordinal))
    return first, last


def _months(ctx: Context) -> list[str]:
    """The months whose entries are not historic, and the next one: another host's clock may be ahead."""
    first, now = (moment(ctx.seconds - days * 86400) for days in (HISTORIC_DAYS, 0))
    begin, end = (int(when[:4]) * 12 + int(when[5:7]) - 1 for when in (first, now))
    return [f"{month // 12:04d}-{month % 12 + 1:02d}" for month in range(begin, end + 2)]


async def create_store_product_logs(ctx: Context, call: Call) -> bytes:
    """Count, change or receive goods: all entries or none. The answer's `data` are the entries' ids, in order."""
    bodies = [without_none(body) for body in call.body.get("storeproductlog") or []]
    ctx.app_user = call.query.get("appUserName", ctx.app_user)
    ledger = Ledger(Book(ctx, ctx.here))
    await ledger.book.load(
        (body.get("product_number", "") for body in bodies), (body.get("location_code", "") for body in bodies)
    )
    await ledger.load(body.get("product_number", "") for body in bodies if not is_count(call.query, body))
    logs, receiving = LogWriter(ledger), Receiving(ledger)
    for index, body in enumerate(bodies):
        await _write(ledger, logs, receiving, call.query, body, f"storeproductlog[{index}]")
        await logs.settle()
    await receiving.store_all()
    await refresh_orders(ledger)
    await ledger.finish()
    met = await met_recounts(ctx, ctx.here, logs.counts)
    for one in met:
        logs.complete(one.nth, one.told(ctx.here))
    ids = await logs.store_all()
    await close_recounts(ctx, ctx.here, met, ids)
    return dumps({"success": True, "data": ids})


class _Said(NamedTuple):
    """What an entry says, looked up and checked."""

    body: Body
    product: Product
    place: Place | None
    line: OrderLine | None
    field: str


async def _write(
    ledger: Ledger, logs: LogWriter, receiving: Receiving, query: Mapping[str, Any], body: Body, field: str
) -> None:
    if not body.get("product_number"):
        raise against_rule("An entry needs a product.", f"{field}.product_number")
    book, ctx = ledger.book, ledger.ctx
    product = await book.product(body["product_number"], f"{field}.product_number")
    await book.range([product.number])
    code = body.get("location_code", "")
    place = await book.place(code, f"{field}.location_code") if code else None
    said = _Said(body, product, place, await _named_line(ledger, body, product, field), field)
    ledger.occurred_on = ctx.occurred_on
    for name in _WHEN:
        if body.get(name):
            ledger.occurred_on = clamped(
                parsed(body[name], f"{field}.{name}", ctx.zone()),
                ctx.seconds,
                ctx.ahead,
                is_replay=ctx.replay is not None,
            )
    await _order_after(ledger, product, body, field)
    if is_count(query, body):
        await _count(ledger, logs, said)
    elif query.get("is_from_receipt", False):
        await _receive(ledger, logs, receiving, said)
    else:
        await _change(ledger, logs, said)


async def _order_after(ledger: Ledger, product: Product, body: Body, field: str) -> None:
    """The product is not ordered before `order_after_date`: its next ordering moves there, unless it is later yet."""
    if not body.get("order_after_date"):
        return
    ctx, store = ledger.ctx, ledger.book.store
    after = parsed(body["order_after_date"], f"{field}.order_after_date", ctx.zone())
    [row] = await ctx.tx.all(product_sql.STORE_PRODUCT_OLD, store.number, [product.number])
    if after > loaded(row[2]).get("next_ordering_date", ""):
        said = {"product_number": product.number, "next_ordering_date": after}
        await store_products.change(ctx, store, [(0, said)], field)


def is_count(query: Mapping[str, Any], body: Body) -> bool:
    """Whether an entry's quantities are counted values: when the query says so, or nothing else is there."""
    if "is_counted_quantity" in query:
        return bool(query["is_counted_quantity"])
    return "counted_quantity" in body and "quantity" not in body


async def _named_line(ledger: Ledger, body: Body, product: Product, field: str) -> OrderLine | None:
    order = body.get("customer_order_number", "")
    if "customer_order_line_number" not in body:
        if order:
            raise against_rule("A customer order needs its line.", f"{field}.customer_order_line_number")
        return None
    if not order:
        raise against_rule("A line needs its customer order.", f"{field}.customer_order_number")
    number = whole_number(body["customer_order_line_number"], f"{field}.customer_order_line_number")
    where = f"{field}.customer_order_line_number"
    return await open_line(ledger.ctx, ledger.store, order, number, product.number, where)


def _quantities(said: _Said, bare: str) -> dict[int, int]:
    """Quantities by pool: those named by `stock_pool_n`, else the bare one in the pool it belongs to."""
    whole = not said.product.allow_decimal
    named = {
        pool: goods(said.body[name], f"{said.field}.{name}", whole=whole)
        for pool, name in enumerate(_POOLS, 1)
        if name in said.body
    }
    if named:
        return named
    if bare not in said.body:
        raise against_rule("An entry needs a quantity.", f"{said.field}.{bare}")
    quantity = goods(said.body[bare], f"{said.field}.{bare}", whole=whole)
    if "pool_location" in said.body:
        return {order_pool(said.body["pool_location"], f"{said.field}.pool_location"): quantity}
    return {said.place.pool if said.place else 1: quantity}


async def _count(ledger: Ledger, logs: LogWriter, said: _Said) -> None:
    counted = _quantities(said, "counted_quantity" if "counted_quantity" in said.body else "quantity")
    if any(quantity < 0 for quantity in counted.values()):
        raise against_rule("Less than nothing cannot be counted.", said.field)
    if not said.product.is_stock:
        found = [Difference(pool, 0, 0) for pool in counted]
    elif said.line:
        found = await count_held(ledger, said.line, said.place, counted)
        await refresh(ledger, said.line)
    else:
        found = await count_free(ledger, said.product, said.place, counted)
    expected = sum(one.expected for one in found)
    difference = sum(one.difference for one in found)
    extra = {
        "counted_quantity": plain(sum(counted.values())),
        "expected_quantity": plain(expected),
        **{_POOLS[pool - 1]: plain(quantity) for pool, quantity in counted.items()},
    }
    pools = {str(one.pool): [plain(one.expected), plain(one.difference)] for one in found}
    data = {"expected_and_difference": pools, "expected_quantity": said.body.get("expected_quantity")}
    pool = found[0].pool if len(found) == 1 else None
    if not said.line:
        logs.note_count(said.product, said.place)
    _log(logs, said, "count", difference, pool, flagged=ledger.take_flag(), extra=extra, data=data)


async def _change(ledger: Ledger, logs: LogWriter, said: _Said) -> None:
    changes = _quantities(said, "quantity")
    for pool, quantity in changes.items() if said.product.is_stock else ():
        if said.line:
            await change_held(ledger, "change", said.line, said.place, pool, quantity, said.field)
        else:
            await change_free(ledger, "change", said.product.number, said.place, pool, quantity)
    if said.line:
        await refresh(ledger, said.line)
    if sum(changes.values()) < 0:
        await _note_who(ledger, said, product_sql.STORE_PRODUCT_LOSS_BY)
    _log_change(logs, said, "change", changes, flagged=ledger.take_flag())


async def _receive(ledger: Ledger, logs: LogWriter, receiving: Receiving, said: _Said) -> None:
    """What came, counted against the delivery that `reference` names, if it names one."""
    came: defaultdict[int, int] = defaultdict(int)
    excess = 0
    lines: list[DeliveryLine] = []
    delivery = await receiving.delivery(said.body.get("reference", ""))
    for pool, quantity in _quantities(said, "quantity").items():
        for part in _parts(delivery, said, quantity):
            to = pool
            if part.line and part.line.target_pool and not _names_pool(said.body):
                to = part.line.target_pool
            lines += [part.line] if part.line else []
            line = said.line or (part.line and await receiving.order_line(part.line, said.product))
            came[to] += part.quantity
            excess += part.excess
            if not said.product.is_stock:
                continue
            if line:
                excess += await change_held(ledger, "receipt", line, said.place, to, part.quantity, said.field)
                await refresh(ledger, line)
            else:
                await change_free(ledger, "receipt", said.product.number, said.place, to, part.quantity)
    await _note_who(ledger, said, product_sql.STORE_PRODUCT_RECEIPT_BY)
    told = receiving.told(delivery, lines)
    _log_change(logs, said, "receipt", came, flagged=ledger.take_flag() or excess > 0, told=told)


def _parts(delivery: Delivery | None, said: _Said, quantity: int) -> list[Part]:
    """A quantity by the lines of the delivery that it belongs to; by none where there is no delivery."""
    if delivery is None:
        return [Part(None, quantity)]
    named = said.body.get("line_number")
    number = None if named is None else whole_number(named, f"{said.field}.line_number")
    order = said.line.key if said.line else None
    return delivery.take(said.product.number, quantity, line_number=number, order=order, field=said.field)


def _names_pool(body: Body) -> bool:
    return "pool_location" in body or any(name in body for name in _POOLS)


async def _note_who(ledger: Ledger, said: _Said, statement: str) -> None:
    by = said.body.get("app_user_name") or ledger.ctx.app_user or ledger.ctx.principal.name
    await ledger.ctx.tx.run(statement, ledger.store, said.product.number, by)


def _log_change(
    logs: LogWriter,
    said: _Said,
    kind: Coming,
    changes: Mapping[int, int],
    *,
    flagged: bool,
    told: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    extra = dict(told) | {_POOLS[pool - 1]: plain(quantity) for pool, quantity in changes.items()}
    if "expected_quantity" in said.body:
        extra["expected_quantity"] = plain(
            thousandths(said.body["expected_quantity"], f"{said.field}.expected_quantity")
        )
    pool_alone = next(iter(changes)) if len(changes) == 1 else None
    _log(logs, said, kind, sum(changes.values()), pool_alone, flagged=flagged, extra=extra)


def _log(
    logs: LogWriter,
    said: _Said,
    source: str,
    quantity: int,
    pool: int | None,
    *,
    flagged: bool,
    extra: dict[str, Any],
    data: dict[str, Any] | None = None,
) -> None:
    body = said.body
    reason = body.get("reason_code")
    kept = {name: body[name] for name in _KEPT if name in body}
    logs.add(
        Entry(
            said.product,
            body.get("source") or source,
            quantity,
            said.place,
            pool,
            said.line,
            reference=body.get("reference") or body.get("loss_order_number"),
            reason=body.get("loss_comment"),
            reason_code=None if reason is None else whole_number(reason, f"{said.field}.reason_code"),
            app_user=body.get("app_user_name"),
            flagged=flagged,
            extra=extra,
            data=kept | without_none(data or {}),
        )
    )
