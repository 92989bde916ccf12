"""Rows that name a product or store in a near form: what depends on them waits, as where the key is right."""

import pytest

from tests.load.test_existing_stock import loaded
from tests.load.test_repeated_loads import World

PRODUCTS = ["0226", "A1", "110002", "110003", "X-8", "5.10"]
MISTAKEN = {
    "0226": ["226", "00226"],
    "A1": ["a1", "\uff211", "A-1", "\u04101"],
    "110002": ["110 002"],
    "110003": ["1.10003E+05"],
    "X-8": ["X\u20118", "x8"],
    "5.10": ["5.1"],
}
FORMS = [(right, wrong) for right, all_wrong in MISTAKEN.items() for wrong in all_wrong]


async def base(world: World) -> None:
    world.write("stores.csv", "store_number,store_name,is_warehouse", "0042,Een,false")
    world.write("products.csv", "product_number,price,size", *(f"{one},1.50,S" for one in PRODUCTS))
    world.write("store_products.csv", "store_number,product_number,price", *(f"0042,{one},1.40" for one in PRODUCTS))
    assert (await loaded(world)).is_complete
    world.clear()


async def of_product(world: World, product: str, store: str = "") -> dict[str, object]:
    async with world.client() as client:
        query = {"product_number": product} | ({"store_number": store} if store else {})
        return next(iter([row async for row in client.rows("list-products", query=query)]))


@pytest.mark.every_case
@pytest.mark.parametrize(("right", "wrong"), FORMS)
async def test_fields_wait_for_the_row_that_names_their_product_wrongly(right: str, wrong: str, world: World) -> None:
    await base(world)
    world.write("products.csv", "product_number,price,size", f"{right},9.63,L")
    world.write("prices.csv", "product_number,price", f'"{wrong}",7.00')
    world.write("attributes.csv", "product_number,size", f'"{wrong}",XL')
    report = await loaded(world)
    assert [row.file for row in report.bad] == ["attributes.csv", "prices.csv"]
    lines = report.lines()
    for field, file in (("price", "prices.csv"), ("size", "attributes.csv")):
        assert any(f"products.csv:2: warning: {field} is in a refused row of {file}" in line for line in lines), lines
    row = await of_product(world, right)
    assert (row["price"], row.get("old_price"), row["size"]) == (1.5, None, "S")
    world.write("prices.csv", "product_number,price", f"{right},7.00")
    await loaded(world)
    row = await of_product(world, right)
    assert (row["price"], row.get("old_price")) == (7, 1.5)


@pytest.mark.parametrize(("store", "product"), [("42", "0226"), ("0042", "226"), ("42", "226")])
async def test_total_waits_for_a_row_that_names_its_product_wrongly(store: str, product: str, world: World) -> None:
    await base(world)
    world.write("locations.csv", "store_number,location_code", "0042,A", "0042,B")
    header = "store_number,product_number,location_code,quantity"
    world.write("stock.csv", header, "0042,0226,A,6", f"{store},{product},B,4", "0042,0226,,10")
    report = await loaded(world)
    assert [row.line for row in report.bad] == [3, 4]
    assert "There is no " in report.bad[0].reason
    assert "may be the total" in report.bad[1].reason


async def test_free_fields_wait_for_a_row_that_names_their_product_wrongly(world: World) -> None:
    await base(world)
    header = "product_number,sort_order,key,value"
    world.write("free_fields.csv", header, "0226,1,bio,yes", "226,2,raw,no")
    report = await loaded(world)
    assert [row.line for row in report.bad] == [3]
    assert "left out whole" in report.bad[0].reason
    assert not (await of_product(world, "0226")).get("free_fields")


async def test_user_with_two_badges_in_two_writings_of_a_store_is_refused(world: World) -> None:
    await base(world)
    rows = ["42,0012371,jos,Jos,staff", "0042,0012372,jos,Jos,staff"]
    world.write("people.csv", "store_number,badge,user,name,role", *rows)
    report = await loaded(world)
    assert [row.line for row in report.bad] == [2, 3]
    assert "There is no store 42; 0042?" in report.bad[0].reason
    assert "with another badge" in report.bad[1].reason


async def test_two_products_in_near_writings_are_both_loaded(world: World) -> None:
    await base(world)
    world.write("products.csv", "product_number,price", "5.1,2.00", "51,3.00")
    world.write("prices.csv", "product_number,price", "5.1,2.10", "5.10,2.20", "51,3.10")
    report = await loaded(world)
    assert report.is_complete
    assert [(await of_product(world, one))["price"] for one in ("5.1", "5.10", "51")] == [2.1, 2.2, 3.1]


async def test_row_that_names_its_store_wrongly_contradicts_others_only_by_its_values(world: World) -> None:
    await base(world)
    for price, refused in (("2", [3]), ("3", [2, 3])):
        world.write("prices.csv", "store_number,product_number,price", "0042,A1,2", f"42,A1,{price}")
        assert [row.line for row in (await loaded(world)).bad] == refused


async def test_file_without_rows_is_named(world: World) -> None:
    await base(world)
    for rows in ((), (",",)):
        world.write("prices.csv", "product_number,price", *rows)
        assert "prices.csv: it holds no row below the header." in (await loaded(world)).lines()


async def test_rows_in_one_pair_of_quotation_marks_are_named(world: World) -> None:
    await base(world)
    world.write("prices.csv", "product_number;price", '"A1;1,03"')
    [bad] = (await loaded(world)).bad
    assert bad.reason == "has all its cells in one pair of quotation marks; save it without them"


async def test_figures_that_contradict_are_written_as_figures(world: World) -> None:
    await base(world)
    header = "order_number,store_number,line_number,product_number,quantity,no_of_containers"
    world.write("deliveries.csv", header, "D,0042,1,A1,5,1.0", "D,0042,2,A1,5,2")
    [bad] = (await loaded(world)).bad
    assert bad.reason.startswith("no_of_containers is 2, but 1.0 in an earlier row of delivery D")


HELD = {
    "products.csv": ("product_number,price", "A1,9.99"),
    "store_products.csv": ("store_number,product_number,price", "0042,A1,9.99"),
}


@pytest.mark.parametrize("file", HELD)
async def test_row_of_which_all_waits_counts_as_not_loaded(file: str, world: World) -> None:
    await base(world)
    header, row = HELD[file]
    world.write(file, header, row)
    world.write("prices.csv", header, row.replace("9.99", "x"))
    lines = (await loaded(world)).lines()
    assert f"{file}: 0 of 1 rows loaded; fields of row 2 are held back." in lines


async def test_row_of_which_a_part_waits_is_named(world: World) -> None:
    await base(world)
    world.write("products.csv", "product_number,price,size", "A1,9.99,S", "NEW,3.33,L")
    world.write("prices.csv", "product_number,price", "A1,x", "NEW,x")
    lines = (await loaded(world)).lines()
    assert any(line.startswith("products.csv: ") and "fields of 2 rows (2-3) are held back." in line for line in lines)
    assert any("the new product has none until that is right: 3.33 of NEW here" in line for line in lines)
    assert any("stays as it is until that is right: 9.99 of A1 here" in line for line in lines)
    assert "price" not in await of_product(world, "NEW")


@pytest.mark.parametrize(("cell", "meant"), [("3,1", "3.1"), ("3,10", "3.10"), ("3-1", "3.1"), ("03.1", "3.1")])
@pytest.mark.parametrize("others", [("3.1", "3.10", "3.100"), ("3.100", "3.10", "3.1")])
async def test_the_nearest_of_several_products_is_suggested(
    cell: str, meant: str, others: tuple[str, ...], world: World
) -> None:
    world.write("products.csv", "product_number", *others)
    await world.load()
    world.clear()
    world.write("prices.csv", "product_number;price", f"{cell};1,5", "X;2,5")
    report = await world.load()
    assert report is not None
    assert f" {meant}?" in report.bad[0].reason


@pytest.mark.parametrize(
    ("column", "cell", "value"),
    [
        ("purchase_unit_product_number", "226", "226; 0226?"),
        ("referral_product_id", "226", "226; 0226?"),
        ("smallest_product_number", "999", "999"),
        ("set_product", '"[{""set_product_number"":""A 1"",""set_item_quantity"":""2""}]"', "A 1"),
        ("purchase_unit_product_number", "0226", ""),
        ("referral_product_id", "N2", ""),
        ("referral_product_id", "", ""),
    ],
)
@pytest.mark.every_case
async def test_a_product_that_another_names_and_nobody_has_is_warned_of(
    column: str, cell: str, value: str, world: World
) -> None:
    world.write("products.csv", "product_number", "0226", "P")
    await world.load()
    world.write("products.csv", f"product_number,{column}", f"P,{cell}", "N2,")
    report = await world.load()
    assert report is not None
    words = f"products.csv:2: warning: {column} names a product that the service does not have: {value}."
    assert [line for line in report.lines() if "names a product" in line] == ([words] if value else [])


async def test_zeros_that_tags_have_lost_are_warned_of(world: World) -> None:
    world.write("stores.csv", "store_number,store_name,is_warehouse", "1,One,false")
    world.write("locations.csv", "store_number,location_code,tags", "1,A-01,koel|010", "1,A-02,koel|10")
    await world.load()
    world.write("locations.csv", "store_number,location_code,tags", "1,A-01,koel|10", "1,A-02,koel|10")
    report = await world.load()
    assert report is not None
    lost = [line for line in report.lines() if "may have lost zeros" in line]
    assert [line.partition("warning: ")[2] for line in lost] == [
        "tags may have lost zeros, which a spreadsheet takes off: 010 before, 10 now."
    ]
