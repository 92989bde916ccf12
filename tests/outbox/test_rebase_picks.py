"""Picks of two people on one line add up in any order, merged or not."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aisle.cache.order_overlay import apply_to_order
from aisle.cli.print_rows_and_messages import reason_text
from aisle.contract.request_encoding import encode_json
from aisle.host.database import transaction
from aisle.jobs.job import ARRIVED, CLOSED_BY_HAND, Resolve, Write
from aisle.outbox.merge_and_rebase import (
    EXCESS,
    MAX_LINES,
    RebasedLine,
    excess_reason_of,
    is_picked,
    merge_batch,
    merge_line_updates,
    parse_carried_lines,
    parse_excess,
    rebase_line,
)
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import Operation
from aisle.outbox.replay_after_restore import DETECTED, parse_superseded_lines
from aisle.stored_messages import store_text
from tests.clock import Clock, seeded
from tests.writes import enqueue, update


def line(base: int | None, picked: int, **more: Any) -> Any:
    """An update line; without a base it is absolute."""
    said = {"picked_quantity": Decimal(picked), **more}
    return said if base is None else {"base_picked_quantity": Decimal(base), **said}


def based(base: int, picked: int, **more: Any) -> Write:
    """A write of order A that takes its line 1 from base to picked."""
    write = update("A", {1: picked}, **more)
    write.body["orders"]["order_lines"][0]["base_picked_quantity"] = Decimal(base)
    return write


REBASED = [
    # base, picked, stands, of, moved: what it comes to, and what found no room
    ((0, 1, 0, 3, 0), (1, 0)),  # nobody else was there
    ((0, 1, 1, 3, 0), (2, 0)),  # somebody picked one meanwhile
    ((0, 2, 2, 3, 0), (3, 1)),  # one of them finds no room
    ((0, 2, 3, 3, 0), (3, 2)),  # none does
    ((2, 1, 3, 3, 0), (2, 0)),  # put back, and not what the other picked
    ((2, 0, 1, 3, 0), (0, -1)),  # somebody has put back as well
    ((2, 0, 2, 3, 1), (1, -1)),  # one is at a place by now
    ((1, 1, 2, 3, 0), (2, 0)),  # nothing was done
    ((0, 1, 4, 3, 0), (4, 1)),  # more is picked than is ordered by now
    ((3, 2, 4, 3, 0), (3, 0)),
    ((2, 1, 0, 3, 0), (0, -1)),
]


@pytest.mark.parametrize(("found", "comes"), REBASED)
def test_a_share_is_done_to_the_line_as_it_stands(
    found: tuple[int, int, int, int, int], comes: tuple[int, int]
) -> None:
    base, picked, *stands = found
    now = rebase_line(line(base, picked), *map(Decimal, stands))
    assert now == RebasedLine(*map(Decimal, comes))


@pytest.mark.parametrize(
    ("said", "now", "picked"),
    [
        (line(0, 3, is_picked=True), 3, True),
        (line(2, 3, is_picked=True), 2, False),  # he thought it full, and somebody has put back
        (line(2, 2, is_picked=True), 2, True),  # closed short, and he knew it
        (line(2, 2, is_picked=False), 2, False),
        (line(1, 2, is_picked=False), 3, True),
    ],
)
def test_a_line_is_closed_short_by_who_knows_that_it_is_short(said: Any, now: int, picked: bool) -> None:
    assert is_picked(said, RebasedLine(Decimal(now), Decimal(0)), Decimal(3)) is picked


@pytest.mark.parametrize(
    ("earlier", "later", "both"),
    [
        (line(0, 1), line(1, 2), line(0, 2)),
        (line(0, 1), line(0, 1), line(0, 2)),  # the second has not seen the first
        (line(0, 1), line(3, 4), line(2, 4)),  # somebody else picked two between them
        (line(0, 2), line(2, 0), line(0, 0)),
        (line(None, 2), line(2, 3), line(None, 3)),
        (line(None, 2), line(1, 2), line(None, 3)),
        (line(0, 2), line(None, 1), line(None, 1)),
        (line(0, 2), {"is_picked": True}, line(0, 2, is_picked=True)),
        ({}, line(1, 2), line(1, 2)),
    ],
)
def test_two_updates_of_a_line_are_one(earlier: Any, later: Any, both: dict[str, Any]) -> None:
    assert merge_line_updates(earlier, later) == both


SHARES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=8)


@given(SHARES)
def test_folding_keeps_the_sum_of_what_was_done(shares: list[tuple[int, int]]) -> None:
    (write,), _ = merge_batch([based(base, picked) for base, picked in shares])
    (said,) = write.body["orders"]["order_lines"]
    assert said["picked_quantity"] - said["base_picked_quantity"] == sum(picked - base for base, picked in shares)
    assert said["base_picked_quantity"] >= 0
    assert said["picked_quantity"] >= 0


TIME = "2026-11-20T0{}:00:00Z"


def operation(write: Write, **more: Any) -> Operation:
    """A row of the outbox with this write."""
    fields = dict.fromkeys(Operation._fields)
    said = {
        "operation": write.operation,
        "body": write.body,
        "app_user": "U1",
        "terminal": "T1",
        "occurred_at": TIME.format(2),
    }
    return Operation(**{**fields, **said, **more})


def laid(stands: int, *operations: Operation, of: int = 5) -> tuple[int, bool]:
    """What line 1 of A shows with these operations over it, and whether the order counts as picked."""
    header: dict[str, Any] = {"order_number": "A", "is_picked": False}
    lines: list[dict[str, Any]] = [{"line_number": 1, "quantity": of, "picked_quantity": stands}]
    apply_to_order(header, lines, operations, 1.0)
    return int(lines[0]["picked_quantity"]), header["is_picked"]


def test_unsent_picks_are_added_to_service_figure() -> None:
    assert laid(0, operation(based(0, 1)), operation(based(0, 2))) == (3, False)
    assert laid(3, operation(based(0, 1)), operation(based(1, 2))) == (5, True)
    assert laid(5, operation(based(0, 1)), operation(based(3, 1))) == (3, False)


def test_what_may_have_arrived_is_not_added_twice() -> None:
    sent = operation(based(0, 2), first_sent_at=1.0)
    assert laid(0, sent) == (2, False)
    assert laid(2, sent) == (2, False)
    assert laid(4, sent, operation(based(2, 3))) == (5, True)
    back = operation(based(2, 1), first_sent_at=1.0)
    assert laid(2, back) == (1, False)
    assert laid(1, back) == (1, False)


def test_an_order_called_picked_by_somebody_who_did_not_know_is_not() -> None:
    assert laid(1, operation(based(4, 5, is_picked=True))) == (2, False)


def test_a_claim_on_its_way_says_whose_it_is_unless_a_later_one_is_known() -> None:
    header: dict[str, Any] = {
        "order_number": "A",
        "claimed_by": "U2",
        "claimed_name": "Ben",
        "claimed_on": TIME.format(1),
    }
    mine = operation(update("A", {}, is_claimed=True))
    apply_to_order(header, [], [mine], None)
    assert header["is_claimed"] is True
    assert (header["claimed_by"], header["claimed_terminal"], header.get("claimed_name")) == ("U1", "T1", None)
    later: dict[str, Any] = {"order_number": "A", "is_claimed": True, "claimed_by": "U2", "claimed_on": TIME.format(3)}
    apply_to_order(later, [], [mine], None)
    assert later["claimed_by"] == "U2"


@pytest.mark.parametrize(
    ("who", "terminal", "let_go_on", "stands"),
    [
        ("U2", "T2", "2026-05-28T20:00:00Z", True),
        ("U1", "T2", "2026-05-28T20:00:00Z", True),
        ("U2", "T2", "2026-05-28T20:10:00.001+00:00", False),
        ("U1", "T1", "2026-05-28T20:00:00Z", False),
    ],
)
def test_who_let_go_before_somebody_claimed_lets_that_claim_stand(
    who: str, terminal: str, let_go_on: str, stands: bool
) -> None:
    said = {"is_claimed": True, "claimed_by": who, "claimed_terminal": terminal, "claimed_on": "2026-05-28T20:10:00Z"}
    header: dict[str, Any] = {"order_number": "A", **said}
    apply_to_order(header, [], [operation(update("A", {}, is_claimed=False), occurred_at=let_go_on)], None)
    assert header == {"order_number": "A", **(said if stands else {"is_claimed": False})}


# Excess on a line stays on this host until somebody confirms that it is put back


LINE: Any = {
    "line_number": 1,
    "product_number": "P1",
    "quantity": Decimal(3),
    "picked_quantity": Decimal(3),
    "moved_quantity": Decimal(0),
    "left": Decimal(2),
    "picked_username": "ben",
}
WHY = "Line 1 already has 3 of 3 (ben). Put back the extra 2 in your hand"


@pytest.fixture
def outbox(aisle_home: Path) -> OperationQueue:
    """An empty one."""
    return OperationQueue(open_outbox(aisle_home), clock=Clock(), random=seeded())


def sent(outbox: OperationQueue, evidence: Any = None, *, has_key: bool = False) -> str:
    """An update of order A that is under way."""
    (op_id,) = enqueue(outbox, update("A", {1: 2}))
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
    outbox.confirm(found, "found", {**outbox.get(found).evidence, "lookups": 1})
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
        ({"picked_username": ""}, "Line 1 already has 3 of 3. Put back the extra 2 in your hand"),
        (
            {"left": Decimal("-0.5"), "moved_quantity": Decimal(3)},
            "Line 1 has 3 of 3 (ben), 3 put down; not put back: 0.5",
        ),
    ],
)
def test_why_in_a_sentence(more: dict[str, Any], says: str) -> None:
    assert reason_text(excess_reason_of(LINE | more)) == says


EXTREME = ["1e1000000", "1e999", "-1e999", "1" * 4000, "0.000001", "1.5", '"x"', "null", "[]", '"\\ud800"']


@pytest.mark.parametrize("number", EXTREME)
def test_line_number_that_no_line_has_is_left_out_at_once(outbox: OperationQueue, number: str) -> None:
    one = f'{{"line_number": {number}, "product_number": "P1", "picked_quantity": 1, "left": 1}}'
    body = f'{{"left": [{one}], "superseded": [{one}], "carried": [{one}]}}'
    outbox.confirm(sent(outbox), body, excess=parse_excess(body))
    assert not kept(outbox)
    assert (parse_superseded_lines(body), parse_carried_lines(body)) == ([], frozenset())


@pytest.mark.parametrize("value", ["1e1000000", '"\\ud800"', '"\\n"', f'"{"9" * 5000}"', '{"a": 1}', f"1.{'9' * 5000}"])
def test_extreme_value_of_a_line_is_left_out(value: str) -> None:
    usable = '{"line_number": "7", "product_number": "P1", "picked_quantity": 1, "left": 2, "quantity": 5}'
    for name in ("product_number", "picked_quantity", "left"):
        extreme = usable.replace(f'"{name}":', f'"{name}": {value}, "x":')
        assert [row["line_number"] for row in parse_excess(f'{{"left": [{extreme}, {usable}]}}')] == [7]
    assert "quantity" not in parse_excess(f'{{"left": [{usable.replace("5", value)}]}}')[0]


def test_no_answer_brings_more_lines_than_an_order_has() -> None:
    row = {"line_number": 1, "product_number": "P1", "picked_quantity": 1, "left": 1}
    assert len(parse_excess(encode_json({"left": [row] * 5000}))) == MAX_LINES
