"""What lies where goods are taken, as far as it was read: of a stockroom that is one place only what is touched."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs.amounts import number
from aisle.jobs.base import Query
from aisle.jobs.move import carrying
from aisle.jobs.move.moving import ZERO, Lying, Moving, Part, shelf_of

MOST = 200
"""Products of a place that are read when goods are taken there; of more the others come when they are scanned."""

ALL = "all"
"""The query for all that lies at a place, and its id."""

ABOUT_GOODS = ("fit", "over", "held", "forget")
"""Ways out of a question about goods that somebody has in his hands: until it is answered, nothing else is taken."""


def asked(id_: str, place: str) -> Query:
    """Asks what lies there, as far as people see it at once."""
    return Query(id_, "place", {"location_code": place, "size": MOST})


def asked_for(state: Moving, product: str) -> Query:
    """Asks whether a product lies here of which nothing was read."""
    return Query("here", "place", {"location_code": state.place, "product_number": product})


def asked_again(state: Moving) -> Query:
    """Asks what of it lies here now."""
    return asked("again", state.place) if state.partly else Query("again", "place", {"location_code": state.place})


def asked_for_all(state: Moving) -> Query:
    """Asks for all of it."""
    return Query(ALL, "place", {"location_code": state.place})


def is_asked(state: Moving) -> bool:
    """Whether goods were counted that nobody has said yet how many of, or whose, are meant."""
    return any(way.kind in ABOUT_GOODS for way in state.ways)


def refreshed(state: Moving, row: Mapping[str, Any] | None) -> Moving:
    """What the books say now; what was taken here stands against that."""
    if row is None:
        return state._replace(shelf=(), known=False, partly=False, lying=0, default=0)
    shelf = shelf_of(row)
    lying = int(number(row.get("total"), Decimal(len(shelf))))
    unnamed = bool(row.get("unnamed"))
    state = state._replace(known=True, partly=lying > len(shelf), lying=lying, unnamed=unnamed)
    shelf = (*shelf, *_asked_of(state, shelf))
    hand = tuple(_against(part, shelf, state) for part in state.hand)
    return state._replace(shelf=shelf, default=int(number(row.get("default_stock_pool"))), hand=hand)


def with_found(state: Moving, row: Mapping[str, Any] | None) -> Moving:
    """The shelf with a product that was asked for by name, where it lies here."""
    return state._replace(shelf=(*state.shelf, *(shelf_of(row) if row else ())))


def _asked_of(state: Moving, shelf: tuple[Lying, ...]) -> tuple[Lying, ...]:
    """What is asked about and does not lie here by the books: none of it, or its answer would take nothing. Where not
    all was read it is as it was."""
    product = state.pending.key if is_asked(state) and state.pending else ""
    if any(each.product == product for each in shelf):
        return ()
    found = tuple(each for each in state.shelf if each.product == product)
    return found if state.partly else tuple(each._replace(free=ZERO, pools=(), held=()) for each in found)


def _against(part: Part, shelf: tuple[Lying, ...], state: Moving) -> Part:
    if part.place.casefold() != state.place.casefold():
        return part
    lying = next((each for each in shelf if each.product == part.product), None)
    if lying is None and state.partly:
        return part
    if part.order:
        held = [hold for hold in (lying.held if lying else ()) if (hold.order, hold.line) == (part.order, part.line)]
        return part._replace(books=held[0].quantity if held else ZERO)
    if lying is None:
        return part._replace(books=ZERO, pools=())
    fresh = carrying.part_of(lying, part.place, part.pool)
    return part._replace(books=fresh.books, pools=fresh.pools)
