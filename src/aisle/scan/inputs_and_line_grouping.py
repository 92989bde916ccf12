"""Inputs as the decoder emits them, in the order of their bytes, and the grouping of lines into scans.

Lines that begin within `SAME_SCAN_S` of the end of a line at scanner pace are one scan. Only this module decides that;
a session decides the meaning of such a scan (aisle.session.multi_line_scans).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

TYPING_PAUSE_S: Final = 0.05
"""Seconds between keys: people are hardly ever faster, scanners hardly ever slower."""

SAME_SCAN_S: Final = 0.1
"""Seconds within which a line that follows a line at scanner pace belongs to the same scan."""

MIN_SCAN = 5
"""Characters of the shortest text that is taken for a scanned code; fewer are a part of a search."""
MIN_CODE_DIGITS = 6
"""Digits of the shortest code of digits alone (UPC-E); fewer are a number."""
MIN_KNOWN_CODE = 4
"""Characters of the shortest code that is a scan only because the store knows it."""

LONG_PAUSE_S: Final = 0.3
"""Seconds after which a person who typed may be doing something else; only evidence, like every pause."""


ROW_KEY: Final = "row:"
"""Beginning of the name of the key that moves the cursor to a row."""

CHIP_KEY: Final = "chip:"
"""Beginning of the name of the key that chooses a chip, a filter above a list."""

SORT_KEY: Final = "sort:"
"""Beginning of the name of the key that sorts a list by a column."""

TAB_KEY: Final = "tab:"
"""Beginning of the name of the key that opens the page of a tab."""

PALETTE_KEY: Final = "ctrl+k"
"""Name of the key that opens the palette at a desk."""

MARK_KEYS: Final = ("mark", "shift+up", "shift+down")
"""Names of the keys that mark rows at a desk."""

SCROLL_KEYS: Final = ("scrollup", "scrolldown")
"""Names of the keys that scroll a list without its cursor: the wheel of a mouse."""

FIRST_TAB_KEY: Final = 6
"""Number of the function key that opens the first tab of a desk; the next tabs have the next keys."""


ADDRESS_KEY: Final = "address:"
"""Beginning of the name of the key that opens the page of an address, which a browser asked for."""


class Line(NamedTuple):
    """One ended input: a scan, or a line that a person typed and ended with Enter."""

    text: str
    """Characters between two terminators, with GS, RS, EOT and AIM prefix.

    A scan of other control characters alone has these as text, so that it does not count as Enter.
    """
    terminator: str
    """Terminator: `cr`, `lf`, `tab`, `etx`, `eot` or `paste`."""
    started_at: float
    """Time at which its first byte was read, in monotonic seconds."""
    ended_at: float
    """Time at which its terminator was read, in monotonic seconds."""
    longest_pause: float
    """Longest pause inside it in seconds; evidence for the doctor, never a terminator."""
    dropped: str = ""
    """Meaningless control characters that came with it (NUL, STX); also evidence."""
    median_pause: float = 0.0
    """Median pause between its characters in seconds.

    A line that came in few reads has 0, whatever lay between them. The pause before its terminator does not count.
    """
    possible_prefix: str = ""
    """End of a key right before the line that may belong to it.

    If that key was cut off, the first characters of a code were read as its end.
    """
    before_pause: int = 0
    """Number of characters typed `LONG_PAUSE_S` before the rest, which came faster than a person types; 0 for none."""
    typed_pause: float = 0.0
    """Longest pause between the characters before that pause in seconds."""
    end_pause: float = 0.0
    """Longest pause after it in seconds, with that before the terminator."""
    scan_number: int = 0
    """Number of the scan that the line belongs to; 0 for a line that a person ended."""
    next_line_within: float = 0.0
    """Seconds after its end within which a next line of the same scan begins, at the pace of this one."""

    @property
    def has_scanned_end(self) -> bool:
        """Return whether the end after a long pause may be a scan of its own: its Enter came soon enough."""
        is_one = len(self.text) - self.before_pause == 1
        return self.before_pause > 0 and self.end_pause < (TYPING_PAUSE_S if is_one else SAME_SCAN_S)

    @property
    def has_typed_beginning(self) -> bool:
        """Return whether a person typed what came before a long pause: a part of a code comes at scanner pace."""
        return self.before_pause == 1 or (self.before_pause > 1 and self.typed_pause >= TYPING_PAUSE_S)

    @property
    def longer_texts(self) -> tuple[str, ...]:
        """Possible longer texts, longest first: `text` with some or all of `possible_prefix`."""
        return tuple(self.possible_prefix[at:] + self.text for at in range(len(self.possible_prefix)))


def typed_line(text: str, at: float) -> Line:
    """Return the line that a person would type, for a click on its key at this time."""
    return Line(text, "cr", at - LONG_PAUSE_S, at, LONG_PAUSE_S, median_pause=LONG_PAUSE_S)


class OpenLine(NamedTuple):
    """The open line after a read, as a person sees it while typing."""

    text: str


class Key(NamedTuple):
    """A key that is not text.

    `back`, `enter` (on an empty line), `up`, `down`, `pageup`, `pagedown`, `home`, `end`, `left`, `right`, `f1` to
    `f12`, `ctrl+k`, `ctrl+left`, `ctrl+right`, `shift+up`, `shift+down`, `mark`, `scrollup`,
    `scrolldown`, `other`; `row:`, `chip:` or `sort:` with the index of what was clicked in a list; `tab:` with the name
    of a tab; `address:` with the address of a page.
    """

    name: str
    scan_number: int = 0
    """Number of the scan that it may belong to, as in `Line`: an empty line is `enter`."""


class EscapeInput(NamedTuple):
    """A complete escape sequence, at its position in the order; `scan/escape_sequences` names its key."""

    data: str
    scan_number: int = 0
    """Number of a scan, as in `Key`."""


class Silence(NamedTuple):
    """Silence after the last line of a scan."""

    scan_number: int
    seconds: float
    """Length of the silence in seconds."""
    is_over: bool = False
    """True if the scan has no further line."""


DecodedInput = Line | OpenLine | Key | EscapeInput | Silence
"""Every input of the decoder."""


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
