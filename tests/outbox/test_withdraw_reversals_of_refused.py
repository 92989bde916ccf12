"""What reverses a refused operation, and waits unsent, changes nothing: it was undone before the refusal was known."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import apsw
import pytest

from aisle.host.database import transaction
from aisle.jobs.job import Write
from aisle.jobs.move.move_state_and_rows import MovementItem
from aisle.jobs.move.movement_write import movement_write, reverse_item
from aisle.jobs.stored_messages import read_message
from aisle.outbox.operation_queue import OperationQueue
from aisle.outbox.operation_record import Operation
from aisle.outbox.operation_states import CLOSED, QUEUED, REFUSED
from aisle.outbox.stored_reasons import store_text
from tests.clock import Clock, seeded
from tests.writes import ANNA, STORE, intents

ONE = Decimal(1)
MOVED = MovementItem("P1", "Tea", Decimal(5), "A-1", 1, to_location="B-1")
PUT_DOWN = MovementItem("P1", "Tea", Decimal(2), order="4101", line=1, to_location="PU", to_order="4101", to_line=1)
TO_POOL = MovementItem("P1", "Tea", Decimal(3), "A-1", 1, to_location="A-1", to_pool=2)


@pytest.fixture
def outbox(outbox_db: apsw.Connection, clock: Clock) -> OperationQueue:
    return OperationQueue(outbox_db, clock=clock, random=seeded())


def pick(before: int, after: int, **fields: Any) -> Write:
    """One line of an order, as its picker found it and left it."""
    line = {"line_number": 1, "product_number": "P1", "base_picked_quantity": before, "picked_quantity": after}
    header = {"is_picked": False} if after < before else {}
    body = {"orders": {"order_number": "4101", **header, "order_lines": [line | fields]}}
    return Write("update-customer-order", ("order/4101",), {"store_number": STORE}, {}, body, merge_key="order/4101")


def receive(*quantities: int, location: str = "B-1") -> Write:
    """Goods of a delivery."""
    rows = [
        {"product_number": f"P{n}", "quantity": Decimal(quantity), "reference": "7001", "location_code": location}
        for n, quantity in enumerate(quantities, 1)
    ]
    lanes = ("delivery/7001", *(f"product/{row['product_number']}" for row in rows))
    query = {"is_counted_quantity": False, "is_from_receipt": True}
    path = {"store_number": STORE}
    return Write("create-store-product-logs", lanes, path, query, {"storeproductlog": rows})


def move(*items: MovementItem) -> Write:
    return movement_write(items, STORE, "U1")


def undo(*items: MovementItem) -> Write:
    return move(*map(reverse_item, items))


def quantities(op: Operation) -> list[Decimal]:
    """What an operation still moves, receives, or changes of its lines."""
    match op.operation:
        case "create-movement":
            return [item["quantity"] for item in op.body]
        case "create-store-product-logs":
            return [row["quantity"] for row in op.body["storeproductlog"]]
    lines = op.body["orders"]["order_lines"]
    return [line["picked_quantity"] - line["base_picked_quantity"] for line in lines]


def put(outbox: OperationQueue, *writes: Write) -> tuple[str, ...]:
    """Send the first one; the others wait."""
    ids: tuple[str, ...] = ()
    for write in writes:
        with transaction(outbox._db):
            ids += outbox.enqueue(intents(write), ANNA)
        if len(ids) == 1:
            assert outbox.begin_sending(ids[0], b"{}")
    return ids


CASES: dict[str, tuple[Write, Write, list[int] | None]] = {
    "a move": (move(MOVED), undo(MOVED), None),
    "a part of a move": (move(MOVED), undo(MOVED._replace(quantity=ONE)), None),
    "more than was moved": (move(MOVED), undo(MOVED._replace(quantity=Decimal(7))), [2]),
    "two products": (move(MOVED, MOVED._replace(product="P2")), undo(MOVED, MOVED._replace(product="P2")), None),
    "one of two products": (move(MOVED), undo(MOVED, MOVED._replace(product="P2")), [5]),
    "a move between pools": (move(TO_POOL), undo(TO_POOL), None),
    "goods put down": (move(PUT_DOWN), undo(PUT_DOWN), None),
    "goods of an order that were taken away": (
        move(MOVED._replace(to_order="4101", to_line=1)), undo(MOVED._replace(to_order="4101", to_line=1)), None
    ),
    "a pick": (pick(0, 2), pick(2, 0, is_picked=False), None),
    "a part of a pick": (pick(0, 2), pick(2, 1), None),
    "a pick and one before it": (pick(1, 3), pick(3, 0), [-1]),
    "goods that were taken out of the tote": (pick(3, 1), pick(1, 3), None),
    "a line that is closed too": (pick(0, 2), pick(2, 0, is_picked=True), [0]),
    "a receipt": (receive(4), receive(-4), None),
    "two products of a receipt": (receive(4, 2), receive(-4, -2), None),
    "another move": (move(MOVED), move(MOVED), [5]),
    "goods moved on": (move(MOVED), move(MOVED._replace(location="B-1", to_location="C-1")), [5]),
    "another pick": (pick(0, 2), pick(2, 3), [1]),
    "another receipt": (receive(4), receive(3), [3]),
    "a receipt elsewhere": (receive(4), receive(-4, location="C-1"), [-4]),
}  # fmt: skip
"""What was refused, what waited then, and the quantities that are left of it; None for nothing."""


@pytest.mark.parametrize("name", CASES)
def test_reversal_of_what_was_refused_changes_nothing(outbox: OperationQueue, name: str) -> None:
    refused, later, left = CASES[name]
    refused_id, later_id = put(outbox, refused, later)
    outbox.refuse(refused_id, store_text("finished"))
    op, why = outbox.get(later_id), read_message(outbox.get(refused_id).last_error)
    assert outbox.get(refused_id).state == REFUSED
    assert (op.state, None if left is None else quantities(op)) == (CLOSED if left is None else QUEUED, left)
    is_reversal = op.body != later.body or op.state == CLOSED
    assert why.id == ("stored_reason.undone_before_refusal" if is_reversal else "raw")
    if op.state == CLOSED:
        assert read_message(op.last_error).id == "stored_reason.undoes_refused"


def test_each_piece_is_withdrawn_once(outbox: OperationQueue) -> None:
    """5 were moved, then 3 more, which were refused: the undo of the 3 is void, that of the 5 is not."""
    more = MOVED._replace(quantity=Decimal(3))
    refused, first, second = put(outbox, move(more), undo(more), undo(MOVED))
    outbox.refuse(refused, store_text("too little"))
    assert outbox.get(first).state == CLOSED
    assert quantities(outbox.get(second)) == [5]


@pytest.mark.parametrize(
    ("undone", "excess", "left", "booked"),
    [
        (pick(4, 3), 1, [], None),
        (pick(4, 2), 1, [], [-1]),
        (pick(4, 3), 2, [1], None),
        (pick(4, 5), 1, [1], [1]),
    ],
)
def test_excess_that_was_taken_back_is_not_asked_back(
    outbox: OperationQueue, undone: Write, excess: int, left: list[int], booked: list[int] | None
) -> None:
    """Another picker was first. The undo takes nothing of what he has picked."""
    first, later = put(outbox, pick(2, 4), undone)
    line: Any = {"line_number": 1, "product_number": "P1", "picked_quantity": 4, "quantity": 4, "left": excess}
    outbox.confirm(first, "{}", excess=[line])
    asked = [op for op in outbox.live_operations() if op.state == REFUSED]
    assert [quantities(op)[0] for op in asked] == left
    op = outbox.get(later)
    assert (op.state, None if booked is None else quantities(op)) == (CLOSED if booked is None else QUEUED, booked)


def test_what_another_job_does_stays(outbox: OperationQueue) -> None:
    """The goods are moved back by somebody who knows of the refusal."""
    (refused,) = put(outbox, move(MOVED))
    outbox.refuse(refused, store_text("too little"))
    (back,) = put(outbox, undo(MOVED))
    assert outbox.get(back).body[0]["quantity"] == 5
