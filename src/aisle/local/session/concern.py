"""What a page shows, in the words of a ring: told by the reads that its job has asked for.

Whoever is rung for too little sees it at his next look all the same; whoever is rung for too much looks for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from aisle.jobs.base import Json
from aisle.local.host.signals import ANYTHING, ASK, OUTBOX, REFUSAL, topic_of

MANY = 200
"""Products of one answer; of more than these a page is rung for any of them: their names are told with every frame."""

Args = Mapping[str, Json]
Told = Callable[[Args, Sequence[Mapping[str, Any]]], Iterable[str]]


def _whole(*topics: str) -> Told:
    return lambda _args, _rows: topics


def _named(topic: str, field: str) -> Told:
    """The one thing that is asked for by this argument; all of them where it is not said."""
    return lambda args, _rows: [topic_of(topic, str(args.get(field) or ""))]


def _written(topic: str, field: str) -> Told:
    """The same, and what becomes of what was said of it here."""
    return lambda args, _rows: [topic_of(topic, str(args.get(field) or "")), OUTBOX]


def _all_of(topic: str, field: str) -> Told:
    """The things whose names this argument lists."""
    return lambda args, _rows: [topic_of(topic, str(each)) for each in args.get(field) or ()]


def _rows(topic: str, field: str) -> Told:
    """What the rows are of; anything of that topic where there are none yet."""
    return lambda _args, rows: [topic_of(topic, str(row.get(field) or "")) for row in rows] or [topic]


def _place(args: Args, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    products = [product for row in rows for product in row.get("products") or ()]
    here = topic_of("location", str(args.get("location_code") or ""))
    if len(products) > MANY:
        return [here, "product"]
    return [here, *(topic_of("product", str(product.get("product_number") or "")) for product in products)]


_NOTHING = _whole()
_OF: Mapping[str, Told] = {
    "absent": _named("absent", "order_number"),
    "ask": _whole(ASK),
    "catalogue": _whole("product"),
    "catalogue_page": _named("product", "product_number"),
    "coming": _whole("delivery"),
    "count_log": _whole("log", OUTBOX),
    "deliveries": _whole("delivery"),
    "halfway": _whole("delivery"),
    "delivery": _named("delivery", "order_number"),
    "doubts": _whole(OUTBOX),
    "elsewhere": _named("product", "product_number"),
    "expecting": _whole("delivery"),
    "facets": _whole("product"),
    "holders": _whole("order"),
    "homes": _all_of("product", "product_numbers"),
    "logs": _whole("log"),
    "losses": _whole("log"),
    "order": _named("order", "order_number"),
    "order_to_pick": _named("order", "order_number"),
    "orders": _whole("order"),
    "orders_by_number": _all_of("order", "orders"),
    "outcomes": _whole(OUTBOX),
    "pass": _whole(OUTBOX),
    "people": _whole("person"),
    "person": _whole("person"),
    "place": _place,
    "places": _rows("location", "location_code"),
    "product": _named("product", "product_number"),
    "receipts": _whole("delivery"),
    "recounts": _whole("recount"),
    "refusals": _whole(REFUSAL),
    "search": _rows("product", "product_number"),
    "store": _named("store", "store_number"),
    "store_page": _named("store", "store_number"),
    "store_product": _written("product", "product_number"),
    "stores": _whole("store"),
    "surrounding": _named("surrounding", "product_number"),
    "trouble": _whole(REFUSAL),
    # answers to one input, or made of what no ring tells of
    **dict.fromkeys(("features", "file", "given", "lying", "named", "pickups", "reasons", "receipt_kinds"), _NOTHING),
    **dict.fromkeys(("short_reasons", "spot", "stranger", "terminal", "unread", "open", "views", "words"), _NOTHING),
}
"""By the read's name (see `Reads.query`); any other read may show anything."""


def concern(name: str, args: Args, rows: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """The topics whose change would change this answer."""
    told = _OF.get(name)
    return frozenset((ANYTHING,) if told is None else told(args, rows))
