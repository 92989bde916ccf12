"""Queries of locations: walking order, goods and what of them is held."""

from contextlib import closing
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from aisle.cache.location_queries import aisle_of
from aisle.cache.reader import CacheReader
from aisle.cache.schema import FEED_ENTRIES, MAX_KEYED_CHANGES
from aisle.cache.writer import CacheWriter
from aisle.json_codec import from_text, to_text
from tests.cache.service_rows import line, location, order, product, stock


def codes(reads: CacheReader, **args: Any) -> list[str]:
    rows, _ = reads.query("locations", args)
    return [row["location_code"] for row in rows]


def at(reads: CacheReader, code: str) -> Any:
    rows, total = reads.query("location", {"location_code": code})
    assert total == 1
    return rows[0]


def test_places_in_the_order_of_feet_then_of_their_codes(cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_locations(
        [location("B-2", 10), location("B-10", 10), location("A-1", 20), location("Z"), location("Y-3")]
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
    cache.write_orders([order("4101", line(1, "P", 2))], True, 1.0)
    assert not walked_anew()
    cache.write_stock([stock("P", places={"A": 1, "X": 6})])
    assert walked_anew()
    assert "X" in codes(reads)
    cache.write_stock([stock("P", places={"A": 7})])
    assert walked_anew()
    assert "X" not in codes(reads)
    cache.write_locations([location("B", 0)])
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
    cache.write_orders(
        [
            order("1", line(1, "P", picked=3, store_locations=[held(1), free])),
            order("2", line(1, "P", picked=3, store_locations=[held(2, "PU-2")])),
            order("3", line(1, "P", picked=3, store_locations=[held(3)]), is_active=False),
            order("4", line(1, "P", picked=3, store_locations=[held(1)])),
            order("5", line(1, "P", picked=3, store_locations=[held(5)]), is_picked=True),
        ],
        lines_known=True,
        read_began=1,
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
