"""Refusals of the service for rows of a file: which column is wrong, and what to write there."""

import pytest

from aisle.barcode_numbers import wrong_check_digit
from aisle.client.csv_load import cell_cleaning
from aisle.client.csv_load.columns import LAYOUTS
from aisle.client.csv_load.report import example_cell
from tests.load.test_existing_stock import loaded
from tests.load.test_repeated_loads import World, stocked

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


def test_codes_of_examples_have_right_check_digits() -> None:
    kinds = (cell_cleaning.BARCODE, cell_cleaning.BARCODES, cell_cleaning.CONTAINER)
    columns = [column for layout in LAYOUTS for column in layout.columns.values() if column.kind in kinds]
    assert len(columns) > 3
    assert [code for one in columns for code in example_cell(one).split(",") if wrong_check_digit(code)] == []
