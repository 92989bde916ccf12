"""Notices for operators, also on changes of the link: the newest in memory, each passed on once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from aisle.outbox.stored_reasons import NO_MESSAGE, StoredMessage
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
