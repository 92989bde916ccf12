"""Goods that are taken from a location, and put down later: counts in between, whoever is heard of first."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from typing import Any

import pytest

from aisle.service.domain.quantities_times_and_json import format_timestamp
from tests.service.world import LOGS, World, line_end

MOVEMENT = "/stores/S1/storeproductlocation/movement"

TAKEN, PUT_DOWN = 20, 40
"""Minutes at which goods are taken from A1 and put down at A2."""


COUNTS: dict[str, tuple[int, dict[str | None, int]]] = {
    "before": (10, {"A1": 10, "A2": 0}),
    "under way": (30, {"A1": 7, "A2": 0}),
    "afterwards": (50, {"A1": 7, "A2": 3}),
}
"""When somebody counts, and what is at A1 and A2 then, of 10 at A1 of which 3 are moved."""


async def _start(world: World) -> float:
    """Put 10 at A1; return the minute 0."""
    await world.count("P1", "A1", stock_pool_1=10)
    return world.now


def _time(start: float, minute: int) -> str:
    return format_timestamp(start + 60 * minute)


async def _move(world: World, start: float, *items: dict[str, Any], status: int = 200, put_down: int = PUT_DOWN) -> Any:
    headers = {"Aisle-Occurred-At": _time(start, put_down)}
    return await world.post(MOVEMENT, list(items), status, headers=headers)


def _item(start: float, quantity: int = 3, taken: int | None = TAKEN, **more: Any) -> dict[str, Any]:
    ends = {"from_location": {"location_code": "A1"}, "to_location": {"location_code": "A2"}}
    time = {} if taken is None else {"taken_datetime": _time(start, taken)}
    return {"product_number": "P1", "quantity": quantity, **ends, **time, **more}


async def _count(world: World, start: float, *counts: tuple[int, str | None, int], status: int = 200) -> Any:
    entries = [
        {"product_number": "P1", "stock_pool_1": quantity, "scanned_datetime": _time(start, minute)}
        | ({"location_code": place} if place else {})
        for minute, place, quantity in counts
    ]
    return await world.post(LOGS, {"storeproductlog": entries}, status, query={"is_counted_quantity": True})


async def _stock(world: World) -> dict[str, Decimal]:
    """Return the stock by location, to which the log adds up."""
    sums: defaultdict[str, Decimal] = defaultdict(Decimal)
    for row in await world.rows("/products/stock/storeproductlogs", store_number="S1", page_size=1000):
        sums[row.get("location_code", "")] += Decimal(str(row["quantity"]))
    books: defaultdict[str, Decimal] = defaultdict(Decimal)
    for key, quantity in world.books().items():
        books[key[1]] += quantity
    assert {place: quantity for place, quantity in sums.items() if quantity} == dict(books)
    return dict(books)


@pytest.mark.parametrize("place", ["A1", "A2", "both"])
@pytest.mark.parametrize("when", COUNTS)
@pytest.mark.parametrize("heard_first", ["count", "movement"])
async def test_each_location_has_what_is_there(world: World, heard_first: str, when: str, place: str) -> None:
    start = await _start(world)
    minute, figures = COUNTS[when]
    counts = [(minute, at, figures[at]) for at in ("A1", "A2") if place in (at, "both")]
    world.now = start + 60 * (minute if heard_first == "count" else 60)
    if heard_first == "movement":
        await _move(world, start, _item(start))
    await _count(world, start, *counts)
    world.now = start + 60 * 70
    if heard_first == "count":
        await _move(world, start, _item(start))
    assert await _stock(world) == {"A1": 7, "A2": 3}


@pytest.mark.parametrize("heard_first", ["count", "movement"])
@pytest.mark.parametrize("total", [10, 7])
async def test_total_of_the_store_counts_goods_once(world: World, total: int, heard_first: str) -> None:
    """Who leaves A1 as it is counts it with its 10; who counts 7 there counts 7 in all."""
    start = await _start(world)
    world.now = start + 60 * 30
    counts: list[tuple[int, str | None, int]] = [(30, "A1", 7)] if total == 7 else []
    if heard_first == "movement":
        world.now = start + 60 * 60
        await _move(world, start, _item(start))
    await _count(world, start, *counts, (30, None, total))
    world.now = start + 60 * 70
    if heard_first == "count":
        await _move(world, start, _item(start))
    assert await _stock(world) == {"A1": 7, "A2": 3}


@pytest.mark.parametrize("heard_first", ["count", "movement"])
async def test_goods_taken_before_and_after_a_count_are_told_apart(world: World, heard_first: str) -> None:
    start = await _start(world)
    items = [_item(start, 2, TAKEN), _item(start, 1, 35)]
    world.now = start + 60 * 60
    if heard_first == "movement":
        await _move(world, start, *items)
    await _count(world, start, (30, "A1", 8))
    if heard_first == "count":
        await _move(world, start, *items)
    assert await _stock(world) == {"A1": 7, "A2": 3}


async def test_all_goods_of_a_location_are_under_way_when_it_is_counted(world: World) -> None:
    """Nothing is left in the books to move, and nothing is below zero."""
    start = await _start(world)
    world.now = start + 60 * 60
    await _count(world, start, (30, "A1", 0))
    await _move(world, start, _item(start, 10, None), status=409)
    await _move(world, start, _item(start, 10))
    assert await _stock(world) == {"A2": 10}
    rows = await world.rows("/products/stock/storeproductlogs", store_number="S1")
    assert [row["review_status"] for row in rows if row["source"] != "count"] == ["0"] * 3


async def test_goods_that_were_held_at_the_location_are_told_apart_too(world: World) -> None:
    start = await _start(world)
    await world.order("O1", {"product_number": "P1", "quantity": 3})
    await world.move("P1", 3, "A1", line_end("O1", 1, "A1"))
    world.now = start + 60 * 60
    await _count(world, start, (30, "A1", 7))
    ends = {"from_location": line_end("O1", 1, "A1"), "to_location": line_end("O1", 1, "A2")}
    await _move(world, start, _item(start) | ends)
    assert await _stock(world) == {"A1": 7, "A2": 3}
    assert (await world.line("O1"))["picked_quantity"] == 3


@pytest.mark.parametrize("heard_first", ["movement", "undo"])
async def test_undone_count_leaves_what_was_moved(world: World, heard_first: str) -> None:
    start = await _start(world)
    world.now = start + 60 * 30
    counted_at = _time(start, 30)
    await _count(world, start, (30, "A1", 7))
    world.now = start + 60 * 60
    undo: dict[str, Any] = {
        "product_number": "P1",
        "location_code": "A1",
        "stock_pool_1": 3,
        "reference": f"undo-{counted_at}",
    }
    if heard_first == "movement":
        await _move(world, start, _item(start))
    await world.log(**undo)
    if heard_first == "undo":
        await _move(world, start, _item(start))
    assert await _stock(world) == {"A1": 7, "A2": 3}


async def test_log_has_the_time_at_which_goods_left_and_arrived(world: World) -> None:
    start = await _start(world)
    world.now = start + 60 * 60
    await _move(world, start, _item(start))
    rows = await world.rows("/products/stock/storeproductlogs", store_number="S1")
    times = {row["location_code"]: row["moved_on"] for row in rows if row["source"] == "movement"}
    assert times == {"A1": _time(start, TAKEN), "A2": _time(start, PUT_DOWN)}


async def test_goods_are_not_taken_after_they_are_put_down(world: World) -> None:
    start = await _start(world)
    world.now = start + 60 * 60
    await _move(world, start, _item(start, taken=PUT_DOWN + 5))
    rows = await world.rows("/products/stock/storeproductlogs", store_number="S1")
    assert {row["moved_on"] for row in rows if row["source"] == "movement"} == {_time(start, PUT_DOWN)}
    await _move(world, start, _item(start) | {"taken_datetime": "soon"}, status=400)
