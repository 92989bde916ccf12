"""Notices for operators, also on the link and a full disk: the newest in memory, each passed on once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from aisle.host.database import is_disk_full
from aisle.safe_text import clean
from aisle.stored_messages import NO_MESSAGE, StoredMessage
from aisle.text_cells import ELLIPSIS

MAX_NOTICES = 100
MAX_PER_MINUTE, MAX_LENGTH = 100, 500
"""Notices of one minute, and characters of one: a service may name endless failures with endless texts."""


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
        self._minute_began = self._count = 0.0
        """Time of the first notice of the present minute, and the number of notices since."""
        self._on_notice = on_notice

    def add(self, text: str, reason: StoredMessage = NO_MESSAGE) -> None:
        """Add a notice, unless it repeats the last one or the minute has too many."""
        whole = clean(text)
        shown = whole if len(whole) <= MAX_LENGTH else whole[: MAX_LENGTH - 1] + ELLIPSIS
        if self.recent and self.recent[-1][1:] == (shown, reason):
            return
        now = self._clock()
        if not 0 <= now - self._minute_began < 60:
            self._minute_began, self._count = now, 0
        self._count += 1
        if self._count <= MAX_PER_MINUTE:
            self._keep(Notice(now, shown, reason))
        elif self._count == MAX_PER_MINUTE + 1:
            self._keep(Notice(now, "Further notices of this minute are left out."))

    def _keep(self, notice: Notice) -> None:
        self.recent.append(notice)
        if self._on_notice:
            self._on_notice(notice)


QUIET_S = 60.0
"""Seconds without a failure after which room counts: the rest of a full disk still takes small writes."""


class DiskLog:
    """Log of the errors that a full disk causes. `has_room` tells whether the disk takes more."""

    def __init__(
        self, operator_notices: OperatorNotices, clock: Callable[[], float], has_room: Callable[[], bool]
    ) -> None:
        self._operator_notices = operator_notices
        self._clock = clock
        self._has_room = has_room
        self._full_since: float | None = None
        self._failed_at = 0.0

    def record(self, error: Exception) -> bool:
        """Return whether the disk is full and the error comes of it. The first one is logged."""
        if not is_disk_full(error):
            return False
        self._failed_at = self._clock()
        if self._full_since is None:
            self._full_since = self._failed_at
            self._operator_notices.add("disk full")
        return True

    def check(self) -> None:
        """Log that there is room again."""
        if self._full_since is None or self._clock() - self._failed_at < QUIET_S or not self._has_room():
            return
        self._operator_notices.add(f"disk regained after {self._clock() - self._full_since:.0f} s")
        self._full_since = None
