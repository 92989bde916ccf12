"""Two people in one order: each is told that the other is, when he comes and when he goes, and nothing that was asked
vanishes for it."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from aisle.jobs.view import ASK, INFO
from aisle.scan.grammar_and_meaning_types import LOCATION, Back, Choice, Command
from aisle.tui.message_text import MessageWriter
from tests.jobs.pick_runner import CONTEXT, Hand, line, order

BEFORE, LATER = "2020-01-01T10:32:00Z", "2099-01-01T00:00:00.000Z"
BEN: dict[str, Any] = {"is_claimed": True, "claimed_by": "ben", "claimed_name": "Ben Okafor", "claimed_terminal": "t2"}
ME = {"user": CONTEXT.user, "name": "Ann", "terminal": "t1"}
OTHER = {"user": "ben", "name": "Ben Okafor", "terminal": "t2"}


OTHER_PICKER_NOTES = ("pick.note_other_pickers", "pair")


def beside(hand: Hand) -> list[str]:
    """Who the page says is in the order too."""
    notes = [each.text for each in hand.view.lines if each.text.id.startswith(OTHER_PICKER_NOTES)]
    return [MessageWriter().write(note) for note in notes]


def test_who_takes_an_order_over_is_told_that_the_other_is_still_in_it() -> None:
    hand = Hand()
    hand.feed(order(line(1, "P1", 5), **BEN, claimed_on=BEFORE, is_claim_active=True, at_work=[OTHER]))
    hand.feed(Choice(1))
    hand.feed(order(line(1, "P1", 5), **BEN, claimed_on=BEFORE, is_claim_active=True, at_work=[OTHER]))
    assert "Ben Okafor is picking order 1042 too" in hand.told
    assert "Order 1042: 1 line to pick" in hand.told
    assert beside(hand) == ["Ben Okafor is picking it too"]
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
    assert "Ben Okafor had order 1042 and may still be picking it" in hand.told
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
    wanted = ["A: Ben Okafor is picking it too", "B: Ben Okafor is picking it too"] if others else []
    assert beside(hand) == wanted
    assert hand.verdict is not None
    assert hand.verdict.kind != ASK
    assert ("Ben Okafor" in hand.told) is bool(others)
    hand.feed(Back())
    assert hand.choices() == ["pick.choice_leave"]


SHELF: dict[str, Any] = {"preferred_location_code": "A-1"}
ELSEWHERE: dict[str, Any] = {**BEN, "claimed_terminal": "handheld-7", "at_work": [ME]}
"""A claim of a terminal on another host: nobody here knows if its work goes on."""


def ann_took_over() -> Hand:
    """Ann takes over an order on another host's terminal; Ben has picked four of the tea."""
    hand = Hand()
    his = order(line(1, "TEA", 4, picked_quantity=4, **SHELF), line(2, "CORN", 2, **SHELF), **ELSEWHERE)
    hand.feed(his)
    hand.feed(Choice(1))
    hand.feed(his)
    hand.scan("CORN", "2")
    return hand


def ben_took_over() -> Hand:
    """Ben takes over on another host after Ann has picked the corn, and picks the tea."""
    hand = Hand(line(1, "TEA", 4, **SHELF), line(2, "CORN", 2, **SHELF))
    hand.scan("CORN", "2")
    both = line(1, "TEA", 4, picked_quantity=4, **SHELF), line(2, "CORN", 2, picked_quantity=2, **SHELF)
    for _ in range(2):  # the first one reports the claim
        hand.feed(order(*both, **ELSEWHERE, claimed_on=LATER))
    return hand


def ben_picks(**who: str) -> Hand:
    """Ben picks the tea somewhere, and no claim says so."""
    hand = Hand(line(1, "TEA", 4, **SHELF), line(2, "CORN", 2, **SHELF))
    hand.scan("CORN", "2")
    tea = line(1, "TEA", 4, picked_quantity=4, **who, **SHELF)
    hand.feed(order(tea, line(2, "CORN", 2, picked_quantity=2, **SHELF), at_work=[ME]))
    return hand


def ben_picks_and_says_so() -> Hand:
    """The same at a service that names the picker of a line."""
    return ben_picks(picked_username="ben", picked_name="Ben Okafor")


def ben_answered() -> Hand:
    """Ann answers that both pick."""
    hand = ben_took_over()
    hand.feed(Choice(1))
    return hand


@pytest.mark.parametrize("begin", [ann_took_over, ben_took_over, ben_answered, ben_picks, ben_picks_and_says_so])
def test_goods_of_a_picker_on_another_host_are_not_put_down(begin: Callable[[], Hand]) -> None:
    hand = begin()
    assert hand.scan("PU-1", kind=LOCATION) == "pick.put_down"
    assert hand.moves() == [("CORN", Decimal(2), "", "PU-1")]
    hand.feed(Command("u"))
    assert hand.moves()[1:] == [("CORN", Decimal(2), "PU-1", "")]
    hand.scan("PU-1", kind=LOCATION)
    assert hand.scan("PU-2", kind=LOCATION) == "pick.goods_of_others", "the goods of the other are asked about"
    hand.feed(Choice(hand.choices().index("pick.choice_put_down_others") + 1))
    assert hand.moves()[3:] == [("TEA", Decimal(4), "", "PU-2")]


@pytest.mark.parametrize(
    ("begin", "note"),
    [
        (ann_took_over, []),
        (ben_took_over, ["Ben Okafor is picking it too"]),
        (ben_answered, ["Ben Okafor is picking it too"]),
        (ben_picks, ["Another picker is picking it too"]),
        (ben_picks_and_says_so, ["Ben Okafor is picking it too"]),
    ],
)
def test_a_picker_on_another_host_is_shown(begin: Callable[[], Hand], note: list[str]) -> None:
    assert beside(begin()) == note


def test_own_goods_stay_own_while_a_read_is_uncertain() -> None:
    hand = Hand(line(1, "CORN", 2, **SHELF))
    hand.scan("CORN", "2")
    hand.feed(order(line(1, "CORN", 2, **SHELF), unsure=True))
    hand.feed(order(line(1, "CORN", 2, picked_quantity=2, **SHELF)))
    assert beside(hand) == []
    assert hand.scan("PU-1", kind=LOCATION) == "pick.put_down"
