"""Pane beside a product's settings at a desk: sales and forecast by week, orders that want it, last log entries."""

from __future__ import annotations

from collections.abc import Sequence

from aisle.jobs.look_up_product import need_text
from aisle.jobs.product_sales_chart import sales_chart
from aisle.jobs.row_types.log import LogRow
from aisle.jobs.row_types.orders import OrdersWithProductRow
from aisle.jobs.supervisor.log_list import change_message, why_message
from aisle.jobs.supervisor.store_product_values import StoreProduct
from aisle.jobs.view import Block, Msg, SidePane, msg, raw


def side_pane(product: StoreProduct, orders: Sequence[OrdersWithProductRow], log: Sequence[LogRow]) -> SidePane:
    """Return the pane of a product."""
    return SidePane(sales_chart(product.series), (_order_block(orders), _log_block(log)))


def _order_block(orders: Sequence[OrdersWithProductRow]) -> Block:
    rows = tuple(
        (raw(row["order_number"]), need_text(row), raw(row["customer_name"]), msg("moment", at=row["pickup_date"]))
        for row in orders
    )
    return Block(msg("look_up.orders", count=len(orders)), rows)


def _log_block(log: Sequence[LogRow]) -> Block:
    return Block(msg("store_product.log"), tuple(map(_log_cells, log)))


def _log_cells(entry: LogRow) -> tuple[Msg, ...]:
    who = raw(entry["user_name"] or entry["app_user_name"])
    return msg("moment", at=entry["at"]), change_message(entry), why_message(entry, ()), who
