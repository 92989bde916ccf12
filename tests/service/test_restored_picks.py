"""Picks of three hosts on one line, restores to any copy, all of it said again in any order: what was picked is what
the line says, and what found no room was told once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from aisle.service.db.database_interface import Transaction
from tests.run_length import tries
from tests.service.database_restore import RestoredLife
from tests.service.test_restores import ORDERS, line, named
from tests.service.world import World

QUANTITY, STOCK = 4, 30


@dataclass
class Said:
    """An update that was confirmed to a host."""

    key: str
    base: int
    picked: int
    told: int = 0
    """What of it found no room, as its host knows."""


class Life(RestoredLife[Said]):
    """Picks on one line; what finds no room is asked for at the end."""

    share_of_work = 0.65
    keys = 0

    async def work(self) -> None:
        base = self.dice.randint(0, QUANTITY)
        await self.new(base, max(0, base + self.dice.choice((1, 2, 3, -1, -2))))
        if self.dice.random() < 0.05:
            await self.world.put(ORDERS, {"orders": {"order_number": "O1", "is_active": False}})

    async def ask(self, picked: int) -> None:
        """What still finds no room."""
        await self.new(picked, picked)

    async def new(self, base: int, picked: int) -> None:
        self.keys += 1
        said = Said(f"k{self.keys}", base, picked)
        answer = await self.send(said)
        if answer is not None:  # else the order is handed over
            said.told = sum(row["left"] for row in answer.get("left", ()))
            self.confirm(said)

    async def repeat(self, write: Said) -> None:
        answer = await self.send(write, {"Aisle-Replay": f"1:{write.told}" if write.told else "all"})
        assert answer is not None
        assert "left" not in answer
        if "carried" in answer and self.dice.random() < 0.3:
            await self.ask(write.picked)

    async def send(self, said: Said, headers: dict[str, str] | None = None) -> dict[str, Any] | None:
        body, key = {"orders": line(1, said.base, said.picked)}, {"Idempotency-Key": f'"{named(said.key)}"'}
        answer = await self.world.send("PUT", ORDERS, body, headers={**key, **(headers or {})})
        assert answer.status_code == 200 or (answer.status_code == 409 and not headers), answer.text
        found: dict[str, Any] = answer.json()
        return found if answer.status_code == 200 else None


async def _line(tx: Transaction) -> tuple[int, int]:
    row = await tx.one("SELECT picked, delivered FROM order_line WHERE order_number = 'O1'")
    assert row is not None
    return row[0] // 1000, row[1] // 1000


@pytest.mark.parametrize("seed", range(tries(4, 100)))
async def test_line_shows_what_was_picked_after_restores(world: World, seed: int) -> None:
    if isinstance(world.database, str):
        pytest.skip("the lives of the fault suite try PostgreSQL")
    await world.count("P1", "A1", stock_pool_1=STOCK)
    await world.order("O1", {"product_number": "P1", "quantity": QUANTITY})
    life = Life(world, seed)
    await life.go()
    await life.ask(1)
    picked, delivered = world.service.database.read_now(_line)
    said = [each for host in life.hosts for each in host]
    assert picked == sum(each.picked - each.base - each.told for each in said)
    assert sum(world.books().values()) == STOCK - delivered
    if not (await world.see("O1"))["is_active"]:
        assert delivered == picked
