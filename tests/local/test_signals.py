"""Doorbells and the election, between real processes where it matters."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from aisle.errors import StorageError
from aisle.local.home import Home
from aisle.local.lock import Election, Holder
from aisle.local.signals import Bell, CourierSocket, ask_to_leave, socket_folder

ME = Holder(os.getpid(), "1", 0.0)


@pytest.fixture
def home(aisle_home: Path) -> Home:
    """A home whose path may well be too long for a socket."""
    return Home(aisle_home, "embedded", "0001")


def test_rings_reach_every_session_and_the_courier(home: Home) -> None:
    courier, first, second = CourierSocket(home), Bell(home), Bell(home)
    assert courier.tell_sessions(["order", "product"]) == 2
    poll = select.poll()
    poll.register(first.fileno(), select.POLLIN)
    assert poll.poll(5000)
    assert first.drain() == {"order", "product"}
    assert second.drain() == {"order", "product"}
    assert first.drain() == set()
    second.ring_courier()
    assert courier.drain() == {"work"}
    for each in (courier, first, second, second):
        each.close()
    assert list(socket_folder(home).iterdir()) == []


def test_the_doorbells_of_the_dead_are_taken_down(home: Home) -> None:
    bell, courier = Bell(home), CourierSocket(home)
    bell._socket.close()
    assert courier.sessions() == 1
    assert courier.tell_sessions(["order"]) == 0
    assert courier.sessions() == 0
    courier.close()


def test_a_session_leaves_the_couriers_doorbell_alone(home: Home) -> None:
    bell, dead = Bell(home), CourierSocket(home)
    dead._socket.close()
    bell.ring_courier()
    ask_to_leave(home, "9")
    assert not bell.courier_there()
    assert (socket_folder(home) / "courier.sock").is_socket(), "it may be the next courier's by now"
    with closing(CourierSocket(home)) as courier:
        bell.ring_courier()
        assert courier.drain() == {"work"}
    bell.close()


def test_a_courier_knows_its_own_doorbell(home: Home) -> None:
    with closing(CourierSocket(home)) as courier, closing(Bell(home)) as bell:
        assert courier.hangs
        (socket_folder(home) / "courier.sock").unlink()
        assert not courier.hangs
        courier.hang_again()
        assert courier.hangs
        bell.ring_courier()
        assert courier.drain() == {"work"}
        courier.tell_sessions(["order"])
        assert bell.drain() == {"order"}


def test_a_full_queue_and_a_missing_courier_stop_nobody(home: Home) -> None:
    bell, courier = Bell(home), CourierSocket(home)
    for _ in range(2000):
        courier.tell_sessions(["order"])
    courier.close()
    bell.ring_courier()
    assert bell.drain() == {"order"}
    bell.close()


def test_a_path_too_long_for_a_socket_gets_a_folder_elsewhere(tmp_path: Path) -> None:
    home = Home(tmp_path / ("x" * 120), "embedded", "1")
    folder = socket_folder(home)
    assert len(os.fsencode(folder)) < 75
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.rmdir()


def test_a_folder_that_others_can_use_is_refused(home: Home) -> None:
    folder = socket_folder(home)
    folder.chmod(0o755)
    with pytest.raises(StorageError, match="only this account"):
        Bell(home)
    folder.chmod(0o700)


def test_one_wins_and_the_lock_of_a_killed_holder_is_free_at_once(home: Home) -> None:
    program = (
        "import sys, pathlib\n"
        "from aisle.local.lock import Election, Holder\n"
        "import os, time\n"
        "election = Election(pathlib.Path(sys.argv[1]))\n"
        "assert election.try_win(Holder(os.getpid(), '1', 0.0))\n"
        "print('won', flush=True)\n"
        "sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", program, str(home.lock)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "won\n"
        election = Election(home.lock)
        assert not election.try_win(ME)
        assert not election.won
        holder = election.holder()
        assert holder is not None
        assert holder.pid == other.pid
        other.send_signal(signal.SIGKILL)
        other.wait()
    assert election.try_win(ME)
    assert election.holder() == ME
    election.resign()
    election.resign()
    assert not election.won
