"""Which lines belong to one scan: a code of several lines arrives as several lines, each with its own terminator.

Pure: no clock, no terminal. Lines that begin within `TOGETHER_S` of the end of a line at scanner pace are one scan.
This is the only place that decides it; a session decides what such a scan means (aisle.local.session.held_lines).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from aisle.scan.inputs import APART_S, BY_HAND_S, TOGETHER_S, Decoded, Escape, Key, Line, Quiet, Typed

_CLOCK_S: Final = 0.001
"""A wait may end so much too early."""
_FEW: Final = 3
"""Characters of a line whose longest pause decides; a longer line has a pace of its own."""
_REST: Final = 1.5
_REST_S: Final = 0.002
"""After a pause of this many times the longest one inside a line, and so long, no next line of its scan comes."""
_HAND_REST: Final = 3.0
_HAND_REST_S: Final = 0.005
"""The same for a line with a part that was typed: its pace stands for its longest pause."""


class ScanLines:
    """Numbers the lines of each scan, and says when a scan has no further line. One for each terminal."""

    def __init__(self) -> None:
        self._last = 0
        self._scan = 0
        """The number of the scan that may go on; 0 for none."""
        self._ended = 0.0
        """When its last line ended."""
        self._heard = 0.0
        self._rest = 0.0
        self._is_rested = False
        self._is_open = False
        """Whether its next line has begun, and so is a part of it."""
        self._is_enter = False
        """Whether it has no line that is not empty: so far it may be the Enter of a person."""

    def seconds_left(self, now: float) -> float | None:
        """Seconds of silence from `now` on after which `tick` has something to say; None where it never has."""
        if not self._scan or (self._is_open and self._is_rested):
            return None
        if self._is_open:
            return max(self._heard + APART_S - now, _CLOCK_S)
        return max(self._ended + (TOGETHER_S if self._is_rested else self._rest) - now, _CLOCK_S)

    def heard(self, items: Sequence[Decoded], t: float) -> list[Decoded]:
        """The inputs of a read at `t`, with the scan that each belongs to."""
        if self._scan and not items:
            self._ended = t  # a second terminator, mostly
        out: list[Decoded] = []
        for item in items:
            begins = item.first if isinstance(item, Line) else t
            is_late = not self._is_open and begins - self._ended > TOGETHER_S + _CLOCK_S
            if self._scan and (is_late or (self._is_enter and _is_pressed(item) and begins - self._ended >= BY_HAND_S)):
                out.append(self._over())
            out.append(self._numbered(item, t))
        return out

    def tick(self, t: float) -> list[Decoded]:
        """Says that nothing was read until `t`: first that a code by itself is whole, then that the scan is over."""
        if not self._scan:
            return []
        waited = t - (self._heard if self._is_open else self._ended) + _CLOCK_S
        if waited >= TOGETHER_S and not self._is_open:
            return [self._over()]
        if self._is_rested or waited < (APART_S if self._is_open else self._rest):
            return []
        self._is_rested = True
        return [Quiet(self._scan, waited)]

    def end(self) -> list[Decoded]:
        """Says that nothing is ever read again."""
        return [self._over()] if self._scan else []

    def _over(self) -> Quiet:
        scan, self._scan, self._is_open, self._is_enter = self._scan, 0, False, False
        return Quiet(scan, TOGETHER_S, True)

    def _numbered(self, item: Decoded, t: float) -> Decoded:
        match item:
            case Line():
                if not self._scan and not _is_scanned(item):
                    return item
                rest, self._is_enter = _rest_of(item), False
                return item._replace(scan=self._goes_on(item.last, rest), rest=rest)
            case Key(name) if self._scan or name == "enter":
                self._is_enter = self._is_enter or not self._scan
                return item._replace(scan=self._goes_on(t))
            case Escape() if self._scan:
                return item._replace(scan=self._goes_on(t))
            case Typed(text) if self._scan:
                self._is_rested = self._is_rested and self._is_open
                self._is_open = bool(text)
                self._heard = t
        return item

    def _goes_on(self, ended: float, rest: float = TOGETHER_S) -> int:
        """Its scan may have a further line; the number of that scan."""
        if not self._scan:
            self._last += 1
            self._scan = self._last
        self._ended, self._rest = ended, rest
        self._is_open, self._is_rested = False, rest <= 0
        return self._scan


def _is_scanned(line: Line) -> bool:
    """Whether a line was ended at scanner pace: a person presses keys further apart. Of a short line, which has hardly
    a pace, a slow link may have parted the characters: it is held rather once too often."""
    return line.pace < BY_HAND_S and (line.gap < TOGETHER_S or len(line.text) > _FEW)


def _is_pressed(item: Decoded) -> bool:
    """Whether that is another key than Enter."""
    return isinstance(item, Escape) or (isinstance(item, Key) and item.name != "enter")


def _rest_of(line: Line) -> float:
    """How long after a code no next line of its scan can come: none at all where all of it came in one read."""
    if line.gap <= 0:
        return 0.0
    if line.gap < BY_HAND_S:
        return min(TOGETHER_S, _REST * line.gap + _REST_S)
    return min(TOGETHER_S, _HAND_REST * line.pace + _HAND_REST_S)
