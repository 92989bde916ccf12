"""Split of a movement of several items into one operation per item, for a service that may perform some of them alone.

Our own service moves all items or none; for others the interface is silent, and their logs may prove one item and not
the next. The kind of service may be unknown when the movement is enqueued, so its number leaves free numbers before it
for its items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import apsw

from aisle.host.database import fetch_one
from aisle.jobs.job import Write
from aisle.outbox.operation_record import (
    CREATE_MOVEMENT,
    Operation,
    write_of_operation,
)

if TYPE_CHECKING:
    from aisle.operation_body_types import MovementEntry


_ITEM_LANES = ("order/", "product/")
"""Prefixes of the lanes that belong to single items; any other lane belongs to all."""


def split_movement(write: Write) -> list[Write]:
    """Return a write for each item of a movement, in the lanes of that item; the write itself if it has one item."""
    if write.operation != CREATE_MOVEMENT or len(write.body) < 2:
        return [write]
    return [write._replace(body=[item], lanes=_lanes_of_item(write.lanes, item)) for item in write.body]


def _lanes_of_item(lanes: Sequence[str], item: MovementEntry) -> tuple[str, ...]:
    ends = (item.get("from_location"), item.get("to_location"))
    orders = (end.get("customer_order_number", "") if end else "" for end in ends)
    named = {f"product/{item['product_number']}", *(f"order/{order}" for order in orders)}
    return tuple(lane for lane in lanes if lane in named or not lane.startswith(_ITEM_LANES))


def is_splittable(op: Operation) -> bool:
    """Return True if the operation has several items and was never sent."""
    unsent = op.sent_body is None and op.first_sent_at is None and not op.parts
    return unsent and op.operation == CREATE_MOVEMENT and len(op.body) > 1


def reserve_number(outbox: apsw.Connection, write: Write) -> int | None:
    """Return a number that leaves free numbers for the items before it; None for the next number."""
    items = len(split_movement(write))
    if items < 2:
        return None
    row = fetch_one(outbox, "SELECT seq FROM sqlite_sequence WHERE name = 'operation'")
    return (int(row[0]) if row else 0) + items + 1


def free_numbers_before(outbox: apsw.Connection, op: Operation) -> range:
    """Return the free numbers for its items directly before it; empty if it is not splittable or they are taken."""
    items = len(split_movement(write_of_operation(op))) if is_splittable(op) else 0
    free = range(max(op.n - items, 1), op.n)
    used = fetch_one(outbox, "SELECT 1 FROM operation WHERE n >= ? AND n < ? LIMIT 1", free.start, op.n)
    return free if len(free) == items and used is None else range(0)
