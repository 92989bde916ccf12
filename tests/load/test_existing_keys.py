"""New keys and codes of a file beside those that the service has, and beside one another."""

import re
from pathlib import Path

import httpx
import pytest

from tests.load.test_repeated_loads import World, stocked
from tests.load.test_sender import FakeService, Naps, run

HEADERS = {
    "stores.csv": "store_number,store_name,is_warehouse",
    "products.csv": "product_number,product_name,barcode,purchase_unit_barcode,barcodes_array",
    "locations.csv": "store_number,location_code",
    "people.csv": "store_number,badge,user,name,role,pin",
    "orders.csv": "store_number,order_number,line_number,product_number,quantity",
    "deliveries.csv": "store_number,order_number,no_of_containers,line_number,product_number,quantity",
}
FIRST = {
    "stores.csv": ["0042,Kerkstraat,false"],
    "products.csv": ["0226,Nul,9520001100109,,", "P1,Een,9520001100086,,", "AB 1,Blank,,,"],
    "locations.csv": ["0042,A-1", "0042,0007"],
    "people.csv": ["0042,0012345,anna,Anna,supervisor,4711"],
    "orders.csv": ["0042,004711,1,P1,2", "0042,z1,1,P1,1"],
    "deliveries.csv": ["0042,0077,1,1,P1,3"],
}


async def load(world: World, files: dict[str, list[str]]) -> tuple[list[str], list[str]]:
    """The reasons of the bad rows of a load of these files alone, and its notes but those on changed fields."""
    world.clear()
    for name, rows in files.items():
        world.write(name, HEADERS[name], *rows)
    report = await world.load()
    assert report is not None
    notes = [line for file in report.files for line in file.notes if " changed in " not in line]
    return [str(row) for row in report.bad], notes


ZEROS = [
    ("stores.csv", "42,Kerkstraat,false", "'42': 0042 is there; has 42 lost its zeros?"),
    ("stores.csv", "00042,Kerkstraat,false", "'00042': 0042 is there, with fewer zeros before it; write 0042, if"),
    ("products.csv", "226,Nul,9520001100109,,", "'226': 0226 is there; has 226 lost its zeros?"),
    ("products.csv", "00226,Nul,,,", "'00226': 0226 is there, with fewer zeros before it; write 0226, if"),
    ("locations.csv", "0042,00007", "'00007': 0007 is there, with fewer zeros before it; write 0007, if"),
    ("orders.csv", "0042,0004711,1,P1,2", "'0004711': 004711 is there, with fewer zeros before it; write 004711, if"),
    ("locations.csv", "0042,7", "'7': 0007 is there; has 7 lost its zeros?"),
    ("people.csv", "0042,12345,bert,Bert", "'12345': 0012345 is there; has 12345 lost its zeros?"),
    ("orders.csv", "0042,4711,1,P1,2", "'4711': 004711 is there; has 4711 lost its zeros?"),
    ("deliveries.csv", "0042,77,1,1,P1,3", "'77': 0077 is there; has 77 lost its zeros?"),
]


@pytest.mark.parametrize("column", ["stores_allowed", "stores_not_allowed", "promo_stores_allowed"])
async def test_a_list_of_stores_names_stores_that_are_there(column: str, world: World) -> None:
    world.write("stores.csv", HEADERS["stores.csv"], *FIRST["stores.csv"], "7,Seven,false")
    world.write(
        "products.csv",
        f"product_number,{column}",
        *("A,42", "B,0042|7", "C,0042;007", "D,0042|99", "E,(empty)", "F,"),
    )
    report = await world.load()
    assert report is not None
    assert [str(row) for row in report.bad] == [
        f"products.csv:2: {column} '42': 0042 is there; has 42 lost its zeros? Write 0042, in a column of text",
        f"products.csv:4: {column} '007': 7 is there, with fewer zeros before it; write 7, if it is the same",
    ]
    warned = [line for line in report.files[-1].notes if "warning" in line]
    assert warned == [f"products.csv:5: warning: {column} names a store that the service does not have: 99."]


@pytest.mark.parametrize("status", [401, 403, 404, 500, 503])
async def test_stores_that_cannot_be_read_keep_no_product_back(status: int, tmp_path: Path) -> None:
    class NoStores(FakeService):
        def answer(self, request: httpx.Request) -> httpx.Response:
            if request.method == "GET" and request.url.path.endswith("/stores"):
                return httpx.Response(status, json={"success": False, "message": "none"})
            return super().answer(request)

    (tmp_path / "products.csv").write_text("product_number,stores_allowed\nP1,42\n")
    report = await run(tmp_path, NoStores(), Naps())
    assert report.is_complete
    assert report.files[0].loaded_rows == 1
    assert "whether the stores that it lists are there could not be read" in report.files[0].notes[0]


@pytest.mark.parametrize(
    ("name", "header", "row"),
    [
        ("stock.csv", "store_number,product_number,quantity", "0042,{},5"),
        ("prices.csv", "product_number,price", "{},5"),
        ("store_products.csv", "store_number,product_number,min", "0042,{},5"),
        ("orders.csv", HEADERS["orders.csv"], "0042,4,1,{},5"),
        ("deliveries.csv", HEADERS["deliveries.csv"], "0042,4,1,1,{},5"),
        ("attributes.csv", "product_number,size", "{},L"),
    ],
)
@pytest.mark.parametrize(("said", "meant"), [("226", "0226"), ("000000000000000226", "0226"), ("p1", "P1"), ("X", "")])
async def test_a_product_that_is_not_there_is_named_as_it_is_meant(
    name: str, header: str, row: str, said: str, meant: str, world: World
) -> None:
    await load(world, {"stores.csv": FIRST["stores.csv"], "products.csv": FIRST["products.csv"]})
    world.clear()
    world.write(name, header, row.format(said))
    report = await world.load()
    assert report is not None
    [bad] = report.bad
    assert bad.reason.endswith(f"There is no product {said}. {meant}?" if meant else f"There is no product {said}.")


CASE = [
    ("products.csv", "p1,Eentje,,,", "'p1' and 'P1' of the service differ by blanks or case alone"),
    ("products.csv", "AB1,Eentje,,,", "'AB1' and 'AB 1' of the service differ by blanks or case alone"),
    ("locations.csv", "0042,a-1", "'a-1' and 'A-1' of the service differ by blanks or case alone"),
    ("orders.csv", "0042,Z1,1,P1,1", "'Z1' and 'z1' of the service differ by blanks or case alone"),
    pytest.param(
        "people.csv",
        "0042,B9,Anna,Anna",
        "user 'Anna' and 'anna' of the service differ by blanks or case alone",
        marks=pytest.mark.drawn,
    ),
]


@pytest.mark.parametrize(("name", "row", "words"), [*ZEROS, *CASE])
async def test_a_new_key_that_is_like_one_of_the_service_is_refused(
    name: str, row: str, words: str, world: World
) -> None:
    assert await load(world, FIRST) == ([], [])
    bad, _ = await load(world, {name: [row]})
    assert len(bad) == 1
    assert bad[0].startswith(f"{name}:2: ")
    assert words in bad[0]


async def test_the_same_files_are_loaded_again_without_a_word(world: World) -> None:
    await load(world, FIRST)
    assert await load(world, FIRST) == ([], [])


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("stores.csv", ["0044,A,false", "44,B,false"]),
        ("products.csv", ["0301,A,,,", "301,A,,,"]),
        ("locations.csv", ["0042,09", "0042,9"]),
        ("people.csv", ["0042,08,u,U", "0042,8,v,V"]),
        ("orders.csv", ["0042,05,1,P1,1", "0042,5,1,P1,1"]),
        ("deliveries.csv", ["0042,06,1,1,P1,1", "0042,6,1,1,P1,1"]),
    ],
)
async def test_two_keys_of_one_file_that_differ_by_zeros_are_refused(name: str, rows: list[str], world: World) -> None:
    await load(world, FIRST)
    bad, _ = await load(world, {name: rows})
    assert [line.partition(": ")[0] for line in bad] == [f"{name}:2", f"{name}:3"]
    assert all("lost its zeros?" in line for line in bad)


CODES = [
    ("C3,Drie,9520001100086,,", "barcode", "9520001100086"),
    ("C3,Drie,09520001100086,,", "barcode", "09520001100086"),
    ("C3,Drie,,9520001100086,", "purchase_unit_barcode", "9520001100086"),
    ("C3,Drie,,,9520001100086", "barcodes_array", "9520001100086"),
    ("C3,Drie,,,9520001100055;9520001100086", "barcodes_array", "9520001100086"),
    ("C3,Drie,0065100004327,,", "barcode", "0065100004327"),
]


@pytest.mark.parametrize(("row", "column", "code"), CODES)
async def test_a_code_of_another_product_of_the_service_is_warned_of(
    row: str, column: str, code: str, world: World
) -> None:
    await load(world, FIRST | {"products.csv": ["P1,Een,9520001100086,,", "U,UPC,06543217,,"]})
    bad, notes = await load(world, {"products.csv": [row]})
    its = "U" if code == "0065100004327" else "P1"
    assert bad == []
    assert notes[-1] == (
        f"products.csv:2: warning: {column} is on two products: {code} of C3 is also of {its}, which the service has."
    )


async def test_a_code_that_its_product_gives_up_in_the_same_file_is_on_one_product(world: World) -> None:
    await load(world, FIRST)
    rows = ["C3,Drie,9520001100086,,", "P1,Een,9520001100093,,"]
    bad, notes = await load(world, {"products.csv": rows})
    assert (bad, len(notes)) == ([], 1)
    assert notes[0].endswith("9520001100086 of P1 (row 3) becomes that of C3.")


async def test_two_keys_that_the_service_has_already_are_loaded_again(world: World) -> None:
    await load(world, {"stores.csv": ["1,One,false"]})
    async with world.client() as client:
        await client.call(
            "create-or-update-products", {"products": [{"product_number": "017"}, {"product_number": "17"}]}
        )
    assert await load(world, {"products.csv": ["017,A,,,", "17,B,,,"]}) == ([], [])


async def test_a_badge_of_somebody_else_is_a_refused_row(world: World) -> None:
    await load(world, FIRST | {"people.csv": ["0042,B2,bert,Bert"]})
    bad, _ = await load(world, {"people.csv": ["0042,B3,cees,Cees", "0042,B2,dora,Dora"]})
    assert bad == [
        "people.csv:3: the service refused badge B2: badge: Badge B2 is that of Bert (bert); give Dora another one, or"
        " remove bert."
    ]
    async with world.client() as client:
        people = (await client.request_extension("GET", "/aisle/v1/stores/0042/people")).json()["people"]
    assert [one["user"] for one in people] == ["bert", "cees"]


@pytest.mark.parametrize(
    ("user", "said"), [("Bert", "bert then, Bert now"), ("BERT", "bert then, BERT now"), ("bert", "")]
)
async def test_a_user_in_another_writing_is_warned_of(user: str, said: str, world: World) -> None:
    await load(world, FIRST | {"people.csv": ["0042,B2,bert,Bert"]})
    bad, notes = await load(world, {"people.csv": [f"0042,B2,{user},Bert"]})
    assert bad == []
    what = "people.csv:2: warning: user is written in another way than before, and becomes what the file has: "
    assert [note for note in notes if "written" in note] == ([f"{what}{said}."] if said else [])


NUMBERED = {
    "products.csv": ("product_number", "{}"),
    "orders.csv": ("store_number,order_number,line_number,product_number,quantity", "1,{},1,P,1"),
    "deliveries.csv": (
        "store_number,order_number,no_of_containers,line_number,product_number,quantity",
        "1,{},1,1,P,1",
    ),
}


async def notes_of(world: World, file: str, number: str) -> list[str]:
    """Return the report of a load of a record with this number."""
    stocked(world)
    await world.load()
    world.clear()
    header, row = NUMBERED[file]
    world.write(file, header, row.format(number))
    report = await world.load()
    assert report is not None
    assert report.bad == ()
    return report.lines()


@pytest.mark.parametrize("number", ["90.001", "90 001", "1.290.001"])
@pytest.mark.parametrize("file", NUMBERED)
async def test_new_number_with_signs_of_thousands_is_warned_of(file: str, number: str, world: World) -> None:
    column = "product_number" if file == "products.csv" else "order_number"
    what = f"{column} has signs as of thousands, which a spreadsheet may have put into it: {number}."
    assert f"{file}:2: warning: {what}" in await notes_of(world, file, number)
    assert not any("thousands" in line for line in await notes_of(world, file, number))


@pytest.mark.parametrize("number", ["90.0010", "0.001", "A90.001", "90001", "90.01"])
async def test_other_number_is_not_warned_of(number: str, world: World) -> None:
    assert not any("thousands" in line for line in await notes_of(world, "products.csv", number))


SIGNS_ALONE = "differ by signs of thousands alone"


@pytest.mark.parametrize("number", ["90.001", "0090.001", "1.290.001", "90 001", "1 290 001"])
@pytest.mark.parametrize("is_grouped_first", [True, False])
@pytest.mark.parametrize("file", NUMBERED)
async def test_a_number_with_signs_of_thousands_beside_it_is_refused(
    file: str, is_grouped_first: bool, number: str, world: World
) -> None:
    """In one file both rows are refused; beside a record of the service the new one."""
    bare = re.sub(r"[. ]", "", number)
    forms = (number, bare) if is_grouped_first else (bare, number)
    stocked(world)
    await world.load()
    world.clear()
    header, row = NUMBERED[file]
    world.write(file, header, *map(row.format, forms))
    report = await world.load()
    assert report is not None
    assert [bad.line for bad in report.bad] == [2, 3]
    assert all(form in bad.reason for bad in report.bad for form in forms)
    await notes_of(world, file, forms[0])
    world.clear()
    world.write(file, header, *map(row.format, forms))
    report = await world.load()
    assert report is not None
    [bad] = report.bad
    assert (bad.line, SIGNS_ALONE in bad.reason or "differ by blanks" in bad.reason) == (3, True)


async def test_numbers_with_signs_of_thousands_that_the_service_has_are_loaded(world: World) -> None:
    for number in ("90001", "90.002"):
        await notes_of(world, "products.csv", number)
    world.clear()
    world.write("products.csv", "product_number,product_name", "90001,Kaas", "90.002,Melk", "90.003,Boter")
    report = await world.load()
    assert report is not None
    assert report.bad == ()


ONE, TWO, FREE = "9520001100116", "9520001100123", "9520001100017"
SPLIT = [
    ([f"A,a,{ONE} / {TWO},,", f"B,b,{TWO},,"], ["barcode"], TWO),
    ([f"A,a,{ONE} / {TWO},,", f"B,b,{ONE},,"], ["barcode"], ONE),
    ([f"A,a,{ONE},,", f'B,b,"{TWO};{ONE}",,'], ["barcodes_array"], ONE),
    ([f"A,a,{ONE},,", f"B,b,{ONE} en {TWO},,"], ["barcode"], ONE),
    ([f"A,a,{FREE}/{ONE},,", f"B,b,{TWO}/{ONE},,"], ["barcodes_array"], ONE),
    ([f"A,a,{FREE}/{ONE},,", f"B,b,,,{ONE}"], ["barcodes_array"], ONE),
    ([f"A,a,,,{ONE}", f"B,b,{TWO}/{ONE},,"], ["barcodes_array"], ONE),
    ([f"A,a,{FREE}/{ONE},,", f"B,b,,{ONE},"], ["purchase_unit_barcode"], ONE),
    ([f"A,a,,{ONE},", f"B,b,{TWO}/{ONE},,"], ["barcodes_array"], ONE),
    ([f"{ONE},a,,,", f"B,b,{TWO}/{ONE},,"], ["barcodes_array"], ONE),
    ([f"A,a,{FREE}/0{ONE},,", f"B,b,{ONE},,"], ["barcode"], ONE),
    ([f"A,a,{FREE}/{ONE},,", f"B,b,{TWO},,"], [], ""),
]


@pytest.mark.parametrize(("rows", "columns", "code"), SPLIT)
@pytest.mark.parametrize("is_there", [False, True])
async def test_a_code_of_two_products_is_warned_of_after_cells_are_split(
    rows: list[str], columns: list[str], code: str, is_there: bool, world: World
) -> None:
    await load(world, FIRST | {"products.csv": rows[:1] if is_there else ["X,x,,,"]})
    bad, notes = await load(world, {"products.csv": rows[1:] if is_there else rows})
    its = rows[0].partition(",")[0]
    where = f"{its}, which the service has" if is_there else f"{its} (row 2)"
    line = 2 if is_there else 3
    assert bad == []
    assert [note for note in notes if "two products" in note] == [
        f"products.csv:{line}: warning: {column} is on two products: {code} of B is also of {where}."
        for column in columns
    ]


async def test_a_code_that_a_split_cell_takes_away_is_free(world: World) -> None:
    await load(world, FIRST | {"products.csv": [f"A,a,{FREE},,{ONE}"]})
    _, notes = await load(world, {"products.csv": [f"A,a,{FREE}/{TWO},,", f"B,b,{ONE},,"]})
    assert not any("two products" in note for note in notes)


UNIT = '"[{{""unit_barcode"": ""{}"", ""unit_quantity"": 6}}]"'.format
UNITS = [
    ([f"A,,{UNIT(ONE)}", f"B,{ONE},"], f"barcode is on two products: {ONE} of B is also of A"),
    ([f"A,{ONE},", f"B,,{UNIT(ONE)}"], f"units is on two products: {ONE} of B is also of A"),
    ([f"A,,{UNIT(ONE)}", f"B,,{UNIT(ONE)}"], f"units is on two products: {ONE} of B is also of A"),
    ([f"A,,{UNIT(ONE)}", f"B,{TWO}/{ONE},"], f"barcodes_array is on two products: {ONE} of B is also of A"),
    ([f"A,,{UNIT(ONE)}", f"B,{TWO},{UNIT(FREE)}"], ""),
]


@pytest.mark.parametrize(("rows", "words"), UNITS)
@pytest.mark.parametrize("is_there", [False, True])
async def test_a_code_of_a_unit_on_two_products_is_warned_of(
    rows: list[str], words: str, is_there: bool, world: World
) -> None:
    world.write("products.csv", "product_number,barcode,units", *rows[: 1 if is_there else 2])
    report = await world.load()
    if is_there:
        world.write("products.csv", "product_number,barcode,units", *rows[1:])
        report = await world.load()
    assert report is not None
    told = [note for note in report.files[0].notes if "two products" in note]
    assert [words in note for note in told] == [True] * bool(words)


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        ("4711", "'4711': 004711 is there; has 4711 lost its zeros? Write 004711"),
        ("0004711", "'0004711': 004711 is there, with fewer zeros before it; write 004711, if it is the same"),
        ("004711", ""),
        ("4712", ""),
    ],
)
async def test_a_new_order_is_compared_with_finished_ones_too(number: str, reason: str, world: World) -> None:
    for name in ("stores.csv", "products.csv"):
        world.write(name, HEADERS[name], *FIRST[name])
    world.write("orders.csv", f"{HEADERS['orders.csv']},is_active", "0042,004711,1,P1,2,false")
    await world.load()
    bad, _ = await load(world, {"orders.csv": [f"0042,{number},1,P1,2"]})
    assert len(bad) == bool(reason)
    assert not reason or f"order {reason}" in bad[0]
