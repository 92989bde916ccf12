"""Receipts: received goods are assigned to the lines of their delivery (README: Receipt)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from aisle.service.db.statements import logs_and_changes as logs_sql
from aisle.service.db.statements import orders_and_deliveries as sql
from aisle.service.domain.ledger import Ledger
from aisle.service.domain.order_line import OrderLine, load_open_line
from aisle.service.domain.quantities_times_and_json import format_quantity, parse_json_object
from aisle.service.domain.read_products_and_locations import Product
from aisle.service.domain.states import delivery_state
from aisle.service.errors import Refusal, conflict, unprocessable


@dataclass(slots=True)
class DeliveryLine:
    """Row of `delivery_line` during a receipt. Quantities are thousandths; `quantity` is the announced one."""

    line_number: int
    product_number: str
    quantity: int
    received_quantity: int
    target_pool: int | None
    customer_order: str
    customer_line: int
    data: str = "{}"
    is_new: bool = False
    is_changed: bool = False

    @property
    def key(self) -> tuple[int, str, int]:
        """Line number and the order line that it is for, as in `LineReceipt`."""
        return self.line_number, self.customer_order, self.customer_line

    @property
    def outstanding_quantity(self) -> int:
        """Quantity that is still expected."""
        return max(0, self.quantity - self.received_quantity)


class LineReceipt(NamedTuple):
    """Goods of a receipt on a line of its delivery, as the log entry keeps them; negative for an undo.

    The entry keeps those of lines for an order, and of products on several lines. Quantities are thousandths.
    """

    delivery_line: int
    order: str
    """Order that the line is for; empty if none."""
    order_line: int
    location: str
    pool: int
    quantity: int
    held: int
    """Part that the order line holds; the rest is free."""
    picked: int
    """Change of the order line's `picked_quantity`."""

    def is_like(self, other: LineReceipt) -> bool:
        """Return True if both are of the same lines, location and pool."""
        return self[:5] == other[:5]


LINE_RECEIPTS = "order_line_receipts"
"""Member of a log entry's data with its `LineReceipt` rows."""


class LineShare(NamedTuple):
    """Received quantity for a line, if any. `excess` is the part that was not announced."""

    line: DeliveryLine | None
    quantity: int
    excess: int = 0


class ExcessMove(NamedTuple):
    """Excess of one line that fills another line of the product."""

    source: DeliveryLine
    target: DeliveryLine
    quantity: int


class Delivery:
    """Delivery of which an operation receives goods."""

    def __init__(self, number_: str, seq: int, receipt_seq: int | None, lines: list[DeliveryLine]) -> None:
        self.number = number_
        self.seq = seq
        self.receipt_seq = receipt_seq
        self.lines = lines
        self._last_line_number = max((line.line_number for line in lines), default=0)
        self._lines_by_product: defaultdict[str, list[DeliveryLine]] = defaultdict(list)
        """Lines by product, since one request may receive a delivery of thousands of lines."""
        for line in lines:
            self._lines_by_product[line.product_number].append(line)

    def receive(
        self,
        product: str,
        quantity: int,
        *,
        line_number: int | None,
        order: tuple[str, int] | None,
        field: str,
        placed: Mapping[int, int] = MappingProxyType({}),
    ) -> list[LineShare]:
        """Assign `quantity` of a product to lines: the named one first, then those that lack goods.

        Without a named line they are filled in order, those of the order line first; otherwise lines for orders are.
        More than announced goes to the named line, the last one, or a new one. A negative quantity is taken from the
        named line, then from the last ones, of each at most what was `placed` there if that is known. Raise Refusal:
        422 if there is no such line, 409 if more is reversed than was received.
        """
        lines = self._matching_lines(product, line_number, order, field)
        is_named = line_number is not None
        parts = (
            self._reverse_received(_last_first(lines, line_number, order), -quantity, placed, field)
            if quantity < 0
            else self._fill_lines(_named_first(lines, line_number), product, quantity, is_named=is_named)
        )
        for line, part, _ in parts:
            assert line is not None
            line.received_quantity += part
            line.is_changed = True
        return parts

    def _matching_lines(
        self, product: str, line_number: int | None, order: tuple[str, int] | None, field: str
    ) -> list[DeliveryLine]:
        lines = list(self.lines_of(product))
        if line_number is not None and all(line.line_number != line_number for line in lines):
            message = f"Delivery {self.number} has no line {line_number} of product {product}."
            raise unprocessable(message, f"{field}.line_number")
        if order:
            own_lines = [line for line in lines if (line.customer_order, line.customer_line) == order]
            lines = own_lines + [line for line in lines if not line.customer_order]
        return lines

    def _fill_lines(self, lines: list[DeliveryLine], product: str, quantity: int, *, is_named: bool) -> list[LineShare]:
        parts: list[LineShare] = []
        for line in lines:
            part = min(quantity, line.outstanding_quantity)
            if part:
                parts.append(LineShare(line, part))
                quantity -= part
        if quantity:
            excess_line = lines[0 if is_named else -1] if lines else self._add_line(product)
            parts.append(LineShare(excess_line, quantity, quantity))
        return parts

    def _reverse_received(
        self, lines: list[DeliveryLine], quantity: int, placed: Mapping[int, int], field: str
    ) -> list[LineShare]:
        received = sum(line.received_quantity for line in lines)
        if quantity > received:
            raise conflict(f"Only {format_quantity(received)} of it were received with delivery {self.number}.", field)
        left = {line.line_number: line.received_quantity for line in lines}
        parts: list[LineShare] = []
        for limits in (placed, left):
            for line in lines:
                number = line.line_number
                part = min(quantity, left[number], limits.get(number, left[number]))
                if part > 0:
                    parts.append(LineShare(line, -part))
                    left[number] -= part
                    quantity -= part
        return parts

    def move_excess(self, product: str) -> list[ExcessMove]:
        """Fill lines that lack goods with the excess of the product's other lines, those for an order first."""
        lines = self.lines_of(product)
        moves: list[ExcessMove] = []
        for source in lines:
            for target in sorted(lines, key=lambda line: not line.customer_order):
                part = min(source.received_quantity - source.quantity, target.outstanding_quantity)
                if part > 0:
                    source.received_quantity -= part
                    target.received_quantity += part
                    source.is_changed = target.is_changed = True
                    moves.append(ExcessMove(source, target, part))
        return moves

    def lines_of(self, product: str) -> list[DeliveryLine]:
        """Return the lines of a product."""
        return self._lines_by_product.get(product, [])

    def is_split_or_for_order(self, product: str) -> bool:
        """Return True if the product is on several lines, or on one for an order."""
        lines = self.lines_of(product)
        return len(lines) > 1 or any(line.customer_order for line in lines)

    def _add_line(self, product: str) -> DeliveryLine:
        """Add a line for a product that was not announced."""
        self._last_line_number += 1
        line = DeliveryLine(self._last_line_number, product, 0, 0, None, "", 0, is_new=True)
        self.lines.append(line)
        self._lines_by_product[product].append(line)
        return line

    @property
    def state(self) -> str:
        """State that follows from the received quantities."""
        return delivery_state((line.quantity, line.received_quantity) for line in self.lines)


def _named_first(lines: list[DeliveryLine], line_number: int | None) -> list[DeliveryLine]:
    if line_number is None:
        return lines
    return sorted(lines, key=lambda line: (line.line_number != line_number, not line.customer_order))


def _last_first(
    lines: list[DeliveryLine], line_number: int | None, order: tuple[str, int] | None
) -> list[DeliveryLine]:
    """Return the lines as an undo takes goods from them: unless an order is named, those for orders come last."""
    last_first = lines[::-1]
    last_first.sort(key=lambda line: (line.line_number != line_number, not order and line.customer_order != ""))
    return last_first


def quantities_placed(earlier: list[LineReceipt], location: str, pools: Mapping[int, int]) -> dict[int, int]:
    """Return what earlier receipts brought to a location, by line; `pools` has the pool of each line.

    Lines without such receipts are left out: nothing is known of them.
    """
    placed: dict[int, int] = {}
    for each in earlier:
        is_there = (each.location, each.pool) == (location, pools.get(each.delivery_line))
        placed[each.delivery_line] = placed.get(each.delivery_line, 0) + (each.quantity if is_there else 0)
    return placed


def free_places(earlier: list[LineReceipt], delivery_line: int) -> dict[tuple[str, int], int]:
    """Return the free goods that earlier receipts left on a line, by location and pool; the last ones first."""
    places: dict[tuple[str, int], int] = {}
    for each in reversed(earlier):
        if each.delivery_line == delivery_line:
            key = (each.location, each.pool)
            places[key] = places.get(key, 0) + each.quantity - each.held
    return {key: quantity for key, quantity in places.items() if quantity > 0}


def undo_of_receipts(earlier: list[LineReceipt], undo: LineReceipt) -> LineReceipt:
    """Return an undo with what it takes from the order line: first goes what stayed free there.

    What was picked in the warehouse before stays picked.
    """
    free = sum(each.quantity - each.held for each in earlier if each.is_like(undo))
    held = min(0, undo.quantity + max(0, free))
    picked = [each.picked for each in earlier if (each.order, each.order_line) == (undo.order, undo.order_line)]
    return undo._replace(held=held, picked=max(held, -sum(picked)) if picked else held)


class DeliveryReceipts:
    """Deliveries of which one operation receives goods; each is read once and stored at the end."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._deliveries: dict[str, Delivery | None] = {}
        self._line_receipts: dict[tuple[str, str], list[LineReceipt]] = {}
        """Earlier receipts by delivery and product, with those of this operation."""

    async def find_delivery(self, reference: str) -> Delivery | None:
        """Return the delivery with this number, or None, since a receipt may have any reference."""
        if reference and reference not in self._deliveries:
            self._deliveries[reference] = await self._load(reference)
        return self._deliveries.get(reference)

    async def _load(self, reference: str) -> Delivery | None:
        ctx, store = self.ledger.ctx, self.ledger.store
        row = await ctx.tx.one(sql.DELIVERY_GET, store, reference)
        if row is None:
            return None
        lines = await ctx.tx.all(sql.DELIVERY_LINES, store, reference)
        return Delivery(row[0], row[3], row[2], [DeliveryLine(*line) for line in lines])

    def log_fields(self, delivery: Delivery | None, lines: list[DeliveryLine]) -> dict[str, object]:
        """Return the log fields of a delivery: its id, and the price of its line."""
        if delivery is None:
            return {}
        prices = (parse_json_object(line.data).get("purchase_price") for line in lines)
        price = next((one for one in prices if one is not None), None)
        return {"reference_id": self.ledger.catalogue.store.wire_id(delivery.seq)} | (
            {} if price is None else {"purchase_price": price}
        )

    async def find_order_line(self, line: DeliveryLine, product: Product) -> OrderLine | None:
        """Return the order line that a delivery line is for; None if there is none or it takes no goods."""
        if not line.customer_order:
            return None
        try:
            return await self.load_order_line(line, product)
        except Refusal:
            return None

    async def load_order_line(self, line: DeliveryLine, product: Product) -> OrderLine:
        """Return the order line that a delivery line is for. Raise Refusal if it takes no goods."""
        ctx, store = self.ledger.ctx, self.ledger.store
        key = (line.customer_order, line.customer_line)
        return await load_open_line(ctx, store, *key, product.number, "customer_order_number")

    async def line_receipts(self, delivery: str, product: str) -> list[LineReceipt]:
        """Return what was received of a product by line; the caller adds what it receives."""
        key = (delivery, product)
        if key not in self._line_receipts:
            args = (self.ledger.store, *key)
            rows = await self.ledger.ctx.tx.all(logs_sql.LOG_DATA_OF_REFERENCE, *args)
            kept = [parse_json_object(data).get(LINE_RECEIPTS, []) for (data,) in rows]
            self._line_receipts[key] = [LineReceipt(*each) for receipts in kept for each in receipts]
        return self._line_receipts[key]

    async def save_all(self) -> None:
        """Store the received quantities and the resulting state of each delivery."""
        ctx, store = self.ledger.ctx, self.ledger.store
        for delivery in self._deliveries.values():
            if delivery is None or not any(line.is_changed for line in delivery.lines):
                continue
            for line in delivery.lines:
                if line.is_changed:
                    await self._save_line(delivery, line)
            if delivery.receipt_seq is None:
                delivery.receipt_seq = await ctx.next_numbers(store, "receipt")
            row = (delivery.number, delivery.state, delivery.receipt_seq, ctx.now)
            await ctx.tx.run(sql.DELIVERY_RECEIVED_SET, store, *row)
            ctx.mark_changed(store, "delivery", delivery.number)

    async def _save_line(self, delivery: Delivery, line: DeliveryLine) -> None:
        ctx, store = self.ledger.ctx, self.ledger.store
        key = (store, delivery.number, line.line_number)
        if line.is_new:
            seq = await ctx.next_numbers(store, "delivery_line")
            row = (seq, line.product_number, 0, line.received_quantity, None, "", 0, ctx.now, "{}", "{}")
            await ctx.tx.run(sql.DELIVERY_LINE_ADD, *key, *row)
        else:
            await ctx.tx.run(sql.DELIVERY_LINE_RECEIVED_SET, *key, line.received_quantity, ctx.now)
