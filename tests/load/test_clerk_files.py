"""Files of a clerk with a spreadsheet: no figure changes without a word, and what cannot be read says what to do."""

import os
import re
from pathlib import Path

import pytest

from aisle.client.csv_load.records import open_tables, unknown_files
from aisle.client.csv_load.report import LoadError
from tests.load.test_repeated_loads import World
from tests.load.test_spreadsheets import Found, Write, dates, write

__all__ = ["write"]


@pytest.mark.parametrize(
    ("start", "name"),
    [
        (b"<html><body><table><tr><td>product_number</td></tr></table>", "a web page"),
        (b"\r\n<!DOCTYPE html>\r\n<table>", "a web page"),
        (b"\xef\xbb\xbf<table><tr><td>product_number", "a web page"),
        (b'<?xml version="1.0"?><Workbook>', "XML"),
        (b'[{"product_number": "0300"}]', "JSON"),
        (b'{"products": []}', "JSON"),
        (b'{"product_number":"0300"}\n{"product_number":"0301"}\n', "JSON"),
        (b'[ ["product_number"], ["0300"] ]', "JSON"),
        (b"%PDF-1.7\n", "a PDF"),
        (b"{\\rtf1\\ansi product_number}", "a text with formats (RTF)"),
        (b"ID;PWXL;N;E\r\nC;Y1;X1", "a table in the format SYLK"),
        (b"\x1f\x8b\x08\x00", "a compressed file"),
        (b"PK\x03\x04\x14\x00", "a workbook"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "a workbook"),
    ],
)
def test_other_format_with_name_of_csv_is_named(start: bytes, name: str, tmp_path: Path) -> None:
    (tmp_path / "products.csv").write_bytes(start)
    with pytest.raises(LoadError, match=f"^products.csv is {re.escape(name)} with the name of a CSV file; open it"):
        open_tables(tmp_path)


@pytest.mark.parametrize(
    "header",
    [
        '"product\nnumber",product_name,price',
        '"product\r\nnumber","product_name","price"',
        'product_number,"product\nname",price',
        'product_number,product_name,"\nprice\n"',
        'A title\n"product\nnumber","product\nname",price',
    ],
)
@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_header_with_line_end_inside_name_is_read(header: str, mark: str, write: Write, tmp_path: Path) -> None:
    lines = header.replace(",", mark), mark.join(("0300", "Melk", "1.10")), mark.join(("0301", "Kaas", "x"))
    write("products.csv", *lines)
    found = Found(tmp_path)
    assert [body["product_name"] for body in found.bodies] == ["Melk"]
    assert list(found.bad) == [4 if header.startswith("A title") else 3]


@pytest.mark.parametrize("end", ["\r\n", "\n"])
@pytest.mark.parametrize(
    ("rows", "bad"),
    [
        (['P,"a', 'b",1', "Q,c,x"], [3]),
        (['P,"a', "b", "c", 'd",1', "Q,c,x", "R,e,2", '"S","e', 'f",x'], [3, 5]),
        (['P,"a', 'b",x'], [2]),
        (["", 'P,"', '",1', "", "Q,c,x"], [5]),
        (['"P","a', '"",b",1', 'Q,"c', "", 'd",x', "R,e,y"], [3, 4]),
    ],
)
def test_rows_are_numbered_as_a_spreadsheet_shows_them(
    rows: list[str], bad: list[int], end: str, write: Write, tmp_path: Path
) -> None:
    write("products.csv", "product_number,product_name,price", *rows, end=end)
    assert sorted(Found(tmp_path).bad) == bad


@pytest.mark.parametrize(
    ("column", "near"), [("product_number*", "product_number"), ("Price (EUR)", "price"), ("Barcode / EAN", "barcode")]
)
def test_name_with_something_behind_it_gets_right_advice(column: str, near: str, write: Write, tmp_path: Path) -> None:
    write("products.csv", f"{column},product_name", "P,x")
    with pytest.raises(LoadError, match=f"the nearest known one is {near}[.;]"):
        open_tables(tmp_path)


def test_number_and_name_that_are_mixed_up_make_no_product(write: Write, tmp_path: Path) -> None:
    write("products.csv", "product_number,product_name", "Melk,0300", "X1,0301", "Kaas,7 Up", "0302,4711")
    found = Found(tmp_path)
    assert [body["product_number"] for body in found.bodies] == ["X1", "Kaas", "0302"]
    assert "product_number 'Melk' and product_name '0300' seem to be mixed up" in found.bad[2]


@pytest.mark.parametrize("cell", ["0300", "007", "00", "0005,5", "-05"])
def test_zeros_before_a_figure_are_reported(cell: str, write: Write, tmp_path: Path) -> None:
    write("stock.csv", "store_number;product_number;quantity", f"1;P;{cell}")
    assert "stock.csv: changed in row 2: quantity: zeros before the number taken off." in Found(tmp_path).notes


@pytest.mark.parametrize("file", ["stock.csv", "orders.csv", "deliveries.csv"])
def test_code_among_quantities_is_warned_of(file: str, write: Write, tmp_path: Path) -> None:
    header, row = {
        "stock.csv": ("store_number,product_number,quantity", "1,P,96385074"),
        "orders.csv": ("store_number,order_number,line_number,product_number,quantity", "1,O,1,P,96385074"),
        "deliveries.csv": (
            "store_number,order_number,no_of_containers,line_number,product_number,quantity",
            "1,D,1,1,P,96385074",
        ),
    }[file]
    write(file, header, row)
    noted = Found(tmp_path).notes
    assert any(re.match(rf"{file}:2: warning: quantity is over 10+: 96385074 of P\.", note) for note in noted)


EMPTY = "location_code is empty, while other rows have one, and the goods are counted at no place"


@pytest.mark.parametrize(
    ("rows", "lines"),
    [
        (("1,P,A,5", "1,Q,,3", "1,R,,4"), [3, 4]),
        (("1,Q,,3", "1,P,A,5"), [2]),
        (("1,Q,,3", "1,P,,5"), []),
        (("1,Q,B,3", "1,P,A,5"), []),
        (("1,P,A,5", "1,P,,5"), []),
        (("1,P,A,5", "1,Q,x,y", "1,R, ,4"), [4]),
    ],
)
def test_row_that_lost_its_location_is_warned_of(
    rows: tuple[str, ...], lines: list[int], write: Write, tmp_path: Path
) -> None:
    write("stock.csv", "store_number,product_number,location_code,quantity", *rows)
    noted = [note for note in Found(tmp_path).notes if EMPTY in note]
    assert [int(note.split(":")[1]) for note in noted] == lines


@pytest.mark.parametrize(
    ("rows", "bad"),
    [
        (("P,1,10", "Q,2,20,1,10"), [2, 3]),
        (("Q,2,20,1,10", "P,1,10", "R,3,5"), [2, 3, 4]),
        (("P,1,10", "Q,2,20,"), []),
        (("P,1,10", "Q,2.5,20,1"), [3]),
        (("P,1.5,10", "Q,2,20,1,10"), [3]),
        (("P,1,", "Q,2,20,1,10", "R,,7"), [3]),
    ],
)
def test_decimal_comma_that_splits_cells_is_refused(
    rows: tuple[str, ...], bad: list[int], write: Write, tmp_path: Path
) -> None:
    write("products.csv", "product_number,price,special_price", *rows)
    found = Found(tmp_path)
    assert sorted(found.bad) == bad
    assert len(found.bodies) == len(rows) - len(bad)


def test_split_decimal_comma_says_what_to_do(write: Write, tmp_path: Path) -> None:
    write("products.csv", "product_number,price,special_price", "P,1,10", "Q,2,20,1,10")
    found = Found(tmp_path)
    assert "has '1,10', which can be two cells or one number with a decimal comma, as row 3 has it" in found.bad[2]
    assert found.bad[3].startswith("has 5 fields, the header has 3; is 2,20 one number with a decimal comma?")
    assert all("save the file with semicolons between cells" in reason.casefold() for reason in found.bad.values())


@pytest.mark.parametrize(
    ("cells", "values", "bad"),
    [
        (("2026-24-12", "2026-05-06"), (), [2, 3]),
        (("2026/05/06", "2026/24/12", "2026-05-05", "2026-12-24"), ("2026-05-05", "2026-12-24"), [2, 3]),
        (("2026-05-06", "2026-1-5"), ("2026-05-06", "2026-01-05"), []),
        (("2026-02-30", "2026-13-31", "0000-00-00", "morgen", "24122026"), (), [2, 3, 4, 5, 6]),
        (("1764547200", "2026-12-24T25:00", "2026-12-24T", "27.11.2026 24:30"), (), [2, 3, 4, 5]),
        (("20261224", "2026-12-24T10:00:00.0000000Z"), ("2026-12-24", "2026-12-24T10:00:00.0000000Z"), []),
    ],
)
def test_date_that_is_none_is_refused_with_what_to_write(
    cells: tuple[str, ...], values: tuple[str, ...], bad: list[int], write: Write, tmp_path: Path
) -> None:
    found = dates(write, tmp_path, *cells)
    assert tuple(body["datetime_expected"] for body in found.bodies) == values
    assert sorted(found.bad) == bad
    assert all(reason.endswith("; write yyyy-mm-dd") for reason in found.bad.values())


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("26/12/24", "26/12/24 in row 2 is 2024-12-26"),
        ("12/24/2026", "12/24/2026 in row 2 is 2026-12-24"),
        ("27.11.26", "27.11.26 in row 2 is 2026-11-27"),
    ],
)
def test_assumed_order_of_dates_shows_what_it_makes(cell: str, words: str, write: Write, tmp_path: Path) -> None:
    assert words in dates(write, tmp_path, cell).notes[0]


@pytest.mark.parametrize(
    ("header", "second", "row"),
    [
        ("product_number,price,special_price", "product_number,special_price,price", "Q,6,7"),
        ("product_number,price,special_price", "special_price,price,product_number", "6,7,Q"),
        ("product_number,price,special_price", "\ufeffProduct Number,Special Price,Price", "Q,6,7"),
        ("product_number,price,special_price", "product_number,purchase_price,price", "Q,6,7"),
    ],
)
def test_rows_of_second_file_with_other_columns_are_refused(
    header: str, second: str, row: str, write: Write, tmp_path: Path
) -> None:
    write("prices.csv", header, "P,5,4", second, row, row.replace("Q", "R").replace("6", "8"))
    found = Found(tmp_path)
    assert found.bodies == [{"product_number": "P", "price": 5, "special_price": 4}]
    assert sorted(found.bad) == [3, 4, 5]
    assert found.bad[3].startswith("is a header with other columns")
    assert all("follows the header with other columns in row 3" in found.bad[line] for line in (4, 5))
    assert all(reason.endswith("as a file of its own") for reason in found.bad.values())


@pytest.mark.parametrize("again", ["\ufeffproduct_number,price", "Product Number,PRICE", " product_number , price "])
def test_same_header_again_is_no_product(again: str, write: Write, tmp_path: Path) -> None:
    write("prices.csv", "product_number,price", "P,5", again, "Q,6")
    found = Found(tmp_path)
    assert found.bad == {3: "repeats the header; delete it"}
    assert len(found.bodies) == 2


def test_file_that_is_no_csv_is_named(write: Write, tmp_path: Path) -> None:
    names = ("products.json", "stock.xml", "prices.html", "orders.xlsb", "stock.csv.gz", "prices.csv.zip", "stores.tab")
    for name in names:
        write(name, "x")
    assert unknown_files(tmp_path) == tuple(sorted(names))


UNREAD = [
    ("store-products.csv", "rename it to store_products.csv, if it is that", True),
    ("Store products (1).csv", "rename it to store_products.csv, if it is that", True),
    ("storeproducts.csv", "rename it to store_products.csv, if it is that", True),
    ("prices (1).csv", "rename it to prices.csv, if it is that", True),
    ("discount prices.csv", "rename it to discount_prices.csv, if it is that", True),
    ("free-fields.CSV", "rename it to free_fields.csv, if it is that", True),
    ("stock.csv.csv", "rename it to stock.csv, if it is that", True),
    ("product.csv", "rename it to products.csv, if it is that", True),
    ("artikelen.csv", "because no file of a load has this name.", True),
    ("store_settings.csv", "because no file of a load has this name.", True),
    ("StoreSettings.csv", "because no file of a load has this name.", True),
    ("product images.csv", "because no file of a load has this name.", True),
    ("price list 2026.csv", "rename it to prices.csv, if it is that", True),
    ("stock levels.csv", "rename it to stock.csv, if it is that", True),
    ("customer-orders.csv", "rename it to orders.csv, if it is that", True),
    ("orders.csv/", "because it is a folder; load it by itself", True),
    ("old/stock.csv", "old/: not read, because it is a folder; load it by itself", False),
    ("orders.txt", "because it is no CSV file", False),
    ("stock.csv ", "rename it to stock.csv, if it is that", True),
    ("stock.csv.", "rename it to stock.csv, if it is that", True),
    ("stock.csv;1", "rename it to stock.csv, if it is that", True),
    ("stock.csv (1)", "rename it to stock.csv, if it is that", True),
    ("stock", "rename it to stock.csv, if it is that", True),
    ("Stock ", "rename it to stock.csv, if it is that", True),
    ("STOCK.", "rename it to stock.csv, if it is that", True),
    ("stock.csv\u00a0", "rename it to stock.csv, if it is that", True),
    ("stock.csv\u200b", "rename it to stock.csv, if it is that", True),
    ("stock.csv.part", "because it is no CSV file", False),
    ("stock.csv.crdownload", "because it is no CSV file", False),
    ("stock.csv~", "because it is no CSV file", False),
    ("stock.csv.old", "because it is no CSV file", False),
    ("artikelen.csv.part", "because it is no CSV file", False),
    ("stock.xlsx ", "because it is no CSV file", False),
    (".~lock.stock.csv#", "because a spreadsheet keeps it while it has the file open", False),
    ("~$people.csv", "because a spreadsheet keeps it while it has the file open", False),
    ("._people.csv", "because a Macintosh keeps it beside another file", False),
]


@pytest.mark.parametrize(("name", "reason", "is_missed"), UNREAD)
async def test_a_csv_file_that_is_not_read_is_named_and_missed(
    name: str, reason: str, is_missed: bool, world: World
) -> None:
    world.write("stores.csv", "store_number,store_name,is_warehouse", "1,One,false")
    folder = world.folder / "files" / name.rpartition("/")[0]
    folder.mkdir(exist_ok=True)
    if not name.endswith("/"):
        (folder / name.rpartition("/")[2]).write_text("x\n")
    report = await world.load()
    assert report is not None
    assert any(reason in line for line in report.lines()), report.lines()
    assert report.is_all_loaded != is_missed


@pytest.mark.parametrize("name", ["stock.csv", "Stock.CSV", "products.csv"])
@pytest.mark.parametrize("is_link", [False, True])
def test_a_file_of_a_load_that_is_none_ends_the_load(name: str, is_link: bool, write: Write, tmp_path: Path) -> None:
    write("stores.csv", "store_number,store_name,is_warehouse", "1,One,false")
    path = tmp_path / name
    if is_link:
        path.symlink_to("gone.csv")
    else:
        os.mkfifo(path)
    with pytest.raises(LoadError, match=f"^{name} is no file, or a link to a file that is gone"):
        open_tables(tmp_path)


@pytest.mark.parametrize("name", ["notes.txt", "stock", "stockings", "readme"])
async def test_a_folder_or_file_of_another_kind_is_not_named(name: str, world: World) -> None:
    world.write("stores.csv", "store_number,store_name,is_warehouse", "1,One,false")
    path = world.folder / "files" / name
    if name == "stock":
        path.mkdir()
    else:
        path.write_text("x")
    report = await world.load()
    assert report is not None
    assert (report.unknown_files, report.is_all_loaded) == ((), True)


@pytest.mark.parametrize(
    "name", ["K\u00c3\u00a4se", "\u00c3\u0096l", "K\ufffdse", "Cr\u00c3\u00a8me", "5 \u00e2\u201a\u00ac"]
)
def test_letters_of_wrong_encoding_are_warned_of(name: str, write: Write, tmp_path: Path) -> None:
    write("products.csv", "product_number,product_name", f"P,{name}", "Q,Käse Öl Crème São Ãstanga 5 €")
    notes = Found(tmp_path).notes
    what = "products.csv:2: warning: product_name has letters that were saved in a wrong encoding: "
    assert [note.startswith(what) for note in notes if "signs that no screen shows" not in note] == [True]
