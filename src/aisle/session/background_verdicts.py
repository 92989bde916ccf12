"""Verdicts that no input caused: settings changed, courier state, a PIN is needed. They never hide an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aisle.jobs.view import ASK, WRONG, Verdict, msg

if TYPE_CHECKING:
    from aisle.session.session_base import SessionBase

STANDS_S = 10.0
"""Seconds for which an answer stands alone: so long whoever scanned may still be about to look at it."""


def is_busy(session: SessionBase) -> bool:
    """Whether word has to wait: for somebody to do something about what is wrong or asked, or until an answer has been
    there for a while."""
    work = _last_answer(session)
    if work is None:
        return False
    return work.kind in (WRONG, ASK) or abs(session._batch.at - session._answered_at) < STANDS_S


def show_notification(session: SessionBase, verdict: Verdict) -> None:
    """Tells it, before what was answered where there is room for both."""
    work = _last_answer(session)
    shown = verdict
    if work is not None:
        shown = verdict._replace(text=msg("session.join", more=verdict.text, what=work.text))
    session._notification = (work, shown)
    session._show_verdict(shown)


def _last_answer(session: SessionBase) -> Verdict | None:
    """What an input was answered with, as long as it stands."""
    work, shown = session._notification
    return work if session._verdict is shown else session._verdict
