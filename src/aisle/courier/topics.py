"""Topics of the courier: what can be read one by one, and what an operation may have changed.

Pull and push share them. What a service says has changed: `pull/change_feed`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from aisle.outbox.operation_record import CREATE_MOVEMENT, REVIEW_LOGS, WRITE_RECOUNTS, Operation

ORDER, PRODUCT, LOCATION, STORE = "order", "product", "location", "store"
CATALOGUE = "catalogue"
"""Catalogue data of a product; `PRODUCT` is its stock in the store."""

SURROUNDING = "surrounding"
"""Stock of a product in surrounding stores; the key is the product number."""

DELIVERY = "delivery"
"""Delivery to the store with its lines and receipts."""

LOG = "log"
"""Log of the store of the last days; a key names a part of it: `ENTRY_PREFIX`, or a prefix of `pull/log_reader`."""

ENTRY_PREFIX = "entry/"
"""Prefix of the key of one log entry (`entry/17`)."""

PERSON = "person"
"""People of the store; they are read as one list."""

RECOUNT = "recount"
"""Counts ordered at our own service; read as one list, without keys."""

ASSIGNMENT = "assignment"
"""Moves that clearances require; read as one list, without keys."""

AUDIT = "audit"
"""Who changed an order at our own service; the key is the order number."""

ANNOUNCED = frozenset((ASSIGNMENT, AUDIT, DELIVERY, LOCATION, LOG, ORDER, PERSON, PRODUCT, RECOUNT, STORE, SURROUNDING))
"""Topics whose changes our own service announces."""


class Topic(NamedTuple):
    """Topic with its key."""

    name: str
    key: str


_READABLE_LANES = (f"{ORDER}/", f"{PRODUCT}/", f"{DELIVERY}/")
"""Prefixes of lanes that name a topic."""


def topics_of_operation(op: Operation) -> tuple[Topic, ...]:
    """Return the topics that the operation may have changed, sorted: from its lanes and the numbers in its body."""
    found = {Topic(*lane.split("/", 1)) for lane in op.lanes if lane.startswith(_READABLE_LANES)}
    found.update(_topics_in_body(op.body))
    if op.operation == WRITE_RECOUNTS:
        found.add(Topic(RECOUNT, ""))
    if op.operation == REVIEW_LOGS:
        found.update(Topic(LOG, f"{ENTRY_PREFIX}{review['id']}") for review in op.body["reviews"])
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
