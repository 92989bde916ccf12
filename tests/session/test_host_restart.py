"""Who comes back, and where: after a restart of the host, beside oneself at another terminal, on one's own step."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.host import processes
from aisle.host.leader_lock import Leader, LeaderLock
from aisle.host.notify_sockets import CourierSocket, SessionSocket
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import Frame
from aisle.scan.inputs_and_line_grouping import Line
from aisle.session.session import Session, open_session
from aisle.settings.setting_definitions import Settings
from tests.cache import service_rows

CODE = "4006381333931"


@pytest.fixture
def home(aisle_home: Path) -> StoreFolder:
    """A home with an order in its cache."""
    home = StoreFolder(aisle_home, "embedded", "0001")
    with closing(open_cache(home.folder, writer=True)) as database:
        cache = CacheWriter(database, "0001")
        cache.write_products([service_rows.product("P1", "Oats", CODE)])
        cache.write_orders(
            [service_rows.order("4101", service_rows.line(1, "P1", 9))], lines_known=True, read_began=1.0
        )
        cache.write_orders(
            [service_rows.order("4102", service_rows.line(1, "P1", 9))], lines_known=True, read_began=1.0
        )
        cache.write_people([service_rows.person("U1", "Anna Berg")])
    return home


def at(home: StoreFolder, terminal: str, user: str = "") -> tuple[Session, Frame]:
    """A session of this terminal, and what it shows first."""
    session = open_session(home, Settings(terminal=terminal, user=user))
    return session, session.start()


def say(session: Session, *texts: str) -> Frame:
    """Scans, each in a read of its own."""
    for text in texts:
        frame = session.take([Line(text, "cr", 0.0, 0.0, 0.0)], 0.0)
    return frame


def told(frame: Frame) -> str:
    """The verdict's id."""
    return frame.verdict.text.id if frame.verdict else ""


def another_start(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """The host is started anew: from now on its start has another name, and process ids are given again."""
    boot = folder / "boot_id"
    boot.write_text("another-start\n")
    monkeypatch.setattr(processes, "_BOOT_ID_FILE", boot)


def test_after_a_restart_of_the_host_the_next_one_stands_on_the_same_step(
    home: StoreFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process that has the dead session's id now is another one: this one."""
    before, _ = at(home, "dock", "U1")
    shown = say(before, "4101", CODE, f"2*{CODE}")
    before.store.socket._socket.close()  # what the kernel does; the name in the folder stays
    another_start(monkeypatch, tmp_path)
    session, frame = at(home, "dock", "U1")
    assert told(frame) == "session.resumed"
    assert frame.user == shown.user
    assert frame.view == shown.view
    assert told(say(session, CODE)) == "pick.picked"
    session.close()


def test_after_a_restart_of_the_host_no_old_courier_is_in_the_way(
    home: StoreFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    election = LeaderLock(home.lock)
    election.try_acquire(Leader(os.getpid(), "1", 0.0))
    election.release()  # what the kernel does, here and below; the names in the folders stay
    CourierSocket(home)._socket.close()
    another_start(monkeypatch, tmp_path)
    called: list[bool] = []
    session = open_session(home, Settings(terminal="dock"), lambda: called.append(True))
    session.start()
    session.keep_courier()
    assert called, "its doorbell hangs there, and nobody answers"
    assert election.try_acquire(Leader(os.getpid(), "1", 0.0))
    with closing(CourierSocket(home)) as socket, closing(SessionSocket(home)) as bell:
        bell.wake_courier()
        assert socket.drain() == {"work"}
    election.release()
    session.close()


def test_somebody_at_two_terminals_works_on_two_things(home: StoreFolder) -> None:
    here, _ = at(home, "dock-1", "U1")
    say(here, "4101", CODE)
    there, frame = at(home, "dock-2", "U1")
    assert frame.view.name == "home", "what is open at the other one stays there"
    assert told(say(there, "4102")).startswith("pick.")
    assert told(say(there, CODE)) == "pick.picked"
    assert told(say(here, CODE)) == "pick.picked"
    there.close()
    assert told(say(here, CODE)) == "pick.picked"
    here.close()
    again, frame = at(home, "dock-1", "U1")
    assert told(frame) == "session.resumed_from", "who comes back after both are closed has both, one above the other"
    names = [level.job.name for level in again.stack.jobs]
    assert names == ["home", "pick", "pick"]
    again.close()
