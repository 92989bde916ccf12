"""What can be read by itself, and what of it an operation may have changed: words that reading and sending share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from aisle.outbox.operation_record import CREATE_MOVEMENT, WRITE_RECOUNTS, Operation

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

_READABLE_LANES = (f"{ORDER}/", f"{PRODUCT}/", f"{DELIVERY}/")
"""Lanes that name what can be read by itself."""


class Topic(NamedTuple):
    """One thing that can be read by itself."""

    name: str
    key: str


def topics_of_operation(op: Operation) -> tuple[Topic, ...]:
    """What the operation may have changed, in a lasting order: named by its lanes, and by the numbers in its body."""
    found = {Topic(*lane.split("/", 1)) for lane in op.lanes if lane.startswith(_READABLE_LANES)}
    found.update(_topics_in_body(op.body))
    if op.operation == WRITE_RECOUNTS:
        found.add(Topic(RECOUNT, ""))
    if op.operation == CREATE_MOVEMENT and any(
        "customer_order_number" in (item.get("from_location") or ()) for item in op.body
    ):
        found.add(Topic(ASSIGNMENT, ""))
    return tuple(sorted(found))


def _topics_in_body(value: Any) -> Iterator[Topic]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key == "product_number" and item:
                yield Topic(PRODUCT, str(item))
            elif key in ("order_number", "customer_order_number") and item:
                yield Topic(ORDER, str(item))
            else:
                yield from _topics_in_body(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _topics_in_body(item)
