"""Row about a full sync: rows a second of processor time, against the least that has to be done with the same pages."""

import json
import resource
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tests.bench import generated_store
from tests.bench.bench import Bench
from tests.bench.floor_sync import floor_rate
from tests.bench.prepare import door
from tests.bench.service import Service, elsewhere, served
from tests.bench.table import Pair, Row, measures, median

PAGE = 500
PRODUCTS, STOCK = "products", "storeproducts/stock"
PUBLIC = "/api/v2/public/"


class Cost(NamedTuple):
    """What a sync took."""

    used_s: float
    """Seconds of processor time."""
    took_s: float
    """Seconds on the clock."""
    said: str


@measures(
    "sync",
    Row("full sync, rows a second of processor time", "rows/s", "parse, insert, index; one core", at_least=0.4),
    Row("full sync, rows a second end to end", "rows/s"),
)
def sync(bench: Bench) -> Sequence[Pair]:
    """The same pages to both, in turns: the floor reads them from memory, the courier from a service in another
    process."""
    goods = generated_store.products(bench.products)
    if bench.aisle is None:
        made = list(pages(goods))
        return [Pair(None, median(_floors(bench, made, 0))), Pair(None, None)]
    costs, floors = [], []
    with served(bench) as service:
        fetched = [*_fetched(service, PRODUCTS, "records"), *_fetched(service, STOCK, "list")]
        for attempt in range(bench.times(3, 1)):
            costs.append(_synced(bench, service, attempt))
            floors += _floors(bench, fetched, attempt)
    cost = sorted(costs)[len(costs) // 2]
    rows = sum(len(entries(page)) for page in fetched)
    note = f"{rows:,} rows; a sync that finds nothing new taken off"
    return [Pair(rows / cost.used_s, median(floors), note), Pair(rows / cost.took_s, None)]


def _floors(bench: Bench, pages_: Sequence[bytes], attempt: int) -> list[float]:
    """Rows a second of the floor, twice."""
    return [floor_rate(pages_, bench.scratch / f"floor-{attempt}-{turn}.db") for turn in range(bench.times(2, 1))]


def entries(page: bytes) -> list[Any]:
    """The entries of a page of either envelope."""
    body = json.loads(page)
    found: list[Any] = body["records"] if "records" in body else body["list"]
    return found


def pages(goods: Sequence[generated_store.Product]) -> Iterator[bytes]:
    """Pages of the shop's products and stock as the interface shows them."""
    for make, envelope in ((catalogue_entry, "records"), (stock_entry, "list")):
        for first in range(0, len(goods), PAGE):
            part = [make(first + index, each) for index, each in enumerate(goods[first : first + PAGE], 1)]
            yield json.dumps({envelope: part, "page_size": PAGE, "page_start": first // PAGE + 1}).encode()


def catalogue_entry(_id: int, each: generated_store.Product) -> dict[str, Any]:
    """A product as the catalogue shows it. interface: Product."""
    return {
        "product_number": each.number,
        "product_name": each.name,
        "barcode": each.barcode,
        "price": float(each.price),
        "carrier_item_quantity": 0,
        "edit_min_max_percentage": 0,
        "price_compare_multiplier": 0,
        "shelf_label_quantity": 0,
        "is_stock": True,
        "is_active": True,
    }


def stock_entry(id_: int, each: generated_store.Product) -> dict[str, Any]:
    """What the store has of it. interface: Store product stock entry."""
    return {
        "id": id_,
        "store_number": generated_store.STORE,
        "product_number": each.number,
        "product_description": each.name,
        "barcode": each.barcode,
        "price": float(each.price),
        "is_stock": True,
        "is_replenishment": False,
        "most_likely_quantity": each.quantity,
        "most_likely_pool_1": each.quantity,
        "store_locations": [
            {"store_location_code": each.place, "quantity": each.quantity, "stock_pool_1": each.quantity}
        ],
    }


def _fetched(service: Service, path: str, envelope: str) -> Iterator[bytes]:
    """All pages of a list as the service writes them."""
    number, full = 0, True
    while full:
        number += 1
        query = f"store_number={generated_store.STORE}&include_locations=true&page_size={PAGE}&page_start={number}"
        query = (
            query
            if envelope == "list"
            else f"store_number={generated_store.STORE}&page_size={PAGE}&page_number={number}"
        )
        asked = urllib.request.Request(f"{service.url}{PUBLIC}{path}?{query}")
        asked.add_header("Authorization", f"Bearer {service.token}")
        with urllib.request.urlopen(asked, timeout=60) as answer:
            page = answer.read()
        full = len(entries(page)) == PAGE
        yield page


def _synced(bench: Bench, service: Service, attempt: int) -> Cost:
    """A full sync into an empty home, without what a start and a round that finds nothing new take."""
    env = elsewhere(bench, service, f"synced-{attempt}")
    full, empty = _cost(env, "--full"), _cost(env)
    if f" {bench.products} products" not in full.said:
        raise AssertionError(f"aisle sync was to bring {bench.products} products; it says: {full.said}")
    return Cost(full.used_s - empty.used_s, full.took_s - empty.took_s, full.said)


def _cost(env: Mapping[str, str | None], *options: str) -> Cost:
    """What one `aisle sync` costs."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    said = door(env, "sync", *options)
    after, ended = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    return Cost(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, ended - began, said)
