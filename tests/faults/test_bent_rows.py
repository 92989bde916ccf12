"""Rows that a lying service bent are right again after the next full read, on a simulated clock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import apsw
import httpx
import pytest

from aisle.cache.writer import open_cache
from aisle.courier.pull.continuous_sync import FULL_SYNC_INTERVAL_S
from aisle.courier.pull.full_sync import FullSync
from aisle.courier.pull.read_timetable import PullIntervals
from aisle.host.database import fetch
from tests.courier.writes import STORE
from tests.faults.host import Host
from tests.faults.link import Line
from tests.faults.lying_proxy import READ_LIES, Answer
from tests.faults.test_world import work
from tests.faults.world import World, world
from tests.run_length import tries

LYING_S = 20.0
"""Simulated seconds between two full reads of lies."""
NOT_ROWS = ("sync", "seen_key", "change", "link", "log", "difference", "sqlite", "search", "order_search")
"""Beginnings of the names of tables without rows of the lists. The log and its differences are read on demand."""
OF_PRODUCTS = ("stock", "stock_location", "negative_stock")
"""Tables whose id is that of a product."""


@dataclass
class _Liar:
    random: Random


@contextmanager
def bent(lie: str, seed: int) -> Iterator[None]:
    """All answers to reads are bent in this way."""
    deliver, liar = Line.handle_async_request, _Liar(Random(seed))

    async def lied(self: Line, request: httpx.Request) -> httpx.Response:
        answer = await deliver(self, request)
        if request.method != "GET":
            return answer
        said = READ_LIES[lie](liar, Answer(answer.status_code, answer.headers.multi_items(), answer.content))
        kept = [(name, value) for name, value in said.headers if name != "content-length"]
        return httpx.Response(said.status, headers=kept, content=said.body, request=request)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Line, "handle_async_request", lied)
        yield


def rows_of(host: Host) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of the cache, without the times of their reads and without ids of the file's own."""
    with closing(open_cache(host.home.folder, writer=False)) as cache:
        products = dict(fetch(cache, "SELECT id, product_number FROM product"))
        tables = fetch(cache, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        return {name: _rows(cache, name, products) for (name,) in tables if not name.startswith(NOT_ROWS)}


def _rows(cache: apsw.Connection, table: str, products: dict[int, str]) -> list[tuple[Any, ...]]:
    columns = [row[1] for row in fetch(cache, f"PRAGMA table_info({table})")]
    kept = [name for name in columns if not name.endswith("_began") and (name != "id" or table in OF_PRODUCTS)]
    rows = fetch(cache, f"SELECT {', '.join(kept)} FROM {table}")
    if "id" in kept:
        rows = [(products[row[0]], *row[1:]) for row in rows]
    counted = [row for row in rows if not table.endswith("_tally") or any(row[1:])]
    return sorted(counted, key=repr)


async def _lied_to(shop: World, lie: str, seed: int) -> None:
    """A host that has read everything several times while the service lied."""
    async with shop.integrator() as client:
        line = {"line_number": 1, "product_number": "P3", "quantity": 2, "pickup_date": "2027-01-16T10:00:00Z"}
        orders = [{"order_number": "D-1", "order_lines": [line]}]
        await client.call("create-customer-orders-one-store", {"orders": orders}, store_number=STORE)
    work(shop.host.person("dock-1", "anna"))
    await shop.quiet()
    with bent(lie, seed):
        for _ in range(3):
            _sync_of(shop.host).request_full()
            await shop.step(LYING_S)
    await shop.quiet()


def _sync_of(host: Host) -> FullSync:
    assert host.courier is not None
    return host.courier.full_sync


async def _assert_as_read_today(shop: World) -> None:
    """The cache has the rows of one that was read just now."""
    fresh = await shop.add_host()
    await shop.quiet()
    ours, theirs = rows_of(shop.host), rows_of(fresh)
    wrong = {name: {*ours[name]} ^ {*theirs[name]} for name in ours if ours[name] != theirs[name]}
    assert not wrong


@pytest.mark.parametrize("lie", READ_LIES)
@pytest.mark.parametrize("seed", range(tries(1, 20)))
async def test_a_full_read_corrects_all_rows(aisle_home: Path, lie: str, seed: int) -> None:
    async with world(aisle_home) as shop:
        await _lied_to(shop, lie, seed)
        _sync_of(shop.host).request_full()
        await shop.quiet()
        await _assert_as_read_today(shop)


async def test_everything_is_read_again_within_a_day(aisle_home: Path) -> None:
    async with world(aisle_home) as shop:
        await shop.host.stop()
        shop.pace = PullIntervals(changes=600.0, people=600.0)
        await shop.host.start()
        await _lied_to(shop, "negative", 0)
        bent_rows = rows_of(shop.host)
        await shop.step(FULL_SYNC_INTERVAL_S + shop.pace.changes)
        assert rows_of(shop.host) != bent_rows
        await _assert_as_read_today(shop)
