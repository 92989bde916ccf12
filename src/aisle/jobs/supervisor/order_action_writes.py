"""Writes and undo of every order action of a supervisor, checked against the order's current state.

Interface: Update customer order. A line is rejected by closing it with its picked quantity and a reason; every service
accepts that. A line of which nothing is picked is rejected explicitly if the service offers `line-rejection`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from aisle.jobs.job import LocalNote, Write
from aisle.jobs.pick.picked_quantities_and_operations import add_reason, claim_write, order_write, reject_write
from aisle.jobs.view import Msg, msg
from aisle.row_values import to_decimal

if TYPE_CHECKING:
    from aisle.jobs.row_types.orders import OrderHeader, OrderToActOnRow
    from aisle.operation_body_types import LineRejection, LineRejectionsBody, LineUpdate

CLAIM, RELEASE, REJECT, REOPEN, HAND_OVER = "claim", "release", "reject", "reopen", "hand_over"
LINE_REJECTION_FEATURE = "line-rejection"
"""Feature name by which a service announces that it accepts rejections of lines."""

PRIORITY, REMOVE_PRIORITY, SPLIT = "priority", "no_priority", "split"
CLOSE_LINE, REOPEN_LINE = "close_line", "reopen_line"

ORDER_ACTIONS = (CLAIM, RELEASE, REJECT, REOPEN, HAND_OVER, PRIORITY, REMOVE_PRIORITY, SPLIT)

PICK = "pick"
"""What the page of one order offers beside the actions."""

ACTION_NUMBERS = {
    kind: number
    for number, kind in enumerate(
        (PICK, CLAIM, REJECT, PRIORITY, SPLIT, HAND_OVER, RELEASE, REOPEN, REMOVE_PRIORITY), 1
    )
}
"""Number of each action, the same on each page that offers it."""

LINE_ACTIONS = (CLOSE_LINE, REOPEN_LINE)

PERSON_ACTIONS = (CLAIM, SPLIT)

REASON_ACTIONS = (REJECT, CLOSE_LINE)

CONFIRMED_ACTIONS = (RELEASE, REJECT, REOPEN, HAND_OVER)
"""Actions that must be confirmed, because they discard part of the order's state."""


class OrderAction(NamedTuple):
    """Action on one order."""

    kind: str
    user: str = ""
    """Person who gets the order; empty for nobody in particular."""
    name: str = ""
    reason_code: str = ""
    reason: str = ""
    line: int = 0


class Decision(NamedTuple):
    """Result of an action: its writes and the action that undoes it, or the reason why it is impossible."""

    writes: tuple[Write | LocalNote, ...] = ()
    undo: OrderAction | None = None
    """None if it cannot be undone."""
    why: Msg | None = None


def decide(
    order: str,
    row: OrderToActOnRow | None,
    action: OrderAction,
    store: str,
    *,
    can_reject_lines: bool = False,
    user: str = "",
) -> Decision:
    """Return the writes of an action for an order in its current state; `row` is None if this host does not know it.
    All writes need a supervisor. `user` is the person who acts. `can_reject_lines`: the service accepts rejections of
    lines."""
    done = _decide(order, row, action, store, can_reject_lines, user)
    reported = any(isinstance(each, Write) for each in done.writes)
    return done._replace(writes=tuple(_for_supervisor(each, reported) for each in done.writes))


_SOMEBODY = " "
"""User number that nobody has."""


def possible_kinds(rows: Sequence[OrderToActOnRow], store: str) -> tuple[str, ...]:
    """Return the actions that are possible for at least one of the orders."""

    def is_possible(kind: str) -> bool:
        action = OrderAction(kind, _SOMEBODY)
        return any(decide(row["order_number"], row, action, store).why is None for row in rows)

    return tuple(kind for kind in ORDER_ACTIONS if is_possible(kind))


def _for_supervisor(effect: Write | LocalNote, reported: bool) -> Write | LocalNote:
    """Mark the effect as a supervisor's. `reported`: a write tells the service the same, and a local note mirrors
    it."""
    if isinstance(effect, LocalNote):
        return effect._replace(needs_supervisor=True, mirrors_write=reported)
    return effect._replace(needs_supervisor=True)


def _decide(
    order: str, row: OrderToActOnRow | None, action: OrderAction, store: str, can_reject_lines: bool, user: str
) -> Decision:
    if row is None:
        return Decision(why=msg("order.absent", order=order))
    if not row.get("is_active", True):
        return Decision(why=msg("pick.handed_over_now", order=order))
    if action.kind == REOPEN:
        return _reopen(order, row, store)
    if row.get("is_rejected"):
        already = action.kind == REJECT
        return Decision(why=msg("pick.rejected" if already else "order_actions.order_rejected", order=order))
    if action.kind == REJECT:
        return Decision((reject_write(order, action.reason_code, action.reason, store),), OrderAction(REOPEN))
    if action.kind in (CLAIM, RELEASE):
        return _claim(order, row, action, store, user)
    if action.kind in (PRIORITY, REMOVE_PRIORITY, SPLIT) and row.get("is_picked"):
        return Decision(why=msg("pick.left_done", order=order))
    if action.kind in (PRIORITY, REMOVE_PRIORITY):
        return _set_priority(order, row, action)
    if action.kind == SPLIT:
        return _split(order, row, action, store)
    if action.kind == HAND_OVER:
        return _hand_over(order, row, store)
    return _close_or_reopen_line(order, row, action, store, can_reject_lines)


def _reopen(order: str, row: OrderHeader, store: str) -> Decision:
    if not row.get("is_rejected"):
        return Decision(why=msg("order_actions.not_rejected", order=order))
    before = OrderAction(
        REJECT,
        reason_code=str(row.get("rejection_reason_code") or ""),
        reason=str(row.get("rejection_reason_code_description") or ""),
    )
    return Decision((order_write(order, {"order_number": order, "is_rejected": False}, store),), before)


def _claim(order: str, row: OrderHeader, action: OrderAction, store: str, user: str) -> Decision:
    """Assign or release an order. Notify the new owner as for an order of another batch, unless it is the acting
    person."""
    claimed, by = bool(row.get("is_claimed")), str(row.get("claimed_by") or "")
    if action.kind == RELEASE:
        if not claimed:
            return Decision(why=msg("order_actions.not_claimed", order=order))
        undo_claim = OrderAction(CLAIM, by, str(row.get("claimed_name") or by))
        freed = LocalNote("claim", order, ""), LocalNote("assigned", order, ""), LocalNote("released", order, "1")
        return Decision((claim_write(order, store, is_claimed=False), *freed), undo_claim)
    if claimed and by == action.user:
        return Decision(why=msg("order_actions.already_claimed", order=order, name=action.name or action.user))
    undo = OrderAction(CLAIM, by, str(row.get("claimed_name") or by)) if claimed and by else OrderAction(RELEASE)
    kept = (
        LocalNote("claim", order, action.user),
        LocalNote("assigned", order, action.user if action.user != user else ""),
    )
    return Decision((claim_write(order, store)._replace(user=action.user), *kept), undo)


def _set_priority(order: str, row: OrderHeader, action: OrderAction) -> Decision:
    first = action.kind == PRIORITY
    if bool(row.get("is_priority")) == first:
        return Decision(why=msg("order_actions.done_priority" if first else "pick.no_priority", order=order))
    return Decision(
        (LocalNote("priority", order, "1" if first else ""),), OrderAction(REMOVE_PRIORITY if first else PRIORITY)
    )


def _split(order: str, row: OrderToActOnRow, action: OrderAction, store: str) -> Decision:
    """Move the order from its batch to another person. Both are notified by local notes."""
    picker = str(row.get("picker") or row.get("assigned_to") or "")
    name = str((row.get("picker_name") if row.get("picker") else row.get("assigned_name")) or picker)
    if not picker:
        return Decision(why=msg("order_actions.not_in_batch", order=order))
    if picker == action.user:
        return Decision(why=msg("order_actions.already_claimed", order=order, name=action.name or action.user))
    kept = LocalNote("claim", order, action.user), LocalNote("assigned", order, action.user)
    return Decision((claim_write(order, store)._replace(user=action.user), *kept), OrderAction(SPLIT, picker, name))


def _hand_over(order: str, row: OrderHeader, store: str) -> Decision:
    if to_decimal(row.get("picked_quantity")) <= 0 and not row.get("is_picked"):
        return Decision(why=msg("order_actions.nothing_picked", order=order))
    return Decision((order_write(order, {"order_number": order, "is_active": False}, store),))


def _close_or_reopen_line(
    order: str, row: OrderToActOnRow, action: OrderAction, store: str, can_reject_lines: bool
) -> Decision:
    """Close a line with its picked quantity, or reopen it. The picked quantity stays."""
    line = next((line for line in row.get("lines") or () if line.get("line_number") == action.line), None)
    if line is None:
        return Decision(why=msg("order_actions.no_line", order=order))
    label = str(line.get("description") or line.get("product_number") or "")
    picked = to_decimal(line.get("picked_quantity"))
    if picked >= to_decimal(line.get("quantity")):
        return Decision(why=msg("order_actions.line_full", label=label))
    closing = action.kind == CLOSE_LINE
    if bool(line.get("is_picked")) == closing:
        return Decision(why=msg("order_actions.line_closed" if closing else "order_actions.line_open", label=label))
    code = str(line.get("rejection_reason_code") or "")
    reason = str(line.get("rejection_reason_code_description") or "")
    undo = (
        OrderAction(REOPEN_LINE, line=action.line)
        if closing
        else OrderAction(CLOSE_LINE, "", "", code, reason, action.line)
    )
    if (
        can_reject_lines
        and not picked
        and ((action.reason_code or action.reason) if closing else line.get("is_rejected"))
    ):
        return Decision((_line_rejection_write(order, action, store),), undo)
    body: LineUpdate = {
        "line_number": action.line,
        "product_number": str(line.get("product_number") or ""),
        "base_picked_quantity": picked,
        "picked_quantity": picked,
        "is_picked": closing,
    }
    if closing:
        add_reason(body, action.reason_code, action.reason)
    write = order_write(order, {"order_number": order, "order_lines": [body]}, store)
    return Decision((write,), undo)


def _line_rejection_write(order: str, action: OrderAction, store: str) -> Write:
    closing = action.kind == CLOSE_LINE
    line: LineRejection = {"line_number": action.line, "is_rejected": closing}
    if closing:
        add_reason(line, action.reason_code, action.reason)
    body: LineRejectionsBody = {"order_number": order, "lines": [line]}
    return Write("reject-lines", (f"order/{order}",), {"store_number": store}, {}, body)
