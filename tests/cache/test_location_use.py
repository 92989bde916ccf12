"""What a location is used for, read cheaply: the same as its page shows."""

from __future__ import annotations

from decimal import Decimal
from random import Random
from typing import Any

import apsw
import pytest

from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter
from aisle.host.database import transaction
from aisle.jobs.job import Write
from aisle.jobs.pick.put_down import is_pickup_location
from aisle.outbox.operation_queue import OperationQueue
from tests.cache.service_rows import line, location, order, product, stock
from tests.writes import ANNA, STORE, intents, update

PLACES = [f"R-{number}" for number in range(6)]
PRODUCTS = [f"P{number}" for number in range(14)]
ORDERS = [f"41{number:02}" for number in range(6)]


def at(reads: CacheReader, name: str, code: str) -> list[dict[str, Any]]:
    """What is known of a place."""
    rows, _ = reads.query(name, {"location_code": code})
    return rows


def on_its_page(row: dict[str, Any]) -> dict[str, Any]:
    """What the page of a place shows of what it is used for."""
    held = [sum((each["quantity"] for each in lying["held"]), Decimal(0)) for lying in row["products"]]
    free = sum(lying["quantity"] > mine for lying, mine in zip(row["products"], held, strict=True))
    return {"tags": row["tags"], "goods": free, "is_used": any(mine > 0 for mine in held)}


def decided(row: dict[str, Any]) -> int:
    """What whoever lays goods down is asked about: so many goods that are for sale there; nothing, where they wait."""
    return 0 if row["is_used"] or is_pickup_location(row["tags"]) else row["goods"]


def stored(random: Random, cache: CacheWriter) -> None:
    """A small store; some of its places are tagged, by themselves or in the stock list alone."""
    said = {code: random.choice([[], [], [], ["pickup"], ["cold"]]) for code in PLACES}
    cache.write_locations([location(code, 1, tags=said[code]) for code in PLACES if random.random() < 0.8])
    cache.write_products([product(number, random.choice("abc")) for number in PRODUCTS])
    stocks = []
    for number in PRODUCTS:
        there = {code: random.choice([-1, 0, 1, 3]) for code in random.sample(PLACES, random.randrange(3))}
        entry = stock(number, 9, places=there)
        for each in entry["store_locations"]:
            each["tags"] = random.choice([[], [], ["Click and collect"], ["dry"]])
        stocks.append(entry)
    cache.write_stock(stocks)
    orders = []
    for number in ORDERS[: random.randrange(len(ORDERS))]:
        lines = []
        for each in range(1, 3):
            held = {"customer_order_number": number, "customer_order_line_number": each}
            kept = [{"location_code": random.choice(PLACES), "quantity": random.choice([0, 1, 2]), **held}]
            lines.append(line(each, random.choice(PRODUCTS), 3, 2, store_locations=kept))
        orders.append(order(number, *lines, is_active=random.random() < 0.9))
    cache.write_orders(orders, True, 1.0)


def moved(random: Random) -> Write:
    """From anywhere to anywhere, of an order or not."""

    def end() -> dict[str, Any]:
        code = random.choice([*PLACES, ""])
        mine = {"customer_order_number": random.choice(ORDERS), "customer_order_line_number": random.randrange(1, 3)}
        return {**({"location_code": code} if code else {}), **(mine if random.random() < 0.5 else {})}

    number, quantity = random.choice(PRODUCTS), Decimal(random.randrange(1, 4))
    item = {"product_number": number, "quantity": quantity, "from_location": end(), "to_location": end()}
    return Write("create-movement", (f"product/{number}",), {"store_number": STORE}, {"AppUserName": "U1"}, [item])


def counted(random: Random) -> Write:
    number, quantity = random.choice(PRODUCTS), Decimal(random.randrange(3))
    entry = {"product_number": number, "location_code": random.choice(PLACES), "counted_quantity": quantity}
    query = {"appUserName": "U1", "is_counted_quantity": True}
    lanes = (f"product/{number}",)
    return Write("create-store-product-logs", lanes, {"store_number": STORE}, query, {"storeproductlog": [entry]})


def written(random: Random) -> Write:
    """Something that somebody did."""
    way = random.random()
    if way < 0.2:
        return update(random.choice(ORDERS), {}, merge=False, is_rejected=True)
    return moved(random) if way < 0.7 else counted(random)


@pytest.mark.parametrize("seed", range(8))
def test_it_is_what_the_page_of_the_place_shows(
    seed: int, cache: CacheWriter, reads: CacheReader, outbox_db: apsw.Connection
) -> None:
    random = Random(seed)
    stored(random, cache)
    outbox = OperationQueue(outbox_db)
    for _ in range(6):
        for code in PLACES:
            pages, rows = at(reads, "location", code), at(reads, "location_use", code)
            assert list(map(decided, rows)) == [decided(on_its_page(page)) for page in pages], code
        with transaction(outbox_db):
            outbox.enqueue(intents(*(written(random) for _ in range(3))), ANNA)


def test_goods_of_an_order_that_was_rejected_here_lie_there_for_nobody(
    cache: CacheWriter, reads: CacheReader, outbox_db: apsw.Connection
) -> None:
    cache.write_locations([location("HOLD", 1)])
    cache.write_stock([stock("P", places={"HOLD": 2})])
    held = {"location_code": "HOLD", "quantity": 2, "customer_order_number": "1", "customer_order_line_number": 1}
    cache.write_orders([order("1", line(1, "P", 3, 2, store_locations=[held]))], True, 1.0)
    assert at(reads, "location_use", "HOLD") == [{"tags": [], "goods": 0, "is_used": True}]
    with transaction(outbox_db):
        OperationQueue(outbox_db).enqueue(intents(update("1", {}, merge=False, is_rejected=True)), ANNA)
    assert at(reads, "location_use", "HOLD") == [{"tags": [], "goods": 1, "is_used": False}]
