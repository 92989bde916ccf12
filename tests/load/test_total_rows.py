"""Totals and subtotals below or inside a table are refused by row, and create nothing; prices of 0 are named."""

from pathlib import Path

import pytest

from tests.load.test_repeated_loads import World, stocked
from tests.load.test_spreadsheets import Found, Write, write

__all__ = ["write"]

TOTAL = "and is no row of the table; delete it"
FILES = {
    "stock.csv": ("store_number,product_number,location_code,stock_pool,quantity", "1,P,A,1,5"),
    "products.csv": ("product_number,product_name,price", "P,Een,1"),
    "prices.csv": ("product_number,price", "P,1"),
    "discount_prices.csv": ("store_number,product_number,discount_price", "1,P,1"),
    "locations.csv": ("store_number,location_code", "1,A"),
    "store_products.csv": ("store_number,product_number,min,max", "1,P,1,2"),
    "orders.csv": ("store_number,order_number,line_number,product_number,quantity", "1,O,1,P,1"),
    "deliveries.csv": ("store_number,order_number,no_of_containers,line_number,product_number,quantity", "1,D,1,1,P,1"),
    "people.csv": ("store_number,badge,user,name", "1,B,u,Ann"),
}


@pytest.mark.parametrize(
    ("file", "row"),
    [
        *(
            ("stock.csv", f"{word},,,,120")
            for word in ("Total", "Summe", "Totaal", "Somme", "Gesamtergebnis", "Anzahl")
        ),
        *(("stock.csv", f"1,{word},,,120") for word in ("Total", "Summe:", "Eindtotaal", "Grand Total", "Ergebnis")),
        *(("stock.csv", f"1,P,{word},,5") for word in ("Total", "Somme", "A Total", "A Ergebnis", "Totaal A")),
        *(("stock.csv", f"1,{word},,,5") for word in ("P Total", "P Ergebnis", "Totaal P", "Total P", "p Somme")),
        *(
            ("stock.csv", f"{word},,,,5")
            for word in ("1 Total", "1 Ergebnis", "Gemiddelde", "Total général", "1 - Sum")
        ),
        *(("products.csv", row) for row in ("P Total,,12", "P Ergebnis,,12", ",Total,12", "Totaal P,,1")),
        *(("prices.csv", row) for row in ("Total,12", "P Total,12", "Summe:,12")),
        *(("discount_prices.csv", row) for row in (",Total,12", "1,Total,12", "1 Total,,12")),
        *(("locations.csv", row) for row in ("1,A Total", "1,Total", "Total,", "1 Total,")),
        *(("store_products.csv", row) for row in ("1,Total,5,6", "1,P Total,5,6", "1 Total,,5,6")),
        *(("orders.csv", row) for row in ("1,O Total,,,12", "1,Total,,,12", "Somme,,,,12")),
        *(("deliveries.csv", row) for row in ("1,Total,3,,,12", "1,D Ergebnis,3,,,12")),
        *(("people.csv", row) for row in ("1,Total,,3", "1 Total,,,3")),
    ],
)
def test_total_is_refused_by_row(file: str, row: str, write: Write, tmp_path: Path) -> None:
    write(file, *FILES[file], row)
    found = Found(tmp_path)
    assert len(found.bodies) == 1
    assert list(found.bad) == [3]
    assert found.bad[3].startswith("looks like a total (")
    assert TOTAL in found.bad[3]


@pytest.mark.parametrize(
    ("file", "row"),
    [
        *(("stock.csv", ",,,,120"), ("products.csv", ",,12"), ("prices.csv", ",12"), ("orders.csv", ",,,,12")),
        *(("deliveries.csv", ",,3,,,12"), ("store_products.csv", ",,5,6"), ("discount_prices.csv", ",,12")),
    ],
)
def test_figures_without_key_may_be_total(file: str, row: str, write: Write, tmp_path: Path) -> None:
    write(file, *FILES[file], row)
    found = Found(tmp_path)
    assert list(found.bad) == [3]
    assert "is empty, but every row needs it; delete the row if it is a total, or write what it is of" in found.bad[3]


@pytest.mark.parametrize("row", ["Summe,Summe,12", "Gesamtergebnis,,12", "Total général,,3", "Somme,Total,3"])
def test_total_is_no_new_product(row: str, write: Write, tmp_path: Path) -> None:
    write("products.csv", *FILES["products.csv"], row)
    found = Found(tmp_path)
    assert len(found.bodies) == 1
    assert "looks like a line below the table; delete the row, or give it a product_name" in found.bad[3]


@pytest.mark.parametrize(
    ("file", "row"),
    [
        *(("products.csv", row) for row in ("Total,Total 500 g,1", "X-SUM,Sum of all,1", "Q Total,Q,1", "PTotal,P,1")),
        *(("locations.csv", row) for row in ("1,Totaal-Wand", "1,SUM-1", "1,B Total", "1,Total 4")),
        *(("stock.csv", row) for row in ("1,Q Total,A,1,5", "1,SUMMER,A,1,5", "1,P,A-TOTAL-2,1,5")),
        *(("people.csv", row) for row in ("1,C,totalo,Sum Ann", "1,C,v,Total Ben")),
    ],
)
def test_row_with_word_for_total_in_name_is_loaded(file: str, row: str, write: Write, tmp_path: Path) -> None:
    write(file, *FILES[file], row)
    found = Found(tmp_path)
    assert found.bad == {}
    assert len(found.bodies) == 2


@pytest.mark.parametrize(
    ("file", "header", "row"),
    [
        (
            "orders.csv",
            "customer_name,store_number,order_number,line_number,product_number,quantity",
            "Total,1,O,1,P,1",
        ),
        (
            "deliveries.csv",
            "supplier_name,store_number,order_number,no_of_containers,line_number,product_number,quantity",
            "Somme,1,D,1,1,P,1",
        ),
        ("people.csv", "name,store_number,badge,user", "Sum,1,C,v"),
        ("stores.csv", "store_name,store_number,is_warehouse", "Grand Total,2,false"),
    ],
)
def test_whole_row_that_begins_with_a_name_is_no_total(
    file: str, header: str, row: str, write: Write, tmp_path: Path
) -> None:
    write(file, header, row, f"Total{',' * (header.count(',') - 1)},5")
    found = Found(tmp_path)
    assert list(found.bad) == [3]
    assert len(found.bodies) == 1


async def test_total_below_stock_leaves_other_rows_loaded(world: World) -> None:
    stocked(world, "1,P,A,1,5", "1,P,B,1,6", "1,P Total,,,11", "1,Q,A,1,7", "1,Total,,,18", ",,,,18")
    report = await world.load()
    assert report is not None
    assert [row.line for row in report.bad] == [4, 6, 7]
    assert (await world.stock("P"), await world.stock("Q")) == (11, 7)
    assert set(await world.products()) == {"P", "Q", "R"}


@pytest.mark.parametrize("cell", ["0", "0.00", '"0,00"', "-0", "0.0 EUR"])
@pytest.mark.parametrize(
    ("file", "header", "words"),
    [
        ("products.csv", "product_number,price", "price is 0, and becomes the price of the product"),
        ("prices.csv", "product_number,price", "price is 0, and becomes the price of the product"),
        (
            "discount_prices.csv",
            "product_number,discount_price",
            "discount_price is 0, and takes away the discount price, if there is one",
        ),
        *(
            (
                file,
                f"product_number,{name}_price,price",
                f"{name}_price is 0, and takes away the {name} price, if there is one",
            )
            for file, name in (("products.csv", "promotion"), ("products.csv", "special"), ("prices.csv", "special"))
        ),
    ],
)
def test_price_of_nothing_is_named_by_row(
    cell: str, file: str, header: str, words: str, write: Write, tmp_path: Path
) -> None:
    write(file, header, f"P,{cell}" + ",1" * (header.count(",") - 1))
    found = Found(tmp_path)
    assert len(found.bodies) == 1
    assert f"{file}:2: warning: {words}: P." in found.notes
