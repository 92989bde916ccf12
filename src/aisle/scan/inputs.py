"""What comes out of the decoder, in the order in which the bytes came in."""

from __future__ import annotations

from typing import Final, NamedTuple

TYPING_PAUSE_S: Final = 0.05
"""Seconds: whoever presses key after key is hardly ever faster, and a scanner hardly ever slower."""

SAME_SCAN_S: Final = 0.1
"""Seconds: a line that begins so soon after a line at scanner pace belongs to the same scan."""

LONG_PAUSE_S: Final = 0.3
"""Seconds: after such a pause whoever typed may be doing something else; evidence, like every pause."""


class Line(NamedTuple):
    """One ended input: a scan, or what a person typed and ended with Enter."""

    text: str
    """The characters between two terminators; GS, RS and EOT are kept, an AIM prefix too. A scan of other control
    characters alone is these, so that it is no Enter."""
    terminator: str
    """What ended it: `cr`, `lf`, `tab`, `etx` or `paste`."""
    started_at: float
    """Seconds (monotonic) at which its first byte was read."""
    ended_at: float
    """Seconds (monotonic) at which its terminator was read."""
    longest_pause: float
    """The longest pause inside it, in seconds; evidence for the doctor, never a terminator."""
    dropped: str = ""
    """The control characters without a meaning that came with it (NUL, STX), evidence too."""
    median_pause: float = 0.0
    """The pause, in seconds, that half of the pauses between its characters are at least as long as: what comes in few
    reads has none, whatever lay between those. The one before its terminator does not count."""
    possible_prefix: str = ""
    """What ended a key right before it, and may be its own: where the key was cut off, the first characters of a code
    are read as its end."""
    before_pause: int = 0
    """So many of its characters stood there for a while (`APART_S`) before the rest came at no person's pace; 0 for
    none."""
    scan_number: int = 0
    """The number of the scan that it belongs to; 0 for a line that a person ended, which stands by itself."""
    next_line_within: float = 0.0
    """Seconds after its end within which a next line of the same scan begins, at the pace of this one."""

    @property
    def longer_texts(self) -> tuple[str, ...]:
        """What it may be besides `text`, the longest first: that, and some of what stood before it."""
        return tuple(self.possible_prefix[at:] + self.text for at in range(len(self.possible_prefix)))


class OpenLine(NamedTuple):
    """The open line as it stands after a read: what a person sees of his typing."""

    text: str


class Key(NamedTuple):
    """A key that is not text: `back`, `enter` (on an empty line), `up`, `down`, `pageup`, `pagedown`, `home`, `end`,
    `left`, `right`, `f1` to `f12`, `other`."""

    name: str
    scan_number: int = 0
    """The number of the scan that it may belong to, as `Line` has it: an empty line is `enter`."""


class EscapeInput(NamedTuple):
    """A whole escape sequence, left for Textual's parser; holds its place in the order."""

    data: str
    scan_number: int = 0
    """As `Key` has it."""


class Silence(NamedTuple):
    """Nothing came after the last line of a scan."""

    scan_number: int
    seconds: float
    """For so many seconds."""
    is_over: bool = False
    """The scan has no further line."""


DecodedInput = Line | OpenLine | Key | EscapeInput | Silence
"""Everything the decoder says."""
