"""What is asked about the goods that somebody moves is answered first: no unit of it goes without a word."""

from __future__ import annotations

from decimal import Decimal

import pytest

from aisle.jobs.job import Changed, Rows
from aisle.jobs.view import WRONG
from aisle.scan.grammar_and_meaning_types import DELIVERY, LOCATION, ORDER, PERSON, PRODUCT, REFERENCE, Back, Choice
from aisle.tui.message_text import MessageWriter
from tests.jobs.move_runner import Hand, Store


@pytest.mark.parametrize("place", ["A-1", "A-2"], ids=["too many", "not there"])
def test_question_without_goods_in_hand_is_not_left_by_scan(place: str) -> None:
    hand = Hand()
    hand.say(place)
    assert hand.scan("P1", "7") in ("move.exceeds_expected", "move.not_here")
    asked, choices = hand.state, hand.choices
    for code in ("B-1", place, "4101", "P3"):
        assert hand.say(code) == "move.answer_first_quantity", code
        assert hand.verdict is not None
        assert hand.verdict.kind == WRONG
        assert dict(hand.verdict.text.args) == {"label": "Product P1", "quantity": 7}
    assert (hand.state, hand.choices) == (asked, choices)
    hand.say("y", "B-1")
    assert hand.items[0][:2] == ("P1", 7)
    assert hand.sent[0].body[0]["allow_overage"] is True


def test_whose_goods_are_is_said_before_another_scan() -> None:
    hand = Hand()
    hand.store.goods["P4", "PU", 1, "4102", 1] += 1
    assert hand.say("PU", "P4") == "move.which_order"
    for code in ("A-2", "4101"):
        assert hand.say(code) == "move.answer_first_quantity", code
    assert hand.say("P4") == "count.answer_first"
    hand.say("e", "A-2")
    assert hand.items == [("P4", 1, ("PU", 0, "4101", 2), ("A-2", 0, "4101", 2))]


def test_back_takes_the_question_about_goods_back_in_words() -> None:
    hand = Hand()
    hand.say("A-1")
    hand.scan("P1", "7")
    assert hand.feed(Back()) == "session.dropped"
    assert (hand.choices, hand.state.pending_scan, hand.view.name) == ([], None, "move.take")
    assert hand.say("P1") == "move.taken"
    assert hand.held == {"P1": 1}


@pytest.mark.parametrize("before", [0, 2], ids=["empty hands", "some in hand"])
def test_more_scans_of_what_is_asked_about_are_asked_about_too(before: int) -> None:
    hand = Hand()
    hand.say("A-1", *["P1"] * before)
    hand.scan("P1", str(6 - before))
    for scanned, quantity in (("1", 7), ("1", 8), ("12", 20)):
        assert hand.scan("P1", scanned) == "move.exceeds_expected"
        assert hand.verdict is not None
        assert dict(hand.verdict.text.args)["quantity"] == quantity
    asked = hand.state
    assert hand.scan("P1", "0.5") == "input.whole_number_only"
    assert hand.state == asked
    assert hand.say("=9", "P1") == "move.exceeds_expected"
    hand.say("y", "B-1")
    assert hand.items[0][:2] == ("P1", 10)


def test_repeated_scans_of_missing_product_keep_choice_numbers() -> None:
    hand = Hand()
    hand.say("A-2", "P1")
    choices = hand.choices
    assert hand.say("P1", "P1") == "move.exceeds_expected"
    assert hand.choices == choices
    hand.feed(Changed("outbox", ""))
    assert hand.scan("P1", "2") == "move.exceeds_expected"
    hand.say("y")
    assert (hand.state.location, hand.held) == ("A-2", {"P1": 5})
    hand = Hand()
    hand.say("A-2", "P1", "P1", "f")
    assert (hand.state.location, hand.held) == ("B-1", {"P1": 2})


def test_what_is_asked_about_and_none_is_left_of_grows_with_each_scan() -> None:
    hand = Hand()
    hand.say("A-1", "P1", "a", "B-1")
    assert hand.say("P1") == "move.none_left"
    assert hand.say("P1") == "move.exceeds_expected"
    assert hand.say("B-1") == "move.answer_first_quantity"
    hand.say("y")
    assert hand.held == {"P1": 2}


@pytest.mark.parametrize("other", [(), ("P3",)], ids=["empty hands", "others in hand"])
def test_number_that_is_also_a_code_answers_open_quantity(other: tuple[str, ...]) -> None:
    hand = Hand()
    hand.store.codes = (*hand.store.codes, "2")
    hand.say("A-1", *other)
    hand.scan("P1", "7")
    assert hand.say("=2") == "move.number_of"
    assert hand.say("y") == "move.taken"
    assert hand.held == {"P1": 2, **dict.fromkeys(other, 1)}


@pytest.mark.parametrize("before", [("A-1", 7), ("A-2", 1)], ids=["too many", "not there"])
@pytest.mark.parametrize("kind", [LOCATION, PRODUCT, ORDER, REFERENCE, DELIVERY, PERSON])
@pytest.mark.parametrize("typed", ["=12", "=25"])
def test_record_of_a_number_is_refused_while_goods_are_in_question(
    before: tuple[str, int], kind: str, typed: str
) -> None:
    hand = Hand()
    hand.say(before[0])
    hand.scan("P1", str(before[1]))
    hand.say(typed)
    hand.state = hand.state._replace(looked_up_number=Decimal(12))
    records = [{"kind": kind, "key": "12", "label": "Twelve"}, {"kind": LOCATION, "key": "12", "label": "12"}]
    hand.feed(Rows("records_by_number", tuple(records[: 1 + (kind != LOCATION)]), 2))
    number = next(at for at, each in enumerate(hand.state.choices, 1) if each.kind == f"is_{kind}")
    assert hand.feed(Choice(number)) == "count.answer_first"
    assert hand.verdict is not None
    assert hand.verdict.kind == WRONG
    assert not hand.held
    assert any(choice.kind == "over" for choice in hand.state.choices)


def test_what_is_asked_of_an_order_grows_with_each_scan() -> None:
    hand = Hand()
    hand.say("4101", "P4", "P4", "P4")
    assert hand.scan("P4", "2") == "move.exceeds_held"
    assert hand.verdict is not None
    assert dict(hand.verdict.text.args)["quantity"] == 5
    hand.say("r")
    assert hand.held == {"P4": 2}


def test_number_of_the_asked_product_adds_one() -> None:
    hand = Hand(Store({("110003", "A-1", 1, "", 0): 5, ("110004", "A-1", 1, "", 0): 2}, {}, ("A-1", "B-1")))
    hand.say("A-1")
    hand.scan("110003", "6")
    assert hand.say("=110003", "=110003") == "move.exceeds_expected"
    assert hand.say("=110004") == "move.answer_first_quantity"
    hand.say("y")
    assert hand.held == {"110003": 8}


BEFORE = pytest.mark.parametrize("before", [("A-1",), ("A-2",), ()], ids=["too many", "not there", "where from"])


@pytest.mark.parametrize("letter", ["a", "c", "d", "k", "w"])
@BEFORE
def test_a_letter_does_not_drop_what_is_asked_about_goods(before: tuple[str, ...], letter: str) -> None:
    hand = Hand()
    hand.say(*before)
    hand.scan("P1", "7")
    asked, choices = hand.state, hand.choices
    assert choices
    if letter in hand.job.accepts(asked).command_letters:
        assert hand.say(letter) == "move.answer_first_quantity"
        assert hand.verdict is not None
        assert (hand.verdict.kind, dict(hand.verdict.text.args)["quantity"]) == (WRONG, 7)
    assert (hand.state, hand.choices) == (asked, choices)
    assert hand.feed(Back()) == "session.dropped"


@BEFORE
def test_undo_takes_back_the_scan_that_is_asked_about(before: tuple[str, ...]) -> None:
    hand = Hand()
    hand.say(*before)
    hand.scan("P1", "7")
    assert hand.choices
    assert hand.say("u") == "session.dropped"
    assert (hand.choices, hand.held) == ([], {})


def test_goods_on_cart_count_when_scanned_again_at_source() -> None:
    hand = Hand()
    hand.say("c", "A-2")
    hand.scan("P1", "2")
    hand.say("y", "A-1", "A-2")
    assert hand.say("P1") == "move.taken"
    assert hand.held == {"P1": 3}


@pytest.mark.parametrize("said", ["A-2", "B-1", "4101", "P3", "w", "c"])
def test_what_is_asked_about_is_named_beside_other_goods_in_hand(said: str) -> None:
    hand = Hand()
    hand.say("A-1", "P3")
    assert hand.scan("P1", "7") == "move.exceeds_expected"
    choices = [dict(choice.args) for choice in hand.view.choices if choice.id == "goods.all_anyway"]
    assert choices == [{"quantity": 7, "label": "Product P1"}]
    hand.say(said)
    assert hand.verdict is not None
    if said != "c":
        assert dict(hand.verdict.text.args) == {"label": "Product P1", "quantity": 7}
    assert hand.held == {"P3": 1}


@pytest.mark.parametrize("answers", [("b",), ("=3",), ("=4", "b"), ("=4", "=3"), ("b", "=4", "b"), ("=2", "=4", "b")])
def test_other_locations_stay_choices_after_the_label_of_a_location(answers: tuple[str, ...]) -> None:
    goods = {("P1", "A-1", 1, "", 0): 4, ("P1", "B-7", 1, "", 0): 2, ("P2", "A-2", 1, "", 0): 3}
    hand = Hand(Store(goods, {}, ("A-2", "A-1", "B-7", "4")))
    hand.say("A-2", "P1")
    assert hand.say("=4") == "move.number_of"
    for answer in answers:
        hand.feed(Back()) if answer == "b" else hand.say(answer)
    assert [choice.key for choice in hand.state.choices if choice.kind == "from"] == ["A-1", "B-7"]


def test_digits_of_goods_are_offered_by_their_name() -> None:
    hand = Hand()
    hand.say("A-1", "P1")
    records = [{"kind": PRODUCT, "key": "12", "label": "Twelve plu"}, {"kind": LOCATION, "key": "12", "label": "12"}]
    hand.state = hand.state._replace(looked_up_number=Decimal(12))
    hand.feed(Rows("records_by_number", tuple(records), 2))
    view = hand.job.view(hand.state)
    texts = [MessageWriter().write(choice) for choice in view.choices]
    assert {"Twelve plu", "Location 12"} <= set(texts)
