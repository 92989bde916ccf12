"""An order is changed: lines picked, claimed, rejected, finished (interface: Update customer order)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aisle.service.amounts import goods, number, plain, thousandths, whole_number
from aisle.service.answers import DONE, Refusal, against_rule, conflict, dumps, missing
from aisle.service.context import Call, Context
from aisle.service.encode import without_none
from aisle.service.handlers.roles import require
from aisle.service.order_text import changed_item
from aisle.service.sql import orders as sql
from aisle.service.stock.book import Book, Place
from aisle.service.stock.claim import claim, end_claim
from aisle.service.stock.latest import LINE, closed_later, keep_said, key_of
from aisle.service.stock.ledger import Ledger
from aisle.service.stock.line import REASONS, OrderLine, check_ordered
from aisle.service.stock.logs import LogWriter
from aisle.service.stock.order import Order, finish_order, release_order
from aisle.service.stock.order_audit import note_order, settings_of
from aisle.service.stock.reason import keep_reason
from aisle.service.stock.update import Rebased, order_pool, pick_to, rebased

Body = dict[str, Any]


async def update_customer_order(ctx: Context, call: Call) -> bytes:
    """Change the named fields and lines of one order; everything else stays as it is."""
    if call.body.get("orders") is None:
        return DONE
    body = _without_hearsay(without_none(call.body["orders"]))
    order = await Order.load(ctx, ctx.here.number, body["order_number"])
    if order is None:
        raise missing(f"There is no order {body['order_number']}.")
    match_version(ctx, order)
    said = [without_none(raw) for raw in body.get("order_lines") or []]
    lines = [_line(order, raw, f"orders.order_lines[{index}]") for index, raw in enumerate(said)]
    pairs = list(zip(lines, said, strict=True))
    if ctx.replay and lines:
        body = _reopened(order, body)
    elif _asks_alone(body, said) and (order.is_rejected or not order.is_active):
        return _answer(await _carried(ctx, pairs))
    if not order.is_active:
        _refuse_news(order, body, pairs)
        return DONE
    ledger = Ledger(Book(ctx, ctx.here))
    logs, before = LogWriter(ledger), settings_of(order, lines)
    rows = await _change(ledger, logs, order, body, pairs)
    await note_order(ctx, order, before, lines)
    for line in order.lines:
        await line.save(ctx, ledger.store, last=True)
    await order.save(ctx, ledger.store, last=True)
    await ledger.finish()
    await logs.store_all()
    return _answer(rows)


def _answer(rows: list[Body]) -> bytes:
    """Answer what of the picks found no room, and what waits with its line until all hosts have said their part."""
    if not rows:
        return DONE
    left = [row for row in rows if "left" in row]
    told: Body = {"message": " ".join(map(_told, left)), "left": left} if left else {}
    carried = [row for row in rows if "carried" in row]
    return dumps({"success": True} | told | ({"carried": carried} if carried else {}))


def _reopened(order: Order, body: Body) -> Body:
    """Opens an order that has ended, so that picks which a restore has lost can be stored. Returns the body that ends
    it again afterwards: their goods leave the store or go back like all others of the order."""
    if not order.is_active:
        order.is_active = True
        body = {**body, "is_active": False}
    if order.is_rejected:
        order.is_rejected = False
        body = {**body, "is_rejected": True}
    return body


def _asks_alone(body: Body, said: Sequence[Body]) -> bool:
    """Whether an update only asks what still finds no room: its picker did nothing."""
    asked = all(raw.keys() <= _ASKING and _asks(raw) for raw in said)
    return bool(said) and asked and body.keys() == {"order_number", "order_lines"}


_ASKING = {"line_number", "product_number", "picked_quantity", "base_picked_quantity"}


def _asks(raw: Body) -> bool:
    return "base_picked_quantity" in raw and raw.get("picked_quantity") == raw["base_picked_quantity"]


async def _carried(ctx: Context, pairs: list[tuple[OrderLine, Body]]) -> list[Body]:
    """What waits with lines of an order that has ended, and finds no room any more."""
    rows = []
    for line, _ in pairs:
        key = (ctx.here.number, *line.key)
        row = await ctx.tx.one(sql.CARRIED_PICK, *key)
        if row and row[0]:
            await ctx.tx.run(sql.CARRIED_PICK_SET, *key, 0)
            rows.append(line.as_answer() | {"left": plain(int(row[0]))})
    return rows


def match_version(ctx: Context, order: Order) -> None:
    """Refuse (412) what was meant for another version of the order."""
    if ctx.if_match is not None and str(order.version) not in ctx.if_match:
        raise Refusal(412, f"Order {order.number} has changed.", "If-Match", order=order.as_answer())


def _told(left: Body) -> str:
    """What found no room, in a sentence."""
    by = f" ({left['picked_username']})" if left.get("picked_username") else ""
    stands = f"Line {left['line_number']} is at {left['picked_quantity']} of {left['quantity']}{by}"
    if left["left"] > 0:
        return f"{stands}; {left['left']} too many in your hand: put back."
    return f"{stands}, {left['moved_quantity']} at a place; {-left['left']} of it were not put back."


def _without_hearsay(body: Body) -> Body:
    """An update that names lines speaks of these alone: whether the whole order is picked is for its lines to say.

    Who sends it knows the other lines as they were, and they may have been picked or opened by others since.
    """
    return {name: value for name, value in body.items() if name != "is_picked"} if body.get("order_lines") else body


def _line(order: Order, raw: Body, field: str) -> OrderLine:
    line = order.line(whole_number(raw["line_number"], f"{field}.line_number"))
    if line is None:
        raise against_rule(f"Order {order.number} has no line {raw['line_number']}.", f"{field}.line_number")
    if line.product_number != raw["product_number"]:
        raise against_rule(f"Line {line.line_number} is for product {line.product_number}.", f"{field}.product_number")
    return line


def _refuse_news(order: Order, body: Body, pairs: list[tuple[OrderLine, Body]]) -> None:
    """A finished order stays as it is; hearing again what it is already does no harm."""
    news = body.get("is_active", False) or any(
        body.get(name, getattr(order, name)) != getattr(order, name) for name in ("is_picked", "is_rejected")
    )
    for line, raw in pairs:
        picked = _amount(raw, "picked_quantity", line.picked)
        if "base_picked_quantity" in raw:
            picked += line.picked - _amount(raw, "base_picked_quantity", picked)
        news = news or picked != line.picked or _amount(raw, "quantity", line.quantity) != line.quantity
    if news:
        raise conflict(f"Order {order.number} is finished.", "orders.order_number")


async def _change(
    ledger: Ledger, logs: LogWriter, order: Order, body: Body, pairs: list[tuple[OrderLine, Body]]
) -> list[Body]:
    """Carry it out; what of the picks found no room on their lines, or waits with them."""
    ctx = ledger.ctx
    rejected = body.get("is_rejected", order.is_rejected)
    if rejected != order.is_rejected:
        require(ctx, "supervisor", "integration", "admin")
    if order.is_rejected and not rejected:
        order.is_rejected = False
        order.item = {name: value for name, value in order.item.items() if name not in REASONS}
    if order.is_rejected and (pairs or body.get("is_picked")):
        raise conflict(f"Order {order.number} is rejected.", "orders.order_number")
    left = []
    places = [raw.get("preferred_location_code", "") for _, raw in pairs]
    await _load(ledger, order, [line for line, _ in pairs] or (order.lines if body.get("is_picked") else []), places)
    for index, (line, raw) in enumerate(pairs):
        left += await _update_line(ledger, logs, line, raw, f"orders.order_lines[{index}]")
    await _close(ledger, logs, order, body)
    if "is_claimed" in body:
        await claim(ctx, order, body["is_claimed"])
    order.item |= {name: body[name] for name in REASONS if name in body}
    if rejected and not order.is_rejected:
        await release_order(ledger, order)
        order.is_rejected = True
    if not body.get("is_active", True):
        await finish_order(logs, order)
    if order.is_rejected or not order.is_active:
        end_claim(order)
    return left


async def _load(ledger: Ledger, order: Order, lines: Sequence[OrderLine], places: Sequence[str]) -> None:
    """Read what several lines need at once."""
    if len(lines) > 1:
        numbers = [line.product_number for line in lines]
        await ledger.book.load(numbers, places)
        await ledger.load(numbers)
        await ledger.held_of(order.number, order.lines)


async def _close(ledger: Ledger, logs: LogWriter, order: Order, body: Body) -> None:
    """An order called picked, and no line of it, is picked: its open lines are closed as if they had been named."""
    if body.get("is_picked") is None:
        return
    if not order.lines:
        order.is_picked = body["is_picked"]
    elif body["is_picked"]:
        for line in order.lines:
            if not line.is_picked:
                await pick_to(ledger, logs, line, {"is_picked": True}, "orders.is_picked")
    elif all(line.is_picked for line in order.lines):
        raise conflict("Every line is picked; open a line again instead.", "orders.is_picked")


async def _update_line(ledger: Ledger, logs: LogWriter, line: OrderLine, raw: Body, field: str) -> list[Body]:
    """Change one line; what of a pick found no room on it, and who has it, or what waits with it."""
    product = await ledger.book.product(line.product_number, f"{field}.product_number")
    line.from_warehouse = raw.get("is_picked_from_warehouse", line.from_warehouse)
    pool = order_pool(raw["stock_pool"], f"{field}.stock_pool") if "stock_pool" in raw else None
    place = await _named_place(ledger, raw, field)
    whole, based = not product.allow_decimal, "base_picked_quantity" in raw
    if "quantity" in raw:
        said = {"quantity": raw["quantity"]} if based else raw
        _set_quantity(line, said, field, whole=whole)
    raw, left = await _rebased(ledger, line, raw, field, whole=whole) if based else Rebased(raw, 0)
    _refuse_rejected(line, raw, field)
    if ledger.ctx.replay and await closed_later(ledger.ctx, [line]):  # a pick that is said again does not open it
        raw = {name: value for name, value in raw.items() if name not in REASONS} | {"is_picked": line.is_picked}
    others, was_closed = line.picked_by, line.is_picked
    raised = await pick_to(ledger, logs, line, raw, field, place, pool)
    if _closes(raw) and (line.short or (was_closed and not line.is_picked)):
        keep_said(ledger.ctx, LINE, [key_of(*line.key)])
    if not raised and not based:
        # Nothing was taken, so these say what is planned and not where goods came from.
        line.stock_pool = pool or line.stock_pool
        line.preferred_location_code = raw.get("preferred_location_code", line.preferred_location_code)
    line.item |= changed_item(raw, field)
    await keep_reason(logs, line, raw, place)
    if not left:
        return []
    if ledger.ctx.replay is not None:
        return [{"line_number": line.line_number, "carried": plain(left)}]
    return [line.as_answer() | {"left": plain(left)} | ({"picked_username": others} if others else {})]


def _closes(raw: Body) -> bool:
    """Whether an update says more than what was picked: that the line is closed short or open again, or why."""
    return "is_picked" in raw or any(name in raw for name in REASONS)


async def _rebased(ledger: Ledger, line: OrderLine, raw: Body, field: str, *, whole: bool) -> Rebased:
    """What a picker did, done to the line as it stands.

    After a restore hosts come back in any order. What finds no room before another one has said his part waits for that
    with the line, so that it does not matter who is first. A later update whose picker did nothing asks for the rest.
    """
    replay, key = ledger.ctx.replay, (ledger.store, *line.key)
    if replay is None and not _asks(raw):
        return rebased(line, raw, field, whole=whole)
    row = await ledger.ctx.tx.one(sql.CARRIED_PICK, *key)
    carried = int(row[0]) if row else 0
    known = replay.left.get(line.line_number, 0) if replay else 0
    found = rebased(line, raw, field, whole=whole, more=carried - known)
    waits = found.left if replay else 0
    if waits != carried:
        await ledger.ctx.tx.run(sql.CARRIED_PICK_SET, *key, waits)
    return found


def _refuse_rejected(line: OrderLine, raw: Body, field: str) -> None:
    """A rejected line stays as it is; hearing again what it is already does no harm."""
    if line.is_rejected and (_amount(raw, "picked_quantity", 0) or not raw.get("is_picked", True)):
        raise _rejected(line, field)


def _rejected(line: OrderLine, field: str) -> Refusal:
    return conflict(f"Line {line.line_number} is rejected.", field, line=line.as_answer())


def _set_quantity(line: OrderLine, raw: Body, field: str, *, whole: bool) -> None:
    quantity = goods(raw["quantity"], f"{field}.quantity", whole=whole)
    picked = (
        thousandths(raw["picked_quantity"], f"{field}.picked_quantity") if "picked_quantity" in raw else line.picked
    )
    check_ordered(quantity, f"{field}.quantity")
    if quantity < picked:
        raise conflict(
            f"{number(picked)} are picked already; put some back first.", f"{field}.quantity", line=line.as_answer()
        )
    if quantity != line.quantity:
        if line.is_rejected:
            raise _rejected(line, f"{field}.quantity")
        line.quantity = quantity
        line.is_picked = line.full


def _amount(raw: Body, name: str, default: int) -> int:
    return thousandths(raw[name], name) if name in raw else default


async def _named_place(ledger: Ledger, raw: Body, field: str) -> Place | None:
    """The place that a line update names. A store that keeps no locations takes the text as a mere wish."""
    code = raw.get("preferred_location_code", "")
    if not code or not await ledger.book.has_places():
        return None
    return await ledger.book.place(code, f"{field}.preferred_location_code")
