"""The PIN of whoever is at a terminal: what this session knows of it, and what the store's files say."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from aisle.jobs.job import Event, Start, SwitchStore
from aisle.jobs.view import ASK, ListView, Verdict, msg
from aisle.late import LazyModule
from aisle.scan.inputs import Line
from aisle.scan.meaning import Meaning, Text, UnknownCode
from aisle.session import background_verdicts
from aisle.session.job_stack import JobResult, StackedJob
from aisle.session.query_answers import raw_input

if TYPE_CHECKING:
    from aisle.jobs.shell import pin
    from aisle.session.session_base import SessionBase
else:
    pin = LazyModule("aisle.jobs.shell.pin")

PIN_JOB = "pin"
"""The page of the PIN (`aisle.jobs.shell.pin`)."""
CONNECTED_STATES = ("live", "partial", "syncing")
REPEAT_S = 60.0
"""Seconds after which it is told again that something waits for a PIN: a scan may have hidden it."""

REPEATED_PIN_S = 10.0
"""So long after a PIN was right it may be typed once more, by whoever did not see the page go."""


def require_pin(session: SessionBase, event: Event, feed: Callable[[], JobResult]) -> JobResult:
    """What comes of an input; or the page of the PIN, where that has to be said first."""
    stack = session._stack
    before = list(stack.jobs)
    outcome = feed()
    writes = any(write.needs_supervisor for note in outcome.events for write in note.writes)
    remarks = [remark for note in outcome.events for remark in note.local_notes if remark.needs_supervisor]
    asks = any(ask.needs_supervisor for _, ask in outcome.requests)
    moves = any(isinstance(order, SwitchStore) and order.needs_supervisor for order in outcome.session_effects)
    if not (writes or remarks or asks or moves):
        return outcome
    row = session._user_token_state()
    wanted = row["wanted"] or (asks and row["asked"])
    there = session.has_user_token
    if not wanted or (there and session._pin_state.valid_until > session._batch.at):
        return outcome
    is_up = session._notifications.link().state in CONNECTED_STATES
    waits = writes and not (asks or moves) and all(remark.mirrors_write for remark in remarks)
    if before[-1].job.name != PIN_JOB and (is_up or not waits):
        stack.jobs[:] = before
        return stack.open(Start(PIN_JOB, {"said": event, "may_wait": waits}), session._context())
    if there or not (writes and outcome.verdict):
        return outcome
    told = outcome.verdict._replace(text=msg("pin.saved", said=outcome.verdict.text))
    return outcome._replace(verdict=told)


def is_repeated_pin(session: SessionBase, text: str, event: Event) -> bool:
    """Whether that may be a PIN which was right a moment ago: digits that mean nothing to the page that came."""
    late = 0 <= session._batch.at - session._pin_state.confirmed_at < REPEATED_PIN_S
    if not late or not isinstance(event, UnknownCode | Text) or not pin.is_pin_shaped(text):
        return False
    return not _is_number_in_list(session._stack.top, text)


def is_misplaced_pin(session: SessionBase, line: Line, meaning: Meaning) -> bool:
    """Whether whoever has a PIN may have typed it where nobody asks for it: digits, key by key, that mean nothing to a
    supervisor's page, or to any page while something waits for it. They are nobody's business: kept nowhere."""
    top = session._stack.top
    if (
        not isinstance(meaning, UnknownCode | Text)
        or not pin.is_pin_shaped(line.text)
        or not pin.is_typed(raw_input(line, meaning))
    ):
        return False
    if _is_number_in_list(top, line.text) or (isinstance(meaning, Text) and top.job.accepts(top.state).text):
        return False
    row = session._user_token_state()
    return bool(row["waiting"] or (row["wanted"] and not session.has_user_token and not top.job.journalled))


def is_early_pin(session: SessionBase, line: Line, meaning: Meaning) -> bool:
    """Whether whoever has not said who he is may have typed his PIN already: digits, key by key, that are nobody's name
    or badge, where the service knows PINs. They are kept nowhere."""
    if session._user.user or not isinstance(meaning, UnknownCode | Text) or not session._user_token_state()["asked"]:
        return False
    if not pin.is_pin_shaped(line.text) or not pin.is_typed(raw_input(line, meaning)):
        return False
    typed = line.text.strip()
    people, _ = session._store.reader.query("people", {"search": typed})
    return all(typed not in (row["user"], row["badge"], row["name"]) for row in people)


def _is_number_in_list(top_job: StackedJob, text: str) -> bool:
    """Whether the list that follows what is typed has a row of just that number: a store is called by its own."""
    shown = top_job.job.view(top_job.state) if top_job.job.accepts(top_job.state).follows_typing else None
    return isinstance(shown, ListView) and any(row.key == text.strip() for row in shown.rows)


def remind_of_pin(session: SessionBase) -> None:
    """Says that something waits for the PIN of whoever is signed in, once it can be judged, and again every minute: not
    while something wrong or asked stands there, which may come to be settled by a number."""
    if not session._user.user or session._stack.top.job.name == PIN_JOB:
        return
    waiting = session._user_token_state()["waiting"]
    if not waiting or session.has_user_token or session._notifications.link().state not in CONNECTED_STATES:
        session._pin_state = session._pin_state._replace(reminded_at=0.0)
        return
    is_due = abs(session._batch.at - session._pin_state.reminded_at) >= REPEAT_S
    if is_due and not background_verdicts.is_busy(session):
        session._pin_state = session._pin_state._replace(reminded_at=session._batch.at)
        background_verdicts.show_notification(session, Verdict(ASK, msg("pin.waits", count=waiting)))
