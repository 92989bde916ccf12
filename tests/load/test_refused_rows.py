"""Refused rows: each is named with the reason and what to do, in the words of the file, never of the bodies."""

from pathlib import Path

import pytest

from aisle.barcode_numbers import wrong_check_digit
from aisle.cli.load import example_cell
from aisle.client.csv_load import LoadError, LoadReport, cells_of_columns, load
from aisle.client.csv_load.file_layouts_and_columns import LAYOUTS
from aisle.service.auth.tokens_and_pins import create_token
from tests.load.test_existing_stock import loaded
from tests.load.test_repeated_loads import STOCK_HEADER, World, stocked
from tests.load.test_spreadsheets import Found, Write, product, write


async def begun(world: World) -> None:
    world.write("stores.csv", "store_number,store_name,is_warehouse", "0042,Een,false", "0043,Twee,false")
    world.write("products.csv", "product_number,price", "P1,1", "P2,2")
    report = await world.load()
    assert report is not None
    assert report.is_complete
    world.clear()


@pytest.mark.parametrize(
    ("name", "header", "rows"),
    [
        ("locations.csv", "store_number,location_code", ["0042,C-1", "0042,C-2", "42,C-3", "0043,C-1"]),
        ("prices.csv", "store_number,product_number,price", ["0042,P1,2", ",P2,3", "42,P1,2", "0043,P1,2"]),
        ("discount_prices.csv", "store_number,product_number,discount_price", ["0042,P1,2", ",P2,3", "42,P1,2"]),
        ("stock.csv", "store_number,product_number,quantity", ["0042,P1,2", "0042,P2,3", "42,P1,2"]),
        ("people.csv", "store_number,badge,user,name", ["0042,B1,u,U", "0042,B2,v,V", "42,B1,u,U"]),
        ("store_products.csv", "store_number,product_number,min", ["0042,P1,2", "0042,P2,3", "42,P1,2"]),
    ],
)
async def test_a_store_that_is_not_there_is_the_fault_of_its_rows_alone(
    name: str, header: str, rows: list[str], world: World
) -> None:
    await begun(world)
    world.write(name, header, *rows)
    world.write("attributes.csv", "product_number,size", "P1,250 g")
    report = await world.load()
    assert report is not None
    assert [(row.file, row.line) for row in report.bad] == [(name, 4)]
    assert "There is no store 42; 0042?" in report.bad[0].reason
    assert {file.file: file.loaded_rows for file in report.files} == {name: len(rows) - 1, "attributes.csv": 1}


CHAIN = {
    "prices.csv": ("store_number,product_number,price", ",P1,1.50", "{},P2,1.60"),
    "discount_prices.csv": ("store_number,product_number,discount_price", ",P1,0.50", "{},P2,0.60"),
    "locations.csv": ("store_number,location_code", "0042,A1", "{},A2"),
    "people.csv": ("store_number,badge,user,name", "0042,B1,u,U", "{},B2,v,V"),
    "store_products.csv": ("store_number,product_number,min", "0042,P1,2", "{},P2,2"),
    "stock.csv": ("store_number,product_number,quantity", "0042,P1,2", "{},P2,2"),
    "orders.csv": ("store_number,order_number,line_number,product_number,quantity", "0042,O,1,P1,1", "{},O2,1,P1,1"),
}


@pytest.mark.parametrize("cell", ["(leeg)", "(leer)", "(empty)", "(blank)", "(vide)", "*", "alle", "/", ".", "😀"])
async def test_a_store_cell_that_means_nothing_refuses_its_row_alone(cell: str, world: World) -> None:
    await begun(world)
    for name, (header, right, wrong) in CHAIN.items():
        world.clear()
        world.write(name, header, wrong.format(cell), right)
        world.write("attributes.csv", "product_number,size", "P1,250 g")
        report = await world.load()
        assert report is not None
        assert [(row.file, row.line) for row in report.bad] == [(name, 2)]
        assert {file.file: file.loaded_rows for file in report.files} == {name: 1, "attributes.csv": 1}


async def test_an_empty_word_for_an_optional_key_is_explained(world: World) -> None:
    await begun(world)
    world.write("prices.csv", "store_number,product_number,price", "(leeg),P1,1.50")
    world.write("stock.csv", "store_number,product_number,location_code,quantity", "0042,P1,(leer),1")
    report = await world.load()
    assert report is not None
    assert sorted(map(str, report.bad)) == [
        "prices.csv:2: store_number is (leeg), which takes a value away; leave the cell empty for a price of the chain",
        "stock.csv:2: location_code is (leer), which takes a value away; leave the cell empty for goods at no location",
    ]


@pytest.mark.parametrize("name", ["prices.csv", "discount_prices.csv"])
async def test_a_token_of_one_store_loads_the_rows_of_that_store(name: str, world: World) -> None:
    await begun(world)
    database = world.service.database
    token = create_token(database, name="one", role="admin", store_numbers=["0042"], now="2026-01-01T00:00:00Z")
    (world.folder / "one").mkdir()
    one = World(world.folder / "one", token.secret, world.service)
    one.write(name, CHAIN[name][0], CHAIN[name][1], "0042,P2,0.70")
    report = await one.load()
    assert report is not None
    assert [row.line for row in report.bad] == [2]
    assert report.files[0].loaded_rows == 1


async def test_a_file_of_one_wrong_store_does_not_end_the_load(world: World) -> None:
    await begun(world)
    world.write("locations.csv", "store_number,location_code", "42,C-1", "42,C-2")
    world.write("stock.csv", "store_number,product_number,quantity", "0042,P1,2")
    report = await world.load()
    assert report is not None
    assert [(row.file, row.line) for row in report.bad] == [("locations.csv", 2), ("locations.csv", 3)]
    assert report.files[-1].loaded_rows == 1


async def test_the_report_so_far_is_given_of_a_load_that_ends_early(world: World, tmp_path: Path) -> None:
    files = tmp_path / "more"
    files.mkdir()
    (files / "stores.csv").write_text("store_number,store_name,is_warehouse\n1,One,false\n2,Two,perhaps\n")
    (files / "products.csv").write_text("product_number,price\nP,1\n")
    reports: list[LoadReport] = []
    async with world.client((1, True)) as client:
        with pytest.raises(LoadError):
            await load(files, client, on_cut_off=reports.append, sleep=_at_once)
    [report] = reports
    assert report.lines()[:1] == ["stores.csv: 1 of 2 rows loaded (1 new)."]
    assert any(line.startswith("stores.csv:3: is_warehouse 'perhaps'") for line in report.lines())


async def _at_once(_: float) -> None:
    return None


@pytest.mark.parametrize(
    ("name", "header", "row", "words"),
    [
        ("products.csv", "product_number,barcode", 'X{n},"9,{n}E+12"', "was shortened by a spreadsheet"),
        ("products.csv", "product_number,price", "X{n},cheap{n}", "is no number"),
        ("stock.csv", "store_number,product_number,quantity", "42,X{n},1", "There is no store 42; 0042?"),
        ("stock.csv", "store_number,product_number,quantity", "0042,X{n},1", "product"),
        ("locations.csv", "store_number,location_code", "42,X{n}", "There is no store"),
    ],
)
async def test_refusals_of_one_kind_are_summed_up(name: str, header: str, row: str, words: str, world: World) -> None:
    await begun(world)
    world.write(name, header, *(row.format(n=n) for n in range(100, 160)))
    report = await world.load()
    assert report is not None
    assert len(report.bad) == 60
    lines = report.lines()
    assert len([line for line in lines if line.startswith(f"{name}:") and line[len(name) + 1].isdigit()]) == 20
    assert len(lines) < 25
    [rest] = [line for line in lines if "40 rows" in line]
    assert words in rest
    assert "40 rows too: 22-61" in rest


async def test_difference_from_existing_order_is_reported_with_advice(world: World) -> None:
    await begun(world)
    header = "store_number,order_number,line_number,product_number,quantity"
    world.write("orders.csv", header, "0042,O1,1,P1,1")
    await world.load()
    world.write("orders.csv", header, "0042,O1,1,P1,2")
    report = await world.load()
    assert report is not None
    assert (
        "have a supervisor reject it in aisle, and load the right one under another order_number"
        in report.bad[0].reason
    )


@pytest.mark.parametrize("arrives", [True, False])
async def test_rows_whose_answer_is_lost_are_not_said_to_be_left(arrives: bool, world: World, tmp_path: Path) -> None:
    await begun(world)
    files = tmp_path / "more"
    files.mkdir()
    (files / "prices.csv").write_text("product_number,price\nP1,8.10\nP2,8.20\n")
    reports: list[LoadReport] = []
    async with world.client((0, arrives)) as client:
        with pytest.raises(LoadError):
            await load(files, client, service_name="S", on_cut_off=reports.append, sleep=_at_once)
    [report] = reports
    assert report.lines()[0] == "It is unknown whether anything was loaded into S."
    assert report.lines()[1] == (
        "prices.csv: no row is known to be loaded; whether 2 rows (2-3) were loaded is unknown, because no answer came;"
        " the next load tells, and doubles nothing."
    )


DECIMALS = "has more than three decimal places; round it."
DELIVERY = "store_number,order_number,no_of_containers,line_number,product_number,quantity"


@pytest.mark.parametrize("column", ["price_compare_unit", "price_compare_multiplier"])
async def test_a_price_of_a_store_names_the_column_to_leave_out(column: str, world: World) -> None:
    stocked(world, "1,P,A,,1")
    world.write("prices.csv", f"product_number,store_number,price,{column}", "P,1,2,1", "P,77,2,1", "Q,,2,1")
    reasons = {row.line: row.reason for row in (await loaded(world)).bad}
    assert list(reasons) == [2, 3]
    assert f"All stores have the same; leave {column} out where a store is named." in reasons[2]
    assert "77" in reasons[3]
    assert column not in reasons[3]


async def test_a_person_with_another_badge_is_told_which(world: World) -> None:
    stocked(world)
    world.write("people.csv", "store_number,badge,user,name", "1,B1,anna,Anna")
    await loaded(world)
    world.write("people.csv", "store_number,badge,user,name", "1,B2,anna,Anna Vos")
    [bad] = (await loaded(world)).bad
    advice = "write that one, give Anna Vos another user name, or remove anna first."
    assert f"anna has another badge in this store, B1; {advice}" in bad.reason


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ("customer_order_number", "customer_order_line_number"),
        ("customer_order_line_number", "customer_order_number"),
    ],
)
async def test_half_an_order_line_names_the_column_to_fill(given: str, missing: str, world: World) -> None:
    stocked(world)
    world.write("deliveries.csv", f"{DELIVERY},{given}", "1,D,1,1,P,1,1")
    [bad] = (await loaded(world)).bad
    assert f"{given} alone names no order line; fill {missing} too, or neither." in bad.reason


async def test_an_empty_order_number_is_that_of_no_order(world: World) -> None:
    stocked(world)
    world.write("deliveries.csv", f"{DELIVERY},customer_order_number", "1,D,1,1,P,1,(empty)")
    for said in ("1 of 1 rows loaded (1 new)", "1 row, there before with the same values"):
        assert (await loaded(world)).lines()[-1] == f"deliveries.csv: {said}."


async def test_refusals_of_many_prices_are_told_together(world: World) -> None:
    stocked(world)
    world.write("orders.csv", f"{ORDER},price", *(f"1,O{at},1,P,1,,{at}.1234" for at in range(1, 25)))
    lines = (await loaded(world)).lines()
    [rest] = [line for line in lines if "rows too" in line]
    assert rest.startswith(f"orders.csv: the service refused it: price: … {DECIMALS}")
    assert sum(DECIMALS in line for line in lines) == 21


def test_codes_of_examples_have_right_check_digits() -> None:
    kinds = (
        cells_of_columns.BARCODE,
        cells_of_columns.BARCODES,
        cells_of_columns.CONTAINER,
    )
    columns = [column for layout in LAYOUTS for column in layout.columns.values() if column.kind in kinds]
    assert len(columns) > 3
    assert [code for one in columns for code in example_cell(one).split(",") if wrong_check_digit(code)] == []


__all__ = ["write"]

ORDER = "store_number,order_number,line_number,product_number,quantity,pickup_date"


@pytest.mark.parametrize(
    ("name", "lines", "words"),
    [
        ("stock.csv", [STOCK_HEADER, "1,P,A,1,1.5"], "quantity: 1.5 is not a whole number"),
        ("stock.csv", ["store_number,product_number,quantity", "1,P,1.5"], "quantity: 1.5 is not a whole number"),
        ("orders.csv", [ORDER, "1,O,1,P,1,maandag"], "pickup_date"),
        ("people.csv", ["store_number,badge,user,name,role", "1,B,u,U,Chef"], "role 'Chef' is no role; write staff or"),
        ("orders.csv", [ORDER, "1,O,1,GONE,1,"], "product_number: There is no product GONE."),
        ("orders.csv", ["price,order_lines.reference," + ORDER, "1.9835,r,1,O,7,P,1,"], f"price: 1.9835 {DECIMALS}"),
        ("deliveries.csv", [f"purchase_price,{DELIVERY}", "0.1234,1,D,1,1,P,1"], f"purchase_price: 0.1234 {DECIMALS}"),
        ("products.csv", ["product_number,price", "P,1.00005"], f"price: 1.00005 {DECIMALS}"),
        ("stores.csv", ["store_number,store_name,is_warehouse", "5,,false"], "store_name"),
    ],
)
async def test_a_refusal_names_the_column(name: str, lines: list[str], words: str, world: World) -> None:
    stocked(world)
    await world.load()
    world.clear()
    world.write(name, *lines)
    report = await world.load()
    assert report is not None
    [bad] = report.bad
    assert words in bad.reason
    assert "[0]" not in bad.reason


@pytest.mark.parametrize(
    ("cell", "day"),
    [
        ("27 nov 2026", "2026-11-27"),
        ("27-nov-2026", "2026-11-27"),
        ("27. November 2026", "2026-11-27"),
        ("1 décembre 2026", "2026-12-01"),
        ("3 mrt 2026", "2026-03-03"),
        ("3. März 2026", "2026-03-03"),
        ("5 mei 2026", "2026-05-05"),
        ("31 okt. 2026", "2026-10-31"),
        ("14 juil. 2026", "2026-07-14"),
        ("2 Feb 2026", "2026-02-02"),
    ],
)
def test_a_month_by_its_name_is_read(cell: str, day: str, write: Write, tmp_path: Path) -> None:
    assert product(write, tmp_path, deprecation_date=cell).bodies[0]["deprecation_date"] == day


@pytest.mark.parametrize("cell", ["00-01-1900", "0-1-1900", "31 feb 2026", "27 foo 2026", "week 48", "31/02/2026"])
def test_invalid_date_is_refused_as_date(cell: str, write: Write, tmp_path: Path) -> None:
    reason = product(write, tmp_path, deprecation_date=cell).bad[2]
    assert "is no day of the calendar" in reason or "is no date that can be read" in reason


@pytest.mark.parametrize("cell", ["Supervisor", "SUPERVISOR", " supervisor "])
def test_a_role_is_read_in_any_case(cell: str, write: Write, tmp_path: Path) -> None:
    write("people.csv", "store_number,badge,user,name,role", f"1,B,u,U,{cell}")
    assert Found(tmp_path).bodies[0]["role"] == "supervisor"


@pytest.mark.parametrize(
    ("sign", "word"), [("\t", "tabs or line ends"), ("\n", "tabs or line ends"), ("\u00a0", "no-")]
)
def test_control_character_in_key_is_named(sign: str, word: str, write: Write, tmp_path: Path) -> None:
    write("products.csv", "product_number", f'"A{sign}B"')
    found = Found(tmp_path)
    assert found.bodies == [{"product_number": "A B"}]
    assert word in found.notes[0]


@pytest.mark.parametrize(
    ("cell", "flag"),
    [("ja", True), ("Nee", False), ("nein", False), ("oui", True), ("NON", False), ("yes", True), ("no", False)],
)
def test_yes_and_no_are_flags(cell: str, flag: bool, write: Write, tmp_path: Path) -> None:
    assert product(write, tmp_path, is_active=cell).bodies[0]["is_active"] is flag
