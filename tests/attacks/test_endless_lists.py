"""Lists that go round and round: a courier comes to their end, and drops nothing for it."""

from collections.abc import Iterator
from contextlib import nullcontext
from itertools import count
from pathlib import Path

import httpx
import pytest

from aisle.client.paging import IdCursor, PageNumberCursor
from aisle.client.responses_and_errors import TooManyRows
from aisle.contract.operations import OPERATIONS
from tests.courier.fake_service import Fake
from tests.courier.host import Host


@pytest.fixture
def host(aisle_home: Path) -> Iterator[Host]:
    """A host with an empty home, and a few orders at its service."""
    made = Host(aisle_home)
    for number in range(1, 6):
        made.fake.add_order(f"O{number}")
    yield made
    made.close()


@pytest.mark.parametrize("leads", [True, False], ids=["named", "unnamed"])
async def test_a_courier_leaves_pages_that_repeat(host: Host, leads: bool) -> None:
    async with host.courier() as courier:
        await courier.sync_once()
    assert len(host.numbers()) == 5
    asked = 0

    def round_and_round(fake: Fake, request: httpx.Request) -> httpx.Response:
        nonlocal asked
        asked += 1
        assert asked < 100, "it goes on for ever"
        number = int(request.url.params["page_start"])
        rows = [{"order_number": f"X{number % 2}", "is_active": True, "total_lines": 0}]
        return httpx.Response(200, json={"list": rows, "next_page": number + 1 if leads else "x", "total_count": 9})

    host.fake.fail("list-customer-orders", *[round_and_round] * 200)
    async with host.courier() as courier:
        courier.full_sync.request_stages(["headers"])
        await courier.full_sync.run_to_end()
        assert "headers" in courier.full_sync.progress.missing
    assert set(host.numbers()) >= {"O1", "O2", "O3", "O4", "O5"}


@pytest.mark.parametrize("leads", [True, False], ids=["named", "unnamed"])
@pytest.mark.parametrize(
    ("operation", "stage"),
    [("list-customer-orders", "headers"), ("list-store-products-stock", "stock"), ("list-store-receipts", "receipts")],
)
async def test_a_courier_leaves_a_list_whose_new_rows_never_end(
    host: Host, monkeypatch: pytest.MonkeyPatch, operation: str, stage: str, leads: bool
) -> None:
    monkeypatch.setattr("aisle.client.paging.MAX_ROWS", 40)
    asked = 0

    def endless(fake: Fake, request: httpx.Request) -> httpx.Response:
        nonlocal asked
        asked += 1
        assert asked < 100, "it goes on for ever"
        rows = [
            {"order_number": f"X{n}", "is_active": True, "total_lines": 0, "id": n, "product_number": f"P{n}"}
            for n in range(asked * 10, asked * 10 + 10)
        ]
        return httpx.Response(200, json={"list": rows, "next_page": asked + 1 if leads else "x", "total_count": 9})

    host.fake.add_order("O9")
    async with host.courier() as courier:
        await courier.sync_once()
        host.fake.fail(operation, *[endless] * 200)
        courier.full_sync.request_full()
        await courier.full_sync.run_to_end()
        missing = courier.full_sync.progress.missing
        assert {stage} <= set(missing) <= {stage, "lines"}, "lines are of the same list"
        reason = str(courier.full_sync.progress.reason_of(stage))
        assert "more than 40" in reason or not leads
    assert asked <= 20


@pytest.mark.parametrize("leads", [True, False], ids=["named", "unnamed"])
async def test_a_courier_leaves_a_list_of_pages_of_one_row(
    host: Host, monkeypatch: pytest.MonkeyPatch, leads: bool
) -> None:
    monkeypatch.setattr("aisle.client.paging.THIN_PAGES", 10)
    asked = 0

    def thin(fake: Fake, request: httpx.Request) -> httpx.Response:
        nonlocal asked
        asked += 1
        rows = [{"order_number": f"X{asked}", "is_active": True, "total_lines": 0}]
        return httpx.Response(200, json={"list": rows, "next_page": asked + 1 if leads else "x"})

    async with host.courier() as courier:
        await courier.sync_once()
        host.fake.fail("list-customer-orders", *[thin] * 200)
        courier.full_sync.request_stages(["headers"])
        await courier.full_sync.run_to_end()
        assert "do not end" in str(courier.full_sync.progress.reason_of("headers"))
    assert asked <= 12
    assert set(host.numbers()) >= {"O1", "O5"}


@pytest.mark.parametrize("kind", [IdCursor, PageNumberCursor])
@pytest.mark.parametrize(("rows", "ends"), [(1, True), (4, True), (5, False), (500, False)])
def test_pages_with_few_rows_come_to_an_end_early(
    monkeypatch: pytest.MonkeyPatch, kind: type[IdCursor | PageNumberCursor], rows: int, ends: bool
) -> None:
    monkeypatch.setattr("aisle.client.paging.THIN_PAGES", 10)
    cursor = kind(OPERATIONS["list-store-products-stock"], {"from_id": 0})
    ids = count()
    for number in range(1, 11):
        assert cursor.advance([{"id": next(ids)} for _ in range(rows)], {"next_page": number + 1})
    with pytest.raises(TooManyRows, match="few rows") if ends else nullcontext():
        cursor.advance([{"id": next(ids)} for _ in range(rows)], {"next_page": 12})


@pytest.mark.parametrize("kind", [IdCursor, PageNumberCursor])
def test_small_pages_come_to_an_end(monkeypatch: pytest.MonkeyPatch, kind: type[IdCursor | PageNumberCursor]) -> None:
    monkeypatch.setattr("aisle.client.paging.MAX_PAGES", 10)
    cursor = kind(OPERATIONS["list-store-products-stock"], {"from_id": 0})
    for number in range(1, 11):
        assert cursor.advance([{"id": number}], {"next_page": number + 1})
    with pytest.raises(TooManyRows, match="more than 10"):
        cursor.advance([{"id": 11}], {"next_page": 12})


@pytest.mark.parametrize("lie", ["rows twice", "a changing total"])
async def test_a_courier_comes_to_the_end_of_a_list_that_no_id_orders(host: Host, lie: str) -> None:
    host.fake.add_products(f"P{number}" for number in range(5))
    asked = 0

    def disordered(fake: Fake, request: httpx.Request) -> httpx.Response:
        nonlocal asked
        asked += 1
        assert asked < 40, "it goes on for ever"
        body = fake.answer(request).json()
        rows = [] if request.url.params.get("page_start") == "2" else body["list"][::-1]
        lying = {"list": rows * 2} if lie == "rows twice" else {"list": rows, "total_count": asked}
        return httpx.Response(200, json=body | lying | {"next_page": 2 if rows else None})

    host.fake.fail("list-store-products-stock", *[disordered] * 50)
    async with host.courier() as courier:
        await courier.sync_once()
        assert courier.full_sync.progress.completed
    assert asked
