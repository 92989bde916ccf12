"""Goods in hand of a location that somebody counts meanwhile: they left it before, and nobody is asked about them."""

from __future__ import annotations

from decimal import Decimal

import pytest

from aisle.jobs.job import Changed, Close, Closed, Refresh
from aisle.jobs.view import msg
from aisle.scan.grammar_and_meaning_types import Back, Choice
from tests.jobs.move_runner import Hand

COUNTED = 5
"""Minute in which Ben counts."""


def at(hand: Hand, minute: int, *words: str) -> str:
    hand.minute = minute
    return hand.say(*words)


def count(hand: Hand, quantity: int, product: str = "P1", place: str = "A-1", minute: int = COUNTED) -> None:
    """Ben counts a product that is at the place in one pool."""
    hand.store.goods[product, place, 1, "", 0] = quantity
    hand.store.later, hand.store.later_at = {(product, place): Decimal(quantity)}, f"2026-11-20T10:{minute:02}:30.000Z"
    hand.minute = minute
    hand.feed(Changed("location", place))


def taken(hand: Hand) -> list[tuple[str, int, str]]:
    """Product, quantity and minute of what was sent last."""
    items = hand.sent[-1].body
    return [(item["product_number"], int(item["quantity"]), item.get("taken_datetime", "")[14:16]) for item in items]


@pytest.mark.parametrize("is_cart", [False, True])
@pytest.mark.parametrize("quantity", [1, 3, 5])
@pytest.mark.parametrize("left", [0, 1, 2, 4])
def test_goods_taken_before_a_count_move_without_a_question(left: int, quantity: int, is_cart: bool) -> None:
    hand = Hand()
    at(hand, 1, *(["c"] if is_cart else []), "A-1", "P1", f"={quantity}")
    count(hand, left)
    assert Refresh("logs") in hand.effects
    part = hand.state.in_hand[0]
    assert [part.quantity, part.available] == [quantity, left + quantity]
    told = at(hand, 8, "d", "B-1") if is_cart else at(hand, 8, "B-1")
    assert told == ("move.cart_empty" if is_cart else "move.moved")
    assert taken(hand) == [("P1", quantity, "01")]


def test_goods_taken_before_and_after_a_count_are_sent_apart() -> None:
    hand = Hand()
    at(hand, 1, "A-1", "P1", "P1")
    count(hand, 3)
    at(hand, 7, "P1", "P3")
    assert hand.state.in_hand[0].available == 5
    at(hand, 8, "B-1")
    assert taken(hand) == [("P1", 2, "01"), ("P1", 1, "07"), ("P3", 1, "07")]


def test_more_than_there_is_is_asked_after_a_count_too() -> None:
    hand = Hand()
    at(hand, 1, "A-1", "P1", "P1")
    count(hand, 1)
    at(hand, 7, "P1")
    assert at(hand, 7, "P1") == "move.exceeds_expected"


def test_what_others_lose_is_asked_about() -> None:
    hand = Hand()
    at(hand, 1, "A-1", "P1", "=5")
    hand.store.goods["P1", "A-1", 1, "", 0] = 4
    hand.feed(Changed("location", "A-1"))
    assert at(hand, 8, "B-1") == "move.exceeds_expected"


@pytest.mark.parametrize("words", [("=2",), ("=5", "=2"), ("=1", "P1")])
def test_quantity_that_is_corrected_keeps_its_time(words: tuple[str, ...]) -> None:
    hand = Hand()
    at(hand, 1, "A-1", "P1", *words)
    at(hand, 8, "B-1")
    assert taken(hand) == [("P1", 2, "01")]


def test_part_of_the_cart_is_what_was_taken_first() -> None:
    hand = Hand()
    at(hand, 1, "c", "A-1", "P1", "P1")
    at(hand, 4, "P1")
    at(hand, 8, "d", "=1", "B-1")
    at(hand, 9, "=1", "B-1")
    at(hand, 9, "B-1")
    sent = [(item["quantity"], item["taken_datetime"][14:16]) for write in hand.sent for item in write.body]
    assert sent == [(1, "01"), (1, "01"), (1, "04")]


def test_goods_of_an_undone_move_were_taken_when_they_were_moved() -> None:
    """The service undoes the move at that time, so that it does not matter whether a count since comes late."""
    hand = Hand()
    at(hand, 1, "A-1", "P1")
    at(hand, 3, "B-1")
    at(hand, 6, "u")
    assert "taken_datetime" not in hand.sent[-1].body[0]
    assert hand.sent[-1].body[0]["undone_datetime"][14:16] == "03"
    assert at(hand, 8, "A-2") == "move.after_undo"
    hand.feed(Choice(2))
    assert taken(hand) == [("P1", 1, "03")]


def test_goods_at_no_location_have_no_time() -> None:
    hand = Hand()
    at(hand, 1, "P6", "A-1")
    assert taken(hand) == [("P6", 1, "")]


def test_goods_of_two_pools_keep_their_times_when_these_become_one() -> None:
    hand = Hand()
    at(hand, 1, "A-1", "k", "2", "1", "P2")
    at(hand, 4, "k", "1", "2", "P2")
    at(hand, 8, "k", "1", "2")
    at(hand, 9, "B-1")
    assert sorted(taken(hand)) == [("P2", 1, "01"), ("P2", 1, "04")]


def test_count_of_this_page_includes_what_is_in_hand() -> None:
    """The person who moves the goods counts them with the others at the location."""
    hand = Hand()
    at(hand, 1, "A-1", "P1", "=5")
    hand.minute = 6
    hand.store.goods["P1", "A-1", 1, "", 0] = 6
    hand.feed(Closed("count", {"what": "A-1", "changes": []}))
    assert hand.state.in_hand[0].available == 6
    at(hand, 8, "P1", "B-1")
    assert taken(hand) == [("P1", 5, "06"), ("P1", 1, "08")]


@pytest.mark.parametrize("words", [("x",), ("u",), ("=0",)])
def test_who_puts_goods_back_is_told_that_they_were_not_counted(words: tuple[str, ...]) -> None:
    hand = Hand()
    at(hand, 1, "A-1", "P1")
    count(hand, 4)
    if words == ("x",):
        hand.feed(Back())
    at(hand, 8, *words)
    assert not hand.state.in_hand
    closed = [effect.verdict for effect in hand.effects if isinstance(effect, Close)]
    (verdict,) = closed or [hand.verdict]
    assert verdict
    expected = msg("count.counted_later", name="Ben", counted=Decimal(4), at="2026-11-20T10:05:30.000Z")
    assert verdict.detail == expected
