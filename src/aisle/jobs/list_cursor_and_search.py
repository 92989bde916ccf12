"""Window of a list: state, query, cursor, page turning, search while typing; start of other jobs on a row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar

from aisle.jobs.job import Args, Close, Context, Event, Query, Rows, Start, Turn, reply
from aisle.jobs.typed_numbers_dates_and_letters import name_of
from aisle.jobs.view import PAGE_HINTS, WRONG, KeyHint, Msg, msg
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
    ORDER,
    PRODUCT,
    Choice,
    Command,
    CursorKey,
    Match,
    Scan,
    Text,
    TypedText,
    UnknownCode,
)
from aisle.scan.inputs_and_line_grouping import ROW_KEY, SCROLL_KEYS

JOB_BY_LETTER = {"c": "count", "t": "move"}
"""Job of each letter, the same on every page."""

JOB_KEY_HINTS = (KeyHint("c", msg("hint.count_this")), KeyHint("t", msg("hint.move_this")))


def start_job(letter: str, *, product: str = "", location: str = "", label: str = "") -> Start:
    """Return the effect that starts this letter's job for a product or a location. Back leads to the page."""
    return Start(
        JOB_BY_LETTER[letter], {"location_code": location} if location else {"product_number": product, "label": label}
    )


MAX_TYPED_DIGITS = 8
"""Most digits of a barcode that a person types. More digits at once come from a scanner."""

MAX_CHOICE_DIGITS = 4
"""Most digits of a number that may be meant as a choice. A longer one is a code."""

MAX_NUMBERED = 99
"""Most rows that are numbered choices."""

MAX_COUNTED = 100
"""Most results that a word search counts and lists. With more results the person types further letters."""

MIN_TWO_LINE_ROWS = 3
"""Number of two-line rows that fit on any screen."""

PAGE_LETTERS = "np"
"""Letters that turn the pages of a list."""


class ListOptions(NamedTuple):
    """What a person chose for a list of a desk, and what is known of its filters."""

    counts: tuple[int | None, ...] = ()
    """Number of rows of each filter, None where it is unknown."""
    is_desk: bool = False
    """True if the screen is that of a desk, where letters and a blank act at once."""
    sort: str = ""
    """Sort order of the column that was chosen; empty for the list's own order."""
    is_descending: bool = False
    columns: tuple[str, ...] = ()
    """Names of the chosen columns, the most important first; empty for the usual ones."""
    is_choosing_columns: bool = False


class Replaceable(Protocol):
    """Any NamedTuple."""

    def _replace(self, *args: Any, **fields: Any) -> Any:
        """Return a changed copy."""


class ListState(Replaceable, Protocol):
    """State of a window on a list, with its search."""

    @property
    def search(self) -> str:
        """Words ended with Enter."""

    @property
    def typed(self) -> str:
        """Text being typed, if it is a search."""

    @property
    def first(self) -> int:
        """Index of `rows[0]` in the whole list."""

    @property
    def cursor(self) -> int:
        """Index in the whole list; -1 until it is moved."""

    @property
    def rows(self) -> tuple[Any, ...]:
        """Rows of the window."""

    @property
    def total(self) -> int:
        """Number of rows in the whole list."""


W = TypeVar("W", bound=ListState)


def page_size(context: Context, *, has_progress_bars: bool = False) -> int:
    """Return the number of rows to query for a window with one line of commands below or beside it. It is at most the
    number of rows in sight, so that paging skips no row. `has_progress_bars`: a wide screen has no extra rows."""
    more = 0 if has_progress_bars else context.extra_rows
    return min(context.window_rows + (1 if context.window_rows > 1 else 0) + more, context.visible_rows)


def with_rows(state: W, rows: tuple[Any, ...], total: int) -> W:
    """Return the window with its rows. A window beyond the end of a shortened list moves to the start, without rows."""
    first = state.first if rows or not total else 0
    updated: W = state._replace(rows=rows, total=total, first=first, cursor=min(state.cursor, total - 1))
    return updated


def fill_page(state: Any, context: Context) -> Any:
    """Return the state for another screen size: the last page is full and the cursor is in the window. States without a
    window are returned unchanged."""
    if not all(hasattr(state, name) for name in ("first", "cursor", "total")):
        return state
    first = max(0, min(state.first, state.total - max(1, page_size(context))))
    if state.cursor >= 0:  # some lists have one row less
        first = max(first, state.cursor - max(1, context.window_rows) + 1)
    return state if first == state.first else state._replace(first=first)


def is_past_end(state: ListState, answer: Rows) -> bool:
    """Return True if the window is beyond the end of its list and must be queried again. A window at the start never
    is, whatever the answer says; otherwise it would be queried without end."""
    return state.first > 0 and answer.total > 0 and not answer.rows


def handle_list_input(
    state: W,
    event: Event,
    context: Context,
    query: Callable[[W, Context], Query],
    open_row: Callable[[W, Any, Context], Turn[W]],
    letters: str | None = None,
) -> Turn[W]:
    """Handle the inputs that all lists share: a number or Enter opens a row, keys move, typed text searches. `letters`
    are the list's own command letters; None if the list cannot be searched."""
    match event:
        case Choice() | CursorKey("enter"):
            row = chosen_row(state, event)
            return Turn(state) if row is None else open_row(state, row, context)
        case Command("n" | "p" as key) | CursorKey(key) if state.total:
            moved = move_or_turn(state, key, page_size(context))
            return Turn(moved, (query(moved, context),))
        case TypedText(text) if letters is not None:
            found = with_typed_search(state, text, letters)
            return Turn(state) if found is None else Turn(found, (query(found, context),))
    return Turn(state)


def with_typed_search(state: W, text: str, letters: str = "", numbered: int | None = None) -> W | None:
    """Return the window that searches for the typed text, or None if the search does not change. Text that may become a
    row number or a command is no search yet. `letters` are the list's own command letters. Further digits continue a
    search by digits, however many they are."""
    choices = numbered_rows(state) if numbered is None else numbered
    goes_on = len(text) > MAX_TYPED_DIGITS and text.isdecimal() and bool(state.typed) and text.startswith(state.typed)
    typed = "" if is_no_search(text, f"bh{PAGE_LETTERS}{letters}", choices) and not goes_on else text
    if typed == state.typed:
        return None
    listed: W = state._replace(typed=typed, first=0, cursor=-1)
    return listed


def turn_list_page(state: W, letter: str, size: int) -> W:
    """Turn to the next or previous page; the last page is followed by the first. The next one begins after the rows of
    this one, which may be fewer than fit now."""
    size = max(1, size)
    first = state.first + (min(size, len(state.rows) or size) if letter == "n" else -size)
    if first >= state.total:
        first = 0
    elif first < 0:
        first = (state.total - 1) // size * size if state.first == 0 and state.total else 0
    turned: W = state._replace(first=first, cursor=-1)
    return turned


def move_cursor(state: W, key: str, size: int) -> W:
    """Return the window after a cursor key."""
    cursor, first = scroll_window(state.cursor, state.first, state.total, size, key)
    after: W = state._replace(cursor=cursor, first=first)
    return after


def move_or_turn(state: W, key: str, size: int) -> W:
    """Return the window after a cursor key or a page letter."""
    return turn_list_page(state, key, size) if key in PAGE_LETTERS else move_cursor(state, key, size)


def row_at_cursor(state: ListState) -> Any | None:
    """Return the row under the cursor, or None if it is outside the window."""
    inside = state.first <= state.cursor < state.first + len(state.rows)
    return state.rows[state.cursor - state.first] if inside else None


def row_in_focus(state: ListState) -> Any | None:
    """Return the row under the cursor, else the first one; None in an empty list."""
    return row_at_cursor(state) or (state.rows[0] if state.rows else None)


def numbered_rows(state: ListState) -> int:
    """Return the number of rows in the window that are choices."""
    return min(MAX_NUMBERED, len(state.rows))


def numbered_row(state: ListState, number: int) -> Any | None:
    """Return the row with that number, or None."""
    return state.rows[number - 1] if 1 <= number <= numbered_rows(state) else None


def chosen_row(state: ListState, event: Event) -> Any | None:
    """Return the row of a number, else the one under the cursor."""
    return numbered_row(state, event.number) if isinstance(event, Choice) else row_at_cursor(state)


def page_letters(state: ListState, has_two_line_rows: bool = False) -> str:
    """Return the page letters if there is more than one page. With two-line rows a screen may show fewer rows than
    came."""
    return (
        PAGE_LETTERS
        if state.total > (min(MIN_TWO_LINE_ROWS, len(state.rows)) if has_two_line_rows else len(state.rows))
        else ""
    )


def page_hints(state: ListState, has_two_line_rows: bool = False) -> tuple[KeyHint, ...]:
    """Return the hints for the page letters."""
    return PAGE_HINTS if page_letters(state, has_two_line_rows) else ()


def product_prompt(state: ListState) -> Msg:
    """Return the prompt of a list of products. Letters turn pages only after the typed search was ended with Enter."""
    if state.typed and page_letters(state):
        return msg("look_up.prompt_typed")
    return msg("look_up.prompt_list" if state.rows else "look_up.prompt")


def not_found_message(id_: str, text: str, may_have_more: bool) -> Msg:
    """Return message `id_`, that no product matches, or that a longer search may find more if not all were searched."""
    return msg("look_up.not_yet_found" if may_have_more else id_, text=text, code=text)


S = TypeVar("S")


def reject_input(state: S, event: Event) -> Turn[S]:
    """Answer an input that the page cannot use, so that no input is ignored silently. A short number is taken for a
    choice that does not exist, a longer one for an unknown code."""
    if isinstance(event, Scan):
        return reply(state, WRONG, "page.scan_not_used", what=name_of(event.matches[0]))
    if isinstance(event, Text | UnknownCode):
        what = event[0]
        if what.isdecimal() and len(what) <= MAX_CHOICE_DIGITS:
            return reply(state, WRONG, "input.no_choice", text=what)
        if what.isdecimal():
            return reply(state, WRONG, "count.unknown", code=what)
    else:
        return Turn(state)
    return reply(state, WRONG, "today.unknown", text=what)


def query_window(id_: str, name: str, args: Args, first: int, size: int) -> Query:
    """Return the query for a window. An answer with id `found` (search ended with Enter) is journalled; others are
    live."""
    return Query(id_, name, {**args, "first": first, "size": size}, is_live=id_ != "found")


def open_record(kind: str, key: str, label: str) -> Start | None:
    """Return the effect that opens a scanned product or location; None for other kinds."""
    if kind == PRODUCT:
        return Start("look_up", {"product_number": key, "label": label})
    return Start("locations", {"location_code": key}) if kind == LOCATION else None


def hand_order_below(order: str) -> Close:
    """Close the page and hand the order to the job below as a scan. Pages that only show data and accept no orders
    close too."""
    return Close(event_for_below=Scan((Match(ORDER, order, order, code=order),)), close_unused_below=True)


SCROLLED_ROWS = 3
"""Rows by which one step of the wheel moves a list."""


def scroll_window(cursor: int, first: int, total: int, size: int, key: str) -> tuple[int, int]:
    """Return (cursor, first row) of a window after a cursor key. A cursor of -1 is before the first visible row."""
    size = max(1, size)
    if key in SCROLL_KEYS:
        step = SCROLLED_ROWS if key == SCROLL_KEYS[1] else -SCROLLED_ROWS
        return cursor, max(0, min(total - size, first + step))
    if key.startswith(ROW_KEY):
        row = int(key.removeprefix(ROW_KEY))
        return (row, first) if first <= row < min(total, first + size) else (cursor, first)
    jump = {"up": -1, "down": 1, "pageup": -size, "pagedown": size, "home": -total, "end": total}.get(key, 0)
    if not jump or not total:
        return cursor, first
    start = cursor if cursor >= 0 else (first - 1 if jump > 0 else first)
    cursor = max(0, min(total - 1, start + jump))
    return cursor, max(0, min(max(first, cursor - size + 1), cursor))


def scroll_rows(first: int, total: int, size: int, key: str) -> int:
    """Return the first row of a list without a cursor after a cursor key, a step of the wheel, or a page letter. The
    last page is followed by the first, and the other way round."""
    if key in SCROLL_KEYS:
        return scroll_window(0, first, total, size, key)[1]
    if key in ("pagedown", "n"):
        return first + size if first + size < total else 0
    if key in ("pageup", "p"):
        return max(0, first - size) if first else max(0, total - 1) // size * size
    jump = {"up": -1, "down": 1, "home": -total, "end": total}.get(key, 0)
    return max(0, min(first + jump, total - 1))


def turn_page(page: int, key: str) -> int:
    """Return the page of a detail view after a cursor key or a page letter."""
    return (
        0
        if key == "home"
        else page + {"pagedown": 1, "down": 1, "n": 1, "pageup": -1, "up": -1, "p": -1, "end": -page - 1}.get(key, 0)
    )


def is_row_number(text: str) -> bool:
    """Return True if the text is written like the number of a list row."""
    return text.isascii() and text.isdecimal() and len(text) <= len(str(MAX_NUMBERED)) and not text.startswith("0")


def is_no_search(text: str, letters: str, choices: int = 0) -> bool:
    """Return True for row numbers, command letters, and codes that a scanner is still sending: they are no search."""
    if len(text) < 2:
        return not text.isalpha() or text.lower() in letters
    if text.isdecimal() and (len(text) > MAX_TYPED_DIGITS or int(text) <= choices):
        return True
    return text[0] == "?" or "*" in text
