"""The list of open orders with pending operations: each order is overlaid once, and again when it changes."""

from __future__ import annotations

from collections.abc import Iterable

import apsw
import pytest

from aisle.cache import overlaid_order
from aisle.cache.order_overlay import Row, apply_to_order
from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter
from aisle.host.database import transaction
from aisle.outbox.operation_queue import OperationQueue
from aisle.outbox.operation_record import Intent, Operation
from tests.cache import service_rows
from tests.cache.test_order_board_queries import NOW
from tests.writes import ANNA, update

ORDERS = [str(number) for number in range(100, 110)]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The orders that were laid over, by their numbers."""
    found: list[str] = []

    def noted(header: Row, lines: list[Row], operations: Iterable[Operation], began: float | None) -> None:
        found.append(str(header["order_number"]))
        apply_to_order(header, lines, operations, began)

    monkeypatch.setattr(overlaid_order, "apply_to_order", noted)
    return found


def _pick(outbox_db: apsw.Connection, number: str, lines: dict[int, int]) -> None:
    with transaction(outbox_db):
        OperationQueue(outbox_db).enqueue([Intent(update(number, lines), occurred_at=NOW)], ANNA)


def test_a_colleagues_scan_lays_one_order_over(
    reads: CacheReader, cache: CacheWriter, outbox_db: apsw.Connection, made: list[str]
) -> None:
    lines = [service_rows.line(1), service_rows.line(2)]
    cache.write_orders([service_rows.order(each, *lines) for each in ORDERS], lines_known=True, read_began=1.0)

    def picked() -> tuple[list[str], dict[str, int]]:
        """Which were laid over for the list, and how much of each is picked."""
        made.clear()
        rows, _ = reads.query("orders", {"size": len(ORDERS)})
        return sorted(set(made)), {row["order_number"]: int(row["picked_quantity"]) for row in rows}

    for number in ORDERS:
        _pick(outbox_db, number, {1: 1})
    said = dict.fromkeys(ORDERS, 1)
    assert picked() == (ORDERS, said)
    assert picked() == ([], said)
    _pick(outbox_db, "107", {2: 2})
    assert picked() == (["107"], said | {"107": 3})
    assert picked() == ([], said | {"107": 3})


def test_what_was_read_of_an_order_in_the_meantime_is_laid_over_anew(
    reads: CacheReader, cache: CacheWriter, outbox_db: apsw.Connection, made: list[str]
) -> None:
    cache.write_orders(
        [service_rows.order("100", service_rows.line(1), service_rows.line(2))], lines_known=True, read_began=1.0
    )
    _pick(outbox_db, "100", {1: 1})
    assert reads.query("orders", {})[0][0]["picked_quantity"] == 1
    made.clear()
    cache.write_orders(
        [service_rows.order("100", service_rows.line(1), service_rows.line(2, picked_quantity=2))],
        lines_known=True,
        read_began=1.0,
    )
    assert reads.query("orders", {})[0][0]["picked_quantity"] == 3
    assert made == ["100"]


def test_who_changes_a_row_changes_it_for_nobody_else(
    reads: CacheReader, cache: CacheWriter, outbox_db: apsw.Connection
) -> None:
    cache.write_orders([service_rows.order("100", service_rows.line(1))], lines_known=True, read_began=1.0)
    _pick(outbox_db, "100", {1: 0})
    row = reads.query("orders", {})[0][0]
    row["customer_name"] = "Somebody else"
    assert reads.query("orders", {})[0][0].get("customer_name") != "Somebody else"


def test_authorization_cache_is_bounded(
    reads: CacheReader, cache: CacheWriter, outbox_db: apsw.Connection, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overlaid_order, "MAX_KEPT_ORDERS", 3)
    cache.write_orders(
        [service_rows.order(each, service_rows.line(1)) for each in ORDERS], lines_known=True, read_began=1.0
    )
    for number in ORDERS:
        _pick(outbox_db, number, {1: 0})
    for _ in range(2):
        rows, total = reads.query("orders", {"size": len(ORDERS)})
        assert total == len(ORDERS)
        assert [row["order_number"] for row in rows] == ORDERS
    assert len(reads.context.overlaid_orders) <= 3
