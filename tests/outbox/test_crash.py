"""Killed processes lose nothing acknowledged, and many writers wait for each other."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from aisle.host.database import checkpoint, fetch
from aisle.host.store_and_database_folders import StoreFolder
from aisle.outbox.commit_journal import EventEntry, Journal, JournalBatch, NewJob
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import CONFIRMED
from aisle.stored_messages import store_text
from tests.host.child_process import Child, running
from tests.writes import ANNA, movement, update

ROUNDS = [8, pytest.param(1000, marks=pytest.mark.full)]


def scans(folder: Path, session: str) -> Callable[[Callable[[str], None]], None]:
    """A session that commits batch after batch; tells each event and the operation that carries it."""

    def work(tell: Callable[[str], None]) -> None:
        journal = Journal(open_outbox(folder))
        for number in range(100_000):
            entry = EventEntry("J", 0.0, "", f"{session}-{number}", "scan", "")
            writes = [(0, update(f"{session}-{number // 5}", {1: number}))]
            if number % 7 == 0:
                writes.append((0, movement(f"{session}-{number // 5}", f"P{number}")))
            done = journal.commit(JournalBatch(session, "console", ANNA, entries=[entry], writes=writes))
            tell(f"{done.seqs[0]} {entry.raw} {' '.join(done.op_ids)}")

    return work


def sends(folder: Path) -> Callable[[Callable[[str], None]], None]:
    """A courier: tells what it is about to send, and what it was told is confirmed."""

    def work(tell: Callable[[str], None]) -> None:
        connection = open_outbox(folder)
        outbox = OperationQueue(connection)
        for row in outbox.left_sending():
            outbox.retry_later(row.op_id, store_text("a courier died"), 0)
        while True:
            for row in outbox.sendable(5):
                content = outbox.begin_sending(row.op_id, f"{row.op_id} {row.body}".encode())
                if content is not None:
                    tell(f"sent {row.op_id} {content.hex()}")
                    outbox.confirm(row.op_id)
                    tell(f"done {row.op_id}")
            checkpoint(connection)

    return work


@pytest.mark.parametrize("rounds", ROUNDS)
def test_killed_processes_lose_nothing_acknowledged(home: StoreFolder, rounds: int) -> None:
    open_outbox(home.folder).close()
    dice = random.Random(7)
    said: list[str] = []
    sent: dict[str, set[str]] = {}
    confirmed: set[str] = set()
    for number in range(rounds):
        session, courier = Child(scans(home.folder, f"S{number}")), Child(sends(home.folder))
        with running(session, courier):
            assert session.hear(dice.randint(1, 40))
            assert courier.hear(dice.randint(1, 20))
            first, second = dice.sample([session, courier], 2)
            first.kill(), second.kill()
        said += session.lines
        for word, op_id, *content in (line.split() for line in courier.lines):
            sent.setdefault(op_id, set()).update(content)
            if word == "done":
                confirmed.add(op_id)
    check(home, said, sent, confirmed)
    assert len(said) >= rounds


def check(home: StoreFolder, said: list[str], sent: dict[str, set[str]], confirmed: set[str]) -> None:
    connection = open_outbox(home.folder)
    outbox = OperationQueue(connection)
    assert fetch(connection, "PRAGMA integrity_check") == [("ok",)]
    kept = {str(seq): raw for seq, raw in fetch(connection, "SELECT seq, raw FROM event")}
    for line in said:
        seq, raw, *op_ids = line.split()
        assert kept[seq] == raw
        for op_id in op_ids:
            row = outbox.get(op_id)
            while row.superseded_by:
                row = outbox.get(row.superseded_by)
            assert row.state in ("queued", "sending", CONFIRMED)
    for op_id, contents in sent.items():
        (content,) = contents
        row = outbox.get(op_id)
        assert row.sent_body is not None
        assert row.sent_body.hex() == content
    assert all(outbox.get(op_id).state == CONFIRMED for op_id in confirmed)
    assert len(confirmed) > 0
    connection.close()


def test_many_sessions_wait_for_each_other(home: StoreFolder) -> None:
    open_outbox(home.folder).close()
    each = 150

    def commits(session: str) -> Callable[[Callable[[str], None]], None]:
        def work(tell: Callable[[str], None]) -> None:
            try:
                journal = Journal(open_outbox(home.folder))
                journal.commit(JournalBatch(session, "console", ANNA, opened=[NewJob(session, "pick", 1)]))
                for number in range(each):
                    entry = EventEntry(session, 0.0, "", str(number), "scan", "")
                    writes = [(0, update(session, {1: number}))]
                    journal.commit(JournalBatch(session, "console", ANNA, entries=[entry], writes=writes))
                tell("all kept")
            except Exception as error:
                tell(f"{type(error).__name__} {error}")

        return work

    children = [Child(commits(f"S{number}")) for number in range(4)]
    with running(*children):
        for child in children:
            child.hear(1)
        assert [child.kill() for child in children] == [["all kept"]] * 4
    connection = open_outbox(home.folder)
    assert fetch(connection, "SELECT job_id, count(*) FROM event GROUP BY job_id") == [
        (f"S{n}", each) for n in range(4)
    ]
    assert OperationQueue(connection).pending_counts() == (4, 0)
    connection.close()
