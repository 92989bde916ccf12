"""The journal: one transaction an input, resume from a snapshot, one owner a job."""

import os
import subprocess
import sys
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import apsw
import pytest

from aisle.errors import StorageError
from aisle.host.database import fetch
from aisle.host.processes import is_running, process_start_id
from aisle.jobs.job import CLOSED_BY_HAND, Refresh, Resolve, SignIn, SignOut, Write
from aisle.outbox.commit_journal import EventEntry, Journal, JournalBatch, NewJob, Snapshot
from aisle.outbox.operation_queue import OperationQueue
from aisle.outbox.operation_record import CLOSED, QUEUED, REFUSED
from aisle.outbox.requests_and_token_holders import request_read, take_read_requests
from aisle.outbox.sessions_and_open_jobs import EventRow, JobRow, SessionRow, SignedIn
from tests.clock import Clock, seeded
from tests.writes import ANNA, BEN, STORE, picked, update


@pytest.fixture
def journal(outbox_db: apsw.Connection, clock: Clock) -> Journal:
    return Journal(outbox_db, clock=clock, random=seeded())


def batch(**fields: Any) -> JournalBatch:
    return JournalBatch("S1", "console", ANNA, **fields)


def entry(job: str, raw: str = "4006381333931", **fields: Any) -> EventEntry:
    return EventEntry(job, 1_000_000.5, "2026-03-02T08:00:00.5Z", raw, "scan", f'{{"raw":"{raw}"}}', **fields)


def entries(job: str, count: int, first: int = 1) -> list[EventEntry]:
    return [entry(job, str(number)) for number in range(first, first + count)]


def raws(events: Sequence[EventRow]) -> list[str]:
    return [event.raw for event in events]


def test_everything_of_a_batch_is_kept_together(journal: Journal, outbox_db: apsw.Connection) -> None:
    done = journal.commit(
        batch(
            opened=[NewJob("J1", "pick", 1)],
            entries=entries("J1", 3),
            writes=[(0, update("A", {1: 1})), (2, update("A", {1: 2})), (2, update("B", {1: 1}))],
            snapshots=[Snapshot("J1", "after two", 1)],
            refreshes=[Refresh("order", "A"), Refresh("order", "A")],
            sign_in=SignIn("U1", "Anna Berg"),
        )
    )
    outbox = OperationQueue(outbox_db)
    assert len(done.seqs) == 3
    assert done.op_ids[0] == done.op_ids[1] != done.op_ids[2]
    first = outbox.get(done.op_ids[0])
    assert picked(first.body) == {1: Decimal(2)}
    assert (first.job_id, first.event_seq, first.app_user) == ("J1", done.seqs[2], "U1")
    assert first.occurred_at == "2026-03-02T08:00:00.5Z"
    assert journal.sessions.signed_in("console") == SignedIn("U1", "Anna Berg")
    assert take_read_requests(outbox_db) == [("order", "A")]
    assert take_read_requests(outbox_db) == []
    (resumed,) = journal.jobs.open_jobs(STORE, "U1")
    assert (resumed.snapshot, raws(resumed.events)) == ("after two", ["3"])


def test_excess_that_was_put_back_is_not_undone_too(journal: Journal, outbox_db: apsw.Connection) -> None:
    """In one batch: the picker says that he has put it back, then undoes what was picked before."""
    outbox = OperationQueue(outbox_db)
    job = {"opened": [NewJob("J1", "pick", 1)], "entries": entries("J1", 1)}
    (first,) = journal.commit(batch(**job, writes=[(0, update("A", {1: 3}))])).op_ids
    assert outbox.begin_sending(first, b"{}")
    line: Any = {"line_number": 1, "product_number": "P1", "picked_quantity": 2, "quantity": 2, "left": 1}
    outbox.confirm(first, "{}", excess=[line])
    (excess,) = [op for op in outbox.live_operations() if op.state == REFUSED]
    lower = update("A", {1: 1})
    lower.body["orders"]["order_lines"][0]["base_picked_quantity"] = Decimal(2)
    put_back = Resolve(excess.op_id, CLOSED_BY_HAND, "put back")
    (later,) = journal.commit(batch(entries=entries("J1", 1), writes=[(0, lower)], resolutions=[put_back])).op_ids
    assert (outbox.get(excess.op_id).state, outbox.get(later).state) == (CLOSED, QUEUED)
    assert picked(outbox.get(later).body) == {1: Decimal(1)}


def test_failed_batch_keeps_nothing(journal: Journal, outbox_db: apsw.Connection) -> None:
    unsendable = Write("update-customer-order", ("order/A",), {}, {}, {"orders": object()})
    with pytest.raises(TypeError, match="object cannot be kept"):
        journal.commit(
            batch(opened=[NewJob("J1", "pick", 1)], entries=entries("J1", 1), writes=[(0, unsendable)], closed=["J1"])
        )
    for table in ("event", "job", "operation", "operation_lane", "read_request", "sign_in"):
        assert fetch(outbox_db, f"SELECT count(*) FROM {table}") == [(0,)]


def test_resume_begins_at_the_snapshot(journal: Journal) -> None:
    journal.commit(batch(opened=[NewJob("J1", "pick", 3)], entries=entries("J1", 60)))
    (plain,) = journal.jobs.open_jobs(STORE, "U1")
    assert (plain.snapshot, len(plain.events), plain.job.version) == ("", 60, 3)
    journal.commit(batch(entries=entries("J1", 50, 61), snapshots=[Snapshot("J1", "at 110", 49)]))
    journal.commit(batch(entries=[*entries("other", 1), *entries("J1", 2, 111)]))
    (resumed,) = journal.jobs.open_jobs(STORE, "U1")
    assert resumed.snapshot == "at 110"
    assert raws(resumed.events) == ["111", "112"]


def test_a_snapshot_may_stand_before_the_entries_of_its_batch(journal: Journal) -> None:
    journal.commit(batch(opened=[NewJob("J1", "pick", 1)], entries=entries("J1", 2)))
    journal.commit(batch(entries=entries("J1", 1, 3), snapshots=[Snapshot("J1", "at 2", -1)]))
    (resumed,) = journal.jobs.open_jobs(STORE, "U1")
    assert (resumed.snapshot, raws(resumed.events)) == ("at 2", ["3"])


def test_jobs_come_back_in_the_order_of_the_stack_and_closed_ones_do_not(journal: Journal) -> None:
    journal.commit(batch(opened=[NewJob("Z", "pick", 1, "K"), NewJob("K", "review", 1)]))
    journal.commit(batch(entries=entries("Z", 1), opened=[NewJob("A", "look_up", 1, "Z")]))
    journal.commit(JournalBatch("S1", "console", BEN, opened=[NewJob("B", "pick", 1)]))
    assert [job.job.job_id for job in journal.jobs.open_jobs(STORE, "U1")] == ["K", "Z", "A"]
    journal.commit(batch(closed=["A", "K"]))
    assert [job.job.job_id for job in journal.jobs.open_jobs(STORE, "U1")] == ["Z"]
    assert journal.jobs.open_jobs("0002", "U1") == []


def begin(journal: Journal, session_id: str, pid: int) -> SessionRow:
    return journal.sessions.begin_session(
        session_id, terminal="console", store=STORE, user="U1", version="0.1", pid=pid
    )


def test_a_job_belongs_to_one_running_session(journal: Journal) -> None:
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        begin(journal, "S1", other.pid)
        begin(journal, "S2", os.getpid())
        journal.commit(batch(opened=[NewJob("J1", "pick", 1)]))
        assert [job.job.job_id for job in journal.jobs.open_jobs(STORE, "U1", "S1")] == ["J1"]
        assert journal.jobs.open_jobs(STORE, "U1", "S2") == []
        assert journal.jobs.take_over_jobs("S2", ["J1"]) == ()
        assert [session.session_id for session in journal.sessions.running_sessions()] == ["S1", "S2"]
    finally:
        other.kill()
        other.communicate()
    assert [session.session_id for session in journal.sessions.running_sessions()] == ["S2"]
    assert [job.job.job_id for job in journal.jobs.open_jobs(STORE, "U1", "S2")] == ["J1"]
    assert journal.jobs.take_over_jobs("S2", ["J1", "unknown"]) == ("J1",)
    assert journal.jobs.open_jobs(STORE, "U1", "S3") == []
    journal.sessions.end_session("S2")
    assert [job.job.session_id for job in journal.jobs.open_jobs(STORE, "U1", "S3")] == ["S2"]


def test_a_process_is_known_by_more_than_its_id() -> None:
    mine = process_start_id(os.getpid())
    assert is_running(os.getpid(), mine)
    assert not is_running(os.getpid(), mine + "0")
    assert not is_running(os.getpid(), "")
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.communicate()
    assert process_start_id(gone.pid) == ""


def test_a_terminal_is_free_after_the_sign_out(journal: Journal) -> None:
    assert journal.sessions.signed_in("console") is None
    journal.commit(batch(sign_in=SignIn("U1", "Anna")))
    journal.commit(JournalBatch("S1", "ssh-10.0.0.7", BEN, sign_in=SignIn("U2", "Ben")))
    journal.commit(batch(sign_in=SignOut()))
    assert journal.sessions.signed_in("console") is None
    assert journal.sessions.signed_in("ssh-10.0.0.7") == SignedIn("U2", "Ben")


def test_the_journal_can_be_looked_at(journal: Journal) -> None:
    journal.commit(batch(entries=entries("J1", 7)))
    assert raws(journal.last_events(3)) == ["5", "6", "7"]


def test_records_follow_the_tables(outbox_db: apsw.Connection) -> None:
    for table, record in (("session", SessionRow), ("job", JobRow), ("event", EventRow)):
        assert [name for _, name, *_ in fetch(outbox_db, f"PRAGMA table_info({table})")] == list(record._fields)


def test_wishes_are_taken_oldest_first(outbox_db: apsw.Connection) -> None:
    for number in (3, 1, 2):
        request_read(outbox_db, "order", str(number), float(number))
    request_read(outbox_db, "order", "3", 0.0)
    assert take_read_requests(outbox_db, 2) == [("order", "1"), ("order", "2")]
    assert take_read_requests(outbox_db) == [("order", "3")]


def test_a_journal_that_cannot_be_written_says_so(journal: Journal, outbox_db: apsw.Connection) -> None:
    outbox_db.execute("PRAGMA query_only=ON").fetchall()
    with pytest.raises(StorageError, match=r"outbox\.db cannot be used"):
        journal.commit(batch(entries=entries("J1", 1)))
