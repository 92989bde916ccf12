"""Cells that a clerk's spreadsheet has changed: read, warned of by row, or refused with a sentence."""

from pathlib import Path

import pytest

from aisle.client.csv_load.report import LoadError
from tests.load.test_existing_stock import loaded
from tests.load.test_repeated_loads import World, stocked
from tests.load.test_spreadsheets import Found, Write, prices, product, write

__all__ = ["write"]

FRENCH = ["Crème brûlée", "Pâté", "Bière", "Thé à la menthe", "Maïs", "Noël", "Forêt-Noire", "Épices", "Île flottante"]
GERMAN = ["Straße", "Käse", "Möhre", "Müsli für Zwei", "Öl", "Äpfel"]
DUTCH = ["Geneviève", "Citroën", "Reünie", "Crème fraîche", "één"]


@pytest.mark.parametrize("encoding", ["cp850", "mac_roman", "cp1252"])
@pytest.mark.parametrize(
    "names",
    [
        FRENCH,
        GERMAN,
        DUTCH,
        FRENCH[:7],
        ["Thé", "Pâte"],
        ["Crème fraîche", "Thé"],
        ["Kaffee für Zwei"],
        ["Straße"],
        ["Straße", "Öl"],
        ["Noël", "Épices"],
    ],
)
@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_letters_are_read_in_the_encoding_in_which_words_have_them(
    names: list[str], encoding: str, end: str, write: Write, tmp_path: Path
) -> None:
    rows = (f"P{at},{name}" for at, name in enumerate(names))
    write("products.csv", "product_number,product_name", *rows, "Q,Brot", encoding=encoding, end=end)
    found = Found(tmp_path)
    assert [body["product_name"] for body in found.bodies] == [*names, "Brot"]
    assert "; if they are wrong, save it as UTF-8)" in found.notes[0]
    assert next(word for word in names[0].split() if not word.isascii()) in found.notes[0]


@pytest.mark.parametrize(
    ("name", "encodings"),
    [
        *((name, "cp437 cp850 mac_roman cp1252") for name in ("Müller", "Café", "Forêt", "Crème", "Maître", "Señor")),
        *((name, "cp437 cp850 mac_roman cp1252") for name in ("Noël", "Hôtel", "Où", "Évry", "Là-bas", "Dû")),
        *(
            (name, "cp437 cp850 mac_roman cp1252")
            for name in ("Björn", "König", "Brötchen", "Jalapeños", "goûter", "één")
        ),
        *((name, "cp437 cp850 mac_roman cp1252") for name in ("Öl", "Äpfel", "Gâteau", "Garçon")),
        *((name, "cp437 cp850 cp1252") for name in ("Ça",)),
        *((name, "cp850 mac_roman cp1252") for name in ("Ângela",)),
        *((name, "cp437 cp850 mac_roman cp1252") for name in ("België", "Zoë", "Chloë", "Italië", "knieën")),
        *((name, "cp850 mac_roman cp1252") for name in ("Plätze", "Länder", "Gewählt", "Nähe", "über", "geöffnet")),
        *((name, "cp850 cp1252") for name in ("écran", "l'écart", "ältere", "équipe", "Crème", "très", "siècle")),
        *((name, "cp1252") for name in ("„Alte Worte“", "„Wort“", '„Wort"', "Škoda", "‚Wort’")),
        *((name, "cp850 mac_roman cp1252") for name in ("Île", "Être", "naïf", "coïncidence")),
        *((name, "mac_roman cp1252") for name in ("Œuvre", "Œufs", "bœuf")),
        *((name, "cp1252") for name in ("‚Wort‘", "‚Alte Worte‘", "‚zwei kleine‘ Worte", "µg")),
        *((name, "cp1252") for name in ("Mo–Fr", "Nutella™", "Nutella™-Glas", "d‘Or", "so…", "l’eau", "„Wort”")),
        *((name, "cp1252") for name in ("12€/kg", "Cola® light", "2×4", "Œuvre", "Lait – bio", "10–12")),
    ],
)
def test_one_letter_or_sign_in_a_word_shows_the_encoding(
    name: str, encodings: str, write: Write, tmp_path: Path
) -> None:
    for encoding in encodings.split():
        write("products.csv", "product_number,product_name", f"P,{name}", "Q,Brot", encoding=encoding)
        assert [body["product_name"] for body in Found(tmp_path).bodies] == [name, "Brot"], encoding


@pytest.mark.parametrize("price", ["£1.15", "£10", "£0.99"])
def test_the_pound_of_dos_before_a_figure_is_read(price: str, write: Write, tmp_path: Path) -> None:
    write("prices.csv", "product_number,price", f"P,{price}", "Q,2", encoding="cp850")
    found = Found(tmp_path)
    assert [f"£{body['price']}" for body in found.bodies] == [price, "£2"]
    assert "the encoding CP850 of DOS" in found.notes[0]


@pytest.mark.parametrize("cells", ["P,,4", "P,1,4"])
async def test_an_old_price_that_is_set_is_named(cells: str, world: World) -> None:
    stocked(world, "1,P,A,,1")
    world.write("prices.csv", "product_number,store_number,price", cells)
    words = "prices.csv: an old_price that it does not name becomes the price before, where the price changes."
    assert (await loaded(world)).lines().count(words) == 1
    again = (await loaded(world)).lines()
    assert not any("row 2" in line for line in again if line.startswith("prices.csv"))
    world.write("prices.csv", "product_number,store_number,price,old_price", f"{cells},7")
    assert not any("old_price that" in line for line in (await loaded(world)).lines())


@pytest.mark.parametrize("names", [["Łosoś"], ["Żurek", "Łosoś"], ["Řízek", "Knedlík s vejci", "Kůže"]])
def test_letters_of_no_western_encoding_are_doubted(names: list[str], write: Write, tmp_path: Path) -> None:
    rows = (f"P{at},{name}" for at, name in enumerate(names))
    write("products.csv", "product_number,product_name", *rows, encoding="cp1250")
    try:
        said = Found(tmp_path).notes[0]
    except LoadError as error:
        said = str(error)
    assert "save it as CSV UTF-8" in said or "; if they are wrong, save it as UTF-8)" in said


MONTHS = """
Mrz 24|Dez 26|Mai 05|Okt. 24|févr-26|01-févr|janv-24|mrt-26|01-02-26|1.2.26|5/12/26|Mar-24|10. Dez|12-déc|1-mrt
01.02.2026|März 2026|1. Mai 2026|août 26
"""


@pytest.mark.parametrize("cell", MONTHS.strip().replace("\n", "|").split("|"))
@pytest.mark.parametrize("column", ["category_code", "color_code"])
def test_a_month_that_was_made_of_a_code_is_warned_of(cell: str, column: str, write: Write, tmp_path: Path) -> None:
    assert "looks like a date" in " ".join(product(write, tmp_path, **{column: cell}).notes)


@pytest.mark.parametrize("cell", ["A-1", "1-2", "01-02-03", "1.2.3", "12/34", "MAI", "DEC1", "Mai05x", "99-99-26-1"])
def test_other_codes_are_not_warned_of(cell: str, write: Write, tmp_path: Path) -> None:
    assert product(write, tmp_path, category_code=cell).notes == []


@pytest.mark.parametrize("cell", ["-", " - ", "--", "\u2013", "\u2014"])
@pytest.mark.parametrize("column", ["price", "deprecation_date", "is_active", "min", "category_code", "barcode"])
def test_a_dash_is_an_empty_cell(cell: str, column: str, write: Write, tmp_path: Path) -> None:
    if column == "min":
        write("store_products.csv", "store_number,product_number,min", f"1,P,{cell}")
        found = Found(tmp_path)
    else:
        found = product(write, tmp_path, **{column: cell})
    assert found.bad == {}
    assert not set(found.bodies[0]) - {"product_number", "store_number"}
    assert "read as an empty cell" in found.notes[0]


@pytest.mark.parametrize(
    ("cell", "day"),
    [
        ("13-Dec-26", "2026-12-13"),
        ("30-nov-26", "2026-11-30"),
        ("30. Nov. 26", "2026-11-30"),
        ("15-mrt-27", "2027-03-15"),
        ("1-déc-26", "2026-12-01"),
        ("30.11.2026 0:00:00", "2026-11-30"),
        ("30.11.2026 00:00", "2026-11-30"),
        ("30/11/2026 12:00:00 AM", "2026-11-30"),
        ("2026-11-30 00:00:00", "2026-11-30"),
        ("30.11.2026 8:05", "2026-11-30T08:05:00"),
    ],
)
def test_a_day_of_a_spreadsheet_is_a_day(cell: str, day: str, write: Write, tmp_path: Path) -> None:
    assert product(write, tmp_path, deprecation_date=cell).bodies[0]["deprecation_date"] == day


@pytest.mark.parametrize(
    ("cells", "bad"),
    [
        (("1,50", "2,75", "1.99"), [4]),
        (("1.99", "1,50", "2,75"), [2]),
        (("1.50", "2.75", "1,99"), [4]),
        (("1,99", "1.50", "2.75", "0.99"), [2]),
        (("1.234,50", "2,75", "1.99", "3,10"), [4]),
    ],
)
def test_the_odd_decimal_mark_is_refused(cells: tuple[str, ...], bad: list[int], write: Write, tmp_path: Path) -> None:
    found = prices(write, tmp_path, *cells)
    assert sorted(found.bad) == bad
    assert "write all in one way" in found.bad[bad[0]]


@pytest.mark.parametrize("more", [1, 2, 5])
def test_rows_that_an_open_quote_takes_are_named(more: int, write: Write, tmp_path: Path) -> None:
    rows = [f"Q{at},x" for at in range(more)]
    rows[-1] = f'Q{more},"x"y'
    write("products.csv", "product_number,product_name", "P,one", 'R,"two', *rows, "S,three")
    found = Found(tmp_path)
    assert f"row {4}" in found.bad[3] if more == 1 else f"rows 4 to {3 + more}" in found.bad[3]


async def test_a_refused_row_does_not_say_what_it_becomes(world: World) -> None:
    stocked(world, "1,P,A,,1")
    world.write("prices.csv", "product_number,price", "P,0", "X9,0")
    said = [line for line in (await loaded(world)).lines() if "and becomes the price" in line]
    assert len(said) == 1
    assert said[0].endswith(": P.")


async def test_a_row_without_a_place_is_warned_of_once(world: World) -> None:
    stocked(world, "1,P,,,5", "1,Q,A,,1")
    for expected in (1, 0):
        lines = (await loaded(world)).lines()
        assert sum("the goods are counted at no place" in line for line in lines) == expected


@pytest.mark.parametrize("code", ["395200010000000000", "952000100001230000", "95200010000123000"])
def test_a_container_number_that_a_spreadsheet_has_cut_is_warned_of(code: str, write: Write, tmp_path: Path) -> None:
    header = "store_number,order_number,no_of_containers,line_number,product_number,quantity,container_barcode"
    write("deliveries.csv", header, f"1,D,1,1,P,3,{code}")
    assert "has only zeros after its 15th digit" in " ".join(Found(tmp_path).notes)


# What the service has


@pytest.mark.parametrize(
    ("first", "second", "is_warned"),
    [
        ("A1", "A01", True),
        ("L01", "L1", True),
        ("01-2", "01-02", True),
        ("A-001", "A-01", True),
        ("a1", "A01", True),
        ("A1", "A10", False),
        ("10.05", "10.5", False),
        ("A-B", "A.B", False),
        ("1-2", "1-20", False),
        ("A0", "A", False),
    ],
)
@pytest.mark.parametrize("is_loaded", [True, False])
@pytest.mark.parametrize("file", ["products.csv", "locations.csv"])
async def test_a_code_that_differs_by_zeros_inside_is_warned_of(
    first: str, second: str, is_warned: bool, is_loaded: bool, file: str, world: World
) -> None:
    world.write("stores.csv", "store_number,store_name,is_warehouse", "1,One,false")
    header, of = ("product_number", "") if file == "products.csv" else ("store_number,location_code", "1,")
    if is_loaded:
        world.write(file, header, of + first)
        await loaded(world)
    world.write(file, header, *([] if is_loaded else [of + first]), of + second)
    said = " ".join((await loaded(world)).lines())
    assert (
        f"differs from another by zeros alone; if it is the same, write it in one way: {second}" in said
    ) is is_warned
    again = " ".join((await loaded(world)).lines())
    assert "zeros alone" not in again


@pytest.mark.parametrize(("code", "near"), [("a-1", "A-1"), ("A1", "A-1"), ("A-01", "A-1"), ("1-2", ""), ("B", "")])
@pytest.mark.parametrize("recount", [True, False])
async def test_a_place_that_is_not_there_is_not_a_moved_one(code: str, near: str, recount: bool, world: World) -> None:
    stocked(world, "1,P,A-1,,5")
    world.write("locations.csv", "store_number,location_code", "1,A-1", "1,C")
    await loaded(world)
    world.clear()
    world.write("stock.csv", "store_number,product_number,location_code,quantity", f"1,P,{code},5")
    report = await loaded(world, recount=recount)
    [reason] = [row.reason for row in report.bad]
    assert reason.endswith(f"There is no location {code}. {near}?" if near else f"There is no location {code}.")
    assert not any("warning" in line for line in report.lines())
    assert await world.stock("P") == 5


@pytest.mark.parametrize(
    ("products", "others", "said"),
    [
        ("P,1", {}, "P has 1 in the chain, 4 in store 1"),
        ("P,1.00", {}, "P has 1.00 in the chain, 4 in store 1"),
        ("P,2", {}, "P has 2 in the chain, 4 in store 1"),
        ("P,4", {}, ""),
        ("P,", {}, ""),
        ("P,dear", {}, ""),
        ("P,2", {"prices.csv": ("product_number,store_number,price", "P,1,2")}, ""),
        ("P,2", {"store_products.csv": ("product_number,store_number,price", "P,1,2")}, ""),
        (
            "P,2",
            {"store_products.csv": ("product_number,store_number,min", "P,1,2")},
            "P has 2 in the chain, 4 in store 1",
        ),
        ("P,2", {"prices.csv": ("product_number,price", "P,2")}, "P has 2 in the chain, 4 in store 1"),
    ],
)
async def test_a_price_of_a_product_names_the_stores_that_keep_their_own(
    products: str, others: dict[str, tuple[str, ...]], said: str, world: World
) -> None:
    stocked(world, "1,P,A,,5")
    world.write("prices.csv", "product_number,store_number,price", "P,1,4")
    await loaded(world)
    world.clear()
    for name, lines in {"products.csv": ("product_number,price", products), **others}.items():
        world.write(name, *lines)
    found = [line for line in (await loaded(world)).lines() if "a store that has a price of its own keeps it" in line]
    assert [line.partition("changes it: ")[2] for line in found] == [f"{said}."] * bool(said)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("P,,2", "P has 2 in the chain, 3 in store 1"),
        ("P,,0", "P has 0 in the chain, 3 in store 1"),
        ("P,,3", ""),
        ("P,1,2", ""),
    ],
)
async def test_a_discount_of_the_chain_names_the_stores_that_keep_their_own(row: str, said: str, world: World) -> None:
    stocked(world, "1,P,A,,5")
    world.write("stores.csv", "store_number,store_name,is_warehouse", "1,One,false", "2,Two,false")
    world.write("products.csv", "product_number,price", "P,9")
    world.write("discount_prices.csv", "product_number,store_number,discount_price", "P,1,3", "P,,5")
    await loaded(world)
    world.clear()
    world.write("discount_prices.csv", "product_number,store_number,discount_price", row)
    found = [line for line in (await loaded(world)).lines() if "a store that has a price of its own keeps it" in line]
    assert [line.partition("changes it: ")[2] for line in found] == [f"{said}."] * bool(said)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (["P,,2"], "P has 2 in the chain, 4 in store 1, 5 in store 2"),
        (["P,1,6", "P,,2"], "P has 2 in the chain, 5 in store 2"),
        (["P,1,6", "P,2,6", "P,,2"], ""),
        (["P,,dear"], ""),
        (["Q,,3"], ""),
        ([*(f"X{at},,1" for at in range(30)), "P,,5"], "P has 5 in the chain, 4 in store 1"),
    ],
)
async def test_price_of_the_chain_names_the_stores_that_keep_their_own(
    rows: list[str], said: str, world: World
) -> None:
    stocked(world, "1,P,A,,5")
    world.write("stores.csv", "store_number,store_name,is_warehouse", "1,One,false", "2,Two,false")
    world.write("products.csv", "product_number,price", "P,1", "Q,2", "R,3", *(f"X{at},1" for at in range(30)))
    world.write("prices.csv", "product_number,store_number,price", "P,1,4", "P,2,5")
    await loaded(world)
    world.clear()
    world.write("prices.csv", "product_number,store_number,price", *rows)
    found = [line for line in (await loaded(world)).lines() if "a store that has a price of its own keeps it" in line]
    assert [line.partition("changes it: ")[2] for line in found] == [f"{said}."] * bool(said)


@pytest.mark.parametrize(
    ("before", "now", "is_warned"),
    [("0.99", "99", True), ("99", "0.99", True), ("1", "20", False), ("1", "21", True), ("5", "0", False)],
)
async def test_a_price_that_jumps_is_warned_of(before: str, now: str, is_warned: bool, world: World) -> None:
    for price, expected in ((before, False), (now, is_warned), (now, False)):
        world.write("products.csv", "product_number,price", f"P,{price}", "Q,1")
        said = [line for line in (await loaded(world)).lines() if "times the one before" in line]
        assert len(said) == expected
        assert all(f"{before} then, {now} now, of P." in line for line in said)


JUMPS = [
    ("prices.csv", "product_number,price", "P,{}", "1.5", "150"),
    ("prices.csv", "product_number,price", "P,{}", "1.5", "0.02"),
    ("prices.csv", "product_number,store_number,price", "P,1,{}", "5.5", "55000"),
    ("store_products.csv", "store_number,product_number,price", "1,P,{}", "7.5", "750"),
    ("discount_prices.csv", "product_number,discount_price", "P,{}", "1.5", "0.02"),
    ("discount_prices.csv", "product_number,store_number,discount_price", "P,1,{}", "9", "900"),
    ("products.csv", "product_number,price", "P,{}", "0.99", "99"),
    ("products.csv", "product_number,special_price", "P,{}", "2", "200"),
    ("products.csv", "product_number,purchase_price", "P,{}", "2", "200"),
]


@pytest.mark.parametrize(("file", "header", "row", "before", "now"), JUMPS)
async def test_a_price_that_jumps_is_warned_of_in_each_file(
    file: str, header: str, row: str, before: str, now: str, world: World
) -> None:
    stocked(world)
    world.write("products.csv", "product_number,price", "P,10")
    await loaded(world)
    world.clear()
    for price, expected in ((before, False), (now, True), (now, False)):
        world.write(file, header, row.format(price))
        said = [line for line in (await loaded(world)).lines() if "times the one before" in line]
        assert len(said) == expected, said
        assert all(f" then, {price} now, of P." in line for line in said)


ODD_PRICES = [
    (["110001,110001", "110002,2.50"], "price is the number of the product: 110001"),
    (["0226,226", "110002,2.50"], "price is the number of the product: 226"),
    (["110001,46054", "110002,2.50"], "a number: 46054 of 110001, the number of 01-02-2026"),
    (["110001,46054", "110002,15000", "110003,39000"], ""),
    (["110001,46054", "110002,46055", "110003,2.50"], ""),
    (["12,12", "110001,36000", "110003,2.50"], ""),
]


@pytest.mark.parametrize("file", ["prices.csv", "products.csv", "store_products.csv", "discount_prices.csv"])
@pytest.mark.parametrize(("rows", "said"), ODD_PRICES)
async def test_numbers_of_products_and_days_among_prices_are_warned_of(
    file: str, rows: list[str], said: str, world: World
) -> None:
    name = "discount_price" if file == "discount_prices.csv" else "price"
    world.write("products.csv", "product_number", *(row.partition(",")[0] for row in rows))
    await loaded(world)
    world.clear()
    world.write(
        file,
        f"store_number,product_number,{name}" if "store" in file else f"product_number,{name}",
        *(f"1,{row}" if "store" in file else row for row in rows),
    )
    found = [line for line in (await loaded(world)).lines() if "the number of" in line]
    assert len(found) == bool(said)
    assert all(said in line for line in found)


OF_STORE = "store_number,product_number,"
LINES = "store_number,order_number,line_number,product_number,quantity,no_of_containers"
DAY = "may be a day, of which a spreadsheet makes a number: 46054 of"
NUMBER = "is the number of the product: 21000"
DAYS_AND_NUMBERS = [
    ("store_products.csv", f"{OF_STORE}min", ["1,P,46054", "1,Q,5"], f"min {DAY} P"),
    ("store_products.csv", f"{OF_STORE}max", ["1,P,46054"], f"max {DAY} P"),
    ("store_products.csv", f"{OF_STORE}max", ["1,P,46054", "1,Q,60000"], ""),
    ("store_products.csv", f"{OF_STORE}order_level", ["1,P,46054", "1,Q,2"], f"order_level {DAY} P"),
    ("store_products.csv", f"{OF_STORE}min", ["1,21000,21000"], f"min {NUMBER}"),
    ("products.csv", "product_number,moq", ["P,46054", "Q,3"], f"moq {DAY} P"),
    ("stock.csv", f"{OF_STORE}quantity", ["1,P,46054", "1,Q,12"], f"quantity {DAY} P"),
    ("stock.csv", f"{OF_STORE}quantity", ["1,P,46054", "1,Q,46055"], ""),
    ("stock.csv", f"{OF_STORE}quantity", ["1,21000,21000", "1,Q,12"], f"quantity {NUMBER}"),
    ("deliveries.csv", LINES, ["1,D,1,P,46054,1", "1,D,2,Q,12,1"], f"quantity {DAY} P"),
    ("deliveries.csv", LINES, ["1,D,1,P,12,46054"], f"no_of_containers {DAY} P"),
    ("deliveries.csv", LINES, ["1,D,1,21000,21000,1"], f"quantity {NUMBER}"),
    ("orders.csv", LINES.rpartition(",")[0], ["1,O,1,P,46054", "1,O,2,Q,2"], "quantity is over 10000: 46054 of P"),
    ("locations.csv", "store_number,location_code,location_order", ["1,A,46054", "1,B,10"], f"location_order {DAY} A"),
    ("locations.csv", "store_number,location_code,location_order", ["1,A,46010", "1,B,46020"], ""),
]


@pytest.mark.every_case
@pytest.mark.parametrize(("file", "header", "rows", "said"), DAYS_AND_NUMBERS)
async def test_figures_that_are_the_number_of_a_day_or_of_the_product_are_warned_of(
    file: str, header: str, rows: list[str], said: str, world: World
) -> None:
    world.write("stores.csv", "store_number,store_name,is_warehouse", "1,One,false")
    world.write("products.csv", "product_number", "P", "Q", "21000")
    await loaded(world)
    world.clear()
    world.write(file, header, *rows)
    found = [line for line in (await loaded(world)).lines() if "number" in line or "is over" in line]
    assert len(found) == bool(said)
    assert all(said in line for line in found)


async def test_a_price_that_is_refused_is_no_jump(world: World) -> None:
    for price, is_bad in (("1250", False), ("1.250", True)):
        world.write("products.csv", "product_number,price", f"P,{price}", "Q,1")
        report = await world.load()
        assert report is not None
        assert bool(report.bad) == is_bad
        assert not any("times the one before" in line for line in report.lines())


async def test_parts_of_what_is_sold_whole_are_refused_with_the_setting(world: World) -> None:
    stocked(world, "1,P,A,,5.5")
    [bad] = (await loaded(world)).bad
    assert "5.5 is not a whole number (where parts of one are sold, set allow_decimal of the product)." in bad.reason
