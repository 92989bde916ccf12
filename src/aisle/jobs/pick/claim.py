"""Whose an order is while it is picked: asked before somebody else's is opened, told when it is taken over.

Opening claims, leaving with nothing picked lets go. A claim forbids nothing: what is in the hand is picked, and two
people's picks are added up.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs.amounts import far, number
from aisle.jobs.base import Close, Context, Effect, Query, Settle, Turn, Write
from aisle.jobs.claim import Claim, claim_of, is_later
from aisle.jobs.pick import hands, offers, passed, picking
from aisle.jobs.pick.history import Back
from aisle.jobs.pick.picking import Picking, Tote, Way
from aisle.jobs.pick.walk import all_own
from aisle.jobs.pick.write import claim
from aisle.jobs.sheet import day_of, happened
from aisle.jobs.told import words
from aisle.jobs.view import ASK, INFO, WRONG, Msg, Verdict, msg

Result = Turn[Picking]

ASKED = ("take_over", "open_free")
"""Ways to open an order that somebody else has, or had while that was asked."""

OTHERS = ("both", "hand_over")
"""Ways on from the news that somebody else has taken an order over."""

_NEVER = "9999"
"""A moment that nothing is younger than."""

LEFT_OVER, REFUSED = "left_over", "refused"
"""The queries for what the service could not take of this round's picks, and of what was put down."""


def asked(state: Picking, tote: Tote, row: Mapping[str, Any], context: Context) -> Result | None:
    """Somebody else works on it: asked about before, told when it happens while the order is in the round, or when he
    leaves it while that is asked."""
    found = claim_of(row, context)
    if found is None:
        return _free_now(state, tote)
    if tote.here:
        return _taken_over(state, tote, found)
    if tote.sure:
        return None
    ways = (Way("take_over", tote.order), *((Way("leave_out", tote.order),) if state.many else ()))
    return Turn(state._replace(ways=ways), (), Verdict(ASK, _question(tote.order, found, row, context)))


def _free_now(state: Picking, tote: Tote) -> Result | None:
    """Whoever had it has left it while that was asked here: nobody may be looking any more, so it does not open by
    itself."""
    at = next((at for at, way in enumerate(state.ways) if way.kind in ASKED and way.key == tote.order), -1)
    if at < 0 or tote.here or tote.sure:
        return None
    if state.ways[at].kind == "open_free":
        return Turn(state)
    ways = (*state.ways[:at], Way("open_free", tote.order), *state.ways[at + 1 :])
    asked = state._replace(ways=ways)
    choice = offers.choices(asked).index(ways[at]) + 1
    return Turn(asked, (), Verdict(ASK, msg("pick.free_now", order=tote.order, choice=choice)))


def _question(order: str, found: Claim, row: Mapping[str, Any], context: Context) -> Msg:
    if not found.who:
        return msg("pick.claimed_plain", order=order)
    if found.same:
        return msg("pick.claimed_by_you", order=order, terminal=found.terminal)
    if not found.since:
        return msg("pick.claimed", order=order, who=found.who)
    done, of = far(row)
    at = happened(found.since, day_of(context.now))
    if not found.terminal:
        return msg("pick.claimed_since", order=order, who=found.who, at=at, done=done, of=of)
    where = found.terminal
    return msg("pick.claimed_at", order=order, who=found.who, at=at, terminal=where, done=done, of=of)


def _taken_over(state: Picking, tote: Tote, found: Claim) -> Result | None:
    """A claim that is younger than ours is told once; the same person's goods go along with the person."""
    if not tote.since or not is_later(found.since, tote.since):
        return None
    if found.same:
        return _taken_along(state, tote, found)
    known = picking.with_tote(state, tote._replace(since=found.since, mine=False))
    count = all_own(take for take in state.takes if take.order == tote.order)
    told = msg("pick.taken_over", order=tote.order, who=found.who, count=count)
    ways = (Way("both", tote.order, found.who), Way("hand_over", tote.order, found.who, quantity=count))
    given = tuple(way for way in state.over if way.kind in offers.GIVEN)
    return Turn(known._replace(over=(*given, *ways)), (), Verdict(ASK, told))


def _taken_along(state: Picking, tote: Tote, found: Claim) -> Result:
    told = Verdict(INFO, msg("pick.taken_along", order=tote.order, terminal=found.terminal))
    rest = picking.without(state, tote.order, "claimed")._replace(back=state.back)
    return Turn(rest, (), told) if rest.totes else Turn(state, (Close(told),))


def accompanied(before: Picking, turn: Result, order: str, row: Mapping[str, Any], context: Context) -> Result:
    """Who else has an order of the round open stands on the page, and is told when he comes or goes."""
    tote = picking.tote_of(turn.state, order)
    if tote is None or not tote.here:
        return turn
    found = claim_of(row, context)
    people = (each for each in row.get("at_work") or () if each["user"] != context.user)
    names = tuple(dict.fromkeys(str(each["name"]) for each in people))
    was = picking.tote_of(before, order)
    state = picking.with_tote(turn.state, tote._replace(beside=names))
    if was is None or not was.here:
        apart = names or (found and not found.same and row.get("claim_open") is not False)
        state = state if apart else hands.all_mine(state, order)
        return _told_beside(turn._replace(state=state), _others(state, order, found, row))
    came = [name for name in names if name not in was.beside]
    gone = [name for name in was.beside if name not in names]
    theirs = Decimal(0)
    if gone and not names:
        theirs = hands.of_others(state, order)
        state = hands.all_mine(state, order)  # whoever left it has handed over what is still picked of it
    answered = () if found else tuple(way for way in state.over if way.key == order and way.kind in OTHERS)
    if answered:
        state = picking.with_tote(state, tote._replace(beside=names, since="", mine=False, looks=True))
        state = state._replace(over=tuple(way for way in state.over if way not in answered))
        gone = [answered[0].label]
    told = msg("pick.beside", order=order, who=", ".join(came)) if came else None
    if gone:
        told = msg("pick.beside_left", order=order, who=", ".join(gone))
    if gone and theirs:
        told = msg("pick.beside_left_hand", order=order, who=", ".join(gone), count=theirs)
    return _told_beside(turn._replace(state=state), told)


def _others(state: Picking, order: str, found: Claim | None, row: Mapping[str, Any]) -> Msg | None:
    """Who else is in orders that are opened; of whoever has one on another host nobody here can tell."""
    if state.phase == "wait":
        return None
    mine = [tote for tote in state.totes if tote.beside]
    if mine:
        return msg("pick.beside", order=mine[0].order, who=", ".join(mine[0].beside))
    away = found is not None and found.who and not found.same and "claim_open" not in row
    return msg("pick.beside_maybe", order=order, who=found.who) if found and away else None


def _told_beside(turn: Result, told: Msg | None) -> Result:
    """Beside what is told anyway; what is asked says who it is about."""
    if told is None or (turn.verdict and turn.verdict.kind == ASK):
        return turn
    if turn.verdict is None:
        return turn._replace(verdict=Verdict(INFO, told))
    return turn._replace(verdict=Verdict(INFO, msg("pick.told_both", what=told, more=turn.verdict.text)))


def opened(turn: Result, order: str, row: Mapping[str, Any], context: Context) -> Result:
    """An order that came into the round and has something to be picked is claimed, unless it is ours already; so is
    one that was taken over with its goods not put down, that whoever has them in hand hears of it."""
    tote = picking.tote_of(turn.state, order)
    if tote is None or not tote.here:
        return turn
    if picking.is_full(turn.state, order) and not (tote.sure and hands.held(turn.state, order)):
        return turn
    ours = row.get("is_claimed") and row.get("claimed_by") == context.user
    if ours and row.get("claimed_terminal") == context.terminal:
        since = str(row.get("claimed_on") or context.now)
        ours_since = tote._replace(since=since, opened=since, mine=True, looks=False)
        return turn._replace(state=picking.with_tote(turn.state, ours_since))
    if tote.looks:
        return turn._replace(state=picking.with_tote(turn.state, tote._replace(opened=context.now)))
    return _claimed(turn, tote, context)


def begun(turn: Result, context: Context) -> Result:
    """An order that was only looked at is claimed with the first thing that is done to it."""
    if not any(tote.looks for tote in turn.state.totes):
        return turn
    writes = (effect for effect in turn.effects if isinstance(effect, Write))
    lanes = {lane for write in writes for lane in write.lanes}
    for tote in turn.state.totes:
        if tote.looks and f"order/{tote.order}" in lanes:
            turn = _claimed(turn, tote, context)
    return turn


def _claimed(turn: Result, tote: Tote, context: Context) -> Result:
    ours = tote._replace(since=context.now, opened=context.now, mine=True, looks=False)
    effects = (claim(tote.order, context.store), *turn.effects)
    return turn._replace(state=picking.with_tote(turn.state, ours), effects=effects)


def let_go(state: Picking, store: str) -> tuple[Effect, ...]:
    """Who leaves orders of which nothing is picked leaves them to others."""
    idle = (tote.order for tote in state.totes if tote.mine and not _begun(state, tote.order))
    return tuple(claim(order, store, claimed=False) for order in idle)


def _begun(state: Picking, order: str) -> bool:
    return any(take.picked or take.closed for take in state.takes if take.order == order)


# What found no room


def left_over(state: Picking) -> tuple[Query, ...]:
    """Asks what of this round the service could not take, and whether that is still to be put back."""
    return _refusals(state, LEFT_OVER, "update-customer-order", *(back.op_id for back in state.back if back.op_id))


def refused(state: Picking) -> tuple[Query, ...]:
    """Asks what of it was put down by what the service refused, also for orders that have left it."""
    passed_on = passed.put_down_by(state).values()
    if not passed_on and not any(step.laid for step in state.history):
        return ()
    return _refusals(state, REFUSED, "create-movement", moments=passed_on)


def _refusals(state: Picking, id_: str, operation: str, *known: str, moments: Iterable[str] = ()) -> tuple[Query, ...]:
    """Asks for those since the round began, or since the first of these moments."""
    ours = (*(tote.opened or tote.since for tote in state.totes), *moments)
    since = min((moment for moment in ours if moment), default="")
    if not since and not known:
        return ()
    args = {"operation": operation, "since": since or _NEVER}
    return (Query(id_, "refusals", {**args, "ops": list(known)} if known else args),)


def told_refused(state: Picking, rows: tuple[Mapping[str, Any], ...], context: Context) -> Result:
    """Goods that were put down by what the service did not take are in hand again; the lines of the round say so
    themselves, what was put down for somebody else is asked for again."""
    mine, passed_on = {tote.order for tote in state.totes}, passed.put_down_by(state)
    last = None
    for row in rows:
        order, place = _end_of(row)
        ours = order in mine or (order in passed_on and row["user"] == context.user)
        if ours and row["op_id"] not in state.told:
            state = passed.not_put_down(state._replace(told=(*state.told, str(row["op_id"]))), order, place)
            last = msg("pick.put_refused", order=order, place=place, why=words(str(row["why"])))
    return Turn(state, (), Verdict(WRONG, last) if last else None)


def _end_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """The order that a movement was for, and the place where it went."""
    end = next((item.get("to_location") or {} for item in row["body"]), {})
    return str(end.get("customer_order_number") or ""), str(end.get("location_code") or "")


def told_left_over(state: Picking, rows: tuple[Mapping[str, Any], ...], context: Context) -> Result:
    """Somebody else has picked a line full meanwhile: what is too many in the hand of whoever came second is to be put
    back by him alone."""
    mine = [row for row in rows if row["user"] == context.user and row["op_id"] not in state.told]
    found = [back for row in mine for back in _too_many(state, row)]
    if not found:
        return _settled_elsewhere(state, {row["op_id"] for row in rows})
    last, row = found[-1]
    told = tuple(dict.fromkeys((*state.told, *(back.op_id for back, _ in found))))
    by = str(row.get("picked_username") or "")
    who = "" if by == context.user else str(row.get("picked_name") or by)
    done, of = number(row.get("picked_quantity")), number(row.get("quantity"))
    text = msg("pick.left_over", label=last.label, done=done, of=of, count=last.quantity)
    if who:
        text = msg("pick.left_over_by", label=last.label, done=done, of=of, who=who, count=last.quantity)
    for back, _ in found:
        state = _out_of_hand(state, back)
    state = state._replace(back=(*state.back, *(back for back, _ in found)), told=told, ways=())
    return Turn(state, (), Verdict(WRONG, text))


def _settled_elsewhere(state: Picking, open_: Collection[str]) -> Result:
    """What was answered for at another terminal, or in the list of what is in doubt, is asked for no more."""
    back = tuple(back for back in state.back if not back.op_id or back.op_id in open_)
    if back == state.back:
        return Turn(state)
    told = Verdict(INFO, msg("pick.back_settled"))
    if not back and not state.totes:
        return Turn(state, (Close(told),))
    return Turn(state._replace(back=back, ways=()), (), told)


def _out_of_hand(state: Picking, back: Back) -> Picking:
    """What found no room is on no line: it is asked for by itself."""
    line = back.line
    mine = line and (line.order, line.line)
    takes = (
        take._replace(mine=max(Decimal(0), take.mine - back.quantity)) if (take.order, take.line) == mine else take
        for take in state.takes
    )
    return state._replace(takes=tuple(takes))


def _too_many(state: Picking, row: Mapping[str, Any]) -> list[tuple[Back, Mapping[str, Any]]]:
    said = row.get("left") or {}
    order, quantity = str(row["body"]["orders"]["order_number"]), number(said.get("left"))
    take = next((t for t in state.takes if (t.order, t.line) == (order, said.get("line_number"))), None)
    if take is None or quantity <= 0:
        return []
    letter = picking.letter_of(state, order)
    place = take.origins[0].place if take.origins else take.place
    back = Back(letter, "left_over", take.product, take.label, quantity, place, str(row["op_id"]), line=take)
    return [(back, said)]


def settled(state: Picking) -> tuple[Effect, ...]:
    """What found no room is back where it belongs."""
    return tuple(Settle(back.op_id, "by_hand", "put back") for back in state.back if back.op_id)
