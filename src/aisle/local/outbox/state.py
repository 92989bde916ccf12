"""What may become of an operation: one table, which is the documentation too."""

from __future__ import annotations

QUEUED = "queued"
"""Durable on this host; has not been sent, or may be sent again."""
SENDING = "sending"
"""Its bytes may have left. After a crash it is found here."""
DONE = "done"
"""The service confirmed it."""
REJECTED = "rejected"
"""The service refused it; nothing was changed there. A person has to see it."""
IN_DOUBT = "in_doubt"
"""It was sent and nobody knows yet whether it arrived."""
NEEDS_PERSON = "needs_person"
"""The machine cannot find out; a person decides, with the evidence."""
CLOSED = "closed"
"""Settled by a person, or replaced by a merged operation."""

STATES = (QUEUED, SENDING, DONE, REJECTED, IN_DOUBT, NEEDS_PERSON, CLOSED)

SEND = "send"
MERGE = "merge"
SPLIT = "split"
CONFIRM = "confirm"
REJECT = "reject"
DOUBT = "doubt"
RETRY = "retry"
ASK = "ask"
CLOSE = "close"
REPLAY = "replay"
DENY = "deny"
LOSE = "lose"

TABLE: dict[tuple[str, str], str] = {
    (QUEUED, SEND): SENDING,
    (QUEUED, MERGE): CLOSED,  # a newer operation carries its content on
    (QUEUED, SPLIT): CLOSED,  # each of its items goes as an operation of its own
    (QUEUED, REJECT): REJECTED,  # it cannot even be encoded
    (QUEUED, ASK): NEEDS_PERSON,  # tried for too long
    (QUEUED, CLOSE): CLOSED,  # it waits for the PIN of somebody who will not give it
    (SENDING, CONFIRM): DONE,
    (SENDING, REJECT): REJECTED,
    (SENDING, RETRY): QUEUED,  # it surely did not leave, or the service knows its key
    (SENDING, DOUBT): IN_DOUBT,
    (IN_DOUBT, CONFIRM): DONE,  # read back and found
    (IN_DOUBT, RETRY): QUEUED,  # settled and absent, or the service knows its key
    (IN_DOUBT, ASK): NEEDS_PERSON,
    (IN_DOUBT, CLOSE): CLOSED,  # somebody who stands there knows better
    (NEEDS_PERSON, CONFIRM): DONE,  # found late
    (NEEDS_PERSON, RETRY): QUEUED,  # the person says: send it again
    (NEEDS_PERSON, CLOSE): CLOSED,
    (REJECTED, CLOSE): CLOSED,
    (DONE, DENY): IN_DOUBT,  # read back, and nothing of it is there
    (DONE, LOSE): IN_DOUBT,  # the same of a service that keeps no keys: it is looked for
    (DONE, REPLAY): QUEUED,  # the service was put back from an older copy; what it still has, its key says
}

UNFINISHED = (QUEUED, SENDING, IN_DOUBT, NEEDS_PERSON)
"""They hold their lanes: nothing younger in one of them may go."""


class IllegalTransition(Exception):
    """An event that a state does not know: a mistake in the program, never a matter for a person."""


def after(state: str, event: str) -> str:
    """The state that follows. Raises IllegalTransition."""
    try:
        return TABLE[state, event]
    except KeyError:
        raise IllegalTransition(f"{event} cannot happen to an operation that is {state}") from None
