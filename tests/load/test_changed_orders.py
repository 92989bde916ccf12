"""Orders that were changed after their load: the report says what the service holds, and never that it is the same."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.load.test_existing_stock import loaded
from tests.load.test_load_report import ORDER_FIELDS, load, row_of
from tests.load.test_repeated_loads import World, stocked

ORDER = "store_number,order_number,line_number,product_number,quantity"
SAME = "there before with the same values"


async def change(world: World, line: dict[str, Any], **order: Any) -> None:
    body = {"order_number": "O", **order}
    body |= {"order_lines": [{"line_number": 1, "product_number": "P", **line}]} if line else {}
    async with world.client() as client:
        await client.call("update-customer-order", {"orders": body}, store_number="1")


@pytest.mark.parametrize(
    ("column", "value", "changed", "now"),
    [
        ("order_lines.reference", "a", {"quantity": 2}, "quantity 2"),
        ("preferred_location_code", "A", {"preferred_location_code": "B"}, "preferred_location_code B"),
        ("stock_pool", "1", {"stock_pool": 2}, "stock_pool 2"),
        ("price", "1.5", {"price": 3}, "price 3"),
        ("pickup_date", "2026-12-01", {"pickup_date": "2026-12-04"}, "pickup_date 2026-12-04"),
    ],
)
async def test_line_changed_by_the_api_is_named(
    column: str, value: str, changed: dict[str, Any], now: str, world: World
) -> None:
    stocked(world)
    rows = f"{ORDER},{column}", f"1,O,1,P,6,{value}", f"1,O,2,Q,4,{value}"
    world.write("orders.csv", *rows)
    await loaded(world)
    assert f"orders.csv: 2 rows, all {SAME}." in (await load(world, "orders.csv", *rows)).lines()
    await change(world, changed)
    report = await load(world, "orders.csv", *rows)
    [bad] = report.bad
    before = "6" if "quantity" in changed else value
    assert bad.reason.endswith(f"What differs: line 1 has {now} there and {before} in the file.")
    assert report.lines()[0] == "orders.csv: 0 of 2 rows loaded."


@pytest.mark.parametrize("lines", ["1", "12"])
async def test_work_that_changes_what_the_file_names_is_told(lines: str, world: World) -> None:
    stocked(world)
    rows = f"{ORDER},is_active", "1,O,1,P,6,true", *(f"1,N,{line},P,6,true" for line in lines)
    world.write("orders.csv", *rows)
    await loaded(world)
    await change(world, {}, is_active=False)
    report = await load(world, "orders.csv", *rows)
    assert report._replace(service_name="S").lines()[0].startswith("Nothing was loaded into S")
    first, warning = report.lines()
    assert first == f"orders.csv: 0 of {len(rows) - 1} rows loaded, 1 {SAME}, 1 there before and worked on since."
    assert warning.endswith(": O: is_active is false there and true in the file.")
    bare = await load(world, "orders.csv", ORDER, "1,O,1,P,6")
    assert bare.lines() == [f"orders.csv: 1 row, {SAME}."]


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        ("is_picked_from_warehouse", ("false",)),
        ("is_picked_from_warehouse", ("true", "false")),
        ("order_lines.is_picked,picked_quantity", ("false,6",)),
        ("order_lines.is_picked,picked_quantity", ("false,6", "false,0")),
        ("order_lines.is_picked,picked_quantity,is_picked", ("false,6,false", ",6,false")),
        ("order_lines.is_picked,picked_quantity,is_picked", ("false,2,true", ",6,true")),
        ("is_rejected,picked_quantity", ("true,6",)),
        ("is_rejected,order_lines.is_picked", ("true,true",)),
    ],
)
async def test_what_a_load_makes_of_an_order_is_the_same(column: str, cells: Sequence[str], world: World) -> None:
    stocked(world)
    rows = f"{ORDER},{column}", *(f"1,O,{at},P,6,{cell}" for at, cell in enumerate(cells, 1))
    world.write("orders.csv", *rows)
    await loaded(world)
    count = "1 row," if len(cells) == 1 else f"{len(cells)} rows, all"
    assert (await load(world, "orders.csv", *rows)).lines() == [f"orders.csv: {count} {SAME}."]


async def test_every_column_of_an_order_is_read_back_as_the_same(world: World) -> None:
    stocked(world)
    cells = {name: one for name, (one, _) in ORDER_FIELDS.items()} | {"status_id": "2", "is_active": "true"}
    rows = row_of("orders.csv", cells | {"order_number": "O"})
    world.write("orders.csv", *rows)
    await loaded(world)
    assert (await load(world, "orders.csv", *rows)).lines() == [f"orders.csv: 1 row, {SAME}."]


async def test_a_telephone_number_without_its_zero_is_not_the_same(world: World) -> None:
    stocked(world)
    world.write("orders.csv", f"{ORDER},customer_phone", "1,O,1,P,6,0612345678")
    await loaded(world)
    [bad] = (await load(world, "orders.csv", f"{ORDER},customer_phone", "1,O,1,P,6,612345678")).bad
    assert bad.reason.endswith("What differs: customer_phone is 0612345678 there and 612345678 in the file.")


async def test_pickup_date_that_only_the_file_has_is_named(world: World) -> None:
    stocked(world)
    header = f"{ORDER},pickup_date"
    world.write("orders.csv", header, "1,O,1,P,6,2026-12-01", "1,O,2,Q,4,")
    await loaded(world)
    [bad] = (await load(world, "orders.csv", header, "1,O,1,P,6,2026-12-01", "1,O,2,Q,4,2026-12-02")).bad
    assert bad.reason.endswith("What differs: line 2 has pickup_date empty there and 2026-12-02 in the file.")
