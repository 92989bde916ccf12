"""Goods on a cart or in hand while somebody counts their location, on one host or on two: each piece is there once."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.faults.goods import CODES, STOCK
from tests.faults.host import Host, Person
from tests.faults.world import World, world

AT, TO = "A-1", "B-1"
BEFORE = STOCK["P1"]

OFFLINE = ("nobody", "who moves", "who counts")


async def _count(shop: World, ben: Person, pieces: int) -> None:
    """Ben counts what is left at the location, and sends it."""
    ben.open("home.count")
    ben.say(AT, CODES["P1"])
    ben.count(pieces)
    await shop.step(1.0)
    ben.say("d")
    while ben.at == "count.missing":
        ben.answer("count.skip")
    if ben.at == "count.recount":
        ben.say("d")
    if ben.at == "count.summary":
        ben.answer("count.send")
    assert ben.at == "count.start", (ben.at, ben.told)


def _cut(host: Host, *, is_cut: bool) -> None:
    host.line.cut_off = is_cut


@pytest.mark.parametrize("counted", ["before", "under way", "afterwards"])
@pytest.mark.parametrize("offline", OFFLINE)
@pytest.mark.parametrize("is_cart", [False, True])
@pytest.mark.parametrize("host_count", [1, 2])
async def test_counted_goods_under_way_are_in_the_books_once(
    memory: Path, host_count: int, is_cart: bool, offline: str, counted: str
) -> None:
    async with world(memory, seed=Random(f"{host_count}{is_cart}{offline}{counted}").randrange(1000)) as shop:
        hosts = [shop.host, await shop.add_host() if host_count == 2 else shop.host]
        await shop.quiet()
        anna, ben = hosts[0].person("dock-1", "anna"), hosts[1].person("dock-2", "ben")
        if offline != "nobody":
            _cut(hosts[OFFLINE.index(offline) - 1], is_cut=True)
        quantity = 3
        for moment in ("before", "take", "under way", "put down", "afterwards"):
            await shop.step(90.0)
            anna.look()
            if moment == "take":
                anna.open("home.move")
                anna.say(*(["c"] if is_cart else []), AT, f"{quantity}*{CODES['P1']}")
            elif moment == "put down":
                anna.say(*(["d"] if is_cart else []), TO)
                assert anna.told == ("good", "move.cart_empty" if is_cart else "move.moved"), anna.frame
            elif moment == counted:
                await _count(shop, ben, BEFORE[AT] - (0 if moment == "before" else quantity))
        for host in hosts:
            _cut(host, is_cut=False)
        await shop.quiet()
        shop.check()
        there = {place: int(have) for (product, place), have in shop.lying().items() if product == "P1" and have}
        assert there == {AT: BEFORE[AT] - quantity, TO: BEFORE[TO] + quantity}


async def test_all_of_a_location_is_under_way_when_it_is_counted(memory: Path) -> None:
    """Nobody is asked whether there are so many, and nothing is refused."""
    async with world(memory) as shop:
        other = await shop.add_host()
        await shop.quiet()
        anna, ben = shop.host.person("dock-1", "anna"), other.person("dock-2", "ben")
        anna.open("home.move")
        anna.say(AT, f"{BEFORE[AT]}*{CODES['P1']}")
        await _count(shop, ben, 0)
        await shop.quiet()
        anna.look()
        anna.say(TO)
        assert anna.told == ("good", "move.moved"), anna.frame
        await shop.quiet()
        shop.check()
        assert shop.lying()["P1", TO] == BEFORE[TO] + BEFORE[AT]
        assert not shop.lying().get(("P1", AT))
        assert not shop.host.query("needing_person")


@pytest.mark.parametrize("is_undone", [False, True])
@pytest.mark.parametrize("is_known", [False, True])
@pytest.mark.parametrize("host_count", [1, 2])
async def test_goods_moved_between_two_scans_are_not_counted_again(
    memory: Path, host_count: int, is_known: bool, is_undone: bool
) -> None:
    """Five are counted, two of them moved away, one more is scanned: four are there; an undone move never happened."""
    async with world(memory) as shop:
        hosts = [shop.host, await shop.add_host() if host_count == 2 else shop.host]
        await shop.quiet()
        anna, ben = hosts[0].person("dock-1", "anna"), hosts[1].person("dock-2", "ben")
        anna.open("home.count")
        anna.say(AT, f"5*{CODES['P1']}")
        await shop.step(5.0)
        ben.open("home.move")
        ben.say(AT, f"2*{CODES['P1']}", TO)
        if is_known:
            await shop.quiet()
            await shop.step(30.0)
            anna.look()
            assert "count.less_since" in repr(anna.frame.view)
        await shop.step(5.0)
        anna.say(CODES["P1"])
        if is_undone:
            await shop.step(5.0)
            ben.say("u")
        for _ in range(2):
            await shop.quiet()
            await shop.step(30.0)
            anna.look()
        anna.say("d")
        while anna.at == "count.missing":
            anna.answer("count.skip")
        while anna.at == "count.recount":
            anna.say("d")
        assert anna.at == "count.summary", (anna.at, anna.told)
        anna.answer("count.send")
        for _ in range(2):
            await shop.quiet()
            await shop.step(30.0)
            anna.look()
        shop.check()
        assert shop.lying()["P1", AT] == (6 if is_undone else 4)
        assert not is_known or anna.told[1] != "count.booked_otherwise"
