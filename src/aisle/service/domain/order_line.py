"""Order line during an operation."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final, TypedDict

from aisle.service.db.database_interface import Row
from aisle.service.db.statements import orders_and_deliveries as sql
from aisle.service.domain.quantities_times_and_json import parse_json_object, to_json, to_json_number
from aisle.service.domain.states import check_transition, line_state
from aisle.service.errors import Refusal, conflict, unprocessable
from aisle.service.operation_context import Context

REASON_FIELDS: Final = ("rejection_reason_code", "rejection_reason_code_description")
"""Fields with the reason why a line was closed short. They are removed when it no longer is."""


_NAMES_OF_LINE: Final = ("customer_order_number", "customer_order_line_number")


def incomplete_line_refusal(field: str, *, has_order: bool) -> Refusal:
    """Return the refusal of fields with an order and no line, or with a line and no order."""
    given, missing = _NAMES_OF_LINE if has_order else _NAMES_OF_LINE[::-1]
    return unprocessable(f"{given} alone names no order line; fill {missing} too, or neither.", f"{field}.{missing}")


class LineJson(TypedDict, total=False):
    """Order line in an answer to its update or in a refusal, under the names of the interface."""

    order_number: str
    line_number: int
    product_number: str
    quantity: int | float
    picked_quantity: int | float
    moved_quantity: int | float
    is_picked: bool
    is_rejected: bool
    left: int | float
    """Picked quantity that did not fit."""
    carried: int | float
    """Picked quantity that waits for updates of other hosts."""
    changed_on: str
    """Time of the later update that replaces this one."""
    picked_username: str


@dataclass(slots=True)
class OrderLine:
    """Row of `order_line`. Quantities are thousandths; `item` has the fields without rules."""

    order_number: str
    line_number: int
    seq: int
    product_number: str
    quantity: int
    picked_quantity: int
    moved_quantity: int
    delivered_quantity: int
    is_picked: bool
    from_warehouse: bool
    stock_pool: int
    further_pools: list[int]
    preferred_location_code: str
    picked_by: str | None
    item: dict[str, object]
    is_rejected: bool = False
    stored_state: str = ""
    """Stored state; '' for a new line."""
    stored_row: tuple[object, ...] = ()
    """Stored values of the columns that can change."""

    @classmethod
    def from_row(cls, order_number: str, row: Row) -> OrderLine:
        """Build a line from a row of `LINES_OF_ORDER` or `LINE_GET`, whose columns are in the order of the fields."""
        closed, warehouse, pool, pools, *texts, item, rejected = row[7:]
        flags, json_values = (bool(closed), bool(warehouse)), (json.loads(pools), parse_json_object(item))
        fields = [*row[:7], *flags, pool, json_values[0], *texts, json_values[1], bool(rejected)]
        found = cls(order_number, *fields)
        found.stored_state = found.state
        found.stored_row = found.to_row()
        return found

    @property
    def key(self) -> tuple[str, int]:
        """Order and line number, as in balances."""
        return (self.order_number, self.line_number)

    @property
    def is_fully_picked(self) -> bool:
        """True if the whole ordered quantity is picked."""
        return self.picked_quantity >= self.quantity

    @property
    def state(self) -> str:
        """State while the order is open."""
        return line_state(
            is_rejected=self.is_rejected,
            is_picked=self.is_picked,
            is_fully_picked=self.is_fully_picked,
            picked=self.picked_quantity,
        )

    @property
    def is_short(self) -> bool:
        """True if the line is closed with less than the ordered quantity."""
        return self.is_picked and not self.is_fully_picked

    def picked_after(self, held: int, change: int) -> int:
        """Return the picked quantity after a change of the held quantity.

        Goods that arrive for a line picked in the warehouse are those picked there.
        """
        if self.from_warehouse and change > 0:
            return max(self.picked_quantity, held + change)
        return self.picked_quantity + change

    def picking_pools(self, named: int | None = None) -> list[int]:
        """Return the pools for a pick, in order: the named one only, or the line's own and further ones."""
        if named is not None:
            return [named]
        return list(dict.fromkeys([self.stock_pool, *self.further_pools]))

    def as_json(self) -> LineJson:
        """Return the line for an answer or a refusal."""
        found: LineJson = {
            "order_number": self.order_number,
            "line_number": self.line_number,
            "product_number": self.product_number,
            "quantity": to_json_number(self.quantity),
            "picked_quantity": to_json_number(self.picked_quantity),
            "moved_quantity": to_json_number(self.moved_quantity),
            "is_picked": self.is_picked,
        }
        return {**found, "is_rejected": True} if self.is_rejected else found

    async def save(self, ctx: Context, store_number: str, *, deferred: bool = False) -> None:
        """Store the changed columns; if `deferred`, at the end of the operation.

        Raise Refusal (409) for a forbidden change of state.
        """
        if self.stored_state:
            check_transition("line", f"Line {self.line_number}", self.stored_state, self.state, line=self.as_json())
        self.stored_state = self.state
        if not self.is_short and not self.is_rejected:
            self.item = {name: value for name, value in self.item.items() if name not in REASON_FIELDS}
        row = self.to_row()
        if row != self.stored_row:
            self.stored_row = row
            if deferred:
                ctx.defer(sql.LINE_SET, [(store_number, *self.key, *row)])
            else:
                await ctx.tx.run(sql.LINE_SET, store_number, *self.key, *row)

    def to_row(self) -> tuple[object, ...]:
        """Return the columns that can change, in the order of `LINE_SET`."""
        return (
            self.quantity,
            self.picked_quantity,
            self.moved_quantity,
            self.delivered_quantity,
            int(self.is_picked),
            int(self.from_warehouse),
            self.stock_pool,
            self.preferred_location_code,
            self.picked_by,
            to_json(self.item),
            int(self.is_rejected),
        )


def check_ordered_quantity(quantity: int, field: str) -> None:
    """Raise Refusal (422) unless the ordered quantity is positive. Another line could neither be picked nor be open."""
    if quantity <= 0:
        raise unprocessable("An order line needs a quantity above 0: leave the line out, or reject it.", field)


async def load_open_line(ctx: Context, store_number: str, order: str, line: int, product: str, field: str) -> OrderLine:
    """Return a line for which goods may be moved or counted.

    Raise Refusal: 422 for an unknown line or another product, 409 for a closed order or line.
    """
    head = await ctx.tx.one(sql.ORDER_GET, store_number, order)
    row = await ctx.tx.one(sql.LINE_GET, store_number, order, line) if head else None
    if head is None or row is None:
        raise unprocessable(f"There is no line {line} in order {order}.", field)
    found = OrderLine.from_row(order, row)
    if found.product_number != product:
        raise unprocessable(
            f"Line {line} of order {order} is for product {found.product_number}, not {product}.", field
        )
    if not head[1] or head[4]:
        raise conflict(f"Order {order} is {'rejected' if head[4] else 'finished'}.", field, line=found.as_json())
    if found.is_rejected:
        raise conflict(f"Line {line} of order {order} is rejected.", field, line=found.as_json())
    return found
