"""Writes that concern the whole chain: those of a store wait for none of them, or not for long."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest

from aisle.service.db.sqlite_connection_and_transaction import SqliteTransaction
from aisle.service.operation_context import CHAIN
from tests.service.world import World, store_body


@pytest.mark.parametrize(
    ("path", "query", "body", "stores"),
    [
        ("/stores", {}, {"stores": [store_body(n, "New") for n in ("N2", "N1")]}, {CHAIN, "N1"}),
        ("/stores", {"flush": True}, {"stores": [store_body(f"S{n}", "Old") for n in range(1, 5)]}, None),
        ("/aisle/v1/tokens", {}, {"name": "t", "role": "staff", "stores": ["S1"]}, {CHAIN}),
    ],
    ids=["stores", "flush", "token"],
)
async def test_only_the_deletion_of_stores_waits_for_all_of_them(
    world: World, monkeypatch: pytest.MonkeyPatch, path: str, query: Any, body: Any, stores: Collection[str] | None
) -> None:
    locked: list[Collection[str] | None] = []
    write = world.service.database.write

    async def note(work: Any, *, stores: Collection[str] | None = None) -> Any:
        locked.append(stores)
        return await write(work, stores=stores)

    monkeypatch.setattr(world.service.database, "write", note)
    await world.send("POST", path, body, query=query)
    assert locked[0] == stores


async def test_a_chain_of_stores_is_written_by_few_statements(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    run, execute = list[str](), SqliteTransaction._execute

    def count(self: SqliteTransaction, sql: str, args: Any) -> Any:
        run.append(sql)
        return execute(self, sql, args)

    monkeypatch.setattr(SqliteTransaction, "_execute", count)
    chain = [store_body(f"N{n}", f"New {n}") for n in range(200)]
    for stores in (chain, [{**one, "store_name": "Changed"} for one in chain], [chain[0], chain[0]]):
        run.clear()
        answer = await world.send("POST", "/stores", {"stores": stores})
        assert answer.status_code == 200
        assert len(run) < 20
    listed = (await world.client.get("/api/v2/public/stores?search_text=N19&page_size=1000")).json()["list"]
    assert [one["storeNo"] for one in listed] == ["N19", *(f"N19{n}" for n in range(10))]
    assert len({one["id"] for one in listed}) == len(listed)
