"""Pane beside a product's settings at a desk: sales and forecast by week, orders that want it, last log entries."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from aisle.jobs.look_up import need_text
from aisle.jobs.row_types.log import LogRow
from aisle.jobs.row_types.orders import OrdersWithProductRow
from aisle.jobs.supervisor.log_list import change_message, why_message
from aisle.jobs.supervisor.store_product_values import StoreProduct
from aisle.jobs.view import Block, Chart, Msg, Series, SidePane, msg, raw

SERIES = {"history": msg("store_product.history"), "forecast": msg("store_product.forecast")}
"""Series on the common axis: what was sold, then what will be."""


def side_pane(product: StoreProduct, orders: Sequence[OrdersWithProductRow], log: Sequence[LogRow]) -> SidePane:
    """Return the pane of a product."""
    return SidePane(_sales_chart(product), (_order_block(orders), _log_block(log)))


def _sales_chart(product: StoreProduct) -> Chart | None:
    """Return sales and forecast on one axis, a position for each week; None without figures.

    Figures without a week follow each other.
    """
    found: dict[str, dict[str, Decimal]] = {name: {} for name in SERIES}
    count = 0
    for name, figures in product.series:
        for figure in figures if name in found else ():
            count += 1
            found[name][figure.key or str(count)] = figure.value
    keys = dict.fromkeys(key for values in found.values() for key in values)
    if not keys:
        return None
    series = tuple(
        Series(label, tuple(found[name].get(key, Decimal(0)) for key in keys)) for name, label in SERIES.items()
    )
    return Chart(
        name="store_product.sales",
        title=msg("store_product.sales"),
        prompt=raw(""),
        series=series,
        axis=tuple(raw(key) for key in keys),
    )


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
