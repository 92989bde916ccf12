"""What is old goes in batches; sums stay right, and nothing young is touched."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest

from aisle.errors import UsageError
from aisle.service import retention
from aisle.service.retention import LEAST_DAYS, Purged, purge
from aisle.service.sizes import sizes_of
from aisle.service.storage import Tx
from aisle.service.storage.base import GROWING
from tests.service.test_watching import client_of, figures
from tests.service.world import World, assert_books

DAY = 86400.0
LOG = "/products/stock/storeproductlogs"


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
    listed = await world.get(LOG, store_number="S1")
    assert listed["total_count"] == len(listed["list"]) == 3, "the day's own"
    listed = await world.get(LOG, store_number="S1", is_historic=True)
    assert listed["total_count"] == len(listed["list"]) == 4
    opening = listed["list"][0]
    assert (opening["source"], opening["product_number"], opening["location_code"]) == ("opening", "P1", "A1")
    assert sum(row["quantity"] for row in listed["list"]) == books[("P1", "A1", 1)]
    after = await legs(world)
    assert len(after) == before - gone.ledger
    assert young in after
    assert {row[0] for row in after} >= {"opening", young[0]}
    assert world.books() == books
    assert len((await world.get("/aisle/v1/audit"))["audit"]) == audit - gone.audit
    assert await purge(storage, world.now - LEAST_DAYS * DAY, world.now) == Purged(), "there is no more of it"
    await world.count("P1", "A1", stock_pool_1=1)


async def test_openings_of_many_places_stand_before_the_log_without_a_gap(world: World) -> None:
    storage, places = world.service.storage, (None, "A1", "A2", "A10", "BACK", "DESK")
    with patch.object(retention, "_ROWS", 3):
        for day in range(5):
            for n, product in enumerate(("P1", "P2", "KG", "P3")):
                for place in places[n : n + 3]:
                    await world.log(
                        product_number=product, quantity=day % 3 - n, **({"location_code": place} if place else {})
                    )
            world.now += (LEAST_DAYS + 1) * DAY
            await purge(storage, world.now - LEAST_DAYS * DAY, world.now, ("log",))
            listed = await world.get(LOG, store_number="S1", is_historic=True)
            ids = [row["id"] for row in listed["list"]]
            assert listed["total_count"] == len(ids) <= 12
            assert ids == [ids[0] + n * (1 << 20) for n in range(len(ids))]
            assert_books(world.service)
            page = await world.get(LOG, store_number="S1", is_historic=True, page_size=5, page_start=2)
            assert page["list"] == listed["list"][5:10]


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
