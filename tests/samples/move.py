"""Samples of moving goods."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from aisle.jobs.move.job import MoveJob
from aisle.jobs.move.move_state_and_rows import (
    Goods,
    MoveChoice,
    MoveState,
    OrderNeed,
    PoolQuantity,
    StockLine,
    UndoStep,
)
from aisle.jobs.names_in_messages import Pool
from aisle.jobs.view import ASK, GOOD, WRONG, Frame, LinkState, Verdict, msg, raw

POOLS = (Pool(1, "Shop floor"), Pool(2, "Online"), Pool(3, "Reserve"))

GOODS = (
    ("4001", "Cola Zero 33 cl can, tray of 24", 3, 12, "A-03-12", "B-01-02"),
    ("4002", "Orange lemonade 1.5 l", 6, 6, "A-03-12", "R-11-01"),
    ("4107", "Crisps, natural, 250 g", 1, 8, "A-04-01", ""),
    ("5231", "Crème fraîche 200 g", 2, 3, "C-01-03", "C-01-07"),
)
"""Product number, name, quantity in hand, expected quantity, source location, other locations with stock."""


def _goods(text: str, count: int) -> tuple[Goods, ...]:
    return tuple(
        Goods(
            number,
            text or label,
            Decimal(quantity),
            place,
            available=Decimal(books),
            pools=(PoolQuantity(1, Decimal(books)),),
            suggested_location=home,
            largest_stock_at=home,
            largest_stock=Decimal(33) if home else Decimal(0),
        )
        for number, label, quantity, books, place, home in GOODS[:count]
    )


def _stock_lines(text: str) -> tuple[StockLine, ...]:
    return tuple(StockLine(number, text or label, Decimal(books)) for number, label, _, books, *_ in GOODS)


def _state(text: str, phase: str, count: int) -> MoveState:
    hand = _goods(text, count)
    return MoveState(
        phase,
        is_started=True,
        location=text or "A-03-12",
        source_stock=_stock_lines(text),
        is_source_known=True,
        in_hand=hand,
        current_index=0 if phase == "put" else len(hand) - 1,
        pools=POOLS,
        history=(UndoStep(hand),) if hand else (),
    )


def _frame(state: MoveState, verdict: Verdict | None, link: LinkState, serial: int = 0) -> Frame:
    return Frame(MoveJob().view(state), link, verdict, "", "0042", "Anna", serial)


def _from(text: str) -> Frame:
    return _frame(MoveState(pools=POOLS), None, LinkState("live", 4.0))


def _choose_source(text: str) -> Frame:
    choices = tuple(MoveChoice("from", text or place, Decimal(books)) for *_, books, place, _ in GOODS[:3])
    state = MoveState(choices=(*choices, MoveChoice("nowhere")), pools=POOLS)
    verdict = Verdict(ASK, msg("move.where_from", label=text or GOODS[0][1]))
    return _frame(state, verdict, LinkState("offline", 500.0), 2)


def _taken(text: str) -> Frame:
    label, source = text or GOODS[0][1], raw(text or "A-03-12")
    verdict = Verdict(GOOD, msg("move.taken", label=label, quantity=Decimal(3), source=source))
    return _frame(_state(text, "take", 1), verdict, LinkState("live", 12.0, 1), 3)


def _empty(text: str) -> Frame:
    target = raw(text or "B-01-02")
    message = msg("move.moved", label=text or GOODS[0][1], quantity=Decimal(3), target=target)
    return _frame(_state(text, "take", 0), Verdict(GOOD, message), LinkState("live", 2.0, 1), 4)


def _over(text: str) -> Frame:
    choices = (
        MoveChoice("fit", "4001", Decimal(12)),
        MoveChoice("count", text or "A-03-12"),
        MoveChoice("over", "4001", Decimal(15)),
    )
    label = text or GOODS[0][1]
    verdict = Verdict(ASK, msg("move.exceeds_expected", label=label, quantity=Decimal(15), books=Decimal(12)))
    return _frame(_state(text, "take", 1)._replace(choices=choices), verdict, LinkState("offline", 300.0, 12, 1), 5)


def _number(text: str) -> Frame:
    state = _state(text, "take", 1)
    product = state.current_goods.product if state.current_goods else ""
    choices = (MoveChoice("amount", product, Decimal(7)), MoveChoice("is_location", text or "7"))
    verdict = Verdict(ASK, msg("move.number_of", quantity=Decimal(7)))
    return _frame(state._replace(choices=choices), verdict, LinkState("live", 3.0), 5)


def _badge(text: str) -> Frame:
    verdict = Verdict(WRONG, msg("page.not_this", what=msg("record_name.person", what=text or "Ben Okafor")))
    return _frame(_state(text, "take", 1), verdict, LinkState("live", 3.0), 6)


def _not_here(text: str) -> Frame:
    others = (MoveChoice("from", text or "A-03-12", Decimal(12)), MoveChoice("from", text or "R-11-01", Decimal(144)))
    choices = (MoveChoice("over", "4001", Decimal(1)), MoveChoice("count", text or "B-01-02"), *others)
    verdict = Verdict(ASK, msg("move.not_here", label=text or GOODS[0][1], place=text or "B-01-02"))
    state = _state(text, "take", 1)._replace(location=text or "B-01-02", choices=choices)
    return _frame(state, verdict, LinkState("live", 3.0), 6)


def _load(text: str) -> Frame:
    source = raw(text or "C-01-03")
    verdict = Verdict(GOOD, msg("move.taken", label=text or GOODS[3][1], quantity=Decimal(2), source=source))
    return _frame(_state(text, "load", 4), verdict, LinkState("live", 7.0), 9)


def _put(text: str) -> Frame:
    verdict = Verdict(GOOD, msg("move.to_put_away", count=4))
    return _frame(_state(text, "put", 4), verdict, LinkState("live", 1.0, 3), 10)


def _portion(text: str) -> Frame:
    there = {"quantity": Decimal(9), "there": Decimal(3)}
    verdict = Verdict(WRONG, msg("move.not_so_many", label=text or GOODS[0][1], **there))
    return _frame(_state(text, "put", 4)._replace(portion=Decimal(2)), verdict, LinkState("syncing", 60.0), 11)


def _choose_location(text: str) -> Frame:
    rooms = (OrderNeed("4001", 1, Decimal(5)),)
    state = _state(text, "where", 1)._replace(target_order=text or "100042", needs=rooms, return_phase="take")
    return _frame(state, Verdict(ASK, msg("move.where_put", order=state.target_order)), LinkState("live", 3.0), 12)


def _pool(text: str) -> Frame:
    pools = tuple(pool._replace(name=text or pool.name) for pool in POOLS)
    state = _state(text, "pool", 1)._replace(choosing_pool="to", from_pool=3, return_phase="take", pools=pools)
    return _frame(state, Verdict(ASK, msg("move.which_to_pool")), LinkState("live", 3.0), 13)


def _leave(text: str) -> Frame:
    state = _state(text, "leave", 4)._replace(return_phase="load")
    return _frame(state, Verdict(ASK, msg("move.leave", count=4)), LinkState("refused", 9000.0, 2), 14)


MOVE_SAMPLES: tuple[tuple[str, str, Callable[[str], Frame]], ...] = (
    ("move.from", "fresh", _from),
    ("move.from", "which", _choose_source),
    ("move.take", "taken", _taken),
    ("move.take", "empty", _empty),
    ("move.take", "over", _over),
    ("move.take", "number", _number),
    ("move.take", "badge", _badge),
    ("move.take", "not_here", _not_here),
    ("move.load", "cart", _load),
    ("move.put", "suggested", _put),
    ("move.put", "portion", _portion),
    ("move.where", "order", _choose_location),
    ("move.pool", "to", _pool),
    ("move.leave", "cart", _leave),
)
"""Screen, state and builder of each sample."""
