"""What only a supervisor does is asked for his PIN before it happens: in one place, whatever the page.

Jobs say which of their effects are a supervisor's (`supervises`). An input that would come to one is tried on the open
jobs, which purity allows; while the PIN is missing they are put back as they were, and the page of the PIN opens and
holds the input back. Without the service nobody can judge a PIN: then what is to be sent is noted, goes with the
person's token alone, and waits for it, and a remark that mirrors it shows that. What is done at once, here or there, is
not done without one; nor is what comes with it in the same input.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from aisle.jobs.base import Event, Start, WorkIn
from aisle.jobs.view import ASK, ListWindow, Verdict, msg
from aisle.late import Late
from aisle.local.session import by_itself
from aisle.local.session.hearing import heard
from aisle.local.session.stack import Level, Outcome
from aisle.scan.inputs import Line
from aisle.scan.meaning import Said, Text, Unknown

if TYPE_CHECKING:
    from aisle.jobs import pin
    from aisle.local.session.desk import Desk
else:
    pin = Late("aisle.jobs.pin")

NAME = "pin"
"""The page of the PIN (`aisle.jobs.pin`)."""
UP = ("live", "partial", "syncing")
TELL_AGAIN = 60.0
"""Seconds after which it is told again that something waits for a PIN: a scan may have hidden it."""

TWICE_S = 10.0
"""So long after a PIN was right it may be typed once more, by whoever did not see the page go."""


def minded(desk: Desk, said: Event, feed: Callable[[], Outcome]) -> Outcome:
    """What comes of an input; or the page of the PIN, where that has to be said first."""
    stack = desk._stack
    before = list(stack.levels)
    outcome = feed()
    writes = any(write.supervises for note in outcome.notes for write in note.writes)
    remarks = [remark for note in outcome.notes for remark in note.remarks if remark.supervises]
    asks = any(ask.supervises for _, ask in outcome.asks)
    moves = any(isinstance(order, WorkIn) and order.supervises for order in outcome.orders)
    if not (writes or remarks or asks or moves):
        return outcome
    row = desk._pass()
    wanted = row["wanted"] or (asks and row["asked"])
    there = desk.has_pass
    if not wanted or (there and desk._pin.until > desk._queue.at):
        return outcome
    is_up = desk._lookout.link().state in UP
    waits = writes and not (asks or moves) and all(remark.mirrors for remark in remarks)
    if before[-1].job.name != NAME and (is_up or not waits):
        stack.levels[:] = before
        return stack.open(Start(NAME, {"said": said, "may_wait": waits}), desk._context())
    if there or not (writes and outcome.verdict):
        return outcome
    told = outcome.verdict._replace(text=msg("pin.noted", said=outcome.verdict.text))
    return outcome._replace(verdict=told)


def is_said_twice(desk: Desk, text: str, said: Event) -> bool:
    """Whether that may be a PIN which was right a moment ago: digits that mean nothing to the page that came."""
    late = 0 <= desk._queue.at - desk._pin.said < TWICE_S
    if not late or not isinstance(said, Unknown | Text) or not pin.is_like_one(text):
        return False
    return not _is_row(desk._stack.top, text)


def is_out_of_place(desk: Desk, line: Line, said: Said) -> bool:
    """Whether whoever has a PIN may have typed it where nobody asks for it: digits, key by key, that mean nothing to a
    supervisor's page, or to any page while something waits for it. They are nobody's business: kept nowhere."""
    top = desk._stack.top
    if not isinstance(said, Unknown | Text) or not pin.is_like_one(line.text) or not pin.is_typed(heard(line, said)):
        return False
    if _is_row(top, line.text) or (isinstance(said, Text) and top.job.open(top.state).text):
        return False
    row = desk._pass()
    return bool(row["waiting"] or (row["wanted"] and not desk.has_pass and not top.job.journalled))


def is_early(desk: Desk, line: Line, said: Said) -> bool:
    """Whether whoever has not said who he is may have typed his PIN already: digits, key by key, that are nobody's name
    or badge, where the service knows PINs. They are kept nowhere."""
    if desk._who.user or not isinstance(said, Unknown | Text) or not desk._pass()["asked"]:
        return False
    if not pin.is_like_one(line.text) or not pin.is_typed(heard(line, said)):
        return False
    typed = line.text.strip()
    people, _ = desk._rooms.reads.query("people", {"search": typed})
    return all(typed not in (row["user"], row["badge"], row["name"]) for row in people)


def _is_row(top: Level, text: str) -> bool:
    """Whether the list that follows what is typed has a row of just that number: a store is called by its own."""
    shown = top.job.view(top.state) if top.job.open(top.state).finds else None
    return isinstance(shown, ListWindow) and any(row.key == text.strip() for row in shown.rows)


def remind(desk: Desk) -> None:
    """Says that something waits for the PIN of whoever is signed in, once it can be judged, and again every minute: not
    while something wrong or asked stands there, which may come to be settled by a number."""
    if not desk._who.user or desk._stack.top.job.name == NAME:
        return
    waiting = desk._pass()["waiting"]
    if not waiting or desk.has_pass or desk._lookout.link().state not in UP:
        desk._pin = desk._pin._replace(reminded=0.0)
    elif abs(desk._queue.at - desk._pin.reminded) >= TELL_AGAIN and not by_itself.is_busy(desk):
        desk._pin = desk._pin._replace(reminded=desk._queue.at)
        by_itself.say(desk, Verdict(ASK, msg("pin.waits", count=waiting)))
