"""Says when more is taken at a place than lies there by the books: the stock is wrong, and somebody has to count."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from aisle.jobs.pick.picking import Picking
from aisle.jobs.pick.walk import Take, same_location
from aisle.jobs.view import Msg, msg


def said(before: Picking, changes: Mapping[int, Decimal]) -> Msg | None:
    """What is said beside a take that brings lines to these quantities; None where the books have as many."""
    first = before.takes[min(changes)]
    more = sum((picked - before.takes[index].picked for index, picked in changes.items()), Decimal(0))
    left = _left(before, first)
    if left is None or more <= left:
        return None
    return msg("pick.beyond", left=left, place=first.place)


def kept(state: Picking, fresh: Take, mine: Take | None) -> Take:
    """A line that was read again, with the stock as it was read first where that tells the same: only news are kept."""
    if mine is None or _expected(state, mine) != fresh.books:
        return fresh
    return fresh._replace(stock=mine.stock, read=mine.read, lies=mine.lies)


def _expected(state: Picking, take: Take) -> Decimal | None:
    """What the books should have at the place of a line, after all that was taken here since they were read."""
    if take.books is None:
        return None
    return max(Decimal(0), take.books - sum((each.picked - each.read for each in _alike(state, take)), Decimal(0)))


def _left(state: Picking, take: Take) -> Decimal | None:
    """What is left at the place of a line by the books, after what was taken since they were read."""
    alike = _alike(state, take)
    known = [each.books for each in alike if each.books is not None]
    if not known or not take.stocked:
        return None
    lately = min(known)  # read last: since then only these lines took anything
    taken = sum((each.picked - each.read for each in alike if each.books == lately), Decimal(0))
    return max(Decimal(0), lately - taken)


def _alike(state: Picking, take: Take) -> list[Take]:
    """The lines of the same product at the same location."""
    return [each for each in state.takes if each.product == take.product and same_location(each.place, take.place)]
