"""Notices for operators, also on changes of the link: the newest in memory, each passed on once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Literal, NamedTuple

from aisle.client.errors import CERTIFICATE_ERROR
from aisle.courier.link_state import OFFLINE, REFUSED, LinkStatus
from aisle.outbox.reason_messages import NO_MESSAGE, StoredMessage
from aisle.safe_text import clean

MAX_NOTICES = 100


class Notice(NamedTuple):
    """One notice."""

    at: float
    """Seconds since 1970."""
    text: str
    reason: StoredMessage = NO_MESSAGE
    """Reason stored with the row it is about; it follows the text."""

    def to_line(self, translate: Callable[[str], str]) -> str:
        """Return the notice as one line; `translate` renders the stored reason."""
        return clean(f"{self.text} {translate(self.reason)}".strip()) if self.reason else self.text


class OperatorNotices:
    """Newest notices of a courier, with clean text. Each is passed once to `on_notice`."""

    def __init__(self, clock: Callable[[], float], on_notice: Callable[[Notice], None] | None = None) -> None:
        self.recent: deque[Notice] = deque(maxlen=MAX_NOTICES)
        self._clock = clock
        self._on_notice = on_notice

    def add(self, text: str, reason: StoredMessage = NO_MESSAGE) -> None:
        """Add a notice, unless it repeats the last one."""
        shown = clean(text)
        if self.recent and self.recent[-1][1:] == (shown, reason):
            return
        notice = Notice(self._clock(), shown, reason)
        self.recent.append(notice)
        if self._on_notice:
            self._on_notice(notice)


LinkProblem = Literal["", "link", "token", "certificate"]


class LinkLog:
    """Log of changes of the link: compares each status with the one before."""

    def __init__(self, operator_notices: OperatorNotices, clock: Callable[[], float]) -> None:
        self._operator_notices = operator_notices
        self._clock = clock
        self._problem: LinkProblem = ""
        self._since = 0.0

    def record(self, status: LinkStatus, cause: StoredMessage) -> None:
        """Log a change of the link and its cause. Nothing is logged before the first request."""
        if status.state == OFFLINE and status.reason == NO_MESSAGE:
            return
        lost = _problem_of(status)
        if lost == self._problem:
            return
        now = self._clock()
        if self._problem and not (self._problem != "link" and lost == "link"):
            self._operator_notices.add(f"{self._problem} regained after {now - self._since:.0f} s")
        if lost:
            self._operator_notices.add(f"{lost} lost:", cause)
        self._problem, self._since = lost, now


def _problem_of(status: LinkStatus) -> LinkProblem:
    """Return the kind of problem; empty if there is none."""
    if status.state == REFUSED:
        return "token"
    if status.state != OFFLINE:
        return ""
    return "certificate" if CERTIFICATE_ERROR in status.reason else "link"
