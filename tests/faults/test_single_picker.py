"""One person picks alone while service, courier and session are killed at random: nobody else is said to have changed
the order, and the screen shows what he picked.
"""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random

import pytest

from aisle.cache.reader import CacheReader
from aisle.host.leader_lock import LeaderLock
from aisle.host.notify_sockets import SessionSocket
from aisle.host.processes import start_courier
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import Policy
from aisle.jobs.view import Frame, Step
from aisle.outbox.commit_journal import Journal
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.scan.inputs_and_line_grouping import Line
from aisle.session.profile import Profile
from aisle.session.session import Session
from aisle.session.store_connection import StoreAccess
from tests.courier.writes import STORE
from tests.faults import soak
from tests.faults.host_results import Desk
from tests.run_length import tries
from tests.terminal.service_process import Served

ELSEWHERE = ("pick.changed", "pick.changed_question_dropped")
"""What the screen says of an order that somebody else has changed."""

SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 30))]


class Picker:
    """Somebody at a terminal of his own, whose session can be killed."""

    def __init__(self, home: StoreFolder, courier: Sequence[str], dice: Random) -> None:
        self.home, self.courier, self.dice = home, courier, dice
        self.told: list[str] = []
        """All that was said on the screen."""
        self.frame: Frame
        self._open()

    def _open(self) -> None:
        self._outbox = open_outbox(self.home.folder)
        self._reads, self._bell = CacheReader(self.home, self._outbox), SessionSocket(self.home)
        rooms = StoreAccess(self._reads, Journal(self._outbox), OperationQueue(self._outbox), self._bell)
        terms = Profile(STORE, "dock", "anna", Policy())
        self.session = Session(rooms, terms, start_courier=lambda: start_courier(self.courier))
        self._saw(self.session.start())

    def die(self) -> None:
        """The session's process is killed, and the terminal is opened again."""
        self.close()
        with closing(open_outbox(self.home.folder)) as outbox:
            outbox.execute("UPDATE session SET birth = 'gone' WHERE session_id = ?", (self.session.store.session_id,))
        self._open()

    def close(self) -> None:
        """Nothing is said; the files are as they were."""
        self._reads.close()
        self._bell.close()
        self._outbox.close()

    def say(self, text: str) -> str:
        """One input; the message that it led to."""
        self._saw(self.session.take([Line(text, "cr", 0.0, 0.0, 0.0)], time.monotonic()))
        return self.told[-1]

    def wait(self, seconds: float) -> None:
        """The screen is looked after."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            time.sleep(0.01)
            self._saw(self.session.poll(notified=True))

    def _saw(self, frame: Frame | None) -> None:
        if frame is not None:
            self.frame = frame
            self.told.append(frame.verdict.text.id if frame.verdict else "")

    @property
    def done(self) -> int:
        """How much of the order the screen shows as picked."""
        view = self.frame.view
        assert isinstance(view, Step)
        return int(view.done)


@contextmanager
def picking(home: StoreFolder, courier: Sequence[str], dice: Random) -> Iterator[Picker]:
    """Somebody who picks."""
    person = Picker(home, courier, dice)
    try:
        yield person
    finally:
        person.close()


@pytest.mark.parametrize("seed", SEEDS)
def test_single_picker_never_sees_changes_by_others(aisle_home: Path, tmp_path: Path, seed: int) -> None:
    dice, plan = Random(f"alone/{seed}"), soak.Plan(1, 0.0, (0.0, 0.0), tries(2, 4))
    with (
        soak.at_work(aisle_home, tmp_path, plan, seed) as (home, courier, served),
        picking(home, courier, dice) as person,
        closing(Desk(home)) as desk,
    ):
        for order, lines in soak.orders(plan, 0, Random(f"{seed}/0")).items():
            person.say(order)
            picked: Counter[str] = Counter()
            for one in [one for one, count in lines for _ in range(count)]:
                if person.say(one.code).startswith(("pick.picked", "pick.all_picked")):
                    picked[one.number] += 1
                kill(person, home, served, dice)
                person.wait(dice.choice((0.0, 0.05, 0.3)))
                assert not {*ELSEWHERE} & {*person.told}, (order, person.told)
                assert person.done == sum(picked.values()), (order, picked)
            person.say(soak.PICK_UP)
            person.wait(0.3)
            person.say("b")
        soak.until(desk.drained, 120.0)
        person.wait(1.0)
        assert not {*ELSEWHERE} & {*person.told}


def kill(person: Picker, home: StoreFolder, served: Served, dice: Random) -> None:
    """Ends the service, the courier, the session, or none of them."""
    luck = dice.random()
    if luck < 0.15:
        served.end(signal.SIGKILL)
        person.wait(dice.choice((0.0, 0.5)))
        served.start()
    elif luck < 0.35:
        holder = LeaderLock(home.lock).read_leader()
        if holder is not None:
            os.kill(holder.pid, signal.SIGKILL)
    elif luck < 0.5:
        person.die()
