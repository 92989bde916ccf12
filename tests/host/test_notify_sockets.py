"""Notification sockets and leader election between real processes."""

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
from aisle.host.leader_lock import Leader, LeaderLock
from aisle.host.notify_sockets import (
    STEP_DOWN_PREFIX,
    CourierSocket,
    SessionSocket,
    matching_topics,
    send_to_courier,
    socket_folder,
)
from aisle.host.store_and_database_folders import StoreFolder

ME = Leader(os.getpid(), "1", 0.0)


def ring(courier: CourierSocket, *topics: str) -> None:
    """At every session."""
    for name in courier.subscriptions():
        courier.notify(name, topics)


def test_rings_reach_every_session_and_the_courier(home: StoreFolder) -> None:
    courier, first, second = CourierSocket(home), SessionSocket(home), SessionSocket(home)
    assert sorted(courier.notify(name, ["order", "product/P/1"]) for name in courier.subscriptions()) == [True, True]
    poll = select.poll()
    poll.register(first.fileno(), select.POLLIN)
    assert poll.poll(5000)
    assert first.drain() == {"order", "product/P/1"}
    assert second.drain() == {"order", "product/P/1"}
    assert first.drain() == set()
    second.wake_courier()
    assert courier.drain() == {"work"}
    for each in (courier, first, second, second):
        each.close()
    assert list(socket_folder(home).iterdir()) == []


def test_the_doorbells_of_the_dead_are_taken_down(home: StoreFolder) -> None:
    bell, courier = SessionSocket(home), CourierSocket(home)
    bell._socket.close()
    assert courier.count_sessions() == 1
    (name,) = courier.subscriptions()
    assert not courier.notify(name, ["order"])
    assert courier.count_sessions() == 0
    other, living = SessionSocket(home), SessionSocket(home)
    other._socket.close()
    courier.remove_dead_sockets()
    assert courier.count_sessions() == 1
    assert living.drain() == set(), "nobody is woken for it"
    living.close()
    courier.close()


def test_a_session_leaves_the_couriers_doorbell_alone(home: StoreFolder) -> None:
    bell, dead = SessionSocket(home), CourierSocket(home)
    dead._socket.close()
    bell.wake_courier()
    send_to_courier(home, STEP_DOWN_PREFIX + "9")
    assert not bell.is_courier_listening()
    assert (socket_folder(home) / "courier.sock").is_socket(), "it may be the next courier's by now"
    with closing(CourierSocket(home)) as courier:
        bell.wake_courier()
        assert courier.drain() == {"work"}
    bell.close()


def test_a_courier_knows_its_own_doorbell(home: StoreFolder) -> None:
    with closing(CourierSocket(home)) as courier, closing(SessionSocket(home)) as bell:
        assert courier.is_bound
        (socket_folder(home) / "courier.sock").unlink()
        assert not courier.is_bound
        courier.rebind()
        assert courier.is_bound
        bell.wake_courier()
        assert courier.drain() == {"work"}
        ring(courier, "order")
        assert bell.drain() == {"order"}


def test_subscription_does_not_wake_courier_for_work(home: StoreFolder) -> None:
    with (
        closing(CourierSocket(home)) as courier,
        closing(SessionSocket(home)) as bell,
        closing(SessionSocket(home)) as silent,
    ):
        assert bell.subscribe({"order/4101", "refusal"})
        assert courier.drain() == set()
        known = list(courier.subscriptions().values())
        assert sorted(known, key=str) == sorted([frozenset({"order/4101", "refusal"}), None], key=str)
        assert bell.subscribe(())
        assert courier.drain() == set()
        assert frozenset() in courier.subscriptions().values()
        silent.wake_courier()
        assert courier.drain() == {"work"}
    with closing(SessionSocket(home)) as bell:
        assert not bell.subscribe({"order"}), "nobody hears it"


def test_courier_notes_writers_and_watchers_until_next_notification(home: StoreFolder) -> None:
    with (
        closing(CourierSocket(home)) as courier,
        closing(SessionSocket(home)) as writes,
        closing(SessionSocket(home)) as shows,
    ):
        writes.wake_courier()
        shows.subscribe({"order", "waiting"})
        courier.drain()
        assert len(courier.take_waiting_sessions()) == 2
        assert courier.take_waiting_sessions() == set()
        assert frozenset({"order"}) in courier.subscriptions().values()


def test_more_names_than_a_letter_holds_are_told_by_their_topics(home: StoreFolder) -> None:
    with closing(CourierSocket(home)) as courier, closing(SessionSocket(home)) as bell:
        bell.subscribe([f"order/{number:06}" for number in range(2000)])
        courier.drain()
        assert list(courier.subscriptions().values()) == [frozenset({"order"})]
        ring(courier, *(f"product/{number:06}" for number in range(2000)), "link")
        assert bell.drain() == {"product", "link"}


@pytest.mark.parametrize(
    ("shown", "rung", "found", "named"),
    [
        ({"order/1"}, ["order/1", "order/2", "product/1"], ["order/1"], True),
        ({"order/1"}, ["order"], ["order"], True),
        ({"order"}, ["order/2", "product/2"], ["order/2"], False),
        ({"order"}, ["order"], ["order"], False),
        ({"order/12"}, ["order/1"], [], False),
        ({"orders"}, ["order/1", "order"], [], False),
        ({"product/a/b"}, ["product/a", "product/a/b"], ["product/a/b"], True),
        ({"*"}, ["order/1", "log"], ["order/1", "log"], False),
        (None, ["order/1", "log"], ["order/1", "log"], False),
        (set(), ["order", "product/1"], [], False),
        (set(), ["link"], ["link"], True),
        (set(), ["sync"], ["sync"], False),
    ],
)
def test_who_is_concerned(shown: set[str] | None, rung: list[str], found: list[str], named: bool) -> None:
    assert matching_topics(rung, shown) == (found, named)


def test_a_full_queue_and_a_missing_courier_stop_nobody(home: StoreFolder) -> None:
    bell, courier = SessionSocket(home), CourierSocket(home)
    for _ in range(2000):
        ring(courier, "order")
    courier.close()
    bell.wake_courier()
    assert bell.drain() == {"order", "link"}, "nobody knows what found no room: all is looked at"
    bell.close()


def test_a_ring_that_finds_no_room_between_others_letters_is_not_missed(home: StoreFolder) -> None:
    with closing(CourierSocket(home)) as courier, closing(SessionSocket(home)) as bell:
        while bell.subscribe(("order",)):
            pass
        bell.wake_courier()
        assert courier.drain() == {"work"}
        bell.subscribe(("order",))
        assert courier.drain() == set()


def test_a_path_too_long_for_a_socket_gets_a_folder_elsewhere(tmp_path: Path) -> None:
    home = StoreFolder(tmp_path / ("x" * 120), "embedded", "1")
    folder = socket_folder(home)
    assert len(os.fsencode(folder)) < 75
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.rmdir()


def test_a_folder_that_others_can_use_is_refused(home: StoreFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aisle.host.notify_sockets.MAX_SOCKET_PATH", 1_000)
    folder = socket_folder(home)
    folder.chmod(0o755)
    with pytest.raises(StorageError, match="only this account"):
        SessionSocket(home)
    folder.chmod(0o700)


def test_one_leader_and_lock_of_killed_one_is_free(home: StoreFolder) -> None:
    program = (
        "import sys, pathlib\n"
        "from aisle.host.leader_lock import LeaderLock, Leader\n"
        "import os, time\n"
        "election = LeaderLock(pathlib.Path(sys.argv[1]))\n"
        "assert election.try_acquire(Leader(os.getpid(), '1', 0.0))\n"
        "print('won', flush=True)\n"
        "sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", program, str(home.lock)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "won\n"
        election = LeaderLock(home.lock)
        assert not election.try_acquire(ME)
        assert not election.is_held
        holder = election.read_leader()
        assert holder is not None
        assert holder.pid == other.pid
        other.send_signal(signal.SIGKILL)
        other.wait()
    assert election.try_acquire(ME)
    assert election.read_leader() == ME
    election.release()
    election.release()
    assert not election.is_held
