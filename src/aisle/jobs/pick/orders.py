"""What supervisors do to a round while it is walked: an order goes first, goes to somebody else, or comes from there.

All of it comes as news of the orders themselves (aisle.cache.claim_queries); the picker is told, and picks on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from aisle import json_codec
from aisle.jobs.choice_keys import MAX_CHOICES
from aisle.jobs.claims import is_later
from aisle.jobs.job import Close, Context, Effect, LocalNote, Query, Refresh, Turn
from aisle.jobs.message import read_message
from aisle.jobs.pick import goods_in_hand, pick_state
from aisle.jobs.pick import take_over as pick_claim
from aisle.jobs.pick import take_over as pick_passed
from aisle.jobs.pick.pick_state import PUT_DOWN_BY_OTHER, PickChoice, PickState, Tote
from aisle.jobs.pick.stops import PickLine, is_nothing_picked, move_line, parse_lines
from aisle.jobs.pick.undo import adjust_history, moved_stop_step
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Msg, Verdict, msg

ChangeTurn = Turn[PickState]

REJECTED_REOPENED = "rejected_reopened"
"""Why goods are to be put back of an order that is open again, with nothing picked."""

ASSIGNED_QUERY = "given"
"""The query for the orders of other walks that are this person's now, and its id."""


def query_assigned(context: Context) -> Query:
    """Asks what was given to whoever is signed in."""
    return Query(ASSIGNED_QUERY, "given", {"user": context.user})


def is_reassigned(tote: Tote, row: Mapping[str, Any], context: Context) -> bool:
    """Whether an order of this round became somebody else's since it was opened here."""
    to = str(row.get("given_to") or "")
    since = tote.opened_at or tote.claimed_since
    return bool(tote.has_lines and to and to != context.user and is_later(str(row.get("given_on") or ""), since))


def report_assigned(state: PickState, rows: Iterable[Mapping[str, Any]]) -> ChangeTurn:
    """Orders of another walk that are this picker's now: taken into the round where he says so, work goes on. Those
    for which the page has no more choices are asked about once there is room."""
    fresh = [row for row in rows if _report_key(row) not in state.reported_refusals][: _free_choices(state)]
    state = state._replace(reported_refusals=(*state.reported_refusals, *map(_report_key, fresh)))
    fresh = [row for row in fresh if pick_state.find_tote(state, str(row["order_number"])) is None]
    if not fresh:
        return Turn(state)
    order, who = str(fresh[-1]["order_number"]), str(fresh[-1]["by"])
    told = Verdict(ASK, msg("pick.given", order=order, who=who))
    if not state.totes or not pick_state.next_tote_letter(state):
        return Turn(state, (), told)
    ways = tuple(PickChoice("take_in", str(row["order_number"])) for row in fresh)
    over = (
        (*state.take_over_choices, *ways)
        if PickChoice("later") in state.take_over_choices
        else (*state.take_over_choices, *ways, PickChoice("later"))
    )
    return Turn(state._replace(take_over_choices=over), (), told)


def _free_choices(state: PickState) -> int:
    """So many more orders can be asked about; the last choice is that they wait."""
    return MAX_CHOICES - 1 - sum(way.kind == "take_in" for way in state.take_over_choices)


def _report_key(row: Mapping[str, Any]) -> str:
    return f"{ASSIGNED_QUERY}/{row['order_number']}/{row['at']}"


def clear_assignment(turn: ChangeTurn, order: str, row: Mapping[str, Any]) -> ChangeTurn:
    """An order that was given to somebody is open now: that is over."""
    if not row.get("given_to"):
        return turn
    return turn._replace(effects=(LocalNote("given", order, ""), *turn.effects))


def report_order_changes(before: Tote, turn: ChangeTurn, row: Mapping[str, Any]) -> ChangeTurn:
    """What changed about an order of the round itself is told: it goes first, or no more so; it was released."""
    urgent = bool(row.get("urgent"))
    tote = pick_state.find_tote(turn.state, before.order)
    if tote is None:
        return turn
    if urgent != tote.is_priority:
        turn = _raise_priority(turn, tote._replace(is_priority=urgent), row)
        tote = tote._replace(is_priority=urgent)
    freed = not row.get("is_claimed") and is_later(
        str(row.get("released_on") or ""), tote.opened_at or tote.claimed_since
    )
    if tote.is_own_claim and freed and not pick_state.is_order_picked(turn.state, tote.order):
        free = pick_state.with_tote(turn.state, tote._replace(is_own_claim=False, is_only_viewed=True))
        return turn._replace(state=free, verdict=Verdict(INFO, msg("pick.released", order=tote.order)))
    return turn


def report_reopened(state: PickState, order: str, row: Mapping[str, Any]) -> ChangeTurn:
    """The rejection of an order that has left the round was taken back: what is in hand of it still goes back."""
    mine = [
        back
        for back in state.to_return
        if back.order == order and back.is_unassigned and back.reason != REJECTED_REOPENED
    ]
    if not mine or not row or row.get("is_rejected") or not row.get("is_active", True):
        return Turn(state)
    back = tuple(each._replace(reason=REJECTED_REOPENED) if each in mine else each for each in state.to_return)
    count = sum((each.quantity for each in mine), Decimal(0))
    return Turn(state._replace(to_return=back), (), Verdict(INFO, msg("pick.open_again", order=order, count=count)))


def _raise_priority(turn: ChangeTurn, tote: Tote, row: Mapping[str, Any]) -> ChangeTurn:
    """The stops of the order come first from now on; the one on the screen is picked to its end."""
    state = pick_state.with_tote(turn.state, tote)
    state = pick_state.with_lines(state, state.lines) if state.phase == "walk" else state
    if pick_state.is_order_picked(state, tote.order):
        return turn._replace(state=state)
    told = msg("pick.not_urgent", order=tote.order)
    if tote.is_priority:
        who = str(row.get("urgent_by") or "")
        round_ = msg("pick.urgent_round", order=tote.order, who=who, tote=tote.letter)
        told = round_ if state.is_batch else msg("pick.urgent", order=tote.order, who=who)
    if turn.verdict and turn.verdict.kind == ASK:  # what is asked stays asked
        both = msg("pick.told_both", what=turn.verdict.text, more=told)
        return turn._replace(state=state, verdict=Verdict(ASK, both))
    return turn._replace(state=state, verdict=Verdict(INFO, told))


REDIRECTED = "redirected"
"""The topic of the remark."""

RedirectedLines = dict[str, list[tuple[str, str, int]]]
"""What its text says, by the person who said it: (line number, place, pool) of each line that is taken elsewhere."""


def keep_redirections(turn: Turn[PickState], context: Context) -> Turn[PickState]:
    """Whoever leaves orders finds their stops where he said that they are taken."""
    if not any(isinstance(effect, Close) for effect in turn.effects):
        return turn
    marks = []
    for tote in turn.state.totes:
        moved = [(str(take.line), take.location, take.pool) for take in _redirected_lines(turn.state, tote.order)]
        if moved:
            marks.append(LocalNote(REDIRECTED, tote.order, json_codec.to_text({context.user: moved})))
    return turn._replace(effects=(*marks, *turn.effects)) if marks else turn


def _redirected_lines(state: PickState, order: str) -> list[PickLine]:
    """The lines that are still to be taken, elsewhere than when the order was opened."""
    first: dict[tuple[str, int], tuple[str, int]] = {}
    for step in state.history:
        for stood in step.sources_before:
            first.setdefault((stood.order, stood.line), (stood.location, stood.pool))
    lines = (take for take in state.lines if take.order == order and take.is_open)
    return [
        take
        for take in lines
        if (take.location, take.pool) != first.get((order, take.line), (take.location, take.pool))
    ]


def restore_redirections(
    state: PickState, fresh: tuple[PickLine, ...], row: Mapping[str, Any], context: Context
) -> tuple[PickState, tuple[PickLine, ...], tuple[LocalNote, ...]]:
    """The lines of an order that comes into a round, taken where this person said when he left it, as steps that can be
    undone; and that this is over."""
    text = str(row.get(REDIRECTED) or "")
    said = json_codec.from_text(RedirectedLines, text).get(context.user) if text else None
    if said is None:
        return state, fresh, ()
    places = {int(line): (place, pool) for line, place, pool in said}
    takes = tuple(
        move_line(take, *places[take.line], fresh) if _is_redirected(take, places) else take for take in fresh
    )
    stops: dict[Any, list[PickLine]] = {}
    for take in fresh:
        if _is_redirected(take, places):
            stops.setdefault(take.stop_key, []).append(take)
    for gone in stops.values():
        state = pick_state.add_undo_step(state, moved_stop_step(gone))
    return state, takes, (LocalNote(REDIRECTED, str(row["order_number"]), ""),)


def _is_redirected(line: PickLine, locations: Mapping[int, tuple[str, int]]) -> bool:
    return line.is_open and line.line in locations and (line.location, line.pool) != locations[line.line]


Result = Turn[PickState]

ORDER_QUERY_PREFIX = "order/"
"""What the ids of queries for orders begin with; the number follows."""

LEAVE_TEXTS = {
    "rejected": ("pick.rejected", "pick.out_rejected"),
    "rejected_here": ("pick.rejected_here", "pick.out_rejected_here"),
    "finished": ("pick.finished", "pick.out_finished"),
    "handed": ("pick.handed", "pick.out_handed"),
    "claimed": ("pick.claimed_now", "pick.out_claimed"),
    "given": ("pick.given_now", "pick.out_given"),
    "no_order": ("pick.no_order", "pick.out_no_order"),
    "empty": ("pick.empty", "pick.out_empty"),
    "left_out": ("pick.left", "pick.out_left_out"),
}
"""Why an order leaves, and what is said of it: where it is picked alone, and in a round."""


def query_orders(orders: Iterable[str], *, refresh: bool = True) -> tuple[Effect, ...]:
    """Asks for orders as they stand now, the first of them first: answers come last asked first."""
    effects: list[Effect] = []
    for order in reversed(list(orders)):
        effects.append(Query(ORDER_QUERY_PREFIX + order, "order_to_pick", {"order_number": order}))
        effects += [Refresh("order", order)] if refresh else []
    return tuple(effects)


def query_all_orders(state: PickState, *, refresh: bool = True) -> tuple[Effect, ...]:
    """Asks for all orders of the round."""
    gone = dict.fromkeys(
        back.order
        for back in state.to_return
        if back.is_unassigned or back.is_for_other_picker or back.reason == PUT_DOWN_BY_OTHER
    )
    return query_orders((*(tote.order for tote in state.totes), *gone), refresh=refresh)


def update_order(state: PickState, order: str, row: Mapping[str, Any] | None, context: Context) -> Result:
    """The order as the cache has it, with what is still on its way to the service laid over it."""
    tote = pick_state.find_tote(state, order)
    if tote is None:
        told = pick_passed.track_put_down_by_others(state, order, row or {})
        return told if told.verdict else report_reopened(state, order, row or {})
    if row is None:
        # One that is being picked goes on from what is known of it.
        return Turn(state, (Refresh("order", order),)) if tote.has_lines else remove_order(state, tote, "no_order")
    if _is_handed_over(state, tote, row):
        return remove_order(state, tote, "handed", kind=GOOD)
    if row.get("is_rejected") or not row.get("is_active", True):
        return remove_order(state, tote, "rejected" if row.get("is_rejected") else "finished")
    if is_reassigned(tote, row, context):
        return remove_order(state, tote, "given", str(row.get("given_name") or row["given_to"]))
    fresh = parse_lines(row.get("lines") or (), order)
    if not tote.has_lines and _is_done(state, fresh):
        row = {**row, "is_claimed": False}  # whoever picked it has nothing left to do: there is nothing to take over
    claim = pick_claim.check_claim(state, tote, row, context)
    if claim:
        followed = report_order_changes(tote, claim, row) if tote.has_lines else claim
        return pick_claim.track_others(state, followed, order, row, context)
    tote = tote._replace(customer=str(row.get("customer_name") or ""), comment=str(row.get("comment") or ""))
    if not row.get("lines_known", True):
        return Turn(pick_state.with_tote(state, tote))
    if not fresh:
        return remove_order(state, tote, "empty")
    before, tote = tote, _with_own_changes(tote, row, context.user)
    if tote.has_lines:
        is_own = (tote.last_movement, tote.last_refusal) != (before.last_movement, before.last_refusal)
        merged = _merge_lines(state, tote, fresh, is_uncertain=bool(row.get("unsure")), is_own=is_own)
        turn = report_order_changes(tote, _report_refusal(merged, before, row, context.user), row)
    else:
        state, fresh, marks = restore_redirections(state, fresh, row, context)
        came = _add_order(state, tote._replace(has_lines=True, is_priority=bool(row.get("urgent"))), fresh)
        turn = clear_assignment(pick_claim.claim_opened(came, order, row, context), order, row)
        turn = turn._replace(effects=(*marks, *turn.effects))
    return pick_claim.track_others(state, turn, order, row, context)


def _with_own_changes(tote: Tote, row: Mapping[str, Any], user: str) -> Tote:
    """The order's tote, with what whoever picks here has moved of it, and what of his the service refused."""
    moved, refused = int((row.get("moved_by") or {}).get(user) or 0), _parse_refusal(row, user)
    return tote._replace(
        last_movement=max(moved, tote.last_movement), last_refusal=max(int(refused.get("n") or 0), tote.last_refusal)
    )


def _parse_refusal(row: Mapping[str, Any], user: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = (row.get("refused_by") or {}).get(user) or {}
    return found


def _report_refusal(turn: Result, before: Tote, row: Mapping[str, Any], user: str) -> Result:
    """What the service refused is said, where nothing else is: the lines are as they were before it."""
    after, refused = pick_state.find_tote(turn.state, before.order), _parse_refusal(row, user)
    if turn.verdict is not None or after is None or after.last_refusal == before.last_refusal:
        return turn
    told = msg("receive.refused", label=before.order, why=read_message(str(refused.get("why") or "")))
    return turn._replace(verdict=Verdict(WRONG, told))


def _is_handed_over(state: PickState, tote: Tote, row: Mapping[str, Any]) -> bool:
    """Whether an order that is picked here was closed: its customer has the goods."""
    if row.get("is_rejected") or row.get("is_active", True) or not tote.has_lines:
        return False
    return pick_state.is_order_picked(state, tote.order) and not goods_in_hand.has_goods_to_put_down(state, tote.order)


def _is_done(state: PickState, fresh: tuple[PickLine, ...]) -> bool:
    """Whether all of an order is picked and put down, and nobody was asked about it before it was."""
    if not fresh or any(way.key == fresh[0].order for way in state.choices):
        return False
    return not any(take.is_open or take.in_hand for take in fresh)


def _add_order(state: PickState, tote: Tote, fresh: tuple[PickLine, ...]) -> Result:
    """The lines of an order are here for the first time."""
    waiting = state.phase == "wait"
    state = pick_state.with_tote(state, tote)
    if waiting:
        return start_when_ready(state._replace(lines=(*state.lines, *fresh)))
    joined = pick_state.with_lines(state, [*state.lines, *fresh])._replace(choices=())
    open_ = sum(take.is_open for take in fresh)
    return Turn(joined, (), Verdict(GOOD, msg("pick.joined", tote=tote.letter, order=tote.order, count=open_)))


def start_when_ready(state: PickState) -> Result:
    """Off we go, once all orders of the round are here."""
    if not state.totes or not all(tote.has_lines for tote in state.totes):
        return Turn(state)
    given = state.lines
    start = pick_state.with_lines(state._replace(phase="walk", lines=(), current_index=-1), given)
    open_ = [take for take in start.lines if take.is_open]
    if is_nothing_picked(start.lines):
        told = msg("pick.nothing_picked", lines=len(start.lines))
    elif state.is_batch:
        stops, count = len({take.stop_key for take in open_}), len(state.totes)
        told = msg("pick.round_opened", count=count, lines=len(open_), stops=stops)
        told = told if open_ else msg("pick.round_already", count=count)
    elif open_:
        told = msg("pick.opened", order=state.order, count=len(open_))
    else:
        told = msg("pick.already", order=state.order)
    return Turn(start, (), Verdict(GOOD if open_ else INFO, told))


def _merge_lines(
    state: PickState, tote: Tote, fresh: tuple[PickLine, ...], *, is_uncertain: bool, is_own: bool
) -> Result:
    """Lines that changed elsewhere are taken over; the walk keeps its order, its places and its open question.

    Nothing is said of what may be one's own: a difference while something from here is on its way, and what puts it
    right; or one that came with a movement of one's own (`is_own`), which the overlay has before it is sent.
    """
    mine = {take.line: take for take in state.lines if take.order == tote.order}
    merged = {
        take.line: goods_in_hand.keep_read_stock(state, _keep_location(take, mine.get(take.line)), mine.get(take.line))
        for take in fresh
    }
    if merged == mine:
        return Turn(pick_state.with_tote(state, tote._replace(is_uncertain=is_uncertain and tote.is_uncertain)))
    differs = _order_values(merged) != _order_values(mine)
    is_news = differs and not (is_uncertain or tote.is_uncertain or is_own)
    state = pick_state.with_tote(state, tote._replace(is_uncertain=is_uncertain and (differs or tote.is_uncertain)))
    others = [take for take in state.lines if take.order != tote.order]
    state = adjust_history(state, merged.values())
    renewed = pick_state.with_lines(state, [*others, *merged.values()])
    before, after = state.current_line, renewed.current_line
    same = before is not None and after is not None and before.stop_key == after.stop_key
    renewed = renewed._replace(choices=state.choices if same else ())
    if state.choices and not renewed.choices:
        told = msg("pick.changed_asked", order=tote.order) if is_news else msg("pick.dropped")
        return Turn(renewed, (), Verdict(INFO, told))
    if renewed.choices or renewed.take_over_choices or not is_news:
        return Turn(renewed)  # what is asked stays on the screen, with why it is asked
    return Turn(renewed, (), Verdict(INFO, msg("pick.changed", order=tote.order)))


def _order_values(lines: Mapping[int, PickLine]) -> list[tuple[Any, ...]]:
    """What of these lines is the order's own: what the store knows of products and places is no change of it."""
    return [
        (line, each.product, each.ordered, each.picked, each.moved, each.is_closed)
        for line, each in sorted(lines.items())
    ]


def _keep_location(fresh: PickLine, known: PickLine | None) -> PickLine:
    """A line as it stands now, taken from where the picker takes it."""
    if known is None:
        return fresh
    fresh = fresh._replace(location=known.location, label=known.label, pool=known.pool, barred_pools=known.barred_pools)
    fresh = fresh._replace(walk_order=known.walk_order, location_order=known.location_order)
    was = known.with_picked(fresh.picked, own=False)
    return fresh._replace(picked_from=was.picked_from, own_picked=min(was.own_picked, fresh.in_hand))


def remove_order(state: PickState, tote: Tote, reason: str, other_picker: str = "", *, kind: str = WRONG) -> Result:
    """An order has left the round; what is in hand of it is to be put back, the others go on.

    `why` is a key of `LEFT`.
    """
    rest = pick_state.without_order(state, tote.order, reason)
    told = _left_message(state, rest, tote, reason, other_picker)
    if not rest.totes and not rest.to_return:
        answer = {"rejected": tote.order} if reason.startswith("rejected") else None
        return Turn(state, (Close(Verdict(kind, told), answer=answer),))
    begun_ = start_when_ready(rest) if rest.phase == "wait" else Turn(rest)
    return Turn(begun_.state, begun_.effects, Verdict(kind, told))


def _left_message(before: PickState, after: PickState, tote: Tote, reason: str, other_picker: str) -> Msg:
    more = after.to_return[len(before.to_return) :]
    args: dict[str, str] = {"order": tote.order, **({"who": other_picker} if reason in ("claimed", "given") else {})}
    alone, among = LEAVE_TEXTS[reason]
    told = msg(among, tote=tote.letter, **args) if before.is_batch else msg(alone, **args)
    count = sum(back.quantity for back in more)
    return msg("pick.out_hand", what=told, count=count) if more else told


def start_without_missing(state: PickState) -> Result:
    """Goes on without the orders whose lines have not come."""
    state = state._replace(choices=(), totes=tuple(tote for tote in state.totes if tote.has_lines))
    return start_when_ready(state)
