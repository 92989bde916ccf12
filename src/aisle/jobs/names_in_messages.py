"""Names in messages: of goods with their quantities, locations, stock pools, and lists that cannot be read."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple, Protocol

from aisle.jobs.job import Query
from aisle.jobs.view import MissingList, Msg, UnusableRows, join_messages, msg, raw, signed_message
from aisle.stored_messages import read_message

if TYPE_CHECKING:
    from aisle.jobs.row_types.people_stores_and_features import StoreRow


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


POOLS_QUERY = Query("store", "store", {})
LIVE_POOLS_QUERY = POOLS_QUERY._replace(is_live=True)


class Pool(NamedTuple):
    """Stock pool of the store."""

    number: int
    name: str = ""


Pools = tuple[Pool, ...]


def parse_pools(rows: tuple[StoreRow, ...]) -> Pools:
    """Return the pools of the store (rows of the query `store`), by number."""
    pools = rows[0].get("pools") or {} if rows else {}
    return tuple(sorted(Pool(int(number), str(name)) for number, name in pools.items()))


def pool_name(pools: Pools, *numbers: int) -> str:
    """Return the store's names for these pools; a pool without a name appears by its number."""
    names = dict(pools)
    return ", ".join(names.get(number) or str(number) for number in numbers)


def pool_message(pools: Pools, number: int) -> Msg:
    """Return the name of a pool as a message, or its number."""
    name = dict(pools).get(number)
    return raw(name) if name else msg("number", value=number)


LIST_NAMES = {
    "stores": "list.stores",
    "people": "list.people",
    "headers": "list.orders",
    "lines": "list.lines",
    "locations": "list.locations",
    "deliveries": "list.deliveries",
    "receipts": "list.receipts",
    "products": "list.products",
    "stock": "list.stock",
    "recounts": "list.recounts",
    "assignments": "list.assignments",
    "changes": "list.changes",
    "stock_changes": "list.stock_changes",
    "logs": "list.log",
}


def list_name(name: str) -> Msg:
    """Return the name of a list; an unknown list keeps its own name."""
    return msg(LIST_NAMES[name]) if name in LIST_NAMES else msg("raw", text=name)


def awaited_list(name: str) -> Msg:
    """Return the message that a list has not been read yet."""
    return msg("list.loading", what=list_name(name))


def unreadable_list(missing: MissingList) -> Msg:
    """Return the message that a list cannot be read, with the reason if known."""
    if not missing.why:
        return msg("list.unreadable", what=list_name(missing.name))
    return msg("list.unreadable_why", what=list_name(missing.name), why=read_message(missing.why))


def left_out_rows(rows: UnusableRows) -> Msg:
    """Return the message that rows of a list are unusable or repeated. `aisle doctor` names the faulty field."""
    if rows.is_repeated:
        return msg("list.repeated", count=rows.rows, what=list_name(rows.name))
    return msg("list.left_out", count=rows.rows, what=list_name(rows.name))
