"""Inputs as the decoder emits them, in the order of their bytes."""

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
    """A complete escape sequence, at its position in the order; `tui/key_of_escape_sequence` names its key."""

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
