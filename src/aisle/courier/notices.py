"""What an operator should know: kept short, written where nobody's screen is disturbed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from aisle.local.told import NOTHING, Told
from aisle.text import clean
from aisle.tuples import NamedTuple

KEPT = 100


class Notice(NamedTuple):
    """Something worth a line."""

    at: float
    """Seconds since 1970."""
    text: str
    why: Told = NOTHING
    """What the row that it speaks of keeps; comes behind the text."""

    def said(self, say: Callable[[str], str]) -> str:
        """All of it on one line; `say` makes words of what is kept."""
        return clean(f"{self.text} {say(self.why)}".strip()) if self.why else self.text


class Notices:
    """The youngest notices of a courier; each is shown once to `tell` as well. Their text is clean."""

    def __init__(self, clock: Callable[[], float], tell: Callable[[Notice], None] | None = None) -> None:
        self.kept: deque[Notice] = deque(maxlen=KEPT)
        self._clock = clock
        self._tell = tell

    def add(self, text: str, why: Told = NOTHING) -> None:
        """Takes a notice; the same as the last one is not said again."""
        shown = clean(text)
        if self.kept and self.kept[-1][1:] == (shown, why):
            return
        notice = Notice(self._clock(), shown, why)
        self.kept.append(notice)
        if self._tell:
            self._tell(notice)
