"""Rows about growth: each figure at sizes a thousandfold apart; what a hand waits for must not grow with the store."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from aisle.local.host.home import Home
from tests.bench import grown, shop
from tests.bench.bench import Bench
from tests.bench.grown import grow, reading
from tests.bench.prepare import open_order, program_of
from tests.bench.rows_cache import LISTS, WINDOW, took_ms, typed
from tests.bench.session import Session
from tests.bench.table import Pair, Row, measures, median, p99

PRODUCTS = (1_000, 10_000, 100_000, 1_000_000)
ORDERS = (10, 100, 1_000, 20_000)
BASE = 1
"""The index of the size that the largest is compared with."""

_WIDE = 48

BY_PRODUCTS = ("start", "scan to verdict", "look-up of a product", "a letter of a search", "a place", "list of places")
BY_ORDERS = ("start", "open orders", "order board", "orders by a word")


@measures(
    "products",
    *(Row(f"{name}, 1,000,000 products", "ms", "10,000 products", at_most=1.5) for name in BY_PRODUCTS),
)
def by_products(bench: Bench) -> Sequence[Pair]:
    """The store's cache at each size, with 200 orders; sessions work from it alone."""
    sizes = PRODUCTS[: bench.times(4, 2)]
    found: dict[str, list[float]] = {name: [] for name in BY_PRODUCTS}
    for size in sizes:
        home = grow(bench.folder / f"products-{size}", size, 200)
        reads = {
            "look-up of a product": ("product", {"product_number": str(1_000_000 + size // 2)}),
            "a place": ("place", {"location_code": grown.place(size // 2)}),
            "list of places": LISTS["places"],
        }
        _at_hand(bench, home, size, found)
        _read(bench, home, reads, found)
        found["a letter of a search"].append(_letters(bench, home))
    return [curve(bench, name, sizes, found[name]) for name in BY_PRODUCTS]


@measures("orders", *(Row(f"{name}, 20,000 orders", "ms", "100 orders", at_most=1.5) for name in BY_ORDERS))
def by_orders(bench: Bench) -> Sequence[Pair]:
    """The same with 1,000 products and that many open orders."""
    sizes = ORDERS[: bench.times(4, 2)]
    found: dict[str, list[float]] = {name: [] for name in BY_ORDERS}
    reads: Mapping[str, tuple[str, dict[str, Any]]] = {
        "open orders": LISTS["open orders"],
        "order board": LISTS["order board"],
        "orders by a word": ("orders", {"search": "g-000000", "size": WINDOW}),
    }
    for size in sizes:
        home = grow(bench.folder / f"orders-{size}", 1_000, size)
        found["start"].append(_start(bench, home, 1_000))
        _read(bench, home, reads, found)
    return [curve(bench, name, sizes, found[name]) for name in BY_ORDERS]


def _read(
    bench: Bench, home: Home, asked: Mapping[str, tuple[str, dict[str, Any]]], found: dict[str, list[float]]
) -> None:
    with reading(home) as reads:
        for name, read in asked.items():
            ask = partial(reads.query, *read)
            ask()
            found[name].append(median(took_ms(ask) for _ in range(bench.times(100, 3))) or 0.0)


def _letters(bench: Bench, home: Home) -> float:
    with reading(home) as reads:
        asked = [{"search": text, "size": WINDOW} for text in typed(bench.times(40, 2))]
        return p99(took_ms(partial(reads.query, "search", args)) for args in asked) or 0.0


def _environment(bench: Bench, home: Home) -> dict[str, str | None]:
    """A session of that home, whose service is out of reach."""
    token = bench.scratch / "nobody"
    token.touch(mode=0o600)
    token.write_text("nobody", encoding="ascii")
    return {
        **bench.env,
        "AISLE_HOME": str(home.root),
        "AISLE_BASE_URL": grown.URL,
        "AISLE_TOKEN_FILE": str(token),
    }


def _start(bench: Bench, home: Home, products: int) -> float:
    program = program_of(bench.folder / "site", _sessions(bench, home), shop.products(min(products, 10))[0])
    return (
        median(_opened(program, lambda text: "G-0" in text or shop.ORDER in text) for _ in range(bench.times(9, 1)))
        or 0.0
    )


def _opened(program: Any, ready: Callable[[str], bool]) -> float:
    with Session(program, ready=ready) as session:
        return session.ready_ms


def _sessions(bench: Bench, home: Home) -> dict[str, str | None]:
    return {
        **_environment(bench, home),
        "PYTHONPATH": str(bench.folder / "site"),
        "AISLE_STORE": shop.STORE,
        "AISLE_USER": shop.USER,
        "AISLE_TERMINAL": "bench",
        "AISLE_ALLOW_VOLATILE": "1",
    }


def _at_hand(bench: Bench, home: Home, products: int, found: dict[str, list[float]]) -> None:
    found["start"].append(_start(bench, home, products))
    program = program_of(bench.folder / "site", _sessions(bench, home), shop.products(1)[0])
    open_order(program)
    with Session(program) as session:
        times = [session.scan().ms for _ in range(bench.times(60, 2))]
    found["scan to verdict"].append(median(times) or 0.0)


def curve(bench: Bench, name: str, sizes: Sequence[int], values: Sequence[float]) -> Pair:
    """The largest size beside the base; the curve is drawn below the table."""
    top = max(values) or 1.0
    bench.curves += ["", f"{name} (ms)"]
    bench.curves += [
        f"{size:>10,}  {'#' * max(1, round(value / top * _WIDE))} {value:.2f}"
        for size, value in zip(sizes, values, strict=True)
    ]
    base = values[min(BASE, len(values) - 2)]
    exponent = math.log(values[-1] / base) / math.log(sizes[-1] / sizes[min(BASE, len(sizes) - 2)])
    return Pair(values[-1], base, f"exponent {exponent:.2f}")
