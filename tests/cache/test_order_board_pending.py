"""The order board with pending operations: one scan costs the work of one order."""

from __future__ import annotations

from typing import Any

import apsw
import pytest

from aisle.cache.overlaid_order import load_order_header
from aisle.cache.query_context import QueryContext
from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter
from aisle.host.database import transaction
from aisle.outbox.operation_queue import OperationQueue
from aisle.outbox.operation_record import Intent
from tests.cache import service_rows
from tests.cache.test_order_board_queries import NOW, numbers
from tests.writes import ANNA, update


def test_of_what_waits_only_what_changed_is_made_anew(
    reads: CacheReader, cache: CacheWriter, outbox_db: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders = [str(number) for number in range(100, 130)]
    lines = [service_rows.line(1), service_rows.line(2)]
    cache.write_orders([service_rows.order(each, *lines) for each in orders], lines_known=True, read_began=1.0)
    outbox = OperationQueue(outbox_db)
    made: list[str] = []

    def noted(context: QueryContext, number: str) -> Any:
        made.append(number)
        return load_order_header(context, number)

    def pick(number: str, lines: dict[int, int]) -> None:
        with transaction(outbox_db):
            outbox.enqueue([Intent(update(number, lines), occurred_at=NOW)], ANNA)

    def anew() -> list[str]:
        made.clear()
        reads.query("order_board", {"size": 0})
        return sorted(made)

    monkeypatch.setattr("aisle.cache.order_board_queries.load_order_header", noted)
    for number in orders:
        pick(number, {1: 1})
    assert anew() == orders
    assert anew() == []
    pick("107", {2: 3})
    assert anew() == ["107"]
    gone = service_rows.order("111", *lines, is_active=False)
    cache.write_orders([gone, service_rows.order("999")], lines_known=True, read_began=2.0)
    assert anew() == ["111"]
    assert numbers(reads.query("order_board", {"status": ["finished"]})[0]) == ["111"]
    assert reads.query("order_board", {"status": ["partial"]})[1] == len(orders) - 1
