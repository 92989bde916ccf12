"""Product search: accents, punctuation and notations of measures."""

import pytest

from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter
from tests.cache.service_rows import location, order, person, product, store
from tests.writes import STORE


def numbers(reads: CacheReader, **args: object) -> list[str]:
    """The orders of a window."""
    return [str(row["order_number"]) for row in reads.query("orders", dict(args))[0]]


def test_an_order_is_found_whatever_marks_stand_in_it(cache: CacheWriter, reads: CacheReader) -> None:
    """By its index and by the list: two dozen are so few that the list is looked through, many hundreds are not."""
    many = [order(f"M{n:04d}", customer_name="Moss", pickup_date="2026-01-01") for n in range(700)]
    named = {"W-980": "Saint-Denis", "X/91.2": "O'Brien & Sons", "Y77": "Smithjones"}
    cache.write_orders(
        [order(number, customer_name=name) for number, name in named.items()], lines_known=False, read_began=1
    )
    asked = {
        "w980": "W-980",
        "w-980": "W-980",
        "W 980": "W-980",
        "980": "W-980",
        "saintdenis": "W-980",
        "saint-den": "W-980",
        "denis": "W-980",
        "x912": "X/91.2",
        "x91-2": "X/91.2",
        "obrien": "X/91.2",
        "o'brien": "X/91.2",
        "y-77": "Y77",
        "smith-jones": "Y77",
    }
    for _ in range(2):
        for text, number in asked.items():
            assert numbers(reads, search=text) == [number], text
            rows, _ = reads.query("order_board", {"search": text})
            assert [row["order_number"] for row in rows] == [number], text
        cache.write_orders(many, lines_known=False, read_began=1)


@pytest.mark.parametrize(("there", "partly"), [(99, False), (100, False), (101, True)])
def test_an_answer_is_partly_only_where_there_is_more(
    cache: CacheWriter, reads: CacheReader, there: int, partly: bool
) -> None:
    cache.write_orders(
        [order(f"{n:03d}", customer_name="Moss") for n in range(there)] + [order("999")],
        lines_known=False,
        read_began=1,
    )
    cache.write_stores([store(f"{n:04d}", "Moss") for n in range(there)] + [store("9999", "Else")])
    for read in ("orders", "stores"):
        found = reads.query_window(read, {"search": "moss"})
        assert (found.total, found.is_partial) == (min(there, 100), partly), read


@pytest.mark.parametrize("text", ["stdenis", "st-denis", "st denis", "q7", "q-7", "Q/7"])
def test_stores_people_locations_and_deliveries_are_found_despite_punctuation(
    cache: CacheWriter, reads: CacheReader, text: str
) -> None:
    cache.write_stores([store("0002", "St.-Denis (Q-7)"), store("0003", "Q-8")])
    cache.write_people([person("u1", "St-Denis Q/7"), person("u2", "Denise")])
    cache.write_locations([location("ST-DENIS-Q-7"), location("ST-8-Q")])
    comes = {"store_number": STORE, "order_lines": []}
    named = {"D.1": "St-Denis, Q.7", "D2": "7"}
    cache.write_deliveries([{**comes, "order_number": each, "supplier_name": named[each]} for each in named], 1)
    for read, name, found in (
        ("stores", "store_number", "0002"),
        ("people", "user", "u1"),
        ("locations", "location_code", "ST-DENIS-Q-7"),
        ("deliveries", "order_number", "D.1"),
    ):
        assert [row[name] for row in reads.query(read, {"search": text})[0]] == [found], read


@pytest.mark.parametrize("search", ["200g", "200 g", "200G", "200 G s", "200gr salt", "salt 200g"])
def test_a_measure_is_found_in_one_word_and_in_two(cache: CacheWriter, reads: CacheReader, search: str) -> None:
    others = [product(f"A{n:03d}", f"Egg salt 1200g {n} 200 ml") for n in range(150)] + [product("200", "Gum")]
    there = {"B": "Nuts salt 200g", "C": "Seeds salt 200 g", "D": "Sesame salt 200 gr"}
    cache.write_products([*others, *(product(number, name) for number, name in there.items())])
    rows, _ = reads.query("search", {"search": search})
    assert {str(row["product_number"]) for row in rows[:3]} == set(there)


@pytest.mark.parametrize(("search", "expected"), [("1.5l", "AB"), ("1.5 l", "AB"), ("1,5l", "AB"), ("330ml", "CD")])
def test_a_measure_is_found_however_it_was_written(
    cache: CacheWriter, reads: CacheReader, search: str, expected: str
) -> None:
    names = {"A": "Tea 1.5l", "B": "Tea 1,5 l", "C": "Tea 330ml", "D": "Tea 6 x 330 ml", "E": "Tea 0.5 L"}
    cache.write_products([product(number, name) for number, name in names.items()])
    rows, _ = reads.query("search", {"search": search})
    assert sorted(str(row["product_number"]) for row in rows) == list(expected)


def test_a_measure_comes_before_those_that_begin_as_it_does(cache: CacheWriter, reads: CacheReader) -> None:
    names = {"A": "Bit 5 mm", "B": "Cable in a box 5 m", "C": "Glue 5 ml", "D": "Seed 10 lb", "E": "Wine in a box 10 l"}
    cache.write_products([product(number, name) for number, name in names.items()])
    for text, first, others in (("5m", "B", "AC"), ("10l", "E", "D")):
        rows, _ = reads.query("search", {"search": text})
        assert [str(row["product_number"]) for row in rows] == [first, *others], text


def test_letters_attached_to_measure_are_found_in_long_names(cache: CacheWriter, reads: CacheReader) -> None:
    others = [product(f"A{n:03d}", f"A box {n} 15 kg") for n in range(120)]
    cache.write_products(
        [*others, *(product(f"B{n:03d}", f"Bag {n} 15kg") for n in range(120)), product("C", "AB 15kg")]
    )
    rows, _ = reads.query("search", {"search": "a/b 15kg"})
    assert str(rows[0]["product_number"]) == "C"


def test_a_measure_is_no_part_of_another_one(cache: CacheWriter, reads: CacheReader) -> None:
    names = {
        "A": "Rice 5kg",
        "B": "Rice 5 kg",
        "C": "Rice 15 kg",
        "D": "Rice 5 x 1 kg",
        "E": "Rice 2.5 kg",
        "F": "kg 5",
    }
    cache.write_products([product(number, name) for number, name in names.items()])
    for text in ("5kg", "5KG rice"):
        rows, _ = reads.query("search", {"search": text})
        assert sorted(str(row["product_number"]) for row in rows) == ["A", "B"], text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *((text, ["B"]) for text in ("日本 茶", "茶 日本", "茶 緑 日本", "日本 tea 茶", "t 日本 茶")),
        *((text, ["C"]) for text in ("чай ям", "ям ча")),
        ("τσ αι ελ", ["D"]),
        *((text, []) for text in ("茶 日本 zz", "茶 龍 日本", "日本 ям")),
    ],
)
def test_short_words_of_any_script_are_found_together(
    cache: CacheWriter, reads: CacheReader, text: str, expected: list[str]
) -> None:
    """Many have each of them, one has all."""
    names = ("日本 rice", "緑の茶", "чайник", "ямс", "τσι", "αιγα", "ελια", "tea")
    others = [product(f"A{n:04d}", f"{names[n % len(names)]} {n}") for n in range(1600)]
    cache.write_products(
        [*others, product("B", "緑茶 日本 tea"), product("C", "Чай ямайский"), product("D", "τσαι ελ αι")]
    )
    found = reads.query_window("search", {"search": text})
    assert ([row["product_number"] for row in found.rows], found.is_partial) == (expected, False)
