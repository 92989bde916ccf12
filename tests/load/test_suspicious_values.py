"""Figures and files that are taken and hardly meant."""

import re
from datetime import date, timedelta
from pathlib import Path

import pytest

from aisle.client.csv_load.report import BadRow, format_bad_rows
from tests.load.test_repeated_loads import World, a_world, stocked
from tests.load.test_spreadsheets import Found, Write, product, write

__all__ = ["write"]

DELIVERY = "store_number,order_number,no_of_containers,line_number,product_number,quantity,container_barcode"
ORDER = "store_number,order_number,line_number,product_number,quantity,pickup_date"
SSCC = "095200010000000010"


@pytest.mark.parametrize(
    ("name", "lines", "words"),
    [
        ("deliveries.csv", [DELIVERY, "1,D,1,1,P,0,"], "quantity is 0, and nothing of it can come: D"),
        ("deliveries.csv", [DELIVERY, "1,D,0,1,P,1,"], "no_of_containers is 0, and nothing of it can come: D"),
        (
            "deliveries.csv",
            [DELIVERY, "1,D,1,1,P,1,095200010000000012", "1,E,1,1,P,1,095200010000000012"],
            "container_barcode is on two deliveries: 095200010000000012 of E is also of D (row 2)",
        ),
        ("deliveries.csv", [DELIVERY, "1,D,1,1,P,1,095200010000000013"], "container_barcode has a wrong check digit"),
        ("orders.csv", [ORDER, "1,O,1,P,1,28-11-2026 17:30"], "pickup_date is a day, and the order does not show"),
        ("products.csv", ["product_number,price,special_price", "P,20,30"], "special_price is above the price: 30 and"),
        ("products.csv", ["product_number,price,old_price", "P,4,3"], "old_price is not above the price, so that it"),
        ("prices.csv", ["product_number,price,old_price", "P,4,4"], "old_price is not above the price, so that it"),
        ("orders.csv", [ORDER, "1,O,1,P,10001,"], "quantity is over 10000: 10001 of P"),
        ("orders.csv", [ORDER, "1,O,1,P,1,1999-12-31"], "pickup_date is before the year 2000: 1999-12-31"),
        ("orders.csv", [ORDER, "1,O,1,P,1,2062-01-01"], "pickup_date is more than 5 years away: 2062-01-01"),
        ("prices.csv", ["product_number,price", "P,0"], "price is 0, and becomes the price of the product: P"),
        (
            "discount_prices.csv",
            ["product_number,discount_price,is_promotion", "P,0,ja"],
            "is_promotion is true, and discount_price is 0, so the promotion has no price: P",
        ),
        (
            "store_products.csv",
            ["store_number,product_number,price", "1,P,0"],
            "price is 0, and becomes the price of the product in this store: P",
        ),
        ("products.csv", ["product_number", "2026-01-03"], "looks like a date that a spreadsheet has made of a code"),
        ("products.csv", ["product_number", "01-02-2026"], "looks like a date that a spreadsheet has made of a code"),
        ("products.csv", ["product_number", "01/02/2026"], "looks like a date that a spreadsheet has made of a code"),
        (
            "products.csv",
            ["product_number,size", "P,1-Feb"],
            "size looks like a date that a spreadsheet has made of a size",
        ),
        ("attributes.csv", ["product_number,volume", "P,02-Jan"], "volume looks like a date that a spreadsheet"),
        ("attributes.csv", ["product_number,size", "P,02.01.2026"], "size looks like a date that a spreadsheet"),
        (
            "attributes.csv",
            ["product_number,margin_category", "P,01.02.2026"],
            "margin_category looks like a date that a",
        ),
        ("products.csv", ["product_number,general_ledger", "P,1-Feb"], "general_ledger looks like a date that a"),
        (
            "discount_prices.csv",
            ["product_number,discount_price,promotion_week", "P,0.5,49.0"],
            "promotion_week has .0 behind it, which a program may have added: 49.0",
        ),
        (
            "discount_prices.csv",
            ["product_number,discount_price,promotion_week", "P,0.5,1-jan"],
            "promotion_week looks like a date that a spreadsheet has made of a code: 1-jan",
        ),
        (
            "products.csv",
            ["product_number,reset_store_stock", "P,true"],
            "reset_store_stock is true, which changes no stock here; load the stock, or count it: P",
        ),
        (
            "deliveries.csv",
            [
                "store_number,order_number,no_of_containers,line_number,product_number,quantity,container_barcode",
                "1,D,1,1,P,1,0095200010000000034",
            ],
            "container_barcode has 19 digits, and a container number has 18: 0095200010000000034",
        ),
        (
            "locations.csv",
            ["store_number,location_code,tags", "1,A,koel|vers", "1,B,Koel", "1,C,koel"],
            "3: warning: tags has one that an earlier row writes in another way, and they are two: koel then, Koel now",
        ),
        ("products.csv", ["product_number", "2-jan"], "looks like a date that a spreadsheet has made of a code"),
        *(
            ("products.csv", ["product_number;price", f"{cell};1,5"], f"that a spreadsheet has made of a code: {cell}.")
            for cell in ("12:30", "12:30:00", "WAHR", "TRUE", "onwaar", "faux", "5 %", "5,5%", "(12)")
        ),
        (
            "locations.csv",
            ["store_number;location_code", "1;1,5"],
            "location_code looks like a number, time or word that a spreadsheet has made of a code: 1,5.",
        ),
        (
            "deliveries.csv",
            ["store_number;order_number;no_of_containers;line_number;product_number;quantity", "1;8801,1;1;2;P;1"],
            "order_number looks like a number, time or word that a spreadsheet has made of a code: 8801,1.",
        ),
        (
            "deliveries.csv",
            [f"{DELIVERY},supplier_code,supplier_name", "1,D,1,1,P,1,,S1,Sup", "1,E,1,1,P,1,,S1,Other"],
            "deliveries.csv:3: warning: supplier_code has another supplier_name in an earlier row: S1 is Other here,"
            " Sup in row 2",
        ),
        (
            "products.csv",
            ["product_number,brand_code,brand_description", "P,B,Brand", "Q,B,BRAND", "R,B,Brend", "S,C,Brend"],
            "products.csv:4: warning: brand_code has another brand_description in an earlier row: B is Brend here",
        ),
        (
            "stores.csv",
            ["store_number,store_name,is_warehouse,area_id,area_description", "1,A,0,7,North", "2,B,0,7,South"],
            "area_id has another area_description in an earlier row: 7 is South here, North in row 2",
        ),
        (
            "stores.csv",
            ["store_number,store_name,is_warehouse,store_gln", "1,A,0,9520001100000", "2,B,0,9520001100000"],
            "stores.csv:3: warning: store_gln is that of another store too: 9520001100000, row 2.",
        ),
        (
            "stores.csv",
            ["store_number,store_name,is_warehouse", "1,Kerkstraat,0", "2,KERKSTRAAT,0"],
            "store_name is that of another store too: KERKSTRAAT, row 2.",
        ),
        (
            "stores.csv",
            ["store_number,store_name,is_warehouse,store_gln", "1,A,0,9520001100001"],
            "store_gln has a wrong check digit: 9520001100001 should end in ",
        ),
        (
            "products.csv",
            [
                "product_number,is_set,set_product",
                'P,false,"[{""set_product_number"":""Q"",""set_item_quantity"":""1""}]"',
            ],
            "is_set is false, and set_product has parts: P",
        ),
        *(
            (
                "deliveries.csv",
                [DELIVERY, f"1,D,{count},1,P,1,{SSCC}", f"1,D,{count},2,P,1,{SSCC[:-2]}27"],
                f"no_of_containers is not the number of containers that the lines name: {count} and 2, of D.",
            )
            for count in (1, 3)
        ),
        (
            "orders.csv",
            [f"{ORDER},ordering_datetime", "1,O,1,P,1,2026-12-10,2026-12-20"],
            "pickup_date is before ordering_datetime: 2026-12-10 and 2026-12-20.",
        ),
        (
            "orders.csv",
            [f"{ORDER},is_picked,picked_quantity", "1,O,1,P,5,,true,2"],
            "the line comes picked with less than its quantity, so that nobody picks the rest: 2 of 5.",
        ),
        *(
            ("products.csv", [f"product_number,{name},{name.replace('_not', '')}", "P,A|B,B|C"], f"{name} has what")
            for name in ("stores_not_allowed", "promo_stores_not_allowed", "countries_not_allowed")
        ),
    ],
)
def test_suspicious_values_are_warned_of(name: str, lines: list[str], words: str, write: Write, tmp_path: Path) -> None:
    write(name, *lines)
    assert any(words in note for note in Found(tmp_path).notes)


@pytest.mark.parametrize("code", [SSCC, f"00{SSCC}", f"(00){SSCC}", f"(00) {SSCC}", "0 9520001 000000001 0", SSCC[1:]])
def test_a_container_is_on_one_delivery_in_whatever_form(code: str, write: Write, tmp_path: Path) -> None:
    write("deliveries.csv", DELIVERY, f"1,D,1,1,P,1,{SSCC}", f"1,D,1,2,P,1,{SSCC}", f"1,E,1,1,P,1,{code}")
    notes = [note for note in Found(tmp_path).notes if "warning" in note]
    assert len(notes) == 1
    assert "container_barcode is on two deliveries" in notes[0]
    assert notes[0].endswith("of E is also of D (row 2).")


async def test_a_container_is_on_no_delivery_that_the_service_has(tmp_path: Path) -> None:
    with a_world(tmp_path) as world:
        stocked(world)
        world.write("deliveries.csv", DELIVERY, f"1,D,1,1,P,1,{SSCC}")
        await world.load()
        again = await world.load()
        assert again is not None
        assert again.files[-1].notes == ()
        world.write("deliveries.csv", DELIVERY, f"1,E,1,1,P,1,(00){SSCC}", f"1,E,1,2,P,1,{SSCC}", "1,F,1,1,P,1,X")
        report = await world.load()
        assert report is not None
        what = "container_barcode is on a delivery that the service has"
        assert [note for note in report.files[-1].notes if "warning" in note] == [
            f"deliveries.csv:2: warning: {what}: {SSCC} of E is also of D.",
            f"deliveries.csv:3: warning: {what}: {SSCC} of E is also of D.",
        ]


@pytest.mark.parametrize("cell", ["5 kg", "5%", "5 %", "5 Stk", "5 st.", "(5)", "5.-", "1/2", "1e3", "5 pcs"])
@pytest.mark.parametrize("name", ["stock.csv", "prices.csv"])
def test_a_figure_with_words_or_signs_is_refused(cell: str, name: str, write: Write, tmp_path: Path) -> None:
    header, row = {
        "stock.csv": ("store_number,product_number,quantity", f"1,P,{cell}"),
        "prices.csv": ("product_number,price", f"P,{cell}"),
    }[name]
    write(name, header, row)
    found = Found(tmp_path)
    assert found.bodies == []
    assert "is no number" in found.bad[2]


@pytest.mark.parametrize(
    "cell", ["EUR 1.10", "1.10 EUR", "\u20ac1.10", "1.10 \u20ac", "CHF 1.10", "$1.10", "1.10\u00a0EUR"]
)
def test_a_currency_beside_a_price_is_taken_off(cell: str, write: Write, tmp_path: Path) -> None:
    write("prices.csv", "product_number,price", f"P,{cell}")
    assert float(Found(tmp_path).bodies[0]["price"]) == 1.1


@pytest.mark.parametrize("number", ["-1", "-5"])
@pytest.mark.parametrize("name", ["orders.csv", "deliveries.csv"])
def test_the_number_of_a_line_is_not_below_zero(name: str, number: str, write: Write, tmp_path: Path) -> None:
    rows = {"orders.csv": (ORDER, f"1,O,{number},P,1,"), "deliveries.csv": (DELIVERY, f"1,D,1,{number},P,1,")}
    write(name, *rows[name])
    assert Found(tmp_path).bad[2] == f"line_number {number} is no number of a line; write 0 or more"


@pytest.mark.parametrize("above", [[""], ["", ""], [",,"], [";;", ""], ['""'], ["  "]])
def test_empty_lines_above_the_header_are_passed_over(above: list[str], write: Write, tmp_path: Path) -> None:
    write("products.csv", *above, "product_number,price", "P,1", "Q,dear")
    found = Found(tmp_path)
    assert found.bodies == [{"product_number": "P", "price": 1}]
    assert list(found.bad) == [len(above) + 3]


@pytest.mark.parametrize(
    "title", ["Artikelliste;;", "Stand 28.11.2026", "List of products,,\n,,\n", '"Report; all"\nby Ann']
)
@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_a_title_above_the_header_is_passed_over(title: str, mark: str, write: Write, tmp_path: Path) -> None:
    rows = ("product_number,price", "P,1", "Q,dear")
    above = title.split("\n")
    write("products.csv", *above, *(row.replace(",", mark) for row in rows))
    found = Found(tmp_path)
    assert found.bodies == [{"product_number": "P", "price": 1}]
    assert list(found.bad) == [len(above) + 3]
    assert f"the header in row {len(above) + 1}, without what is above it" in found.notes[0]


@pytest.mark.parametrize("name", ["Käse", "Möhre", "Jalapeño Grün", "Crème brûlée", "Brühe"])
@pytest.mark.parametrize(
    ("encoding", "words"),
    [("cp850", "CP850 of DOS"), ("mac_roman", "Mac OS Roman"), ("cp1252", "Windows-1252"), ("utf-8", "")],
)
def test_letters_of_old_encodings_are_read(name: str, encoding: str, words: str, write: Write, tmp_path: Path) -> None:
    write("products.csv", "product_number,product_name", f"P,{name}", "Q,Weiße Rübe mit Käse", encoding=encoding)
    found = Found(tmp_path)
    assert [body["product_name"] for body in found.bodies] == [name, "Weiße Rübe mit Käse"]
    assert words in " ".join(found.notes)


@pytest.mark.parametrize("name", ["„Wort“", "5” x", "Škoda", "Ž", "l’été", "‘a’", "Œuf", "Strauß", "a™b", "100 €"])
def test_signs_of_windows_are_not_taken_for_letters_of_dos(name: str, write: Write, tmp_path: Path) -> None:
    write("products.csv", "product_number,product_name", f"P,{name}", encoding="cp1252")
    assert Found(tmp_path).bodies[0]["product_name"] == name


@pytest.mark.parametrize("day", ["2026-11-28T00:00:00Z", "28.11.2026 00:00", "2026-11-28 00:00:00", "2026-11-28"])
def test_a_day_with_a_midnight_is_a_day(day: str, write: Write, tmp_path: Path) -> None:
    write("orders.csv", ORDER, f"1,O,1,P,1,{day}")
    assert not any("warning" in note for note in Found(tmp_path).notes)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-16"])
def test_utf_16_is_read_with_a_mark_and_without(encoding: str, write: Write, tmp_path: Path) -> None:
    write("products.csv", "product_number,product_name", "P,Käse", encoding=encoding)
    assert Found(tmp_path).bodies == [{"product_number": "P", "product_name": "Käse"}]


@pytest.mark.parametrize("blank", ["\u00a0", "\u202f", "\u2007"])
def test_a_blank_in_a_refused_cell_is_shown_as_a_blank(blank: str, write: Write, tmp_path: Path) -> None:
    write("prices.csv", "product_number,price", f"P,8{blank}€{blank}50")
    (bad,) = format_bad_rows(BadRow("prices.csv", line, reason) for line, reason in Found(tmp_path).bad.items())
    assert bad.startswith("prices.csv:2: price '8 € 50' is no amount")


@pytest.mark.parametrize("cell", ["Magazijn", "0", "11", "1,5", "-1"])
@pytest.mark.parametrize("name", ["orders.csv", "deliveries.csv"])
def test_a_stock_pool_says_its_range(name: str, cell: str, write: Write, tmp_path: Path) -> None:
    column = {"orders.csv": "stock_pool", "deliveries.csv": "target_stock_pool"}[name]
    header, row = {"orders.csv": (ORDER, "1,O,1,P,1,"), "deliveries.csv": (DELIVERY, "1,D,1,1,P,1,")}[name]
    write(name, f"{header},{column}", f'{row},"{cell}"')
    assert Found(tmp_path).bad[2] == f"{column} {cell!r} is no stock pool; write 1 to 10"


NEXT = "store_number,product_number,next_delivery_date"
EXPIRY = "store_number,product_number,expiry_date_time,validate_expiry_date_time"


@pytest.mark.parametrize(
    ("name", "lines", "words"),
    [
        ("store_products.csv", [NEXT, "1,P,{-1}"], "next_delivery_date is past: {-1}"),
        ("store_products.csv", [NEXT, "1,P,{0}"], ""),
        ("store_products.csv", [EXPIRY, "1,P,{-1},"], "expiry_date_time is past: {-1}"),
        ("store_products.csv", [EXPIRY, "1,P,{0},{0}"], ""),
        ("store_products.csv", [EXPIRY, "1,P,9999-12-31,{9}"], ""),
        (
            "store_products.csv",
            [EXPIRY, "1,P,{8},{9}"],
            "expiry_date_time is before validate_expiry_date_time: {8} and {9}",
        ),
        ("store_products.csv", [NEXT.replace("delivery", "ordering"), "1,P,{-9}"], "next_ordering_date is past: {-9}"),
        (
            "stores.csv",
            ["store_number,store_name,is_warehouse,store_next_delivery_datetime", "1,A,false,{-1}T09:00:00"],
            "store_next_delivery_datetime is past: {-1}T09:00:00",
        ),
        (
            "deliveries.csv",
            [f"{DELIVERY},datetime_expected", "1,D,1,1,P,1,,{-300}"],
            "datetime_expected is more than a",
        ),
        ("deliveries.csv", [f"{DELIVERY},datetime_expected", "1,D,1,1,P,1,,{-9}"], ""),
        ("orders.csv", [ORDER, "1,O,1,P,1,{-300}"], "pickup_date is more than a month ago"),
        ("orders.csv", [ORDER, "1,O,1,P,1,{9}"], ""),
    ],
)
def test_a_day_that_is_over_is_warned_of(name: str, lines: list[str], words: str, write: Write, tmp_path: Path) -> None:
    def dated(text: str) -> str:
        return re.sub(r"\{(-?\d+)\}", lambda found: (date.today() + timedelta(days=int(found[1]))).isoformat(), text)

    write(name, *map(dated, lines))
    warnings = [note for note in Found(tmp_path).notes if "warning" in note]
    assert len(warnings) == bool(words)
    assert all(dated(words) in note and f"{name}:2:" in note for note in warnings)


@pytest.mark.parametrize(
    ("orders", "deliveries", "is_warned"),
    [("12/13/2026", "13/12/2026", True), ("13/12/2026", "12/13/2026", True), ("13/12/2026", "14/12/2026", False)],
)
def test_dates_of_two_orders_in_one_load_are_warned_of(
    orders: str, deliveries: str, is_warned: bool, write: Write, tmp_path: Path
) -> None:
    write("orders.csv", ORDER, f"1,O,1,P,1,{orders}")
    write("deliveries.csv", f"{DELIVERY},datetime_expected", f"1,D,1,1,P,1,,{deliveries}")
    first, other = ("month", "day") if orders.startswith("12") else ("day", "month")
    warning = (
        f"deliveries.csv: warning: its dates have the {other} first ({deliveries} in row 2), and {orders} in row 2 of"
        f" orders.csv has the {first} first; look whether both are right."
    )
    assert [note for note in Found(tmp_path).notes if "look whether both" in note] == [warning] * is_warned


@pytest.mark.parametrize(
    ("numbers", "lost"),
    [
        (["07700900123", "7700900124"], "7700900124"),
        (["01225 400000", "7700900124"], "7700900124"),
        (["01225 400000", "7700 900124"], "7700 900124"),
        (["0225 400000", "7700900124"], ""),
        (["7700900123", "7700900124"], ""),
        (["07700900123", "+447700900124"], ""),
        (["07700900123", "0770090012"], ""),
    ],
)
@pytest.mark.parametrize("name", ["orders.csv", "stores.csv"])
def test_a_telephone_number_without_its_zero_is_warned_of(
    name: str, numbers: list[str], lost: str, write: Write, tmp_path: Path
) -> None:
    header, row = {
        "orders.csv": ("store_number,order_number,line_number,product_number,quantity,customer_phone", "1,O{},1,P,1,"),
        "stores.csv": ("store_number,store_name,is_warehouse,phone_number", "{0},A{0},false,"),
    }[name]
    column = header.rpartition(",")[2]
    write(name, header, *(row.format(at) + number for at, number in enumerate(numbers, 1)))
    warnings = [note for note in Found(tmp_path).notes if "warning" in note]
    words = f"{name}:3: warning: {column} may have lost a zero, with which others begin: {lost}."
    assert warnings == [words] * bool(lost)


OF_CUSTOMER = "store_number,order_number,line_number,product_number,quantity,customer_number"


@pytest.mark.parametrize("cell", ["1E+02", "9.52E+12", "3,5E+11", "1e2"])
@pytest.mark.parametrize("column", ["promotion_week", "color", "product_details"])
def test_a_shortened_number_among_texts_is_warned_of(column: str, cell: str, write: Write, tmp_path: Path) -> None:
    found = product(write, tmp_path, **{column: cell})
    what = f"products.csv:2: warning: {column} looks like a number that a spreadsheet has shortened: {cell}."
    assert what in found.notes


@pytest.mark.parametrize("cell", ["48", "E-bike", "1E", "3E klas", "E+2"])
def test_other_texts_with_an_e_are_not_warned_of(cell: str, write: Write, tmp_path: Path) -> None:
    assert not any("shortened" in note for note in product(write, tmp_path, color=cell).notes)


@pytest.mark.parametrize(
    "cell",
    [
        "952OOO1100024",
        "952OOO11OOO24",
        "952oOol1OOo24",
        "9520001l00024",
        "95200011OOO24",
        "9S20001100024",
        "952000110002A",
    ],
)
@pytest.mark.parametrize("column", ["barcode", "barcodes_array", "purchase_unit_barcode"])
def test_letters_for_digits_in_a_barcode_are_warned_of(column: str, cell: str, write: Write, tmp_path: Path) -> None:
    """A code with one letter that is no digit may be a code of the shop's own."""
    found = product(write, tmp_path, **{column: cell})
    assert found.bad == {}
    words = f"{column} has letters where 9520001100024 has digits"
    assert any(words in note for note in found.notes) == (cell[-1] != "A")


@pytest.mark.parametrize("cell", ["TBC", "tbd", "TBA", "n.t.b.", "volgt", "folgt"])
def test_a_word_for_a_barcode_to_come_is_none(cell: str, write: Write, tmp_path: Path) -> None:
    found = product(write, tmp_path, barcode=cell)
    assert "barcode" not in found.bodies[0]
    assert f"products.csv: changed in row 2: barcode: {cell} read as an empty cell." in found.notes


@pytest.mark.parametrize(
    ("file", "header", "row", "column"),
    [
        ("people.csv", "store_number,badge,user,name", "1,{},u,U", "badge"),
        ("people.csv", "store_number,badge,user,name", "1,B,{},U", "user"),
        ("products.csv", "product_number,supplier_product_number", "P,{}", "supplier_product_number"),
        ("products.csv", "product_number,supplier_id", "P,{}", "supplier_id"),
        ("orders.csv", OF_CUSTOMER, "1,O,1,P,1,{}", "customer_number"),
    ],
)
def test_signs_of_thousands_in_any_code_are_warned_of(
    file: str, header: str, row: str, column: str, write: Write, tmp_path: Path
) -> None:
    for number, is_warned in (
        ("90.001", True),
        ("1.290.001", True),
        ("90001", False),
        ("9.1", False),
        ("A.001", False),
    ):
        write(file, header, row.format(number))
        what = f"{column} has signs as of thousands, which a spreadsheet may have put into it: {number}."
        assert (f"{file}:2: warning: {what}" in Found(tmp_path).notes) == is_warned


async def test_a_discount_is_compared_with_the_price_of_its_store(world: World) -> None:
    stocked(world)
    world.write("products.csv", "product_number,price", "P,10", "Q,2")
    world.write("prices.csv", "product_number,store_number,price", "P,1,3", "Q,1,8")
    await world.load()
    rows = ("P,1,4", "Q,1,5", "P,,4", "Q,,5")
    world.write("discount_prices.csv", "product_number,store_number,discount_price", *rows)
    report = await world.load()
    assert report is not None
    said = [line for line in report.lines() if "discount_price is above the price" in line]
    assert ["above the price: 4 and 3" in " ".join(said), "5 and 2" in " ".join(said)] == [True, True]
    assert not any("5 and 8" in line or "4 and 10" in line for line in said)


@pytest.mark.parametrize(("prices", "is_warned"), [("1,85", True), ("1.85,1", False), ("0,5", False), (",5", False)])
def test_purchase_price_above_the_price_is_warned_of(
    prices: str, is_warned: bool, write: Write, tmp_path: Path
) -> None:
    write("products.csv", "product_number,price,purchase_price", f"P,{prices}")
    assert ("purchase_price is above the price" in " ".join(Found(tmp_path).notes)) == is_warned


@pytest.mark.parametrize("file", ["discount_prices.csv", "store_products.csv"])
@pytest.mark.parametrize(
    ("columns", "cells", "is_promotion", "is_said"),
    [
        ("discount_price", "4", True, True),
        ("discount_price,is_promotion", "4,", True, True),
        ("discount_price,is_promotion", "4,false", False, False),
        ("discount_price,is_promotion", "4,true", True, False),
        ("discount_price", "0", False, False),
        ("discount_price", "(empty)", False, False),
    ],
)
async def test_a_discount_starts_and_ends_a_promotion_in_both_files(
    file: str, columns: str, cells: str, is_promotion: bool, is_said: bool, world: World
) -> None:
    stocked(world)
    world.write("products.csv", "product_number,price", "P,10")
    await world.load()
    world.clear()
    world.write(file, f"product_number,store_number,{columns}", f"P,1,{cells}")
    report = await world.load()
    assert report is not None
    assert (
        any("a discount_price without is_promotion starts the promotion" in line for line in report.lines()) == is_said
    )
    async with world.client() as client:
        [row] = [row async for row in client.rows("list-store-products-stock", query={"store_number": "1"})]
    assert row["is_promotion"] is is_promotion
