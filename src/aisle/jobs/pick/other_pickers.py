"""Other pickers of the orders of a pick: claims, who has one open, and taking over of claimed orders.

Goods in hand for their orders: `excess_and_goods_for_others`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aisle.jobs.claim import Claim, is_later, parse_claim
from aisle.jobs.job import Close, Context, Effect, Turn, Write, reply
from aisle.jobs.pick import open_question_and_choices, pick_state, stops_and_goods_in_hand
from aisle.jobs.pick.excess_and_goods_for_others import is_excess_asked
from aisle.jobs.pick.pick_line import sum_own_in_hand
from aisle.jobs.pick.pick_state import PickChoice, PickState, Result, Tote
from aisle.jobs.pick.picked_quantities_and_operations import claim_write
from aisle.jobs.store_time import store_day, time_message
from aisle.jobs.sums_of_goods_and_progress import GoodsSum, goods_text, order_goods
from aisle.jobs.view import ASK, INFO, Msg, Verdict, msg

if TYPE_CHECKING:
    from aisle.jobs.row_types.orders import OrderRow


def track_others(before: PickState, turn: Result, order: str, row: OrderRow, context: Context) -> Result:
    """Show who else has an order open, and report it when somebody opens or leaves it."""
    tote = pick_state.find_tote(turn.state, order)
    if tote is None or not tote.has_lines:
        return turn
    found = parse_claim(row, context)
    others = (each for each in row.get("at_work") or () if each["user"] != context.user)
    names = tuple(dict.fromkeys(str(each["name"]) for each in others))
    was = pick_state.find_tote(before, order)
    tote = tote._replace(other_pickers=names)
    if was is None or not was.has_lines:
        return _with_others_message(*_open_shared(turn, tote, found, row))
    if not (names or was.other_pickers):
        tote = _with_pickers_seen(turn.state, tote, row, context)
    state = pick_state.with_tote(turn.state, tote)
    joined = [name for name in (*names, *tote.pickers_elsewhere) if name not in _known_pickers(was)]
    left = [name for name in was.other_pickers if name not in names]
    theirs = GoodsSum()
    if left and not names and not tote.is_shared:
        theirs = stops_and_goods_in_hand.goods_of_others(state, order)
        state = stops_and_goods_in_hand.take_as_own(state, order)  # who left it has handed over what is still in hand
    answered = (
        ()
        if found
        else tuple(
            choice for choice in state.take_over_choices if choice.key == order and choice.kind in TAKEN_OVER_CHOICES
        )
    )
    if answered:
        state = pick_state.with_tote(
            state, tote._replace(pickers_elsewhere=(), claimed_since="", is_own_claim=False, is_only_viewed=True)
        )
        state = state._replace(
            take_over_choices=tuple(choice for choice in state.take_over_choices if choice not in answered)
        )
        left = [answered[0].label]
    text = msg("pick.other_picker", order=order, who=", ".join(joined)) if any(joined) else None
    if is_excess_asked(state):  # its report is not replaced by a report of what led to it
        text, turn = None, turn._replace(verdict=_without_change_report(turn.verdict))
    if left:
        text = msg("pick.other_picker_left", order=order, who=", ".join(left))
    if left and theirs != GoodsSum():
        text = msg("pick.other_picker_left_goods", order=order, who=", ".join(left), count=goods_text(theirs))
    return _with_others_message(turn._replace(state=state), text)


def _without_change_report(verdict: Verdict | None) -> Verdict | None:
    """Return a verdict unless it only says that a line was changed elsewhere."""
    return None if verdict and verdict.text.id == "pick.changed" else verdict


def _open_shared(turn: Result, tote: Tote, claim_found: Claim | None, row: OrderRow) -> tuple[Result, Msg | None]:
    """Return the turn of an opened order, whose goods are this picker's unless another picker may have them."""
    is_claimed = claim_found is not None and not claim_found.is_own and row.get("is_claim_active") is not False
    tote = tote._replace(is_shared=is_claimed and is_claimed_elsewhere(row))
    state = pick_state.with_tote(turn.state, tote)
    state = state if tote.other_pickers or is_claimed else stops_and_goods_in_hand.take_as_own(state, tote.order)
    return turn._replace(state=state), _others_message(state, tote.order, claim_found, row)


def _known_pickers(tote: Tote) -> tuple[str, ...]:
    return (*tote.other_pickers, *tote.pickers_elsewhere)


def _with_pickers_seen(state: PickState, tote: Tote, row: OrderRow, context: Context) -> Tote:
    """Return the tote with the pickers on other hosts whose goods in hand a certain read shows."""
    own = {line.line: line.own_picked for line in state.lines if line.order == tote.order and line.has_stock}
    in_hand = {line.line: line.in_hand for line in state.lines if line.order == tote.order}
    if row.get("unsure") or tote.is_uncertain or not any(in_hand[number] > own[number] for number in own):
        return tote
    rows = [each for each in row["lines"] if in_hand.get(each["line_number"], 0) > own.get(each["line_number"], 0)]
    names = {
        str(each.get("picked_name") or "")
        for each in rows
        if not each.get("picked_username") or each["picked_username"] != context.user
    }
    names = names - {""} or (set() if tote.pickers_elsewhere else names)
    return with_picker_elsewhere(tote, *sorted(names))


def _others_message(state: PickState, order: str, claim_found: Claim | None, row: OrderRow) -> Msg | None:
    """Return the message about other pickers in opened orders; those on another host can only be guessed."""
    if state.phase == "wait":
        return None
    shared = [tote for tote in state.totes if tote.other_pickers]
    if shared:
        return msg("pick.other_picker", order=shared[0].order, who=", ".join(shared[0].other_pickers))
    is_elsewhere = claim_found is not None and claim_found.name and not claim_found.is_own and is_claimed_elsewhere(row)
    return msg("pick.other_picker_maybe", order=order, who=claim_found.name) if claim_found and is_elsewhere else None


def _with_others_message(turn: Result, message: Msg | None) -> Result:
    """Add the message to the turn's verdict; a question stays alone."""
    if message is None or (turn.verdict and turn.verdict.kind == ASK):
        return turn
    if turn.verdict is None:
        return turn._replace(verdict=Verdict(INFO, message))
    return turn._replace(verdict=Verdict(INFO, msg("pick.join", what=message, more=turn.verdict.text)))


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
    choice = open_question_and_choices.open_choices(state_asked).index(choices[at]) + 1
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
        choice for choice in state.take_over_choices if choice.kind in open_question_and_choices.ASSIGNED_CHOICES
    )
    return Turn(updated._replace(take_over_choices=(*assignments, *choices)), (), Verdict(ASK, text))


def with_picker_elsewhere(tote: Tote, *names: str) -> Tote:
    """Return the tote with these pickers on other hosts."""
    return tote._replace(pickers_elsewhere=tuple(dict.fromkeys((*tote.pickers_elsewhere, *names))), is_shared=True)


def _leave_to_own_terminal(state: PickState, tote: Tote, claim_found: Claim) -> Result:
    verdict = Verdict(INFO, msg("pick.moved_to_terminal", order=tote.order, terminal=claim_found.terminal))
    rest = stops_and_goods_in_hand.without_order(state, tote.order, "claimed")._replace(to_return=state.to_return)
    return Turn(rest, (), verdict) if rest.totes else Turn(state, (Close(verdict),))


def claim_opened(turn: Result, order: str, row: OrderRow, context: Context) -> Result:
    """Claim an order that came into the pick with open lines, unless the claim is already this terminal's. Also claim
    an order that was taken over with goods in hand, so that the other picker is notified."""
    tote = pick_state.find_tote(turn.state, order)
    if tote is None or not tote.has_lines:
        return turn
    if pick_state.is_order_picked(turn.state, order) and not (
        tote.is_confirmed and stops_and_goods_in_hand.pieces_in_hand(turn.state, order)
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
