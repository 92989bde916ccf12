"""A list of places and products that are counted one after the other, in the order of feet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from aisle.jobs.amounts import number
from aisle.jobs.base import Context, Query, Turn
from aisle.jobs.count import asking
from aisle.jobs.count.counting import Counting, Next
from aisle.jobs.feet import LAST, natural
from aisle.jobs.numbers import what_is
from aisle.jobs.view import GOOD, INFO, WRONG
from aisle.scan.meaning import LOCATION, PRODUCT, Meaning, Thing

Result = Turn[Counting]

ABOVE = 2
"""Rows that are shown above the one that was put on the list last."""

AISLE = 500
"""Places of an aisle that are put on the list at once."""


def made(state: Counting) -> Counting:
    """The list is on the screen."""
    return state._replace(phase="list", first=0)


def thing(state: Counting, said: Thing) -> Result:
    """A scan puts a place or a product on the list; where a place lies on the way is looked up."""
    meaning = next((each for each in said.meanings if each.kind in (LOCATION, PRODUCT)), None)
    if meaning is None:
        return asking.told(state, WRONG, "count.not_this", what=what_is(said.meanings[0]))
    if any(same(each, meaning) for each in state.todo):
        return asking.told(state, INFO, "count.listed_before", what=meaning.label or meaning.key)
    if meaning.kind == PRODUCT:
        return _put(state, (Next("product", meaning.key, meaning.label or meaning.key),))
    state = state._replace(pending=meaning)
    return Turn(state, (Query("listed", "place", {"location_code": meaning.key, "size": 0}),))


def same(one: Next, meaning: Meaning) -> bool:
    """Whether the list has just that."""
    kind = "place" if meaning.kind == LOCATION else "product"
    return one.kind == kind and one.key.casefold() == meaning.key.casefold()


def placed(state: Counting, row: Mapping[str, Any] | None) -> Result:
    """The place that was scanned goes where feet meet it."""
    meaning, state = state.pending, state._replace(pending=None)
    if meaning is None:
        return Turn(state)
    return _put(state, (Next("place", meaning.key, meaning.key, number((row or {}).get("location_order"), LAST)),))


def aisle(state: Counting) -> Result:
    """All places of the aisle of the last place that was put on the list."""
    beside = next((each.key for each in reversed(state.todo) if each.key == state.place), "")
    if not beside:
        return asking.told(state, WRONG, "count.scan_place_first")
    return Turn(state, (Query("aisle", "places", {"beside": beside, "first": 0, "size": AISLE}),))


def aisle_came(state: Counting, rows: Iterable[Mapping[str, Any]]) -> Result:
    """Its places, those that are not on the list yet."""
    known = {each.key.casefold() for each in state.todo if each.kind == "place"}
    codes = [(str(row["location_code"]), number(row.get("location_order"), LAST)) for row in rows]
    return _put(state, tuple(Next("place", code, code, order) for code, order in codes if code.casefold() not in known))


def _put(state: Counting, more: tuple[Next, ...]) -> Result:
    todo = (*state.todo, *more)
    last = more[-1] if more else None
    place = last.key if last and last.kind == "place" else state.place
    what = last.label if last and len(more) == 1 else state.place
    todo = tuple(sorted(todo, key=_along))
    first = max(0, todo.index(more[0]) - ABOVE) if len(more) == 1 else 0
    state = state._replace(todo=todo, place=place, first=first)
    return asking.told(state, GOOD, "count.listed", what=what, count=len(todo))


def _along(each: Next) -> tuple[Any, ...]:
    """Places as feet meet them, then products by their names."""
    return each.kind != "place", each.order, natural(each.key) if each.kind == "place" else natural(each.label)


def taken_off(state: Counting) -> Result:
    """The place scanned last, or else the last of the list, is not counted."""
    if not state.todo:
        return asking.told(state, WRONG, "count.nothing_to_undo")
    gone = next((each for each in state.todo if each.key == state.place), state.todo[-1])
    state = state._replace(todo=tuple(each for each in state.todo if each != gone), place="", first=0)
    return asking.told(state, GOOD, "count.off_list", what=gone.label or gone.key, count=len(state.todo))


def start(state: Counting) -> Result:
    """The first of the list."""
    if not state.todo:
        return asking.told(state, WRONG, "count.list_empty")
    return asking.begin(state, state.todo[0])


def later(state: Counting, context: Context) -> Result:
    """The next of the list; what is counted is sent first, and a place where nothing was counted waits at the end."""
    if state.counted:
        return asking.done(state, context)
    mine = asking.put_off(state).todo[: 1 if state.place else 0]
    return asking.begin(state._replace(todo=(*state.todo, *mine)), state.todo[0])
