"""A delivery that is left half way is marked for home, and what is set aside is confirmed with how much it is."""

from __future__ import annotations

from decimal import Decimal

import pytest

from aisle.jobs.job import LocalNote
from aisle.jobs.view import GOOD
from aisle.scan.grammar_and_meaning_types import Back, UnknownCode
from aisle.tui.message_text import MessageWriter
from tests.jobs.receive_runner import Hand


def marks(hand: Hand) -> list[tuple[str, bool]]:
    """The deliveries that were marked, or whose mark was taken away, by the last event."""
    remarks = [effect for effect in hand.effects if isinstance(effect, LocalNote) and effect.topic == "partly_received"]
    return [(each.key, bool(each.text)) for each in remarks]


def test_a_delivery_that_is_left_half_way_is_marked() -> None:
    hand = Hand()
    hand.say("D-1", "P1", "P1", "A-1")
    hand.feed(Back())
    assert marks(hand) == [("D-1", True)]


def test_one_that_nothing_came_of_is_not() -> None:
    hand = Hand()
    hand.say("D-1")
    hand.feed(Back())
    assert marks(hand) == [("D-1", False)]


def test_what_is_in_hand_when_it_is_left_counts_if_it_is_booked() -> None:
    for choice, marked in (("1", True), ("2", False)):
        hand = Hand()
        hand.say("D-1", "P1")
        hand.feed(Back())
        hand.say(hand.view.choice_letters[int(choice) - 1] if hand.view.choice_letters else choice)
        assert marks(hand) == [("D-1", marked)]


def test_line_closed_short_is_marked_and_complete_line_is_not() -> None:
    hand = Hand()
    hand.say("D-1", "P1", "d", "y")
    assert marks(hand) == [("D-1", True)]
    hand = Hand()
    hand.say("D-2", "P5", "=12", "P2", "=3", "d")
    assert marks(hand) == [("D-2", False)]


@pytest.mark.parametrize(("scans", "more", "kept"), [(["P1", "=10", "P1"], 1, 10), (["P1", "=8", "=13"], 5, 8)])
def test_the_excess_that_is_set_aside_is_confirmed(scans: list[str], more: int, kept: int) -> None:
    hand = Hand()
    hand.say("D-1", *scans)
    ways = [choice.id for choice in hand.view.choices]
    hand.say(hand.view.choice_letters[ways.index("receive.choice_set_aside")])
    verdict = hand.verdicts[-1]
    assert (verdict.kind, verdict.text.id) == (GOOD, "receive.set_aside_quantity")
    assert MessageWriter().write(verdict.text) == f"{more} × Product P1 set aside, not booked; {kept} in hand"
    assert hand.state.in_hand is not None
    assert hand.state.in_hand.quantity == kept


def test_what_nobody_announced_is_set_aside_with_how_much_it_is() -> None:
    hand = Hand()
    hand.say("D-1")
    hand.scan("P9", "3")
    ways = [choice.id for choice in hand.view.choices]
    hand.say(hand.view.choice_letters[ways.index("receive.choice_set_aside")])
    verdict = hand.verdicts[-1]
    assert (verdict.kind, verdict.text.id) == (GOOD, "receive.set_aside_quantity")
    assert dict(verdict.text.args)["more"] == Decimal(3)
    assert not hand.sent


@pytest.mark.parametrize(
    "inputs",
    [
        ("P1", "=6", "P2", "P2", "n"),
        ("P1", "=8", "=13", "n"),
        ("P1", "P9", "n"),
        ("P1", "P9", "=0"),
        ("P1", "A-1", "P5", "n"),
        ("P1", "A-1", "P5", "=0"),
    ],
)
def test_undo_takes_back_the_set_aside_first(inputs: tuple[str, ...]) -> None:
    *before, answer = inputs
    hand = Hand()
    hand.say("D-1", *before)
    asked, in_hand = hand.view.choices, hand.state.in_hand
    assert hand.say(answer) == "receive.set_aside_quantity"
    assert hand.say("u") == "receive.undone_set_aside"
    assert (hand.view.choices, hand.state.in_hand) == (asked, in_hand)
    hand.say("n")
    hand.say("u")
    hand.say("y")
    assert hand.state.in_hand is not None
    assert hand.state.in_hand.label.endswith(f"P{hand.state.in_hand.product[-1]}")


def test_undo_takes_back_a_set_aside_code_and_one_before_a_booking() -> None:
    hand = Hand()
    hand.say("D-1", "P1", "A-1")
    hand.feed(UnknownCode("99999"))
    asked = hand.view.choices
    hand.say("n", "P2", "A-2")
    assert [hand.say("u") for _ in range(3)] == ["receive.undone", "pick.undone", "receive.undone_set_aside"]
    assert hand.view.choices == asked
    assert [hand.say(word) for word in "nuuu"][1:] == ["receive.undone_set_aside", "session.dropped", "receive.undone"]


@pytest.mark.parametrize(("weight", "is_short"), [("=4.75", False), ("=4.74", True)])
def test_weighed_goods_within_the_tolerance_are_not_short(weight: str, is_short: bool) -> None:
    hand = Hand()
    hand.store.deliveries = {"W-1": hand.store.deliveries["D-1"][3:4]}
    hand.store.deliveries["W-1"][0]["may_lack"] = Decimal("0.25")
    hand.say("W-1", "P3", weight, "d")
    assert (hand.verdicts[-1].text.id == "receive.differ_short") is is_short
    if not is_short:
        assert (hand.verdicts[-1].text.id, marks(hand)) == ("receive.closed", [("W-1", False)])
