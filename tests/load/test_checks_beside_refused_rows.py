"""Checks of rows beside others that are refused, by the loader or by the service: they look at what was loaded."""

import pytest

from tests.load.test_existing_stock import loaded
from tests.load.test_fields_of_two_files import listed
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
MOVED = (
    f"products.csv:{{}}: warning: barcode is another product's in the service, and becomes this one's, so that a scan"
    f" of it means this one: {ONE} of P1 (row {{}}) becomes that of P3."
)
CODES = {
    "the row is loaded": (["P1,1.50,{FOUR}", "P3,3.50,{ONE}"], [MOVED.format(3, 2)]),
    "it takes its code away": (["P3,3.50,{ONE}", "P1,1.50,(leeg)"], [MOVED.format(2, 3)]),
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
    assert [one for one in found if " of P3" in one] == expected


@pytest.mark.parametrize(
    ("codes", "moved"),
    [
        ((TWO, ONE, THREE), [(2, TWO, "P2", 3, "P1"), (3, ONE, "P1", 2, "P2")]),
        ((TWO, THREE, ONE), [(2, TWO, "P2", 3, "P1"), (3, THREE, "P3", 4, "P2"), (4, ONE, "P1", 2, "P3")]),
        ((TWO, THREE, FOUR), [(2, TWO, "P2", 3, "P1"), (3, THREE, "P3", 4, "P2")]),
        ((FOUR, TWO, THREE), []),
        ((TWO, TWO, THREE), []),
    ],
)
@pytest.mark.parametrize("column", ["barcode", "purchase_unit_barcode", "barcodes_array"])
async def test_codes_that_go_from_product_to_product_are_warned_of(
    codes: tuple[str, ...], moved: list[tuple[int, str, str, int, str]], column: str, world: World
) -> None:
    def rows(codes: tuple[str, ...]) -> dict[str, list[str]]:
        return {"products.csv": [f"product_number,{column}", *(f"P{at},{one}" for at, one in enumerate(codes, 1))]}

    what = f"{column} is another product's in the service, and becomes this one's, so that a scan of it means this one"
    sorted_alone = "products.csv: warning: gives codes of its products to 3 others of them; was a column sorted alone"
    found = await warnings(world, rows((ONE, TWO, THREE)), rows(codes))
    found, shared = [one for one in found if "on two" not in one], [one for one in found if "on two" in one]
    assert len(shared) == (codes[0] == codes[1])
    is_sorted_alone = [note.startswith(sorted_alone) for note in found[: len(found) - len(moved)]]
    assert is_sorted_alone == [True] * (len(moved) > 2)
    assert found[len(is_sorted_alone) :] == [
        f"products.csv:{line}: warning: {what}: {code} of {its} (row {at}) becomes that of {mine}."
        for line, code, its, at, mine in moved
    ]
    assert await warnings(world, rows(codes)) == shared


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


FIELDS = ("price", "old_price", "size", "promotion_price", "free_fields")
OLD_FIELD = [{"key": "bio", "sort_order": 1, "value": "old"}]
FIRST = {
    "products.csv": [
        "product_number,price,size,free_fields",
        'P,1.50,S,"[{""key"":""bio"",""sort_order"":1,""value"":""old""}]"',
    ],
    "store_products.csv": ["store_number,product_number,price", "1,P,1.40"],
}
PRICE = ["product_number,price", "P,9.99"]
LIST = ["product_number,free_fields", 'P,"[{""key"":""bio"",""sort_order"":1,""value"":""new""}]"']
OF_FREE_FIELDS = "product_number,sort_order,key,value"
HELD = {
    "an error value": ({"products.csv": PRICE, "prices.csv": ["product_number,price", "P,#N/A"]}, "price"),
    "no figure": ({"products.csv": PRICE, "prices.csv": ["product_number,price", "P,"]}, "price"),
    "two figures": ({"products.csv": PRICE, "prices.csv": ["product_number,price", "P,8.00", "P,8.50"]}, "price"),
    "no row": ({"products.csv": PRICE, "prices.csv": ["product_number,price", 'P,"8"x']}, "price"),
    "a decimal comma": ({"products.csv": PRICE, "prices.csv": ["product_number,price", "P,8,50"]}, "price"),
    "the service": ({"products.csv": PRICE, "prices.csv": ["product_number,price", "P,5.1234"]}, "price"),
    "a store": (
        {
            "store_products.csv": ["store_number,product_number,price", "1,P,9.99"],
            "prices.csv": ["store_number,product_number,price", "1,P,x"],
        },
        "price",
    ),
    "a size": (
        {"products.csv": ["product_number,size", "P,L"], "attributes.csv": ["product_number,size", "P,#N/A"]},
        "size",
    ),
    "a discount": (
        {
            "products.csv": ["product_number,promotion_price,is_promotion", "P,1.10,1"],
            "discount_prices.csv": ["product_number,discount_price", "P,x"],
        },
        "promotion_price",
    ),
    "a free field": ({"products.csv": LIST, "free_fields.csv": [OF_FREE_FIELDS, "P,x,bio,yes"]}, "free_fields"),
    "another free field": (
        {"products.csv": LIST, "free_fields.csv": [OF_FREE_FIELDS, "P,1,bio,yes", "P,x,raw,yes"]},
        "free_fields",
    ),
}


@pytest.mark.parametrize("case", HELD)
async def test_field_stays_while_its_row_in_the_file_that_counts_is_refused(case: str, world: World) -> None:
    files, field = HELD[case]
    found = await warnings(world, STORE | FIRST, files)
    assert [one for one in found if f" {field} is " in one and "which counts" in one], found
    chain, store = await listed(world, ""), await listed(world, "1")
    assert [chain.get(name) for name in FIELDS] == [1.5, None, "S", None, OLD_FIELD]
    assert (store["price"], store.get("old_price")) == (1.4, None)


@pytest.mark.parametrize(
    ("rows", "loaded_rows"),
    [
        (["1,0012354,gert,staff", "1,0012354,gert,supervisor", "1,0012355,gert,staff"], 0),
        (["1,0012354,gert,staff", "1,0012355,gert,staff"], 0),
        (["1,0012354,gert,manager", "1,0012355,gert,staff", "1,0012356,bert,staff"], 1),
        (["1,0012354,gert,staff", "1,0012354,gert,staff", "1,0012355,bert,staff"], 3),
    ],
)
async def test_user_with_two_badges_is_refused(rows: list[str], loaded_rows: int, world: World) -> None:
    world.write("stores.csv", *STORE["stores.csv"])
    world.write("people.csv", "store_number,badge,user,role,name", *(f"{row},Name" for row in rows))
    report = await loaded(world)
    assert report.files[-1].loaded_rows == loaded_rows
    assert len(report.bad) == len(rows) - loaded_rows
    assert not report.bad or "row 2, with another badge; keep one of the rows" in report.bad[-1].reason


@pytest.mark.parametrize(("price", "is_kept"), [("1.30", False), ("x", True), ("1.2345", True)])
async def test_price_of_a_store_whose_row_is_refused_is_named(price: str, is_kept: bool, world: World) -> None:
    prices = {"prices.csv": ["store_number,product_number,price", ",P,2.00", f"1,P,{price}"]}
    found = await warnings(world, STORE | FIRST, prices)
    assert any("in store 1" in one for one in found) == is_kept, found


async def test_state_of_an_order_that_the_service_refuses_is_not_warned_of(world: World) -> None:
    header = f"{ORDER['orders.csv'][0]},status_id"
    found = await warnings(world, STORE | PRODUCTS, {"orders.csv": [header, "1,O,1,P1,2,1.5", "1,Q,1,P1,2,9"]})
    assert [one for one in found if "status_id" in one] == [
        "orders.csv:3: warning: status_id is none of 1 to 5, and leaves the order open: Q, status_id 9."
    ]


PAIR = "price,old_price,special_price"
NEW_PRICE = {"prices.csv": ["product_number,price", "P,x"]}


@pytest.mark.parametrize(
    ("products", "held"),
    [
        ([f"product_number,{PAIR}", "P,4.00,6.00,0.92"], PAIR.split(",")),
        (["product_number,old_price", "P,6.00"], ["old_price"]),
        (["product_number,special_price", "P,0.92"], ["special_price"]),
    ],
)
async def test_prices_stay_with_the_price_to_which_they_belong(
    products: list[str], held: list[str], world: World
) -> None:
    found = await warnings(world, STORE | FIRST, {"products.csv": products} | NEW_PRICE)
    chain = await listed(world, "")
    assert [chain.get(name) for name in PAIR.split(",")] == [1.5, None, None]
    assert [name for name in held if any(f" {name} " in one and "until that is right" in one for one in found)] == held


MAY_BE = "price may be in a refused row of prices.csv, which counts, and whose product or store is unknown"
FAR = (
    "row 2 of prices.csv, which counts, is refused, and its product or store is unknown; price in this file may be what"
)
OF_STORES = ["store_number,product_number,price", "1,P1,9.96"]
NAMELESS = {
    "an error value": ("products.csv", "#N/A,7", MAY_BE),
    "a shortened number": ("products.csv", '"1,1E+05",7', MAY_BE),
    "an empty cell": ("products.csv", ",7", MAY_BE),
    "a sign lost": ("products.csv", "P,7", MAY_BE),
    "a sign added": ("products.csv", "P11,7", MAY_BE),
    "another sign": ("products.csv", "PI,7", MAY_BE),
    "two signs exchanged": ("products.csv", "1P,7", MAY_BE),
    "another number": ("products.csv", "P11003,7", FAR),
    "a total": ("products.csv", "Total,7", ""),
    "a product of the service": ("products.csv", "P2,7", ""),
    "an error value for a store": ("store_products.csv", "#N/A,P1,7", MAY_BE),
    "an unknown store": ("store_products.csv", "0099,P1,7", MAY_BE),
    "an unknown store of another product": ("store_products.csv", "0099,P3,7", ""),
    "an unknown product of another store": ("store_products.csv", ",#N/A,7", ""),
}


@pytest.mark.parametrize("case", NAMELESS)
async def test_price_waits_for_a_row_that_may_be_of_its_product(case: str, world: World) -> None:
    file, row, expected = NAMELESS[case]
    is_of_chain = file == "products.csv"
    header, mine, other = ("product_number,price", "P1,9.91", "P3,6") if is_of_chain else (*OF_STORES, "1,P3,6")
    files = {file: [header, mine, other.replace("6", "9.92")], "prices.csv": [header, row, other]}
    of_store = {"store_products.csv": [OF_STORES[0], "1,P1,1.5"]}
    found = await warnings(world, STORE | PRODUCTS | of_store, files)
    assert [one for one in found if "unknown" in one] == (
        [f"{file}: warning: {FAR} it replaces."]
        if expected is FAR
        else [
            f"{file}:2: warning: {MAY_BE}, and stays as it is until that is right: {mine[-4:]} of P1 here, row 2 there."
        ]
        if expected
        else []
    )
    store = "" if is_of_chain else "1"
    assert (await listed(world, store, "P1"))["price"] == (1.5 if expected is MAY_BE else float(mine[-4:]))
    assert (await listed(world, store, "P3"))["price"] == 6


async def test_price_of_the_chain_waits_for_no_row_of_a_store(world: World) -> None:
    files = {"products.csv": ["product_number,price", "P1,9.91"], "prices.csv": [OF_STORES[0], "#N/A,P1,7"]}
    assert [one for one in await warnings(world, STORE | PRODUCTS, files) if "unknown" in one] == []
    assert (await listed(world, "", "P1"))["price"] == 9.91


HELD_IN_DOUBT = {
    "attributes.csv": ("size", "product_number,size", "#N/A,XL"),
    "discount_prices.csv": ("promotion_price", "product_number,discount_price", "#N/A,0.9"),
    "free_fields.csv": ("free_fields", OF_FREE_FIELDS, "#N/A,1,bio,yes"),
    "prices.csv": ("old_price", "product_number,price", "#N/A,0.9"),
}


@pytest.mark.parametrize("file", HELD_IN_DOUBT)
async def test_each_field_waits_for_a_row_that_may_be_of_its_product(file: str, world: World) -> None:
    field, header, row = HELD_IN_DOUBT[file]
    products = ["product_number,size,promotion_price,old_price,free_fields", "P,L,1,6," + LIST[1].partition(",")[2]]
    found = await warnings(world, STORE | FIRST, {"products.csv": products, file: [header, row]})
    assert any(f"warning: {field} " in one and "is unknown, and stays as it is" in one for one in found), found
    chain = await listed(world, "")
    kept = {"size": "S", "promotion_price": None, "old_price": None, "free_fields": OLD_FIELD}
    given = {"size": "L", "promotion_price": 1, "old_price": 6}
    assert chain.get(field) == kept[field]
    assert [chain.get(name) for name in given if name != field] == [given[name] for name in given if name != field]


async def test_rows_of_other_products_are_warned_of_once_for_each_file(world: World) -> None:
    files = {
        "products.csv": ["product_number,price,size,promotion_price", "P1,9.91,L,1", "P3,9.92,L,1"],
        "prices.csv": ["product_number,price", "X-90,7", "X-91,8", "P3,4"],
        "attributes.csv": ["product_number,size", "X-90,S"],
        "discount_prices.csv": ["product_number,discount_price", "X-90,0.9"],
    }
    found = [one for one in await warnings(world, STORE | PRODUCTS, files) if "unknown" in one]
    assert len(found) == 3
    assert any("2 rows (2-3) of prices.csv, which counts, are refused" in one for one in found)


@pytest.mark.parametrize("price", ["x", "7.00"])
async def test_row_with_a_field_of_another_file_is_not_said_to_be_the_same(price: str, world: World) -> None:
    for files in (
        STORE | FIRST,
        {"products.csv": [*PRICE, "Q,2"], "prices.csv": ["product_number,price", f"P,{price}"]},
    ):
        world.clear()
        for name, lines in files.items():
            world.write(name, *lines)
        report = await loaded(world)
    assert "there before" not in report.lines()[0] or "left as they were" in report.lines()[0], report.lines()
    report = await loaded(world)
    assert "with the same values" not in report.lines()[0]


async def test_a_number_that_was_the_code_of_a_unit_of_another_product(world: World) -> None:
    header = "product_number,units"
    await warnings(world, {"products.csv": [header, "1001,", 'P2,"[{""unit_barcode"":""1001"",""unit_quantity"":6}]"']})
    found = await warnings(world, {"products.csv": [header, "1001,[]", "P2,(empty)"]})
    what = "product_number is also a code of another product in the service, whose row takes it away"
    assert [one for one in found if "of P2" in one and "on two" not in one] == [
        f"products.csv:2: warning: {what}: 1001 of P2 (row 3)."
    ]
