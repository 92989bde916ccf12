"""Audit of orders: decisions about an order. The work on it is in the log."""

from __future__ import annotations

from collections.abc import Iterable

from aisle.service.domain import audit
from aisle.service.domain.order_line import REASON_FIELDS, OrderLine
from aisle.service.domain.orders import CLAIM_FIELDS, Order
from aisle.service.domain.quantities import to_json_number
from aisle.service.operation_context import Context

_CLAIM = "claimed_by"
_OF_PICKERS = frozenset({"staff"})


def settings_of(order: Order, lines: Iterable[OrderLine]) -> dict[str, object]:
    """Return the audited fields of an order and of some of its lines."""
    settings: dict[str, object] = {"is_active": order.is_active, "is_rejected": order.is_rejected}
    settings |= {name: order.item[name] for name in (*REASON_FIELDS, _CLAIM) if name in order.item}
    for line in lines:
        settings |= {f"line {line.line_number} {name}": value for name, value in _of_line(line).items()}
    return settings


def _of_line(line: OrderLine) -> dict[str, object]:
    settings: dict[str, object] = {"quantity": to_json_number(line.quantity), "is_rejected": line.is_rejected}
    settings |= {name: value for name, value in line.item.items() if line.is_rejected or name not in REASON_FIELDS}
    return settings | {
        "is_picked_from_warehouse": line.from_warehouse,
        "preferred_location_code": line.preferred_location_code,
        "stock_pool": line.stock_pool,
    }


async def note_order(ctx: Context, order: Order, before: dict[str, object], lines: Iterable[OrderLine]) -> None:
    """Record the changes since `before`. Staff who claim a free order or end their own claim are not recorded."""
    after = settings_of(order, lines)
    is_own_claim = {before.get(_CLAIM, ""), after.get(_CLAIM, "")} <= {"", ctx.app_user or ctx.principal.name}
    if ctx.principal.role in _OF_PICKERS and is_own_claim:
        before, after = (
            {name: settings[name] for name in settings if name not in CLAIM_FIELDS} for settings in (before, after)
        )
    await audit.record_changes(ctx, ctx.current_store.number, [audit.AuditChange("order", order.number, before, after)])
