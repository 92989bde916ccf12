"""Converted data loaded through the real service: a sample always, the whole year when long runs are asked for."""

import csv
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from aisle.client.client import Client
from aisle.client.csv_load import LoadReport, load
from aisle.client.transport import asgi_transport
from aisle.contract.request_encoding import encode_segment
from aisle.service.app_options_and_limits import ServiceOptions
from aisle.service.auth.tokens_and_pins import create_token
from aisle.service.db.sqlite_database import SqliteDatabase
from aisle.service.domain.quantities_times_and_json import format_timestamp
from aisle.service.http.app import App
from tests.realdata import lookalike
from tests.realdata.convert import SPARE, STORE, Facts, convert
from tests.run_length import tries

Rows = list[dict[str, str]]


class Shop:
    """A service of a test's own and the questions that the tests ask it."""

    def __init__(self, storage: SqliteDatabase, client: Client) -> None:
        self.storage = storage
        self.client = client

    async def total(self, name: str, field: str = "total_count", **query: Any) -> int:
        path = {"store_number": STORE} if name in ("list-locations", "list-customer-orders") else {}
        async for _, envelope in self.client.pages(name, path=path, query={"page_size": 1, **query}):
            return int(envelope[field])
        raise AssertionError("no page")

    async def rows(self, name: str, **query: Any) -> list[dict[str, Any]]:
        path = {"store_number": STORE} if name in ("list-locations", "list-customer-orders") else {}
        return [row async for rows, _ in self.client.pages(name, path=path, query=query) for row in rows]

    async def stock(self) -> dict[str, float]:
        rows = await self.rows("list-store-products-stock", store_number=STORE, page_size=500)
        return {row["product_number"]: row["most_likely_quantity"] for row in rows}

    async def unbalanced(self) -> list[Any]:
        """Products whose ledger legs do not add up to their balance."""
        return await self.storage.read(
            lambda tx: tx.all(
                "SELECT product_number, sum(quantity) FROM ("
                " SELECT product_number, quantity FROM balance"
                " UNION ALL SELECT product_number, -quantity FROM leg) both"
                " GROUP BY product_number HAVING sum(quantity) <> 0"
            )
        )

    async def order(self, number: str) -> dict[str, Any]:
        (order,) = await self.rows("list-customer-orders", order_number=number, show_lines=True, page_size=1)
        return order


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[SqliteDatabase]:
    opened = SqliteDatabase(tmp_path / "service" / "service.db")
    yield opened
    opened.close()


@pytest.fixture
def opened(storage: SqliteDatabase) -> Callable[[], Any]:
    """Opens a client of the service; entered in the test, because it belongs to the test's loop."""
    now = format_timestamp(time.time())
    token = create_token(storage, name="load", role="admin", store_numbers=None, now=now)

    @asynccontextmanager
    async def enter() -> Any:
        transport = asgi_transport(App(storage, ServiceOptions()))
        async with Client("http://localhost", token.secret, transport=transport) as client:
            yield Shop(storage, client)

    return enter


def read_csv(path: Path) -> Rows:
    with open(path, encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


async def assert_loaded(shop: Shop, report: LoadReport, facts: Facts, folder: Path) -> None:
    """Everything the conversion wrote stands in the service, and nothing else."""
    others = [
        line
        for line in report.lines()
        if not any(words in line for words in ("rows loaded", "loaded before", "there before"))
    ]
    odd = (
        "barcode has a wrong check digit",
        "barcode has more than 14 digits",
        "pickup_date is more than a month ago",
        "quantity is over 10000: 80995",
        "product_name has signs that no screen shows",  # some names were saved in a wrong encoding
        "price of the line is more than 20 times that of the product",  # the look-alike draws each price anew
    )
    free = [
        row["product_number"] for row in read_csv(folder / "products.csv") if row["price"] and not float(row["price"])
    ]
    words_of_free = "price is 0, and becomes the price of the product"
    named = [line.partition(f"{words_of_free}: ")[2].rstrip(".") for line in others if f"{words_of_free}: " in line]
    assert named == free[:20]
    others = [line for line in others if words_of_free not in line]
    assert all(any(words in line for words in odd) for line in others), others
    assert report.is_complete
    assert await shop.total("list-products", "total_record_count") == facts.products
    assert await shop.total("list-locations") == facts.places
    assert await shop.total("list-customer-orders") == facts.orders
    stock = read_csv(folder / "stock.csv")
    shelves = {row["product_number"]: int(row["quantity"]) for row in stock}
    found = await shop.stock()
    assert {number: quantity for number, quantity in found.items() if quantity} == shelves
    assert await shop.unbalanced() == []


async def test_a_sample_of_the_look_alike_is_loaded_and_not_doubled(tmp_path: Path, opened: Callable[[], Any]) -> None:
    data, folder = tmp_path / "data", tmp_path / "csv"
    lookalike.write(data, 7)
    facts = convert(data, folder, copies=[lookalike.INVOICE])
    async with opened() as shop:
        report = await load(folder, shop.client)
        await assert_loaded(shop, report, facts, folder)
        again = await load(folder, shop.client)
        assert all(file.loaded_rows + len(file.already_loaded_rows) == file.rows for file in again.files)
        assert [file.file for file in again.files if file.already_loaded_rows] == ["stock.csv"]
        await assert_loaded(shop, again, facts, folder)


async def test_orders_arrive_line_by_line_with_prices_and_dates(tmp_path: Path, opened: Callable[[], Any]) -> None:
    data, folder = tmp_path / "data", tmp_path / "csv"
    lookalike.write(data, 7)
    convert(data, folder, sample=6, copies=[lookalike.INVOICE])
    written = read_csv(folder / "orders.csv")
    async with opened() as shop:
        assert (await load(folder, shop.client)).is_complete
        for number in Counter(row["order_number"] for row in written):
            order = await shop.order(number)
            rows = [row for row in written if row["order_number"] == number]
            assert order["customer_name"] == rows[0]["customer_name"]
            assert order["total_quantity"] == sum(int(row["quantity"]) for row in rows)
            lines = sorted(order["lines"], key=lambda line: int(line["line_number"]))
            assert [(line["product_number"], line["quantity"], line["price"]) for line in lines] == [
                (row["product_number"], int(row["quantity"]), float(row["price"])) for row in rows
            ]
            assert all(line["picked_quantity"] == 0 and not line["is_picked"] for line in lines)


async def test_places_keep_the_walk_of_the_hall(tmp_path: Path, opened: Callable[[], Any]) -> None:
    data, folder = tmp_path / "data", tmp_path / "csv"
    lookalike.write(data, 7)
    convert(data, folder, sample=3)
    async with opened() as shop:
        await load(folder, shop.client)
        places = await shop.rows("list-locations", page_size=50)
    assert [place["location_code"] for place in places] == [
        row["location_code"] for row in read_csv(folder / "locations.csv")
    ]


async def test_a_food_is_found_by_its_barcode_and_a_charge_keeps_no_stock(
    tmp_path: Path, opened: Callable[[], Any]
) -> None:
    data, folder = tmp_path / "data", tmp_path / "csv"
    lookalike.write(data, 7)
    convert(data, folder)
    rows = read_csv(folder / "products.csv")
    async with opened() as shop:
        await load(folder, shop.client)
        for row in [row for row in rows if row["product_number"].startswith("OF")][::40]:
            found = await shop.rows("list-products", barcode=row["barcode"])
            assert [item["product_name"] for item in found] == [row["product_name"]]
        charges = [row["product_number"] for row in rows if row["is_stock"] == "false"]
        items = {item["product_number"]: item for item in await shop.rows("list-products", page_size=500)}
        assert charges
        assert [items[number]["is_stock"] for number in charges] == [False] * len(charges)
        stock = await shop.stock()
        assert not stock.keys() & {number for number in charges if stock.get(number)}


async def test_bad_rows_are_named_and_the_others_loaded_until_they_are_mended(
    tmp_path: Path, opened: Callable[[], Any]
) -> None:
    data, folder = tmp_path / "data", tmp_path / "csv"
    lookalike.write(data, 7)
    facts = convert(data, folder, sample=12)
    orders = (folder / "orders.csv").read_text(encoding="utf-8")
    code = read_csv(folder / "orders.csv")[8]["product_number"]
    spoilt = orders.splitlines()
    spoilt[9] = spoilt[9].replace(f",{code},", ",NOWHERE,")
    (folder / "orders.csv").write_text("\n".join(spoilt) + "\n", encoding="utf-8")
    async with opened() as shop:
        report = await load(folder, shop.client)
        assert len(report.bad) == 1
        assert "NOWHERE" in report.bad[0].reason
        assert (report.bad[0].file, report.bad[0].line) == ("orders.csv", 10), "the row that is at fault"
        assert await shop.total("list-customer-orders") == facts.orders - 1
        products = folder / "products.csv"
        products.write_text(products.read_text(encoding="utf-8") + "NOWHERE,Found again,,1,,true\n", encoding="utf-8")
        assert (await load(folder, shop.client)).is_complete
        assert await shop.total("list-customer-orders") == facts.orders


async def test_a_store_that_does_not_exist_is_named_for_each_row(tmp_path: Path, opened: Callable[[], Any]) -> None:
    (tmp_path / "csv").mkdir()
    (tmp_path / "csv" / "products.csv").write_text("product_number\nP\nQ\n")
    (tmp_path / "csv" / "stock.csv").write_text("store_number,product_number,quantity\n9,P,1\n9,Q,1\n")
    async with opened() as shop:
        report = await load(tmp_path / "csv", shop.client)
    assert [(row.file, row.line) for row in report.bad] == [("stock.csv", 2), ("stock.csv", 3)]
    assert report.bad[0].reason.startswith("the service refused the count of product P: ")


async def test_names_that_need_encoding_reach_their_place(tmp_path: Path, opened: Callable[[], Any]) -> None:
    folder = tmp_path / "csv"
    folder.mkdir()
    (folder / "stores.csv").write_text("store_number,store_name,is_warehouse\nÄ/1 %,Küste,false\n", encoding="utf-8")
    (folder / "products.csv").write_text("product_number,allow_decimal\n#/12,true\n")
    (folder / "locations.csv").write_text(
        "store_number,location_code,location_order,tags\nÄ/1 %,A/12,10,pickup|cold\n", encoding="utf-8"
    )
    (folder / "stock.csv").write_text(
        "store_number,product_number,location_code,stock_pool,quantity\nÄ/1 %,#/12,A/12,1,2.5\nÄ/1 %,#/12,A/12,3,4\n",
        encoding="utf-8",
    )
    assert encode_segment("Ä/1 %") == "%C3%84%2F1%20%25"
    async with opened() as shop:
        report = await load(folder, shop.client)
        assert report.is_complete, report.lines()
        (entry,) = await shop.rows("list-store-products-stock", store_number="Ä/1 %", include_locations=True)
    assert (entry["most_likely_pool_1"], entry["most_likely_pool_3"]) == (2.5, 4)
    (place,) = [place for place in entry["store_locations"] if place["quantity"]]
    assert place["store_location_code"] == "A/12"
    assert place["tags"] == ["pickup", "cold"]


async def test_a_sample_of_the_real_data_is_loaded(tmp_path: Path, test_data: Path, opened: Callable[[], Any]) -> None:
    sample = tries(8, 200)
    facts = convert(test_data, tmp_path / "csv", sample=sample, copies=["536365"])
    assert (facts.orders, facts.places) == (sample + 1, 1_050)
    async with opened() as shop:
        report = await load(tmp_path / "csv", shop.client)
        await assert_loaded(shop, report, facts, tmp_path / "csv")
        for number in ("536365", "536365-2"):
            order = await shop.order(number)
            assert (order["total_lines"], order["total_quantity"]) == (7, 40)


@pytest.mark.full
async def test_the_whole_of_the_real_data_is_loaded(tmp_path: Path, test_data: Path, opened: Callable[[], Any]) -> None:
    facts = convert(test_data, tmp_path / "csv", copies=["536365"])
    async with opened() as shop:
        report = await load(tmp_path / "csv", shop.client)
        await assert_loaded(shop, report, facts, tmp_path / "csv")
        assert facts.products >= 60_000
        assert facts.places == 1_050
        assert facts.orders >= 18_000
        ordered = Counter[str]()
        for row in read_csv(tmp_path / "csv" / "orders.csv"):
            ordered[row["product_number"]] += int(row["quantity"])
        stock = await shop.stock()
        assert all(stock[number] == ordered[number] + SPARE for number in stock if stock[number])
