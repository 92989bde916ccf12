"""Letters of choices: each has one of its own, and what has none waits until it has."""

from __future__ import annotations

import pytest

from aisle.jobs.job import Query
from aisle.jobs.typed_numbers_dates_and_letters import FREE_LETTERS, LETTER_OF_CHOICE, MAX_CHOICES, assign_letters
from aisle.scan.grammar import PRINTED_LETTERS
from aisle.scan.grammar_and_meaning_types import Choice
from tests.jobs.pick_runner import Hand, line
from tests.jobs.test_pick_choice_numbers import given

ORDERS = [f"42{number:02}" for number in range(30)]


@pytest.mark.parametrize("count", [0, 1, 9, 18, 22, 23, 30, 400])
@pytest.mark.parametrize("commands", ["", "nsuiw", "gtunp", "abcdefghijklmnopqrstuvwxyz"])
@pytest.mark.parametrize("kind", ["take_in", "later", "set", "is_product"])
def test_each_choice_has_a_letter_of_its_own_while_there_are_any(count: int, commands: str, kind: str) -> None:
    keys = assign_letters([kind] * count, commands)
    free = (set(FREE_LETTERS) | set(LETTER_OF_CHOICE.get(kind, ""))) - set(commands)
    assert len(keys) == len(set(keys)) == min(count, len(free))
    assert not set(keys) & set(commands)


def test_a_printed_letter_is_there_for_each_choice() -> None:
    assert set(PRINTED_LETTERS.values()) >= set("".join((*LETTER_OF_CHOICE.values(), FREE_LETTERS)))


@pytest.mark.parametrize("count", [7, 8, 9, 10, 18, 30])
def test_many_orders_that_are_given_at_once_are_asked_about_by_and_by(count: int) -> None:
    hand = Hand(line(1, "P1", 5))
    left = ORDERS[:count]
    while left:
        assert hand.feed(given(*left)) == "pick.assigned"
        shown = min(len(left), MAX_CHOICES - 1)
        assert hand.choices() == ["pick.choice_add_order"] * shown + ["pick.choice_later"]
        assert len(hand.view.choice_letters) == shown + 1
        left = left[shown:]
        hand.effects.clear()
        assert hand.feed(Choice(shown + 1)) == "session.dropped"
        assert [effect.name for effect in hand.effects if isinstance(effect, Query)] == ["assigned_orders"]
    assert hand.feed(given(*ORDERS[:count])) == ""


def test_an_order_that_was_taken_in_makes_room_for_the_next_one() -> None:
    hand = Hand(line(1, "P1", 5))
    hand.feed(given(*ORDERS))
    assert hand.feed(given(*ORDERS)) == ""
    hand.feed(Choice(1))
    assert hand.choices() == ["pick.choice_add_order"] * (MAX_CHOICES - 2) + ["pick.choice_later"]
    assert hand.feed(given(*ORDERS)) == "pick.assigned"
    assert len(hand.choices()) == len(hand.view.choice_letters) == MAX_CHOICES
    assert [tote.order for tote in hand.state.totes] == ["1042", ORDERS[0]]


def test_orders_that_are_given_one_by_one_are_capped_too() -> None:
    hand = Hand(line(1, "P1", 5))
    for count in range(1, len(ORDERS) + 1):
        hand.feed(given(*ORDERS[:count]))
        assert len(hand.choices()) == len(hand.view.choice_letters) <= MAX_CHOICES
