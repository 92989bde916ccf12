"""Terminal of a session: the size of its screen, its default keys, and what the program around the session knows."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from aisle.jobs.view import (
    MIN_DESK_ROWS,
    MIN_PANE_COLUMNS,
    MIN_SIDE_COMMAND_COLUMNS,
    PANE_ROWS,
    TRUE_COLOUR,
    Frame,
    ListView,
    Msg,
    is_desk_size,
)
from aisle.scan.grammar_and_meaning_types import Back, Command, Meaning
from aisle.scan.inputs_and_line_grouping import FIRST_TAB_KEY, MARK_KEYS, PALETTE_KEY, SCROLL_KEYS
from aisle.terminal_text import supports_utf8

if TYPE_CHECKING:
    from aisle.jobs.row_types.operations_and_session_answers import TerminalRow


_ROWS_BESIDE_LIST = ((22, 14), (17, 13), (11, 11), (0, 6))
"""(minimum screen rows, rows that a list page needs for everything but its list)."""

_FOOTER_ROWS = 3
"""Rows of them that hold the commands under a list."""

_MIN_SIDE_COMMAND_ROWS = 20
"""Rows of a screen from which the commands stand beside the list, if it has the columns."""

_MIN_ROWS_FOR_PANE_BELOW = 38
"""Rows of a desk from which the details of a row stand below its list, if they have no room beside it."""

MessageText = Callable[[Msg, str], str]
"""Returns the text of a message in a language."""


class ScreenSize(NamedTuple):
    """Columns and rows of a screen; 0 while they are unknown."""

    columns: int = 0
    rows: int = 0

    @property
    def list_rows(self) -> int:
        """Return the number of list rows that the screen shows."""
        return list_height(self.rows) if any(self) else 12

    @property
    def extra_list_rows(self) -> int:
        """Return the number of further rows where the commands stand beside the list."""
        return _FOOTER_ROWS if self.columns >= MIN_SIDE_COMMAND_COLUMNS and self.rows >= _MIN_SIDE_COMMAND_ROWS else 0

    @property
    def is_desk(self) -> bool:
        """Return whether the screen is that of a desk, not of a handheld."""
        return is_desk_size(self.columns, self.rows)

    @property
    def has_pane(self) -> bool:
        """Return whether the details of a row stand beside its list or below it."""
        return (self.columns >= MIN_PANE_COLUMNS and self.rows >= MIN_DESK_ROWS) or self.pane_rows > 0

    @property
    def pane_rows(self) -> int:
        """Return the number of rows that details take below a list; 0 beside it, or without room for them."""
        is_below = self.is_desk and self.columns < MIN_PANE_COLUMNS and self.rows >= _MIN_ROWS_FOR_PANE_BELOW
        return PANE_ROWS if is_below else 0


def list_height(rows: int) -> int:
    """Return the number of list rows that fit on a screen of so many rows."""
    return max(1, rows - next(used for height, used in _ROWS_BESIDE_LIST if rows >= height))


class Terminal:
    """Size and abilities of the screen. The program sets the functions; without them the answers are cautious."""

    def __init__(self) -> None:
        self.size = ScreenSize()
        self.message_text: MessageText | None = None
        """Returns all length variants of a message, for searching."""
        self.full_text: MessageText | None = None
        """Returns the longest text of a message, for files."""
        self.offer_file: Callable[[str, bytes], bool] | None = None
        """Offers a file of this name and content as a download, and returns whether it is taken; None where files are
        written on the host.
        """
        self.rows_in_view: Callable[[Frame, int, int, int], int] | None = None
        """Returns the visible list rows of a frame, given columns, rows and the size of the list's window."""
        self.fits_screen: Callable[[Frame, int, int], bool] | None = None
        """Returns whether a screen of these columns and rows shows all of a page at once."""
        self.has_themes = False
        """Whether the terminal can show the colours of a theme."""

    def visible_list_rows(self, current_frame: Callable[[], Frame], window_rows: int) -> int | None:
        """Return the visible rows of the list on the screen if its window has more of them, else None."""
        if self.rows_in_view is None or not self.size.rows:
            return None
        frame = current_frame()
        size = max(window_rows, len(frame.view.rows) if isinstance(frame.view, ListView) else 0)
        visible = self.rows_in_view(frame, *self.size, size)
        return visible if visible < size else None

    def is_fully_shown(self, current_frame: Callable[[], Frame]) -> bool:
        """Return whether the screen is known to show all of the current page at once."""
        return self.fits_screen is not None and bool(self.size.rows) and self.fits_screen(current_frame(), *self.size)


def terminal_properties(columns: int, rows: int, environ: Mapping[str, str] | None = None) -> TerminalRow:
    """Return the row of the query `terminal`: size in cells, TERM, encoding and number of colours."""
    env = os.environ if environ is None else environ
    encoding = "UTF-8" if supports_utf8(env) else "ASCII"
    term = env.get("TERM", "")
    return {"columns": columns, "rows": rows, "term": term, "encoding": encoding, "colours": colour_count(env)}


def colour_count(environ: Mapping[str, str]) -> int:
    """Return the number of colours of the terminal; 0 for none or unknown."""
    import curses

    if environ.get("COLORTERM", "") in ("truecolor", "24bit"):
        return TRUE_COLOUR
    try:
        curses.setupterm(environ.get("TERM") or "unknown", 1)
        return max(0, curses.tigetnum("colors"))
    except curses.error:
        return 0


MEANING_BY_KEY: Final[dict[str, Meaning]] = {
    "back": Back(),
    "f1": Command("h"),
    "f2": Command("n"),
    "f3": Back(),
    "f4": Command("u"),
    "f5": Command("."),
    PALETTE_KEY: Command("."),
}
"""Meanings of keys on every page."""

PAGE_BY_LETTER: Final = {"h": "help", ".": "palette"}
"""Jobs that explain the page below them, by the letters that open them on every page."""

TAB_NAMES: Final = ("today", "orders", "exceptions", "deliveries", "products", "log")
"""Jobs that the tabs of a desk open, in their order."""

TAB_BY_KEY: Final = {f"f{number}": name for number, name in enumerate(TAB_NAMES, FIRST_TAB_KEY)}
"""Tab of each function key of a desk, `f6` to `f11`."""

TAB_STEP_BY_KEY: Final = {"ctrl+right": 1, "ctrl+left": -1}
"""Steps to another tab of a desk."""

CURSOR_KEYS: Final = frozenset({"up", "down", "pageup", "pagedown", "home", "end", "enter", *MARK_KEYS, *SCROLL_KEYS})
"""Keys that the page gets: in a list they move the cursor, open its row or mark it."""

DESK_CURSOR_KEYS: Final = frozenset({"left", "right"})
"""Keys that the page gets at a desk only, where it has something beside another."""
