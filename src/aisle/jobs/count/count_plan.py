"""Plan of a count: the list of targets that are counted one after the other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from aisle.jobs.count import finish_count
from aisle.jobs.count.count_state import CountState, CountTarget, Result
from aisle.jobs.job import Context, Query, Turn, reply
from aisle.jobs.typed_numbers_dates_and_letters import name_of
from aisle.jobs.view import GOOD, INFO, WRONG
from aisle.jobs.walk_order_sort_keys import NO_WALK_ORDER, natural_key
from aisle.row_values import to_decimal
from aisle.scan.grammar_and_meaning_types import LOCATION, PRODUCT, Match, Scan

if TYPE_CHECKING:
    from aisle.jobs.row_types.locations import LocationRow, LocationsRow


ROWS_ABOVE = 2
"""Rows shown above the target that was added last."""

MAX_AISLE_LOCATIONS = 500
"""Maximum number of locations of an aisle that are added at once."""


def show_plan(state: CountState) -> CountState:
    """Show the list of targets."""
    return state._replace(phase="list", first_row=0)


def add_scanned_to_plan(state: CountState, scan: Scan) -> Result:
    """Add a scanned location or product to the list; the walking order of a location is looked up first."""
    match = next((each for each in scan.matches if each.kind in (LOCATION, PRODUCT)), None)
    if match is None:
        return reply(state, WRONG, "page.not_this", what=name_of(scan.matches[0]))
    if any(is_same_target(each, match) for each in state.plan):
        return reply(state, INFO, "count.listed_before", what=match.label or match.key)
    if match.kind == PRODUCT:
        return _add_to_plan(state, (CountTarget("product", match.key, match.label or match.key),))
    state = state._replace(pending_scan=match)
    return Turn(state, (Query("listed", "location", {"location_code": match.key, "size": 0}),))


def is_same_target(target: CountTarget, match: Match) -> bool:
    """Return True if the target is this location or product."""
    kind = "location" if match.kind == LOCATION else "product"
    return target.kind == kind and target.key.casefold() == match.key.casefold()


def add_location(state: CountState, row: LocationRow | None) -> Result:
    """Add the scanned location to the list, at its position in the walk."""
    match, state = state.pending_scan, state._replace(pending_scan=None)
    if match is None:
        return Turn(state)
    order = to_decimal(row.get("location_order") if row else None, NO_WALK_ORDER)
    return _add_to_plan(state, (CountTarget("location", match.key, match.key, order),))


def query_aisle(state: CountState) -> Result:
    """Query all locations in the aisle of the location that was added last."""
    beside = next((each.key for each in reversed(state.plan) if each.key == state.location), "")
    if not beside:
        return reply(state, WRONG, "count.scan_location_first")
    return Turn(state, (Query("aisle", "locations", {"beside": beside, "first": 0, "size": MAX_AISLE_LOCATIONS}),))


def add_aisle(state: CountState, rows: Iterable[LocationsRow]) -> Result:
    """Add the locations of the aisle that are not on the list."""
    listed = {each.key.casefold() for each in state.plan if each.kind == "location"}
    codes = [(str(row["location_code"]), to_decimal(row.get("location_order"), NO_WALK_ORDER)) for row in rows]
    return _add_to_plan(
        state,
        tuple(CountTarget("location", code, code, order) for code, order in codes if code.casefold() not in listed),
    )


def _add_to_plan(state: CountState, targets: tuple[CountTarget, ...]) -> Result:
    last_added = max((each.added for each in state.plan), default=0)
    targets = tuple(each._replace(added=last_added + place) for place, each in enumerate(targets, 1))
    todo = (*state.plan, *targets)
    last = targets[-1] if targets else None
    location = last.key if last and last.kind == "location" else state.location
    what = last.label if last and len(targets) == 1 else state.location
    todo = tuple(sorted(todo, key=_in_walk_order))
    first = max(0, todo.index(targets[0]) - ROWS_ABOVE) if len(targets) == 1 else 0
    state = state._replace(plan=todo, location=location, first_row=first)
    return reply(state, GOOD, "count.listed", what=what, count=len(todo))


def _in_walk_order(target: CountTarget) -> tuple[Any, ...]:
    return (
        target.kind != "location",
        target.walk_order,
        natural_key(target.key) if target.kind == "location" else natural_key(target.label),
    )


def remove_from_plan(state: CountState) -> Result:
    """Remove the target that was added last from the list."""
    if not state.plan:
        return reply(state, WRONG, "pick.nothing_to_undo")
    removed = max(state.plan, key=lambda each: each.added)
    location = "" if removed.key == state.location else state.location
    state = state._replace(plan=tuple(each for each in state.plan if each != removed), location=location, first_row=0)
    return reply(state, GOOD, "count.removed_from_list", what=removed.label or removed.key, count=len(state.plan))


def start_plan(state: CountState) -> Result:
    """Start counting the first target of the list."""
    if not state.plan:
        return reply(state, WRONG, "count.list_empty")
    return finish_count.begin_count(state, state.plan[0])


def next_in_plan(state: CountState, context: Context) -> Result:
    """Go to the next target; send what is counted, and move a location with nothing counted to the end."""
    if state.counted_lines:
        return finish_count.finish_counting(state, context)
    postponed = finish_count.back_to_plan(state).plan[: 1 if state.location else 0]
    return finish_count.begin_count(state._replace(plan=(*state.plan, *postponed)), state.plan[0])
