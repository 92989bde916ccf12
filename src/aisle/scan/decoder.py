"""Decoder from a terminal's bytes to inputs, in order: ended lines, keys, and escape sequences. Pure: no clock.

A line is ended only by a terminator that scanners send, never by time. How the bytes are divided into reads changes no
line.
"""

from __future__ import annotations

import re
from typing import Final

from aisle.scan.escape_sequences import (
    COMPLETE,
    CUT_OFF_S,
    INCOMPLETE,
    KEYPAD_CHARACTERS,
    NOT_A_SEQUENCE,
    EscapeSequence,
    is_key,
    possible_prefix_of,
)
from aisle.scan.gs1 import F8_SEQUENCE, GROUP_SEPARATOR, KEY_MARK, begins_gs1_message
from aisle.scan.inputs_and_line_grouping import (
    LONG_PAUSE_S,
    SAME_SCAN_S,
    TYPING_PAUSE_S,
    DecodedInput,
    EscapeInput,
    Key,
    Line,
    OpenLine,
)

MAX_LINE: Final = 4096
"""Characters of a line that are kept; a line of that length was cut and is refused."""
MAX_DROPPED: Final = 16
"""Greatest number of meaningless control characters that are recorded for a line."""
MAX_PAUSES: Final = 256
"""Greatest number of recorded pauses in a line; nobody types longer lines."""
MIN_AFTER_BACKSPACE: Final = 4
"""Characters of a line from which it is a scan although a Backspace came right before it; a shorter one is refused."""
SECOND_TERMINATOR_S: Final = 0.25
"""Seconds within which a second, different terminator belongs to the first (a scanner that sends TAB and CR)."""
MIN_BEFORE_KEY: Final = 8
"""Characters of a line after which a key at scanner pace is the scanner's."""
LATE_ESCAPE_S: Final = 3.0
"""Seconds for which the rest of an escape sequence may follow an ESC that was taken for the Esc key."""
LOST_PASTE_END_S: Final = 2.0
"""Seconds of silence after which a paste has lost its end; Enter and Backspace on an empty line are keys again."""

_DATA_BYTES = re.compile(rb"[\x1d\x1e\x20-\x7e]+")
"""Data: printable ASCII and the separators of GS1 and ISO 15434 messages (GS, RS)."""
_NON_ASCII_BYTES = re.compile(rb"[\x80-\xff]+")
_TERMINATORS: Final = {0x0D: "cr", 0x0A: "lf", 0x09: "tab", 0x03: "etx"}
_EOT: Final = 0x04
"""End of an ISO 15434 message, to which it belongs; elsewhere a terminator that some scanners send."""
_SEPARATORS: Final = "\x1d\x1e"
_ESC: Final = 0x1B
_BRACKET: Final = 0x5B
_STX: Final = 0x02
_IGNORED: Final = frozenset(range(0x20)) - {_EOT, 0x1D, 0x1E, _ESC, 0x08, *_TERMINATORS}
_NOISE_CONTROLS: Final = "\x00\x07\x11\x13"
"""Controls that lines and terminals send without a scan: padding, bell, XON and XOFF. Others belong to a scan."""
_PASTE_START, _PASTE_END = "\x1b[200~", "\x1b[201~"
_LATE_CSI = re.compile(r"\x1b\[(?:[\d;]*[A-HPQRSu~]|[IOZ]|\[[A-E])")
_PREFIX_KEY = re.compile(r"\x1b\[(?:1[789]|2[0134])~")
"""F6 to F12. Some scanners send one before each code; those that pickers use, F1 to F5, act at once."""
_LATE_SS3 = re.compile(rb"O(?:[A-DFHMP-SXj-y])")


class Decoder:
    """Decoder of reads into inputs. One per terminal; it is kept across resizes and screens."""

    def __init__(self) -> None:
        self._text = ""
        self._dropped = ""
        self._dropped_at = 0.0
        self._reported_text = ""
        self._pending_utf8 = b""
        self._possible_prefix = self._next_prefix = ""
        """Possible first characters of the open line, and of the line that opens next."""
        self._prefix_at = 0.0
        self._line_started_at = self._read_at = self._longest_pause = 0.0
        self._before_pause = 0
        """Characters of the open line before its last pause, if that was long."""
        self._typed_pause = self._end_pause = 0.0
        """Longest pauses before and after that many characters."""
        self._pauses: list[float] = []
        self._controls: list[int] = []
        """Number of characters before each meaningless control in the line."""
        self._character_count = 0
        """Characters of the line including erased ones; all but the first of a read had no pause."""
        self._inner_keys: list[EscapeInput | None] = []
        """Keys and controls after the last character at scanner pace; None for a control or Backspace."""
        self._inner_key_at = 0.0
        self._inner_backspaces = 0
        """Number of Backspaces among them."""
        self._keys_before: list[EscapeInput | None] = []
        """Keys on the empty line that a scan may follow, and then belong to it; None for a Backspace."""
        self._key_before_at = 0.0
        self._is_after_back = False
        """True if the open line came at scanner pace after such a Backspace, which goes back no more."""
        self._short_line_keys: list[EscapeInput] = []
        """Keys inside a line that is still too short for a code; each has its mark in the line."""
        self._last_terminator = ""
        self._terminated_at = 0.0
        self._sequence: EscapeSequence | None = None
        self._late_until = 0.0
        self._is_pasting = False
        self._decoded: list[DecodedInput] = []

    @property
    def is_waiting(self) -> bool:
        """True if `tick` may complete something: an escape sequence is open, or a key came before or inside a line."""
        return self._sequence is not None or bool(self._keys_before or self._inner_keys or self._short_line_keys)

    @property
    def open_text(self) -> str:
        """Text of the open line."""
        return self._text

    def feed(self, data: bytes, t: float) -> list[DecodedInput]:
        """Return the inputs of a read at `t` (monotonic seconds); at most one `OpenLine`, at the end."""
        if self._sequence is not None and self._sequence.is_cut_off(t):
            self._sequence = None
        if self._sequence is not None:
            self._sequence.record_read(t)
        if self._sequence is None and t - self._key_before_at >= TYPING_PAUSE_S:
            self._release_keys_before()
        if self._is_late_function_key(data, t):
            self._late_until = 0.0
        else:
            self._read_bytes(data, t)
        return self._flush()

    def drop_line(self) -> list[DecodedInput]:
        """Drop the open line, which was typed for another page."""
        self._text = ""
        return self._flush()

    def tick(self, t: float) -> list[DecodedInput]:
        """Return the inputs due at `t` after 0.1 s without a read: a lone ESC is the Esc key."""
        sequence = self._sequence
        if t - max(self._read_at, self._inner_key_at) >= TYPING_PAUSE_S:
            self._release_inner_keys()
        if t - self._key_before_at >= TYPING_PAUSE_S:
            self._release_keys_before()
        if sequence is not None and sequence.is_escape_alone:
            self._sequence = None
            self._escape_key()
            self._late_until = t + LATE_ESCAPE_S
        elif sequence is not None and t - sequence.started_at > LATE_ESCAPE_S:
            self._sequence = None
            if sequence.is_string or sequence.is_late:
                sequence.record_read(t)
                self._read_bytes(self._sequence_as_data(sequence), t)
        return self._flush()

    # Data, terminators, Backspace

    def _read_bytes(self, data: bytes, t: float) -> None:
        pos = 0
        while pos < len(data):
            if self._sequence is not None:
                data, pos = self._read_sequence_byte(data, pos, t)
                continue
            byte = data[pos]
            if self._late_until and self._begins_late_sequence(byte, t):
                pos += 1
            elif run := _DATA_BYTES.match(data, pos):
                self._add_data(run.group().decode("ascii"), t)
                pos = run.end()
            elif high := _NON_ASCII_BYTES.match(data, pos):
                self._add_non_ascii(high.group(), t)
                pos = high.end()
            else:
                self._read_control(byte, t)
                pos += 1

    def _add_data(self, text: str, t: float) -> None:
        if self._pending_utf8:
            self._flush_utf8()
        self._resolve_inner_keys(t)
        self._record_time(t, len(text))
        self._text = (self._text + text)[:MAX_LINE]

    def _record_time(self, t: float, characters: int = 1) -> None:
        """Record the times of the open line, or of a new one."""
        self._drop_stray_separators(t)
        if not self._text and not self._pending_utf8:
            self._line_started_at, self._longest_pause = t, 0.0
            self._pauses, self._character_count, self._before_pause, self._controls = [], 0, 0, []
            self._possible_prefix = self._next_prefix if t - self._prefix_at < CUT_OFF_S else ""
            self._is_after_back, self._keys_before = None in self._keys_before, []
        else:
            self._record_pause(t - self._read_at)
        self._character_count += characters
        self._read_at = t
        self._last_terminator = self._next_prefix = ""

    def _record_pause(self, pause: float) -> None:
        """Record a pause inside the open line."""
        if pause >= LONG_PAUSE_S:
            self._before_pause, self._typed_pause, self._end_pause = len(self._text), self._longest_pause, 0.0
        elif pause >= TYPING_PAUSE_S:
            self._before_pause = 0
        else:
            self._end_pause = max(self._end_pause, pause)
        self._longest_pause = max(self._longest_pause, pause)
        if pause > 0 and len(self._pauses) < MAX_PAUSES:
            self._pauses.append(pause)

    def _drop_stray_separators(self, t: float) -> None:
        """Drop separators that a scanner sent after its terminator: nothing followed them."""
        if t - self._read_at >= SAME_SCAN_S and not self._text.strip(_SEPARATORS):
            self._text = self._reported_text = ""

    def _median_pause(self) -> float:
        """Return the median pause between characters, including pauses of zero; the lower one of two."""
        middle = (self._character_count - 2) // 2 - (self._character_count - 1 - len(self._pauses))
        return sorted(self._pauses)[middle] if 0 <= middle < len(self._pauses) else 0.0

    def _add_non_ascii(self, data: bytes, t: float) -> None:
        """Add UTF-8, which may come in pieces; a byte that cannot be UTF-8 is read as Latin-1."""
        self._resolve_inner_keys(t)
        self._record_time(t)
        pending, self._pending_utf8 = self._pending_utf8 + data, b""
        while pending:
            try:
                self._append(pending.decode())
                return
            except UnicodeDecodeError as error:
                self._append(pending[: error.start].decode())
                rest = pending[error.start :]
                if error.reason == "unexpected end of data":
                    self._pending_utf8 = rest
                    return
                self._append(chr(rest[0]))
                pending = rest[1:]

    def _flush_utf8(self) -> None:
        """Complete the pending character; no more bytes of it will come."""
        pending, self._pending_utf8 = self._pending_utf8, b""
        self._append(pending.decode("latin-1"))

    def _append(self, text: str) -> None:
        mark = KEY_MARK if begins_gs1_message(self._text) else ""
        for char in text:
            if not "\x80" <= char <= "\x9f":
                self._text = (self._text + char)[:MAX_LINE]
            elif mark:
                self._text = (self._text + mark)[:MAX_LINE]
            elif self._text[-1:].isascii() and self._text and len(self._controls) < MAX_DROPPED:
                self._controls.append(len(self._text))  # after another character it is a part of damaged UTF-8

    def _read_control(self, byte: int, t: float) -> None:
        is_ignored = byte in _IGNORED
        if byte == _EOT and not self._pending_utf8 and not self._text.strip(_SEPARATORS):
            self._text, is_ignored = "", True
        elif byte == _EOT and ("[)>" in self._text or self._text[-1:] in _SEPARATORS):
            self._add_data(chr(byte), t)
            return
        if is_ignored:
            self._dropped, self._dropped_at = (self._dropped + chr(byte))[:MAX_DROPPED], t
            if self._is_inside_scan(t) and (chr(byte) not in _NOISE_CONTROLS or begins_gs1_message(self._text)):
                self._add_inner_key(None, t)
            elif byte and self._text and len(self._controls) < MAX_DROPPED:  # NUL is padding
                self._controls.append(len(self._text) + len(self._pending_utf8[:1]))
            return
        if self._pending_utf8:
            self._flush_utf8()
        if byte == _EOT:
            self._end_line("eot", t)
        elif byte in _TERMINATORS:
            self._end_line(_TERMINATORS[byte], t)
        elif byte == _ESC:
            if None in self._keys_before:
                self._release_keys_before()
            self._sequence = EscapeSequence(t)
        else:
            self._backspace(t)

    def _end_line(self, end: str, t: float) -> None:
        if self._inner_backspaces and begins_gs1_message(self._text) and t - self._inner_key_at < TYPING_PAUSE_S:
            self._text += KEY_MARK
            self._inner_backspaces = 0
        self._release_inner_keys()
        self._release_keys_before()
        last_terminator, self._last_terminator = self._last_terminator, end
        self._next_prefix = ""
        last_ended, self._terminated_at = self._terminated_at, t
        dropped, self._dropped = self._dropped, ""
        self._drop_stray_separators(t)
        if self._text:
            gap, pace = max(self._longest_pause, t - self._read_at), self._median_pause()
            text = self._text if pace >= TYPING_PAUSE_S else self._mark_controls()
            if self._is_after_back and len(text) < MIN_AFTER_BACKSPACE:
                text = KEY_MARK + text
            line = Line(text, end, self._line_started_at, t, gap, dropped, pace, self._possible_prefix)
            if self._before_pause:
                end_pause = max(self._end_pause, t - self._read_at)
                line = line._replace(
                    before_pause=self._before_pause, typed_pause=self._typed_pause, end_pause=end_pause
                )
            self._decoded.append(line)
            self._text = self._reported_text = ""
            self._read_at = t
            return
        if end == "lf" and last_terminator == "cr":
            return
        if last_terminator and last_terminator != end and t - last_ended <= SECOND_TERMINATOR_S:
            return
        if self._is_pasting and t - self._read_at <= LOST_PASTE_END_S:
            return
        self._is_pasting = False
        if dropped.strip(_NOISE_CONTROLS) and t - self._dropped_at <= SECOND_TERMINATOR_S:
            self._decoded.append(Line(dropped, end, self._dropped_at, t, 0.0, dropped))
            return
        if end in ("cr", "lf"):
            self._decoded.append(Key("enter"))

    def _mark_controls(self) -> str:
        """Return the line of a scanner with a mark at each control inside it, because such a code may be incomplete."""
        text = self._text
        for at in sorted({at for at in self._controls if at < len(text)}, reverse=True):
            text = text[:at] + KEY_MARK + text[at:]
        return text

    def _backspace(self, t: float) -> None:
        if self._text and self._is_inside_scan(t):
            self._add_inner_key(None, t)
            self._inner_backspaces += 1
        elif self._text:
            self._release_inner_keys()
            self._record_time(t)
            self._text, self._before_pause = self._text[:-1], 0
        elif self._is_pasting and t - self._read_at <= LOST_PASTE_END_S:
            return
        elif t - self._terminated_at <= SAME_SCAN_S and self._terminated_at:
            self._emit_back()  # right after a line it belongs to its scan
        else:
            self._hold_key(None, t)

    # Keys and controls inside a line

    def _is_inside_scan(self, t: float) -> bool:
        """Return whether a control at `t` comes inside a scan; some scanners send one for a separator."""
        return self._may_be_code() and self._is_at_pace(t)

    def _is_at_pace(self, t: float) -> bool:
        """Return whether something at `t` comes at scanner pace after characters at scanner pace."""
        if self._pending_utf8 or not self._text:
            return False
        last_at = self._inner_key_at if self._inner_keys else self._read_at
        return t - last_at < TYPING_PAUSE_S and self._median_pause() < TYPING_PAUSE_S

    def _add_inner_key(self, key: EscapeInput | None, t: float) -> None:
        self._inner_keys.append(key)
        self._inner_key_at = t

    def _resolve_inner_keys(self, t: float) -> None:
        """Decide on inner keys when another character came: they belong to the scan unless a person pressed them."""
        if self._inner_keys and t - self._inner_key_at < TYPING_PAUSE_S:
            if not self._may_be_code():
                self._short_line_keys += [key for key in self._inner_keys if key is not None]
            self._text += KEY_MARK
            self._inner_keys, self._inner_backspaces = [], 0
        elif self._inner_keys or (self._short_line_keys and t - self._read_at >= TYPING_PAUSE_S):
            self._release_inner_keys()

    def _may_be_code(self) -> bool:
        """Return whether the open line may be a code, and not typing that a slow link delivered together with a key."""
        return len(self._text) - len(self._short_line_keys) >= MIN_BEFORE_KEY or begins_gs1_message(self._text)

    def _release_inner_keys(self) -> None:
        """Emit inner keys as keys and apply Backspaces, because no character followed.

        The same holds for keys in a line of a few characters.
        """
        if self._short_line_keys and not self._may_be_code():
            self._decoded += self._short_line_keys
            self._text = self._text.replace(KEY_MARK, "")
        self._decoded += [key for key in self._inner_keys if key is not None]
        if self._inner_backspaces:
            self._text, self._before_pause = self._text[: -self._inner_backspaces], 0
        self._inner_keys, self._short_line_keys, self._inner_backspaces = [], [], 0

    def _hold_key(self, key: EscapeInput | None, t: float) -> None:
        """Hold a key on the empty line. A scan that follows it at scanner pace drops it."""
        self._keys_before.append(key)
        self._key_before_at = t

    def _release_keys_before(self) -> None:
        """Emit the keys on the empty line, because no character followed at scanner pace."""
        held, self._keys_before = self._keys_before, []
        for key in held:
            if key is None:
                self._emit_back()
            else:
                self._decoded.append(key)

    def _emit_back(self) -> None:
        self._last_terminator = ""
        self._decoded.append(Key("back"))

    # Escape sequences

    def _read_sequence_byte(self, data: bytes, pos: int, t: float) -> tuple[bytes, int]:
        """Add one byte to the open sequence. Return data and position to continue at.

        The data is longer if the bytes were no sequence.
        """
        sequence = self._sequence
        assert sequence is not None
        byte = data[pos]
        if (
            byte == _STX and sequence.is_string
        ):  # a scanner marks the beginning of a code: what came before does not belong to it
            self._sequence = None
            leftover = b"" if sequence.is_answer else self._sequence_as_data(sequence)
            return leftover + data[pos:], 0
        if byte in _IGNORED and not (byte == 0x07 and sequence.is_string):
            return data, pos + 1
        progress = sequence.add(chr(byte))
        if progress is INCOMPLETE:
            return data, pos + 1
        self._sequence = None
        is_complete = progress is COMPLETE
        if progress is NOT_A_SEQUENCE and not sequence.is_late and self._is_inside_scan(sequence.started_at):
            self._add_inner_key(None, t)
        reread, rest = (
            (self._end_sequence(sequence, t), pos + 1)
            if is_complete
            else (self._sequence_as_data(sequence, chr(byte)), pos)
        )
        return (reread + data[rest:], 0) if reread else (data, rest)

    def _sequence_as_data(self, sequence: EscapeSequence, next_character: str = "") -> bytes:
        """Return the characters after the ESC as data.

        An ESC attached to a scan is noise and must not change the order.
        """
        return sequence.data_if_unfinished(next_character).encode("latin-1")

    def _end_sequence(self, sequence: EscapeSequence, t: float) -> bytes:
        """Emit a complete sequence. Return the bytes that it means, if it means some."""
        text = sequence.text
        if sequence.is_late:
            return b"" if _LATE_CSI.fullmatch(text) else self._sequence_as_data(sequence)
        if text == _PASTE_START:
            self._is_pasting = True
            self._read_at = t
        elif text == _PASTE_END:
            self._end_paste(t)
        elif len(text) == 3 and text[1] == "O" and text[2] in KEYPAD_CHARACTERS:
            return KEYPAD_CHARACTERS[text[2]].encode()
        elif text == F8_SEQUENCE and begins_gs1_message(self._text):
            return GROUP_SEPARATOR.encode()
        elif is_key(text) and self._is_at_pace(sequence.started_at):
            self._add_inner_key(EscapeInput(text), t)
        elif _PREFIX_KEY.fullmatch(text) and not self._text:
            if sequence.started_at - self._key_before_at >= TYPING_PAUSE_S:
                self._release_keys_before()
            self._hold_key(EscapeInput(text), t)
        else:
            self._release_keys_before()
            self._decoded.append(EscapeInput(text))
            self._next_prefix, self._prefix_at = possible_prefix_of(text), t
        return b""

    def _end_paste(self, t: float) -> None:
        if self._text:
            self._end_line("paste", t)
        self._is_pasting = False
        self._last_terminator, self._terminated_at = "paste", t

    def _escape_key(self) -> None:
        """Apply the Esc key: clear the typed line, or go back if it is empty."""
        if self._text:
            self._text = ""
        else:
            self._emit_back()

    def _begins_late_sequence(self, byte: int, t: float) -> bool:
        """Return whether the byte is a `[` that may continue an earlier ESC; otherwise nothing later does."""
        if byte in _IGNORED:
            return False
        may_be_late, self._late_until = t <= self._late_until, 0.0
        if may_be_late and byte == _BRACKET:
            self._sequence = EscapeSequence(t, late=True)
            self._sequence.add("[")
            return True
        return False

    def _is_late_function_key(self, data: bytes, t: float) -> bool:
        """Return True for the late rest of an `ESC O P`, alone in its read.

        `ORD-12` scanned after Esc must stay whole.
        """
        return 0 < t <= self._late_until and not self._text and _LATE_SS3.fullmatch(data) is not None

    def _flush(self) -> list[DecodedInput]:
        text = self._text if self._text.strip(_SEPARATORS) else ""
        if text != self._reported_text:
            self._reported_text = text
            self._decoded.append(OpenLine(text))
        decoded, self._decoded = self._decoded, []
        return decoded
