"""Retry-After of a service: waiting operations go on exactly then."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from math import inf
from pathlib import Path

import pytest

from aisle.courier.courier import Courier
from tests.courier.document_host import LOG, PUT, Shop, loss
from tests.courier.fake_service import answer_lost, says
from tests.courier.simulated_time import Time
from tests.courier.writes import update

_EARLY_S = 1e-6


class Edge(Time):
    """A clock by which sleepers wake a little early, and which reaches `end` after so many further looks."""

    end, looks = inf, 1

    def clock(self) -> float:
        """Seconds since 1970."""
        said = self.now
        if said < self.end <= said + 2 * _EARLY_S:
            self.looks -= 1
            self.now = said if self.looks else self.end
        return said

    async def sleep(self, seconds: float) -> None:
        """Returns a little before time has come that far, if that is not now."""
        await super().sleep(seconds - _EARLY_S if seconds > 1.0 else seconds)


@pytest.fixture
def shop(aisle_home: Path) -> Iterator[Shop]:
    shop = Shop(aisle_home)
    shop.time = shop.fake.time = Edge()
    yield shop
    shop.close()


@asynccontextmanager
async def alone(shop: Shop, loop: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
    """One part of the courier at work, and nobody who would ring at it while time passes."""
    works = [asyncio.ensure_future(loop()), asyncio.ensure_future(shop.time.sleep(60))]
    try:
        yield
    finally:
        for work in works:
            work.cancel()
        await asyncio.gather(*works, return_exceptions=True)


def hold(shop: Shop, courier: Courier, looks: int) -> None:
    """The service asks for patience, which ends after so many looks at the clock."""
    assert isinstance(shop.time, Edge)
    shop.time.end, shop.time.looks = shop.time.now + 5.0, looks
    courier.link.pause(5.0)


@pytest.mark.parametrize("looks", range(1, 6))
async def test_operation_in_doubt_is_looked_up_when_retry_after_ends(shop: Shop, looks: int) -> None:
    async with shop.working():
        await shop.prove()
    async with shop.courier(intervals=shop.pace) as courier:
        await courier.sync_once()
        shop.fake.fail(LOG, answer_lost)
        (op_id,) = shop.desk.write(loss("P1"))
        await courier.push_loop.push_all()
        assert shop.desk.state(op_id) == "in_doubt"
        await courier.incremental_sync.check_service()
        hold(shop, courier, looks)
        async with alone(shop, courier.reconciler.run):
            await shop.until(op_id, "done", within_s=20)


@pytest.mark.parametrize("looks", range(1, 6))
async def test_waiting_operation_goes_when_retry_after_ends(shop: Shop, looks: int) -> None:
    async with shop.courier(intervals=shop.pace) as courier:
        await courier.sync_once()
        (op_id,) = shop.desk.write(update("O1", {1: 2}))
        hold(shop, courier, looks)
        async with alone(shop, courier.push_loop.run):
            await shop.until(op_id, "done", within_s=20)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("asked", ["31536000", "9" * 400, "Fri, 31 Dec 9999 23:59:59 GMT"])
@pytest.mark.parametrize("status", [429, 409])
async def test_no_service_is_waited_for_longer_than_an_hour(shop: Shop, status: int, asked: str) -> None:
    async with shop.working() as courier:
        shop.fake.fail(PUT, says(status, body={"success": False}, Retry_After=asked))
        (op_id,) = shop.desk.write(update("O1", {1: 2}))
        courier.wake()
        await shop.until(op_id, "done", within_s=3700)
        assert shop.fake.calls[PUT] == 2
