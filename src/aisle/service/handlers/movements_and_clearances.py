"""Movements of goods in a store (interface: Create movement), goods to be put back, and clearances of orders.

A movement from the order line to free stock carries an assignment of a clearance out.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from functools import partial
from typing import Final, Literal

from aisle.contract.request_bodies.extension_bodies import ExtendedMovementItem
from aisle.contract.request_bodies.store_products_logs_movements import MovementEnd as EndFields
from aisle.service.auth.authorization import authorize_store
from aisle.service.db.database_interface import Row
from aisle.service.db.statements import orders_and_deliveries as order_sql
from aisle.service.db.statements import people_and_tokens as tokens_sql
from aisle.service.db.statements import stock as stock_sql
from aisle.service.domain.ledger import Ledger
from aisle.service.domain.log_and_audit_writer import IN_HAND_SOURCE, LogEntry, LogWriter
from aisle.service.domain.order_line import OrderLine, incomplete_line_refusal, load_open_line
from aisle.service.domain.orders import save_changed_orders
from aisle.service.domain.picking_and_moves import MovementEnd, move_goods, parse_pool
from aisle.service.domain.quantities_times_and_json import (
    parse_quantity,
    parse_timestamp,
    parse_whole_number,
    select_members,
    to_json_number,
)
from aisle.service.domain.read_products_and_locations import Product, StoreCatalogue
from aisle.service.errors import SUCCESS, bad_request, to_json_bytes, unprocessable
from aisle.service.handlers.list_page import after_seq, extension_page
from aisle.service.http.parameters_and_headers import clamp_occurred_on
from aisle.service.operation_context import Context, OperationCall, Store

EMPTY_LIST_RESULT = b'{"success":true,"data":"","message":"The list is empty: there was nothing to move."}'
_END_FIELDS: Final = ("from_location", "to_location")
_LINE_FIELDS: Final = ("customer_order_number", "customer_order_line_number")
_SHIPMENT_FIELDS: Final = ("customer_order_shipment_number", "customer_order_shipment_line_number")
_NO_END: EndFields = {}


async def create_movement(ctx: Context, call: OperationCall) -> bytes:
    """Move goods: all items or none. `data` of the answer names the log entries of each item.

    An empty list is valid, since the interface has no minimum; the answer says that nothing was moved.
    """
    if not call.body:
        return EMPTY_LIST_RESULT
    items: list[ExtendedMovementItem] = call.body
    if ctx.replay:
        items = [item for item in items if not await _has_order_ended(ctx, item)]
    ctx.app_user = call.query.get("AppUserName", ctx.app_user)
    ledger = Ledger(StoreCatalogue(ctx, ctx.current_store))
    ends = [item[name] for item in items for name in _END_FIELDS if name in item]
    numbers = [item.get("product_number", "") for item in items]
    await ledger.catalogue.load(numbers, (end.get("location_code", "") for end in ends))
    await ledger.catalogue.range_products(numbers)
    await ledger.load_free_stock(numbers)
    logs = LogWriter(ledger)
    for index, item in enumerate(items):
        await _move_item(ledger, logs, item, f"[{index}]")
        await logs.close_entry()
    await save_changed_orders(ledger)
    await ledger.defer_writes()
    ids = await logs.save_all()
    return f'{{"success":true,"data":"{",".join(map(str, ids))}"}}'.encode()


async def _has_order_ended(ctx: Context, item: ExtendedMovementItem) -> bool:
    """Return True if the item put goods down before a restore, for an order that has ended since."""
    ends = item.get("from_location", _NO_END), item.get("to_location", _NO_END)
    lines = [[end.get(field) for field in _LINE_FIELDS] for end in ends]
    if lines[0] != lines[1] or None in lines[0]:
        return False
    head = await ctx.tx.one(order_sql.ORDER_GET, ctx.store_number, lines[0][0])
    return head is not None and bool(not head[1] or head[4])


async def _move_item(ledger: Ledger, logs: LogWriter, item: ExtendedMovementItem, field: str) -> None:
    if not item.get("product_number"):
        raise unprocessable("A movement needs a product.", f"{field}.product_number")
    product = await ledger.catalogue.get_product(item["product_number"], f"{field}.product_number")
    if not product.is_stock:
        raise unprocessable("No stock is kept of this product.", f"{field}.product_number")
    if "quantity" not in item:
        raise unprocessable("A movement needs a quantity.", f"{field}.quantity")
    quantity = parse_quantity(item["quantity"], f"{field}.quantity", whole=not product.allow_decimal)
    if quantity <= 0:
        raise unprocessable("More than nothing has to be moved.", f"{field}.quantity")
    source = await _parse_end(ledger, product, item.get("from_location", _NO_END), f"{field}.from_location")
    target = await _parse_end(ledger, product, item.get("to_location", _NO_END), f"{field}.to_location")
    if source.line and target.line and source.line.key == target.line.key:
        target = target._replace(line=source.line)
    # Goods moved before a restore were there, but their arrival may not have been repeated yet.
    overage = item.get("allow_overage", False) or ledger.ctx.replay is not None
    occurred_on = ledger.ctx.occurred_on
    left_on = _named_time(ledger.ctx, item, "taken_datetime", field) or occurred_on
    # A count between a movement and its undo saw neither.
    ledger.occurred_on = _named_time(ledger.ctx, item, "undone_datetime", field) or occurred_on
    moved = await move_goods(
        ledger,
        product,
        source,
        target,
        quantity,
        allow_overage=overage,
        field=field,
        left_on=min(left_on, ledger.occurred_on),
    )
    flagged = ledger.pop_negative_flag()
    if moved.from_hand:
        logs.add(LogEntry(product, IN_HAND_SOURCE, -moved.from_hand, line=target.line, reference=item.get("reference")))
    arrival = target if target.pool else target._replace(pool=source.pool)  # goods keep their pool unless one is named
    for end, part, end_fields, moved_on in (
        (source, -moved.from_source, item.get("from_location", _NO_END), left_on),
        (arrival, quantity, item.get("to_location", _NO_END), occurred_on),
    ):
        if part:
            entry = _log_entry(product, end, part, item, end_fields, flagged=flagged and part < 0)
            undone = {"undone_datetime": ledger.occurred_on} if "undone_datetime" in item else {}
            logs.add(entry._replace(extra={**(entry.extra or {}), **undone}), moved_on)


def _named_time(
    ctx: Context, item: ExtendedMovementItem, name: Literal["taken_datetime", "undone_datetime"], field: str
) -> str:
    """Return a time that an item names, at most that of the movement; empty without one."""
    if name not in item:
        return ""
    moment = parse_timestamp(item[name], f"{field}.{name}", ctx.time_zone())
    skew, is_replay = ctx.headers.clock_skew, ctx.replay is not None
    return min(clamp_occurred_on(moment, ctx.now_seconds, skew, is_replay=is_replay), ctx.occurred_on)


async def _parse_end(ledger: Ledger, product: Product, fields: EndFields, field: str) -> MovementEnd:
    """Return one end with its location, pool and line. Raise Refusal (422) if one does not exist."""
    code = fields.get("location_code", "")
    location = await ledger.catalogue.get_location(code, f"{field}.location_code") if code else None
    pool = parse_pool(fields["stock_pool"], f"{field}.stock_pool") if "stock_pool" in fields else None
    return MovementEnd(location, pool, await _find_line(ledger, product, fields, field))


async def _find_line(ledger: Ledger, product: Product, fields: EndFields, field: str) -> OrderLine | None:
    """Return the order line that an end names, directly or by a shipment. A shipment beside a line is stored."""
    ctx, store = ledger.ctx, ledger.store
    order, shipment = fields.get("customer_order_number", ""), fields.get(_SHIPMENT_FIELDS[0], "")
    if not order and "customer_order_line_number" not in fields:
        if not shipment:
            return None
        rows = await ctx.tx.all(order_sql.ORDER_LINES_OF_SHIPMENT, store, shipment, product.number)
        if len(rows) != 1:
            raise unprocessable(
                f"Shipment {shipment} is not of one line of this product.", f"{field}.{_SHIPMENT_FIELDS[0]}"
            )
        [(of, line_number)] = rows
        return await load_open_line(ctx, store, of, line_number, product.number, field)
    if not order or "customer_order_line_number" not in fields:
        raise incomplete_line_refusal(field, has_order=bool(order))
    number = parse_whole_number(fields["customer_order_line_number"], f"{field}.customer_order_line_number")
    line = await load_open_line(ctx, store, order, number, product.number, field)
    if shipment:
        part = fields.get(_SHIPMENT_FIELDS[1])
        of = None if part is None else parse_whole_number(part, f"{field}.{_SHIPMENT_FIELDS[1]}")
        await ctx.tx.run(order_sql.SHIPMENT_SET, store, *line.key, shipment, of)
    return line


def _log_entry(
    product: Product, end: MovementEnd, quantity: int, item: ExtendedMovementItem, fields: EndFields, *, flagged: bool
) -> LogEntry:
    reason = item.get("reason_code", "")
    code = int(reason) if reason.isascii() and reason.isdecimal() and len(reason) < 10 else None
    shipment = select_members(fields, _SHIPMENT_FIELDS)
    if "customer_order_shipment_line_number" in shipment:
        # The log spells this field differently.
        number = shipment.pop("customer_order_shipment_line_number")
        shipment["customer_order_shipment_number_line_number"] = number
    return LogEntry(
        product,
        item.get("source") or "movement",
        quantity,
        end.location,
        end.pool,
        end.line,
        reference=item.get("reference"),
        reason_code=code,
        reason=None if code is not None else reason or None,
        needs_review=flagged,
        extra=shipment,
    )


async def list_put_backs(ctx: Context, call: OperationCall) -> bytes:
    """List goods of rejected orders that must be put back, with the locations they came from."""
    read = partial(ctx.tx.all, stock_sql.PUT_BACKS, ctx.store_number, after_seq(call))
    return await extension_page("put_backs", call.query, read, partial(_put_back_json, ctx.current_store))


def _put_back_json(store: Store, row: Row) -> dict[str, object]:
    seq, product, name, location, pool, quantity, order, line, created = row
    return {
        "id": store.wire_id(seq),
        "product_number": product,
        "product_description": name,
        "location_code": location,
        "stock_pool": pool,
        "quantity": to_json_number(quantity),
        "customer_order_number": order,
        "customer_order_line_number": line,
        "created_on": created,
    }


async def create_customer_order_clearance(ctx: Context, call: OperationCall) -> bytes:
    """Assign the goods held at locations with this tag, in every store of the token, of these categories or all.

    Existing assignments are updated, so that a repeated request assigns nothing twice. If there is nothing to move, the
    answer says why.
    """
    tag = call.query.get("location_code_tag", "")
    if not tag:
        raise bad_request("A tag is needed.", "location_code_tag")
    categories = frozenset(call.body.get("category_codes") or ())
    numbers = [row[0] for row in await ctx.tx.all(tokens_sql.STORE_NUMBERS_OF_TOKEN, ctx.principal.token_id)]
    count = 0
    for number in numbers:
        count += await _assign_in_store(ctx, await authorize_store(ctx.tx, ctx.principal, number), tag, categories)
    return (
        SUCCESS
        if count
        else to_json_bytes({"success": True, "message": await _explain_nothing(ctx, numbers, tag, categories)})
    )


async def _explain_nothing(ctx: Context, numbers: Iterable[str], tag: str, categories: Collection[str]) -> str:
    """Return the reason why nothing is assigned, in particular if no location has the tag."""
    for number in numbers:
        if any(tag in json.loads(row[0]) for row in await ctx.tx.all(stock_sql.LOCATION_TAGS, number)):
            what = "Nothing of these categories" if categories else "Nothing"
            return f"{what} is held for customer orders at places with the tag {tag!r}."
    return f"No place has the tag {tag!r}; nothing is to be moved."


async def _assign_in_store(ctx: Context, store: Store, tag: str, categories: frozenset[str]) -> int:
    """Assign the held goods of a store. Return their number, including those assigned before."""
    rows = await ctx.tx.all(stock_sql.HELD_AT_LOCATIONS, store.number)
    held = [row for row in rows if tag in json.loads(row[6]) and (not categories or row[7] in categories)]
    known = {tuple(row) for row in await ctx.tx.all(stock_sql.ASSIGNMENTS_OPEN, store.number)}
    fresh = [row for row in held if tuple(row[:5]) not in known]
    if repeated := [(store.number, *row[:6]) for row in held if tuple(row[:5]) in known]:
        await ctx.tx.run_many(stock_sql.ASSIGNMENT_QUANTITY_SET, repeated)
    if fresh:
        seq = await ctx.next_numbers(store.number, "assignment", len(fresh))
        made = [(store.number, seq + n, *row[:6], tag, ctx.now) for n, row in enumerate(fresh)]
        await ctx.tx.run_many(stock_sql.ASSIGNMENT_ADD, made)
    return len(held)


async def list_assignments(ctx: Context, call: OperationCall) -> bytes:
    """List the assigned goods that are still held at their location, each page in walking order."""
    read = partial(ctx.tx.all, stock_sql.ASSIGNMENTS, ctx.store_number, after_seq(call))
    to_json = partial(_assignment_json, ctx.current_store)
    return await extension_page("assignments", call.query, read, to_json, _walking_order)


def _walking_order(row: Row) -> tuple[bool, int, str, str, int]:
    """Return the sort key of an assignment. A location that was removed comes last."""
    return row[10] is None, row[10] or 0, row[11] or "", row[3], row[0]


def _assignment_json(store: Store, row: Row) -> dict[str, object]:
    seq, product, name, location, pool, order, line, quantity, tag, created = row[:10]
    return {
        "id": store.wire_id(seq),
        "product_number": product,
        "product_description": name,
        "location_code": location,
        "stock_pool": pool,
        "customer_order_number": order,
        "customer_order_line_number": line,
        "quantity": to_json_number(quantity),
        "location_tag": tag,
        "created_on": created,
    }
