"""Refusals in the words of the file: the column and the row, and nothing of the bodies that are sent."""

from pathlib import Path

import pytest

from tests.load.test_repeated_loads import STOCK_HEADER, World, stocked
from tests.load.test_spreadsheets import Found, Write, product, write

__all__ = ["write"]

ORDER = "store_number,order_number,line_number,product_number,quantity,pickup_date"


@pytest.mark.parametrize(
    ("name", "lines", "words"),
    [
        ("stock.csv", [STOCK_HEADER, "1,P,A,1,1.5"], "quantity: 1.5 is not a whole number"),
        ("stock.csv", ["store_number,product_number,quantity", "1,P,1.5"], "quantity: 1.5 is not a whole number"),
        ("orders.csv", [ORDER, "1,O,1,P,1,maandag"], "pickup_date"),
        ("people.csv", ["store_number,badge,user,name,role", "1,B,u,U,Chef"], "role 'Chef' is no role; write staff or"),
        ("orders.csv", [ORDER, "1,O,1,GONE,1,"], "product_number of line 1"),
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
