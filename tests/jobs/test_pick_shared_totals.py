"""A typed total of one picker while another has goods of the same line in hand."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from aisle.jobs.pick import stops_and_goods_in_hand
from aisle.scan.grammar_and_meaning_types import Choice, Quantity
from tests.jobs.pick_runner import CONTEXT, Hand, line, order

AT_WORK = [
    {"user": CONTEXT.user, "name": "Ann", "terminal": "t1"},
    {"user": "ben", "name": "Ben Okafor", "terminal": "t2"},
]
CLAIM = {"is_claimed": True, "claimed_by": "ben", "claimed_name": "Ben Okafor", "claimed_terminal": "t2"}
HERE: dict[str, Any] = {"at_work": AT_WORK}
ELSEWHERE: dict[str, Any] = {**CLAIM, "claimed_on": "2099-01-01T00:00:00.000Z", "at_work": []}
HOSTS = pytest.mark.parametrize("shared", [HERE, ELSEWHERE], ids=["this host", "another host"])


def shared_line(of: int, own: int, others: int, shared: dict[str, Any]) -> Hand:
    """Return the pick of one line of which this picker and another have goods in hand."""
    hand = Hand(line(1, "P1", of))
    for _ in range(own):
        hand.scan("P1")
    hand.feed(order(line(1, "P1", of, picked_quantity=own + others, picked_name="Ben Okafor"), **shared))
    hand.feed(order(line(1, "P1", of, picked_quantity=own + others, picked_name="Ben Okafor"), **shared))
    if "pick.choice_both_pick" in hand.choices():
        hand.feed(Choice(1 + hand.choices().index("pick.choice_both_pick")))
    hand.scan("P1")
    return hand


@HOSTS
@pytest.mark.parametrize(
    ("of", "own", "others", "typed", "sum_", "told"),
    [
        (13, 1, 5, 4, 9, "You have 4. 9 of 13 · Product P1"),
        (8, 2, 3, 1, 4, "You have 1. 4 of 8, was 6 · Product P1"),
        (8, 2, 3, 0, 3, "You have 0. 3 of 8, was 6 · Product P1"),
        (8, 1, 3, 5, 8, "You have 5. Order 1042: all picked"),
        (8, 0, 5, 4, 6, "4 is too many: 8 × Product P1 ordered, others have 5"),
    ],
)
def test_typed_total_leaves_goods_in_other_hands(
    of: int, own: int, others: int, typed: int, sum_: int, told: str, shared: dict[str, Any]
) -> None:
    hand = shared_line(of, own, others, shared)
    hand.feed(Quantity(Decimal(typed)))
    assert hand.state.lines[0].picked == sum_
    assert hand.told == told


@HOSTS
def test_batch_total_counts_own_goods_only(shared: dict[str, Any]) -> None:
    hand = Hand(orders={"O1": [line(1, "P1", 3)], "O2": [line(1, "P1", 3)]})
    hand.scan("P1")
    for _ in range(2):
        hand.feed(order(line(1, "P1", 3, picked_quantity=2, picked_name="Ben Okafor"), number="O2", **shared))
    if "pick.choice_both_pick" in hand.choices():
        hand.feed(Choice(1 + hand.choices().index("pick.choice_both_pick")))
    hand.scan("P1")
    hand.scan("P1")
    hand.feed(Quantity(Decimal(2)))
    assert hand.told == "Only 2 × Product P1 in all? 3 of 6 are in the totes."
    hand.feed(Choice(1))
    assert hand.told == "You have 2. 4 of 6: A2 B2 · Product P1"
    assert [stops_and_goods_in_hand.quantity_of_others(hand.state, each) for each in hand.state.lines] == [0, 2]
