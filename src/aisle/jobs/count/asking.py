"""The end of a count: what is missing, what differs much, what is sent, and what is counted next."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs.base import Close, Context, Effect, Query, Turn, Wish, priced
from aisle.jobs.count import counting, not_taken
from aisle.jobs.count import send as count_send
from aisle.jobs.count.counting import Counting, Next, Sent
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Msg, Verdict, msg, undone

Result = Turn[Counting]

ALL = "all"
"""The query for all that the books have at a place, and its id."""


def told(state: Counting, kind: str, id_: str, *effects: Effect, **args: str | int | Decimal | Msg) -> Result:
    return Turn(state, effects, Verdict(kind, msg(id_, **args)))


def fresh(state: Counting) -> Counting:
    """Nothing in hand; what holds for the whole job stays."""
    return Counting(
        pools=state.pools,
        once=state.once,
        blind=state.blind,
        sent=state.sent,
        todo=state.todo,
        gone=state.gone,
        asked=state.asked,
    )


def begin(state: Counting, what: Next, only: str = "") -> Result:
    todo = tuple(each for each in state.todo if (each.kind, each.key) != (what.kind, what.key))
    state = fresh(state)._replace(phase="count", mode=what.kind, todo=todo)
    if what.kind == "place":
        query = counting.at_place("open", what.key, only)
        return Turn(state._replace(place=what.key, only=only), (query, Wish("location", what.key)))
    query = Query("tour", "product", {"product_number": what.key})
    return Turn(state._replace(product=what.key, label=what.label), (query, Wish("product", what.key)))


def stop(state: Counting, index: int) -> Counting:
    """Stand at this stop of the tour."""
    return state._replace(phase="count", at=index, place=state.items[index].place, ways=())


def back_to_work(state: Counting) -> Counting:
    """Back from a question to counting; what was called done is not any more."""
    if state.phase == "count":
        return state
    items = tuple(item._replace(again=False) for item in state.items)
    at = max(0, state.question if state.phase == "missing" else 0)
    state = state._replace(phase="count", items=items, at=-1, second=None, then=None, first=0)
    if state.only:
        return state._replace(at=at)
    return stop(state, at) if state.mode == "product" else state


def over(state: Counting, verdict: Verdict) -> Result:
    """Nothing of this count is left to be done; who opened it for this alone learns what was sent."""
    if state.once:
        gone = state.gone if state.sent else None
        answer = {"what": gone.what, "changes": [each._asdict() for each in gone.changes]} if gone else None
        return Turn(state, (Close(verdict, answer=answer),), verdict)
    return Turn(fresh(state)._replace(sent=None, phase="list" if state.todo else "start"), (), verdict)


def put_off(state: Counting) -> Counting:
    """What is not counted after all is on the list again, where there is one."""
    if not state.todo or not (state.place or state.product):
        return state
    mine = Next("product", state.product, state.label) if state.mode == "product" else Next("place", state.place)
    return state._replace(todo=(mine._replace(label=mine.label or mine.key), *state.todo))


def done(state: Counting, context: Context) -> Result:
    state = state._replace(at=-1, second=None, first=0)
    if state.partly:
        return Turn(state, (Query(ALL, "place", {"location_code": state.place}),))
    return advance(state, context)


def all_came(state: Counting, row: Mapping[str, Any] | None, context: Context) -> Result:
    """All that the books have at the place, to be asked about what was not found."""
    state = state._replace(partly=False)
    return advance(counting.refreshed(state, counting.place_items(row)) if row else state, context)


def advance(state: Counting, context: Context) -> Result:
    """To the next question; when none is left, to what differs, or out at once where nothing does."""
    if any(item.missing for item in state.items):
        state = state._replace(phase="missing")
        return _missing(state, state.question)
    policy = context.policy
    items = tuple(
        item._replace(again=item.again or (not item.checked and counting.passes(item, policy))) for item in state.items
    )
    state = state._replace(items=items)
    if any(item.again for item in items):
        state = state._replace(phase="recount")
        return told(state, ASK, "count.again", label=counting.named(state, state.question))
    return summary(state) if state.differing else send(state, context)


def _missing(state: Counting, index: int) -> Result:
    """What is not there: a product at the place, or, over the places of a product, one of these."""
    place, label = state.items[index].place, counting.named(state, *counting.missing_with(state, index))
    if state.mode != "product":
        return told(state, ASK, "count.missing", label=label)
    id_ = "count.missing_at" if place else "count.missing_nowhere"
    return told(state, ASK, id_, label=label, place=place)


def summary(state: Counting) -> Result:
    state = state._replace(phase="summary")
    units = sum((item.difference for item in state.differing), Decimal(0))
    value = sum((item.value for item in state.differing), Decimal(0))
    id_ = "count.differ_value" if value else "count.differ"
    if len({item.unit.strip().casefold() for item in state.differing}) > 1:  # kg and pieces have no sum
        id_ = "count.differ_apart_value" if value else "count.differ_apart"
    return told(state, ASK, id_, count=len(state.differing), units=units, value=priced(round(value, 2)))


def answered(state: Counting, number: int, context: Context) -> Result:
    index = state.question
    item = state.items[index]
    alike = counting.missing_with(state, index)
    if number == 1:
        for each in alike:
            state = counting.put(state, each, Decimal(0), context.now)
        return advance(state._replace(at=-1), context)
    if number == 2:
        for each in alike:
            state = counting.replaced(state, each, state.items[each]._replace(left=True))
        return advance(state, context)
    if number == 4:
        items = tuple(each._replace(left=each.left or each.missing) for each in state.items)
        return advance(state._replace(items=items), context)
    state = back_to_work(state)
    state = stop(state, index) if state.mode == "product" else state._replace(at=index)
    return told(state, INFO, "count.count_it", label=item.label, place=item.place)


def found_after_all(state: Counting, counted: Decimal, context: Context) -> Result:
    """So many of what was not scanned are there; on to the next question."""
    return advance(counting.put(state, state.question, counted, context.now)._replace(at=-1), context)


def checked(state: Counting, counted: Decimal, context: Context) -> Result:
    index = state.question
    for each in (index, *(() if counted else _none_too(state, index))):
        state = counting.put(state, each, counted, context.now)
        state = counting.replaced(state, each, state.items[each]._replace(checked=True))
    return advance(state._replace(at=-1, second=None), context)


def _none_too(state: Counting, index: int) -> tuple[int, ...]:
    """The other pools of the product here that are counted as none and have to be counted again: none of it is here."""
    item = state.items[index]
    return tuple(
        at
        for at, other in enumerate(state.items)
        if at != index
        and other.again
        and other.counted == 0
        and (other.place, other.product) == (item.place, item.product)
    )


def decided(state: Counting, number: int, context: Context) -> Result:
    if number == 1:
        return send(state, context)
    if number == 3:
        return told(back_to_work(state), INFO, "count.go_on")
    items = tuple(item._replace(again=bool(item.difference), checked=False) for item in state.items)
    return advance(state._replace(items=items), context)


def scrolled(state: Counting, key: str, context: Context) -> Counting:
    """Another window on the rows of a list."""
    rows = max(1, context.rows - 2)
    jump = {"up": -1, "down": 1, "pageup": -rows, "pagedown": rows, "home": -10_000, "end": 10_000}.get(key, 0)
    first, total = state.first + jump, _listed(state)
    return state._replace(first=0 if key == "pagedown" and first >= total else max(0, min(first, total - 1)))


def refilled(state: Counting, context: Context) -> Counting:
    """The rows of a list begin so far up that their page is full."""
    return state._replace(first=max(0, min(state.first, _listed(state) - max(1, context.rows - 2))))


def _listed(state: Counting) -> int:
    """How many rows the list on the screen has."""
    return len({"summary": state.differing, "list": state.todo}.get(state.phase, state.pools))


def send(state: Counting, context: Context) -> Result:
    """Out with it, and on to what was scanned for the next count."""
    what = state.label if state.mode == "product" else state.place or state.label
    then = state.then or (state.todo[0] if state.todo else None)
    if not state.counted:
        turn = over(state, Verdict(INFO, msg("count.nothing", what=what)))
        return turn if then is None else begin(fresh(state), then)
    effects = count_send.writes(state, context)
    sent = Sent(what or state.counted[0].label, len(state.counted), len(state.differing))
    id_ = "count.sent_differing" if sent.differing else "count.sent"
    verdict = Verdict(GOOD, msg(id_, what=sent.what, count=sent.items, differing=sent.differing))
    gone = count_send.gone(sent.what, state)
    state = state._replace(sent=sent, gone=gone)
    turn = over(state, verdict) if then is None else begin(fresh(state), then)
    return turn._replace(effects=(*effects, *turn.effects), verdict=verdict)


def take_back(state: Counting) -> Result:
    """The count that was sent last is to be undone: what of it the service took is asked first."""
    gone = state.gone
    if gone is None:
        return told(state, WRONG, "count.nothing_to_undo")
    if not gone.changes:
        return Turn(state._replace(gone=None), (), count_send.kept(gone))
    return Turn(state, (not_taken.asked(change.at for change in gone.changes),))


def taken_back(state: Counting, rows: not_taken.Rows, context: Context) -> Result:
    """What it changed is changed back, but for what was refused."""
    if state.gone is None:
        return Turn(state)
    gone, refused = count_send.taken(state.gone, rows)
    state = state._replace(gone=None)
    if refused and not gone.changes:
        return Turn(state, (), not_taken.told(refused))
    effects: tuple[Effect, ...] = count_send.opposites(gone, context)
    told_ = undone(count_send.undone(gone))
    if state.once and state.sent:  # it was opened for that count alone, and taken up again
        effects = (*effects, Close(told_))
    return Turn(state, effects, told_)
