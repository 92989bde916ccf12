"""The three datasets as rows, exactly as they are; each folder's README describes columns and dirt."""

import csv
import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ONLINE_RETAIL = "uci-online-retail/online-retail.csv.gz"
BINS = "warehouse-bins/pick-lines-2018.csv.gz"
FOOD = "open-food-facts/products.csv.gz"
BRANDED_FOOD = "open-food-facts/fr-branded-utf16.csv.gz"

# An ingredient list may be long; the largest that a cell can be is no matter here.
csv.field_size_limit(sys.maxsize)


class Sale(NamedTuple):
    """A line of the web shop's year, each field as text."""

    invoice: str
    code: str
    description: str
    quantity: str
    when: str
    price: str
    customer: str
    country: str


class Bin(NamedTuple):
    """A bin of the distribution centre: its code, its alley, and where it stands, in metres."""

    code: str
    alley: str
    x: float
    y: float


class Food(NamedTuple):
    """A product of the food catalogue; `line` is where its row stands in the `file`, the header being 1."""

    file: str
    line: int
    barcode: str
    name: str
    brand: str


def sales(data: Path) -> Iterator[Sale]:
    """Every line of the web shop, in the order of the file."""
    with gzip.open(data / ONLINE_RETAIL, "rt", encoding="utf-8", newline="") as stream:
        rows = csv.reader(stream)
        next(rows)
        for row in rows:
            yield Sale(*row)


def is_core(sale: Sale) -> bool:
    """Whether the line can become an order's: digits-only invoice, a customer, a positive quantity."""
    return sale.invoice.isdigit() and bool(sale.customer) and int(sale.quantity) > 0


def bins(data: Path) -> list[Bin]:
    """Each bin once, as first met."""
    found: dict[str, Bin] = {}
    with gzip.open(data / BINS, "rt", encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            x, y = json.loads(row["Coord"])
            found.setdefault(row["Location"], Bin(row["Location"], row["Alley_Number"], float(x), float(y)))
    return list(found.values())


def foods(data: Path) -> Iterator[Food]:
    """The food catalogue, without brands."""
    with gzip.open(data / FOOD, "rt", encoding="utf-8", newline="") as stream:
        for line, row in enumerate(csv.DictReader(stream), 2):
            yield Food(FOOD, line, row["barcode_id"], row["product_name"], "")


def branded_foods(data: Path) -> Iterator[Food]:
    """The French part of the catalogue, with brands (several in one field, separated by commas)."""
    with gzip.open(data / BRANDED_FOOD, "rt", encoding="utf-16", newline="") as stream:
        for line, row in enumerate(csv.DictReader(stream, delimiter=";"), 2):
            yield Food(BRANDED_FOOD, line, row["code"], row["product_name"], row["brands"])
