"""What is old goes in batches; sums stay right, and nothing young is touched."""

from __future__ import annotations

from typing import Any

import pytest

from aisle.errors import UsageError
from aisle.service.retention import LEAST_DAYS, Purged, purge
from aisle.service.sizes import sizes_of
from aisle.service.storage import Tx
from aisle.service.storage.base import GROWING
from tests.service.test_watching import client_of, figures
from tests.service.world import World

DAY = 86400.0


async def legs(world: World) -> list[Any]:
    """The ledger: kind, product, quantity."""

    async def work(tx: Tx) -> list[Any]:
        return await tx.all("SELECT kind, product_number, quantity, occurred_on FROM leg ORDER BY op_id, leg")

    return await world.service.storage.read(work)


async def worked(world: World) -> None:
    """Some counts and moves of a day."""
    await world.count("P1", "A1", stock_pool_1=5)
    await world.log(product_number="P1", location_code="A1", stock_pool_1=3)
    await world.log(product_number="P1", location_code="A1", stock_pool_1=-2)
    await world.post("/stores", {"stores": []})
    await world.post("/products", {"products": [{"product_number": "P1", "price": world.now % 1000}]})


async def test_the_old_ledger_is_summed_up_and_the_stock_is_its_sum(world: World) -> None:
    for _ in range(4):
        await worked(world)
        world.now += DAY
    world.now += (LEAST_DAYS + 10) * DAY
    await worked(world)
    young = [row for row in await legs(world) if row[3] > "2026" and row[0] != "opening"][-1]
    books, before, storage = world.books(), len(await legs(world)), world.service.storage
    audit = len((await world.get("/aisle/v1/audit"))["audit"])
    gone = await purge(storage, world.now - LEAST_DAYS * DAY, world.now)
    assert gone.ledger > 0
    assert gone.audit > 0
    assert gone.log > 0
    for asked in ({}, {"is_historic": True}):
        listed = await world.get("/products/stock/storeproductlogs", store_number="S1", **asked)
        assert listed["total_count"] == len(listed["list"]) == 3, "the day's own"
    after = await legs(world)
    assert len(after) == before - gone.ledger
    assert young in after
    assert {row[0] for row in after} >= {"opening", young[0]}
    assert world.books() == books
    assert len((await world.get("/aisle/v1/audit"))["audit"]) == audit - gone.audit
    assert await purge(storage, world.now - LEAST_DAYS * DAY, world.now) == Purged(), "there is no more of it"
    await world.count("P1", "A1", stock_pool_1=1)


async def test_the_figures_say_how_large_the_database_is(world: World) -> None:
    await worked(world)
    async with client_of(world, secret=world.secret) as client:
        found = figures((await client.get("/metrics")).text)
    assert found[("aisle_database_bytes", ())] > 10_000
    tables = {dict(labels)["table"] for name, labels in found if name == "aisle_table_rows"}
    assert tables == set(GROWING)
    sizes = await sizes_of(world.service.storage)
    assert sizes.keys() == {*GROWING, "*"}


async def test_parts_are_purged_alone_and_nothing_young_at_all(world: World) -> None:
    await worked(world)
    world.now += (LEAST_DAYS + 10) * DAY
    storage, until = world.service.storage, world.now - LEAST_DAYS * DAY
    with pytest.raises(UsageError, match="younger than"):
        await purge(storage, until + 1, world.now)
    assert (await purge(storage, until, world.now, ("audit",))).ledger == 0
    assert (await purge(storage, until, world.now, ("ledger",))).audit == 0
