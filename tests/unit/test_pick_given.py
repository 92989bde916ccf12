"""What supervisors do to a walk on its picker's screen: an order goes first, leaves with its tote, comes, is free."""

from __future__ import annotations

from typing import Any

import pytest

from aisle.jobs.base import Changed, Close, Remark, Rows
from aisle.scan.meaning import LOCATION, Back, Choice, Command, Text
from aisle.tui.catalogue import Voice
from tests.unit.picks import Hand, line, order

ROUND = {
    "4101": [line(1, "P1", 2, preferred_location_code="A-1"), line(2, "P2", 1, preferred_location_code="A-2")],
    "4102": [line(1, "P3", 2, preferred_location_code="A-3"), line(2, "P4", 1, preferred_location_code="A-4")],
}


def news(hand: Hand, number: str, **fields: Any) -> str:
    return hand.feed(order(*ROUND[number], number=number, **fields))


def product(hand: Hand) -> str:
    assert hand.state.take is not None
    return hand.state.take.product


def test_an_urgent_order_comes_after_the_stop_on_the_screen_and_before_all_others() -> None:
    hand = Hand(orders=ROUND)
    assert product(hand) == "P1"
    assert news(hand, "4102", urgent=True, urgent_by="Carla") == "pick.urgent_round"
    assert product(hand) == "P1"
    hand.scan("P1")
    hand.scan("P1")
    assert product(hand) == "P3"
    hand.feed(Command("n"))
    assert product(hand) == "P4"
    assert news(hand, "4102", urgent=True) == ""
    assert news(hand, "4102", urgent=False) == "pick.not_urgent"


def test_an_urgent_order_is_the_first_of_a_round_that_begins() -> None:
    hand = Hand(orders=ROUND, urgent=True)
    news(hand, "4101", urgent=False)
    assert product(hand) == "P1"
    alone = Hand(*ROUND["4101"])
    assert alone.feed(order(*ROUND["4101"], urgent=True, urgent_by="Carla")) == "pick.urgent"


def test_the_last_urgent_stop_can_be_left_for_later() -> None:
    hand = Hand(orders={"4101": ROUND["4101"][:1], "4102": ROUND["4102"][:1]})
    hand.feed(order(*ROUND["4102"][:1], number="4102", urgent=True))
    hand.scan("P1", "2")
    assert product(hand) == "P3"
    assert hand.feed(Command("n")) == "pick.last_stop"


GIVEN: dict[str, Any] = {
    "given_to": "ben",
    "given_name": "Ben",
    "given_by": "Carla",
    "given_on": "2026-11-20T10:05:00.000Z",
}


def test_an_order_that_was_given_away_leaves_the_walk_and_its_tote_is_handed_over() -> None:
    hand = Hand(orders=ROUND)
    hand.scan("P3")
    assert news(hand, "4102", **GIVEN) == "pick.out_hand"
    assert [tote.order for tote in hand.state.totes] == ["4101"]
    assert (hand.view.name, hand.choices()) == ("pick.back", ["pick.way_handed_over", "pick.way_is_back"])
    assert "pick.note_back_given" in [each.text.id for each in hand.view.lines]
    assert hand.state.back[0].letter == "B"
    assert hand.job.holds(hand.state) == ("4101",), "its order is in nobody's round but the other's"
    hand.feed(Choice(1))
    assert (hand.view.name, product(hand)) == ("pick.product", "P1")
    assert hand.all_sent == {("4102", 1): 1}


def test_one_that_was_given_before_it_was_opened_here_stays() -> None:
    hand = Hand(orders=ROUND)
    assert news(hand, "4102", **{**GIVEN, "given_on": "2026-11-20T09:00:00.000Z"}) == ""
    assert len(hand.state.totes) == 2


def test_who_opens_what_was_given_to_him_settles_it() -> None:
    hand = Hand(*ROUND["4101"], **{**GIVEN, "given_to": "ann"})
    assert Remark("given", "1042", "") in hand.effects


COMES = Rows("given", ({"order_number": "4102", "by": "Carla", "at": "2026-11-20T10:05:00.000Z"},), 1)


def test_an_order_of_another_walk_is_taken_in_while_work_goes_on() -> None:
    hand = Hand(*ROUND["4101"])
    assert hand.feed(COMES) == "pick.given"
    assert [choice.id for choice in hand.view.choices] == ["pick.way_join", "pick.way_later"]
    assert hand.scan("P1") == "pick.taken"
    assert hand.feed(COMES) == ""
    hand.feed(Choice(1))
    assert news(hand, "4102") == "pick.joined"
    assert [tote.order for tote in hand.state.totes] == ["1042", "4102"]


@pytest.mark.parametrize("said", [Choice(2), Back()])
def test_it_can_wait(said: Any) -> None:
    hand = Hand(*ROUND["4101"])
    hand.feed(COMES)
    assert hand.feed(said) == "pick.dropped"
    assert not hand.view.choices
    assert len(hand.state.totes) == 1


def test_a_release_is_told_and_the_next_pick_claims_again() -> None:
    hand = Hand(orders=ROUND)
    before, free = len(hand.claims), {"is_claimed": False, "released_on": "2026-11-20T10:05:00.000Z"}
    assert news(hand, "4101", is_claimed=False) == ""  # a service that keeps no claims says nothing by that
    assert news(hand, "4101", **free) == "pick.released"
    assert news(hand, "4101", **free) == ""
    hand.scan("P1")
    assert hand.claims[before:] == [("4101", True)]


def test_news_ask_what_was_given() -> None:
    hand = Hand(*ROUND["4101"])
    hand.effects.clear()
    hand.feed(Changed("outbox", ""))
    assert "given" in [effect.name for effect in hand.effects if hasattr(effect, "name")]


def done() -> Hand:
    """An order that is picked, in hand."""
    hand = Hand(line(1, "P1", 1, preferred_location_code="A-1"))
    hand.scan("P1")
    return hand


def test_who_leaves_with_the_goods_in_hand_is_told() -> None:
    hand = done()
    hand.feed(Back())
    (close,) = (effect for effect in hand.effects if isinstance(effect, Close))
    assert close.verdict
    assert close.verdict.text.id == "pick.left_lying"
    assert Voice().say(close.verdict.text).endswith("but 1 of it lies at no pick-up place yet")
    assert Voice(language="de").say(close.verdict.text).endswith("aber 1 davon liegt an keinem Abholplatz")
    nowhere = Hand(line(1, "P1", 1))
    nowhere.scan("P1")
    nowhere.feed(Back())
    (close,) = (effect for effect in nowhere.effects if isinstance(effect, Close))
    assert close.verdict
    assert close.verdict.text.id == "pick.left_done"


def test_a_place_that_is_none_names_the_pickup_places() -> None:
    hand = done()
    assert hand.feed(Text("PU-1")) == ""
    assert hand.feed(Rows("pickups", ({"places": ["PU-01", "PU-02"]},), 1)) == "pick.no_pickup"
    assert hand.feed(Choice(1)) == "pick.put_down"
    assert hand.moves()[-1][-1] == "PU-01"
    hand = done()
    hand.feed(Text("PU-1"))
    assert hand.feed(Rows("pickups", (), 0)) == "pick.no_place_at_all"
    assert hand.feed(Text("cola zero")) == "pick.unknown"


def test_a_movement_that_was_refused_is_told_with_why() -> None:
    hand = done()
    hand.books["spot PU-01"] = {"tags": ["pick-up"], "goods": 0}
    hand.scan("PU-01", kind=LOCATION)
    item = {"to_location": {"customer_order_number": "1042", "location_code": "PU-01"}}
    refused = {"op_id": "7", "why": "No such place.", "body": [item]}
    assert hand.feed(Rows("refused", (refused,), 1)) == "pick.put_refused"
    assert hand.feed(Rows("refused", (refused,), 1)) == ""
    foreign = {**refused, "op_id": "8", "body": [{"to_location": {"customer_order_number": "1"}}]}
    assert hand.feed(Rows("refused", (foreign,), 1)) == ""


def test_a_rejection_that_is_taken_back_is_told_while_its_goods_are_in_hand() -> None:
    hand = Hand(orders=ROUND)
    hand.scan("P3")
    assert news(hand, "4102", is_rejected=True) == "pick.out_hand"
    assert news(hand, "4102", is_rejected=False) == "pick.open_again"
    assert "pick.note_back_reopened" in [each.text.id for each in hand.view.lines]
    assert news(hand, "4102", is_rejected=False) == ""
    hand.feed(Choice(1))
    assert [(product, place) for product, _, _, place in hand.moves()] == [("P3", "A-3")]


def test_an_order_that_is_taken_over_and_urgent_at_once_says_both() -> None:
    hand = Hand(*ROUND["4101"])
    taken: dict[str, Any] = {
        "is_claimed": True,
        "claimed_by": "ben",
        "claimed_name": "Ben",
        "claimed_on": "2026-11-20T10:05:00.000Z",
    }
    assert hand.feed(order(*ROUND["4101"], **taken, urgent=True, urgent_by="Carla")) == "pick.told_both"
    assert [choice.id for choice in hand.view.choices] == ["pick.way_both", "pick.way_hand_over"]
    assert hand.feed(order(*ROUND["4101"], **taken, urgent=True, urgent_by="Carla")) == ""
