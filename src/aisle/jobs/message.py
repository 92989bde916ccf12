"""Names goods in a message: how many of which product, one product or several together."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple, NewType

from aisle.jobs.view import MissingList, Msg, UnusableRows, msg, raw, signed_message
from aisle.json_codec import from_text, to_text


class GoodsAmount(NamedTuple):
    """So many of one product. `unit` is empty for pieces."""

    key: str
    """Number of the product, or what else tells these goods from others."""
    label: str
    quantity: Decimal
    unit: str = ""
    is_change: bool = False
    """The quantity is a change of the stock, and is shown with its sign."""


def merge_goods(goods: Iterable[GoodsAmount]) -> tuple[GoodsAmount, ...]:
    """Adds up what is said of one product more than once, in the order in which the products come first."""
    found: dict[tuple[str, str], GoodsAmount] = {}
    for each in goods:
        known = found.get((each.key, each.unit))
        found[each.key, each.unit] = each._replace(quantity=each.quantity + known.quantity) if known else each
    return tuple(found.values())


def goods_message(one: str, many: str, goods: Iterable[GoodsAmount], **args: str | int | Decimal | Msg) -> Msg:
    """Says `one` of a single product (its arguments: quantity, label), `many` of several (count, goods)."""
    given = merge_goods(goods)
    if len(given) == 1:
        return msg(one, quantity=goods_quantity(given[0]), label=given[0].label, **args)
    return msg(many, count=len(given), goods=list_goods(given), **args)


def goods_quantity(goods: GoodsAmount) -> Decimal | Msg:
    """The quantity with its unit, where it has one, and with its sign, where it is a change."""
    if goods.is_change:
        return signed_message(goods.quantity)
    return msg("move.measure", quantity=goods.quantity, unit=goods.unit) if goods.unit else goods.quantity


def list_goods(goods: Iterable[GoodsAmount]) -> Msg:
    """Every product with its quantity; where there is no room, how many products and how much in all."""
    given = merge_goods(goods)
    names = [msg("goods.one", quantity=goods_quantity(each), label=each.label) for each in given]
    whole = names[-1] if names else raw("")
    for name in reversed(names[:-1]):
        whole = msg("goods.and", first=name, rest=whole)
    return msg("goods.many", count=len(given), list=whole)


def at_location(location: str) -> Msg:
    """Ends a sentence with a place; nothing for no place."""
    return msg("goods.at", place=location) if location else raw("")


def list_locations(codes: Iterable[str]) -> Msg:
    """Names each place once; an empty code is no place."""
    given = list(dict.fromkeys(codes))
    names = [raw(code) if code else msg("move.no_place_short") for code in given]
    whole = names[-1]
    for name in reversed(names[:-1]):
        whole = msg("goods.and", first=name, rest=whole)
    return whole


StoredMessage = NewType("StoredMessage", str)
"""Text of a column, and of an answer, that people read: made by `told` or `outside`, and by nobody else."""

NO_MESSAGE = StoredMessage("")
STORABLE_PREFIXES = ("told.", "doubts.how_", "doubts.way_")
"""How the ids of messages begin that are kept."""

DETAIL_ARGUMENT = "detail"
"""An argument that no sentence has: what an operator wants to know besides, as it came."""

_MESSAGE_MARK = '{"@":"Msg"'
_RAW_ID = "raw"


def store_message(id_: str, **args: str | int | Decimal | Msg) -> StoredMessage:
    """A message of ours as it is kept. What is kept itself and is an argument goes in by `words`."""
    return StoredMessage(to_text(Msg(id_, tuple(args.items()))))


def store_text(text: str) -> StoredMessage:
    """Somebody else's words: the service's own, or what a person typed. They are kept as they are, also where they
    look like a message of ours."""
    return (
        StoredMessage(to_text(Msg(_RAW_ID, (("text", text),))))
        if text.startswith(_MESSAGE_MARK)
        else StoredMessage(text)
    )


@lru_cache(maxsize=256)
def read_message(text: str) -> Msg:
    """What a kept text says, to be shown; what is no message of ours is itself."""
    return _parse_message(text) or Msg(_RAW_ID, (("text", text),))


def is_stored_message(text: str, id_: str = "") -> bool:
    """Whether a kept text is a message of ours, and that one where it is named."""
    found = _parse_message(text)
    return found is not None and (found.id == id_ if id_ else found.id != _RAW_ID)


def stored_detail(text: str, id_: str) -> str:
    """What goes along with a kept text, where it is this message; else empty."""
    found = _parse_message(text)
    return str(dict(found.args).get(DETAIL_ARGUMENT) or "") if found is not None and found.id == id_ else ""


def _parse_message(text: str) -> Msg | None:
    if not text.startswith(_MESSAGE_MARK):
        return None
    try:
        found = from_text(Msg, text)
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return (
        found if _is_valid_message(found) and (found.id == _RAW_ID or found.id.startswith(STORABLE_PREFIXES)) else None
    )


def _is_valid_message(found: object) -> bool:
    """Whether it is a message with arguments that can be drawn."""
    if not isinstance(found, Msg) or not isinstance(found.id, str) or not isinstance(found.args, tuple):
        return False
    pairs = [arg for arg in found.args if isinstance(arg, tuple) and len(arg) == 2 and isinstance(arg[0], str)]
    known = (value for _, value in pairs)
    return len(pairs) == len(found.args) and all(
        isinstance(v, str | int | Decimal) or _is_valid_message(v) for v in known
    )


LIST_NAMES = {
    "stores": "list.stores",
    "people": "list.people",
    "headers": "list.headers",
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
    "logs": "list.logs",
}


def list_name(name: str) -> Msg:
    """What a list is called; one that nobody knows is called by its own name."""
    return msg(LIST_NAMES[name]) if name in LIST_NAMES else msg("raw", text=name)


def unreadable_list(missing: MissingList) -> Msg:
    """That a list cannot be read, and why."""
    if not missing.why:
        return msg("list.unreadable", what=list_name(missing.name))
    return msg("list.unreadable_why", what=list_name(missing.name), why=read_message(missing.why))


def left_out_rows(rows: UnusableRows) -> Msg:
    """That rows of a list cannot be used, or are there twice; `aisle doctor` says which field makes no sense."""
    if rows.is_repeated:
        return msg("list.repeated", count=rows.rows, what=list_name(rows.name))
    return msg("list.left_out", count=rows.rows, what=list_name(rows.name))
