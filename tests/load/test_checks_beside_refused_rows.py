"""Checks of rows beside others that are refused, by the loader or by the service: they look at what was loaded."""

import pytest

from tests.load.test_existing_stock import loaded
from tests.load.test_repeated_loads import World

ONE, TWO, THREE, FOUR = "9520001100017", "9520001100024", "9520001100031", "9520001100048"
STORE = {"stores.csv": ["store_number,store_name,is_warehouse", "1,One,false"]}
PRODUCTS = {"products.csv": ["product_number,price,barcode", f"P1,1.50,{ONE}", f"P2,2.50,{TWO}", "P3,3.50,"]}


async def warnings(world: World, *folders: dict[str, list[str]]) -> list[str]:
    """Load the folders one after another; return the warnings of the last one."""
    for files in folders:
        world.clear()
        for name, lines in files.items():
            world.write(name, *lines)
        report = await loaded(world)
    return [note for file in report.files for note in file.notes if "warning" in note]


OF_SERVICE = (
    f"products.csv:{{}}: warning: barcode is on two products: {ONE} of {{}} is also of P1, which the service has."
)
CODES = {
    "the row is loaded": (["P1,1.50,{FOUR}", "P3,3.50,{ONE}"], []),
    "the loader refuses the row": (['P1,1.50,"9,52E+12"', "P3,3.50,{ONE}"], [OF_SERVICE.format(3, "P3")]),
    "another cell of it is refused": (["P1,x,{FOUR}", "P3,3.50,{ONE}"], [OF_SERVICE.format(3, "P3")]),
    "the service refuses it": (["P1,1.2345,{FOUR}", "P3,3.50,{ONE}"], [OF_SERVICE.format(3, "P3")]),
    "it stands twice": (["P1,1.50,{FOUR}", "P1,1.50,{THREE}", "P3,3.50,{ONE}"], [OF_SERVICE.format(4, "P3")]),
    "it comes after": (["P3,3.50,{ONE}", "P1,x,{FOUR}"], [OF_SERVICE.format(2, "P3")]),
    "the first other product is refused": (
        ["P2,1.2345,{ONE}", "P1,x,{FOUR}", "P3,1,{ONE}"],
        [OF_SERVICE.format(4, "P3")],
    ),
}


@pytest.mark.parametrize("case", CODES)
async def test_code_stays_on_a_product_whose_row_is_refused(case: str, world: World) -> None:
    rows, expected = CODES[case]
    lines = ["product_number,price,barcode", *(row.format(ONE=ONE, THREE=THREE, FOUR=FOUR) for row in rows)]
    found = await warnings(world, STORE | PRODUCTS, {"products.csv": lines})
    assert [one for one in found if " of P3 " in one] == expected


ORDER = {
    "orders.csv": ["store_number,order_number,line_number,product_number,quantity", "1,O,1,P1,2", "1,O,2,P2,1"],
}
LINE_OF = "deliveries.csv:2: warning: customer_order_line_number names a line"


@pytest.mark.parametrize(
    ("product", "line", "expected"),
    [
        ("P1", "1", []),
        ("P2", "2.0", []),
        ("P3", "", []),
        ("P2", "1", [f"{LINE_OF} of another product, so the goods are free: P2 for line 1 of O, which is of P1."]),
        ("P1", "3", [f"{LINE_OF} that the order does not have: 3 of O."]),
    ],
)
async def test_goods_for_a_line_of_another_product_are_warned_of(
    product: str, line: str, expected: list[str], world: World
) -> None:
    header = (
        "order_number,store_number,line_number,product_number,quantity,no_of_containers,customer_order_number"
        ",customer_order_line_number"
    )
    delivery = {"deliveries.csv": [header, f"D,1,1,{product},5,1,O,{line}"]}
    assert await warnings(world, STORE | PRODUCTS | ORDER, delivery) == expected
