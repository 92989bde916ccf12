"""A booking, its undo, and a count between the two: whichever arrives first, the stock is what was counted."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from itertools import permutations
from typing import Any

import pytest

from aisle.service.domain.quantities_times_and_json import format_timestamp
from tests.service.world import World

ORDERS = [order for order in permutations(("booking", "undo", "count")) if order.index("booking") < order.index("undo")]
"""Orders of arrival. An undo waits for what it names."""
PRODUCTS = dict(zip(("P1", "P2", "P3"), ORDERS, strict=True))
"""One product for each order of arrival."""
KINDS = {"loss": -3, "found": 3, "count": 7, "move out": 4, "move in": 5}
BOOKED, COUNTED, UNDONE = 60, 120, 180
"""Seconds at which it is booked, counted and undone."""
BEGINNING = {"A1": Decimal(10), "A2": Decimal(8)}


class Product:
    """One product of the store, and what happens to it."""

    def __init__(self, world: World, number: str, kind: str, place: str | None, figure: int, by_number: bool) -> None:
        self.world, self.number, self.kind, self.start = world, number, kind, world.now
        self.place, self.figure, self.by_number = place, figure, by_number
        self.names: dict[str, str] = {}

    async def begin(self) -> None:
        for place, quantity in BEGINNING.items():
            await self.world.count(self.number, place, stock_pool_1=int(quantity))

    def time(self, second: int) -> str:
        return format_timestamp(self.start + second)

    async def arrive(self, event: str) -> None:
        match event, self.kind:
            case "count", _:
                await self.count("count", self.place, self.figure, COUNTED)
            case "booking", "count":
                await self.count("booking", "A1", KINDS["count"], BOOKED)
            case "booking", "loss" | "found":
                answer = await self.world.log(**self.entry("A1", BOOKED), stock_pool_1=KINDS[self.kind])
                self.names["booking"] = str(answer["data"][0]) if self.by_number else self.time(BOOKED)
            case "booking", _:
                await self.move("A1", "A2", BOOKED)
            case "undo", "move out" | "move in":
                await self.move("A2", "A1", UNDONE, undone_datetime=self.time(BOOKED))
            case _:
                await self.undo("booking", "A1", UNDONE)

    def entry(self, place: str | None, second: int) -> dict[str, Any]:
        said = {"product_number": self.number, "scanned_datetime": self.time(second), "app_user_name": "bea"}
        return said | ({"location_code": place} if place else {})

    async def count(self, name: str, place: str | None, quantity: int, second: int) -> None:
        said: dict[str, Any] = {"scanned_datetime": self.time(second), "app_user_name": "bea"}
        answer = await self.world.count(self.number, place, stock_pool_1=quantity, **said)
        self.names[name] = str(answer["data"][0]) if self.by_number else self.time(second)

    async def move(self, source: str, target: str, second: int, **more: Any) -> None:
        ends = (source, target) if self.kind == "move out" else (target, source)
        item = {"product_number": self.number, "quantity": KINDS[self.kind], **more}
        item |= {end: {"location_code": code} for end, code in zip(("from_location", "to_location"), ends, strict=True)}
        path, headers = "/stores/S1/storeproductlocation/movement", {"Aisle-Occurred-At": self.time(second)}
        await self.world.post(path, [item], headers=headers)

    async def undo(self, name: str, place: str | None, second: int) -> None:
        """Reverse what the log says of an entry."""
        moment = self.time(BOOKED if name == "booking" else COUNTED)
        rows = await self.rows()
        [row] = [each for each in rows if (each["moved_on"], each["source"]) == (moment, self.source(name))]
        reference = f"undo-{self.names[name]}"
        await self.world.log(**self.entry(place, second), stock_pool_1=-Decimal(row["quantity"]), reference=reference)

    def source(self, name: str) -> str:
        return "count" if "count" in (name, self.kind) else "change"

    async def rows(self) -> list[dict[str, Any]]:
        path = "/products/stock/storeproductlogs"
        rows = await self.world.rows(path, store_number="S1", page_size=1000)
        return [row for row in rows if row["product_number"] == self.number]

    async def stock(self) -> dict[str, Decimal]:
        """Return the stock by location, to which the log adds up."""
        sums: defaultdict[str, Decimal] = defaultdict(Decimal)
        for row in await self.rows():
            sums[row.get("location_code", "")] += Decimal(str(row["quantity"]))
        books = {key[1]: quantity for key, quantity in self.world.books().items() if key[0] == self.number}
        assert {place: quantity for place, quantity in sums.items() if quantity} == books
        return books


@pytest.mark.parametrize("by_number", [False, True])
@pytest.mark.parametrize("figure", [10, 12, 7])
@pytest.mark.parametrize("place", ["A1", None])
@pytest.mark.parametrize("kind", KINDS)
async def test_the_order_of_arrival_changes_nothing(
    world: World, kind: str, place: str | None, figure: int, by_number: bool
) -> None:
    """Also, without the count nothing has happened."""
    products = [Product(world, number, kind, place, figure, by_number) for number in PRODUCTS]
    for each in products:
        await each.begin()
    world.now += UNDONE + 60
    for each in products:
        for event in PRODUCTS[each.number]:
            world.now += 10
            await each.arrive(event)
    expected = BEGINNING | ({"A1": Decimal(figure)} if place else {"": figure - sum(BEGINNING.values())})
    assert [await each.stock() for each in products] == [expected] * len(products)
    for each in products:
        world.now += 10
        await each.undo("count", place, int(world.now - each.start))
    assert [await each.stock() for each in products] == [BEGINNING] * len(products)
