"""While a restore is noticed and made good, no screen shows another figure than before, not for a moment; and nobody is
told that somebody else changed his order."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from aisle.outbox.replay_after_restore import REPORTED
from tests.faults.goods import CODES
from tests.faults.host import Host, Person
from tests.faults.link import Fault
from tests.faults.world import World, world
from tests.service.database_restore import copy_of, put_back


def figures(host: Host, order: str) -> tuple[Any, ...]:
    """What screens say of the order's lines, and of all goods."""
    (row,) = host.query("order", order_number=order)
    lines = [(line["line_number"], line["picked_quantity"], line["is_picked"]) for line in row["lines"]]
    goods = []
    for product in CODES:
        (stock,) = host.query("product", product_number=product)
        places = sorted(
            (place["location_code"], place["quantity"]) for place in stock["locations"] if place["quantity"]
        )
        goods.append((product, stock["most_likely_quantity"], places))
    return tuple(lines), tuple(map(str, goods))


class Watch:
    """Looks at the screens whenever a courier asks for something."""

    def __init__(self, host: Host, person: Person, order: str) -> None:
        self.said: list[str] = []
        self._host, self._person, self._order = host, person, order
        self.right = figures(host, order)

    def __call__(self, request: httpx.Request) -> Fault:
        self.look()
        return Fault()

    def look(self) -> None:
        """Raises AssertionError for another figure."""
        assert figures(self._host, self._order) == self.right
        self._person.look()
        self.said.append(self._person.told[1])


Work = Callable[[Person], None]


def pick(person: Person) -> None:
    """Two pieces in hand, one of them put back, one taken again: its line is not full."""
    person.home()
    person.say("O-1", CODES["P1"], CODES["P1"], "u", CODES["P1"])


def move(person: Person) -> None:
    """Three of a product, somewhere else."""
    person.open("home.move")
    person.say("A-2", f"3*{CODES['P3']}", "B-1")


def lose(person: Person) -> None:
    """Two pieces are lost."""
    person.open("home.count")
    person.say("1", "A-1", CODES["P2"], "2", "1")


async def all_at_once(shop: World, database: Path, person: Person, works: tuple[Work, ...]) -> None:
    """All of the work is lost."""
    copy = copy_of(database)
    for work in works:
        work(person)
    await shop.quiet()
    put_back(database, copy)


async def half_of_it(shop: World, database: Path, person: Person, works: tuple[Work, ...]) -> None:
    """The first part of the work is in the copy."""
    works[0](person)
    await shop.quiet()
    copy = copy_of(database)
    for work in works[1:] or works:
        work(person)
    await shop.quiet()
    put_back(database, copy)


async def twice(shop: World, database: Path, person: Person, works: tuple[Work, ...]) -> None:
    """It is lost, made good, and lost again."""
    copy = copy_of(database)
    for work in works:
        work(person)
    await shop.quiet()
    put_back(database, copy)
    await shop.quiet()
    put_back(database, copy)


async def not_read_back(shop: World, database: Path, person: Person, works: tuple[Work, ...]) -> None:
    """It is lost before it was read back."""
    copy = copy_of(database)
    for work in works:
        work(person)
    await shop.step(0)
    put_back(database, copy)


async def told_of_one(shop: World, database: Path, person: Person, works: tuple[Work, ...]) -> None:
    """Nothing is lost: an operator has all of it sent again."""
    for work in works:
        work(person)
    await shop.quiet()
    shop.host.outbox.replay_since(0.0, 0.0, REPORTED)


Losing = Callable[[World, Path, Person, tuple[Work, ...]], Awaitable[None]]
WORKS = [(pick,), (move,), (lose,), (move, pick), (lose, move, pick)]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("works", WORKS, ids=lambda works: "+".join(work.__name__ for work in works))
@pytest.mark.parametrize("losing", [all_at_once, half_of_it, twice, not_read_back, told_of_one])
async def test_no_figure_is_off_and_nobody_else_is_blamed(
    memory: Path, losing: Losing, works: tuple[Work, ...]
) -> None:
    async with world(memory) as shop:
        anna = shop.host.person("dock-1", "anna")
        anna.say("O-1")
        await losing(shop, memory / "service.db", anna, works)
        shop.host.line.plan = watch = Watch(shop.host, anna, "O-1")
        await shop.time.pass_(150)
        shop.host.wake()
        await shop.quiet()
        watch.look()
        assert shop.host.restores(), "the restore was noticed"
        assert not {"pick.changed", "pick.changed_question_dropped"}.intersection(watch.said)
        shop.check()
