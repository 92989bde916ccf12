"""The transition table of operations is complete, without dead ends."""

import itertools

import pytest

from aisle.outbox.operation_state import (
    CLOSED,
    CONFIRMED,
    FIND_ABSENT,
    LOSE_BY_RESTORE,
    QUEUED,
    REFUSED,
    REPLAY_AFTER_RESTORE,
    SEND,
    SENDING,
    STATES,
    TRANSITIONS,
    UNFINISHED,
    IllegalTransition,
    next_state,
)

EVENTS = sorted({event for _, event in TRANSITIONS})
FINISHED = (CONFIRMED, REFUSED, CLOSED)


def reachable(start: str) -> set[str]:
    found, new = {start}, {start}
    while new:
        new = {to for (state, _), to in TRANSITIONS.items() if state in new} - found
        found |= new
    return found


@pytest.mark.parametrize(("state", "event"), list(itertools.product(STATES, EVENTS)))
def test_transitions_outside_the_table_raise(state: str, event: str) -> None:
    if (state, event) in TRANSITIONS:
        assert next_state(state, event) in STATES
    else:
        with pytest.raises(IllegalTransition, match=f"{event} cannot happen to an operation that is {state}"):
            next_state(state, event)


def test_all_states_are_reachable_and_unfinished_ones_can_end() -> None:
    assert reachable(QUEUED) == set(STATES)
    for state in (*UNFINISHED, REFUSED):
        assert reachable(state) & {CONFIRMED, CLOSED}


def test_nothing_comes_back_from_the_end() -> None:
    assert [event for state, event in TRANSITIONS if state == CONFIRMED] == [
        FIND_ABSENT,
        LOSE_BY_RESTORE,
        REPLAY_AFTER_RESTORE,
    ]
    assert reachable(CLOSED) == {CLOSED}
    assert set(FINISHED) | set(UNFINISHED) == set(STATES)
    assert not set(FINISHED) & set(UNFINISHED)


def test_bytes_leave_only_from_sending() -> None:
    assert [to for (_, event), to in TRANSITIONS.items() if event == SEND] == [SENDING]
    assert {state for (state, _), to in TRANSITIONS.items() if to == SENDING} == {QUEUED}
