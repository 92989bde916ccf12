"""A log entry that is undone before it was sent is not sent, and neither is its undo."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import apsw
import pytest

from aisle.jobs.job import Write
from aisle.jobs.log_writes_and_refusals import log_write
from aisle.outbox.operation_queue import OperationQueue
from aisle.outbox.operation_record import CLOSED, QUEUED
from aisle.stored_messages import LATER_COUNT, store_message
from tests.clock import Clock, seeded
from tests.writes import STORE, enqueue

AT, LATER = "2026-03-02T08:00:00.250Z", "2026-03-02T08:05:00Z"
REFERENCE = f"undo-{AT}"


@pytest.fixture
def outbox(outbox_db: apsw.Connection, clock: Clock) -> OperationQueue:
    return OperationQueue(outbox_db, clock=clock, random=seeded())


def entry(product: str = "P1", **fields: Any) -> Any:
    named = {"product_number": product, "location_code": "A-1", "scanned_datetime": AT, "app_user_name": "U1"}
    return {**named, "source": "aisle", **fields}


def logs(*entries: Any, is_count: bool = True) -> Write:
    return log_write([*entries], [each["product_number"] for each in entries], STORE, "U1", is_count=is_count)


def undo(product: str = "P1", **fields: Any) -> Any:
    return entry(product, scanned_datetime=LATER, reference=REFERENCE, **(fields or {"quantity": Decimal(0)}))


def left(outbox: OperationQueue) -> list[list[tuple[str, str]]]:
    """What is still to be sent: product and reference of the entries of each operation."""
    waiting = [op for op in outbox.recent()[::-1] if op.state == QUEUED]
    return [
        [(each["product_number"], each.get("reference", "")) for each in op.body["storeproductlog"]] for op in waiting
    ]


COUNT: dict[str, Any] = {"counted_quantity": Decimal(4)}
LOSS: dict[str, Any] = {"quantity": Decimal(-4), "reason_code": 1}
P1, P2, UNDO = ("P1", ""), ("P2", ""), ("P1", REFERENCE)
CASES: dict[str, tuple[Write, Write, list[list[tuple[str, str]]]]] = {
    "count": (logs(entry(**COUNT)), logs(undo(), is_count=False), []),
    "loss": (logs(entry(**LOSS), is_count=False), logs(undo(quantity=Decimal(4)), is_count=False), []),
    "another spelling of its time": (
        logs(entry(**COUNT, scanned_datetime="2026-03-02T09:00:00.25+01:00")), logs(undo(), is_count=False), []
    ),
    "one of two": (logs(entry(**COUNT), entry("P2", **COUNT)), logs(undo(), is_count=False), [[P2]]),
    "both of two": (
        logs(entry(**COUNT), entry("P2", **COUNT)), logs(undo(), undo("P2"), is_count=False), []
    ),
    "more than the count": (
        logs(entry(**COUNT)), logs(undo(), undo("P2"), is_count=False), [[("P2", REFERENCE)]]
    ),
    "its pool": (
        logs(entry(stock_pool_1=Decimal(4)), entry(stock_pool_2=Decimal(4))),
        logs(undo(stock_pool_2=Decimal(0)), undo(stock_pool_1=Decimal(0)), is_count=False),
        [],
    ),
    "default pool": (logs(entry(**COUNT)), logs(undo(), is_count=False), []),
    "another location": (logs(entry(**COUNT)), logs(undo(location_code="A-2"), is_count=False), [[P1], [UNDO]]),
    "the same location": (logs(entry(**COUNT)), logs(undo(location_code="a-1"), is_count=False), []),
    "another person": (logs(entry(**COUNT)), logs(undo(app_user_name="U2"), is_count=False), [[P1], [UNDO]]),
    "another time": (
        logs(entry(**COUNT, scanned_datetime=LATER)), logs(undo(), is_count=False), [[P1], [UNDO]]
    ),
    "the number of an entry": (
        logs(entry(**COUNT)), logs(undo() | {"reference": "undo-17"}, is_count=False), [[P1], [("P1", "undo-17")]]
    ),
    "no undo": (
        logs(entry(**COUNT)), logs(entry(**LOSS), is_count=False), [[P1], [P1]]
    ),
}  # fmt: skip


@pytest.mark.every_case
@pytest.mark.parametrize("is_one_batch", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_what_was_never_sent_is_taken_out_with_its_undo(outbox: OperationQueue, case: str, is_one_batch: bool) -> None:
    first, second, expected = CASES[case]
    for writes in [(first, second)] if is_one_batch else [(first,), (second,)]:
        enqueue(outbox, *writes)
    assert left(outbox) == expected
    assert all(bool(op.superseded_by) == (op.state == CLOSED) for op in outbox.recent())


@pytest.mark.parametrize("attempts", [0, 1])
@pytest.mark.parametrize("more", [(), (entry("P2", **COUNT),)])
def test_what_may_have_left_is_undone_by_an_entry(
    outbox: OperationQueue, outbox_db: apsw.Connection, attempts: int, more: tuple[Any, ...]
) -> None:
    """Frozen bytes that certainly did not leave are taken out whole or not at all."""
    (op_id,) = enqueue(outbox, logs(entry(**COUNT), *more))
    outbox_db.execute("UPDATE operation SET attempts = ?, sent_body = 'x' WHERE op_id = ?", (attempts, op_id))
    enqueue(outbox, logs(undo(), is_count=False))
    is_taken_out = not attempts and not more
    assert left(outbox) == ([] if is_taken_out else [[P1, *([P2] if more else [])], [UNDO]])


def test_a_count_after_it_stays(outbox: OperationQueue) -> None:
    enqueue(outbox, logs(entry(**COUNT)), logs(entry(**COUNT, scanned_datetime=LATER)))
    enqueue(outbox, logs(undo(), is_count=False))
    assert left(outbox) == [[P1]]
    (op,) = [op for op in outbox.recent() if op.state == QUEUED]
    assert op.body["storeproductlog"][0]["scanned_datetime"] == LATER


@pytest.mark.parametrize("is_sent", [False, True])
def test_entries_are_refused_and_taken_out_in_one_step_or_not_at_all(outbox: OperationQueue, is_sent: bool) -> None:
    (op_id,) = enqueue(outbox, logs(undo(), undo("P2")))
    if is_sent:
        outbox.begin_sending(op_id, b"{}", has_key=True)
    outbox.keep_entries(op_id, [undo("P2")], [undo()], store_message(LATER_COUNT, counted=Decimal(9)))
    refused = [op for op in outbox.recent() if op.op_id != op_id]
    assert [op.state for op in refused] == ([] if is_sent else [CLOSED])
    assert len(outbox.get(op_id).body["storeproductlog"]) == (2 if is_sent else 1)
