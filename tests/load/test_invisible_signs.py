"""Marks of direction and controls that programs put around what is copied are no part of a key, code or figure."""

from pathlib import Path

import pytest

from aisle.barcode_numbers import index_keys, lookup_keys
from aisle.client.csv_load.cells_of_columns import TEXT
from aisle.client.csv_load.file_layouts_and_columns import FileLayout
from tests.load.test_code_cells import columns_of, write_cell
from tests.load.test_repeated_loads import World
from tests.load.test_spreadsheets import EANS, Found, Write, product, write

__all__ = ["write"]

SIGNS = (
    *("\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069", "\u200e", "\u2060"),
    *("\u061c", "\u206a", "\x01", "\x07", "\x1a", "\x7f", "\x80", "\x9b"),
)
CELLS, INSIDE = ("1", EANS[0], "2030-01-02", "4711"), "inside"
FILES = {
    "stores.csv": "store_number,store_name,is_warehouse\n{0},One,{0}",
    "products.csv": "product_number,product_name,price,barcode,barcodes_array,deprecation_date,stores_allowed"
    "\n{0},Pea,{0},{1},{1},{2},{0}",
    "prices.csv": "product_number,price,store_number\n{0},{0},{0}",
    "locations.csv": "store_number,location_code\n{0},{0}",
    "people.csv": "store_number,badge,user,name,pin\n{0},{0},{0},Ann,{3}",
    "stock.csv": "store_number,product_number,location_code,stock_pool,quantity\n{0},{0},{0},{0},{0}",
    "orders.csv": "store_number,order_number,line_number,product_number,quantity,barcode\n{0},{0},{0},{0},{0},{1}",
    "deliveries.csv": "store_number,order_number,no_of_containers,line_number,product_number,quantity"
    "\n{0},{0},{0},{0},{0},{0}",
}


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("form", ["{0}{1}", "{1}{0}", "{0}{1}{0}", INSIDE])
@pytest.mark.parametrize("name", FILES)
def test_invisible_signs_are_taken_off_and_told(name: str, form: str, sign: str, write: Write, tmp_path: Path) -> None:
    def marked(cell: str) -> str:
        return form.format(sign, cell) if form != INSIDE else cell[:1] + sign * (len(cell) > 1) + cell[1:]

    header, row = FILES[name].split("\n")
    write(name, header, row.format(*CELLS))
    expected = Found(tmp_path).bodies
    write(name, header, row.format(*map(marked, CELLS)))
    found = Found(tmp_path)
    assert found.bad == {}
    assert found.bodies == expected
    assert form == INSIDE or any("taken off" in note for note in found.notes)


@pytest.mark.parametrize("sign", [*SIGNS[:9], "\x07", "\x1b[31m", "\x9b", "\x7f"])
@pytest.mark.parametrize(("layout", "name"), columns_of(TEXT))
def test_signs_that_no_screen_shows_are_said_of_texts(
    layout: FileLayout, name: str, sign: str, write: Write, tmp_path: Path
) -> None:
    write_cell(write, layout, name, f"Pea{sign}nut", ";")
    found = Found(tmp_path)
    what = f"{layout.file}:2: warning: {name} has signs that no screen shows, which are kept"
    assert sum(note.startswith(what) for note in found.notes) == 1
    assert sign not in "".join(found.notes)
    assert repr(f"Pea{sign}nut")[1:-1] in str(found.bodies)


@pytest.mark.parametrize("text", ["Zwieback\u00adbrot", "\u0645\u06cc\u200c\u062e", "\u05d0\u200f!", "A\u00a0B"])
def test_signs_that_a_text_needs_are_not_said(text: str, write: Write, tmp_path: Path) -> None:
    assert product(write, tmp_path, product_name=text).notes == []


@pytest.mark.parametrize("sign", ["\u202a", "\u2066", "\x7f", "\u200e"])
async def test_a_key_with_an_invisible_sign_makes_no_twin(sign: str, world: World) -> None:
    world.write("products.csv", "product_number,product_name,price", "ZA1,Pea,2")
    await world.load()
    world.write("products.csv", "product_number,product_name,price", f"{sign}ZA1,Pea,3")
    await world.load()
    assert await world.products() == {"ZA1": (3, True)}


@pytest.mark.parametrize("sign", ["\u202a", "\u202c", "\u2066", "\u2069", "\u061c", "\u206f"])
def test_a_stored_code_with_an_invisible_sign_is_found(sign: str) -> None:
    assert set(lookup_keys(EANS[0])) & set(index_keys(sign + EANS[0] + sign))
