"""A full host: a filled store, one courier and one service, and nothing simulated.

Those who work there are in tests.faults.staff; what has to be true afterwards is in tests.faults.host_results.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from typing import NamedTuple

from aisle.barcode_numbers import check_digit
from aisle.host.notify_sockets import SessionSocket
from aisle.host.processes import start_courier
from aisle.host.store_and_database_folders import StoreFolder
from aisle.service.db import open_database
from aisle.service.db.database_interface import Database
from tests.courier.writes import STORE
from tests.faults.world import World
from tests.terminal.harness import python
from tests.terminal.service_process import Served
from tests.terminal.shop import door

PLACES = tuple(f"A-{n}" for n in range(1, 21))
PICK_UP = "PU-01"
EACH = 10_000
"""What lies of each product at each of its two places."""


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


async def fill(folder: Path, plan: Plan, seed: int, lent: Database | None = None) -> str:
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
        await client.call("create-stores", {"stores": [{**store, "is_warehouse": False}]})
        await client.call("create-or-update-products", {"products": products})
        await client.request_extension("POST", "/aisle/v1/locations", body={"locations": places})
        await client.call(
            "create-store-product-logs", {"storeproductlog": counts}, store_number=STORE, is_counted_quantity=True
        )
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
    secret.write_text(asyncio.run(fill(folder / "shop", plan, seed, open_database(postgres) if postgres else None)))
    address = postgres or f"sqlite:///{database(folder)}"
    serve = python("-m", "aisle", "serve", "--database", address, "--port", "{port}", *options)
    if book:
        serve = python("-m", "tests.terminal.service_process", str(database(folder)), "{port}", str(book))
    with Served(*serve) as served:
        courier = courier_command(served.url, secret)
        yield At(host(root, served.url, courier), courier, served)


def host(root: Path, url: str, courier: Sequence[str]) -> StoreFolder:
    """The home of the store in that folder, which the environment names, synced and with a leading courier."""
    home = StoreFolder(root, url, STORE)
    door("sync", *courier[4:])
    start_courier(courier)
    with closing(SessionSocket(home)) as bell:
        until(bell.is_courier_listening, 30.0)
    return home


class At(NamedTuple):
    """The host, the command of its courier, and the service."""

    home: StoreFolder
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


def courier_command(url: str, token_file: Path) -> list[str]:
    """The courier of the store, as sessions start it."""
    return python("-m", "aisle", "courier", f"--store={STORE}", f"--base-url={url}", f"--token-file={token_file}")


def cpu_s(pid: int) -> float:
    """Processor time of a process so far, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
