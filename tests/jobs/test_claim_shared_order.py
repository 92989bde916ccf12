"""Two people in one order: each is told that the other is, when he comes and when he goes, and nothing that was asked
vanishes for it."""

from __future__ import annotations

from typing import Any

import pytest

from aisle.jobs.view import ASK, INFO
from aisle.scan.meaning import Back, Choice
from aisle.tui.message_text import MessageWriter
from tests.jobs.pick_runner import CONTEXT, Hand, line, order

BEFORE, LATER = "2020-01-01T10:32:00Z", "2099-01-01T00:00:00.000Z"
BEN: dict[str, Any] = {"is_claimed": True, "claimed_by": "ben", "claimed_name": "Ben Okafor", "claimed_terminal": "t2"}
ME = {"user": CONTEXT.user, "name": "Ann", "terminal": "t1"}
OTHER = {"user": "ben", "name": "Ben Okafor", "terminal": "t2"}


def beside(hand: Hand) -> list[str]:
    """Who the page says is in the order too."""
    notes = [each.text for each in hand.view.lines if each.text.id.startswith("pick.note_other_pickers")]
    return [MessageWriter().write(note) for note in notes]


def test_who_takes_an_order_over_is_told_that_the_other_is_still_in_it() -> None:
    hand = Hand()
    hand.feed(order(line(1, "P1", 5), **BEN, claimed_on=BEFORE, is_claim_active=True, at_work=[OTHER]))
    hand.feed(Choice(1))
    hand.feed(order(line(1, "P1", 5), **BEN, claimed_on=BEFORE, is_claim_active=True, at_work=[OTHER]))
    assert "Ben Okafor picks order 1042 too" in hand.told
    assert "Order 1042: 1 line to pick" in hand.told
    assert beside(hand) == ["Ben Okafor picks it too"]
    assert hand.feed(order(line(1, "P1", 5), at_work=[ME, OTHER])) == ""
    hand.feed(order(line(1, "P1", 5), at_work=[ME]))
    assert "Ben Okafor has left order 1042" in hand.told
    assert beside(hand) == []


def test_previous_holder_on_other_host_is_shown_as_possibly_active() -> None:
    hand = Hand()
    taken = order(line(1, "P1", 5), **BEN, claimed_on=BEFORE, at_work=[])
    hand.feed(taken)
    hand.feed(Choice(1))
    hand.feed(taken)
    assert "Ben Okafor had order 1042 and may still pick it" in hand.told
    assert beside(hand) == []


def test_the_order_of_a_dead_terminal_has_nobody_in_it() -> None:
    hand = Hand()
    taken = order(line(1, "P1", 5), **BEN, claimed_on=BEFORE, is_claim_active=False, at_work=[])
    hand.feed(taken)
    hand.feed(Choice(1))
    assert hand.feed(taken) == "pick.opened"


def test_joining_picker_is_announced_while_work_continues() -> None:
    hand = Hand(line(1, "P1", 5))
    assert hand.feed(order(line(1, "P1", 5), at_work=[ME, OTHER])) == "pick.other_picker"
    assert hand.verdict is not None
    assert hand.verdict.kind == INFO
    assert hand.feed(order(line(1, "P1", 5), at_work=[ME, OTHER])) == ""
    hand.feed(order(line(1, "P1", 5, picked_quantity=1), at_work=[ME]))
    assert "has left order 1042" in hand.told
    assert "changed elsewhere" in hand.told


def test_one_s_own_other_terminal_is_nobody_else() -> None:
    hand = Hand(line(1, "P1", 5), at_work=[{**ME, "terminal": "t2"}])
    assert beside(hand) == []


def test_earlier_question_stays_beside_take_over_question() -> None:
    hand = Hand(line(1, "P1", 5))
    assert hand.scan("P1", "9") == "pick.more_than_ordered"
    assert hand.feed(order(line(1, "P1", 5), **BEN, claimed_on=LATER, at_work=[ME, OTHER])) == "pick.taken_over"
    assert hand.choices() == ["pick.choice_pick_rest", "pick.choice_both_pick", "pick.choice_leave_to_picker"]
    assert hand.feed(Choice(2)) == "pick.both_pick"
    assert hand.choices() == ["pick.choice_pick_rest"], "what is answered is gone, and nothing else"
    assert hand.feed(Choice(1)) == "pick.all_picked"


def test_giving_order_back_closes_question_and_notifies() -> None:
    hand = Hand(line(1, "P1", 5))
    hand.feed(order(line(1, "P1", 5), **BEN, claimed_on=LATER, at_work=[ME, OTHER]))
    assert hand.choices() == ["pick.choice_both_pick", "pick.choice_leave_to_picker"]
    hand.feed(order(line(1, "P1", 5), at_work=[ME]))
    assert hand.choices() == []
    assert "Ben Okafor has left order 1042" in hand.told
    before = len(hand.claims)
    hand.scan("P1")
    assert hand.claims[before:] == [("1042", True)], "it is nobody's until something is done to it"


def test_a_question_that_others_have_settled_is_said_to_be_off() -> None:
    hand = Hand(*(line(n, f"P{n}", 2, store_walking_order=n) for n in (1, 2)))
    assert hand.scan("P1", "9") == "pick.more_than_ordered"
    picked = [line(1, "P1", 2, picked_quantity=2, store_walking_order=1), line(2, "P2", 2, store_walking_order=2)]
    assert hand.feed(order(*picked)) == "pick.changed_question_dropped"
    assert hand.choices() == []


@pytest.mark.parametrize("others", [[], [OTHER]], ids=["alone", "with another"])
def test_a_round_says_whose_tote_another_picks_too(others: list[dict[str, str]]) -> None:
    hand = Hand(orders={"O1": [line(1, "P1", 2)], "O2": [line(1, "P1", 1)]}, at_work=[ME, *others])
    wanted = ["Tote A: Ben Okafor picks it too", "Tote B: Ben Okafor picks it too"] if others else []
    assert beside(hand) == wanted
    assert hand.verdict is not None
    assert hand.verdict.kind != ASK
    assert ("Ben Okafor" in hand.told) is bool(others)
    hand.feed(Back())
    assert hand.choices() == ["pick.choice_leave"]
