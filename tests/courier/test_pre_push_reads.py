"""A read before a push is refused: only its operation waits."""

import itertools
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest

from aisle.cli.reason_texts import reason_text
from aisle.courier.push.push_loop import MAX_PLAIN_TRIES
from aisle.jobs.job import Write
from aisle.jobs.supervisor.store_product_fields import update_write
from tests.courier.document_host import PUT, Shop
from tests.courier.writes import STORE, update

REFUSALS = pytest.mark.parametrize("status", [400, 403, 404, 409, 500, 503])
ONE = {"order": ("order_number", "O1"), "setting": ("product_number", "P1")}
"""What is asked for by itself, and its number."""


@pytest.fixture
def shop(aisle_home: Path) -> Iterator[Shop]:
    shop = Shop(aisle_home)
    shop.fake.stock["P1"]["min"] = 4
    yield shop
    shop.close()


def refuse(shop: Shop, monkeypatch: Any, kind: str, status: int) -> Callable[[], None]:
    """The service has nothing but this status for one of its rows; gives the end of that."""
    name, number = ONE[kind]
    real, refused = shop.fake.answer, [number]

    def answer(request: httpx.Request) -> httpx.Response:
        if request.method == "GET" and request.url.params.get(name) in refused:
            return httpx.Response(status, json={"success": False, "message": "not this one"})
        return real(request)

    monkeypatch.setattr(shop.fake, "answer", answer)
    return refused.clear


def said_of(kind: str) -> Write:
    return update("O1", {1: 1}) if kind == "order" else update_write("P1", STORE, {"min": Decimal(6)}, {"min": "4"})


@REFUSALS
@pytest.mark.parametrize("kind", ONE)
async def test_other_operations_go_while_pre_push_read_is_retried(
    shop: Shop, monkeypatch: Any, kind: str, status: int
) -> None:
    async with shop.working() as courier:
        mend = refuse(shop, monkeypatch, kind, status)
        waits, other = shop.desk.write(said_of(kind), update("O2", {2: 1}))
        courier.wake()
        await shop.until(other, "done", within_s=20)
        before = len(shop.fake.requests)
        for _ in range(30):
            await shop.time.pass_(1.0)
            assert shop.state() == "live"
        assert len(shop.fake.requests) - before < 40
        mend()
        await shop.until(waits, "done", within_s=120)
        assert len([name for name, _ in shop.fake.applied if name != PUT]) == (kind == "setting")


@REFUSALS
@pytest.mark.parametrize("kind", ONE)
async def test_in_the_end_it_is_a_persons_and_nothing_was_sent(
    shop: Shop, monkeypatch: Any, kind: str, status: int
) -> None:
    async with shop.working() as courier:
        refuse(shop, monkeypatch, kind, status)
        (waits,) = shop.desk.write(said_of(kind))
        courier.wake()
        op = await shop.until(waits, "needs_person", "done", within_s=3600)
        if op.state == "done":  # an order that the service does not have, or not for us, is written to all the same
            assert (kind, status) in (("order", 400), ("order", 404))
        else:
            assert "could not be read" in reason_text(op.last_error)
            assert not shop.fake.applied


async def test_superseded_operation_needs_no_person(shop: Shop, monkeypatch: Any) -> None:
    """It went on in another operation while it was looked for, for the last time."""
    async with shop.working() as courier:
        mend = refuse(shop, monkeypatch, "order", 409)
        refused, asked = shop.fake.answer, itertools.count(1)

        def answer(request: httpx.Request) -> httpx.Response:
            if request.url.params.get("order_number") == "O1" and next(asked) == MAX_PLAIN_TRIES:
                shop.desk.write(update("O1", {2: 1}))
            return refused(request)

        monkeypatch.setattr(shop.fake, "answer", answer)
        (first,) = shop.desk.write(update("O1", {1: 1}))
        courier.wake()
        await shop.until(first, "closed")
        mend()
        await shop.until(shop.desk.outbox.get(first).superseded_by, "done")
        assert not [notice.text for notice in courier.operator_log.recent if "IllegalTransition" in notice.text]
    assert [line["picked_quantity"] for line in shop.fake.orders["O1"]["lines"]] == [1, 1]
