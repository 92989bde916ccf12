"""Goods that were scanned stay in question until it is answered or dropped, and a scanned place until goods come."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from aisle.jobs.pick import open_question_and_choices
from aisle.jobs.pick.pick_state import PickChoice
from aisle.scan.grammar_and_meaning_types import (
    DELIVERY,
    LOCATION,
    ORDER,
    PERSON,
    PRODUCT,
    Back,
    Choice,
    Command,
    Match,
    Quantity,
    Scan,
    UnknownCode,
)
from tests.jobs.pick_runner import Hand, line, picked
from tests.jobs.test_pick_location_asked import booked, lies, places

GOUDA, NUTS, SALT = "300001", "200001", "110050"


def cheese(*, nuts_at: str = "X-01", orders: bool = False, **more: Any) -> Hand:
    """Gouda on the screen at X-01, then weighed nuts, in stock at X-02 too; or both as orders of a batch."""
    first = line(1, GOUDA, 3, preferred_location_code="X-01", store_walking_order=1)
    kept = lies(nuts_at, "X-02")
    at = {"preferred_location_code": nuts_at, "store_walking_order": 2, "stock_pool": 1, **kept}
    nuts = line(2, NUTS, 1, allow_decimal=True, unit="kg", **at)
    hand = Hand(orders={"O1": [first], "O2": [nuts]}, **more) if orders else Hand(first, nuts, **more)
    hand.books["stock_at_location X-02"] = {"pools": {"1": Decimal(4)}}
    return hand


@pytest.mark.parametrize("verified", [False, True])
@pytest.mark.parametrize("orders", [False, True])
@pytest.mark.parametrize("choice", [1, 2])
def test_another_product_after_the_scan_of_another_place_is_asked(verified: bool, orders: bool, choice: int) -> None:
    hand = cheese(verified=verified, orders=orders)
    hand.scan("X-01", kind=LOCATION)
    assert hand.scan("X-02", kind=LOCATION) == "pick.wrong_location"
    assert hand.scan(NUTS, "0.25") == "pick.which_location"
    assert not booked(hand)
    assert places(hand) == ["X-01", "X-02"]
    assert hand.feed(Choice(choice)) == "pair"
    assert booked(hand) == [(2, Decimal("0.25"), ("X-01", "X-02")[choice - 1])]


def test_another_product_of_a_third_place_is_asked_too() -> None:
    hand = cheese(nuts_at="X-05")
    assert hand.scan("X-02", kind=LOCATION) == "pick.wrong_location"
    assert hand.scan(NUTS, "0.25") == "pick.which_location"
    assert places(hand) == ["X-05", "X-02"]
    assert hand.scan("X-02", kind=LOCATION) == "pair"
    assert booked(hand) == [(2, Decimal("0.25"), "X-02")]


def test_where_places_are_verified_a_product_of_a_third_place_needs_its_scan() -> None:
    hand = cheese(nuts_at="X-05", verified=True)
    hand.scan("X-01", kind=LOCATION)
    hand.scan("X-02", kind=LOCATION)
    assert hand.scan(NUTS, "0.25") == "pick.location_first_scan"
    assert hand.scan("X-02", kind=LOCATION) == "pick.wrong_location"
    assert not booked(hand)


def taken_where(hand: Hand) -> None:
    """It is asked where a scan of gouda was taken."""
    hand.scan("X-02", kind=LOCATION)
    assert hand.scan(GOUDA) == "pick.which_location"


def how_much(hand: Hand) -> None:
    """A pack of nuts is to be weighed."""
    assert hand.scan(NUTS) == "pick.weigh"


def where_and_how_much(hand: Hand) -> None:
    """It is asked where the pack was taken, before its weight."""
    hand.scan("X-02", kind=LOCATION)
    assert hand.scan(NUTS) == "pick.weigh_which_location"


def which_one(hand: Hand) -> None:
    """A code of two products that are both no stop on the screen."""
    hand.feed(Command("n"))
    matches = tuple(Match(PRODUCT, key, f"Product {key}", code="9") for key in (GOUDA, SALT))
    assert hand.feed(Scan(matches)) == "pick.which_product"


def too_many(hand: Hand) -> None:
    """More than is needed."""
    assert hand.scan(GOUDA, "5") == "pick.more_than_ordered"


QUESTIONS = [taken_where, how_much, where_and_how_much, which_one, too_many]


def one_scanned(**more: Any) -> Hand:
    """Salt was scanned before, and stays picked."""
    kept = {"preferred_location_code": "X-01", "store_walking_order": 1}
    nuts = {"preferred_location_code": "X-01", "store_walking_order": 2, "allow_decimal": True, "unit": "kg"}
    hand = Hand(line(1, GOUDA, 3, **kept), line(2, NUTS, 1, **nuts), line(3, SALT, 2, **kept), **more)
    hand.books["stock_at_location X-02"] = {"pools": {"1": Decimal(4)}}
    hand.scan(SALT)
    hand.scan("X-01", kind=LOCATION)
    return hand


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("letter", "ns")
def test_a_letter_to_leave_the_stop_leaves_the_question(question: Any, letter: str) -> None:
    hand = one_scanned()
    question(hand)
    before, view, effects = hand.state, hand.view, len(hand.effects)
    told = hand.feed(Command(letter))
    assert told == ("pick.location_first" if question in (taken_where, where_and_how_much) else "pick.goods_first")
    assert (hand.state, hand.view) == (before, view)
    assert len(hand.effects) == effects
    hand.feed(Back())
    assert hand.feed(Command("n")) == "pick.later"


@pytest.mark.parametrize("question", QUESTIONS)
def test_undo_takes_back_the_question_only(question: Any) -> None:
    hand = one_scanned()
    question(hand)
    assert hand.feed(Command("u")) == "session.dropped"
    assert not hand.state.choices
    assert not hand.state.is_pack_asked
    assert picked(hand) == {1: 0, 2: 0, 3: 1}
    assert hand.feed(Command("u")) == "pick.undone"
    assert picked(hand) == {1: 0, 2: 0, 3: 0}


def test_closed_lines_are_in_question_too() -> None:
    hand = one_scanned()
    hand.state = hand.state._replace(choices=(PickChoice("reopen", GOUDA, "Gouda"),))
    assert hand.feed(Command("n")) == "pick.goods_first"
    assert hand.feed(Command("u")) == "session.dropped"
    assert picked(hand)[3] == 1


def test_a_product_that_was_refused_holds_nothing_back() -> None:
    hand = one_scanned()
    assert hand.scan("999999") == "pick.not_here"
    assert hand.feed(Command("n")) == "pick.later"


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_unknown_code_leaves_the_question(question: Any) -> None:
    hand = one_scanned()
    question(hand)
    before = hand.state
    assert hand.feed(UnknownCode("4711 x")) == "count.unknown"
    assert hand.state == before


def test_a_weight_after_the_letter_is_of_the_pack() -> None:
    hand = one_scanned()
    how_much(hand)
    hand.feed(Command("s"))
    hand.feed(Quantity(Decimal("0.5")))
    assert picked(hand)[2] == Decimal("0.5")


def test_back_from_the_place_of_a_pack_leaves_numbers_to_the_stop() -> None:
    """Salt is on the screen with one picked: a number is its total, and no weight of the pack of nuts."""
    hand = one_scanned()
    where_and_how_much(hand)
    assert hand.feed(Back()) == "session.dropped"
    hand.feed(Quantity(Decimal(2)))
    assert picked(hand) == {1: 0, 2: 0, 3: 2}


def test_an_unknown_code_leaves_the_scanned_place() -> None:
    hand = cheese()
    hand.scan("X-02", kind=LOCATION)
    assert hand.feed(UnknownCode("4711 x")) == "count.unknown"
    assert hand.scan(NUTS, "0.25") == "pick.which_location"


def test_the_letter_of_a_tote_leaves_the_question() -> None:
    hand = cheese(orders=True)
    taken_where(hand)
    before = hand.state
    assert hand.feed(UnknownCode("B")) == "pick.location_first"
    assert hand.state == before


def test_a_typed_total_that_is_too_large_holds_nothing_back() -> None:
    hand = one_scanned()
    assert hand.feed(Quantity(Decimal(5))) == "pick.total_more_than_ordered"
    assert hand.feed(Command("n")) == "pick.later"


def too_many_of_a_pack(hand: Hand) -> None:
    """More than is needed of what is weighed."""
    assert hand.scan(NUTS, "3.307") == "pick.more_than_ordered"


def closed_short(hand: Hand) -> None:
    """Gouda was closed short, and is scanned again."""
    hand.state = hand.state._replace(choices=(PickChoice("reopen", GOUDA, "Gouda"),))


OTHER_SCANS = [
    (PRODUCT, "110060"),
    (PRODUCT, "999999"),
    (LOCATION, "X-01"),
    (LOCATION, "X-02"),
    (ORDER, "1050"),
    (PERSON, "U2"),
]


@pytest.mark.parametrize("question", [how_much, which_one, too_many, closed_short])
@pytest.mark.parametrize(("kind", "key"), OTHER_SCANS)
def test_the_scan_of_something_else_leaves_the_question(question: Any, kind: str, key: str) -> None:
    hand = one_scanned()
    question(hand)
    before = hand.state
    assert hand.scan(key, kind=kind) == "count.answer_first"
    assert hand.state == before
    assert "Answer first" in hand.told


NUMBERS = [
    (PRODUCT, "110060"),
    (PRODUCT, "999999"),
    (PRODUCT, SALT),
    (LOCATION, "20001"),
    (ORDER, "4102"),
    (DELIVERY, "7001"),
]


@pytest.mark.parametrize("question", [how_much, too_many, too_many_of_a_pack, closed_short])
@pytest.mark.parametrize(("kind", "key"), NUMBERS)
def test_the_number_of_something_else_leaves_the_question(question: Any, kind: str, key: str) -> None:
    hand = one_scanned()
    hand.numbers[key] = [(kind, key)]
    question(hand)
    before = hand.state
    assert hand.feed(Quantity(Decimal(key))) == "count.answer_first"
    assert hand.state == before


def total_too_many(hand: Hand) -> None:
    """More than is needed, after one was picked."""
    hand.scan(GOUDA)
    too_many(hand)


SHORT_NUMBERS = [(PRODUCT, "1"), (PRODUCT, "3"), (PRODUCT, "12"), (PRODUCT, "110"), (LOCATION, "77"), (ORDER, "12")]


@pytest.mark.parametrize("question", [how_much, too_many, total_too_many, too_many_of_a_pack, closed_short])
@pytest.mark.parametrize(("kind", "key"), SHORT_NUMBERS)
def test_a_short_number_of_something_else_is_asked_in_every_question(question: Any, kind: str, key: str) -> None:
    """Whether it fits or is too much, it may be the total."""
    hand = one_scanned()
    hand.numbers[key] = [(kind, key)]
    question(hand)
    goods, before = open_question_and_choices.goods_choices(hand.state), picked(hand)
    told = hand.feed(Quantity(Decimal(key)))
    assert told in ("count.number_of_other", "count.number_of_other")
    assert hand.view.choice_letters[:2] == "yx"
    hand.feed(Choice(2))
    assert open_question_and_choices.goods_choices(hand.state) == goods, "the question about the goods is open again"
    assert picked(hand) == before


@pytest.mark.parametrize("ordered", [8, 12, 30])
def test_the_confirmed_number_is_the_total(ordered: int) -> None:
    hand = Hand(line(1, GOUDA, ordered), line(2, SALT, 2))
    hand.numbers["12"] = [(PRODUCT, "12")]
    hand.scan(GOUDA, "40")
    assert hand.feed(Quantity(Decimal(12))) == "count.number_of_other"
    told = hand.feed(Choice(1))
    assert told == ("pick.total_more_than_ordered" if ordered < 12 else "pick.picked")
    assert picked(hand)[1] == (0 if ordered < 12 else 12)


@pytest.mark.parametrize("question", [how_much, too_many])
def test_an_unknown_number_leaves_the_question(question: Any) -> None:
    hand = one_scanned()
    question(hand)
    before = hand.state
    assert hand.feed(Quantity(Decimal(123456))) == "count.unknown"
    assert hand.state == before


@pytest.mark.parametrize("scanned", [True, False])
def test_the_number_of_the_product_in_question_says_what_is_not_taken(scanned: bool) -> None:
    """As its barcode does: one more of it, and the five are named."""
    hand = Hand(line(1, GOUDA, 3), line(2, SALT, 2))
    hand.numbers[GOUDA] = [(PRODUCT, GOUDA)]
    hand.scan(GOUDA)
    hand.scan(GOUDA, "5") if scanned else hand.feed(Quantity(Decimal(5)))
    assert hand.feed(Quantity(Decimal(GOUDA))) == "pick.picked"
    assert picked(hand)[1] == 2
    assert hand.told.endswith("1 ignored: 5")


def test_a_number_of_a_place_that_may_be_the_quantity_keeps_the_goods() -> None:
    hand = Hand(line(1, GOUDA, 30), line(2, SALT, 2))
    hand.numbers["12"] = [(LOCATION, "12")]
    hand.scan(GOUDA, "40")
    assert hand.feed(Quantity(Decimal(12))) == "count.number_of_other"
    assert hand.job.accepts(hand.state).choices == 3
    assert hand.feed(Choice(2)) == "count.answer_first"
    assert [choice.quantity for choice in hand.state.choices] == [40]


def test_the_scan_of_a_product_in_question_answers_it() -> None:
    hand = one_scanned()
    which_one(hand)
    assert hand.scan(GOUDA) == "pick.picked"
    assert picked(hand)[1] == 1


REFUSED_SCANS = [
    (PRODUCT, "999999", "pick.not_here"),
    (PERSON, "U2", "pick.person"),
    (ORDER, "1050", "pick.other_order"),
]


@pytest.mark.parametrize("verified", [False, True])
@pytest.mark.parametrize(("kind", "key", "told"), [*REFUSED_SCANS, (LOCATION, "X-09", "pick.wrong_pool")])
def test_a_refused_scan_leaves_the_scanned_place(kind: str, key: str, told: str, verified: bool) -> None:
    hand = cheese(verified=verified)
    hand.books["stock_at_location X-09"] = {"pools": {"9": Decimal(4)}}
    hand.state = hand.state._replace(lines=tuple(line._replace(pools=(1,)) for line in hand.state.lines))
    hand.scan("X-01", kind=LOCATION)
    assert hand.scan("X-02", kind=LOCATION) == "pick.wrong_location"
    assert hand.scan(key, kind=kind) == told
    assert "pick.take_here" in hand.choices() or any("X-02" in str(choice) for choice in hand.view.choices)
    assert hand.scan(GOUDA) == "pick.which_location"
    assert places(hand) == ["X-01", "X-02"]
    assert not booked(hand)


@pytest.mark.parametrize("orders", [False, True])
def test_a_refused_product_of_a_batch_leaves_the_scanned_place(orders: bool) -> None:
    hand = cheese(orders=orders)
    hand.scan("X-02", kind=LOCATION)
    assert hand.scan("999999").startswith("pick.not_")
    assert hand.feed(Choice(1)) == ""
    assert hand.scan(NUTS, "0.25") == "pick.which_location"
    assert places(hand) == ["X-01", "X-02"]


def test_the_place_of_the_stop_replaces_the_scanned_place() -> None:
    hand = cheese()
    hand.scan("X-01", kind=LOCATION)
    hand.scan("X-02", kind=LOCATION)
    hand.scan("999999")
    assert hand.scan("X-01", kind=LOCATION) == "pick.at_location"
    assert not hand.state.choices
    assert hand.scan(GOUDA) == "pick.picked"


def test_back_drops_the_scanned_place() -> None:
    hand = cheese()
    hand.scan("X-02", kind=LOCATION)
    hand.scan("999999")
    assert hand.feed(Back()) == "session.dropped"
    assert not hand.state.choices


def test_a_number_that_a_scan_drops_is_said() -> None:
    """Five are too many of three; the next scan is one more, and the five are gone."""
    hand = Hand(line(1, GOUDA, 3), line(2, SALT, 2))
    hand.scan(GOUDA)
    assert hand.feed(Quantity(Decimal(5))) == "pick.total_more_than_ordered"
    assert hand.scan(GOUDA) == "pick.picked"
    assert picked(hand)[1] == 2
    assert hand.told.endswith("1 ignored: 5")
    assert hand.scan(SALT) == "pick.picked"
    assert "ignored" not in hand.told


@pytest.mark.parametrize(
    "event",
    [
        Command("n"),
        UnknownCode("4711 x"),
        Scan((Match(PRODUCT, "999999", "Other", code="999999"),)),
        Scan((Match(PERSON, "U2", "Ben", code="U2"),)),
    ],
)
def test_a_number_that_another_input_drops_is_said(event: Any) -> None:
    hand = Hand(line(1, GOUDA, 3), line(2, SALT, 2))
    hand.scan(GOUDA)
    hand.feed(Quantity(Decimal(5)))
    hand.feed(event)
    assert hand.told.endswith("1 ignored: 5")
    hand.scan(SALT)
    assert "ignored" not in hand.told


def test_goods_that_a_scan_of_the_same_product_drops_are_said() -> None:
    hand = Hand(line(1, GOUDA, 3))
    assert hand.scan(GOUDA, "5") == "pick.more_than_ordered"
    assert hand.scan(GOUDA) == "pick.picked"
    assert hand.told.endswith("1 ignored: 5")


@pytest.mark.parametrize("event", [Quantity(Decimal(2)), Choice(1), Back(), Command("u")])
def test_an_answer_drops_no_number(event: Any) -> None:
    hand = Hand(line(1, GOUDA, 3), line(2, SALT, 2))
    assert hand.scan(GOUDA, "5") == "pick.more_than_ordered"
    hand.feed(event)
    assert "ignored" not in hand.told
