"""`u` at an open question of any job: it takes back what was entered last, never what was booked before."""

from __future__ import annotations

from decimal import Decimal

import pytest

from aisle.jobs.job import Closed, Event
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
    ORDER,
    PRODUCT,
    Back,
    Command,
    Match,
    Quantity,
    Scan,
    UnknownCode,
)
from tests.jobs import move_runner, pick_runner, receive_runner, test_collect_batch, test_count
from tests.jobs.pick_runner import line, order, picked
from tests.jobs.test_claim_goods_in_hand import BEN, LATER, SHELF

UNKNOWN = UnknownCode("99999")
UNDO = Command("u")


def thing(key: str, kind: str = PRODUCT, quantity: int = 1) -> Scan:
    """A code that means one thing."""
    return Scan((Match(kind, key, f"Product {key}", Decimal(quantity), quantity != 1, key),))


@pytest.mark.parametrize(
    ("asked", "verdict"),
    [
        ("D-3", "receive.other_delivery"),
        ("C-3", "receive.other_delivery"),
        ("P9", "receive.not_announced"),
        ("P5", "receive.other_delivery_expects"),
        ("99999", "count.unknown"),
        ("P1 =11", "receive.more_than_announced"),
        ("P1 =7", "move.number_of"),
    ],
)
def test_undo_at_a_question_of_receiving_keeps_what_was_put_away(asked: str, verdict: str) -> None:
    hand = receive_runner.Hand()
    hand.say("D-1", "P2", "A-1")
    for word in asked.split():
        hand.feed(UNKNOWN) if word == "99999" else hand.say(word)
    assert hand.verdict == verdict
    hand.say("u")
    assert len(hand.sent) == 1
    assert not hand.state.choices


SHORT = Closed("shortage", {"kind": "short", "code": "2", "text": "Not found", "empty": True})
CLAIMED = order(line(1, "P1", 5, picked_quantity=1, **SHELF), **BEN, claimed_on=LATER)


@pytest.mark.parametrize(
    ("question", "verdict", "undone"),
    [
        (thing("P9"), "pick.not_here", "session.dropped"),
        (thing("4102", ORDER), "pick.other_order", "session.dropped"),
        (thing("P1", quantity=9), "pick.more_than_ordered", "session.dropped"),
        (Quantity(Decimal(9)), "pick.total_more_than_ordered", "session.dropped"),
        (thing("B-1", LOCATION), "pick.wrong_location", "session.dropped"),
        (SHORT, "pick.short", "pick.not_counted"),
        (CLAIMED, "pick.taken_over", "pick.answer_first"),
    ],
)
def test_undo_at_a_question_of_a_pick_keeps_what_was_picked(question: Event, verdict: str, undone: str) -> None:
    hand = pick_runner.Hand(line(1, "P1", 5, **SHELF), line(2, "P2", 1, **SHELF))
    hand.books["stock_at_location B-1"] = {"pools": {"1": Decimal(4)}}
    hand.scan("P1")
    assert hand.feed(question) == verdict
    before = len(hand.updates), picked(hand)
    assert hand.feed(UNDO) == undone
    assert (len(hand.updates), picked(hand)) == before


@pytest.mark.parametrize("way", [UNDO, Back()])
@pytest.mark.parametrize(
    ("found", "undone"), [(1, "pick.not_counted"), (3, "pick.not_counted"), (5, "session.dropped")]
)
def test_undo_at_the_offer_to_count_says_short_only_of_a_line_that_is(found: int, undone: str, way: Event) -> None:
    """Others may have picked the rest meanwhile, or put it back into the order."""
    hand = pick_runner.Hand(line(1, "P1", 5, **SHELF), line(2, "P2", 1, **SHELF))
    hand.scan("P1")
    hand.feed(SHORT)
    closed = {"picked_quantity": found, "is_picked": True}
    hand.feed(order(line(1, "P1", 5, **closed, **SHELF), line(2, "P2", 1, **SHELF)))
    assert hand.state.choices
    assert hand.feed(way) == undone


@pytest.mark.parametrize(
    ("is_rejected", "question", "undone"),
    [(False, Back(), "session.dropped"), (True, None, "pick.prompt_return"), (True, Back(), "session.dropped")],
)
def test_undo_at_a_question_of_a_batch_keeps_what_was_picked(
    is_rejected: bool, question: Event | None, undone: str
) -> None:
    lines = {number: [line(1, "P1", 2, **SHELF), line(2, "P2", 2, **SHELF)] for number in ("O1", "O2")}
    hand = pick_runner.Hand(orders=lines)
    hand.scan("P1", "3")
    if is_rejected:
        hand.feed(order(*lines["O1"], number="O1", is_rejected=True))
    if question is not None:
        hand.feed(question)
    before = len(hand.updates), picked(hand)
    assert hand.feed(UNDO) == undone
    assert (len(hand.updates), picked(hand)) == before


@pytest.mark.parametrize("question", [thing("P9"), thing("4102", ORDER), Command("t"), Back()])
def test_undo_at_a_question_of_collecting_orders_keeps_the_orders(question: Event) -> None:
    hand = test_collect_batch.Hand()
    for number in ("4101", "4102"):
        hand.scan(number)
    hand.orders["4103"].update(BEN)
    hand.feed(question)
    assert hand.state.choices or hand.state.is_removing
    assert hand.feed(UNDO) == "session.dropped"
    assert hand.gathered == ["4101", "4102"]


@pytest.mark.parametrize("words", ["A-1 P1 =7", "A-2 P1", "A-1 P1 A-1", "A-1 P1 P1 b"])
def test_undo_at_a_question_of_a_move_keeps_what_was_moved(words: str) -> None:
    hand = move_runner.Hand()
    hand.say("A-1", "P2", "B-1")
    for word in words.split():
        hand.feed(Back()) if word == "b" else hand.say(word)
    before, held = len(hand.sent), hand.held
    hand.feed(UNDO)
    assert (len(hand.sent), hand.held) == (before, held)


@pytest.mark.parametrize("number", [88888, 7])
def test_undo_at_a_question_of_a_count_keeps_what_was_counted(number: int) -> None:
    hand = test_count.Hand(test_count.FIVE)
    hand.numbers = [(LOCATION, "7")]
    hand.place("A-1")
    hand.scan("P1")
    hand.feed(Quantity(Decimal(number)))
    counted = [each.counted for each in hand.state.lines]
    assert hand.state.question
    hand.feed(UNDO)
    assert [each.counted for each in hand.state.lines] == counted


@pytest.mark.parametrize(
    ("words", "step"),
    [("A-1 P1 4101", "move.take"), ("c A-1 P1 d 4101", "move.put"), ("k", "move.from"), ("A-1 P1 k", "move.take")],
)
def test_undo_at_a_question_of_a_move_leads_back_to_the_goods(words: str, step: str) -> None:
    """Where goods of an order are put down, and of which pool they are."""
    hand = move_runner.Hand()
    hand.say(*words.split())
    held = hand.held
    assert hand.view.name in ("move.where", "move.pool")
    assert hand.say("u") in ("session.dropped", "move.any_pool")
    assert (hand.view.name, hand.held, hand.sent) == (step, held, [])
