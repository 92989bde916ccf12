"""Made-up datasets in the form of the real ones, seeded, with each kind of dirt that those have: they need no download.

Nothing in them is taken from the real data. `INVOICE` is an order of seven lines and 40 pieces, all of it goods.
"""

import csv
import gzip
import io
import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tests.realdata import sources
from tests.realdata.barcodes import check_digit

INVOICE = "600001"
INVOICE_QUANTITIES = (6, 6, 8, 6, 6, 2, 6)
ORDERS = 60
BINS = 84
FOODS = 400

_THINGS = ("LANTERN", "TEA TOWEL", "PHOTO FRAME", "CAKE STAND", "DOORMAT", "GIFT BAG", "CANDLE", "JAM JAR", "BUNTING")
_KINDS = ("RED", "BLUE", "VINTAGE", "SMALL", "SET OF 6", "PINK SPOT", 'RETRO "DINER"', "£1 BARGAIN", "ROUND, LARGE")
_COUNTRIES = ("United Kingdom", "France", "EIRE", "Germany")
_FOOD = ("Müsli", "Crème brûlée", "Jalapeño", "Soße", "Żurek", "納豆", "Борщ", "عصير", "Oat cake", "Tonic & lime")
_NOT_GOODS = (("POST", "POSTAGE"), ("M", "Manual"), ("BANK CHARGES", "Bank Charges"), ("C2", "CARRIAGE"))

Row = Sequence[str]


def write(folder: Path, seed: int) -> None:
    """Writes the four files under their real names; the same seed gives the same rows."""
    rng = random.Random(seed)
    _gzipped(folder / sources.ONLINE_RETAIL, "utf-8", ",", _SALES_HEADER, _sales(rng))
    _gzipped(folder / sources.BINS, "utf-8", ",", _BINS_HEADER, _picks(rng))
    foods = list(_foods(rng))
    _gzipped(folder / sources.FOOD, "utf-8", ",", _FOOD_HEADER, foods)
    _gzipped(folder / sources.BRANDED_FOOD, "utf-16", ";", _BRANDED_HEADER, _branded(rng, foods))


_SALES_HEADER = (
    "InvoiceNo",
    "StockCode",
    "Description",
    "Quantity",
    "InvoiceDate",
    "UnitPrice",
    "CustomerID",
    "Country",
)
_BINS_HEADER = (
    *("", "DATE", "OrderNumber", "SKU", "PCS", "ReferenceID"),
    *("Location", "Alley_Number", "Cellule", "Coord", "AlleyCell"),
)
_FOOD_HEADER = ("barcode_id", "product_name", "ingredients", "product_image")
_BRANDED_HEADER = ("code", "url", "product_name", "brands", "stores", "main_category_fr", "last_modified_t")


def _gzipped(path: Path, encoding: str, delimiter: str, header: Row, rows: Iterable[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow(header)
    writer.writerows(rows)
    path.write_bytes(gzip.compress(text.getvalue().encode(encoding), mtime=0))


def _sales(rng: random.Random) -> Iterator[Row]:
    goods = _goods(rng)
    plain = [pair for pair in goods if pair[0].isdigit()]
    when = "2010-12-01 08:26:00"
    for (code, name), quantity in zip(plain, INVOICE_QUANTITIES, strict=False):
        yield INVOICE, code, name, str(quantity), when, "2.55", "17850.0", "United Kingdom"
    for index in range(1, ORDERS):
        yield from _invoice(rng, index, goods)
        if index % 6 == 0:
            yield from _not_orders(rng, index, goods)


def _goods(rng: random.Random) -> list[tuple[str, str]]:
    """Codes and names: five digits, some with a letter, and two pairs that differ in the letter's case alone."""
    goods = []
    for index in range(90):
        code = f"{21000 + index * 37}{rng.choice(('', '', '', 'A', 'B', 'G'))}"
        space = rng.choice(("", "", " ", "  "))
        goods.append((code, f"{space}{rng.choice(_KINDS)} {rng.choice(_THINGS)} {index}{space}"))
    twins = [(code.lower(), name) for code, name in goods if not code.isdigit()]
    return goods + twins[:2] + [("DCGS0003", "BOXED GLASS ASHTRAY")]


def _invoice(rng: random.Random, index: int, goods: list[tuple[str, str]]) -> Iterator[Row]:
    number, customer = str(600001 + index * 3), f"{12346 + rng.randint(0, 40)}.0"
    day, country = f"2010-12-{1 + index // 3:02d}", rng.choice(_COUNTRIES)
    lines = 120 if index == 20 else rng.randint(1, 9)
    for line in range(lines):
        code, name = rng.choice(goods)
        if line == 3 and index % 10 == 0:
            code, name = rng.choice(_NOT_GOODS)
        if rng.random() < 0.05:
            name = "RENAMED SINCE"
        quantity = 80995 if index == 30 and line == 0 else rng.choice((1, 1, 2, 4, 6, 12, 24))
        price = "0.0" if rng.random() < 0.02 else f"{rng.randint(19, 1695) / 100}"
        time = f"{day} 10:{index % 60:02d}:00" if line < 4 or index % 7 else f"{day} 10:{index % 60 + 1:02d}:00"
        row = (number, code, name, str(quantity), time, price, customer, country)
        yield row
        if index % 9 == 0 and line == 0:
            yield row


def _not_orders(rng: random.Random, index: int, goods: list[tuple[str, str]]) -> Iterator[Row]:
    """Cancellations, bad debt, corrections of the stock with a note for a name, sales without a customer."""
    code, name = rng.choice(goods)
    when, number = f"2010-12-{1 + index // 3:02d} 17:00:00", 600002 + index * 3
    home = "United Kingdom"
    yield f"C{number}", code, name, str(-rng.randint(1, 12)), when, "1.25", "14527.0", home
    yield f"A{number}", "B", "Adjust bad debt", "1", when, "-11062.06", "", home
    yield str(number), code, rng.choice(("", "check", "damaged", "?", "wet pallet")), "-7", when, "0.0", "", home
    yield str(number + 1), code, name, "3", when, "2.46", "", home
    yield str(number + 1), f"gift_0001_{index}", "Gift voucher", "1", when, "10.0", "", home


def _picks(rng: random.Random) -> Iterator[Row]:
    places = [_place(index) for index in range(BINS)]
    rows = places + [rng.choice(places[:3]) for _ in range(BINS)]
    rng.shuffle(rows)
    for number, (alley, cell, code, coordinates) in enumerate(rows):
        sku = str(300000 + places.index((alley, cell, code, coordinates)))
        date, order = f"12/{1 + number % 9}/2018", str(3780000 + number // 2)
        yield str(number), date, order, sku, "1", sku, code, alley, str(cell), coordinates, f"{alley}{cell:02d}"


def _place(index: int) -> tuple[str, int, str, str]:
    alley, cell, level = index // 21 + 1, index % 21 // 3 + 1, index % 3 + 1
    x, y = 52 - 3.25 * alley + (1.25 if cell % 2 else 0), 6 + 1.5 * cell
    return f"A{alley:02d}", cell, f"A{alley:02d}{cell:02d}{level}01", f"[{x}, {y}]"


def _foods(rng: random.Random) -> Iterator[Row]:
    for index in range(FOODS):
        barcode = _barcode(rng, index)
        row = (barcode, _name(rng, index), rng.choice(("", 'Sugar, "aroma",\nsalt')), "")
        yield row
        if index % 90 == 40:
            yield row


def _barcode(rng: random.Random, index: int) -> str:
    """Mostly right EAN-13; also EAN-8, leading zeros, in-store numbers, wrong check digits, lengths of no standard."""
    kind = index % 20
    if kind == 0:
        return _with_check(f"{2000000 + index}")
    if kind == 1:
        return _with_check(f"0000000{index:05d}")
    if kind == 2:
        return _with_check(f"24{index:010d}")
    if kind == 3:
        right = _with_check(f"400{index:09d}")
        return right[:-1] + str((int(right[-1]) + 1) % 10)
    if kind == 4:
        return str(rng.randint(10, 99)) * (index // 20 % 12 + 1) + str(index)
    return _with_check(f"3{rng.randint(10**10, 10**11 - 1)}")


def _with_check(stem: str) -> str:
    return stem + check_digit(stem)


def _name(rng: random.Random, index: int) -> str:
    name = f"{rng.choice(_FOOD)} {index}"
    dirt = {
        5: f"{name} &quot;tradition&quot;",
        6: f"{name} [bio]",
        7: f" {name} ",
        8: name * 20,
        9: f"C\x9cur de {name}",
        10: f"l\\'{name}",
        11: str(index)[-2:],
    }
    return dirt.get(index % 25, name)[:177]


def _branded(rng: random.Random, foods: Sequence[Row]) -> Iterator[Row]:
    for index, row in enumerate(foods[::9]):
        brands = ("", "Hillmoor", "Hillmoor,Hill Moor", "Chocolaterie Noé")[index % 4]
        yield row[0], "", row[1], brands, "", "Biscuits", "1508487983"
    for index in range(40):
        yield (
            _with_check(f"326{index:09d}"),
            "",
            f"Biscuit nº {index}",
            rng.choice(("Noé", "Hillmoor")),
            "",
            "Biscuits",
            "0",
        )
