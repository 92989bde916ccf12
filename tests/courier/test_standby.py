"""The standby courier: leads at once when the leader dies, leaves with it, and never leads without the lock file."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from aisle.courier import standby
from aisle.courier.standby import MAX_SHORT_TERMS, StandbyLock
from aisle.host.leader_lock import Leader, LeaderLock
from tests.host.child_process import Child, running


def me() -> Leader:
    """This process."""
    return Leader(os.getpid(), "1", 0.0)


def reigns(lock: Path) -> Callable[[Callable[[str], None]], None]:
    """Return the work of a process that leads with a standby behind it; each reports that it leads, and stays."""

    def work(tell: Callable[[str], None]) -> None:
        seat = StandbyLock(lock)
        assert seat.try_acquire(me())
        if not seat.start_standby(me):
            tell("nothing to inherit")
            return
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        tell(f"{os.getpid()} {seat._standby_pid}")
        signal.sigwait({signal.SIGTERM})
        seat.release()
        tell("left")

    return work


@pytest.fixture
def lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The lock file; no term counts as too short for a standby."""
    monkeypatch.setattr(standby, "SHORT_TERM_S", 0.0)
    return tmp_path / "courier.lock"


@pytest.fixture
def first(lock: Path) -> Iterator[Child]:
    """A courier; it and whoever inherits from it are gone at the end."""
    child = Child(reigns(lock))
    with running(child):
        yield child
        lock.unlink(missing_ok=True)
        for line in child.lines:
            with suppress(ValueError, ProcessLookupError):
                os.kill(int(line.split()[0]), signal.SIGKILL)


def test_standby_leads_after_kill_of_leader(first: Child, lock: Path) -> None:
    expected = first.pid
    for number in range(1, 5):
        assert first.hear(number)
        pid, next_one = map(int, first.lines[-1].split())
        holder = LeaderLock(lock).read_leader()
        assert holder is not None
        assert holder.pid == pid == expected
        assert not LeaderLock(lock).try_acquire(me())
        expected = next_one
        os.kill(pid, signal.SIGKILL)
    assert first.hear(5)


def test_who_leaves_takes_the_heir_along(first: Child, lock: Path) -> None:
    first.hear(1)
    _, next_one = map(int, first.lines[0].split())
    os.kill(first.pid, signal.SIGTERM)
    assert first.hear(2)
    assert first.lines[1] == "left"
    assert not Path(f"/proc/{next_one}").exists()
    election = LeaderLock(lock)
    assert election.try_acquire(me())
    election.release()


def test_an_heir_that_is_gone_is_missed_by_nobody(first: Child, lock: Path) -> None:
    first.hear(1)
    os.kill(int(first.lines[0].split()[1]), signal.SIGKILL)
    os.kill(first.pid, signal.SIGTERM)
    assert first.hear(2)
    assert first.lines[1] == "left"


def test_standby_does_not_lead_without_lock_file(first: Child, lock: Path) -> None:
    first.hear(1)
    lock.unlink()
    os.kill(first.pid, signal.SIGKILL)
    assert first.hear(2)
    assert first.lines[1] == "nothing to inherit"
    assert not lock.exists() or LeaderLock(lock).try_acquire(me())


def test_behind_a_lock_whose_file_is_gone_nobody_waits(lock: Path) -> None:
    seat = StandbyLock(lock)
    assert seat.try_acquire(me())
    lock.unlink()
    assert seat.start_standby(me)
    assert seat._standby_pid == 0
    seat.release()


def test_standby_stops_after_short_terms(lock: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standby, "SHORT_TERM_S", 1e9)
    child = Child(reigns(lock))
    with running(child):
        for term in range(1, MAX_SHORT_TERMS + 2):
            assert child.hear(term)
            pid, next_one = map(int, child.lines[-1].split())
            assert bool(next_one) == (term <= MAX_SHORT_TERMS)
            os.kill(pid, signal.SIGKILL)
        assert not child.hear(MAX_SHORT_TERMS + 2)
    election = LeaderLock(lock)
    assert election.acquire_when_free(
        os.open(lock, os.O_RDWR), me
    )  # the dead one's pipe may be closed a moment before its lock
    election.release()


def test_without_a_process_to_be_had_there_is_no_heir(lock: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_process() -> int:
        raise BlockingIOError

    monkeypatch.setattr(os, "fork", no_process)
    seat = StandbyLock(lock)
    assert seat.try_acquire(me())
    assert seat.start_standby(me)
    seat.release()
    assert not seat.is_held
