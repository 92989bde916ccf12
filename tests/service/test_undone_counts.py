"""Undo of a count: late messages that it had absorbed change the stock again, as if nobody had counted."""

from collections import defaultdict
from decimal import Decimal
from typing import Any

import pytest

from aisle.service.domain.quantities_times_and_json import format_timestamp
from tests.service.world import LOGS, World

FOUND, LOST, RECEIPT, PICK = ("found", 3), ("loss", -3), ("receipt", 6), ("pick", 2)
OUT, IN = ("move out", 4), ("move in", 5)


async def _count(world: World, place: str | None, quantity: int, at: str = "") -> str:
    """Count P1 half a minute later; return the time of the count."""
    world.now += 30
    at = at or format_timestamp(world.now)
    await world.count("P1", place, stock_pool_1=quantity, scanned_datetime=at, app_user_name="bea")
    return at


async def _undo(world: World, moment_or_number: str, place: str | None, quantity: Any) -> None:
    """Undo what an entry changed."""
    world.now += 30
    entry: dict[str, Any] = {
        "product_number": "P1",
        "stock_pool_1": quantity,
        **({"location_code": place} if place else {}),
    }
    await world.log(**entry, reference=f"undo-{moment_or_number}", app_user_name="bea")


async def _send(world: World, kind: str, quantity: int, at: str) -> None:
    """Send what happened at a time."""
    world.now += 30
    entry: dict[str, Any] = {"product_number": "P1", "location_code": "A1", "app_user_name": "bea"}
    entry["scanned_datetime"] = at
    match kind:
        case "found" | "loss":
            await world.log(**entry, stock_pool_1=quantity)
        case "receipt":
            await world.log(**entry, stock_pool_1=quantity, query={"is_from_receipt": True})
        case "pick":
            picked = {"line_number": 1, "product_number": "P1", "picked_quantity": quantity}
            said = {**picked, "preferred_location_code": "A1"}
            await world.update("O1", said, headers={"Aisle-Occurred-At": at})
        case _:
            ends = [{"location_code": code} for code in (("A1", "A2") if kind == "move out" else ("A2", "A1"))]
            item: dict[str, Any] = {"product_number": "P1", "quantity": quantity}
            item |= {"from_location": ends[0], "to_location": ends[1]}
            path = "/stores/S1/storeproductlocation/movement"
            await world.post(path, [item], headers={"Aisle-Occurred-At": at})


async def _stock(world: World) -> dict[tuple[Any, ...], Decimal]:
    """Return the books, which the log adds up to."""
    sums: defaultdict[str, Decimal] = defaultdict(Decimal)
    for row in await world.rows("/products/stock/storeproductlogs", store_number="S1"):
        sums[row.get("location_code", "")] += Decimal(str(row["quantity"]))
    books = world.books()
    for place in {key[1] for key in books}:
        assert sums[place] == sum(quantity for key, quantity in books.items() if key[1] == place)
    return books


async def _begin(world: World) -> str:
    """Put 25 at A1 and 10 at A2, order two; return a time before all later counts."""
    await world.count("P1", "A1", stock_pool_1=25)
    await world.count("P1", "A2", stock_pool_1=10)
    await world.order("O1", {"product_number": "P1", "quantity": 2})
    world.now += 30
    return format_timestamp(world.now)


@pytest.mark.parametrize("place", ["A1", None])
@pytest.mark.parametrize(("kind", "quantity"), [LOST, FOUND, OUT, IN, PICK, RECEIPT])
@pytest.mark.parametrize("first", ["message", "undo"])
async def test_without_the_count_the_stock_is_what_it_was_with_all_movements(
    world: World, kind: str, quantity: int, place: str | None, first: str
) -> None:
    at = await _begin(world)
    counted_at = await _count(world, place, 20)
    difference = Decimal(20 - (25 if place else 35))
    if first == "message":
        await _send(world, kind, quantity, at)
        await _undo(world, counted_at, place, -difference)
    else:
        await _undo(world, counted_at, place, -difference)
        await _send(world, kind, quantity, at)
    expected: dict[tuple[Any, ...], Decimal] = {("P1", "A1", 1): Decimal(25), ("P1", "A2", 1): Decimal(10)}
    expected[("P1", "A1", 1)] += {"move out": -quantity, "pick": -quantity}.get(kind, quantity)
    expected[("P1", "A2", 1)] += {"move out": quantity, "move in": -quantity}.get(kind, 0)
    expected |= {("P1", "", 1, "O1", 1): Decimal(quantity)} if kind == "pick" else {}
    assert await _stock(world) == expected


async def _change_and_late_part(world: World, at: str) -> Decimal:
    """Return what the log has of the entries at A1 of a time: an undo of these reverses that."""
    rows = await world.rows("/products/stock/storeproductlogs", store_number="S1")
    return sum(
        (Decimal(row["quantity"]) for row in rows if (row["moved_on"], row["location_code"]) == (at, "A1")), Decimal()
    )


@pytest.mark.parametrize(("kind", "quantity"), [LOST, FOUND, RECEIPT])
async def test_an_undo_of_the_message_after_that_of_the_count_reverses_it(
    world: World, kind: str, quantity: int
) -> None:
    at = await _begin(world)
    counted_at = await _count(world, "A1", 20)
    await _send(world, kind, quantity, at)
    assert await _change_and_late_part(world, at) == 0
    await _undo(world, counted_at, "A1", 5)
    assert await _change_and_late_part(world, at) == quantity
    await _undo(world, at, "A1", -quantity)
    assert await _stock(world) == {("P1", "A1", 1): 25, ("P1", "A2", 1): 10}


@pytest.mark.parametrize(("kind", "back", "quantity"), [("move out", "move in", 4), ("move in", "move out", 4)])
@pytest.mark.parametrize("count_first", [True, False])
async def test_a_movement_back_restores_the_stock(
    world: World, kind: str, back: str, quantity: int, count_first: bool
) -> None:
    at = await _begin(world)
    counted_at = await _count(world, "A1", 20)
    await _send(world, kind, quantity, at)
    if count_first:
        await _undo(world, counted_at, "A1", 5)
    world.now += 30
    await _send(world, back, quantity, format_timestamp(world.now))
    if not count_first:
        await _undo(world, counted_at, "A1", 5)
    assert await _stock(world) == {("P1", "A1", 1): 25, ("P1", "A2", 1): 10}


async def test_a_count_before_goes_on_absorbing_until_it_is_undone(world: World) -> None:
    at = await _begin(world)
    first = await _count(world, "A1", 21)
    between = format_timestamp(world.now + 10)
    second = await _count(world, "A1", 20)
    await _send(world, "loss", -3, at)
    await _send(world, "loss", -2, between)
    figures = []
    for counted_at, difference in ((second, -1), (second, 0), (first, -4), (first, 0)):
        await _undo(world, counted_at, "A1", -difference)
        figures.append((await _stock(world))[("P1", "A1", 1)])
    assert figures == [19, 19, 20, 20]


async def test_an_unused_count_stays_unused_and_absorbs_nothing(world: World) -> None:
    at = await _begin(world)
    unused_at = format_timestamp(world.now + 10)
    world.now += 20
    counted_at = await _count(world, "A1", 20)
    await _count(world, "A1", 24, unused_at)
    await _send(world, "loss", -3, at)
    await _undo(world, counted_at, "A1", 5)
    assert (await _stock(world))[("P1", "A1", 1)] == 22


async def test_a_count_of_the_store_absorbs_what_that_of_a_location_did(world: World) -> None:
    at = await _begin(world)
    store_counted = await _count(world, None, 30)
    counted_at = await _count(world, "A1", 20)
    await _send(world, "loss", -3, at)
    await _undo(world, counted_at, "A1", 5)
    assert await _stock(world) == {("P1", "A1", 1): 22, ("P1", "A2", 1): 10, ("P1", "", 1): -2}
    await _undo(world, store_counted, None, 5)
    assert await _stock(world) == {("P1", "A1", 1): 22, ("P1", "A2", 1): 10}


@pytest.mark.parametrize("ahead", [0.0, 90.0])
async def test_the_count_is_found_by_its_number_or_a_clock_that_was_set_since(world: World, ahead: float) -> None:
    at = await _begin(world)
    world.now += 30
    there = format_timestamp(world.now + ahead)
    entry = {"product_number": "P1", "location_code": "A1", "stock_pool_1": 20, "scanned_datetime": there}
    said: dict[str, Any] = {"query": {"is_counted_quantity": True}, "headers": {"Aisle-Clock-Ahead": f"{ahead:.1f}"}}
    answer = await world.post(LOGS, {"storeproductlog": [entry | {"app_user_name": "bea"}]}, **said)
    await _send(world, "loss", -3, at)
    await _undo(world, there if ahead else str(answer["data"][0]), "A1", 5)
    assert (await _stock(world))[("P1", "A1", 1)] == 22


async def _counted_on(world: World) -> Any:
    """Return when P1 was last counted, as everybody reads it."""
    entries = await world.rows("/storeproducts/stock", store_number="S1", product_number="P1")
    return entries[0].get("last_counted_datetime") if entries else None


DAY = 86400
EARLIER: dict[str, list[tuple[str, int]]] = {
    "never": [],
    "there": [("A1", 1)],
    "there, long ago": [("A1", 60 * DAY)],
    "elsewhere, long ago": [("A2", 60 * DAY)],
    "there and elsewhere": [("A1", 2 * DAY), ("A2", DAY)],
    "elsewhere and there": [("A2", 50 * DAY), ("A1", 45 * DAY)],
}
"""Counts before: location, and seconds before now."""


@pytest.mark.parametrize("earlier", EARLIER)
@pytest.mark.parametrize("difference", [0, 3])
@pytest.mark.parametrize("is_by_number", [True, False])
async def test_the_date_of_the_last_count_is_the_one_before(
    world: World, earlier: str, difference: int, is_by_number: bool
) -> None:
    """A count without a difference is undone like any other, by an entry that changes nothing."""
    begin = world.now
    for place, before in EARLIER[earlier]:
        world.now = begin - before
        await world.count("P1", place, stock_pool_1=4)
    world.now = begin
    before_it, stock = await _counted_on(world), await _stock(world)
    expected = int(stock.get(("P1", "A1", 1), 0))
    world.now += 30
    at = format_timestamp(world.now)
    said: dict[str, Any] = {"stock_pool_1": expected + difference, "scanned_datetime": at, "app_user_name": "bea"}
    [number] = (await world.count("P1", "A1", **said))["data"]
    assert await _counted_on(world) == at
    for _ in range(2):
        await _undo(world, str(number) if is_by_number else at, "A1", -difference)
        difference = 0
        assert await _counted_on(world) == before_it
        assert {key: value for key, value in (await _stock(world)).items() if value} == stock


RECOUNTS = "/aisle/v1/stores/S1/recounts"


async def _recounts(world: World) -> list[tuple[Any, ...]]:
    rows = (await world.get(RECOUNTS, state="all"))["recounts"]
    return [(row["state"], row.get("ended_by"), row.get("ended_on"), row.get("count_log_id")) for row in rows]


@pytest.mark.parametrize("difference", [0, -5])
@pytest.mark.parametrize("since", ["nothing", "count", "order", "count elsewhere"])
async def test_the_recount_that_it_fulfilled_is_open_again(world: World, difference: int, since: str) -> None:
    await _begin(world)
    ordered = {"recounts": [{"product_number": "P1", "location_code": "A1"}]}
    await world.post(RECOUNTS, ordered)
    before = await _recounts(world)
    counted_at = await _count(world, "A1", 25 + difference)
    [fulfilled] = await _recounts(world)
    assert fulfilled[0] == "counted"
    world.now += 30
    match since:
        case "count":
            await _count(world, "A1", 25 + difference)
        case "count elsewhere":
            await _count(world, "A2", 10)
        case "order":
            await world.post(RECOUNTS, ordered)
    cursor = (await world.get("/aisle/v1/stores/S1/changes"))["cursor"]
    await _undo(world, counted_at, "A1", -difference)
    expected = {"count": [fulfilled], "order": [fulfilled, *before]}.get(since, before)
    assert await _recounts(world) == expected
    changes = (await world.get("/aisle/v1/stores/S1/changes", since=cursor))["changes"]
    is_undone = since != "count"
    topics = {(each["topic"], each["key"]) for each in changes}
    assert (("product", "P1") in topics) or not is_undone
    assert any(topic == "recount" for topic, _ in topics) == is_undone
