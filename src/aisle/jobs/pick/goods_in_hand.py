"""Says when more is taken at a place than lies there by the books: the stock is wrong, and somebody has to count."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs.job import Query, Rows
from aisle.jobs.pick.pick_state import PickState, find_tote
from aisle.jobs.pick.stops import PickLine, same_location, sum_in_hand, sum_pieces
from aisle.jobs.view import Msg, msg


def exceeding_message(before: PickState, changes: Mapping[int, Decimal]) -> Msg | None:
    """What is said beside a take that brings lines to these quantities; None where the books have as many."""
    first = before.lines[min(changes)]
    more = sum((picked - before.lines[index].picked for index, picked in changes.items()), Decimal(0))
    left = _stock_left(before, first)
    if left is None or more <= left:
        return None
    return msg("pick.beyond", left=left, place=first.location)


def keep_read_stock(state: PickState, line: PickLine, known: PickLine | None) -> PickLine:
    """A line that was read again, with the stock as it was read first where that tells the same: only news are kept."""
    if known is None or _expected_stock(state, known) != line.expected_stock:
        return line
    return line._replace(
        stock_when_read=known.stock_when_read,
        picked_when_read=known.picked_when_read,
        stocked_locations=known.stocked_locations,
    )


def _expected_stock(state: PickState, line: PickLine) -> Decimal | None:
    """What the books should have at the place of a line, after all that was taken here since they were read."""
    if line.expected_stock is None:
        return None
    return max(
        Decimal(0),
        line.expected_stock
        - sum((each.picked - each.picked_when_read for each in _same_product_here(state, line)), Decimal(0)),
    )


def _stock_left(state: PickState, line: PickLine) -> Decimal | None:
    """What is left at the place of a line by the books, after what was taken since they were read."""
    alike = _same_product_here(state, line)
    known = [each.expected_stock for each in alike if each.expected_stock is not None]
    if not known or not line.has_stock:
        return None
    lately = min(known)  # read last: since then only these lines took anything
    taken = sum((each.picked - each.picked_when_read for each in alike if each.expected_stock == lately), Decimal(0))
    return max(Decimal(0), lately - taken)


def _same_product_here(state: PickState, line: PickLine) -> list[PickLine]:
    """The lines of the same product at the same location."""
    return [
        each for each in state.lines if each.product == line.product and same_location(each.location, line.location)
    ]


NOT_PUT_DOWN = "lying"
"""The remark that an order was left with goods of it at no place; whose they are is its text."""


def quantity_to_put_down(state: PickState, line: PickLine) -> Decimal:
    """What of a line whoever picks here has to put down: all of it, but for what somebody has who picks it too."""
    tote = find_tote(state, line.order)
    return line.own_in_hand if tote and tote.other_pickers else line.in_hand


def has_goods_to_put_down(state: PickState, order: str = "") -> bool:
    """Whether anything of the order, or of any, is to be put down here."""
    return any(quantity_to_put_down(state, take) for take in state.lines if order in ("", take.order))


def pieces_to_put_down(state: PickState) -> Decimal:
    """How many pieces are to be put down here; what is measured counts as one."""
    return sum_pieces((take, quantity_to_put_down(state, take)) for take in state.lines)


def pieces_in_hand(state: PickState, order: str = "") -> Decimal:
    """How many pieces of the order, or of all, are picked and not put down, in whoever's hand."""
    return sum_in_hand(take for take in state.lines if order in ("", take.order))


def pieces_of_others(state: PickState, order: str) -> Decimal:
    """How many pieces of the order are picked and not put down, in the hands of others."""
    return sum_pieces((take, take.in_hand - take.own_in_hand) for take in state.lines if take.order == order)


def orders_not_put_down(state: PickState) -> tuple[str, ...]:
    """The orders of which whoever leaves now has goods that are at no place; nobody lays any where no place is kept."""
    if not any(take.location for take in state.lines):
        return ()
    return tuple(tote.order for tote in state.totes if tote.has_lines and has_goods_to_put_down(state, tote.order))


def take_as_own(state: PickState, order: str) -> PickState:
    """Nobody else has this order in hand: what is picked of it and not put down is here."""
    takes = (take._replace(own_picked=take.in_hand) if take.order == order else take for take in state.lines)
    return state._replace(lines=tuple(takes))


def quantity_to_return(state: PickState) -> Decimal:
    """How much is to be put back."""
    return sum((back.quantity for back in state.to_return), Decimal(0))


POOL_NAMES_QUERY = "store"
"""The read that has them, and the id of its query."""

QUERY_POOL_NAMES = Query(POOL_NAMES_QUERY, POOL_NAMES_QUERY, {}, is_live=True)


def with_pool_names(state: PickState, answer: Rows) -> PickState:
    """The round with the names that the store has for its pools."""
    row: Mapping[str, Any] = answer.rows[0] if answer.rows else {}
    return state._replace(pool_names=tuple((int(pool), str(name)) for pool, name in (row.get("pools") or {}).items()))


def format_pool_names(state: PickState, pools: Iterable[int]) -> str:
    """These pools by their names, one that has none by its number."""
    known = dict(state.pool_names)
    return ", ".join(known.get(pool) or str(pool) for pool in pools)
