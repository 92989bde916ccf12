"""What a load says of rows that are not taken: one store, many rows of one kind, and a load that ends early."""

from pathlib import Path

import pytest

from aisle.client.csv_load import LoadError, LoadReport, load
from tests.load.test_repeated_loads import World


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
