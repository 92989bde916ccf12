"""Pick list on paper: the lines of one order, or of a batch, in walking order; complete ones have a ticked box."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from aisle.jobs.job import PrintTable, Query, format_number
from aisle.jobs.pick.pick_line import PickLine, parse_lines, sort_stops
from aisle.jobs.row_types.orders import OrderRow, PickListRow
from aisle.jobs.sums_of_goods_and_progress import named_goods, sum_goods
from aisle.jobs.view import Msg, msg, raw

BOX: Final = raw("[ ]")
"""Box to tick."""

TICKED_BOX: Final = raw("[x]")
"""Box of a line that is complete or closed."""

TOTES: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Letters of the totes of a batch."""


def query_pick_list(orders: Sequence[str]) -> Query:
    """Return the query for a pick list. The page prints its answer."""
    return Query("pick_list", "pick_list", {"orders": list(orders[: len(TOTES)])}, is_live=True)


def printed_pick_list(rows: Sequence[PickListRow], batch: Sequence[str] = ()) -> PrintTable:
    """Return the pick list of these orders. In a batch each line names the tote of its order. `batch`: all orders of
    the batch, by which its totes have their letters."""
    orders = [row["order"] for row in rows]
    numbers = batch or [order["order_number"] for order in orders]
    totes = dict(zip(numbers, TOTES, strict=False))
    barcodes = {product: code for row in rows for product, code in row["barcodes"].items()}
    ranks = {number: at for at, number in enumerate(totes)}
    lines = [line for order in orders for line in parse_lines(order["lines"], order["order_number"])]
    done = sum(not line.is_incomplete for line in lines)
    is_batch = len(totes) > 1
    heads = (raw(""), *((msg("pick_list.tote"),) if is_batch else ()), *_HEADS)
    table = tuple(
        (
            BOX if line.is_incomplete else TICKED_BOX,
            *((raw(totes[line.order]),) if is_batch else ()),
            *_cells(line, barcodes),
        )
        for line in sort_stops(lines, ranks)
    )
    notes = tuple(_order_note(order, totes[order["order_number"]] if is_batch else "") for order in orders)
    name = "-".join(totes) if len(totes) == 1 else "batch"
    goods = sum_goods(
        (line.remaining, line.unit if line.allows_decimals else None) for line in lines if line.is_incomplete
    )
    notes += (msg("pick_list.total", goods=named_goods(goods)),) if not goods.is_nothing else ()
    notes += (msg("pick_list.ticked", count=done),) if done else ()
    notes = (msg("pick_list.title"), *notes)
    return PrintTable("file_for_people", f"aisle-pick-{name}", notes, heads, table, done)


_HEADS: Final = (
    msg("head.location"),
    msg("clearance_tasks.head_quantity"),
    msg("products.head_code"),
    msg("head.product"),
)


def _cells(line: PickLine, barcodes: dict[str, str]) -> tuple[Msg, ...]:
    unit = f" {line.unit}" if line.allows_decimals and line.unit else ""
    return (
        msg("stores.warehouse") if line.is_awaited else raw(line.location),
        raw(f"{format_number(Decimal(line.remaining if line.is_incomplete else line.ordered))}{unit}"),
        raw(barcodes.get(line.product, line.product)),
        raw(line.label),
    )


def _order_note(order: OrderRow, tote: str) -> Msg:
    customer = str(order.get("customer_name") or order.get("description") or "")
    due = msg("moment", at=str(order.get("pickup_date") or "")) if order.get("pickup_date") else msg("orders.no_date")
    note = msg("pick_list.order", order=order["order_number"], customer=customer, due=due)
    return msg("pair", name=tote, value=note) if tote else note
