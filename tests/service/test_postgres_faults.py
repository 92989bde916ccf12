"""Two services of several workers on one PostgreSQL, thirty-two who write to them at once, and whatever can die, dies.

Each writer sends a request until it is answered for good, with the same key. What was answered 200 has happened once;
what was answered otherwise, or never, may not have happened twice. Nothing is started again by hand but the server.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from aisle.service.db.database_interface import Transaction
from tests.run_length import tries
from tests.service.postgres import Server, execute
from tests.service.serve_process import SECONDS, Served, served
from tests.service.world import API, LOGS, World

WRITERS = 32
EACH = tries(2, 60)
MOVEMENT = "/stores/{store}/storeproductlocation/movement"


async def filled(url: str) -> str:
    """A world with goods in two stores; the secret of a token."""
    world = World(url)
    await world.fill()
    for store in ("S1", "S2"):
        await world.post("/aisle/v1/locations", {"locations": [_place(store, code) for code in ("A1", "A2")]})
        entry = {"product_number": "P1", "location_code": "A1", "stock_pool_1": 100_000}
        query = {"is_counted_quantity": True}
        await world.post(LOGS.replace("S1", store), {"storeproductlog": [entry]}, query=query)
    await world.close()
    return world.secret


def _place(store: str, code: str) -> dict[str, str]:
    return {"store_number": store, "location_code": code}


class Writer:
    """Sends requests one after the other, each until it is answered for good."""

    def __init__(self, number: int, client: httpx.AsyncClient, urls: list[str]) -> None:
        self._client = client
        self._urls = urls
        self.dice = random.Random(number)
        self.number = number
        self.store = ("S1", "S2")[number % 2]
        self.moved = 0
        self.added = 0
        self.answers: Counter[int] = Counter()

    async def run(self, done: list[int]) -> None:
        """All its requests; `done` hears of each."""
        for n in range(EACH):
            key = f"writer-{self.number:04d}-{n:04d}"
            moves = n % 2 == 0
            path = MOVEMENT.format(store=self.store) if moves else LOGS.replace("S1", self.store)
            await self._until_done(path, key, self._move() if moves else self._entry(key))
            self.moved += moves
            self.added += not moves
            done.append(self.number)

    def _move(self) -> object:
        ends = {"from_location": {"location_code": "A1"}, "to_location": {"location_code": "A2"}}
        return [{"product_number": "P1", "quantity": 1, **ends}]

    def _entry(self, key: str) -> object:
        return {"storeproductlog": [{"product_number": "P1", "location_code": "A1", "quantity": 1, "reference": key}]}

    async def _until_done(self, path: str, key: str, body: object) -> None:
        async with asyncio.timeout(SECONDS):
            while True:
                url = self.dice.choice(self._urls) + API + path
                headers = {"Idempotency-Key": f'"{key}"'}
                try:
                    answer = await self._client.post(url, content=json.dumps(body), headers=headers)
                except httpx.TransportError:
                    self.answers[0] += 1
                else:
                    self.answers[answer.status_code] += 1
                    if answer.status_code != 503:
                        return
                await asyncio.sleep(self.dice.uniform(0.02, 0.2))


@asynccontextmanager
async def client_of(secret: str) -> AsyncIterator[httpx.AsyncClient]:
    """For every writer; a worker that dies takes its connections with it."""
    limits = httpx.Limits(max_connections=WRITERS, max_keepalive_connections=WRITERS)
    headers = {"Authorization": f"Bearer {secret}"}
    async with httpx.AsyncClient(headers=headers, limits=limits, timeout=60) as client:
        yield client


async def write_all(urls: list[str], secret: str, done: list[int]) -> list[Writer]:
    """Every writer at once, to the end."""
    async with client_of(secret) as client:
        writers = [Writer(number, client, urls) for number in range(WRITERS)]
        await asyncio.gather(*(writer.run(done) for writer in writers))
    return writers


async def check(url: str, writers: list[Writer]) -> None:
    """The books are in order, and hold each request once; ids rise and are nobody else's."""
    world = World(url)
    for store in ("S1", "S2"):
        here = [writer for writer in writers if writer.store == store]
        moved, added = sum(writer.moved for writer in here), sum(writer.added for writer in here)
        assert world.books(store) == {("P1", "A1", 1): 100_000 + added - moved, ("P1", "A2", 1): moved}
    ids, counters = world.service.database.read_now(_numbers)
    for store, found in ids.items():
        # Given in the order of commits, none left out and none twice.
        assert found == list(range(1, counters[store] + 1))
    await world.close()


async def _numbers(tx: Transaction) -> tuple[dict[str, list[int]], dict[str, int]]:
    ids: dict[str, list[int]] = {}
    for store, seq in await tx.all("SELECT store_number, seq FROM stock_log ORDER BY store_number, seq"):
        ids.setdefault(store, []).append(seq)
    counters: dict[str, int] = dict(await tx.all("SELECT store_number, value FROM counter WHERE name = 'log'"))
    return ids, counters


async def test_the_ledger_is_right_whoever_dies(mortal: Server, tmp_path: Path) -> None:
    url = mortal.url()
    secret = await filled(url)
    done: list[int] = []
    with served(url, tmp_path, 2, 2) as services:
        writing = asyncio.create_task(write_all([one.url for one in services], secret, done))
        await disturb(mortal, services, done, writing)
        writers = await writing
    await check(url, writers)
    answers = sum((writer.answers for writer in writers), Counter[int]())
    assert answers[200] == WRITERS * EACH
    assert set(answers) <= {0, 200, 503}


async def until(done: Callable[[], bool]) -> None:
    """Wait for it, not for ever: longer than a writer does, whose own failure says more."""
    async with asyncio.timeout(2 * SECONDS):
        while not done():  # noqa: ASYNC110 - it happens in other processes
            await asyncio.sleep(0.01)


async def disturb(server: Server, services: list[Served], done: list[int], writing: asyncio.Task[list[Writer]]) -> None:
    """Kill a worker, a backend of PostgreSQL, and all of PostgreSQL, in turn, a part of the work apart."""
    dice = random.Random(5)
    total = WRITERS * EACH
    steps = tries(5, 25)
    for number in range(1, steps + 1):
        await until(lambda part=total * number / (steps + 2): len(done) >= part or writing.done())  # type: ignore[misc]
        if number % 5 in (1, 3):
            if pid := dice.choice(services).worker(dice):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        elif number % 5 in (2, 4):
            await asyncio.to_thread(
                execute,
                server.url(),
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE application_name = 'aisle' AND state <> 'idle' LIMIT 2",
            )
        else:
            await asyncio.to_thread(server.kill)
            await asyncio.to_thread(server.start)
