"""A movement of several items as one operation an item, for a service that may carry out some of them alone.

Our own service moves all of a request or nothing. What others do the document does not say, and what their logs show
may prove one item and not the next. Which kind of service it goes to may not be known yet when it is said, so each such
movement leaves room before it in the order of the outbox, for its items to stand exactly there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import apsw

from aisle.jobs.base import Write
from aisle.local.db import fetch_one
from aisle.local.outbox.operation import MOVEMENT, Operation, as_write

_OF_ITEMS = ("order/", "product/")
"""Lanes of what an item names; any other one is all items'."""


def split(write: Write) -> list[Write]:
    """The items of a movement, each as a write in the lanes of what it names; itself where there is but one."""
    if write.operation != MOVEMENT or len(write.body) < 2:
        return [write]
    return [write._replace(body=[item], lanes=_lanes(write.lanes, item)) for item in write.body]


def _lanes(lanes: Sequence[str], item: Mapping[str, Any]) -> tuple[str, ...]:
    ends = (item.get(end) or {} for end in ("from_location", "to_location"))
    named = {f"product/{item['product_number']}", *(f"order/{end.get('customer_order_number', '')}" for end in ends)}
    return tuple(lane for lane in lanes if lane in named or not lane.startswith(_OF_ITEMS))


def is_splittable(op: Operation) -> bool:
    """Whether it has several items, and none of its bytes has ever left."""
    unsent = op.frozen is None and op.first_sent_at is None and not op.parts
    return unsent and op.operation == MOVEMENT and len(op.body) > 1


def number_with_room(outbox: apsw.Connection, write: Write) -> int | None:
    """The number in the outbox that leaves room for its items before it; None for the next one."""
    items = len(split(write))
    if items < 2:
        return None
    row = fetch_one(outbox, "SELECT seq FROM sqlite_sequence WHERE name = 'operation'")
    return (int(row[0]) if row else 0) + items + 1


def room_before(outbox: apsw.Connection, op: Operation) -> range:
    """The numbers for its items just before it; none where it is not to be split, or somebody stands there."""
    items = len(split(as_write(op))) if is_splittable(op) else 0
    room = range(max(op.n - items, 1), op.n)
    taken = fetch_one(outbox, "SELECT 1 FROM operation WHERE n >= ? AND n < ? LIMIT 1", room.start, op.n)
    return room if len(room) == items and taken is None else range(0)
