"""What the columns of a file are called: the list of them, and what is said of a header that is wrong."""

from pathlib import Path

import pytest

from aisle.cli.load import describe_columns, example_cell
from aisle.client.csv_load import LoadError
from aisle.client.csv_load.cells_of_columns import CLEANERS
from aisle.client.csv_load.file_layouts_and_columns import LAYOUTS, FileLayout
from aisle.client.csv_load.local_number_and_date_notation import Notation
from aisle.client.csv_load.records import open_tables


@pytest.mark.parametrize("layout", LAYOUTS, ids=[layout.file for layout in LAYOUTS])
def test_the_columns_of_a_file_are_listed_with_examples_that_it_takes(layout: FileLayout) -> None:
    first, *lines = describe_columns(layout.file)
    assert first == layout.file
    words = [line.split() for line in lines]
    assert {word[0] for word in words} == set(layout.columns)
    assert {word[0] for word in words if word[1] == "required"} == {
        column.name for column in layout.columns.values() if column.required
    }
    for column in layout.columns.values():
        cleaned = CLEANERS[column.kind](example_cell(column), Notation())
        assert cleaned.changes == ""
        column.parse(cleaned.value)


def test_all_files_are_listed() -> None:
    lines = list(describe_columns())
    assert [line for line in lines if line.endswith(".csv")] == [layout.file for layout in LAYOUTS]
    assert list(describe_columns("products")) == list(describe_columns("products.csv"))


def test_a_file_that_no_load_reads_has_no_columns() -> None:
    with pytest.raises(LoadError, match=r"No load reads a file goods\.csv; name one of these: stores\.csv"):
        list(describe_columns("goods.csv"))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"storeNumber;storeName;isWarehouse\n", "'storenumber'; the nearest known one is store_number. It has"),
        (b"store_number;Filialname;isWarehouse\n", "'filialname'; the nearest known one is store_name"),
        (b"store_number;zzz;isWarehouse\n", "has an unknown column 'zzz'. It has"),
        (b"storeNumber;storeName;isWarehouse\n", "'iswarehouse'; the nearest known one is is_warehouse"),
        (b"store_number,naam,magazijn\n", "unknown column 'naam'"),
        (
            b"store_number;discount_price\n",
            "'discount_price', which belongs into discount_prices.csv or store_products.csv.",
        ),
        (b"store_number;max\n", "unknown column 'max', which belongs into store_products.csv. It has"),
        (b"store_number\n", "no column is_warehouse, which every row needs; add it. It has no column store_name"),
        (b"sep=;\nstore_number,store_name,is_warehouse\n", "sep=;, but its columns are separated by commas"),
        (b"PK\x03\x04\x14\x00xlsx", "is a workbook with the name of a CSV file"),
        (b"\xd0\xcf\x11\xe0xls", "is a workbook with the name of a CSV file"),
        (b"naam\n", "'aisle load --columns stores.csv' lists all columns"),
    ],
)
def test_a_wrong_header_is_told_name_by_name(content: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / "stores.csv").write_bytes(content)
    with pytest.raises(LoadError) as error:
        open_tables(tmp_path)
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("file", "name", "column"),
    [
        *(("products.csv", "Artikelnummer", "product_number"), ("products.csv", "EAN", "barcode")),
        *(("products.csv", "Bezeichnung", "product_name"), ("products.csv", "Omschrijving", "product_name")),
        *(("products.csv", "Preis", "price"), ("stock.csv", "Menge", "quantity"), ("stock.csv", "Bestand", "quantity")),
        *(("stock.csv", "Filiale", "store_number"), ("stock.csv", "Lagerplatz", "location_code")),
        *(("orders.csv", "Bestelnummer", "order_number"), ("deliveries.csv", "EAN", "barcode")),
    ],
)
def test_common_column_names_suggest_the_right_one(file: str, name: str, column: str, tmp_path: Path) -> None:
    (tmp_path / file).write_text(f"{name};x\n1;2\n")
    with pytest.raises(LoadError, match=f"'{name.casefold()}'; the nearest known one is {column}[. ]"):
        open_tables(tmp_path)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("products.xlsx", "products.xlsx: not read, because it is no CSV file; save it as CSV."),
        ("stock (1).csv", "no file of a load has this name; rename it to stock.csv, if it is that."),
        ("Products - Kopie.csv", "no file of a load has this name; rename it to products.csv, if it is that."),
        ("store products.csv", "no file of a load has this name; rename it to store_products.csv, if it is that."),
        ("~$prices.csv", "~$prices.csv: not read, because a spreadsheet keeps it while it has the file open."),
        ("artikel.csv", "artikel.csv: not read, because no file of a load has this name."),
    ],
)
def test_a_file_that_is_not_read_is_told_with_what_to_do(name: str, words: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("a")
    with pytest.raises(LoadError) as problem:
        open_tables(tmp_path)
    assert str(problem.value).endswith(words)
