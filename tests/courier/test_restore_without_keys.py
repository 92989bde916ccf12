"""A service without keys is put back from an earlier copy: what it lost is noticed, looked for, and sent again where it
is sure to be absent."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from aisle.courier.courier import Courier
from aisle.outbox.service_restore import list_restores
from tests.courier.document_host import MOVE, PUT, Shop, loss
from tests.courier.fake_service import says
from tests.courier.writes import movement, update

_STATE = ("orders", "stock", "logs")
WITHIN_S = 3600.0


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    made = Shop(tmp_path)
    yield made
    made.close()


def copied(shop: Shop) -> dict[str, Any]:
    return {name: deepcopy(getattr(shop.fake, name)) for name in _STATE}


def put_back(shop: Shop, copy: dict[str, Any]) -> None:
    for name, value in deepcopy(copy).items():
        setattr(shop.fake, name, value)


def told(courier: Courier, text: str) -> bool:
    return any(text in notice.text for notice in courier.operator_log.recent)


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
        put_back(shop, copy)
        await shop.time.until(lambda: told(courier, "earlier copy: 3 operations are looked for"), WITHIN_S)
        await shop.time.until(lambda: set(shop.desk.states()) == {"done"}, WITHIN_S)
        assert shop.applied(MOVE, "P1") == 1, "what it still had is not done twice"
        for number in ("P1", "P2", "P3"):
            assert shop.fake.stock[number]["store_locations"] == stood["stock"][number]["store_locations"]
        assert shop.fake.orders["O1"]["lines"][0]["picked_quantity"] == 2
        (noted,) = list_restores(shop.desk.db)
        assert (noted.again, noted.looked_for) == (0, 3)


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
        put_back(shop, copy)
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
        put_back(shop, copy)
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
