"""Rows that are none of the table, keys that are empty or twice there, and rows with another separator."""

from pathlib import Path

import pytest

from tests.load.test_spreadsheets import Found, Write, write

__all__ = ["write"]

STOCK = "store_number,product_number,location_code,stock_pool,quantity"
ORDERS = "store_number,order_number,line_number,product_number,quantity"
FILES = {
    "stores.csv": ("store_number,store_name,is_warehouse", "1,One,0", 1),
    "products.csv": ("product_number,product_name,price", "P,Pea,1", 1),
    "attributes.csv": ("product_number,size", "P,L", 1),
    "free_fields.csv": ("product_number,sort_order,key,value", "P,1,k,v", 1),
    "prices.csv": ("product_number,price", "P,1", 1),
    "discount_prices.csv": ("product_number,discount_price", "P,1", 1),
    "locations.csv": ("store_number,location_code", "1,A", 1),
    "people.csv": ("store_number,badge,user,name", "1,B,u,Ann", 1),
    "store_products.csv": ("store_number,product_number,min", "1,P,1", 1),
    "stock.csv": (STOCK, "1,P,A,1,5", 1),
    "orders.csv": (ORDERS, "1,O,1,P,1", 1),
    "deliveries.csv": (
        "store_number,order_number,no_of_containers,line_number,product_number,quantity",
        "1,D,1,1,P,1",
        1,
    ),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("form", ["{}", "{} ", "upper"])
def test_a_header_inside_a_file_is_refused_by_its_row(name: str, form: str, write: Write, tmp_path: Path) -> None:
    header, row, bodies = FILES[name]
    again = header.upper().replace("_", " ") if form == "upper" else form.format(header)
    write(name, header, again, row, again)
    found = Found(tmp_path)
    assert len(found.bodies) == bodies
    assert found.bad == dict.fromkeys((2, 4), "repeats the header; delete it")


@pytest.mark.parametrize("name", [name for name in FILES if name != "products.csv"])
@pytest.mark.parametrize(
    "word",
    [
        "Total",
        "TOTAL:",
        "Summe",
        "Gesamt",
        "Gesamtsumme",
        "Totaal",
        "Subtotal",
        "Gesamtergebnis",
        "Zwischensumme",
        "Σ Total",
        "Sum =",
    ],
)
def test_a_total_inside_a_file_is_refused_by_its_row(name: str, word: str, write: Write, tmp_path: Path) -> None:
    header, row, bodies = FILES[name]
    cells = header.count(",")
    write(name, header, row, word + "," * (cells - 1) + ",17", f"{word} 3 rows" + "," * cells)
    found = Found(tmp_path)
    assert len(found.bodies) == bodies
    assert all("looks like a total" in found.bad[line] for line in (3, 4))


@pytest.mark.parametrize("row", ["1,Total,A,1,5", "1,P,Total,1,5", "T1,P,A,1,5", "Totalstore,P,A,1,5", "1,Summe,A,,5"])
def test_a_code_is_no_total(row: str, write: Write, tmp_path: Path) -> None:
    write("stock.csv", STOCK, row)
    assert Found(tmp_path).bad == {}


@pytest.mark.parametrize("cells", [("", ""), ("", "  "), ("NULL", "n/a"), ("\u00a0", ""), ("NULL", "NULL")])
@pytest.mark.parametrize("name", FILES)
def test_rows_without_a_key_are_told_so(name: str, cells: tuple[str, str], write: Write, tmp_path: Path) -> None:
    header, row, _ = FILES[name]
    columns, values = header.split(","), row.split(",")
    at = {"stores.csv": 0, "locations.csv": 1, "people.csv": 1}.get(
        name, columns.index("product_number") if "product_number" in columns else 0
    )
    rows = [",".join(cell if index == at else f"{value}" for index, value in enumerate(values)) for cell in cells]
    write(name, header, *rows)
    found = Found(tmp_path)
    assert found.bodies == []
    assert sorted(found.bad) == [2, 3]
    told = [f"is {cell!r}, which is read as an empty cell" if cell.strip() else "is empty" for cell in cells]
    for reason, why in zip((found.bad[2], found.bad[3]), told, strict=True):
        assert reason.startswith(f"{columns[at]} {why}, but every row needs it")


@pytest.mark.parametrize("again", ["a", " a", "a ", '="a"', "'a'"])
def test_a_key_of_free_fields_is_there_once(again: str, write: Write, tmp_path: Path) -> None:
    again = again.replace('"', '""')
    write("free_fields.csv", "product_number,sort_order,key,value", "P,1,a,x", "Q,1,a,x", f'P,2,"{again}",y', "P,3,b,z")
    found = Found(tmp_path)
    assert [body["product_number"] for body in found.bodies] == ["Q"]
    assert found.bad == {
        4: "key 'a' of the same product stands in row 2 too; keep one of the rows; the free fields of product P are"
        " left out whole, so that nobody takes them for complete"
    }


@pytest.mark.parametrize(("name", "row"), [("products.csv", "P"), ("stores.csv", "1,One,0")])
def test_a_key_of_free_fields_in_a_cell_is_there_once(name: str, row: str, write: Write, tmp_path: Path) -> None:
    header = "product_number" if name == "products.csv" else "store_number,store_name,is_warehouse"
    cell = (
        '"[{""sort_order"": 1, ""key"": ""a""}, {""sort_order"": 2, ""key"": ""b""},'
        ' {""sort_order"": 3, ""key"": ""a""}]"'
    )
    write(name, f"{header},free_fields", f"{row},{cell}")
    assert Found(tmp_path).bad == {2: "free_fields has the key 'a' twice; keep one of them"}


@pytest.mark.parametrize(
    ("header", "row", "words"),
    [
        (
            "product_number;product_name;price",
            "P,Pea,1",
            "cells separated by commas, and the columns of the header by semic",
        ),
        ("product_number;product_name;price", '"P","Pea","1"', ""),
        (
            "product_number,product_name,price",
            "P;Pea;1",
            "cells separated by semicolons, and the columns of the header by",
        ),
        ("product_number,product_name,price", "P;Pea;1,50", "cells separated by semicolons"),
        ("product_number,product_name,price", "P\tPea\t1", "cells separated by tabs"),
        (
            "product_number\tproduct_name\tprice",
            "P,Pea,1",
            "cells separated by commas, and the columns of the header by tabs",
        ),
        ("product_number\tproduct_name\tprice", "P;Pea;1", "cells separated by semicolons"),
        ("product_number", "P;Pea;1", "cells separated by semicolons, and the header has one column"),
        ("product_number", "P;Pea;1,99", "cells separated by semicolons, and the header has one column"),
        ("product_number,product_name,price", '"P,Pea,1"', "has all its cells in one pair of quotation marks"),
        ("product_number;product_name;price", '"P;Pea;1"', "has all its cells in one pair of quotation marks"),
    ],
)
def test_rows_with_another_separator_are_refused(
    header: str, row: str, words: str, write: Write, tmp_path: Path
) -> None:
    write("products.csv", header, row, row.replace("P", "Q", 1))
    found = Found(tmp_path)
    assert found.bodies == []
    assert sorted(found.bad) == [2, 3]
    assert words in found.bad[2]


@pytest.mark.parametrize("row", ["P;1", "P,Pea;Bean", "P", 'P,"Pea, green; dried"', '"P,1"'])
def test_a_short_row_is_not_taken_for_that(row: str, write: Write, tmp_path: Path) -> None:
    write("products.csv", "product_number,product_name,price", row)
    assert Found(tmp_path).bad == {}
