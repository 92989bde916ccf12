"""A rebased update in doubt: no share of it is done twice or lost."""

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import httpx
import pytest

from aisle.jobs.job import RESEND
from aisle.outbox.excess_picks import EXCESS
from tests.courier.document_host import PUT, Shop
from tests.courier.fake_service import Fake, answer_lost
from tests.courier.host import Host
from tests.courier.test_rebase import based


@pytest.fixture
def shop(aisle_home: Path) -> Iterator[Shop]:
    shop = Shop(aisle_home)
    yield shop
    shop.close()


async def test_arrived_update_with_ignored_field_adds_nothing_twice(shop: Shop) -> None:
    """The fake service keeps the quantities of an update and ignores its `is_claimed`."""
    async with shop.working() as courier:
        shop.fake.fail(PUT, answer_lost)
        (op_id,) = shop.desk.write(based("O1", 0, 1, is_claimed=True))
        courier.wake()
        op = await shop.until(op_id, "done")
        assert (op.attempts, shop.fake.calls[PUT]) == (2, 2)
        assert shop.fake.orders["O1"]["lines"][0]["picked_quantity"] == 1


async def test_excess_survives_reconciliation(shop: Shop) -> None:
    async with shop.working() as courier:
        shop.fake.orders["O1"]["lines"][0]["picked_quantity"] = 2
        shop.fake.fail(PUT, answer_lost)
        (op_id,) = shop.desk.write(based("O1", 0, 2, is_claimed=True))
        courier.wake()
        await shop.until(op_id, "done")
        assert shop.fake.orders["O1"]["lines"][0]["picked_quantity"] == 3
        assert [Decimal(op.evidence[EXCESS][0]["left"]) for op in shop.desk.all() if op.op_id == op_id] == [1]
        assert shop.desk.states() == ["done", "rejected"]


async def test_excess_under_key_belongs_to_sent_bytes(aisle_home: Path) -> None:
    """Sent again, they are not fitted again: what stands there may be what they have done."""
    host = Host(aisle_home, Fake("idempotency=30d"))
    try:
        host.fake.add_products(["P1", "P2"])
        host.fake.add_order("O1")
        async with host.running(host.courier()) as courier:
            await host.time.until(lambda: host.state() == "live", 60)
            host.fake.fail(PUT, answer_lost)
            (op_id,) = host.desk.write(based("O1", 0, 2))
            courier.wake()
            await host.time.until(lambda: host.desk.state(op_id) == "done", 60)
            assert host.fake.calls[PUT] == 2
            assert host.desk.states() == ["done"]
    finally:
        host.close()


async def test_resend_by_person_adds_nothing_to_arrived_line(shop: Shop) -> None:
    """Somebody else wrote on the second line meanwhile: what is seen of it fits neither what stood there nor ours."""
    write = based("O1", 0, 1)
    other = {
        "line_number": 2,
        "base_picked_quantity": Decimal(0),
        "picked_quantity": Decimal(2),
        "product_number": "P2",
    }
    write.body["orders"]["order_lines"].append({**write.body["orders"]["order_lines"][0], **other})

    def beside(fake: Fake, request: httpx.Request) -> None:
        lines = fake.orders["O1"]["lines"]
        lines[0]["picked_quantity"], lines[1]["picked_quantity"] = 1, 1
        raise httpx.ReadTimeout("no answer", request=request)

    async with shop.working() as courier:
        lines = shop.fake.orders["O1"]["lines"]
        lines[1] |= {"quantity": 5}
        shop.fake.fail(PUT, beside)
        (op_id,) = shop.desk.write(write)
        courier.wake()
        op = await shop.until(op_id, "needs_person")
        assert op.evidence["verdict"] == "changed"
        assert shop.settle(op_id, RESEND)
        courier.wake()
        await shop.until(op_id, "done")
        assert [line["picked_quantity"] for line in lines] == [1, 3]
