"""One life of a simulated shop, at whatever service: people on two hosts do all that a floor does, in weather that a
seed chooses, until it has met so many faults; then the weather ends, and what was said, kept and booked must be one.
"""

from __future__ import annotations

import gc
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from aisle.host.database import fetch
from aisle.outbox.operation_record import NEEDS_PERSON, REFUSED
from tests.faults.host import Host
from tests.faults.link import CRASH
from tests.faults.random_faults import Weather
from tests.faults.random_worker import Order, Said, Worker
from tests.faults.shop import Shop
from tests.faults.tally import Tally

OPEN = 6
"""Orders that are picked at a time."""
ROUNDS = 12
"""Each is offered for so many rounds; then customers order anew."""

Lines = tuple[tuple[str, int], ...]
"""Of an order: product and quantity."""


class Life(ABC):
    """One life of a shop; what differs from service to service is its subclasses'."""

    apart = False
    """Orders are parted among the hosts: no two of them write to one."""

    def __init__(self, shop: Shop, weather: Weather, codes: Mapping[str, str]) -> None:
        self.shop = shop
        self.weather = weather
        self.said = Said()
        self.codes = codes
        self.workers: list[Worker] = []
        self._orders: dict[Order, int] = {}
        self._ordered = 0
        self._began = shop.time.now

    # What a service does in its own way

    @property
    @abstractmethod
    def crashes(self) -> int:
        """How often the service's process ended at a statement."""

    @abstractmethod
    async def create_orders(self, orders: Mapping[str, Lines]) -> None:
        """Customers order."""

    @abstractmethod
    async def quiet(self) -> None:
        """The faults end; time passes until nothing is on its way any more and every screen shows it."""

    @abstractmethod
    def check(self) -> None:
        """Everything that a screen has said yes to is booked, once. Raises AssertionError."""

    # What is the same everywhere

    async def people(self) -> None:
        """Another host, three people, and something to do."""
        shop = self.shop
        await self._order()
        other = await shop.add_host()
        for host, terminal, user in ((shop.host, "dock-1", "anna"), (shop.host, "dock-2", "ben"), (other, "d-3", "cy")):
            self.workers.append(Worker(host, terminal, user, shop.random, self.said, self.codes))

    async def _order(self) -> None:
        """Customers order, as long as there is less to pick than there should be."""
        dice = self.shop.random
        wanted: dict[str, Lines] = {}
        while len(self._orders) + len(wanted) < OPEN:
            self._ordered += 1
            products = dice.sample(tuple(self.codes), dice.randint(2, 4))
            wanted[f"W-{self._ordered}"] = tuple((product, dice.randint(4, 9)) for product in products)
        if wanted:
            await self.create_orders(wanted)
            for number, lines in wanted.items():
                self._orders[Order(number, tuple(product for product, _ in lines))] = ROUNDS

    async def live(self, faults: int) -> Tally:
        """Works until the weather has brought so many faults, lets it end, and checks everything."""
        for host in self.shop.hosts:
            host.line.plan = self.weather
        while self.faults.total() < faults:
            await self.round()
        await self.quiet()
        self.check()
        return self.tally()

    async def round(self) -> None:
        """Some minutes: everybody does something, and time passes; now and then something worse happens."""
        dice = self.shop.random
        for host in self.shop.hosts:
            host.line.cut_off = dice.random() < 0.05
        for worker in self.workers:
            worker.orders = self._orders_of(worker)
            for _ in range(dice.randint(0, 5)):
                worker.turn()
            if dice.random() < 0.02:
                worker.die()
        await self.shop.step(dice.expovariate(1 / 15))
        self.watch()
        self._orders = {order: left - 1 for order, left in self._orders.items() if left > 1}
        await self._order()

    def _orders_of(self, worker: Worker) -> tuple[Order, ...]:
        hosts = self.shop.hosts
        mine = hosts.index(worker.host)
        return tuple(
            order for order in self._orders if not self.apart or int(order.number.split("-")[1]) % len(hosts) == mine
        )

    @property
    def faults(self) -> Counter[str]:
        """What has happened so far, by kind; a crash at a statement that was not reached is none."""
        kinds: Counter[str] = Counter()
        for host in self.shop.hosts:
            kinds.update(host.line.faults)
        kinds[CRASH] = self.crashes
        return +kinds

    def tally(self) -> Tally:
        """What has happened so far."""
        shop = self.shop
        operations = [op for host in shop.hosts for op in host.operations() if not op.superseded_by]
        states = Counter(op.state for op in operations)
        return Tally(
            shop.seed,
            self.faults,
            self.weather.writes + self.weather.copies,
            sum(host.line.requests for host in shop.hosts),
            len(operations),
            states[REFUSED],
            states[NEEDS_PERSON],
            sum(host.deaths for host in shop.hosts),
            self.said.scans,
            (shop.time.now - self._began) / 3600,
        )

    # What people said, against what is shown and booked

    def watch(self) -> None:
        """Who alone works on an order sees his own picks there, whatever has become of them. Raises AssertionError."""
        for order in self._orders:
            host = next(iter(self.said.at.get(order.number, ())), None)
            if host is None or len(self.said.at[order.number]) > 1 or _is_refused(host, order.number):
                continue
            shown: Counter[str] = Counter()
            for row in host.query("order", order_number=order.number):
                for line in row["lines"]:
                    shown[line["product_number"]] += int(line.get("picked_quantity") or 0)
            said = {product: self.said.picked[order.number, product] for product in order.products}
            seen = {product: shown[product] for product in order.products}
            assert seen == said, f"{order.number} is shown otherwise: {seen} for {said}"


def _is_refused(host: Host, order: str) -> bool:
    sql = "SELECT 1 FROM operation WHERE live = 1 AND state = 'rejected' AND body LIKE ? LIMIT 1"
    return bool(fetch(host._db, sql, f'%"{order}"%'))


@contextmanager
def unhurried() -> Iterator[None]:
    """The garbage collector comes seldom, and looks at what was made inside alone."""
    before = gc.get_threshold()
    gc.collect()
    frozen = gc.get_freeze_count()  # by the test run, for as long as it lasts
    if not frozen:
        gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        if not frozen:
            gc.unfreeze()
