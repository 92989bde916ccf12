"""Numbers in a delivery: each is what is in hand, whatever was put away before, and the screen says so."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest

from aisle.jobs.job import Changed
from aisle.jobs.receive.receive_state_and_differences import ReceiptEntry, add_received
from aisle.jobs.view import WRONG, Msg
from aisle.scan.grammar_and_meaning_types import Back, Choice, Quantity, UnknownCode
from aisle.tui.message_text import MessageWriter
from tests.jobs.receive_runner import Hand, Store


def in_hand(hand: Hand) -> Decimal:
    """The quantity in hand."""
    assert hand.state.in_hand
    return hand.state.in_hand.quantity


def told(hand: Hand) -> str:
    """The last verdict as it is written."""
    return MessageWriter().write(hand.verdicts[-1].text)


def prompt(hand: Hand) -> str:
    """The prompt as it is written."""
    text = hand.view.prompt
    assert isinstance(text, Msg)
    return MessageWriter().write(text)


class OfferedCheese(Store):
    """Deliveries, and a product by weight that none of them announces."""

    def product(self, args: Mapping[str, Any]) -> list[dict[str, Any]]:
        rows = super().product(args)
        return [{**row, "allow_decimal": row["product_number"] == "P9", "unit": "kg"} for row in rows]


def test_number_after_a_partial_put_down_is_what_is_in_hand() -> None:
    hand = Hand()
    hand.say("D-2", "P5", "=5", "A-1", "P5")
    assert told(hand) == "1 in hand; 6 of 12 · Product P5"
    assert "in hand" in prompt(hand)
    hand.say("=4")
    assert in_hand(hand) == 4
    assert told(hand) == "4 in hand; 9 of 12 · Product P5"
    hand.say("=6")
    assert in_hand(hand) == 6
    hand.say("A-2")
    assert hand.store.received("D-2", "P5") == 11


def test_line_that_is_chosen_asks_for_what_is_in_hand() -> None:
    hand = Hand()
    hand.say("D-2", "P5", "=5", "A-1", "l", "1")
    assert "how many" in told(hand)
    hand.say("=4")
    assert in_hand(hand) == 4


def test_number_at_a_question_is_what_is_in_hand() -> None:
    hand = Hand()
    hand.say("D-2", "P5", "=5", "A-1", "P5", "=9")
    assert hand.verdict == "receive.more_than_announced"
    assert "total" not in prompt(hand)
    hand.say("=6")
    assert in_hand(hand) == 6


def test_number_of_an_extra_product_is_what_is_in_hand() -> None:
    hand = Hand()
    hand.say("D-1", "P5")
    hand.say(hand.job.accepts(hand.state).choice_letters[0], "=3", "A-1", "P5")
    assert told(hand) == "1 in hand, 4 in all · Product P5, not expected"
    hand.say("=2")
    assert in_hand(hand) == 2


def test_product_without_an_announced_quantity_says_what_is_in_hand() -> None:
    store = Store()
    store.announce_unsaid()
    hand = Hand(store)
    hand.say("D-4", "P6", "=3", "A-1", "P6")
    assert told(hand).startswith("1 in hand")


@pytest.mark.parametrize("value", ["1.5", "2.5", "2.250"])
def test_goods_by_weight_that_nobody_announced_take_decimals(value: str) -> None:
    hand = Hand(OfferedCheese())
    assert hand.say("D-1", "P9") == "receive.not_announced"
    assert hand.job.accepts(hand.state).decimals
    assert hand.feed(Quantity(Decimal(value))) == "receive.not_announced"
    hand.say(hand.job.accepts(hand.state).choice_letters[0])
    assert in_hand(hand) == Decimal(value)


def test_goods_in_pieces_that_nobody_announced_take_no_decimals() -> None:
    hand = Hand(OfferedCheese())
    hand.say("D-1", "P5")
    assert not hand.job.accepts(hand.state).decimals


@pytest.mark.parametrize("phase", ["check", "lines", "leave"])
@pytest.mark.parametrize("typed", ["0.5", "12.75", "77", "1,5"])
def test_number_that_answers_nothing_leaves_the_question(phase: str, typed: str) -> None:
    hand = Hand()
    hand.say("D-1", "P1")
    if phase == "leave":
        hand.state = hand.state._replace(phase="leave")
    else:
        hand.say({"check": "d", "lines": "l"}[phase])
    before = hand.view
    hand.feed(UnknownCode(typed))
    assert hand.verdicts[-1].kind == WRONG
    assert typed in told(hand)
    assert hand.view == before


def received_by_both() -> Hand:
    """Ann has all twelve of P5 in hand; meanwhile Ben has received them."""
    hand = Hand()
    hand.say("D-2", "P5", "=12")
    hand.store.deliveries["D-2"][0]["received"] = Decimal(12)
    hand.feed(Changed("delivery", "D-2"))
    return hand


@pytest.mark.parametrize("scanned", ["A-1", "P2"])
def test_goods_that_others_have_received_meanwhile_are_asked_about(scanned: str) -> None:
    hand = received_by_both()
    assert hand.say(scanned) == "receive.received_meanwhile"
    assert hand.sent == []
    assert hand.say(scanned) == "receive.answer_first"
    hand.feed(Choice([choice.id for choice in hand.view.choices].index("goods.all_anyway") + 1))
    hand.say("A-1")
    assert hand.entries() == [("P5", 10, 12, "A-1")]


def test_goods_that_others_have_received_meanwhile_can_be_set_aside() -> None:
    hand = received_by_both()
    hand.say("A-1")
    hand.feed(Choice([choice.id for choice in hand.view.choices].index("receive.choice_set_aside") + 1))
    hand.say("A-1", "P2", "A-1")
    assert [entry[0] for entry in hand.entries()] == ["P2"]


def answer(hand: Hand, choice: str) -> str:
    """Choose by the message of the choice."""
    return hand.feed(Choice([each.id for each in hand.view.choices].index(choice) + 1))


@pytest.mark.parametrize("words", [("l", "2"), ("b", "receive.choice_book"), ("D-3", "receive.choice_switch")])
def test_goods_that_others_have_received_are_asked_about_before_another_input_books_them(
    words: tuple[str, str],
) -> None:
    hand = received_by_both()
    if words[0] == "b":
        hand.feed(Back())
    else:
        hand.say(words[0])
    (answer if "." in words[1] else Hand.say)(hand, words[1])
    assert hand.verdict == "receive.received_meanwhile"
    assert hand.sent == []


def test_receiver_is_told_when_goods_in_hand_become_too_many() -> None:
    hand = received_by_both()
    assert hand.verdict == "receive.surplus_in_hand"
    assert told(hand) == "Product P5: 12 of 12 already received, and you have 12 in hand"
    assert dict(hand.view.progress.args) == {"done": 12, "total": 15, "more": 12}


def test_receiver_is_told_when_others_received_what_is_booked() -> None:
    hand = Hand()
    hand.say("D-2", "P5", "=12", "A-1")
    hand.store.deliveries["D-2"][0]["received"] = Decimal(24)
    hand.feed(Changed("delivery", "D-2"))
    assert told(hand) == "Product P5: 24 received, 12 expected; others received it too"
    assert dict(hand.view.progress.args) == {"done": 12, "total": 15, "more": 12}
    told_before = len(hand.verdicts)
    hand.feed(Changed("delivery", "D-2"))
    assert len(hand.verdicts) == told_before


class SharedDeliveries(Store):
    """Deliveries that others have open too."""

    at_work: tuple[str, ...] = ("ann", "ben")

    def delivery(self, args: Mapping[str, Any]) -> list[dict[str, Any]]:
        workers = [{"user": user, "name": user.title(), "terminal": "dock"} for user in self.at_work]
        return [{**row, "at_work": workers} for row in super().delivery(args)]


@pytest.mark.parametrize(("first", "third"), [(10, 0), (0, 10), (7, 3), (6, 4)])
def test_extra_and_missing_goods_are_those_of_all_lines_of_a_product(first: int, third: int) -> None:
    """Another service may book an excess on one line while another line lacks goods."""
    hand = Hand()
    lines = hand.store.deliveries["D-1"]
    lines[0]["received"], lines[2]["received"] = Decimal(first), Decimal(third)
    hand.say("D-1")
    assert hand.view.progress is None, "none is extra"
    assert hand.say("P1") == "receive.all_received"
    hand.feed(Choice(2))
    hand.say("P2", "P3", "=5", "P4", "=2")
    lacks = first < 6 or third < 4
    assert hand.say("d") == ("receive.differ_short" if lacks else "receive.closed")
    if lacks:
        assert hand.say("y") == "receive.closed_short"


def test_undo_fills_the_line_that_it_empties_with_the_excess_of_another() -> None:
    hand = Hand()
    hand.say("D-1", "P1", "=6", "A-1", "P1", "=4", "A-2")
    before = hand.state
    excess = add_received(before, [ReceiptEntry("P1", 3, Decimal(6))], "")
    undone = add_received(excess, [ReceiptEntry("P1", 1, Decimal(6))], "", sign=-1)
    assert [line.received for line in undone.lines] == [line.received for line in before.lines]


def test_receiver_is_told_who_has_the_delivery_open() -> None:
    store = SharedDeliveries()
    hand = Hand(store)
    hand.say("D-2")
    assert told(hand).startswith("Ben is receiving this delivery too · ")
    assert "receive.other_receiver" in [line.text.id for line in hand.view.lines]
    assert hand.job.orders_in_work(hand.state) == ("delivery/D-2",)
    store.at_work = ("ann", "ben", "cleo")
    hand.feed(Changed("delivery", "D-2"))
    assert told(hand) == "Cleo is receiving this delivery too"


def received_by_ben(hand: Hand, quantity: int) -> None:
    """Ben has received so many of P5 by now."""
    hand.store.deliveries["D-2"][0]["received"] = Decimal(quantity)
    hand.feed(Changed("delivery", "D-2"))


def test_question_about_too_many_says_what_is_still_to_come_now() -> None:
    hand = Hand()
    hand.say("D-2", "P5", "=13")
    assert told(hand) == "13 × Product P5? Only 12 are still to come."
    received_by_ben(hand, 5)
    assert told(hand) == "13 × Product P5? Only 7 are still to come."
    answer(hand, "goods.only")
    assert told(hand) == "7 in hand; 12 of 12 · Product P5"
    assert in_hand(hand) == 7


@pytest.mark.parametrize(
    ("received", "verdict", "choices"),
    [(12, "receive.all_received", 2), (5, "receive.more_than_announced", 3), (0, "receive.taken_more", 0)],
)
def test_question_about_too_many_follows_what_others_receive(received: int, verdict: str, choices: int) -> None:
    """Others receive all, some, or correct what they received."""
    hand = Hand()
    hand.store.deliveries["D-2"][0].update(received=Decimal(2), quantity=Decimal(12))
    hand.say("D-2", "P5", "=12")
    hand.store.deliveries["D-2"][0]["quantity"] = Decimal(12 if received else 20)
    received_by_ben(hand, received or 2)
    assert (hand.verdict, len(hand.view.choices)) == (verdict, choices)


@pytest.mark.parametrize(("received", "is_asked"), [(0, False), (5, True)])
def test_consent_to_more_holds_until_others_receive_more(received: int, is_asked: bool) -> None:
    hand = Hand()
    hand.say("D-2", "P5", "=13", "y")
    received_by_ben(hand, received)
    assert (hand.say("A-1") == "receive.received_meanwhile") == is_asked
    assert len(hand.sent) == int(not is_asked)
    if is_asked:
        hand.say("y")
        hand.say("A-1")
    assert hand.entries() == [("P5", 10, 13, "A-1")]
    assert hand.say("P5") == "receive.taken_more", "what is booked here needs no new consent"
