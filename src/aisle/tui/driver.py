"""The terminal, as aisle wants it: reads are stamped and decoded here, and reach the app in order, one call for each.

A subclass of Textual's driver, because the stock one hands every key to whatever has the focus, dies of a byte that is
not UTF-8, spins when the terminal is gone, and asks terminals for more than a handheld's emulator can answer. Of
Textual's private parts it uses `Driver._app`, `Driver._loop`, `LinuxDriver._run_input_thread` and `XTermParser`; a test
fails when one of them changes.
"""

from __future__ import annotations

import os
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
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final, Protocol, TextIO

from textual import events
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver
from textual.geometry import Size
from textual.message import Message

from aisle.scan.decoder import Decoder
from aisle.scan.escape_sequences import STRING_INTRODUCERS
from aisle.scan.inputs import DecodedInput, EscapeInput, Key, Line, OpenLine
from aisle.scan.line_grouping import LineGrouper

ESCAPE_TIMEOUT_S: Final = 0.1
"""An ESC after which nothing is read for so long is the Esc key."""
MAX_READ: Final = 65536
"""Bytes of input that are decoded at once."""
MIN_WAIT_S: Final = 0.001
"""No wait for input is shorter."""
CLOSE_TIMEOUT_S: Final = 1.0
"""How long a terminal that does not take its output can hold up the end of the program."""

_KEYS: Final = frozenset(
    ("up", "down", "left", "right", "pageup", "pagedown", "home", "end", *(f"f{number}" for number in range(1, 13)))
)
_HIDE, _SHOW = "\x1b[?25l", "\x1b[?25h"
_WRAP_OFF, _WRAP_ON = "\x1b[?7l", "\x1b[?7h"
_PASTE_ON, _PASTE_OFF = "\x1b[?2004h", "\x1b[?2004l"
_NUMERIC_KEYPAD: Final = "\x1b>"
_ALTERNATE, _LEAVE_ALTERNATE = "\x1b[?1049h", "\x1b[?1049l"
_CLEAR: Final = "\x1b[m\x1b[2J\x1b[H"


class InputReceiver(Protocol):
    """What the driver needs of the app. All of it is called on the loop's thread."""

    ready_for_input: bool
    """Until it is true, input waits in the driver; the app calls `AisleDriver.release` when it becomes true."""

    def take(self, items: list[DecodedInput], read_at: float) -> None:
        """Inputs in the order of their bytes, without `Escape`; `read_at` (monotonic seconds) is the last one's."""
        ...

    def hang_up(self) -> None:
        """The terminal is gone, or the program is to end: finish what is begun and exit. Called once."""
        ...

    def confirm_pin(self, token: str, valid_until: float) -> None:
        """Whoever sits at a browser has said his PIN at its door."""
        ...


class TerminalWriter(Thread):
    """Writes to the terminal without ever holding up whoever has something to write."""

    def __init__(self, file: TextIO) -> None:
        super().__init__(name="aisle-output", daemon=True)
        self._fd = file.fileno()
        self._encoding = file.encoding or "utf-8"
        self._queue: SimpleQueue[str | None] = SimpleQueue()
        self._is_closed = False

    def write(self, text: str) -> None:
        """Queues the text; what is queued while the terminal is slow goes out in one piece."""
        if not self._is_closed:
            self._queue.put(text)

    def run(self) -> None:
        """Until `finish`: write what there is. A terminal that is gone takes everything, silently."""
        last = False
        while not last:
            pieces = [self._queue.get()]
            while not self._queue.empty():
                pieces.append(self._queue.get())
            last = None in pieces
            self._send("".join(piece for piece in pieces if piece).encode(self._encoding, "replace"))

    def _send(self, data: bytes) -> None:
        self._put(data)

    def _put(self, data: bytes) -> None:
        while data and not self._is_closed:
            try:
                data = data[os.write(self._fd, data) :]
            except BlockingIOError:  # somebody before us left the terminal in non-blocking mode
                select.select([], [self._fd], [], ESCAPE_TIMEOUT_S)
            except OSError:
                self._is_closed = True

    def finish(self) -> None:
        """Writes what is left, for a moment at most."""
        self._queue.put(None)
        self.join(CLOSE_TIMEOUT_S)


class AisleDriver(LinuxDriver):
    """Decodes what comes from the terminal, writes what goes to it, and leaves in order when it is gone."""

    def __init__(
        self, app: App[Any], *, debug: bool = False, mouse: bool = False, size: tuple[int, int] | None = None
    ) -> None:
        """As Textual calls it; the mouse stays off whatever it says."""
        super().__init__(app, debug=debug, mouse=False, size=size or _terminal_size())
        self._receiver: InputReceiver = app  # type: ignore[assignment]  # by its methods, not by its class
        self._writer: TerminalWriter | None = None
        self._decoder = Decoder()
        self._scan_lines = LineGrouper()
        self._last_read_at = 0.0
        """When something was read, or the decoder was told that nothing was."""
        self._parser = XTermParser()
        self._pending_inputs: deque[tuple[list[DecodedInput], float]] = deque()
        self._wake_pipe: tuple[int, int] | None = None
        self._input: Thread | None = None
        self._saved_mode: list[Any] | None = None
        self._context = copy_context()
        self._active = self._suspended = self._has_left = False

    # Out

    def write(self, data: str) -> None:
        """Text for the terminal; never waits for it, never fails. Nothing follows what gives the terminal back: Textual
        may still have something to say of its pointer, and a shell would show it."""
        if self._writer is not None and self._active:
            self._writer.write(data)

    def close(self) -> None:
        """Sees the last bytes out."""
        if self._writer is not None:
            self._writer.finish()
            self._writer = None

    def _open_writer(self) -> TerminalWriter:
        """Where all goes that is written."""
        return TerminalWriter(_terminal_file())

    # On and off

    def start_application_mode(self) -> None:
        """Takes the terminal over. Called again while it has it, it was stopped and goes on, or the terminal is gone
        (SIGCONT comes with a hang-up)."""
        if self._active and not self._has_left:
            self._resume()
        if self._active or self._has_left:
            return
        with suppress(termios.error):
            self._saved_mode = termios.tcgetattr(self.fileno)
        self._active = True
        self._context = copy_context()
        self._writer = self._open_writer()
        self._writer.start()
        self.write(_setup_sequence(os.environ.get("TERM", "")))
        self._raw_mode()
        self._watch_signals()
        self._wake_pipe = os.pipe()
        self._input = Thread(target=self._run_input_thread, name="aisle-input", daemon=True)
        self._input.start()
        if self._suspended:
            self._repaint()
        self._suspended = False

    def _resume(self) -> None:
        """Whoever had the terminal meanwhile, a shell mostly, has set it as he likes and written on it."""
        self._raw_mode()
        self.write(_setup_sequence(os.environ.get("TERM", "")))
        self._repaint()

    def _repaint(self) -> None:
        self._app.post_message(self.SignalResume())
        self._app.refresh(layout=True)

    def stop_application_mode(self) -> None:
        """Gives the terminal back as it was."""
        if not self._active:
            return
        self.disable_input()
        self.write(_restore_sequence(os.environ.get("TERM", "")))
        self._active, self._suspended = False, True
        if self._saved_mode is not None:
            with suppress(termios.error):
                termios.tcsetattr(self.fileno, termios.TCSANOW, self._saved_mode)

    def disable_input(self) -> None:
        """Ends the input thread; what nobody has read yet is dropped, so that no scan ends up in a shell."""
        if self._wake_pipe is None or self._input is None:
            return
        reader, writer = self._wake_pipe
        os.write(writer, b"\0")
        self._input.join()
        os.close(reader)
        os.close(writer)
        self._wake_pipe = self._input = None
        with suppress(termios.error):
            termios.tcflush(self.fileno, termios.TCIFLUSH)

    def _raw_mode(self) -> None:
        """Every byte as it comes, at once; TCSANOW keeps what was typed before."""
        try:
            mode = termios.tcgetattr(self.fileno)
            mode[tty.IFLAG] &= ~(
                termios.BRKINT | termios.PARMRK | termios.ISTRIP | termios.INLCR | termios.IGNCR | termios.ICRNL
            ) & ~(termios.IXON | termios.IXOFF)
            mode[tty.LFLAG] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN | termios.ISIG)
            mode[tty.CC][termios.VMIN], mode[tty.CC][termios.VTIME] = 1, 0
            termios.tcsetattr(self.fileno, termios.TCSANOW, mode)
        except termios.error:  # no terminal, or one that is gone already: its end will be read
            return

    def _watch_signals(self) -> None:
        for number, handler in (
            (signal.SIGHUP, self._leave),
            (signal.SIGTERM, self._leave),
            (signal.SIGQUIT, self._leave),
            (signal.SIGWINCH, self._on_resize),
        ):
            self._loop.add_signal_handler(number, handler)

    def _on_resize(self) -> None:
        size = Size(*_terminal_size())
        self._app.post_message(events.Resize(size, size))

    def _leave(self) -> None:
        """Asks the app to end, once, however many reasons there are."""
        if not self._has_left:
            self._has_left = True
            self.release()
            self._receiver.hang_up()

    # In

    def run_input_thread(self) -> None:
        """Reads, decodes and hands over, until the terminal or the program ends."""
        assert self._wake_pipe is not None
        wake = self._wake_pipe[0]
        while True:
            asked = time.monotonic()
            wait = self._longest_wait(asked)
            ready, _, _ = select.select([self.fileno, wake], [], [], wait)
            now = time.monotonic()
            if wake in ready:
                return
            if not ready:
                self._handle_silence(now)
                continue
            data = _read(self.fileno)
            if data == b"":
                self._queue_inputs(self._scan_lines.end(), now)
                self._call_on_loop(self._leave)
                return
            if data:
                now = now if wait is None else min(now, asked + wait)  # it came within the wait, however late this is
                self._last_read_at = now
                self._handle_read(data, now)

    def _longest_wait(self, now: float) -> float | None:
        """How long a silence from now on has to be that says something; None where none ever does."""
        lines = self._scan_lines.seconds_left(now)
        if not self._decoder.is_waiting:
            return lines
        escape = max(self._last_read_at + ESCAPE_TIMEOUT_S - now, MIN_WAIT_S)
        return escape if lines is None else min(escape, lines)

    def _handle_silence(self, now: float) -> None:
        """Nothing was read for as long as `_longest_wait` said."""
        decoded = []
        if self._decoder.is_waiting and now - self._last_read_at >= ESCAPE_TIMEOUT_S:
            self._last_read_at, decoded = now, self._decoder.tick(now)
        if decoded:
            decoded = self._scan_lines.group(decoded, now)
        self._queue_inputs([*decoded, *self._scan_lines.tick(now)], now)

    def _handle_read(self, data: bytes, now: float) -> None:
        """What one read brought."""
        self._queue_inputs(self._scan_lines.group(self._decoder.feed(data, now), now), now)

    def _queue_inputs(self, decoded: list[DecodedInput], read_at: float) -> None:
        items = [
            item
            for each in decoded
            for item in (self._parse_escape(each) if isinstance(each, EscapeInput) else (each,))
        ]
        if items:
            self._pending_inputs.append((items, read_at))
            self._call_on_loop(self.release)

    def _parse_escape(self, escape: EscapeInput) -> tuple[DecodedInput, ...]:
        """A key in its place. What else a sequence would say is for nobody: whatever can write into the input could
        give the screen another size by it. Of an answer the parser would make a key for each character.
        """
        if escape.data[1] in STRING_INTRODUCERS:
            return ()
        try:
            messages: list[Message] = list(self._parser.feed(escape.data))
        except Exception:  # numbers in it that no key and no character has: a bad line ends nobody's work
            messages = []
        if not messages:  # unknown: it must not run into the next one
            self._parser = XTermParser()
        names = [message.key for message in messages if isinstance(message, events.Key)]
        return tuple(Key(name if name in _KEYS else "other", escape.scan_number) for name in names)

    def _call_on_loop(self, call: Callable[[], None]) -> None:
        """Calls it there with what Textual keeps in context variables, above all which app is running."""
        with suppress(RuntimeError):  # the loop is closed: the program is at its end
            self._loop.call_soon_threadsafe(call, context=self._context)

    def release(self) -> None:
        """Hands the app all that was read and not taken yet, in one go; the app calls it when it becomes ready."""
        if not self._pending_inputs or not self._receiver.ready_for_input:
            return
        items: list[DecodedInput] = []
        read_at = 0.0
        while self._pending_inputs:
            more, read_at = self._pending_inputs.popleft()
            items += more
        try:
            self._receiver.take(_drop_outdated_typed_text(items), read_at)
        except Exception as error:
            self._app.call_later(_raise_error, error)


def _drop_outdated_typed_text(items: list[DecodedInput]) -> list[DecodedInput]:
    """Drops what stood on an open line that has grown or ended since."""
    following = [*items[1:], None]
    return [
        item
        for item, after in zip(items, following, strict=True)
        if not (isinstance(item, OpenLine) and isinstance(after, OpenLine | Line))
    ]


def _raise_error(error: Exception) -> None:
    """In a message of the app, so that Textual ends the program and shows what happened."""
    raise error


def _read(fd: int) -> bytes | None:
    """All that there is, however it is cut; None when there is nothing after all, empty at the end of the terminal."""
    data = b""
    while len(data) < MAX_READ:
        try:
            more = os.read(fd, MAX_READ)
        except BlockingIOError:
            break
        except OSError:  # the end is met again by the next read
            return data
        data += more
        if not more or not select.select([fd], [], [], 0)[0]:
            return data
    return data or None


def _terminal_file() -> TextIO:
    """Where the terminal is: stderr, unless only stdout goes there."""
    files = [file for file in (sys.__stderr__, sys.__stdout__) if file is not None]
    return next((file for file in files if file.isatty()), files[0])


def _terminal_size() -> tuple[int, int]:
    """Columns and rows of the terminal; 80 x 24 when it does not know."""
    for file in (sys.__stdin__, sys.__stderr__, sys.__stdout__):
        with suppress(OSError, ValueError, AttributeError):
            columns, rows = os.get_terminal_size(file.fileno())  # type: ignore[union-attr]
            if columns and rows:
                return columns, rows
    return 80, 24


def _lacks_alternate_screen(term: str) -> bool:
    """Terminals without an alternate screen: what was on it cannot be brought back, so it is cleared."""
    return term.startswith(("vt", "linux", "dumb", "ansi", "unknown")) or not term


def _setup_sequence(term: str) -> str:
    """The little that a terminal has to be told; nothing in it asks for an answer."""
    screen = (
        _CLEAR if _lacks_alternate_screen(term) else _ALTERNATE + _CLEAR
    )  # where it is not known, it must be clean too
    return screen + _HIDE + _NUMERIC_KEYPAD + _WRAP_OFF + ("" if term == "dumb" else _PASTE_ON)


def _restore_sequence(term: str) -> str:
    paste = "" if term == "dumb" else _PASTE_OFF
    return paste + _WRAP_ON + (_CLEAR if _lacks_alternate_screen(term) else "\x1b[m" + _LEAVE_ALTERNATE) + _SHOW
