"""The three datasets as the CSV files of a load, with a report of everything that was decided on the way.

`python -m tests.realdata.convert OUT_DIR [--sample N] [--copy INVOICE] [--look-alike SEED]` writes stores.csv,
products.csv, locations.csv, stock.csv, orders.csv and REPORT.txt. The folder with the datasets is AISLE_TEST_DATA; with
`--look-alike` none is needed.
"""

import argparse
import csv
import hashlib
import html
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from tests.realdata import lookalike, sources
from tests.realdata.barcodes import checks, restricted_ean13
from tests.realdata.sources import Bin, Food, Sale

STORE = "0100"
NO_DATA = "set AISLE_TEST_DATA to the folder with the datasets, or use --look-alike SEED to make some up"
SPARE = 10
"""Pieces in stock beyond what was ordered."""

NOT_GOODS = frozenset({"POST", "DOT", "M", "C2", "D", "S", "B", "BANK CHARGES", "AMAZONFEE", "CRUK", "PADS"})
_VOUCHER = re.compile(r"gift_\d+_\d+", re.IGNORECASE)

PRODUCT_COLUMNS = ("product_number", "product_name", "barcode", "price", "brand_description", "is_stock")
ORDER_COLUMNS = (
    "store_number",
    "order_number",
    "customer_number",
    "customer_name",
    "customer_country",
    "line_number",
    "product_number",
    "quantity",
    "price",
    "ordering_datetime",
    "pickup_date",
)


class Article(NamedTuple):
    """A product of the web shop as its orders show it. `ordered` is the sum over the orders written."""

    code: str
    name: str
    price: str
    barcode: str
    is_stock: bool
    bin: str
    ordered: int


class Facts(NamedTuple):
    """What a conversion wrote, and what it decided: each note is a heading with the rows it explains."""

    products: int
    places: int
    orders: int
    order_lines: int
    stock_rows: int
    notes: dict[str, list[str]]

    def lines(self) -> list[str]:
        """The report as lines: the counts, then each note with its rows."""
        counts = zip(self._fields[:-1], self[:-1], strict=True)
        lines = [f"{name.replace('_', ' ')}: {count}" for name, count in counts]
        for heading, rows in self.notes.items():
            lines += ["", f"{heading} ({len(rows)})", *(f"  {row}" for row in rows)]
        return lines


def convert(data: Path, out: Path, *, sample: int | None = None, copies: Collection[str] = ()) -> Facts:
    """Writes the files of a load to `out` from the datasets in `data`.

    `sample` takes that many invoices, the products on them, every place, and some of the food; `copies` are invoices to
    be written a second time, as an order whose number ends in `-2`.
    """
    out.mkdir(parents=True, exist_ok=True)
    notes: dict[str, list[str]] = {"Lines of the web shop that are no order's: left out": _left_out(data)}
    wanted = _sampled(data, sample)
    places = walked(sources.bins(data))
    foods = list(_catalogue(data, notes, None if sample is None else 3 * sample))
    taken = {food.barcode for food in sources.foods(data)} | {food.barcode for food in sources.branded_foods(data)}
    articles = list(_articles(data, wanted, copies, places, taken, notes))
    _write(out / "stores.csv", ("store_number", "store_name", "is_warehouse"), [(STORE, "Online retail", "false")])
    _write(
        out / "locations.csv",
        ("store_number", "location_code", "location_order", "default_stock_pool"),
        ((STORE, place.code, str(order * 10), "1") for order, place in enumerate(places, 1)),
    )
    _write(out / "products.csv", PRODUCT_COLUMNS, [*_article_rows(articles), *_food_rows(foods)])
    stock = [(STORE, item.code, item.bin, "1", str(item.ordered + SPARE)) for item in articles if item.is_stock]
    _write(out / "stock.csv", ("store_number", "product_number", "location_code", "stock_pool", "quantity"), stock)
    orders = Counter[str]()
    _write(out / "orders.csv", ORDER_COLUMNS, _order_rows(data, wanted, copies, orders, notes))
    facts = Facts(len(articles) + len(foods), len(places), len(orders), orders.total(), len(stock), notes)
    (out / "REPORT.txt").write_text("\n".join(facts.lines()) + "\n", encoding="utf-8")
    return facts


def walked(places: Iterable[Bin]) -> list[Bin]:
    """The bins as a picker passes them: alley by alley from one side of the hall, up the first and down the next."""
    alleys: dict[str, list[Bin]] = {}
    for place in places:
        alleys.setdefault(place.alley, []).append(place)
    walk: list[Bin] = []
    for index, name in enumerate(sorted(alleys, key=lambda name: -fmean(place.x for place in alleys[name]))):
        forward = 1 if index % 2 == 0 else -1
        walk += sorted(alleys[name], key=lambda place: (forward * place.y, place.x, place.code))
    return walk


def is_goods(code: str) -> bool:
    """Whether a code of the web shop stands for something that lies on a shelf."""
    return code.upper() not in NOT_GOODS and _VOUCHER.fullmatch(code) is None


def home_bin(code: str, places: Sequence[Bin]) -> str:
    """The bin of a product that has none: always the same for the same code and the same bins."""
    codes = sorted(place.code for place in places)
    return codes[int.from_bytes(hashlib.sha256(code.encode()).digest()[:8], "big") % len(codes)]


def _left_out(data: Path) -> list[str]:
    """How many lines of the year cannot become an order's, by the first reason that holds."""
    reasons = Counter[str]()
    for sale in sources.sales(data):
        if not sale.invoice.isdigit():
            reasons["cancellations and corrections: the invoice has a letter"] += 1
        elif not sale.customer:
            reasons["no customer"] += 1
        elif int(sale.quantity) <= 0:
            reasons["no positive quantity"] += 1
    return [f"{count} lines: {reason}" for reason, count in sorted(reasons.items())]


def _sampled(data: Path, sample: int | None) -> frozenset[str] | None:
    """The invoices of a sample: the first ones; None stands for all."""
    if sample is None:
        return None
    invoices: dict[str, None] = {}
    for sale in sources.sales(data):
        if sources.is_core(sale):
            invoices[sale.invoice] = None
        if len(invoices) > sample:
            break
    return frozenset(list(invoices)[:sample])


def _core(data: Path, wanted: frozenset[str] | None) -> Iterator[Sale]:
    for sale in sources.sales(data):
        if sources.is_core(sale) and (wanted is None or sale.invoice in wanted):
            yield sale._replace(code=sale.code.upper())


def _articles(
    data: Path,
    wanted: frozenset[str] | None,
    copies: Collection[str],
    places: Sequence[Bin],
    taken: set[str],
    notes: dict[str, list[str]],
) -> Iterator[Article]:
    """The products on the orders, each with the name and price that it has most often."""
    names: dict[str, Counter[str]] = {}
    prices: dict[str, Counter[str]] = {}
    ordered = Counter[str]()
    for sale in _core(data, wanted):
        names.setdefault(sale.code, Counter())[sale.description.strip()] += 1
        prices.setdefault(sale.code, Counter())[sale.price] += 1
        ordered[sale.code] += int(sale.quantity) * (2 if sale.invoice in copies else 1)
    barcodes = restricted_ean13(sorted(names), taken)
    notes["Codes that are not goods: products without stock"] = [
        f"{code}: {names[code].most_common(1)[0][0]}" for code in sorted(names) if not is_goods(code)
    ]
    notes["Codes that differ in upper and lower case alone: one product, in upper case"] = _same_but_for_case(
        {sale.code for sale in sources.sales(data) if sources.is_core(sale)}
    )
    notes["Products with several descriptions: the most frequent one is the name"] = [
        f"{code}: {', '.join(repr(name) for name, _ in names[code].most_common())}"
        for code in sorted(names)
        if len(names[code]) > 1
    ]
    for code in sorted(names):
        name, price = names[code].most_common(1)[0][0], prices[code].most_common(1)[0][0]
        yield Article(code, name, price, barcodes[code], is_goods(code), home_bin(code, places), ordered[code])


def _same_but_for_case(codes: Iterable[str]) -> list[str]:
    folded = sorted(codes, key=lambda code: (code.casefold(), code))
    groups = [list(group) for _, group in groupby(folded, key=str.casefold)]
    return [" and ".join(group) for group in groups if len(group) > 1]


def _article_rows(articles: Iterable[Article]) -> Iterator[tuple[str, ...]]:
    for item in articles:
        yield item.code, item.name, item.barcode, item.price, "", str(item.is_stock).lower()


def _order_rows(
    data: Path,
    wanted: frozenset[str] | None,
    copies: Collection[str],
    orders: Counter[str],
    notes: dict[str, list[str]],
) -> Iterator[tuple[str, ...]]:
    """The lines of the orders; `orders` counts the lines of each as they are written."""
    times: dict[str, set[str]] = {}
    repeated: list[str] = []
    for _, invoice in groupby(_core(data, wanted), key=lambda sale: sale.invoice):
        lines = list(invoice)
        times[lines[0].invoice] = {sale.when for sale in lines}
        again = len(lines) - len(set(lines))
        if again:
            repeated.append(f"{lines[0].invoice}: {again}")
        for number in [lines[0].invoice] + [f"{lines[0].invoice}-2"] * (lines[0].invoice in copies):
            orders[number] += len(lines)
            yield from (_order_row(number, line, sale) for line, sale in enumerate(lines, 1))
    notes["Orders with exactly repeated lines: each is a line of its own"] = repeated
    notes["Orders whose lines carry several times: each line keeps its own"] = [
        f"{number}: {', '.join(sorted(found))}" for number, found in times.items() if len(found) > 1
    ]


def _order_row(number: str, line: int, sale: Sale) -> tuple[str, ...]:
    customer = sale.customer.removesuffix(".0")
    when = sale.when.replace(" ", "T")
    name = f"Customer {customer}"
    return (
        *(STORE, number, customer, name, sale.country, str(line)),
        *(sale.code, sale.quantity, sale.price, when, sale.when[:10]),
    )


def _catalogue(data: Path, notes: dict[str, list[str]], limit: int | None) -> Iterator[Food]:
    """The food, each barcode once; the French part lends its brands and adds what the sample does not have."""
    brands = {food.barcode: food.brand for food in sources.branded_foods(data)}
    seen: dict[str, int] = {}
    repeated: list[str] = []
    unchecked: list[str] = []
    entities: list[str] = []
    notes["Repeated barcodes: the first row is the product"] = repeated
    notes["Barcodes without a right check digit: kept as text"] = unchecked
    notes["Names with HTML entities: written as characters"] = entities
    chosen = _chosen(data, limit)
    for food in _both(data):
        if food.barcode not in chosen:
            continue
        if food.barcode in seen:
            if food.file == sources.FOOD:
                repeated.append(f"{food.barcode}: line {food.line} repeats line {seen[food.barcode]}")
            continue
        seen[food.barcode] = food.line
        if not checks(food.barcode):
            unchecked.append(food.barcode)
        name = html.unescape(food.name).strip()
        if name != food.name.strip():
            entities.append(f"{food.barcode}: {food.name}")
        yield food._replace(name=name, brand=brands.get(food.barcode, "").split(",")[0].strip())


def _chosen(data: Path, limit: int | None) -> frozenset[str]:
    """The barcodes to take: all, or that many, spread evenly over all."""
    barcodes = sorted({food.barcode for food in _both(data)})
    return frozenset(barcodes[:: 1 if limit is None else max(1, len(barcodes) // limit)])


def _both(data: Path) -> Iterator[Food]:
    yield from sources.foods(data)
    yield from sources.branded_foods(data)


def _food_rows(foods: Iterable[Food]) -> Iterator[tuple[str, ...]]:
    for food in foods:
        yield f"OF{food.barcode}", food.name, food.barcode, "", food.brand, "true"


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    with open(path, "w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(header)
        writer.writerows(rows)


def main(arguments: Sequence[str]) -> int:
    """The command; answers with the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.realdata.convert", description=__doc__)
    parser.add_argument("out", type=Path, help="the folder to write to")
    parser.add_argument("--sample", type=int, metavar="N", help="only N orders and what belongs to them")
    parser.add_argument("--copy", action="append", default=[], metavar="INVOICE", help="write this invoice twice")
    parser.add_argument("--look-alike", type=int, metavar="SEED", help="make datasets up instead of reading them")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as made_up:
        if options.look_alike is not None:
            data = Path(made_up)
            lookalike.write(data, options.look_alike)
        else:
            data = Path(os.environ.get("AISLE_TEST_DATA") or parser.error(NO_DATA))
        facts = convert(data, options.out, sample=options.sample, copies=options.copy)
    print("\n".join(facts.lines()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
