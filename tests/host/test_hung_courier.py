"""A stopped or hung courier: sessions report it, end it, and touch no other process."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import closing

import pytest

from aisle.cache.reader import CacheReader
from aisle.host.hung_courier import HUNG_AFTER_S, KILL_AFTER_S, SLEEP_GAP_S, CourierMonitor, write_heartbeat
from aisle.host.leader_lock import PROGRAM_VERSION, Leader, LeaderLock
from aisle.host.notify_sockets import CourierSocket, SessionSocket
from aisle.host.processes import STOPPED_STATES, process_state
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import LinkState
from aisle.outbox.commit_journal import Journal
from aisle.outbox.operation_queue import open_outbox
from aisle.session.store_connection import REPLACE_COURIER_S, CourierConnection
from tests.clock import Clock
from tests.host.child_process import Child, running


def courier(home: StoreFolder) -> Callable[[Callable[[str], None]], None]:
    """Return the work of a process that holds the lock and a socket, and does nothing."""

    def work(tell: Callable[[str], None]) -> None:
        LeaderLock(home.lock).try_acquire(Leader(os.getpid(), "1", 0.0))
        election = LeaderLock(home.lock)
        socket = CourierSocket(home)
        tell("in office")
        signal.pause()
        print(election, socket)

    return work


def look(pulse: CourierMonitor, clock: Clock, seconds: float, step: float = 5.0) -> None:
    """A session's looks for so many seconds."""
    for _ in range(int(seconds / step)):
        clock.pass_(step)
        pulse.check()


def until(condition: Callable[[], bool]) -> None:
    """Waits for what the kernel does with another process."""
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, "what was waited for does not happen"
        time.sleep(0.001)


def ended(child: Child) -> bool:
    """Whether the child was killed; one that lives is not waited for."""
    pid, status = os.waitpid(child.pid, os.WNOHANG)
    return pid != 0 and os.WIFSIGNALED(status)


def test_a_stopped_courier_is_ended_after_two_minutes(home: StoreFolder) -> None:
    clock, child = Clock(), Child(courier(home))
    with running(child), closing(open_outbox(home.folder)) as outbox, closing(SessionSocket(home)) as bell:
        child.hear(1)
        os.kill(child.pid, signal.SIGSTOP)
        reads, called = CacheReader(home, outbox), []
        lookout = CourierConnection(reads, Journal(outbox), bell, "S", lambda: called.append(True), clock)
        lookout.start()
        for _ in range(int(KILL_AFTER_S / 5)):
            clock.pass_(5)
            lookout.keep_courier()
            assert called == []
        assert "gave no sign" not in _log(home)
        clock.pass_(5)
        lookout.keep_courier()
        os.waitpid(child.pid, 0)
        assert f"courier {child.pid} gave no sign of life for 120 s and was ended" in _log(home)
        clock.pass_(5)
        lookout.keep_courier()
        assert called, "its doorbell is gone"
        assert LeaderLock(home.lock).try_acquire(Leader(os.getpid(), "1", 0.0))
        reads.close()


def test_dead_courier_is_replaced_at_next_check(home: StoreFolder) -> None:
    clock, called = Clock(), []
    with closing(open_outbox(home.folder)) as outbox, closing(SessionSocket(home)) as bell:
        reads = CacheReader(home, outbox)
        lookout = CourierConnection(reads, Journal(outbox), bell, "S", lambda: called.append(clock.now), clock)
        lookout.start()
        for look in range(4):
            lookout.keep_courier()
            assert len(called) == look + 1
            clock.pass_(1)
            with closing(CourierSocket(home)):
                lookout.keep_courier()
            clock.pass_(1)
        lookout.keep_courier()
        assert len(called) == 5
        for _ in range(9):
            clock.pass_(1)
            lookout.keep_courier()
        assert len(called) == 5, "the one that was called last has not come yet"
        clock.pass_(1)
        lookout.keep_courier()
        assert len(called) == 6
        reads.close()


@pytest.mark.parametrize(("version", "calls"), [("0.0.1+1.1", 3), (PROGRAM_VERSION, 0), ("999.0", 0)])
def test_beside_a_courier_of_an_older_program_this_programs_is_called(
    home: StoreFolder, version: str, calls: int
) -> None:
    clock, called = Clock(), []
    election = LeaderLock(home.lock)
    election.try_acquire(Leader(os.getpid(), version, 0.0))
    with (
        closing(open_outbox(home.folder)) as outbox,
        closing(CourierSocket(home)),
        closing(SessionSocket(home)) as bell,
    ):
        reads = CacheReader(home, outbox)
        lookout = CourierConnection(reads, Journal(outbox), bell, "S", lambda: called.append(clock.now), clock)
        lookout.start()
        for _ in range(int(2 * REPLACE_COURIER_S / 5) + 1):
            lookout.keep_courier()
            write_heartbeat(home.lock)
            clock.pass_(5)
        assert len(called) == calls
        reads.close()
    election.release()


@pytest.mark.parametrize(
    ("mine", "state", "calls"),
    [("/other", "refused", 3), ("/theirs", "refused", 0), ("", "refused", 0), ("/other", "live", 0)],
)
def test_courier_with_session_token_replaces_one_with_refused_token(
    home: StoreFolder, monkeypatch: pytest.MonkeyPatch, mine: str, state: str, calls: int
) -> None:
    clock, called = Clock(), []
    election = LeaderLock(home.lock)
    election.try_acquire(Leader(os.getpid(), PROGRAM_VERSION, 0.0, "/theirs"))
    with (
        closing(open_outbox(home.folder)) as outbox,
        closing(CourierSocket(home)),
        closing(SessionSocket(home)) as bell,
    ):
        reads = CacheReader(home, outbox)
        monkeypatch.setattr(reads, "link", lambda now: LinkState(state, 1.0))
        lookout = CourierConnection(reads, Journal(outbox), bell, "S", lambda: called.append(clock.now), clock)
        lookout.token_file = mine
        lookout.start()
        for _ in range(int(2 * REPLACE_COURIER_S / 5) + 1):
            lookout.keep_courier()
            write_heartbeat(home.lock)
            clock.pass_(5)
        assert len(called) == calls
        assert lookout.refused_token_file() == ("" if mine == "/theirs" else "/theirs")
        reads.close()
    election.release()


def _log(home: StoreFolder) -> str:
    return home.courier_log.read_text() if home.courier_log.exists() else ""


def test_a_courier_that_is_late_counts_for_nobody(home: StoreFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    election = LeaderLock(home.lock)
    election.try_acquire(Leader(os.getpid(), "1", 0.0))
    with (
        closing(open_outbox(home.folder)) as outbox,
        closing(CourierSocket(home)),
        closing(SessionSocket(home)) as bell,
    ):
        reads = CacheReader(home, outbox)
        monkeypatch.setattr(reads, "link", lambda now: LinkState("live", 1.0))
        lookout = CourierConnection(reads, Journal(outbox), bell, "S", lambda: None, clock)
        states, told = [], []
        for _ in range(12):
            clock.pass_(5)
            lookout.keep_courier()
            states.append(lookout.link().state)
            told.append(lookout.link_message())
            if len(states) == 10:
                write_heartbeat(home.lock)
        assert states == ["live"] * 6 + ["stuck"] * 4 + ["live"] * 2
        assert [turn for turn in told if turn] == ["stuck", "going"], "it is said once, and that it is over"
        reads.close()


def test_for_how_long_it_has_stood_still_is_known_to_who_comes_later(home: StoreFolder) -> None:
    clock, child = Clock(), Child(courier(home))
    with running(child), closing(open_outbox(home.folder)) as outbox, closing(SessionSocket(home)) as bell:
        child.hear(1)
        os.kill(child.pid, signal.SIGSTOP)
        until(lambda: process_state(child.pid) in STOPPED_STATES)
        os.utime(home.lock, (clock.now - 90, clock.now - 90))
        reads = CacheReader(home, outbox)
        lookout = CourierConnection(reads, Journal(outbox), bell, "S", lambda: None, clock)
        lookout.start()
        lookout.keep_courier()
        assert (lookout.link().state, lookout.link().heartbeat_age_s) == ("stuck", 90.0)
        reads.close()


def test_stopped_courier_is_reported_at_next_check(home: StoreFolder) -> None:
    clock, child = Clock(), Child(courier(home))
    with running(child):
        child.hear(1)
        pulse = CourierMonitor(home, clock)
        for number, stopped in ((signal.SIGSTOP, True), (signal.SIGCONT, False)):
            os.kill(child.pid, number)
            until(lambda: (process_state(child.pid) in STOPPED_STATES) is stopped)  # noqa: B023 - used at once
            look(pulse, clock, 5)
            assert pulse.is_hung is stopped
        os.kill(child.pid, signal.SIGSTOP)
        until(lambda: process_state(child.pid) in STOPPED_STATES)
        look(pulse, clock, 5)
        pulse.reset()
        assert not pulse.is_hung


def test_other_stopped_process_is_not_the_courier(home: StoreFolder) -> None:
    def stranger(tell: Callable[[str], None]) -> None:
        tell("here")
        signal.pause()

    clock, child = Clock(), Child(stranger)
    with running(child):
        child.hear(1)
        LeaderLock(home.lock).try_acquire(Leader(child.pid, "1", 0.0))
        os.kill(child.pid, signal.SIGSTOP)
        until(lambda: process_state(child.pid) in STOPPED_STATES)
        pulse = CourierMonitor(home, clock)
        look(pulse, clock, 5)
        assert not pulse.is_hung


def test_one_that_beats_lives_for_ever(home: StoreFolder) -> None:
    clock = Clock()
    pulse = CourierMonitor(home, clock)
    LeaderLock(home.lock).try_acquire(Leader(os.getpid(), "1", 0.0))
    for number in range(100):
        os.utime(home.lock, (number, number))
        look(pulse, clock, HUNG_AFTER_S - 5)
        assert not pulse.is_hung


@pytest.mark.parametrize("jump", [3600.0, -3600.0, SLEEP_GAP_S + 1])
def test_a_clock_that_is_set_or_a_host_that_slept_makes_nobody_late(home: StoreFolder, jump: float) -> None:
    clock, child = Clock(), Child(courier(home))
    with running(child):
        child.hear(1)
        pulse = CourierMonitor(home, clock)
        for _ in range(5):
            look(pulse, clock, KILL_AFTER_S - 5)
            clock.pass_(jump)
            pulse.check()
            assert not pulse.is_hung
        assert not ended(child)
        look(pulse, clock, KILL_AFTER_S)
        os.waitpid(child.pid, 0)


def test_another_programs_process_is_left_alone(home: StoreFolder) -> None:
    """The lock's file may name one that has the number by chance: after a restart of the host, or in a container."""

    def stranger(tell: Callable[[str], None]) -> None:
        tell("here")
        signal.pause()

    clock, child = Clock(), Child(stranger)
    with running(child):
        child.hear(1)
        LeaderLock(home.lock).try_acquire(Leader(child.pid, "1", 0.0))
        pulse = CourierMonitor(home, clock)
        look(pulse, clock, KILL_AFTER_S * 3)
        assert not ended(child)
