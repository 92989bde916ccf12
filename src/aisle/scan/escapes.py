"""Where an escape sequence ends, character by character: CSI, SS3, OSC, DCS and APC, as terminals send them."""

from __future__ import annotations

import re
from typing import Final

MORE: Final = "more"
"""So far it can be a sequence."""
WHOLE: Final = "whole"
"""With this character it is one."""
BROKEN: Final = "broken"
"""It never was one: what looked like its start is ordinary input."""

LONGEST: Final = 256
"""No answer that is ever asked for is longer; whatever is, was no sequence."""

SILENCE_S: Final = 0.25
"""What comes after so long a pause inside an answer that never ends is not of it. No scanner waits so long inside a
code."""

CUT_S: Final = 0.5
"""A key comes in one piece, or its rest soon after: what comes later than that is none of it, and it was cut off."""

STRINGS: Final = frozenset("]P_")
"""What OSC, DCS and APC begin with behind the ESC: whole, they are answers of the terminal, and no keys."""

_ANSWER = re.compile(r"\x1b(?:\](?![A-Za-z])|P[01]?[!>$+]|_G)")
"""What a terminal begins an answer with, and no code: an AIM prefix has a letter behind its bracket."""
_DIGITS = re.compile(r"\d{5}$", re.ASCII)
"""No answer that is asked for ends so: the rest of a code may come after the pause."""

KEYPAD: Final = {
    **{letter: str(digit) for digit, letter in enumerate("pqrstuvwxy")},
    **dict(zip("jklmnoX", "*+,-./=", strict=True)),
    "M": "\r",
}
"""What the keys of a numeric keypad in application mode stand for, by the last letter of their `ESC O x`."""


_KEY = re.compile(
    r"\x1b(?:O\d?[A-DFHP-S]|\[\[[A-E]|\[(?!20[01]~)(?:\d{1,3}(?:;\d{1,2}){0,2})?[A-DFHPQSZ~u]|\[1;[2-8]R)", re.ASCII
)


def is_key(text: str) -> bool:
    """Whether a whole sequence is a key that was pressed, and no answer or report of the terminal."""
    return _KEY.fullmatch(text) is not None


def own_of(text: str) -> str:
    """What of a whole sequence may be the first characters of a code: all but its ESC, from the last of its numbers on,
    where a key with such an end was cut off right before it. Nothing of what no code begins with."""
    if text[1:2] in STRINGS or text.endswith("~"):
        return ""
    return re.split("[;<>?=]", text[1:])[-1]


class Sequence:
    """One escape sequence as it comes in; `text` holds all of it so far, ESC included."""

    def __init__(self, at: float, late: bool = False) -> None:
        self.text = "\x1b"
        self.at = at
        """When its ESC was read."""
        self.late = late
        """The ESC was taken for the Esc key already; this may be the rest of it."""
        self._seen = at
        self._silent = 0
        """Characters before the first long pause; 0 while there was none."""
        self._step = self._after_escape

    @property
    def lone(self) -> bool:
        """Nothing but the ESC has come."""
        return len(self.text) == 1 and not self.late

    @property
    def is_string(self) -> bool:
        """It looks like an OSC, a DCS or an APC, whose text could as well be a code that was scanned."""
        return self.text[1:2] in STRINGS

    @property
    def is_answer(self) -> bool:
        """So far it begins as an answer of the terminal does, and no code."""
        return _ANSWER.match(self.text) is not None

    def is_cut(self, t: float) -> bool:
        """Whether what is read at `t` is no rest of it, and it never gets one."""
        return not (self.lone or self.late or self.is_string) and t - self._seen >= CUT_S

    def heard(self, t: float) -> None:
        """Something was read at `t`, or nothing until then."""
        if self.is_string and not self._silent and t - self._seen >= SILENCE_S:
            self._silent = len(self.text)
        self._seen = t

    def data(self, behind: str) -> str:
        """What of it is data, where it never ended and this character came `behind` it, or none: all after the ESC, or,
        of what begins as an answer does, what came after a long pause. That may be a scan, and is whole then."""
        before = self.text[: self._silent]
        is_answer = before and _ANSWER.match(self.text + behind) and not _DIGITS.search(before)
        return self.text[len(before) if is_answer else 1 :]

    def add(self, char: str) -> str:
        """Takes the next character: MORE, WHOLE or BROKEN; a character that broke it does not belong to it."""
        progress = self._step(char) if len(self.text) < LONGEST else BROKEN
        if progress is not BROKEN:
            self.text += char
        return progress

    def _after_escape(self, char: str) -> str:
        string = self._string_start
        step = {"[": self._csi_start, "O": self._ss3, "]": string, "P": string, "_": string}.get(char)
        if step is None:
            return BROKEN
        self._step = step
        return MORE

    def _csi_start(self, char: str) -> str:
        if char in "[M":  # ESC [ [ A is F1 of the Linux console; ESC [ M a mouse report with three bytes after it.
            self._left = 1 if char == "[" else 3
            self._step = self._counted
            return MORE
        self._step = self._csi
        return self._csi(char)

    def _csi(self, char: str) -> str:
        if " " <= char <= "?":
            return MORE
        if "A" <= char <= "Z" and self.text[2:].isdecimal():
            return BROKEN  # no terminal sends ESC [ 1 2 A: a code that came behind a piece of something
        return WHOLE if "@" <= char <= "~" else BROKEN

    def _counted(self, char: str) -> str:
        first = len(self.text) == 3
        if char < " " or (first and (char not in "ABCDE" if self.text[2] == "[" else char.isalnum())):
            return BROKEN  # no key of that console, and no button: a code that came behind a piece of something
        self._left -= 1
        return MORE if self._left else WHOLE

    def _ss3(self, char: str) -> str:
        if "0" <= char <= "9":  # ESC O 5 P: a modifier before the letter
            self._step = self._ss3_end
            return MORE
        return self._ss3_end(char)

    def _ss3_end(self, char: str) -> str:
        return WHOLE if char.isascii() and char.isalpha() else BROKEN

    def _string_start(self, char: str) -> str:
        self._step = self._string
        begins = "G" if self.text[1] == "_" else "0123456789>!$+"
        return MORE if char in begins else BROKEN  # ESC ] C 1 is the Esc key and then an AIM prefix

    def _string(self, char: str) -> str:
        if char == "\x07":
            return WHOLE
        if char == "\x1b":
            self._step = self._string_end
            return MORE
        return MORE if char >= " " else BROKEN

    def _string_end(self, char: str) -> str:
        return WHOLE if char == "\\" else BROKEN
