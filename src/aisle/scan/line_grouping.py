"""Grouping of lines into scans: a code of several lines arrives as several lines, each with its terminator. Pure.

Lines that begin within `SAME_SCAN_S` of the end of a line at scanner pace are one scan. Only this module decides that;
a session decides the meaning of such a scan (aisle.session.multi_line_scans).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from aisle.scan.inputs import (
    LONG_PAUSE_S,
    SAME_SCAN_S,
    TYPING_PAUSE_S,
    DecodedInput,
    EscapeInput,
    Key,
    Line,
    OpenLine,
    Silence,
)

_CLOCK_TOLERANCE_S: Final = 0.001
"""Seconds by which a wait may end too early."""
_SHORT_LINE: Final = 3
"""Greatest number of characters of a line whose longest pause decides; a longer line has a pace of its own."""
_PAUSE_FACTOR: Final = 1.5
_PAUSE_MARGIN_S: Final = 0.002
"""Multiple of the longest pause in a line, plus margin, after which no next line of its scan comes."""
_TYPED_PAUSE_FACTOR: Final = 3.0
_TYPED_PAUSE_MARGIN_S: Final = 0.005
"""The same for a line with a typed part; its median pause is used instead of the longest."""


class LineGrouper:
    """Grouper that numbers the lines of each scan and reports when a scan has no further line. One per terminal."""

    def __init__(self) -> None:
        self._last_number = 0
        self._open_scan = 0
        """Number of the scan that may continue; 0 for none."""
        self._line_ended_at = 0.0
        """Time at which its last line ended."""
        self._read_at = 0.0
        self._next_line_within = 0.0
        self._is_silence_reported = False
        self._has_next_line_begun = False
        """True if its next line has begun, which then belongs to it."""
        self._is_enter_only = False
        """True if all its lines are empty: it may be the Enter key of a person."""

    def seconds_left(self, now: float) -> float | None:
        """Return the seconds of silence from `now` on after which `tick` reports something; None if it never does."""
        if not self._open_scan or (self._has_next_line_begun and self._is_silence_reported):
            return None
        if self._has_next_line_begun:
            return max(self._read_at + LONG_PAUSE_S - now, _CLOCK_TOLERANCE_S)
        return max(
            self._line_ended_at + (SAME_SCAN_S if self._is_silence_reported else self._next_line_within) - now,
            _CLOCK_TOLERANCE_S,
        )

    def group(self, items: Sequence[DecodedInput], t: float) -> list[DecodedInput]:
        """Return the inputs of a read at `t`, each with its scan number."""
        if self._open_scan and not items:
            self._line_ended_at = t  # a second terminator, mostly
        out: list[DecodedInput] = []
        for item in items:
            begins = item.started_at if isinstance(item, Line) else t
            is_late = not self._has_next_line_begun and begins - self._line_ended_at > SAME_SCAN_S + _CLOCK_TOLERANCE_S
            if self._open_scan and (
                is_late
                or (self._is_enter_only and _is_other_key(item) and begins - self._line_ended_at >= TYPING_PAUSE_S)
            ):
                out.append(self._end_scan())
            out.append(self._add_scan_number(item, t))
        return out

    def tick(self, t: float) -> list[DecodedInput]:
        """Report that nothing was read until `t`: first that a single-line code is complete, later that the scan
        ended."""
        if not self._open_scan:
            return []
        waited = t - (self._read_at if self._has_next_line_begun else self._line_ended_at) + _CLOCK_TOLERANCE_S
        if waited >= SAME_SCAN_S and not self._has_next_line_begun:
            return [self._end_scan()]
        if self._is_silence_reported or waited < (
            LONG_PAUSE_S if self._has_next_line_begun else self._next_line_within
        ):
            return []
        self._is_silence_reported = True
        return [Silence(self._open_scan, waited)]

    def end(self) -> list[DecodedInput]:
        """Report that nothing will be read any more."""
        return [self._end_scan()] if self._open_scan else []

    def _end_scan(self) -> Silence:
        scan, self._open_scan, self._has_next_line_begun, self._is_enter_only = self._open_scan, 0, False, False
        return Silence(scan, SAME_SCAN_S, True)

    def _add_scan_number(self, item: DecodedInput, t: float) -> DecodedInput:
        match item:
            case Line():
                if not self._open_scan and not _is_at_scanner_pace(item):
                    return item
                rest, self._is_enter_only = _time_to_next_line(item), False
                return item._replace(scan_number=self._continue_scan(item.ended_at, rest), next_line_within=rest)
            case Key(name) if self._open_scan or name == "enter":
                self._is_enter_only = self._is_enter_only or not self._open_scan
                return item._replace(scan_number=self._continue_scan(t))
            case EscapeInput() if self._open_scan:
                return item._replace(scan_number=self._continue_scan(t))
            case OpenLine(text) if self._open_scan:
                self._is_silence_reported = self._is_silence_reported and self._has_next_line_begun
                self._has_next_line_begun = bool(text)
                self._read_at = t
        return item

    def _continue_scan(self, ended: float, next_line_within: float = SAME_SCAN_S) -> int:
        """Add a line to the open scan, or begin one; return its number."""
        if not self._open_scan:
            self._last_number += 1
            self._open_scan = self._last_number
        self._line_ended_at, self._next_line_within = ended, next_line_within
        self._has_next_line_begun, self._is_silence_reported = False, next_line_within <= 0
        return self._open_scan


def _is_at_scanner_pace(line: Line) -> bool:
    """Return whether a line came at scanner pace; a person presses keys further apart.

    A slow link may separate the characters of a short line, which hardly has a pace; it is rather held once too often.
    So is a line whose end came at scanner pace behind something typed.
    """
    return line.has_scanned_end or (
        line.median_pause < TYPING_PAUSE_S and (line.longest_pause < SAME_SCAN_S or len(line.text) > _SHORT_LINE)
    )


def _is_other_key(item: DecodedInput) -> bool:
    """Return True for a key other than Enter."""
    return isinstance(item, EscapeInput) or (isinstance(item, Key) and item.name != "enter")


def _time_to_next_line(line: Line) -> float:
    """Return the seconds after which no next line of a code's scan can come; 0 if all of it came in one read."""
    if line.longest_pause <= 0:
        return 0.0
    if line.longest_pause < TYPING_PAUSE_S:
        return min(SAME_SCAN_S, _PAUSE_FACTOR * line.longest_pause + _PAUSE_MARGIN_S)
    return min(SAME_SCAN_S, _TYPED_PAUSE_FACTOR * line.median_pause + _TYPED_PAUSE_MARGIN_S)
