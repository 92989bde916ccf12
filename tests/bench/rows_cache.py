"""Rows about what a session reads: find as you type in a million products, and lists of any length."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

import apsw

from aisle.cache.reader import CacheReader
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.list_cursor_and_search import MAX_COUNTED
from tests.bench.bench import Bench
from tests.bench.grown_cache import Lists, grow, reading
from tests.bench.table import Pair, Row, measures, median, p99

WINDOW = 20

NOW = "2026-03-02T18:00:00+00:00"

LISTS: dict[str, tuple[str, dict[str, Any]]] = {
    "open orders": ("orders", {"size": WINDOW}),
    "order board": ("order_board", {"size": WINDOW}),
    "locations": ("locations", {"size": WINDOW}),
    "the log": ("log", {"size": WINDOW}),
    "deliveries": ("deliveries", {"state": "open", "size": WINDOW}),
    "received deliveries": ("deliveries", {"state": "received", "size": WINDOW}),
    "receipts": ("receipts", {"size": WINDOW}),
    "exceptions": ("exceptions", {"now": NOW, "minutes": 60}),
    "differences of counts": ("differences", {"size": WINDOW}),
    "negative stock": ("negative_stock", {"size": WINDOW}),
}
"""Lists that a store has many rows of: the read that opens each, by what it is called."""

_BARE = f"""
SELECT id, text, product_number, name, brand, barcode, unit, allow_decimal FROM product
WHERE id IN (SELECT rowid FROM search WHERE search MATCH ? LIMIT {MAX_COUNTED})
"""


def took_ms(work: Callable[[], Any]) -> float:
    """Milliseconds that it takes once."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def typed(count: int, seed: int = 7) -> Iterator[str]:
    """What somebody types, letter after letter: names, two words, tails of barcodes."""
    chance = random.Random(seed)
    for _ in range(count):
        text = chance.choice(
            ("dahlia", "cassia dark", "juice organic", "erica candle", "milk 125", f"{chance.random()}"[2:9])
        )
        for end in range(1, len(text) + 1):
            yield text[:end].strip()


@measures(
    "search",
    Row("find by typing, p99 of a letter", "ms", "the index asked, bare", at_most=2.0),
    Row("find by typing, p99 of a letter, in milliseconds", "ms", most=16),
)
def search(bench: Bench) -> Sequence[Pair]:
    """Each letter is a read of its own, from a session's side of the cache."""
    count = bench.times(1_000_000, 2_000)
    words = list(typed(bench.times(60, 2)))
    home = grow(bench.folder / f"grown-{count}", count)
    with reading(home) as reads, bare(home) as connection:
        asked, floor = [], []
        for text in [*words[:10], *words]:
            floor.append(took_ms(lambda text=text: _bare(connection, text)))  # type: ignore[misc]
            asked.append(took_ms(lambda text=text: reads.query("search", {"search": text, "size": WINDOW})))  # type: ignore[misc]
    found = p99(asked[10:])
    return [Pair(found, p99(floor[10:]), f"{count:,} products, {len(words)} letters"), Pair(found, None)]


@contextmanager
def bare(home: StoreFolder) -> Iterator[apsw.Connection]:
    """The cache without any of aisle's reading."""
    with closing(apsw.Connection(str(home.cache), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        yield connection


_PIECE = f"""
SELECT id, text, product_number, name, brand, barcode, unit, allow_decimal FROM product
WHERE id IN (SELECT DISTINCT doc FROM search_piece WHERE term >= ?1 AND term < ?1 || char(0x10FFFF) LIMIT {MAX_COUNTED})
"""


def _bare(connection: apsw.Connection, text: str) -> list[Any]:
    """All words anywhere; where that is more than anybody looks at, those that have them in a row too. One or two
    letters by the pieces that begin so."""
    if len(text) < 3:
        return connection.execute(_PIECE, (text,)).fetchall()
    anywhere, in_a_row = (" AND ".join(f'"{word}"' for word in text.split()), f'" {text}"')
    hits = connection.execute(_BARE, (anywhere,)).fetchall()
    if len(hits) == MAX_COUNTED and " " in text:
        hits += connection.execute(_BARE, (in_a_row,)).fetchall()
    return hits


@measures(
    "lists",
    *(Row(f"opening the list of {name}, 100,000 of it", "ms", "the same, 100", at_most=1.2) for name in LISTS),
)
def lists(bench: Bench) -> Sequence[Pair]:
    """The read that a page begins with, in a session that has opened it before, the two sizes in turns."""
    many = bench.times(100_000, 1_000)
    sizes = ((1_000, 100), (max(many, 1_000), many))  # ten products lie at a place
    homes = [
        grow(bench.folder / f"listed-{products}-{count}", products, count, count, Lists(count, count, count))
        for products, count in sizes
    ]
    with reading(homes[0]) as few, reading(homes[1]) as full:
        return [_opened(few, full, read, bench.times(200, 5)) for read in LISTS.values()]


def _opened(few: CacheReader, full: CacheReader, read: tuple[str, dict[str, Any]], times: int) -> Pair:
    first = [took_ms(lambda reads=reads: reads.query(*read)) for reads in (few, full)]  # type: ignore[misc]
    rounds = [[took_ms(lambda reads=reads: reads.query(*read)) for reads in (few, full)] for _ in range(times)]  # type: ignore[misc]
    little, much = (median(each[index] for each in rounds) for index in (0, 1))
    return Pair(much, little, f"for the first time in a session {first[1]:.1f} ms, of 100 {first[0]:.1f} ms")
