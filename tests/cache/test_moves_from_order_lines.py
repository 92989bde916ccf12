"""Pending movements of goods that an order's line holds: into stock, into hand, and to another location."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import apsw
import pytest

from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter
from aisle.host.database import transaction
from aisle.jobs.job import Write
from aisle.outbox.operation_queue import OperationQueue
from aisle.outbox.operation_record import Author, Intent
from tests.cache import service_rows

LINE = {"customer_order_number": "O1", "customer_order_line_number": 1}


@pytest.mark.parametrize(
    ("target", "picked", "is_picked"),
    [({"location_code": "A-1"}, 2, False), (LINE, 3, True), ({**LINE, "location_code": "PU-2"}, 3, True)],
)
def test_only_a_move_to_free_stock_lowers_what_is_picked(
    reads: CacheReader,
    cache: CacheWriter,
    outbox_db: apsw.Connection,
    target: dict[str, Any],
    picked: int,
    is_picked: bool,
) -> None:
    held = {"location_code": "PU-1", "quantity": 3, **LINE}
    line = service_rows.line(1, "P1", 3, 3, moved_quantity=3, store_locations=[held])
    cache.write_orders([service_rows.order("O1", line, is_picked=True)], lines_known=True, read_began=1.0)
    item = {"product_number": "P1", "quantity": Decimal(1), "to_location": target}
    items = [{**item, "from_location": {**LINE, "location_code": "PU-1"}}]
    move = Write("create-movement", ("order/O1", "product/P1"), {"store_number": "0001"}, {}, items)
    with transaction(outbox_db):
        OperationQueue(outbox_db).enqueue([Intent(move)], Author("0001", "U1"))
    (order,), _ = reads.query("order", {"order_number": "O1"})
    (found,) = order["lines"]
    assert (found["picked_quantity"], found["is_picked"]) == (picked, is_picked)
    assert {each["location_code"]: each["quantity"] for each in found["put_down"]}["PU-1"] == 2
