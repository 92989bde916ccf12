"""`python -m tests.grow postgresql://… [--stores N]`: a chain of any size in an empty database, and its pages weighed.

One store is filled through the interface, from a seed: products, places, counted stock, orders of which some are
picked, deliveries of which some are received. Every store of the chain gets its rows, legs of the ledger and counters
included, so that the books of each are in order. Pages are weighed on that one store and in the chain, in turns: a list
must not mind how large the chain is. With `--again` the database is one that this has filled.
"""

from __future__ import annotations

import argparse
import asyncio
import secrets
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack, closing
from time import perf_counter
from typing import NamedTuple

import httpx

from aisle.service.app_options_and_limits import ServiceOptions
from aisle.service.auth.tokens_and_pins import create_token
from aisle.service.db import open_database
from aisle.service.domain.quantities_times_and_json import format_timestamp
from aisle.service.open_service_and_admin_token import Service
from tests.bench.generated_store import Product, products
from tests.grow.chain import address_beside, copied, make_beside
from tests.grow.lists import LISTS, MOST, POLLS, Cost, Side, Walk, side, told, walked, weighed
from tests.grow.store import FIRST, filled, founded, ranged, store_number
from tests.service.world import START, assert_books

_ASKED = 29
"""How many stores of the chain the lists of a store are asked of."""
FLAT = 16 * 1024
"""KiB that the memory of process and servers together may grow by while a list is read to its end."""
LONG_AGO = 200 * 86400.0
"""How long ago the first store came to its goods: what its log has of it is historic."""
_WALKS = {"stock": "/storeproducts/stock?", "logs": "/products/stock/storeproductlogs?"}


class Grown(NamedTuple):
    """What pages cost on one store and in the chain, by name; the same by a token of a few stores; whole lists read."""

    lists: dict[str, Cost]
    few: dict[str, Cost]
    walks: dict[str, Walk]

    @property
    def over(self) -> int:
        """How many pages and walks cost more than they may."""
        costs = [*self.lists.values(), *self.few.values()]
        return sum(cost.ratio > MOST for cost in costs) + sum(walk.grown > FLAT for walk in self.walks.values())


async def grow(asked: argparse.Namespace) -> Grown:
    """All of it: one store filled, the chain made of it, pages weighed, lists read to their ends."""
    goods, now = products(asked.products, asked.seed), [START]
    if not asked.again:
        await make_beside(asked.database)
    with (
        closing(Service(open_database(await address_beside(asked.database)), ServiceOptions(lambda: now[0]))) as one,
        closing(Service(open_database(asked.database), ServiceOptions(lambda: START))) as chain,
    ):
        if not asked.again:
            await _fill(asked, goods, one, chain, now)
        return await _weigh(asked, goods[0], one, chain)


async def _fill(
    asked: argparse.Namespace, goods: Sequence[Product], one: Service, chain: Service, now: list[float]
) -> None:
    begun = perf_counter()
    async with opened(one) as client:
        now[0] = START - LONG_AGO
        await founded(client, goods, 1)
        await ranged(client, goods, asked.seed)
        now[0] = START
        await filled(client, goods, asked.orders, asked.seed)
    assert_books(one)
    _say(f"one store was filled in {perf_counter() - begun:.1f} s")
    begun = perf_counter()
    async with opened(chain) as client:
        await founded(client, goods, asked.stores)
    rows = await copied(asked.database, asked.stores)
    _say(f"{asked.stores:,} stores got {rows:,} rows in {perf_counter() - begun:.1f} s")


async def _weigh(asked: argparse.Namespace, first: Product, one: Service, chain: Service) -> Grown:
    step = max(1, asked.stores // _ASKED)
    many = [store_number(number) for number in range(1, asked.stores + 1, step)]
    async with AsyncExitStack() as stack:

        async def of(service: Service, stores: Sequence[str], token: Sequence[str] | None = None) -> Side:
            return side(await stack.enter_async_context(opened(service, token)), service, stores)

        lists = await weighed(await of(one, [FIRST]), await of(chain, many), first, [*LISTS, *POLLS])
        few = many[len(many) // 2 :][:3]
        names = [name for name in LISTS if "chain" in name or name == "stores"]
        of_few = await weighed(await of(one, [FIRST], [FIRST]), await of(chain, few, few), first, names)
        everything = await of(chain, many)
        return Grown(
            lists, of_few, {name: await walked(everything, path, asked.pages) for name, path in _WALKS.items()}
        )


def tell(grown: Grown) -> None:
    """Prints all that was weighed."""
    told(grown.lists)
    print("\nby a token of a few stores")
    told(grown.few)
    print()
    for name, walk in grown.walks.items():
        print(f"{walk.rows:,} rows of {name} were read page by page; memory grew by {walk.grown:,} KiB")


def opened(service: Service, stores: Sequence[str] | None = None) -> httpx.AsyncClient:
    """An admin's client, of all stores or of these."""
    made = create_token(
        service.database,
        name=f"grow-{secrets.token_hex(4)}",
        role="admin",
        store_numbers=stores,
        now=format_timestamp(START),
    )
    headers = {"Authorization": f"Bearer {made.secret}"}
    return httpx.AsyncClient(transport=httpx.ASGITransport(service.app), base_url="http://grow", headers=headers)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def asked_for(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(prog="python -m tests.grow", description=__doc__.partition("\n")[0])
    parser.add_argument("database", help="postgresql://…, an empty database")
    parser.add_argument("--stores", type=int, default=1000)
    parser.add_argument("--products", type=int, default=5000)
    parser.add_argument("--orders", type=int, default=200, help="of each store")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--pages", type=int, default=10_000, help="of 1,000 rows that are read of each walked list")
    parser.add_argument("--again", action="store_true", help="weigh a database that was filled so before")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Fill, copy, weigh; 1 when a list minds how large the chain is."""
    grown = asyncio.run(grow(asked_for(argv)))
    tell(grown)
    return int(grown.over > 0)


if __name__ == "__main__":
    sys.exit(main())
