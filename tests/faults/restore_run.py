"""Restores of the service in a simulated shop: people work on one to three hosts, the database is put back from an
earlier copy of itself, customers' orders are loaded again, and the hosts come back in any order. In the end all that a
screen has said yes to is booked, once.

What happens is chosen by the seed: how old the copy is, whether the cursor goes on past where it was before anybody
looks, which courier was stopped or cut off meanwhile and for how long, and whether people go on working.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from aisle.courier.link_state import MAX_CHECK_S
from aisle.courier.pull.read_timetable import PullIntervals
from aisle.service.db.database_interface import Database, Row, Transaction
from tests.courier.writes import STORE
from tests.faults.host import Host
from tests.faults.own_program import Program
from tests.faults.random_faults import Weather
from tests.faults.random_worker import Worker
from tests.faults.store_run import Lines, unhurried
from tests.faults.world import World
from tests.service.database_restore import Copy, copy_of, put_back

LOOKS_S = (1.0, 10.0, 60.0)
"""How often couriers look what has changed; the seed chooses."""
AWAY_S = (0.0, 0.5, 5.0, 35.0, 240.0)
"""How long a host is away after a restore."""
COPIES = 4
"""So many of the last copies may be put back."""
TURNED_BACK = 0.7
"""So often younger copies are no copies any more; else one of them may be put back in the place of the older one."""
ENDED = 0.3
"""So often an order is handed over before the hosts come back."""
BUSY = 3
"""Rounds of work between two restores, at most."""


class Restored(NamedTuple):
    """What a run came to."""

    restores: int
    operations: int
    replayed: int
    """Operations that were sent again; one as often as it was."""
    refused: int


class RestoreProgram(Program):
    """One life of a shop whose service is put back again and again."""

    def __init__(self, shop: World, database: Path | Database, hosts: int) -> None:
        super().__init__(shop, Weather(shop.random, writes=0.2, reads=0.05, copies=0.1))
        self.restores = 0
        self._database = database
        self._hosts = hosts
        self._copies: list[Copy] = []
        self._loaded: dict[str, Lines] = {}
        """All that customers ever ordered."""

    async def people(self) -> None:
        """Somebody on each host, and something to do."""
        await self._order()
        while len(self.shop.hosts) < self._hosts:
            await self.shop.add_host()
        for n, host in enumerate(self.shop.hosts, 1):
            self.workers.append(Worker(host, f"dock-{n}", f"user{n}", self.shop.random, self.said, self.codes))

    async def create_orders(self, orders: Mapping[str, Lines]) -> None:
        """See Life."""
        self._loaded.update(orders)
        await super().create_orders(orders)

    def watch(self) -> None:
        """Nothing: between a restore and the next read of the store screens may show what was before it."""

    async def quiet(self) -> None:
        """See Life. Whoever was cut off comes back in it, and what he has to say again the others see in the next."""
        before: list[int] = []
        while before != (noticed := [len(host.restores()) for host in self.shop.hosts]):
            before = noticed
            for host in self.shop.hosts:
                host.line.still()
            await self.shop.time.pass_(MAX_CHECK_S)
            await super().quiet()

    def check(self) -> None:
        """See Life. What was handed over is what was picked for it."""
        super().check()
        assert not self.shop.storage.read_now(_handed_over_otherwise)

    async def go(self, restores: int) -> Restored:
        """So many restores; then it has to be quiet, and right."""
        self._copy()
        while self.restores < restores:
            for _ in range(self.shop.random.randint(0, BUSY)):
                await self.round()
                if self.shop.random.random() < 0.5:
                    self._copy()
            await self._restore()
            if self.shop.random.random() < 0.3:
                await self.quiet()
                self.check()
        await self.quiet()
        self.check()
        return self._count()

    def _copy(self) -> None:
        self._copies = [*self._copies, copy_of(self._database)][-COPIES:]

    async def _restore(self) -> None:
        dice, hosts = self.shop.random, list(self.shop.hosts)
        dice.shuffle(hosts)
        away = [host for host in hosts if dice.random() < 0.6]
        for host in away:
            await self._leave(host)
        for worker in self.workers:
            worker.orders = self._orders_of(worker)
            for _ in range(dice.randint(0, 3)):
                worker.turn()
        await self.shop.step(dice.choice((0.0, 0.01, 1.0)))
        chosen = dice.randrange(len(self._copies))
        put_back(self._database, self._copies[chosen])
        if dice.random() < TURNED_BACK:
            del self._copies[chosen + 1 :]
        self.restores += 1
        await self._load_again(dice.choice((0, 0, 3, 40)))
        if dice.random() < ENDED:
            await self._end(dice.choice(list(self._loaded)))
        for host in away:
            await self.shop.step(dice.choice(AWAY_S))
            await self._return(host)

    async def _load_again(self, more: int) -> None:
        """What integrators brought since the copy was made; and more, so that the cursor may be past where it was."""
        await self.create_orders(self._loaded)
        extra = {f"X{self.restores}-{n}": (("P3", 1),) for n in range(more)}
        if extra:
            await super().create_orders(extra)

    async def _end(self, number: str) -> None:
        """A customer comes for what is picked, whether the hosts have said all of it again or not."""
        async with self.shop.integrator() as client:
            await client.call(
                "update-customer-order", {"orders": {"order_number": number, "is_active": False}}, store_number=STORE
            )

    async def _leave(self, host: Host) -> None:
        if self.shop.random.random() < 0.5:
            await host.stop()
        else:
            host.line.cut_off = True

    async def _return(self, host: Host) -> None:
        host.line.cut_off = False
        await host.settle()

    def _count(self) -> Restored:
        operations = [op for host in self.shop.hosts for op in host.operations() if not op.superseded_by]
        states = Counter(op.state for op in operations)
        noted = [note for host in self.shop.hosts for note in host.restores()]
        return Restored(self.restores, len(operations), sum(note.resent for note in noted), states["rejected"])


async def _handed_over_otherwise(tx: Transaction) -> list[Row]:
    return await tx.all(
        "SELECT l.order_number, l.line_number, l.picked, l.delivered FROM order_line l JOIN customer_order o"
        " ON o.store_number = l.store_number AND o.order_number = l.order_number"
        " WHERE o.is_active = 0 AND l.picked <> l.delivered"
    )


async def restored_life(folder: Path, seed: int, restores: int, hosts: int, lent: Database | None = None) -> Restored:
    """One life of a shop with so many restores, over a file in the folder or a PostgreSQL. Raises AssertionError."""
    with unhurried():
        shop = World(folder, seed, lent)
        try:
            await shop.fill()
            shop.pace = PullIntervals(changes=shop.random.choice(LOOKS_S))
            await shop.add_host()
            program = RestoreProgram(shop, lent or folder / "service.db", hosts)
            await program.prepare()
            for host in shop.hosts:
                host.line.plan = program.weather
            return await program.go(restores)
        finally:
            await shop.close()
