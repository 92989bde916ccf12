"""Bytes from a terminal to inputs, in order: lines that a scanner or a person ended, keys, and escape sequences.

Pure: no clock, no terminal. A line is ended by what a scanner sends at its end and by nothing else, least of all by
time. How the bytes are cut into reads changes no line.
"""

from __future__ import annotations

import re
from typing import Final

from aisle.scan.escapes import BROKEN, CUT_S, KEYPAD, MORE, WHOLE, Sequence, is_key, own_of
from aisle.scan.inputs import APART_S, BY_HAND_S, Decoded, Escape, Key, Line, Typed
from aisle.scan.separators import F8, GS, KEY, begins_message

LONGEST_LINE: Final = 4096
"""Characters of a line that are kept; a line of that length was cut and is to be refused."""
MOST_DROPPED: Final = 16
"""Control characters without a meaning that are remembered of a line."""
MOST_PAUSES: Final = 256
"""Pauses inside a line that are remembered; nobody types on for longer."""
SUFFIX_S: Final = 0.25
"""A second, different terminator within this time belongs to the first (a scanner that sends TAB and CR)."""
INSIDE: Final = 8
"""Characters of a line after which a key in the middle of it is the scanner's, where it comes at scanner pace."""
LATE_S: Final = 3.0
"""How long the rest of an escape sequence may lag behind an ESC that was taken for the Esc key."""
PASTE_S: Final = 2.0
"""A paste that is silent for so long has lost its end; Enter and Backspace on an empty line are keys again."""

_PLAIN = re.compile(rb"[\x04\x1d\x1e\x20-\x7e]+")
"""Data: printable ASCII and the separators of GS1 and ISO 15434 messages (EOT, GS, RS)."""
_HIGH = re.compile(rb"[\x80-\xff]+")
_ENDS: Final = {0x0D: "cr", 0x0A: "lf", 0x09: "tab", 0x03: "etx"}
_ESC: Final = 0x1B
_BRACKET: Final = 0x5B
_STX: Final = 0x02
_IGNORED: Final = frozenset(range(0x20)) - {0x04, 0x1D, 0x1E, _ESC, 0x08, *_ENDS}
_NOISE: Final = "\x00\x07\x11\x13"
"""What a line or a terminal says by itself: padding, a bell, and stop and go. Other controls are a scan's."""
_PASTE_START, _PASTE_END = "\x1b[200~", "\x1b[201~"
_LATE_CSI = re.compile(r"\x1b\[(?:[\d;]*[A-HPQRSu~]|[IOZ]|\[[A-E])")
_LATE_SS3 = re.compile(rb"O(?:[A-DFHMP-SXj-y])")


class Decoder:
    """Turns reads into `Decoded`s. It outlives resizes and screens; one per terminal, never rebuilt."""

    def __init__(self) -> None:
        self._text = ""
        self._dropped = ""
        self._dropped_at = 0.0
        self._shown = ""
        self._high = b""
        self._lead = self._leads = ""
        """What may be the first characters of the line that is open; of the one that opens right now."""
        self._led_at = 0.0
        self._first = self._seen = self._gap = 0.0
        self._apart = 0
        """So many characters stood on the open line before its last pause, where that was a long one."""
        self._pauses: list[float] = []
        self._controls: list[int] = []
        """How many characters stood before each control without a meaning that came with the line."""
        self._pressed = 0
        """Characters of the line, those that were erased again included; all but one of a read had no pause."""
        self._inside: list[Escape | None] = []
        """Keys and controls that came behind the last character at scanner pace; None for a control or Backspace."""
        self._inside_at = 0.0
        self._erased = 0
        """How many of them are Backspace."""
        self._short: list[Escape] = []
        """Keys in the middle of a line that is too short so far to be a code; each has its sign in the line."""
        self._end = ""
        self._ended = 0.0
        self._sequence: Sequence | None = None
        self._late_until = 0.0
        self._paste = False
        self._out: list[Decoded] = []

    @property
    def waiting(self) -> bool:
        """Whether `tick` could settle something: an escape sequence is open, or a key came in the middle of a line."""
        return self._sequence is not None or bool(self._inside or self._short)

    def feed(self, data: bytes, t: float) -> list[Decoded]:
        """What a read at `t` (monotonic seconds) says; at most one `Typed`, and that at the end."""
        if self._sequence is not None and self._sequence.is_cut(t):
            self._sequence = None
        if self._sequence is not None:
            self._sequence.heard(t)
        if self._is_late_ss3(data, t):
            self._late_until = 0.0
        else:
            self._take(data, t)
        return self._flush()

    def tick(self, t: float) -> list[Decoded]:
        """Nothing was read for a while (0.1 s): an ESC that stands alone is the Esc key."""
        sequence = self._sequence
        if t - max(self._seen, self._inside_at) >= BY_HAND_S:
            self._leave_inside()
        if sequence is not None and sequence.lone:
            self._sequence = None
            self._escape_key()
            self._late_until = t + LATE_S
        elif sequence is not None and t - sequence.at > LATE_S:
            self._sequence = None
            if sequence.is_string or sequence.late:
                sequence.heard(t)
                self._take(self._replayed(sequence), t)
        return self._flush()

    # The ground: data, terminators, Backspace

    def _take(self, data: bytes, t: float) -> None:
        pos = 0
        while pos < len(data):
            if self._sequence is not None:
                data, pos = self._in_sequence(data, pos, t)
                continue
            byte = data[pos]
            if self._late_until and self._is_late(byte, t):
                pos += 1
            elif run := _PLAIN.match(data, pos):
                self._add(run.group().decode("ascii"), t)
                pos = run.end()
            elif high := _HIGH.match(data, pos):
                self._add_high(high.group(), t)
                pos = high.end()
            else:
                self._control(byte, t)
                pos += 1

    def _add(self, text: str, t: float) -> None:
        if self._high:
            self._settle_high()
        self._settle_inside(t)
        self._mark(t, len(text))
        self._text = (self._text + text)[:LONGEST_LINE]

    def _mark(self, t: float, characters: int = 1) -> None:
        """Keeps the times of the line that is open, or opens one."""
        if not self._text and not self._high:
            self._first, self._gap = t, 0.0
            self._pauses, self._pressed, self._apart, self._controls = [], 0, 0, []
            self._lead = self._leads if t - self._led_at < CUT_S else ""
        else:
            self._gap = max(self._gap, t - self._seen)
            if t - self._seen >= BY_HAND_S:
                self._apart = len(self._text) if t - self._seen >= APART_S else 0
            if t > self._seen and len(self._pauses) < MOST_PAUSES:
                self._pauses.append(t - self._seen)
        self._pressed += characters
        self._seen = t
        self._end = self._leads = ""

    def _pace(self) -> float:
        """The lower one of the middle pauses, those of no length included."""
        middle = (self._pressed - 2) // 2 - (self._pressed - 1 - len(self._pauses))
        return sorted(self._pauses)[middle] if 0 <= middle < len(self._pauses) else 0.0

    def _add_high(self, data: bytes, t: float) -> None:
        """UTF-8, also in pieces; a byte that cannot be UTF-8 is read as Latin-1."""
        self._settle_inside(t)
        self._mark(t)
        pending, self._high = self._high + data, b""
        while pending:
            try:
                self._append(pending.decode())
                return
            except UnicodeDecodeError as error:
                self._append(pending[: error.start].decode())
                rest = pending[error.start :]
                if error.reason == "unexpected end of data":
                    self._high = rest
                    return
                self._append(chr(rest[0]))
                pending = rest[1:]

    def _settle_high(self) -> None:
        """The character that was open gets no more bytes."""
        pending, self._high = self._high, b""
        self._append(pending.decode("latin-1"))

    def _append(self, text: str) -> None:
        mark = KEY if begins_message(self._text) else ""
        kept = "".join(mark if "\x80" <= char <= "\x9f" else char for char in text)
        self._text = (self._text + kept)[:LONGEST_LINE]

    def _control(self, byte: int, t: float) -> None:
        if byte in _IGNORED:
            self._dropped, self._dropped_at = (self._dropped + chr(byte))[:MOST_DROPPED], t
            if self._is_inside(t) and (chr(byte) not in _NOISE or begins_message(self._text)):
                self._add_inside(None, t)
            elif byte and self._text and len(self._controls) < MOST_DROPPED:  # NUL is padding
                self._controls.append(len(self._text) + len(self._high[:1]))
            return
        if self._high:
            self._settle_high()
        if byte in _ENDS:
            self._terminate(_ENDS[byte], t)
        elif byte == _ESC:
            self._sequence = Sequence(t)
        else:
            self._erase(t)

    def _terminate(self, end: str, t: float) -> None:
        if self._erased and begins_message(self._text) and t - self._inside_at < BY_HAND_S:
            self._text += KEY
            self._erased = 0
        self._leave_inside()
        last, self._end = self._end, end
        self._leads = ""
        ended, self._ended = self._ended, t
        dropped, self._dropped = self._dropped, ""
        if self._text:
            gap, pace = max(self._gap, t - self._seen), self._pace()
            text = self._text if pace >= BY_HAND_S else self._with_controls()
            self._out.append(Line(text, end, self._first, t, gap, dropped, pace, self._lead, self._apart))
            self._text = self._shown = ""
            self._seen = t
            return
        if end == "lf" and last == "cr":
            return
        if last and last != end and t - ended <= SUFFIX_S:
            return
        if self._paste and t - self._seen <= PASTE_S:
            return
        self._paste = False
        if dropped.strip(_NOISE) and t - self._dropped_at <= SUFFIX_S:
            self._out.append(Line(dropped, end, self._dropped_at, t, 0.0, dropped))
            return
        if end in ("cr", "lf"):
            self._out.append(Key("enter"))

    def _with_controls(self) -> str:
        """The line of a scanner, with a sign where a control came in the middle of it: what came is no whole code."""
        text = self._text
        for at in sorted({at for at in self._controls if at < len(text)}, reverse=True):
            text = text[:at] + KEY + text[at:]
        return text

    def _erase(self, t: float) -> None:
        if self._text and self._is_inside(t):
            self._add_inside(None, t)
            self._erased += 1
        elif self._text:
            self._leave_inside()
            self._mark(t)
            self._text, self._apart = self._text[:-1], 0
        elif not (self._paste and t - self._seen <= PASTE_S):
            self._key_back()

    # Keys and controls in the middle of a line

    def _is_inside(self, t: float) -> bool:
        """Whether a control at `t` comes in the middle of a scan: some scanners press one for a separator."""
        return self._is_long() and self._is_at_pace(t)

    def _is_at_pace(self, t: float) -> bool:
        """Whether what comes at `t` comes at scanner pace behind characters that did so too."""
        if self._high or not self._text:
            return False
        last = self._inside_at if self._inside else self._seen
        return t - last < BY_HAND_S and self._pace() < BY_HAND_S

    def _add_inside(self, key: Escape | None, t: float) -> None:
        self._inside.append(key)
        self._inside_at = t

    def _settle_inside(self, t: float) -> None:
        """A further character came: what stands before it belongs to the scan, unless a person has pressed it."""
        if self._inside and t - self._inside_at < BY_HAND_S:
            if not self._is_long():
                self._short += [key for key in self._inside if key is not None]
            self._text += KEY
            self._inside, self._erased = [], 0
        elif self._inside or (self._short and t - self._seen >= BY_HAND_S):
            self._leave_inside()

    def _is_long(self) -> bool:
        """Whether the line that is open is no typing that a slow link brought with a key in one piece."""
        return len(self._text) - len(self._short) >= INSIDE or begins_message(self._text)

    def _leave_inside(self) -> None:
        """What stands behind the last character is what it would be anywhere: keys, and Backspace. So is a key in the
        middle of a few characters."""
        if self._short and not self._is_long():
            self._out += self._short
            self._text = self._text.replace(KEY, "")
        self._out += [key for key in self._inside if key is not None]
        if self._erased:
            self._text, self._apart = self._text[: -self._erased], 0
        self._inside, self._short, self._erased = [], [], 0

    def _key_back(self) -> None:
        self._end = ""
        self._out.append(Key("back"))

    # Escape sequences

    def _in_sequence(self, data: bytes, pos: int, t: float) -> tuple[bytes, int]:
        """Takes one byte of the open sequence; what is left to read, which is more when the sequence was none."""
        sequence = self._sequence
        assert sequence is not None
        byte = data[pos]
        if byte == _STX and sequence.is_string:  # a scanner says that a code begins: what came before is none of it
            self._sequence = None
            rubbish = b"" if sequence.is_answer else self._replayed(sequence)
            return rubbish + data[pos:], 0
        if byte in _IGNORED and not (byte == 0x07 and sequence.is_string):
            return data, pos + 1
        progress = sequence.add(chr(byte))
        if progress is MORE:
            return data, pos + 1
        self._sequence = None
        whole = progress is WHOLE
        if progress is BROKEN and not sequence.late and self._is_inside(sequence.at):
            self._add_inside(None, t)
        again, rest = (self._whole(sequence, t), pos + 1) if whole else (self._replayed(sequence, chr(byte)), pos)
        return (again + data[rest:], 0) if again else (data, rest)

    def _replayed(self, sequence: Sequence, behind: str = "") -> bytes:
        """What stood after the ESC, to be read as data. An ESC glued to a scan is dirt: it must not leave the order."""
        return sequence.data(behind).encode("latin-1")

    def _whole(self, sequence: Sequence, t: float) -> bytes:
        """Says a sequence that is complete; answers with the bytes that it stands for, if it stands for some."""
        text = sequence.text
        if sequence.late:
            return b"" if _LATE_CSI.fullmatch(text) else self._replayed(sequence)
        if text == _PASTE_START:
            self._paste = True
            self._seen = t
        elif text == _PASTE_END:
            self._end_paste(t)
        elif len(text) == 3 and text[1] == "O" and text[2] in KEYPAD:
            return KEYPAD[text[2]].encode()
        elif text == F8 and begins_message(self._text):
            return GS.encode()
        elif is_key(text) and self._is_at_pace(sequence.at):
            self._add_inside(Escape(text), t)
        else:
            self._out.append(Escape(text))
            self._leads, self._led_at = own_of(text), t
        return b""

    def _end_paste(self, t: float) -> None:
        if self._text:
            self._terminate("paste", t)
        self._paste = False
        self._end, self._ended = "paste", t

    def _escape_key(self) -> None:
        """Esc alone: undoes the typing, or goes back where there is none."""
        if self._text:
            self._text = ""
        else:
            self._key_back()

    def _is_late(self, byte: int, t: float) -> bool:
        """Whether this is a `[` that may be the rest of an ESC that came before; if it is not, nothing later is."""
        if byte in _IGNORED:
            return False
        late, self._late_until = t <= self._late_until, 0.0
        if late and byte == _BRACKET:
            self._sequence = Sequence(t, late=True)
            self._sequence.add("[")
            return True
        return False

    def _is_late_ss3(self, data: bytes, t: float) -> bool:
        """The rest of an `ESC O P` that came late, alone in its read: `ORD-12` scanned after Esc must stay whole."""
        return 0 < t <= self._late_until and not self._text and _LATE_SS3.fullmatch(data) is not None

    def _flush(self) -> list[Decoded]:
        if self._text != self._shown:
            self._shown = self._text
            self._out.append(Typed(self._text))
        out, self._out = self._out, []
        return out
