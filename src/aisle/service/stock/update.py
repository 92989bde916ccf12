"""Line updates: what `picked_quantity` and `is_picked` of a request come to (README: Line update)."""

from __future__ import annotations

from typing import Any

from aisle.service.amounts import number, plain, thousandths, whole_number
from aisle.service.answers import against_rule, conflict
from aisle.service.stock.book import NO_PLACE, Place
from aisle.service.stock.ledger import Ledger, Spot
from aisle.service.stock.line import OrderLine
from aisle.service.stock.logs import FINISH, IN_HAND, Entry, LogWriter
from aisle.service.stock.origins import Taking
from aisle.service.stock.picking import lower_pick, raise_pick
from aisle.tuples import NamedTuple

_DIGITS = 20
"""More of a text need not be read to know that it is no pool."""


def order_pool(value: Any, field: str) -> int:
    """The number of a stock pool, from a number or its text. Raises Refusal (422)."""
    text = str(value).strip()
    if text.isdecimal() and text.isascii() and len(text) <= _DIGITS and 1 <= int(text) <= 10:
        return int(text)
    pool = whole_number(value, field) if not isinstance(value, str) else 0
    if not 1 <= pool <= 10:
        raise against_rule(f"There is no stock pool {value}; there are 1 to 10.", field)
    return pool


class Rebased(NamedTuple):
    """A line update that names its base, as it comes to be now; `left` of it found no room."""

    said: dict[str, Any]
    left: int


def rebased(line: OrderLine, said: dict[str, Any], field: str, *, whole: bool, more: int = 0) -> Rebased:
    """What the sender did to a line, done to the line as it stands: others may have worked on it meanwhile.

    He found `base_picked_quantity` and made it `picked_quantity`. The difference counts, between what is at a place
    already and what is ordered. `more` is to be picked beside it. Raises Refusal (422) for numbers that cannot be.
    """
    if "picked_quantity" not in said:
        raise against_rule("A base needs a picked_quantity.", f"{field}.base_picked_quantity")
    mine = thousandths(said["picked_quantity"], f"{field}.picked_quantity", whole=whole)
    base = thousandths(said["base_picked_quantity"], f"{field}.base_picked_quantity", whole=whole)
    if mine < 0 or base < 0:
        raise against_rule("Less than nothing cannot be picked.", f"{field}.picked_quantity")
    wanted = line.picked + mine - base + more
    most = 0 if line.is_rejected else max(line.picked, line.quantity)
    now = max(min(wanted, most), min(line.picked, line.moved))
    thought_full = said.get("is_picked") and mine >= line.quantity
    news = {name: value for name, value in said.items() if name != "base_picked_quantity"}
    if thought_full:  # it follows from the figure, and is not meant as "closed short"
        del news["is_picked"]
    return Rebased(news | {"picked_quantity": plain(now)}, wanted - now)


async def pick_to(
    ledger: Ledger,
    logs: LogWriter,
    line: OrderLine,
    said: dict[str, Any],
    field: str,
    place: Place | None = None,
    pool: int | None = None,
) -> bool:
    """Bring a line to the picked quantity that a request names; whether goods went into the hand.

    `is_picked` without a quantity means all of it for a line that nobody touched, else that it is closed short. `place`
    and `pool` are where the goods were taken. Raises Refusal: 409 more than ordered or moved already, 422 no quantity.
    """
    product = await ledger.book.product(line.product_number, f"{field}.product_number")
    closed = said.get("is_picked")
    target = _target(line, said, f"{field}.picked_quantity", whole=not product.allow_decimal)
    held = sum((await ledger.held(line)).values())
    tracked = product.is_stock and not line.from_warehouse
    changed = target != line.picked
    gone = line.delivered if tracked else 0  # of an order that has ended, and of which a restore has lost picks
    raised = tracked and target > held + gone
    if raised:
        await ledger.book.range([product.number])
        await _note(logs, line, "pick", await raise_pick(ledger, line, target - held - gone, place, pool), -1)
    elif target < held + gone:
        back = min(held, held + gone - target)
        if back:
            await _note(logs, line, "unpick", await lower_pick(ledger, line, back), 1)
        await _take_back(logs, line, held + gone - target - back, place, pool)
    line.picked = target
    if changed:
        line.picked_by = ledger.ctx.app_user or ledger.ctx.principal.name
    line.is_picked = line.full or (closed if closed is not None else line.is_picked and not changed)
    return raised


async def _take_back(logs: LogWriter, line: OrderLine, quantity: int, place: Place | None, pool: int | None) -> None:
    """Take back what was put back before its order was handed over, though that is heard of later."""
    if not quantity:
        return
    product = await logs.ledger.book.product(line.product_number, "product_number")
    spot = Spot(place.code if place else NO_PLACE, pool or line.stock_pool)
    await logs.ledger.post("finish", product.number, spot, quantity)
    line.delivered -= quantity
    logs.add(Entry(product, FINISH, quantity, place=place, pool=spot.pool, line=line, reference=line.order_number))


def _target(line: OrderLine, said: dict[str, Any], field: str, *, whole: bool) -> int:
    """The picked quantity that a request comes to, in thousandths."""
    target = line.picked
    if "picked_quantity" in said:
        target = thousandths(said["picked_quantity"], field, whole=whole)
    elif said.get("is_picked") and line.picked == 0 and not line.is_picked:
        target = line.quantity
    if target < 0:
        raise against_rule("Less than nothing cannot be picked.", field)
    if target > line.quantity:
        message = f"{number(target)} are more than the {number(line.quantity)} ordered."
        raise conflict(message, field, line=line.as_answer())
    return target


async def _note(logs: LogWriter, line: OrderLine, source: str, takings: list[Taking], sign: int) -> None:
    """Add an entry for each place that goods left or came back to, and one at no place for the hand."""
    book = logs.ledger.book
    product = await book.product(line.product_number, "product_number")
    flagged = logs.ledger.take_flag()
    for taking in takings:
        place = await book.known_place(taking.place) if taking.place else None
        quantity = sign * taking.quantity
        of, pool = line.order_number, taking.pool
        logs.add(Entry(product, source, quantity, place=place, pool=pool, line=line, reference=of, flagged=flagged))
    in_hand = -sign * sum(taking.quantity for taking in takings)
    if in_hand:
        logs.add(Entry(product, IN_HAND, in_hand, line=line, reference=line.order_number))
