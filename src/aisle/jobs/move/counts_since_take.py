"""Counts of the location of goods in hand, made by others since these were taken: they lack the goods already.

The stock here is shown with them, as if they were still there, so that no page takes them for missing. The service is
told when they were taken, and takes them off the stock once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aisle.jobs.count.count_state import LaterCount
from aisle.jobs.job import Close, Context, Effect, Query, Turn, Write
from aisle.jobs.move.goods_in_hand import find_goods
from aisle.jobs.move.move_state_and_rows import Goods, MoveState, Result, Take
from aisle.jobs.name_goods_and_locations import amount_of
from aisle.jobs.view import Msg, msg

if TYPE_CHECKING:
    from aisle.jobs.row_types.log import LaterCountsRow

COUNTS_QUERY = "counts_since_take"
"""Id of the query for these counts."""


def query_counts(state: MoveState) -> Query | None:
    """Return the query for counts since goods in hand were taken; None without goods from a location."""
    taken = [part for part in state.in_hand if part.location and part.takes]
    goods = [[part.product, part.location, part.pool, part.takes[0].at] for part in taken]
    return Query(COUNTS_QUERY, "later_counts", {"goods": goods}) if goods else None


def with_counts(state: MoveState, rows: tuple[LaterCountsRow, ...]) -> MoveState:
    """Return the state with the last count of the location of each of its goods in hand."""
    found = {
        (row["product_number"], row["location_code"], row["pool"]): LaterCount(
            row["user_name"], row["counted_quantity"], row["at"]
        )
        for row in rows
    }
    in_hand = (part._replace(later=found.get((part.product, part.location, part.pool))) for part in state.in_hand)
    return state._replace(in_hand=tuple(in_hand))


def goods_before_counts(state: MoveState) -> tuple[Goods, ...]:
    """Return the goods in hand with the quantities that counts of their locations lack."""
    lacking = (part._replace(quantity=part.taken_before_count) for part in state.in_hand)
    return tuple(part for part in lacking if part.quantity)


def count_goods_in_hand(state: MoveState, location: str, context: Context) -> MoveState:
    """Return the state after a count of a location that this job has opened: its goods in hand were counted, too."""
    return state._replace(
        in_hand=tuple(
            part._replace(takes=(Take(part.quantity, context.now),), later=None)
            if part.location.casefold() == location.casefold()
            else part
            for part in state.in_hand
        )
    )


def report_goods_put_back(before: MoveState, turn: Result) -> Result:
    """Add to the verdict that somebody counted the location without the goods that are put back there."""
    detail = _counted_without(before, turn.state)
    if detail is None or any(isinstance(effect, Write) for effect in turn.effects):
        return turn
    told = turn.verdict and turn.verdict._replace(detail=detail)
    return Turn(turn.state, tuple(_with_detail(effect, detail) for effect in turn.effects), told)


def _with_detail(effect: Effect, detail: Msg) -> Effect:
    """Return an effect whose verdict is shown on the page below with this detail."""
    if not isinstance(effect, Close) or effect.verdict is None:
        return effect
    return effect._replace(verdict=effect.verdict._replace(detail=detail))


def _counted_without(before: MoveState, after: MoveState) -> Msg | None:
    """Return who counted a location without goods that were in hand and are no longer; None if nobody did."""
    for part in before.in_hand:
        index = find_goods(after.in_hand, part)
        left = after.in_hand[index].taken_before_count if index >= 0 else 0
        if part.later and left < part.taken_before_count:
            name, counted, at = part.later
            return msg("count.counted_later", name=name, counted=amount_of(part, counted), at=at)
    return None
