"""A restored service: lost operations are sent again, and nothing is done twice."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import closing
from copy import deepcopy
from decimal import Decimal
from pathlib import Path
from typing import Any

import apsw
import pytest

from aisle.cache.reader import CacheReader
from aisle.cli.print_rows_and_messages import reason_text
from aisle.courier.courier import Courier
from aisle.jobs.job import Write
from aisle.jobs.supervisor.service_fields_and_values import UPDATE
from aisle.outbox.merge_and_rebase import is_excess
from aisle.outbox.replay_after_restore import list_restores
from aisle.service.app_options_and_limits import ServiceOptions
from aisle.service.open_service_and_admin_token import open_service
from aisle.service.retention import WRITE_HISTORY_DAYS, purge
from tests.courier.document_host import MOVE, PUT, Shop, loss
from tests.courier.fake_service import says
from tests.courier.test_conflicts import Own, count
from tests.courier.test_rebase import based
from tests.courier.test_store_product_updates import setting
from tests.courier.writes import STORE, movement, update
from tests.service.database_restore import put_back as put_back_in_place


def copy_of(world: Own, root: Path) -> bytes:
    """The service's database as it is now."""
    with closing(apsw.Connection(str(root / "service.db"))) as database:
        return database.serialize("main")


def put_back(world: Own, root: Path, copy: bytes) -> None:
    """What an operator does after a disk was lost."""
    world.service.close()
    for part in ("", "-wal", "-shm"):
        (root / f"service.db{part}").unlink(missing_ok=True)
    (root / "service.db").write_bytes(copy)
    world.service = open_service(root / "service.db", ServiceOptions(world.host.time.clock))


async def test_operations_lost_by_restore_are_sent_again(aisle_home: Path) -> None:
    world = Own(aisle_home)
    await world.begin()
    async with world.host.courier() as world.courier:
        await world.courier.sync_once()
        kept = await world.send(movement("P1", 1, "A-1", "B-1"))
        copy = copy_of(world, aisle_home)
        lost = await world.send(movement("P1", 2, "A-1", "B-1"), based("O1", 0, 2))
        lost += await world.send(based("O1", 2, 3), count("P1", "B-1", 5, 3))
        (refused,) = await world.send(movement("P1", 1, "A-1", "X-9"))
        stood = await world.stock("A-1"), await world.stock("B-1"), int(await world.picked())
        assert stood == (4, 5, 3)
    put_back(world, aisle_home, copy)
    assert (await world.stock("A-1"), int(await world.picked())) == (9, 0)
    async with world.host.courier() as world.courier:
        await world.courier.sync_once()
        for _ in range(10):
            await world.work()
        assert any("Operations sent again: 4." in notice.text for notice in world.courier.operator_notices.recent)
        assert (await world.stock("A-1"), await world.stock("B-1"), int(await world.picked())) == stood
        assert [world.op(op_id).state for op_id in (*kept, *lost)] == ["done"] * 5
        assert all(world.op(op_id).read_back_at for op_id in (*kept, *lost))
        assert [card["op_id"] for card in world.cards()] == [refused], "nothing new is asked"
        assert world.host.line("O1")["picked_quantity"] == 3
        (row,) = world.host.reads.query("product", {"product_number": "P1"})[0]
        assert {place["location_code"]: place["quantity"] for place in row["locations"]} == {"A-1": 4, "B-1": 5}
        before = len(world.courier.operator_notices.recent)
        await world.courier.sync_once()
        assert len(world.courier.operator_notices.recent) == before, "it is told once"
    world.close()


async def test_a_host_whose_changes_were_purged_reads_all_lists_and_is_right(aisle_home: Path) -> None:
    world = Own(aisle_home)
    await world.begin()
    async with world.host.courier() as world.courier:
        await world.courier.sync_once()
    await world.other(order_lines=[{"line_number": 1, "product_number": "P1", "picked_quantity": 2}])
    async with world.client() as client:
        await client.call(
            "create-or-update-products", {"products": [{"product_number": "P2", "product_name": "Coffee"}]}
        )
    now = world.host.time.clock() + 1
    gone = await purge(world.service.database, now, now + WRITE_HISTORY_DAYS * 86400, ("changes",))
    assert gone.changes > 3
    async with world.host.courier() as world.courier:
        await world.courier.sync_once()
        await world.work()
        assert world.host.line("O1")["picked_quantity"] == 2
        (row,) = world.host.reads.query("product", {"product_number": "P2"})[0]
        assert row["product_name"] == "Coffee"
        await world.send(based("O1", 2, 3))
        assert int(await world.picked()) == 3
        assert not world.cards()
    world.close()


async def test_excess_after_restore_is_reported_once(aisle_home: Path) -> None:
    world = Own(aisle_home)
    await world.begin()
    async with world.host.courier() as world.courier:
        await world.courier.sync_once()
        copy = copy_of(world, aisle_home)
        await world.other(order_lines=[{"line_number": 1, "product_number": "P1", "picked_quantity": 2}])
        await world.send(based("O1", 0, 2))
        (card,) = world.cards()
        await world.settle(card["op_id"], "close_by_hand", "put_back")
    put_back(world, aisle_home, copy)
    async with world.host.courier() as world.courier:
        await world.courier.sync_once()
        for _ in range(5):
            await world.work()
        assert await world.picked() == 1, "the other one was put back"
        assert not world.cards()
    world.close()


async def test_excess_on_many_lines_after_restore_is_reported_once(aisle_home: Path) -> None:
    world, lines = Own(aisle_home), range(1, 16)
    await world.begin()
    ordered = [{"line_number": n, "product_number": "P1", "quantity": 1} for n in lines]
    picked = [{"line_number": n, "product_number": "P1", "picked_quantity": 1} for n in lines]
    async with world.client() as client:
        await client.call(
            "create-customer-orders-one-store",
            {"orders": [{"order_number": "O9", "order_lines": ordered}]},
            store_number=STORE,
        )
    async with world.host.courier() as world.courier:
        await world.courier.sync_once()
        copy = copy_of(world, aisle_home)
        await world.other(order_number="O9", order_lines=picked)
        (op_id,) = await world.send(all_based("O9", lines))
        assert len(world.cards()) == 15
        for card in world.cards():
            await world.settle(card["op_id"], "close_by_hand", "put back")
    put_back(world, aisle_home, copy)
    async with world.host.courier() as world.courier:
        await world.courier.sync_once()
        for _ in range(5):
            await world.work()
        assert world.op(op_id).state == "done"
        assert await world.stock("A-1") == 10, "all of it was put back"
        assert not world.cards()
    world.close()


def all_based(order: str, lines: Iterable[int]) -> Write:
    """Somebody found nothing picked on these lines, and picked one for each."""
    write = update(order, {})
    write.body["orders"]["order_lines"] += [
        {"line_number": n, "product_number": "P1", "base_picked_quantity": Decimal(0), "picked_quantity": Decimal(1)}
        for n in lines
    ]
    return write


# A cursor tells nothing: the database has gone on

BEYOND = 40
"""Orders that are loaded after the restore: more changes than were lost."""


async def load(world: Own, count: int) -> None:
    """An integrator brings new orders."""
    orders = [
        {"order_number": f"N{n}", "order_lines": [{"line_number": 1, "product_number": "P1", "quantity": 1}]}
        for n in range(count)
    ]
    async with world.client() as client:
        await client.call("create-customer-orders-one-store", {"orders": orders}, store_number=STORE)


async def lost_and_loaded(world: Own, root: Path) -> tuple[list[str], tuple[int, int, int]]:
    """Work that a restore takes away while the courier is stopped; then the cursor goes past where it was."""
    async with world.host.courier() as world.courier:
        await world.courier.sync_once()
        copy = copy_of(world, root)
        lost = await world.send(movement("P1", 2, "A-1", "B-1"), based("O1", 0, 2))
        lost += await world.send(based("O1", 2, 3), count("P1", "B-1", 5, 3))
        stood = await world.stock("A-1"), await world.stock("B-1"), int(await world.picked())
        await world.courier.sync_once()
    put_back(world, root, copy)
    await load(world, BEYOND)
    return lost, stood


async def test_a_restore_is_noticed_though_the_cursor_is_past_where_it_was(aisle_home: Path) -> None:
    world = Own(aisle_home)
    await world.begin()
    lost, stood = await lost_and_loaded(world, aisle_home)
    assert (await world.stock("A-1"), int(await world.picked())) == (10, 0)
    async with world.host.courier() as world.courier:
        await world.courier.sync_once()
        for _ in range(10):
            await world.work()
        assert any("Operations sent again: 4." in notice.text for notice in world.courier.operator_notices.recent)
        assert (await world.stock("A-1"), await world.stock("B-1"), int(await world.picked())) == stood
        assert [world.op(op_id).state for op_id in lost] == ["done"] * 4
        assert "N7" in world.host.numbers(), "what was loaded meanwhile is shown"
        (noted,) = list_restores(world.host.desk.db)
        assert (noted.source, noted.resent) == ("noticed", 4)
    world.close()


async def test_a_restore_is_noticed_where_the_cache_was_lost_too(aisle_home: Path) -> None:
    world = Own(aisle_home)
    await world.begin()
    _, stood = await lost_and_loaded(world, aisle_home)
    world.host.reads.close()
    for part in ("", "-wal", "-shm"):
        world.host.home.cache.with_name(f"{world.host.home.cache.name}{part}").unlink(missing_ok=True)
    world.host.reads = CacheReader(world.host.home, world.host.desk.db)
    async with world.host.courier() as world.courier:
        await world.courier.sync_once()
        for _ in range(10):
            await world.work()
        assert (await world.stock("A-1"), await world.stock("B-1"), int(await world.picked())) == stood
    world.close()


async def test_new_work_waits_for_what_it_follows_from(aisle_home: Path) -> None:
    world = Own(aisle_home)
    await world.begin()
    async with world.host.courier() as world.courier:
        await world.courier.sync_once()
        copy = copy_of(world, aisle_home)
        await world.send(movement("P1", 6, "A-1", "B-1"))
        put_back_in_place(aisle_home / "service.db", copy)
        (then,) = world.host.desk.write(movement("P1", 5, "B-1", "A-1"))
        for _ in range(10):
            await world.work()
        assert world.op(then).state == "done", "it was not refused for what had not been said again"
        assert (await world.stock("A-1"), await world.stock("B-1")) == (9, 1)
    world.close()


async def test_replay_refused_for_good_needs_person(aisle_home: Path) -> None:
    world = Own(aisle_home)
    await world.begin()
    async with world.host.courier() as world.courier:
        await world.courier.sync_once()
        copy = copy_of(world, aisle_home)
        async with world.client() as client:
            line = {"line_number": 1, "product_number": "P1", "quantity": 3}
            await client.call(
                "create-customer-orders-one-store",
                {"orders": [{"order_number": "O9", "order_lines": [line]}]},
                store_number=STORE,
            )
        (picked,) = await world.send(based("O9", 0, 1))
        assert world.op(picked).state == "done"
    put_back(world, aisle_home, copy)
    async with world.host.courier() as world.courier:
        await world.courier.sync_once()
        await world.work()
        assert world.op(picked).state == "queued", "somebody may load the order again"
        assert told(world.courier, f"does not take update-customer-order {picked}")
        for _ in range(42):
            await world.host.time.pass_(120)
            await world.courier.push_once()
        assert world.op(picked).state == "queued", "operators take their time"
        for _ in range(10):
            await world.host.time.pass_(120)
            await world.courier.push_once()
        assert world.op(picked).state == "rejected"
        assert [card["op_id"] for card in world.cards()] == [picked]
        assert world.card(picked)["sides"]
        asked = {"operation": "update-customer-order", "since": ""}
        (refused,) = world.host.reads.query("refused_operations", asked)[0]
        assert refused["left"] == {}, "it is no rest of another one"
        assert not is_excess(world.op(picked))
    world.close()


async def said_by_another(world: Own, **fields: int) -> None:
    """Another host, or a supervisor at one, says something of P1."""
    async with world.client() as client:
        await client.call("update-store-products", [{"product_number": "P1", **fields}], store_number=STORE)


async def least(world: Own) -> int:
    """The `min` of P1 at the service."""
    (row,) = await world.rows("list-store-products-stock", store_number=STORE, product_number="P1")
    return int(row.get("min") or 0)


async def test_later_value_of_other_host_stands_and_is_reported(aisle_home: Path) -> None:
    world = Own(aisle_home)
    await world.begin()
    async with world.host.courier() as world.courier:
        await world.courier.sync_once()
        copy = copy_of(world, aisle_home)
        (late,) = await world.send(setting({"min": Decimal(3)}, min=""))
        assert await least(world) == 3
    put_back(world, aisle_home, copy)
    await world.host.time.pass_(5 * 3600)
    await said_by_another(world, min=9)
    async with world.host.courier() as world.courier:
        await world.courier.sync_once()
        for _ in range(5):
            await world.work()
        assert await least(world) == 9
        assert world.op(late).state == "rejected"
        assert "changed later" in world.op(late).last_error
        (refused,) = world.host.reads.query("refused_operations", {"operation": UPDATE, "since": ""})[0]
        assert refused["op_id"] == late
    world.close()


async def test_a_setting_is_said_again_though_what_it_was_based_on_is_lost(aisle_home: Path) -> None:
    """The other host has not come back yet, or never does."""
    world = Own(aisle_home)
    await world.begin()
    async with world.host.courier() as world.courier:
        await said_by_another(world, min=5)
        await world.courier.sync_once()
        copy = copy_of(world, aisle_home)
        await said_by_another(world, min=7)
        await world.courier.sync_once()
        (op_id,) = await world.send(setting({"min": Decimal(9)}, min="7"))
        assert await least(world) == 9
    put_back(world, aisle_home, copy)
    async with world.host.courier() as world.courier:
        await world.courier.sync_once()
        for _ in range(5):
            await world.work()
        assert await least(world) == 9
        assert world.op(op_id).state == "done"
    world.close()


def closed_short(order: str, base: int, picked: int) -> Write:
    """Somebody closed line 1 with less than was ordered."""
    write = based(order, base, picked)
    write.body["orders"]["order_lines"][0] |= {"is_picked": True, "rejection_reason_code_description": "damaged"}
    return write


async def picked_by_another(world: Own, base: int, picked: int) -> None:
    """Another host picks line 1 of O1."""
    line = {"line_number": 1, "product_number": "P1", "base_picked_quantity": base, "picked_quantity": picked}
    async with world.client() as client:
        await client.call(
            "update-customer-order", {"orders": {"order_number": "O1", "order_lines": [line]}}, store_number=STORE
        )


@pytest.mark.parametrize("at_once", [True, False])
async def test_a_closing_that_a_later_pick_replaced_is_reported(aisle_home: Path, *, at_once: bool) -> None:
    """The quantity of the same update counts; that the line is open is told to a person, once."""
    world = Own(aisle_home)
    await world.begin()
    async with world.host.courier() as world.courier:
        await world.courier.sync_once()
        copy = copy_of(world, aisle_home)
        if at_once:
            lost = await world.send(closed_short("O1", 0, 1))
        else:
            lost = await world.send(based("O1", 0, 1)) + await world.send(closed_short("O1", 1, 1))
        assert world.host.line("O1")["is_picked"], [(world.op(i).state, world.op(i).last_error) for i in lost]
    put_back(world, aisle_home, copy)
    await world.host.time.pass_(5 * 3600)
    await picked_by_another(world, 0, 1)
    async with world.host.courier() as world.courier:
        await world.courier.sync_once()
        for _ in range(10):
            await world.work()
        assert [world.op(op_id).state for op_id in lost] == ["done"] * len(lost)
        line = world.host.line("O1")
        assert (line["picked_quantity"], line["is_picked"]) == (2, False)
        asked = {"operation": "update-customer-order", "since": ""}
        (refused,) = world.host.reads.query("refused_operations", asked)[0]
        assert "was changed since" in reason_text(world.op(refused["op_id"]).last_error)
        assert refused["left"] == {}
        assert not is_excess(world.op(refused["op_id"]))
        assert [card["op_id"] for card in world.cards()] == [refused["op_id"]]
        assert world.card(refused["op_id"])["sides"]
        for _ in range(3):
            await world.work()
        assert len(world.cards()) == 1
    world.close()


async def test_a_closing_that_nobody_has_changed_is_repeated_without_a_word(aisle_home: Path) -> None:
    world = Own(aisle_home)
    await world.begin()
    async with world.host.courier() as world.courier:
        await world.courier.sync_once()
        copy = copy_of(world, aisle_home)
        await world.send(closed_short("O1", 0, 1))
    put_back(world, aisle_home, copy)
    async with world.host.courier() as world.courier:
        await world.courier.sync_once()
        for _ in range(10):
            await world.work()
        line = world.host.line("O1")
        assert (line["picked_quantity"], line["is_picked"]) == (1, True)
        assert not world.cards()
    world.close()


# A service without keys is put back from an earlier copy: what it lost is noticed, looked for, and sent again where it


_STATE = ("orders", "stock", "logs")
WITHIN_S = 3600.0


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    made = Shop(tmp_path)
    yield made
    made.close()


def copied(shop: Shop) -> dict[str, Any]:
    return {name: deepcopy(getattr(shop.fake, name)) for name in _STATE}


def put_back_restore(shop: Shop, copy: dict[str, Any]) -> None:
    for name, value in deepcopy(copy).items():
        setattr(shop.fake, name, value)


def told(courier: Courier, text: str) -> bool:
    return any(text in notice.text for notice in courier.operator_notices.recent)


async def test_lost_operations_are_found_and_resent_without_keys(shop: Shop) -> None:
    async with shop.working() as courier:
        await shop.prove()
        (kept,) = shop.desk.write(movement("P1", 1, "A-1", "B-1"))
        await shop.until(kept, "done")
        await shop.time.pass_(5)
        copy = copied(shop)
        lost = shop.desk.write(movement("P2", 1, "A-1", "B-1"), loss("P3"), update("O1", {1: 2}))
        for op_id in lost:
            await shop.until(op_id, "done")
        await shop.time.pass_(60)
        stood = copied(shop)
        put_back_restore(shop, copy)
        await shop.time.until(lambda: told(courier, "earlier copy: 3 operations are looked for"), WITHIN_S)
        await shop.time.until(lambda: set(shop.desk.states()) == {"done"}, WITHIN_S)
        assert shop.applied(MOVE, "P1") == 1, "what it still had is not done twice"
        for number in ("P1", "P2", "P3"):
            assert shop.fake.stock[number]["store_locations"] == stood["stock"][number]["store_locations"]
        assert shop.fake.orders["O1"]["lines"][0]["picked_quantity"] == 2
        (noted,) = list_restores(shop.desk.db)
        assert (noted.resent, noted.looked_up) == (0, 3)


async def test_new_work_after_a_restore_hides_nothing(shop: Shop) -> None:
    async with shop.working() as courier:
        await shop.prove()
        (kept,) = shop.desk.write(movement("P1", 1, "A-1", "B-1"))
        await shop.until(kept, "done")
        await shop.time.pass_(5)
        copy = copied(shop)
        (lost,) = shop.desk.write(movement("P2", 1, "A-1", "B-1"))
        await shop.until(lost, "done")
        await shop.time.pass_(60)
        put_back_restore(shop, copy)
        (then,) = shop.desk.write(movement("P3", 1, "A-1", "B-1"))
        await shop.until(then, "done")
        await shop.time.until(lambda: told(courier, "earlier copy"), WITHIN_S)
        await shop.time.until(lambda: set(shop.desk.states()) == {"done"}, WITHIN_S)
        assert shop.applied(MOVE, "P1") == shop.applied(MOVE, "P3") == 1
        assert shop.applied(MOVE, "P2") == 2, "once before the restore and once after it"


async def test_operations_after_last_surviving_entry_are_looked_up(shop: Shop) -> None:
    async with shop.working() as courier:
        await shop.prove()
        shop.fake.gate = asyncio.Event()
        (slow,) = shop.desk.write(movement("P1", 1, "A-1", "B-1"))
        courier.wake()
        await shop.time.until(lambda: shop.fake.waiting)
        gate, shop.fake.gate = shop.fake.gate, None
        (lost,) = shop.desk.write(movement("P2", 1, "A-1", "B-1"))
        await shop.until(lost, "done")
        gate.set()
        await shop.until(slow, "done")
        (last,) = shop.desk.write(movement("P3", 1, "A-1", "B-1"))
        await shop.until(last, "done")
        await shop.time.pass_(60)
        # P2 was done after P1, though it was confirmed before it: a copy from between has lost it too
        shop.fake.logs = [row for row in shop.fake.logs if row["product_number"] not in ("P2", "P3")]
        await shop.time.until(lambda: told(courier, "earlier copy"), WITHIN_S)
        await shop.time.until(lambda: shop.applied(MOVE, "P2") == 2, WITHIN_S)


async def test_lost_operation_changed_by_others_needs_person(shop: Shop) -> None:
    async with shop.working() as courier:
        await shop.prove()
        await shop.time.pass_(5)
        copy = copied(shop)
        (moved, picked) = shop.desk.write(movement("P2", 1, "A-1", "B-1"), update("O1", {1: 2}))
        await shop.until(moved, "done")
        await shop.until(picked, "done")
        await shop.time.pass_(60)
        put_back_restore(shop, copy)
        shop.fake.orders["O1"]["lines"][0]["picked_quantity"] = 1
        await shop.until(picked, "needs_person", within_s=WITHIN_S)
        await shop.until(moved, "done", within_s=WITHIN_S)
        assert told(courier, "earlier copy")
        assert shop.fake.orders["O1"]["lines"][0]["picked_quantity"] == 1
        assert [name for name, _ in shop.fake.applied].count(PUT) == 1, "nothing is sent blindly"


async def test_a_log_that_shows_nothing_any_more_is_only_told(shop: Shop) -> None:
    async with shop.working() as courier:
        await shop.prove()
        (op_id,) = shop.desk.write(movement("P1", 1, "A-1", "B-1"))
        await shop.until(op_id, "done")
        shop.fake.logs.clear()
        await shop.time.until(lambda: told(courier, "aisle outbox replay"), WITHIN_S)
        assert set(shop.desk.states()) == {"done"}
        assert list_restores(shop.desk.db) == []


async def test_a_log_that_cannot_be_read_proves_nothing(shop: Shop) -> None:
    async with shop.working() as courier:
        await shop.prove()
        (op_id,) = shop.desk.write(movement("P1", 1, "A-1", "B-1"))
        await shop.until(op_id, "done")
        shop.fake.fail("list-store-product-logs", *[says(500, body={"success": False, "message": "no"})] * 100)
        await shop.time.pass_(3000)
        assert not told(courier, "earlier copy")
        assert not told(courier, "replay")
        assert set(shop.desk.states()) == {"done"}
