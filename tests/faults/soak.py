"""A full host: many sessions, each a process of its own, one courier and one service, and nothing simulated.

What each session does is what its screen does: it takes inputs, and looks when its doorbell rings and every few
seconds. Every input is told to whoever watches once it is durable, with what the person saw.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import select
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, cast

from aisle.courier.notices import Notice
from aisle.errors import StorageError
from aisle.jobs.base import Policy, Write
from aisle.jobs.view import GOOD, Frame
from aisle.local.db import fetch, transaction
from aisle.local.host.home import Home
from aisle.local.host.signals import Bell
from aisle.local.host.spawn import spawn_courier
from aisle.local.outbox.journal import Batch, Committed, Journal
from aisle.local.outbox.operation import Author, Intent, Operation
from aisle.local.outbox.outbox import Outbox, open_outbox
from aisle.local.reads.reads import Reads
from aisle.local.session.session import Session
from aisle.local.session.terms import Rooms, Terms, iso
from aisle.scan.codes import check_digit
from aisle.scan.inputs import Line
from aisle.service.factory import Service, open_service
from aisle.service.storage import Storage, Tx, open_storage
from tests.courier.kit import STORE
from tests.faults.checker import check
from tests.faults.world import World
from tests.terminal.harness import python
from tests.terminal.served import Served
from tests.terminal.shop import door

LOOK_S = 5.0
"""How often a screen looks by itself."""
PLACES = tuple(f"A-{n}" for n in range(1, 21))
PICK_UP = "PU-01"
EACH = 10_000
"""What lies of each product at each of its two places."""


NOT_SAVED = "session.not_saved"
"""What a person is told when an input could not be made durable."""
_YIELDING = 10
"""How nice a session is that yields."""


class Plan(NamedTuple):
    """How much is going on."""

    sessions: int
    seconds: float
    pause: tuple[float, float]
    """Between two scans of one person, in seconds."""
    orders: int
    """For each person; whoever has no more counts and moves."""
    products: int = 40


class Goods(NamedTuple):
    """One product of the store."""

    number: str
    code: str
    places: tuple[str, str]


Orders = dict[str, list[tuple[Goods, int]]]
Tell = Callable[[str], None]


def goods(plan: Plan) -> list[Goods]:
    """The products, each at two places."""
    made = []
    for n in range(plan.products):
        digits = f"29{n:010d}"
        code = digits + check_digit(digits)
        made.append(Goods(f"S{n:03d}", code, (PLACES[n % len(PLACES)], PLACES[(n + 7) % len(PLACES)])))
    return made


def orders(plan: Plan, person: int, random: Random) -> Orders:
    """The orders of one person."""
    stock = goods(plan)
    return {
        f"O-{person}-{n}": [(one, random.randint(1, 4)) for one in random.sample(stock, random.randint(1, 4))]
        for n in range(plan.orders)
    }


async def fill(folder: Path, plan: Plan, seed: int, lent: Storage | None = None) -> str:
    """Makes the service's database with all of it, in that folder or where is lent; a token's secret."""
    shop = World(folder, seed, lent)
    try:
        shop.time.now = time.time()
        await _filled(shop, plan, seed)
        return shop.secret
    finally:
        await shop.close()


async def _filled(shop: World, plan: Plan, seed: int) -> None:
    store = {"store_number": STORE, "store_name": "One", "is_active": True, "is_active_data_exchange": True}
    stock = goods(plan)
    products = [{"product_number": p.number, "product_name": p.number, "barcode": p.code} for p in stock]
    places = [
        {"store_number": STORE, "location_code": code, "location_order": n, "default_stock_pool": "1"}
        for n, code in enumerate((*PLACES, PICK_UP), 1)
    ]
    counts = [
        {"product_number": p.number, "location_code": place, "stock_pool_1": EACH} for p in stock for place in p.places
    ]
    async with shop.integrator() as client:
        await client.create_stores({"stores": [{**store, "is_warehouse": False}]})
        await client.create_or_update_products({"products": products})
        await client.extension("POST", "/aisle/v1/locations", body={"locations": places})
        await client.create_store_product_logs(STORE, {"storeproductlog": counts}, is_counted_quantity=True)
        for person in range(plan.sessions):
            mine = orders(plan, person, Random(f"{seed}/{person}"))
            lines = {name: tuple((one.number, count) for one, count in each) for name, each in mine.items()}
            await shop.create_orders(client, lines)


def database(folder: Path) -> Path:
    """The service's."""
    return folder / "shop" / "service.db"


@contextmanager
def at_work(
    root: Path,
    folder: Path,
    plan: Plan,
    seed: int,
    book: Path | None = None,
    *,
    postgres: str = "",
    options: Sequence[str] = (),
) -> Iterator[At]:
    """A filled store, a service that serves it, and a courier that has all of it in its cache.

    With a book, the service writes down what it does, and can be told to hold its answers. `postgres` is the address of
    an empty database to be used in place of a file; `options` are further ones of `aisle serve`.
    """
    secret = folder / "secret"
    secret.touch(0o600)
    secret.write_text(asyncio.run(fill(folder / "shop", plan, seed, open_storage(postgres) if postgres else None)))
    address = postgres or f"sqlite:///{database(folder)}"
    serve = python("-m", "aisle", "serve", "--database", address, "--port", "{port}", *options)
    if book:
        serve = python("-m", "tests.terminal.served", str(database(folder)), "{port}", str(book))
    with Served(*serve) as served:
        courier = courier_command(served.url, secret)
        yield At(host(root, served.url, courier), courier, served)


def host(root: Path, url: str, courier: Sequence[str]) -> Home:
    """The home of the store in that folder, which the environment names, synced and with a courier in office."""
    home = Home(root, url, STORE)
    door("sync", *courier[4:])
    spawn_courier(courier)
    with closing(Bell(home)) as bell:
        until(bell.courier_there, 30.0)
    return home


class At(NamedTuple):
    """The host, the command of its courier, and the service."""

    home: Home
    courier: list[str]
    served: Served


def until(condition: Callable[[], object], within_s: float) -> None:
    """Waits for something that other processes do; fails when it does not happen."""
    end = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < end, "what was waited for does not happen"
        time.sleep(0.002)


def holds(check: Callable[[], None]) -> bool:
    """Whether this check passes now."""
    try:
        check()
    except AssertionError:
        return False
    return True


# A session


class TimedJournal(Journal):
    """A journal that remembers how long its commits took, and those that failed."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.took_ms: list[float] = []
        self.errors: list[str] = []

    def commit(self, batch: Batch) -> Committed:
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

    def __init__(self, home: Home, courier: Sequence[str], plan: Plan, person: int, seed: int, tell: Tell) -> None:
        self.random = Random(f"{seed}/{person}")
        self.orders = orders(plan, person, self.random)
        self.goods = goods(plan)
        self.plan = plan
        self.tell = tell
        outbox = open_outbox(home.folder)
        self.journal = TimedJournal(outbox)
        self.bell = Bell(home)
        self.name = f"p{person:03d}"
        rooms = Rooms(Reads(home, outbox), self.journal, Outbox(outbox), self.bell)
        terms = Terms(STORE, f"t{person:03d}", self.name, Policy())
        self.session = Session(rooms, terms, call_courier=lambda: spawn_courier(courier))
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
        ended = Ended(self.session._id, self.journal.took_ms, self.journal.errors, self.looks, used_s)
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
                self.say("1")

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
            ways = [choice.id for choice in getattr(self.frame.view, "choices", ())]
            self.say(str(ways.index("count.throw_away") + 1) if "count.throw_away" in ways else "b")
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
        """Looks whenever the doorbell rings, and every few seconds, as the app does."""
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
        self.frame = self.session.poll(rung=rung) or self.frame


def session(
    home: Home, courier: Sequence[str], plan: Plan, person: int, seed: int, *, yields: bool = False
) -> Callable[[Tell], None]:
    """The work of a process: one person, from sign-in to the end; where it `yields`, after those who serve it."""

    def work(tell: Tell) -> None:
        os.setsid()  # as at a terminal of its own: the scheduler shares the processor between those
        if yields:
            _give_way()
        gc.freeze()
        Somebody(home, courier, plan, person, seed, tell).work()

    return work


def _give_way() -> None:
    """Others go first, those of other terminals too."""
    os.nice(_YIELDING)
    with suppress(OSError):  # a system that knows no groups of terminals has heard it already
        Path("/proc/self/autogroup").write_text(str(_YIELDING), encoding="ascii")


def courier_command(url: str, token_file: Path) -> list[str]:
    """The courier of the store, as sessions start it."""
    return python("-m", "aisle", "courier", f"--store={STORE}", f"--base-url={url}", f"--token-file={token_file}")


def cpu_s(pid: int) -> float:
    """Processor time of a process so far, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# Afterwards


class Watched(NamedTuple):
    """What a session told, taken apart."""

    said: list[Said]
    ended: Ended


def watched(lines: Sequence[str]) -> Watched:
    """Fails when the session did not come to its end."""
    told = [json.loads(line) for line in lines]
    assert told, "it did not even begin"
    assert isinstance(told[-1], dict), f"it ended after {told[-1]}"
    return Watched([Said(*each) for each in told[:-1]], Ended(**told[-1]["ended"]))


class Desk:
    """This host's files after the day, as the checker of the simulated store asks for them."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._db = open_outbox(home.folder)
        self.outbox = Outbox(self._db)
        self._reads = Reads(home, self._db)

    def operations(self) -> list[Operation]:
        """All that was ever enqueued on this host, oldest first."""
        return self.outbox.recent(10_000_000)[::-1]

    def query(self, name: str, **arguments: Any) -> list[dict[str, Any]]:
        """A read as sessions do it."""
        return [dict(row) for row in self._reads.query(name, arguments)[0]]

    @property
    def notices(self) -> list[Notice]:
        """What its couriers wrote into their log; each line begins with its moment."""
        return [Notice(0.0, line[20:]) for line in self._home.courier_log.read_text(encoding="utf-8").splitlines()]

    def write(self, *writes: Write) -> tuple[str, ...]:
        """Operations without a session, in one transaction of their own; their op_ids."""
        with transaction(self._db):
            return self.outbox.enqueue(
                [Intent(write, occurred_at=iso(time.time())) for write in writes], Author(STORE, "p")
            )

    def events(self) -> dict[str, list[str]]:
        """The inputs that the journal has of each session, in their order."""
        kept: dict[str, list[str]] = {}
        for name, raw in fetch(self._db, "SELECT session_id, raw FROM event WHERE raw <> '' ORDER BY seq"):
            kept.setdefault(name, []).append(raw)
        return kept

    def drained(self) -> bool:
        """Whether all is confirmed and read back."""
        return not self.outbox.pending_effects()

    def close(self) -> None:
        """Lets go of the files."""
        self._reads.close()
        self._db.close()


class Store(NamedTuple):
    """The service and the host, as the checker of the simulated store asks for them."""

    service: Service
    storage: Storage
    hosts: tuple[Desk, ...]


def picked(lines: Sequence[Said]) -> Counter[tuple[str, str]]:
    """How many pieces of which product were taken for which order, as people saw it."""
    return Counter((said.order, said.product) for said in lines if said.order)


def check_books(database: Path | str, taken: Counter[tuple[str, str]], *desks: Desk) -> None:
    """All that has to be true once it is quiet, see tests.faults.checker. Raises AssertionError."""
    with closing(open_service(database)) as service:
        check(cast(World, Store(service, service.storage, desks)))
        assert service.storage.read_now(_picked) == taken


def booked(database: Path | str) -> Counter[tuple[str, str]]:
    """How many pieces of which product are picked for which order, as the service has it."""
    with closing(open_service(database)) as service:
        return Counter(service.storage.read_now(_picked))


async def _picked(tx: Tx) -> dict[tuple[str, str], int]:
    sql = "SELECT order_number, product_number, sum(picked) FROM order_line WHERE picked > 0 GROUP BY 1, 2"
    return {(row[0], row[1]): row[2] // 1000 for row in await tx.all(sql)}


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which this share of them lies."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]
