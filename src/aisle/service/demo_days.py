"""What people did in the demo store before it is opened: three weeks of counts, losses and movements. Pure and seeded.

Each deed is a request of the interface at its own moment, so that the service's rules make the books of it.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from aisle.service.demo_goods import Body
from aisle.tuples import NamedTuple

DAYS = 21
"""So many days of history."""
OPENING = DAYS + 1
"""The day on which the stock was counted in, so long ago."""

LOGS, MOVEMENT, REVIEW = "create-store-product-logs", "create-movement", "review-logs"

STAFF = ("U1", "U2", "U3", "U4", "U5")
CHIEF = "U6"

_DAY_S = 86400
_LATELY = 7
"""Days of which everything is told; before, a week has one day of counts and movements, and losses on some."""
_REASONS = ((1, "Damaged"), (2, "Expired"), (3, "Theft"), (4, "Own use"), (5, "Found"))
_FOUND = 5
_OFTEN = (5, 6, 2, 1, 1)
_OFF = {(2, 0): -3, (1, 1): 2}
"""How far counts of the last days were off the books, by day and entry: a supervisor has to look at few."""


class Deed(NamedTuple):
    """One request of a person: `days` ago at this `minute` of the day (UTC); of today, so many minutes ago.

    A review is of what the movement before it took.
    """

    days: int
    minute: int
    user: str
    operation: str
    body: Any = None
    query: Mapping[str, Any] = MappingProxyType({})

    def at(self, now: float) -> float:
        """When it was done, in seconds since 1970."""
        if not self.days:
            return now - self.minute * 60
        return now - now % _DAY_S - self.days * _DAY_S + self.minute * 60


class Shelves:
    """What lies where of some products, as the deeds change it: (product, place) → quantity."""

    def __init__(self, counts: list[Body], products: Collection[str]) -> None:
        self.have: dict[tuple[str, str], int] = {}
        self.homes: dict[str, str] = {}
        self.stores: dict[str, str] = {}
        for entry in counts:
            product, place = entry["product_number"], entry["location_code"]
            if product in products:
                is_home = "stock_pool_1" in entry
                (self.homes if is_home else self.stores)[product] = place
                self.have[(product, place)] = int(entry["stock_pool_1" if is_home else "stock_pool_2"])

    def plenty(self, least: int) -> list[str]:
        """The products with so much on the shelf or more."""
        return [product for product, place in self.homes.items() if self.have[(product, place)] >= least]

    def stored(self, least: int, most: int) -> list[str]:
        """The products of which so much lies in the backroom."""
        return [product for product, place in self.stores.items() if least <= self.have[(product, place)] <= most]

    def change(self, product: str, place: str, quantity: int) -> None:
        """Goods come or go."""
        self.have[(product, place)] += quantity


def everyday(rng: random.Random, shelves: Shelves, dear: Collection[str]) -> Iterator[Deed]:
    """The days up to yesterday, the oldest first, and what was done today; `dear` are products of a high price."""
    for day in range(DAYS, 0, -1):
        if day <= _LATELY or not day % 7:
            yield _counted(rng, shelves, day)
            yield _moved(rng, shelves, day)
        if day in (1, 5):
            yield from _more_than_there_was(shelves, day, is_settled=day > 1)
        if day <= _LATELY or not day % 2:
            yield _lost(rng, shelves, day)
    yield _lost(rng, shelves, 0)
    first = next(product for product in shelves.plenty(4) if product in dear)
    second = rng.choice(shelves.plenty(4))
    yield _count(0, 32, CHIEF, [_seen(shelves, second, 0)])
    yield _count(0, 25, "U3", [_seen(shelves, first, -2), _seen(shelves, second, 0)])


def _counted(rng: random.Random, shelves: Shelves, day: int) -> Deed:
    entries = []
    for index, product in enumerate(rng.sample(shelves.plenty(4), 3)):
        off = _OFF.get((day, index), 0)
        if day > _LATELY and not index:
            off = rng.choice((-2, -1, 1))
        entries.append(_seen(shelves, product, off))
    return _count(day, 8 * 60 + rng.randrange(60), rng.choice(STAFF), entries)


def _seen(shelves: Shelves, product: str, off: int) -> Body:
    """A shelf as somebody found it: the books say something else where it is `off`."""
    place = shelves.homes[product]
    shelves.change(product, place, off)
    return {"product_number": product, "location_code": place, "stock_pool_1": shelves.have[(product, place)]}


def _count(day: int, minute: int, user: str, entries: list[Body]) -> Deed:
    return Deed(day, minute, user, LOGS, {"storeproductlog": entries}, {"is_counted_quantity": True})


def _lost(rng: random.Random, shelves: Shelves, day: int) -> Deed:
    entries = []
    for product in rng.sample(shelves.plenty(10), 2 if day <= _LATELY else 3):
        [(code, words)] = rng.choices(_REASONS, _OFTEN)
        quantity = 1 if code == _FOUND else -rng.choice((1, 1, 2, 3))
        place = shelves.homes[product]
        shelves.change(product, place, quantity)
        why = {"reason_code": code, "loss_comment": words}
        entries.append({"product_number": product, "location_code": place, "quantity": quantity, **why})
    minute, user = (18 * 60 + rng.randrange(60), rng.choice(STAFF)) if day else (40, STAFF[0])
    return Deed(day, minute, user, LOGS, {"storeproductlog": entries})


def _moved(rng: random.Random, shelves: Shelves, day: int) -> Deed:
    """Shelves are filled up from the backroom."""
    items = []
    for product in rng.sample(shelves.stored(6, 99), 2):
        quantity, source, target = rng.randint(2, 6), shelves.stores[product], shelves.homes[product]
        shelves.change(product, source, -quantity)
        shelves.change(product, target, quantity)
        items.append(_item(product, quantity, source, target))
    return Deed(day, 10 * 60 + rng.randrange(60), rng.choice(STAFF), MOVEMENT, items)


def _item(product: str, quantity: int, source: str, target: str) -> Body:
    ends = {"location_code": source, "stock_pool": 2}, {"location_code": target, "stock_pool": 1}
    return {"product_number": product, "quantity": quantity, "from_location": ends[0], "to_location": ends[1]}


def _more_than_there_was(shelves: Shelves, day: int, *, is_settled: bool) -> Iterator[Deed]:
    """More is brought from the backroom than the books have there; once a supervisor has looked at it, and counted."""
    product = shelves.stored(6, 12)[0]
    place, home = shelves.stores[product], shelves.homes[product]
    quantity = shelves.have[(product, place)] + 2
    shelves.change(product, place, -quantity)
    shelves.change(product, home, quantity)
    yield Deed(day, 840, "U2", MOVEMENT, [_item(product, quantity, place, home) | {"allow_overage": True}])
    if is_settled:
        yield Deed(day, 930, CHIEF, REVIEW)
        shelves.change(product, place, 2)
        entry = {"product_number": product, "location_code": place, "stock_pool_2": 0}
        yield _count(day, 935, CHIEF, [entry])
