"""What is asked in one request comes to what it comes to one by one, and asks the database once for all of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from aisle.service.auth.authorization import StoreScopedTransaction
from aisle.service.db.database_interface import Statement
from aisle.service.db.statements import stock as sql
from aisle.service.domain.quantities_times_and_json import format_timestamp
from tests.service.world import LOGS, START, World, line_end

MOVE = "/stores/S1/storeproductlocation/movement"
TOGETHER, APART = "P1", "P2"
"""The same is done with both of them."""
Spots = dict[tuple[Any, ...], Decimal]


def stock(world: World, product: str) -> Spots:
    """What there is of a product, its orders called alike."""
    return {
        (*spot[1:3], *(part for part in spot[4:])): quantity
        for spot, quantity in world.books().items()
        if spot[0] == product
    }


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """How often each statement is asked for in this block."""
    asked: Counter[str] = Counter()

    def counts(inner: Any) -> Any:
        async def ask(self: StoreScopedTransaction, text: str, *args: Any) -> Any:
            asked[text] += 1
            return await inner(self, text, *args)

        return ask

    together = StoreScopedTransaction.run_batch

    async def ask_together(self: StoreScopedTransaction, statements: Iterable[Statement]) -> None:
        kept = list(statements)
        asked.update({text: 1 for text, _ in kept})
        await together(self, kept)

    with monkeypatch.context() as patch:
        patch.setattr(StoreScopedTransaction, "run_batch", ask_together)
        for name in ("all", "one", "run", "run_many"):
            patch.setattr(StoreScopedTransaction, name, counts(getattr(StoreScopedTransaction, name)))
        yield asked


def entries(random: Random) -> Iterator[dict[str, Any]]:
    """Counts and changes of one product, here and there and in the whole store, of moments in any order."""
    for _ in range(8):
        what = random.choice(({"counted_quantity": random.randint(0, 9)}, {"quantity": random.randint(-4, 6)}))
        place = random.choice(("A1", "A2", "BACK", ""))
        when = {"scanned_datetime": format_timestamp(START - random.randint(0, 40))} if random.random() < 0.8 else {}
        yield what | ({"location_code": place} if place else {}) | when


async def told(world: World, product: str) -> list[tuple[Any, ...]]:
    """What the log says of a product."""
    rows = await world.rows("/products/stock/storeproductlogs", store_number="S1", article_number=product)
    return [(one.get("quantity"), one.get("expected_quantity"), one["review_status"]) for one in rows]


@pytest.mark.parametrize("seed", range(4))
async def test_counts_and_changes(world: World, seed: int) -> None:
    said = list(entries(Random(seed)))
    await world.post(LOGS, {"storeproductlog": [{"product_number": TOGETHER, **entry} for entry in said]})
    for entry in said:
        await world.post(LOGS, {"storeproductlog": [{"product_number": APART, **entry}]})
    assert stock(world, TOGETHER) == stock(world, APART) != {}
    assert await told(world, TOGETHER) == await told(world, APART)


def movements(random: Random) -> Iterator[dict[str, Any]]:
    """Movements of one product to places, to the two lines of its order and back."""
    held = Counter[int]()
    for _ in range(12):
        line = random.choice((1, 2))
        here, there = random.sample(("A1", "A2", "BACK"), 2)
        if held[line] and random.random() < 0.4:
            held[line] -= 1
            yield {"from": ("DESK", line), "to": (here, 0), "quantity": 1}
        elif random.random() < 0.5:
            held[line] += 1
            yield {"from": (here, 0), "to": ("DESK", line), "quantity": 1}
        else:
            yield {"from": (here, 0), "to": (there, 0), "quantity": random.randint(1, 3)}


def item(product: str, said: dict[str, Any]) -> dict[str, Any]:
    """A movement as it is sent; the order of a product has its name."""
    ends = {
        f"{name}_location": line_end(f"O-{product}", line, place) if line else {"location_code": place}
        for name, (place, line) in ((name, said[name]) for name in ("from", "to"))
    }
    return {"product_number": product, "quantity": said["quantity"], "allow_overage": True, **ends}


async def lines_of(world: World, product: str) -> list[tuple[Any, ...]]:
    """How far the lines of a product's order are."""
    lines = (await world.see(f"O-{product}"))["lines"]
    return [(one["picked_quantity"], one["moved_quantity"], one["is_picked"]) for one in lines]


@pytest.mark.parametrize("seed", range(4))
async def test_movements(world: World, seed: int) -> None:
    said = list(movements(Random(seed)))
    late = {"Aisle-Occurred-At": format_timestamp(START - 5)}
    for product in (TOGETHER, APART):
        await world.count(product, "A1", stock_pool_1=2, scanned_datetime=format_timestamp(START - 9))
        await world.count(product, "A2", stock_pool_1=1, stock_pool_2=1)  # after they happened
        await world.order(f"O-{product}", *[{"product_number": product, "quantity": 30}] * 2)
        await world.pick(f"O-{product}", 1, product, 1)
    await world.post(MOVE, [item(TOGETHER, one) for one in said], headers=late)
    for one in said:
        await world.post(MOVE, [item(APART, one)], headers=late)
    assert stock(world, TOGETHER) == stock(world, APART) != {}
    assert await lines_of(world, TOGETHER) == await lines_of(world, APART)
    assert await told(world, TOGETHER) == await told(world, APART)


async def test_lines_of_an_order(world: World) -> None:
    picks = ((1, 4), (2, 3), (3, 5), (1, 2), (3, 0), (2, 4))

    def lines(product: str, said: Sequence[tuple[int, int]]) -> Iterable[dict[str, Any]]:
        return [{"line_number": n, "product_number": product, "picked_quantity": picked} for n, picked in said]

    for product in (TOGETHER, APART):
        await world.count(product, "A1", stock_pool_1=6)
        await world.count(product, "A2", stock_pool_1=3)
        await world.order(f"O-{product}", *[{"product_number": product, "quantity": 5}] * 3)
    await world.update(f"O-{TOGETHER}", *lines(TOGETHER, picks))
    for pick in picks:
        await world.update(f"O-{APART}", *lines(APART, [pick]))
    assert stock(world, TOGETHER) == stock(world, APART) != {}


async def test_many_items_are_read_at_once_and_their_legs_written_at_once(
    world: World, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = 2 if engine == "twice" else 1
    for product in (TOGETHER, APART):
        await world.count(product, "A1", stock_pool_1=50)
    await world.order("O", *[{"product_number": (TOGETHER, APART)[n % 2], "quantity": 2} for n in range(20)])
    with counted(monkeypatch) as asked:
        await world.update("O", *[_picked(n) for n in range(20)])
    assert asked[sql.FREE_OF_PRODUCTS] == asked[sql.HELD_FOR_ORDER] == times
    assert asked[sql.LEG_ADD] == asked[sql.BALANCE_ADD] == times
    assert not asked[sql.HELD_FOR_LINE]
    late = {"Aisle-Occurred-At": format_timestamp(START - 5)}
    with counted(monkeypatch) as asked:
        items = [item((TOGETHER, APART)[n % 2], {"from": ("A1", 0), "to": ("A2", 0), "quantity": 1}) for n in range(20)]
        await world.post(MOVE, items, headers=late)
    once = (sql.FREE_OF_PRODUCTS, sql.LAST_COUNTS_OF_PRODUCTS, sql.LEG_ADD, sql.BALANCE_ADD)
    assert [asked[text] for text in once] == [times] * 4


async def test_a_pick_of_one_line_costs_no_more_in_a_long_order(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await world.count(TOGETHER, "A1", stock_pool_1=50)
    costs = []
    for number, length in (("short", 2), ("long", 40)):
        await world.order(number, *[{"product_number": TOGETHER, "quantity": 2}] * length)
        with counted(monkeypatch) as asked:
            await world.update(number, _picked(0))
        costs.append(asked)
    assert costs[0] == costs[1]


def _picked(n: int) -> dict[str, Any]:
    return {"line_number": n + 1, "product_number": (TOGETHER, APART)[n % 2], "picked_quantity": 1}
