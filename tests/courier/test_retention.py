"""The courier keeps the outbox small without blocking writers."""

from contextlib import closing

from aisle.courier.push.outgoing_request import PushSettings
from aisle.host.database import fetch
from aisle.outbox import retention_and_archive
from aisle.outbox.commit_journal import EventEntry, Journal, JournalBatch, NewJob
from aisle.outbox.retention_and_archive import Retention
from tests.courier.host import Host, quiet
from tests.courier.writes import ANNA, update

DAYS = 86400.0


def note(host: Host, job: str, days_ago: float, events: int) -> None:
    """A job of some day, in the journal."""
    at = host.time.now - days_ago * DAYS
    journal = Journal(host.desk.db, clock=lambda: at)
    journal.sessions.begin_session(job, terminal="t", store="0001", user="U1", version="1", pid=1)
    entries = [EventEntry(job, at, "", f"{job} {n}", "Thing", "{}") for n in range(events)]
    journal.commit(JournalBatch(job, "t", ANNA, opened=[NewJob(job, "pick", 1)], entries=entries, closed=[job]))
    journal.sessions.end_session(job)


async def test_old_days_go_to_the_archive_and_old_operations_go(host: Host) -> None:
    note(host, "old", 60, 450)
    note(host, "young", 3, 5)
    async with host.running(host.courier(intervals=quiet())) as courier:
        (op_id,) = host.desk.write(update("O1", {1: 1}))
        courier.wake()
        await host.time.until(lambda: host.desk.is_read_back(op_id), 60)
        await host.time.until(lambda: fetch(host.desk.db, "SELECT count(*) FROM event") == [(5,)], 1000)
        assert host.desk.state(op_id) == "done"
        host.time.now += 31 * DAYS
        await host.time.until(lambda: not host.desk.all(), 1000)
    with closing(retention_and_archive.open_archive(host.home.folder)) as kept:
        assert fetch(kept, "SELECT count(*) FROM event") == [(450,)]
        assert [total[1:] for total in retention_and_archive.daily_totals(kept)] == [("U1", "pick", 450)]


async def test_nothing_old_makes_no_archive(host: Host) -> None:
    note(host, "young", 3, 5)
    async with host.running(host.courier(intervals=quiet())) as courier:
        assert courier.maintenance.archive_batch() == 0
    assert not (host.home.folder / "archive.db").exists()


async def test_the_archive_forgets_what_is_older_than_it_is_set(host: Host) -> None:
    note(host, "oldest", 200, 3)
    note(host, "old", 60, 4)
    note(host, "young", 3, 1)
    care = PushSettings(kept=Retention(archive_days=100))
    async with host.running(host.courier(intervals=quiet(), push_settings=care)) as courier:
        while courier.maintenance.archive_batch():
            pass
    with closing(retention_and_archive.open_archive(host.home.folder)) as kept:
        assert fetch(kept, "SELECT job_id, count(*) FROM event GROUP BY job_id") == [("old", 4)]
        assert [total[3] for total in retention_and_archive.daily_totals(kept)] == [3, 4], "totals stay"


def test_retention_covers_what_a_restored_service_may_ask_for() -> None:
    now = 1000 * DAYS
    assert Retention(operation_days=1).operations_before(now) == now - 30 * DAYS
    assert Retention(journal_days=1).journal_before(now) == now - 7 * DAYS
    assert Retention(archive_days=10).archive_before(now) == now - 36 * DAYS
    for ever in (
        Retention(0, 0, 0).operations_before,
        Retention(0, 0, 0).journal_before,
        Retention(0, 0, 0).archive_before,
    ):
        assert ever(now) < 0
