"""What reverses a refused operation, and waits unsent, changes nothing: it was undone before the refusal was known."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aisle.cache.unconfirmed_operation_queries import resolutions
from aisle.host.database import migrate, transaction
from aisle.jobs.job import CLOSED_BY_HAND, OVERAGE, Resolve, Write
from aisle.jobs.move.move_state_and_rows import MovementItem
from aisle.jobs.move.movement_write_and_undo import movement_write, reverse_item
from aisle.named_tuple_json import from_text
from aisle.outbox.operation_queue import OperationQueue
from aisle.outbox.operation_record import CLOSED, QUEUED, REFUSED, Operation
from aisle.outbox.outbox_schema import OUTBOX_MIGRATIONS
from aisle.outbox.outcomes_and_reversals import as_left, changes_of
from aisle.stored_messages import read_message, store_text
from tests.clock import Clock, seeded
from tests.run_length import tries
from tests.writes import ANNA, STORE, enqueue, intents

ONE = Decimal(1)
AT_A, AT_B = {"preferred_location_code": "A-1"}, {"preferred_location_code": "B-1"}
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
    return move(*(reverse_item(item, "2026-11-20T10:00:00Z") for item in items))


def quantities(op: Operation) -> list[Decimal]:
    """What an operation still moves, receives, or changes of its lines."""
    match op.operation:
        case "create-movement":
            return [item["quantity"] for item in op.body]
        case "create-store-product-logs":
            return [row["quantity"] for row in op.body["storeproductlog"]]
    lines = op.body["orders"]["order_lines"]
    return [line["picked_quantity"] - line["base_picked_quantity"] for line in lines]


def new_outbox() -> OperationQueue:
    """An empty outbox in memory."""
    db = apsw.Connection(":memory:")
    migrate(db, OUTBOX_MIGRATIONS)
    return OperationQueue(db, clock=Clock(), random=seeded())


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
    "a pick elsewhere": (pick(3, 1, **AT_A), pick(1, 3, **AT_B), [2]),
    "a pick of another pool": (pick(3, 1, **AT_A, stock_pool=1), pick(1, 3, **AT_A, stock_pool=2), [2]),
    "a pick at the same location": (pick(3, 1, **AT_A), pick(1, 3, preferred_location_code="a-1"), None),
    "a pick of the same pool": (pick(3, 1, **AT_A, stock_pool=1), pick(1, 3, **AT_A, stock_pool=1), None),
    "a pick at a location that was not named": (pick(3, 1, **AT_A), pick(1, 3), None),
    "goods put back that name another location": (pick(0, 2, **AT_A), pick(2, 0, **AT_B), None),
    "another receipt": (receive(4), receive(3), [3]),
    "a receipt elsewhere": (receive(4), receive(-4, location="C-1"), [-4]),
}  # fmt: skip
"""What was refused, what waited then, and the quantities that are left of it; None for nothing."""

ALL_UNDONE = (
    *("a move", "more than was moved", "two products", "one of two products", "a move between pools"),
    *("goods put down", "goods of an order that were taken away", "a pick", "a pick and one before it"),
    *("a pick at the same location", "a pick of the same pool", "a pick at a location that was not named"),
    *("goods put back that name another location", "goods that were taken out of the tote"),
    *("a line that is closed too", "a receipt", "two products of a receipt"),
)
"""Cases in which nothing is left of what was refused."""


@pytest.mark.parametrize("name", CASES)
def test_reversal_of_what_was_refused_changes_nothing(outbox: OperationQueue, name: str) -> None:
    refused, later, left = CASES[name]
    refused_id, later_id = put(outbox, refused, later)
    outbox.refuse(refused_id, store_text("finished"))
    op, why = outbox.get(later_id), read_message(outbox.get(refused_id).last_error)
    assert (op.state, None if left is None else quantities(op)) == (CLOSED if left is None else QUEUED, left)
    assert outbox.get(refused_id).state == (CLOSED if name in ALL_UNDONE else REFUSED)
    is_reversal = op.body != later.body or op.state == CLOSED
    assert why.id == ("stored_reason.undone_before_refusal" if is_reversal else "raw")
    if op.state == CLOSED:
        assert read_message(op.last_error).id == "stored_reason.undoes_refused"


@pytest.mark.parametrize("name", CASES)
def test_reversal_that_comes_just_after_the_refusal_changes_nothing(outbox: OperationQueue, name: str) -> None:
    refused, later, left = CASES[name]
    (refused_id,) = put(outbox, refused)
    outbox.refuse(refused_id, store_text("finished"))
    with transaction(outbox._db):
        (later_id,) = outbox.enqueue(intents(later), ANNA)
    op = outbox.get(later_id)
    assert (op.state, None if left is None else quantities(op)) == (CLOSED if left is None else QUEUED, left)


def test_each_piece_is_withdrawn_once(outbox: OperationQueue) -> None:
    """5 were moved, then 3 more, which were refused: the undo of the 3 is void, that of the 5 is not."""
    more = MOVED._replace(quantity=Decimal(3))
    refused, first, second = put(outbox, move(more), undo(more), undo(MOVED))
    outbox.refuse(refused, store_text("too little"))
    assert outbox.get(first).state == CLOSED
    assert quantities(outbox.get(second)) == [5]


LAST_FIRST = {
    "moves": (move(MOVED), move(MOVED._replace(quantity=Decimal(3))), undo(MOVED._replace(quantity=Decimal(3))), 3),
    "picks": (pick(0, 5), pick(5, 8), pick(8, 5)._replace(merge_key=""), -3),
    "receipts": (receive(5), receive(3), receive(-3), -3),
}
"""5 that are refused, 3 more, their undo, and its quantity."""


TWO_LOCATIONS = {
    "the refused goods, last": (pick(0, 2, **AT_A), pick(2, 3, **AT_B), pick(3, 1, **AT_A), [[1], None]),
    "the other goods": (pick(0, 2, **AT_A), pick(2, 3, **AT_B), pick(3, 2, **AT_B), [[1], [-1]]),
    "both": (pick(0, 2, **AT_A), pick(2, 3, **AT_B), pick(3, 0, **AT_B), [[1], [-1]]),
    "goods put back, last": (pick(3, 1, **AT_A), pick(1, 2, **AT_B), pick(2, 4, **AT_A), [[1], None]),
}
"""What was refused at A-1, what waits at B-1, what is undone then, and what is left of the two that wait."""


@pytest.mark.parametrize("name", TWO_LOCATIONS)
def test_reversal_undoes_what_was_picked_at_its_location(outbox: OperationQueue, name: str) -> None:
    first, other, undone, left = TWO_LOCATIONS[name]
    refused, *later = put(outbox, first, other, undone._replace(merge_key=""))
    outbox.refuse(refused, store_text("finished"))
    found = [outbox.get(op_id) for op_id in later]
    assert [None if op.state == CLOSED else quantities(op) for op in found] == left


@pytest.mark.parametrize("name", LAST_FIRST)
def test_reversal_undoes_the_last_change(outbox: OperationQueue, name: str) -> None:
    """The 3 and their undo wait."""
    first, more, undone, quantity = LAST_FIRST[name]
    refused, *later = put(outbox, first, more, undone)
    outbox.refuse(refused, store_text("too little"))
    assert [quantities(outbox.get(op_id)) for op_id in later] == [[3], [quantity]]
    assert [outbox.get(op_id).state for op_id in later] == [QUEUED, QUEUED]
    assert outbox.get(refused).state == REFUSED
    assert quantities(as_left(outbox.get(refused))) == [5]


@pytest.mark.parametrize("name", LAST_FIRST)
def test_late_reversal_undoes_the_last_change(outbox: OperationQueue, name: str) -> None:
    """The service has the 3 when their undo comes."""
    first, more, undone, quantity = LAST_FIRST[name]
    (refused,) = put(outbox, first)
    outbox.refuse(refused, store_text("too little"))
    (more_id,) = put(outbox, more)
    outbox.confirm(more_id, "{}")
    outbox.mark_read_back(more_id)
    (undo_id,) = enqueue(outbox, undone)
    assert outbox.get(undo_id).state == QUEUED
    assert quantities(outbox.get(undo_id)) == [quantity]
    assert quantities(as_left(outbox.get(refused))) == [5]


@pytest.mark.parametrize(
    ("undone", "booked"), [(None, [5]), (ONE, [4]), (Decimal(5), None)], ids=["nothing", "a part", "all"]
)
def test_what_was_undone_is_not_booked_with_overage(
    outbox: OperationQueue, undone: Decimal | None, booked: list[int] | None
) -> None:
    (refused, *_) = put(outbox, move(MOVED), *([undo(MOVED._replace(quantity=undone))] if undone else []))
    outbox.refuse(refused, store_text("too little"), {"status": 409})
    assert outbox.get(refused).state == (REFUSED if booked else CLOSED)
    with transaction(outbox._db):
        assert outbox.resolve(Resolve(refused, OVERAGE), "U1") == bool(booked)
    waiting = [quantities(op) for op in outbox.live_operations()]
    assert waiting == ([booked] if booked else [])


@pytest.mark.parametrize("undone", [1, 3])
def test_goods_that_were_taken_out_need_no_other_place(outbox: OperationQueue, undone: int) -> None:
    """The refused pick also sets a field of the order, so that a person still sees it."""
    write = pick(0, 3, is_picked=True)
    write.body["orders"]["remark"] = "Call first"
    refused, _ = put(outbox, write, pick(3, 3 - undone))
    outbox.refuse(refused, store_text("finished"))
    op = as_left(outbox.get(refused))
    assert op.state == REFUSED
    assert quantities(op) == [3 - undone]
    assert ("put_back" in resolutions(op, is_last=True)) == (undone < 3)


class Run:
    """A person who does and undoes, and a service that takes or refuses it."""

    def __init__(self, outbox: OperationQueue, kind: str) -> None:
        self.outbox, self.kind = outbox, kind
        self.booked: Counter[str] = Counter()
        self.moved: Counter[str] = Counter()
        """Quantities by location."""
        self.not_undone: dict[str, tuple[int, str]] = {}
        """What is left of each change and its location, by its operation, the latest last."""

    def change(self, quantity: int) -> None:
        """Do something, or undo the last of it; a person undoes at most what is done."""
        if quantity > 0:
            location = ("A-1", "B-1")[quantity % 2] if self.kind == "pick" else "B-1"
            self.not_undone[self._put(quantity, location)] = quantity, location
        while quantity < 0 and (done := [op_id for op_id, (size, _) in self.not_undone.items() if size]):
            size, location = self.not_undone[done[-1]]
            part = min(-quantity, size)
            self._put(-part, location)
            self.not_undone[done[-1]] = size - part, location
            quantity += part

    def _put(self, size: int, location: str) -> str:
        (op_id,) = enqueue(self.outbox, self._write(size, location)._replace(merge_key=""))
        self.moved[location] += size
        return op_id

    def _write(self, size: int, location: str) -> Write:
        if self.kind == "move":
            item = MOVED._replace(quantity=Decimal(abs(size)))
            return move(item) if size > 0 else undo(item)
        if self.kind == "receipt":
            return receive(size)
        picked = self.moved.total()
        return pick(picked, picked + size, preferred_location_code=location)

    def send(self) -> None:
        for op in self.outbox.sendable(1):
            assert self.outbox.begin_sending(op.op_id, b"{}")

    def confirm(self) -> None:
        for op in self.outbox.left_sending():
            self.outbox.confirm(op.op_id, "{}")
            self.outbox.mark_read_back(op.op_id)
            self.booked.update(totals(op))

    def refuse(self) -> None:
        for op in self.outbox.left_sending():
            self.outbox.refuse(op.op_id, store_text("too little"))

    def resolve(self, decision: str) -> None:
        """Resolve the oldest refusal. Closed by hand: the person carries back what is left."""
        for op in self.refused()[:1]:
            with transaction(self.outbox._db):
                is_done = self.outbox.resolve(Resolve(op.op_id, decision), "U1")
            if not is_done:
                continue
            rest = self.not_undone.pop(op.op_id, (0, ""))
            if decision == OVERAGE:
                self.not_undone[self.outbox.get(op.op_id).superseded_by] = rest
            else:
                self.moved.subtract(totals(op))

    def refused(self) -> list[Operation]:
        return [as_left(op) for op in self.outbox.live_operations() if op.state == REFUSED]

    def known(self) -> Counter[str]:
        """What is booked or waits, by location."""
        known = Counter(self.booked)
        for op in self.outbox.unfinished():
            known.update(totals(op))
        return known


def total(op: Operation) -> int:
    return int(sum(changes_of(op).values()))


def totals(op: Operation) -> Counter[str]:
    """What an operation changes, by location."""
    lines = op.body["orders"]["order_lines"] if op.operation == "update-customer-order" else ()
    return Counter({next((line["preferred_location_code"] for line in lines), "B-1"): total(op)})


STEPS = st.lists(
    st.one_of(
        st.integers(1, 6),
        st.integers(-6, -1),
        st.sampled_from(["send", "refuse"]),
        st.sampled_from(["send", "refuse", "confirm", OVERAGE, CLOSED_BY_HAND]),
    ),
    min_size=12,
    max_size=40,
)


def play(run: Run, steps: list[int | str], *, refuses_undos: bool) -> None:
    for step in steps:
        sending = run.outbox.left_sending()
        match step:
            case int():
                run.change(step)
            case "send":
                run.send() if not sending else None
            case "refuse" if refuses_undos or all(total(op) > 0 for op in sending):
                run.refuse()
            case "confirm" | "refuse":
                run.confirm()
            case _:
                run.resolve(step)


@pytest.mark.parametrize("kind", ["move", "pick", "receipt"])
@settings(max_examples=tries(15, 100), deadline=None)
@given(steps=STEPS)
def test_service_has_what_was_done_and_not_undone(kind: str, steps: list[int | str]) -> None:
    """Each refused operation keeps what was not undone of it. All else is booked or waits."""
    run = Run(new_outbox(), kind)
    play(run, steps, refuses_undos=False)
    left = {op.op_id: total(op) for op in run.refused()}
    assert left == {op_id: run.not_undone[op_id][0] for op_id in left}
    rest = Counter[str]()
    for op_id, (size, location) in run.not_undone.items():
        rest[location] += size - left.get(op_id, 0)
    assert run.known() == rest


@pytest.mark.parametrize("kind", ["move", "pick", "receipt"])
@settings(max_examples=tries(15, 100), deadline=None)
@given(steps=STEPS)
def test_refused_undos_change_no_sum(kind: str, steps: list[int | str]) -> None:
    """Undos are refused too: what is booked, waits, or needs a person is what was done and not undone, everywhere."""
    run = Run(new_outbox(), kind)
    play(run, steps, refuses_undos=True)
    known = run.known()
    for op in run.refused():
        known.update(totals(op))
    assert known == run.moved


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


@pytest.mark.parametrize(
    ("undone", "excess", "left", "booked"),
    [
        (pick(4, 3), 1, [], None),
        (pick(4, 2), 1, [], [-1]),
        (pick(4, 3), 2, [1], None),
        (pick(4, 5), 1, [1], [1]),
        (pick(4, 5), -1, [-1], [1]),
        (pick(4, 3, line_number=2), 1, [1], [-1]),
    ],
)
def test_excess_that_is_taken_back_just_after_its_report_is_not_asked_back(
    outbox: OperationQueue, undone: Write, excess: int, left: list[int], booked: list[int] | None
) -> None:
    """The undo comes before its picker knows of the excess: it takes nothing of what another picker has picked."""
    (first,) = put(outbox, pick(2, 4))
    line: Any = {"line_number": 1, "product_number": "P1", "picked_quantity": 4, "quantity": 4, "left": excess}
    outbox.confirm(first, "{}", excess=[line])
    (later,) = enqueue(outbox, undone)
    asked = [op for op in outbox.live_operations() if op.state == REFUSED]
    assert [quantities(op)[0] for op in asked] == left
    for op in asked:
        told = from_text(Any, op.answer)["left"], dict(read_message(op.last_error).args)["left"]
        assert told == (left[0], abs(left[0]))
    op = outbox.get(later)
    assert (op.state, None if booked is None else quantities(op)) == (CLOSED if booked is None else QUEUED, booked)


def test_what_another_job_does_stays(outbox: OperationQueue) -> None:
    """The goods are moved back by somebody who knows of the refusal."""
    (refused,) = put(outbox, move(MOVED))
    outbox.refuse(refused, store_text("too little"))
    with transaction(outbox._db):
        (back,) = outbox.enqueue([intents(undo(MOVED))[0]._replace(job_id="OTHER")], ANNA)
    assert outbox.get(back).body[0]["quantity"] == 5
