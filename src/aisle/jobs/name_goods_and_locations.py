"""Messages that name goods with their quantities, and locations."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import NamedTuple, Protocol

from aisle.jobs.view import Msg, join_messages, msg, raw, signed_message


class GoodsAmount(NamedTuple):
    """Quantity of one product. `unit` is empty for pieces."""

    key: str
    """Product number, or another key that tells these goods from others."""
    label: str
    quantity: Decimal
    unit: str = ""
    is_change: bool = False
    """True if the quantity is a change of stock and is shown with its sign."""
    is_estimate: bool = False
    """True if the service has not confirmed the quantity."""


def merge_goods(goods: Iterable[GoodsAmount]) -> tuple[GoodsAmount, ...]:
    """Add up the quantities of each product, in the order of first appearance."""
    found: dict[tuple[str, str], GoodsAmount] = {}
    for each in goods:
        known = found.get((each.key, each.unit))
        found[each.key, each.unit] = each._replace(quantity=each.quantity + known.quantity) if known else each
    return tuple(found.values())


def goods_message(id_: str, goods: Iterable[GoodsAmount], **args: str | int | Decimal | Msg) -> Msg:
    """Return a message that names goods: a single product, or a list."""
    given = merge_goods(goods)
    one = len(given) == 1
    named = msg("goods.one", quantity=goods_quantity(given[0]), label=given[0].label) if one else list_goods(given)
    return msg(id_, goods=named, **args)


def goods_quantity(goods: GoodsAmount) -> Decimal | Msg:
    """Return the quantity with its unit, and with its sign if it is a change."""
    if goods.is_change:
        change = signed_message(goods.quantity, measured(abs(goods.quantity), goods.unit))
        return msg("estimate", value=change) if goods.is_estimate else change
    return measured(goods.quantity, goods.unit)


class MeasurableGoods(Protocol):
    """Goods that are counted in pieces, or measured in their unit if they allow decimals."""

    @property
    def unit(self) -> str: ...

    @property
    def allows_decimals(self) -> bool: ...


def unit_of(goods: MeasurableGoods) -> str:
    """Return the unit of goods that are measured; empty for pieces."""
    return goods.unit if goods.allows_decimals else ""


def amount_of(goods: MeasurableGoods, quantity: Decimal) -> Decimal | Msg:
    """Return a quantity of goods, with the unit if they are measured."""
    return measured(quantity, unit_of(goods))


def measured(quantity: Decimal | Msg, unit: str | None) -> Decimal | Msg:
    """Return a quantity with its unit, which is empty for pieces."""
    return msg("move.measure", quantity=quantity, unit=unit) if unit else quantity


def plain_amount(value: str | int | Decimal | Msg) -> str | int | Decimal | Msg:
    """Return the number of a quantity with its unit; another value as it is."""
    if isinstance(value, Msg) and value.id == "move.measure":
        return dict(value.args)["quantity"]
    return value


def list_goods(goods: Iterable[GoodsAmount]) -> Msg:
    """Return a list of products and quantities. If it does not fit, the screen shows only the number of products."""
    given = merge_goods(goods)
    names = [msg("goods.one", quantity=goods_quantity(each), label=each.label) for each in given]
    return msg("goods.many", count=len(given), list=join_messages(names))


def at_location(location: str | Msg) -> Msg:
    """Return the end of a sentence that names a location; empty for no location."""
    return msg("goods.at", place=location) if location else raw("")


def list_locations(codes: Iterable[str]) -> Msg:
    """Return a list that names each location once. An empty code means no location."""
    return join_messages([raw(code) if code else msg("move.no_location_short") for code in dict.fromkeys(codes)])


def how_much_prompt(label: str, unit: str) -> Msg:
    """Return the prompt for the quantity of a scanned pack that does not say it."""
    return msg("session.type_in", label=label, unit=unit) if unit else msg("session.type_how_much", label=label)
