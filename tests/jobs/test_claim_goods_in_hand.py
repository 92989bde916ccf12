"""Two people with goods of one order: each is asked about what is in his own hand, and what is back on the shelf is
picked no more."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from aisle.jobs.job import Close, Rows
from aisle.scan.grammar_and_meaning_types import LOCATION, Back, Choice, Command, UnknownCode
from tests.jobs.pick_runner import CONTEXT, Hand, line, order
from tests.jobs.test_claim import refused

LATER, LATEST = "2099-01-01T00:00:00.000Z", "2099-01-02T00:00:00Z"
BEN: dict[str, Any] = {"is_claimed": True, "claimed_by": "ben", "claimed_name": "Ben Okafor", "claimed_terminal": "t2"}
OTHER = {"user": "ben", "name": "Ben Okafor", "terminal": "t2"}
SHELF: dict[str, Any] = {"preferred_location_code": "A-1"}


def taken_over(quantity: int = 2, **fields: Any) -> Hand:
    """Ann has picked so many of five; Ben has taken the order over, and she leaves it to him."""
    hand = Hand(line(1, "P1", 5, **SHELF), **fields)
    hand.scan("P1", str(quantity))
    hand.feed(order(line(1, "P1", 5, picked_quantity=quantity, **SHELF), **BEN, claimed_on=LATER, at_work=[OTHER]))
    hand.feed(Choice(2))
    return hand


def last(hand: Hand) -> tuple[Any, ...]:
    """What the last update says that a line stood at, stands at, and whether it is picked."""
    (said,) = hand.updates[-1]["order_lines"]
    return said["base_picked_quantity"], said["picked_quantity"], said["is_picked"]


def lasts(hand: Hand) -> Close:
    close = hand.effects[-1]
    assert isinstance(close, Close)
    return close


@pytest.mark.parametrize("quantity", [2, 5])
def test_goods_put_back_after_take_over_are_not_picked(quantity: int) -> None:
    hand = taken_over(quantity)
    assert hand.choices() == ["pick.choice_handed_over", "pick.choice_put_back"]
    assert hand.view.prompt.id == "prompt.letter"
    assert hand.job.orders_in_work(hand.state) == ("1042",), "its goods are here until that is answered"
    assert hand.feed(Choice(2)) == "pick.choice_put_back"
    assert last(hand) == (quantity, 0, False)
    assert hand.updates[-1]["is_picked"] is False
    assert hand.moves() == []
    assert hand.job.orders_in_work(hand.state) == ()
    assert hand.feed(Command("u")) == "pick.put_down_undone"
    assert last(hand) == (0, quantity, quantity == 5)
    assert hand.choices() == ["pick.choice_handed_over", "pick.choice_put_back"]


def test_what_is_handed_over_stays_picked() -> None:
    hand = taken_over()
    before = hand.updates
    hand.feed(Choice(1))
    verdict = lasts(hand).verdict
    assert verdict is not None
    assert verdict.text.id == "pick.handed_over"
    assert hand.updates == before


def test_goods_to_be_handed_over_are_asked_about_before_a_scan_is_taken() -> None:
    hand = taken_over()
    assert hand.scan("P1") == "pick.answer_first"
    assert hand.feed(Back()) == "pick.leave_with_goods"
    assert hand.choices() == ["pick.choice_handed_over", "pick.choice_put_back", "pick.choice_leave_with_goods"]
    hand.feed(Choice(2))
    assert last(hand) == (2, 0, False)


def test_what_is_handed_over_leaves_what_has_to_go_back() -> None:
    lines = {number: [line(1, "P1", 2, **SHELF)] for number in ("O1", "O2", "O3")}
    hand = Hand(orders=lines)
    hand.scan("P1", "6")
    full = line(1, "P1", 2, picked_quantity=2, **SHELF)
    hand.feed(order(full, number="O1", is_rejected=True))
    hand.feed(order(full, number="O2", assigned_to="ben", assigned_name="Ben", assigned_on=LATER))
    assert hand.feed(Choice(1)) == "pick.handed_over"
    assert ([back.order for back in hand.state.to_return], hand.choices()) == (["O1"], ["pick.choice_put_back"])
    assert hand.feed(Choice(1)) == "pick.choice_put_back"
    assert hand.moves() == [("P1", Decimal(2), "", "A-1")]
    assert hand.all_sent["O2", 1] == 2


def opened(**news: Any) -> Hand:
    """Ann takes an order over of which Ben, who has it open, has picked two of five."""
    hand = Hand()
    his = line(1, "P1", 5, picked_quantity=2, **SHELF)
    for _ in range(2):
        hand.feed(order(his, **BEN, claimed_on="2020-01-01T10:00:00Z", is_claim_active=True, at_work=[OTHER]))
        hand.feed(Choice(1)) if not hand.state.totes[0].has_lines else None
    hand.feed(order(his, at_work=[OTHER], **news)) if news else None
    return hand


def test_take_over_does_not_ask_about_others_goods_in_hand() -> None:
    hand = opened()
    both = line(1, "P1", 5, picked_quantity=2, **SHELF)
    assert hand.feed(order(both, **BEN, claimed_on=LATER, at_work=[OTHER])) == "pick.taken_over"
    assert "You have 0 in hand" in hand.told
    hand.scan("P1")
    both = line(1, "P1", 5, picked_quantity=3, **SHELF)
    assert hand.feed(order(both, **BEN, claimed_on=LATEST, at_work=[OTHER])) == "pick.taken_over"
    assert "You have 1 in hand" in hand.told
    assert hand.feed(Choice(2)) == "pick.removed_with_goods"
    assert [back.quantity for back in hand.state.to_return] == [1]
    hand.feed(Choice(2))
    assert last(hand) == (3, 2, False)


def test_a_rejected_order_leaves_to_each_what_is_in_his_hand() -> None:
    hand = opened()
    hand.scan("P1")
    hand.feed(order(line(1, "P1", 5, picked_quantity=3, **SHELF), is_rejected=True, at_work=[OTHER]))
    assert [back.quantity for back in hand.state.to_return] == [1]


def test_remaining_picker_gets_goods_of_person_who_left() -> None:
    hand = opened()
    hand.scan("P1")
    told = hand.feed(order(line(1, "P1", 5, picked_quantity=3, **SHELF), at_work=[]))
    assert told == "pick.other_picker_left_goods"
    assert "with 2 of it in hand" in hand.told
    hand.feed(order(line(1, "P1", 5, picked_quantity=3, **SHELF), is_rejected=True, at_work=[]))
    assert sum(back.quantity for back in hand.state.to_return) == 3


def test_what_the_other_put_back_is_in_nobodys_hand() -> None:
    hand = opened()
    hand.scan("P1")
    hand.feed(order(line(1, "P1", 5, picked_quantity=1, **SHELF), at_work=[OTHER]))
    hand.feed(order(line(1, "P1", 5, picked_quantity=1, **SHELF), is_rejected=True, at_work=[OTHER]))
    assert [back.quantity for back in hand.state.to_return] == [1]


def test_goods_of_colleague_with_unknown_presence_are_not_asked_for() -> None:
    hand = Hand()
    his = order(line(1, "P1", 5, picked_quantity=2, **SHELF), is_claimed=True)
    hand.feed(his)
    hand.feed(Choice(1))
    hand.feed(his)
    hand.scan("P1")
    hand.feed(order(line(1, "P1", 5, picked_quantity=3, **SHELF), is_rejected=True))
    assert [back.quantity for back in hand.state.to_return] == [1]


def test_each_picker_puts_down_own_goods() -> None:
    hand = opened()
    hand.books["location_use PU-01"] = {"tags": ["pick-up"], "goods": 0}
    hand.scan("P1", "3")
    assert [each.text.id for each in hand.view.lines][1] == "pick.note_put_down"
    assert hand.scan("PU-01", kind=LOCATION) == "pick.put_down"
    assert hand.moves() == [("P1", Decimal(3), "", "PU-01")]
    notes = [each.text for each in hand.view.lines]
    assert (notes[1].id, dict(notes[1].args)) == ("pick.note_goods_of_others", {"count": Decimal(2)})
    assert hand.view.prompt.id == "pick.prompt_done_put_down"
    for _ in range(2):
        assert hand.scan("PU-01", kind=LOCATION) == "pick.goods_of_others"
        assert "another picker has 2" in hand.told
    assert hand.moves()[1:] == []
    assert hand.choices() == ["pick.choice_put_down_others"]
    assert hand.feed(Choice(1)) == "pick.put_down"
    assert hand.moves()[1:] == [("P1", Decimal(2), "", "PU-01")]


def test_litres_in_others_hands_are_no_pieces() -> None:
    """The goods of another picker are told as pieces and measures."""
    tea = line(1, "P1", 2, picked_quantity=2, **SHELF)
    juice = line(2, "P2", 6, picked_quantity=6, unit="l", allow_decimal=True, **SHELF)
    hand = Hand(tea, juice, at_work=[OTHER])
    hand.books["location_use PU-01"] = {"tags": ["pick-up"], "goods": 0}
    assert hand.scan("PU-01", kind=LOCATION) == "pick.goods_of_others"
    assert "another picker has 2 pieces, 6 l" in hand.told


def test_goods_in_others_hands_are_not_put_down_at_listed_location() -> None:
    hand = opened()
    hand.scan("P1", "3")
    hand.books["location_use PU-01"] = {"tags": ["pick-up"], "goods": 0}
    hand.scan("PU-01", kind=LOCATION)
    hand.feed(UnknownCode("PU-99"))
    hand.feed(Rows("pickup_locations", ({"locations": ["PU-01"]},), 1))
    assert hand.feed(Choice(1)) == "pick.goods_of_others"
    assert hand.moves() == [("P1", Decimal(3), "", "PU-01")]
    assert hand.feed(Choice(1)) == "pick.put_down"
    assert hand.moves()[1:] == [("P1", Decimal(2), "", "PU-01")]


def test_leaving_order_reports_no_goods_of_other_person() -> None:
    hand = opened()
    hand.books["location_use PU-01"] = {"tags": ["pick-up"], "goods": 0}
    hand.scan("P1", "3")
    hand.scan("PU-01", kind=LOCATION)
    hand.feed(Back())
    verdict = lasts(hand).verdict
    assert verdict is not None
    assert verdict.text.id == "pick.left_done"


def test_what_found_no_room_is_not_asked_for_twice() -> None:
    hand = Hand(line(1, "P1", 3, **SHELF))
    hand.scan("P1", "2")
    hand.feed(order(line(1, "P1", 3, picked_quantity=3, **SHELF), at_work=[OTHER]))
    assert hand.feed(refused("OP", 2)) == "pick.surplus_by"
    hand.feed(Choice(1))
    hand.feed(order(line(1, "P1", 3, picked_quantity=3, **SHELF), **BEN, claimed_on=LATER, at_work=[OTHER]))
    assert "You have 0 in hand" in hand.told


@pytest.mark.parametrize(
    ("booked", "ordered", "told"),
    [
        (3, 4, "4 is too many: only 1 more of Product P1 needed"),
        (2, 4, "4 is too many: only 2 more of Product P1 needed"),
        (0, 9, "Order 1042 was changed elsewhere"),
        (1, 4, ""),
    ],
)
def test_question_about_too_many_says_what_is_needed_now(booked: int, ordered: int, told: str) -> None:
    """Another picker takes some of the rest while it stands, or the order changes."""
    hand = Hand(line(1, "P1", 4, picked_quantity=1, **SHELF))
    assert hand.scan("P1", "4") == "pick.more_than_ordered"
    hand.verdict = None
    hand.feed(order(line(1, "P1", ordered, picked_quantity=booked, **SHELF)))
    assert hand.told.startswith(told)
    assert bool(hand.state.choices) == (booked > 0)


def test_report_of_excess_is_not_replaced_by_the_other_picker() -> None:
    """Who else picks the order is read just after the excess, or just before."""
    shared = order(line(1, "P1", 3, picked_quantity=3, **SHELF), at_work=[OTHER])
    hand = Hand(line(1, "P1", 3, **SHELF))
    hand.scan("P1", "2")
    assert hand.feed(refused("OP", 2)) == "pick.surplus_by"
    assert hand.feed(shared) == ""
    hand = Hand(line(1, "P1", 3, **SHELF))
    hand.scan("P1", "2")
    assert hand.feed(shared) == "pick.join"
    assert hand.feed(refused("OP", 2)) == "pick.surplus_by"


def test_an_order_that_its_picker_comes_back_to_is_in_his_hand() -> None:
    hand = Hand(line(1, "P1", 5, picked_quantity=2, **SHELF), is_claimed=True, claimed_by=CONTEXT.user)
    hand.feed(order(line(1, "P1", 5, picked_quantity=2, **SHELF), **BEN, claimed_on=LATER))
    assert "You have 2 in hand" in hand.told
