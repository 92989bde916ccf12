"""People on a floor, whatever they do and whatever the line does: the books end where the goods lie.

Sessions, outbox, courier and service are real. Beside them stands the floor itself: how much of what lies where, moved
by hands. People scan, count and say what is true; only thieves say nothing. When it is quiet, the books are the floor
and what was stolen and not missed yet, at every place; and all that `checker` asks holds.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from collections.abc import Callable, Coroutine
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from tests.faults.goods import CODES, ORDERS, PICK_UP, SHELVES, STOCK
from tests.faults.host import Person
from tests.faults.link import Chaos
from tests.faults.world import World, world
from tests.run_length import tries

PEOPLE = st.integers(0, 1)
PRODUCTS = st.sampled_from(sorted(CODES))
PLACES = st.sampled_from(SHELVES)
ORDER = st.sampled_from(sorted(ORDERS))
FEW = st.integers(1, 3)

Spot = tuple[str, str]
"""Product and place; "" is somebody's hand."""


class Floor:
    """Where the goods lie."""

    def __init__(self) -> None:
        self.lies: Counter[Spot] = Counter()
        for product, places in STOCK.items():
            for place, quantity in places.items():
                self.lies[product, place] = quantity
        self.stolen: Counter[Spot] = Counter()
        """What nobody has missed yet."""
        self.hand: dict[tuple[str, int], list[list[Any]]] = {}
        """For each order line what is in hand: [where it was taken, how much], the first first."""

    def take(self, line: tuple[str, int], product: str, place: str, quantity: int) -> None:
        """From a shelf into a hand."""
        self.shift(product, place, "", quantity)
        self.hand.setdefault(line, []).append([place, quantity])

    def put_back(self, line: tuple[str, int], product: str, quantity: int) -> None:
        """From a hand to where it was taken, the last first."""
        stack = self.hand[line]
        while quantity:
            place, there = stack[-1]
            part = min(quantity, there)
            self.shift(product, "", place, part)
            stack[-1][1] -= part
            quantity -= part
            if not stack[-1][1]:
                stack.pop()

    def lay_down(self, line: tuple[str, int], product: str, quantity: int) -> None:
        """From a hand to the pick-up place; less than none takes it up again, and nobody knows any more from where."""
        self.shift(product, "", PICK_UP, quantity)
        if quantity < 0:
            self.hand.setdefault(line, []).append(["", -quantity])
        while quantity > 0:
            first = self.hand[line][0]
            part = min(quantity, first[1])
            first[1] -= part
            quantity -= part
            if not first[1]:
                self.hand[line].pop(0)

    def shift(self, product: str, source: str, target: str, quantity: int) -> None:
        """From one spot to another."""
        self.lies[product, source] -= quantity
        self.lies[product, target] += quantity

    def books(self) -> dict[Spot, Decimal]:
        """What the books have to say."""
        spots = {*self.lies, *self.stolen}
        both = {spot: Decimal(self.lies[spot] + self.stolen[spot]) for spot in spots}
        return {spot: quantity for spot, quantity in both.items() if quantity}


class Shop(RuleBasedStateMachine):
    """Two people at two terminals of one host."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.loop = asyncio.new_event_loop()
        self.floor = Floor()
        self.opened = world(Path(self.folder.name), seed=11)
        self.world: World = self.run(self.opened.__aenter__())
        self.host = self.world.host
        self.people: list[Person] = [self.host.person("dock-1", "anna"), self.host.person("dock-2", "ben")]

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """On the world's loop."""
        return self.loop.run_until_complete(work)

    def teardown(self) -> None:
        try:
            self.all_is_well()
        finally:
            self.run(self.opened.__aexit__(None, None, None))
            self.loop.close()
            self.folder.cleanup()

    def all_is_well(self) -> None:
        """Time passes until all is delivered; then everything is compared."""
        self.run(self.world.quiet())
        assert [op for op in self.host.operations() if op.state == "rejected"] == []
        self.world.check()
        assert self.world.lying() == self.floor.books()

    # What people do

    @rule(who=PEOPLE, order=ORDER, quantity=FEW)
    def pick(self, who: int, order: str, quantity: int) -> None:
        """Some of an order, from where the screen says, as far as it lies there."""
        person = self.people[who]
        with self.seen(order):
            if not self.open_order(person, order):
                return
            take = person.session.stack.top.state.current_line
            there = 0 if take is None else self.floor.lies[take.product, take.location]
            part = min(quantity, there, 0 if take is None else int(take.remaining))
            if part:
                person.say(f"{part}*{CODES[take.product]}")
                assert person.told[0] == "good", person.frame

    @rule(who=PEOPLE, order=ORDER, quantity=st.integers(1, 6))
    def set_quantity(self, who: int, order: str, quantity: int) -> None:
        """A scan, and the quantity by digits."""
        person = self.people[who]
        with self.seen(order):
            if not self.open_order(person, order):
                return
            take = person.session.stack.top.state.current_line
            if take is None or not self.floor.lies[take.product, take.location]:
                return
            person.say(CODES[take.product])
            most = int(take.picked) + self.floor.lies[take.product, take.location]
            if person.session.stack.top.state.is_quantity_open:
                person.say(str(min(quantity, most)))

    @rule(who=PEOPLE, order=ORDER, quantity=FEW)
    def pick_and_undo(self, who: int, order: str, quantity: int) -> None:
        """What was just taken is put back."""
        self.pick(who, order, quantity)
        with self.seen(order):
            self.people[who].say("u")

    @rule(who=PEOPLE, order=ORDER)
    def put_down(self, who: int, order: str) -> None:
        """What is in hand of an order that is picked waits for the customer."""
        person = self.people[who]
        with self.seen(order):
            if self.open_order(person, order) and person.session.stack.top.state.phase == "done":
                person.say(PICK_UP)

    @rule(who=PEOPLE, order=ORDER)
    def put_down_and_undo(self, who: int, order: str) -> None:
        """It is taken up again."""
        self.put_down(who, order)
        with self.seen(order):
            if self.people[who].told[1] in ("pick.put_down",):
                self.people[who].say("u")

    @rule(who=PEOPLE, product=PRODUCTS, places=st.tuples(PLACES, PLACES), quantity=FEW)
    def move(self, who: int, product: str, places: tuple[str, str], quantity: int) -> None:
        """Goods from shelf to shelf."""
        source, target = places
        part = min(quantity, self.floor.lies[product, source])
        if source == target or not part:
            return
        person = self.people[who]
        person.open("home.move")
        person.say(source, f"{part}*{CODES[product]}", target)
        assert person.told == ("good", "move.moved"), person.frame
        self.floor.shift(product, source, target, part)
        person.home()

    @rule(who=PEOPLE, place=PLACES)
    def count(self, who: int, place: str) -> None:
        """All that lies at a place, or should."""
        person = self.people[who]
        (row,) = self.host.query("location", location_code=place)
        known = {str(one["product_number"]) for one in row["products"]}
        here = {product for product, at in self.floor.lies if at == place and self.floor.lies[product, at]}
        if not known | here:
            return
        person.open("home.count")
        person.say(place)
        for product in sorted(known | here):
            person.say(CODES[product])
            person.count(self.floor.lies[product, place])
        person.say("d")
        self.answer_count(person, place)
        for product in known | here:
            self.floor.stolen[product, place] = 0
        person.home()

    def answer_count(self, person: Person, place: str) -> None:
        """What is asked before a count is sent."""
        for _ in range(12):
            if person.at == "count.recount":
                product = person.session.stack.top.state.item.product
                person.count(self.floor.lies[product, place])
            elif person.at == "count.summary":
                person.say("y")
            else:
                break
        assert person.told[1] in ("count.sent", "count.sent_differing"), person.frame

    @rule(who=PEOPLE, product=PRODUCTS, place=PLACES, quantity=FEW)
    def lose(self, who: int, product: str, place: str, quantity: int) -> None:
        """Something breaks, and is said to be broken."""
        part = min(quantity, self.floor.lies[product, place])
        if not part:
            return
        person = self.people[who]
        person.open("home.count")
        person.say(place, CODES[product], "l", str(part), "1")
        assert person.told == ("good", "adjust.lost"), person.frame
        self.floor.lies[product, place] -= part
        person.home()

    @rule(product=PRODUCTS, place=PLACES)
    def steal(self, product: str, place: str) -> None:
        """Nobody says anything."""
        if self.floor.lies[product, place]:
            self.floor.lies[product, place] -= 1
            self.floor.stolen[product, place] += 1

    @rule(who=PEOPLE)
    def die(self, who: int) -> None:
        """A battery ends; the next sign-in stands where the last one stood."""
        before, person = self.people[who].frame.view, self.people[who]
        person.die()
        again = self.host.person(person.terminal, person.user)
        self.people[who] = again
        assert again.frame.view.name == before.name

    # What happens to them

    @rule(seconds=st.sampled_from([0, 0, 1, 3, 20, 90]))
    def time_passes(self, seconds: int) -> None:
        """The courier does what it can."""
        self.run(self.world.step(seconds))

    @rule(seed=st.integers(0, 99), rate=st.sampled_from([0.0, 0.3, 0.7]))
    def weather(self, seed: int, rate: float) -> None:
        """From now on so much is lost, late, doubled, cut."""
        self.host.line.plan = Chaos(Random(seed), rate)

    @rule(cut=st.booleans())
    def black_out(self, cut: bool) -> None:
        """Nothing gets through, or everything does again."""
        self.host.line.cut_off = cut

    @rule()
    def settle(self) -> None:
        """A quiet hour in between."""
        self.all_is_well()

    # Orders and hands

    def open_order(self, person: Person, order: str) -> bool:
        """The order is on this person's screen; somebody else's is taken over."""
        person.home()
        person.say(order)
        for _ in range(3):
            top = person.session.stack.top
            ways = [way.kind for way in getattr(top.state, "ways", ())]
            for kind in {"take_over", "open_free"} & {*ways}:
                person.say(str(ways.index(kind) + 1))
        return bool(person.session.stack.top.job.name == "pick")

    def seen(self, order: str) -> _Hands:
        """What the screens say of the order before and after is what hands did in between."""
        return _Hands(self, order)

    def lines(self, order: str) -> dict[int, tuple[str, int, int, str]]:
        """Product, picked, moved and place of each line, as sessions read it."""
        (row,) = self.host.query("order", order_number=order)
        return {
            int(line["line_number"]): (
                str(line["product_number"]),
                int(line["picked_quantity"]),
                int(line.get("moved_quantity") or 0),
                str(line.get("preferred_location_code") or ""),
            )
            for line in row["lines"]
        }


class _Hands:
    """`with`: goods go through hands as the lines of an order change."""

    def __init__(self, shop: Shop, order: str) -> None:
        self._shop = shop
        self._order = order
        self._before = shop.lines(order)

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exc: object) -> None:
        if exc[0] is not None:
            return
        for number, (product, picked, moved, place) in self._shop.lines(self._order).items():
            _, picked_before, moved_before, _ = self._before[number]
            line = (self._order, number)
            if picked > picked_before:
                self._shop.floor.take(line, product, place, picked - picked_before)
            elif picked < picked_before:
                self._shop.floor.put_back(line, product, picked_before - picked)
            if moved != moved_before:
                self._shop.floor.lay_down(line, product, moved - moved_before)


def _take_between_count(shop: Shop) -> None:
    """One piece, a count of the shelf, one piece more: the count missed nothing."""
    shop.pick(0, "O-2", 1)
    shop.count(0, "A-1")
    shop.pick(0, "O-2", 1)


def _take_what_was_just_brought(shop: Shop) -> None:
    """The shelf is emptied, filled again, and taken from."""
    for _ in range(6):
        shop.move(0, "P2", ("A-1", "A-2"), 3)
    shop.move(1, "P2", ("A-2", "A-1"), 3)
    shop.pick(0, "O-2", 3)


def _undo_after_a_count(shop: Shop) -> None:
    """What a count did not see comes back to the shelf."""
    shop.set_quantity(0, "O-3", 6)
    shop.count(1, "B-1")
    shop.pick_and_undo(0, "O-3", 2)
    shop.lose(1, "P4", "B-1", 2)
    shop.count(1, "B-1")


def _two_at_one_order(shop: Shop) -> None:
    """Each picks some of it, one lays all of it down, takes it up again, and both are killed."""
    for who in (0, 1, 0):
        shop.pick(who, "O-4", 2)
    shop.put_down_and_undo(1, "O-4")
    shop.die(0)
    shop.die(1)
    shop.put_down(0, "O-4")


def _theft(shop: Shop) -> None:
    """Goods that nobody misses are in the books until somebody counts."""
    shop.steal("P3", "A-2")
    shop.move(0, "P3", ("A-2", "B-1"), 3)
    shop.steal("P3", "B-1")
    shop.count(0, "A-2")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "story",
    [_take_between_count, _take_what_was_just_brought, _undo_after_a_count, _two_at_one_order, _theft],
)
@pytest.mark.parametrize("offline", [False, True])
@pytest.mark.parametrize("rate", [0.0, 0.6])
def test_a_story_ends_where_the_goods_lie(story: Callable[[Shop], None], offline: bool, rate: float) -> None:
    shop = Shop()
    try:
        shop.black_out(offline)
        shop.weather(3, rate)
        story(shop)
        shop.black_out(False)
        shop.time_passes(20)
    finally:
        shop.teardown()


@pytest.fixture(autouse=True)
def _may_be_volatile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AISLE_ALLOW_VOLATILE", "1")


class LongShop(Shop):
    """The same, for longer."""


STEADY: dict[str, Any] = {"deadline": None, "suppress_health_check": list(HealthCheck)}
TestFloor = Shop.TestCase
TestFloor.settings = settings(max_examples=tries(4, 15), stateful_step_count=25, **STEADY)
TestFloorForLong = pytest.mark.full(LongShop.TestCase)
TestFloorForLong.settings = settings(max_examples=300, stateful_step_count=50, **STEADY)
