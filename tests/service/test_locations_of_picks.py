"""One line picked from two locations, by one or two people: what the pages say is what the service books."""

from __future__ import annotations

import asyncio
import tempfile
from collections import defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from aisle.jobs.job import Closed, Rows, Write
from aisle.jobs.view import GOOD, INFO, Msg
from aisle.outbox.merge_and_rebase import merge_batch
from aisle.scan.grammar_and_meaning_types import Choice, Command, Quantity
from tests.jobs.pick_runner import Hand
from tests.run_length import tries
from tests.service.world import World, filled

PLACES = ("A1", "A2")
PEOPLE = ("ann", "ben")


class Floor:
    """People who pick the same orders, each at a host: the service, and what their pages said of each location."""

    def __init__(self, world: World, loop: asyncio.AbstractEventLoop, stock: int, people: int, totes: int) -> None:
        self.world, self.loop = world, loop
        self.orders = [f"O{n}" for n in range(totes)]
        self.said: defaultdict[str, Decimal] = defaultdict(Decimal)
        """Stock by location, "" for none, as the pages said."""
        for place in PLACES:
            self.run(world.count("P1", place, stock_pool_1=stock))
            self.said[place] = Decimal(stock)
        for number in self.orders:
            self.run(world.order(number, {"product_number": "P1", "quantity": 20, "preferred_location_code": "A1"}))
        self.hands = [Hand(orders={number: [] for number in self.orders}) for _ in range(people)]
        self.kept: list[list[Write]] = [[] for _ in self.hands]
        """Writes of each person that are not sent."""
        self.is_cut = [False] * people
        for n, hand in enumerate(self.hands):
            hand.context = hand.context._replace(user=PEOPLE[n])
            self.read(n)
            hand.effects.clear()

    def run(self, work: Any) -> Any:
        return self.loop.run_until_complete(work)

    def read(self, n: int) -> None:
        """Shows a person the orders as the service has them."""
        workers = [{"user": user, "name": user} for user in PEOPLE[: len(self.hands)]]
        free = {place: self.books()[place] for place in PLACES}
        for number in self.orders:
            line = {**self.run(self.world.line(number)), "description": "Tea", "stock": free}
            row = {"order_number": number, "is_active": True, "lines_known": True, "at_work": workers, "lines": [line]}
            self.hands[n].feed(Rows(f"order/{number}", (row,), 1))

    def books(self) -> dict[str, Decimal]:
        """The free stock by location."""
        free: defaultdict[str, Decimal] = defaultdict(Decimal)
        for key, quantity in self.world.books().items():
            if len(key) == 3:
                free[key[1]] += quantity
        return free

    def send(self, n: int) -> None:
        """Sends what a person did, merged as the outbox does, and shows everybody the result."""
        for write in merge_batch([write for write in self.kept[n] if "order_lines" in write.body["orders"]])[0]:
            answer = self.run(self.world.put("/stores/S1/orders/customerorder", write.body))
            assert "left" not in answer
        self.kept[n].clear()
        for other in range(len(self.hands)):
            if not self.is_cut[other]:
                self.read(other)

    def do(self, n: int, work: str, value: int) -> None:
        """One input of a person, and what the page says to it."""
        hand = self.hands[n]
        line, picked = hand.state.current_line, _picked(hand)
        place = line.location if line else ""
        hand.verdict = None
        if work == "scan":
            hand.scan("P1", str(value)) if value > 1 else hand.scan("P1")
        elif work == "total":
            hand.feed(Quantity(Decimal(value), str(value)))
            if hand.state.choices and hand.state.choices[0].kind == "set":
                hand.feed(Choice(1))
        elif work == "elsewhere":
            hand.feed(Command("s"))
            other = PLACES[1 - PLACES.index(place)]
            hand.feed(Closed("shortage", {"kind": "elsewhere", "location": other}))
        elif work == "undo":
            hand.feed(Command("u"))
        elif work == "cut":
            self.is_cut[n] = not self.is_cut[n]
        self.hear(hand, place, picked)
        self.kept[n] += [each for each in hand.effects if isinstance(each, Write)]
        hand.effects.clear()
        if not self.is_cut[n]:
            self.send(n)

    def hear(self, hand: Hand, place: str, before: Decimal) -> None:
        """Adds up what the page says of each location."""
        verdict = hand.verdict
        if verdict is None or verdict.kind not in (GOOD, INFO):
            return
        change = before - _picked(hand)
        where = [each for each in _parts(verdict.text) if each.id == "goods.at"]
        told: Any = dict(where[0].args)["place"] if where else verdict.detail or place
        if isinstance(told, str) or told.id == "raw":
            self.said[told if isinstance(told, str) else dict(told.args)["text"]] += change
            return
        args: dict[str, Any] = dict(told.args)
        if told.id.startswith("pick.more_than"):
            self.said[""] -= args["nowhere"]
            self.said[place] += change + args["nowhere"]
        elif told.id.endswith("at_no_location"):
            self.said[""] += args["count"]
            self.said[args.get("place", "")] += change - args["count"]
        else:
            for each in _parts(told):
                pair: dict[str, Any] = dict(each.args)
                if each.id != "pair":
                    continue
                signed = dict(pair["value"].args)
                self.said[dict(pair["name"].args).get("text", "")] += Decimal(f"{signed['sign']}{signed['value']}")

    def check(self) -> None:
        """Compares the service with what the pages said, once everything is sent."""
        if not any(self.kept):
            said = {place: quantity for place, quantity in self.said.items() if quantity}
            assert {place: quantity for place, quantity in self.books().items() if quantity} == said


def _picked(hand: Hand) -> Decimal:
    return sum((line.picked for line in hand.state.lines), Decimal(0))


def _parts(message: Msg) -> list[Msg]:
    """Return a message and all messages in it."""
    inner = [part for _, value in message.args if isinstance(value, Msg) for part in _parts(value)]
    return [message, *inner]


TWO_LOCATIONS = [(0, "scan", 2), (0, "elsewhere", 0), (0, "scan", 1)]
LOWERED = [*TWO_LOCATIONS, (0, "total", 1), (0, "undo", 0), (0, "undo", 0), (0, "undo", 0), (0, "undo", 0)]
TYPED_AGAIN = [*TWO_LOCATIONS, (0, "total", 0), (0, "total", 2), (0, "total", 3), (0, "undo", 0)]
BOTH = [(0, "scan", 2), (1, "elsewhere", 0), (1, "scan", 1), (0, "undo", 0), (0, "scan", 1), (1, "undo", 0)]

STEP = st.one_of(
    st.tuples(st.integers(0, 1), st.sampled_from(["scan", "total"]), st.integers(0, 6)),
    st.tuples(st.integers(0, 1), st.sampled_from(["undo", "undo", "elsewhere"]), st.just(0)),
)
CUT = st.tuples(st.integers(0, 1), st.just("cut"), st.just(0))


def walk(people: int, totes: int, stock: int, steps: list[tuple[int, str, int]]) -> Floor:
    """Does these steps, and checks the stock after each; then all of them are undone."""
    loop = asyncio.new_event_loop()
    with tempfile.TemporaryDirectory() as folder:
        world = loop.run_until_complete(filled(Path(folder)))
        try:
            floor = Floor(world, loop, stock, people, totes)
            for n, work, value in steps:
                floor.do(n % people, work, value)
                floor.check()
            for n in range(people):
                floor.is_cut[n] = False
                floor.send(n)
            floor.check()
            for n in range(people):
                while floor.hands[n].state.history or floor.hands[n].state.choices:
                    floor.do(n, "undo", 0)
                    floor.check()
            assert {place: floor.books()[place] for place in ("", *PLACES)} == {"": 0, **dict.fromkeys(PLACES, stock)}
        finally:
            loop.run_until_complete(world.close())
            loop.close()
    return floor


@pytest.mark.parametrize("totes", [1, 2])
@pytest.mark.parametrize("people", [1, 2])
@settings(max_examples=tries(15, 300), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=st.lists(STEP, min_size=8, max_size=20))
@example(steps=LOWERED)
@example(steps=TYPED_AGAIN)
@example(steps=BOTH)
def test_the_stock_of_each_location_is_what_the_pages_said(
    people: int, totes: int, steps: list[tuple[int, str, int]]
) -> None:
    walk(people, totes, 100, steps)


@settings(max_examples=tries(10, 300), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=st.lists(STEP, min_size=6, max_size=16))
@example(steps=LOWERED)
@example(steps=[(0, "scan", 3), (0, "elsewhere", 0), (0, "total", 2), (0, "total", 3)])
def test_the_same_where_the_books_lack_goods(steps: list[tuple[int, str, int]]) -> None:
    walk(1, 1, 2, steps)


@pytest.mark.parametrize("stock", [0, 1, 2])
def test_what_two_people_lack_at_a_location_each_goes_back_by_location(stock: int) -> None:
    walk(2, 1, stock, [*BOTH, (1, "scan", 3), (0, "scan", 3), (1, "undo", 0), (0, "undo", 0), (0, "undo", 0)])


@settings(max_examples=tries(15, 300), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=st.lists(st.one_of(STEP, STEP, CUT), min_size=8, max_size=20))
def test_the_same_while_a_host_is_cut_off(steps: list[tuple[int, str, int]]) -> None:
    walk(2, 1, 100, steps)
