"""Rows about what the service answers as its one store grows: single things, pages near and far, and a write."""

from __future__ import annotations

import statistics
import time
import urllib.parse
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from itertools import cycle, permutations
from pathlib import Path
from typing import NamedTuple

from aisle.service.db.schema_and_search_index import MIGRATIONS
from aisle.service.operation_context import wire_id
from tests.bench import generated_store, grown_cache, multiplied_stores
from tests.bench.bench import Bench
from tests.bench.rows_growth import curve
from tests.bench.rows_service import API, Line
from tests.bench.service import Service, served
from tests.bench.table import Pair, Row, measures
from tests.grow.store import FIRST

_VAIN = 5
"""Rounds for caches and plans to settle."""
_LONGEST_S = 5
TIMES = (1, 10, 100, 1000)
FAR = 300
"""The number of the page that is far."""

_STOCK = f"{API}/storeproducts/stock?store_number={FIRST}"
_STORE = f"{API}/stores/{FIRST}"
_MOVEMENT = f"{_STORE}/storeproductlocation/movement?AppUserName={generated_store.USER}"
_LOGS = f"{API}/products/stock/storeproductlogs?store_number={FIRST}"

FLAT = {
    "stock, page 1": f"{_STOCK}&page_size=20",
    "stock, page 300": f"{_STOCK}&page_size=20&page_start={{far}}",
    "stock, from an id": f"{_STOCK}&page_size=20&from_id={{id}}",
    "product by barcode with locations": f"{_STOCK}&barcode={{barcode}}&include_locations=true",
    "stock of one product": f"{_STORE}/products/{{number}}/stock?include_locations=true",
    "stock that moved": f"{_STOCK}&last_stock_modified_datetime=2027-01-01&page_size=20",
    "stock that changed": f"{_STOCK}&last_modified_date=2027-01-01&page_size=20",
    "catalogue, page 1": f"{API}/products?page_size=20",
    "catalogue, page 300": f"{API}/products?page_size=20&page_number={{far}}",
    "catalogue, by barcode": f"{API}/products?barcode={{barcode}}",
    "places, page 1": f"{_STORE}/locations?page_size=3",
    "places, page 300": f"{_STORE}/locations?page_size=3&page_start={{far_place}}",
    "goods at a place": f"{_STORE}/locations/{{place}}/products?",
    "an order with lines": f"{_STORE}/orders/customerorders?order_number=O000003&show_lines=true",
    "orders, page 1": f"{_STORE}/orders/customerorders?show_lines=true&page_size=20",
    "logs, page 1": f"{_LOGS}&is_historic=true&page_size=20",
    "logs, from an id": f"{_LOGS}&is_historic=true&page_size=20&from_id={{id}}",
    "logs of a product": f"{_LOGS}&is_historic=true&article_number={{number}}",
    "what changed last": f"/aisle/v1/stores/{FIRST}/changes",
}
"""What is asked of the service, by what it is called; nothing of it may mind how much else there is."""

GROWS = {
    "search that one product answers": f"{_STOCK}&page_size=20&search_text={{barcode}}",
    "search that each hundredth answers": f"{_STOCK}&page_size=20&search_text=dahlia%20fresh",
}
"""What has more to find, or to count, the more there is: told with how it grows."""

MOVED = "a movement"


class Asking(NamedTuple):
    """A service and a connection to it."""

    service: Service
    line: Line


@measures(
    "pages",
    *(Row(f"service: {name}, 1,000,000 products", "ms", "10,000 products", at_most=1.5) for name in (*FLAT, MOVED)),
    *(Row(f"service: {name}, 1,000,000 products", "ms", "10,000 products") for name in GROWS),
)
def pages(bench: Bench) -> Sequence[Pair]:
    """`aisle serve` over a store of each size, each in a process of its own; all are asked in turns.

    What is told is the processor time of a request: whatever else the machine does, it is the same.
    """
    sizes, homes = grown_homes(bench)
    with ExitStack() as stack:
        sides = [stack.enter_context(asking(bench, home)) for home in homes]

        def got(path: str) -> list[float]:
            return in_turns(
                bench,
                sides,
                [partial(each.line.get, path.format_map(names(size))) for each, size in zip(sides, sizes, strict=True)],
            )

        found = {name: got(path) for name, path in FLAT.items()}
        found[MOVED] = in_turns(
            bench, sides, [_mover(each.line, size) for each, size in zip(sides, sizes, strict=True)]
        )
        found |= {name: got(path) for name, path in GROWS.items()}
    return [curve(bench, name, sizes, values) for name, values in found.items()]


def grown_homes(bench: Bench) -> tuple[list[int], list[Path]]:
    """Numbers of products, and homes whose service has a store with so many; made once."""
    base = bench.times(1000, 20)
    sizes = [base * times for times in TIMES[: bench.times(4, 2)]]
    source = multiplied_stores.made(bench.folder / f"made-{base}-{len(MIGRATIONS)}", base, bench.times(200, 8))
    folders = [bench.folder / f"pages-{size}-{len(MIGRATIONS)}" for size in sizes]
    for folder, size in zip(folders, sizes, strict=True):
        multiplied_stores.multiplied(source, folder, base, size // base)
    return sizes, folders


@contextmanager
def asking(bench: Bench, home: Path) -> Iterator[Asking]:
    """The service of that home, and a connection to it."""
    assert bench.aisle is not None, "this group measures aisle"
    with (
        served(bench, {**bench.aisle.env, "AISLE_HOME": str(home)}) as service,
        closing(Line(urllib.parse.urlsplit(service.url).port or 0, service.token)) as line,
    ):
        yield Asking(service, line)


def names(size: int) -> Mapping[str, object]:
    """What is asked for: the product in the middle, where it lies, its ids; far pages, or the last ones there are."""
    middle = size // 2
    return {
        "number": _number(middle),
        "barcode": generated_store.ean13(f"40{middle:010d}"),
        "place": grown_cache.place(middle),
        "id": wire_id(middle, 1),
        "far": min(FAR, size // 20),
        "far_place": min(FAR, max(1, size // 30)),
    }


def _number(index: int) -> str:
    return str(multiplied_stores.LOWEST + index)


def _mover(line: Line, size: int) -> Callable[[], bytes]:
    """Moves one of a product that lies in the middle to the next place, and the next time back."""
    middle = size // 2
    ways = cycle(permutations((grown_cache.place(middle), grown_cache.place(middle - 10))))

    def move() -> bytes:
        source, target = next(ways)
        item = {"from_location": {"location_code": source}, "to_location": {"location_code": target}}
        return line.post(_MOVEMENT, [{"product_number": _number(middle), "quantity": 1, **item}])

    return move


def in_turns(bench: Bench, asking: Sequence[Asking], works: Sequence[Callable[[], object]]) -> list[float]:
    """The middle of what each costs its service, in milliseconds of processor; what takes long is done fewer times."""
    rounds: list[list[float]] = []
    ends = time.monotonic() + bench.times(_LONGEST_S, 0)
    while len(rounds) < bench.times(_VAIN + 15, 2) or (time.monotonic() < ends and len(rounds) < _VAIN + 200):
        rounds.append([_cost(each.service, work) for each, work in zip(asking, works, strict=True)])
    return [statistics.median(each) for each in zip(*rounds[_VAIN if len(rounds) > _VAIN else 0 :], strict=True)]


def _cost(service: Service, work: Callable[[], object]) -> float:
    before = service.used_ms()
    work()
    return service.used_ms() - before
