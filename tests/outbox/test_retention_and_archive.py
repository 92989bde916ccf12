"""Old rows leave outbox.db in small batches, and no event is missing from both files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from aisle.host.database import fetch, fetch_one, transaction
from aisle.outbox import retention_and_archive
from aisle.outbox.commit_journal import EventEntry, Journal, JournalBatch, NewJob
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import Author, Intent
from aisle.outbox.retention_and_archive import DAY_S
from aisle.stored_messages import store_text
from tests.clock import Clock
from tests.writes import movement

NOW = 20_000.5 * DAY_S


class Desk:
    """An outbox with a journal, and work of many days in it."""

    def __init__(self, folder: Path) -> None:
        self.clock = Clock(NOW)
        self.db = open_outbox(folder)
        self.kept = retention_and_archive.open_archive(folder)
        self.journal = Journal(self.db, clock=self.clock)
        self.outbox = OperationQueue(self.db, clock=self.clock)

    def work(self, job: str, days_ago: float, events: int, *, close: bool = True) -> None:
        """So many scans in a job of some day, by a session of its own."""
        at = NOW - days_ago * DAY_S
        self.clock.now = at
        self.journal.sessions.begin_session(job, terminal="t", store="1", user="U1", version="1", pid=1)
        entries = [EventEntry(job, at + n, "", f"scan {n}", "Thing", "{}") for n in range(events)]
        closed = [job] if close else []
        self.journal.commit(
            JournalBatch(job, "t", Author("1", "U1"), opened=[NewJob(job, "pick", 1)], entries=entries, closed=closed)
        )
        self.journal.sessions.end_session(job)
        self.clock.now = NOW

    def here(self) -> set[tuple[str, str]]:
        return set(fetch(self.db, "SELECT job_id, raw FROM event"))

    def there(self) -> set[tuple[str, str]]:
        return set(fetch(self.kept, "SELECT job_id, raw FROM event"))

    def move(self, limit: int = 200) -> int:
        moved = retention_and_archive.copy_events(self.db, self.kept, NOW, limit)
        retention_and_archive.delete_copied_events(self.db, moved, NOW)
        return len(moved)


@pytest.fixture
def desk(aisle_home: Path) -> Iterator[Desk]:
    desk = Desk(aisle_home)
    with closing(desk.db), closing(desk.kept):
        yield desk


def test_closed_days_go_and_young_or_open_work_stays(desk: Desk) -> None:
    for job, days, events, close in (("old", 40, 7, True), ("open", 40, 3, False), ("young", 34, 5, True)):
        desk.work(job, days, events, close=close)
    before = desk.here()
    assert retention_and_archive.has_old_events(desk.db, NOW)
    while desk.move(limit=3):
        assert desk.here() | desk.there() == before
        assert not desk.here() & desk.there()
    assert {job for job, _ in desk.there()} == {"old"}
    assert {job for job, _ in desk.here()} == {"open", "young"}
    assert retention_and_archive.daily_totals(desk.kept) == [("2024-08-25", "U1", "pick", 7)]
    retention_and_archive.delete_old_sessions(desk.db, NOW)
    assert {str(row[0]) for row in fetch(desk.db, "SELECT session_id FROM session")} == {"open", "young"}
    assert {str(row[0]) for row in fetch(desk.db, "SELECT job_id FROM job")} == {"open", "young"}


def test_future_timestamps_do_not_stop_archiving(desk: Desk) -> None:
    """Somebody set it a year ahead for an hour, before all that is old by now."""
    desk.work("ahead", -400, 2)
    desk.work("old", 40, 4)
    desk.work("young", 1, 1)
    assert retention_and_archive.has_old_events(desk.db, NOW)
    while desk.move():
        pass
    assert {job for job, _ in desk.there()} == {"old"}
    assert {job for job, _ in desk.here()} == {"ahead", "young"}


def test_sessions_of_which_something_is_left_stay(desk: Desk) -> None:
    """Those of open jobs and of events that are here; who was seen last of all no other keeps."""
    for job, days, close in (("old", 50, True), ("open", 45, False), ("edge", 35.6, True), ("young", 1, True)):
        desk.work(job, days, 3, close=close)
    while desk.move():
        pass
    retention_and_archive.delete_old_sessions(desk.db, NOW)
    left = {str(row[0]) for row in fetch(desk.db, "SELECT session_id FROM session")}
    assert left == {job for job, _ in desk.here()}
    assert left == {"open", "young"}


def test_the_youngest_event_stays_so_that_the_order_of_work_is_known(desk: Desk) -> None:
    desk.work("old", 50, 4)
    while desk.move():
        pass
    assert len(desk.here()) == 1


def crash_in_the_middle(desk: Desk, moved: list[tuple[str, int]]) -> None:
    """Deletes, and is gone before the commit."""
    with transaction(desk.db):
        desk.db.executemany("DELETE FROM event WHERE session_id = ? AND seq = ?", moved)
        raise ZeroDivisionError


def test_a_move_that_broke_off_anywhere_is_taken_up_again(desk: Desk) -> None:
    desk.work("old", 40, 9)
    desk.work("young", 1, 1)
    before = desk.here()
    retention_and_archive.copy_events(desk.db, desk.kept, NOW, 4)  # and then nothing more: a crash
    assert desk.here() == before
    moved = retention_and_archive.copy_events(desk.db, desk.kept, NOW, 4)
    with pytest.raises(ZeroDivisionError):
        crash_in_the_middle(desk, moved)
    assert desk.here() == before
    while desk.move(4):
        assert desk.here() | desk.there() == before
    assert retention_and_archive.daily_totals(desk.kept) == [("2024-08-25", "U1", "pick", 9)]


def test_an_outbox_that_was_made_anew_overwrites_nothing(desk: Desk) -> None:
    desk.work("old", 40, 3)
    desk.work("young", 1, 1)
    desk.move()
    with transaction(desk.db):
        desk.db.execute("DELETE FROM event")
        desk.db.execute("DELETE FROM sqlite_sequence WHERE name = 'event'")
    desk.work("other", 40, 3)
    desk.work("young too", 1, 1)
    desk.move()
    assert {job for job, _ in desk.there()} == {"old", "other"}


def test_old_closed_operations_are_deleted_and_others_stay(desk: Desk) -> None:
    def at(days_ago: float, *products: str, order: str = "O1") -> tuple[str, ...]:
        desk.clock.now = NOW - days_ago * DAY_S
        with transaction(desk.db):
            return desk.outbox.enqueue([Intent(movement(order, product)) for product in products], Author("1", "U1"))

    (ahead,) = at(-400, "P9", order="O9")
    done, refused, waiting = at(40, "P0", "P1", "P2")
    for op_id in (done, refused):
        desk.outbox.begin_sending(op_id, b"[]")
    desk.outbox.confirm(done)
    desk.outbox.mark_read_back(done)
    desk.outbox.refuse(refused, store_text("no"))
    (young,) = at(29, "P0")
    desk.clock.now = NOW
    assert retention_and_archive.delete_old_operations(desk.db, NOW) == 1
    assert [op.op_id for op in desk.outbox.recent()] == [young, waiting, refused, ahead]
    assert retention_and_archive.delete_old_operations(desk.db, NOW) == 0
    assert fetch_one(desk.db, "SELECT count(*) FROM operation_lane WHERE n NOT IN (SELECT n FROM operation)") == (0,)
