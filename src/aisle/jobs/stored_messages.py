"""Messages about goods and lists, and the format in which messages are stored."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple, NewType

from aisle.jobs.view import MissingList, Msg, UnusableRows, msg, raw, signed_message
from aisle.json_codec import from_text, to_text


class GoodsAmount(NamedTuple):
    """Quantity of one product. `unit` is empty for pieces."""

    key: str
    """Product number, or another key that tells these goods from others."""
    label: str
    quantity: Decimal
    unit: str = ""
    is_change: bool = False
    """True if the quantity is a change of stock and is shown with its sign."""


def merge_goods(goods: Iterable[GoodsAmount]) -> tuple[GoodsAmount, ...]:
    """Add up the quantities of each product, in the order of first appearance."""
    found: dict[tuple[str, str], GoodsAmount] = {}
    for each in goods:
        known = found.get((each.key, each.unit))
        found[each.key, each.unit] = each._replace(quantity=each.quantity + known.quantity) if known else each
    return tuple(found.values())


def goods_message(one: str, many: str, goods: Iterable[GoodsAmount], **args: str | int | Decimal | Msg) -> Msg:
    """Return message `one` (quantity, label) for a single product, or `many` (count, goods) for several."""
    given = merge_goods(goods)
    if len(given) == 1:
        return msg(one, quantity=goods_quantity(given[0]), label=given[0].label, **args)
    return msg(many, count=len(given), goods=list_goods(given), **args)


def goods_quantity(goods: GoodsAmount) -> Decimal | Msg:
    """Return the quantity with its unit, or with its sign if it is a change."""
    if goods.is_change:
        return signed_message(goods.quantity)
    return msg("move.measure", quantity=goods.quantity, unit=goods.unit) if goods.unit else goods.quantity


def list_goods(goods: Iterable[GoodsAmount]) -> Msg:
    """Return a list of products and quantities. If it does not fit, the screen shows only the number of products."""
    given = merge_goods(goods)
    names = [msg("goods.one", quantity=goods_quantity(each), label=each.label) for each in given]
    whole = names[-1] if names else raw("")
    for name in reversed(names[:-1]):
        whole = msg("goods.and", first=name, rest=whole)
    return msg("goods.many", count=len(given), list=whole)


def at_location(location: str | Msg) -> Msg:
    """Return the end of a sentence that names a location; empty for no location."""
    return msg("goods.at", place=location) if location else raw("")


def list_locations(codes: Iterable[str]) -> Msg:
    """Return a list that names each location once. An empty code means no location."""
    given = list(dict.fromkeys(codes))
    names = [raw(code) if code else msg("move.no_location_short") for code in given]
    whole = names[-1]
    for name in reversed(names[:-1]):
        whole = msg("goods.and", first=name, rest=whole)
    return whole


StoredMessage = NewType("StoredMessage", str)
"""Text of a database column or an answer that people read. Only `store_message` and `store_text` make it."""

NO_MESSAGE = StoredMessage("")
STORABLE_PREFIXES = ("stored_reason.", "unconfirmed.resolution_", "unconfirmed.choice_")
"""Prefixes of the ids of messages that may be stored."""

DETAIL_ARGUMENT = "detail"
"""Argument that no sentence shows: raw details for an operator."""

_MESSAGE_MARK = '{"@":"Msg"'
_RAW_ID = "raw"


def store_message(id_: str, **args: str | int | Decimal | Msg) -> StoredMessage:
    """Return a message in its stored form. A stored text among the arguments must pass `read_message` first."""
    return StoredMessage(to_text(Msg(id_, tuple(args.items()))))


def store_text(text: str) -> StoredMessage:
    """Return foreign text (of the service or of a person) in its stored form, also if it looks like a message of
    ours."""
    return (
        StoredMessage(to_text(Msg(_RAW_ID, (("text", text),))))
        if text.startswith(_MESSAGE_MARK)
        else StoredMessage(text)
    )


@lru_cache(maxsize=256)
def read_message(text: str) -> Msg:
    """Return the message of a stored text; other text is returned as raw text."""
    return _parse_message(text) or Msg(_RAW_ID, (("text", text),))


def is_stored_message(text: str, id_: str = "") -> bool:
    """Return True if a stored text is a message of ours, with this id if one is given."""
    found = _parse_message(text)
    return found is not None and (found.id == id_ if id_ else found.id != _RAW_ID)


def stored_detail(text: str, id_: str) -> str:
    """Return the detail stored with this message; empty if the text is another message."""
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
