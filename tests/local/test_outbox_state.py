"""The table of an operation's states is whole: no dead ends, no way round."""

import itertools

import pytest

from aisle.local.outbox.state import (
    CLOSED,
    DENY,
    DONE,
    LOSE,
    QUEUED,
    REJECTED,
    REPLAY,
    SEND,
    SENDING,
    STATES,
    TABLE,
    UNFINISHED,
    IllegalTransition,
    after,
)

EVENTS = sorted({event for _, event in TABLE})
FINISHED = (DONE, REJECTED, CLOSED)


def reachable(start: str) -> set[str]:
    found, new = {start}, {start}
    while new:
        new = {to for (state, _), to in TABLE.items() if state in new} - found
        found |= new
    return found


@pytest.mark.parametrize(("state", "event"), list(itertools.product(STATES, EVENTS)))
def test_what_is_not_in_the_table_cannot_happen(state: str, event: str) -> None:
    if (state, event) in TABLE:
        assert after(state, event) in STATES
    else:
        with pytest.raises(IllegalTransition, match=f"{event} cannot happen to an operation that is {state}"):
            after(state, event)


def test_every_state_is_reached_and_every_unfinished_one_can_be_done_or_closed() -> None:
    assert reachable(QUEUED) == set(STATES)
    for state in (*UNFINISHED, REJECTED):
        assert reachable(state) & {DONE, CLOSED}


def test_nothing_comes_back_from_the_end() -> None:
    assert [event for state, event in TABLE if state == DONE] == [DENY, LOSE, REPLAY]
    assert reachable(CLOSED) == {CLOSED}
    assert set(FINISHED) | set(UNFINISHED) == set(STATES)
    assert not set(FINISHED) & set(UNFINISHED)


def test_bytes_leave_only_from_sending() -> None:
    assert [to for (_, event), to in TABLE.items() if event == SEND] == [SENDING]
    assert {state for (state, _), to in TABLE.items() if to == SENDING} == {QUEUED}
