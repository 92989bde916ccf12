"""Adaptation of an update to a service that adds nothing up, or deletes lines not named.

Quantities are rebased; other lines are repeated unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from aisle.cache.order_overlay import is_line_complete
from aisle.client.paging import Row
from aisle.courier.service_features import Features
from aisle.decimal_of_row import to_decimal
from aisle.outbox.operation_record import UPDATE_ORDER, Operation
from aisle.outbox.rebase_picks import BASE, PICKED, RebasedLine, has_base, is_picked, rebase_line

if TYPE_CHECKING:
    from aisle.operation_body_types import LineExcess, LineUpdate


class AdaptedOperation(NamedTuple):
    """Operation as it is to be sent, with the lines that cannot take all of it."""

    op: Operation
    excess_lines: tuple[LineExcess, ...] = ()
    omitted_line: LineUpdate | None = None
    """Untouched line that is left out to see whether the service keeps it, as needed to send it again."""


def needs_adapting(op: Operation, features: Features) -> bool:
    """Return whether the operation has to be rebased here, because the service does not do it."""
    lines = op.body["orders"].get("order_lines") or () if op.operation == UPDATE_ORDER else ()
    return not features.pick_base and any(map(has_base, lines))


def adapt_to_lines(op: Operation, lines: Sequence[Row]) -> AdaptedOperation:
    """Return the update with absolute quantities, added to the current state of the lines; pure."""
    order = op.body["orders"]
    current_lines = {line["line_number"]: dict(line) for line in lines}
    adapted, excess = [], []
    for change in order["order_lines"]:
        line = current_lines.get(change["line_number"])
        fields = {name: value for name, value in change.items() if name != BASE}
        if line is not None and has_base(change):
            of, moved = to_decimal(line.get("quantity")), to_decimal(line.get("moved_quantity"))
            now = rebase_line(change, to_decimal(line.get(PICKED)), of, moved)
            fields |= {PICKED: now.picked, "is_picked": is_picked(change, now, of)}
            excess += [_excess_line(line, change, now)] if now.excess else []
        if line is not None:
            line |= fields
        adapted.append(fields)
    adapted_order = {**order, "order_lines": adapted}
    done = all(map(is_line_complete, current_lines.values()))
    if current_lines and (done or "is_picked" in order):
        adapted_order["is_picked"] = done
    return AdaptedOperation(op._replace(body={**op.body, "orders": adapted_order}), tuple(excess))


def with_all_lines(op: Operation, lines: Sequence[Row], omitted_line: LineUpdate | None = None) -> Operation:
    """Return the update with the order's other lines unchanged, for a service that deletes lines not named; pure.

    `omitted_line` may be left out, to see whether the service keeps it.
    """
    order = op.body["orders"]
    changes = order.get("order_lines") or ()
    named = {change["line_number"] for change in changes} | ({omitted_line["line_number"]} if omitted_line else set())
    others = [_unchanged_line(line) for line in lines if line["line_number"] not in named]
    return op._replace(body={**op.body, "orders": {**order, "order_lines": [*changes, *others]}}) if others else op


def _unchanged_line(line: Row) -> LineUpdate:
    return {
        "line_number": line["line_number"],
        "product_number": str(line.get("product_number") or ""),
        PICKED: to_decimal(line.get(PICKED)),
    }


def line_to_omit(op: Operation, lines: Sequence[Row]) -> LineUpdate | None:
    """Return an untouched line that can be left out to see whether the service deletes it; None if there is none.

    It contains what is needed to restore it. Other lines are named in the update.
    """
    named = {change["line_number"] for change in op.body["orders"].get("order_lines") or ()}
    for line in reversed(lines):
        is_touched = line.get("is_picked") or to_decimal(line.get(PICKED)) or to_decimal(line.get("moved_quantity"))
        if line["line_number"] not in named and len(lines) > 1 and line.get("quantity") and not is_touched:
            return {**_unchanged_line(line), "quantity": to_decimal(line["quantity"])}
    return None


def _excess_line(line: Row, change: Row, now: RebasedLine) -> LineExcess:
    by: LineExcess = {"picked_username": str(line["picked_username"])} if line.get("picked_username") else {}
    return {
        "line_number": change["line_number"],
        "product_number": str(change.get("product_number") or ""),
        "quantity": to_decimal(line.get("quantity")),
        PICKED: now.picked,
        "moved_quantity": to_decimal(line.get("moved_quantity")),
        "left": now.excess,
        **by,
    }
