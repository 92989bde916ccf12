"""Orders come into a round, change while they are in it, and leave it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from aisle.jobs.base import Close, Context, Effect, Query, Turn, Wish
from aisle.jobs.pick import beyond, hands, picking, redirected
from aisle.jobs.pick import claim as pick_claim
from aisle.jobs.pick import given as pick_given
from aisle.jobs.pick import passed as pick_passed
from aisle.jobs.pick.history import LAID
from aisle.jobs.pick.picking import Picking, Tote
from aisle.jobs.pick.undo import shifted
from aisle.jobs.pick.walk import Take, is_nothing, takes
from aisle.jobs.told import words
from aisle.jobs.view import GOOD, INFO, WRONG, Msg, Verdict, msg

Result = Turn[Picking]

QUERY = "order/"
"""What the ids of queries for orders begin with; the number follows."""

LEFT = {
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


def look(orders: Iterable[str], *, wish: bool = True) -> tuple[Effect, ...]:
    """Asks for orders as they stand now, the first of them first: answers come last asked first."""
    effects: list[Effect] = []
    for order in reversed(list(orders)):
        effects.append(Query(QUERY + order, "order_to_pick", {"order_number": order}))
        effects += [Wish("order", order)] if wish else []
    return tuple(effects)


def look_again(state: Picking, *, wish: bool = True) -> tuple[Effect, ...]:
    """Asks for all orders of the round."""
    gone = dict.fromkeys(back.order for back in state.back if back.free or back.passed_on or back.why == LAID)
    return look((*(tote.order for tote in state.totes), *gone), wish=wish)


def arrived(state: Picking, order: str, row: Mapping[str, Any] | None, context: Context) -> Result:
    """The order as the cache has it, with what is still on its way to the service laid over it."""
    tote = picking.tote_of(state, order)
    if tote is None:
        told = pick_passed.news(state, order, row or {})
        return told if told.verdict else pick_given.reopened(state, order, row or {})
    if row is None:
        # One that is being picked goes on from what is known of it.
        return Turn(state, (Wish("order", order),)) if tote.here else left(state, tote, "no_order")
    if _is_handed_over(state, tote, row):
        return left(state, tote, "handed", kind=GOOD)
    if row.get("is_rejected") or not row.get("is_active", True):
        return left(state, tote, "rejected" if row.get("is_rejected") else "finished")
    if pick_given.is_given_away(tote, row, context):
        return left(state, tote, "given", str(row.get("given_name") or row["given_to"]))
    fresh = takes(row.get("lines") or (), order)
    if not tote.here and _is_over(state, fresh):
        row = {**row, "is_claimed": False}  # whoever picked it has nothing left to do: there is nothing to take over
    claim = pick_claim.asked(state, tote, row, context)
    if claim:
        followed = pick_given.followed(tote, claim, row) if tote.here else claim
        return pick_claim.accompanied(state, followed, order, row, context)
    tote = tote._replace(who=str(row.get("customer_name") or ""), comment=str(row.get("comment") or ""))
    if not row.get("lines_known", True):
        return Turn(picking.with_tote(state, tote))
    if not fresh:
        return left(state, tote, "empty")
    before, tote = tote, _with_own(tote, row, context.user)
    if tote.here:
        is_own = (tote.moved, tote.refused) != (before.moved, before.refused)
        merged = _merged(state, tote, fresh, unsure=bool(row.get("unsure")), is_own=is_own)
        turn = pick_given.followed(tote, _with_refusal(merged, before, row, context.user), row)
    else:
        state, fresh, marks = redirected.again(state, fresh, row, context)
        came = _came(state, tote._replace(here=True, urgent=bool(row.get("urgent"))), fresh)
        turn = pick_given.opened(pick_claim.opened(came, order, row, context), order, row)
        turn = turn._replace(effects=(*marks, *turn.effects))
    return pick_claim.accompanied(state, turn, order, row, context)


def _with_own(tote: Tote, row: Mapping[str, Any], user: str) -> Tote:
    """The order's tote, with what whoever picks here has moved of it, and what of his the service refused."""
    moved, refused = int((row.get("moved_by") or {}).get(user) or 0), _refusal_of(row, user)
    return tote._replace(moved=max(moved, tote.moved), refused=max(int(refused.get("n") or 0), tote.refused))


def _refusal_of(row: Mapping[str, Any], user: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = (row.get("refused_by") or {}).get(user) or {}
    return found


def _with_refusal(turn: Result, before: Tote, row: Mapping[str, Any], user: str) -> Result:
    """What the service refused is said, where nothing else is: the lines are as they were before it."""
    after, refused = picking.tote_of(turn.state, before.order), _refusal_of(row, user)
    if turn.verdict is not None or after is None or after.refused == before.refused:
        return turn
    told = msg("receive.refused", label=before.order, why=words(str(refused.get("why") or "")))
    return turn._replace(verdict=Verdict(WRONG, told))


def _is_handed_over(state: Picking, tote: Tote, row: Mapping[str, Any]) -> bool:
    """Whether an order that is picked here was closed: its customer has the goods."""
    if row.get("is_rejected") or row.get("is_active", True) or not tote.here:
        return False
    return picking.is_full(state, tote.order) and not hands.in_hand(state, tote.order)


def _is_over(state: Picking, fresh: tuple[Take, ...]) -> bool:
    """Whether all of an order is picked and put down, and nobody was asked about it before it was."""
    if not fresh or any(way.key == fresh[0].order for way in state.ways):
        return False
    return not any(take.open or take.in_hand for take in fresh)


def _came(state: Picking, tote: Tote, fresh: tuple[Take, ...]) -> Result:
    """The lines of an order are here for the first time."""
    waiting = state.phase == "wait"
    state = picking.with_tote(state, tote)
    if waiting:
        return begun(state._replace(takes=(*state.takes, *fresh)))
    joined = picking.with_takes(state, [*state.takes, *fresh])._replace(ways=())
    open_ = sum(take.open for take in fresh)
    return Turn(joined, (), Verdict(GOOD, msg("pick.joined", tote=tote.letter, order=tote.order, count=open_)))


def begun(state: Picking) -> Result:
    """Off we go, once all orders of the round are here."""
    if not state.totes or not all(tote.here for tote in state.totes):
        return Turn(state)
    given = state.takes
    start = picking.with_takes(state._replace(phase="walk", takes=(), at=-1), given)
    open_ = [take for take in start.takes if take.open]
    if is_nothing(start.takes):
        told = msg("pick.nothing_picked", lines=len(start.takes))
    elif state.many:
        stops, count = len({take.stop for take in open_}), len(state.totes)
        told = msg("pick.round_opened", count=count, lines=len(open_), stops=stops)
        told = told if open_ else msg("pick.round_already", count=count)
    elif open_:
        told = msg("pick.opened", order=state.order, count=len(open_))
    else:
        told = msg("pick.already", order=state.order)
    return Turn(start, (), Verdict(GOOD if open_ else INFO, told))


def _merged(state: Picking, tote: Tote, fresh: tuple[Take, ...], *, unsure: bool, is_own: bool) -> Result:
    """Lines that changed elsewhere are taken over; the walk keeps its order, its places and its open question.

    Nothing is said of what may be one's own: a difference while something from here is on its way, and what puts it
    right; or one that came with a movement of one's own (`is_own`), which the overlay has before it is sent.
    """
    mine = {take.line: take for take in state.takes if take.order == tote.order}
    merged = {
        take.line: beyond.kept(state, _same_walk(take, mine.get(take.line)), mine.get(take.line)) for take in fresh
    }
    if merged == mine:
        return Turn(picking.with_tote(state, tote._replace(unsure=unsure and tote.unsure)))
    differs = _shown(merged) != _shown(mine)
    is_news = differs and not (unsure or tote.unsure or is_own)
    state = picking.with_tote(state, tote._replace(unsure=unsure and (differs or tote.unsure)))
    others = [take for take in state.takes if take.order != tote.order]
    state = shifted(state, merged.values())
    renewed = picking.with_takes(state, [*others, *merged.values()])
    before, after = state.take, renewed.take
    same = before is not None and after is not None and before.stop == after.stop
    renewed = renewed._replace(ways=state.ways if same else ())
    if state.ways and not renewed.ways:
        told = msg("pick.changed_asked", order=tote.order) if is_news else msg("pick.dropped")
        return Turn(renewed, (), Verdict(INFO, told))
    if renewed.ways or renewed.over or not is_news:
        return Turn(renewed)  # what is asked stays on the screen, with why it is asked
    return Turn(renewed, (), Verdict(INFO, msg("pick.changed", order=tote.order)))


def _shown(takes: Mapping[int, Take]) -> list[tuple[Any, ...]]:
    """What of these lines is the order's own: what the store knows of products and places is no change of it."""
    return [(line, each.product, each.of, each.picked, each.moved, each.closed) for line, each in sorted(takes.items())]


def _same_walk(fresh: Take, mine: Take | None) -> Take:
    """A line as it stands now, taken from where the picker takes it."""
    if mine is None:
        return fresh
    fresh = fresh._replace(place=mine.place, label=mine.label, pool=mine.pool, barred=mine.barred)
    fresh = fresh._replace(walk=mine.walk, shelf=mine.shelf)
    was = mine.at(fresh.picked, own=False)
    return fresh._replace(taken=was.taken, mine=min(was.mine, fresh.in_hand))


def left(state: Picking, tote: Tote, why: str, owner: str = "", *, kind: str = WRONG) -> Result:
    """An order has left the round; what is in hand of it is to be put back, the others go on.

    `why` is a key of `LEFT`.
    """
    rest = picking.without(state, tote.order, why)
    told = _told(state, rest, tote, why, owner)
    if not rest.totes and not rest.back:
        answer = {"rejected": tote.order} if why.startswith("rejected") else None
        return Turn(state, (Close(Verdict(kind, told), answer=answer),))
    begun_ = begun(rest) if rest.phase == "wait" else Turn(rest)
    return Turn(begun_.state, begun_.effects, Verdict(kind, told))


def _told(before: Picking, after: Picking, tote: Tote, why: str, owner: str) -> Msg:
    more = after.back[len(before.back) :]
    args: dict[str, str] = {"order": tote.order, **({"who": owner} if why in ("claimed", "given") else {})}
    alone, among = LEFT[why]
    told = msg(among, tote=tote.letter, **args) if before.many else msg(alone, **args)
    count = sum(back.quantity for back in more)
    return msg("pick.out_hand", what=told, count=count) if more else told


def waited(state: Picking) -> Result:
    """Goes on without the orders whose lines have not come."""
    state = state._replace(ways=(), totes=tuple(tote for tote in state.totes if tote.here))
    return begun(state)
