"""What supervisors do to a walk on its picker's screen: an order goes first, leaves with its tote, comes, is free."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from aisle.jobs.job import Changed, Close, LocalNote, Query, Rows
from aisle.scan.grammar_and_meaning_types import LOCATION, Back, Choice, Command, Text
from aisle.tui.message_text import MessageWriter
from tests.jobs.pick_runner import CONTEXT, Hand, line, order

ROUND = {
    "4101": [line(1, "P1", 2, preferred_location_code="A-1"), line(2, "P2", 1, preferred_location_code="A-2")],
    "4102": [line(1, "P3", 2, preferred_location_code="A-3"), line(2, "P4", 1, preferred_location_code="A-4")],
}


def news(hand: Hand, number: str, **fields: Any) -> str:
    return hand.feed(order(*ROUND[number], number=number, **fields))


def product(hand: Hand) -> str:
    assert hand.state.current_line is not None
    return hand.state.current_line.product


def test_priority_order_comes_right_after_current_stop() -> None:
    hand = Hand(orders=ROUND)
    assert product(hand) == "P1"
    assert news(hand, "4102", is_priority=True, priority_by="Carla") == "pick.priority_batch"
    assert product(hand) == "P1"
    hand.scan("P1")
    hand.scan("P1")
    assert product(hand) == "P3"
    hand.feed(Command("n"))
    assert product(hand) == "P4"
    assert news(hand, "4102", is_priority=True) == ""
    assert news(hand, "4102", is_priority=False) == "pick.no_priority"


def test_an_urgent_order_is_the_first_of_a_round_that_begins() -> None:
    hand = Hand(orders=ROUND, is_priority=True)
    news(hand, "4101", is_priority=False)
    assert product(hand) == "P1"
    alone = Hand(*ROUND["4101"])
    assert alone.feed(order(*ROUND["4101"], is_priority=True, priority_by="Carla")) == "pick.priority"


def test_the_last_urgent_stop_can_be_left_for_later() -> None:
    hand = Hand(orders={"4101": ROUND["4101"][:1], "4102": ROUND["4102"][:1]})
    hand.feed(order(*ROUND["4102"][:1], number="4102", is_priority=True))
    hand.scan("P1", "2")
    assert product(hand) == "P3"
    assert hand.feed(Command("n")) == "locations.last_location"


GIVEN: dict[str, Any] = {
    "assigned_to": "ben",
    "assigned_name": "Ben",
    "assigned_by": "Carla",
    "assigned_on": "2026-11-20T10:05:00.000Z",
}


def test_reassigned_order_leaves_batch_and_tote_is_handed_over() -> None:
    hand = Hand(orders=ROUND)
    hand.scan("P3")
    assert news(hand, "4102", **GIVEN) == "pick.removed_with_goods"
    assert [tote.order for tote in hand.state.totes] == ["4101"]
    assert (hand.view.name, hand.choices()) == ("pick.return", ["pick.choice_handed_over", "pick.choice_put_back"])
    assert "pick.note_return_reassigned" in [each.text.id for each in hand.view.lines]
    assert hand.state.to_return[0].letter == "B"
    assert hand.job.orders_in_work(hand.state) == ("4101", "4102"), (
        "its goods are in this hand until somebody says otherwise"
    )
    hand.feed(Choice(1))
    assert hand.job.orders_in_work(hand.state) == ("4101",)
    assert (hand.view.name, product(hand)) == ("pick.product", "P1")
    assert hand.all_sent == {("4102", 1): 1}


def test_one_that_was_given_before_it_was_opened_here_stays() -> None:
    hand = Hand(orders=ROUND)
    assert news(hand, "4102", **{**GIVEN, "assigned_on": "2026-11-20T09:00:00.000Z"}) == ""
    assert len(hand.state.totes) == 2


def test_who_opens_what_was_given_to_him_settles_it() -> None:
    hand = Hand(*ROUND["4101"], **{**GIVEN, "assigned_to": "ann"})
    assert LocalNote("assigned", "1042", "") in hand.effects


COMES = Rows("assigned_orders", ({"order_number": "4102", "by": "Carla", "at": "2026-11-20T10:05:00.000Z"},), 1)


def test_an_order_of_another_walk_is_taken_in_while_work_goes_on() -> None:
    hand = Hand(*ROUND["4101"])
    assert hand.feed(COMES) == "pick.assigned"
    assert [choice.id for choice in hand.view.choices] == ["pick.choice_add_order", "pick.choice_later"]
    assert hand.scan("P1") == "pick.picked"
    assert hand.feed(COMES) == ""
    assert hand.feed(Command("w")) == "pick.question_repeated"
    hand.feed(Choice(1))
    assert news(hand, "4102") == "pick.joined"
    assert [tote.order for tote in hand.state.totes] == ["1042", "4102"]


def test_each_assigned_order_without_free_tote_is_named() -> None:
    hand = Hand(*ROUND["4101"])
    hand.state = hand.state._replace(totes=())
    rows = [
        {"order_number": order, "by": by, "at": "2026-11-20T10:05:00.000Z"} for order, by in (("1", "A"), ("2", "B"))
    ]
    named = []
    for _ in rows:
        assert hand.feed(Rows("assigned_orders", tuple(rows), 2)) == "pick.assigned"
        assert hand.verdict
        named.append(dict(hand.verdict.text.args))
    assert named == [{"order": "1", "who": "A"}, {"order": "2", "who": "B"}]
    assert hand.feed(Rows("assigned_orders", tuple(rows), 2)) == ""


@pytest.mark.parametrize("said", [Choice(2), Back()])
def test_it_can_wait(said: Any) -> None:
    hand = Hand(*ROUND["4101"])
    hand.feed(COMES)
    assert hand.feed(said) == "session.dropped"
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
    assert "assigned_orders" in [effect.name for effect in hand.effects if hasattr(effect, "name")]


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
    assert close.verdict.text.id == "pick.left_not_put_down"
    assert MessageWriter().write(close.verdict.text).endswith("Put its 1 item down at a pick-up location.")
    assert MessageWriter(language="de").write(close.verdict.text).endswith("1 Stück an einem Abholplatz abstellen.")
    nowhere = Hand(line(1, "P1", 1))
    nowhere.scan("P1")
    nowhere.feed(Back())
    (close,) = (effect for effect in nowhere.effects if isinstance(effect, Close))
    assert close.verdict
    assert close.verdict.text.id == "pick.left_done"


def test_a_place_that_is_none_names_the_pickup_places() -> None:
    hand = done()
    assert hand.feed(Text("PU-1")) == ""
    few: dict[str, Any] = {"locations": ["PU-01", "PU-02"], "count": 2}
    assert hand.feed(Rows("pickup_locations", (few,), 1)) == "pick.no_pickup"
    hand.feed(Text("XX-1"))
    assert hand.feed(Rows("pickup_locations", ({**few, "count": 6},), 1)) == "pick.no_pickup"
    assert hand.told == "There is no location XX-1. These are 2 of 6 pick-up locations:"
    assert hand.feed(Choice(1)) == "pick.put_down"
    assert hand.moves()[-1][-1] == "PU-01"
    hand = done()
    hand.feed(Text("PU-1"))
    assert hand.feed(Rows("pickup_locations", (), 0)) == "pick.no_location_at_all"
    assert hand.feed(Text("cola zero")) == "count.unknown"


def test_a_movement_that_was_refused_is_told_with_why() -> None:
    hand = done()
    hand.books["location_use PU-01"] = {"tags": ["pick-up"], "goods": 0}
    hand.scan("PU-01", kind=LOCATION)
    item = {"to_location": {"customer_order_number": "1042", "location_code": "PU-01"}}
    refused = {"op_id": "7", "user": "ben", "why": "No such place.", "body": [item]}
    assert hand.feed(Rows("refused", (refused,), 1)) == "", "it is told to who put them down"
    refused["user"] = CONTEXT.user
    assert hand.feed(Rows("refused", (refused,), 1)) == "pick.put_down_refused"
    assert hand.feed(Rows("refused", (refused,), 1)) == ""
    foreign = {**refused, "op_id": "8", "body": [{"to_location": {"customer_order_number": "1"}}]}
    assert hand.feed(Rows("refused", (foreign,), 1)) == ""


def test_reopened_order_is_notified_while_goods_are_in_hand() -> None:
    hand = Hand(orders=ROUND)
    hand.scan("P3")
    assert news(hand, "4102", is_rejected=True) == "pick.removed_with_goods"
    assert news(hand, "4102", is_rejected=False) == "pick.reopened_order"
    assert "pick.note_return_reopened" in [each.text.id for each in hand.view.lines]
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
    assert hand.feed(order(*ROUND["4101"], **taken, is_priority=True, priority_by="Carla")) == "pick.join"
    assert [choice.id for choice in hand.view.choices] == ["pick.choice_both_pick", "pick.choice_leave_to_picker"]
    assert hand.feed(order(*ROUND["4101"], **taken, is_priority=True, priority_by="Carla")) == ""


SHELF: dict[str, Any] = {"preferred_location_code": "A-1"}


def given_away(**fields: Any) -> Hand:
    """Ann has two of five in hand of an order that is Ben's now."""
    hand = Hand(line(1, "P1", 5, **SHELF), **fields)
    hand.scan("P1", "2")
    hand.feed(order(line(1, "P1", 5, picked_quantity=2, **SHELF), **GIVEN))
    hand.books["location_use PU-01"] = {"tags": ["pick-up"], "goods": 0}
    return hand


def laid(quantity: int, picked: int = 2) -> Rows:
    """So much lies at a place by the books, out of what is picked."""
    kept = [{"location_code": "PU-01", "quantity": quantity}] if quantity else []
    return order(line(1, "P1", 5, picked_quantity=picked, moved_quantity=quantity, put_down=kept, **SHELF), **GIVEN)


def test_goods_in_hand_of_reassigned_order_can_be_put_down_for_it() -> None:
    hand = given_away()
    assert hand.scan("PU-01", kind=LOCATION) == "pick.put_down"
    assert hand.moves() == [("P1", Decimal(2), "", "PU-01")]
    assert hand.all_sent == {("1042", 1): 2}, "it stays picked"
    assert (hand.state.to_return, hand.job.orders_in_work(hand.state)) == ((), ())
    assert [each.text.id for each in hand.view.lines] == ["pick.put_down"]
    assert hand.feed(Command("u")) == "pick.put_down_undone"
    assert hand.moves()[1:] == [("P1", Decimal(2), "PU-01", "")]
    assert hand.choices() == ["pick.choice_handed_over", "pick.choice_put_back"]
    hand.scan("PU-01", kind=LOCATION)
    hand.feed(Back())
    assert isinstance(hand.effects[-1], Close)


def test_refused_put_down_for_other_order_returns_goods_to_hand() -> None:
    hand = given_away()
    hand.scan("PU-01", kind=LOCATION)
    assert not hand.state.totes
    hand.feed(Changed("outbox", ""))
    asked = [effect for effect in hand.effects if isinstance(effect, Query) and effect.id == "refused"]
    assert [each.args for each in asked] == [{"operation": "create-movement", "since": CONTEXT.now}]
    item = {"to_location": {"customer_order_number": "1042", "location_code": "PU-01"}}
    row = {"op_id": "7", "user": "ben", "why": "No such place.", "body": [item]}
    assert hand.feed(Rows("refused", (row,), 1)) == "", "what he has put down himself is told to him"
    row["user"] = CONTEXT.user
    assert hand.feed(Rows("refused", (row,), 1)) == "pick.put_down_refused"
    assert hand.choices() == ["pick.choice_handed_over", "pick.choice_put_back"]
    assert hand.feed(Rows("refused", (row,), 1)) == ""
    assert hand.scan("PU-02", kind=LOCATION) == "pick.put_down"
    hand.feed(Command("u"))
    assert hand.feed(Command("u")) != "pick.put_down_undone", "what nobody took is not taken back"
    assert hand.moves() == [
        ("P1", Decimal(2), "", "PU-01"),
        ("P1", Decimal(2), "", "PU-02"),
        ("P1", Decimal(2), "PU-02", ""),
    ]


def test_putting_down_at_source_or_sales_location_asks_first() -> None:
    hand = given_away()
    assert hand.scan("A-1", kind=LOCATION) == "pick.put_down_at_source"
    assert hand.choices() == ["pick.choice_handed_over", "pick.choice_put_back", "hand_over.choice_location"]
    hand.books["location_use B-7"] = {"goods": 3}
    assert hand.scan("B-7", kind=LOCATION) == "pick.put_down_at_stock"
    assert hand.moves() == []
    assert hand.feed(Choice(3)) == "pick.put_down"
    assert hand.moves() == [("P1", Decimal(2), "", "B-7")]


def test_location_scan_in_batch_goes_to_its_stop_or_puts_back_removed_goods() -> None:
    hand = Hand(orders=ROUND)
    hand.scan("P3")
    news(hand, "4102", **GIVEN)
    assert hand.scan("A-1", kind=LOCATION) == "pick.at_location"
    hand.books["location_use PU-01"] = {"tags": ["pick-up"], "goods": 0}
    assert hand.scan("PU-01", kind=LOCATION) == "pick.put_down"
    assert hand.moves() == [("P3", Decimal(1), "", "PU-01")]
    assert (hand.view.name, product(hand)) == ("pick.product", "P1")


def test_who_has_the_goods_is_told_where_another_says_that_they_lie() -> None:
    hand = given_away()
    assert hand.feed(laid(0)) == ""
    assert hand.feed(laid(3, picked=5)) == "", "the other has put down what was in his own hand"
    assert hand.feed(laid(5, picked=5)) == "pick.put_down_by_other_at"
    assert "Somebody else has already booked your 2 of order 1042 at PU-01" in hand.told
    assert hand.choices() == ["pick.choice_is_put_down"]
    assert [each.text.id for each in hand.view.lines][-1] == "pick.note_return_put_down_by_other_at"
    assert hand.feed(laid(5, picked=5)) == ""
    before = len(hand.effects)
    hand.feed(Choice(1))
    (close,) = hand.effects[before:]
    assert isinstance(close, Close), "nothing is booked: it is already"


def test_what_is_in_hand_for_another_order_is_not_taken_for_what_lies() -> None:
    first = line(1, "P1", 5, **SHELF)
    hand = Hand(orders={"4101": [first], "4102": [first]})
    hand.scan("P1", "7")
    for number, picked in (("4101", 5), ("4102", 2)):
        hand.feed(order(line(1, "P1", 5, picked_quantity=picked, **SHELF), number=number, **GIVEN))
    kept = [{"location_code": "PU-01", "quantity": 3}]
    his = line(1, "P1", 5, picked_quantity=5, moved_quantity=3, put_down=kept, **SHELF)
    assert hand.feed(order(his, number="4102", **GIVEN)) == "", "Ben has put down the three that he picked himself"
    assert [(back.order, back.reason) for back in hand.state.to_return] == [("4101", "assigned"), ("4102", "assigned")]


def test_what_found_no_room_on_the_line_is_not_taken_for_what_lies() -> None:
    hand = given_away()
    (mine,) = hand.state.to_return
    too_many = mine._replace(reason="left_over", quantity=Decimal(1), op_id="7")
    hand.state = hand.state._replace(to_return=(mine, too_many))
    assert hand.feed(laid(3, picked=5)) == "", "the other has put down what was in his own hand"
    assert hand.feed(laid(5, picked=5)) == "pick.put_down_by_other_at"
    assert [back.reason for back in hand.state.to_return] == ["laid", "left_over"]


def test_put_down_at_unknown_location_is_reported_without_location() -> None:
    hand = given_away()
    first = line(1, "P1", 5, picked_quantity=2, moved_quantity=2, **SHELF)
    assert hand.feed(order(first, **GIVEN)) == "pick.put_down_by_other"
    assert [each.text.id for each in hand.view.lines][-1] == "pick.note_return_put_down_by_other"
    assert hand.view.prompt.id == "pick.prompt_put_down_by_other"
    assert hand.choices() == ["pick.choice_is_put_down"]


def test_what_the_other_takes_back_is_in_hand_again() -> None:
    hand = given_away()
    hand.feed(laid(2))
    assert hand.feed(laid(0)) == "pick.not_put_down_by_other"
    assert hand.choices() == ["pick.choice_handed_over", "pick.choice_put_back"]
    hand.feed(Choice(2))
    assert hand.all_sent == {("1042", 1): 0}


def test_what_the_other_takes_back_is_asked_for_as_it_was_before() -> None:
    """Why it is in this hand, and each part of it where it was taken."""
    hand = Hand(line(1, "P1", 5, **SHELF))
    hand.scan("P1", "2")
    (take,) = hand.state.lines
    hand.state = hand.state._replace(lines=(take._replace(location="B-9"),))
    hand.scan("P1")
    hand.feed(order(line(1, "P1", 5, picked_quantity=3, **SHELF), **GIVEN))
    before = hand.state.to_return
    assert [(back.reason, back.location, back.quantity) for back in before] == [
        ("assigned", "B-9", Decimal(1)),
        ("assigned", "A-1", Decimal(2)),
    ]
    assert hand.feed(laid(3, picked=3)) == "pick.put_down_by_other_at"
    assert hand.feed(laid(0, picked=3)) == "pick.not_put_down_by_other"
    assert hand.state.to_return == before


def test_goods_reported_elsewhere_are_not_put_back() -> None:
    hand = Hand(orders=ROUND)
    hand.scan("P1", "2")
    hand.scan("P3", "2")
    news(hand, "4102", **GIVEN)
    kept = [{"location_code": "PU-01", "quantity": 2}]
    first = line(1, "P3", 2, picked_quantity=2, moved_quantity=2, put_down=kept, preferred_location_code="A-3")
    assert hand.feed(order(first, number="4102", **GIVEN)) == "pick.put_down_by_other_at"
    news(hand, "4101", is_rejected=True)
    assert hand.choices() == ["pick.choice_put_back"]
    hand.feed(Choice(1))
    assert hand.moves() == [("P1", Decimal(2), "", "A-1")]
    assert hand.choices() == ["pick.choice_is_put_down"]
