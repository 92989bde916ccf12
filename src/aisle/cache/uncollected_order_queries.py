"""Query of the picked orders that nobody collects: they wait longer than the store allows.

An order waits from its pick-up date on, or from its last event if that is later. The interface does not say when an
order was picked; the log and this host's operations do, else the first read of the order counts.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from aisle.cache.list_window import QueryResult, window_bounds
from aisle.cache.order_board_queries import orders_by_number, query_order_board
from aisle.cache.order_event_queries import last_events
from aisle.cache.overlaid_order import PendingOrders
from aisle.cache.parse_stored_row import iso_time
from aisle.cache.query_context import QueryContext
from aisle.cache.query_registry import declare_query, whole_topics
from aisle.cache.schema import ORDER_PICKED
from aisle.host.database import fetch
from aisle.jobs.job import Args
from aisle.jobs.store_time import to_utc_text

if TYPE_CHECKING:
    from aisle.jobs.row_types.exceptions_clearance_and_today import PickedOrdersRow
    from aisle.jobs.row_types.orders import OrdersByNumberRow

_PICKED_AND_DUE = """
SELECT order_number, pickup, first_read_began FROM orders INDEXED BY orders_status
WHERE status = 'picked' AND (pickup < ? OR pickup = '~')
"""


def uncollected_orders(context: QueryContext, args: Args) -> list[tuple[str, str]]:
    """Return the picked orders that wait for `pickup_days` or more at `now`: since when, and number; longest first."""
    days = float(args.get("pickup_days") or 0)
    if not days:
        return []
    limit = datetime.fromisoformat(str(args["now"])).astimezone(UTC) - timedelta(days=days)
    due_before = limit.astimezone().replace(tzinfo=None).isoformat(timespec="seconds")
    found = fetch(context.cache, _PICKED_AND_DUE, due_before)
    pending = context.keep(PendingOrders).some(context, [str(number) for number, *_ in found])
    here = {number for number, order in pending.items() if order.now.state != ORDER_PICKED}
    events = last_events(context.cache, context.outbox, [str(number) for number, *_ in found])
    waiting = []
    for number, pickup, first_read in found:
        event = events.get(number, "") or iso_time(first_read)
        since = max(event, to_utc_text(pickup) if pickup != "~" else "")
        if number not in here and since < to_utc_text(limit.isoformat()):
            waiting.append((since, str(number)))
    return sorted(waiting)


@declare_query("picked_orders", "now pickup_days", whole_topics("order", "log", "outbox"))
def query_picked_orders(context: QueryContext, args: Args) -> QueryResult[PickedOrdersRow]:
    """Return one row: how many picked orders there are, how many wait too long, and the first one."""
    rows, picked = query_order_board(context, {"status": ["picked"], "now": args["now"], "size": 1})
    number, name = (str(rows[0].get(field) or "") if rows else "" for field in ("order_number", "customer_name"))
    uncollected = len(uncollected_orders(context, args))
    row: PickedOrdersRow = {
        "picked": picked, "uncollected": uncollected, "order_number": number, "customer_name": name
    }  # fmt: skip
    return [row], 1


@declare_query("uncollected", "now pickup_days first size", whole_topics("order", "log", "outbox"))
def query_uncollected(context: QueryContext, args: Args) -> QueryResult[OrdersByNumberRow]:
    """Return a window on these orders, with the time since which they wait as `idle_since`."""
    waiting = uncollected_orders(context, args)
    first, size = window_bounds(args, 50)
    since = {number: at for at, number in waiting[first : first + size]}
    rows, _ = orders_by_number(context, {"orders": list(since)})
    for row in rows:
        row["idle_since"] = since[row["order_number"]]
    return rows, len(waiting)
