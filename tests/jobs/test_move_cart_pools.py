"""Goods on a cart: each take keeps the pools that were chosen when it was scanned, whatever is chosen afterwards."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from aisle.jobs.job import Changed, Rows
from aisle.jobs.view import msg, raw
from aisle.scan.grammar_and_meaning_types import Back
from tests.jobs.move_runner import Hand, Store

GOODS: dict[Any, int] = {
    ("P1", "A-1", 1, "", 0): 5,
    ("P1", "A-1", 2, "", 0): 4,
    ("P2", "A-1", 1, "", 0): 5,
    ("P2", "A-1", 2, "", 0): 3,
    ("P3", "B-1", 1, "", 0): 2,
}
ANY, ONE_TO_TWO, TWO_TO_ONE = (), ("k", "1", "2"), ("k", "2", "1")
"""Choices of pools: source and target."""


def cart(*words: str) -> Hand:
    """A loaded cart."""
    hand = Hand(Store(GOODS, {}, ("A-1", "B-1", "N-0")))
    hand.feed(Rows("store", ({"pools": {"1": "Shop floor", "2": "Reserve", "3": "Promotion"}},), 1))
    hand.say("c", *words)
    return hand


def unload(hand: Hand) -> list[tuple[Any, ...]]:
    """Put all on the cart at one location; return product, quantity, source pool and target pool."""
    if hand.state.phase == "load":
        hand.say("d")
    moved = []
    for _ in hand.state.in_hand:
        hand.say("N-0")
        moved += [(product, int(quantity), source[1], target[1]) for product, quantity, source, target in hand.items]
    assert not hand.state.in_hand
    return moved


LOADS: dict[str, tuple[tuple[str, ...], list[tuple[str, int, int, int]]]] = {
    "no pools, then pools": (("A-1", "P2", "N-0", *TWO_TO_ONE), [("P2", 1, 1, 0)]),
    "one choice, then another": (
        ("A-1", *ONE_TO_TWO, "P2", "P2", *TWO_TO_ONE, "P1"),
        [("P1", 1, 2, 1), ("P2", 2, 1, 2)],
    ),
    "pools, then none": (("A-1", *TWO_TO_ONE, "P2", "k", "u", "P1"), [("P1", 1, 1, 0), ("P2", 1, 2, 1)]),
    "one product under two choices": (
        ("A-1", *ONE_TO_TWO, "P1", "P1", *TWO_TO_ONE, "P1", "=3"),
        [("P1", 2, 1, 2), ("P1", 3, 2, 1)],
    ),
    "one source, two targets": (("A-1", *TWO_TO_ONE, "P1", "k", "2", "3", "P1"), [("P1", 1, 2, 1), ("P1", 1, 2, 3)]),
    "two locations": (("B-1", "P3", "A-1", *TWO_TO_ONE, "P2"), [("P2", 1, 2, 1), ("P3", 1, 1, 0)]),
    "whole location": (("B-1", "w", "A-1", *TWO_TO_ONE, "w"), [("P1", 4, 2, 1), ("P2", 3, 2, 1), ("P3", 2, 1, 0)]),
}
"""What is loaded, and what is booked then."""


@pytest.mark.every_case
@pytest.mark.parametrize("load", LOADS)
def test_a_take_is_booked_from_and_to_the_pools_of_its_scan(load: str) -> None:
    words, booked = LOADS[load]
    hand = cart(*words)
    hand.feed(Changed("location", "A-1"))
    before = +hand.store.goods
    assert sorted(unload(hand)) == booked
    for _ in booked:
        hand.say("u")
    assert +hand.store.goods == before, "an undo returns goods to the pools they came from"
    assert sorted(unload(hand)) == booked


def test_the_page_that_puts_goods_away_names_their_pools() -> None:
    hand = cart("A-1", "P2", *TWO_TO_ONE)
    assert hand.state.current_goods is None, "a number is for goods under the new choice"
    pools = msg("move.note_pools", source=raw("Reserve"), target=raw("Shop floor"))
    assert [line.text for line in hand.view.lines][-1] == pools
    hand.say("P1", "d")
    shown: dict[str, bool] = {}
    for _ in range(2):
        part = hand.state.current_goods
        assert part
        shown[part.product] = pools in [line.text for line in hand.view.lines]
        hand.say("n")
    assert shown == {"P1": True, "P2": False}


@pytest.mark.every_case
@pytest.mark.parametrize("when", ["taken", "put away"])
def test_the_question_about_too_little_names_the_pool_of_the_take(when: str) -> None:
    hand = cart("A-1", *TWO_TO_ONE, "P2", "=3", *ONE_TO_TWO)
    if when == "taken":
        hand.say("n")
        assert hand.say("=4") == "move.exceeds_expected_in_pool"
    else:
        hand.store.goods["P2", "A-1", 2, "", 0] = 2
        hand.feed(Changed("location", "A-1"))
        hand.say("d")
        assert hand.say("N-0") == "move.exceeds_expected_in_pool"
    assert hand.verdict
    assert dict(hand.verdict.text.args)["pool"] == raw("Reserve")


def test_goods_that_are_on_the_cart_are_not_taken_again_under_another_choice() -> None:
    """Five lie in pool 1, and four in pool 2."""
    hand = cart("A-1", "P1", "=7", *TWO_TO_ONE)
    assert hand.say("P1", "=3") == "move.exceeds_expected_in_pool"
    assert hand.verdict
    assert dict(hand.verdict.text.args)["books"] == 2
    hand.say("r")
    hand.say("P3")
    hand.feed(Back())
    assert hand.say("P1") == "move.exceeds_expected_in_pool"
    hand.feed(Back())
    assert unload(hand) == [("P1", 5, 1, 0), ("P1", 2, 2, 0), ("P1", 2, 2, 1)]
    assert hand.held == {}
    assert hand.store.there("P1", "A-1") == Decimal(0)


def test_what_is_put_away_first_is_missing_for_the_rest_of_its_stock() -> None:
    """More is taken from any pool than pool 1 has, although that of pool 1 is on the cart already."""
    hand = cart("A-1", *ONE_TO_TWO, "P1", "=5", "k", "u", "P1", "=4")
    assert hand.say("=5") == "move.exceeds_expected"
    hand.feed(Back())
    assert sorted(unload(hand)) == [("P1", 4, 2, 0), ("P1", 5, 1, 2)]


def test_goods_in_hand_without_a_cart_change_with_the_choice() -> None:
    hand = Hand(Store(GOODS, {}, ("A-1", "B-1", "N-0")))
    hand.say("A-1", "P2", *TWO_TO_ONE, "N-0")
    assert hand.items == [("P2", 1, ("A-1", 2, "", 0), ("N-0", 1, "", 0))]
