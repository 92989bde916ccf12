"""A stock read during a write is never counted twice and never lost."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aisle.outbox.session_requests import request_read
from tests.courier.fake_service import says
from tests.courier.host import Host, quiet
from tests.courier.writes import movement


@pytest.fixture
def host(aisle_home: Path) -> Iterator[Host]:
    """A host whose service has ten of P1 at A-1."""
    host = Host(aisle_home)
    host.fake.add_products(["P1"])
    host.fake.add_locations("A-1", "B-1")
    yield host
    host.close()


def lying(host: Host) -> dict[str, Any]:
    """What a session sees of P1 at each place."""
    rows, _ = host.reads.query("product", {"product_number": "P1"})
    return {place["location_code"]: int(place["quantity"]) for row in rows for place in row["locations"]}


async def test_a_shelf_never_shows_goods_that_came_back_twice(host: Host) -> None:
    """A move is taken back while its read-back is due: what is read between has both, or is not taken for an answer."""
    seen = []
    async with host.running(host.courier(intervals=quiet())) as courier:
        await host.time.until(lambda: host.knows("P1"))
        (there,) = host.desk.write(movement("P1", 3, "A-1", "B-1"))
        courier.push_loop.wake_event.set()
        await host.time.until(lambda: host.desk.is_read_back(there))
        assert lying(host) == {"A-1": 7, "B-1": 3}
        host.fake.hold = asyncio.Event()
        (back,) = host.desk.write(movement("P1", 3, "B-1", "A-1"))
        courier.push_loop.wake_event.set()
        await host.time.until(lambda: len(host.fake.applied) == 2)
        calls = host.fake.calls["list-store-products-stock"]
        request_read(host.desk.db, "product", "P1", host.time.now)
        courier.incremental_sync.wake_event.set()
        await host.time.until(lambda: host.fake.calls["list-store-products-stock"] > calls)
        await host.time.pass_(3)
        seen.append(lying(host))
        host.fake.hold.set()
        await host.time.until(lambda: host.desk.state(back) == "done")
        seen.append(lying(host))
        await host.time.until(lambda: host.desk.is_read_back(back))
        seen.append(lying(host))
    assert seen == [{"A-1": 10, "B-1": 0}] * 3


async def test_data_read_during_write_is_read_again_after_failure(host: Host) -> None:
    host.fake.gate = asyncio.Event()
    async with host.running(host.courier(intervals=quiet())) as courier:
        await host.time.until(lambda: host.knows("P1"))
        host.desk.write(movement("P1", 3, "A-1", "B-1"))
        courier.push_loop.wake_event.set()
        await host.time.until(lambda: host.fake.waiting)
        host.fake.stock["P1"]["most_likely_quantity"] = 12
        request_read(host.desk.db, "product", "P1", host.time.now)
        courier.incremental_sync.wake_event.set()
        await host.time.pass_(2)
        assert host.quantity("P1") == 10
        host.fake.fail("create-movement", says(409, body={"success": False, "message": "No."}))
        host.fake.gate.set()
        await host.time.until(lambda: host.quantity("P1") == 12)


async def test_read_begun_after_confirmation_removes_overlay_effect(host: Host) -> None:
    """The order's half of it is still to be read back: the shelf shows the goods once all the same."""
    async with host.courier(intervals=quiet()) as courier:
        await courier.sync_once()
        (op_id,) = host.desk.write(movement("P1", 3, "A-1", "B-1"))
        await courier.push_loop.push_all()
        assert host.desk.state(op_id) == "done"
        assert not host.desk.is_read_back(op_id)
        assert lying(host) == {"A-1": 7, "B-1": 3}
        host.time.now += 1
        await courier.single_reads.read_product("P1")
        assert not host.desk.is_read_back(op_id)
        assert lying(host) == {"A-1": 7, "B-1": 3}
