"""Goods in this hand of orders that somebody else picks now: handed over, put down for him, or put back.

They stay this picker's until he says what became of them. Where the other one says by a number that they lie at a
place, he is told where, and asked for nothing but that they do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs import message
from aisle.jobs.claims import Claim, is_later, parse_claim
from aisle.jobs.job import Close, Context, Effect, Query, Resolve, Turn, Write
from aisle.jobs.message import read_message
from aisle.jobs.pick import goods_in_hand, offered_choices, pick_state
from aisle.jobs.pick import operations as pick_write
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
from aisle.jobs.product_page import store_day, time_message
from aisle.jobs.quantities import order_progress, to_decimal
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Msg, Verdict, msg, undo_verdict

GoodsTurn = Turn[PickState]


def goods_for_others(state: PickState) -> tuple[GoodsToReturn, ...]:
    """What is here for somebody else."""
    return tuple(back for back in state.to_return if back.is_for_other_picker)


def is_location_for_others(state: PickState) -> bool:
    """Whether a place that is scanned is for these goods: what the round itself has in hand comes first."""
    return bool(goods_for_others(state)) and not (
        state.phase == "done" and goods_in_hand.pieces_in_hand(state, state.only_order)
    )


def put_down_for_others(state: PickState, location: str, context: Context) -> GoodsTurn:
    """They lie there, for the orders that they were picked for."""
    gone = goods_for_others(state)
    writes = pick_write.put_down_for_others(gone, location, context.store, context.user)
    rest = tuple(back for back in state.to_return if back not in gone)
    down = add_undo_step(
        state._replace(to_return=rest, choices=()), UndoStep(returned=gone, location=location, at=context.now)
    )
    return Turn(down, writes, Verdict(GOOD, msg("pick.put_down", order=_order_numbers(gone), place=location)))


def returned_message(state: PickState) -> Msg:
    """What became of the last that was in hand, once no order is left."""
    last = state.history[-1] if state.history else None
    if last is None or not last.returned or not last.location:
        return msg("pick.put_back_done")
    return msg("pick.put_down", order=_order_numbers(last.returned), place=last.location)


def undo_put_down_for_others(state: PickState, step: UndoStep, context: Context) -> GoodsTurn:
    """What was put down for somebody else is in hand again."""
    writes = pick_write.put_down_for_others(step.returned, step.location, context.store, context.user, is_undo=True)
    again = [message.GoodsAmount(back.product, back.label, back.quantity) for back in step.returned]
    told = message.goods_message("pick.put_undone", "pick.put_undone_many", again, place=step.location)
    return Turn(state._replace(to_return=(*step.returned, *state.to_return), choices=()), writes, undo_verdict(told))


def put_down_times(state: PickState) -> dict[str, str]:
    """The orders that something was put down for in this way, and when that was first."""
    return {back.order: step.at for step in reversed(state.history) if step.at for back in step.returned}


def revert_put_down(state: PickState, order: str, location: str) -> PickState:
    """The service has not taken that they lie there for this order: they are in hand, and undo has nothing to say."""
    for at, step in reversed(list(enumerate(state.history))):
        if step.at and step.location == location and any(back.order == order for back in step.returned):
            again = tuple(back for back in step.returned if back.order == order)
            rest = tuple(back for back in step.returned if back.order != order)
            left = (step._replace(returned=rest),) if rest else ()
            history = (*state.history[:at], *left, *state.history[at + 1 :])
            return state._replace(history=history, to_return=(*again, *state.to_return), choices=())
    return state


def _order_numbers(goods: Iterable[GoodsToReturn]) -> str:
    return ", ".join(dict.fromkeys(back.order for back in goods))


def hand_over_to_others(state: PickState) -> GoodsTurn:
    """Whoever picks their orders now has the goods: they stay picked, and the rest is still to be put back."""
    back = tuple(each for each in state.to_return if not each.is_for_other_picker)
    count = goods_in_hand.quantity_to_return(state) - sum((each.quantity for each in back), Decimal(0))
    told = Verdict(GOOD, msg("pick.handed_over", count=count))
    if not back and not state.totes:
        return Turn(state, (Close(told),))
    return Turn(state._replace(to_return=back, choices=()), (), told)


def track_put_down_by_others(state: PickState, order: str, row: Mapping[str, Any]) -> GoodsTurn:
    """Somebody has said that goods of the order lie at a place that are in this hand, or has taken that back."""
    lines = {int(line["line_number"]): line for line in row.get("lines") or ()}
    back = tuple(_update_goods(state, each, lines) if each.order == order else each for each in state.to_return)
    if back == state.to_return:
        return Turn(state)
    laid = [
        now for was, now in zip(state.to_return, back, strict=True) if now.reason == PUT_DOWN_BY_OTHER != was.reason
    ]
    state = state._replace(to_return=back, choices=())
    count = sum((each.quantity for each in laid), Decimal(0))
    if not laid:
        return Turn(state, (), Verdict(INFO, msg("pick.back_not_laid", order=order)))
    told = msg("pick.back_laid_unsaid", order=order, count=count)
    if laid[0].location:
        told = msg("pick.back_laid", order=order, count=count, place=laid[0].location)
    return Turn(state, (), Verdict(WRONG, told))


def _update_goods(state: PickState, goods: GoodsToReturn, lines: Mapping[int, Mapping[str, Any]]) -> GoodsToReturn:
    """Whoever puts down what is in his own hand leaves at least as much of the line in hand as is in this one."""
    line = lines.get(goods.line.line) if goods.line else None
    if line is None or goods.line is None or not _counts_as_picked(goods):
        return goods
    picked, moved = to_decimal(line.get("picked_quantity")), to_decimal(line.get("moved_quantity"))
    here = sum(
        each.quantity for each in state.to_return if _counts_as_picked(each) and _line_key(each) == _line_key(goods)
    )
    lies = moved > goods.line.moved and picked - moved < here
    if lies == (goods.reason == PUT_DOWN_BY_OTHER):
        return goods
    if lies:
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
    """Whether it counts as picked for somebody else's order; what found no room on a line is on none."""
    return goods.is_for_other_picker or goods.reason == PUT_DOWN_BY_OTHER


def _line_key(goods: GoodsToReturn) -> tuple[str, int]:
    return goods.order, goods.line.line if goods.line else 0


def _last_location(line: Mapping[str, Any]) -> str:
    """The place that goods of the line were brought to last, as far as anybody knows one."""
    kept = [str(each["location_code"]) for each in line.get("kept") or () if to_decimal(each.get("quantity")) > 0]
    return kept[-1] if kept else ""


Result = Turn[PickState]

OPEN_CHOICES = ("take_over", "open_free")
"""Ways to open an order that somebody else has, or had while that was asked."""

TAKEN_OVER_CHOICES = ("both", "hand_over")
"""Ways on from the news that somebody else has taken an order over."""

_FAR_FUTURE = "9999"
"""A moment that nothing is younger than."""

SURPLUS_QUERY, REFUSED_QUERY = "left_over", "refused"
"""The queries for what the service could not take of this round's picks, and of what was put down."""


def check_claim(state: PickState, tote: Tote, row: Mapping[str, Any], context: Context) -> Result | None:
    """Somebody else works on it: asked about before, told when it happens while the order is in the round, or when he
    leaves it while that is asked."""
    found = parse_claim(row, context)
    if found is None:
        return _ask_free_now(state, tote)
    if tote.has_lines:
        return _report_taken_over(state, tote, found)
    if tote.is_confirmed:
        return None
    ways = (PickChoice("take_over", tote.order), *((PickChoice("leave_out", tote.order),) if state.is_batch else ()))
    return Turn(state._replace(choices=ways), (), Verdict(ASK, _claim_question(tote.order, found, row, context)))


def _ask_free_now(state: PickState, tote: Tote) -> Result | None:
    """Whoever had it has left it while that was asked here: nobody may be looking any more, so it does not open by
    itself."""
    at = next((at for at, way in enumerate(state.choices) if way.kind in OPEN_CHOICES and way.key == tote.order), -1)
    if at < 0 or tote.has_lines or tote.is_confirmed:
        return None
    if state.choices[at].kind == "open_free":
        return Turn(state)
    ways = (*state.choices[:at], PickChoice("open_free", tote.order), *state.choices[at + 1 :])
    asked = state._replace(choices=ways)
    choice = offered_choices.open_choices(asked).index(ways[at]) + 1
    return Turn(asked, (), Verdict(ASK, msg("pick.free_now", order=tote.order, choice=choice)))


def _claim_question(order: str, claim_found: Claim, row: Mapping[str, Any], context: Context) -> Msg:
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
    """A claim that is younger than ours is told once; the same person's goods go along with the person."""
    if not tote.claimed_since or not is_later(claim_found.since, tote.claimed_since):
        return None
    if claim_found.is_own:
        return _leave_to_own_terminal(state, tote, claim_found)
    known = pick_state.with_tote(state, tote._replace(claimed_since=claim_found.since, is_own_claim=False))
    count = sum_own_in_hand(take for take in state.lines if take.order == tote.order)
    told = msg("pick.taken_over", order=tote.order, who=claim_found.name, count=count)
    ways = (
        PickChoice("both", tote.order, claim_found.name),
        PickChoice("hand_over", tote.order, claim_found.name, quantity=count),
    )
    given = tuple(way for way in state.take_over_choices if way.kind in offered_choices.ASSIGNED_CHOICES)
    return Turn(known._replace(take_over_choices=(*given, *ways)), (), Verdict(ASK, told))


def _leave_to_own_terminal(state: PickState, tote: Tote, claim_found: Claim) -> Result:
    told = Verdict(INFO, msg("pick.taken_along", order=tote.order, terminal=claim_found.terminal))
    rest = pick_state.without_order(state, tote.order, "claimed")._replace(to_return=state.to_return)
    return Turn(rest, (), told) if rest.totes else Turn(state, (Close(told),))


def track_others(before: PickState, turn: Result, order: str, row: Mapping[str, Any], context: Context) -> Result:
    """Who else has an order of the round open stands on the page, and is told when he comes or goes."""
    tote = pick_state.find_tote(turn.state, order)
    if tote is None or not tote.has_lines:
        return turn
    found = parse_claim(row, context)
    people = (each for each in row.get("at_work") or () if each["user"] != context.user)
    names = tuple(dict.fromkeys(str(each["name"]) for each in people))
    was = pick_state.find_tote(before, order)
    state = pick_state.with_tote(turn.state, tote._replace(other_pickers=names))
    if was is None or not was.has_lines:
        apart = names or (found and not found.is_own and row.get("claim_open") is not False)
        state = state if apart else goods_in_hand.take_as_own(state, order)
        return _with_others_message(turn._replace(state=state), _others_message(state, order, found, row))
    came = [name for name in names if name not in was.other_pickers]
    gone = [name for name in was.other_pickers if name not in names]
    theirs = Decimal(0)
    if gone and not names:
        theirs = goods_in_hand.pieces_of_others(state, order)
        state = goods_in_hand.take_as_own(state, order)  # whoever left it has handed over what is still picked of it
    answered = (
        ()
        if found
        else tuple(way for way in state.take_over_choices if way.key == order and way.kind in TAKEN_OVER_CHOICES)
    )
    if answered:
        state = pick_state.with_tote(
            state, tote._replace(other_pickers=names, claimed_since="", is_own_claim=False, is_only_viewed=True)
        )
        state = state._replace(take_over_choices=tuple(way for way in state.take_over_choices if way not in answered))
        gone = [answered[0].label]
    told = msg("pick.beside", order=order, who=", ".join(came)) if came else None
    if gone:
        told = msg("pick.beside_left", order=order, who=", ".join(gone))
    if gone and theirs:
        told = msg("pick.beside_left_hand", order=order, who=", ".join(gone), count=theirs)
    return _with_others_message(turn._replace(state=state), told)


def _others_message(state: PickState, order: str, claim_found: Claim | None, row: Mapping[str, Any]) -> Msg | None:
    """Who else is in orders that are opened; of whoever has one on another host nobody here can tell."""
    if state.phase == "wait":
        return None
    mine = [tote for tote in state.totes if tote.other_pickers]
    if mine:
        return msg("pick.beside", order=mine[0].order, who=", ".join(mine[0].other_pickers))
    away = claim_found is not None and claim_found.name and not claim_found.is_own and "claim_open" not in row
    return msg("pick.beside_maybe", order=order, who=claim_found.name) if claim_found and away else None


def _with_others_message(turn: Result, message: Msg | None) -> Result:
    """Beside what is told anyway; what is asked says who it is about."""
    if message is None or (turn.verdict and turn.verdict.kind == ASK):
        return turn
    if turn.verdict is None:
        return turn._replace(verdict=Verdict(INFO, message))
    return turn._replace(verdict=Verdict(INFO, msg("pick.told_both", what=message, more=turn.verdict.text)))


def claim_opened(turn: Result, order: str, row: Mapping[str, Any], context: Context) -> Result:
    """An order that came into the round and has something to be picked is claimed, unless it is ours already; so is
    one that was taken over with its goods not put down, that whoever has them in hand hears of it."""
    tote = pick_state.find_tote(turn.state, order)
    if tote is None or not tote.has_lines:
        return turn
    if pick_state.is_order_picked(turn.state, order) and not (
        tote.is_confirmed and goods_in_hand.pieces_in_hand(turn.state, order)
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
    """An order that was only looked at is claimed with the first thing that is done to it."""
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
    """Who leaves orders of which nothing is picked leaves them to others."""
    idle = (tote.order for tote in state.totes if tote.is_own_claim and not _is_started(state, tote.order))
    return tuple(claim_write(order, store, is_claimed=False) for order in idle)


def _is_started(state: PickState, order: str) -> bool:
    return any(take.picked or take.is_closed for take in state.lines if take.order == order)


# What found no room


def query_surplus(state: PickState) -> tuple[Query, ...]:
    """Asks what of this round the service could not take, and whether that is still to be put back."""
    return _query_refusals(
        state, SURPLUS_QUERY, "update-customer-order", *(back.op_id for back in state.to_return if back.op_id)
    )


def query_refused(state: PickState) -> tuple[Query, ...]:
    """Asks what of it was put down by what the service refused, also for orders that have left it."""
    passed_on = put_down_times(state).values()
    if not passed_on and not any(step.put_down for step in state.history):
        return ()
    return _query_refusals(state, REFUSED_QUERY, "create-movement", moments=passed_on)


def _query_refusals(
    state: PickState, id_: str, operation: str, *known: str, moments: Iterable[str] = ()
) -> tuple[Query, ...]:
    """Asks for those since the round began, or since the first of these moments."""
    ours = (*(tote.opened_at or tote.claimed_since for tote in state.totes), *moments)
    since = min((moment for moment in ours if moment), default="")
    if not since and not known:
        return ()
    args = {"operation": operation, "since": since or _FAR_FUTURE}
    return (Query(id_, "refusals", {**args, "ops": list(known)} if known else args),)


def report_refused_put_down(state: PickState, rows: tuple[Mapping[str, Any], ...], context: Context) -> Result:
    """Goods that were put down by what the service did not take are in hand again; the lines of the round say so
    themselves, what was put down for somebody else is asked for again."""
    mine, passed_on = {tote.order for tote in state.totes}, put_down_times(state)
    last = None
    for row in rows:
        order, place = _parse_target(row)
        ours = order in mine or (order in passed_on and row["user"] == context.user)
        if ours and row["op_id"] not in state.reported_refusals:
            state = revert_put_down(
                state._replace(reported_refusals=(*state.reported_refusals, str(row["op_id"]))), order, place
            )
            last = msg("pick.put_refused", order=order, place=place, why=read_message(str(row["why"])))
    return Turn(state, (), Verdict(WRONG, last) if last else None)


def _parse_target(row: Mapping[str, Any]) -> tuple[str, str]:
    """The order that a movement was for, and the place where it went."""
    end = next((item.get("to_location") or {} for item in row["body"]), {})
    return str(end.get("customer_order_number") or ""), str(end.get("location_code") or "")


def report_surplus(state: PickState, rows: tuple[Mapping[str, Any], ...], context: Context) -> Result:
    """Somebody else has picked a line full meanwhile: what is too many in the hand of whoever came second is to be put
    back by him alone."""
    mine = [row for row in rows if row["user"] == context.user and row["op_id"] not in state.reported_refusals]
    found = [back for row in mine for back in _parse_surplus(state, row)]
    if not found:
        return _drop_resolved(state, {row["op_id"] for row in rows})
    last, row = found[-1]
    told = tuple(dict.fromkeys((*state.reported_refusals, *(back.op_id for back, _ in found))))
    by = str(row.get("picked_username") or "")
    who = "" if by == context.user else str(row.get("picked_name") or by)
    done, of = to_decimal(row.get("picked_quantity")), to_decimal(row.get("quantity"))
    text = msg("pick.left_over", label=last.label, done=done, of=of, count=last.quantity)
    if who:
        text = msg("pick.left_over_by", label=last.label, done=done, of=of, who=who, count=last.quantity)
    for back, _ in found:
        state = _remove_from_hand(state, back)
    state = state._replace(
        to_return=(*state.to_return, *(back for back, _ in found)), reported_refusals=told, choices=()
    )
    return Turn(state, (), Verdict(WRONG, text))


def _drop_resolved(state: PickState, open_operations: Collection[str]) -> Result:
    """What was answered for at another terminal, or in the list of what is in doubt, is asked for no more."""
    back = tuple(back for back in state.to_return if not back.op_id or back.op_id in open_operations)
    if back == state.to_return:
        return Turn(state)
    told = Verdict(INFO, msg("pick.back_settled"))
    if not back and not state.totes:
        return Turn(state, (Close(told),))
    return Turn(state._replace(to_return=back, choices=()), (), told)


def _remove_from_hand(state: PickState, goods: GoodsToReturn) -> PickState:
    """What found no room is on no line: it is asked for by itself."""
    line = goods.line
    mine = line and (line.order, line.line)
    takes = (
        take._replace(own_picked=max(Decimal(0), take.own_picked - goods.quantity))
        if (take.order, take.line) == mine
        else take
        for take in state.lines
    )
    return state._replace(lines=tuple(takes))


def _parse_surplus(state: PickState, row: Mapping[str, Any]) -> list[tuple[GoodsToReturn, Mapping[str, Any]]]:
    said = row.get("left") or {}
    order, quantity = str(row["body"]["orders"]["order_number"]), to_decimal(said.get("left"))
    take = next((t for t in state.lines if (t.order, t.line) == (order, said.get("line_number"))), None)
    if take is None or quantity <= 0:
        return []
    letter = pick_state.tote_letter(state, order)
    place = take.sources_in_hand[0].location if take.sources_in_hand else take.location
    back = GoodsToReturn(letter, "left_over", take.product, take.label, quantity, place, str(row["op_id"]), line=take)
    return [(back, said)]


def resolve_surplus(state: PickState) -> tuple[Effect, ...]:
    """What found no room is back where it belongs."""
    return tuple(Resolve(back.op_id, "by_hand", "put back") for back in state.to_return if back.op_id)
