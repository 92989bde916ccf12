"""The leading courier: who leads, until when, and what it leaves behind."""

import asyncio
import errno
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from aisle.cache.writer import open_cache
from aisle.cli.time_zones_of_host_and_stores import ZoneWatch
from aisle.courier.courier import Runtime
from aisle.courier.leader_process import IDLE_EXIT_S, LeaderOptions, Leadership, lead
from aisle.courier.standby import HANDOVER_VARIABLE, StandbyLock
from aisle.errors import StorageError
from aisle.host import processes
from aisle.host.courier_log import MAX_LOG_BYTES
from aisle.host.leader_lock import Leader, LeaderLock, is_newer
from aisle.host.notify_sockets import SessionSocket, socket_folder
from aisle.host.processes import start_courier
from aisle.parent_pipe import PARENT_PIPE_VARIABLE, parent_pipe_fd
from aisle.settings.load_settings import load_settings
from aisle.settings.process_time_zone import set_process_zone
from aisle.stored_messages import store_text
from tests.courier.fake_service import Fault, lost_before, not_applied, says
from tests.courier.host import Host, run_courier
from tests.courier.writes import update
from tests.terminal.lifeline import Lifeline


class Incumbent:
    """A leading courier in a task of the test."""

    def __init__(
        self, host: Host, *, version: str = "1.0.0", token_file: str = "", lifeline: int = -1, **more: Any
    ) -> None:
        self.host = host
        self.office: Leadership | None = None
        world = Runtime(host.time.clock, host.time.sleep, lambda: 0.0)
        term = LeaderOptions(lifeline, version, token_file, world, on_start=self._begun, **more)
        self.task = asyncio.create_task(run_courier(host, term))

    def _begun(self, office: Leadership) -> None:
        self.office = office

    @property
    def over(self) -> bool:
        """Whether it has left."""
        return self.task.done()

    async def begun(self) -> None:
        """Wait until it leads."""
        await self.host.time.until(lambda: self.office is not None)

    async def leave(self) -> int:
        """Asks it to leave; its exit status."""
        assert self.office is not None
        self.office.end("the test ends")
        await self.host.time.until(lambda: self.over)
        return self.task.result()


@pytest.mark.parametrize(
    ("version", "than", "newer"),
    [
        ("0.2.0", "0.1.9", True),
        ("0.10.0", "0.9.1", True),
        ("1.0", "1.0", False),
        ("1.0", "1.0.1", False),
        ("1.0+local2", "1.0", False),
        ("1.0+5.4", "1.0+5.3", True),
        ("1.0+5.4", "1.0+5.4", False),
        ("1.0", "1.0+5.4", False),
        ("1.0.1+4.4", "1.0+5.4", True),
    ],
)
def test_versions_follow_each_other_by_their_numbers(version: str, than: str, newer: bool) -> None:
    assert is_newer(version, than) is newer


async def test_second_courier_leaves_silently(host: Host) -> None:
    first = Incumbent(host)
    await first.begun()
    second = Incumbent(host)
    await host.time.until(lambda: second.over)
    assert second.task.result() == 0
    assert second.office is None
    assert not first.over
    assert await first.leave() == 0


async def test_the_next_one_takes_over_what_is_waiting(host: Host) -> None:
    first = Incumbent(host)
    await first.begun()
    assert await first.leave() == 0
    assert host.state() == "none"
    (op_id,) = host.desk.write(update("O1", {1: 2}))
    second = Incumbent(host)
    await host.time.until(lambda: host.desk.is_read_back(op_id))
    await second.leave()


async def test_a_newer_program_takes_over_from_an_older_courier(host: Host) -> None:
    old = Incumbent(host, version="1.0.0")
    await old.begun()
    new = Incumbent(host, version="1.1.0")
    await host.time.until(lambda: old.over)
    await new.begun()
    holder = LeaderLock(host.home.lock).read_leader()
    assert holder is not None
    assert holder.version == "1.1.0"
    await new.leave()


async def test_an_older_program_does_not_disturb_a_newer_courier(host: Host) -> None:
    new = Incumbent(host, version="1.1.0")
    await new.begun()
    old = Incumbent(host, version="1.0.0")
    await host.time.until(lambda: old.over)
    assert old.office is None
    assert not new.over
    await new.leave()


@pytest.mark.parametrize(
    ("version", "token_file", "refused", "leaves"),
    [
        ("1.0.0", "/other", True, True),
        ("1.0.0", "/other", False, False),
        ("1.0.0", "/mine", True, False),
        ("1.0.0", "", True, False),
        ("0.9.0", "/other", True, False),
    ],
)
async def test_courier_with_refused_token_gives_way(
    host: Host, version: str, token_file: str, refused: bool, leaves: bool
) -> None:
    first = Incumbent(host, token_file="/mine")
    await first.begun()
    await host.time.until(lambda: host.state() == "live")
    assert first.office is not None
    if refused:
        first.office.courier.link.record_refusal(store_text("no such token"))
    second = Incumbent(host, version=version, token_file=token_file)
    await host.time.until(lambda: first.over or second.over)
    assert (first.over, second.over) == (leaves, not leaves)
    holder = LeaderLock(host.home.lock).read_leader()
    assert holder is not None
    if leaves:
        await second.begun()
        assert "another token" in host.home.courier_log.read_text()
    await (second if leaves else first).leave()


async def test_idle_courier_exits_after_two_minutes(host: Host) -> None:
    began = host.time.now
    with closing(SessionSocket(host.home)):
        term = Incumbent(host)
        await term.begun()
        await host.time.pass_(3600)
        assert not term.over
    await host.time.until(lambda: term.over, 200)
    assert 3600 + 90 <= host.time.now - began <= 3600 + 160, "the last look at the session may be 30 s old"
    assert "nothing is left to send" in host.home.courier_log.read_text()


async def test_courier_stays_while_operations_wait(host: Host) -> None:
    host.fake.down = lost_before
    (op_id,) = host.desk.write(update("O1", {1: 2}))
    term = Incumbent(host)
    await term.begun()
    await host.time.pass_(3600)
    assert not term.over
    host.fake.down = None
    await host.time.until(lambda: term.over, 700)
    assert host.desk.is_read_back(op_id)


SERVICES: dict[str, Fault | None] = {
    "there": None,
    "not to be reached": lost_before,
    "silent": not_applied,
    "refusing the token": says(401),
    "refusing the store": says(403, body={"message": "no"}),
    "broken": says(500),
    "busy": says(503, Retry_After="7200"),
    "asking for patience": says(429, Retry_After="900"),
    "another's": says(200),
    "without lists": says(200, body={}),
}


@pytest.mark.parametrize("service", SERVICES)
async def test_idle_courier_exits_whatever_service_does(host: Host, service: str) -> None:
    host.fake.down = SERVICES[service]
    with closing(SessionSocket(host.home)):
        term = Incumbent(host)
        await term.begun()
        await host.time.pass_(300)
        assert not term.over
    left = host.time.now
    await host.time.until(lambda: term.over, IDLE_EXIT_S + 70)
    assert host.time.now - left <= IDLE_EXIT_S + 70
    assert "nothing is left to send" in host.home.courier_log.read_text()


@pytest.mark.parametrize("service", SERVICES)
async def test_courier_exits_after_sessions_were_killed(host: Host, service: str) -> None:
    host.fake.down = SERVICES[service]
    bell = SessionSocket(host.home)
    term = Incumbent(host)
    await term.begun()
    bell._socket.close()  # its name stays, as after kill -9
    await host.time.until(lambda: term.over, IDLE_EXIT_S + 70)


@pytest.mark.parametrize("service", [name for name in SERVICES if name not in ("there", "without lists")])
async def test_courier_stays_for_waiting_operations_whatever_service_does(host: Host, service: str) -> None:
    host.fake.down = SERVICES[service]
    (op_id,) = host.desk.write(update("O1", {1: 2}))
    term = Incumbent(host)
    await term.begun()
    await host.time.pass_(600)
    assert not term.over
    host.fake.down = None
    await host.time.until(lambda: term.over, 3 * 3600)
    assert host.desk.is_read_back(op_id)


async def test_courier_exits_when_parent_pipe_closes(host: Host, lifeline: Lifeline) -> None:
    term = Incumbent(host, lifeline=lifeline.fd)
    await term.begun()
    lifeline.cut()
    await host.time.until(lambda: term.over)
    assert "process that started it" in host.home.courier_log.read_text()


async def test_courier_with_removed_lock_gives_up_leadership(host: Host) -> None:
    old = Incumbent(host)
    await old.begun()
    await host.time.until(lambda: host.state() == "live")
    host.home.lock.unlink()
    new = Incumbent(host)
    await new.begun()
    await host.time.until(lambda: old.over, 10)
    await host.time.pass_(6)
    assert not new.over
    with closing(SessionSocket(host.home)) as bell:
        assert bell.is_courier_listening()
        (op_id,) = host.desk.write(update("O1", {1: 2}))
        bell.wake_courier()
        await host.time.until(lambda: host.desk.state(op_id) == "done", 1)
    await new.leave()


@pytest.mark.parametrize("in_its_place", ["nothing", "another's"])
async def test_a_doorbell_that_is_gone_is_hung_again(host: Host, in_its_place: str) -> None:
    term = Incumbent(host)
    await term.begun()
    await host.time.until(lambda: host.state() == "live")
    path = socket_folder(host.home) / "courier.sock"
    path.unlink()
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as other, closing(SessionSocket(host.home)) as bell:
        if in_its_place != "nothing":
            other.bind(os.fspath(path))
        await host.time.pass_(6)
        assert bell.is_courier_listening()
        (op_id,) = host.desk.write(update("O1", {1: 2}))
        bell.wake_courier()
        await host.time.until(lambda: host.desk.state(op_id) == "done", 1)
    new = Incumbent(host, version="1.1.0")
    await host.time.until(lambda: term.over)
    await new.begun()
    await new.leave()


async def test_courier_recomputes_cached_days_after_time_zone_change(
    host: Host, aisle_home: Path, in_zone: Callable[[str], None]
) -> None:
    in_zone("UTC")
    settings = aisle_home / "settings.toml"
    settings.write_text('time_zone = "America/Los_Angeles"\n')
    loaded = load_settings({"store": "0001"})
    set_process_zone(loaded.settings.time_zone)
    watch = ZoneWatch(loaded)
    host.fake.orders["O1"]["pickup_date"] = "2026-11-27T17:00:00Z"
    term = Incumbent(host, is_zone_changed=watch.has_changed)
    await term.begun()
    await host.time.until(lambda: host.state() == "live")

    def pickup() -> Any:
        with closing(open_cache(host.home.folder, writer=False)) as cache:
            return cache.execute("SELECT pickup FROM orders WHERE order_number = 'O1'").fetchone()

    assert pickup() == ("2026-11-27T09:00:00",)
    settings.write_text('time_zone = "Asia/Tokyo"\n# longer\n')
    await host.time.until(lambda: pickup() == ("2026-11-28T02:00:00",), 10)
    (op_id,) = host.desk.write(update("O1", {1: 2}))
    await host.time.until(lambda: host.desk.is_read_back(op_id))
    assert "the time zone was set" in host.home.courier_log.read_text()
    assert not term.over
    await term.leave()


async def test_the_last_flight_lands_before_it_leaves(host: Host) -> None:
    term = Incumbent(host)
    await term.begun()
    await host.time.until(lambda: host.state() == "live")
    host.fake.gate = asyncio.Event()
    first, second = host.desk.write(update("O1", {1: 2}), update("O2", {1: 2}))
    with closing(SessionSocket(host.home)) as bell:
        bell.wake_courier()
        await host.time.until(lambda: host.fake.waiting == 2)
    assert term.office is not None
    term.office.end("SIGTERM")
    late = host.desk.write(update("O3", {1: 2}))
    await asyncio.sleep(0)
    host.fake.gate.set()
    await host.time.until(lambda: term.over)
    assert [host.desk.state(op_id) for op_id in (first, second, *late)] == ["done", "done", "queued"]


async def test_a_flight_that_does_not_land_is_left_to_the_next_courier(host: Host) -> None:
    term = Incumbent(host)
    await term.begun()
    await host.time.until(lambda: host.state() == "live")
    host.fake.gate = asyncio.Event()
    (op_id,) = host.desk.write(update("O1", {1: 2}))
    with closing(SessionSocket(host.home)) as bell:
        bell.wake_courier()
        await host.time.until(lambda: host.fake.waiting)
    before = host.time.now
    await term.leave()
    assert host.time.now - before == pytest.approx(5, abs=1)
    assert host.desk.state(op_id) == "sending"
    host.fake.gate.set()
    host.fake.gate = None
    again = Incumbent(host)
    await host.time.until(lambda: host.desk.is_read_back(op_id))
    await again.leave()
    assert len(host.fake.applied) == 1


async def test_inside_a_session_it_ends_with_the_session(host: Host) -> None:
    election = LeaderLock(host.home.lock)
    assert election.try_acquire(Leader(os.getpid(), "1.0.0", host.time.now))
    world = Runtime(host.time.clock, host.time.sleep, lambda: 0.0)
    inside = asyncio.create_task(lead(host.home, host.connect, election, LeaderOptions(runtime=world)))
    (op_id,) = host.desk.write(update("O1", {1: 2}))
    await host.time.until(lambda: host.desk.is_read_back(op_id))
    inside.cancel()
    await asyncio.gather(inside, return_exceptions=True)
    assert host.state() == "none"
    assert LeaderLock(host.home.lock).try_acquire(Leader(1, "1", 0.0)), "the lock is given back"


def test_a_leader_that_cannot_be_written_gives_the_lock_back(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    lock, record = LeaderLock(host.home.lock), Leader(1, "1.0.0", 0.0, "/a/token")
    with monkeypatch.context() as full:
        full.setattr(os, "pwrite", refuse)
        with pytest.raises(StorageError, match="No space left on device"):
            lock.try_acquire(record)
    assert lock.try_acquire(record)
    lock.release()
    shorter = Leader(1, "1", 0.0)
    assert lock.try_acquire(shorter)
    assert lock.read_leader() == shorter
    lock.release()


def _dump(connection: apsw.Connection) -> dict[str, list[Any]]:
    """All rows of a file, by their tables."""
    tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'")
    return {str(name): connection.execute(f"SELECT * FROM {name}").fetchall() for (name,) in tables.fetchall()}


@pytest.mark.parametrize("name", ["outbox.db", "cache.db"])
async def test_a_newer_schema_is_refused_by_name(host: Host, name: str) -> None:
    async with host.courier() as courier:
        await courier.sync_once()
    path = host.home.folder / name
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("PRAGMA user_version=99").fetchall()
        before = _dump(connection)
        assert before
    term = Incumbent(host)
    await host.time.until(lambda: term.over)
    with pytest.raises(StorageError, match=f"{name}.*99"):
        term.task.result()
    with closing(apsw.Connection(str(path))) as connection:
        assert connection.execute("PRAGMA user_version").fetchall() == [(99,)]
        assert _dump(connection) == before, "nothing in it is lost"
    assert name in host.home.courier_log.read_text()
    assert LeaderLock(host.home.lock).try_acquire(Leader(1, "1", 0.0)), "the lock is given back"


async def test_the_logs_of_the_databases_do_not_grow_for_ever(host: Host) -> None:
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        courier.maintenance.checkpoint(truncate=True)
        assert (host.home.folder / "cache.db-wal").stat().st_size == 0


async def test_long_courier_log_is_rotated_and_deleted_one_recreated(host: Host) -> None:
    term = Incumbent(host)
    await term.begun()
    assert term.office is not None
    log, notices = host.home.courier_log, term.office.courier.operator_notices
    os.truncate(log, MAX_LOG_BYTES + 1)
    notices.add("first")
    assert log.read_text().endswith("first\n")
    assert log.stat().st_size < 100 < log.with_suffix(".log.1").stat().st_size
    log.unlink()
    notices.add("second")
    assert log.read_text().endswith("second\n")
    await term.leave()


# Real processes

SCRIPT = """
import sys
from aisle.courier.standby import run_with_standby
from aisle.host.store_and_database_folders import StoreFolder
from pathlib import Path
home = StoreFolder(Path(sys.argv[1]), "http://127.0.0.1:1", "0001")

def work(election):
    from aisle.client import Client, RetryPolicy
    from aisle.courier.leader_process import LeaderOptions, run_process
    connect = lambda observe: Client("http://127.0.0.1:1", "t", on_response=observe, retry=RetryPolicy(1))
    run_process(home, connect, election, LeaderOptions())

sys.exit(run_with_standby(home, "1", work))
"""


def start(root: Path, lifeline: Lifeline) -> subprocess.Popen[bytes]:
    """A courier in a process of its own; the service is not there."""
    return subprocess.Popen([sys.executable, "-c", SCRIPT, str(root)], pass_fds=[lifeline.fd])


def wait_for(condition: Callable[[], object], within_s: float = 60.0) -> None:
    """Waits for something that another process does."""
    end = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < end, "what was waited for does not happen"
        time.sleep(0.01)


def log_says(host: Host, text: str) -> bool:
    """Whether the courier's log holds this."""
    return host.home.courier_log.exists() and text in host.home.courier_log.read_text()


def test_a_process_wins_loses_and_ends(host: Host, lifeline: Lifeline) -> None:
    with start(host.home.root, lifeline) as first:
        wait_for(lambda: log_says(host, "begins"))
        with start(host.home.root, lifeline) as loser:
            assert loser.wait(60) == 0
        assert first.poll() is None
        first.send_signal(signal.SIGTERM)
        assert first.wait(60) == 0
    assert log_says(host, "SIGTERM")
    with start(host.home.root, lifeline) as second:
        wait_for(lambda: host.home.courier_log.read_text().count("begins") == 2)
        second.kill()
    with start(host.home.root, lifeline) as third:
        wait_for(lambda: host.home.courier_log.read_text().count("begins") == 3)
        lifeline.cut()
        assert third.wait(60) == 0
    wait_for(lambda: log_says(host, "process that started it"))  # of the heir, where that was quicker than the third


def children(pid: int) -> list[int]:
    """The processes that this one has begun."""
    told = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in told.read_text().split()] if told.exists() else []


def test_new_leader_restarts_program_with_its_own_standby(host: Host, lifeline: Lifeline) -> None:
    with start(host.home.root, lifeline) as first:
        wait_for(lambda: log_says(host, "begins"))
        (heir,) = children(first.pid)
        before = os.stat(host.home.lock).st_ino
        first.kill()
    wait_for(lambda: host.home.courier_log.read_text().count("begins") == 2)
    assert f"courier {heir} of aisle" in host.home.courier_log.read_text()
    told = Path(f"/proc/{heir}/environ").read_bytes().split(b"\0")
    assert [name for name in told if name.startswith(HANDOVER_VARIABLE.encode())], (
        "else it goes on with half of an old program"
    )
    assert len(children(heir)) == 1
    assert os.stat(host.home.lock).st_ino == before
    assert not LeaderLock(host.home.lock).try_acquire(Leader(1, "1", 0.0)), "nobody could come between the two"
    os.kill(heir, signal.SIGTERM)
    wait_for(lambda: not Path(f"/proc/{heir}/task").exists() or not children(heir))
    wait_for(lambda: log_says(host, "ends: SIGTERM"))


def test_a_descriptor_that_is_no_lock_of_this_home_is_no_office(host: Host, tmp_path: Path) -> None:
    host.home.lock.parent.mkdir(parents=True, exist_ok=True)
    me, other = Leader(os.getpid(), "1", 0.0), tmp_path / "other"
    for path, mode in ((other, os.O_RDWR | os.O_CREAT), (host.home.lock, os.O_RDWR)):
        first = LeaderLock(host.home.lock)
        assert first.try_acquire(me)
        fd = os.open(path, mode)
        assert not StandbyLock(host.home.lock).resume_leadership(f"{fd} 0", me)
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(fd)
        first.release()
    assert not StandbyLock(host.home.lock).resume_leadership("", me)
    assert not StandbyLock(host.home.lock).resume_leadership("0 0", me)
    assert os.fstat(0)
    assert not StandbyLock(host.home.lock).resume_leadership("99999 0", me)
    assert not StandbyLock(host.home.lock).resume_leadership(f"{1 << 80} 0", me)


FACTS = """
import json, os, sys, time
facts = {
    "cwd": os.getcwd(), "leads_no_session": os.getsid(0) != os.getpid(), "session": os.getsid(0),
    "parent": os.getppid(),
    "streams": [os.readlink(f"/proc/self/fd/{n}") for n in range(3)],
    "arenas": os.environ["MALLOC_ARENA_MAX"],
    "fds": sorted(int(n) for n in os.listdir("/proc/self/fd")), "umask": os.umask(0),
}
with open(sys.argv[1] + ".part", "w") as out:
    json.dump(facts, out)
os.rename(sys.argv[1] + ".part", sys.argv[1])
os.read(int(os.environ["AISLE_LIFELINE_FD"]), 1)
"""


def test_a_spawned_courier_is_detached_and_inherits_the_lifeline_alone(
    aisle_home: Path, lifeline: Lifeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fork", None)
    leaked, other = os.pipe()
    os.set_inheritable(leaked, True)
    told, before = tmp_path / "facts.json", {*children(os.getpid())}
    start_courier([sys.executable, "-c", FACTS, str(told)])
    wait_for(told.exists)
    facts = json.loads(told.read_text())
    assert facts["cwd"] == "/"
    assert facts["session"] != os.getsid(0)
    assert facts["leads_no_session"], "it can never get a terminal"
    assert facts["parent"] != os.getpid()
    assert facts["streams"] == ["/dev/null"] * 3
    assert leaked not in facts["fds"]
    assert lifeline.fd in facts["fds"]
    assert facts["umask"] == 0o077
    assert facts["arenas"] == "1"
    assert {*children(os.getpid())} <= before
    os.close(leaked)
    os.close(other)


def test_a_command_that_does_not_exist_disturbs_nobody(aisle_home: Path) -> None:
    before = {*children(os.getpid())}
    start_courier(["/nowhere/python"])
    assert {*children(os.getpid())} <= before


def test_a_start_that_takes_its_time_is_not_waited_for(
    aisle_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    monkeypatch.setattr(processes, "SHELL_TIMEOUT_S", 0.01)
    monkeypatch.setattr(processes, "_DETACHING_SHELL", ("/bin/sh", "-c", f"read line < '{gate}'", "aisle"))
    start_courier(["/nowhere/python"])
    (late,) = processes._unreaped_shells
    assert late.poll() is None
    gate.write_text("go on\n")
    monkeypatch.undo()
    wait_for(lambda: late.poll() is not None)
    start_courier(["/nowhere/python"])
    assert late not in processes._unreaped_shells


def test_a_lifeline_that_was_named_and_not_handed_on_is_none(aisle_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    monkeypatch.setenv(PARENT_PIPE_VARIABLE, str(reading))
    assert parent_pipe_fd() == reading
    os.close(reading)
    os.close(writing)
    assert parent_pipe_fd() == -1
    start_courier(["/nowhere/python"])
