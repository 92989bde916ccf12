"""Replenishment: the list, and the cart that the move job fills from it. Nothing is moved that does not lie there."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aisle.jobs import JOBS
from aisle.jobs.job import Close, Closed, Context, Opened, Query, Rows, Start, Turn, UndoLast
from aisle.jobs.move.replenishment import ReplenishmentState
from aisle.jobs.view import INFO, ListView, Verdict, msg
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
    ORDER,
    PRODUCT,
    Back,
    Choice,
    Command,
    CursorKey,
    Match,
    Quantity,
    Scan,
    Text,
)
from tests.jobs.move_runner import CONTEXT, Hand, Spot, Store

ENTER = CursorKey("enter")
FLOOR, BACK = ("A-1", "A-2"), ("R-1", "R-2")
LEVEL, MOST = 6, 10


class Shop(Store):
    """Two locations on the shop floor, two in the backroom; what is missing is found as the cache would find it."""

    def __init__(self, goods: Mapping[Spot, int]) -> None:
        super().__init__(goods, {}, (*FLOOR, *BACK))
        self.workers: dict[str, tuple[str, str]] = {}

    def replenishment(self, _: Mapping[str, Any]) -> list[dict[str, Any]]:
        rows = [row for number in sorted({spot[0] for spot in self.goods}) for row in self._moves(number, LEVEL)]
        return sorted(rows, key=lambda row: (row["location_code"], row["product_number"]))

    def replenishment_moves(self, args: Mapping[str, Any]) -> list[dict[str, Any]]:
        assert (args["shop_floor"], args["backroom"]) == (1, 2)
        if args.get("is_single"):
            return self._moves(args["product_number"], MOST)
        rows = self.replenishment(args)
        wanted = (args["product_number"], args.get("location_code"))
        at = next(
            (
                n
                for n, row in enumerate(rows)
                if row["product_number"] == wanted[0] or row["location_code"] == wanted[1]
            ),
            0,
        )
        return (rows[at:] + rows[:at])[: args["size"]]

    def list_choices(self, _: Mapping[str, Any]) -> list[dict[str, Any]]:
        return []

    def _moves(self, number: str, level: int) -> list[dict[str, Any]]:
        on_floor = sum(self.there(number, code) for code in FLOOR)
        code = max(BACK, key=lambda each: self.there(number, each))
        available = self.there(number, code)
        quantity = min(MOST - on_floor, available)
        if on_floor >= level or quantity <= 0:
            return []
        pools = {str(pool): Decimal(self.goods[number, code, pool, "", 0]) for pool in (2, 1)}
        target = next((each for each in FLOOR if self.there(number, each)), "")
        worker, name = self.workers.get(number, ("", ""))
        return [
            {
                **self._named(number),
                "product_name": f"Product {number}",
                "location_code": code,
                "quantity": quantity,
                "available": available,
                "pools": {pool: held for pool, held in pools.items() if held > 0},
                "on_floor": on_floor,
                "order_level": Decimal(level),
                "to_location": target,
                "to_order": Decimal(FLOOR.index(target)) if target else None,
                "worker": worker,
                "worker_name": name,
            }
        ]


def shop() -> Shop:
    """P1 and P2 lie at the first location in the backroom, P3 at the second, and no more of it anywhere."""
    return Shop(
        {
            ("P1", "A-2", 1, "", 0): 4, ("P1", "R-1", 2, "", 0): 20,
            ("P2", "A-1", 1, "", 0): 5, ("P2", "R-1", 2, "", 0): 2, ("P2", "R-1", 1, "", 0): 1,
            ("P3", "R-2", 2, "", 0): 3,
            ("P4", "A-1", 1, "", 0): 6, ("P4", "R-2", 2, "", 0): 9,
        }
    )  # fmt: skip


@pytest.fixture
def hand() -> Hand:
    return Hand(shop(), replenish="P1", label="Product P1")


def shown(hand: Hand) -> list[str]:
    """What the lines of the screen say: location, product, quantity."""
    told = [dict(line.text.args) for line in hand.view.lines]
    return [str(next(args[name] for name in ("place", "text", "quantity") if name in args)) for args in told if args]


# The cart


def test_one_product_takes_three_inputs_after_it_is_chosen() -> None:
    hand = Hand(shop(), replenish="P1", label="Product P1", is_single=True)
    assert shown(hand) == ["R-1", "Product P1", "6"]
    assert hand.scan("P1") == "move.taken"
    assert hand.feed(ENTER) == "move.to_put_away"
    assert hand.view.prompt.id == "move.prompt_put_or_enter"
    assert hand.feed(ENTER) == "move.cart_empty"
    assert hand.items == [("P1", 6, ("R-1", 2, "", 0), ("A-2", 1, "", 0))]
    assert [type(each) for each in hand.effects if isinstance(each, Close)] == [Close]


def test_moves_follow_each_other_in_walking_order_and_are_unloaded_in_one_round(hand: Hand) -> None:
    assert [stop.label for stop in hand.view.upcoming] == ["Product P2", "Product P3"]
    assert [hand.scan(product) for product in ("P1", "P2", "P3")] == ["move.taken"] * 3
    assert hand.held == {"P1": 6, "P2": 3, "P3": 3}
    assert [part.location for part in hand.state.in_hand] == ["R-1", "R-1", "R-2"]
    hand.feed(ENTER)
    assert hand.state.phase == "put"
    assert [hand.scan(code) for code in ("A-1", "A-2")] == ["move.put", "move.put"]
    assert hand.feed(ENTER) == "", "where the last one belongs is not known, so that a scan has to say it"
    assert hand.scan("A-1") == "move.cart_empty"
    assert not [spot for spot, much in hand.store.goods.items() if much and spot[1] in FLOOR and spot[2] != 1]
    assert sum(isinstance(each, Close) for each in hand.effects) == 1


def test_a_number_overrules_the_quantity_and_a_scan_the_location(hand: Hand) -> None:
    hand.scan("P1")
    assert hand.say("=4") == "move.taken"
    assert hand.feed(ENTER) == "move.task_here", "the next product is shown"
    assert shown(hand) == ["R-1", "Product P2", "3"]
    hand.say("d")
    assert hand.scan("A-1") == "move.cart_empty"
    assert hand.items == [("P1", 4, ("R-1", 2, "", 0), ("A-1", 1, "", 0))]
    assert not [each for each in hand.effects if isinstance(each, Close)], "two moves are left"
    assert shown(hand) == ["R-1", "Product P2", "3"]


def test_more_than_lies_there_is_asked_about(hand: Hand) -> None:
    assert hand.scan("P3", "9") == "move.exceeds_expected"
    assert hand.say("r") == "move.taken"
    assert hand.held == {"P3": 3}
    assert hand.state.in_hand[0].replenishes


def test_another_source_is_scanned(hand: Hand) -> None:
    hand.store.goods["P1", "R-2", 2, "", 0] = 5
    assert hand.scan("R-2") == "count.at_location"
    assert hand.scan("P1") == "move.taken"
    assert hand.held == {"P1": 1}
    assert hand.state.in_hand[0].location == "R-2"
    assert hand.state.in_hand[0].suggested_location == "A-2"


def test_a_product_is_passed_by(hand: Hand) -> None:
    assert hand.say("n") == "move.task_here"
    assert shown(hand) == ["R-1", "Product P2", "3"]
    hand.say("n", "n")
    assert not shown(hand)[1:]
    assert hand.feed(Back()) == ""
    assert isinstance(hand.effects[-1], Close)


def test_undo_of_a_take_suggests_it_again_and_undo_of_a_move_has_it_in_hand(hand: Hand) -> None:
    before = dict(hand.store.goods)
    hand.scan("P1")
    hand.say("u")
    assert shown(hand) == ["R-1", "Product P1", "6"]
    hand.say("P1", "d")
    hand.feed(ENTER)
    assert hand.store.there("P1", "A-2") == 10
    hand.say("u")
    assert hand.held == {"P1": 6}
    assert {spot: much for spot, much in hand.store.goods.items() if much} == before


def test_goods_on_the_cart_are_claimed_and_those_of_others_are_not_suggested(hand: Hand) -> None:
    assert hand.job.orders_in_work(hand.state) == ()
    hand.scan("P1")
    assert hand.job.orders_in_work(hand.state) == ("replenishment/P1",)
    assert isinstance(hand.store, Shop)
    hand.store.workers = {"P2": ("ben", "Ben"), "P1": ("ann", "Ann")}
    other = Hand(hand.store, replenish="P1")
    assert [stop.label for stop in other.view.upcoming] == ["Product P3"]
    chosen = Hand(hand.store, replenish="P2")
    assert shown(chosen) == ["R-1", "Product P2", "3"]


def test_nothing_to_bring_closes_the_job() -> None:
    hand = Hand(shop(), replenish="P9", label="Product P9", is_single=True)
    assert hand.effects[-1] == Close(Verdict(INFO, msg("clearance_tasks.not_here", what="Product P9")))


def test_moves_that_others_made_leave_the_suggestions(hand: Hand) -> None:
    hand.scan("P2")
    hand.store.goods["P1", "A-2", 1, "", 0] = 9
    hand.feed(Rows("replenishment", tuple(hand.store.replenishment({})), 9))  # type: ignore[attr-defined]
    hand.feed(ENTER)
    assert shown(hand) == ["R-2", "Product P3", "3"]


INPUTS = st.sampled_from(
    [
        *(Scan((Match(PRODUCT, f"P{n}", f"Product P{n}", code=f"P{n}"),)) for n in range(1, 5)),
        *(Scan((Match(LOCATION, code, code, code=code),)) for code in (*FLOOR, *BACK)),
        *(Command(letter) for letter in "dnuw"),
        *(Quantity(Decimal(n)) for n in (0, 1, 7, 30)),
        ENTER, ENTER, Back(), "fit",
    ]
)  # fmt: skip


@settings(deadline=None)
@given(st.lists(INPUTS, max_size=25), st.booleans())
def test_never_more_is_moved_than_lies_there_and_the_stock_stays_the_same(inputs: list[Any], is_single: bool) -> None:
    store = shop()
    hand = Hand(store, replenish="P1", label="Product P1", is_single=is_single)
    before = {
        product: sum(much for spot, much in store.goods.items() if spot[0] == product)
        for product in ["P1", "P2", "P3", "P4"]
    }
    for event in inputs:
        if event == "fit":  # the answer that takes what lies there
            kinds = [choice.kind for choice in hand.state.choices]
            event = Choice(kinds.index("fit") + 1) if "fit" in kinds else ENTER
        if isinstance(event, Quantity) and not hand.job.accepts(hand.state).quantity:
            continue
        hand.feed(event)
        assert hand.view
        assert min(store.goods.values()) >= 0, store.goods
        for product, much in before.items():
            assert sum(held for spot, held in store.goods.items() if spot[0] == product) == much
            assert all(item.allow_overage is False for step in hand.state.history for item in step.items)


# The list


class List:
    """Somebody at the list."""

    def __init__(self, store: Shop, context: Context = CONTEXT) -> None:
        self.store, self.context = store, context
        self.job = JOBS["replenishment"]
        self.state: ReplenishmentState = self.job.begin()
        self.effects: list[Any] = []
        self.verdict: Verdict | None = None
        self.feed(Opened({}))

    def feed(self, event: Any) -> str:
        self.effects, self.verdict = [], None
        queue = [event]
        while queue:
            turn: Turn[Any] = self.job.handle(self.state, queue.pop(0), self.context)
            self.state, self.verdict = turn.state, turn.verdict or self.verdict
            self.effects += turn.effects
            queue += [self.store.answer(each) for each in turn.effects if isinstance(each, Query)]
        return self.verdict.text.id if self.verdict else ""

    @property
    def started(self) -> list[Start]:
        return [each for each in self.effects if isinstance(each, Start)]


def test_a_row_its_location_or_its_product_opens_the_move() -> None:
    page = List(shop())
    assert [row["product_number"] for row in page.state.rows] == ["P1", "P2", "P3"]
    start = Start("move", {"replenish": "P3", "label": "Product P3"})
    for event in (Choice(3), Scan((Match(LOCATION, "R-2"),)), Scan((Match(PRODUCT, "P3"),))):
        assert page.feed(event) == "clearance_tasks.started"
        assert page.started == [start]
    for event in (Scan((Match(PRODUCT, "P4"),)), Scan((Match(ORDER, "4101", "4101"),))):
        assert page.feed(event) == "clearance_tasks.not_here"
    assert page.feed(Text("zz")) == "count.unknown"


def test_a_row_that_somebody_has_on_the_cart_is_chosen_twice() -> None:
    store = shop()
    store.workers = {"P1": ("ben", "Ben"), "P2": ("ann", "Ann")}
    page = List(store)
    assert page.feed(Choice(1)) == "clearance_tasks.taken_by_other"
    assert page.started == []
    assert page.feed(Choice(1)) == "clearance_tasks.started"
    assert page.feed(Choice(1)) == "clearance_tasks.taken_by_other"
    page.feed(CursorKey("down"))
    assert page.state.confirmed_product == ""
    assert page.feed(Choice(2)) == "clearance_tasks.started", "it is on the own cart"


def test_list_is_read_again_after_a_move_and_undoes_the_last() -> None:
    page = List(shop())
    page.store.goods["P1", "A-2", 1, "", 0] = 10
    page.feed(Closed("move"))
    assert [row["product_number"] for row in page.state.rows] == ["P2", "P3"]
    page.feed(Command("u"))
    assert page.effects == [UndoLast()]


def test_figures_of_the_shop_floor_are_for_a_desk() -> None:
    heads = [List(shop(), CONTEXT._replace(is_desk=is_desk)) for is_desk in (False, True)]
    counts = [len(view.column_heads) for page in heads if isinstance(view := page.job.view(page.state), ListView)]
    assert counts == [3, 5], "nobody has anything on the cart"


def test_empty_list_names_the_pool_of_the_backroom() -> None:
    page = List(Shop({}))
    view = page.job.view(page.state)
    assert isinstance(view, ListView)
    assert view.empty == msg("replenishment.none", pool=2)
