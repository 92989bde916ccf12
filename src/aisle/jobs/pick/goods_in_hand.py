"""Goods in hand: what still has to be put down, the stock left at a location, and the names of stock pools."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from aisle.jobs.job import format_number
from aisle.jobs.pick.pick_state import PickState, find_tote
from aisle.jobs.pick.stops import PickLine, same_location, sum_in_hand, sum_pieces
from aisle.jobs.pools import pool_name
from aisle.jobs.view import Msg, msg


def exceeding_message(before: PickState, changes: Mapping[int, Decimal]) -> Msg | None:
    """Return the warning for a pick that exceeds the expected stock at the location; None if the stock suffices.
    `changes` maps line indexes to new picked quantities. The warning tells the picker that the stock is wrong and needs
    a count."""
    first = before.lines[min(changes)]
    more = sum((picked - before.lines[index].picked for index, picked in changes.items()), Decimal(0))
    left = _stock_left(before, first)
    if left is None or more <= left:
        return None
    if others := _other_pools_with_stock(first):
        pool = pool_name(before.pools, first.pool)
        texts = [f"{pool_name(before.pools, other)} {format_number(quantity)}" for other, quantity in others]
        return msg("pick.more_than_pool", left=left, place=first.location, pool=pool, others=", ".join(texts))
    return msg("pick.more_than_stock", left=left, place=first.location)


def _other_pools_with_stock(line: PickLine) -> list[tuple[int, Decimal]]:
    """Return the other pools with stock at the line's location when it was read, and their stock."""
    return [(each.pool, each.quantity) for each in line.stock_of_pools if each.pool != line.pool and each.quantity > 0]


def keep_read_stock(state: PickState, line: PickLine, known: PickLine | None) -> PickLine:
    """Return a line that was read again, with the stock figures of the first read unless the expected stock has
    changed."""
    if known is None or _expected_stock(state, known) != line.expected_stock:
        return line
    return line._replace(
        stock_when_read=known.stock_when_read,
        pool_stock_when_read=known.pool_stock_when_read,
        picked_when_read=known.picked_when_read,
        stocked_locations=known.stocked_locations,
    )


def _expected_stock(state: PickState, line: PickLine) -> Decimal | None:
    """Return the expected stock at the line's location, less all that was picked here since the line was read."""
    if line.expected_stock is None:
        return None
    return max(
        Decimal(0),
        line.expected_stock
        - sum((each.picked - each.picked_when_read for each in _same_product_here(state, line)), Decimal(0)),
    )


def _stock_left(state: PickState, line: PickLine) -> Decimal | None:
    """Return the stock left at the line's location, less what was picked since the read; None if it is unknown."""
    same_product = _same_product_here(state, line)
    expected = [each.expected_stock for each in same_product if each.expected_stock is not None]
    if not expected or not line.has_stock:
        return None
    latest = min(expected)  # the latest read: since then only these lines were picked from it
    taken = sum(
        (each.picked - each.picked_when_read for each in same_product if each.expected_stock == latest), Decimal(0)
    )
    return max(Decimal(0), latest - taken)


def _same_product_here(state: PickState, line: PickLine) -> list[PickLine]:
    return [
        each
        for each in state.lines
        if each.product == line.product
        and same_location(each.location, line.location)
        and (each.pool == line.pool or not line.stock_of_pools)
    ]


NOT_PUT_DOWN = "not_put_down"
"""Topic of the local note on an order that was left with goods not put down; its text is the user who has them."""


def quantity_to_put_down(state: PickState, line: PickLine) -> Decimal:
    """Return the quantity of a line that this picker has to put down. That is all of it, less the share of another
    picker who has the same order open."""
    tote = find_tote(state, line.order)
    return line.own_in_hand if tote and tote.other_pickers else line.in_hand


def has_goods_to_put_down(state: PickState, order: str = "") -> bool:
    """Return True if goods of the order, or of any order, have to be put down here."""
    return any(quantity_to_put_down(state, take) for take in state.lines if order in ("", take.order))


def pieces_to_put_down(state: PickState) -> Decimal:
    """Return the number of pieces to put down here; a measured line counts as one."""
    return sum_pieces((take, quantity_to_put_down(state, take)) for take in state.lines)


def pieces_in_hand(state: PickState, order: str = "") -> Decimal:
    """Return the number of pieces of the order, or of all orders, that any picker has in hand."""
    return sum_in_hand(take for take in state.lines if order in ("", take.order))


def pieces_of_others(state: PickState, order: str) -> Decimal:
    """Return the number of pieces of the order that other pickers have in hand."""
    return sum_pieces((take, take.in_hand - take.own_in_hand) for take in state.lines if take.order == order)


def orders_not_put_down(state: PickState) -> tuple[str, ...]:
    """Return the orders whose goods would be left at no location if this picker left now. Return none if no line has a
    location: such a store keeps no locations."""
    if not any(take.location for take in state.lines):
        return ()
    return tuple(tote.order for tote in state.totes if tote.has_lines and has_goods_to_put_down(state, tote.order))


def take_as_own(state: PickState, order: str) -> PickState:
    """Count all goods in hand of this order as this picker's own, because nobody else has the order open."""
    takes = (take._replace(own_picked=take.in_hand) if take.order == order else take for take in state.lines)
    return state._replace(lines=tuple(takes))


def quantity_to_return(state: PickState) -> Decimal:
    """Return the quantity that has to be put back."""
    return sum((goods.quantity for goods in state.to_return), Decimal(0))
