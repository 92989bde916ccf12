"""Goods in hand: what this picker still has to put down or back, and what all or other pickers have in hand."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from aisle.jobs.pick.current_and_next_stop import with_lines
from aisle.jobs.pick.pick_line import PickLine, sum_in_hand, sum_line_goods, sum_pieces
from aisle.jobs.pick.pick_state import GoodsToReturn, PickState, UndoStep, find_tote, tote_letter
from aisle.jobs.sums_of_goods_and_progress import GoodsSum, goods_text
from aisle.jobs.view import Msg

NOT_PUT_DOWN = "not_put_down"
"""Topic of the local note on an order that was left with goods not put down; its text is the user who has them."""


def quantity_to_put_down(state: PickState, line: PickLine) -> Decimal:
    """Return the quantity of a line that this picker has to put down. That is all of it, less the share of another
    picker who has the same order open, here or on another host."""
    tote = find_tote(state, line.order)
    return line.own_in_hand if tote and (tote.other_pickers or tote.is_shared) else line.in_hand


def quantity_of_others(state: PickState, line: PickLine) -> Decimal:
    """Return the quantity of a line that pickers who have the same order open have in hand."""
    return line.in_hand - quantity_to_put_down(state, line)


def sum_of_others(state: PickState, lines: Iterable[PickLine]) -> Decimal:
    """Return the quantity of these lines that other pickers have in hand."""
    return sum((quantity_of_others(state, line) for line in lines), Decimal(0))


def has_goods_to_put_down(state: PickState, order: str = "") -> bool:
    """Return True if goods of the order, or of any order, have to be put down here."""
    return any(quantity_to_put_down(state, line) for line in state.lines if order in ("", line.order))


def pieces_to_put_down(state: PickState) -> Decimal:
    """Return the number of pieces to put down here; a measured line counts as one."""
    return sum_pieces((line, quantity_to_put_down(state, line)) for line in state.lines)


def pieces_in_hand(state: PickState, order: str = "") -> Decimal:
    """Return the number of pieces of the order, or of all orders, that any picker has in hand."""
    return sum_in_hand(line for line in state.lines if order in ("", line.order))


def goods_in_hand(state: PickState, order: str = "") -> Decimal | Msg:
    """Return the goods of the order, or of all orders, that any picker has in hand, such as "2 pieces, 6 l"."""
    return goods_text(sum_line_goods((line, line.in_hand) for line in state.lines if order in ("", line.order)))


def goods_of_others(state: PickState, order: str) -> GoodsSum:
    """Return the goods of the order that other pickers have in hand."""
    return sum_line_goods((line, line.in_hand - line.own_in_hand) for line in state.lines if line.order == order)


def orders_not_put_down(state: PickState) -> tuple[str, ...]:
    """Return the orders whose goods would be left at no location if this picker left now. Return none if no line has a
    location: such a store keeps no locations."""
    if not any(line.location for line in state.lines):
        return ()
    return tuple(tote.order for tote in state.totes if tote.has_lines and has_goods_to_put_down(state, tote.order))


def take_as_own(state: PickState, order: str) -> PickState:
    """Count all goods in hand of this order as this picker's own, because nobody else has the order open."""
    lines = (line._replace(own_picked=line.in_hand) if line.order == order else line for line in state.lines)
    return state._replace(lines=tuple(lines))


def quantity_to_return(state: PickState) -> Decimal:
    """Return the quantity that has to be put back."""
    return sum((goods.quantity for goods in state.to_return), Decimal(0))


def without_order(state: PickState, order: str, reason: str) -> PickState:
    """Return the pick without an order; its goods in this picker's hand have to be put back."""
    letter = tote_letter(state, order)
    goods = tuple(
        GoodsToReturn(
            letter,
            reason,
            line.product,
            line.label,
            source.quantity,
            source.location,
            order=order,
            pool=source.pool,
            line=line,
        )
        for line in state.lines
        if line.order == order
        for source in line.sources_in_hand
    )
    totes = tuple(tote for tote in state.totes if tote.order != order)
    questions = tuple(choice for choice in state.take_over_choices if choice.key != order)
    history = _history_without_order(state.history, order)
    left = state._replace(
        totes=totes,
        to_return=(*state.to_return, *goods),
        choices=(),
        take_over_choices=questions,
        only_order="",
        history=history,
    )
    return with_lines(left, [line for line in state.lines if line.order != order])


def _history_without_order(history: Iterable[UndoStep], order: str) -> tuple[UndoStep, ...]:
    """Return the steps that can still be undone without an order. If the order comes back, its lines keep the state
    they have then, whatever was done before."""
    steps = (
        step._replace(
            lines_before=tuple(each for each in step.lines_before if each.order != order),
            sources_before=tuple(each for each in step.sources_before if each.order != order),
        )
        for step in history
    )
    return tuple(step for step in steps if step != UndoStep(location=step.location, at=step.at))
