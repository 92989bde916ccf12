"""Keys of free fields that differ by case alone are refused, in one file and beside those of the service."""

import pytest

from tests.load.test_load_report import load, loaded
from tests.load.test_repeated_loads import World, stocked

HEADER = "product_number,sort_order,key,value"


@pytest.mark.parametrize("others", [0, 30], ids=["few", "many"])
@pytest.mark.parametrize("key", ["Bio", "BIO", "bi o", "bio", "Art"])
async def test_key_that_the_product_has_in_another_case_is_refused(key: str, others: int, world: World) -> None:
    stocked(world)
    world.write("products.csv", "product_number", "P", "Q", *(f"X{at}" for at in range(others)))
    world.write("free_fields.csv", HEADER, "P,1,bio,x")
    await loaded(world)
    more = [f"X{at},1,{key},y" for at in range(others)]
    report = await load(world, "free_fields.csv", HEADER, f"P,1,{key},y", f"Q,1,{key},y", *more)
    reasons = [f"key {key!r} and 'bio' on product P differ by blanks or case alone; use one of them"]
    assert [bad.reason for bad in report.bad] == (reasons if key in ("Bio", "BIO", "bi o") else [])


@pytest.mark.parametrize("others", [0, 30], ids=["few", "many"])
@pytest.mark.parametrize(
    ("rows", "is_said"),
    [
        (["P,1,new,y"], True),
        (["P,2,new,y"], False),
        (["P,1,bio,y"], False),
        (["P,1,new,y", "P,2,bio,y"], False),
        (["Q,1,new,y"], False),
    ],
)
async def test_a_place_in_the_order_that_another_field_keeps(
    rows: list[str], is_said: bool, others: int, world: World
) -> None:
    stocked(world)
    world.write("products.csv", "product_number", "P", "Q", *(f"X{at}" for at in range(others)))
    world.write("free_fields.csv", HEADER, "P,1,bio,x")
    await loaded(world)
    report = await load(world, "free_fields.csv", HEADER, *rows, *(f"X{at},1,new,y" for at in range(others)))
    what = "sort_order is that of another field, which the product keeps: 1 of bio and new, of P"
    found = [line for line in report.lines() if "sort_order is" in line]
    assert found == [f"free_fields.csv:2: warning: {what}."] * is_said


async def test_keys_of_one_file_that_differ_by_case_are_refused(world: World) -> None:
    stocked(world)
    await loaded(world)
    [bad] = (await load(world, "free_fields.csv", HEADER, "P,1,Bio,x", "P,2,bio,x", "Q,1,bio,x")).bad
    assert bad.reason.startswith("key 'bio' of the same product stands in row 2 too; keep one of the rows")
    cell = '"[{""key"": ""a"", ""sort_order"": 1}, {""key"": ""A"", ""sort_order"": 2}]"'
    [bad] = (await load(world, "products.csv", "product_number,free_fields", f"P,{cell}")).bad
    assert bad.reason == "free_fields has the key 'A' twice; keep one of them"
