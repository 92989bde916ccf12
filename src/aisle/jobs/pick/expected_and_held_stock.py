"""Stock at a location during a pick: expected there, held for other orders, and the warning about picking more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal

from aisle.jobs.job import format_number
from aisle.jobs.name_goods_and_locations import list_locations, measured
from aisle.jobs.pick.pick_line import PickedFrom, PickLine, same_location
from aisle.jobs.pick.pick_state import PickState
from aisle.jobs.stock_pool_names import pool_name
from aisle.jobs.sums_of_goods_and_progress import sum_by_key
from aisle.jobs.view import Msg, join_messages, msg, raw, signed_message


def exceeding_message(before: PickState, changes: Mapping[int, Decimal]) -> Msg | None:
    """Return the warning for a pick that exceeds the expected stock at the location; None if the stock suffices.
    `changes` maps line indexes to new picked quantities. The warning tells the picker that the stock is wrong and needs
    a count."""
    first = before.lines[min(changes)]
    more = sum((picked - before.lines[index].picked for index, picked in changes.items()), Decimal(0))
    left = _stock_left(before, first)
    if left is None or more <= left:
        return None
    args: dict[str, Decimal | str] = {"left": left, "place": first.location, "nowhere": more - left}
    if others := _other_pools_with_stock(first):
        pool = pool_name(before.pools, first.pool)
        texts = [f"{pool_name(before.pools, other)} {format_number(quantity)}" for other, quantity in others]
        return msg("pick.more_than_pool", **args, pool=pool, others=", ".join(texts))
    if held := held_for_others(before, first.product, first.location):
        count, orders = sum(held.values(), Decimal(0)), ", ".join(held)
        return msg("pick.more_than_free", **args, count=count, orders=orders)
    return msg("pick.more_than_stock", **args)


def picked_of_no_location(state: PickState, line: PickLine) -> Decimal:
    """Return how much was picked beyond the free stock at a location: the service books it at no location."""
    expected, taken = _expected_and_taken(state, line)
    return Decimal(0) if expected is None else max(Decimal(0), taken - expected)


def stock_changes(before: PickState, after: PickState, indexes: Iterable[int]) -> dict[str, Decimal]:
    """Return how the stock of each location, or of none (''), changes with the picked quantities of these lines."""
    changes: dict[str, Decimal] = {}
    lines: dict[str, PickLine] = {}
    for index in indexes:
        line = after.lines[index]
        known = (each for each in line.changes_since(before.lines[index]) if each.location)
        for location, pool, quantity in known:
            changes[location] = changes.get(location, Decimal(0)) - quantity
            lines[location] = line.at_location(location, pool)
    for location, line in lines.items():
        nowhere = picked_of_no_location(before, line) - picked_of_no_location(after, line)
        changes[location] -= nowhere
        changes[""] = changes.get("", Decimal(0)) + nowhere
    return {location: change for location, change in changes.items() if change}


def stock_changes_message(state: PickState, changes: Mapping[str, Decimal], unit: str) -> str | Msg:
    """Return the location where goods are put back, and how much without one; of several, how the stock of each
    changes, if the service learns of locations. It is empty without a location."""
    nowhere = changes.get("", Decimal(0))
    locations = [location for location in changes if location]
    if not state.learns_locations:
        return list_locations(locations) if locations else ""
    if nowhere > 0 and not locations:
        return msg("pick.at_no_location", count=nowhere)
    if nowhere > 0 and len(locations) == 1:
        return msg("pick.partly_at_no_location", place=locations[0], count=nowhere)
    if not nowhere and len(locations) < 2:
        return "".join(locations)
    names = [(raw(location) if location else msg("move.no_location_short"), location) for location in changes]
    return join_messages(
        [
            msg("pair", name=name, value=signed_message(changes[location], measured(abs(changes[location]), unit)))
            for name, location in names
        ]
    )


def is_without_stock(warning: Msg | None) -> bool:
    """Return True if a warning says that no stock was known at the location: the service books such a pick at none."""
    return warning is not None and warning.id == "pick.more_than_stock" and dict(warning.args)["left"] == 0


def _other_pools_with_stock(line: PickLine) -> list[tuple[int, Decimal]]:
    """Return the other pools with stock at the line's location when it was read, and their stock."""
    return [(each.pool, each.quantity) for each in line.stock_of_pools if each.pool != line.pool and each.quantity > 0]


def keep_read_stock(state: PickState, line: PickLine, known: PickLine | None) -> PickLine:
    """Return a line that was read again, with the stock figures of the first read unless the expected stock has
    changed. What others picked meanwhile did not change it."""
    if known is None or _stock_left_by_others(state, known) != line.expected_stock:
        return line
    by_others: tuple[PickedFrom, ...] = ()
    if line.picked_from != known.picked_from:
        before = (each._replace(quantity=-each.quantity) for each in known.picked_from)
        by_others = (*line.picked_from, *before)
    return line._replace(
        stock_when_read=known.stock_when_read,
        pool_stock_when_read=known.pool_stock_when_read,
        picked_from_when_read=(*known.picked_from_when_read, *by_others),
        stocked_locations=known.stocked_locations,
    )


def _stock_left_by_others(state: PickState, line: PickLine) -> Decimal | None:
    """Return the expected stock at the line's location, less all that was picked here since the line was read."""
    if line.expected_stock is None:
        return None
    picked_here = [each.picked_since_read(line.location, line.pool) for each in _lines_taking_same_goods(state, line)]
    return max(Decimal(0), line.expected_stock - sum(picked_here, Decimal(0)))


def _stock_left(state: PickState, line: PickLine) -> Decimal | None:
    """Return the stock left at the line's location, less what was picked since the read; None if it is unknown."""
    expected, taken = _expected_and_taken(state, line)
    return None if expected is None else max(Decimal(0), expected - taken)


def _expected_and_taken(state: PickState, line: PickLine) -> tuple[Decimal | None, Decimal]:
    """Return the stock at the line's location at the latest read, None if unknown, and what was picked since then."""
    found = [
        (each.at_location(line.location, line.pool).expected_stock, each.picked_since_read(line.location, line.pool))
        for each in _lines_taking_same_goods(state, line)
    ]
    expected = [stock for stock, _ in found if stock is not None]
    if not expected or not line.has_stock:
        return None, Decimal(0)
    latest = min(expected)  # the latest read: since then only these lines were picked from it
    return latest, sum((picked for stock, picked in found if stock == latest), Decimal(0))


def _lines_taking_same_goods(state: PickState, line: PickLine) -> list[PickLine]:
    """Return the lines of the same goods as this one, this one included: they are picked at its location, or were."""
    return [
        each
        for each in state.lines
        if each.product == line.product
        and (_is_from_same(each, line) or each.picked_since_read(line.location, line.pool))
    ]


def _is_from_same(other: PickLine, line: PickLine) -> bool:
    """Return True if another line is picked at the same location and, where pools count, from the same pool."""
    return same_location(other.location, line.location) and (other.pool == line.pool or not line.stock_of_pools)


def is_all_held(state: PickState, line: PickLine) -> bool:
    """Return True if goods at a line's location are held for orders that are not of this pick, and none are free."""
    free = (had for location, had in line.stock_when_read if same_location(location, line.location))
    return bool(held_for_others(state, line.product, line.location)) and sum(free, Decimal(0)) <= 0


def held_for_others(state: PickState, product: str, location: str) -> dict[str, Decimal]:
    """Return how much of a product is held at a location for orders that are not of this pick."""
    line = next((each for each in state.lines if each.product == product and each.held_at), None)
    own = {tote.order for tote in state.totes}
    held = (each for each in (line.held_at if line else ()) if same_location(each.location, location))
    return sum_by_key((each.order, each.quantity) for each in held if each.order not in own)
