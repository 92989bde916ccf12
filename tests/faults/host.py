"""A host of the simulated store: a home folder, a courier, and people at terminals, all of it real but for the line."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING, Any

from aisle.cache.reader import CacheReader
from aisle.client import Client, Response, RetryPolicy
from aisle.courier import courier as couriers
from aisle.courier.courier import Courier
from aisle.courier.link_state import Notice
from aisle.host.database import transaction
from aisle.host.notify_sockets import SessionSocket
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import Policy, Write
from aisle.jobs.view import Frame
from aisle.outbox.commit_journal import Journal
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import CONFIRMED, QUEUED, SENDING, Author, Intent, Operation
from aisle.outbox.replay_after_restore import Restore, list_restores
from aisle.scan.inputs_and_line_grouping import Line as Said
from aisle.session.job_context_and_query_answers import iso_time
from aisle.session.profile import Profile
from aisle.session.session import Session
from aisle.session.store_connection import StoreAccess
from tests.courier.host import URL
from tests.courier.writes import STORE

if TYPE_CHECKING:
    from tests.faults.shop import Shop

_LAST_TURNS = 20
"""Turns of the loop in which what belonged to a dead process comes to its end."""
_TICK_S = 1.0
"""Between two things that somebody says."""


class Person:
    """Somebody at a terminal. Everything said is one drained queue, durable when `say` returns."""

    def __init__(self, host: Host, terminal: str, user: str, policy: Policy) -> None:
        self._host = host
        self._terms = Profile(store=STORE, terminal=terminal, user=user, policy=policy)
        self.terminal = terminal
        self.user = user
        self.session: Session
        self.frame: Frame
        """What the screen shows."""
        self._open()

    def _open(self) -> None:
        outbox, clock, random = open_outbox(self._host.home.folder), self._host.clock, self._host.random.randbytes
        self._db = outbox
        rooms = StoreAccess(
            CacheReader(self._host.home, outbox),
            Journal(outbox, clock=clock, random=random),
            OperationQueue(outbox, clock=clock, random=random),
            SessionSocket(self._host.home),
        )
        self._rooms = rooms
        self.session = Session(rooms, self._terms, clock=clock, make_id=self._host.name)
        self.frame = self.session.start()

    @property
    def told(self) -> tuple[str, str]:
        """Kind and message id of the verdict on the screen."""
        verdict = self.frame.verdict
        return (verdict.kind, verdict.text.id) if verdict else ("", "")

    @property
    def at(self) -> str:
        """The step on the screen."""
        return self.frame.view.name

    def say(self, *texts: str) -> Frame:
        """Scans and entries, a second apart, each of them durable before the next."""
        for text in texts:
            self._host.world.time.now += _TICK_S
            self.frame = self.session.take([Said(text, "cr", 0.0, 0.0, 0.0)], 0.0)
        self._host.wake()
        return self.frame

    def look(self) -> Frame:
        """What news make of the screen."""
        self.frame = self.session.poll() or self.frame
        return self.frame

    def home(self) -> Frame:
        """Back to home, whatever is open; what was not sent of it is dropped."""
        for _ in range(12):
            if self.at == "home":
                return self.frame
            if self.at == "count.leave" or self.at == "move.leave":  # the count is thrown away
                self.say("x")
            elif self.told[1] == "pick.leave_with_goods":  # with what found no room still in hand
                self.answer("pick.choice_leave_with_goods")
            else:
                self.say("b")
        raise AssertionError(self.frame.view)

    def answer(self, choice: str) -> Frame:
        """What is offered under this message id, by its letter or its number."""
        view = self.frame.view
        at = [each.id for each in view.choices].index(choice)
        keys = getattr(view, "choice_letters", "")
        return self.say(keys[at] if keys else str(at + 1))

    def count(self, quantity: int) -> Frame:
        """So many, and yes where nobody would believe it."""
        self.say(str(quantity))
        return self.answer("count.choice_quantity") if self.told[1] == "count.confirm_quantity" else self.frame

    def open(self, job: str) -> Frame:
        """A job of home's menu by its message id, such as `home.move`."""
        choices = [choice.id for choice in self.home().view.choices]
        return self.say(str(choices.index(job) + 1))

    def die(self) -> None:
        """`kill -9`: the process is gone, nothing is said, all that was shown as done is in the files."""
        self._rooms.reader.close()
        self._rooms.socket.close()  # the kernel closes a dead process's socket
        self._db.execute("UPDATE session SET birth = 'gone' WHERE session_id = ?", (self.session.store.session_id,))
        self._db.close()
        self._host.people.remove(self)

    def leave(self) -> None:
        """Signs nothing off; closes the terminal."""
        self.session.close()
        self._rooms.reader.close()
        self._db.close()
        self._host.people.remove(self)


class Host:
    """One host: a home folder, a courier, terminals, and a line to the service of its own."""

    def __init__(self, world: Shop, name: str) -> None:
        self.world = world
        self.clock = world.time.clock
        self.random = Random(f"{world.seed}/{name}")
        self.home = StoreFolder(world.folder / name, URL, STORE)
        self.line = world.line(self)
        self.line.courier_ends = self._courier_ends
        self.people: list[Person] = []
        self.deaths = 0
        """Couriers that ended in the middle of something."""
        self.courier: Courier | None = None
        self._work: asyncio.Task[None] | None = None
        self._succession: asyncio.Task[None] | None = None
        self._db = open_outbox(self.home.folder)
        self.outbox = OperationQueue(self._db, clock=self.clock)
        self._reads: CacheReader | None = None
        self.notices: list[Notice] = []
        """What couriers said to an operator."""
        self.survivors: list[tuple[Courier, asyncio.Task[None]]] = []
        """Couriers that should have ended, and did not."""

    def name(self) -> str:
        """An id for a session or job."""
        return self.random.randbytes(13).hex()

    def person(self, terminal: str, user: str, policy: Policy | None = None) -> Person:
        """Somebody starts to work at a terminal of this host."""
        made = Person(self, terminal, user, policy or Policy())
        self.people.append(made)
        return made

    def query(self, name: str, **args: Any) -> list[dict[str, Any]]:
        """A read as sessions do it: what the cache has, with the outbox over it."""
        if self._reads is None:
            self._reads = CacheReader(self.home, self._db)
        return [dict(row) for row in self._reads.query(name, args)[0]]

    def write(self, *writes: Write, occurred: str = "") -> tuple[str, ...]:
        """Operations without a session, in one transaction of their own; their op_ids."""
        at = occurred or iso_time(self.clock())
        with transaction(self._db):
            ids = self.outbox.enqueue([Intent(write, occurred_at=at) for write in writes], Author(STORE, "anna"))
        self.wake()
        return ids

    def operations(self) -> list[Operation]:
        """All that was ever enqueued here, oldest first."""
        return self.outbox.recent(1_000_000)[::-1]

    def restores(self) -> list[Restore]:
        """The restores of the service that were noticed here."""
        return list_restores(self._db)

    # The courier

    async def start(self) -> None:
        """A courier begins."""
        world = couriers.Runtime(self.clock, self.world.time.sleep, self.random.random)
        courier = Courier(
            self.home, self._connect, runtime=world, intervals=self.world.pace, on_notice=self.notices.append
        )
        await courier.__aenter__()
        self.courier = courier
        self._work = asyncio.create_task(courier.run(), name=f"courier of {self.home.root.name}")

    async def stop(self) -> None:
        """Its process ends at once, whatever it was doing; its files are as they were then."""
        if self._succession is not None:
            await asyncio.gather(self._succession, return_exceptions=True)
        await self._end()

    async def _end(self) -> None:
        courier, work, self.courier, self._work = self.courier, self._work, None, None
        if courier is None or work is None:
            return
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        self.line.hang_up()
        for _ in range(_LAST_TURNS):  # not `rest`: who waits for that at the same time would wait for us
            await asyncio.sleep(0)
        await courier._exit_stack.aclose()  # what the kernel does for a dead process, and no more than that

    async def settle(self) -> None:
        """A courier is at work, whatever became of the one before it. Raises what ended one that should not have."""
        if self._work is not None and self._work.done():
            self._work.result()
        if self._succession is not None:
            await self._succession
        if self.courier is None:
            await self.start()

    def wake(self) -> None:
        """Rings at the courier, if there is one."""
        if self.courier is not None:
            self.courier.wake()

    def _courier_ends(self) -> None:
        if self._succession is None or self._succession.done():
            self.deaths += 1
            self._succession = asyncio.create_task(self._succeed())

    async def _succeed(self) -> None:
        """The dead one's place is taken by another, which finds its files."""
        await self._end()
        await self.start()

    def _connect(self, observe: Callable[[Response], None]) -> Client:
        retry = RetryPolicy(tries=1)
        return Client(
            URL, self.world.secret, transport=self.line, on_response=observe, retry=retry, sleep=self.world.time.sleep
        )

    def drained(self) -> bool:
        """Whether all is delivered that a machine can deliver, and read back."""
        return not any(op.state in (QUEUED, SENDING, CONFIRMED) for op in self.outbox.live_operations())

    def has_read(self) -> bool:
        """Whether nothing is left to be asked for again that has changed and could not be read, no list either."""
        if self.courier is None:
            return False
        progress = self.courier.full_sync.progress
        return progress.is_idle and not (progress.missing or self.courier.continuous_sync.read_queue.next_retry_at())

    def ask_again(self) -> None:
        """As somebody does who sees that a list is missing; by itself it would be asked for much later."""
        if self.courier is not None and self.courier.full_sync.progress.missing:
            self.courier.continuous_sync.request_missing()

    async def close(self) -> None:
        """Everybody goes home."""
        for person in list(self.people):
            person.leave()
        for courier, work in self.survivors:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
            await courier._exit_stack.aclose()
        await self.stop()
        await self.line.close()
        if self._reads is not None:
            self._reads.close()
        self._db.close()
