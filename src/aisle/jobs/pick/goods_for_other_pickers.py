"""Goods in hand for orders that other pickers have: put down, taken back, handed over; and what others put down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING

from aisle.jobs import name_goods_and_locations
from aisle.jobs.job import Close, Context, Turn, Write, reply
from aisle.jobs.pick import goods_in_hand, operations
from aisle.jobs.pick.pick_state import PUT_DOWN_BY_OTHER, GoodsToReturn, PickState, Result, UndoStep, add_undo_step
from aisle.jobs.view import GOOD, INFO, WRONG, Msg, Verdict, msg, undo_verdict
from aisle.row_values import to_decimal

if TYPE_CHECKING:
    from aisle.jobs.row_types.orders import OrderLineRow, OrderRow


def goods_for_others(state: PickState) -> tuple[GoodsToReturn, ...]:
    """Return the goods in this picker's hand whose orders another picker has."""
    return tuple(goods for goods in state.to_return if goods.is_for_other_picker)


def is_location_for_others(state: PickState) -> bool:
    """Return True if a scanned location is for goods of other pickers' orders; goods of this pick come first."""
    return bool(goods_for_others(state)) and not (
        state.phase == "done" and goods_in_hand.pieces_in_hand(state, state.only_order)
    )


def put_down_for_others(state: PickState, location: str, context: Context) -> Result:
    """Put goods of other pickers' orders down at a location, for those orders."""
    goods = goods_for_others(state)
    writes = operations.put_down_for_others(goods, location, context.store, context.user)
    rest = tuple(back for back in state.to_return if back not in goods)
    down = add_undo_step(
        state._replace(to_return=rest, choices=()), UndoStep(returned=goods, location=location, at=context.now)
    )
    return reply(down, GOOD, "pick.put_down", *writes, order=_order_numbers(goods), place=location)


def returned_message(state: PickState) -> Msg:
    """Return the message about the last goods in hand when no order is left."""
    last = state.history[-1] if state.history else None
    if last is None or not last.returned or not last.location:
        return msg("pick.choice_put_back")
    return msg("pick.put_down", order=_order_numbers(last.returned), place=last.location)


def undo_put_down_for_others(state: PickState, step: UndoStep, context: Context) -> Result:
    """Take back into hand what was put down for another picker."""
    writes = operations.put_down_for_others(step.returned, step.location, context.store, context.user, is_undo=True)
    return take_back_into_hand(state, step, writes, step.location)


def take_back_into_hand(state: PickState, step: UndoStep, writes: tuple[Write, ...], location: str | Msg) -> Result:
    """Take back into hand what a step put down or back at a location."""
    amounts = [
        name_goods_and_locations.GoodsAmount(goods.product, goods.label, goods.quantity) for goods in step.returned
    ]
    text = name_goods_and_locations.goods_message("pick.put_down_undone", amounts, place=location)
    return Turn(state._replace(to_return=(*step.returned, *state.to_return), choices=()), writes, undo_verdict(text))


def put_down_times(state: PickState) -> dict[str, str]:
    """Return the orders for which goods were put down that another picker has, with the time of the first put-down."""
    return {goods.order: step.at for step in reversed(state.history) if step.at for goods in step.returned}


def revert_put_down(state: PickState, order: str, location: str) -> PickState:
    """Take the goods of an order back into hand after the service refused the put-down; undo skips the step."""
    for at, step in reversed(list(enumerate(state.history))):
        if step.at and step.location == location and any(goods.order == order for goods in step.returned):
            refused = tuple(goods for goods in step.returned if goods.order == order)
            rest = tuple(goods for goods in step.returned if goods.order != order)
            kept_step = (step._replace(returned=rest),) if rest else ()
            history = (*state.history[:at], *kept_step, *state.history[at + 1 :])
            return state._replace(history=history, to_return=(*refused, *state.to_return), choices=())
    return state


def _order_numbers(goods: Iterable[GoodsToReturn]) -> str:
    return ", ".join(dict.fromkeys(back.order for back in goods))


def hand_over_to_others(state: PickState) -> Result:
    """Record that the goods were handed over to the pickers who have their orders; other goods are still to be put
    back."""
    goods = tuple(each for each in state.to_return if not each.is_for_other_picker)
    count = goods_in_hand.quantity_to_return(state) - sum((each.quantity for each in goods), Decimal(0))
    verdict = Verdict(GOOD, msg("pick.handed_over", count=count))
    if not goods and not state.totes:
        return Turn(state, (Close(verdict),))
    return Turn(state._replace(to_return=goods, choices=()), (), verdict)


def track_put_down_by_others(state: PickState, order: str, row: OrderRow | None) -> Result:
    """Update goods in hand after another picker reported them as put down, or reverted that report."""
    lines = {int(line["line_number"]): line for line in (row.get("lines") if row else None) or ()}
    goods = tuple(_update_goods(state, each, lines) if each.order == order else each for each in state.to_return)
    if goods == state.to_return:
        return Turn(state)
    put_down = [
        now for was, now in zip(state.to_return, goods, strict=True) if now.reason == PUT_DOWN_BY_OTHER != was.reason
    ]
    state = state._replace(to_return=goods, choices=())
    count = sum((each.quantity for each in put_down), Decimal(0))
    if not put_down:
        return reply(state, INFO, "pick.not_put_down_by_other", order=order)
    text = msg("pick.put_down_by_other", order=order, count=count)
    if put_down[0].location:
        text = msg("pick.put_down_by_other_at", order=order, count=count, place=put_down[0].location)
    return Turn(state, (), Verdict(WRONG, text))


def _update_goods(state: PickState, goods: GoodsToReturn, lines: Mapping[int, OrderLineRow]) -> GoodsToReturn:
    """Return the goods with an updated reason. If less of the line is in hand than these goods, another picker must
    have reported them as put down."""
    line = lines.get(goods.line.line) if goods.line else None
    if line is None or goods.line is None or not goods.is_picked_for_other:
        return goods
    picked, moved = to_decimal(line.get("picked_quantity")), to_decimal(line.get("moved_quantity"))
    own = sum(
        each.quantity for each in state.to_return if each.is_picked_for_other and _line_key(each) == _line_key(goods)
    )
    is_put_down = moved > goods.line.moved and picked - moved < own
    if is_put_down == (goods.reason == PUT_DOWN_BY_OTHER):
        return goods
    if is_put_down:
        return goods._replace(
            reason=PUT_DOWN_BY_OTHER,
            location=_last_location(line),
            previous_reason=goods.reason,
            previous_location=goods.location,
        )
    return goods._replace(
        reason=goods.previous_reason, location=goods.previous_location, previous_reason="", previous_location=""
    )


def _line_key(goods: GoodsToReturn) -> tuple[str, int]:
    return goods.order, goods.line.line if goods.line else 0


def _last_location(line: OrderLineRow) -> str:
    kept = [str(each["location_code"]) for each in line.get("put_down") or () if to_decimal(each.get("quantity")) > 0]
    return kept[-1] if kept else ""
