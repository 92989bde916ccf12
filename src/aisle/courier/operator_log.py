"""What an operator should know: kept short, written where nobody's screen is disturbed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Literal, NamedTuple

from aisle.courier.link_state import OFFLINE, REFUSED, LinkStatus
from aisle.outbox.outcome_reasons import NO_MESSAGE, StoredMessage
from aisle.text import clean

MAX_NOTICES = 100


class Notice(NamedTuple):
    """Something worth a line."""

    at: float
    """Seconds since 1970."""
    text: str
    reason: StoredMessage = NO_MESSAGE
    """What the row that it speaks of keeps; comes behind the text."""

    def to_line(self, translate: Callable[[str], str]) -> str:
        """All of it on one line; `say` makes words of what is kept."""
        return clean(f"{self.text} {translate(self.reason)}".strip()) if self.reason else self.text


class OperatorLog:
    """The youngest notices of a courier; each is shown once to `tell` as well. Their text is clean."""

    def __init__(self, clock: Callable[[], float], on_notice: Callable[[Notice], None] | None = None) -> None:
        self.recent: deque[Notice] = deque(maxlen=MAX_NOTICES)
        self._clock = clock
        self._on_notice = on_notice

    def add(self, text: str, reason: StoredMessage = NO_MESSAGE) -> None:
        """Takes a notice; the same as the last one is not said again."""
        shown = clean(text)
        if self.recent and self.recent[-1][1:] == (shown, reason):
            return
        notice = Notice(self._clock(), shown, reason)
        self.recent.append(notice)
        if self._on_notice:
            self._on_notice(notice)


LinkProblem = Literal["", "link", "token", "certificate"]

_CERTIFICATE_ERROR = "CERTIFICATE_VERIFY_FAILED"
"""What OpenSSL says of a certificate that it does not trust, or that has ended."""


class LinkLog:
    """Compares each status of the link with the one before."""

    def __init__(self, operator_log: OperatorLog, clock: Callable[[], float]) -> None:
        self._operator_log = operator_log
        self._clock = clock
        self._problem: LinkProblem = ""
        self._since = 0.0

    def record(self, status: LinkStatus, cause: StoredMessage) -> None:
        """Notes what has changed, and why; a courier that has not asked for anything yet has lost nothing."""
        if status.state == OFFLINE and status.reason == NO_MESSAGE:
            return
        lost = _problem_of(status)
        if lost == self._problem:
            return
        now = self._clock()
        if self._problem and not (self._problem != "link" and lost == "link"):
            self._operator_log.add(f"{self._problem} regained after {now - self._since:.0f} s")
        if lost:
            self._operator_log.add(f"{lost} lost:", cause)
        self._problem, self._since = lost, now


def _problem_of(status: LinkStatus) -> LinkProblem:
    """What is the matter."""
    if status.state == REFUSED:
        return "token"
    if status.state != OFFLINE:
        return ""
    return "certificate" if _CERTIFICATE_ERROR in status.reason else "link"
