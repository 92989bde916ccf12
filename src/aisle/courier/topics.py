"""What can be read by itself, and what of it an operation may have changed: words that reading and sending share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aisle.local.outbox.operation import MOVEMENT, RECOUNTS, Operation
from aisle.tuples import NamedTuple

ORDER, PRODUCT, LOCATION, STORE = "order", "product", "location", "store"
CATALOGUE = "catalogue"
"""What the chain says of a product; `PRODUCT` is what the store has of it."""

SURROUNDING = "surrounding"
"""What the stores around have of a product; its key is the product's number."""

DELIVERY = "delivery"
"""A delivery to the store with its lines, and what was received of it."""

LOG = "log"
"""The store's log of the last days; it has no keys."""

PERSON = "person"
"""Somebody who works in the store; people are read as one list."""

RECOUNT = "recount"
"""The counts that are ordered at our own service; they are read as one list, without keys."""

ASSIGNMENT = "assignment"
"""What clearances want moved; read as one list, without keys."""

_READ = (f"{ORDER}/", f"{PRODUCT}/", f"{DELIVERY}/")
"""Lanes that name what can be read by itself."""


class Topic(NamedTuple):
    """One thing that can be read by itself."""

    topic: str
    key: str


def touched(op: Operation) -> tuple[Topic, ...]:
    """What the operation may have changed, in a lasting order: named by its lanes, and by the numbers in its body."""
    found = {Topic(*lane.split("/", 1)) for lane in op.lanes if lane.startswith(_READ)}
    found.update(_named(op.body))
    if op.operation == RECOUNTS:
        found.add(Topic(RECOUNT, ""))
    if op.operation == MOVEMENT and any(
        "customer_order_number" in (item.get("from_location") or ()) for item in op.body
    ):
        found.add(Topic(ASSIGNMENT, ""))
    return tuple(sorted(found))


def _named(value: Any) -> Iterator[Topic]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key == "product_number" and item:
                yield Topic(PRODUCT, str(item))
            elif key in ("order_number", "customer_order_number") and item:
                yield Topic(ORDER, str(item))
            else:
                yield from _named(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _named(item)
