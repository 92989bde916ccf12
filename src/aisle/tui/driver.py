"""Terminal driver: stamps and decodes each read, passes the inputs to the app in order, and writes what changes.

Textual's own driver passes keys to the focused widget, fails on a byte that is not UTF-8, and sends requests that
handheld emulators do not support. This one uses the public `Driver` alone.
"""

from __future__ import annotations

import asyncio
import math
import os
import re
import select
import signal
import sys
import termios
import time
import tty
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from threading import Event, Thread
from typing import Any, Final, Protocol, TextIO

from textual.app import App
from textual.driver import Driver

from aisle.browser_addresses_and_packets import MAX_COLUMNS, MAX_ROWS
from aisle.scan.decoder import Decoder
from aisle.scan.escape_sequences import parse_key
from aisle.scan.inputs_and_line_grouping import (
    PALETTE_KEY,
    SAME_SCAN_S,
    DecodedInput,
    EscapeInput,
    Key,
    Line,
    LineGrouper,
    OpenLine,
)
from aisle.tui.mouse import MOUSE_OFF, MOUSE_ON, MouseInput, parse_mouse
from aisle.tui.terminal_output import TerminalDiff, TerminalWriter

ONE_KEY_S: Final = 0.15
"""Seconds of silence after which one letter acts without Enter. A scanner sends its next character much sooner."""

PALETTE_BYTE: Final = b"\x0b"
"""Ctrl+K. Some scanners send the same byte before or after a code."""

ESCAPE_TIMEOUT_S: Final = 0.1
"""Seconds of silence after which an ESC is the Esc key."""
MAX_READ: Final = 65536
"""Bytes of input that are decoded at once."""
MAX_DECODE: Final = 4096
"""Bytes of a read that are decoded before what they mean is queued."""
MAX_PENDING: Final = 1000
"""Number of queued inputs above which nothing more is read: who sends faster than the app takes has to wait."""
MAX_BATCH: Final = 250
KEY_COST: Final = 10
"""Number of inputs that the app takes at once, of which a key counts as ten: it may lay the screen out."""
BATCH_S: Final = 0.5
"""Seconds for which the app may take inputs without showing what became of them; fewer are passed on if it is slow."""
LAST_INPUTS_S: Final = 2.0
"""Seconds for queued inputs when the terminal is gone or the program has to stop."""
FAST_KEY_S: Final = 0.019
"""Seconds of silence after a key from which a person pressed the next one. It counts only if it was seen: a busy
machine reads later what a scanner sent at once."""
LABEL_KEY_S: Final = 0.099
"""The same for the Enter after the label of a location of one character, which may come late (`SAME_SCAN_S`)."""
MAX_SHORT_LINE: Final = 3
"""Characters of an open line that may be an answer, whose pace decides what it is."""
MIN_WAIT_S: Final = 0.001
"""Shortest wait for input, in seconds."""

_HIDE, _SHOW = "\x1b[?25l", "\x1b[?25h"
_WRAP_OFF, _WRAP_ON = "\x1b[?7l", "\x1b[?7h"
_PASTE_ON, _PASTE_OFF = "\x1b[?2004h", "\x1b[?2004l"
_NUMERIC_KEYPAD: Final = "\x1b>"
_ALTERNATE, _LEAVE_ALTERNATE = "\x1b[?1049h", "\x1b[?1049l"
_CLEAR: Final = "\x1b[m\x1b[2J\x1b[H"
_BELL: Final = "\x07"
_UPDATE_START: Final = re.compile(r"\x1b\[\d+;\d+H")
"""Beginning of what Textual writes to draw; its other sequences set modes."""


TerminalInput = DecodedInput | MouseInput
"""Every input of a terminal."""


class InputReceiver(Protocol):
    """Methods of the app that the driver calls, all in the event loop's thread."""

    ready_for_input: bool
    """False while input waits in the driver; the app calls `AisleDriver.release` when it becomes True."""

    def attach(self, driver: AisleDriver) -> None:
        """Take the driver of the terminal. Called once, before everything else."""
        ...

    def take(self, items: list[TerminalInput], read_at: float) -> None:
        """Take inputs in the order of their bytes; `read_at` (monotonic seconds) is that of the last one."""
        ...

    def hang_up(self) -> None:
        """End the app in order: the terminal is gone, or the program has to stop. Called once."""
        ...

    def confirm_pin(self, token: str, valid_until: float) -> None:
        """Take the user token that was obtained at the browser."""
        ...

    def change_size(self, columns: int, rows: int) -> None:
        """Take the terminal's size, and draw everything again. It may be the same as before."""
        ...

    def redraw(self) -> None:
        """Draw everything again, because another program has used the terminal."""
        ...

    def fail(self, error: Exception) -> None:
        """End the program and show the error."""
        ...


class AisleDriver(Driver):
    """Driver that decodes input, writes output, and ends in order when the terminal is gone."""

    reports_pages = False
    """True if whoever shows the terminal is told which page is on it."""

    def __init__(
        self, app: App[Any], *, debug: bool = False, mouse: bool = False, size: tuple[int, int] | None = None
    ) -> None:
        """Store the arguments of Textual. The app switches the mouse on if the screen uses it."""
        super().__init__(app, debug=debug, mouse=False, size=size or terminal_size())
        self._has_mouse = self._has_palette_key = False
        """True if the screen is a desk; if Ctrl+K was read there and nothing after it."""
        self._data_at = 0.0
        """Time of the last data that was decoded."""
        self._receiver: InputReceiver = app  # type: ignore[assignment]  # by its methods, not by its class
        self._event_loop = asyncio.get_running_loop()
        self._input_fd = sys.__stdin__.fileno() if sys.__stdin__ else 0
        self._writer: TerminalWriter | None = None
        self._diff = TerminalDiff()
        self.one_key_letters = ""
        """Letters that act at once; a blank among them marks a row."""
        self.dropped_length = 0
        """Number of characters of the open line that were typed for another page than the one on the screen."""
        self._decoder = Decoder()
        self._scan_lines = LineGrouper()
        self._last_read_at = 0.0
        """Time of the last read, or of the last tick of the decoder."""
        self._unseen_silence = 0.0
        """Seconds of silence after a short line that were not seen yet: more of it came before their end. 0 if all
        that matter were seen, or the line is long."""
        self._pending_inputs: deque[tuple[list[TerminalInput], float]] = deque()
        self._queued_count = self._released_count = 0
        """Numbers of inputs that were queued by the input thread, and passed on by the event loop."""
        self._taken_count = 0
        """Number of inputs that the app has taken without an error."""
        self._is_release_planned = False
        self._batch_cost = MAX_BATCH
        """Cost of the inputs that the app takes in `BATCH_S`, at most `MAX_BATCH`."""
        self._has_room = Event()
        self._is_input_over = False
        """True if the end came while input waited: what was not queued is dropped."""
        self._ended_at: float | None = None
        """When it was seen that nobody writes any more to what is read here; some input may be left."""
        self._held_s = 0.0
        """Seconds that the input thread has waited for room: no pauses of whoever types or scans."""
        self._wake_pipe: tuple[int, int] | None = None
        self._input: Thread | None = None
        self._saved_mode: list[Any] | None = None
        self._context = copy_context()
        self._active = self._suspended = self._has_left = False
        self._last_inputs_until = math.inf
        """When the app takes no more inputs, since it has to end."""

    # Output

    def write(self, data: str) -> None:
        """Queue what an update of Textual changes, or a bell; never wait, never fail.

        Everything else is dropped, such as pointer shapes: not every terminal ignores sequences that it does not know.
        """
        if data == _BELL:
            self._send(data)
        elif _UPDATE_START.match(data):
            self._send(self._diff.reduce(data))

    def forget_screen(self, columns: int, rows: int) -> None:
        """Take the size of the terminal, whose content is unknown now. The next update has to draw everything."""
        self._diff.resize(columns, rows)

    def report_mouse(self, is_on: bool) -> None:
        """Ask the terminal for reports of clicks and the wheel, or for none."""
        if is_on != self._has_mouse:
            self._has_mouse = is_on
            self._send(MOUSE_ON if is_on else MOUSE_OFF, always=True)

    def report_page(self, address: str, title: str) -> None:
        """Report the address and title of the page on the screen, if `reports_pages`."""

    def offer_file(self, name: str, content: bytes) -> bool:
        """Offer a file as a download to whoever shows the terminal. Return True if it is taken, as by a browser."""
        return False

    def close(self) -> None:
        """Write the last bytes."""
        if self._writer is not None:
            self._writer.finish()
            self._writer = None

    def _send(self, text: str, *, always: bool = False) -> None:
        """Queue text for the terminal, `always` also while it is slow. Text after the restore sequence is dropped,
        because a shell would show it.
        """
        if text and self._writer is not None and self._active:
            self._writer.write(text, always=always)

    def _open_writer(self) -> TerminalWriter:
        """Return the writer of all output."""
        return TerminalWriter(_terminal_file(), self._repaint_dropped)

    def _repaint_dropped(self) -> None:
        self._call_on_loop(self._receiver.redraw)

    # Start and stop

    def start_application_mode(self) -> None:
        """Take over the terminal. If it has it already, the process was stopped and continues, or the terminal is gone.

        SIGCONT also comes with a hang-up.
        """
        self._receiver.attach(self)
        if self._active and not self._has_left:
            self._resume()
        if self._active or self._has_left:
            return
        with suppress(termios.error):
            self._saved_mode = termios.tcgetattr(self._input_fd)
        self._active = True
        self._context = copy_context()
        self._writer = self._open_writer()
        self._writer.start()
        self._set_up_terminal()
        self._diff.resize(*self._screen_size(), is_clear=True)
        self._raw_mode()
        self._watch_signals()
        self._wake_pipe = os.pipe()
        self._is_input_over = False
        self._input = Thread(target=self._run_input_thread, name="aisle-input", daemon=True)
        self._input.start()
        if self._suspended:
            self._receiver.redraw()
        self._suspended = False

    def _screen_size(self) -> tuple[int, int]:
        """Return columns and rows of the terminal."""
        return terminal_size()

    def _resume(self) -> None:
        """Set up and repaint the terminal after another program, mostly a shell, has used it."""
        self._raw_mode()
        self._set_up_terminal()
        self._receiver.redraw()

    def _set_up_terminal(self) -> None:
        self._send(_setup_sequence(os.environ.get("TERM", "")) + MOUSE_ON * self._has_mouse, always=True)

    def _suspend(self) -> None:
        """Give the terminal back and stop the process, as the terminal's SIGTSTP asks."""
        self.suspend_application_mode()
        os.kill(os.getpid(), signal.SIGSTOP)

    def stop_application_mode(self) -> None:
        """Restore the terminal."""
        if not self._active:
            return
        self.disable_input()
        if self._writer is not None:
            restore = MOUSE_OFF * self._has_mouse + _restore_sequence(os.environ.get("TERM", ""))
            self._writer.write(restore, always=True)
        self._active, self._suspended = False, True
        if self._saved_mode is not None:
            with suppress(termios.error):
                termios.tcsetattr(self._input_fd, termios.TCSANOW, self._saved_mode)

    def disable_input(self) -> None:
        """End the input thread and drop unread input, so that no scan reaches a shell."""
        if self._wake_pipe is None or self._input is None:
            return
        reader, writer = self._wake_pipe
        os.write(writer, b"\0")
        self._input.join()
        os.close(reader)
        os.close(writer)
        self._wake_pipe = self._input = None
        with suppress(termios.error):
            termios.tcflush(self._input_fd, termios.TCIFLUSH)

    def _raw_mode(self) -> None:
        """Switch to raw mode: every byte at once. TCSANOW keeps what was typed before."""
        try:
            mode = termios.tcgetattr(self._input_fd)
            mode[tty.IFLAG] &= ~(
                termios.BRKINT | termios.PARMRK | termios.ISTRIP | termios.INLCR | termios.IGNCR | termios.ICRNL
            ) & ~(termios.IXON | termios.IXOFF)
            mode[tty.LFLAG] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN | termios.ISIG)
            mode[tty.CC][termios.VMIN], mode[tty.CC][termios.VTIME] = 1, 0
            termios.tcsetattr(self._input_fd, termios.TCSANOW, mode)
        except termios.error:  # no terminal, or one that is gone: the next read ends
            return

    def _watch_signals(self) -> None:
        for number, handler in (
            (signal.SIGHUP, self._leave),
            (signal.SIGTERM, self._leave),
            (signal.SIGQUIT, self._leave),
            (signal.SIGTSTP, self._suspend),
            (signal.SIGCONT, self.start_application_mode),
            (signal.SIGWINCH, self._on_resize),
        ):
            self._event_loop.add_signal_handler(number, handler)

    def _on_resize(self) -> None:
        self._receiver.change_size(*terminal_size())

    def _leave(self) -> None:
        """Ask the app to end, once."""
        if not self._has_left:
            self._has_left = True
            self._last_inputs_until = time.monotonic() + LAST_INPUTS_S
            while self._may_take():
                self.release()
            self._receiver.hang_up()

    # Input

    def _run_input_thread(self) -> None:
        """Read, decode and queue inputs until the terminal or the program ends. Pass an error on to the app."""
        try:
            self._read_inputs()
        except Exception as error:
            self._call_on_loop(partial(self._receiver.fail, error))

    def _read_inputs(self) -> None:
        assert self._wake_pipe is not None
        wake = self._wake_pipe[0]
        while True:
            start = self._now()
            wait = self._longest_wait(start)
            ready, _, _ = select.select([self._input_fd, wake], [], [], wait)
            now = self._now()
            if wake in ready:
                return
            if not ready:
                if self._unseen_silence and now - self._last_read_at >= self._unseen_silence:
                    self._unseen_silence = LABEL_KEY_S if self._unseen_silence == FAST_KEY_S else 0.0
                self._handle_silence(now)
                continue
            if self._is_input_over:
                return
            data = _read(self._input_fd)
            if data == b"":
                self._queue_inputs(self._scan_lines.end(), now)
                self._call_on_loop(self._leave)
                return
            if data:
                now = now if wait is None else min(now, start + wait)  # it came within the wait, however late this is
                if self._unseen_silence:
                    now = min(now, self._last_read_at + self._unseen_silence)
                self._last_read_at = now
                self._handle_read(data, now)
                is_short = 0 < len(self._decoder.open_text) <= MAX_SHORT_LINE
                self._unseen_silence = FAST_KEY_S if is_short else 0.0

    def _longest_wait(self, now: float) -> float | None:
        """Return the seconds of silence after which the decoder or grouper has to be ticked, or the pace is known; None
        for none."""
        lines = self._scan_lines.seconds_left(now)
        if self._unseen_silence:
            pace = max(self._last_read_at + self._unseen_silence - now, 0.0)
            lines = pace if lines is None else min(lines, pace)
        if self._has_one_key or self._has_palette_key:
            lines = min(ONE_KEY_S if lines is None else lines, max(self._last_read_at + ONE_KEY_S - now, MIN_WAIT_S))
        if not self._decoder.is_waiting:
            return lines
        escape = max(self._last_read_at + ESCAPE_TIMEOUT_S - now, MIN_WAIT_S)
        return escape if lines is None else min(escape, lines)

    def _handle_silence(self, now: float) -> None:
        """Tick decoder and grouper after the silence of `_longest_wait`."""
        decoded = []
        if self._decoder.is_waiting and now - self._last_read_at >= ESCAPE_TIMEOUT_S:
            self._last_read_at, decoded = now, self._decoder.tick(now)
        elif self._has_one_key and now - self._last_read_at >= ONE_KEY_S:
            decoded = self._end_one_key(now)
        elif self._has_palette_key and now - self._last_read_at >= ONE_KEY_S:
            self._has_palette_key, decoded = False, [Key(PALETTE_KEY)]
        if decoded:
            decoded = self._scan_lines.group(decoded, now)
        self._queue_inputs([*decoded, *self._scan_lines.tick(now)], now)

    @property
    def _has_one_key(self) -> bool:
        """Return True if the open line is one letter that acts at once, unless it is the first one of a scan."""
        text = self._decoder.open_text
        is_own = len(text) == 1 and not self.dropped_length
        return is_own and not {text, text.lower()}.isdisjoint(self.one_key_letters)

    def _end_one_key(self, now: float) -> list[DecodedInput]:
        """End the line of one letter as Enter would; a blank is the key that marks a row."""
        if self._decoder.open_text == " ":
            return [*self._decoder.feed(b"\x7f", now), Key("mark")]
        return self._decoder.feed(b"\r", now)

    def _now(self) -> float:
        """Return the time for decoder and grouper: monotonic seconds without those that input waited for room."""
        return time.monotonic() - self._held_s

    def _handle_read(self, data: bytes, now: float) -> None:
        """Decode the bytes of one read. Wait after each part while the app has much to take."""
        self._forget_dropped(now)
        is_apart = now - self._data_at > SAME_SCAN_S and not self._decoder.open_text
        self._has_palette_key, self._data_at = self._has_mouse and is_apart and data == PALETTE_BYTE, now
        for start in range(0, len(data), MAX_DECODE):
            part = data[start : start + MAX_DECODE]
            self._queue_inputs(self._scan_lines.group(self._decoder.feed(part, now), now), now)
            self._wait_for_room()
            if self._is_input_over:
                return

    def _forget_dropped(self, now: float) -> None:
        """Drop the open line if all of it was typed for another page: Esc and letters act on this one."""
        dropped, self.dropped_length = self.dropped_length, 0
        if dropped and len(self._decoder.open_text) == dropped:
            self._queue_inputs(self._scan_lines.group(self._decoder.drop_line(), now), now)

    def _wait_for_room(self) -> None:
        """Wait while too many inputs are queued. Input is over if the program ends, or long after the terminal."""
        assert self._wake_pipe is not None
        began = time.monotonic()
        waited_for = select.poll()
        waited_for.register(self._wake_pipe[0])
        waited_for.register(self._input_fd, 0)  # to hear of its end
        while self._queued_count - self._released_count > MAX_PENDING:
            self._has_room.wait(ESCAPE_TIMEOUT_S)
            self._has_room.clear()
            ended = dict(waited_for.poll(0))
            if self._input_fd in ended and self._ended_at is None:
                self._ended_at = time.monotonic()
            if self._ended_at is not None and time.monotonic() - self._ended_at > LAST_INPUTS_S:
                self._call_on_loop(self._leave)
                self._is_input_over = True
            self._is_input_over = self._is_input_over or self._wake_pipe[0] in ended
            if self._is_input_over:
                return
        self._held_s += time.monotonic() - began

    def _queue_inputs(self, decoded: list[DecodedInput], read_at: float) -> None:
        items = [item for each in decoded if (item := _parse_escape(each)) is not None]
        if items:
            self._queued_count += len(items)
            self._pending_inputs.append((items, read_at + self._held_s))
            self._plan_release()

    def _plan_release(self) -> None:
        """Have the event loop release inputs, once in each of its iterations."""
        if not self._is_release_planned:
            self._is_release_planned = True
            self._call_on_loop(self.release)

    def _call_on_loop(self, call: Callable[[], None]) -> None:
        """Call in the event loop's thread with Textual's context variables, such as the active app."""
        with suppress(RuntimeError):  # the loop is closed: the program ends
            self._event_loop.call_soon_threadsafe(call, context=self._context)

    def release(self) -> None:
        """Pass the inputs that are queued to the app in one call. The app calls this when it becomes ready.

        Of very many, the event loop has a turn before the next ones: a signal or another size does not wait for all.
        """
        self._is_release_planned = False
        if not self._may_take():
            return
        items, read_at = self._next_batch()
        if self._pending_inputs:
            self._plan_release()
        began = time.monotonic()
        try:
            self._receiver.take(_drop_outdated_typed_text(items), read_at)
            self._taken_count = self._released_count
        except Exception as error:
            self._receiver.fail(error)
        finally:
            took = max(time.monotonic() - began, MIN_WAIT_S)
            self._batch_cost = max(1, min(MAX_BATCH, int(sum(map(_cost, items)) * BATCH_S / took)))
            self._has_room.set()

    def _may_take(self) -> bool:
        """Return True if inputs are queued that the app may take now."""
        is_ready = self._receiver.ready_for_input and time.monotonic() < self._last_inputs_until
        return is_ready and bool(self._pending_inputs)

    def _next_batch(self) -> tuple[list[TerminalInput], float]:
        """Return the next inputs that the app takes at once, and when the last of them was read."""
        items: list[TerminalInput] = []
        read_at, left = 0.0, self._batch_cost
        while self._pending_inputs and left > 0:
            more, read_at = self._pending_inputs.popleft()
            count = _affordable_count(more, left)
            if count < len(more):
                self._pending_inputs.appendleft((more[count:], read_at))
            items += more[:count]
            left -= sum(map(_cost, more[:count]))
        self._released_count += len(items)
        return items, read_at


def _cost(item: TerminalInput) -> int:
    return KEY_COST if isinstance(item, Key | MouseInput) else 1


def _affordable_count(items: list[TerminalInput], most: int) -> int:
    """Return the number of first inputs that cost `most` together, or all of them."""
    total = 0
    for count, item in enumerate(items, 1):
        total += _cost(item)
        if total >= most:
            return count
    return len(items)


def _drop_outdated_typed_text(items: list[TerminalInput]) -> list[TerminalInput]:
    """Drop the text of an open line that has grown or ended since."""
    following = [*items[1:], None]
    return [
        item
        for item, after in zip(items, following, strict=True)
        if not (isinstance(item, OpenLine) and isinstance(after, OpenLine | Line))
    ]


def _parse_escape(item: DecodedInput) -> TerminalInput | None:
    """Return the key or the mouse report of an escape sequence, None if it is neither; other inputs as they are."""
    if not isinstance(item, EscapeInput):
        return item
    if mouse := parse_mouse(item.data):
        return mouse
    name = parse_key(item.data)
    return None if name is None else Key(name, item.scan_number)


def _read(fd: int) -> bytes | None:
    """Read all available bytes. Return None if there are none after all, empty bytes at the end of the terminal."""
    data = b""
    while len(data) < MAX_READ:
        try:
            more = os.read(fd, MAX_READ)
        except BlockingIOError:
            break
        except OSError:  # the next read meets the end again
            return data
        data += more
        if not more or not select.select([fd], [], [], 0)[0]:
            return data
    return data or None


def _terminal_file() -> TextIO:
    """Return the file of the terminal: stderr, unless only stdout is a terminal."""
    files = [file for file in (sys.__stderr__, sys.__stdout__) if file is not None]
    return next((file for file in files if file.isatty()), files[0])


def terminal_size() -> tuple[int, int]:
    """Return columns and rows of the terminal, within limits; 80 x 24 if unknown.

    Whoever connects chooses the size of the window, and a frame of 65535 x 65535 takes gigabytes.
    """
    for file in (sys.__stdin__, sys.__stderr__, sys.__stdout__):
        with suppress(OSError, ValueError, AttributeError):
            columns, rows = os.get_terminal_size(file.fileno())  # type: ignore[union-attr]
            if columns and rows:
                return min(columns, MAX_COLUMNS), min(rows, MAX_ROWS)
    return 80, 24


def _lacks_alternate_screen(term: str) -> bool:
    """Return True for terminals without an alternate screen; they are cleared, because nothing can be restored."""
    return term.startswith(("vt", "linux", "dumb", "ansi", "unknown")) or not term


def _setup_sequence(term: str) -> str:
    """Return the sequence that sets up the terminal; it requests no response."""
    screen = _CLEAR if _lacks_alternate_screen(term) else _ALTERNATE + _CLEAR  # an unknown screen has to be cleared too
    return screen + _HIDE + _NUMERIC_KEYPAD + _WRAP_OFF + ("" if term == "dumb" else _PASTE_ON)


def _restore_sequence(term: str) -> str:
    paste = "" if term == "dumb" else _PASTE_OFF
    return paste + _WRAP_ON + (_CLEAR if _lacks_alternate_screen(term) else "\x1b[m" + _LEAVE_ALTERNATE) + _SHOW
