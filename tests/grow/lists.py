"""Every list of the service, on one store and in a chain, weighed in turns: neither may mind how large the other is."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Iterator, Sequence
from itertools import cycle
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any, NamedTuple

import httpx

from aisle.service.db.database_interface import Row
from aisle.service.open_service_and_admin_token import Service
from tests.bench.generated_store import Product
from tests.service.world import API

_VAIN = 8
_TIMES = 40
_AGAIN = 5
"""How many times as often a page is weighed that costs more than it may, before it is said."""
_SETTLED = 20
MOST = 1.5
"""How many times what it costs on one store a page may cost in the chain."""

LISTS = {
    "stock of a store": "/storeproducts/stock?store_number={store}",
    "stock with places": "/storeproducts/stock?store_number={store}&include_locations=true",
    "stock of the chain": "/storeproducts/stock?",
    "orders": "/stores/{store}/orders/customerorders?show_lines=true",
    "deliveries of a store": "/orders/deliveries?store_number={store}",
    "deliveries of the chain": "/orders/deliveries?",
    "receipts of a store": "/stores/{store}/orders/receipts?receipt_type=1",
    "receipts of the chain": "/orders/receipts?receipt_type=1",
    "goods at a place": "/stores/{store}/locations/{place}/products?",
    "logs of a store": "/products/stock/storeproductlogs?store_number={store}",
    "logs of the chain": "/products/stock/storeproductlogs?",
    "logs of the chain, historic too": "/products/stock/storeproductlogs?is_historic=true",
    "places": "/stores/{store}/locations?",
    "products": "/products?",
    "stores": "/stores?",
}
POLLS = {
    "stock moved since tomorrow": "/storeproducts/stock?last_stock_modified_datetime=2027-01-01",
    "stock changed since tomorrow": "/storeproducts/stock?last_modified_date=2027-01-01",
    "logs changed since tomorrow": "/products/stock/storeproductlogs?last_modified_date=2027-01-01",
    "logs to review": "/products/stock/storeproductlogs?review_status=1",
    "logs of a product": "/products/stock/storeproductlogs?&article_number={product}",
    "logs with a reason": "/products/stock/storeproductlogs?reason_code=77",
    "deliveries changed since tomorrow": "/orders/deliveries?last_modified_date=2027-01-01",
    "deliveries of a group": "/orders/deliveries?group_code=food",
    "deliveries of a group that has none": "/orders/deliveries?group_code=none",
}
"""What a chain is asked for again and again. Most find nothing: who looks through a list looks through all of it."""
_BY_ID = ("stock", "logs", "receipts")
"""The lists that take `from_id`, by their first word."""


class Side(NamedTuple):
    """One of the two that are compared: a client, and the stores that it asks about, one after the other."""

    client: httpx.AsyncClient
    stores: Iterator[str]
    many: int
    work: Work


def side(client: httpx.AsyncClient, service: Service, stores: Sequence[str]) -> Side:
    """A side that asks about these stores in turn."""
    return Side(client, cycle(stores), len(stores), Work(service))


class Cost(NamedTuple):
    """Milliseconds of processor that a page costs on one store and in the chain."""

    one: float
    chain: float
    times: int = _TIMES

    @property
    def ratio(self) -> float:
        """How many times as much in the chain."""
        return self.chain / self.one


async def weighed(
    one: Side, chain: Side, goods: Product, names: Sequence[str] = tuple(LISTS), times: int = _TIMES
) -> dict[str, Cost]:
    """Each of these lists' first page, page 300, and page from an id on; `goods` are what some are asked for.

    A page that one store has nothing on, while the chain fills it, is weighed against the list's first page; and what
    is asked of a product's log, of which one store has a row or two, against the first page of the whole log.
    """
    found: dict[str, Cost] = {}
    sides = one, chain
    for name in names:
        path = (LISTS | POLLS)[name].replace("{place}", goods.place)
        asked = f"{API}{path}&page_size=10"
        far = f"{asked}&{'page_number' if name == 'products' else 'page_start'}=300"
        if "{product}" in path:
            whole = asked.replace("&article_number={product}", "")
            found[name] = await _pair(one, whole, chain, asked.replace("{product}", goods.number), times)
            continue
        found[f"{name}, page 1"] = await _pair(one, asked, chain, asked, times)
        if name in POLLS:
            continue
        filled = [await _rows(here, far) for here in sides]
        found[f"{name}, page 300"] = await _pair(one, far if filled[0] or not filled[1] else asked, chain, far, times)
        if name.split()[0] in _BY_ID:
            ids = [_id((rows or await _rows(here, asked))[-1]) for rows, here in zip(filled, sides, strict=True)]
            paths = [f"{asked}&from_id={one_id}" for one_id in ids]
            found[f"{name}, from_id"] = await _pair(one, paths[0], chain, paths[1], times)
    return found


def _id(row: dict[str, Any]) -> int:
    return int(row["import_id"] if "import_id" in row else row["id"])


async def _rows(here: Side, path: str) -> list[Any]:
    answer = await here.client.get(path.replace("{store}", next(here.stores)))
    assert answer.status_code == 200, f"{path}: {answer.text}"
    body = answer.json()
    return body.get("list") or body.get("records") or []


async def _pair(one: Side, path: str, chain: Side, path_of_chain: str, times: int) -> Cost:
    """What a page costs on both sides; one that costs too much is weighed again, longer, and that is what it costs."""
    asked = ((one, path), (chain, path_of_chain))
    for _ in range(min(max(_VAIN, chain.many), times)):
        # For plans and caches to settle: each store is asked about once before it counts.
        for here, asks in asked:
            await _rows(here, asks)
    cost = await _in_turns(asked, times)
    return await _in_turns(asked, times * _AGAIN) if cost.ratio > MOST else cost


async def _in_turns(asked: Sequence[tuple[Side, str]], times: int) -> Cost:
    """Asked for in turns, so that whatever else the machine does is done to both; the middle of what each takes."""
    taken: tuple[list[float], list[float]] = [], []
    for here, _ in asked:
        here.work.look()
    for _ in range(times):
        for (here, asks), mine in zip(asked, taken, strict=True):
            url = asks.replace("{store}", next(here.stores))
            before = here.work.now()
            await here.client.get(url)
            mine.append((here.work.now() - before) * 1000)
    return Cost(median(taken[0]), median(taken[1]), times)


def told(found: dict[str, Cost]) -> int:
    """Prints what pages cost; how many cost more in the chain than they may."""
    for name, cost in found.items():
        mark = "  more" if cost.ratio > MOST else ""
        line = f"{name:50}{cost.one:8.2f} ms{cost.chain:8.2f} ms{cost.ratio:7.2f} × of {cost.times}{mark}"
        print(line, flush=True)
    return sum(cost.ratio > MOST for cost in found.values())


class Work:
    """Processor time of this process and of its connections' servers, where they run on this machine."""

    def __init__(self, service: Service) -> None:
        self._storage = service.database
        self.servers: list[Path] = []

    def look(self) -> None:
        """Find the servers of the connections there are now."""
        pids = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'aisle'"
        rows: list[Row] = self._storage.read_now(lambda tx: tx.all(pids))
        self.servers = [Path(f"/proc/{pid}") for (pid,) in rows]
        if not all(one.exists() for one in self.servers):
            self.servers = []

    def now(self) -> float:
        """Seconds so far; time as it passes where the servers are not here."""
        if not self.servers:
            return perf_counter()
        return sum(int((one / "schedstat").read_text().split()[0]) for one in self.servers) / 1e9 + process_time()

    def memory(self) -> int:
        """KiB that this process and the servers have for themselves."""
        # A pool lets go of connections that it has no use for.
        self.look()
        mine = [Path("/proc/self"), *self.servers]
        return sum(
            int(line.split()[1])
            for one in mine
            for line in (one / "status").read_text().splitlines()
            if line.startswith("RssAnon:")
        )


class Walk(NamedTuple):
    """What reading a list to its end came to: its rows, and how much memory grew meanwhile (KiB)."""

    rows: int
    grown: int


async def walked(here: Side, path: str, pages: int) -> Walk:
    """Every page of a list by `scroll_id`, at most so many. Memory is compared with that after the first of them."""
    rows, number, first, most = 0, 0, 0, 0
    async for body in _pages(here.client, f"{API}{path}&page_size=1000"):
        rows += len(body["list"])
        number += 1
        # The client's answers refer to themselves, with all that they hold; the service's part leaves no such rings.
        if not number % _SETTLED:
            gc.collect()
        most = max(most, here.work.memory())
        if number <= _SETTLED:
            first = most
        if number == pages:
            break
    return Walk(rows, most - first)


async def _pages(client: httpx.AsyncClient, url: str) -> AsyncIterator[dict[str, Any]]:
    scroll = ""
    while True:
        answer = await client.get(url + (f"&scroll_id={scroll}" if scroll else ""))
        assert answer.status_code == 200, answer.text
        body = answer.json()
        yield body
        scroll = body.get("scroll_id") or ""
        if not scroll:
            return
