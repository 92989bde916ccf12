"""Rows about a large chain on PostgreSQL: what pages cost beside those of one store, and what reading it all keeps."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from tests.bench.bench import Bench
from tests.bench.table import Pair, Row, measures
from tests.grow import __main__ as grow
from tests.grow.lists import MOST, Cost
from tests.service import postgres

STORES = 1000
PRODUCTS = 5000

ONE = "the same page on one store"


@measures(
    "chain",
    Row("chain: dearest page", "ms", ONE, at_most=MOST),
    Row("chain: dearest page by a token of three stores", "ms", ONE, at_most=MOST),
    Row("chain: memory grown while all stock and logs are read", "MB", most=grow.FLAT / 1024),
)
def chain(bench: Bench) -> Sequence[Pair]:
    """1,000 stores of 5,000 products with 200 orders each, made and weighed as by `python -m tests.grow`."""
    try:
        server = postgres.started()
    except postgres.Unavailable as why:
        return [Pair(None, None, str(why))] * 3
    stores, products = bench.times(STORES, 3), bench.times(PRODUCTS, 24)
    options = [f"--stores={stores}", f"--products={products}", f"--orders={bench.times(200, 8)}"]
    try:
        grown = asyncio.run(grow.grow(grow.asked_for([server.fresh(), *options])))
    finally:
        server.end()
    read = sum(walk.rows for walk in grown.walks.values())
    most = max(walk.grown for walk in grown.walks.values()) / 1024
    note = f"{stores:,} stores of {products:,} products"
    return [_dearest(grown.lists, note), _dearest(grown.few, note), Pair(most, None, f"{read:,} rows")]


def _dearest(costs: dict[str, Cost], note: str) -> Pair:
    name, cost = max(costs.items(), key=lambda item: item[1].ratio)
    return Pair(cost.chain, cost.one, f"{name}, of {len(costs)} pages; {note}")
