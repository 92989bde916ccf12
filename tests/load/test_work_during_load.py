"""What others count, move or load while a load counts is never overwritten unseen: it is left, or counted and named."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx
import pytest

from aisle.client.csv_load.file_layouts_and_columns import LoadTarget
from aisle.client.csv_load.report import LoadReport
from aisle.client.csv_load.work_during_load import describe_entry
from aisle.client.paging import Row
from tests.load.test_existing_stock import loaded
from tests.load.test_recounts import spots
from tests.load.test_repeated_loads import STOCK_HEADER, World, stocked
from tests.load.test_stock_elsewhere import changed

BATCH = 20
"""Rows of one request; else it is 500."""
LOGS = "/storeproductlogs"
Work = Callable[[World], Awaitable[None]]


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ({"counted_quantity": 1234567}, "P1: counted 1234567"),
        ({"counted_quantity": "12345.678", "location_code": "A-1"}, "P1: counted 12345.678 at A-1"),
        ({"quantity": -2.50, "app_user_name": "U1"}, "P1: -2.5 by U1"),
        ({"quantity": "100"}, "P1: +100"),
    ],
)
def test_an_entry_is_described_with_all_its_digits(entry: Row, text: str) -> None:
    assert describe_entry({"product_number": "P1", **entry}) == text


@pytest.fixture(autouse=True)
def _batches_are_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LoadTarget, "batch_rows", BATCH)


class Meanwhile(httpx.AsyncBaseTransport):
    """A way to the service on which others do some work, once, just before the load's counts arrive.

    A service of the document alone neither announces nor knows our headers.
    """

    def __init__(self, inner: httpx.AsyncBaseTransport, work: Callable[[], Awaitable[None]], is_own: bool) -> None:
        self._inner, self._work, self._is_own = inner, work, is_own
        self._is_done = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if request.method == "POST" and request.url.path.endswith(LOGS) and not self._is_done:
            self._is_done = True
            await self._work()
        if self._is_own:
            return await self._inner.handle_async_request(request)
        request.headers.pop("Aisle-Log-Read", None)
        answer = await self._inner.handle_async_request(request)
        answer.headers.pop("Aisle-Features", None)
        return answer


async def with_work(world: World, work: Work, *, recount: bool, is_own: bool = True) -> LoadReport:
    async def others() -> None:
        world.wrap = lambda inner: inner
        await work(world)

    world.wrap = lambda inner: Meanwhile(inner, others, is_own)
    return await loaded(world, recount=recount)


async def count(world: World) -> None:
    await world.count({"product_number": "P", "location_code": "A", "counted_quantity": 44})


async def book(world: World) -> None:
    await changed(world, "A", 7)


async def move(world: World) -> None:
    await changed(world, "A", -20)
    await changed(world, "B", 20)


async def load_other(world: World) -> None:
    entry = {"product_number": "P", "location_code": "A", "stock_pool_1": 44, "reference": "aisle load"}
    await world.count(entry)


WORK: dict[str, Work] = {"count": count, "book": book, "move": move, "load_other": load_other}


@pytest.mark.parametrize("recount", [False, True], ids=["load", "recount"])
@pytest.mark.parametrize("name", [*WORK])
async def test_work_at_the_moment_of_a_count_is_left_and_named(name: str, recount: bool, world: World) -> None:
    stocked(world, "1,Q,A,1,1", *(["1,P,A,1,30"] if recount else []))
    await loaded(world)
    stocked(world, "1,P,A,1,50", "1,Q,A,1,2", "1,R,A,1,3")
    report = await with_work(world, WORK[name], recount=recount)
    assert [row.line for row in report.bad] == [2]
    assert "others counted, moved or booked goods of the product while the load ran (P: " in report.bad[0].reason
    total = {"count": 44, "book": 37 if recount else 7, "move": 30 if recount else 0, "load_other": 44}[name]
    assert (await world.stock("P"), await world.stock("R")) == (total, 3)
    assert sum(file.rows for file in report.files if file.file == "stock.csv") == 3
    again = await loaded(world, recount=True)
    assert again.is_complete
    assert (await spots(world))["A", 1] == 50


@pytest.mark.parametrize("recount", [False, True], ids=["load", "recount"])
@pytest.mark.parametrize("is_own", [False, True], ids=["document", "own"])
@pytest.mark.parametrize("name", [*WORK])
async def test_work_before_a_later_batch_is_seen(name: str, is_own: bool, recount: bool, world: World) -> None:
    numbers = [f"X{at}" for at in range(BATCH)]
    stocked(world, *(f"1,{one},A,1,1" for one in numbers), "1,P,A,1,50")
    world.write("products.csv", "product_number", "P", "Q", *numbers)
    report = await with_work(world, WORK[name], recount=recount, is_own=is_own)
    words = [line for line in report.lines() if "P: " in line or "P at A" in line]
    assert words
    assert all(f"row {BATCH + 2}" in line or f":{BATCH + 2}:" in line for line in words)
    left = {"count": 44, "book": 7, "move": -20, "load_other": 44}[name]
    place = (await spots(world)).get(("A", 1), 0)
    assert place == (50 if recount else left)
    if recount:
        assert "the row counts it again" in words[0]


@pytest.mark.parametrize("work", [count, book, move])
async def test_a_service_of_the_document_alone_has_its_overwritten_work_named(work: Work, world: World) -> None:
    stocked(world, "1,P,A,1,50", "1,Q,A,1,2")
    report = await with_work(world, work, recount=False, is_own=False)
    assert any("which may have replaced it (count it)" in line and "P: " in line for line in report.lines())


async def test_refused_rows_do_not_make_a_load_take_its_own_counts_for_those_of_others(world: World) -> None:
    stocked(world, "1,P,A,1,1", "1,P,B,1,2", "1,Q,A,1,3", "1,GONE,A,1,4", "1,Q,B,1,5", "1,R,A,1,6")
    for recount in (False, True):
        report = await loaded(world, recount=recount)
        assert [row.line for row in report.bad] == [5]
        assert (await world.stock("P"), await world.stock("Q"), await world.stock("R")) == (3, 8, 6)
        assert not any("others" in line for line in report.lines())


async def test_an_interrupted_recount_goes_on_although_the_log_went_on(world: World, tmp_path: Path) -> None:
    stocked(world, "1,P,A,1,1", "1,Q,A,1,3")
    await loaded(world)
    world.clear()
    world.write("stock.csv", STOCK_HEADER, "1,P,A,1,5", "1,Q,A,1,6")
    assert await world.load(recount=True, cut=(0, True)) is None
    await book(world)
    report = await loaded(world, recount=True)
    assert report.is_all_loaded
    assert (await world.stock("P"), await world.stock("Q")) == (12, 6)


async def test_counts_of_others_after_a_recount_was_cut_off_are_named(world: World) -> None:
    numbers = [f"X{at}" for at in range(BATCH)]
    stocked(world, *(f"1,{one},A,1,30" for one in (*numbers, "P", "Q")))
    world.write("products.csv", "product_number", "P", "Q", *numbers)
    await loaded(world)
    world.clear()
    world.write("stock.csv", STOCK_HEADER, *(f"1,{one},A,1,50" for one in (*numbers, "P", "Q")))
    assert await world.load(recount=True, cut=(1, False)) is None
    for product in ("X1", "X7", "P"):
        await world.count({"product_number": product, "location_code": "A", "counted_quantity": 44})
    await world.count({"product_number": "X3", "location_code": "B", "counted_quantity": 4})
    report = await loaded(world, recount=True)
    assert [await world.stock(one) for one in ("X1", "X7", "X3", "X4", "P", "Q")] == [44, 44, 54, 50, 50, 50]
    said = [line for line in report.lines() if "others count" in line]
    assert [line.partition(": warning: ")[0] for line in said] == [
        said[0],
        *(f"stock.csv:{at}" for at in (3, 9, BATCH + 2)),
    ]
    assert said[0].startswith("The last recount of these files was cut off; this one goes on")
    assert "of the product since the load began, and the row counts it again" in said[3]
    assert all("counted before the load was cut off" in line and "counted 44 at A" in line for line in said[1:3])
    assert f"stock.csv: {BATCH} of {BATCH + 2} rows loaded." in report.lines()
    assert not report.is_all_loaded


async def test_a_load_after_a_recount_that_was_cut_off_says_so(world: World) -> None:
    numbers = [f"X{at}" for at in range(BATCH)]
    stocked(world, *(f"1,{one},A,1,30" for one in (*numbers, "P")))
    world.write("products.csv", "product_number", "P", *numbers)
    await loaded(world)
    assert await world.load(recount=True, cut=(5, False)) is None
    await world.lose("X1", 6)
    await world.lose("P", 6)
    for _ in range(2):
        report = await loaded(world)
        assert any("The last recount of this stock.csv was cut off" in line for line in report.lines())
        assert not report.resumed
    assert await world.load(cut=(1, False)) is None
    assert (await loaded(world)).resumed
    report = await loaded(world, recount=True)
    assert report.resumed
    assert (await world.stock("X1"), await world.stock("P")) == (24, 30)
    assert not any("cut off" in line for line in (await loaded(world)).lines())


async def test_a_recount_gives_advice_that_is_true_of_it(world: World) -> None:
    stocked(world, "1,P,A,1,50", "1,Q,A,1,1")
    await loaded(world)
    world.clear()
    world.write("stock.csv", STOCK_HEADER, "1,P,A,1,50", "1,Q,A,1,2")
    report = await with_work(world, move, recount=True)
    [bad] = report.bad
    assert "count the goods on the floor, or give each place where they lie a row" in bad.reason
    assert "load again" not in bad.reason
    assert not any("nothing is doubled" in line for line in report.lines())
    assert "it counts each row anew" in report.lines()[-1]
    world.clear()
    world.write("stock.csv", STOCK_HEADER, "1,P,A,1,30", "1,P,B,1,20")
    await loaded(world, recount=True)
    assert await world.stock("P") == 50
