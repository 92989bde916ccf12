"""A host with a home, a courier and a fake service."""

import asyncio
import os
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from aisle.cache.reader import CacheReader
from aisle.client import Client, Response, RetryPolicy
from aisle.courier.courier import Courier, Runtime
from aisle.courier.leader_process import LeaderOptions, become_leader, lead
from aisle.courier.pull.read_timetable import PullIntervals
from aisle.host.leader_lock import Leader, LeaderLock
from aisle.host.store_and_database_folders import StoreFolder
from tests.courier.fake_service import Fake
from tests.courier.session_outbox import Desk
from tests.courier.simulated_time import Time
from tests.courier.writes import STORE

URL = "http://127.0.0.1:1"


class Host:
    """One host. `desk` is a session's side of the outbox, `reads` its side of the cache."""

    def __init__(self, root: Path, fake: Fake | None = None) -> None:
        self.home = StoreFolder(root, URL, STORE)
        self.time = Time()
        self.fake = fake or Fake()
        self.desk = Desk(self.home.folder, self.time.clock)
        self.reads = CacheReader(self.home, self.desk.db)

    def connect(self, observe: Callable[[Response], None]) -> AbstractAsyncContextManager[Client]:
        """The client of the fake service."""
        return Client(
            URL,
            "token",
            transport=self.fake.transport(),
            on_response=observe,
            retry=RetryPolicy(tries=1),
            sleep=self.time.sleep,
        )

    def courier(self, **options: Any) -> Courier:
        """A courier that is not open yet."""
        world = Runtime(self.time.clock, self.time.sleep, lambda: 0.0)
        return Courier(self.home, self.connect, runtime=world, **options)

    def running(self, courier: Courier) -> "Running":
        """The courier, opened and at work inside the block."""
        return Running(self, courier)

    def numbers(self) -> list[str]:
        """The open orders as a session sees them."""
        return [str(row["order_number"]) for row in self.reads.query("orders", {"size": 1000})[0]]

    def line(self, order: str, number: int = 1) -> Any:
        """A line of an order as a session sees it; nothing where it is not known."""
        (row,) = self.reads.query("order", {"order_number": order})[0]
        return next((line for line in row["lines"] if line["line_number"] == number), {})

    def quantity(self, product: str) -> Any:
        """The stock of a product as a session sees it."""
        (row,) = self.reads.query("product", {"product_number": product})[0]
        return row["most_likely_quantity"]

    def knows(self, product: str) -> bool:
        """Whether a product is in the cache."""
        return self.reads.query("product", {"product_number": product})[1] > 0

    def state(self) -> str:
        """The state of the link as a session sees it."""
        return self.reads.link(self.time.now).state

    def close(self) -> None:
        """Lets go of the files."""
        self.reads.close()
        self.desk.close()


class Running:
    """`async with`: a courier at work."""

    def __init__(self, host: Host, courier: Courier) -> None:
        self.host = host
        self.courier = courier
        self._work: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Courier:
        await self.courier.__aenter__()
        work: Coroutine[Any, Any, None] = self.courier.run()
        self._work = asyncio.create_task(work)
        return self.courier

    async def __aexit__(self, *exc: object) -> None:
        assert self._work is not None
        self._work.cancel()
        await asyncio.gather(self._work, return_exceptions=True)
        await self.courier.__aexit__(None, None, None)


def quiet() -> PullIntervals:
    """A pace at which nothing is looked at by itself."""
    return PullIntervals(*[1e9] * len(PullIntervals._fields))


async def run_courier(host: Host, options: LeaderOptions) -> int:
    """Lead as a process of this host would until it has to stop; 0, also if another one leads."""
    lock = LeaderLock(host.home.lock)
    this_process = Leader(os.getpid(), options.version, options.runtime.clock(), options.token_file)
    if await become_leader(lock, host.home, this_process, options.runtime.sleep):
        await lead(host.home, host.connect, lock, options)
    return 0
