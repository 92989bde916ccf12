"""Output of the terminal: only the cells that change, written by a thread of its own."""

from __future__ import annotations

import os
import re
import select
from collections.abc import Callable, Iterator
from functools import lru_cache
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Final, NamedTuple, TextIO

from aisle.terminal_text import ONE_CELL_TEXT, cell_width

MAX_BRIDGED_CELLS: Final = 12
"""Number of unchanged cells up to which writing them again is cheaper than moving the cursor."""

_TOKENS: Final = re.compile(r"\x1b\[(\d+);(\d+)H|\x1b\[([\d;]*)m|([^\x1b\x00-\x1f]+)")
_VISIBLE_BLANK: Final = re.compile(r"(?:^|;)(?:4\d|10[0-7]|[479])(?:;|$)")
"""Attributes by which a blank differs from an empty cell: background, underline, reverse, strike."""


class Cell(NamedTuple):
    """Character and its attributes as in an SGR sequence. The second cell of a wide character has no text."""

    text: str
    sgr: str


BLANK: Final = Cell(" ", "")
CellRow = list[Cell]


class RowChange(NamedTuple):
    """Cells to write from column `x` on."""

    x: int
    cells: CellRow
    erase: bool = False
    """True if the rest of the row is erased after them."""


class TerminalDiff:
    """Cells on the terminal; unknown after `resize` until the whole screen has been written."""

    def __init__(self) -> None:
        self._rows: list[CellRow | None] = []
        self._columns = 0
        self._cursor: tuple[int, int] | None = None

    def resize(self, columns: int, rows: int, *, is_clear: bool = False) -> None:
        """Take the size of the terminal. Its content is unknown, or blank after it was cleared."""
        self._columns = columns
        self._rows = [[BLANK] * columns if is_clear else None for _ in range(rows)]
        self._cursor = None

    def reduce(self, update: str) -> str:
        """Return the text that changes the terminal as an update of Textual would, in fewer bytes."""
        drawn, cursor = self._draw(update)
        out = []
        for y, row in sorted(drawn.items()):
            out += [_render(y, change) for change in _row_changes(self._rows[y], row)]
            self._rows[y] = row
        if cursor is not None and (out or cursor != self._cursor):
            out.append(f"\x1b[{cursor[0] + 1};{cursor[1] + 1}H")
            self._cursor = cursor
        return "".join(out)

    def _draw(self, update: str) -> tuple[dict[int, CellRow], tuple[int, int] | None]:
        """Return the rows that the update writes, and the cursor's row and column after it."""
        drawn: dict[int, CellRow] = {}
        y = x = 0
        sgr = ""
        cursor = None
        for found in _TOKENS.finditer(update):
            row, column, attributes, text = found.groups()
            if row is not None:
                cursor = y, x = int(row) - 1, int(column) - 1
            elif attributes is not None:
                sgr = "" if attributes == "0" else attributes
            elif y < len(self._rows):
                if y not in drawn:
                    drawn[y] = list(self._rows[y] or [BLANK] * self._columns)
                cells = _cells(text, sgr)[: self._columns - x]
                drawn[y][x : x + len(cells)] = cells
                x += len(cells)
                cursor = None
        return drawn, cursor


_kept_cell = lru_cache(maxsize=1024)(Cell)


@lru_cache(maxsize=64)
def _blank_cell(sgr: str) -> Cell:
    """Return a blank with these attributes; the empty one if it looks like that."""
    return Cell(" ", sgr) if _VISIBLE_BLANK.search(sgr) else BLANK


def _cells(text: str, sgr: str) -> CellRow:
    """Return the cells of a text."""
    blank = _blank_cell(sgr)
    if not text.strip(" "):
        return [blank] * len(text)
    if ONE_CELL_TEXT.fullmatch(text):
        return [blank if char == " " else _kept_cell(char, sgr) for char in text]
    cells: CellRow = []
    for char in text:
        width = cell_width(char)
        if width == 0 and cells:
            cells[-1] = Cell(cells[-1].text + char, sgr)
        else:
            cells += [blank if char == " " else Cell(char, sgr), *([Cell("", sgr)] * (width - 1))]
    return cells


def _row_changes(old: CellRow | None, new: CellRow) -> Iterator[RowChange]:
    """Yield what turns one row into the other; the whole row if the old one is unknown or a width is uncertain."""
    if old == new:
        return
    end = _end(new)
    if old is None or not (_has_certain_widths(old) and _has_certain_widths(new)):
        yield RowChange(0, new[:end], end < len(new))
        return
    runs = _changed_runs(old, new, end)
    erase = _end(old) > end
    for first, last in runs:
        yield RowChange(first, new[first:last], erase and last == end)
    if erase and not (runs and runs[-1][1] == end):
        yield RowChange(end, [], True)


def _end(row: CellRow) -> int:
    """Return the number of cells without the empty ones at the end."""
    end = len(row)
    while end and row[end - 1] == BLANK:
        end -= 1
    return end


def _has_certain_widths(row: CellRow) -> bool:
    """Return True if every character is certainly one cell wide, so that columns can be compared."""
    text = "".join([text for text, _ in row])
    return len(text) == len(row) and ONE_CELL_TEXT.fullmatch(text) is not None


def _changed_runs(old: CellRow, new: CellRow, end: int) -> list[tuple[int, int]]:
    """Return ranges of different cells, up to `end`; close ranges are joined."""
    runs: list[tuple[int, int]] = []
    for x in range(end):
        if old[x] == new[x]:
            continue
        if runs and x - runs[-1][1] < MAX_BRIDGED_CELLS:
            runs[-1] = (runs[-1][0], x + 1)
        else:
            runs.append((x, x + 1))
    return runs


def _render(y: int, change: RowChange) -> str:
    """Return the sequence that writes a change and leaves no attribute set."""
    out = [f"\x1b[{y + 1};{change.x + 1}H"]
    sgr = ""
    for cell in change.cells:
        if cell.sgr != sgr and not (cell == BLANK and not _VISIBLE_BLANK.search(sgr)):
            out.append(f"\x1b[0{';' * bool(sgr and cell.sgr)}{cell.sgr}m" if sgr else f"\x1b[{cell.sgr}m")
            sgr = cell.sgr
        out.append(cell.text)
    out.append("\x1b[0m" * bool(sgr) + "\x1b[K" * change.erase)
    return "".join(out)


MAX_UNWRITTEN: Final = 1 << 20
"""Characters that may wait for a terminal that does not read; further ones are dropped, and all is painted later."""
CLOSE_TIMEOUT_S: Final = 1.0
"""Seconds that a terminal which accepts no output can delay the end of the program."""
BLOCKED_S: Final = 0.1
"""Longest wait, in seconds, for a terminal in non-blocking mode to take more."""


class TerminalWriter(Thread):
    """Thread that writes to the terminal, so that no caller waits for it."""

    def __init__(self, file: TextIO, on_dropped: Callable[[], None]) -> None:
        """`on_dropped` is called, on this thread, when the terminal reads again and text was dropped meanwhile."""
        super().__init__(name="aisle-output", daemon=True)
        self._fd = file.fileno()
        self._encoding = file.encoding or "utf-8"
        self._queue: SimpleQueue[str | None] = SimpleQueue()
        self._is_closed = False
        self._on_dropped = on_dropped
        self._lock = Lock()
        self._unwritten = 0
        self._has_dropped = False

    def write(self, text: str, *, always: bool = False) -> None:
        """Queue the text. Text queued while the terminal is slow is written in one piece.

        Text that would exceed `MAX_UNWRITTEN` is dropped, unless `always`.
        """
        if self._is_closed:
            return
        with self._lock:
            if self._unwritten > MAX_UNWRITTEN and not always:
                self._has_dropped = True
                return
            self._unwritten += len(text)
        self._queue.put(text)

    def run(self) -> None:
        """Write queued text until `finish`. If the terminal is gone, drop it silently."""
        last = False
        while not last:
            pieces = [self._queue.get()]
            while not self._queue.empty():
                pieces.append(self._queue.get())
            last = None in pieces
            text = "".join(piece for piece in pieces if piece)
            self._send(text.encode(self._encoding, "replace"))
            with self._lock:
                self._unwritten -= len(text)
                is_incomplete = self._has_dropped and not self._unwritten
                self._has_dropped = self._has_dropped and not is_incomplete
            if is_incomplete:
                self._on_dropped()

    def _send(self, data: bytes) -> None:
        self._put(data)

    def _put(self, data: bytes) -> None:
        while data and not self._is_closed:
            try:
                data = data[os.write(self._fd, data) :]
            except BlockingIOError:  # an earlier program left the terminal in non-blocking mode
                select.select([], [self._fd], [], BLOCKED_S)
            except OSError:
                self._is_closed = True

    def finish(self) -> None:
        """Write what is left, for at most `CLOSE_TIMEOUT_S`."""
        self._queue.put(None)
        self.join(CLOSE_TIMEOUT_S)
