"""What a conversion promises, on the look-alike always and on the real data where they are."""

import csv
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from aisle.client.csv_load.records import BadRows, open_tables, read_records
from tests.realdata import lookalike, sources
from tests.realdata.barcodes import PREFIX, checks
from tests.realdata.convert import SPARE, STORE, Facts, convert, is_goods, walked
from tests.realdata.sources import Bin
from tests.run_once import shared


class Converted(NamedTuple):
    """A conversion of a whole folder of datasets."""

    data: Path
    out: Path
    facts: Facts
    copied: str

    def rows(self, name: str) -> Iterator[dict[str, str]]:
        with open(self.out / name, encoding="utf-8", newline="") as stream:
            yield from csv.DictReader(stream)


@pytest.fixture(scope="session")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("look-alike")
    lookalike.write(folder, 7)
    return folder


def _converted(data: Path, out: Path, copied: str) -> Converted:
    return Converted(data, out, convert(data, out, copies=[copied]), copied)


@pytest.fixture(scope="session")
def look_alike(made_up: Path, tmp_path_factory: pytest.TempPathFactory) -> Converted:
    return _converted(made_up, tmp_path_factory.mktemp("converted"), lookalike.INVOICE)


@pytest.fixture(scope="session")
def real(test_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Converted:
    return shared(tmp_path_factory, "realdata", lambda folder: _converted(test_data, folder, "536365"))


@pytest.fixture(params=["look_alike", pytest.param("real", marks=pytest.mark.full)])
def every_row(request: pytest.FixtureRequest) -> Converted:
    """The look-alike, and in long runs all of the real data."""
    found: Converted = request.getfixturevalue(request.param)
    return found


@pytest.fixture(params=["look_alike", pytest.param("real", marks=pytest.mark.full)])
def converted(request: pytest.FixtureRequest) -> Converted:
    found: Converted = request.getfixturevalue(request.param)
    return found


def test_the_loader_reads_every_row(every_row: Converted) -> None:
    found = {table.name: [0, 0] for table in open_tables(every_row.out)}
    for table in open_tables(every_row.out):
        for item in read_records(table):
            assert not isinstance(item, BadRows), item
            found[table.name][0] += 1
            found[table.name][1] += item.rows
    facts = every_row.facts
    assert found == {
        "stores.csv": [1, 1],
        "products.csv": [facts.products, facts.products],
        "locations.csv": [facts.places, facts.places],
        "stock.csv": [facts.stock_rows, facts.stock_rows],
        "orders.csv": [facts.orders, facts.order_lines],
    }


@pytest.mark.full
def test_the_real_data_make_a_large_shop(real: Converted) -> None:
    assert real.facts.products >= 60_000
    assert real.facts.places == 1_050
    assert real.facts.orders == 18_536 + 1
    assert real.facts.order_lines == 397_924 + 7


@pytest.mark.full
def test_known_dirt_of_the_real_data_is_found_and_explained(real: Converted) -> None:
    counts = {heading: len(rows) for heading, rows in real.facts.notes.items()}
    assert counts["Repeated barcodes: the first row is the product"] == 13
    assert counts["Barcodes without a right check digit: kept as text"] > 494 + 292
    assert counts["Orders whose lines carry several times: each line keeps its own"] == 30
    codes = [row.partition(":")[0] for row in real.facts.notes["Codes that are not goods: products without stock"]]
    assert codes == ["BANK CHARGES", "C2", "DOT", "M", "PADS", "POST"]
    left_out = real.facts.notes["Lines of the web shop that are no order's: left out"]
    assert sum(int(row.split()[0]) for row in left_out) == 541_909 - 397_924


def test_the_two_copies_of_one_invoice_are_there(converted: Converted) -> None:
    wanted = (converted.copied, f"{converted.copied}-2")
    orders = {
        number: [row for row in converted.rows("orders.csv") if row["order_number"] == number] for number in wanted
    }
    for lines in orders.values():
        assert len(lines) == 7
        assert sum(int(line["quantity"]) for line in lines) == 40
        assert [line["line_number"] for line in lines] == [str(number) for number in range(1, 8)]
    first, second = orders.values()
    assert [row | {"order_number": ""} for row in first] == [row | {"order_number": ""} for row in second]


def test_every_order_line_names_a_product_and_none_is_lost(converted: Converted) -> None:
    products = {row["product_number"] for row in converted.rows("products.csv")}
    core = Counter(sale.invoice for sale in sources.sales(converted.data) if sources.is_core(sale))
    core[f"{converted.copied}-2"] = core[converted.copied]
    written = Counter[str]()
    for row in converted.rows("orders.csv"):
        assert row["product_number"] in products
        assert row["store_number"] == STORE
        written[row["order_number"]] += 1
    assert written == core


def test_stock_is_what_was_ordered_and_ten_more_in_a_place_of_the_walk(converted: Converted) -> None:
    ordered = Counter[str]()
    for row in converted.rows("orders.csv"):
        ordered[row["product_number"]] += int(row["quantity"])
    places = {row["location_code"] for row in converted.rows("locations.csv")}
    goods = {code for code in ordered if is_goods(code)}
    stock = {row["product_number"]: row for row in converted.rows("stock.csv")}
    assert set(stock) == goods
    for code, row in stock.items():
        assert int(row["quantity"]) == ordered[code] + SPARE
        assert row["location_code"] in places


def test_products_are_distinct_and_what_is_not_goods_keeps_no_stock(converted: Converted) -> None:
    rows = list(converted.rows("products.csv"))
    numbers = [row["product_number"] for row in rows]
    barcodes = [row["barcode"] for row in rows]
    assert len(numbers) == len(set(numbers))
    assert len(barcodes) == len(set(barcodes))
    assert all(row["product_name"] and "&quot;" not in row["product_name"] for row in rows)
    without_stock = {row["product_number"] for row in rows if row["is_stock"] == "false"}
    named = converted.facts.notes["Codes that are not goods: products without stock"]
    assert without_stock == {row.partition(":")[0] for row in named} != set()


def test_codes_of_the_web_shop_get_restricted_barcodes_that_check(converted: Converted) -> None:
    for row in converted.rows("products.csv"):
        if not row["product_number"].startswith("OF"):
            assert row["barcode"].startswith(PREFIX)
            assert len(row["barcode"]) == 13
            assert checks(row["barcode"])


def test_barcodes_that_do_not_check_are_kept_and_explained(converted: Converted) -> None:
    explained = set(converted.facts.notes["Barcodes without a right check digit: kept as text"])
    kept = {row["barcode"] for row in converted.rows("products.csv") if not checks(row["barcode"])}
    assert kept == explained != set()


def test_every_food_is_a_product_once(converted: Converted) -> None:
    foods = [*sources.foods(converted.data), *sources.branded_foods(converted.data)]
    rows = {row["barcode"]: row for row in converted.rows("products.csv") if row["product_number"].startswith("OF")}
    assert set(rows) == {food.barcode for food in foods}
    assert any(row["brand_description"] for row in rows.values())
    assert any(barcode.startswith("00") for barcode in rows)


def test_a_sample_is_small_and_holds_what_its_orders_need(made_up: Path, tmp_path: Path) -> None:
    facts = convert(made_up, tmp_path, sample=5)
    orders = [row for table in open_tables(tmp_path) if table.name == "orders.csv" for row in read_records(table)]
    assert facts.orders == len(orders) == 5
    assert facts.places == lookalike.BINS
    assert 15 <= facts.products < 120
    with open(tmp_path / "products.csv", encoding="utf-8", newline="") as stream:
        products = {row["product_number"] for row in csv.DictReader(stream)}
    for order in orders:
        assert not isinstance(order, BadRows)
        assert {line["product_number"] for line in order.body["order_lines"]} <= products


def test_the_same_code_has_the_same_barcode_and_bin_in_a_sample(made_up: Path, tmp_path: Path) -> None:
    found = []
    for name, sample in (("all", None), ("some", 8)):
        convert(made_up, tmp_path / name, sample=sample)
        with open(tmp_path / name / "products.csv", encoding="utf-8", newline="") as stream:
            barcodes = {row["product_number"]: row["barcode"] for row in csv.DictReader(stream)}
        with open(tmp_path / name / "stock.csv", encoding="utf-8", newline="") as stream:
            found.append(
                {
                    row["product_number"]: (row["location_code"], barcodes[row["product_number"]])
                    for row in csv.DictReader(stream)
                }
            )
    whole, some = found
    assert some.items() <= whole.items()
    assert 0 < len(some) < len(whole)


def test_the_walk_goes_up_one_alley_and_down_the_next() -> None:
    places = [
        Bin(f"{alley}{y}", alley, x, y) for alley, x in (("L", 20.0), ("R", 50.0), ("M", 35.0)) for y in (3.0, 1.0, 2.0)
    ]
    codes = [place.code for place in walked(places)]
    assert codes == ["R1.0", "R2.0", "R3.0", "M3.0", "M2.0", "M1.0", "L1.0", "L2.0", "L3.0"]


@pytest.mark.full
def test_real_alleys_are_walked_without_jumps(real: Converted) -> None:
    bins = {place.code: place for place in sources.bins(real.data)}
    walk = [bins[row["location_code"]] for row in real.rows("locations.csv")]
    assert len({place.code for place in walk}) == 1_050
    turns = sum(one.alley != other.alley for one, other in pairwise(walk))
    assert turns == 10
    steps = [abs(one.y - other.y) for one, other in pairwise(walk)]
    assert max(steps) < 10
