"""Escape sequences: recognised as terminals and handheld emulators send them, and the keys that they mean."""

from __future__ import annotations

import re
from typing import Final

INCOMPLETE: Final = "more"
"""The characters so far can be a sequence."""
COMPLETE: Final = "whole"
"""The sequence is complete."""
NOT_A_SEQUENCE: Final = "broken"
"""It never was a sequence: its start is ordinary input."""

MAX_SEQUENCE: Final = 256
"""Greatest length of a sequence; no requested answer is longer."""

ANSWER_PAUSE_S: Final = 0.25
"""Seconds of pause after which input no longer belongs to an unfinished answer; no code has such a pause."""

CUT_OFF_S: Final = 0.5
"""Seconds after which the rest of a key no longer comes: the key was cut off."""

STRING_INTRODUCERS: Final = frozenset("]P_")
"""Introducers of OSC, DCS and APC after the ESC; complete ones are answers of the terminal, not keys."""

_ANSWER_START = re.compile(r"\x1b(?:\](?![A-Za-z])|P[01]?[!>$+]|_G)")
"""Beginnings of a terminal's answer that no code has: in an AIM prefix a letter follows the bracket."""
_FIVE_DIGITS = re.compile(r"\d{5}$", re.ASCII)
"""Ending that no requested answer has: the rest of a code may come after the pause."""

KEYPAD_CHARACTERS: Final = {
    **{letter: str(digit) for digit, letter in enumerate("pqrstuvwxy")},
    **dict(zip("jklmnoX", "*+,-./=", strict=True)),
    "M": "\r",
}
"""Characters of the numeric keypad in application mode, by the last letter of `ESC O x`."""


_KEY_SEQUENCE = re.compile(
    r"\x1b(?:O\d?[A-DFHP-S]|\[\[[A-E]|\[(?!20[01]~)(?:\d{1,3}(?:;\d{1,2}){0,2})?[A-DFHPQSZ~u]|\[1;[2-8]R)", re.ASCII
)


def is_key(text: str) -> bool:
    """Return whether a complete sequence is a pressed key, not an answer or report of the terminal."""
    return _KEY_SEQUENCE.fullmatch(text) is not None


def possible_prefix_of(text: str) -> str:
    """Return the part of a complete sequence that may be the beginning of a code, if its key was cut off.

    It is everything from the last of its numbers on, without the ESC; empty for ends that no code begins with.
    """
    if text[1:2] in STRING_INTRODUCERS or text.endswith("~"):
        return ""
    return re.split("[;<>?=]", text[1:])[-1]


class EscapeSequence:
    """One escape sequence being received; `text` has everything so far, ESC included."""

    def __init__(self, at: float, late: bool = False) -> None:
        self.text = "\x1b"
        self.started_at = at
        """Time at which its ESC was read."""
        self.is_late = late
        """True if its ESC was already taken for the Esc key, and this may be the rest."""
        self._read_at = at
        self._length_before_pause = 0
        """Characters before the first long pause; 0 if there was none."""
        self._next_state = self._after_escape

    @property
    def is_escape_alone(self) -> bool:
        """True if only the ESC has come."""
        return len(self.text) == 1 and not self.is_late

    @property
    def is_string(self) -> bool:
        """True if it looks like an OSC, DCS or APC, whose text may also be a scanned code."""
        return self.text[1:2] in STRING_INTRODUCERS

    @property
    def is_answer(self) -> bool:
        """True if it begins like an answer of the terminal, which no code does."""
        return _ANSWER_START.match(self.text) is not None

    def is_cut_off(self, t: float) -> bool:
        """Return whether a read at `t` does not continue it and nothing ever will."""
        return not (self.is_escape_alone or self.is_late or self.is_string) and t - self._read_at >= CUT_OFF_S

    def record_read(self, t: float) -> None:
        """Record that something was read at `t`, or that nothing was until then."""
        if self.is_string and not self._length_before_pause and t - self._read_at >= ANSWER_PAUSE_S:
            self._length_before_pause = len(self.text)
        self._read_at = t

    def data_if_unfinished(self, next_character: str) -> str:
        """Return the part that is data if the sequence never ends and `next_character` (or nothing) follows.

        It is everything after the ESC. If it begins like an answer, it is only what came after a long pause, which may
        be a whole scan.
        """
        before = self.text[: self._length_before_pause]
        is_answer = before and _ANSWER_START.match(self.text + next_character) and not _FIVE_DIGITS.search(before)
        return self.text[len(before) if is_answer else 1 :]

    def add(self, char: str) -> str:
        """Add a character and return INCOMPLETE, COMPLETE or NOT_A_SEQUENCE.

        In the last case the character is not part of the sequence.
        """
        progress = self._next_state(char) if len(self.text) < MAX_SEQUENCE else NOT_A_SEQUENCE
        if progress is not NOT_A_SEQUENCE:
            self.text += char
        return progress

    def _after_escape(self, char: str) -> str:
        string = self._string_start
        step = {"[": self._csi_start, "O": self._ss3, "]": string, "P": string, "_": string}.get(char)
        if step is None:
            return NOT_A_SEQUENCE
        self._next_state = step
        return INCOMPLETE

    def _csi_start(self, char: str) -> str:
        if char in "[M":  # ESC [ [ A is F1 of the Linux console; ESC [ M a mouse report with three bytes after it.
            self._remaining = 1 if char == "[" else 3
            self._next_state = self._fixed_length
            return INCOMPLETE
        self._next_state = self._csi
        return self._csi(char)

    def _csi(self, char: str) -> str:
        if " " <= char <= "?":
            return INCOMPLETE
        if "A" <= char <= "Z" and self.text[2:].isdecimal():
            return NOT_A_SEQUENCE  # no terminal sends ESC [ 1 2 A: a code after a piece of a sequence
        return COMPLETE if "@" <= char <= "~" else NOT_A_SEQUENCE

    def _fixed_length(self, char: str) -> str:
        first = len(self.text) == 3
        if char < " " or (first and (char not in "ABCDE" if self.text[2] == "[" else char.isalnum())):
            return NOT_A_SEQUENCE  # no key of that console and no mouse button: a code after a piece of a sequence
        self._remaining -= 1
        return INCOMPLETE if self._remaining else COMPLETE

    def _ss3(self, char: str) -> str:
        if "0" <= char <= "9":  # ESC O 5 P: a modifier before the letter
            self._next_state = self._ss3_end
            return INCOMPLETE
        return self._ss3_end(char)

    def _ss3_end(self, char: str) -> str:
        return COMPLETE if char.isascii() and char.isalpha() else NOT_A_SEQUENCE

    def _string_start(self, char: str) -> str:
        self._next_state = self._string
        begins = "G" if self.text[1] == "_" else "0123456789>!$+"
        return INCOMPLETE if char in begins else NOT_A_SEQUENCE  # ESC ] C 1 is the Esc key and then an AIM prefix

    def _string(self, char: str) -> str:
        if char == "\x07":
            return COMPLETE
        if char == "\x1b":
            self._next_state = self._string_end
            return INCOMPLETE
        return INCOMPLETE if char >= " " else NOT_A_SEQUENCE

    def _string_end(self, char: str) -> str:
        return COMPLETE if char == "\\" else NOT_A_SEQUENCE


OTHER: Final = "other"
"""Name of every key that has no meaning in aisle."""

_BY_FINAL: Final = {
    "A": "up",
    "B": "down",
    "C": "right",
    "D": "left",
    "H": "home",
    "F": "end",
    "P": "f1",
    "Q": "f2",
    "R": "f3",
    "S": "f4",
}
"""Keys of `CSI final` and `SS3 final`."""

_BY_NUMBER: Final = {
    **dict.fromkeys(("1", "7"), "home"),
    **dict.fromkeys(("4", "8"), "end"),
    "5": "pageup",
    "6": "pagedown",
    **{str(number): f"f{number - 10}" for number in range(11, 16)},
    **{str(number): f"f{number - 11}" for number in range(17, 22)},
    "23": "f11",
    "24": "f12",
}
"""Keys of `CSI number ~`."""

_LINUX_CONSOLE: Final = {"A": "f1", "B": "f2", "C": "f3", "D": "f4", "E": "f5"}
"""Keys of `CSI [ final`."""

_SEQUENCE: Final = re.compile(r"\x1b[O\[](?P<numbers>[\d;]*)(?P<final>[A-Za-z~])")
_ALT: Final = re.compile(r"\x1b[^\x00-\x1fO\[\]P_]")


def parse_key(data: str) -> str | None:
    """Return the name of the key of an escape sequence; None if it is the response of a terminal, or unknown.

    Sequences of other kinds are ignored: otherwise whoever can write into the input could change the screen's size.
    """
    if not is_key(data):
        return OTHER if _ALT.fullmatch(data) else None
    if data.startswith("\x1b[["):
        return _LINUX_CONSOLE[data[3]]
    found = _SEQUENCE.fullmatch(data)
    assert found is not None
    numbers, final = found.groups()
    if final == "~":
        return _BY_NUMBER.get(numbers, OTHER)
    if numbers == "1;5" and final in "CD":
        return f"ctrl+{_BY_FINAL[final]}"
    if numbers == "1;2" and final in "AB":
        return f"shift+{_BY_FINAL[final]}"
    return _BY_FINAL.get(final, OTHER) if numbers in ("", "1", "1;1") else OTHER
