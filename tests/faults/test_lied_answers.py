"""A service of keys that does not always announce them, on a simulated clock: each write is booked once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from aisle.courier.service_features_and_lists import FEATURES_HEADER, Features
from aisle.outbox.operation_record import CONFIRMED, NEEDS_PERSON, QUEUED, REFUSED, Operation
from tests.courier.writes import update
from tests.faults.goods import CODES
from tests.faults.link import LOST_AFTER, NONE, Fault, Line
from tests.faults.test_world import assert_worked, work
from tests.faults.world import World, world

ALL = "as the service says"
KEYS_ALONE = "idempotency=30d"
"""A write has other headers than at a service that announces more, so the same key counts as another request's."""


@contextmanager
def announced(features: str) -> Iterator[None]:
    """The service announces these features and no others; "" for no announcement, `ALL` for its own."""
    deliver = Line.handle_async_request

    async def lied(self: Line, request: httpx.Request) -> httpx.Response:
        answer = await deliver(self, request)
        if features != ALL and answer.headers.pop(FEATURES_HEADER, "") and features:
            answer.headers[FEATURES_HEADER] = features
        return answer

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Line, "handle_async_request", lied)
        yield


def _forget_features(shop: World) -> None:
    """As after a list without the header."""
    courier = shop.host.courier
    assert courier is not None
    courier.link.features = Features()


def _states(shop: World) -> list[str]:
    return [op.state for op in shop.host.operations() if not op.superseded_by]


async def test_writes_that_leave_while_no_keys_are_announced_are_booked_once(
    aisle_home: Path,
) -> None:
    """They have keys of the service's own, so the set is checked by what they name."""
    async with world(aisle_home) as shop:
        with announced(""):
            _forget_features(shop)
            work(shop.host.person("dock-1", "anna"))
            await shop.step(300)
        await shop.quiet()
        shop.check()
        assert_worked(shop)
        assert set(_states(shop)) == {CONFIRMED}
        assert not all(op.has_key for op in shop.host.operations() if not op.superseded_by)


async def test_a_write_under_a_key_is_sent_again_when_keys_are_announced_again(aisle_home: Path) -> None:
    """Its answer is lost, and then no keys are announced: a person is asked until they are."""
    async with world(aisle_home) as shop:
        anna = shop.host.person("dock-1", "anna")
        shop.host.line.plan = lambda request: Fault(NONE if request.method == "GET" else LOST_AFTER)
        anna.say("O-1", "4*" + CODES["P1"])
        await shop.step()
        with announced(""):
            _forget_features(shop)
            shop.host.line.still()
            await shop.time.until(lambda: any(op.state == NEEDS_PERSON for op in shop.host.operations()))
            anna.say("2*" + CODES["P2"])
            await shop.step(300)
            assert _states(shop) == [NEEDS_PERSON, QUEUED]
        await shop.step(60)
        assert _states(shop) == [CONFIRMED, CONFIRMED]
        await shop.quiet()
        shop.check()


async def _refused(shop: World, first: str, second: str) -> Operation:
    """An update that the service refuses; its answer is lost. These features are announced at both tries."""
    write = update("O-1", {1: 0})
    write.body["orders"]["order_lines"][0]["product_number"] = "P2"  # of another line
    with announced(first):
        await shop.step(5)
        shop.host.line.plan = lambda request: Fault(NONE if request.method == "GET" else LOST_AFTER)
        (op_id,) = shop.host.write(write)
        await shop.step(0.5)
    with announced(second):
        await shop.step(5)
        shop.host.line.still()
        await shop.step(300)
    await shop.step(300)
    return shop.host.outbox.get(op_id)


@pytest.mark.parametrize(("first", "second"), [(ALL, KEYS_ALONE), (KEYS_ALONE, ALL)])
async def test_a_refused_update_is_told_though_its_key_seems_to_be_of_another_request(
    aisle_home: Path, first: str, second: str
) -> None:
    async with world(aisle_home) as shop:
        op = await _refused(shop, first, second)
        assert op.state == REFUSED
        shop.check()
