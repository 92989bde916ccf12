"""What is old goes in batches; sums stay right, and nothing young is touched."""

from __future__ import annotations

import asyncio
import re
from decimal import Decimal
from pathlib import Path
from time import monotonic
from typing import Any
from unittest.mock import patch

import pytest

from aisle.errors import StorageError, UsageError
from aisle.service import retention
from aisle.service.app_options_and_limits import keys_kept
from aisle.service.db.database_interface import GROWING_TABLES, Transaction
from aisle.service.db.postgres_database import read_sizes
from aisle.service.db.statements import retention as retention_statements
from aisle.service.db.statements.stock import ASSIGNMENT_ADD, ASSIGNMENT_DONE_SET
from aisle.service.domain.quantities_times_and_json import format_timestamp
from aisle.service.retention import MIN_AGE_DAYS, PurgedRows, purge
from tests.run_length import tries
from tests.service.postgres import Server
from tests.service.test_monitoring import client_of, figures
from tests.service.world import API, LOGS, World, assert_books

DAY = 86400.0
CHANGES = "/aisle/v1/stores/S1/changes"
LOG = "/products/stock/storeproductlogs"


async def legs(world: World) -> list[Any]:
    """The ledger: kind, product, quantity."""

    async def work(tx: Transaction) -> list[Any]:
        return await tx.all("SELECT kind, product_number, quantity, occurred_on FROM leg ORDER BY op_id, leg")

    return await world.service.database.read(work)


async def audited(world: World) -> int:
    """Entries of the chain's audit and of the store's."""
    paths = ("/aisle/v1/audit", "/aisle/v1/stores/S1/audit")
    return sum([len((await world.get(path))["audit"]) for path in paths])


async def count_of(world: World, table: str) -> int:
    """How many rows a table has."""

    async def work(tx: Transaction) -> int:
        rows = await tx.all(f"SELECT count(*) FROM {table}")
        return int(rows[0][0])

    return await world.service.database.read(work)


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
    world.now += (MIN_AGE_DAYS + 10) * DAY
    await worked(world)
    young = [row for row in await legs(world) if row[3] > "2026" and row[0] != "opening"][-1]
    books, before, storage = world.books(), len(await legs(world)), world.service.database
    audit = await audited(world)
    gone = await purge(storage, world.now - MIN_AGE_DAYS * DAY, world.now)
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
    assert await audited(world) == audit - gone.audit
    assert await purge(storage, world.now - MIN_AGE_DAYS * DAY, world.now) == PurgedRows(), "there is no more of it"
    await world.count("P1", "A1", stock_pool_1=1)


async def test_empty_balances_go_with_their_ledger(world: World) -> None:
    for place, quantity in (("A1", 5), ("A2", 5), ("A10", 5)):
        await world.log(product_number="P1", location_code=place, quantity=quantity)
    await world.log(product_number="P1", location_code="A1", quantity=-5)
    world.now += (MIN_AGE_DAYS + 1) * DAY
    await world.log(product_number="P1", location_code="A2", quantity=-5)
    await purge(world.service.database, world.now - MIN_AGE_DAYS * DAY, world.now, ("ledger",))
    [product] = (await world.get("/stores/S1/products/P1/stock", include_locations=True, include_zero_lines=True))[
        "products"
    ]
    lines = [(one["store_location_code"], one["quantity"]) for one in product["store_locations"]]
    assert lines == [("A2", 0), ("A10", 5)]
    assert await count_of(world, "balance") == 2


async def test_openings_of_many_places_stand_before_the_log_without_a_gap(world: World) -> None:
    storage, places = world.service.database, (None, "A1", "A2", "A10", "BACK", "DESK")
    with patch.object(retention, "_ROWS_PER_BATCH", 3):
        for day in range(5):
            for n, product in enumerate(("P1", "P2", "KG", "P3")):
                for place in places[n : n + 3]:
                    entry: dict[str, Any] = {"product_number": product, "quantity": day % 3 - n}
                    await world.log(**entry | ({"location_code": place} if place else {}))
            world.now += (MIN_AGE_DAYS + 1) * DAY
            await purge(storage, world.now - MIN_AGE_DAYS * DAY, world.now, ("log",))
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
    if not isinstance(world.database, Path):
        assert (await asyncio.to_thread(read_sizes, world.database)).keys() == {*GROWING_TABLES, "*"}


def test_the_size_of_each_table_that_a_purge_deletes_from_is_told() -> None:
    deleted = set(re.findall(r"DELETE FROM (\w+)", Path(retention_statements.__file__).read_text(encoding="utf-8")))
    assert deleted - set(GROWING_TABLES) == {"balance", "carried_pick", "shipment_line"}, "of stock, and of lines"


def test_sizes_of_an_empty_database_are_told_and_of_none_an_error(server: Server) -> None:
    assert read_sizes(server.fresh()) == {"*": 0}
    with pytest.raises(StorageError, match="cannot be checked"):
        read_sizes("postgresql://somebody:secret@/nowhere?host=/nowhere")


async def test_parts_are_purged_alone_and_nothing_young_at_all(world: World) -> None:
    await worked(world)
    world.now += (MIN_AGE_DAYS + 10) * DAY
    storage, until = world.service.database, world.now - MIN_AGE_DAYS * DAY
    with pytest.raises(UsageError, match="younger than"):
        await purge(storage, until + 1, world.now)
    assert (await purge(storage, until, world.now, ("audit",))).ledger == 0
    assert (await purge(storage, until, world.now, ("ledger",))).audit == 0


async def test_changes_are_forgotten_and_who_has_not_heard_them_is_told(world: World) -> None:
    begun = (await world.get(CHANGES))["cursor"]
    await worked(world)
    heard = (await world.get(CHANGES))["cursor"]
    world.now += (MIN_AGE_DAYS + 1) * DAY
    await world.count("P2", "A1", stock_pool_1=5)
    await purge(world.service.database, world.now - DAY * 60, world.now, ("changes",))
    for since in (0, begun):
        told = await world.get(CHANGES, since=since)
        assert (told["forgotten"], told["restored"], told["changes"]) == (True, False, [])
        again = await world.get(CHANGES, since=told["cursor"])
        assert not again["forgotten"]
    told = await world.get(CHANGES, since=heard)
    assert not told["forgotten"]
    assert [change["key"] for change in told["changes"]] == ["P2"]


async def test_finished_orders_and_old_deliveries_go_with_their_lines(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=9)
    heard = (await world.get(CHANGES))["cursor"]
    for number in ("OLD", "OPEN", "REJECTED"):
        await world.order(number, {"product_number": "P1", "quantity": 2})
    await world.pick("OLD", 1, "P1", 2)
    await world.update("OLD", is_active=False)
    await world.update("REJECTED", is_rejected=True)
    line = {"product_number": "P1", "quantity": 3, "line_number": 1}
    head = {"no_of_containers": 1, "supplier_name": "S"}
    deliveries: list[dict[str, Any]] = [{"order_number": f"D{n}", **head, "order_lines": [line]} for n in range(1, 6)]
    deliveries[3]["datetime_expected"] = format_timestamp(world.now + 2 * DAY)
    await world.post("/stores/S1/orders/deliveries", {"orders": deliveries})
    for number, quantity in (("D1", 3), ("D2", 1)):
        await world.log(query={"is_from_receipt": True}, product_number="P1", quantity=quantity, reference=number)
    world.now += (MIN_AGE_DAYS + 1) * DAY
    await world.log(query={"is_from_receipt": True}, product_number="P1", quantity=1, reference="D5")
    await world.order("NEW", {"product_number": "P1", "quantity": 1})
    await world.update("NEW", is_active=False)
    books = world.books()
    gone = await purge(world.service.database, world.now - MIN_AGE_DAYS * DAY, world.now, ("orders", "deliveries"))
    assert (gone.orders, gone.deliveries) == (2, 3)
    assert world.books() == books
    orders = await world.rows("/stores/S1/orders/customerorders", is_active=False)
    assert {row["order_number"] for row in orders} == {"NEW", "OPEN"}
    assert [row["order_number"] for row in await world.rows("/orders/deliveries", store_number="S1")] == ["D4", "D5"]
    assert [await count_of(world, table) for table in ("customer_order", "order_line", "delivery_line")] == [2, 2, 2]
    told = await world.get(CHANGES, since=heard)
    keys = {change["key"] for change in told["changes"]}
    assert told["forgotten"] or keys >= {"OLD", "REJECTED", "D1"}, "a host that was away keeps them for ever"


async def test_rejected_order_ages_from_rejection_until_reopened(world: World) -> None:
    storage = world.service.database
    await world.count("P1", "A1", stock_pool_1=9)
    for number in ("REJECTED", "AGAIN", "HANDED"):
        await world.order(number, {"product_number": "P1", "quantity": 2})
        await world.pick(number, 1, "P1", 2)
        await world.update(number, is_rejected=True)
    world.now += DAY
    await world.update("AGAIN", is_rejected=False)
    world.now += 2 * DAY
    await world.update("HANDED", is_active=False)
    await world.update("REJECTED", is_rejected=True)
    books, put_backs = world.books(), await count_of(world, "put_back")
    assert put_backs
    world.now += (MIN_AGE_DAYS - 1) * DAY
    assert (await purge(storage, world.now - MIN_AGE_DAYS * DAY, world.now, ("orders",))).orders == 1 + put_backs
    assert world.books() == books
    listed = await world.rows("/stores/S1/orders/customerorders", is_active=False)
    assert {row["order_number"] for row in listed} == {"AGAIN", "HANDED"}
    world.now += 2 * DAY
    await purge(storage, world.now - MIN_AGE_DAYS * DAY, world.now, ("orders",))
    assert await count_of(world, "customer_order") == 1
    world.now += 999 * DAY
    await purge(storage, world.now - MIN_AGE_DAYS * DAY, world.now, ("orders",))
    assert await count_of(world, "customer_order") == 1, "it is open"
    assert world.books() == books
    assert_books(world.service)


async def test_closed_recounts_expire_with_log_and_open_ones_stay(world: World) -> None:
    path = "/aisle/v1/stores/S1/recounts"
    await world.post(path, {"recounts": [{"product_number": product} for product in ("P1", "P2", "P3")]})
    listed = (await world.get(path))["recounts"]
    await world.post(path, {"recounts": [{"id": listed[0]["id"], "state": "withdrawn"}]})
    await world.count("P2", None, stock_pool_1=4)
    for passed, left in ((MIN_AGE_DAYS - 1, ["withdrawn", "counted", "open"]), (2, ["open"])):
        world.now += passed * DAY
        await purge(world.service.database, world.now - MIN_AGE_DAYS * DAY, world.now, ("log",))
        assert [row["state"] for row in (await world.get(path, state="all"))["recounts"]] == left


async def test_assignments_that_are_done_go_with_the_orders(world: World) -> None:
    async def work(tx: Transaction) -> None:
        for n, done in enumerate(done_on):
            await tx.run(ASSIGNMENT_ADD, "S1", n, "P1", "A1", 1, f"O{n}", 1, 1000, "", format_timestamp(world.now))
            await tx.run(ASSIGNMENT_DONE_SET, "S1", "P1", "A1", 1, f"O{n}", 1, done)

    done_on = [None, format_timestamp(world.now), format_timestamp(world.now + 2 * DAY)]
    await world.service.database.write(work, stores=["S1"])
    world.now += (MIN_AGE_DAYS + 1) * DAY
    assert (await purge(world.service.database, world.now - MIN_AGE_DAYS * DAY, world.now, ("orders",))).orders == 1
    assert await count_of(world, "assignment") == 2


@pytest.mark.parametrize(("days", "told"), [(90, "idempotency=90d,"), (30, "idempotency=30d,")])
async def test_answers_are_kept_for_as_long_as_hosts_are_told(world: World, days: int, told: str) -> None:
    world.service.options = world.service.options._replace(keys_days=days)
    del world.service.app
    async with world.open_client(world.secret) as client:
        assert (await client.get("/aisle/v1/health")).headers["Aisle-Features"].startswith(told)
        entry = {"storeproductlog": [{"product_number": "P1", "quantity": 1}]}
        key = {"Idempotency-Key": "k" * 16}
        await client.post(API + LOGS, json=entry, headers=key)
        world.now += 31 * DAY
        await client.get(API + "/stores")
        again = await client.post(API + LOGS, json=entry, headers=key)
        assert (again.headers.get("Idempotency-Replayed") == "true") == (days == 90)


@pytest.mark.parametrize(("said", "kept"), [("0", 36_500), ("1", 30), ("30", 30), ("30.5", 31), ("400", 400)])
def test_no_answer_goes_before_hosts_think(said: str, kept: int) -> None:
    assert keys_kept(Decimal(said)) == kept


async def test_answers_of_keys_go_when_hosts_know_that_they_do(world: World) -> None:
    entry = {"storeproductlog": [{"product_number": "P1", "quantity": 1}]}
    await world.post(LOGS, entry, headers={"Idempotency-Key": "k" * 16})
    world.now += 31 * DAY
    await world.post(LOGS, entry, headers={"Idempotency-Key": "l" * 16})
    gone = await purge(world.service.database, world.now - 30 * DAY, world.now, ("answers",))
    assert gone.answers <= 1, "the service may have forgotten it by itself"
    assert await count_of(world, "idempotency") == 1


@pytest.mark.parametrize("part", ["answers", "audit"])
async def test_no_store_is_locked_where_nothing_is_old(world: World, part: str) -> None:
    entry = {"storeproductlog": [{"product_number": "P1", "quantity": 1}]}
    await world.post(LOGS, entry, headers={"Idempotency-Key": "k" * 16})
    with patch.object(world.service.database, "write", side_effect=AssertionError):
        gone = await purge(world.service.database, world.now - MIN_AGE_DAYS * DAY, world.now, (part,))
    assert gone == PurgedRows()


async def test_a_write_gets_through_while_much_is_purged(world: World) -> None:
    entries = [{"product_number": "P1", "location_code": "A1", "quantity": n % 7} for n in range(1, 1500)]
    for _ in range(tries(3, 30)):
        await world.post(LOGS, {"storeproductlog": entries})
    world.now += (MIN_AGE_DAYS + 1) * DAY
    work = asyncio.create_task(purge(world.service.database, world.now - MIN_AGE_DAYS * DAY, world.now))
    waits: list[float] = []
    while not work.done():
        began = monotonic()
        await world.log(product_number="P2", quantity=1)
        waits.append(monotonic() - began)
        await asyncio.sleep(0)
    gone = await work
    assert gone.log > 4000
    assert len(waits) > 3
    assert sorted(waits)[len(waits) * 9 // 10] < 1.0, "of the worst the machine's other work would be told"
    assert_books(world.service)
