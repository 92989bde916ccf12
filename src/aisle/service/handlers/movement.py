"""Goods are moved inside a store (interface: Create movement)."""

from __future__ import annotations

from typing import Any

from aisle.service.amounts import goods, whole_number
from aisle.service.answers import against_rule
from aisle.service.context import Call, Context
from aisle.service.encode import without_none
from aisle.service.sql import deliveries as sql
from aisle.service.sql import orders as order_sql
from aisle.service.stock.book import Book, Product
from aisle.service.stock.ledger import Ledger
from aisle.service.stock.line import OrderLine, open_line
from aisle.service.stock.logs import IN_HAND, Entry, LogWriter
from aisle.service.stock.movement import End, move
from aisle.service.stock.order import refresh_orders
from aisle.service.stock.update import order_pool

Body = dict[str, Any]
NOTHING = b'{"success":true,"data":"","message":"The list is empty: there was nothing to move."}'
_ENDS = ("from_location", "to_location")
_LINE = ("customer_order_number", "customer_order_line_number")
_SHIPMENT = ("customer_order_shipment_number", "customer_order_shipment_line_number")


async def create_movement(ctx: Context, call: Call) -> bytes:
    """Move goods: every item, or none. The answer's `data` names the two log entries of each item.

    The interface knows no smallest list, so one of nothing is done; the answer says that nothing was moved by it.
    """
    if not call.body:
        return NOTHING
    items = [without_none(item) for item in call.body]
    if ctx.replay:
        items = [item for item in items if not await _is_over(ctx, item)]
    ctx.app_user = call.query.get("AppUserName", ctx.app_user)
    ledger = Ledger(Book(ctx, ctx.here))
    ends = [item.get(name) or {} for item in items for name in _ENDS]
    await ledger.book.load(
        (item.get("product_number", "") for item in items), (end.get("location_code") or "" for end in ends)
    )
    await ledger.load(item.get("product_number", "") for item in items)
    logs = LogWriter(ledger)
    for index, item in enumerate(items):
        await _move(ledger, logs, item, f"[{index}]")
        await logs.settle()
    await refresh_orders(ledger)
    await ledger.finish()
    ids = await logs.store_all()
    return f'{{"success":true,"data":"{",".join(map(str, ids))}"}}'.encode()


async def _is_over(ctx: Context, item: Body) -> bool:
    """Whether goods of an order were put down before a restore, and have left with the order since."""
    lines = [[(item.get(name) or {}).get(field) for field in _LINE] for name in _ENDS]
    if lines[0] != lines[1] or None in lines[0]:
        return False
    head = await ctx.tx.one(order_sql.ORDER_GET, ctx.here.number, lines[0][0])
    return head is not None and bool(not head[1] or head[4])


async def _move(ledger: Ledger, logs: LogWriter, item: Body, field: str) -> None:
    if not item.get("product_number"):
        raise against_rule("A movement needs a product.", f"{field}.product_number")
    product = await ledger.book.product(item["product_number"], f"{field}.product_number")
    if not product.is_stock:
        raise against_rule("No stock is kept of this product.", f"{field}.product_number")
    if "quantity" not in item:
        raise against_rule("A movement needs a quantity.", f"{field}.quantity")
    quantity = goods(item["quantity"], f"{field}.quantity", whole=not product.allow_decimal)
    if quantity <= 0:
        raise against_rule("More than nothing has to be moved.", f"{field}.quantity")
    await ledger.book.range([product.number])
    source = await _end(ledger, product, item.get("from_location"), f"{field}.from_location")
    target = await _end(ledger, product, item.get("to_location"), f"{field}.to_location")
    if source.line and target.line and source.line.key == target.line.key:
        target = target._replace(line=source.line)
    # What was moved before a restore did lie there, brought by somebody who has not said so again yet.
    overage = item.get("allow_overage", False) or ledger.ctx.replay is not None
    moved = await move(ledger, product, source, target, quantity, allow_overage=overage, field=field)
    flagged = ledger.take_flag()
    if moved.from_hand:
        logs.add(Entry(product, IN_HAND, -moved.from_hand, line=target.line, reference=item.get("reference")))
    ends = ((source, -moved.from_source, "from_location"), (target, quantity, "to_location"))
    for end, part, name in ends:
        said = without_none(item.get(name) or {})
        if part:
            logs.add(_entry(product, end, part, item, said, flagged=flagged and part < 0))


async def _end(ledger: Ledger, product: Product, raw: Body | None, field: str) -> End:
    """One end, looked up. Raises Refusal (422) for places, pools and lines that do not exist."""
    said = without_none(raw or {})
    code = said.get("location_code", "")
    place = await ledger.book.place(code, f"{field}.location_code") if code else None
    pool = order_pool(said["stock_pool"], f"{field}.stock_pool") if "stock_pool" in said else None
    return End(place, pool, await _line(ledger, product, said, field))


async def _line(ledger: Ledger, product: Product, said: Body, field: str) -> OrderLine | None:
    """The order line that an end names, by itself or by the shipment that brought its goods; the shipment is kept."""
    ctx, store = ledger.ctx, ledger.store
    order, shipment = said.get("customer_order_number", ""), said.get(_SHIPMENT[0], "")
    if not order and "customer_order_line_number" not in said:
        if not shipment:
            return None
        rows = await ctx.tx.all(sql.ORDER_LINES_OF_SHIPMENT, store, shipment, product.number)
        if len(rows) != 1:
            raise against_rule(f"Shipment {shipment} is not of one line of this product.", f"{field}.{_SHIPMENT[0]}")
        [(of, line_number)] = rows
        return await open_line(ctx, store, of, line_number, product.number, field)
    if not order or "customer_order_line_number" not in said:
        raise against_rule("An order line is named by order and line.", f"{field}.customer_order_line_number")
    number = whole_number(said["customer_order_line_number"], f"{field}.customer_order_line_number")
    line = await open_line(ctx, store, order, number, product.number, field)
    if shipment:
        part = said.get(_SHIPMENT[1])
        of = None if part is None else whole_number(part, f"{field}.{_SHIPMENT[1]}")
        await ctx.tx.run(sql.SHIPMENT_SET, store, *line.key, shipment, of)
    return line


def _entry(product: Product, end: End, quantity: int, item: Body, said: Body, *, flagged: bool) -> Entry:
    reason = item.get("reason_code", "")
    code = int(reason) if reason.isascii() and reason.isdecimal() and len(reason) < 10 else None
    shipment = {name: said[name] for name in _SHIPMENT if name in said}
    if "customer_order_shipment_line_number" in shipment:
        # The log has its own spelling of this field.
        number = shipment.pop("customer_order_shipment_line_number")
        shipment["customer_order_shipment_number_line_number"] = number
    return Entry(
        product,
        item.get("source") or "movement",
        quantity,
        end.place,
        end.pool,
        end.line,
        reference=item.get("reference"),
        reason_code=code,
        reason=None if code is not None else reason or None,
        flagged=flagged,
        extra=shipment,
    )
