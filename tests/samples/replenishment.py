"""Samples of the replenishment: the list, and the cart on the way to the shop floor."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from aisle.jobs.move.job import MoveJob
from aisle.jobs.move.move_state_and_rows import (
    Goods,
    MoveState,
    PoolQuantity,
    Replenishment,
    StockLine,
    SuggestedMove,
    UndoStep,
)
from aisle.jobs.move.replenishment import ReplenishmentJob, ReplenishmentState
from aisle.jobs.row_types.products import ReplenishmentRow
from aisle.jobs.view import ASK, GOOD, INFO, Frame, LinkState, Verdict, View, msg, raw

LIVE_LINK, OFFLINE_LINK = LinkState("live", 4.0), LinkState("offline", 900.0, 3)

GOODS = (
    ("4000", "Beekeeper's Honey Heather 250 g", "BR-01", "12", "30", "A-02-2"),
    ("4001", "All-purpose cleaner Lemon 750 ml", "BR-01", "6", "6", "B-04-1"),
    ("4117", "Gouda, mature, in one piece", "BR-04", "1.75", "9.5", "FR-02"),
    ("4002", "Cola Zero 33 cl can, tray of 24", "RC-01", "144", "960", ""),
)
"""Product number, name, location, quantity to move, quantity there, location on the shop floor."""


def _rows(text: str) -> tuple[ReplenishmentRow, ...]:
    return tuple(
        {
            "product_number": number,
            "product_name": text or name,
            "location_code": text or code,
            "quantity": Decimal(quantity),
            "available": Decimal(there),
            "pools": {"2": Decimal(there)},
            "on_floor": Decimal(at),
            "order_level": Decimal(at * 3 + 2),
            "allow_decimal": "." in quantity,
            "unit": "kg" if "." in quantity else "",
            "to_location": text or target,
            "to_order": None,
            "worker": "U2" if at == 1 else "",
            "worker_name": (text or "Ben Okafor") if at == 1 else "",
        }
        for at, (number, name, code, quantity, there, target) in enumerate(GOODS)
    )


def _moves(text: str) -> tuple[SuggestedMove, ...]:
    return tuple(
        SuggestedMove(
            StockLine(
                number,
                text or name,
                Decimal(there),
                (PoolQuantity(2, Decimal(there)),),
                allows_decimals="." in quantity,
                unit="kg" if "." in quantity else "",
            ),
            text or code,
            Decimal(quantity),
            text or target,
        )
        for number, name, code, quantity, there, target in GOODS
    )


def _goods(text: str) -> Goods:
    move = _moves(text)[0]
    return Goods(
        move.stock.product,
        move.stock.label,
        move.quantity,
        move.location,
        available=move.stock.free,
        pools=move.stock.pools,
        suggested_location=move.to_location,
        to_pool=1,
        replenishes=True,
    )


def _state(text: str, phase: str, count: int) -> MoveState:
    wanted = Replenishment("4000", text or GOODS[0][1], 1, 2, moves=_moves(text), is_read=True)
    hand = (_goods(text),)[:count]
    return MoveState(
        phase,
        is_started=bool(count),
        location=(text or GOODS[0][2]) if count else "",
        in_hand=hand,
        current_index=count - 1,
        history=(UndoStep(hand),) if count else (),
        replenishment=wanted,
    )


def _frame(view: View, verdict: Verdict | None, link: LinkState = LIVE_LINK, serial: int = 0) -> Frame:
    return Frame(view, link, verdict, "", "0042", "Anna", serial)


def _list(text: str) -> Frame:
    return _frame(ReplenishmentJob().view(ReplenishmentState(rows=_rows(text), total=31, backroom=2)), None)


def _on_other_cart(text: str) -> Frame:
    verdict = Verdict(ASK, msg("clearance_tasks.taken_by_other", who=text or "Ben Okafor", label=text or GOODS[1][1]))
    state = ReplenishmentState(rows=_rows(text), total=4, backroom=2, confirmed_product="4001")
    return _frame(ReplenishmentJob().view(state), verdict, OFFLINE_LINK, 6)


def _nothing(text: str) -> Frame:
    return _frame(ReplenishmentJob().view(ReplenishmentState(backroom=2)), None)


def _suggested(text: str) -> Frame:
    verdict = Verdict(INFO, msg("clearance_tasks.started", place=text or GOODS[0][2]))
    return _frame(MoveJob().view(_state(text, "load", 0)), verdict, serial=7)


def _taken(text: str) -> Frame:
    source = raw(text or GOODS[0][2])
    verdict = Verdict(GOOD, msg("move.taken", quantity=Decimal(12), label=text or GOODS[0][1], source=source))
    return _frame(MoveJob().view(_state(text, "load", 1)), verdict, OFFLINE_LINK, 8)


def _put(text: str) -> Frame:
    verdict = Verdict(GOOD, msg("move.to_put_away", count=1))
    return _frame(MoveJob().view(_state(text, "put", 1)), verdict, serial=9)


REPLENISHMENT_SAMPLES: tuple[tuple[str, str, Callable[[str], Frame]], ...] = (
    ("replenishment", "list", _list),
    ("replenishment", "taken", _on_other_cart),
    ("replenishment", "none", _nothing),
    ("move.load", "to_shop_floor", _suggested),
    ("move.load", "for_shop_floor", _taken),
    ("move.put", "to_shop_floor", _put),
)
"""Screen, state and builder of each sample."""
