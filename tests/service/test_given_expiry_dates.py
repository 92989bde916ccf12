"""Expiry dates that several people give for a product: the nearest one that is not undone stands."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from aisle.service.domain.quantities_times_and_json import format_timestamp
from tests.service.world import START, World

DAYS = (10, 20, 31)
"""Days from the beginning on which goods expire."""
CHECKED_BEFORE = 3
PRODUCTS = ("P1", "P2", "P3", "KG")
Dates = tuple[str, str]


def dates_of(after: int) -> Dates:
    """Return the expiry date so many days after the beginning, and its check."""
    days = (format_timestamp(START + day * 86400)[:10] for day in (after, after - CHECKED_BEFORE))
    expiry, check = (f"{day}T00:00:00.000Z" for day in days)
    return expiry, check


async def send(world: World, product: str, *, status: int = 200, **fields: Any) -> None:
    world.now += 10
    answer = await world.send("PUT", "/stores/S1/storeproducts", [{"product_number": product, **fields}])
    assert answer.status_code == status, answer.text


async def set_dates(world: World, product: str, dates: Dates, **more: Any) -> None:
    await send(world, product, expiry_date_time=dates[0], validate_expiry_date_time=dates[1], **more)


async def give(world: World, product: str, after: int, *, is_label: bool = False) -> None:
    if is_label:
        expiry, check = dates_of(after)
        await send(world, product, label_expiry_date=expiry, label_check_date=check)
    else:
        await set_dates(world, product, dates_of(after), is_nearest=True)


async def undo(world: World, product: str, after: int, before: Dates | None = None) -> None:
    more: dict[str, Any] = {"undone_expiry_date": dates_of(after)[0]}
    await (set_dates(world, product, before, **more) if before else send(world, product, **more))


async def standing(world: World, product: str) -> Dates:
    [entry] = await world.rows("/storeproducts/stock", store_number="S1", product_number=product)
    return entry.get("last_expiry_datetime", ""), entry.get("validate_expiry_datetime", "")


def date_of(dates: Dates) -> tuple[str, ...]:
    return tuple(each[:10] for each in dates)


BEFORE: dict[str, Dates] = {"none": ("", ""), "due": dates_of(-5), "later": dates_of(60)}


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("undone", list(permutations(DAYS)))
async def test_the_nearest_date_that_is_not_undone_stands(world: World, undone: tuple[int, ...], before: str) -> None:
    """Whoever gave it, and whichever arrived first. With all undone, what was before stands."""
    for product, given in zip(PRODUCTS, list(permutations(DAYS))[:: 6 // len(PRODUCTS)], strict=False):
        await set_dates(world, product, BEFORE[before])
        for n, after in enumerate(given):
            await give(world, product, after, is_label=n > 0 and after > min(given[:n]) and after == DAYS[1])
            assert date_of(await standing(world, product)) == date_of(dates_of(min(given[: n + 1])))
        left = set(DAYS)
        for after in undone:
            await undo(world, product, after, dates_of(40))
            left.discard(after)
            expected = dates_of(min(left)) if left else BEFORE[before]
            assert date_of(await standing(world, product)) == date_of(expected)


async def test_a_due_check_begins_anew(world: World) -> None:
    await give(world, "P1", 10)
    await give(world, "P1", 20, is_label=True)
    world.now += 8 * 86400
    await give(world, "P1", 31)
    assert date_of(await standing(world, "P1")) == date_of(dates_of(31))
    await undo(world, "P1", 31)
    assert date_of(await standing(world, "P1")) == date_of(dates_of(10))


async def test_a_date_set_by_something_else_stands(world: World) -> None:
    await give(world, "P1", 10)
    await set_dates(world, "P1", dates_of(31))
    assert date_of(await standing(world, "P1")) == date_of(dates_of(31))
    await undo(world, "P1", 10, dates_of(20))
    assert date_of(await standing(world, "P1")) == date_of(dates_of(20))


async def test_two_who_give_one_date_both_undo_it(world: World) -> None:
    for after in (20, 10, 10):
        await give(world, "P1", after)
    for expected in (10, 20):
        await undo(world, "P1", 10)
        assert date_of(await standing(world, "P1")) == date_of(dates_of(expected))


async def test_half_a_label_is_refused(world: World) -> None:
    await send(world, "P1", status=422, label_expiry_date=dates_of(10)[0])
