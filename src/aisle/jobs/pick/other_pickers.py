"""Other pickers of the orders of a pick: who else has one open, and messages about them.

Goods in hand for their orders: `goods_for_other_pickers`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aisle.jobs.claim import Claim, parse_claim
from aisle.jobs.job import Context
from aisle.jobs.pick import goods_in_hand, pick_state
from aisle.jobs.pick.claim_release_and_take_over import TAKEN_OVER_CHOICES, is_claimed_elsewhere, with_picker_elsewhere
from aisle.jobs.pick.excess_and_refused_put_downs import is_excess_asked
from aisle.jobs.pick.pick_state import PickState, Result, Tote
from aisle.jobs.sums_of_goods_and_progress import GoodsSum, goods_text
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
        theirs = goods_in_hand.goods_of_others(state, order)
        state = goods_in_hand.take_as_own(state, order)  # who left it has handed over what is still in hand
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
    state = state if tote.other_pickers or is_claimed else goods_in_hand.take_as_own(state, tote.order)
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
