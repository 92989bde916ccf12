"""Drives a program in a real pseudo-terminal and shows what a person would see there.

One thread, no sleeps: every wait polls the pty and the child for readiness, keeps each read with its time, and looks at
a condition again whenever something came. The screen is drawn by pyte only when somebody looks at it, so that the times
of the reads stay true. The terminal answers no question of the program unless it is told to (`answers=True`).
"""

import contextlib
import fcntl
import os
import re
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Self

import pyte

Condition = str | bytes | Callable[["Terminal"], Any]
"""Text on the screen, bytes in all that was written so far, or a question that answers something true."""

PATIENCE_S = 30.0
"""How long a program may take for what a test waits for, on a host where others work too."""

TICK_S = 0.02
"""How often a condition that hangs on more than the pty (a file, a database) is asked again."""

# Sequences that pyte would print in part: kitty keys, modifyOtherKeys and their like; DCS, APC, PM and SOS strings.
_UNREADABLE = re.compile(rb"\x1b\[[<=>][0-?]*[ -/]*[@-~]|\x1b[PX^_][^\x1b\x07]*(?:\x07|\x1b\\)", re.DOTALL)
_UNFINISHED = re.compile(rb"\x1b(?:\[[<=>]?[0-?]*[ -/]*|[PX^_][^\x1b\x07]*\x1b?)?\Z", re.DOTALL)

# What a terminal is asked: status and cursor, device attributes, a mode's state, version, colours.
_QUESTION = re.compile(rb"\x1b\[(?:(?P<dsr>[56])n|(?P<da>[>=]?)0?c|\?(?P<mode>\d+)\$p|(?P<version>>0?q))")
_COLOUR = re.compile(rb"\x1b\](?P<colour>1[01]);\?(?:\x07|\x1b\\)")
_LONGEST_QUESTION = 32

_SIGNALS_TO_DEFAULT = (signal.SIGHUP, signal.SIGINT, signal.SIGPIPE, signal.SIGQUIT, signal.SIGTERM, signal.SIGWINCH)


class Chunk(NamedTuple):
    """One read from the pty: when (`time.perf_counter` seconds) and what."""

    at: float
    data: bytes


class _Screen(pyte.Screen):
    """A pyte screen that counts the bells."""

    bells = 0

    def bell(self, *_args: Any) -> None:
        self.bells += 1


class Terminal:
    """A program that runs in a new session on its own pty, `cols` x `rows` cells.

    `env` is laid over this process's environment; a value of None removes the name. The descriptor that
    AISLE_LIFELINE_FD names is handed on. `started` is the time of the spawn; times are `time.perf_counter` seconds.
    """

    def __init__(
        self,
        argv: Sequence[str],
        cols: int = 80,
        rows: int = 24,
        env: Mapping[str, str | None] | None = None,
        term: str = "xterm-256color",
        *,
        answers: bool = False,
    ) -> None:
        self.cols, self.rows = cols, rows
        self.chunks: list[Chunk] = []
        self.exit_code: int | None = None
        self._raw = bytearray()
        self._fed = 0
        self._carry = b""
        self._asked = 0
        self._answers = answers
        self._pyte = _Screen(cols, rows)
        self._stream = pyte.ByteStream(self._pyte)
        self._drawn: list[str] | None = None
        self._master, slave = os.openpty()
        try:
            fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
            os.set_blocking(self._master, False)
            self.started = time.perf_counter()
            self.pid = _spawn(argv, _environment(env, term), os.ttyname(slave))
        except BaseException:
            os.close(self._master)
            raise
        finally:
            os.close(slave)
        self._pidfd = os.pidfd_open(self.pid)
        self._poll = select.poll()
        self._poll.register(self._master, select.POLLIN)
        self._poll.register(self._pidfd, select.POLLIN)
        self._reading = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    # What came out

    @property
    def raw(self) -> bytes:
        """Every byte the program has written so far, as read."""
        self.pump()
        return bytes(self._raw)

    def mark(self) -> int:
        """A place in the output, for `count_since` and `since`."""
        self.pump()
        return len(self._raw)

    def count_since(self, mark: int) -> int:
        """How many bytes came after the mark."""
        return self.mark() - mark

    def since(self, mark: int) -> bytes:
        """The bytes that came after the mark."""
        self.pump()
        return bytes(self._raw[mark:])

    @property
    def screen(self) -> list[str]:
        """The rows as they stand on the glass, blanks included; a wide character is one character on two cells."""
        self.pump()
        self._feed(len(self.chunks))
        return self._rows()

    @property
    def text(self) -> str:
        """The screen as one string, rows ended by newlines, without blanks at their ends."""
        return "\n".join(row.rstrip() for row in self.screen)

    @property
    def cursor(self) -> tuple[int, int]:
        """Column and row of the cursor, from 0."""
        self._feed(len(self.chunks))
        return self._pyte.cursor.x, self._pyte.cursor.y

    @property
    def bells(self) -> int:
        """How often the bell rang."""
        self.pump()
        self._feed(len(self.chunks))
        return self._pyte.bells

    @property
    def cells(self) -> list[list[pyte.screens.Char]]:
        """The screen's cells with colours and attributes, row by row."""
        self.pump()
        self._feed(len(self.chunks))
        return [[self._pyte.buffer[y][x] for x in range(self.cols)] for y in range(self.rows)]

    def first_shown(self, condition: Callable[[str], bool]) -> int | None:
        """The index of the first read, from the last drawn one on, after which the screen's text met the condition.

        Draws no further than that read. None while no read so far brought it.
        """
        if self._fed == 0 and self.chunks:
            self._feed(1)
        while self._fed and not condition("\n".join(self._rows())):
            if self._fed == len(self.chunks):
                return None
            self._feed(self._fed + 1)
        return self._fed - 1 if self._fed else None

    # What goes in

    def write(self, data: bytes) -> float:
        """Writes all of it in one `write` call; answers with the time just before it."""
        at = time.perf_counter()
        written = os.write(self._master, data)
        if written != len(data):
            raise AssertionError(f"the pty took {written} of {len(data)} bytes; it holds at most 4095 unread ones")
        return at

    def resize(self, cols: int, rows: int) -> None:
        """Changes the window's size; the kernel tells the program by SIGWINCH."""
        self.pump()
        self._feed(len(self.chunks))
        self.cols, self.rows = cols, rows
        self._pyte.resize(rows, cols)
        self._drawn = None
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Sends the signal to the program alone; nothing happens when it is gone."""
        if self.exit_code is None:
            signal.pidfd_send_signal(self._pidfd, number)

    def close_pty(self) -> None:
        """Pulls the plug: the program gets SIGHUP and reads the end of its input."""
        if self._master < 0:
            return
        if self._reading:
            self._poll.unregister(self._master)
            self._reading = False
        os.close(self._master)
        self._master = -1

    # Waiting

    def pump(self, timeout: float = 0.0) -> bool:
        """Waits up to `timeout` seconds for output or the program's end, reads all there is; True if output came."""
        ready = dict(self._poll.poll(timeout * 1000))
        if self._pidfd in ready:
            self._reap()
        before = len(self.chunks)
        if self._reading and self._master in ready:
            self._drain()
        if self._answers and len(self.chunks) > before:
            self._answer()
        return len(self.chunks) > before

    def wait_for(self, condition: Condition, timeout: float = PATIENCE_S) -> Any:
        """Waits until the condition holds and answers with its value; fails with the screen when it never does."""
        deadline = time.monotonic() + timeout
        while True:
            if value := self._met(condition):
                return value
            left = deadline - time.monotonic()
            if left <= 0 or not (self._reading or self.exit_code is None):
                break
            self.pump(min(left, TICK_S) if callable(condition) else left)
        wanted = getattr(condition, "__name__", condition) if callable(condition) else condition
        state = "still runs" if self.exit_code is None else f"left with {self.exit_code}"
        raise AssertionError(f"waited {timeout} s for {wanted!r}; the program {state}; the screen:\n{self.text}")

    def wait_exit(self, timeout: float = PATIENCE_S) -> int:
        """Waits for the program's end: its exit status, or the negative number of the signal that killed it."""
        deadline = time.monotonic() + timeout
        while self.exit_code is None:
            left = deadline - time.monotonic()
            if left <= 0:
                raise AssertionError(f"the program still runs after {timeout} s; the screen:\n{self.text}")
            self.pump(left)
        return self.exit_code

    def wait_quiet(self, ms: float, timeout: float = PATIENCE_S) -> None:
        """Waits until nothing was written for so long. For benchmarks: a test waits for what it wants to see."""
        deadline = time.monotonic() + timeout
        while self.pump(ms / 1000) and self._reading:
            if time.monotonic() > deadline:
                raise AssertionError(f"no {ms} ms of quiet within {timeout} s; the screen:\n{self.text}")

    def close(self) -> None:
        """Ends the program (hang-up, then a kill for what stays) and frees the pty."""
        if self._pidfd < 0:
            return
        self.close_pty()
        try:
            self.wait_exit(2.0)
        except AssertionError:
            self.kill(signal.SIGKILL)
            self.wait_exit()
        finally:
            os.close(self._pidfd)
            self._pidfd = -1

    # The workings

    def _met(self, condition: Condition) -> Any:
        self.pump()
        if isinstance(condition, str):
            return condition in self.text
        if isinstance(condition, bytes):
            return condition in self._raw
        return condition(self)

    def _reap(self) -> None:
        _pid, status = os.waitpid(self.pid, 0)
        self.exit_code = os.waitstatus_to_exitcode(status)
        self._poll.unregister(self._pidfd)
        if self._reading:
            self._drain()

    def _drain(self) -> None:
        while True:
            try:
                data = os.read(self._master, 65536)
            except BlockingIOError:
                return
            except OSError:  # EIO: nobody holds the other end any more
                data = b""
            if not data:
                self._poll.unregister(self._master)
                self._reading = False
                return
            self.chunks.append(Chunk(time.perf_counter(), data))
            self._raw += data

    def _feed(self, end: int) -> None:
        """Draws the reads up to `end`; a sequence that is cut by a read waits for its rest."""
        for chunk in self.chunks[self._fed : end]:
            data = self._carry + chunk.data
            cut = _UNFINISHED.search(data)
            self._carry = data[cut.start() :] if cut else b""
            self._stream.feed(_UNREADABLE.sub(b"", data[: cut.start()] if cut else data))
            self._drawn = None
        self._fed = max(self._fed, end)

    def _rows(self) -> list[str]:
        if self._drawn is None:
            buffer = self._pyte.buffer
            self._drawn = ["".join(buffer[y][x].data for x in range(self.cols)) for y in range(self.rows)]
        return [*self._drawn]

    def _answer(self) -> None:
        """Answers the questions among the bytes not searched yet, as xterm would."""
        for match in sorted(
            (*_QUESTION.finditer(self._raw, self._asked), *_COLOUR.finditer(self._raw, self._asked)),
            key=lambda found: found.start(),
        ):
            self._asked = match.end()
            with contextlib.suppress(OSError):
                os.write(self._master, self._reply(match.groupdict()))
        self._asked = max(self._asked, len(self._raw) - _LONGEST_QUESTION)

    def _reply(self, asked: Mapping[str, bytes | None]) -> bytes:
        if asked.get("dsr") == b"6":
            column, row = self.cursor
            return b"\x1b[%d;%dR" % (row + 1, column + 1)
        if asked.get("dsr"):
            return b"\x1b[0n"
        if mode := asked.get("mode"):
            return b"\x1b[?%s;0$y" % mode
        if asked.get("version"):
            return b"\x1bP>|XTerm(390)\x1b\\"
        if colour := asked.get("colour"):
            return b"\x1b]%s;rgb:%s\x1b\\" % (colour, b"ffff/ffff/ffff" if colour == b"10" else b"0000/0000/0000")
        return b"\x1b[>41;390;0c" if asked.get("da") else b"\x1b[?64;1;2;6;9;15;16;17;18;21;22;28c"


def python(*arguments: str) -> list[str]:
    """The command that runs this interpreter with these arguments."""
    return [sys.executable, *arguments]


def _environment(env: Mapping[str, str | None] | None, term: str) -> dict[str, str]:
    """This process's environment for a child at a terminal; the size is the pty's to tell."""
    laid = {**os.environ, "TERM": term, "COLUMNS": None, "LINES": None, **(env or {})}
    return {name: value for name, value in laid.items() if value is not None}


def _spawn(argv: Sequence[str], env: Mapping[str, str], tty: str) -> int:
    """Starts the program as leader of a new session; the first tty it opens, its stdin, becomes its controlling one."""
    actions: list[tuple[Any, ...]] = [
        (os.POSIX_SPAWN_OPEN, 0, tty, os.O_RDWR, 0),
        (os.POSIX_SPAWN_DUP2, 0, 1),
        (os.POSIX_SPAWN_DUP2, 0, 2),
    ]
    if lifeline := env.get("AISLE_LIFELINE_FD"):
        actions.append((os.POSIX_SPAWN_DUP2, int(lifeline), int(lifeline)))
    return os.posix_spawnp(
        argv[0], list(argv), env, file_actions=actions, setsid=True, setsigmask=(), setsigdef=_SIGNALS_TO_DEFAULT
    )
