"""The courier: one a store and host. Pulls the store into cache.db, delivers outbox.db, tells the sessions.

A plain async class: a process of its own runs it (`aisle.courier.run`), tests and `--in-process` run it inside.
"""

from __future__ import annotations

import asyncio
import random as chance
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, closing
from typing import Self

from aisle.client import Answer, Client
from aisle.courier.alarm import Sleep
from aisle.courier.backoff import Roll
from aisle.courier.care import Care
from aisle.courier.features import Features, parse_features
from aisle.courier.grounds import Ground
from aisle.courier.link import SYNCING, Link, Status
from aisle.courier.link_log import LinkLog
from aisle.courier.notices import Notice, Notices
from aisle.courier.pull.freshness import Freshness
from aisle.courier.pull.intake import Intake
from aisle.courier.pull.progress import Progress
from aisle.courier.pull.refresh import Refresher
from aisle.courier.pull.schedule import Pace
from aisle.courier.pull.single import Pull
from aisle.courier.pull.sync import FullSync
from aisle.courier.pull.thrift import give_back
from aisle.courier.restored import Restores
from aisle.courier.rests import Rests
from aisle.courier.ringing import Ringer
from aisle.courier.send.asks import Asks
from aisle.courier.send.checking import Checker, Heard
from aisle.courier.send.deliver import Delivery, Ears
from aisle.courier.send.looking import Looker
from aisle.courier.send.passes import Passes
from aisle.courier.send.readying import Readying
from aisle.courier.send.vanished import Vanished
from aisle.courier.steps import reconcile
from aisle.courier.topics import touched
from aisle.courier.upkeep import Upkeep, kept_up
from aisle.errors import StorageError
from aisle.local.cache.writer import Cache, Sync, open_cache
from aisle.local.db import is_gone
from aisle.local.host.home import Home
from aisle.local.host.rescue import put_back
from aisle.local.host.signals import ASK, CONFIDE, LINK, OUTBOX, REFUSAL, SYNC, WAITING, CourierSocket, passes_of
from aisle.local.outbox.operation import Operation
from aisle.local.outbox.outbox import Outbox, open_outbox
from aisle.local.outbox.probes import Probes
from aisle.local.outbox.state import DONE
from aisle.local.outbox.wishes import take_wishes
from aisle.local.told import Told
from aisle.tuples import NamedTuple

Connect = Callable[[Callable[[Answer], None]], AbstractAsyncContextManager[Client]]
"""Makes the client; it shows every answer to the function it is given."""


class World(NamedTuple):
    """What is not the courier's own: time, sleep and chance."""

    clock: Callable[[], float] = time.time
    sleep: Sleep = asyncio.sleep
    random: Roll = chance.random


class Courier:
    """Opened by `async with`; then `run`, or `catch_up` and `drain` for a single turn."""

    def __init__(
        self,
        home: Home,
        connect: Connect,
        *,
        world: World = World(),  # noqa: B008 - a tuple
        pace: Pace = Pace(),  # noqa: B008 - a tuple
        care: Care = Care(),  # noqa: B008 - a tuple
        socket: CourierSocket | None = None,
        notify: Callable[[Notice], None] | None = None,
    ) -> None:
        """`socket` is the way to the sessions, for whoever won the election; `notify` is shown each notice."""
        self.home = home
        self.notices = Notices(world.clock, notify)
        self._link_log = LinkLog(self.notices, world.clock)
        self._connect = connect
        self._world = world
        self._pace = pace
        self._care = care
        self._socket = socket
        self._ringer = Ringer(socket, world.clock, world.sleep)
        self._told_of: tuple[str, ...] = ()
        """The link, as the sessions were rung for it last."""
        self._doubtful = 0
        """How many operations need a person, as they were rung for it last."""
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        """Opens databases and client. Raises StorageError, SettingsError."""
        async with AsyncExitStack() as stack:
            await self._open(stack)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *exc: object) -> None:
        try:
            self._save_outbox()
            self.cache.set_link(Sync(state="none"))
        finally:
            await self._stack.aclose()

    def _save_outbox(self) -> None:
        """Whoever opens a deleted outbox next would begin with an empty one."""
        if is_gone(self._outbox_db) and self.home.folder.exists():
            try:
                self.notices.add("", put_back(self._outbox_db).told)
            except StorageError as error:
                self.notices.add(str(error))

    async def _open(self, stack: AsyncExitStack) -> None:
        world = self._world
        self._cache_db = stack.enter_context(closing(open_cache(self.home.folder, writer=True)))
        self._outbox_db = stack.enter_context(closing(open_outbox(self.home.folder)))
        self.grounds = Ground(self._cache_db, self.home.cache), Ground(self._outbox_db, self.home.outbox)
        self.cache = Cache(self._cache_db, self.home.store)
        step = reconcile(self.cache, self._cache_db, self._outbox_db, world.clock)
        if step:
            self.notices.add(f"The clock of this host was set by {step:+.0f} s.")
        self.outbox = Outbox(self._outbox_db, clock=world.clock)
        self.rests = Rests()
        self.link = Link(self._save, self._up, clock=world.clock, roll=world.random)
        self.upkeep = Upkeep(
            self.home,
            self._cache_db,
            self._outbox_db,
            self.link,
            self._ring,
            world.clock,
            world.sleep,
            self._care.kept,
        )
        client = await stack.enter_async_context(self._connect(self.link.heard))
        self._wire_reading(client)
        self._wire_looking(client)
        self._wire_sending(client)
        self.delivery.recover()
        for op in self.outbox.pending_effects(DONE):  # confirmed, and not read back by the courier before this one
            self.refresher.confirmed(op)

    def _wire_reading(self, client: Client) -> None:
        """What brings the store here and keeps it fresh."""
        world = self._world
        into = Intake(
            self.cache,
            fresh=Freshness(),
            notices=self.notices,
            tell=self.tell,
            under_way=self.outbox.under_way,
            clock=world.clock,
        )
        self.pull = Pull(client, into, self.home.store, notices=self.notices, tell=self.tell, clock=world.clock)
        self.sync = FullSync(self.pull, self.link, self.notices, sleep=world.sleep, rests=self.rests)
        self.sync.all_read = lambda: give_back(self._cache_db, self._outbox_db)
        self.restores = Restores(
            self.pull,
            self.outbox,
            self.link,
            self.notices,
            forget=lambda op_id: self.refresher.forget(self.outbox.get(op_id)),
            clock=world.clock,
        )
        self.refresher = Refresher(
            self.pull,
            self.sync,
            self.link,
            self.notices,
            retire=lambda op_ids: self.outbox.read_back(*op_ids),
            wishes=lambda: take_wishes(self._outbox_db),
            restored=self._restored,
            lost=self._lost,
            known=self.restores.known,
            read_back=lambda number, rows, spoken_for: self.checker.read_back(number, rows, spoken_for),
            sleep=world.sleep,
            pace=self._pace,
            rests=self.rests,
        )

    def _wire_looking(self, client: Client) -> None:
        """What looks for what may have arrived."""
        world = self._world
        self.probes = Probes(self._outbox_db, clock=world.clock)
        looker = Looker(client, self.home.store, self.probes)
        self.checker = Checker(
            looker,
            self.outbox,
            self.probes,
            self.link,
            Heard(self._found, self._asked, self._denied, self._ring, self.refresher.want, self.notices.add),
            care=self._care,
            floor=lambda: int(self.cache.cursor("logs") or 0),
            rests=self.rests,
            clock=world.clock,
            sleep=world.sleep,
        )

        self.vanished = Vanished(
            looker,
            self.outbox,
            self.probes,
            self.link,
            notice=self.notices.add,
            again=self._read_anew,
            clock=world.clock,
            sleep=world.sleep,
        )

    def _wire_sending(self, client: Client) -> None:
        """What delivers the outbox, and asks what has to be answered."""
        world = self._world
        ready = Readying(self.pull, self.checker, self.probes, self.link, self.notices, self._cache_db)
        ears = Ears(
            ready.before,
            ready.fit,
            self.checker.is_unsaid,
            self._confirmed,
            self._refused,
            self._doubted,
            self.refresher.knock,
            self.refresher.is_of_the_link,
            self.refresher.look_soon,
        )
        self.passes = Passes(self._outbox_db, self._passed, clock=world.clock)
        self.delivery = Delivery(
            self.outbox,
            client,
            self.link,
            ears,
            self.passes,
            clock=world.clock,
            sleep=world.sleep,
            roll=world.random,
            care=self._care,
            settle_s=lambda: self.checker.settle_s,
        )
        self.asks = Asks(
            self._outbox_db,
            client,
            self.link,
            assigned=self.pull.assignments,
            passes=self.passes,
            tell=lambda: self.tell([ASK]),
            clock=world.clock,
            sleep=world.sleep,
        )

    def _seen_features(self) -> Features:
        """What the service announced when a courier last heard of it."""
        return parse_features(self.cache.cursor("features") or "")

    # For whoever runs it

    async def run(self) -> None:
        """Works until it is cancelled."""
        loops: tuple[Callable[[], Awaitable[None]], ...] = (
            self.delivery.run,
            self.refresher.run,
            self.sync.run,
            self.checker.run,
            self.asks.run,
            self.vanished.run,
            self._ringer.run,
            self.upkeep.tidy_up,
            self.upkeep.beat,
        )
        async with asyncio.TaskGroup() as group:
            for loop in loops:
                group.create_task(kept_up(loop, self.notices, self._world.sleep))

    async def catch_up(self, *, full: bool = False, progress: Callable[[Progress], None] | None = None) -> None:
        """Brings the cache up to date once, and delivers what can be delivered.

        `full` reads everything anew; `progress` is shown how far it has come. Raises ClientError or SettingsError when
        the service cannot be reached; what was read until then is kept.
        """
        self.sync.watch = progress
        await self.pull.knock()
        await self.refresher.round()
        if full:
            self.sync.ask_all()
        else:
            self.sync.ask_lists()
        await self.delivery.drain()
        await self.checker.round()
        await self.sync.finish()
        await self.refresher.round()

    async def drain(self) -> None:
        """Delivers what may go now, and reads it back."""
        if not self.link.is_up:
            await self.refresher.knock()
        await self.delivery.drain()
        await self.checker.round()
        await self.refresher.round()

    def wake(self) -> None:
        """A session has written something, or wishes for something."""
        if self._socket is not None:
            self.heard(self._socket.drain())
        self._ring()

    def heard(self, words: Iterable[str]) -> None:
        """What sessions said when they rang; some of it no file holds."""
        for word in words:
            name, _, secret = word.removeprefix(CONFIDE).partition(" ")
            if not (word.startswith(CONFIDE) and secret):
                continue
            if user := passes_of(name):
                self.passes.take(user, secret)
            else:
                self.asks.confide(name, secret)

    def _ring(self) -> None:
        self.delivery.alarm.ring()
        self.refresher.alarm.ring()
        self.checker.alarm.ring()
        self.asks.alarm.ring()

    async def settle(self, within_s: float) -> None:
        """Sends nothing new, and gives what is under way so many seconds to come back."""
        self.delivery.stopping = self.asks.stopping = True
        landing = asyncio.gather(self.delivery.landed(), self.asks.landed())
        time_is_up = asyncio.ensure_future(self._world.sleep(within_s))
        await asyncio.wait((landing, time_is_up), return_when=asyncio.FIRST_COMPLETED)
        landing.cancel()
        time_is_up.cancel()

    @property
    def idle(self) -> bool:
        """Whether nothing is left that could be sent or has to be read back, and nobody waits for an answer."""
        waiting = self.outbox.next_at() is not None or self.outbox.next_look() is not None
        sendable = self.outbox.sendable(1, self.passes.principals)
        return not (waiting or sendable or self.delivery.in_flight or self.asks.is_busy)

    def tell(self, topics: Iterable[str]) -> None:
        """Rings at the sessions that these concern; during a full sync all show how far it has come."""
        self._ringer.tell([*topics, SYNC] if self.link.state == SYNCING else topics)

    # What the parts tell each other

    def _save(self, status: Status) -> None:
        self._link_log.see(status, self.link.cause)
        features = self.link.features
        try:
            with self.cache.batch():
                self.cache.set_link(Sync(state=status.state, last_ok=status.last_ok or None, server=status.why))
                self.cache.set_cursor("beat", status.beat)
                if features is not None and features != self._seen_features():
                    self.cache.set_cursor("features", features.text)
                    self.cache.set_link(Sync(features=features.text))
        except StorageError as error:
            self.notices.add(str(error))  # whoever made the call has nothing to do with it
        told = (status.state, status.why, features.text if features else "")
        if told != self._told_of:  # else it is a sign of life
            self._told_of = told
            self.tell([LINK])

    def _passed(self) -> None:
        """Somebody's token has come, and what waited for it goes; or it has gone, and he is asked."""
        self._ring()
        self.tell([OUTBOX, ASK])

    def _up(self) -> None:
        self._ring()
        self.sync.alarm.ring()

    async def _restored(self) -> None:
        """The service was put back from an earlier copy: what it has lost is told to it again, and all is read anew."""
        await self.restores.say_again()
        self._read_anew()

    async def _lost(self) -> bool:
        """Whether the service has lost something, looked for where the cache cannot tell it."""
        is_lost = await self.restores.ask_once()
        if is_lost:
            self._read_anew()
        return is_lost

    def _read_anew(self) -> None:
        self.cache.forget_logs()
        for log in ("logs", "logs_losses"):
            self.cache.set_cursor(log, None)
        self.sync.ask_all()
        self._ring()
        self._moved_on(LINK)

    def _denied(self, op: Operation, why: Told) -> None:
        self.refresher.forget(op)
        self.notices.add(f"{op.operation} {op.op_id} ({' '.join(op.lanes)}):", why)
        self._moved_on(REFUSAL)
        self.checker.alarm.ring()

    def _confirmed(self, op: Operation) -> None:
        self._found(op)
        self.checker.succeeded(op)

    def _found(self, op: Operation) -> None:
        self.refresher.confirmed(op)
        self._moved_on()

    def _asked(self, op: Operation, why: Told) -> None:
        self.notices.add(f"A person has to settle {op.operation} {op.op_id} ({' '.join(op.lanes)}):", why)
        self._moved_on(REFUSAL)

    def _refused(self, op: Operation, why: Told) -> None:
        self.notices.add(f"The service refused {op.operation} {op.op_id} ({' '.join(op.lanes)}):", why)
        self.refresher.want(touched(op))
        self._moved_on(REFUSAL)

    def _doubted(self, op: Operation, why: Told) -> None:
        self.notices.add(f"Nobody knows whether {op.operation} {op.op_id} ({' '.join(op.lanes)}) arrived:", why)
        self.refresher.want(touched(op))
        self._moved_on(REFUSAL)
        self.checker.alarm.ring()

    def _moved_on(self, *topics: str) -> None:
        """Tells the sessions that an operation has another state, that none waits any more, that there is one more for
        a person, or less."""
        waiting, doubtful = self.outbox.counts()
        found = {OUTBOX, *topics}
        if not waiting:
            found.add(WAITING)
        if doubtful != self._doubtful:
            self._doubtful = doubtful
            found.add(REFUSAL)
        self.tell(found)
