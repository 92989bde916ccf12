"""Two loads of one service at once: each that may have lost fields to the other says so, and is not complete."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path

import httpx
import pytest

from aisle.client.csv_load import LoadReport, load
from aisle.service.app_options_and_limits import ServiceOptions
from tests.load.test_existing_stock import loaded
from tests.load.test_repeated_loads import STOCK_HEADER, World, a_world, stocked

NAMED = "Another load wrote into this service while this one ran"
OTHER_FILES = {
    "products.csv": ("product_number,product_name", "P,Other"),
    "prices.csv": ("product_number,price", "P,9"),
    "store_products.csv": ("store_number,product_number,min", "1,P,4"),
    "locations.csv": ("store_number,location_code", "1,Z"),
    "stock.csv": (STOCK_HEADER, "1,R,B,1,9"),
    "orders.csv": ("store_number,order_number,line_number,product_number,quantity", "1,O,1,P,1"),
}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A service whose clock goes on with each request."""
    seconds = count(1_800_000_000)
    with a_world(tmp_path, ServiceOptions(clock=lambda: float(next(seconds)))) as world:
        stocked(world, "1,P,A,1,5", "1,Q,A,1,6")
        yield world


class OtherLoad(httpx.AsyncBaseTransport):
    """A way to the service on which another load runs, once, before a write with this end of its path."""

    def __init__(self, inner: httpx.AsyncBaseTransport, world: World, folder: Path, end: str) -> None:
        self._inner, self._world, self._folder, self._end = inner, world, folder, end
        self.report: LoadReport | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if request.method == "POST" and request.url.path.endswith(self._end) and self.report is None:
            self._world.wrap = lambda inner: inner
            async with self._world.client() as client:
                self.report = await load(self._folder, client)
        return await self._inner.handle_async_request(request)


def other_folder(tmp_path: Path, *names: str) -> Path:
    folder = tmp_path / "other"
    folder.mkdir()
    for name in names:
        (folder / name).write_text("\n".join(OTHER_FILES[name]) + "\n")
    return folder


@pytest.mark.parametrize("name", [*OTHER_FILES])
@pytest.mark.parametrize("end", ["/products", "/locations", "/storeproductlogs"])
async def test_a_load_in_the_middle_of_another_is_named(name: str, end: str, world: World, tmp_path: Path) -> None:
    await loaded(world)
    others: list[OtherLoad] = []

    def wrap(inner: httpx.AsyncBaseTransport) -> httpx.AsyncBaseTransport:
        others.append(OtherLoad(inner, world, other_folder(tmp_path, name), end))
        return others[0]

    world.wrap = wrap
    report = await loaded(world, recount=True)
    assert others[0].report is not None
    assert not report.is_complete
    assert [NAMED in line for line in report.lines()].count(True) == 1
    again = await loaded(world, recount=True)
    assert again.is_complete
    assert NAMED not in "\n".join(again.lines())


async def test_of_two_loads_that_run_together_one_or_both_are_named(world: World, tmp_path: Path) -> None:
    await loaded(world)
    folder = other_folder(tmp_path, *OTHER_FILES)
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(world.client()) for _ in range(2)]
        reports = await asyncio.gather(*(load(folder, client) for client in clients))
    assert any(NAMED in "\n".join(report.lines()) for report in reports)


@pytest.mark.parametrize("requests", range(4))
async def test_loads_that_follow_each_other_are_not_named(requests: int, world: World) -> None:
    """Also not the first part of the same load, which was cut off."""
    assert await world.load(cut=(requests, True)) is None
    for _ in range(2):
        report = await loaded(world)
        assert NAMED not in "\n".join(report.lines())


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("store_products.csv", ("store_number,product_number,min", "1,UNKNOWN,4")),
        ("stock.csv", (STOCK_HEADER, "1,R,B,1,9")),
        ("locations.csv", ("store_number,location_code", "1,Z")),
    ],
)
async def test_a_load_that_wrote_nothing_of_this_one_is_not_named(
    name: str, lines: tuple[str, ...], world: World, tmp_path: Path
) -> None:
    """This one writes products and prices of the chain; the other is refused, or writes to a store."""
    await loaded(world)
    mine, theirs = tmp_path / "mine", tmp_path / "theirs"
    for folder, files in (
        (mine, {key: OTHER_FILES[key] for key in ("products.csv", "prices.csv")}),
        (theirs, {name: lines}),
    ):
        folder.mkdir()
        for key, content in files.items():
            (folder / key).write_text("\n".join(content) + "\n")
    others: list[OtherLoad] = []

    def wrap(inner: httpx.AsyncBaseTransport) -> httpx.AsyncBaseTransport:
        others.append(OtherLoad(inner, world, theirs, "prices"))
        return others[0]

    world.wrap = wrap
    async with world.client() as client:
        report = await load(mine, client)
    assert others[0].report is not None
    assert report.is_complete
    assert NAMED not in "\n".join(report.lines())
