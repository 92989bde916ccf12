"""Receipts: what came is counted against the lines of its delivery (README: Receipt)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from aisle.service.amounts import number
from aisle.service.answers import Refusal, against_rule, conflict
from aisle.service.encode import loaded
from aisle.service.sql import deliveries as sql
from aisle.service.states import NO_RECEIPT, check_move, delivery_state
from aisle.service.stock.book import Product
from aisle.service.stock.ledger import Ledger
from aisle.service.stock.line import OrderLine, open_line
from aisle.tuples import NamedTuple


@dataclass(slots=True)
class DeliveryLine:
    """A row of `delivery_line` while goods arrive; quantities in thousandths. `quantity` is what was announced."""

    line_number: int
    product_number: str
    quantity: int
    received: int
    target_pool: int | None
    customer_order: str
    customer_line: int
    data: str = "{}"
    is_new: bool = False
    changed: bool = False

    @property
    def missing(self) -> int:
        """What is still to come."""
        return max(0, self.quantity - self.received)


class Part(NamedTuple):
    """So much of what came belongs to this line, if to any; `excess` of it nobody had announced."""

    line: DeliveryLine | None
    quantity: int
    excess: int = 0


class Delivery:
    """One delivery while an operation receives goods of it."""

    def __init__(self, number_: str, seq: int, receipt_seq: int | None, lines: list[DeliveryLine]) -> None:
        self.number = number_
        self.seq = seq
        self.receipt_seq = receipt_seq
        self.lines = lines
        self._last = max((line.line_number for line in lines), default=0)
        self._of: defaultdict[str, list[DeliveryLine]] = defaultdict(list)
        """Its lines by their products: a delivery of thousands is received in one request."""
        for line in lines:
            self._of[line.product_number].append(line)
        self.was = self.state

    def take(
        self, product: str, quantity: int, *, line_number: int | None, order: tuple[str, int] | None, field: str
    ) -> list[Part]:
        """Count `quantity` of a product against its lines: the named one, else in order, those of the order line first.

        More than was announced goes to the last of them, or to a line of its own; less than none is taken back from
        the last first. Raises Refusal: 422 no such line, 409 more is taken back than was received.
        """
        lines = self._candidates(product, line_number, order, field)
        parts = self._taken_back(lines, -quantity, field) if quantity < 0 else self._filled(lines, product, quantity)
        for line, part, _ in parts:
            assert line is not None
            line.received += part
            line.changed = True
        return parts

    def _candidates(
        self, product: str, line_number: int | None, order: tuple[str, int] | None, field: str
    ) -> list[DeliveryLine]:
        lines = list(self._of.get(product, ()))
        if line_number is not None:
            lines = [line for line in lines if line.line_number == line_number]
            if not lines:
                message = f"Delivery {self.number} has no line {line_number} of product {product}."
                raise against_rule(message, f"{field}.line_number")
        if order:
            mine = [line for line in lines if (line.customer_order, line.customer_line) == order]
            lines = mine + [line for line in lines if not line.customer_order]
        return lines

    def _filled(self, lines: list[DeliveryLine], product: str, quantity: int) -> list[Part]:
        parts: list[Part] = []
        for line in lines:
            part = min(quantity, line.missing)
            if part:
                parts.append(Part(line, part))
                quantity -= part
        if quantity:
            parts.append(Part(lines[-1] if lines else self._added(product), quantity, quantity))
        return parts

    def _taken_back(self, lines: list[DeliveryLine], quantity: int, field: str) -> list[Part]:
        received = sum(line.received for line in lines)
        if quantity > received:
            raise conflict(f"Only {number(received)} of it were received with delivery {self.number}.", field)
        parts: list[Part] = []
        for line in reversed(lines):
            part = min(quantity, line.received)
            if part:
                parts.append(Part(line, -part))
                quantity -= part
        return parts

    def _added(self, product: str) -> DeliveryLine:
        """A line for what nobody had announced."""
        self._last += 1
        line = DeliveryLine(self._last, product, 0, 0, None, "", 0, is_new=True)
        self.lines.append(line)
        self._of[product].append(line)
        return line

    @property
    def state(self) -> str:
        """How much of it has come."""
        return delivery_state((line.quantity, line.received) for line in self.lines)


class Receiving:
    """The deliveries that one operation receives goods of, read once and stored at its end."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._deliveries: dict[str, Delivery | None] = {}

    async def delivery(self, reference: str) -> Delivery | None:
        """The delivery of this number, or None: any reference may stand on a receipt."""
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

    def told(self, delivery: Delivery | None, lines: list[DeliveryLine]) -> dict[str, Any]:
        """What an entry of the log tells of the delivery that goods came with: its id, and the price of its line."""
        if delivery is None:
            return {}
        prices = (loaded(line.data).get("purchase_price") for line in lines)
        price = next((one for one in prices if one is not None), None)
        return {"reference_id": self.ledger.book.store.wire_id(delivery.seq)} | (
            {} if price is None else {"purchase_price": price}
        )

    async def order_line(self, line: DeliveryLine, product: Product) -> OrderLine | None:
        """The order line that a delivery line is for; None when it is for none, or for one that takes no goods."""
        if not line.customer_order:
            return None
        try:
            return await open_line(
                self.ledger.ctx,
                self.ledger.store,
                line.customer_order,
                line.customer_line,
                product.number,
                "customer_order_number",
            )
        except Refusal:
            return None

    async def store_all(self) -> None:
        """Store what was received, and the state of each delivery that follows from it."""
        ctx, store = self.ledger.ctx, self.ledger.store
        for delivery in self._deliveries.values():
            if delivery is None or not any(line.changed for line in delivery.lines):
                continue
            for line in delivery.lines:
                if line.changed:
                    await self._store(delivery, line)
            was = delivery.was if delivery.receipt_seq else NO_RECEIPT
            check_move("receipt", f"The receipt of {delivery.number}", was, delivery.state)
            if delivery.receipt_seq is None:
                delivery.receipt_seq = await ctx.take(store, "receipt")
            row = (delivery.number, delivery.state, delivery.receipt_seq, ctx.now)
            await ctx.tx.run(sql.DELIVERY_RECEIVED, store, *row)
            ctx.changed(store, "delivery", delivery.number)

    async def _store(self, delivery: Delivery, line: DeliveryLine) -> None:
        ctx, store = self.ledger.ctx, self.ledger.store
        key = (store, delivery.number, line.line_number)
        if line.is_new:
            seq = await ctx.take(store, "delivery_line")
            said = (seq, line.product_number, 0, line.received, None, "", 0, ctx.now, "{}", "{}")
            await ctx.tx.run(sql.DELIVERY_LINE_ADD, *key, *said)
        else:
            await ctx.tx.run(sql.DELIVERY_LINE_RECEIVED, *key, line.received, ctx.now)
