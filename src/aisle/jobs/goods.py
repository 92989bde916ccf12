"""Names goods in a message: how many of which product, one product or several together."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from aisle.jobs.view import Msg, msg, raw, signed
from aisle.tuples import NamedTuple


class Goods(NamedTuple):
    """So many of one product. `unit` is empty for pieces."""

    key: str
    """Number of the product, or what else tells these goods from others."""
    label: str
    quantity: Decimal
    unit: str = ""
    is_change: bool = False
    """The quantity is a change of the stock, and is shown with its sign."""


def merged(goods: Iterable[Goods]) -> tuple[Goods, ...]:
    """Adds up what is said of one product more than once, in the order in which the products come first."""
    found: dict[tuple[str, str], Goods] = {}
    for each in goods:
        known = found.get((each.key, each.unit))
        found[each.key, each.unit] = each._replace(quantity=each.quantity + known.quantity) if known else each
    return tuple(found.values())


def about(one: str, many: str, goods: Iterable[Goods], **args: str | int | Decimal | Msg) -> Msg:
    """Says `one` of a single product (its arguments: quantity, label), `many` of several (count, goods)."""
    given = merged(goods)
    if len(given) == 1:
        return msg(one, quantity=amount(given[0]), label=given[0].label, **args)
    return msg(many, count=len(given), goods=listed(given), **args)


def amount(goods: Goods) -> Decimal | Msg:
    """The quantity with its unit, where it has one, and with its sign, where it is a change."""
    if goods.is_change:
        return signed(goods.quantity)
    return msg("move.measure", quantity=goods.quantity, unit=goods.unit) if goods.unit else goods.quantity


def listed(goods: Iterable[Goods]) -> Msg:
    """Every product with its quantity; where there is no room, how many products and how much in all."""
    given = merged(goods)
    names = [msg("goods.one", quantity=amount(each), label=each.label) for each in given]
    whole = names[-1] if names else raw("")
    for name in reversed(names[:-1]):
        whole = msg("goods.and", first=name, rest=whole)
    return msg("goods.many", count=len(given), list=whole)


def at(place: str) -> Msg:
    """Ends a sentence with a place; nothing for no place."""
    return msg("goods.at", place=place) if place else raw("")


def places(codes: Iterable[str]) -> Msg:
    """Names each place once; an empty code is no place."""
    given = list(dict.fromkeys(codes))
    names = [raw(code) if code else msg("move.no_place_short") for code in given]
    whole = names[-1]
    for name in reversed(names[:-1]):
        whole = msg("goods.and", first=name, rest=whole)
    return whole
