"""An order while an operation works on it: its flags, the state that follows from them, and how goods leave it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from aisle.service.context import Context
from aisle.service.encode import compact
from aisle.service.sql import orders as sql
from aisle.service.sql import stock as stock_sql
from aisle.service.states import CLOSED, STATUS_ID, check_move, fulfilment
from aisle.service.stock.book import NO_PLACE
from aisle.service.stock.ledger import Ledger, Spot
from aisle.service.stock.line import OrderLine
from aisle.service.stock.logs import FINISH, Entry, LogWriter
from aisle.service.times import Zone, day_of

_AS_BEFORE = "="
"""When it was finished or rejected does not change."""


@dataclass(slots=True)
class Order:
    """A row of `customer_order` with its lines."""

    number: str
    is_active: bool
    is_claimed: bool
    is_picked: bool
    is_rejected: bool
    status_id: int
    fulfilment: str
    item: dict[str, Any]
    version: int
    lines: list[OrderLine]
    _numbered: dict[int, OrderLine] = field(init=False)

    def __post_init__(self) -> None:
        self._numbered = {line.line_number: line for line in self.lines}

    @classmethod
    async def load(cls, ctx: Context, store_number: str, number: str) -> Order | None:
        """The order, or None when the store has none of this number."""
        row = await ctx.tx.one(sql.ORDER_GET, store_number, number)
        if row is None:
            return None
        lines = [
            OrderLine.from_row(number, line) for line in await ctx.tx.all(sql.LINES_OF_ORDER, store_number, number)
        ]
        active, claimed, picked, rejected = (bool(flag) for flag in row[1:5])
        return cls(number, active, claimed, picked, rejected, row[5], row[6], json.loads(row[8]), row[9], lines)

    def line(self, line_number: int) -> OrderLine | None:
        """The line of this number, or None."""
        return self._numbered.get(line_number)

    def as_answer(self) -> dict[str, Any]:
        """The order as a refusal shows it, under the names of the interface."""
        return {
            "order_number": self.number,
            "version": self.version,
            "is_active": self.is_active,
            "is_picked": self.is_picked,
            "is_rejected": self.is_rejected,
            "lines": [line.as_answer() for line in self.lines],
        }

    def derive(self) -> None:
        """Bring `is_picked` and the state in line with the lines. Raises Refusal (409) for a way back that is none."""
        if self.lines:
            self.is_picked = all(line.is_picked for line in self.lines)
        state = fulfilment(
            is_active=self.is_active,
            is_rejected=self.is_rejected,
            is_picked=self.is_picked,
            any_picked=any(line.picked for line in self.lines),
        )
        check_move("order", f"Order {self.number}", self.fulfilment, state)
        if state != self.fulfilment:
            self.status_id = STATUS_ID[state]
            self.fulfilment = state

    async def save(self, ctx: Context, store_number: str, *, last: bool = False) -> None:
        """Derive the state, store the head (lines store themselves; `last` as with them) and tell followers."""
        was = self.fulfilment
        was_open = was not in CLOSED
        self.derive()
        is_open = self.fulfilment not in CLOSED
        if is_open != was_open:
            await ctx.tx.run(sql.LINES_OPEN, store_number, self.number, int(is_open))
        pickup = pickup_date(self.lines, ctx.zone(store_number))
        self.item = {name: value for name, value in self.item.items() if name != "pickup_date"}
        if pickup:
            self.item["pickup_date"] = pickup
        row = (
            store_number,
            self.number,
            int(self.is_active),
            int(self.is_claimed),
            int(self.is_picked),
            int(self.is_rejected),
            self.status_id,
            self.fulfilment,
            compact(self.item),
            pickup,
            sum(line.quantity for line in self.lines),
            sum(line.delivered for line in self.lines),
            "" if is_open else _AS_BEFORE if was == self.fulfilment else ctx.now,
        )
        if last:
            ctx.later(sql.ORDER_SET, [row])
        else:
            await ctx.tx.run(sql.ORDER_SET, *row)
        ctx.changed(store_number, "order", self.number)


def pickup_date(lines: list[OrderLine], zone: Zone) -> str:
    """The earliest pickup date of the lines, a day of the store, or ''."""
    said = [line.item["pickup_date"] for line in lines if line.item.get("pickup_date")]
    return min((day_of(text, zone) for text in said), default="")


async def refresh(ledger: Ledger, line: OrderLine) -> None:
    """After the goods of one line changed: store it; its order's state follows at the end (`refresh_orders`)."""
    line.moved = sum(quantity for spot, quantity in (await ledger.held(line)).items() if spot.place)
    await line.save(ledger.ctx, ledger.store)
    ledger.refreshed[line.order_number] = None


async def refresh_orders(ledger: Ledger) -> None:
    """Store the state of each order whose lines were refreshed: once, however many of them there are."""
    for number in ledger.refreshed:
        order = await Order.load(ledger.ctx, ledger.store, number)
        assert order is not None
        await order.save(ledger.ctx, ledger.store)
    ledger.refreshed.clear()


async def finish_order(logs: LogWriter, order: Order) -> None:
    """Hand the goods over: what is held leaves the store, with an entry of the log; quantities stay as history."""
    ledger = logs.ledger
    lines = {line.line_number: line for line in order.lines}
    held = await ledger.held_of(order.number, order.lines)
    await ledger.book.load((line.product_number for line in order.lines), (spot.place for _, spot, _ in held))
    for product, spot, quantity in held:
        await ledger.post("finish", product, spot, -quantity)
        lines[spot.line].delivered += quantity
        await _note_finish(logs, lines[spot.line], spot, quantity)
    for line in order.lines:
        product_seen = await ledger.book.product(line.product_number, "product_number")
        if not product_seen.is_stock:
            line.delivered = line.picked
    await ledger.origins.drop_all(order.number)
    order.is_active = False


async def _note_finish(logs: LogWriter, line: OrderLine, spot: Spot, quantity: int) -> None:
    book = logs.ledger.book
    product = await book.product(line.product_number, "product_number")
    place = await book.known_place(spot.place) if spot.place else None
    logs.add(Entry(product, FINISH, -quantity, place, spot.pool, line, reference=line.order_number))


async def release_order(ledger: Ledger, order: Order) -> None:
    """Held goods become free where they lie; those in hand at no place, listed as to be put back."""
    await release(ledger, order, order.lines)
    for line in order.lines:
        line.is_picked = line.is_rejected


async def release(ledger: Ledger, order: Order, lines: Iterable[OrderLine]) -> None:
    """The same for some lines of an order; they are still to be stored."""
    named = {line.line_number: line for line in lines}
    held = [one for one in await ledger.held_of(order.number, order.lines) if one[1].line in named]
    await ledger.load(product for product, _, _ in held)
    for product, spot, quantity in held:
        await ledger.shift("release", product, spot, Spot(spot.place, spot.pool), quantity)
    await _list_put_backs(ledger, order.number, named)
    await ledger.origins.drop(order.number, named)
    for line in named.values():
        line.picked = line.moved = 0


async def _list_put_backs(ledger: Ledger, order: str, lines: dict[int, OrderLine]) -> None:
    await ledger.write_down()
    rows = await ledger.ctx.tx.all(stock_sql.TAKEN_OF_ORDER, ledger.store, order)
    listed = [row for row in rows if row[0] in lines and row[1] != NO_PLACE]
    if not listed:
        return
    seq = await ledger.ctx.take(ledger.store, "put_back", len(listed))
    await ledger.ctx.tx.many(
        stock_sql.PUT_BACK_ADD,
        [
            (ledger.store, seq + n, lines[line].product_number, place, pool, quantity, order, line, ledger.ctx.now)
            for n, (line, place, pool, quantity) in enumerate(listed)
        ],
    )
