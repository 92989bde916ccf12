"""Where an escape sequence ends, character by character: CSI, SS3, OSC, DCS and APC, as terminals send them."""

from __future__ import annotations

import re
from typing import Final

INCOMPLETE: Final = "more"
"""So far it can be a sequence."""
COMPLETE: Final = "whole"
"""With this character it is one."""
NOT_A_SEQUENCE: Final = "broken"
"""It never was one: what looked like its start is ordinary input."""

MAX_SEQUENCE: Final = 256
"""No answer that is ever asked for is longer; whatever is, was no sequence."""

ANSWER_PAUSE_S: Final = 0.25
"""What comes after so long a pause inside an answer that never ends is not of it. No scanner waits so long inside a
code."""

CUT_OFF_S: Final = 0.5
"""A key comes in one piece, or its rest soon after: what comes later than that is none of it, and it was cut off."""

STRING_INTRODUCERS: Final = frozenset("]P_")
"""What OSC, DCS and APC begin with behind the ESC: whole, they are answers of the terminal, and no keys."""

_ANSWER_START = re.compile(r"\x1b(?:\](?![A-Za-z])|P[01]?[!>$+]|_G)")
"""What a terminal begins an answer with, and no code: an AIM prefix has a letter behind its bracket."""
_FIVE_DIGITS = re.compile(r"\d{5}$", re.ASCII)
"""No answer that is asked for ends so: the rest of a code may come after the pause."""

KEYPAD_CHARACTERS: Final = {
    **{letter: str(digit) for digit, letter in enumerate("pqrstuvwxy")},
    **dict(zip("jklmnoX", "*+,-./=", strict=True)),
    "M": "\r",
}
"""What the keys of a numeric keypad in application mode stand for, by the last letter of their `ESC O x`."""


_KEY_SEQUENCE = re.compile(
    r"\x1b(?:O\d?[A-DFHP-S]|\[\[[A-E]|\[(?!20[01]~)(?:\d{1,3}(?:;\d{1,2}){0,2})?[A-DFHPQSZ~u]|\[1;[2-8]R)", re.ASCII
)


def is_key(text: str) -> bool:
    """Whether a whole sequence is a key that was pressed, and no answer or report of the terminal."""
    return _KEY_SEQUENCE.fullmatch(text) is not None


def possible_prefix_of(text: str) -> str:
    """What of a whole sequence may be the first characters of a code: all but its ESC, from the last of its numbers on,
    where a key with such an end was cut off right before it. Nothing of what no code begins with."""
    if text[1:2] in STRING_INTRODUCERS or text.endswith("~"):
        return ""
    return re.split("[;<>?=]", text[1:])[-1]


class EscapeSequence:
    """One escape sequence as it comes in; `text` holds all of it so far, ESC included."""

    def __init__(self, at: float, late: bool = False) -> None:
        self.text = "\x1b"
        self.started_at = at
        """When its ESC was read."""
        self.is_late = late
        """The ESC was taken for the Esc key already; this may be the rest of it."""
        self._read_at = at
        self._length_before_pause = 0
        """Characters before the first long pause; 0 while there was none."""
        self._next_state = self._after_escape

    @property
    def is_escape_alone(self) -> bool:
        """Nothing but the ESC has come."""
        return len(self.text) == 1 and not self.is_late

    @property
    def is_string(self) -> bool:
        """It looks like an OSC, a DCS or an APC, whose text could as well be a code that was scanned."""
        return self.text[1:2] in STRING_INTRODUCERS

    @property
    def is_answer(self) -> bool:
        """So far it begins as an answer of the terminal does, and no code."""
        return _ANSWER_START.match(self.text) is not None

    def is_cut_off(self, t: float) -> bool:
        """Whether what is read at `t` is no rest of it, and it never gets one."""
        return not (self.is_escape_alone or self.is_late or self.is_string) and t - self._read_at >= CUT_OFF_S

    def record_read(self, t: float) -> None:
        """Something was read at `t`, or nothing until then."""
        if self.is_string and not self._length_before_pause and t - self._read_at >= ANSWER_PAUSE_S:
            self._length_before_pause = len(self.text)
        self._read_at = t

    def data_if_unfinished(self, next_character: str) -> str:
        """What of it is data, where it never ended and this character came `behind` it, or none: all after the ESC, or,
        of what begins as an answer does, what came after a long pause. That may be a scan, and is whole then."""
        before = self.text[: self._length_before_pause]
        is_answer = before and _ANSWER_START.match(self.text + next_character) and not _FIVE_DIGITS.search(before)
        return self.text[len(before) if is_answer else 1 :]

    def add(self, char: str) -> str:
        """Takes the next character: MORE, WHOLE or BROKEN; a character that broke it does not belong to it."""
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
            return NOT_A_SEQUENCE  # no terminal sends ESC [ 1 2 A: a code that came behind a piece of something
        return COMPLETE if "@" <= char <= "~" else NOT_A_SEQUENCE

    def _fixed_length(self, char: str) -> str:
        first = len(self.text) == 3
        if char < " " or (first and (char not in "ABCDE" if self.text[2] == "[" else char.isalnum())):
            return NOT_A_SEQUENCE  # no key of that console, and no button: a code that came behind a piece of something
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
