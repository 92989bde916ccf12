"""Excess on a line stays on this host until somebody confirms that it is put back."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import apsw
import pytest

from aisle.cli.reason_texts import reason_text
from aisle.contract.wire import encode_json
from aisle.host.database import transaction
from aisle.jobs.job import ARRIVED, CLOSED_BY_HAND, Resolve
from aisle.outbox.excess_picks import EXCESS, excess_reason_of, parse_excess
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import Operation
from aisle.outbox.reason_messages import store_text
from aisle.outbox.service_restore import DETECTED
from tests.clock import Clock, seeded
from tests.writes import ANNA, intents, update

LINE: Any = {
    "line_number": 1,
    "product_number": "P1",
    "quantity": Decimal(3),
    "picked_quantity": Decimal(3),
    "moved_quantity": Decimal(0),
    "left": Decimal(2),
    "picked_username": "ben",
}
WHY = "Line 1 is at 3 of 3 (ben); 2 too many in your hand: put back"


@pytest.fixture
def outbox(aisle_home: Path) -> OperationQueue:
    """An empty one."""
    return OperationQueue(open_outbox(aisle_home), clock=Clock(), random=seeded())


def sent(outbox: OperationQueue, evidence: Any = None, *, has_key: bool = False) -> str:
    """An update of order A that is under way."""
    db: apsw.Connection = outbox._db
    with transaction(db):
        (op_id,) = outbox.enqueue(intents(update("A", {1: 2})), ANNA)
    outbox.begin_sending(op_id, b"{}", has_key=has_key, evidence=evidence)
    return op_id


def kept(outbox: OperationQueue) -> list[Operation]:
    """What is refused and not settled."""
    return [op for op in outbox.recent() if op.state == "rejected"]


def test_it_is_a_refused_operation_of_its_own_until_it_is_settled(outbox: OperationQueue) -> None:
    op_id = sent(outbox)
    outbox.confirm(op_id, "{}", excess=[LINE])
    (rest,) = kept(outbox)
    assert (reason_text(rest.last_error), rest.app_user, rest.lanes, rest.live) == (WHY, "U1", ("order/A",), 1)
    assert rest.body["orders"] == {
        "order_number": "A",
        "order_lines": [{"line_number": 1, "product_number": "P1", "base_picked_quantity": 3, "picked_quantity": 5}],
    }
    assert outbox.get(op_id).state == "done"
    assert not outbox.unfinished()
    assert outbox.pending_counts() == (0, 1)
    with transaction(outbox._db):
        assert outbox.resolve(Resolve(rest.op_id, CLOSED_BY_HAND, "put back"), "U1")
    assert outbox.pending_counts() == (0, 0)


def test_evidence_from_before_sending_survives_any_confirmation(outbox: OperationQueue) -> None:
    found = sent(outbox, {EXCESS: [LINE]})
    outbox.mark_in_doubt(found, store_text("no answer"))
    outbox.confirm(found, "found", {**outbox.get(found).evidence, "looks": 1})
    assert [reason_text(op.last_error) for op in kept(outbox)] == [WHY]
    by_hand = sent(outbox, {EXCESS: [LINE]})
    outbox.mark_in_doubt(by_hand, store_text("no answer"))
    with transaction(outbox._db):
        assert outbox.resolve(Resolve(by_hand, ARRIVED), "U6")
    assert [reason_text(op.last_error) for op in kept(outbox)] == [WHY, WHY]
    own = sent(outbox)
    outbox.confirm(own, "{}")
    assert len(kept(outbox)) == 2


def test_what_was_told_after_one_restore_is_not_told_after_the_next(outbox: OperationQueue) -> None:
    op_id = sent(outbox, has_key=True)
    answers = [("{}", []), ('{"success":true}', [LINE]), ('{"success":true}', []), ('{"success":true}', [LINE])]
    for n, (text, left) in enumerate(answers):
        if n:
            assert outbox.replay([op_id], DETECTED) == 1
            outbox.begin_sending(op_id, b"{}", has_key=True)
        said = encode_json({"success": True, "left": left}).decode() if left else text
        outbox.confirm(op_id, said, excess=left)
    assert [reason_text(op.last_error) for op in kept(outbox)] == [WHY]
    assert [row["left"] for row in parse_excess(outbox.get(op_id).answer)] == [2]


def test_the_numbers_of_entries_are_those_of_the_last_answer(outbox: OperationQueue) -> None:
    op_id = sent(outbox, has_key=True)
    outbox.confirm(op_id, '{"data":[7]}')
    outbox.replay([op_id], DETECTED)
    outbox.begin_sending(op_id, b"{}", has_key=True)
    outbox.confirm(op_id, '{"data":[9]}')
    assert outbox.get(op_id).answer == '{"data":[9]}'


def test_it_is_written_afresh_where_the_line_stood_elsewhere_meanwhile(outbox: OperationQueue) -> None:
    op_id = sent(outbox)
    outbox.retry_later(op_id, store_text("no link"), 0)
    assert outbox.begin_sending(op_id, b"[]") == b"{}"
    outbox.retry_later(op_id, store_text("no link"), 0)
    assert outbox.begin_sending(op_id, b"[]", replace_sent_body=True) == b"[]"
    assert outbox.get(op_id).sent_body == b"[]"


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({}, WHY),
        ({"picked_username": ""}, "Line 1 is at 3 of 3; 2 too many in your hand: put back"),
        (
            {"left": Decimal("-0.5"), "moved_quantity": Decimal(3)},
            "Line 1 is at 3 of 3 (ben), 3 at a place; 0.5 of it were not put back",
        ),
    ],
)
def test_why_in_a_sentence(more: dict[str, Any], says: str) -> None:
    assert reason_text(excess_reason_of(LINE | more)) == says
