"""Taking over of claimed orders in a pick, and orders shared with another picker: goods in hand, and surplus.

Such goods stay with this picker until they are handed over, put down or put back. If the other picker reports them as
put down at a location, this picker is only asked to put them there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING

from aisle.jobs import goods_messages
from aisle.jobs.claims import Claim, is_later, parse_claim
from aisle.jobs.job import CLOSED_BY_HAND, Close, Context, Effect, Query, Resolve, Turn, Write, reply
from aisle.jobs.pick import goods_to_put_down, offered_choices, operations, pick_state
from aisle.jobs.pick.operations import claim_write
from aisle.jobs.pick.pick_state import (
    PUT_DOWN_BY_OTHER,
    GoodsToReturn,
    PickChoice,
    PickState,
    Tote,
    UndoStep,
    add_undo_step,
)
from aisle.jobs.pick.stops import sum_own_in_hand
from aisle.jobs.quantities import order_progress, to_decimal
from aisle.jobs.store_time import store_day, time_message
from aisle.jobs.stored_messages import read_message
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Msg, Verdict, msg, undo_verdict

if TYPE_CHECKING:
    from aisle.jobs.row_types.operations import RefusedOperationsRow
    from aisle.jobs.row_types.orders_and_deliveries import OrderLineRow, OrderRow
    from aisle.operation_bodies import LineExcess

GoodsTurn = Turn[PickState]


def goods_for_others(state: PickState) -> tuple[GoodsToReturn, ...]:
    """Return the goods in this picker's hand whose orders another picker has."""
    return tuple(goods for goods in state.to_return if goods.is_for_other_picker)


def is_location_for_others(state: PickState) -> bool:
    """Return True if a scanned location is for goods of other pickers' orders; goods of this pick come first."""
    return bool(goods_for_others(state)) and not (
        state.phase == "done" and goods_to_put_down.pieces_in_hand(state, state.only_order)
    )


def put_down_for_others(state: PickState, location: str, context: Context) -> GoodsTurn:
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
        return msg("pick.put_back_done")
    return msg("pick.put_down", order=_order_numbers(last.returned), place=last.location)


def undo_put_down_for_others(state: PickState, step: UndoStep, context: Context) -> GoodsTurn:
    """Take back into hand what was put down for another picker."""
    writes = operations.put_down_for_others(step.returned, step.location, context.store, context.user, is_undo=True)
    amounts = [goods_messages.GoodsAmount(goods.product, goods.label, goods.quantity) for goods in step.returned]
    text = goods_messages.goods_message(
        "pick.put_down_undone", "pick.put_down_undone_many", amounts, place=step.location
    )
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


def hand_over_to_others(state: PickState) -> GoodsTurn:
    """Record that the goods were handed over to the pickers who have their orders; other goods are still to be put
    back."""
    goods = tuple(each for each in state.to_return if not each.is_for_other_picker)
    count = goods_to_put_down.quantity_to_return(state) - sum((each.quantity for each in goods), Decimal(0))
    verdict = Verdict(GOOD, msg("pick.handed_over", count=count))
    if not goods and not state.totes:
        return Turn(state, (Close(verdict),))
    return Turn(state._replace(to_return=goods, choices=()), (), verdict)


def track_put_down_by_others(state: PickState, order: str, row: OrderRow | None) -> GoodsTurn:
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
    if line is None or goods.line is None or not _counts_as_picked(goods):
        return goods
    picked, moved = to_decimal(line.get("picked_quantity")), to_decimal(line.get("moved_quantity"))
    own = sum(
        each.quantity for each in state.to_return if _counts_as_picked(each) and _line_key(each) == _line_key(goods)
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


def _counts_as_picked(goods: GoodsToReturn) -> bool:
    """Return True if the goods count as picked for another picker's order; surplus counts for none."""
    return goods.is_for_other_picker or goods.reason == PUT_DOWN_BY_OTHER


def _line_key(goods: GoodsToReturn) -> tuple[str, int]:
    return goods.order, goods.line.line if goods.line else 0


def _last_location(line: OrderLineRow) -> str:
    kept = [str(each["location_code"]) for each in line.get("put_down") or () if to_decimal(each.get("quantity")) > 0]
    return kept[-1] if kept else ""


Result = Turn[PickState]

OPEN_CHOICES = ("take_over", "open_free")
"""Kinds of choices that open an order claimed by another picker, or released while the question was open."""

TAKEN_OVER_CHOICES = ("both", "hand_over")
"""Kinds of choices offered when another picker has taken an order over."""

_FAR_FUTURE = "9999"
"""Time later than any other, for a query that must find nothing by time."""

SURPLUS_QUERY, REFUSED_QUERY = "left_over", "refused"
"""Ids of the queries for surplus picks and for refused put-downs."""


def check_claim(state: PickState, tote: Tote, row: OrderRow, context: Context) -> Result | None:
    """Handle a claim of another picker. Ask before the order is opened, report it if the order is already in the pick,
    and update the question if the claim is released."""
    found = parse_claim(row, context)
    if found is None:
        return _ask_free_now(state, tote)
    if tote.has_lines:
        return _report_taken_over(state, tote, found)
    if tote.is_confirmed:
        return None
    choices = (PickChoice("take_over", tote.order), *((PickChoice("leave_out", tote.order),) if state.is_batch else ()))
    return Turn(state._replace(choices=choices), (), Verdict(ASK, _claim_question(tote.order, found, row, context)))


def _ask_free_now(state: PickState, tote: Tote) -> Result | None:
    """Update the open question when the other picker has released the order; it does not open without an answer."""
    at = next((at for at, way in enumerate(state.choices) if way.kind in OPEN_CHOICES and way.key == tote.order), -1)
    if at < 0 or tote.has_lines or tote.is_confirmed:
        return None
    if state.choices[at].kind == "open_free":
        return Turn(state)
    choices = (*state.choices[:at], PickChoice("open_free", tote.order), *state.choices[at + 1 :])
    state_asked = state._replace(choices=choices)
    choice = offered_choices.open_choices(state_asked).index(choices[at]) + 1
    return reply(state_asked, ASK, "pick.free_now", order=tote.order, choice=choice)


def _claim_question(order: str, claim_found: Claim, row: OrderRow, context: Context) -> Msg:
    if not claim_found.name:
        return msg("pick.claimed_plain", order=order)
    if claim_found.is_own:
        return msg("pick.claimed_by_you", order=order, terminal=claim_found.terminal)
    if not claim_found.since:
        return msg("pick.claimed", order=order, who=claim_found.name)
    done, of = order_progress(row)
    at = time_message(claim_found.since, store_day(context.now))
    if not claim_found.terminal:
        return msg("pick.claimed_since", order=order, who=claim_found.name, at=at, done=done, of=of)
    where = claim_found.terminal
    return msg("pick.claimed_at", order=order, who=claim_found.name, at=at, terminal=where, done=done, of=of)


def _report_taken_over(state: PickState, tote: Tote, claim_found: Claim) -> Result | None:
    """Report a claim later than the own one, once; if it is the same user's, the order leaves with its goods."""
    if not tote.claimed_since or not is_later(claim_found.since, tote.claimed_since):
        return None
    if claim_found.is_own:
        return _leave_to_own_terminal(state, tote, claim_found)
    updated = pick_state.with_tote(state, tote._replace(claimed_since=claim_found.since, is_own_claim=False))
    count = sum_own_in_hand(take for take in state.lines if take.order == tote.order)
    text = msg("pick.taken_over", order=tote.order, who=claim_found.name, count=count)
    choices = (
        PickChoice("both", tote.order, claim_found.name),
        PickChoice("hand_over", tote.order, claim_found.name, quantity=count),
    )
    assignments = tuple(choice for choice in state.take_over_choices if choice.kind in offered_choices.ASSIGNED_CHOICES)
    return Turn(updated._replace(take_over_choices=(*assignments, *choices)), (), Verdict(ASK, text))


def _leave_to_own_terminal(state: PickState, tote: Tote, claim_found: Claim) -> Result:
    verdict = Verdict(INFO, msg("pick.moved_to_terminal", order=tote.order, terminal=claim_found.terminal))
    rest = pick_state.without_order(state, tote.order, "claimed")._replace(to_return=state.to_return)
    return Turn(rest, (), verdict) if rest.totes else Turn(state, (Close(verdict),))


def track_others(before: PickState, turn: Result, order: str, row: OrderRow, context: Context) -> Result:
    """Show who else has an order open, and report it when somebody opens or leaves it."""
    tote = pick_state.find_tote(turn.state, order)
    if tote is None or not tote.has_lines:
        return turn
    found = parse_claim(row, context)
    others = (each for each in row.get("at_work") or () if each["user"] != context.user)
    names = tuple(dict.fromkeys(str(each["name"]) for each in others))
    was = pick_state.find_tote(before, order)
    state = pick_state.with_tote(turn.state, tote._replace(other_pickers=names))
    if was is None or not was.has_lines:
        is_shared = names or (found and not found.is_own and row.get("is_claim_active") is not False)
        state = state if is_shared else goods_to_put_down.take_as_own(state, order)
        return _with_others_message(turn._replace(state=state), _others_message(state, order, found, row))
    joined = [name for name in names if name not in was.other_pickers]
    left = [name for name in was.other_pickers if name not in names]
    theirs = Decimal(0)
    if left and not names:
        theirs = goods_to_put_down.pieces_of_others(state, order)
        state = goods_to_put_down.take_as_own(state, order)  # who left it has handed over what is still in hand
    answered = (
        ()
        if found
        else tuple(
            choice for choice in state.take_over_choices if choice.key == order and choice.kind in TAKEN_OVER_CHOICES
        )
    )
    if answered:
        state = pick_state.with_tote(
            state, tote._replace(other_pickers=names, claimed_since="", is_own_claim=False, is_only_viewed=True)
        )
        state = state._replace(
            take_over_choices=tuple(choice for choice in state.take_over_choices if choice not in answered)
        )
        left = [answered[0].label]
    text = msg("pick.other_picker", order=order, who=", ".join(joined)) if joined else None
    if left:
        text = msg("pick.other_picker_left", order=order, who=", ".join(left))
    if left and theirs:
        text = msg("pick.other_picker_left_goods", order=order, who=", ".join(left), count=theirs)
    return _with_others_message(turn._replace(state=state), text)


def _others_message(state: PickState, order: str, claim_found: Claim | None, row: OrderRow) -> Msg | None:
    """Return the message about other pickers in opened orders; those on another host can only be guessed."""
    if state.phase == "wait":
        return None
    shared = [tote for tote in state.totes if tote.other_pickers]
    if shared:
        return msg("pick.other_picker", order=shared[0].order, who=", ".join(shared[0].other_pickers))
    is_elsewhere = (
        claim_found is not None and claim_found.name and not claim_found.is_own and "is_claim_active" not in row
    )
    return msg("pick.other_picker_maybe", order=order, who=claim_found.name) if claim_found and is_elsewhere else None


def _with_others_message(turn: Result, message: Msg | None) -> Result:
    """Add the message to the turn's verdict; a question stays alone."""
    if message is None or (turn.verdict and turn.verdict.kind == ASK):
        return turn
    if turn.verdict is None:
        return turn._replace(verdict=Verdict(INFO, message))
    return turn._replace(verdict=Verdict(INFO, msg("pick.join", what=message, more=turn.verdict.text)))


def claim_opened(turn: Result, order: str, row: OrderRow, context: Context) -> Result:
    """Claim an order that came into the pick with open lines, unless the claim is already this terminal's. Also claim
    an order that was taken over with goods in hand, so that the other picker is notified."""
    tote = pick_state.find_tote(turn.state, order)
    if tote is None or not tote.has_lines:
        return turn
    if pick_state.is_order_picked(turn.state, order) and not (
        tote.is_confirmed and goods_to_put_down.pieces_in_hand(turn.state, order)
    ):
        return turn
    ours = row.get("is_claimed") and row.get("claimed_by") == context.user
    if ours and row.get("claimed_terminal") == context.terminal:
        since = str(row.get("claimed_on") or context.now)
        ours_since = tote._replace(claimed_since=since, opened_at=since, is_own_claim=True, is_only_viewed=False)
        return turn._replace(state=pick_state.with_tote(turn.state, ours_since))
    if tote.is_only_viewed:
        return turn._replace(state=pick_state.with_tote(turn.state, tote._replace(opened_at=context.now)))
    return _claim_order(turn, tote, context)


def claim_on_first_change(turn: Result, context: Context) -> Result:
    """Claim an order that was only viewed with the first operation on it."""
    if not any(tote.is_only_viewed for tote in turn.state.totes):
        return turn
    writes = (effect for effect in turn.effects if isinstance(effect, Write))
    lanes = {lane for write in writes for lane in write.lanes}
    for tote in turn.state.totes:
        if tote.is_only_viewed and f"order/{tote.order}" in lanes:
            turn = _claim_order(turn, tote, context)
    return turn


def _claim_order(turn: Result, tote: Tote, context: Context) -> Result:
    ours = tote._replace(claimed_since=context.now, opened_at=context.now, is_own_claim=True, is_only_viewed=False)
    effects = (claim_write(tote.order, context.store), *turn.effects)
    return turn._replace(state=pick_state.with_tote(turn.state, ours), effects=effects)


def release_unpicked(state: PickState, store: str) -> tuple[Effect, ...]:
    """Release the claimed orders of which nothing is picked or closed."""
    idle = (tote.order for tote in state.totes if tote.is_own_claim and not _is_started(state, tote.order))
    return tuple(claim_write(order, store, is_claimed=False) for order in idle)


def _is_started(state: PickState, order: str) -> bool:
    return any(take.picked or take.is_closed for take in state.lines if take.order == order)


# Surplus and refused operations


def query_surplus(state: PickState) -> tuple[Query, ...]:
    """Return the query for picks that exceeded a line, and for those whose goods still have to be put back."""
    return _query_refusals(
        state, SURPLUS_QUERY, "update-customer-order", *(goods.op_id for goods in state.to_return if goods.op_id)
    )


def query_refused(state: PickState) -> tuple[Query, ...]:
    """Return the queries for the refused put-downs of this pick, also for orders that have left it."""
    passed_on = put_down_times(state).values()
    if not passed_on and not any(step.put_down for step in state.history):
        return ()
    return _query_refusals(state, REFUSED_QUERY, "create-movement", moments=passed_on)


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
    """Take goods back into hand whose put-down the service refused. Lines of the pick are corrected by their own rows;
    goods put down for another picker are asked for again."""
    mine, passed_on = {tote.order for tote in state.totes}, put_down_times(state)
    text = None
    for row in rows:
        order, location = _parse_target(row)
        is_own = order in mine or (order in passed_on and row["user"] == context.user)
        if is_own and row["op_id"] not in state.reported_refusals:
            state = revert_put_down(
                state._replace(reported_refusals=(*state.reported_refusals, str(row["op_id"]))), order, location
            )
            text = msg("pick.put_down_refused", order=order, place=location, why=read_message(str(row["why"])))
    return Turn(state, (), Verdict(WRONG, text) if text else None)


def _parse_target(row: RefusedOperationsRow) -> tuple[str, str]:
    end = next((item.get("to_location") or {} for item in row["body"]), {})
    return str(end.get("customer_order_number") or ""), str(end.get("location_code") or "")


def report_surplus(state: PickState, rows: tuple[RefusedOperationsRow, ...], context: Context) -> Result:
    """Report lines that another picker has filled first; the surplus in this user's hand has to be put back."""
    own_rows = [row for row in rows if row["user"] == context.user and row["op_id"] not in state.reported_refusals]
    found = [goods for row in own_rows for goods in _parse_surplus(state, row)]
    if not found:
        return _drop_resolved(state, {row["op_id"] for row in rows})
    last, row = found[-1]
    reported = tuple(dict.fromkeys((*state.reported_refusals, *(goods.op_id for goods, _ in found))))
    by = str(row.get("picked_username") or "")
    who = "" if by == context.user else str(row.get("picked_name") or by)
    done, of = to_decimal(row.get("picked_quantity")), to_decimal(row.get("quantity"))
    text = msg("pick.surplus", label=last.label, done=done, of=of, count=last.quantity)
    if who:
        text = msg("pick.surplus_by", label=last.label, done=done, of=of, who=who, count=last.quantity)
    for goods, _ in found:
        state = _remove_from_hand(state, goods)
    state = state._replace(
        to_return=(*state.to_return, *(goods for goods, _ in found)), reported_refusals=reported, choices=()
    )
    return Turn(state, (), Verdict(WRONG, text))


def _drop_resolved(state: PickState, open_operations: Collection[str]) -> Result:
    """Drop surplus that was resolved at another terminal or in the list of unconfirmed operations."""
    goods = tuple(goods for goods in state.to_return if not goods.op_id or goods.op_id in open_operations)
    if goods == state.to_return:
        return Turn(state)
    verdict = Verdict(INFO, msg("pick.return_resolved"))
    if not goods and not state.totes:
        return Turn(state, (Close(verdict),))
    return Turn(state._replace(to_return=goods, choices=()), (), verdict)


def _remove_from_hand(state: PickState, goods: GoodsToReturn) -> PickState:
    """Subtract surplus from the line's goods in hand, because it has a question of its own."""
    line = goods.line
    mine = line and (line.order, line.line)
    takes = (
        take._replace(own_picked=max(Decimal(0), take.own_picked - goods.quantity))
        if (take.order, take.line) == mine
        else take
        for take in state.lines
    )
    return state._replace(lines=tuple(takes))


def _parse_surplus(state: PickState, row: RefusedOperationsRow) -> list[tuple[GoodsToReturn, LineExcess]]:
    surplus = row.get("left") or {}
    order, quantity = str(row["body"]["orders"]["order_number"]), to_decimal(surplus.get("left"))
    take = next((t for t in state.lines if (t.order, t.line) == (order, surplus.get("line_number"))), None)
    if take is None or quantity <= 0:
        return []
    letter = pick_state.tote_letter(state, order)
    location = take.sources_in_hand[0].location if take.sources_in_hand else take.location
    goods = GoodsToReturn(
        letter, "left_over", take.product, take.label, quantity, location, str(row["op_id"]), line=take
    )
    return [(goods, surplus)]


def resolve_surplus(state: PickState) -> tuple[Effect, ...]:
    """Return the effects that resolve surplus operations, because the goods are put back."""
    return tuple(Resolve(goods.op_id, CLOSED_BY_HAND, "put back") for goods in state.to_return if goods.op_id)
