"""Taking over of claimed orders in a pick: claims, and other pickers who have the same order open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aisle.jobs.claim import Claim, is_later, parse_claim
from aisle.jobs.job import Close, Context, Effect, Turn, Write, reply
from aisle.jobs.pick import goods_in_hand, offered_choices, pick_state, unanswered_question
from aisle.jobs.pick.operations import claim_write
from aisle.jobs.pick.pick_line import sum_own_in_hand
from aisle.jobs.pick.pick_state import PickChoice, PickState, Result, Tote
from aisle.jobs.store_time import store_day, time_message
from aisle.jobs.sums_of_goods_and_progress import goods_text, order_goods
from aisle.jobs.view import ASK, INFO, Msg, Verdict, msg

if TYPE_CHECKING:
    from aisle.jobs.row_types.orders import OrderRow


OPEN_CHOICES = ("take_over", "open_free")
"""Kinds of choices that open an order claimed by another picker, or released while the question was open."""

TAKEN_OVER_CHOICES = ("both", "hand_over")
"""Kinds of choices offered when another picker has taken an order over."""


def check_claim(state: PickState, tote: Tote, row: OrderRow, context: Context) -> Result | None:
    """Handle a claim of another picker. Ask before the order is opened, report it if the order is already in the pick,
    and update the question if the claim is released."""
    found = parse_claim(row, context)
    if found is None:
        return _ask_free_now(state, tote)
    if tote.has_lines:
        return _report_taken_over(state, tote, found, is_elsewhere=is_claimed_elsewhere(row))
    if tote.is_confirmed:
        return None
    choices = (PickChoice("take_over", tote.order), *((PickChoice("leave_out", tote.order),) if state.is_batch else ()))
    return Turn(state._replace(choices=choices), (), Verdict(ASK, _claim_question(tote.order, found, row, context)))


def is_claimed_elsewhere(row: OrderRow) -> bool:
    """Return True if the claim was made on another host, so that nobody here knows if the work goes on."""
    return "is_claim_active" not in row


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
    goods = order_goods(row)
    done, of = goods_text(goods.picked), goods_text(goods.ordered)
    at = time_message(claim_found.since, store_day(context.now))
    if not claim_found.terminal:
        return msg("pick.claimed_since", order=order, who=claim_found.name, at=at, done=done, of=of)
    where = claim_found.terminal
    return msg("pick.claimed_at", order=order, who=claim_found.name, at=at, terminal=where, done=done, of=of)


def _report_taken_over(state: PickState, tote: Tote, claim_found: Claim, *, is_elsewhere: bool) -> Result | None:
    """Report a claim later than the own one, once; if it is the same user's, the order leaves with its goods."""
    if not tote.claimed_since or not is_later(claim_found.since, tote.claimed_since):
        return None
    if claim_found.is_own:
        return _leave_to_own_terminal(state, tote, claim_found)
    tote = tote._replace(claimed_since=claim_found.since, is_own_claim=False)
    updated = pick_state.with_tote(state, with_picker_elsewhere(tote, claim_found.name) if is_elsewhere else tote)
    count = sum_own_in_hand(line for line in state.lines if line.order == tote.order)
    text = msg("pick.taken_over", order=tote.order, who=claim_found.name, count=count)
    choices = (
        PickChoice("both", tote.order, claim_found.name),
        PickChoice("hand_over", tote.order, claim_found.name, quantity=count),
    )
    assignments = tuple(
        choice for choice in state.take_over_choices if choice.kind in unanswered_question.ASSIGNED_CHOICES
    )
    return Turn(updated._replace(take_over_choices=(*assignments, *choices)), (), Verdict(ASK, text))


def with_picker_elsewhere(tote: Tote, *names: str) -> Tote:
    """Return the tote with these pickers on other hosts."""
    return tote._replace(pickers_elsewhere=tuple(dict.fromkeys((*tote.pickers_elsewhere, *names))), is_shared=True)


def _leave_to_own_terminal(state: PickState, tote: Tote, claim_found: Claim) -> Result:
    verdict = Verdict(INFO, msg("pick.moved_to_terminal", order=tote.order, terminal=claim_found.terminal))
    rest = goods_in_hand.without_order(state, tote.order, "claimed")._replace(to_return=state.to_return)
    return Turn(rest, (), verdict) if rest.totes else Turn(state, (Close(verdict),))


def claim_opened(turn: Result, order: str, row: OrderRow, context: Context) -> Result:
    """Claim an order that came into the pick with open lines, unless the claim is already this terminal's. Also claim
    an order that was taken over with goods in hand, so that the other picker is notified."""
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
    return any(line.picked or line.is_closed for line in state.lines if line.order == order)
