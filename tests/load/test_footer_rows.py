"""What stands below a table or is missing at its end, and stock that comes without its place."""

from pathlib import Path

import pytest

from tests.load.test_repeated_loads import STOCK_HEADER, World, stocked
from tests.load.test_spreadsheets import Found, Write, write

__all__ = ["write"]

HEADER = "product_number,product_name,barcode"


@pytest.mark.parametrize(
    "row",
    [
        *(
            "Totaal: 12 artikelen,,",
            "(bron: kassa),,",
            "Totaal,,",
            "TOTAL,,",
            "Gesamt:,,",
            "Summe,,12",
            "Quelle: Kasse,,",
        ),
        *("12 artikelen,,", "Printed 2026-11-27,,", "[end of list],,", "Nombre de lignes: 4,,", "* Einde *,,", "Fin,,"),
        *(
            "# comment,,",
            "#comment,,",
            "## Zuivel,,",
            "// opm,,",
            "// opm",
            "//,,",
            "-- new ones,,",
            "# 12 nieuwe",
            '"# a, b",,',
        ),
    ],
)
def test_a_footer_is_no_product(row: str, write: Write, tmp_path: Path) -> None:
    write("products.csv", HEADER, "P1,Een,9520001100109", row)
    found = Found(tmp_path)
    assert [body["product_number"] for body in found.bodies] == ["P1"]
    assert "looks like a line below the table" in found.bad[3]


@pytest.mark.parametrize(
    "row",
    [
        "P2,,",
        "Total,Total 500 g,9520001100024",
        "12 x,Twelve,",
        "Ende,Endives,",
        "A(1),,",
        "#12,,",
        "# 2,Two,",
        "A#1,,",
    ],
)
def test_a_product_is_no_footer(row: str, write: Write, tmp_path: Path) -> None:
    write("products.csv", HEADER, "P1,Een,9520001100109", row)
    assert Found(tmp_path).bad == {}


@pytest.mark.parametrize("last", ["\x1a", "\x1a,,", " \x1a", "\0", "\0\0\0", "\x1a\0\0", "\0,\0"])
def test_the_mark_of_an_end_is_no_row(last: str, write: Write, tmp_path: Path) -> None:
    write("products.csv", HEADER, "P1,Een,9520001100109", last)
    found = Found(tmp_path)
    assert len(found.bodies) == 1
    assert found.bad == {}
    assert found.notes == []


@pytest.mark.parametrize("last", ["U4", "U4,Vier"])
def test_a_last_row_that_is_cut_off_is_refused(last: str, tmp_path: Path) -> None:
    (tmp_path / "products.csv").write_text(f"{HEADER}\nP1,Een,9520001100109\n{last}")
    found = Found(tmp_path)
    assert len(found.bodies) == 1
    assert "the file seems to be cut off" in found.bad[3]


ORDER = "store_number,order_number,line_number,product_number,quantity,description"
WHOLE = f"{ORDER}\n1,A,1,P,1,x\n1,B,1,P,1,x\n1,B,2,P,1,x\n"


@pytest.mark.parametrize(
    "last",
    [
        *(
            "1,B,3,P,1",
            "1,B,3,P",
            "1,B,3",
            "1,B",
            "1,",
            "1",
            '1,B,3,P,1,"x',
            '1,B,3,P,1,"x\n',
            '1,B,3,"P',
            '1,"B',
            '"1',
        ),
        *('1,B,3,P,1,"', '1,B,3,P,1,"x""', '1,B,3,P,1,"x\n1,C,1,P,1,x\n'),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be"])
def test_truncated_row_drops_its_order(last: str, encoding: str, tmp_path: Path) -> None:
    (tmp_path / "orders.csv").write_bytes((WHOLE + last).encode(encoding))
    found = Found(tmp_path)
    assert [body["order_number"] for body in found.bodies] == ["A"]
    assert "cut off" in found.bad[5]
    assert "order B is left out whole" in found.bad[5]


@pytest.mark.parametrize("broken", ['1,B,2,"P"x,1,x', '1,B,2,P,1,"x" y'])
def test_a_broken_row_takes_its_order_along(broken: str, tmp_path: Path) -> None:
    (tmp_path / "orders.csv").write_text(f"{ORDER}\n1,A,1,P,1,x\n1,B,1,P,1,x\n{broken}\n1,C,1,P,1,x\n1,B,3,P,1,x\n")
    found = Found(tmp_path)
    assert [body["order_number"] for body in found.bodies] == ["A", "C"]
    assert "order B is left out whole" in found.bad[4]


@pytest.mark.parametrize("last", ["U4", "U4,Vier", '"U4', 'U4,"Vier', 'U4,Vier,"95200'])
def test_the_only_row_that_is_cut_off_is_refused(last: str, tmp_path: Path) -> None:
    (tmp_path / "products.csv").write_text(f"{HEADER}\n{last}")
    found = Found(tmp_path)
    assert found.bodies == []
    assert "cut off" in found.bad[2]


@pytest.mark.parametrize("text", ["P1,Een,9520001100109\nP2,Twee,95200", "P1,Een,9520001100109"])
def test_a_last_row_that_may_be_cut_in_its_last_cell_is_warned_of(text: str, tmp_path: Path) -> None:
    (tmp_path / "products.csv").write_text(f"{HEADER}\n{text}")
    notes = Found(tmp_path).notes
    assert any("the last row has no line end; look whether it is whole" in note for note in notes)
    (tmp_path / "products.csv").write_text(f"{HEADER}\n{text}\n")
    assert not any("has no line end" in note for note in Found(tmp_path).notes)


@pytest.mark.parametrize(
    "end", ["\n", "\r\n", "\r", "\n\n", "\n  ", "\n,,", "\n\x1a", "\r\n\x1a", "\n\0\0", '\n"",""', "\n\t"]
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-be"])
def test_a_last_row_with_its_end_is_whole(end: str, encoding: str, tmp_path: Path) -> None:
    (tmp_path / "products.csv").write_bytes(f"{HEADER}\nP1,Een,9520001100109\nP2,Twee{end}".encode(encoding))
    found = Found(tmp_path)
    assert len(found.bodies) == 2
    assert not any("has no line end" in note for note in found.notes)


@pytest.mark.parametrize("text", ["P1,Een,9\nU4,Vier,8", "P1,Een,9\nU4\n", "P1\nU4"])
def test_a_last_row_that_is_whole_is_loaded(text: str, tmp_path: Path) -> None:
    (tmp_path / "products.csv").write_text(f"{HEADER}\n{text}")
    assert Found(tmp_path).bad == {}


def test_a_product_without_a_name_is_warned_of(write: Write, tmp_path: Path) -> None:
    write("products.csv", HEADER, "P1,,9520001100109", "P2,Twee,")
    assert Found(tmp_path).notes == [
        "products.csv:2: warning: product_name is empty, and a new product is called by its number: P1."
    ]


async def test_stock_without_its_place_does_not_undo_what_was_lost(world: World) -> None:
    stocked(world, "1,P,A,1,10")
    await world.load()
    await world.lose("P", 6)
    world.clear()
    world.write("stock.csv", "store_number,product_number,quantity", "1,P,10")
    report = await world.load()
    assert report is not None
    assert await world.stock("P") == 4
    assert report.files[0].already_loaded_rows == ()
    assert "P: A then, no place now" in report.files[0].notes[0]


async def test_stock_with_a_place_does_not_double_what_had_none(world: World) -> None:
    stocked(world, "1,P,,1,10")
    await world.load()
    world.clear()
    world.write("stock.csv", STOCK_HEADER, "1,P,A,1,10")
    report = await world.load()
    assert report is not None
    assert await world.stock("P") == 10
    assert "P: no place then, A now" in report.files[0].notes[0]
