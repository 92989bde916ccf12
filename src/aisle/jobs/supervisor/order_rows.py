"""Orders as rows of a list: the board's columns, and what they say of an order."""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

from aisle.jobs.job import Context
from aisle.jobs.list_page_base_class import Column
from aisle.jobs.row_types.orders import OrderHeader, OrdersByNumberRow
from aisle.jobs.store_time import UNKNOWN_AGE, due_message, past_due_message, seconds_since, store_day, time_message
from aisle.jobs.sums_of_goods_and_progress import OrderGoods, goods_progress_in_list, order_goods, order_progress
from aisle.jobs.view import Msg, msg, raw
from aisle.row_values import to_decimal

DONE_STATUSES = ("rejected", "finished")
"""States of orders that nobody has to pick or hand over."""


class BoardOrder(NamedTuple):
    """Order of the board."""

    number: str
    customer: str = ""
    due: Msg = raw("")
    status: str = "open"
    ordered: Decimal = Decimal(0)
    picked: Decimal = Decimal(0)
    line_count: int = 0
    short_lines: int = 0
    is_claimed: bool = False
    claimed_by: str = ""
    """Name of the claimant, if known."""
    abandoned_at: Msg | None = None
    """Time at which the claimant left the order on this host."""
    idle_s: Decimal = UNKNOWN_AGE
    """Seconds without a change while somebody works on it; below 0: unknown."""
    known_s: Decimal = UNKNOWN_AGE
    """Seconds since this host first received it."""
    rejection_reason: str = ""
    """Reason of its rejection."""
    reference: str = ""
    position: int = 0
    is_priority: bool = False
    priority_by: str = ""
    """Person who gave it priority."""
    picker: str = ""
    """Person whose open batch on this host contains it."""
    assigned_to: str = ""
    """Person it was assigned to, who has not opened it yet."""
    goods: OrderGoods = OrderGoods()
    put_down_at: tuple[str, ...] = ()
    """Locations where its picked goods lie."""

    @property
    def progress(self) -> Decimal:
        """Picked share, from 0 to 1."""
        return min(Decimal(1), self.picked / self.ordered) if self.ordered > 0 else Decimal(0)


def parse_order_row(row: OrdersByNumberRow, context: Context) -> BoardOrder:
    """Parse a row of the query `order_board` or `orders_by_number`."""
    picked, of = order_progress(row)
    return BoardOrder(
        number=str(row["order_number"]),
        customer=str(row.get("customer_name") or row.get("description") or ""),
        due=_due_text(row, context),
        status=str(row["status"]),
        ordered=of,
        picked=picked,
        line_count=int(to_decimal(row.get("total_lines"))),
        short_lines=int(row.get("short") or 0),
        is_claimed=bool(row.get("is_claimed")),
        claimed_by=str(row.get("claimed_name") or row.get("claimed_by") or ""),
        abandoned_at=time_message(str(row["claim_ended_at"]), store_day(context.now))
        if row.get("claim_ended_at")
        else None,
        idle_s=seconds_since(row.get("idle_since"), context.now) if row.get("idle_since") else UNKNOWN_AGE,
        known_s=seconds_since(row.get("seen_at"), context.now) if row.get("seen_at") else UNKNOWN_AGE,
        rejection_reason=_rejection_reason(row) if row.get("is_rejected") else "",
        reference=str(row.get("reference") or ""),
        position=int(row.get("position") or 0),
        is_priority=bool(row.get("is_priority")),
        priority_by=str(row.get("priority_by") or ""),
        picker=str(row.get("picker_name") or ""),
        assigned_to=str(row.get("assigned_name") or ""),
        goods=order_goods(row),
        put_down_at=tuple(row.get("put_down_at") or ()),
    )


def _due_text(row: OrdersByNumberRow, context: Context) -> Msg:
    """Return when the order is due. One that nobody has to pick any more is not late."""
    at = str(row.get("pickup_date") or "")
    if not at:
        return msg("orders.no_date")
    return past_due_message(at, context.now) if row["status"] in DONE_STATUSES else due_message(at, context.now)


def _rejection_reason(row: OrderHeader) -> str:
    return str(row.get("rejection_reason_code_description") or row.get("rejection_reason_code") or "")


STATUS_NAMES = {
    "open": "orders.status_open",
    "partial": "orders.status_in_progress",
    "picked": "orders.status_picked",
    "rejected": "orders.status_rejected",
    "finished": "orders.status_finished",
}
"""Names of the states of an order (interface: fulfillment_status)."""


def _status_text(order: BoardOrder) -> Msg:
    """Return the state of the order, with its priority while something is left to pick."""
    state = msg(STATUS_NAMES.get(order.status, "orders.status_open"))
    return msg("orders.priority", state=state) if order.is_priority and order.status in ("open", "partial") else state


def claim_text(order: BoardOrder) -> Msg:
    """Return who has claimed the order, and when that person left it; empty without a claim."""
    if not order.is_claimed:
        return raw("")
    if order.abandoned_at:
        return msg("home.abandoned_by", who=order.claimed_by, at=order.abandoned_at, due=raw(""))
    return raw(order.claimed_by) if order.claimed_by else msg("orders.claimed_by_somebody")


def _age_text(seconds: Decimal) -> Msg:
    return msg("orders.idle", seconds=str(seconds)) if seconds >= 0 else raw("")


def _short_text(order: BoardOrder) -> Msg:
    return msg("orders.short", count=order.short_lines) if order.short_lines else raw("")


_NUMBER = Column[BoardOrder](msg("head.order"), lambda order: raw(order.number), sort="number")
_PICKUP = Column[BoardOrder](msg("head.pickup"), lambda order: order.due, sort="pickup")
_STATE = Column(msg("head.state"), _status_text, sort="state")
_PROGRESS = Column[BoardOrder](
    msg("head.progress"),
    lambda order: goods_progress_in_list(order.goods.picked, order.goods.ordered),
    sort="progress",
)
_CLAIM = Column(msg("orders.head_claim"), claim_text, is_optional=True, sort="claim")
_CUSTOMER = Column[BoardOrder](msg("head.customer"), lambda order: raw(order.customer), sort="customer")
_PUT_DOWN_AT = Column[BoardOrder](
    msg("head.location"), lambda order: raw(", ".join(order.put_down_at)), is_optional=True
)
_IDLE = Column[BoardOrder](msg("orders.head_idle"), lambda order: _age_text(order.idle_s), is_optional=True)
_SHORT = Column(msg("shortage.title"), _short_text, is_optional=True)
DETAIL_COLUMNS = (
    Column[BoardOrder](
        msg("orders.head_known_since"), lambda order: _age_text(order.known_s), is_optional=True, sort="age"
    ),
    Column[BoardOrder](msg("head.reason"), lambda order: raw(order.rejection_reason), is_optional=True),
    Column[BoardOrder](msg("orders.head_reference"), lambda order: raw(order.reference), is_optional=True),
)
"""Columns that the pane beside the board shows too."""

BOARD_COLUMNS = (_NUMBER, _PICKUP, _STATE, _PROGRESS, _CUSTOMER, _CLAIM, _PUT_DOWN_AT, _SHORT, _IDLE, *DETAIL_COLUMNS)
"""Columns of the board. The customer's name has more space if there is no claim."""

STUCK_COLUMNS = (
    _NUMBER,
    _IDLE._replace(sort="idle"),
    _CLAIM,
    _CUSTOMER,
    _PROGRESS,
    _STATE,
    _PICKUP,
    _SHORT,
    *DETAIL_COLUMNS,
)
"""Columns of stuck orders: first the idle time and the claimant."""

UNCOLLECTED_COLUMNS = (
    _NUMBER,
    _IDLE._replace(title=msg("exceptions.uncollected"), sort="idle"),
    _PUT_DOWN_AT,
    _CUSTOMER,
    _PROGRESS,
    _PICKUP,
    *DETAIL_COLUMNS,
)
"""Columns of orders that nobody collects: first the time since when they wait, and where they are."""
