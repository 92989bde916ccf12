"""Lines that are rejected: nobody picks them, and what was picked of them goes back (README: `line-rejection`)."""

from __future__ import annotations

from typing import Any

from aisle.service.amounts import whole_number
from aisle.service.answers import DONE, against_rule, conflict, missing
from aisle.service.context import Call, Context
from aisle.service.encode import without_none
from aisle.service.handlers.order_update import match_version
from aisle.service.stock.book import Book
from aisle.service.stock.latest import LINE, closed_later, keep_said, key_of, superseded
from aisle.service.stock.ledger import Ledger
from aisle.service.stock.line import REASONS, OrderLine
from aisle.service.stock.logs import LogWriter
from aisle.service.stock.order import Order, release
from aisle.service.stock.order_audit import note_order, settings_of
from aisle.service.stock.reason import REJECTED, note_reason


async def reject_lines(ctx: Context, call: Call) -> bytes:
    """Reject lines of one order, with a reason each, or take them up again; the order's state follows from its lines.

    Raises Refusal: 404 no such order, 409 where it is closed, 412 at another version or where it is said again after a
    restore and something else was done with a line later, 422 no such line or no reason.
    """
    number = call.body["order_number"]
    order = await Order.load(ctx, ctx.here.number, number)
    if order is None:
        raise missing(f"There is no order {number}.")
    match_version(ctx, order)
    if not order.is_active or order.is_rejected:
        raise conflict(f"Order {number} is {order.fulfilment}.", "order_number")
    ledger = Ledger(Book(ctx, ctx.here))
    logs, before = LogWriter(ledger), settings_of(order, order.lines)
    later = await closed_later(ctx, [line for raw in call.body["lines"] if (line := _known(order, raw))])
    named: dict[int, OrderLine] = {}
    freed: dict[int, OrderLine] = {}
    for index, raw in enumerate(call.body["lines"]):
        said, field = without_none(raw), f"lines[{index}]"
        line = order.line(whole_number(said["line_number"], f"{field}.line_number"))
        if line is None:
            raise against_rule(f"Order {number} has no line {said['line_number']}.", f"{field}.line_number")
        if line.line_number in later:
            if said.get("is_rejected", True) != line.is_rejected:
                raise superseded(ctx, f"Line {line.line_number} of order {number}", later[line.line_number], field)
            continue
        named[line.line_number] = line
        if said.get("is_rejected", True):
            if await _reject(logs, line, said, field):
                freed[line.line_number] = line
        elif line.is_rejected:
            line.is_rejected = line.is_picked = False
    if freed:  # all at once: what is held for an order is read as a whole
        await release(ledger, order, freed.values())
    keep_said(ctx, LINE, [key_of(*line.key) for line in named.values()])
    await note_order(ctx, order, before, order.lines)
    for line in named.values():
        await line.save(ctx, ledger.store)
    await order.save(ctx, ledger.store)
    await ledger.finish()
    await logs.store_all()
    return DONE


def _known(order: Order, raw: dict[str, Any]) -> OrderLine | None:
    number = raw.get("line_number")
    return order.line(int(number)) if number is not None else None


async def _reject(logs: LogWriter, line: OrderLine, said: dict[str, Any], field: str) -> bool:
    """Mark a line as rejected and note why; whether that is news. What is held for it is still to be released."""
    reason = {name: said[name] for name in REASONS if said.get(name)}
    if not reason:
        raise against_rule("A line is rejected for a reason.", f"{field}.{REASONS[0]}")
    if line.is_rejected and reason == {name: line.item[name] for name in REASONS if name in line.item}:
        return False
    line.is_rejected = line.is_picked = True
    line.item = {name: value for name, value in line.item.items() if name not in REASONS} | reason
    await note_reason(logs, line, REJECTED, reason)
    return True
