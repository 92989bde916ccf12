"""`u` at an open question of any job: it takes back what was entered last, never what was booked before."""

from __future__ import annotations

import pytest

from aisle.scan.grammar_and_meaning_types import UnknownCode
from tests.jobs import receive_runner

UNKNOWN = UnknownCode("99999")


@pytest.mark.parametrize(
    ("asked", "verdict"),
    [
        ("D-3", "receive.other_delivery"),
        ("C-3", "receive.other_delivery"),
        ("P9", "receive.not_announced"),
        ("P5", "receive.other_delivery_expects"),
        ("99999", "count.unknown"),
        ("P1 =11", "receive.more_than_announced"),
        ("P1 =7", "move.number_of"),
    ],
)
def test_undo_at_a_question_of_receiving_keeps_what_was_put_away(asked: str, verdict: str) -> None:
    hand = receive_runner.Hand()
    hand.say("D-1", "P2", "A-1")
    for word in asked.split():
        hand.feed(UNKNOWN) if word == "99999" else hand.say(word)
    assert hand.verdict == verdict
    hand.say("u")
    assert len(hand.sent) == 1
    assert not hand.state.choices
