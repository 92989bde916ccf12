"""What only a supervisor does is asked for his PIN before it happens: in one place, whatever the page.

Jobs say which of their effects are a supervisor's (`supervises`). An input that would come to one is tried on the open
jobs, which purity allows; while the PIN is missing they are put back as they were, and the page of the PIN opens and
holds the input back. Without the service nobody can judge a PIN: then what is to be sent is noted, goes with the
person's token alone, and waits for it, and a remark that mirrors it shows that. What is done at once, here or there, is
not done without one; nor is what comes with it in the same input.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from aisle.jobs.base import Event, Start
from aisle.jobs.view import ASK, Verdict, msg
from aisle.late import Late
from aisle.local.outbox.operation import principal_of
from aisle.local.session.hearing import heard
from aisle.local.session.stack import Outcome
from aisle.scan.inputs import Line
from aisle.scan.meaning import Said, Text, Unknown

if TYPE_CHECKING:
    from aisle.jobs import pin
    from aisle.local.session.session import Session
else:
    pin = Late("aisle.jobs.pin")

NAME = "pin"
"""The page of the PIN (`aisle.jobs.pin`)."""
UP = ("live", "partial", "syncing")
TELL_AGAIN = 60.0
"""Seconds after which it is told again that something waits for a PIN: a scan may have hidden it."""

TWICE_S = 10.0
"""So long after a PIN was right it may be typed once more, by whoever did not see the page go."""


class Pin(NamedTuple):
    """How it stands with the PIN of whoever stands here; moments in seconds since 1970."""

    until: float = 0.0
    """Until when it is not asked for again."""
    said: float = 0.0
    """When it was said last, and was right."""
    reminded: float = 0.0
    """When it was told last that something waits for it."""


NO_PIN = Pin()


def minded(session: Session, said: Event, feed: Callable[[], Outcome]) -> Outcome:
    """What comes of an input; or the page of the PIN, where that has to be said first."""
    stack = session._stack
    before = list(stack.levels)
    outcome = feed()
    writes = any(write.supervises for note in outcome.notes for write in note.writes)
    remarks = [remark for note in outcome.notes for remark in note.remarks if remark.supervises]
    asks = any(ask.supervises for _, ask in outcome.asks)
    if not (writes or remarks or asks):
        return outcome
    row = pass_of(session)
    wanted = row["wanted"] or (asks and row["asked"])
    there = session.has_pass
    if not wanted or (there and session._pin.until > session._at):
        return outcome
    is_up = session._lookout.link().state in UP
    waits = writes and not asks and all(remark.mirrors for remark in remarks)
    if before[-1].job.name != NAME and (is_up or not waits):
        stack.levels[:] = before
        return stack.open(Start(NAME, {"said": said, "may_wait": waits}), session._context())
    if there or not (writes and outcome.verdict):
        return outcome
    told = outcome.verdict._replace(text=msg("pin.noted", said=outcome.verdict.text))
    return outcome._replace(verdict=told)


def is_said_twice(session: Session, text: str, said: Event) -> bool:
    """Whether that may be a PIN which was right a moment ago: digits that mean nothing to the page that came."""
    late = 0 <= session._at - session._pin.said < TWICE_S
    return late and isinstance(said, Unknown | Text) and pin.is_like_one(text)


def is_out_of_place(session: Session, line: Line, said: Said) -> bool:
    """Whether whoever has a PIN may have typed it where nobody asks for it: digits, key by key, that mean nothing to a
    supervisor's page, or to any page while something waits for it. They are nobody's business: kept nowhere."""
    top = session._stack.top
    if not isinstance(said, Unknown | Text) or not pin.is_like_one(line.text) or not pin.is_typed(heard(line, said)):
        return False
    if isinstance(said, Text) and top.job.open(top.state).text:
        return False
    row = pass_of(session)
    return bool(row["waiting"] or (row["wanted"] and not session.has_pass and not top.job.journalled))


def pass_of(session: Session) -> Mapping[str, Any]:
    """How it stands with the PIN of whoever is signed in."""
    (row,), _ = session._rooms.reads.query("pass", {"user": session._who.user, "now": session._context().now})
    return row


def own_principal(session: Session) -> str:
    """Whose token a supervisor's work goes with; empty for the store's."""
    return principal_of(session._who.user) if pass_of(session)["wanted"] else ""


def remind(session: Session) -> None:
    """Says that something waits for the PIN of whoever is signed in, once it can be judged, and again every minute."""
    if not session._who.user or session._stack.top.job.name == NAME:
        return
    waiting = pass_of(session)["waiting"]
    if not waiting or session.has_pass or session._lookout.link().state not in UP:
        session._pin = session._pin._replace(reminded=0.0)
    elif abs(session._at - session._pin.reminded) >= TELL_AGAIN:
        session._pin = session._pin._replace(reminded=session._at)
        session._tell(Verdict(ASK, msg("pin.waits", count=waiting)))
