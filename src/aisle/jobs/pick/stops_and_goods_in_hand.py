"""Stops of a pick: the next one in walking order, the stock expected and held there, and the goods in hand.

One line: `pick_line`. Lines are filled in `picked_quantities_and_operations`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal

from aisle.jobs.job import format_number
from aisle.jobs.names_in_messages import GoodsAmount, goods_message, list_locations, measured, pool_name, unit_of
from aisle.jobs.pick.pick_line import (
    PickedFrom,
    PickLine,
    same_location,
    sort_stops,
    sum_in_hand,
    sum_line_goods,
    sum_pieces,
)
from aisle.jobs.pick.pick_state import GoodsToReturn, PickState, UndoStep, find_tote, tote_letter
from aisle.jobs.sums_of_goods_and_progress import GoodsSum, goods_text, sum_by_key
from aisle.jobs.view import Msg, join_messages, msg, raw, signed_message


def with_lines(state: PickState, lines: Iterable[PickLine]) -> PickState:
    """Return the pick with these lines in walking order, at the same stop as before or at the next open one."""
    before = state.current_line
    state = state._replace(lines=_in_walk_order(state, lines), current_index=-1)
    if before is None:
        return go_to_next_stop(state)
    same_index = index_of_line(state, before)
    if same_index < 0 or state.lines[same_index].stop_key != before.stop_key:
        return go_to_next_stop(state, _index_after(state, before))
    state = state._replace(current_index=same_index)
    open_ = [index for index in lines_of_stop(state, same_index) if state.lines[index].is_open]
    return go_to_line(state, open_[0]) if open_ else go_to_next_stop(state, same_index)


def _in_walk_order(state: PickState, lines: Iterable[PickLine]) -> tuple[PickLine, ...]:
    ranks = {tote.order: index for index, tote in enumerate(state.totes)}
    in_order = sort_stops(lines, {"": -1, **ranks})
    priority_stops = _priority_stops(state, in_order)
    return tuple(sorted(in_order, key=lambda line: line.stop_key not in priority_stops)) if priority_stops else in_order


def _priority_stops(state: PickState, lines: Iterable[PickLine]) -> frozenset[tuple[str, str, int, str]]:
    priority_orders = {tote.order for tote in state.totes if tote.is_priority}
    return (
        frozenset(line.stop_key for line in lines if line.order in priority_orders and line.is_open)
        if priority_orders
        else frozenset()
    )


def _index_after(state: PickState, before: PickLine) -> int:
    """Return the index of the first line at the location of an earlier line, or after it in the walk."""
    mark = before._replace(order="", line=-1)
    return _in_walk_order(state, (*state.lines, mark)).index(mark) % max(1, len(state.lines))


def go_to_next_stop(state: PickState, start: int = 0, *, first: bool = True) -> PickState:
    """Go to the first open stop from index `start` on, wrapping at the end; to none when all are picked. Stops of
    priority orders come first if `first` is True."""
    count = len(state.lines)
    open_ = [index for index in ((start + step) % count for step in range(count)) if state.lines[index].is_open]
    if open_:
        priority_stops = _priority_stops(state, state.lines) if first else frozenset()
        return go_to_line(
            state, next((index for index in open_ if state.lines[index].stop_key in priority_stops), open_[0])
        )
    state = state._replace(current_index=-1, location="", is_quantity_open=False, is_pack_asked=False)
    return state._replace(phase="done" if count else state.phase)


def go_to_line(state: PickState, index: int) -> PickState:
    """Go to the stop of this line."""
    line, was = state.lines[index], state.current_line
    location = state.location if line.location and line.location.casefold() == state.location.casefold() else ""
    is_same_stop = was is not None and was.stop_key == line.stop_key
    is_open, is_pack_asked = state.is_quantity_open and is_same_stop, state.is_pack_asked and is_same_stop
    first = next((each for each in lines_of_stop(state, index) if state.lines[each].is_open), index)
    state = state._replace(is_pack_asked=is_pack_asked)
    return state._replace(current_index=first, location=location, is_quantity_open=is_open, phase="picking")


def index_of_line(state: PickState, line: PickLine) -> int:
    """Return the index of this line of its order; -1 if the pick no longer has it."""
    return next((index for index, each in enumerate(state.lines) if each.key == line.key), -1)


def lines_of_stop(state: PickState, index: int) -> tuple[int, ...]:
    """Return the indexes of all lines of this line's stop, except those closed short or awaited from the warehouse."""
    if not 0 <= index < len(state.lines):
        return ()
    product, stop = state.lines[index].product, state.lines[index].stop_key
    of_product = ((each, line) for each, line in enumerate(state.lines) if line.product == product)
    return tuple(each for each, line in of_product if line.stop_key == stop and not (line.is_short or line.is_awaited))


def current_stop_lines(state: PickState) -> list[PickLine]:
    """Return the lines of the stop on the screen."""
    return [state.lines[index] for index in lines_of_stop(state, state.current_index)]


def ordered_at_stop(state: PickState) -> Decimal:
    """Return the quantity ordered at the stop on the screen."""
    _, of, _ = sum_lines(current_stop_lines(state))
    return of


def awaited_goods(lines: Iterable[PickLine]) -> Msg | None:
    """Return what is to come from the warehouse, which is no stop of the walk; None if nothing is."""
    awaited = [
        GoodsAmount(line.product, line.label, line.remaining, unit_of(line)) for line in lines if line.is_awaited
    ]
    return goods_message("pick.from_warehouse", awaited) if awaited else None


def sum_lines(lines: Iterable[PickLine]) -> tuple[Decimal, Decimal, Decimal]:
    """Return the sums (picked, ordered, still to be picked) of these lines."""
    all_lines = list(lines)
    zero = Decimal(0)
    picked, of = sum((line.picked for line in all_lines), zero), sum((line.ordered for line in all_lines), zero)
    return picked, of, sum((line.remaining for line in all_lines if line.is_open), zero)


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


NOT_PUT_DOWN = "not_put_down"
"""Topic of the local note on an order that was left with goods not put down; its text is the user who has them."""


def quantity_to_put_down(state: PickState, line: PickLine) -> Decimal:
    """Return the quantity of a line that this picker has to put down. That is all of it, less the share of another
    picker who has the same order open, here or on another host."""
    tote = find_tote(state, line.order)
    return line.own_in_hand if tote and (tote.other_pickers or tote.is_shared) else line.in_hand


def quantity_of_others(state: PickState, line: PickLine) -> Decimal:
    """Return the quantity of a line that pickers who have the same order open have in hand."""
    return line.in_hand - quantity_to_put_down(state, line)


def sum_of_others(state: PickState, lines: Iterable[PickLine]) -> Decimal:
    """Return the quantity of these lines that other pickers have in hand."""
    return sum((quantity_of_others(state, line) for line in lines), Decimal(0))


def has_goods_to_put_down(state: PickState, order: str = "") -> bool:
    """Return True if goods of the order, or of any order, have to be put down here."""
    return any(quantity_to_put_down(state, line) for line in state.lines if order in ("", line.order))


def pieces_to_put_down(state: PickState) -> Decimal:
    """Return the number of pieces to put down here; a measured line counts as one."""
    return sum_pieces((line, quantity_to_put_down(state, line)) for line in state.lines)


def pieces_in_hand(state: PickState, order: str = "") -> Decimal:
    """Return the number of pieces of the order, or of all orders, that any picker has in hand."""
    return sum_in_hand(line for line in state.lines if order in ("", line.order))


def goods_in_hand(state: PickState, order: str = "") -> Decimal | Msg:
    """Return the goods of the order, or of all orders, that any picker has in hand, such as "2 pieces, 6 l"."""
    return goods_text(sum_line_goods((line, line.in_hand) for line in state.lines if order in ("", line.order)))


def goods_of_others(state: PickState, order: str) -> GoodsSum:
    """Return the goods of the order that other pickers have in hand."""
    return sum_line_goods((line, line.in_hand - line.own_in_hand) for line in state.lines if line.order == order)


def orders_not_put_down(state: PickState) -> tuple[str, ...]:
    """Return the orders whose goods would be left at no location if this picker left now. Return none if no line has a
    location: such a store keeps no locations."""
    if not any(line.location for line in state.lines):
        return ()
    return tuple(tote.order for tote in state.totes if tote.has_lines and has_goods_to_put_down(state, tote.order))


def take_as_own(state: PickState, order: str) -> PickState:
    """Count all goods in hand of this order as this picker's own, because nobody else has the order open."""
    lines = (line._replace(own_picked=line.in_hand) if line.order == order else line for line in state.lines)
    return state._replace(lines=tuple(lines))


def quantity_to_return(state: PickState) -> Decimal:
    """Return the quantity that has to be put back."""
    return sum((goods.quantity for goods in state.to_return), Decimal(0))


def without_order(state: PickState, order: str, reason: str) -> PickState:
    """Return the pick without an order; its goods in this picker's hand have to be put back."""
    letter = tote_letter(state, order)
    goods = tuple(
        GoodsToReturn(
            letter,
            reason,
            line.product,
            line.label,
            source.quantity,
            source.location,
            order=order,
            pool=source.pool,
            line=line,
        )
        for line in state.lines
        if line.order == order
        for source in line.sources_in_hand
    )
    totes = tuple(tote for tote in state.totes if tote.order != order)
    questions = tuple(choice for choice in state.take_over_choices if choice.key != order)
    history = _history_without_order(state.history, order)
    left = state._replace(
        totes=totes,
        to_return=(*state.to_return, *goods),
        choices=(),
        take_over_choices=questions,
        only_order="",
        history=history,
    )
    return with_lines(left, [line for line in state.lines if line.order != order])


def _history_without_order(history: Iterable[UndoStep], order: str) -> tuple[UndoStep, ...]:
    """Return the steps that can still be undone without an order. If the order comes back, its lines keep the state
    they have then, whatever was done before."""
    steps = (
        step._replace(
            lines_before=tuple(each for each in step.lines_before if each.order != order),
            sources_before=tuple(each for each in step.sources_before if each.order != order),
        )
        for step in history
    )
    return tuple(step for step in steps if step != UndoStep(location=step.location, at=step.at))
