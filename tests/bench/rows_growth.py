"""Rows about growth: each figure at sizes a thousandfold apart; what a hand waits for must not grow with the store."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

from aisle.cache.reader import CacheReader
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.location_list_and_page import MAX_PRODUCTS
from tests.bench import generated_store, grown_cache
from tests.bench.bench import Bench
from tests.bench.grown_cache import grow, reading
from tests.bench.prepare import open_order, program_of
from tests.bench.rows_cache import LISTS, WINDOW, typed
from tests.bench.session import Session
from tests.bench.table import Pair, Row, measures, p99

PRODUCTS = (1_000, 10_000, 100_000, 1_000_000)
ORDERS = (10, 100, 1_000, 20_000)
BASE = 1
"""The index of the size that the largest is compared with."""

_WIDE = 48

BY_PRODUCTS = (
    "start",
    "scan to verdict",
    "look-up of a product",
    "a letter of a search",
    "a place",
    "list of locations",
)
AT_ONE_PLACE = (10, 100, 1_000, 10_000)
BY_GOODS: Mapping[str, dict[str, Any]] = {
    "list of locations": {"size": WINDOW},
    "page of a place": {"location_code": grown_cache.place(0), "size": MAX_PRODUCTS},
    "whether a product lies there": {"location_code": grown_cache.place(0), "product_number": "1000001"},
}
"""What is asked of a place with much on it; the list is asked for by no place."""
SORTED = ("page of a place",)
"""What puts all of it in order, though it reads but the first."""
BY_ORDERS = ("start", "open orders", "order board", "orders by a word")


@measures(
    "products",
    *(Row(f"{name}, 1,000,000 products", "ms", "10,000 products", at_most=1.5) for name in BY_PRODUCTS),
)
def by_products(bench: Bench) -> Sequence[Pair]:
    """The store's cache at each size, with 200 orders; sessions work from it alone. All are measured in turns."""
    sizes = PRODUCTS[: bench.times(4, 2)]
    homes = [grow(bench.folder / f"products-{size}", size, 200) for size in sizes]
    asked: Mapping[str, Callable[[int], tuple[str, dict[str, Any]]]] = {
        "look-up of a product": lambda size: ("product", {"product_number": str(1_000_000 + size // 2)}),
        "a place": lambda size: ("location", {"location_code": grown_cache.place(size // 2)}),
        "list of locations": lambda _: LISTS["locations"],
    }
    found = {"start": starts(bench, homes, sizes), "scan to verdict": scans(bench, homes)}
    with ExitStack() as stack:
        readers = [stack.enter_context(reading(home)) for home in homes]
        found |= {name: reads(bench, readers, [read(size) for size in sizes]) for name, read in asked.items()}
        found["a letter of a search"] = _letters(bench, readers)
    return [curve(bench, name, sizes, found[name]) for name in BY_PRODUCTS]


@measures("orders", *(Row(f"{name}, 20,000 orders", "ms", "100 orders", at_most=1.5) for name in BY_ORDERS))
def by_orders(bench: Bench) -> Sequence[Pair]:
    """The same with 1,000 products and that many open orders."""
    sizes = ORDERS[: bench.times(4, 2)]
    homes = [grow(bench.folder / f"orders-{size}", 1_000, size) for size in sizes]
    asked: Mapping[str, tuple[str, dict[str, Any]]] = {
        "open orders": LISTS["open orders"],
        "order board": LISTS["order board"],
        "orders by a word": ("orders", {"search": "g-0000007", "size": WINDOW}),
    }
    found = {"start": starts(bench, homes, [1_000] * len(homes))}
    with ExitStack() as stack:
        readers = [stack.enter_context(reading(home)) for home in homes]
        found |= {name: reads(bench, readers, [read] * len(homes)) for name, read in asked.items()}
    return [curve(bench, name, sizes, found[name]) for name in BY_ORDERS]


@measures(
    "goods",
    *(
        Row(f"{name}, 10,000 products at one place", "ms", "100 products", at_most=None if name in SORTED else 1.5)
        for name in BY_GOODS
    ),
    Row("all that lies there, once a count of it is done or all of it is moved, 10,000 products", "ms", "100 products"),
)
def by_goods(bench: Bench) -> Sequence[Pair]:
    """A whole stockroom as one place, which is how many stores keep theirs."""
    sizes = AT_ONE_PLACE[: bench.times(4, 2)]
    homes = [grow(bench.folder / f"goods-{size}", size, crowded=True) for size in sizes]
    found: dict[str, list[float]] = {}
    with ExitStack() as stack:
        readers = [stack.enter_context(reading(home)) for home in homes]
        for name, args in BY_GOODS.items():
            found[name] = reads(
                bench, readers, [("location" if "location_code" in args else "locations", args)] * len(homes)
            )
        found["all that lies there"] = reads(
            bench, readers, [("location", {"location_code": grown_cache.place(0)})] * len(homes)
        )
    return [curve(bench, name, sizes, values) for name, values in found.items()]


def used_ms(work: Callable[[], Any]) -> float:
    """Milliseconds of processor that it takes once: the same, whatever else the machine does."""
    began = time.thread_time()
    work()
    return (time.thread_time() - began) * 1000


def reads(bench: Bench, readers: Sequence[CacheReader], asked: Sequence[tuple[str, dict[str, Any]]]) -> list[float]:
    """The middle of what each reader takes for what it is asked; before, all have been asked once in vain."""
    works = [partial(reader.query, *ask) for reader, ask in zip(readers, asked, strict=True)]
    rounds = [[used_ms(work) for work in works] for _ in range(bench.times(101, 4))]
    return [statistics.median(each) for each in zip(*rounds[1:], strict=True)]


def _letters(bench: Bench, readers: Sequence[CacheReader]) -> list[float]:
    """What the dearest of a hundred letters takes each: of every letter the middle of what it takes, as of any read."""
    asked = [{"search": text, "size": WINDOW} for text in typed(bench.times(40, 2))]
    works = [[partial(reader.query, "search", args) for args in asked] for reader in readers]
    rounds = [[[used_ms(work) for work in letters] for letters in works] for _ in range(bench.times(9, 2))]
    return [
        p99(statistics.median(letter) for letter in zip(*each, strict=True)) or 0.0
        for each in zip(*rounds, strict=True)
    ]


def environment(bench: Bench, home: StoreFolder) -> dict[str, str | None]:
    """A session of that home, whose service is out of reach."""
    token = bench.scratch / "nobody"
    token.touch(mode=0o600)
    token.write_text("nobody", encoding="ascii")
    return {
        **bench.env,
        "AISLE_HOME": str(home.root),
        "AISLE_BASE_URL": grown_cache.URL,
        "AISLE_TOKEN_FILE": str(token),
    }


def starts(bench: Bench, homes: Sequence[StoreFolder], products: Sequence[int]) -> list[float]:
    """How long a session of each takes to its first usable screen."""
    programs = [
        program_of(bench.folder / "site", session_environment(bench, home), generated_store.products(min(count, 10))[0])
        for home, count in zip(homes, products, strict=True)
    ]
    rounds = [
        [_opened(program, lambda text: "G-0" in text or generated_store.ORDER in text) for program in programs]
        for _ in range(bench.times(15, 1))
    ]
    return [statistics.median(each) for each in zip(*rounds, strict=True)]


def _opened(program: Any, ready: Callable[[str], bool]) -> float:
    with Session(program, ready=ready) as session:
        return session.ready_ms


def session_environment(bench: Bench, home: StoreFolder) -> dict[str, str | None]:
    """A session of that home that begins in its store, as somebody."""
    return {
        **environment(bench, home),
        "PYTHONPATH": str(bench.folder / "site"),
        "AISLE_STORE": generated_store.STORE,
        "AISLE_USER": generated_store.USER,
        "AISLE_TERMINAL": "bench",
        "AISLE_ALLOW_VOLATILE": "1",
    }


def scans(bench: Bench, homes: Sequence[StoreFolder]) -> list[float]:
    """From a scan to its verdict in a session of each."""
    return worked(bench, homes)[0]


def worked(bench: Bench, homes: Sequence[StoreFolder]) -> tuple[list[float], list[float]]:
    """The same, and the memory of each session after that (PSS, MB)."""
    with ExitStack() as stack:
        sessions = []
        for home in homes:
            program = program_of(
                bench.folder / "site", session_environment(bench, home), generated_store.products(1)[0]
            )
            open_order(program)
            sessions.append(stack.enter_context(Session(program)))
        rounds = [[session.scan().ms for session in sessions] for _ in range(bench.times(100, 2))]
        held = [session.pss_mb() for session in sessions]
    return [statistics.median(each) for each in zip(*rounds, strict=True)], held


def curve(
    bench: Bench, name: str, sizes: Sequence[int], values: Sequence[float], base: int = BASE, unit: str = "ms"
) -> Pair:
    """The largest size beside the base; the curve is drawn below the table."""
    top = max(values) or 1.0
    bench.curves += ["", f"{name} ({unit})"]
    bench.curves += [
        f"{size:>10,}  {'#' * max(1, round(value / top * _WIDE))} {value:.2f}"
        for size, value in zip(sizes, values, strict=True)
    ]
    base = min(base, len(values) - 2)
    exponent = math.log(values[-1] / values[base]) / math.log(sizes[-1] / sizes[base])
    return Pair(values[-1], values[base], f"exponent {exponent:.2f}")
