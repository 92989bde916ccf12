"""New keys that differ from another by a near form, and codes that have lost the zeros that others have."""

import pytest

from tests.load.test_existing_keys import FIRST, HEADERS, load
from tests.load.test_existing_stock import loaded
from tests.load.test_repeated_loads import World, stocked

ROWS = {
    "stores.csv": "{},Kerkstraat,false",
    "products.csv": "{},Een,,,",
    "locations.csv": "0042,{}",
    "people.csv": "0042,{},u{},U,,",
    "orders.csv": "0042,{},1,P1,2",
    "deliveries.csv": "0042,{},1,1,P1,3",
}
ALIKE = [
    "X\u20118",
    "X\u20138",
    "X\u20128",
    "X\u22128",
    "\uff38-8",
    "\u0425-8",
    "\u03a7\u20138",
    "x\u20138",
]
SIGNS = [
    ("D'1", "D\u20191"),
    ("D'1", "D\u02bc1"),
    ("SO/7", "SO\u20447"),
    ("SO/7", "SO\u22157"),
    ('"AB,13"', "AB\u201a13"),
    ("K*1", "K\u22171"),
]
ZEROS = [("7.30", "7.3"), ("8.3", "8.30"), ("2026.10", "2026,1"), ("1.100", "1.1"), ("A01", "A1"), ("B-07", "B-7")]


def row(file: str, key: str) -> str:
    """Return a row of a file with a key; a person's user is another for each key."""
    user = "".join(f"{ord(sign):x}" for sign in key)
    return ROWS[file].replace("u{}", f"u{user}").format(key)


@pytest.mark.parametrize("file", HEADERS)
async def test_key_of_signs_that_look_alike_is_refused(file: str, world: World) -> None:
    await load(world, FIRST)
    bad, _ = await load(world, {file: [row(file, "X-8"), row(file, ALIKE[0])]})
    assert [line.partition(": ")[0] for line in bad] == [f"{file}:2", f"{file}:3"]
    assert "(- is U+002D, \u2011 is U+2011); use one of them" in bad[0]
    assert await load(world, {file: [row(file, "X-8")]}) == ([], [])
    bad, _ = await load(world, {file: [row(file, key) for key in ALIKE]})
    assert [line.partition(": ")[0] for line in bad] == [f"{file}:{at}" for at, _ in enumerate(ALIKE, 2)]
    assert all("alone" in line and "use one of them" in line for line in bad)


@pytest.mark.parametrize("file", HEADERS)
@pytest.mark.parametrize("is_one_file", [True, False])
async def test_key_of_other_zeros_is_warned_of(file: str, is_one_file: bool, world: World) -> None:
    dotted = row(file, "A.5")
    await load(world, FIRST | {file: [*FIRST[file], dotted, *(row(file, f'"{old}"') for old, _ in ZEROS)]})
    keys = [*(old for old, _ in ZEROS if is_one_file), *(new for _, new in ZEROS)]
    bad, notes = await load(world, {file: [dotted, *(row(file, f'"{key}"') for key in keys)]})
    assert bad == []
    said = [line for line in notes if "differs from another by zeros" in line]
    assert len(said) == len(ZEROS), notes
    assert all(any(f"{new} beside {old}" in line for line in said) for old, new in ZEROS)
    bad, notes = await load(world, {file: [dotted, *(row(file, f'"{key}"') for key in keys)]})
    assert not [line for line in notes if "differs from another" in line]


@pytest.mark.parametrize(("key", "alike"), SIGNS)
async def test_key_of_an_editor_s_sign_is_refused(key: str, alike: str, world: World) -> None:
    await load(world, FIRST | {"products.csv": [row("products.csv", key)]})
    bad, _ = await load(world, {"products.csv": [row("products.csv", alike)]})
    assert len(bad) == 1
    assert "differ by signs that look alike alone" in bad[0]


@pytest.mark.parametrize("file", ["stores.csv", "products.csv", "orders.csv"])
@pytest.mark.parametrize(("key", "alike"), [("0042", "OO42"), ("O1", "01"), ("B10", "b1O")])
async def test_letter_o_beside_a_zero_is_warned_of(key: str, alike: str, file: str, world: World) -> None:
    await load(world, FIRST | {file: [*FIRST[file], row(file, key)]})
    bad, notes = await load(world, {file: [row(file, alike)]})
    assert bad == []
    assert any("by the letter O and the digit 0 alone" in one and f"{alike} beside {key}" in one for one in notes)


async def test_order_of_several_rows_is_warned_of_once(world: World) -> None:
    await load(world, FIRST | {"orders.csv": ["0042,2026.10,1,P1,2"]})
    _, notes = await load(world, {"orders.csv": ["0042,2026.1,1,P1,2", "0042,2026.1,2,P1,2", "0042,2026.2,1,P1,2"]})
    assert [line for line in notes if "zeros alone" in line] == [
        "orders.csv:2: warning: order differs from another by zeros alone; if it is the same, write it in one way:"
        " 2026.1 beside 2026.10."
    ]


@pytest.mark.parametrize(("said", "meant"), [("5.1", "5.10"), ("X\u20118", "X-8"), ("110 002", "110002")])
async def test_product_that_is_only_named_is_named_as_it_is_meant(said: str, meant: str, world: World) -> None:
    await load(world, FIRST | {"products.csv": [f"{meant},Een,,,", "P1,Een,,,"]})
    [bad], _ = await load(world, {"orders.csv": [f"0042,4,1,{said},5"]})
    assert f"There is no product {said}. {meant}?" in bad
    assert ("The two differ by signs" in bad) == (not said.isascii())


@pytest.mark.parametrize("keys", [("1-11", "11-1"), ("2026.1.1", "2026.1.10"), ("A1", "A10"), ("7.3", "73")])
async def test_keys_of_two_are_made_without_a_word(keys: tuple[str, str], world: World) -> None:
    for file in ("products.csv", "locations.csv", "orders.csv"):
        await load(world, FIRST)
        bad, notes = await load(world, {file: [row(file, key) for key in keys]})
        assert (bad, [line for line in notes if "differs" in line]) == ([], []), file


HEADER = "store_number,order_number,line_number,product_number,quantity"
LOST = "may have lost zeros, which a spreadsheet takes off"


async def warnings(world: World) -> list[str]:
    return [line for line in (await loaded(world)).lines() if LOST in line]


@pytest.mark.parametrize(
    ("column", "before", "now"),
    [
        ("customer_zipcode", "01000", "1000"),
        ("delivery_zipcode", "01067", "1067"),
        ("customer_number", "000815", "815"),
        ("customer_phone", "0301234567", "301234567"),
        ("customer_phone", "030 123-4567", "301234567"),
    ],
)
async def test_zeros_that_the_service_has_are_missed(column: str, before: str, now: str, world: World) -> None:
    stocked(world, "1,P,A,,1")
    world.write("orders.csv", f"{HEADER},{column}", f"1,O1,1,P,1,{before}")
    assert await warnings(world) == []
    world.write("orders.csv", f"{HEADER},{column}", f"1,O2,1,P,1,{now}", "1,O3,1,P,1,99999")
    assert await warnings(world) == [f"orders.csv:2: warning: {column} {LOST}: {before} before, {now} now."]


@pytest.mark.parametrize("column", ["customer_zipcode", "customer_number", "delivery_zipcode"])
async def test_zeros_that_another_row_has_are_missed(column: str, world: World) -> None:
    stocked(world, "1,P,A,,1")
    rows = ["1,O1,1,P,1,1000", "1,O2,1,P,1,01000", "1,O3,1,P,1,1000 AB", "1,O4,1,P,1,10000", "1,O5,1,P,1,"]
    world.write("orders.csv", f"{HEADER},{column}", *rows)
    assert await warnings(world) == [f"orders.csv:2: warning: {column} {LOST}: 01000 before, 1000 now."]


STORE_CODES = ("area_id", "postal_code", "phone_number", "store_gln", "cost_center", "country_code", "store_type_code")
PRODUCT_CODES = (
    *("category_code", "brand_code", "color_code", "size_code", "variant_code", "attention_code", "country_code"),
    *("supplier_id", "supplier_product_number", "smallest_product_number", "referral_product_id", "general_ledger"),
    *("promotion_week", "product_name", "size"),
)
PRODUCT_NUMBERS = ("supplier_id", "category_code", "brand_code", "attention_code", "general_ledger")
_DELIVERY = f"{HEADER},no_of_containers"
SHARED = {
    "orders.csv": (
        HEADER,
        "1,O{},1,P,1",
        ("customer_number", "reference", "sales_order_id", "order_type_code", "customer_zipcode", "delivery_zipcode"),
    ),
    "deliveries.csv": (_DELIVERY, "1,O{},1,P,1,1", ("supplier_code",)),
    "stores.csv": ("store_number,store_name,is_warehouse", "{0},Shop {0},false", ("area_id",)),
    "products.csv": ("product_number", "P{}", PRODUCT_NUMBERS),
}
"""Columns of codes that several records share, by file."""
OF_ONE_FILE = {
    "orders.csv": (*SHARED["orders.csv"][:2], ("order_lines.reference",)),
    "stores.csv": (*SHARED["stores.csv"][:2], ("cost_center", "store_type_code", "postal_code")),
    "deliveries.csv": (*SHARED["deliveries.csv"][:2], ("secondary_order_number", "customer_order_shipment_number")),
    "attributes.csv": ("product_number", "P{}", PRODUCT_CODES[:7]),
}
"""Such columns that no list of the service shows."""


def rows_of(table: tuple[str, str, tuple[str, ...]], *codes: str) -> list[str]:
    header, keys, columns = table
    rows = [",".join((keys.format(at), *[code] * len(columns))) for at, code in enumerate(codes, 1)]
    return [",".join((header, *columns)), *rows]


@pytest.mark.every_case
@pytest.mark.parametrize("is_lost_first", [False, True])
@pytest.mark.parametrize(
    ("file", "table"), [*SHARED.items(), *OF_ONE_FILE.items()], ids=[*SHARED, *(f"{one}, more" for one in OF_ONE_FILE)]
)
async def test_zeros_of_a_code_in_another_row_are_missed(
    file: str, table: tuple[str, str, tuple[str, ...]], is_lost_first: bool, world: World
) -> None:
    stocked(world)
    world.write("products.csv", "product_number", "P", "P1", "P2", "P3")
    await loaded(world)
    world.clear()
    codes = ("12", "00012") if is_lost_first else ("00012", "12")
    world.write(file, *rows_of(table, *codes, "0013"))
    line = 2 if is_lost_first else 3
    assert sorted(await warnings(world)) == sorted(
        f"{file}:{line}: warning: {column} {LOST}: 00012 before, 12 now." for column in table[2]
    )


@pytest.mark.every_case
@pytest.mark.parametrize("file", SHARED)
async def test_zeros_of_a_code_in_an_earlier_load_are_missed(file: str, world: World) -> None:
    stocked(world)
    world.write("products.csv", "product_number", "P", "P1", "P2")
    await loaded(world)
    world.clear()
    world.write(file, *rows_of(SHARED[file], "00012"))
    assert await warnings(world) == []
    header, keys, columns = SHARED[file]
    world.write(file, *rows_of((header, keys.replace("{", "2{"), columns), "12"))
    assert sorted(await warnings(world)) == sorted(
        f"{file}:2: warning: {column} {LOST}: 00012 before, 12 now." for column in columns
    )


async def test_codes_with_zeros_behind_their_point_stay_two(world: World) -> None:
    world.write("products.csv", "product_number,category_code", "P,1.1", "Q,1.10")
    assert await warnings(world) == []


async def test_zeros_of_a_supplier_of_products_are_missed(world: World) -> None:
    stocked(world)
    world.write("products.csv", "product_number,supplier_id", "P,00012")
    await loaded(world)
    world.clear()
    world.write("deliveries.csv", f"{_DELIVERY},supplier_code", "1,O1,1,P,1,1,12")
    assert await warnings(world) == [f"deliveries.csv:2: warning: supplier_code {LOST}: 00012 before, 12 now."]


async def test_zeros_of_a_store_are_missed(world: World) -> None:
    world.write(
        "stores.csv", "store_number,store_name,is_warehouse,postal_code", "1,One,false,01000", "2,Two,false,1000"
    )
    assert await warnings(world) == [f"stores.csv:3: warning: postal_code {LOST}: 01000 before, 1000 now."]


DOTTED = ("category_code", "brand_code", "supplier_product_number", "size")


@pytest.mark.parametrize(("before", "now"), [("1.10", "1.1"), ("3.00", "3"), ("2.0", "2"), ("01.5", "1.5")])
async def test_zeros_behind_a_point_are_missed(before: str, now: str, world: World) -> None:
    header = f"product_number,{','.join(DOTTED)}"
    other = f"Q,{','.join(['1.15'] * len(DOTTED))}"
    world.write("products.csv", header, f"P,{','.join([before] * len(DOTTED))}", other)
    assert await warnings(world) == []
    assert await warnings(world) == []
    world.write("products.csv", header, f"P,{','.join([now] * len(DOTTED))}", other)
    assert sorted(await warnings(world)) == sorted(
        f"products.csv:2: warning: {column} {LOST}: {before} before, {now} now."
        for column in DOTTED
        if "." in now or column != "supplier_product_number"  # .0 behind it is taken off
    )


HELD = {
    "stores.csv": ("store_number,store_name,is_warehouse", "1,One,false", STORE_CODES),
    "products.csv": ("product_number", "P", PRODUCT_CODES),
    "attributes.csv": ("product_number", "P", PRODUCT_CODES[:7]),
    "free_fields.csv": ("product_number,sort_order,key", "P,1,bio", ("value",)),
    "discount_prices.csv": ("product_number,discount_price", "P,0.5", ("promotion_week",)),
}


@pytest.mark.parametrize("file", HELD)
async def test_zeros_that_the_record_has_are_missed(file: str, world: World) -> None:
    header, row, columns = HELD[file]
    stocked(world)
    await loaded(world)
    world.clear()
    for value in ("42", "0043"):
        world.write(file, ",".join((header, *columns)), ",".join((row, *[value] * len(columns))))
        assert await warnings(world) == []
    world.write(file, ",".join((header, *columns)), ",".join((row, *["43"] * len(columns))))
    found = await warnings(world)
    assert sorted(found) == sorted(f"{file}:2: warning: {column} {LOST}: 0043 before, 43 now." for column in columns)


COMPOSED, DIVIDED = "\u00c91", "E\u03011"
TWO_FORMS = "differ by signs that look alike alone (e is U+0065, \u00e9 is U+00E9)"


@pytest.mark.parametrize("is_of_load", [True, False], ids=["near others of the load", "refused by the service"])
async def test_a_key_of_two_forms_that_look_the_same_is_told_apart(is_of_load: bool, world: World) -> None:
    world.write("products.csv", "product_number,price", f"{COMPOSED},1.50", "P,2")
    await loaded(world)
    world.clear()
    world.write("prices.csv", "product_number,price", f"{DIVIDED},3.20")
    if is_of_load:
        world.write("attributes.csv", "product_number,size", f"{COMPOSED},L")
    [bad] = (await loaded(world)).bad
    assert bad.reason.endswith(f"{COMPOSED}? The two {TWO_FORMS}.")


@pytest.mark.parametrize(
    ("key", "known"),
    [("\u0661\u0661\u0660\u0660\u0660\u0666", "110006"), ("\u0967\u0968\u0969", "123")],
)
async def test_a_key_with_digits_of_another_script_is_refused_beside_the_same_number(
    key: str, known: str, world: World
) -> None:
    world.write("products.csv", "product_number", known)
    await loaded(world)
    world.write("products.csv", "product_number", key)
    [bad] = (await loaded(world)).bad
    assert "U+0031" in bad.reason


@pytest.mark.parametrize("key", ["110005\u00b2", "\u0661\u0661", "A\u2460", "\uff21-3", "A\uff0d3"])
@pytest.mark.parametrize(("file", "column"), [("products.csv", "product_number"), ("locations.csv", "location_code")])
async def test_a_new_key_with_signs_that_no_label_has_is_warned_of(
    key: str, file: str, column: str, world: World
) -> None:
    store = "1," if file == "locations.csv" else ""
    world.write("stores.csv", "store_number,store_name,is_warehouse", "1,One,false")
    world.write(file, f"{'store_number,' * bool(store)}{column}", f"{store}110005", f"{store}{key}")
    what = f"{column} has digits of another script, raised ones or full-width letters, which no label has"
    assert f"{file}:3: warning: {what}: {key!r}." in (await loaded(world)).lines()
