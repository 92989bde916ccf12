"""Rows about a chain of any size on the embedded service, and about the sessions of one of its stores."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Any

import apsw

from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.store_and_database_folders import StoreFolder
from aisle.service.app_options_and_limits import ServiceOptions
from aisle.service.db import open_database
from aisle.service.db.schema_and_search_index import MIGRATIONS
from aisle.service.open_service_and_admin_token import Service
from aisle.session.store_connection import close_store, open_store
from tests.bench import generated_store, grown_cache
from tests.bench.bench import Bench
from tests.bench.grown_cache import reading
from tests.bench.multiplied_stores import ranged
from tests.bench.rows_growth import curve, reads, scans, starts, used_ms
from tests.bench.rows_pages import FLAT, asking, in_turns, names
from tests.bench.table import Pair, Row, measures, median
from tests.grow.__main__ import opened
from tests.grow.store import FIRST, filled, founded, store_number
from tests.service.world import START

STORES = (1, 10, 100, 1000)
AREA = 20
"""How many stores are around one."""

READS: dict[str, tuple[str, dict[str, Any]]] = {
    "list of stores": ("stores", {"size": 20}),
    "stores by a word": ("stores", {"search": "bench", "size": 20}),
    "one store": ("store", {"store_number": generated_store.STORE}),
    "a product in stores around": ("surrounding", {"product_number": "1000000"}),
    "look-up of a product": ("product", {"product_number": "1000500"}),
}
CHANGE = "change of store, its files"
SESSION = ("start", "scan to verdict", *READS, CHANGE)

PATHS = {
    **{name: path for name, path in FLAT.items() if "300" not in name},
    "stores, page 1": "/api/v2/public/stores?page_size=20",
    "a product in stores around": f"/api/v2/public/stores/{FIRST}/storeproducts/{{number}}/surrounding",
    "stock of the chain, page 1": "/api/v2/public/storeproducts/stock?page_size=20",
    "logs of the chain, page 1": "/api/v2/public/products/stock/storeproductlogs?page_size=20&is_historic=true",
}
"""What the service of one store and that of a thousand are both asked."""


AROUND = ("list of stores", "stores by a word", "a product in stores around")
"""What shows as many stores as there are, up to a page or to an area: told beside a chain that fills it."""


def _beside(name: str) -> str:
    return "100 stores" if name in AROUND else "1 store"


@measures(
    "stores",
    *(Row(f"{name}, 1,000 stores", "ms", _beside(name), at_most=1.5) for name in SESSION),
    *(Row(f"service: {name}, 1,000 stores", "ms", _beside(name), at_most=1.5) for name in PATHS),
)
def stores(bench: Bench) -> Sequence[Pair]:
    """Sessions of a store of 1,000 products, by how many the chain has; the service with all that each of them has."""
    sizes = STORES[: bench.times(4, 2)]
    return [
        curve(bench, name, sizes, values, 2 if name.removeprefix("service: ") in AROUND else 0)
        for found in (_sessions(bench, sizes), _service(bench, sizes))
        for name, values in found.items()
    ]


def _sessions(bench: Bench, sizes: Sequence[int]) -> dict[str, list[float]]:
    homes = [_home(bench, size) for size in sizes]
    found = {"start": starts(bench, homes, [1_000] * len(homes)), "scan to verdict": scans(bench, homes)}
    with ExitStack() as stack:
        readers = [stack.enter_context(reading(home)) for home in homes]
        found |= {name: reads(bench, readers, [read] * len(homes)) for name, read in READS.items()}
    rounds = [[used_ms(partial(_change, home)) for home in homes] for _ in range(bench.times(30, 1))]
    found[CHANGE] = [median(each) or 0.0 for each in zip(*rounds, strict=True)]
    return found


def _change(home: StoreFolder) -> None:
    close_store(open_store(home))


def _home(bench: Bench, size: int) -> StoreFolder:
    """A store's cache that knows so many stores, and what those around have of a product."""
    home = grown_cache.grow(bench.folder / f"stores-{size}", 1_000, 200)
    with closing(open_cache(home.folder, writer=True)) as connection:
        cache = CacheWriter(connection, generated_store.STORE)
        cache.write_stores(_store(number) for number in range(size))
        around = [
            {**_store(number), "store_number": f"{42 + number:04}", "most_likely_quantity": number}
            for number in range(min(size, AREA))
        ]
        cache.write_surrounding("1000000", around, 1.0)
    return home


def _store(number: int) -> dict[str, Any]:
    said = f"{42 + number:04}"
    return {"id": number + 1, "storeNo": said, "storeName": f"Bench {number}", "areaId": f"A{number // AREA}"}


def _service(bench: Bench, sizes: Sequence[int]) -> dict[str, list[float]]:
    products = bench.times(1000, 20)
    one = _founded(bench.folder / f"chain-{len(MIGRATIONS)}-1", 1, products)
    homes = [one, *(_copied(bench, one, size, products) for size in sizes[1:])]
    with ExitStack() as stack:
        chains = [stack.enter_context(asking(bench, home)) for home in homes]
        found = {}
        for name, path in PATHS.items():
            works = [partial(each.line.get, path.format_map(names(products))) for each in chains]
            found[f"service: {name}"] = in_turns(bench, chains, works)
    return found


def _founded(folder: Path, stores: int, products: int) -> Path:
    """A chain of so many stores, of which the first has all that a store has."""
    if (folder / "made").exists():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700, parents=True)
    goods = [
        each._replace(place=grown_cache.place(index)) for index, each in enumerate(generated_store.products(products))
    ]

    async def fill() -> None:
        async with opened(service) as client:
            await founded(client, goods, stores)
            if stores == 1:
                await ranged(client, goods)
                await filled(client, goods, min(200, products), 7)

    with closing(Service(open_database(folder / "service.db"), ServiceOptions(lambda: START))) as service:
        asyncio.run(fill())
    (folder / "made").touch()
    return folder


def _copied(bench: Bench, one: Path, stores: int, products: int) -> Path:
    """A chain in which every store has what the one has."""
    folder = bench.folder / f"chain-{len(MIGRATIONS)}-{stores}"
    if (folder / "copied").exists():
        return folder
    (folder / "made").unlink(missing_ok=True)
    _founded(folder, stores, products)
    with closing(apsw.Connection(str(folder / "service.db"))) as connection:
        for pragma in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -500000"):
            connection.execute(f"PRAGMA {pragma}").fetchall()
        connection.execute("ATTACH ? AS one", (str(one / "service.db"),))
        connection.execute("BEGIN")
        for statement in _statements(connection):
            connection.executemany(statement, ((store_number(n), n) for n in range(1, stores + 1)))
        connection.execute("COMMIT")
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
    (folder / "copied").touch()
    return folder


def _statements(connection: apsw.Connection) -> list[str]:
    """For each table of a store's own: what gives another store the rows of the first."""
    found = []
    for (table,) in connection.execute("SELECT name FROM one.sqlite_schema WHERE type = 'table'").fetchall():
        columns = connection.execute(f"SELECT name, type FROM pragma_table_info('{table}')").fetchall()
        if "store_number" not in {name for name, _ in columns} or table in ("store", "token_store"):
            continue
        said = {name: f"replace({name}, '{FIRST}', ?1)" for name, kind in columns if kind == "TEXT"}
        said |= {"store_number": "?1", "ordinal": "?2"}
        values = ", ".join(str(said.get(name, name)) for name, _ in columns)
        found.append(f"INSERT INTO {table} SELECT {values} FROM one.{table} WHERE store_number = '{FIRST}' AND ?2 > 0")
    return found
