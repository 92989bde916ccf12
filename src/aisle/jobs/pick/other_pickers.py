"""Other pickers of the orders of a pick: who else has one open, and goods in hand for orders that others have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING

from aisle.jobs import goods_messages
from aisle.jobs.claims_and_assignments import Claim, parse_claim
from aisle.jobs.job import Close, Context, Turn, reply
from aisle.jobs.pick import goods_to_put_down, operations, pick_state
from aisle.jobs.pick.pick_state import (
    PUT_DOWN_BY_OTHER,
    GoodsToReturn,
    PickState,
    Tote,
    UndoStep,
    add_undo_step,
)
from aisle.jobs.pick.take_over import TAKEN_OVER_CHOICES, is_claimed_elsewhere, with_picker_elsewhere
from aisle.jobs.quantities_and_plausibility import to_decimal
from aisle.jobs.sums_of_goods_and_progress import GoodsSum, goods_text
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Msg, Verdict, msg, undo_verdict

if TYPE_CHECKING:
    from aisle.jobs.row_types.orders import OrderLineRow, OrderRow


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
        return msg("pick.choice_put_back_all")
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
    """Return True if the goods count as picked for another picker's order; excess counts for none."""
    return goods.is_for_other_picker or goods.reason == PUT_DOWN_BY_OTHER


def _line_key(goods: GoodsToReturn) -> tuple[str, int]:
    return goods.order, goods.line.line if goods.line else 0


def _last_location(line: OrderLineRow) -> str:
    kept = [str(each["location_code"]) for each in line.get("put_down") or () if to_decimal(each.get("quantity")) > 0]
    return kept[-1] if kept else ""


def track_others(before: PickState, turn: GoodsTurn, order: str, row: OrderRow, context: Context) -> GoodsTurn:
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
        theirs = goods_to_put_down.goods_of_others(state, order)
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
            state, tote._replace(pickers_elsewhere=(), claimed_since="", is_own_claim=False, is_only_viewed=True)
        )
        state = state._replace(
            take_over_choices=tuple(choice for choice in state.take_over_choices if choice not in answered)
        )
        left = [answered[0].label]
    text = msg("pick.other_picker", order=order, who=", ".join(joined)) if any(joined) else None
    if left:
        text = msg("pick.other_picker_left", order=order, who=", ".join(left))
    if left and theirs != GoodsSum():
        text = msg("pick.other_picker_left_goods", order=order, who=", ".join(left), count=goods_text(theirs))
    return _with_others_message(turn._replace(state=state), text)


def _open_shared(turn: GoodsTurn, tote: Tote, claim_found: Claim | None, row: OrderRow) -> tuple[GoodsTurn, Msg | None]:
    """Return the turn of an opened order, whose goods are this picker's unless another picker may have them."""
    is_claimed = claim_found is not None and not claim_found.is_own and row.get("is_claim_active") is not False
    tote = tote._replace(is_shared=is_claimed and is_claimed_elsewhere(row))
    state = pick_state.with_tote(turn.state, tote)
    state = state if tote.other_pickers or is_claimed else goods_to_put_down.take_as_own(state, tote.order)
    return turn._replace(state=state), _others_message(state, tote.order, claim_found, row)


def _known_pickers(tote: Tote) -> tuple[str, ...]:
    return (*tote.other_pickers, *tote.pickers_elsewhere)


def _with_pickers_seen(state: PickState, tote: Tote, row: OrderRow, context: Context) -> Tote:
    """Return the tote with the pickers on other hosts whose goods in hand a certain read shows."""
    own = {take.line: take.own_picked for take in state.lines if take.order == tote.order and take.has_stock}
    in_hand = {take.line: take.in_hand for take in state.lines if take.order == tote.order}
    if row.get("unsure") or tote.is_uncertain or not any(in_hand[line] > own[line] for line in own):
        return tote
    lines = [line for line in row["lines"] if in_hand.get(line["line_number"], 0) > own.get(line["line_number"], 0)]
    names = {
        str(line.get("picked_name") or "")
        for line in lines
        if not line.get("picked_username") or line["picked_username"] != context.user
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


def _with_others_message(turn: GoodsTurn, message: Msg | None) -> GoodsTurn:
    """Add the message to the turn's verdict; a question stays alone."""
    if message is None or (turn.verdict and turn.verdict.kind == ASK):
        return turn
    if turn.verdict is None:
        return turn._replace(verdict=Verdict(INFO, message))
    return turn._replace(verdict=Verdict(INFO, msg("pick.join", what=message, more=turn.verdict.text)))
