"""States of an operation, and their transitions in one table; `operation_table` writes them."""

from __future__ import annotations

QUEUED = "queued"
"""Stored on this host; not sent, or may be sent again."""
SENDING = "sending"
"""Its bytes may have left. After a crash it is found in this state."""
CONFIRMED = "done"
"""The service confirmed it."""
REFUSED = "rejected"
"""The service refused it and changed nothing. A person has to see it."""
IN_DOUBT = "in_doubt"
"""It was sent, and its arrival is unknown."""
NEEDS_PERSON = "needs_person"
"""Reconciliation cannot decide; a person does, with the evidence."""
CLOSED = "closed"
"""Resolved by a person, or replaced by a merged operation."""

STATES = (QUEUED, SENDING, CONFIRMED, REFUSED, IN_DOUBT, NEEDS_PERSON, CLOSED)

SEND = "send"
MERGE = "merge"
SPLIT = "split"
CONFIRM = "confirm"
REFUSE = "reject"
LOSE_ANSWER = "doubt"
RETRY = "retry"
ASK_PERSON = "ask"
CLOSE = "close"
REPLAY_AFTER_RESTORE = "replay"
FIND_ABSENT = "deny"
LOSE_BY_RESTORE = "lose"

TRANSITIONS: dict[tuple[str, str], str] = {
    (QUEUED, SEND): SENDING,
    (QUEUED, MERGE): CLOSED,  # a newer operation carries its content
    (QUEUED, SPLIT): CLOSED,  # each of its items becomes an operation
    (QUEUED, REFUSE): REFUSED,  # it cannot even be encoded
    (QUEUED, ASK_PERSON): NEEDS_PERSON,  # tried for too long
    (QUEUED, CLOSE): CLOSED,  # it waits for a PIN that nobody will enter
    (SENDING, CONFIRM): CONFIRMED,
    (SENDING, REFUSE): REFUSED,
    (SENDING, RETRY): QUEUED,  # it certainly did not leave, or the service knows its key
    (SENDING, LOSE_ANSWER): IN_DOUBT,
    (IN_DOUBT, CONFIRM): CONFIRMED,  # read back and found
    (IN_DOUBT, RETRY): QUEUED,  # absent after the settling time, or the service knows its key
    (IN_DOUBT, ASK_PERSON): NEEDS_PERSON,
    (IN_DOUBT, CLOSE): CLOSED,  # a person on the floor knows better
    (NEEDS_PERSON, CONFIRM): CONFIRMED,  # found late
    (NEEDS_PERSON, RETRY): QUEUED,  # a person had it sent again, or the service announces keys again
    (NEEDS_PERSON, CLOSE): CLOSED,
    (REFUSED, CLOSE): CLOSED,
    (CONFIRMED, FIND_ABSENT): IN_DOUBT,  # read back and not found
    (CONFIRMED, LOSE_BY_RESTORE): IN_DOUBT,  # restored service that keeps no keys: it is looked up
    (CONFIRMED, REPLAY_AFTER_RESTORE): QUEUED,  # restored service: its key tells if it still has the operation
}

UNFINISHED = (QUEUED, SENDING, IN_DOUBT, NEEDS_PERSON)
"""States that block their lanes: no younger operation in one of them may be sent."""


class IllegalTransition(Exception):
    """An event that is not allowed in a state: a defect of the program."""


def next_state(state: str, event: str) -> str:
    """Return the state after an event. Raise IllegalTransition if the table has none."""
    try:
        return TRANSITIONS[state, event]
    except KeyError:
        raise IllegalTransition(f"{event} cannot happen to an operation that is {state}") from None
