"""Word that comes by itself: of the settings, the courier, a PIN that is waited for. It never takes the place of what
was just answered, nor of what is wrong or asked, which the numbers below are about.

A part of aisle.local.session.news.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aisle.jobs.view import ASK, WRONG, Verdict, msg

if TYPE_CHECKING:
    from aisle.local.session.desk import Desk

STANDS = 10.0
"""Seconds for which an answer stands alone: so long whoever scanned may still be about to look at it."""


def is_busy(desk: Desk) -> bool:
    """Whether word has to wait: for somebody to do something about what is wrong or asked, or until an answer has been
    there for a while."""
    work = _work(desk)
    if work is None:
        return False
    return work.kind in (WRONG, ASK) or abs(desk._queue.at - desk._answered) < STANDS


def say(desk: Desk, verdict: Verdict) -> None:
    """Tells it, before what was answered where there is room for both."""
    work = _work(desk)
    shown = verdict
    if work is not None:
        shown = verdict._replace(text=msg("session.word", more=verdict.text, what=work.text))
    desk._word = (work, shown)
    desk._tell(shown)


def _work(desk: Desk) -> Verdict | None:
    """What an input was answered with, as long as it stands."""
    work, shown = desk._word
    return work if desk._verdict is shown else desk._verdict
