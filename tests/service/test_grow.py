"""The chain that `python -m tests.grow` makes, in small: it is what it says, and is read like any other."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import closing
from itertools import chain as flat
from typing import Any

import pytest_asyncio

from aisle.service.app_options_and_limits import ServiceOptions
from aisle.service.db import open_database
from aisle.service.db.database_interface import Row, Transaction
from aisle.service.open_service_and_admin_token import Service
from tests.bench.generated_store import products
from tests.grow.__main__ import opened
from tests.grow.chain import address_beside, copied, make_beside
from tests.grow.lists import LISTS, Cost, side, told, walked, weighed
from tests.grow.store import FIRST, filled, founded, ranged, store_number
from tests.service.postgres import Server
from tests.service.world import API, START, assert_books

STORES = 3
GOODS = products(24, 7)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def grown(server: Server) -> AsyncIterator[tuple[Service, Service]]:
    """One store, and a chain of three like it."""
    url = server.fresh()
    await make_beside(url)
    with (
        closing(Service(open_database(await address_beside(url)), ServiceOptions(lambda: START))) as one,
        closing(Service(open_database(url), ServiceOptions(lambda: START))) as chain,
    ):
        async with opened(one) as sends:
            await founded(sends, GOODS, 1)
            await ranged(sends, GOODS, 7)
            await filled(sends, GOODS, 8, 7)
        async with opened(chain) as sends:
            await founded(sends, GOODS, STORES)
        before = chain.database.read_now(keys)
        rows = await copied(url, STORES)
        assert rows == STORES * one.database.read_now(rows_of_first)
        assert chain.database.read_now(keys) == before, "keys and indexes are as they were"
        yield one, chain


async def keys(tx: Transaction) -> list[Row]:
    """The words of every key and index; those of a foreign key are checked."""
    return await tx.all(
        """SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid), convalidated FROM pg_constraint
        WHERE connamespace = current_schema()::regnamespace
        UNION ALL SELECT tablename, indexname, indexdef, true FROM pg_indexes WHERE schemaname = current_schema()
        ORDER BY 1, 2, 3"""
    )


async def rows_of_first(tx: Transaction) -> int:
    """How many rows the first store has, all tables together."""
    tables = await tx.all(
        """SELECT table_name FROM information_schema.columns
        WHERE table_schema = current_schema() AND column_name = 'store_number'
            AND table_name NOT IN ('store', 'token_store')"""
    )
    counts = [await tx.all(f"SELECT count(*) FROM {name} WHERE store_number = $1", FIRST) for (name,) in tables]
    return sum(count for ((count,),) in counts)


async def test_the_books_are_in_order_and_stay_so(grown: tuple[Service, Service]) -> None:
    for service in grown:
        assert_books(service)
    async with opened(grown[1]) as asks:
        new = {
            "order_number": "N1",
            "order_lines": [{"line_number": 1, "product_number": GOODS[0].number, "quantity": 1}],
        }
        path = f"{API}/stores/{store_number(STORES)}/orders/customerorders"
        made = await asks.post(path, json={"orders": [new]})
        assert made.status_code == 200, made.text
    assert_books(grown[1])


async def test_every_store_tells_what_the_first_one_does(grown: tuple[Service, Service]) -> None:
    async with opened(grown[0]) as one, opened(grown[1]) as chain:
        for path in LISTS.values():
            if "{store}" not in path:
                continue
            asked = API + path.replace("{place}", GOODS[0].place) + "&page_size=1000"
            [(_, first)] = await _answers(one, asked, [FIRST])
            assert first, path
            # The last one is written to.
            for name, there in await _answers(chain, asked, [store_number(n) for n in range(1, STORES)]):
                assert _without_ids(there) == _without_ids(first, name), path


async def _answers(asks: Any, path: str, stores: list[str]) -> list[tuple[str, list[dict[str, Any]]]]:
    return [(name, (await asks.get(path.replace("{store}", name))).json()["list"]) for name in stores]


def _without_ids(row: Any, name: str = "") -> Any:
    """Rows without the numbers that differ from store to store; with another store's number where it is given."""
    if isinstance(row, list):
        return [_without_ids(one, name) for one in row]
    if isinstance(row, dict):
        return {key: _without_ids(one, name) for key, one in row.items() if key not in ("id", "import_id")}
    return row.replace(FIRST, name) if name and isinstance(row, str) else row


async def test_the_chain_is_walked_to_its_end(grown: tuple[Service, Service]) -> None:
    async with opened(grown[1]) as asks:
        walk = await walked(side(asks, grown[1], [FIRST]), "/storeproducts/stock?", 10)
        assert walk.rows == STORES * len(GOODS)
        answer = await asks.get(f"{API}/storeproducts/stock?page_size=1000")
        ids = [(row["store_number"], row["product_number"]) for row in answer.json()["list"]]
        assert sorted(ids) == sorted(
            flat.from_iterable(((store_number(n), one.number) for one in GOODS) for n in range(1, STORES + 1))
        )


async def test_pages_are_weighed_in_turns(grown: tuple[Service, Service], capsys: Any) -> None:
    async with opened(grown[0]) as one, opened(grown[1]) as chain:
        names = ["logs of the chain", "logs of a product", "stores"]
        found = await weighed(side(one, grown[0], [FIRST]), side(chain, grown[1], [FIRST]), GOODS[0], names, 3)
    assert list(found) == [
        "logs of the chain, page 1",
        "logs of the chain, page 300",
        "logs of the chain, from_id",
        "logs of a product",
        "stores, page 1",
        "stores, page 300",
    ]
    assert all(cost.one > 0 and cost.chain > 0 for cost in found.values())
    assert told({"good": Cost(1.0, 1.4), "bad": Cost(1.0, 1.6)}) == 1
    assert [line.endswith("more") for line in capsys.readouterr().out.splitlines()] == [False, True]
