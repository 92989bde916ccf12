"""The operation queue: lanes, merging, sent bytes, and invariants on every path."""

from __future__ import annotations

import itertools
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest.mock import patch

import apsw
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from aisle.errors import StorageError
from aisle.host.database import fetch, migrate, transaction
from aisle.jobs.job import CLOSED_BY_HAND, Resolve
from aisle.outbox import operation_table
from aisle.outbox.merge_and_rebase import product_lanes
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import (
    CLOSED,
    CONFIRMED,
    FIND_ABSENT,
    ID_ALPHABET,
    LOSE_BY_RESTORE,
    QUEUED,
    REFUSED,
    REPLAY_AFTER_RESTORE,
    SEND,
    SENDING,
    STATES,
    TRANSITIONS,
    UNFINISHED,
    Author,
    IllegalTransition,
    Intent,
    Operation,
    new_id,
    next_state,
    operation_from_row,
    sha256_hex,
    write_of_operation,
)
from aisle.outbox.outbox_schema import OUTBOX_MIGRATIONS
from aisle.outbox.replay_after_restore import DETECTED, RestoreReplay, list_restores
from aisle.stored_messages import store_text
from tests.clock import Clock, seeded
from tests.run_length import tries
from tests.writes import ANNA, BEN, enqueue, intents, movement, picked, update


@pytest.fixture
def outbox(outbox_db: apsw.Connection, clock: Clock) -> OperationQueue:
    return OperationQueue(outbox_db, clock=clock, random=seeded())


def put(outbox: OperationQueue, *writes: Any, author: Author = ANNA) -> tuple[str, ...]:
    with transaction(outbox._db):
        return outbox.enqueue(intents(*writes), author)


def closed(outbox: OperationQueue, op_id: str) -> None:
    with transaction(outbox._db):
        assert outbox.resolve(Resolve(op_id, CLOSED_BY_HAND, "put back"), "U6")


def test_an_id_fits_everywhere_and_uses_all_its_bits() -> None:
    assert new_id(lambda size: b"\0" * size) == "A" * 26
    assert new_id(lambda size: b"\xff" * size) == "7" * 25 + "4"
    ids = {new_id() for _ in range(1000)}
    assert len(ids) == 1000
    assert all(len(op_id) == 26 and set(op_id) <= set(ID_ALPHABET) for op_id in ids)


def test_a_row_holds_what_was_written(outbox: OperationQueue, clock: Clock) -> None:
    (op_id,) = put(outbox, update("A/12", {1: Decimal("0.250")}))
    row = outbox.get(op_id)
    assert (row.store, row.app_user, row.operation, row.state) == ("0001", "U1", "update-customer-order", "queued")
    assert picked(row.body) == {1: Decimal("0.250")}
    assert row.path == {"store_number": "0001"}
    assert (row.lanes, row.job_id, row.event_seq, row.created_at) == (("order/A/12",), "JOB", 1, clock.now)
    assert Operation._fields == tuple(name for _, name, *_ in fetch(outbox._db, "PRAGMA table_info(operation)"))


def test_enqueue_belongs_into_a_transaction(outbox: OperationQueue) -> None:
    with pytest.raises(RuntimeError, match="transaction"):
        outbox.enqueue(intents(update("A", {1: 1})), ANNA)


def test_a_waiting_row_is_merged_and_remembered(outbox: OperationQueue, clock: Clock) -> None:
    (first,) = put(outbox, update("A", {1: 1, 2: 1}))
    created = clock.now
    clock.pass_(5)
    (second,) = put(outbox, update("A", {1: 2}))
    old, new = outbox.get(first), outbox.get(second)
    assert (old.state, old.superseded_by, old.live) == ("closed", second, 0)
    assert picked(old.body) == {1: 1, 2: 1}
    assert picked(new.body) == {1: 2, 2: 1}
    assert new.created_at == created
    assert [row.op_id for row in outbox.sendable()] == [second]
    assert outbox.pending_counts() == (1, 0)


def test_operation_once_sending_is_never_merged(outbox: OperationQueue) -> None:
    (first,) = put(outbox, update("A", {1: 1}))
    outbox.begin_sending(first, b"1")
    outbox.retry_later(first, store_text("no route"), 0)
    (second,) = put(outbox, update("A", {1: 2}))
    assert outbox.get(first).state == "queued"
    assert [row.op_id for row in outbox.sendable()] == [first]
    assert picked(outbox.get(second).body) == {1: 2}


def moved(product: str) -> Any:
    """Goods that are brought from one shelf to another, for nobody's order."""
    return movement("", product)._replace(lanes=(f"product/{product}",))


def test_pick_waits_for_earlier_movements_of_its_goods(outbox: OperationQueue) -> None:
    brought, taken, other = put(outbox, moved("P1"), update("A", {1: 2}), update("B", {2: 1}))
    assert [row.op_id for row in outbox.sendable()] == [brought, other]
    outbox.begin_sending(brought, b"[]", has_key=True)
    assert [row.op_id for row in outbox.sendable()] == [other]
    outbox.retry_later(brought, store_text("later"), 0)
    assert [row.op_id for row in outbox.sendable()] == [brought, other]
    outbox.begin_sending(brought, b"[]")
    outbox.mark_in_doubt(brought, store_text("lost"))
    assert [row.op_id for row in outbox.sendable()] == [taken, other], "what stands still holds nothing up"


def test_finding_sendable_operations_reads_no_waiting_ones(
    outbox: OperationQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = put(outbox, *(update(f"O{number}", {number: 1}) for number in range(60)))
    read: list[str] = []

    def noted(row: Any) -> Operation:
        read.append(row[1])
        return operation_from_row(row)

    monkeypatch.setattr(operation_table, "operation_from_row", noted)
    assert [row.op_id for row in outbox.sendable(2, exclude=ids[:1])] == list(ids[1:3])
    assert read == list(ids[1:3])


def test_movement_between_two_picks_prevents_merge(outbox: OperationQueue) -> None:
    (first,) = put(outbox, update("A", {1: 2}))
    put(outbox, moved("P2"))
    (second,) = put(outbox, update("A", {1: 3}))
    assert outbox.get(first).superseded_by == second
    put(outbox, moved("P1"))
    (third,) = put(outbox, update("A", {1: 4}))
    assert outbox.get(second).superseded_by == ""
    assert [picked(outbox.get(op_id).body) for op_id in (second, third)] == [{1: 3}, {1: 4}]
    fourth, _, fifth = put(outbox, update("B", {1: 1}), moved("P1"), update("B", {1: 2}))
    assert fourth != fifth


def test_operations_of_other_authors_are_not_merged(outbox: OperationQueue) -> None:
    (first,) = put(outbox, update("A", {1: 1}))
    (second,) = put(outbox, update("A", {1: 2}), author=BEN)
    assert outbox.get(first).state == outbox.get(second).state == "queued"


def test_merging_does_not_overtake_what_stands_between(outbox: OperationQueue) -> None:
    (first,) = put(outbox, update("A", {1: 1}))
    (between,) = put(outbox, movement("A", "P"))
    (last,) = put(outbox, update("A", {1: 2}))
    assert [row.op_id for row in outbox.unfinished()] == [first, between, last]


def test_dependency_moves_to_successor_of_merged_row(outbox: OperationQueue) -> None:
    (first,) = put(outbox, update("A", {1: 1}))
    with transaction(outbox._db):
        (other,) = outbox.enqueue([Intent(update("B", {1: 1}), depends_on=first)], ANNA)
    (second,) = put(outbox, update("A", {1: 2}))
    assert outbox.get(other).depends_on == second
    assert [row.op_id for row in outbox.sendable()] == [second]
    outbox.begin_sending(second, b"")
    outbox.confirm(second)
    assert [row.op_id for row in outbox.sendable()] == [other]


def test_lanes_keep_order_and_nothing_else_waits(outbox: OperationQueue) -> None:
    one, two, three = put(outbox, update("A", {1: 1}), movement("A", "P"), update("B", {1: 1}))
    (four,) = put(outbox, movement("B", "P"))
    assert [row.op_id for row in outbox.sendable()] == [one, three]
    outbox.begin_sending(one, b"")
    assert outbox.begin_sending(two, b"") is None
    outbox.mark_in_doubt(one, store_text("timed out"))
    assert [row.op_id for row in outbox.sendable()] == [three]
    outbox.confirm(one, "found")
    assert [row.op_id for row in outbox.sendable()] == [two, three]
    outbox.begin_sending(two, b"")
    outbox.refuse(two, store_text("no such place"))
    outbox.begin_sending(three, b"")
    outbox.confirm(three)
    assert [row.op_id for row in outbox.sendable()] == [four]


def test_bytes_are_frozen_when_they_are_first_sent(outbox: OperationQueue, clock: Clock) -> None:
    (op_id,) = put(outbox, update("A", {1: 1}))
    assert outbox.begin_sending(op_id, b"first") == b"first"
    outbox.retry_later(op_id, store_text("refused to connect"), clock.now + 5)
    assert outbox.sendable() == []
    assert outbox.next_due_at() == clock.now + 5
    looked, due = clock.now, clock.now + 5
    clock.now = due
    assert outbox.next_due_at() is None
    assert outbox.next_due_at(looked) == due, "it became due after the look"
    clock.now = looked
    clock.pass_(5)
    assert outbox.begin_sending(op_id, b"other") == b"first"
    row = outbox.get(op_id)
    assert (row.sent_body, row.fingerprint, row.attempts) == (b"first", sha256_hex(b"first"), 2)
    assert row.first_sent_at == clock.now - 5
    assert row.last_error == "refused to connect"


def test_a_merge_and_a_send_cannot_both_win(outbox: OperationQueue) -> None:
    (op_id,) = put(outbox, update("A", {1: 1}))
    listed = outbox.sendable()
    (newer,) = put(outbox, update("A", {1: 2}))
    assert outbox.begin_sending(listed[0].op_id, b"old") is None
    assert outbox.begin_sending(newer, b"new") == b"new"
    assert outbox.get(op_id).sent_body is None


def test_whether_it_went_under_a_key_is_kept_with_it(outbox: OperationQueue) -> None:
    (op_id,) = put(outbox, update("A", {1: 1}))
    assert outbox.get(op_id).has_key == 0
    outbox.begin_sending(op_id, b"", has_key=True)
    assert outbox.get(op_id).has_key == 1
    outbox.retry_later(op_id, store_text("lost"), 0)
    assert outbox.get(op_id).has_key == 1
    outbox.begin_sending(op_id, b"")
    assert outbox.get(op_id).has_key == 0


def test_a_done_operation_lies_over_the_cache_until_it_is_read_back(outbox: OperationQueue, clock: Clock) -> None:
    op_id, other = put(outbox, update("A", {1: 1}), update("B", {1: 1}))
    outbox.begin_sending(op_id, b"")
    outbox.confirm(op_id, "{}")
    assert [row.op_id for row in outbox.pending_operations()] == [op_id, other]
    outbox.mark_read_back(other)
    assert [row.op_id for row in outbox.pending_operations()] == [op_id, other]
    outbox.mark_read_back(op_id)
    assert [row.op_id for row in outbox.pending_operations()] == [other]
    assert outbox.get(op_id).read_back_at == clock.now
    assert outbox.pending_counts() == (1, 0)


def test_a_rejected_operation_leaves_the_overlay_and_waits_for_a_person(outbox: OperationQueue) -> None:
    (op_id,) = put(outbox, update("A", {1: 1}))
    outbox.begin_sending(op_id, b"")
    outbox.refuse(op_id, store_text("422 line 1 is full"))
    assert outbox.pending_operations() == []
    assert outbox.pending_counts() == (0, 1)
    closed(outbox, op_id)
    assert outbox.pending_counts() == (0, 0)
    assert outbox.get(op_id).closed_by == "U6"
    with pytest.raises(IllegalTransition):
        outbox.confirm(op_id)


def test_after_a_crash_what_was_sending_is_found(outbox: OperationQueue) -> None:
    one, two = put(outbox, update("A", {1: 1}), update("B", {1: 1}))
    outbox.begin_sending(one, b"")
    again = OperationQueue(outbox._db)
    assert [row.op_id for row in again.left_sending()] == [one]
    assert [row.op_id for row in again.sendable()] == [two]
    assert outbox.pending_counts() == (2, 0)


def test_an_unknown_id_is_told(outbox: OperationQueue) -> None:
    with pytest.raises(StorageError, match="There is no operation X"):
        outbox.get("X")


def test_a_newer_outbox_is_refused(home: Any, outbox_db: apsw.Connection) -> None:
    outbox_db.execute(f"PRAGMA user_version={len(OUTBOX_MIGRATIONS) + 1}").fetchall()
    with pytest.raises(StorageError, match=r"outbox\.db is of version"):
        open_outbox(home.folder)


class Machine(RuleBasedStateMachine):
    """Sessions and a courier at one outbox; the model knows only what people did and what the service was sent."""

    def __init__(self) -> None:
        super().__init__()
        self.db = apsw.Connection(":memory:")
        migrate(self.db, OUTBOX_MIGRATIONS)
        self.clock = Clock()
        self.outbox = OperationQueue(self.db, clock=self.clock, random=seeded())
        self.picks: list[tuple[str, str, int, int]] = []
        self.sent: dict[str, tuple[Any, bytes]] = {}
        self.value = 0

    @rule(picks=st.lists(st.tuples(st.sampled_from("AB"), st.integers(1, 2)), min_size=1, max_size=4))
    def pick(self, picks: list[tuple[str, int]]) -> None:
        writes = []
        for order, line in picks:
            self.value += 1
            writes.append((order, line, self.value))
        ids = put(self.outbox, *[update(order, {line: value}) for order, line, value in writes])
        self.picks += [(op_id, *pick) for op_id, pick in zip(ids, writes, strict=True)]

    @rule(order=st.sampled_from("AB"), product=st.sampled_from("PQ"))
    def move(self, order: str, product: str) -> None:
        put(self.outbox, movement(order, product))

    @rule(product=st.sampled_from(("P1", "P2")))
    def bring(self, product: str) -> None:
        put(self.outbox, moved(product))

    @rule(late=st.booleans())
    def send(self, late: bool) -> None:
        for row in self.outbox.sendable(1):
            if late:
                self.pick([("A", 1)])
            content = self.outbox.begin_sending(row.op_id, f"{row.n}".encode())
            if content is not None:
                body, first = self.sent.setdefault(row.op_id, (row.body, content))
                assert (row.body, content) == (body, first)

    @rule(event=st.sampled_from(["confirm", "refuse", "mark_in_doubt", "retry"]))
    def answer(self, event: str) -> None:
        for row in self.outbox.left_sending()[:1]:
            self._answer(row, event)

    @rule(event=st.sampled_from(["confirm", "retry", "ask_person"]))
    def settle_doubt(self, event: str) -> None:
        for row in [row for row in self.outbox.unfinished() if row.state == "in_doubt"][:1]:
            self._answer(row, event)

    @rule(event=st.sampled_from(["confirm", "retry", "close"]))
    def settle_person(self, event: str) -> None:
        for row in [row for row in self.outbox.recent() if row.state == "needs_person"][:1]:
            self._answer(row, event)

    def _answer(self, row: Operation, event: str) -> None:
        if event == "retry":
            self.outbox.retry_later(row.op_id, store_text("again"), self.clock.now)
        elif event == "confirm":
            self.outbox.confirm(row.op_id)
        elif event == "close":
            closed(self.outbox, row.op_id)
        else:
            getattr(self.outbox, event)(row.op_id, "why")

    @precondition(lambda self: self.outbox.pending_operations())
    @rule(order=st.sampled_from("AB"))
    def read(self, order: str) -> None:
        self.clock.pass_(1)
        for row in [row for row in self.outbox.pending_operations() if f"order/{order}" in row.lanes]:
            self.outbox.mark_read_back(row.op_id)

    @invariant()
    def no_pick_is_lost(self) -> None:
        for op_id, order, line, value in self.picks:
            carrier = self.outbox.get(op_id)
            while carrier.superseded_by:
                carrier = self.outbox.get(carrier.superseded_by)
            later = {mine for _, o, n, mine in self.picks if (o, n) == (order, line) and mine >= value}
            assert int(picked(carrier.body)[line]) in later

    @invariant()
    def what_may_go_is_told_in_its_order(self) -> None:
        all_of_it = [row.op_id for row in self._may_go()]
        for limit, skipped in ((1, 0), (2, 0), (50, 0), (1, 1), (2, 2)):
            but = all_of_it[:skipped]
            found = self.outbox.sendable(limit, exclude=but)
            assert [row.op_id for row in found] == all_of_it[skipped:][:limit]
            assert found == [self.outbox.get(row.op_id) for row in found]

    def _may_go(self) -> list[Operation]:
        """Whatever is the oldest in its lanes, and behind nothing that was said of its goods and moves."""
        unfinished = self.outbox.unfinished()
        found = []
        for row in unfinished:
            elder = [other for other in unfinished if other.n < row.n]
            first = not any(set(other.lanes) & set(row.lanes) for other in elder)
            if first and row.state == "queued" and row.not_before <= self.clock.now:
                found.append(row)
        moves = [*found, *(row for row in unfinished if row.state == "sending")]
        return [
            row
            for row in found
            if not any(
                product_lanes(write_of_operation(row)) - set(row.lanes) & set(other.lanes)
                for other in moves
                if other.n < row.n
            )
        ]

    @invariant()
    def lanes_are_kept(self) -> None:
        unfinished = self.outbox.unfinished()
        for row in unfinished:
            if row.state == "sending":
                elder = [other for other in unfinished if other.n < row.n]
                assert not [other for other in elder if set(other.lanes) & set(row.lanes)]

    @invariant()
    def what_was_sent_stays(self) -> None:
        for op_id, (body, content) in self.sent.items():
            row = self.outbox.get(op_id)
            assert (row.body, row.sent_body, row.superseded_by) == (body, content, "")

    @invariant()
    def counts_are_right(self) -> None:
        states = [row.state for row in self.outbox.recent(1000) if row.live]
        waiting = sum(state in ("queued", "sending", "in_doubt") for state in states)
        assert self.outbox.pending_counts() == (waiting, sum(state in ("needs_person", "rejected") for state in states))
        held = {n for (n,) in fetch(self.db, "SELECT n FROM operation_lane")}
        assert held == {row.n for row in self.outbox.recent(1000) if row.live}
        assert {row.n for row in self.outbox.recent(1000) if row.state in UNFINISHED} <= held

    def teardown(self) -> None:
        self.db.close()


TestMachine = Machine.TestCase
TestMachine.settings = settings(max_examples=tries(12, 100), stateful_step_count=30, deadline=None)


# The transition table of operations is complete, without dead ends


EVENTS = sorted({event for _, event in TRANSITIONS})
FINISHED = (CONFIRMED, REFUSED, CLOSED)


def reachable(start: str) -> set[str]:
    found, new = {start}, {start}
    while new:
        new = {to for (state, _), to in TRANSITIONS.items() if state in new} - found
        found |= new
    return found


@pytest.mark.parametrize(("state", "event"), list(itertools.product(STATES, EVENTS)))
def test_transitions_outside_the_table_raise(state: str, event: str) -> None:
    if (state, event) in TRANSITIONS:
        assert next_state(state, event) in STATES
    else:
        with pytest.raises(IllegalTransition, match=f"{event} cannot happen to an operation that is {state}"):
            next_state(state, event)


def test_all_states_are_reachable_and_unfinished_ones_can_end() -> None:
    assert reachable(QUEUED) == set(STATES)
    for state in (*UNFINISHED, REFUSED):
        assert reachable(state) & {CONFIRMED, CLOSED}


def test_nothing_comes_back_from_the_end() -> None:
    assert [event for state, event in TRANSITIONS if state == CONFIRMED] == [
        FIND_ABSENT,
        LOSE_BY_RESTORE,
        REPLAY_AFTER_RESTORE,
    ]
    assert reachable(CLOSED) == {CLOSED}
    assert set(FINISHED) | set(UNFINISHED) == set(STATES)
    assert not set(FINISHED) & set(UNFINISHED)


def test_bytes_leave_only_from_sending() -> None:
    assert [to for (_, event), to in TRANSITIONS.items() if event == SEND] == [SENDING]
    assert {state for (state, _), to in TRANSITIONS.items() if to == SENDING} == {QUEUED}


# Replay of confirmed operations after a restore: which keys are named, and what is recorded


@pytest.fixture
def outbox_service(aisle_home: Path, clock: Clock) -> OperationQueue:
    """An empty one."""
    return OperationQueue(open_outbox(aisle_home), clock=clock, random=seeded())


def sent(outbox_service: OperationQueue, count: int) -> list[str]:
    """So many updates of different orders, on their way under their keys."""
    ids = enqueue(outbox_service, *(update(f"O{n}", {1: 1}) for n in range(count)))
    for op_id in ids:
        outbox_service.begin_sending(op_id, b"{}", has_key=True)
    return list(ids)


def test_newest_key_is_named_despite_later_confirmed_older_ones(outbox_service: OperationQueue, clock: Clock) -> None:
    *older, youngest = sent(outbox_service, 30)
    for op_id in (youngest, *older):
        clock.now += 1
        outbox_service.confirm(op_id, "{}")
    known = outbox_service.newest_keys(0.0, 4)
    assert set(older[-4:]) | {youngest} <= set(known)
    assert len(known) == len(set(known)) <= 8


def test_what_goes_again_is_noted_with_it(outbox_service: OperationQueue) -> None:
    ids = sent(outbox_service, 150)
    for op_id in ids:
        outbox_service.confirm(op_id, "{}")
    begin_again, begun = RestoreReplay._reset_operation, []

    def ends(self: RestoreReplay, *args: object, **more: object) -> None:
        begun.append(args)
        if len(begun) == 120:
            raise KeyboardInterrupt
        begin_again(self, *args, **more)  # type: ignore[arg-type]

    with patch.object(RestoreReplay, "_reset_operation", ends), pytest.raises(KeyboardInterrupt):
        outbox_service.replay(ids, DETECTED)
    assert len(outbox_service.unfinished()) == 100
    assert [note.resent for note in list_restores(outbox_service._db)] == [100]
    assert outbox_service.replay(ids, DETECTED) == 50
    assert [note.resent for note in list_restores(outbox_service._db)] == [50, 100]


def test_a_restore_that_has_lost_nothing_is_noted_too(outbox_service: OperationQueue) -> None:
    assert outbox_service.replay([], DETECTED) == 0
    assert [(note.resent, note.looked_up) for note in list_restores(outbox_service._db)] == [(0, 0)]
