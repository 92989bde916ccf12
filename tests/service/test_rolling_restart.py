"""Two instances on one database behind a balancer: each is restarted in turn, and no request is lost."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from aisle.service.db import parse_database_url
from aisle.service.open_service_and_admin_token import open_service
from tests.run_length import tries
from tests.service.postgres import Server
from tests.terminal.lifeline import Lifeline

SECONDS = 120
REQUESTS = tries(40, 10_000)
PAUSE_S = tries(50, 10) / 1000
"""Between two requests of one client."""
PROBE_S = 0.1
DRAIN_S = 3.0
"""The balancer finds out in that time that an instance leaves, on a crowded machine too."""


class Instance:
    """`aisle serve` at one port, as often as it is started."""

    def __init__(self, database: str, home: Path, workers: int) -> None:
        home.mkdir(mode=0o700)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = int(free.getsockname()[1])
        self.ready = False
        self._command = [sys.executable, "-m", "aisle", "serve", "--database", database, "--port", str(self.port)]
        self._command += ["--rate", "0", "--drain-seconds", str(DRAIN_S), "--workers", str(workers)]
        self._environ = os.environ | {"AISLE_HOME": str(home)}

    def start(self) -> None:
        """Start it; when it answers, the balancer finds out."""
        fd = int(os.environ["AISLE_LIFELINE_FD"])
        self.process = subprocess.Popen(self._command, env=self._environ, pass_fds=(fd,), stderr=subprocess.DEVNULL)

    async def restart(self) -> None:
        """Have it leave as an operator does, and start another one in its place."""
        self.process.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(self.process.wait, SECONDS) == 0
        self.start()
        await self.until_ready()

    async def until_ready(self) -> None:
        """Wait until the balancer sends requests to it."""
        async with asyncio.timeout(SECONDS):
            while not self.ready:
                assert self.process.poll() is None
                await asyncio.sleep(0.02)


class Balancer:
    """Sends each connection to an instance that says it is ready; tries no other when that one fails."""

    def __init__(self, instances: list[Instance]) -> None:
        self._instances = instances
        self._dice = random.Random(1)

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[str]:
        """Its address, as long as it balances."""
        server = await asyncio.start_server(self._carry, "127.0.0.1", 0)
        probes = [asyncio.create_task(self._probe(instance)) for instance in self._instances]
        async with server:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        for probe in probes:
            probe.cancel()
        await asyncio.gather(*probes, return_exceptions=True)

    async def _probe(self, instance: Instance) -> None:
        async with httpx.AsyncClient(timeout=2) as client:
            while True:
                try:
                    answer = await client.get(f"http://127.0.0.1:{instance.port}/aisle/v1/ready")
                    instance.ready = answer.status_code == 200
                except httpx.TransportError:
                    instance.ready = False
                await asyncio.sleep(PROBE_S)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        chosen = self._dice.choice([instance for instance in self._instances if instance.ready])
        with contextlib.suppress(OSError):
            there, back = await asyncio.open_connection("127.0.0.1", chosen.port)
            await asyncio.gather(_pour(reader, back), _pour(there, writer))


async def _pour(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    while data := await source.read(1 << 16):
        sink.write(data)
        await sink.drain()
    sink.close()


@pytest.fixture
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a database of the engine that the test is for."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/service.db"
        return
    server: Server = request.getfixturevalue("server")
    yield server.fresh()


@pytest.mark.parametrize(
    ("database", "workers"), [("sqlite", 1), pytest.param("postgres", 2, marks=pytest.mark.full)], indirect=["database"]
)
async def test_a_rolling_restart_loses_no_request(
    database: str, workers: int, tmp_path: Path, aisle_home: Path, lifeline: Lifeline
) -> None:
    service = open_service(parse_database_url(database))
    secret = service.ensure_admin_token(tmp_path / "token")
    service.close()
    instances = [Instance(database, tmp_path / f"home{number}", workers) for number in range(2)]
    for instance in instances:
        instance.start()
    try:
        async with Balancer(instances).listening() as url:
            await asyncio.gather(*(instance.until_ready() for instance in instances))
            rolling = asyncio.create_task(_roll(instances))
            statuses = [
                status
                for part in await asyncio.gather(*(_ask(url, secret, rolling) for _ in range(4)))
                for status in part
            ]
            await rolling
    finally:
        for instance in instances:
            instance.process.kill()
            instance.process.wait()
    assert len(statuses) >= REQUESTS
    assert set(statuses) == {200}


async def _roll(instances: list[Instance]) -> None:
    for instance in instances:
        await instance.restart()


async def _ask(url: str, secret: str, rolling: asyncio.Task[None]) -> list[int]:
    """Ask one after the other, each by a connection of its own, until enough are answered and both were restarted."""
    statuses: list[int] = []
    headers = {"Connection": "close", "Authorization": f"Bearer {secret}"}
    async with httpx.AsyncClient(timeout=SECONDS, headers=headers) as client:
        while len(statuses) < REQUESTS / 4 or not rolling.done():
            statuses.append((await client.get(url + "/api/v2/public/stores")).status_code)
            await asyncio.sleep(PAUSE_S)
    return statuses
