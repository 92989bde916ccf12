"""Goods in hand for orders of other pickers, excess that others filled first, and put-downs that were refused."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING

from aisle.jobs import names_in_messages
from aisle.jobs.job import CLOSED_BY_HAND, Close, Context, Effect, Query, Resolve, Turn, Write, reply
from aisle.jobs.log_writes_and_refusals import MAX_REPORTED, new_refusals, with_reported
from aisle.jobs.pick import pick_state, picked_quantities_and_operations, stops_and_goods_in_hand
from aisle.jobs.pick.pick_line import same_location
from aisle.jobs.pick.pick_state import PUT_DOWN_BY_OTHER, GoodsToReturn, PickState, Result, UndoStep, add_undo_step
from aisle.jobs.view import GOOD, INFO, WRONG, Msg, Verdict, msg, undo_verdict
from aisle.row_values import to_decimal
from aisle.scan.grammar_and_meaning_types import PRODUCT, Match
from aisle.stored_messages import read_message

if TYPE_CHECKING:
    from aisle.jobs.row_types.operations_and_session_answers import RefusedOperationsRow
    from aisle.jobs.row_types.orders import OrderLineRow, OrderRow
    from aisle.operation_body_types import LineExcess


EXCESS_QUERY, REFUSED_PUT_DOWNS = "left_over", "refused"
"""Ids of the queries for the excess of picks and for refused put-downs."""


def query_excess(state: PickState) -> tuple[Query, ...]:
    """Return the query for picks that exceeded a line, and for those whose goods still have to be put back."""
    return _query_refusals(
        state, EXCESS_QUERY, "update-customer-order", *(goods.op_id for goods in state.to_return if goods.op_id)
    )


def query_refused(state: PickState) -> tuple[Query, ...]:
    """Return the queries for the refused put-downs of this pick, also for orders that have left it."""
    passed_on = put_down_times(state).values()
    if not passed_on and not any(step.put_down for step in state.history):
        return ()
    return _query_refusals(state, REFUSED_PUT_DOWNS, "create-movement", moments=passed_on)


def _query_refusals(
    state: PickState, id_: str, operation: str, *known: str, moments: Iterable[str] = ()
) -> tuple[Query, ...]:
    """Return the queries for refused operations since the pick began or since the first of these times."""
    times = (*(tote.opened_at or tote.claimed_since for tote in state.totes), *moments)
    since = min((moment for moment in times if moment), default="")
    if not since and not known:
        return ()
    args = {"operation": operation, "since": since or _FAR_FUTURE}
    return (Query(id_, "refused_operations", {**args, "ops": list(known)} if known else args),)


def report_refused_put_down(state: PickState, rows: tuple[RefusedOperationsRow, ...], context: Context) -> Result:
    """Take goods back into hand whose put-down by this user the service refused. Lines of the pick are corrected by
    their own rows; goods put down for another picker are asked for again."""
    orders = {*(tote.order for tote in state.totes), *put_down_times(state)}
    text = None
    for row in new_refusals(state.reported_refusals, rows, context.user):
        order, location = _parse_target(row)
        if order in orders:
            reported = with_reported(state.reported_refusals, (row,))
            state = revert_put_down(state._replace(reported_refusals=reported), order, location)
            text = msg("pick.put_down_refused", order=order, place=location, why=read_message(str(row["why"])))
    return Turn(state, (), Verdict(WRONG, text) if text else None)


def _parse_target(row: RefusedOperationsRow) -> tuple[str, str]:
    end = next((item.get("to_location") or {} for item in row["body"]), {})
    return str(end.get("customer_order_number") or ""), str(end.get("location_code") or "")


def report_excess(state: PickState, rows: tuple[RefusedOperationsRow, ...], context: Context) -> Result:
    """Report lines that another picker has filled first; the excess in this user's hand has to be put back."""
    own_rows = new_refusals(state.reported_refusals, rows, context.user)
    found = [goods for row in own_rows for goods in _parse_excess(state, row)]
    if not found:
        return _drop_resolved(state, {row["op_id"] for row in rows})
    last, row = found[-1]
    reported = tuple(dict.fromkeys((*state.reported_refusals, *(goods.op_id for goods, _ in found))))[-MAX_REPORTED:]
    by = str(row.get("picked_username") or "")
    who = "" if by == context.user else str(row.get("picked_name") or by)
    done, of = to_decimal(row.get("picked_quantity")), to_decimal(row.get("quantity"))
    text = msg("pick.surplus", label=last.label, done=done, of=of, count=last.quantity)
    if who:
        text = msg("pick.surplus_by", label=last.label, done=done, of=of, who=who, count=last.quantity)
    for goods, _ in found:
        state = _remove_from_history(_remove_from_hand(state, goods), goods)
    state = state._replace(
        to_return=(*state.to_return, *(goods for goods, _ in found)),
        reported_refusals=reported,
        choices=(),
    )
    return Turn(state, (), Verdict(WRONG, text))


def _drop_resolved(state: PickState, open_operations: Collection[str]) -> Result:
    """Drop the excess that was resolved at another terminal or in the list of unconfirmed operations."""
    goods = tuple(goods for goods in state.to_return if not goods.op_id or goods.op_id in open_operations)
    if goods == state.to_return:
        return Turn(state)
    verdict = Verdict(INFO, msg("unconfirmed.resolved_meanwhile"))
    if not goods and not state.totes:
        return Turn(state, (Close(verdict),))
    return Turn(state._replace(to_return=goods, choices=()), (), verdict)


def _remove_from_hand(state: PickState, goods: GoodsToReturn) -> PickState:
    """Subtract excess from the line's goods in hand, because it has a question of its own."""
    mine = goods.line and goods.line.key
    lines = (
        line._replace(own_picked=max(Decimal(0), line.own_picked - goods.quantity)) if line.key == mine else line
        for line in state.lines
    )
    return state._replace(lines=tuple(lines))


def _remove_from_history(state: PickState, goods: GoodsToReturn) -> PickState:
    """Subtract excess from the latest steps that picked it. It is not booked, so undo does not revert it."""
    if goods.line is None:
        return state
    key, left = goods.line.key, goods.quantity
    picked = next((each.picked for each in state.lines if each.key == key), goods.line.picked)
    history: list[UndoStep] = []
    after = picked
    for step in reversed(state.history):
        own = next((each for each in step.lines_before if (each.order, each.line) == key), None)
        if own is not None:
            change = after - own.picked
            part = max(Decimal(0), min(left, change))
            after, left, picked = own.picked, left - part, picked - (change - part)
            kept = () if part and part == change else (own._replace(picked=picked),)
            lines = tuple(each for before in step.lines_before for each in (kept if before is own else (before,)))
            if not lines:
                continue
            step = step._replace(lines_before=lines)
        history.append(step)
    return state._replace(history=tuple(reversed(history)))


def is_excess_asked(state: PickState) -> bool:
    """Return True while the picker has to say that excess is put back."""
    return any(goods.reason == "left_over" for goods in state.to_return)


def return_first_id(goods: Iterable[GoodsToReturn]) -> str:
    """Return the id of the message that these goods come first: to be put back, or with a question of their own."""
    return "pick.answer_first" if any(each.is_picked_for_other for each in goods) else "pick.prompt_return"


def refuse_goods_to_return(state: PickState, matches: Iterable[Match]) -> Result | None:
    """Return the answer to a scan of goods that have to be put back; None if none of the matches is such goods.

    The scan may show the piece that goes back, so it is booked for no other order of the batch.
    """
    products = {match.key for match in matches if match.kind == PRODUCT}
    goods = [each for each in state.to_return if each.product in products]
    return reply(state, INFO, return_first_id(goods)) if goods else None


def is_location_of_excess(state: PickState, location: str) -> bool:
    """Return True if excess has to be put back at this location."""
    return any(goods.reason == "left_over" and same_location(goods.location, location) for goods in state.to_return)


def _parse_excess(state: PickState, row: RefusedOperationsRow) -> list[tuple[GoodsToReturn, LineExcess]]:
    excess = row.get("left") or {}
    order, quantity = str(row["body"]["orders"]["order_number"]), to_decimal(excess.get("left"))
    line = next((t for t in state.lines if t.key == (order, excess.get("line_number"))), None)
    if line is None or quantity <= 0:
        return []
    letter = pick_state.tote_letter(state, order)
    location = line.sources_in_hand[0].location if line.sources_in_hand else line.location
    goods = GoodsToReturn(
        letter, "left_over", line.product, line.label, quantity, location, str(row["op_id"]), line=line
    )
    return [(goods, excess)]


def resolve_excess(state: PickState) -> tuple[Effect, ...]:
    """Return the effects that resolve operations of excess, because the goods are put back."""
    return tuple(Resolve(goods.op_id, CLOSED_BY_HAND, "put back") for goods in state.to_return if goods.op_id)


_FAR_FUTURE = "9999"
"""Time later than any other, for a query that must find nothing by time."""


def goods_for_others(state: PickState) -> tuple[GoodsToReturn, ...]:
    """Return the goods in this picker's hand whose orders another picker has."""
    return tuple(goods for goods in state.to_return if goods.is_for_other_picker)


def is_location_for_others(state: PickState) -> bool:
    """Return True if a scanned location is for goods of other pickers' orders; goods of this pick come first."""
    return bool(goods_for_others(state)) and not (
        state.phase == "done" and stops_and_goods_in_hand.pieces_in_hand(state, state.only_order)
    )


def put_down_for_others(state: PickState, location: str, context: Context) -> Result:
    """Put goods of other pickers' orders down at a location, for those orders."""
    goods = goods_for_others(state)
    writes = picked_quantities_and_operations.put_down_for_others(goods, location, context.store, context.user)
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
    writes = picked_quantities_and_operations.put_down_for_others(
        step.returned, step.location, context.store, context.user, is_undo=True
    )
    return take_back_into_hand(state, step, writes, step.location)


def take_back_into_hand(state: PickState, step: UndoStep, writes: tuple[Write, ...], location: str | Msg) -> Result:
    """Take back into hand what a step put down or back at a location."""
    amounts = [names_in_messages.GoodsAmount(goods.product, goods.label, goods.quantity) for goods in step.returned]
    text = names_in_messages.goods_message("pick.put_down_undone", amounts, place=location)
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
    count = stops_and_goods_in_hand.quantity_to_return(state) - sum((each.quantity for each in goods), Decimal(0))
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
