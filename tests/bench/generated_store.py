"""A seeded shop of any size: believable products, places, stock and orders, as the CSV files that `aisle load` reads.

Some orders have a single line of so many that no run of the benchmarks comes to its end.
"""

import csv
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

STORE = "0042"
USER = "ann"
ORDER = "BENCH-1"
QUANTITY = 99_973
"""Of the one line of such an order; no other figure on a screen looks like it."""

_KINDS = (
    "Cola",
    "Milk",
    "Rice",
    "Soap",
    "Tea",
    "Coffee",
    "Flour",
    "Pasta",
    "Juice",
    "Bread",
    "Cheese",
    "Candle",
    "Mug",
)
_MAKERS = ("Abelia", "Borago", "Cassia", "Dahlia", "Erica", "Freesia", "Gentian", "Hosta", "Iberis", "Jasmin")
_MANNERS = ("fresh", "dark", "mild", "organic", "family", "classic", "small", "extra", "light", "baked")


class Product(NamedTuple):
    """One product of the shop and where it lies."""

    number: str
    barcode: str
    name: str
    price: str
    place: str
    quantity: int


def ean13(body: str) -> str:
    """The twelve digits with their check digit."""
    total = sum(int(digit) * (3 if index % 2 else 1) for index, digit in enumerate(body))
    return f"{body}{-total % 10}"


def products(count: int, seed: int = 42) -> list[Product]:
    """So many products; the same seed gives the same shop. The first one is the one that is scanned."""
    chance = random.Random(seed)
    return [
        Product(
            number=str(1_000_000 + index),
            barcode=ean13(f"40{index:010d}"),
            name=" ".join(map(chance.choice, (_MAKERS, _MANNERS, _KINDS))) + f" {chance.randrange(50, 2000)} g",
            price=f"{chance.randrange(49, 4999) / 100:.2f}",
            place=f"{chr(65 + index % 20)}-{index // 20 % 50:02d}",
            quantity=QUANTITY + 10 if index == 0 else chance.randrange(0, 60),
        )
        for index in range(count)
    ]


def write(
    folder: Path, goods: Sequence[Product], orders: int = 40, seed: int = 43, endless: Sequence[str] = (ORDER,)
) -> Path:
    """Writes the shop's files into the folder; answers with it. `endless` are orders that are never all picked."""
    chance = random.Random(seed)
    places = {product.place: index for index, product in enumerate(goods)}
    folder.mkdir(parents=True, exist_ok=True)
    _table(folder / "stores.csv", ("store_number", "store_name", "is_warehouse"), [(STORE, "Bench Street", "false")])
    _table(
        folder / "products.csv",
        ("product_number", "product_name", "barcode", "price", "is_stock", "is_active"),
        ((each.number, each.name, each.barcode, each.price, "true", "true") for each in goods),
    )
    _table(
        folder / "locations.csv",
        ("store_number", "location_code", "location_order", "default_stock_pool"),
        ((STORE, place, order, 1) for order, place in enumerate(sorted(places), 1)),
    )
    _table(
        folder / "stock.csv",
        ("store_number", "product_number", "location_code", "stock_pool", "quantity"),
        ((STORE, each.number, each.place, 1, each.quantity) for each in goods),
    )
    lines: list[tuple[Any, ...]] = [(STORE, name, 1, goods[0].number, QUANTITY, goods[0].price) for name in endless]
    for order in range(orders):
        taken = chance.sample(goods, 5)
        lines += [
            (STORE, f"SO-{order:05d}", line, each.number, chance.randrange(1, 4), each.price)
            for line, each in enumerate(taken, 1)
        ]
    heads = ("store_number", "order_number", "line_number", "product_number", "quantity", "price")
    _table(folder / "orders.csv", heads, lines)
    return folder


def _table(path: Path, heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(heads)
        writer.writerows(rows)
