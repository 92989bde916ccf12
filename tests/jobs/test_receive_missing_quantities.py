"""A delivery that does not say how much of a product it brings: what comes of it is taken without a question, and no
figure stands on any page that nobody said."""

from __future__ import annotations

import re

import pytest

from aisle.jobs.view import Frame, LinkState
from aisle.tui.layout.screen import layout_screen
from tests.jobs.receive_runner import Hand, Store


def _hand() -> Hand:
    store = Store()
    store.announce_unsaid()
    return Hand(store)


def _drawn(hand: Hand, columns: int = 80, lines: int = 24) -> str:
    shown = layout_screen(Frame(hand.job.view(hand.state), LinkState("live")), columns, lines).lines
    return " ".join(" ".join("".join(text for text, _ in line) for line in shown).split())


def _opened() -> Hand:
    hand = _hand()
    hand.scan("D-4")
    return hand


@pytest.mark.parametrize("size", [(80, 24), (40, 20), (20, 16)])
def test_what_is_to_come_stands_there_without_a_figure(size: tuple[int, int]) -> None:
    hand = _opened()
    shown = _drawn(hand, *size)
    assert "Product P6" in shown or size == (20, 16)
    assert not re.search(r"Product P6 +\d", shown), shown
    assert re.search("0( of |/)2", shown), shown
    hand.say("l")
    assert "?" in _drawn(hand, *size)


@pytest.mark.parametrize("many", ["1", "5", "17", "400"])
def test_whatever_comes_is_taken(many: str) -> None:
    hand = _opened()
    assert hand.scan("P6", many) == "receive.taken_alone"
    shown = _drawn(hand)
    assert f"{many} in hand, expected: unknown" in shown
    assert " of 0" not in shown
    assert "not expected" not in shown
    hand.scan("A-1")
    assert str(hand.store.received("D-4", "P6")) == many


def test_what_nobody_would_believe_is_asked_back() -> None:
    hand = _opened()
    hand.scan("P6")
    assert hand.say("=8888888") == "count.confirm_quantity"


@pytest.mark.parametrize("many", ["1", "5"])
def test_a_second_part_of_it_is_taken_too(many: str) -> None:
    hand = _opened()
    hand.scan("P6", "3")
    hand.scan("A-1")
    assert hand.scan("P6", many) == "receive.taken_alone"
    shown = _drawn(hand)
    assert f"{many} in hand; {3 + int(many)} in all" in shown


def test_all_of_it_is_here_once_some_is_and_the_rest_is_as_announced() -> None:
    hand = _opened()
    hand.scan("P6", "3")
    hand.scan("P2", "2")
    assert hand.say("d") == "receive.closed"


def test_where_nothing_came_of_it_that_is_a_difference_without_a_figure() -> None:
    hand = _opened()
    hand.scan("P2", "2")
    assert hand.say("d") == "receive.differ_short"
    shown = _drawn(hand)
    assert "Product P6" in shown
    assert "±" not in shown


def test_a_product_of_it_finds_the_delivery() -> None:
    hand = _hand()
    hand.scan("P6", "4")
    assert hand.state.delivery_number == "D-4"
    assert hand.verdict == "receive.taken_alone"


def test_undo_takes_it_back() -> None:
    hand = _opened()
    hand.scan("P6", "3")
    hand.scan("A-1")
    hand.say("u")
    assert hand.store.received("D-4", "P6") == 0
    assert hand.state.in_hand is not None
    assert hand.state.in_hand.quantity == 3
