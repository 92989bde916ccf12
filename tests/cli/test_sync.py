"""`aisle sync`, alone and beside a leading courier: what it waits for, and what its exit status says."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.cli import main
from aisle.cli import sync as courier
from aisle.cli.sync import _print_summary, _wait_for_cache
from aisle.courier.pull import full_sync_stages_and_progress
from aisle.courier.pull.full_sync_stages_and_progress import SyncProgress
from aisle.errors import StorageError
from aisle.host import hung_courier
from aisle.host.leader_lock import Leader, LeaderLock
from aisle.host.store_and_database_folders import StoreFolder
from aisle.settings.setting_definitions import EMBEDDED
from tests.courier.session_outbox import Desk
from tests.courier.writes import update
from tests.host.child_process import Child, running
from tests.terminal.lifeline import Lifeline

STORE = "0001"


@pytest.fixture
def home(aisle_home: Path) -> StoreFolder:
    """The home of the embedded store, empty."""
    return StoreFolder(aisle_home, EMBEDDED, STORE)


@pytest.fixture
def desk(home: StoreFolder) -> Iterator[Desk]:
    """A session's side of the outbox."""
    with closing(Desk(home.folder, time.time)) as desk:
        yield desk


def sync(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of one `aisle sync`."""
    status = main(("sync", *arguments))
    out, err = capsys.readouterr()
    return status, out, err


def kept(home: StoreFolder) -> SyncProgress:
    """How far the cache has come."""
    with closing(open_cache(home.folder, writer=False)) as connection:
        return full_sync_stages_and_progress.load_progress(CacheWriter(connection, STORE))


def wait_for(condition: Callable[[], object], within_s: float = 60.0) -> None:
    """Waits for something that another process does."""
    end = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < end, "what was waited for does not happen"
        time.sleep(0.02)


@contextmanager
def _cut(lifeline: Lifeline) -> Iterator[None]:
    """Lets whoever hangs on the line go, whatever happened."""
    try:
        yield
    finally:
        lifeline.cut()


def test_a_sync_alone_says_what_is_there(capsys: pytest.CaptureFixture[str], home: StoreFolder) -> None:
    status, out, err = sync(capsys)
    assert (status, err) == (0, "")
    assert out.startswith("Store 0001: ")
    assert "42 orders" in out


def test_a_courier_that_stands_still_is_ended_by_who_waits_for_it(
    capsys: pytest.CaptureFixture[str], home: StoreFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def in_office(tell: Callable[[str], None]) -> None:
        election = LeaderLock(home.lock)
        election.try_acquire(Leader(os.getpid(), "1", time.time()))
        tell("in office")
        signal.pause()
        election.release()

    open_cache(home.folder, writer=True).close()
    child = Child(in_office)
    with running(child):
        child.hear(1)
        os.kill(child.pid, signal.SIGSTOP)
        os.waitpid(child.pid, os.WUNTRACED)
        monkeypatch.setattr(hung_courier, "KILL_AFTER_S", 0.0)
        monkeypatch.setattr(courier, "NO_PROGRESS_S", 0.0)
        assert sync(capsys)[0] == 1
        _, how = os.waitpid(child.pid, 0)
        assert os.WTERMSIG(how) == signal.SIGKILL


def test_what_could_not_be_sent_is_said(capsys: pytest.CaptureFixture[str], home: StoreFolder, desk: Desk) -> None:
    (op_id,) = desk.write(update("no such order", {1: 1}))
    desk.outbox.begin_sending(op_id, b"{}")
    status, _out, err = sync(capsys)
    assert desk.state(op_id) == "in_doubt"
    assert status == 1
    assert err == "1 waiting to be sent. See 'aisle outbox'.\n"


def test_a_part_that_could_not_be_read_is_said(capsys: pytest.CaptureFixture[str], home: StoreFolder) -> None:
    assert sync(capsys)[0] == 0
    with closing(open_cache(home.folder, writer=True)) as connection:
        cache = CacheWriter(connection, STORE)
        full_sync_stages_and_progress.save_progress(
            cache, full_sync_stages_and_progress.load_progress(cache)._replace(missing=("products",))
        )
    assert _print_summary(home) == 1
    told = capsys.readouterr()
    assert "42 orders" in told.out
    assert told.err == "Not all of products could be read.\n"
    status, _out, err = sync(capsys)
    assert (status, err) == (0, ""), "what could not be read is read again"


def test_the_cache_of_a_courier_that_has_just_come_is_waited_for(
    home: StoreFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = []

    def makes_it(_seconds: float) -> None:
        looked.append(True)
        if len(looked) == 2:
            open_cache(home.folder, writer=True).close()

    monkeypatch.setattr("aisle.cli.sync.time.sleep", makes_it)
    with closing(_wait_for_cache(home)):
        assert len(looked) == 2
    home.cache.unlink()
    monkeypatch.setattr("aisle.cli.sync.START_WAIT_S", 0.0)
    with pytest.raises(StorageError, match="not there yet"):
        _wait_for_cache(home)


def test_a_courier_in_office_reads_everything_anew_when_asked_to(
    capsys: pytest.CaptureFixture[str], home: StoreFolder, lifeline: Lifeline
) -> None:
    assert sync(capsys)[0] == 0
    command = [sys.executable, "-m", "aisle", "courier"]
    with subprocess.Popen(command, pass_fds=[lifeline.fd]) as courier, _cut(lifeline):
        wait_for(lambda: home.courier_log.exists() and "begins" in home.courier_log.read_text())
        before = kept(home).completed
        assert sync(capsys)[0] == 0
        assert kept(home).completed == before, "nothing had changed"
        began = time.time()
        status, out, err = sync(capsys, "--full")
        assert (status, err) == (0, "")
        assert "42 orders" in out
        assert kept(home).completed >= began
    assert courier.returncode == 0
