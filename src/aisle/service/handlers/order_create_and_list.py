"""Creation of customer orders in one or several stores, and their lists (interface: Create, List customer orders)."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from aisle.service.auth.authorization import require_role, rows_by_store
from aisle.service.db.database_interface import Row
from aisle.service.db.list_query_builder import filter_query, page_query, search_filter
from aisle.service.db.statements import orders_and_deliveries as sql
from aisle.service.domain import log_and_audit_writer
from aisle.service.domain.ledger import Ledger
from aisle.service.domain.log_and_audit_writer import LogWriter
from aisle.service.domain.order_line import OrderLine, check_ordered_quantity
from aisle.service.domain.orders import (
    NewOrder,
    Order,
    earliest_pickup_date,
    hand_over_order,
    new_line_fields,
    order_fields,
    order_search_key,
    release_all_orders,
    release_order,
)
from aisle.service.domain.picking_and_moves import parse_pool, set_picked_quantity
from aisle.service.domain.quantities_times_and_json import (
    body_fingerprint,
    day_after_days,
    format_quantity,
    join_members,
    json_boolean,
    object_members,
    parse_quantity,
    parse_whole_number,
    pool_members,
    quoted,
    shipment_members,
    text_member,
    to_json,
)
from aisle.service.domain.read_products_and_locations import StoreCatalogue
from aisle.service.domain.states import STATUS_IDS, order_fulfilment
from aisle.service.errors import SUCCESS, Refusal, conflict, to_json_bytes, unprocessable
from aisle.service.handlers.list_page import MAX_PAGE_BYTES, list_envelope, page_too_long, parse_scroll_page
from aisle.service.http.parameters_and_headers import check_code
from aisle.service.operation_context import Context, OperationCall, ParamValues, Store


async def create_orders(ctx: Context, call: OperationCall) -> bytes:
    """Create orders of the path's store, or of the stores that they name: all or none."""
    bodies: list[NewOrder] = call.body.get("orders", [])
    for index, body in enumerate(bodies):
        if not ctx.store and not body.get("store_number"):
            raise unprocessable("An order has to name its store here.", f"orders[{index}].store_number")
    flush: bool = call.query.get("flush", False)
    if flush:
        require_role(ctx, "admin")
    async for store, store_bodies in rows_by_store(ctx, bodies):
        await _create_in_store(ctx, store, store_bodies, flush=flush)
    return SUCCESS


async def _create_in_store(ctx: Context, store: Store, bodies: list[tuple[int, NewOrder]], *, flush: bool) -> None:
    catalogue = StoreCatalogue(ctx, store)
    await catalogue.load(line["product_number"] for _, body in bodies for line in body.get("order_lines", []))
    ledger = Ledger(catalogue)
    logs = LogWriter(ledger)
    if flush:
        await _delete_all_orders(ledger)
    await _create_new_orders(ledger, logs, bodies)
    await ledger.defer_writes()
    await logs.save_all()


async def _delete_all_orders(ledger: Ledger) -> None:
    """Delete all orders of the store after releasing their goods. The ledger keeps the history."""
    ctx, store = ledger.ctx, ledger.store
    numbers = await ctx.tx.all(sql.ORDER_NUMBERS, store)
    await log_and_audit_writer.record_changes(
        ctx, store, [log_and_audit_writer.AuditChange("order", "*", {"orders": len(numbers)}, {})] if numbers else []
    )
    await release_all_orders(ledger)
    for (number,) in numbers:
        ctx.mark_changed(store, "order", number)
    for statement in sql.ORDER_DELETES:
        await ctx.tx.run(statement, store)


async def _create_new_orders(ledger: Ledger, logs: LogWriter, bodies: list[tuple[int, NewOrder]]) -> None:
    ctx, store = ledger.ctx, ledger.catalogue.store
    numbers = sorted({body["order_number"] for _, body in bodies})
    known: dict[str, str] = dict(await ctx.tx.all(sql.ORDER_FINGERPRINTS, store.number, numbers))
    fresh: list[tuple[int, NewOrder, str]] = []
    for index, body in bodies:
        number, print_ = body["order_number"], body_fingerprint(body)
        if number in known and known[number] != print_:
            raise conflict(
                f"Order {number} exists with another content; change it with an update.",
                f"orders[{index}].order_number",
            )
        if number not in known:
            known[number] = print_
            fresh.append((index, body, print_))
    ctx.count_records(new=len(fresh), same=len(bodies) - len(fresh))
    if not fresh:
        return
    order_seq = await ctx.next_numbers(store.number, "order", len(fresh))
    line_seq = await ctx.next_numbers(
        store.number, "line", sum(len(body.get("order_lines", [])) for _, body, _ in fresh)
    )
    lines_of_orders: list[list[OrderLine]] = []
    for index, body, _ in fresh:
        lines = await _parse_lines(ledger.catalogue, body, f"orders[{index}]", line_seq)
        line_seq += len(lines)
        lines_of_orders.append(lines)
    orders = enumerate(zip(fresh, lines_of_orders, strict=True), order_seq)
    await ctx.tx.run_many(
        sql.ORDER_ADD, [_order_row(ctx, store, seq, body, print_, lines) for seq, ((_, body, print_), lines) in orders]
    )
    await ctx.tx.run_many(
        sql.LINE_ADD, [_order_line_row(store.number, line) for lines in lines_of_orders for line in lines]
    )
    for (index, body, _), lines in zip(fresh, lines_of_orders, strict=True):
        ctx.mark_changed(store.number, "order", body["order_number"])
        await _apply_initial_state(ledger, logs, body, lines, f"orders[{index}]")


async def _parse_lines(catalogue: StoreCatalogue, body: NewOrder, field: str, seq: int) -> list[OrderLine]:
    """Return the lines as rows, without picked goods. Raise Refusal (422) if one is invalid."""
    lines: dict[int, OrderLine] = {}
    check_code(body["order_number"], "the number of an order", f"{field}.order_number")
    for index, given in enumerate(body.get("order_lines", [])):
        line_field = f"{field}.order_lines[{index}]"
        product = await catalogue.get_product(given["product_number"], f"{line_field}.product_number")
        number = parse_whole_number(given["line_number"], f"{line_field}.line_number")
        if number in lines:
            raise unprocessable(f"Line {number} is there twice.", f"{line_field}.line_number")
        quantity = parse_quantity(given["quantity"], f"{line_field}.quantity", whole=not product.allow_decimal)
        check_ordered_quantity(quantity, f"{line_field}.quantity")
        if given.get("picked_quantity", 0) > given["quantity"]:
            raise unprocessable("More is picked than ordered.", f"{line_field}.picked_quantity")
        further = given.get("picking_stock_pool_array", ())
        pools = [parse_pool(pool, f"{line_field}.picking_stock_pool_array") for pool in further]
        lines[number] = OrderLine(
            body["order_number"],
            number,
            seq + index,
            product.number,
            quantity,
            picked_quantity=0,
            moved_quantity=0,
            delivered_quantity=0,
            is_picked=False,
            from_warehouse=given.get("is_picked_from_warehouse", False),
            stock_pool=parse_pool(given.get("stock_pool", 1), f"{line_field}.stock_pool"),
            further_pools=pools,
            preferred_location_code=given.get("preferred_location_code", ""),
            picked_by=None,
            item=new_line_fields(given, product, line_field),
        )
    return list(lines.values())


def _order_row(
    ctx: Context, store: Store, seq: int, body: NewOrder, fingerprint: str, lines: list[OrderLine]
) -> tuple[object, ...]:
    """Return a row of `customer_order` in the order of `ORDER_ADD`."""
    is_picked = all(line.is_picked for line in lines) if lines else body.get("is_picked", False)
    state = order_fulfilment(is_active=True, is_rejected=False, is_picked=is_picked, any_picked=False)
    status = parse_whole_number(body.get("status_id", STATUS_IDS[state]), "status_id")
    pickup = earliest_pickup_date(lines, ctx.time_zone(store))
    row = (int(is_picked), 0, status, state, body.get("reference", ""), pickup, len(lines))
    item = order_fields(body, store.number, pickup)
    total = sum(line.quantity for line in lines)
    head = {name: value for name, value in body.items() if name != "order_lines"}
    rest = (total, 0, fingerprint, order_search_key(body), to_json(item), to_json(head))
    return (store.number, body["order_number"], seq, 1, 0, *row, *rest)


def _order_line_row(store_number: str, line: OrderLine) -> tuple[object, ...]:
    """Return a row of `order_line` in the order of `LINE_ADD`."""
    return (
        store_number,
        *line.key,
        line.seq,
        line.product_number,
        line.quantity,
        line.picked_quantity,
        line.moved_quantity,
        line.delivered_quantity,
        int(line.is_picked),
        int(line.from_warehouse),
        line.stock_pool,
        to_json(line.further_pools),
        line.preferred_location_code,
        line.item.get("reference", ""),
        line.picked_by,
        to_json(line.item),
        line.item.get("full_fillment_status", ""),
    )


async def _apply_initial_state(
    ledger: Ledger, logs: LogWriter, body: NewOrder, lines: list[OrderLine], field: str
) -> None:
    """Apply the state that the new order has beyond open: picked lines, rejected or finished."""
    ctx, store = ledger.ctx, ledger.store
    line_bodies = body.get("order_lines", [])
    is_started = body.get("is_picked") or any("is_picked" in raw or "picked_quantity" in raw for raw in line_bodies)
    if not is_started and body.get("is_active", True) and not body.get("is_rejected"):
        return
    order = await Order.load(ctx, store, body["order_number"])
    assert order is not None
    for index, (raw, line) in enumerate(zip(line_bodies, in_request_order(order.lines, lines), strict=True)):
        if "is_picked" not in raw and body.get("is_picked"):
            raw = {**raw, "is_picked": True}
        await set_picked_quantity(ledger, logs, line, raw, f"{field}.order_lines[{index}]")
        await line.save(ctx, store)
    if body.get("is_rejected"):
        await release_order(ledger, order)
        order.is_rejected = True
    if not body.get("is_active", True):
        await hand_over_order(logs, order)
    if body.get("is_rejected") or not order.is_active:
        for line in order.lines:
            await line.save(ctx, store)
    given_status = order.status_id
    await order.save(ctx, store)
    if order.status_id != given_status and "status_id" in body:
        order.status_id = given_status
        await order.save(ctx, store)


def in_request_order(stored: list[OrderLine], requested: list[OrderLine]) -> list[OrderLine]:
    """Return the stored lines in the order of the request."""
    by_number = {line.line_number: line for line in stored}
    return [by_number[line.line_number] for line in requested]


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
