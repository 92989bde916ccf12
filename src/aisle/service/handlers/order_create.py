"""Creation of customer orders in one or several stores (interface: Create customer orders)."""

from __future__ import annotations

from aisle.service.auth.authorization import require_role, rows_by_store
from aisle.service.db.statements import orders as sql
from aisle.service.domain import audit
from aisle.service.domain.json_fragments import body_fingerprint, to_json
from aisle.service.domain.ledger import Ledger
from aisle.service.domain.log_writer import LogWriter
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
from aisle.service.domain.picking import parse_pool, set_picked_quantity
from aisle.service.domain.quantities import parse_quantity, parse_whole_number
from aisle.service.domain.read_products_and_locations import StoreCatalogue
from aisle.service.domain.states import STATUS_IDS, order_fulfilment
from aisle.service.errors import SUCCESS, conflict, unprocessable
from aisle.service.http.parameter_values import check_code
from aisle.service.operation_context import Context, OperationCall, Store


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
    await audit.record_changes(
        ctx, store, [audit.AuditChange("order", "*", {"orders": len(numbers)}, {})] if numbers else []
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
