"""Orders of a pick: loading, merging changes from the cache, and changes made by supervisors.

A supervisor may set a priority, release or reject an order, or assign it to another picker. All of it arrives as
changed rows of the orders (aisle.cache.people_and_claim_queries); the picker is notified and continues.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from aisle import named_tuple_json
from aisle.jobs.claim import is_later
from aisle.jobs.job import Close, Context, Effect, LocalNote, Query, Refresh, Start, Turn, reply
from aisle.jobs.log_writes_and_refusals import MAX_REPORTED
from aisle.jobs.pick import (
    excess_and_goods_for_others,
    other_pickers,
    pick_state,
    rejected_scans_and_quantities,
    stops_and_goods_in_hand,
)
from aisle.jobs.pick.pick_line import PickLine, is_nothing_picked, move_line, parse_lines
from aisle.jobs.pick.pick_state import PickChoice, PickState, Result, Tote
from aisle.jobs.pick.picked_quantities_and_operations import fillable_lines, moved_stop_step
from aisle.jobs.typed_numbers_dates_and_letters import MAX_CHOICES
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Msg, Verdict, msg
from aisle.stored_messages import read_message

if TYPE_CHECKING:
    from aisle.jobs.row_types.orders import AssignedOrdersRow, OrderRow, OrderToPickRow, RefusalOfUserRow


REJECTED_REOPENED = "rejected_reopened"
"""Reason for putting goods back whose order was reopened with nothing picked."""

ASSIGNED_QUERY = "assigned_orders"
"""Id of the query for orders that were assigned to this user."""


def query_assigned(context: Context) -> Query:
    """Return the query for the orders assigned to the signed-in user."""
    return Query(ASSIGNED_QUERY, "assigned_orders", {"user": context.user})


def is_reassigned(tote: Tote, row: OrderRow, context: Context) -> bool:
    """Return True if an order of this pick was assigned to another user since it was opened here."""
    assignee = str(row.get("assigned_to") or "")
    since = tote.opened_at or tote.claimed_since
    return bool(
        tote.has_lines and assignee and assignee != context.user and is_later(str(row.get("assigned_on") or ""), since)
    )


def report_assigned(state: PickState, rows: Iterable[AssignedOrdersRow]) -> Result:
    """Ask the picker if orders newly assigned to them shall be added to the pick; work continues meanwhile. Orders
    without a free choice on the page are asked about later; those that cannot be added are named one by one."""
    new = [row for row in rows if _report_key(row) not in state.reported_refusals]
    here = [row for row in new if pick_state.find_tote(state, str(row["order_number"]))]
    can_add = bool(state.totes and pick_state.next_tote_letter(state))
    fresh = [row for row in new if row not in here][: _free_choices(state) if can_add else 1]
    reported = (*state.reported_refusals, *map(_report_key, (*here, *fresh)))
    state = state._replace(reported_refusals=reported[-MAX_REPORTED:])
    if not fresh:
        return Turn(state)
    order, assigner = str(fresh[-1]["order_number"]), str(fresh[-1]["by"])
    verdict = Verdict(ASK, msg("pick.assigned", order=order, who=assigner))
    if not can_add:
        return Turn(state, (), verdict)
    choices = tuple(PickChoice("take_in", str(row["order_number"])) for row in fresh)
    questions = (
        (*state.take_over_choices, *choices)
        if PickChoice("later") in state.take_over_choices
        else (*state.take_over_choices, *choices, PickChoice("later"))
    )
    return Turn(state._replace(take_over_choices=questions), (), verdict)


def _free_choices(state: PickState) -> int:
    """Return the number of further orders that can be asked about; one choice is reserved for "later"."""
    return MAX_CHOICES - 1 - sum(choice.kind == "take_in" for choice in state.take_over_choices)


def _report_key(row: AssignedOrdersRow) -> str:
    return f"{ASSIGNED_QUERY}/{row['order_number']}/{row['at']}"


def clear_assignment(turn: Result, order: str, row: OrderRow) -> Result:
    """Clear the assignment note of an order that is now open here."""
    if not row.get("assigned_to"):
        return turn
    return turn._replace(effects=(LocalNote("assigned", order, ""), *turn.effects))


def report_order_changes(before: Tote, turn: Result, row: OrderRow) -> Result:
    """Report that an order of the pick has got or lost priority, or was released by a supervisor."""
    is_priority = bool(row.get("is_priority"))
    tote = pick_state.find_tote(turn.state, before.order)
    if tote is None:
        return turn
    if is_priority != tote.is_priority:
        turn = _raise_priority(turn, tote._replace(is_priority=is_priority), row)
        tote = tote._replace(is_priority=is_priority)
    is_released = not row.get("is_claimed") and is_later(
        str(row.get("released_on") or ""), tote.opened_at or tote.claimed_since
    )
    if tote.is_own_claim and is_released and not pick_state.is_order_picked(turn.state, tote.order):
        free = pick_state.with_tote(turn.state, tote._replace(is_own_claim=False, is_only_viewed=True))
        return turn._replace(state=free, verdict=Verdict(INFO, msg("pick.released", order=tote.order)))
    return turn


def report_reopened(state: PickState, order: str, row: OrderRow | None) -> Result:
    """Report that the rejection of an order that left the pick was reverted; its goods still have to be put back."""
    mine = [
        goods
        for goods in state.to_return
        if goods.order == order and goods.is_unassigned and goods.reason != REJECTED_REOPENED
    ]
    if not mine or not row or row.get("is_rejected") or not row.get("is_active", True):
        return Turn(state)
    goods = tuple(each._replace(reason=REJECTED_REOPENED) if each in mine else each for each in state.to_return)
    count = sum((each.quantity for each in mine), Decimal(0))
    return reply(state._replace(to_return=goods), INFO, "pick.reopened_order", order=order, count=count)


def _raise_priority(turn: Result, tote: Tote, row: OrderRow) -> Result:
    """Move the order's stops to the front, or back; the stop on the screen is finished first."""
    state = pick_state.with_tote(turn.state, tote)
    state = stops_and_goods_in_hand.with_lines(state, state.lines) if state.phase == "picking" else state
    if pick_state.is_order_picked(state, tote.order):
        return turn._replace(state=state)
    text = msg("pick.no_priority", order=tote.order)
    if tote.is_priority:
        name = str(row.get("priority_by") or "")
        batch_text = msg("pick.priority_batch", order=tote.order, who=name, tote=tote.letter)
        text = batch_text if state.is_batch else msg("pick.priority", order=tote.order, who=name)
    if turn.verdict and turn.verdict.kind == ASK:  # an open question stays open
        return turn._replace(state=state, verdict=Verdict(ASK, msg("pick.join", what=turn.verdict.text, more=text)))
    return turn._replace(state=state, verdict=Verdict(INFO, text))


REDIRECTED = "redirected"
"""Topic of the local note on lines that are picked at another location than planned."""

RedirectedLines = dict[str, list[tuple[str, str, int]]]
"""Content of that note by user: (line number, location, pool) of each line moved by that user."""


def keep_redirections(turn: Result, context: Context) -> Result:
    """Store the moved stops of orders that this picker leaves, so that they are restored on return."""
    if not any(isinstance(effect, Close) for effect in turn.effects):
        return turn
    notes = []
    for tote in turn.state.totes:
        moved = [(str(line.line), line.location, line.pool) for line in _redirected_lines(turn.state, tote.order)]
        if moved:
            notes.append(LocalNote(REDIRECTED, tote.order, named_tuple_json.to_text({context.user: moved})))
    return turn._replace(effects=(*notes, *turn.effects)) if notes else turn


def _redirected_lines(state: PickState, order: str) -> list[PickLine]:
    """Return the open lines whose location differs from that at the opening of the order."""
    first: dict[tuple[str, int], tuple[str, int]] = {}
    for step in state.history:
        for source in step.sources_before:
            first.setdefault((source.order, source.line), (source.location, source.pool))
    lines = (line for line in state.lines if line.order == order and line.is_open)
    return [
        line
        for line in lines
        if (line.location, line.pool) != first.get((order, line.line), (line.location, line.pool))
    ]


def restore_redirections(
    state: PickState, fresh: tuple[PickLine, ...], row: OrderRow, context: Context
) -> tuple[PickState, tuple[PickLine, ...], tuple[LocalNote, ...]]:
    """Move the lines of an opened order to where this user picked them before, as steps that can be undone. Also return
    the note that clears what was stored."""
    text = str(row.get(REDIRECTED) or "")
    moved_lines = named_tuple_json.from_text(RedirectedLines, text).get(context.user) if text else None
    if moved_lines is None:
        return state, fresh, ()
    locations = {int(number): (location, pool) for number, location, pool in moved_lines}
    lines = tuple(
        move_line(line, *locations[line.line], fresh) if _is_redirected(line, locations) else line for line in fresh
    )
    stops: dict[Any, list[PickLine]] = {}
    for line in fresh:
        if _is_redirected(line, locations):
            stops.setdefault(line.stop_key, []).append(line)
    for lines_before in stops.values():
        state = pick_state.add_undo_step(state, moved_stop_step(lines_before))
    return state, lines, (LocalNote(REDIRECTED, str(row["order_number"]), ""),)


def _is_redirected(line: PickLine, locations: Mapping[int, tuple[str, int]]) -> bool:
    return line.is_open and line.line in locations and (line.location, line.pool) != locations[line.line]


ORDER_QUERY_PREFIX = "order/"
"""Prefix of the ids of order queries; the order number follows."""

LEAVE_TEXTS = {
    "rejected": "pick.rejected",
    "rejected_here": "pick.rejected",
    "finished": "pick.handed_over_now",
    "handed": "pick.handed_over_now",
    "claimed": "pick.claimed_now",
    "assigned": "pick.reassigned",
    "no_order": "pick.no_order",
    "empty": "pick.empty",
    "left_out": "pick.left",
}
"""Messages by the reason why an order leaves."""


def query_orders(orders: Iterable[str], *, refresh: bool = True) -> tuple[Effect, ...]:
    """Return queries and refreshes of orders, last to first, because answers arrive in reverse order."""
    effects: list[Effect] = []
    for order in reversed(list(orders)):
        effects.append(Query(ORDER_QUERY_PREFIX + order, "order_to_pick", {"order_number": order}))
        effects += [Refresh("order", order)] if refresh else []
    return tuple(effects)


def query_all_orders(state: PickState, *, refresh: bool = True) -> tuple[Effect, ...]:
    """Return the queries for all orders of the pick, and those that have left it with goods in hand."""
    left_orders = dict.fromkeys(
        goods.order for goods in state.to_return if goods.is_unassigned or goods.is_picked_for_other
    )
    return query_orders((*(tote.order for tote in state.totes), *left_orders), refresh=refresh)


def update_order(state: PickState, order: str, row: OrderToPickRow | None, context: Context) -> Result:
    """Update the pick with an order's row: the cached order with pending operations laid over it."""
    tote = pick_state.find_tote(state, order)
    if tote is None:
        told = excess_and_goods_for_others.track_put_down_by_others(state, order, row)
        return told if told.verdict else report_reopened(state, order, row)
    if row is None:
        # An order whose lines are known continues with them.
        return Turn(state, (Refresh("order", order),)) if tote.has_lines else remove_order(state, tote, "no_order")
    state = state._replace(learns_locations=row.get("learns_locations", True))
    if _is_handed_over(state, tote, row):
        return remove_order(state, tote, "handed", kind=GOOD)
    if row.get("is_rejected") or not row.get("is_active", True):
        return remove_order(state, tote, "rejected" if row.get("is_rejected") else "finished")
    if is_reassigned(tote, row, context):
        return remove_order(state, tote, "assigned", str(row.get("assigned_name") or row["assigned_to"]))
    row_lines = parse_lines(row.get("lines") or (), order, context.policy.weight_tolerance)
    if _waits_for_customer(state, tote, row_lines):
        return Turn(state, (Close(start=Start("hand_over", {"order_number": order})),))
    if not tote.has_lines and _is_done(state, row_lines):
        row = {**row, "is_claimed": False}  # all is picked and put down: there is nothing to take over
    claim = other_pickers.check_claim(state, tote, row, context)
    if claim:
        reported = report_order_changes(tote, claim, row) if tote.has_lines else claim
        return other_pickers.track_others(state, reported, order, row, context)
    tote = tote._replace(customer=str(row.get("customer_name") or ""), comment=str(row.get("comment") or ""))
    if not row.get("lines_known", True):
        return Turn(pick_state.with_tote(state, tote))
    if not row_lines:
        return remove_order(state, tote, "empty")
    before, tote = tote, _with_own_changes(tote, row, context.user)
    if tote.has_lines:
        is_own = (tote.last_movement, tote.last_refusal) != (before.last_movement, before.last_refusal)
        merged = _merge_lines(state, tote, row_lines, is_uncertain=bool(row.get("unsure")), is_own=is_own)
        turn = report_order_changes(tote, _report_refusal(merged, before, row, context.user), row)
    else:
        state, row_lines, notes = restore_redirections(state, row_lines, row, context)
        added = _add_order(state, tote._replace(has_lines=True, is_priority=bool(row.get("is_priority"))), row_lines)
        turn = clear_assignment(other_pickers.claim_opened(added, order, row, context), order, row)
        turn = turn._replace(effects=(*notes, *turn.effects))
    return other_pickers.track_others(state, turn, order, row, context)


def _with_own_changes(tote: Tote, row: OrderToPickRow, user: str) -> Tote:
    moved, refusal = int((row.get("moved_by") or {}).get(user) or 0), _refusal_of_user(row, user)
    refused = refusal["n"] if refusal else 0
    return tote._replace(last_movement=max(moved, tote.last_movement), last_refusal=max(refused, tote.last_refusal))


def _refusal_of_user(row: OrderToPickRow, user: str) -> RefusalOfUserRow | None:
    return (row.get("refused_by") or {}).get(user)


def _report_refusal(turn: Result, before: Tote, row: OrderToPickRow, user: str) -> Result:
    """Report what the service refused, unless the turn has another verdict; the lines are already reset."""
    after, refused = pick_state.find_tote(turn.state, before.order), _refusal_of_user(row, user)
    if turn.verdict is not None or after is None or after.last_refusal == before.last_refusal:
        return turn
    return turn._replace(
        verdict=Verdict(
            WRONG, msg("receive.refused", label=before.order, why=read_message(refused["why"] if refused else ""))
        )
    )


def _is_handed_over(state: PickState, tote: Tote, row: OrderRow) -> bool:
    if row.get("is_rejected") or row.get("is_active", True) or not tote.has_lines:
        return False
    return pick_state.is_order_picked(state, tote.order) and not stops_and_goods_in_hand.has_goods_to_put_down(
        state, tote.order
    )


def _is_done(state: PickState, fresh: tuple[PickLine, ...]) -> bool:
    """Return True if the order is picked and put down entirely and no question about it is open."""
    if not fresh or any(choice.key == fresh[0].order for choice in state.choices):
        return False
    return not any(line.is_incomplete or line.in_hand for line in fresh)


def _waits_for_customer(state: PickState, tote: Tote, fresh: tuple[PickLine, ...]) -> bool:
    """Return True if the only order was opened with all of it picked and put down: only its customer is awaited."""
    is_opened = not tote.has_lines and not state.is_batch and state.phase == "wait"
    return is_opened and _is_done(state, fresh) and any(line.picked for line in fresh)


def _add_order(state: PickState, tote: Tote, fresh: tuple[PickLine, ...]) -> Result:
    waiting = state.phase == "wait"
    state = pick_state.with_tote(state, tote)
    if waiting:
        return start_when_ready(state._replace(lines=(*state.lines, *fresh)))
    joined = stops_and_goods_in_hand.with_lines(state, [*state.lines, *fresh])
    joined = joined._replace(choices=state.choices if _is_same_stop(state, joined) else ())
    open_ = sum(line.is_open for line in fresh)
    return reply(joined, GOOD, "pick.joined", tote=tote.letter, order=tote.order, count=open_)


def start_when_ready(state: PickState) -> Result:
    """Start the walk once the lines of all orders are known."""
    if not state.totes or not all(tote.has_lines for tote in state.totes):
        return Turn(state)
    lines = state.lines
    start = stops_and_goods_in_hand.with_lines(state._replace(phase="picking", lines=(), current_index=-1), lines)
    open_ = [line for line in start.lines if line.is_open]
    if is_nothing_picked(start.lines):
        text = msg("pick.nothing_picked", lines=len(start.lines))
    elif state.is_batch:
        stops, count = len({line.stop_key for line in open_}), len(state.totes)
        text = msg("pick.batch_opened", count=count, lines=len(open_), stops=stops)
        text = text if open_ else msg("pick.batch_already", count=count)
    elif open_:
        text = msg("pick.opened", order=state.order, count=len(open_))
    elif awaited := stops_and_goods_in_hand.awaited_goods(start.lines):
        text = awaited
    else:
        text = msg("pick.left_done", order=state.order)
    return Turn(start, (), Verdict(GOOD if open_ else INFO, text))


def _merge_lines(
    state: PickState, tote: Tote, fresh: tuple[PickLine, ...], *, is_uncertain: bool, is_own: bool
) -> Result:
    """Merge lines that changed elsewhere; walking order, locations and the open question stay. Report nothing that may
    be this host's own change: a difference while an operation is pending and its correction, or a change that came with
    an own movement (`is_own`), which the overlay shows before it is sent."""
    mine = {line.line: line for line in state.lines if line.order == tote.order}
    merged = {
        line.line: stops_and_goods_in_hand.keep_read_stock(
            state, _keep_location(line, mine.get(line.line), is_uncertain=is_uncertain), mine.get(line.line)
        )
        for line in fresh
    }
    if merged == mine:
        return Turn(pick_state.with_tote(state, tote._replace(is_uncertain=is_uncertain and tote.is_uncertain)))
    differs = _order_values(merged) != _order_values(mine)
    is_reported = differs and not (is_uncertain or tote.is_uncertain or is_own)
    state = pick_state.with_tote(state, tote._replace(is_uncertain=is_uncertain and (differs or tote.is_uncertain)))
    others = [line for line in state.lines if line.order != tote.order]
    state = _adjust_history(state, merged.values())
    renewed = stops_and_goods_in_hand.with_lines(state, [*others, *merged.values()])
    renewed = renewed._replace(choices=state.choices if _is_same_stop(state, renewed) else ())
    if state.choices and not renewed.choices:
        return reply(renewed, INFO, "pick.changed_question_dropped", order=tote.order) if is_reported else Turn(renewed)
    if renewed.choices or renewed.take_over_choices or not is_reported:
        # the open question stays on the screen, with its reason
        return _ask_rest_again(state, renewed, tote.order) or Turn(renewed)
    return reply(renewed, INFO, "pick.changed", order=tote.order)


def _ask_rest_again(before: PickState, state: PickState, order: str) -> Result | None:
    """Return the question about goods that are too many with what is needed now; None without one, or without a change.

    The question is dropped if the goods are no longer too many.
    """
    choice = next((each for each in state.choices if each.kind == "take_rest" and each.quantity), None)
    if choice is None:
        return None
    lines, rest = _needed(state, choice.key)
    if (lines, rest) == _needed(before, choice.key):
        return None
    if choice.quantity <= rest:
        return reply(state._replace(choices=()), INFO, "pick.changed_question_dropped", order=order)
    return rejected_scans_and_quantities.reject_more_than_rest(state, choice.quantity, lines, *state.choices)


def _needed(state: PickState, product: str) -> tuple[list[int], Decimal]:
    """Return the lines that goods of a product fill, and the quantity that they need."""
    lines = fillable_lines(state, product)
    return lines, sum((state.lines[index].remaining for index in lines), Decimal(0))


def _is_same_stop(before: PickState, after: PickState) -> bool:
    """Return True if the page still shows the same stop, or still none because every line is picked."""
    stop_keys = [each.current_line.stop_key if each.current_line else None for each in (before, after)]
    return stop_keys[0] == stop_keys[1] and before.phase == after.phase


def _order_values(lines: Mapping[int, PickLine]) -> list[tuple[Any, ...]]:
    """Return the values that belong to the order itself; stock and location data are no change of the order."""
    return [
        (line, each.product, each.ordered, each.picked, each.moved, each.is_closed)
        for line, each in sorted(lines.items())
    ]


def _keep_location(fresh: PickLine, known: PickLine | None, *, is_uncertain: bool) -> PickLine:
    """Return the new line with the location, label and pool that the picker already uses. An uncertain read takes
    nothing from the picker's share."""
    if known is None:
        return fresh
    fresh = fresh._replace(location=known.location, label=known.label, pool=known.pool, barred_pools=known.barred_pools)
    fresh = fresh._replace(walk_order=known.walk_order, location_order=known.location_order)
    fresh = fresh._replace(is_from_warehouse=fresh.is_from_warehouse and known.is_from_warehouse)
    was = known.with_picked_by_others(fresh.picked)
    own = known.own_picked if is_uncertain else min(known.own_picked, fresh.in_hand)
    return fresh._replace(picked_from=was.picked_from, picked_from_when_read=was.picked_from, own_picked=own)


def remove_order(state: PickState, tote: Tote, reason: str, other_picker: str = "", *, kind: str = WRONG) -> Result:
    """Remove an order from the pick; its goods in hand have to be put back, other orders continue. `reason` is a key of
    `LEAVE_TEXTS`."""
    rest = stops_and_goods_in_hand.without_order(state, tote.order, reason)
    text = _left_message(state, rest, tote, reason, other_picker)
    if not rest.totes and not rest.to_return:
        answer = {"rejected": tote.order} if reason.startswith("rejected") else None
        return Turn(state, (Close(Verdict(kind, text), answer=answer),))
    started = start_when_ready(rest) if rest.phase == "wait" else Turn(rest)
    return Turn(started.state, started.effects, Verdict(kind, text))


def _left_message(before: PickState, after: PickState, tote: Tote, reason: str, other_picker: str) -> Msg:
    goods = after.to_return[len(before.to_return) :]
    args: dict[str, str] = {"order": tote.order, **({"who": other_picker} if reason in ("claimed", "assigned") else {})}
    text = msg(LEAVE_TEXTS[reason], **args)
    if before.is_batch:
        text = msg("pair", name=tote.letter, value=text)
    count = sum(back.quantity for back in goods)
    return msg("pick.removed_with_goods", what=text, count=count) if goods else text


def start_without_missing(state: PickState) -> Result:
    """Start the walk without the orders whose lines have not arrived."""
    state = state._replace(choices=(), totes=tuple(tote for tote in state.totes if tote.has_lines))
    return start_when_ready(state)


def _adjust_history(state: PickState, fresh: Iterable[PickLine]) -> PickState:
    """Add the changes of other pickers to the history, so that undo reverts only own steps."""
    picked_before = {line.key: line.picked for line in state.lines}
    added = {t.key: t.picked - picked_before.get(t.key, t.picked) for t in fresh}
    if not any(added.values()):
        return state
    history = tuple(
        step._replace(
            lines_before=tuple(
                each._replace(picked=max(Decimal(0), each.picked + added.get((each.order, each.line), Decimal(0))))
                for each in step.lines_before
            )
        )
        for step in state.history
    )
    return state._replace(history=history)
