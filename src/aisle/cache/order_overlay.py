"""Application of pending operations to cached orders: picks, rejections, claims and movements.

Picked quantities are absolute, or are added up (see `rebase_picks`) until they may have arrived: applied twice they do
no harm. Movements are always added up, so they must be applied until then and not longer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING

from aisle.cache.parse_stored_row import Row
from aisle.cache.pending_operations import is_included
from aisle.decimal_of_row import to_decimal
from aisle.jobs.claim import is_later
from aisle.jobs.job import Json
from aisle.outbox.operation_record import REJECT_LINES, Operation
from aisle.outbox.rebase_picks import BASE, PICKED, has_base, is_picked, picked_change, rebase_line

if TYPE_CHECKING:
    from aisle.operation_body_types import LineRejection, LineUpdate, MovementEnd, MovementEntry


CLAIM_FIELDS = ("claimed_by", "claimed_name", "claimed_on", "claimed_terminal")
"""Fields of a claim that our own service sends beside `is_claimed`."""


def is_line_complete(line: Mapping[str, Json]) -> bool:
    """Return True if nothing of a line is left to pick."""
    return bool(line.get("is_picked")) or to_decimal(line.get("picked_quantity")) >= to_decimal(line.get("quantity"))


def apply_to_order(header: Row, lines: list[Row], operations: Iterable[Operation], read_began: float | None) -> None:
    """Apply operations to an order, in place.

    `read_began`: time at which the read of its lines began, None if they are unknown. Operations confirmed before then
    are included already.
    """
    touched, by_number = False, {line["line_number"]: line for line in lines}
    for operation in operations:
        if is_included(operation, read_began):
            continue
        touched = True
        if operation.operation == "update-customer-order":
            _apply_update(header, by_number, operation)
        elif operation.operation == REJECT_LINES:
            _apply_line_rejection(lines, operation.body["lines"])
        else:
            for item in operation.body:
                _apply_movement(str(header["order_number"]), lines, item)
    if touched and lines:
        header["is_picked"] = bool(header.get("is_picked")) or all(is_line_complete(line) for line in lines)


def _apply_update(header: Row, lines: Mapping[Json, Row], operation: Operation) -> None:
    order = operation.body["orders"]
    header.update({name: value for name, value in order.items() if name not in ("order_lines", "is_claimed")})
    if "is_claimed" in order:
        _apply_claim(header, operation, bool(order["is_claimed"]))
    added = False
    for change in order.get("order_lines") or ():
        line = lines.get(change["line_number"])
        if line is not None and has_base(change):
            _add_picked(line, change, may_be_included=operation.first_sent_at is not None)
            added = True
        elif line is not None:
            line.update(change)
    if added:  # the sender did not know the picks of others on these lines
        header["is_picked"] = all(is_line_complete(line) for line in lines.values())


def _apply_line_rejection(lines: list[Row], rejections: Iterable[LineRejection]) -> None:
    """Reject lines or reopen them, in place. Picked goods of a rejected line go back."""
    changes = {change["line_number"]: change for change in rejections}
    for line in lines:
        change = changes.get(line["line_number"])
        if change is not None:
            line.update(change)
            line["is_picked"] = change["is_rejected"]
            line[PICKED] = Decimal(0)


def _add_picked(line: Row, change: LineUpdate, *, may_be_included: bool) -> None:
    """Add a picker's share to a line, in place; a share that may be included already is not added again."""
    picked, ordered = to_decimal(line.get(PICKED)), to_decimal(line.get("quantity"))
    now = rebase_line(change, picked, ordered, to_decimal(line.get("moved_quantity")))
    if may_be_included:
        stated = to_decimal(change[PICKED])
        reached = (
            max(picked, min(stated, now.picked)) if picked_change(change) > 0 else min(picked, max(stated, now.picked))
        )
        now = now._replace(picked=reached)
    line.update({name: value for name, value in change.items() if name != BASE})
    line[PICKED], line["is_picked"] = now.picked, is_picked(change, now, ordered)


def _apply_claim(header: Row, operation: Operation, is_claimed: bool) -> None:
    """Apply a claim or release, in place. The latest claim wins; a release before it released an earlier claim."""
    if not is_claimed:
        same = (header.get("claimed_by"), header.get("claimed_terminal") or "") == (
            operation.app_user,
            operation.terminal,
        )
        if header.get("is_claimed") and not same and is_later(str(header.get("claimed_on")), operation.occurred_at):
            return
        header["is_claimed"] = False
        for name in CLAIM_FIELDS:
            header.pop(name, None)
    elif not is_later(str(header.get("claimed_on") or ""), operation.occurred_at):
        header["is_claimed"] = True
        header.pop("claimed_name", None)
        claim = (operation.app_user, operation.occurred_at, operation.terminal)
        header.update(zip(("claimed_by", "claimed_on", "claimed_terminal"), claim, strict=True))


def _apply_movement(order: str, lines: list[Row], item: MovementEntry) -> None:
    """Apply a movement to a location of a line or away from it, in place.

    More than was picked is picked with it. Goods put down from the line's own hand were picked before; applying that
    again to a line that includes it does no harm.
    """
    quantity = to_decimal(item.get("quantity"))
    source: MovementEnd = item.get("from_location") or {}
    target: MovementEnd = item.get("to_location") or {}
    for end, sign in ((source, -1), (target, 1)):
        if not end or end.get("customer_order_number") != order or not end.get("location_code"):
            continue
        for line in lines:
            if line["line_number"] != end.get("customer_order_line_number"):
                continue
            _add_held(line, str(end["location_code"]), sign * quantity)
            picked = to_decimal(line.get("picked_quantity"))
            moved = max(Decimal(0), to_decimal(line.get("moved_quantity")) + sign * quantity)
            if _comes_from_hand(source, order, line["line_number"]):
                line["moved_quantity"] = min(picked, moved)
            elif sign < 0 and not _is_held_by(target, order, line["line_number"]):
                line["moved_quantity"], line["picked_quantity"] = moved, max(Decimal(0), picked - quantity)
                line["is_picked"] = line["picked_quantity"] >= to_decimal(line.get("quantity"))
            else:
                line["moved_quantity"], line["picked_quantity"] = moved, max(picked, moved)


def _add_held(line: Row, code: str, change: Decimal) -> None:
    """Change the quantity held for the line at a location, in place, if these quantities were read."""
    held = line.get("put_down")
    if held is None:
        return
    for entry in held:
        if entry["location_code"] == code:
            entry["quantity"] = to_decimal(entry["quantity"]) + change
            return
    held.append({"location_code": code, "quantity": change})


def _comes_from_hand(end: MovementEnd, order: str, line: Json) -> bool:
    """Return True for goods that are picked for a line and at no location."""
    return _is_held_by(end, order, line) and not end.get("location_code")


def _is_held_by(end: MovementEnd, order: str, line: Json) -> bool:
    """Return True for goods of a line."""
    return (end.get("customer_order_number"), end.get("customer_order_line_number")) == (order, line)
