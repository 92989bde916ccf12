"""Moves, losses and counts of three hosts, restores to any copy, all of it said again in any order: what lies where is
what it came to in the order in which it happened."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pytest

from aisle.service.domain.quantities_times_and_json import format_timestamp
from tests.run_length import tries
from tests.service.database_restore import RestoredLife
from tests.service.test_restores import MOVES, named
from tests.service.world import LOGS, World

PLACES = ("A1", "A2", "A10")
STOCK = 20
"""At each place."""
KINDS = ("move", "move", "change", "count")


@dataclass
class Said:
    """A write that was confirmed to a host."""

    key: str
    at: float
    kind: str
    place: str
    target: str
    quantity: int


class Life(RestoredLife[Said]):
    """Moves, losses and counts."""

    async def work(self) -> None:
        dice, kind = self.dice, self.dice.choice(KINDS)
        self.world.now += dice.randint(5, 60)
        place, target = dice.sample(PLACES, 2)
        quantity = {"move": dice.randint(1, 5), "change": dice.choice((-2, -1, 1)), "count": dice.randint(5, 30)}[kind]
        said = Said(f"k{self.world.now:.0f}", self.world.now, kind, place, target, quantity)
        if await self.send(said) == 200:  # else there are not so many
            self.confirm(said)

    async def repeat(self, write: Said) -> None:
        assert await self.send(write, {"Aisle-Replay": "all"}) == 200

    async def send(self, said: Said, more: dict[str, str] | None = None) -> int:
        headers = {
            "Idempotency-Key": f'"{named(said.key)}"',
            "Aisle-Occurred-At": format_timestamp(said.at),
            **(more or {}),
        }
        if said.kind == "move":
            ends = {"from_location": {"location_code": said.place}, "to_location": {"location_code": said.target}}
            body = [{"product_number": "P1", "quantity": said.quantity, **ends}]
            return (await self.world.send("POST", MOVES, body, headers=headers)).status_code
        is_count = said.kind == "count"
        entry = {"product_number": "P1", "location_code": said.place}
        entries = {"storeproductlog": [{**entry, "counted_quantity" if is_count else "quantity": said.quantity}]}
        query = {"is_counted_quantity": is_count}
        return (await self.world.send("POST", LOGS, entries, headers=headers, query=query)).status_code


def came_to(said: Iterable[Said], place: str) -> int:
    """What lies there after all that was said, one after the other."""
    there = STOCK
    for each in sorted(said, key=lambda each: each.at):
        if each.place == place:
            there = each.quantity if each.kind == "count" else there + each.quantity * (-1, 1)[each.kind == "change"]
        elif each.kind == "move" and each.target == place:
            there += each.quantity
    return there


@pytest.mark.parametrize("seed", range(tries(4, 100)))
async def test_stock_by_location_is_right_after_restores(world: World, seed: int) -> None:
    if isinstance(world.database, str):
        pytest.skip("the lives of the fault suite try PostgreSQL")
    for place in PLACES:
        await world.count("P1", place, stock_pool_1=STOCK)
    life = Life(world, seed)
    await life.go()
    books, said = world.books(), [each for host in life.hosts for each in host]
    assert {place: books.get(("P1", place, 1), 0) for place in PLACES} == {p: came_to(said, p) for p in PLACES}
    entries = await world.rows("/products/stock/storeproductlogs", article_number="P1")
    assert sum(entry.get("quantity", 0) for entry in entries) == sum(books.values())
