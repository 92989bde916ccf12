"""Undo that is sent before the refusal of what it undoes is known, at our own service and at one of the document."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from aisle.jobs.job import Write
from aisle.outbox.operation_record import CLOSED, CONFIRMED, REFUSED
from aisle.stored_messages import is_stored_message
from tests.courier import document_host
from tests.courier.document_host import loss
from tests.courier.fake_service import says
from tests.courier.test_undo_as_booked import _done, _logs, _stock, _tried, shop, stocked
from tests.courier.writes import STORE, movement

__all__ = ["shop", "stocked"]

VOID, TOLD = "stored_reason.undoes_refused", "stored_reason.undone_before_refusal"


def _receipt(shop: Any, product: str, quantity: int, **fields: Any) -> Write:
    """Goods of a delivery that came to ZZ-9."""
    write = _logs(shop, product, quantity=quantity, reference="7001", **fields)
    return write._replace(query={**write.query, "is_from_receipt": True})


async def _writes(shop: Any, product: str, kind: str) -> tuple[Write, Write]:
    """What the service refuses, and its undo, which it would carry out."""
    if kind == "receive":
        return _receipt(shop, product, 4, pool_location=99), _receipt(shop, product, -4, pool_location=99)
    async with shop.client(straight=True) as client:
        place = {"store_number": STORE, "location_code": "ZZ-8", "location_order": 998}
        await client.request_extension("POST", "/aisle/v1/locations", body={"locations": [place]})
    shop.desk.write(_logs(shop, product, is_count=True, counted_quantity=50, location_code="ZZ-8"))
    await _done(shop)
    return movement(product, 20, "ZZ-9", "ZZ-8"), movement(product, 20, "ZZ-8", "ZZ-9")


@pytest.mark.parametrize("kind", ["move", "receive"])
async def test_undo_of_what_our_service_refuses(shop: Any, stocked: str, kind: str) -> None:
    async with shop.courier():
        refused, undo = await _writes(shop, stocked, kind)
        shop.line.lose_request = {"POST"}
        ids = shop.desk.write(refused, undo)
        shop.line.lose_request = set()
        assert await _done(shop, *ids) == [CLOSED, CLOSED]
        assert await _stock(shop, stocked) == 10
        first, second = map(shop.desk.outbox.get, ids)
        assert is_stored_message(first.last_error, TOLD)
        assert is_stored_message(second.last_error, VOID)


@pytest.fixture
async def plain(aisle_home: Path) -> AsyncIterator[document_host.Shop]:
    plain = document_host.Shop(aisle_home)
    yield plain
    plain.close()


LOST, MOMENT = document_host.LOG, "2027-01-15T11:59:00+00:00"
SEQUENCES = {
    "move": (document_host.MOVE, movement("P1", 1, "A-1", "B-1"), movement("P1", 1, "B-1", "A-1")),
    "loss": (LOST, loss("P1", scanned_datetime=MOMENT), loss("P1", quantity=1, reference=f"undo-{MOMENT}")),
}


@pytest.mark.parametrize("kind", SEQUENCES)
async def test_undo_of_what_a_service_of_the_document_refuses(plain: document_host.Shop, kind: str) -> None:
    name, *writes = SEQUENCES[kind]
    async with plain.working():
        plain.fake.fail(name, says(409, body={"success": False, "message": "not possible"}))
        (refused,) = plain.desk.write(writes[0])
        if kind == "loss":
            _tried(plain.desk, refused)
        (undo,) = plain.desk.write(writes[1])
        await plain.until(undo, CLOSED, CONFIRMED)
        state = CLOSED if kind == "move" else REFUSED  # nothing is left of the move; the undo of a loss names its entry
        assert [plain.desk.state(refused), plain.desk.state(undo)] == [state, CLOSED]
        assert plain.applied(name) == 0


@pytest.mark.parametrize("is_sent", [True, False])
@pytest.mark.parametrize("difference", [0, -1])
async def test_undo_of_a_count_at_a_service_of_the_document(
    plain: document_host.Shop, is_sent: bool, difference: int
) -> None:
    """It takes back stock, but no date: without a difference nothing is sent."""
    async with plain.working():
        before = plain.applied(LOST)
        entry = loss("P1", scanned_datetime=MOMENT, counted_quantity=5, expected_quantity=5 - difference)
        entry.body["storeproductlog"][0].pop("quantity")
        (counted,) = plain.desk.write(entry._replace(query={**entry.query, "is_counted_quantity": True}))
        if is_sent:
            await plain.until(counted, CONFIRMED)
        (undo,) = plain.desk.write(loss("P1", quantity=-difference, reference=f"undo-{MOMENT}"))
        await plain.until(undo, CLOSED, CONFIRMED)
        assert plain.applied(LOST) - before == (is_sent and 1 + bool(difference))
