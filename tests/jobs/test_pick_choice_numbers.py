"""The numbers of choices: what is asked first keeps its own, whatever is asked beside it."""

from __future__ import annotations

from typing import Any

from aisle.jobs.job import Close, Rows
from aisle.scan.grammar_and_meaning_types import Back, Choice, Command
from tests.jobs.pick_runner import Hand, line, order

LATER = "2099-01-01T00:00:00.000Z"
BEN: dict[str, Any] = {"is_claimed": True, "claimed_by": "ben", "claimed_name": "Ben Okafor", "claimed_on": LATER}
TAKEN_OVER = ["pick.choice_both_pick", "pick.choice_leave_to_picker"]


def given(*orders: str) -> Rows:
    """Carla has given these orders to whoever picks here."""
    rows = ({"order_number": each, "by": "Carla", "at": "2026-11-20T10:05:00.000Z"} for each in orders)
    return Rows("assigned_orders", tuple(rows), len(orders))


def test_a_wrong_scan_puts_what_is_asked_already_behind_its_letter() -> None:
    hand = Hand(line(1, "P1", 5))
    hand.feed(order(line(1, "P1", 5), **BEN))
    assert hand.choices() == TAKEN_OVER
    assert hand.scan("P1", "9") == "pick.more_than_ordered"
    assert hand.choices() == ["pick.choice_pick_rest"]
    assert hand.scan("P9") == "count.answer_first"
    hand.feed(Back())
    hand.scan("P9")
    assert hand.choices() == ["look_up.title"]
    hand.feed(Command("w"))
    assert hand.choices() == TAKEN_OVER
    hand.feed(Choice(2))
    close = hand.effects[-1]
    assert isinstance(close, Close)
    assert close.verdict is not None
    assert (close.verdict.text.id, hand.sent) == ("pick.claimed_now", {})


def test_notification_waits_behind_open_question() -> None:
    hand = Hand(line(1, "P1", 5))
    assert hand.scan("P1", "9") == "pick.more_than_ordered"
    hand.feed(order(line(1, "P1", 5), **BEN))
    assert hand.choices() == ["pick.choice_pick_rest", *TAKEN_OVER]
    assert hand.feed(Choice(1)) == "pick.all_picked"
    assert hand.sent == {1: 5}
    assert hand.choices() == TAKEN_OVER


def test_second_assigned_order_is_offered_after_first_choices() -> None:
    hand = Hand(line(1, "P1", 5))
    hand.feed(given("4102"))
    assert hand.choices() == ["pick.choice_add_order", "pick.choice_later"]
    hand.feed(given("4102", "4103"))
    assert hand.choices() == ["pick.choice_add_order", "pick.choice_later", "pick.choice_add_order"]
    hand.feed(order(line(1, "P1", 5), **BEN))
    assert hand.choices() == ["pick.choice_add_order", "pick.choice_later", "pick.choice_add_order", *TAKEN_OVER]
    assert hand.feed(Choice(4)) == "pick.both_pick"
    assert hand.choices() == ["pick.choice_add_order", "pick.choice_later", "pick.choice_add_order"]
    hand.feed(Choice(1))
    assert [tote.order for tote in hand.state.totes] == ["1042", "4102"]
    assert hand.choices() == ["pick.choice_add_order", "pick.choice_later"]
    assert hand.feed(Choice(2)) == "session.dropped"
    assert hand.choices() == []
