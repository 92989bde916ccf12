"""Picked orders that nobody collects."""

from __future__ import annotations

from typing import Any

import apsw
import pytest

from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter
from aisle.host.database import transaction
from aisle.outbox.operation_queue import OperationQueue
from aisle.outbox.operation_record import Author, Intent
from tests.cache import service_rows
from tests.writes import update

NOW = "2026-03-10T12:00:00+00:00"
READ = 1_772_500_000.0
"""3 March 2026."""


def picked(number: str, pickup: str, **fields: Any) -> dict[str, Any]:
    """A picked order at a pick-up location."""
    held = {"location_code": "PU-1", "quantity": 1, "customer_order_number": number, "customer_order_line_number": 1}
    line = service_rows.line(1, "P1", 1, 1, moved_quantity=1, store_locations=[held])
    return service_rows.order(number, line, is_picked=True, pickup_date=pickup, **fields)


@pytest.fixture
def orders(cache: CacheWriter) -> list[dict[str, Any]]:
    """Orders that wait, and others: handled lately, due later, handed over, still to pick."""
    found = [
        picked("1", "2026-03-01"),
        picked("2", "2026-03-01"),
        picked("3", "2026-03-09"),
        picked("4", ""),
        picked("5", "2026-03-01"),
        service_rows.order("6", service_rows.line(1, "P1", 1), pickup_date="2026-03-01"),
    ]
    cache.write_orders(found, lines_known=True, read_began=READ)
    entry = {"product_number": "P1", "store_number": "0001", "source": "movement", "app_user_name": "U1"}
    logs = [
        {**entry, "id": 1, "customer_order_number": "1", "created_on": "2026-03-02T09:00:00Z"},
        {**entry, "id": 2, "customer_order_number": "2", "created_on": "2026-03-09T09:00:00Z"},
    ]
    cache.write_logs(logs, "2026-01-01")
    return found


@pytest.mark.parametrize(("days", "expected"), [(3, ["1", "4"]), (0.5, ["1", "4", "3", "2"]), (30, []), (0, [])])
def test_orders_wait_from_their_date_or_their_last_event(
    reads: CacheReader, outbox_db: apsw.Connection, orders: list[dict[str, Any]], days: float, expected: list[str]
) -> None:
    with transaction(outbox_db):
        finish = Intent(update("5", {}, is_active=False), occurred_at="2026-03-03T09:00:00Z")
        OperationQueue(outbox_db).enqueue([finish], Author("0001", "U1"))
    args = {"now": NOW, "pickup_days": days}
    rows, total = reads.query("uncollected", args)
    assert [row["order_number"] for row in rows] == expected
    assert all(row["put_down_at"] == ["PU-1"] for row in rows)
    assert reads.query("exceptions", {**args, "minutes": 60})[0][0]["uncollected"] == total == len(expected)
