"""People at terminals of a full host, each session a process of its own.

What each session does is what its screen does: it takes inputs, and looks when its doorbell rings and every few
seconds. Every input is told to whoever watches once it is durable, with what the person saw.
"""

from __future__ import annotations

import gc
import json
import os
import select
import time
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from random import Random
from typing import Any, NamedTuple

import aisle.cache
import aisle.jobs
from aisle.cache.reader import CacheReader
from aisle.errors import StorageError
from aisle.host.notify_sockets import SessionSocket
from aisle.host.processes import start_courier
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import Policy
from aisle.jobs.view import GOOD, Frame
from aisle.outbox.commit_journal import Committed, Journal, JournalBatch
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.scan.inputs_and_line_grouping import Line
from aisle.session.profile import Profile
from aisle.session.session import Session
from aisle.session.store_connection import StoreAccess
from tests.courier.writes import STORE
from tests.faults.soak import EACH, PICK_UP, Plan, goods, orders

Tell = Callable[[str], None]

LOOK_S = 5.0
"""How often a screen looks by itself."""
NOT_SAVED = "session.not_saved"
"""What a person is told when an input could not be made durable."""


class TimedJournal(Journal):
    """A journal that remembers how long its commits took, and those that failed."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.took_ms: list[float] = []
        self.errors: list[str] = []

    def commit(self, batch: JournalBatch) -> Committed:
        began = time.perf_counter()
        try:
            return super().commit(batch)
        except StorageError as error:
            self.errors.append(str(error))
            raise
        finally:
            self.took_ms.append((time.perf_counter() - began) * 1000)


class Said(NamedTuple):
    """One input, as its session told of it."""

    raw: str
    verdict: str
    order: str
    """The order that the input was a pick for, where it was taken as one."""
    product: str
    took_ms: float
    """From the input to the frame."""


class Ended(NamedTuple):
    """What a session tells at its end."""

    session: str
    commits_ms: list[float]
    errors: list[str]
    looks: int
    """How often the screen was looked after between two inputs."""
    cpu_s: float
    """Processor time of the process, from the first input on."""


class Somebody:
    """A person at a terminal, at work until the time is over."""

    def __init__(
        self, home: StoreFolder, courier: Sequence[str], plan: Plan, person: int, seed: int, tell: Tell
    ) -> None:
        self.random = Random(f"{seed}/{person}")
        self.orders = orders(plan, person, self.random)
        self.goods = goods(plan)
        self.plan = plan
        self.tell = tell
        outbox = open_outbox(home.folder)
        self.journal = TimedJournal(outbox)
        self.bell = SessionSocket(home)
        self.name = f"p{person:03d}"
        rooms = StoreAccess(CacheReader(home, outbox), self.journal, OperationQueue(outbox), self.bell)
        terms = Profile(STORE, f"t{person:03d}", self.name, Policy())
        self.session = Session(rooms, terms, start_courier=lambda: start_courier(courier))
        self.looks = 0
        self.due = time.monotonic() + LOOK_S
        """When the screen is looked after, rung or not."""
        self.frame: Frame = self.session.start()

    @property
    def at(self) -> str:
        """The step on the screen."""
        return self.frame.view.name

    def work(self) -> None:
        """Picks, counts and moves, and goes home."""
        until, began_s = time.monotonic() + self.plan.seconds, time.process_time()
        self.wait(self.random.uniform(0, self.plan.pause[1]))
        while time.monotonic() < until:
            job = self.random.choice((self.pick, self.pick, self.count, self.move))
            job(until)
        self.go_home()
        self.session.close()
        used_s = time.process_time() - began_s
        ended = Ended(self.session.store.session_id, self.journal.took_ms, self.journal.errors, self.looks, used_s)
        self.tell(json.dumps({"ended": ended._asdict()}))

    def pick(self, until: float) -> None:
        """One order, a scan for each piece, and where it is laid down; left in the middle when the time is over."""
        if not self.orders:
            self.move(until)
            return
        order = next(iter(self.orders))
        self.go_home()
        self.say(order)
        lines = self.orders.pop(order)
        for code in [(one, order) for one, count in lines for _ in range(count)]:
            if time.monotonic() >= until:
                return
            self.say(code[0].code, code[1], code[0].number)
        self.say(PICK_UP)

    def count(self, until: float) -> None:
        """What lies at a place of a product, give or take a few."""
        one = self.random.choice(self.goods)
        place = self.random.choice(one.places)
        self.open("home.count")
        self.say(place)
        self.say(one.code)
        self.say(str(EACH + self.random.randint(-40, 40)))
        self.say("d")
        for _ in range(3):
            if self.at == "count.recount":
                self.say(str(EACH))
            elif self.at == "count.summary":
                self.say("y")

    def move(self, until: float) -> None:
        """Some pieces from one place to the other."""
        one = self.random.choice(self.goods)
        here, there = self.random.sample(one.places, 2)
        self.open("home.move")
        self.say(here)
        self.say(one.code)
        self.say(there)

    def open(self, job: str) -> None:
        """A job of home's menu."""
        self.go_home()
        self.say(str([choice.id for choice in self.frame.view.choices].index(job) + 1))

    def go_home(self) -> None:
        """Back, page by page; what was counted and not sent is thrown away."""
        for _ in range(12):
            if self.at == "home":
                return
            self.say("x" if self.at == "count.leave" else "b")
        raise AssertionError(self.frame.view)

    def say(self, text: str, order: str = "", product: str = "") -> None:
        """One scan, and then a pause in which the screen is looked after as the app does it."""
        began = time.perf_counter()
        self.frame = self.session.take([Line(text, "cr", 0.0, 0.0, 0.0)], time.monotonic())
        took = (time.perf_counter() - began) * 1000
        verdict = self.frame.verdict
        if verdict is not None and verdict.text.id.startswith(NOT_SAVED):  # the person was told, and does it again
            self.wait(self.plan.pause[0])
            self.say(text, order, product)
            return
        taken = verdict is not None and verdict.kind == GOOD
        self.tell(json.dumps(Said(text, verdict.text.id if verdict else "", order if taken else "", product, took)))
        self.wait(self.random.uniform(*self.plan.pause))

    def wait(self, seconds: float) -> None:
        """Poll at each notification and every few seconds, as the app does."""
        until = time.monotonic() + seconds
        while (now := time.monotonic()) < until:
            rung, _, _ = select.select([self.bell.fileno()], [], [], max(0.0, min(until, self.due) - now))
            if rung:
                self.look(rung=True)
            elif time.monotonic() >= self.due:
                self.due = time.monotonic() + LOOK_S
                self.look(rung=False)

    def look(self, *, rung: bool) -> None:
        """What came of it stands on the screen."""
        self.looks += 1
        self.frame = self.session.poll(notified=rung) or self.frame


def session(home: StoreFolder, courier: Sequence[str], plan: Plan, person: int, seed: int) -> Callable[[Tell], None]:
    """The work of a process: one person, from sign-in to the end.

    Nobody is niced: whoever holds the lock of outbox.db would stand there with it until all others have had their turn,
    who wait for it.
    """
    _import_all()

    def work(tell: Tell) -> None:
        os.setsid()  # as at a terminal of its own: the scheduler shares the processor between those
        gc.freeze()
        Somebody(home, courier, plan, person, seed, tell).work()

    return work


@cache
def _import_all() -> None:
    """What a session imports when it is asked for is there: two hundred of them would read the same files, and each
    input would cost what an import does."""
    for room in (aisle.jobs, aisle.cache):
        for module in walk_packages(room.__path__, f"{room.__name__}."):
            import_module(module.name)
