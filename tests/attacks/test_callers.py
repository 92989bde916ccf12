"""Callers that wait for turns: whoever has many tokens, people or addresses delays only itself."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from aisle.server.caller_turns import KNOW_CLIENT, Caller, CallerQueue, KnownClients
from aisle.service.auth import tokens_and_pins
from aisle.service.db.database_interface import (
    CALLER,
    MOST_WAITING,
    FairTurns,
    KnownCallers,
    TooManyWaiting,
    Transaction,
)
from tests.service.test_connections import SECONDS
from tests.service.world import LOGS, World


async def test_long_reads_of_one_caller_hold_up_none_of_another() -> None:
    turns, had = FairTurns(1), []

    async def read(caller: str) -> None:
        CALLER.set(Caller(caller))
        async with turns.turn(SECONDS):
            had.append(caller)
            await asyncio.sleep(0)

    tasks = [asyncio.create_task(read("a")) for _ in range(MOST_WAITING + 1)]
    await asyncio.sleep(0)
    with pytest.raises(TooManyWaiting):
        await read("a")
    tasks += [asyncio.create_task(read("b")), asyncio.create_task(read("b"))]
    for one in (tasks[3], tasks[-1]):
        await asyncio.sleep(0)
        one.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert had.index("b") < 6
    assert (had.count("a"), had.count("b")) == (MOST_WAITING, 1)
    assert turns._free == 1
    assert not turns._waiting


async def test_a_request_waits_as_its_own_caller(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    callers: dict[str, list[Caller]] = {"read": [], "write": []}

    def noted(kind: str) -> Any:
        run = getattr(world.service.database, kind)

        async def note(*work: Any, **options: Any) -> Any:
            callers[kind].append(CALLER.get())
            return await run(*work, **options)

        return note

    for kind in callers:
        monkeypatch.setattr(world.service.database, kind, noted(kind))
    CALLER.set(Caller("a stranger whose request came before"))
    token = world.token("staff", ["S1"])

    async def wait_as(host: str, secret: str) -> list[Caller]:
        """Callers of a read and of a write."""
        headers = {"Authorization": f"Bearer {secret}"}
        transport = httpx.ASGITransport(world.service.app, client=(host, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://service", headers=headers) as client:
            for kind in callers.values():
                kind.clear()
            await world.send("GET", "/stores", None, client=client)
            await world.send("POST", LOGS, {}, client=client)
        return [callers["read"][0], *callers["write"][-1:]]

    strangers = [(await wait_as("10.0.0.1", secret))[0] for secret in ("no token", "another", token)]
    assert set(strangers) == {Caller("?", "10.0.0.1")}, "an unknown token says nothing about its caller"
    [[read, write], other] = [await wait_as(host, token) for host in ("10.0.0.1", "10.0.0.2")]
    assert [read, write] == other, "a known token is one caller from wherever it asks"
    assert read == write == Caller(read.group, read.group)


async def test_an_address_is_known_by_a_valid_token(world: World) -> None:
    known = list[str]()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        scope[KNOW_CLIENT] = lambda: known.append("known")
        await world.service.app(scope, receive, send)

    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service") as client:
        for path, secret in (("/aisle/v1/health", world.secret), ("/api/v2/public/stores", "no token")):
            await client.get(path, headers={"Authorization": f"Bearer {secret}"})
        assert not known
        await client.get("/api/v2/public/stores", headers={"Authorization": f"Bearer {world.secret}"})
    assert known == ["known"]


def test_known_addresses_are_forgotten_when_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aisle.server.caller_turns._MOST_KNOWN", 2)
    known = KnownClients()
    for address in ("10.0.0.1", "10.0.0.2", "10.0.0.1", "10.0.0.3"):
        known.add(address)
    assert [known.group_of(f"10.0.0.{number}") for number in (1, 2, 3)] == ["10.0.0.1", "", "10.0.0.3"]


def test_members_of_a_group_wait_for_each_other_and_not_for_those_of_another() -> None:
    queue = CallerQueue[str]()
    for caller in [Caller("a", "1")] * 3 + [Caller("a", "2"), Caller("a", "3"), Caller("b", "1"), Caller("b", "1")]:
        queue.add(caller, f"{caller.group}{caller.member}")
    assert queue.count(Caller("a", "1")) == 3
    assert [queue.take() for _ in range(7)] == ["a1", "b1", "a2", "b1", "a3", "a1", "a1"]
    assert not queue
    assert queue.count(Caller("a", "1")) == 0


def test_callers_are_known_while_their_tokens_are_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aisle.service.db.database_interface.MOST_KNOWN", 2)
    known, one = KnownCallers(), Caller("t", "t")
    known.add("h1", one)
    for name in ("h2", "h1", "h3"):
        known.add(name, one)
    assert [known.find(name, "10.0.0.1") == one for name in ("h1", "h2", "h3")] == [True, False, True]
    known.remove("h1")
    assert known.find("h1", "10.0.0.1") == Caller("?", "10.0.0.1")


async def test_a_sign_in_waits_for_no_queue_of_somebody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    had = list[str]()
    monkeypatch.setattr(tokens_and_pins, "rehash", lambda pin, stored: had.append(pin))

    async def sign_in(caller: str) -> None:
        CALLER.set(Caller(caller))
        await tokens_and_pins.rehash_later(caller, "")

    await asyncio.gather(*(sign_in(caller) for caller in ["a"] * 40 + ["b"]))
    assert had.index("b") < 5


async def test_many_writes_of_one_caller_hold_up_none_of_another(world: World) -> None:
    had = list[str]()

    async def write(caller: str) -> None:
        CALLER.set(Caller(caller))

        async def note(tx: Transaction) -> None:
            had.append(caller)

        await world.service.database.write(note, stores={"S1"})

    await asyncio.gather(*(write(caller) for caller in ["a"] * 40 + ["b"]))
    assert had.index("b") < 5
