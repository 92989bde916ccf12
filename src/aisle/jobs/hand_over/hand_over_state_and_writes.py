"""State of the hand-over: list, open order, its goods, what was checked; what it sends, and the undo.

Interface: Update customer order, Create movement. The service cannot reopen an order that was handed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from aisle.jobs.job import Context, Turn, Write
from aisle.jobs.list_cursor_and_search import ListOptions
from aisle.jobs.pick.picked_quantities_and_operations import order_movement, order_write
from aisle.jobs.sums_of_goods_and_progress import GoodsSum, sum_goods
from aisle.jobs.supervisor.order_rows import BoardOrder
from aisle.jobs.tote_labels_and_repeated_reads import LabelRead
from aisle.row_values import to_decimal

if TYPE_CHECKING:
    from aisle.jobs.row_types.orders import OrderLineRow, OrderRow
    from aisle.operation_body_types import LineUpdate, MovementEnd, MovementEntry


LIST, ORDER_STEP, GOODS, QUANTITY, LOCATION, CONFIRM = "", "order", "goods", "quantity", "location", "confirm"
"""Pages of the job, without its name."""

MAX_UNDO = 100
ZERO = Decimal(0)


class HeldHere(NamedTuple):
    """Goods of a line at a location."""

    location: str
    quantity: Decimal


class LineGoods(NamedTuple):
    """Goods of one line of the open order. Quantities are in base units."""

    line: int
    product: str
    label: str
    ordered: Decimal
    picked: Decimal
    is_closed: bool = False
    """True if the line counts as picked although it is short."""
    unit: str = ""
    """Unit of measured goods; empty for pieces."""
    held: tuple[HeldHere, ...] = ()
    """Where they were put down; the rest is in hand."""
    stock_location: str = ""
    """Location where goods of this product are for sale; empty if none is known."""

    @property
    def missing(self) -> Decimal:
        """Quantity that nobody has picked, while the line is open."""
        return ZERO if self.is_closed else max(ZERO, self.ordered - self.picked)


class Checked(NamedTuple):
    """Quantity of a line that was scanned at the hand-over."""

    line: int
    quantity: Decimal


class PutBack(NamedTuple):
    """Goods that the customer does not want, back in stock."""

    order: str
    line: int
    product: str
    label: str
    picked_before: Decimal
    was_closed: bool
    moved: tuple[HeldHere, ...] = ()
    """What was moved, from where."""
    location: str = ""
    """Location where it is now."""
    from_hand: Decimal = ZERO
    """What was at no location."""

    @property
    def quantity(self) -> Decimal:
        """All of it."""
        return self.from_hand + sum(each.quantity for each in self.moved)


class HandOverState(NamedTuple):
    """Window of the list, and the order that is open."""

    step: str = LIST
    """Name of the page without that of the job."""
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    options: ListOptions = ListOptions()
    rows: tuple[BoardOrder, ...] = ()
    total: int = 0
    open_single_hit: bool = False
    """True if a search was ended with Enter: a single result opens at once."""
    may_have_more: bool = False
    page: int = 0
    """Index of the part of the order's goods on the screen."""
    order: str = ""
    customer: str = ""
    status: str = ""
    """`open`, `partial`, `picked`, `rejected` or `finished`; empty until the order is read."""
    goods: tuple[LineGoods, ...] = ()
    is_alone: bool = False
    """True if the job was opened for one order and closes with it."""
    last_read: LabelRead = LabelRead()
    """Opening of the order, or the last read of its label; at the list that of the order handed over last."""
    checks_goods: bool = False
    """True if the store wants each of its goods scanned, or somebody has begun to scan them."""
    checked: tuple[Checked, ...] = ()
    line: int = 0
    """Line of the goods that are being put back."""
    quantity: Decimal = ZERO
    """Quantity of them."""
    put_back: tuple[PutBack, ...] = ()
    """Steps that can be undone."""
    last_order: str = ""
    """Order that was handed over last."""
    since: str = ""
    """Time from which on refusals are reported."""
    reported_refusals: tuple[str, ...] = ()
    knows_phones: bool = True
    """False if the service returns no phone numbers, so that none can be searched."""


Result = Turn[HandOverState]


def parse_goods(row: OrderRow) -> tuple[LineGoods, ...]:
    """Return the picked or missing goods of an order."""
    lines = (_parse_line(line) for line in row["lines"])
    return tuple(goods for goods in lines if goods.picked or goods.missing)


def _parse_line(line: OrderLineRow) -> LineGoods:
    stocked = [each["location_code"] for each in line["locations"]]
    picked = to_decimal(line["picked_quantity"])
    return LineGoods(
        line=line["line_number"],
        product=line["product_number"],
        label=line["description"] or line["product_number"],
        ordered=to_decimal(line["quantity"]),
        picked=picked,
        is_closed=line["is_picked"],
        unit=line["unit"] if line["allow_decimal"] else "",
        held=tuple(_held(line, picked)),
        stock_location=str(line["preferred_location_code"] or "") or next(iter(stocked), ""),
    )


def _held(line: OrderLineRow, picked: Decimal) -> Iterator[HeldHere]:
    """Yield the goods at locations. A location without a quantity has all that is left."""
    left = picked
    for each in line["put_down"]:
        quantity = min(left, left if each["quantity"] is None else to_decimal(each["quantity"]))
        left -= quantity
        if quantity > 0:
            yield HeldHere(each["location_code"], quantity)


def locations_of(state: HandOverState) -> tuple[str, ...]:
    """Return the locations where goods of the order lie, each once."""
    return tuple(dict.fromkeys(held.location for goods in state.goods for held in goods.held))


def goods_of_line(state: HandOverState, line: int) -> LineGoods | None:
    """Return the goods of a line; None if it has none any more."""
    return next((goods for goods in state.goods if goods.line == line), None)


def checked_quantity(state: HandOverState, goods: LineGoods) -> Decimal:
    """Return how much of a line was scanned."""
    return min(goods.picked, sum((each.quantity for each in state.checked if each.line == goods.line), ZERO))


def _sum(goods: Iterable[tuple[LineGoods, Decimal]]) -> GoodsSum:
    return sum_goods((quantity, each.unit or None) for each, quantity in goods)


def picked_goods(state: HandOverState) -> GoodsSum:
    """Return what can be handed over."""
    return _sum((each, each.picked) for each in state.goods)


def missing_goods(state: HandOverState) -> GoodsSum:
    """Return what is still to be picked."""
    return _sum((each, each.missing) for each in state.goods)


def unchecked_goods(state: HandOverState) -> GoodsSum:
    """Return what was not scanned."""
    return _sum((each, each.picked - checked_quantity(state, each)) for each in state.goods)


def close_order(state: HandOverState) -> HandOverState:
    """Return the state back at the list. What was put back can still be undone."""
    return HandOverState(
        options=state.options,
        put_back=state.put_back,
        last_order=state.last_order,
        last_read=state.last_read,
        since=state.since,
        reported_refusals=state.reported_refusals,
        knows_phones=state.knows_phones,
    )


def finish_write(order: str, context: Context) -> Write:
    """Return the operation that ends an order: its goods leave the store."""
    return order_write(order, {"order_number": order, "is_active": False}, context.store)


def put_back_step(order: str, goods: LineGoods, quantity: Decimal, location: str) -> PutBack:
    """Return the step that puts goods of a line back: first those at a location, then those in hand."""
    moved, left = list[HeldHere](), quantity
    for held in goods.held:
        part = min(left, held.quantity)
        if part > 0:
            moved.append(held._replace(quantity=part))
            left -= part
    line = goods.line, goods.product, goods.label, goods.picked, goods.is_closed
    return PutBack(order, *line, tuple(moved), location, from_hand=left)


def put_back_writes(step: PutBack, context: Context, *, is_undo: bool = False) -> tuple[Write, ...]:
    """Return the operations that put goods back, or take them out again. The line stays closed, so that nobody picks
    it again."""
    moved = sum((each.quantity for each in step.moved), ZERO)
    movement = (_movement(step, context, is_undo=is_undo),) if step.moved else ()
    before, after = step.picked_before - moved, step.picked_before - step.quantity
    is_picked = True
    if is_undo:
        before, after, is_picked = step.picked_before - step.from_hand, step.picked_before, step.was_closed
    line: LineUpdate = {
        "line_number": step.line,
        "product_number": step.product,
        "base_picked_quantity": before,
        "picked_quantity": after,
        "is_picked": is_picked,
    }
    if step.location:  # the page names it for all of them
        line["preferred_location_code"] = step.location
    return (*movement, order_write(step.order, {"order_number": step.order, "order_lines": [line]}, context.store))


def _movement(step: PutBack, context: Context, *, is_undo: bool) -> Write:
    items: list[MovementEntry] = []
    for each in step.moved:
        holder: MovementEnd = {"customer_order_number": step.order, "customer_order_line_number": step.line}
        held: MovementEnd = {**holder, "location_code": each.location}
        stock: MovementEnd = {"location_code": step.location or each.location}
        source, target = (stock, held) if is_undo else (held, stock)
        item: MovementEntry = {"product_number": step.product, "quantity": each.quantity}
        items.append({**item, "from_location": source, "to_location": target})
    return order_movement(step.order, items, context.store, context.user)
