"""An order that is picked and put down: its place is shown, handing it over is offered, and nothing is said twice."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from aisle.jobs.job import Close, Start
from aisle.jobs.view import GOOD
from aisle.scan.grammar_and_meaning_types import LOCATION, Back, Choice, Command
from aisle.tui.message_text import MessageWriter
from tests.jobs.pick_runner import Hand, line, order


def lies(*places: str, quantity: int = 2) -> dict[str, Any]:
    """A line that is picked and put down at these places."""
    kept = [{"location_code": place, "quantity": Decimal(1)} for place in places]
    return {"picked_quantity": quantity, "moved_quantity": quantity, "put_down": kept, "preferred_location_code": "A-1"}


def screen(hand: Hand) -> str:
    """The lines of the screen."""
    return " ".join(MessageWriter().write(each.text) for each in hand.view.lines)


def left(hand: Hand) -> tuple[str, str]:
    """Kind and text of what leaving says."""
    hand.feed(Back())
    close = hand.effects[-1]
    assert isinstance(close, Close)
    assert close.verdict is not None
    return close.verdict.kind, MessageWriter().write(close.verdict.text)


@pytest.mark.parametrize("places", [("PU-1",), ("PU-1", "PU-2"), ()])
def test_an_order_that_waits_for_its_customer_opens_to_be_handed_over(places: tuple[str, ...]) -> None:
    hand = Hand(line(1, "P1", 2, **lies(*places)))
    assert hand.effects[-1] == Close(start=Start("hand_over", {"order_number": "1042"}))


def put_down() -> Hand:
    """An order that was picked and put down here."""
    hand = Hand(line(1, "P1", 2, preferred_location_code="A-1"))
    hand.scan("P1", "2")
    hand.scan("PU-3", kind=LOCATION)
    return hand


def test_handing_over_is_offered() -> None:
    hand = put_down()
    hand.feed(Choice(1))
    assert hand.effects[-1] == Start("hand_over", {"order_number": "1042"})


def test_an_order_that_is_handed_over_is_said_to_be() -> None:
    hand = put_down()
    hand.feed(Choice(1))
    hand.feed(order(line(1, "P1", 2, **lies("PU-3")), is_active=False))
    close = hand.effects[-1]
    assert isinstance(close, Close)
    assert close.verdict is not None
    assert (close.verdict.kind, close.verdict.text.id) == (GOOD, "pick.handed_over_now")


def test_what_was_put_down_just_now_is_shown_and_said() -> None:
    hand = Hand(line(1, "P1", 2, preferred_location_code="A-1"))
    hand.scan("P1", "2")
    assert hand.choices() == []
    hand.scan("PU-3", kind=LOCATION)
    assert "PU-3" in screen(hand)
    assert hand.choices() == ["order_actions.hand_over"]
    assert left(hand) == (GOOD, "Order 1042 is put down at PU-3")


def test_what_is_taken_up_again_is_at_no_place() -> None:
    hand = put_down()
    hand.feed(Command("u"))
    assert "PU-3" not in screen(hand)
    assert hand.choices() == []


def test_recent_pick_without_locations_is_shown_as_picked() -> None:
    hand = Hand(line(1, "P1", 2))
    hand.scan("P1", "2")
    assert hand.choices() == ["order_actions.hand_over"]
    assert left(hand) == (GOOD, "Order 1042 is picked")


def test_goods_in_hand_are_put_down_first() -> None:
    hand = Hand(line(1, "P1", 2, picked_quantity=2, preferred_location_code="A-1"))
    assert hand.choices() == []


def test_totes_of_a_round_say_where_each_lies() -> None:
    hand = Hand(orders={f"O{n}": [line(1, f"P{n}", 1, preferred_location_code="A-1")] for n in (1, 2)})
    hand.scan("P1")
    hand.scan("P2")
    hand.scan("PU-3", kind=LOCATION)
    assert "A at PU-3" in screen(hand)
    assert "B at PU-3" in screen(hand)


def test_an_order_of_which_nothing_was_picked_is_not_handed_over() -> None:
    hand = Hand(line(1, "P1", 2, is_picked=True))
    assert hand.choices() == []
