"""Queries of the product page: orders that need or hold it, and stock of stores nearby."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import pytest

from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.database import fetch, transaction
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.product_rows_and_weekly_sales import parse_product
from aisle.jobs.supervisor.catalogue import parse_catalogue_product
from aisle.jobs.supervisor.service_fields_and_values import update_write
from aisle.named_tuple_json import from_text, to_text
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import Intent
from tests.cache import service_rows
from tests.cache.service_rows import line, location, order, person, product, put_orders, stock, store
from tests.clock import Clock
from tests.writes import ANNA, STORE, enqueue, update


def holders(reads: CacheReader, **args: Any) -> list[tuple[str, int, int]]:
    rows, _ = reads.query("orders_with_product", {"product_number": "P1", **args})
    return [(row["order_number"], int(row["needed"]), int(row["held"])) for row in rows]


def test_orders_that_need_a_product_come_before_those_that_only_hold_it(cache: CacheWriter, reads: CacheReader) -> None:
    put_orders(
        cache,
        order("1", line(1, "P1", picked=3)),
        order("2", line(1, "P1", picked=1), line(2, "P1", 5), pickup_date="2026-03-04", customer_name="Ada"),
        order("3", line(1, "P1"), pickup_date="2026-03-03"),
        order("4", line(1, "P2")),
        order("5", line(1, "P1"), is_active=False),
        order("6", line(1, "P1"), is_rejected=True),
        order("7", line(1, "P1", picked=1, is_picked=True), is_picked=True),
    )
    assert holders(reads) == [("3", 3, 0), ("2", 7, 1), ("1", 0, 3), ("7", 0, 1)]
    assert holders(reads, first=1, size=2) == [("2", 7, 1), ("1", 0, 3)]
    (row,) = reads.query("orders_with_product", {"product_number": "P1", "first": 1, "size": 1})[0]
    assert (row["customer_name"], row["pickup_date"]) == ("Ada", "2026-03-04")
    assert from_text(Any, to_text(row)) == row


def test_what_was_picked_here_counts_at_once(
    cache: CacheWriter, reads: CacheReader, outbox_db: apsw.Connection
) -> None:
    put_orders(cache, order("1", line(1, "P1")), order("2", line(1, "P1")))
    outbox = OperationQueue(outbox_db, clock=Clock(5.0))
    enqueue(outbox, update("1", {1: 3}), update("2", {}, is_active=False))
    assert holders(reads) == [("1", 0, 3)]


def test_nothing_is_known_of_the_stores_around_before_they_were_asked(cache: CacheWriter, reads: CacheReader) -> None:
    assert reads.query("surrounding", {"product_number": "P1"}) == ([], 0)
    cache.write_surrounding("P1", (), 0.0, "not told")
    (row,) = reads.query("surrounding", {"product_number": "P1"})[0]
    assert row == {"product_number": "P1", "stores": [], "read_at": "1970-01-01T00:00:00.000Z", "refused": "not told"}


def test_surroundings_are_kept_for_the_products_asked_for_last(
    cache: CacheWriter, cache_db: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aisle.cache.product_and_stock_writer.MAX_SURROUNDING", 3)
    for number in range(6):
        cache.write_surrounding(f"P{number}", (), float(number))
    assert fetch(cache_db, "SELECT product_number FROM surrounding ORDER BY 1") == [("P3",), ("P4",), ("P5",)]


def test_names_from_outside_pass_as_they_are(cache: CacheWriter, reads: CacheReader) -> None:
    entry = {"store_number": "9", "store_name": "\ud83d[/b]\x1b[2J", "is_warehouse": False, "most_likely_quantity": 1}
    cache.write_surrounding("P1", [entry], 1.0)
    (row,) = reads.query("surrounding", {"product_number": "P1"})[0]
    assert row["stores"][0]["store_name"] == "\ufffd[/b]\x1b[2J"


CHAIN: dict[str, Any] = {"price": 2.5, "old_price": 3, "special_price": 2.2, "purchase_price": 1}


@pytest.mark.parametrize(
    ("entry", "shown"),
    [
        ({"price": 2.5}, ("2.5", "3", "2.2", "1")),
        ({"price": 2}, ("2", "0", "0", "1")),
        ({"price": 2.5, "aisle": {"price": 2.5}}, ("2.5", "0", "0", "1")),
        (
            {"price": 2, "aisle": {"price": 2, "old_price": 2.4, "special_price": 1.8, "purchase_price": 0.9}},
            ("2", "2.4", "1.8", "0.9"),
        ),
        ({"price": 2.5, "aisle": {"special_price": 2.1}}, ("2.5", "3", "2.1", "1")),
    ],
)
def test_beside_a_price_of_the_store_stand_its_own(
    entry: dict[str, Any], shown: tuple[str, ...], cache: CacheWriter, reads: CacheReader
) -> None:
    cache.write_products([product("P1", **CHAIN)])
    cache.write_stock([stock("P1", **entry)])
    (row,) = reads.query("catalogue_page", {"product_number": "P1"})[0]
    page = parse_catalogue_product(row, "2026-11-20T10:00:00Z")
    assert tuple(str(page.values.get(name, 0)) for name in CHAIN) == shown
    assert tuple(str(getattr(page.product, name)) for name in list(CHAIN)[:3]) == shown[:3]
    assert "aisle" not in row


def test_the_page_takes_whatever_a_service_may_leave_out(cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_stock([{"product_number": "S", "most_likely_quantity": 2}])
    cache.write_products([product("C"), product("D", units="none", barcodes_array=["1", "2"], barcode="1")])
    cache.write_stock([stock("D", 1, places={"A": 1})])
    for number, known in (("S", True), ("C", False), ("D", True)):
        (row,) = reads.query("product", {"product_number": number})[0]
        assert parse_product(row, "2026-11-20T10:00:00Z").is_stocked is known
    assert parse_product(row, "").codes == ("1", "2")


# Changes of product data from this host, and who made them


def test_who_has_changed_it_is_told_by_name_where_that_is_known(aisle_home: Path) -> None:
    home = StoreFolder(aisle_home, "embedded", STORE)
    db, outbox = open_cache(home.folder, writer=True), open_outbox(home.folder)
    cache, reads = CacheWriter(db, STORE), CacheReader(home, outbox)
    try:
        cache.write_products([service_rows.product("P1", "Oat drink")])
        cache.write_stock([service_rows.stock("P1", 2, last_loss_updatedby="U1")], 0, 1.0)
        box = OperationQueue(outbox, clock=Clock(1_795_176_000.0))
        with transaction(outbox):
            box.enqueue([Intent(update_write("P1", STORE, {"is_promotion": True}, {}))], ANNA)
        told = []
        for people in ([], [service_rows.person("U1", "Anna Berg")]):
            cache.write_people(people)
            ((row,), _) = reads.query("store_product", {"product_number": "P1", "user": "U1"})
            told += [(said["user"], said["user_name"], row["last_loss_updatedby"]) for said in row["said"]]
        assert told == [("U1", "U1", "U1"), ("U1", "Anna Berg", "Anna Berg")]
    finally:
        reads.close()
        outbox.close()
        db.close()


# Product search: accents, punctuation and notations of measures


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
