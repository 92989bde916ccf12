"""Excess of a pick: what another picker filled first, and put-downs that the service refused. It has to be put back."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from decimal import Decimal
from typing import TYPE_CHECKING

from aisle.jobs.find_and_report_refusals import MAX_REPORTED, new_refusals, with_reported
from aisle.jobs.job import CLOSED_BY_HAND, Close, Context, Effect, Query, Resolve, Turn, reply
from aisle.jobs.pick import pick_state
from aisle.jobs.pick.goods_for_other_pickers import put_down_times, revert_put_down
from aisle.jobs.pick.pick_line import same_location
from aisle.jobs.pick.pick_state import GoodsToReturn, PickState, Result, UndoStep
from aisle.jobs.view import INFO, WRONG, Verdict, msg
from aisle.row_values import to_decimal
from aisle.scan.grammar_and_meaning_types import PRODUCT, Match
from aisle.stored_messages import read_message

if TYPE_CHECKING:
    from aisle.jobs.row_types.operations_and_session_answers import RefusedOperationsRow
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
