"""The page of the PIN by itself: what is a try, what comes of it, and what is handed on."""

from __future__ import annotations

from typing import Any

import pytest

from aisle.jobs.job import (
    Changed,
    Close,
    Context,
    Event,
    Opened,
    PinConfirmed,
    Query,
    RawInput,
    Request,
    Requested,
    Rows,
    Turn,
)
from aisle.jobs.shell.pin import PinJob, PinState
from aisle.jobs.view import msg
from aisle.scan.grammar_and_meaning_types import Back, Choice

CONTEXT = Context(store="0001", user="U6", person_name="Fred", now="2026-11-20T10:00:00Z")
YES = Choice(1)


class Hand:
    """Somebody at the page."""

    def __init__(self, said: Event | None = YES, *, may_wait: bool = True, **row: Any) -> None:
        self.job = PinJob()
        self.state = PinState()
        self.effects: list[Any] = []
        self.row = {"wanted": True, "asked": True, "there": False, "waiting": 0, **row}
        self.feed(Opened({"said": said, "may_wait": may_wait}))
        self.feed(Rows("user_token", (self.row,), 1))

    def feed(self, event: Event) -> str:
        turn: Turn[PinState] = self.job.handle(self.state, event, CONTEXT)
        self.state, self.effects = turn.state, list(turn.effects)
        assert self.job.view(self.state).name == self.job.step_name(self.state) in self.job.steps
        assert self.job.is_secret_text(self.state, "2468")
        return turn.verdict.text.id if turn.verdict else ""

    def types(self, text: str, pace_ms: int = 100) -> str:
        return self.feed(RawInput(text, "cr", 100, pace_ms=pace_ms))

    def asked(self) -> None:
        self.types("2468")
        assert self.effects == [Request("sign-in", {}, 30.0, secret="2468")]
        self.feed(Requested("a1"))
        assert self.feed(Changed("outbox", "")) == ""
        assert self.effects == [Query("request_state", "request_state", {"request_id": "a1"}, is_live=True)]

    def answered(self, **answer: Any) -> str:
        return self.feed(Rows("request_state", ({"state": "answered", "answer": answer},), 1))


def test_the_right_one_hands_on_what_was_held_back() -> None:
    hand = Hand()
    hand.asked()
    assert hand.answered(how="done", until=99.0) == ""
    proved, close = hand.effects
    assert proved == PinConfirmed(99.0)
    assert (close.event_for_below, close.verdict.text.id) == (YES, "pin.done")


@pytest.mark.parametrize(("how", "told"), [("pin", "pin.wrong"), ("refused", "pin.refused")])
def test_any_other_is_asked_for_again(how: str, told: str) -> None:
    hand = Hand()
    hand.asked()
    assert hand.answered(how=how, why="No.") == told
    assert (hand.state.phase, hand.effects) == ("type", [])
    hand.asked()


def test_who_is_no_supervisor_there_does_nothing() -> None:
    hand = Hand()
    hand.asked()
    assert hand.answered(how="role", why="") == ""
    (close,) = hand.effects
    assert (close.event_for_below, close.verdict.text.id) == (None, "clearance_request.role_denied")


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"state": "answered", "answer": {"how": "not_sent", "why": "down"}}, "pin.not_reached"),
        ({"state": "expired", "answer": {}}, "pin.no_answer"),
        ({"state": "unknown", "answer": {}}, "pin.no_answer"),
    ],
)
@pytest.mark.parametrize("may_wait", [True, False])
def test_without_an_answer_it_is_said_again_or_noted(row: dict[str, Any], told: str, may_wait: bool) -> None:
    hand = Hand(may_wait=may_wait)
    hand.asked()
    assert hand.feed(Rows("request_state", (row,), 1)) == told
    assert len(hand.job.view(hand.state).choices) == 1 + may_wait
    state = hand.state
    hand.feed(RawInput(meaning=Choice(2)))
    assert hand.effects == ([Close(event_for_below=YES)] if may_wait else [])
    hand.state = state
    hand.feed(RawInput(meaning=Choice(1)))
    assert hand.state.phase == "type"


@pytest.mark.parametrize(
    ("text", "pace_ms", "told"),
    [
        ("123", 100, "pin.no_pin"),
        ("1234567890123", 100, "pin.no_pin"),
        ("12a4", 100, "pin.no_pin"),
        ("", 0, "pin.no_pin"),
        ("96385074", 0, "pin.scan_not_accepted"),
        ("2468", 49, "pin.scan_not_accepted"),
        ("]E40000096385074", 100, "pin.scan_not_accepted"),
    ],
)
def test_what_is_no_pin_or_was_not_typed_is_no_try(text: str, pace_ms: int, told: str) -> None:
    hand = Hand()
    assert hand.types(text, pace_ms) == told
    assert hand.effects == []


def test_leaving_drops_held_entry_and_second_try_waits() -> None:
    hand = Hand()
    hand.asked()
    assert hand.types("2468") == "clearance_request.prompt_wait"
    assert hand.effects == []
    hand.feed(Back())
    (close,) = hand.effects
    assert (close.event_for_below, close.verdict.text.id) == (None, "session.dropped")


@pytest.mark.parametrize(("how", "closes"), [("done", True), ("role", True), ("pin", False), ("refused", False)])
def test_scans_during_the_wait_are_told_with_the_answer(how: str, closes: bool) -> None:
    hand = Hand()
    hand.asked()
    assert hand.types("130012", 5) == hand.types("2468") == "clearance_request.prompt_wait"
    turn = hand.job.handle(
        hand.state,
        Rows("request_state", ({"state": "answered", "answer": {"how": how, "until": 99.0}},), 1),
        CONTEXT,
    )
    told = (
        [each.not_done for each in turn.effects if isinstance(each, Close)]
        if closes
        else [turn.verdict and turn.verdict.detail]
    )
    assert told == [msg("pin.not_taken", count=1)]


@pytest.mark.parametrize(("waiting", "stays"), [(0, False), (2, True)])
def test_who_opens_it_by_himself_is_told_where_nothing_needs_it(waiting: int, stays: bool) -> None:
    hand = Hand(None, wanted=False, waiting=waiting)
    assert [type(effect) for effect in hand.effects] == ([] if stays else [Close])
    assert hand.state.waiting_count == waiting
