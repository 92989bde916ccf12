"""`python -m tests.grow postgresql://… [--stores N]`: a chain of any size in an empty database, and its pages weighed.

One store is filled through the interface, from a seed: products, places, counted stock, orders of which some are
picked, deliveries of which some are received. The others get its rows by COPY, legs of the ledger and counters
included, so that the books of each are in order. Pages are timed before and after: a list must not mind how large the
chain is.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import resource
import sys
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

import asyncpg
import httpx

from aisle.service.factory import Service
from aisle.service.storage import Row, open_storage
from aisle.service.times import moment
from aisle.service.tokens import create_token
from tests.bench.shop import Product, products
from tests.service.world import API, LOGS, START, assert_books

FIRST = "T00001"
_ROWS = 1000
_TIMES = 25
_VAIN = 8
_MOST = 1.5
_PARTS = 20


async def filled(client: httpx.AsyncClient, goods: Sequence[Product], orders: int, seed: int) -> None:
    """The first store, with everything a store has."""
    chance = random.Random(seed)
    send = _Sender(client)
    store = {"store_number": FIRST, "store_name": "Store 1", "area_id": "A", "is_warehouse": False}
    await send("/stores", "stores", [store | {"is_active": True, "is_active_data_exchange": True}])
    await send("/products", "products", [_product(one) for one in goods])
    places = sorted({one.place for one in goods})
    rows = [{"store_number": FIRST, "location_code": code, "location_order": n} for n, code in enumerate(places)]
    await send("/aisle/v1/locations", "locations", rows)
    await send(f"/stores/{FIRST}/storeproducts", "store_products", [{"product_number": one.number} for one in goods])
    counts = [
        {"product_number": one.number, "location_code": one.place, "stock_pool_1": chance.randint(50, 500)}
        for one in goods
    ]
    await send(LOGS.replace("S1", FIRST) + "?is_counted_quantity=true", "storeproductlog", counts)
    made = [_order(number, chance.sample(goods, 3), chance) for number in range(orders)]
    await send(f"/stores/{FIRST}/orders/customerorders", "orders", made)
    coming = [_delivery(number, chance.sample(goods, 5)) for number in range(max(1, orders // 4))]
    await send(f"/stores/{FIRST}/orders/deliveries", "orders", coming)
    received = [
        {"product_number": line["product_number"], "quantity": 2, "reference": one["order_number"]}
        for one in coming
        for line in one["order_lines"]
    ]
    await send(LOGS.replace("S1", FIRST) + "?is_from_receipt=true", "storeproductlog", received)


class _Sender:
    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def __call__(self, path: str, name: str, rows: Sequence[dict[str, Any]]) -> None:
        for start in range(0, len(rows), _ROWS):
            url = path if path.startswith("/aisle") else API + path
            answer = await self._client.post(url, json={name: rows[start : start + _ROWS]})
            assert answer.status_code == 200, answer.text


def _product(one: Product) -> dict[str, Any]:
    return {"product_number": one.number, "product_name": one.name, "barcode": one.barcode, "category_code": "food"}


def _order(number: int, goods: Iterable[Product], chance: random.Random) -> dict[str, Any]:
    lines = [
        {"line_number": n, "product_number": one.number, "quantity": 3, "picked_quantity": chance.choice((0, 0, 2, 3))}
        for n, one in enumerate(goods, 1)
    ]
    return {"order_number": f"O{number:06d}", "reference": f"R{number:06d}", "order_lines": lines}


def _delivery(number: int, goods: Iterable[Product]) -> dict[str, Any]:
    lines = [{"product_number": one.number, "quantity": 12} for one in goods]
    head = {"order_number": f"D{number:06d}", "no_of_containers": 1, "order_type": 1, "supplier_name": "Supplier"}
    return head | {"order_lines": lines}


async def copied(url: str, stores: int) -> int:
    """The other stores, each as the first one is; the number of rows."""
    connection = await asyncpg.connect(url)
    try:
        count = 0
        for table in await _tables(connection):
            count += await _copy(connection, table, stores)
        await connection.execute("UPDATE counter SET value = $1 WHERE store_number = '*' AND name = 'store'", stores)
        # As autovacuum does in time.
        await connection.execute("VACUUM ANALYZE")
        return count
    finally:
        await connection.close()


async def _tables(connection: Any) -> list[str]:
    """Those with rows of a store, each after what it refers to."""
    rows = await connection.fetch(
        """SELECT c.table_name, (SELECT count(*) FROM pg_constraint f WHERE f.contype = 'f'
            AND f.conrelid = c.table_name::regclass AND f.confrelid <> 'product'::regclass) AS refers
        FROM information_schema.columns c
        WHERE c.table_schema = current_schema() AND c.column_name = 'store_number' AND c.table_name <> 'token_store'
        ORDER BY c.table_name"""
    )
    # Balances refer to what refers to a store; nothing lies deeper.
    depth = {"store": -1, "balance": 9, "order_line": 9, "delivery_line": 9}
    return [row[0] for row in sorted(rows, key=lambda row: (depth.get(row[0], row[1]), row[0]))]


async def _copy(connection: Any, table: str, stores: int) -> int:
    model = await connection.fetch(f"SELECT * FROM {table} WHERE store_number = $1", FIRST)
    if not model:
        return 0
    columns = list(model[0].keys())
    at = {name: columns.index(name) for name in ("store_number", "ordinal", "item", "store_name") if name in columns}
    rows = [list(row) for row in model]
    for start in range(2, stores + 1, _PARTS):
        numbers = range(start, min(start + _PARTS, stores + 1))
        part = (_of_store(table, row, at, number) for number in numbers for row in rows)
        await connection.copy_records_to_table(table, records=part, columns=columns, timeout=3600)
    return len(rows) * (stores - 1)


def _of_store(table: str, row: list[Any], at: dict[str, int], number: int) -> tuple[Any, ...]:
    row[at["store_number"]] = name = f"T{number:05d}"
    if "ordinal" in at:
        row[at["ordinal"]] = number
    if table == "store":
        row[at["store_name"]] = f"Store {number}"
        row[at["item"]] = f'{{"id":{number},"storeNo":"{name}","storeName":"Store {number}","isWarhouse":false}}'
    return tuple(row)


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
    "places": "/stores/{store}/locations?",
    "products": "/products?",
}


class Cost(NamedTuple):
    """What a page costs (see `Work`), and whether there is anything on it."""

    milliseconds: float
    filled: bool


async def timed(client: httpx.AsyncClient, work: Work, store: str, place: str) -> dict[str, Cost]:
    """What each list's first page, its page 300, and a page from an id on cost."""
    found: dict[str, Cost] = {}
    for name, path in LISTS.items():
        url = API + path.replace("{store}", store).replace("{place}", place) + "&page_size=10"
        number = "page_number" if name == "products" else "page_start"
        rows = await _milliseconds(client, work, url, found, f"{name}, page 1")
        await _milliseconds(client, work, f"{url}&{number}=300", found, f"{name}, page 300")
        if rows and "id" in rows[-1] and name.split()[0] in ("stock", "logs", "receipts"):
            await _milliseconds(client, work, f"{url}&from_id={rows[-1]['id']}", found, f"{name}, from_id")
    return found


async def _milliseconds(
    client: httpx.AsyncClient, work: Work, url: str, found: dict[str, Cost], name: str
) -> list[Any]:
    for _ in range(_VAIN):
        # For plans and caches to settle.
        answer = await client.get(url)
        assert answer.status_code == 200, f"{url}: {answer.text}"
    before = work.now()
    for _ in range(_TIMES):
        await client.get(url)
    spent = (work.now() - before) * 1000 / _TIMES
    body = answer.json()
    rows: list[Any] = body.get("list") or body.get("records") or []
    found[name] = Cost(spent, bool(rows))
    return rows


def compared(one: dict[str, Cost], all_: dict[str, Cost]) -> int:
    """Prints what pages cost before and after; how many got slower than they may.

    A page that one store has nothing on, while the chain fills it, is weighed against the list's first page.
    """
    slower = 0
    for name, after in all_.items():
        before = one[name]
        if after.filled and not before.filled:
            before = one[name.replace("page 300", "page 1")]
        ratio = after.milliseconds / before.milliseconds
        mark = "  slower" if after.milliseconds > _MOST * before.milliseconds + 0.5 else ""
        slower += bool(mark)
        print(f"{name:36}{before.milliseconds:8.1f} ms{after.milliseconds:8.1f} ms{ratio:7.2f} ×{mark}")
    return slower


class Work:
    """Processor time of this process and of its connections' servers, where they run on this machine."""

    def __init__(self, service: Service) -> None:
        self._storage = service.storage

    def now(self) -> float:
        """Seconds so far; time as it passes where the servers are not here."""
        try:
            total = sum(int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) for (pid,) in self._servers())
        except OSError:
            return perf_counter()
        return total / 1e9 + process_time()

    def _servers(self) -> list[Row]:
        pids = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'aisle'"
        return self._storage.read_now(lambda tx: tx.all(pids))


async def walked(client: httpx.AsyncClient, pages: int) -> tuple[int, int]:
    """Every page of the chain's stock by `scroll_id`, at most so many: rows, and how much memory grew (KiB)."""
    url, rows, before = f"{API}/storeproducts/stock?page_size=1000", 0, 0
    async for body in _pages(client, url):
        rows += len(body["list"])
        pages -= 1
        before = before or _memory()
        if not pages:
            break
    return rows, _memory() - before


async def _pages(client: httpx.AsyncClient, url: str) -> AsyncIterator[dict[str, Any]]:
    scroll = ""
    while True:
        answer = await client.get(url + (f"&scroll_id={scroll}" if scroll else ""))
        body = answer.json()
        yield body
        scroll = body.get("scroll_id") or ""
        if not scroll:
            return


def _memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


async def grow(asked: argparse.Namespace) -> int:
    """All of it; 1 when a page got slower than it may."""
    service = Service(open_storage(asked.database), lambda: START)
    made = create_token(service.storage, name="grow", role="admin", store_numbers=None, now=moment(START))
    work = Work(service)
    transport = httpx.ASGITransport(service.app)
    headers = {"Authorization": f"Bearer {made.secret}"}
    try:
        async with httpx.AsyncClient(transport=transport, base_url="http://grow", headers=headers) as client:
            begun = perf_counter()
            goods = products(asked.products, asked.seed)
            await filled(client, goods, asked.orders, asked.seed)
            assert_books(service)
            _say(f"one store was filled in {perf_counter() - begun:.1f} s")
            one = await timed(client, work, FIRST, goods[0].place)
            begun = perf_counter()
            rows = await copied(asked.database, asked.stores)
            _say(f"{rows:,} rows of {asked.stores - 1:,} more stores were copied in {perf_counter() - begun:.1f} s")
            all_ = await timed(client, work, f"T{max(1, asked.stores // 2):05d}", goods[0].place)
            seen, grown = await walked(client, asked.pages)
            _say(f"{seen:,} rows of stock were read page by page; the peak of memory grew by {grown:,} KiB")
    finally:
        service.close()
    return int(compared(one, all_) > 0)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Fill, copy, time; 1 when a list minds how large the chain is."""
    parser = argparse.ArgumentParser(prog="python -m tests.grow", description=__doc__.partition("\n")[0])
    parser.add_argument("database", help="postgresql://…, an empty database")
    parser.add_argument("--stores", type=int, default=1000)
    parser.add_argument("--products", type=int, default=5000)
    parser.add_argument("--orders", type=int, default=200, help="of each store")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--pages", type=int, default=1000, help="of the chain's stock that are read, 1,000 rows each")
    return asyncio.run(grow(parser.parse_args(argv)))


if __name__ == "__main__":
    sys.exit(main())
