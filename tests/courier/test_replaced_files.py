"""Files deleted, replaced or migrated while the courier works."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import closing

import apsw
import pytest

from aisle.cache.reader import CacheReader
from aisle.cli.print_rows_and_messages import reason_text
from aisle.courier.courier import Runtime
from aisle.courier.leader_process import LeaderOptions, Leadership
from aisle.host.deleted_file_recovery import NEWER_PROGRAM, list_copies
from aisle.host.leader_lock import Leader, LeaderLock
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import Step
from aisle.scan.inputs_and_line_grouping import Line
from aisle.session.session import open_session
from aisle.settings.setting_definitions import Settings
from tests.courier.fake_service import lost_before
from tests.courier.host import Host, run_courier
from tests.courier.session_outbox import Desk
from tests.courier.writes import update


class Incumbent:
    """A leading courier, and those that replaced it."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.offices: list[Leadership] = []
        world = Runtime(host.time.clock, host.time.sleep, lambda: 0.0)
        self.task = asyncio.create_task(
            run_courier(
                host,
                LeaderOptions(runtime=world, on_start=self.offices.append, translate=reason_text),
            )
        )

    async def begun(self, terms: int = 1) -> None:
        """Waits until so many terms have begun, and the last has read everything."""
        await self.host.time.until(
            lambda: len(self.offices) == terms and self.offices[-1].courier.full_sync.progress.completed
        )

    async def leave(self) -> None:
        """Ends it."""
        self.offices[-1].end("the test ends")
        await self.host.time.until(self.task.done)


PARTS = [("", "-wal", "-shm"), ("",), ("", "-shm")]


@pytest.mark.parametrize("parts", PARTS, ids=["all", "without its log", "but its log"])
async def test_a_cache_that_is_deleted_at_work_is_made_anew_and_sessions_follow(
    host: Host, parts: tuple[str, ...]
) -> None:
    term = Incumbent(host)
    await term.begun()
    position, _ = host.reads.changes(0)
    for part in parts:
        host.home.cache.with_name(f"cache.db{part}").unlink()
    host.fake.add_order("O9")
    await term.begun(2)
    await host.time.until(lambda: host.state() == "live" or host.reads.changes(position), 30)
    assert "order" in {topic for topic, _ in host.reads.changes(position)[1]}
    assert "O9" in host.numbers()
    with closing(CacheReader(host.home, host.desk.db)) as newcomer:
        assert newcomer.query("orders", {})[1] == len(host.numbers())
    (op_id,) = host.desk.write(update("O1", {1: 2}))
    await host.time.until(lambda: host.desk.is_read_back(op_id), 20)
    assert host.line("O1")["picked_quantity"] == 2
    await term.leave()


@pytest.mark.parametrize("parts", [*PARTS, ("-wal",)], ids=["all", "without its log", "but its log", "its log alone"])
async def test_deleted_outbox_is_restored_before_courier_continues(host: Host, parts: tuple[str, ...]) -> None:
    """What waits in it is sent, and so is what was under way, once."""
    term = Incumbent(host)
    await term.begun()
    host.fake.down = lost_before
    ids = host.desk.write(update("O1", {1: 2}), update("O2", {1: 1}))
    await host.time.pass_(2)
    for part in parts:
        host.home.outbox.with_name(f"outbox.db{part}").unlink()
    await term.begun(2)
    assert "It is restored" in host.home.courier_log.read_text()
    with closing(Desk(host.home.folder, host.time.clock)) as desk:
        assert [op.op_id for op in desk.all()] == list(ids)
        host.fake.down = None
        await host.time.until(lambda: all(desk.is_read_back(op_id) for op_id in ids), 120)
        (op_id,) = desk.write(update("O1", {1: 3}))
        await host.time.until(lambda: desk.is_read_back(op_id), 60)
    assert len(host.fake.applied) == 3
    await term.leave()


async def test_replaced_outbox_is_kept_aside_and_new_one_used(host: Host) -> None:
    term = Incumbent(host)
    await term.begun()
    host.fake.down = lost_before
    (old,) = host.desk.write(update("O1", {1: 2}))
    for part in PARTS[0]:
        host.home.outbox.with_name(f"outbox.db{part}").unlink()
    with closing(Desk(host.home.folder, host.time.clock)) as desk:
        (new,) = desk.write(update("O2", {1: 1}))
        await term.begun(2)
        host.fake.down = None
        await host.time.until(lambda: desk.is_read_back(new), 120)
    (kept,) = list_copies(host.home.folder)
    assert kept.name in host.home.courier_log.read_text()
    with closing(apsw.Connection(str(kept))) as copy:
        assert copy.execute("SELECT op_id, state FROM operation").fetchall() == [(old, "queued")]
    await term.leave()


async def test_a_courier_makes_room_for_a_newer_programs(host: Host) -> None:
    """A session of a newer program has brought the outbox to its own form; this one cannot read its rows any more."""
    term = Incumbent(host)
    await term.begun()
    with closing(apsw.Connection(str(host.home.outbox))) as newer:
        newer.execute("ALTER TABLE operation ADD COLUMN further TEXT NOT NULL DEFAULT ''").fetchall()
        newer.execute("PRAGMA user_version=99").fetchall()
    await host.time.until(term.task.done, 20)
    assert NEWER_PROGRAM in host.home.courier_log.read_text()
    election = LeaderLock(host.home.lock)
    assert election.try_acquire(Leader(1, "1", 0.0)), "the lock is free for that program's courier"
    election.release()


# A disk without room


def no_room(connection: apsw.Connection) -> Callable[[], object]:
    """Lets this connection's file grow no more; what lets it grow again."""
    pages = connection.execute("PRAGMA page_count").fetchall()[0][0]
    connection.execute(f"PRAGMA max_page_count={pages}").fetchall()
    return lambda: connection.execute("PRAGMA max_page_count=1000000").fetchall()


async def test_unrecorded_operation_is_not_sent(host: Host) -> None:
    term = Incumbent(host)
    await term.begun()
    courier = term.offices[-1].courier
    ids = host.desk.write(*(update(f"O{n}", {1: 1}, place="A" * 3000) for n in range(1, 4)))
    grow = no_room(courier._outbox_db)
    courier.wake()
    await host.time.pass_(120)
    assert host.fake.applied == []
    assert any("full" in notice.text for notice in courier.operator_notices.recent)
    grow()
    await host.time.until(lambda: all(host.desk.is_read_back(op_id) for op_id in ids), 60)
    assert len(host.fake.applied) == 3
    await term.leave()


async def test_a_cache_without_room_stops_no_delivery(host: Host) -> None:
    term = Incumbent(host)
    await term.begun()
    courier = term.offices[-1].courier
    grow = no_room(courier._cache_db)
    host.fake.add_products(f"N{n}" for n in range(400))
    (op_id,) = host.desk.write(update("O1", {1: 2}))
    courier.wake()
    await host.time.until(lambda: host.desk.state(op_id) == "done", 30)
    await host.time.pass_(60)
    assert not host.knows("N399")
    assert host.line("O1")["picked_quantity"] == 2
    grow()
    await host.time.until(lambda: host.desk.is_read_back(op_id) and host.knows("N399"), 200)
    await term.leave()


def test_a_session_without_room_says_so_and_nothing_is_half_kept(host: Host) -> None:
    async def filled() -> None:
        async with host.courier() as courier:
            await courier.sync_once()

    asyncio.run(filled())
    home = StoreFolder(host.home.root, host.home.base_url, host.home.store)
    session = open_session(home, Settings(store=home.store, base_url=home.base_url, terminal="dock", user="U1"))
    session.start()
    frame = session.take([line("O1")], 0.0)
    grow = no_room(session.store.journal._db)
    before = len(host.desk.all())
    said = ""
    for _ in range(200):
        frame = session.take([line("P1")], 0.0)
        assert frame.verdict is not None
        said = frame.verdict.text.id
        if said == "session.not_saved":
            break
        before = len(host.desk.all())
    assert said == "session.not_saved"
    assert "full" in str(dict(frame.verdict.text.args)["why"])  # type: ignore[union-attr]
    assert len(host.desk.all()) == before
    assert isinstance(frame.view, Step)
    grow()
    frame = session.take([line("P1")], 0.0)
    assert frame.verdict is not None
    assert frame.verdict.text.id != "session.not_saved"
    session.close()


def line(text: str) -> Line:
    """A scan."""
    return Line(text, "cr", 0.0, 0.0, 0.0)
