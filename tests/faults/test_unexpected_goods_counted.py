"""Goods counted at a location where none were expected, to which stock comes while they are counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from aisle.jobs.view import ListView
from tests.courier.writes import STORE
from tests.faults.goods import CODES, STOCK
from tests.faults.host import Person
from tests.faults.world import World, world

EMPTY = "C-9"
"""Location without stock and without a default pool."""
COUNTED, ARRIVED = 4, 3


async def _stock_arrives(shop: World, anna: Person, ben: Person, *, is_move: bool) -> None:
    """Ben moves goods there, or Anna finds some."""
    if is_move:
        ben.open("home.move")
        ben.say("A-1", f"{ARRIVED}*{CODES['P1']}", EMPTY)
    else:
        anna.say("l", str(ARRIVED), "5")
    await _settle(shop, anna)


async def _settle(shop: World, person: Person) -> None:
    for _ in range(3):
        await shop.quiet()
        await shop.step(30.0)
        person.look()


@pytest.mark.parametrize("scans_after", [0, 2])
@pytest.mark.parametrize("is_undone_at_once", [False, True])
@pytest.mark.parametrize("is_move", [False, True])
async def test_unexpected_goods_are_booked_once_and_their_undo_leaves_what_others_booked(
    memory: Path, is_move: bool, is_undone_at_once: bool, scans_after: int
) -> None:
    async with world(memory) as shop:
        async with shop.integrator() as client:
            place = {"store_number": STORE, "location_code": EMPTY, "location_order": 99}
            await client.request_extension("POST", "/aisle/v1/locations", body={"locations": [place]})
        other = await shop.add_host()
        await shop.quiet()
        anna, ben = shop.host.person("dock-1", "anna"), other.person("dock-2", "ben")
        await _settle(shop, anna)
        anna.open("home.count")
        anna.say(EMPTY, CODES["P1"])
        anna.count(COUNTED)
        await _stock_arrives(shop, anna, ben, is_move=is_move)
        anna.say(*[CODES["P1"]] * scans_after, "d")
        assert anna.at == "count.summary", (anna.at, anna.told)
        summary = anna.frame.view
        assert isinstance(summary, ListView)
        assert len(summary.rows) == 1
        assert "(0)" not in repr(summary)
        shown = dict(summary.rows[0].cells[1].args)["value"]
        anna.answer("count.send")
        if not is_undone_at_once:
            await _settle(shop, anna)
            assert anna.told[1] != "count.booked_otherwise"
            assert shop.lying()["P1", EMPTY] - ARRIVED == shown
        anna.say("u")
        await _settle(shop, anna)
        shop.check()
        assert shop.lying()["P1", EMPTY] == ARRIVED
        assert shop.lying()["P1", "A-1"] == STOCK["P1"]["A-1"] - ARRIVED * is_move


@pytest.mark.parametrize("is_undone_at_once", [False, True])
async def test_a_count_of_two_pools_is_undone_in_both(memory: Path, is_undone_at_once: bool) -> None:
    async with world(memory) as shop:
        async with shop.integrator() as client:
            more = {"product_number": "P1", "location_code": "A-1", "stock_pool_2": 5}
            body = {"storeproductlog": [more]}
            await client.call("create-store-product-logs", body, store_number=STORE, is_counted_quantity=True)
        anna = shop.host.person("dock-1", "anna")
        await _settle(shop, anna)
        before = shop.lying()["P1", "A-1"]
        anna.open("home.count")
        anna.say("A-1", CODES["P1"], str(STOCK["P1"]["A-1"] - 2), "d")
        while anna.at == "count.missing":
            anna.say("4" if "P1" in repr(anna.frame.view) else "k")
        anna.answer("count.send")
        if not is_undone_at_once:
            await _settle(shop, anna)
            assert shop.lying()["P1", "A-1"] == before - 3
        anna.say("u")
        await _settle(shop, anna)
        shop.check()
        assert shop.lying()["P1", "A-1"] == before
