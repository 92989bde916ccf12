"""Queries of locations: walking order, goods and what of them is held."""

from __future__ import annotations

from contextlib import closing
from decimal import Decimal
from random import Random
from typing import Any

import apsw
import pytest

from aisle.cache.location_queries import aisle_of
from aisle.cache.reader import CacheReader
from aisle.cache.schema import FEED_ENTRIES, MAX_KEYED_CHANGES
from aisle.cache.writer import CacheWriter
from aisle.jobs.job import Write
from aisle.jobs.pick.put_down_at_location import is_pickup_location
from aisle.named_tuple_json import from_text, to_text
from aisle.outbox.operation_queue import OperationQueue
from tests.cache.service_rows import line, location, order, product, put_orders, stock
from tests.cache.test_delivery_queries import delivery
from tests.cache.test_delivery_queries import line as delivery_line
from tests.writes import STORE, enqueue, update


def codes(reads: CacheReader, **args: Any) -> list[str]:
    rows, _ = reads.query("locations", args)
    return [row["location_code"] for row in rows]


def at(reads: CacheReader, code: str) -> Any:
    rows, total = reads.query("location", {"location_code": code})
    assert total == 1
    return rows[0]


PUNCTUATION = ('(%"!!!(((!!#!', "%", "-", "_", "'", ".", "//", "?!", "+ +", "…", "“”", "*")


@pytest.mark.parametrize("text", PUNCTUATION)
def test_punctuation_alone_finds_nothing(cache: CacheWriter, reads: CacheReader, text: str) -> None:
    cache.write_locations([location("B-2", 10), location("A.1", 20)])
    cache.write_deliveries([delivery("D-1", delivery_line(1, "P1", 4))], 1.0)
    assert codes(reads, search=text) == []
    assert reads.query("deliveries", {"search": text})[1] == 0
    assert codes(reads, search=f"{text} b") == ["B-2"]
    assert codes(reads, search=" ") == ["B-2", "A.1"]


def test_places_in_the_order_of_feet_then_of_their_codes(cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_locations(
        [location("B-2", 10), location("B-10", 10), location("A-1", 20), location("Z"), location("Y-3", 0)]
    )
    cache.write_stock([stock("P", places={"X-9": 4, "A-1": 1})])
    assert codes(reads) == ["B-2", "B-10", "A-1", "X-9", "Y-3", "Z"]
    assert codes(reads, first=1, size=2) == ["B-10", "A-1"]
    assert codes(reads, search="b 1") == ["B-10"]
    assert codes(reads, beside="B-7") == ["B-2", "B-10"]
    assert codes(reads, beside="B-10", size=1) == ["B-10"]
    assert reads.query("locations", {"first": 4, "size": 1})[1] == 6
    cache.write_locations([location("B-1", 5)])
    assert codes(reads)[0] == "B-1"


def test_the_walk_is_kept_until_a_place_changes_comes_or_goes(cache: CacheWriter, reads: CacheReader) -> None:
    def walked_anew() -> bool:
        before, after = kept[-1], reads.context.walk_order()
        kept.append(after)
        with closing(CacheReader(reads._store_folder, reads.context.outbox)) as fresh:
            assert codes(reads) == codes(fresh)
        return after is not before

    cache.write_locations([location("A", 1), location("B", 2)])
    cache.write_stock([stock("P", places={"A": 4}), stock("Q", places={"B": 1})])
    kept = [reads.context.walk_order()]
    cache.write_stock([stock("P", 7, places={"A": 1, "B": 6})])
    put_orders(cache, order("4101", line(1, "P", 2)))
    assert not walked_anew()
    cache.write_stock([stock("P", places={"A": 1, "X": 6})])
    assert walked_anew()
    assert "X" in codes(reads)
    cache.write_stock([stock("P", places={"A": 7})])
    assert walked_anew()
    assert "X" not in codes(reads)
    cache.write_locations([location("B", 0.5)])
    assert walked_anew()
    assert codes(reads) == ["B", "A"]
    cache.write_stock([stock(f"P{number}", places={"A": 1}) for number in range(MAX_KEYED_CHANGES + 1)])
    assert walked_anew(), "of many at once the feed says no names"
    for number in range(FEED_ENTRIES // MAX_KEYED_CHANGES + 1):
        cache.write_stock(
            [stock(f"P{each}", number + 2, places={"A": number + 2}) for each in range(MAX_KEYED_CHANGES)]
        )
    assert walked_anew(), "nor of what is long ago"
    assert not walked_anew()


def test_the_sums_of_a_place_follow_its_products(cache: CacheWriter, reads: CacheReader) -> None:
    """Of what comes, changes, is said several times in one entry, has no code, or goes with its product."""

    def sums() -> list[tuple[Any, ...]]:
        rows, _ = reads.query("locations", {})
        kept: list[tuple[Any, ...]] = reads._cache.execute(
            "SELECT location_code, products, quantity FROM location_tally ORDER BY 1"
        ).fetchall()
        listed = [(row["location_code"], row["products"], row["quantity"]) for row in rows if row["products"]]
        assert [(code, count, Decimal(str(round(quantity, 6)))) for code, count, quantity in kept] == sorted(listed)
        return listed

    cache.write_locations([location("A", 1), location("B", 2)])
    cache.write_stock([stock("P", places={"A": 4, "B": 0}), stock("Q", places={"A": 2.5})])
    assert sums() == [("A", 2, Decimal("6.5"))]
    twice = stock("P", places={"A": 4})
    twice["store_locations"] += [{"store_location_code": "A", "quantity": 3, "carrier_code": "C2"}, {"quantity": 9}]
    cache.write_stock([twice])
    assert sums() == [("A", 2, Decimal("9.5"))]
    assert [row["quantity"] for row in at(reads, "A")["products"]] == [7, Decimal("2.5")]
    even = stock("P")
    even["store_locations"] = [
        {"store_location_code": "B", "quantity": 0, "stock_pool_1": 2, "stock_pool_4": -2},
        {"store_location_code": "A", "quantity": "0.1"},
    ]
    cache.write_stock([even, stock("Q", places={"A": 0.2})])
    assert sums() == [("A", 2, Decimal("0.3")), ("B", 1, 0)]
    cache.write_stock([stock("Q", places={}), stock("P", places={"A": -1})])
    assert sums() == [("A", 1, -1)]
    cache.delete_unseen("stock", 2)
    assert sums() == []


@pytest.mark.parametrize("seed", range(5))
def test_the_sums_of_places_are_what_lies_there_whatever_comes(
    cache: CacheWriter, reads: CacheReader, seed: int
) -> None:
    """Many products at few places, in pages, over and over; where nothing lies any more nothing is kept."""
    dice = Random(seed)

    def entry(number: int) -> dict[str, Any]:
        codes = dice.sample(["A", "B", "C", ""], dice.randrange(4))
        made = stock(f"P{number}", dice.randrange(50))
        spots = [{"store_location_code": code, "quantity": dice.randrange(-20, 9999) / 1000} for code in codes]
        return {**made, "store_locations": [spot for spot in spots for _ in range(dice.choice((1, 1, 2)))]}

    for generation in range(1, 30):
        page = [entry(number) for number in dice.sample(range(30), dice.randrange(1, 30))]
        cache.write_stock(page, generation)
        if dice.random() < 0.2:
            cache.delete_unseen("stock", generation)
        sums = "SELECT location_code, count(*), round(sum(quantity), 6) FROM stock_location"
        lying = reads._cache.execute(f"{sums} WHERE has_goods AND location_code <> '' GROUP BY 1").fetchall()
        kept = reads._cache.execute("SELECT location_code, products, round(quantity, 6) FROM location_tally").fetchall()
        assert kept == lying
    cache.delete_unseen("stock", 30)
    assert reads._cache.execute("SELECT count(*) FROM location_tally").fetchall() == [(0,)]


def test_a_place_of_the_list_says_how_much_lies_there(cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_locations([location("A", 1, tags=["cold"]), location("B", 2), location("C", 3)])
    cache.write_stock([stock("P", places={"A": 4, "C": 0}), stock("Q", places={"A": 2.5})])
    rows, _ = reads.query("locations", {})
    assert [(row["products"], row["quantity"]) for row in rows] == [(2, Decimal("6.5")), (0, 0), (0, 0)]
    assert [row["tags"] for row in rows] == [["cold"], [], []]


def test_one_place_with_all_that_lies_there(cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_products([product("P", "Oat", base_unit_name="kg", allow_decimal=True, price=2)])
    places = [
        {"store_location_code": "A", "quantity": 4, "stock_pool_1": 3, "stock_pool_4": 1, "tags": ["cold"]},
        {"store_location_code": "B", "quantity": 9, "stock_pool_1": 9},
    ]
    cache.write_stock(
        [
            {**stock("P", 13, price=1.5), "store_locations": places},
            stock("Q", places={"A": 7}, product_description="Rye"),
        ]
    )
    cache.write_locations([location("A", 3, default_stock_pool="2"), location("B", 4)])
    row = at(reads, "A")
    assert (row["location_order"], row["default_stock_pool"], row["tags"]) == (3, 2, ["cold"])
    assert (row["before"], row["after"]) == ("", "B")
    assert row["products"] == [
        {
            "product_number": "P",
            "description": "Oat",
            "quantity": Decimal(4),
            "pools": {"1": Decimal(3), "4": Decimal(1)},
            "held": [],
            "allow_decimal": True,
            "unit": "kg",
            "price": Decimal("1.5"),
        },
        {
            "product_number": "Q",
            "description": "Rye",
            "quantity": Decimal(7),
            "pools": {"1": Decimal(7)},
            "held": [],
            "allow_decimal": False,
            "unit": "",
            "price": Decimal(0),
        },
    ]
    assert from_text(Any, to_text(row)) == row


def test_what_is_held_for_customers_is_told_by_order(cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_stock([stock("P", places={"PU-1": 5})])

    def held(number: int, code: str = "PU-1") -> dict[str, Any]:
        return {
            "location_code": code,
            "location_order": 1,
            "quantity": 2,
            "customer_order_number": str(number),
            "customer_order_line_number": 1,
        }

    free = {"location_code": "PU-1", "location_order": 1, "quantity": 1}
    put_orders(
        cache,
        order("1", line(1, "P", picked=3, store_locations=[held(1), free])),
        order("2", line(1, "P", picked=3, store_locations=[held(2, "PU-2")])),
        order("3", line(1, "P", picked=3, store_locations=[held(3)]), is_active=False),
        order("4", line(1, "P", picked=3, store_locations=[held(1)])),
        order("5", line(1, "P", picked=3, store_locations=[held(5)]), is_picked=True),
    )
    (row,) = at(reads, "PU-1")["products"]
    assert row["quantity"] == 5
    assert row["held"] == [
        {"order_number": "1", "line_number": 1, "quantity": Decimal(2)},
        {"order_number": "5", "line_number": 1, "quantity": Decimal(2)},
    ]


def test_an_empty_place_and_one_that_nobody_knows(cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_locations([location("A", 1), location("B", 2)])
    assert (at(reads, "B")["products"], at(reads, "B")["before"], at(reads, "B")["after"]) == ([], "A", "")
    assert reads.query("location", {"location_code": "C"}) == ([], 0)


@pytest.mark.parametrize(
    ("code", "aisle"),
    [("A-03-2", "a"), ("A03", "a"), ("PU-1", "pu"), ("12-4", "12"), ("12/4", "12"), ("1204", ""), ("-", ""), ("", "")],
)
def test_the_aisle_of_a_place(code: str, aisle: str) -> None:
    assert aisle_of(code) == aisle


# What a location is used for, read cheaply: the same as its page shows


PLACES = [f"R-{number}" for number in range(6)]
PRODUCTS = [f"P{number}" for number in range(14)]
ORDERS = [f"41{number:02}" for number in range(6)]


def at_location(reads: CacheReader, name: str, code: str) -> list[dict[str, Any]]:
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
    put_orders(cache, *orders)


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
            pages, rows = at_location(reads, "location", code), at_location(reads, "location_use", code)
            assert list(map(decided, rows)) == [decided(on_its_page(page)) for page in pages], code
        enqueue(outbox, *(written(random) for _ in range(3)))


def test_goods_of_an_order_that_was_rejected_here_lie_there_for_nobody(
    cache: CacheWriter, reads: CacheReader, outbox_db: apsw.Connection
) -> None:
    cache.write_locations([location("HOLD", 1)])
    cache.write_stock([stock("P", places={"HOLD": 2})])
    held = {"location_code": "HOLD", "quantity": 2, "customer_order_number": "1", "customer_order_line_number": 1}
    put_orders(cache, order("1", line(1, "P", 3, 2, store_locations=[held])))
    assert at_location(reads, "location_use", "HOLD") == [{"tags": [], "goods": 0, "is_used": True}]
    enqueue(OperationQueue(outbox_db), update("1", {}, merge=False, is_rejected=True))
    assert at_location(reads, "location_use", "HOLD") == [{"tags": [], "goods": 1, "is_used": False}]
