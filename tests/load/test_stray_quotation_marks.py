"""A stray quotation mark makes rows the text of a cell; they are refused, and a text of several lines is not."""

from pathlib import Path

import pytest

from tests.load.test_spreadsheets import Found, Write, write

__all__ = ["write"]

LINES = "store_number,order_number,line_number,product_number,quantity,customer_name,reference"
SWALLOWED = {
    "one row between": (
        "products.csv",
        ["product_number,product_name,price", 'X1,"Brot,1.10', "X2,Milch,2.20", 'X3,Rohr 5",3.30', "X4,Salz,4.40"],
        [2, 3, 4],
    ),
    "the next row": (
        "products.csv",
        ["product_number,product_name,price", 'X1,"Brot,1.10', 'X2,Milch 5",2.20', "X4,Salz,4.40"],
        [2, 3],
    ),
    "in the key": (
        "products.csv",
        ["product_number,product_name,price", '"X1,Brot,1.10', 'X2",Milch,2.20', "X4,Salz,4.40"],
        [2, 3],
    ),
    "in the last cell": (
        "products.csv",
        ["product_number,price,product_name", 'X1,1.10,"Brot', "X2,€ 2.20,Milch", 'X3,,Rohr 5"', "X4,4.40,Salz"],
        [2, 3, 4],
    ),
    "a quoted cell behind": (
        "products.csv",
        ["product_number,product_name,price,size", 'X1,"Brot,1,L', 'X2,Milch 5",2,"L, XL"', "X4,Salz,4,S"],
        [2, 3],
    ),
    "fewer cells than the header": (
        "products.csv",
        ["product_number,product_name,price,size", "X0,Ei,1", 'X1,"Brot,1', 'X2,Milch 5",2', "X4,Salz,4"],
        [3, 4],
    ),
    "prices": ("prices.csv", ["product_number,price", '"X1,1.10', 'X2",2.20', "X4,4"], [2, 3]),
    "people": (
        "people.csv",
        ["store_number,badge,user,name", '1,B1,ann,"Ann', '1,B2,bea,Bea"', "1,B3,cy,Cy"],
        [2, 3],
    ),
    "places": (
        "locations.csv",
        ["store_number,location_code,tags", '1,A1,"shelf', '1,A2,shelf"', "1,A3,shelf"],
        [2, 3],
    ),
    "stock": (
        "stock.csv",
        ["store_number,product_number,location_code,quantity", '1,X1,"A1,5', '1,X2,A2",6', "1,X3,A3,7"],
        [2, 3],
    ),
    "deliveries": (
        "deliveries.csv",
        [
            "store_number,order_number,no_of_containers,line_number,product_number,quantity,supplier_name",
            *('1,D1,1,1,X1,2,"r', '1,D2,1,1,X1,2,r"', "1,D3,1,1,X1,2,r"),
        ],
        [2, 3],
    ),
}


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("case", SWALLOWED)
def test_rows_inside_a_cell_are_refused(case: str, mark: str, write: Write, tmp_path: Path) -> None:
    name, lines, refused = SWALLOWED[case]
    write(name, *(line.replace(", ", "\0").replace(",", mark).replace("\0", ", ") for line in lines))
    found = Found(tmp_path)
    assert list(found.bad) == refused
    assert "quotation mark" in found.bad[refused[0]]
    assert f"row {refused[0]}" in found.bad[refused[1]]
    assert len(found.bodies) == len(lines) - 1 - len(refused)


def test_an_order_with_a_row_inside_a_cell_is_left_out_whole(write: Write, tmp_path: Path) -> None:
    rows = ['1,O1,1,X1,3,"Vos,r', '1,O2,1,X1,3,Jan",r', "1,O2,2,X1,4,Jan,r", "1,O3,1,X1,4,Jan,r"]
    write("orders.csv", LINES, *rows)
    found = Found(tmp_path)
    assert [body["order_number"] for body in found.bodies] == ["O3"]
    assert list(found.bad) == [2, 3]


@pytest.mark.parametrize("broken", ['1,O1,1,X1,3,"Vos,r|1,O2,1,X1,3,Jan" a,r', '1,O1,1,X1,3,Vos,r|1,O2,1,X1,3,"Jan,r'])
def test_an_order_with_a_row_inside_no_csv_is_left_out_whole(broken: str, write: Write, tmp_path: Path) -> None:
    write("orders.csv", LINES, *broken.split("|"), "1,O2,2,X1,4,Jan,r", "1,O3,1,X1,4,Jan,r")
    assert not any(body["order_number"] == "O2" for body in Found(tmp_path).bodies)


@pytest.mark.parametrize("mark", [",", ";"])
@pytest.mark.parametrize(
    ("name", "header", "row"),
    [
        (
            "stores.csv",
            "store_number,store_name,is_warehouse,address",
            '1,One,0,"Kerkstraat 5, b3\n1234 AB Town, NL"',
        ),
        ("orders.csv", LINES, '1,O1,1,X1,2,"Vos, Jan,\nMain Street 5, 2nd floor,\nTown, NL",r'),
        ("orders.csv", LINES, '1,O1,1,X1,2,"Jan\nc/o Smit, A, B, C, D, E, F",r'),
        ("products.csv", "product_number,product_name,price", 'X1,"Bread, white\nsliced, 500 g",2'),
        ("products.csv", "product_number,product_name,price", 'X1,"Mix\nsalt,sugar,water",2'),
        ("products.csv", "product_number,product_name", 'X1,"Mix\n12; sugar"'),
        ("products.csv", "product_number,product_name", 'X1,"Board\nLength 2,5 m"'),
        ("products.csv", "product_number,barcodes_array,price", 'X1,"9520001100024\n9520001100086",2'),
        ("free_fields.csv", "product_number,sort_order,key,value", 'X1,1,note,"Contents:\nsalt,sugar,water,oil"'),
        ("locations.csv", "store_number,location_code,tags", '1,A1,"shelf\nfront"'),
    ],
)
def test_a_text_of_several_lines_is_loaded(
    name: str, header: str, row: str, mark: str, write: Write, tmp_path: Path
) -> None:
    head, _, text = row.partition('"')
    write(name, header.replace(",", mark), head.replace(",", mark) + '"' + text.replace('",', f'"{mark}'))
    found = Found(tmp_path)
    assert found.bad == {}
    assert len(found.bodies) == 1


HALF_QUOTED = [
    ("product_number,product_name,price", 'P2,"Oil,3.50"', "product_name"),
    ("product_number,product_name,price", '"P2,Oil",3.50', "product_number"),
    ("product_number,product_name,barcode,price", 'P2,"Oil,9520001100024,3.50"', "product_name"),
    ("product_number,product_name,size", 'P2,"Oil,1 l"', "product_name"),
    ("product_number,product_name,price", 'P2,"Oil, green"', ""),
    ("product_number,product_name,price", 'P2,"Oil,green"', ""),
    ("product_number,product_name,price,size", 'P2,"Oil,3.50"', ""),
    ("product_number,product_name,price", 'P2,"Oil"', ""),
    ("product_number,product_name,price", 'P2,"Oil,green",3.50', ""),
]


@pytest.mark.every_case
@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize(("header", "row", "column"), HALF_QUOTED)
def test_several_cells_in_one_pair_of_marks_are_refused(
    header: str, row: str, column: str, mark: str, write: Write, tmp_path: Path
) -> None:
    first = f"P1,{'x,' * header.count(',')}"[:-1].replace("x", "1")
    write("products.csv", *(line.replace(",", mark) for line in (header, first, row)))
    found = Found(tmp_path)
    assert list(found.bad) == [3] * bool(column)
    words = f"has several cells in one pair of quotation marks, so that {column} is "
    assert found.bad.get(3, "").startswith(words if column else "")


def test_a_line_that_is_hardly_a_row_is_warned_of(write: Write, tmp_path: Path) -> None:
    write("products.csv", "product_number,product_name,price", 'X1,"Mix\nsalt,sugar,water",2')
    assert any("look for a stray quotation mark" in note for note in Found(tmp_path).notes)
