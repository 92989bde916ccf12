"""From a page about a product or a place to the work that it suggests: count this, move this."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

from aisle.jobs.job import Close, Context, Event, Query, Rows, Start, Turn
from aisle.jobs.view import BACK, INFO, PAGE_HINTS, WRONG, KeyHint, ListView, Msg, Row, Verdict, msg
from aisle.scan.meaning import (
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

JOB_BY_LETTER = {"c": "count", "t": "move"}
"""The letter of each job, the same on every page."""

JOB_LETTERS = "".join(JOB_BY_LETTER)

JOB_KEY_HINTS = (KeyHint("c", msg("hint.count_this")), KeyHint("t", msg("hint.move_this")))


def start_job(letter: str, *, product: str = "", location: str = "", label: str = "") -> Start:
    """The job of this letter, for a product or for a place; back leads to the page."""
    return Start(
        JOB_BY_LETTER[letter], {"location_code": location} if location else {"product_number": product, "label": label}
    )


class MarkableList(Protocol):
    """A list whose rows can be marked."""

    @property
    def is_marking(self) -> bool:
        """Numbers mark instead of opening."""

    @property
    def marked(self) -> tuple[str, ...]:
        """The keys of the rows that are marked, in the order in which they were."""

    def _replace(self, *args: Any, **fields: Any) -> Any:
        """As every NamedTuple has it."""


M = TypeVar("M", bound=MarkableList)


def toggle_marking(state: M) -> Turn[M]:
    """From here on numbers mark, or open again."""
    told = msg("orders.marked_so_far", count=len(state.marked)) if state.is_marking else msg("orders.marking")
    return Turn(state._replace(is_marking=not state.is_marking), (), Verdict(INFO, told))


def toggle_mark(marked: tuple[str, ...], key: str) -> tuple[str, ...]:
    """With this row, or without it where it was marked."""
    return tuple(each for each in marked if each != key) if key in marked else (*marked, key)


def mark_all(state: M, keys: tuple[str, ...], message: Msg) -> Turn[M]:
    """All of these, or none where all of them were marked already."""
    if set(keys) <= set(state.marked):
        return Turn(state._replace(marked=()), (), Verdict(INFO, msg("orders.none_marked")))
    return Turn(state._replace(marked=keys), (), Verdict(INFO, message))


def clear_marks(state: M) -> Turn[M]:
    """Nothing is marked any more."""
    return Turn(state._replace(is_marking=False, marked=()), (), Verdict(INFO, msg("orders.none_marked")))


MAX_TYPED_DIGITS = 8
"""Digits of a barcode that somebody types at most; more of them at once come from a scanner."""

MAX_NUMBERED = 99
"""Rows that are numbered choices at most."""

MAX_COUNTED = 100
"""What a search by words counts and lists at most, where it says so: who gets as many types another letter."""

MIN_TWO_LINE_ROWS = 3
"""Rows of two lines that any screen shows."""

PAGE_LETTERS = "np"
"""The letters that turn the pages of a list."""


class ListState(Protocol):
    """A window on a list, and what is looked for in it."""

    @property
    def search(self) -> str:
        """Words that were ended with Enter."""

    @property
    def typed(self) -> str:
        """What is being typed, as far as it is a search."""

    @property
    def first(self) -> int:
        """Index of `rows[0]` in the whole list."""

    @property
    def cursor(self) -> int:
        """Index in the whole list; -1 while nobody has moved it."""

    @property
    def rows(self) -> tuple[Any, ...]:
        """The rows of the window."""

    @property
    def total(self) -> int:
        """How many rows the whole list has."""

    def _replace(self, *args: Any, **fields: Any) -> Any:
        """As every NamedTuple has it."""


W = TypeVar("W", bound=ListState)


def page_size(context: Context, *, has_progress_bars: bool = False) -> int:
    """How many rows a window may ask for where one line of commands stands under the list, or beside it, where its rows
    have no `bars`; no more than somebody who goes on from here has seen of it."""
    more = 0 if has_progress_bars else context.extra_rows
    return min(context.window_rows + (1 if context.window_rows > 1 else 0) + more, context.visible_rows)


def with_rows(state: W, rows: tuple[Any, ...], total: int) -> W:
    """The window with the answer to its query; one that lay behind the end of a list that has become shorter stands
    at its beginning, without rows."""
    first = state.first if rows or not total else 0
    came: W = state._replace(rows=rows, total=total, first=first, cursor=min(state.cursor, total - 1))
    return came


def fill_page(state: Any, context: Context) -> Any:
    """The same state for a screen of another size: the window of a list begins so far up that its page is full, and so
    far down that the cursor is on it. Any other state as it is."""
    if not {"first", "cursor"} <= {*getattr(state, "_fields", ())} or not hasattr(state, "total"):
        return state
    first = max(0, min(state.first, state.total - max(1, page_size(context))))
    if state.cursor >= 0:  # some lists have a row less
        first = max(first, state.cursor - max(1, context.window_rows) + 1)
    return state if first == state.first else state._replace(first=first)


def is_past_end(state: ListState, answer: Rows) -> bool:
    """Whether the window that was asked for lies behind the end of its list, and has to be asked for again; one at its
    beginning does not, whatever the answer says: that would be asked for without end."""
    return state.first > 0 and answer.total > 0 and not answer.rows


def handle_rows(
    state: W, answer: Rows, rows: tuple[Any, ...], context: Context, query: Callable[[W, Context], Query]
) -> Turn[W]:
    """The window with the rows that its answer was read as; it is asked for again where it lay behind the end."""
    fresh = with_rows(state, rows, answer.total)
    return Turn(fresh, (query(fresh, context),) if is_past_end(state, answer) else ())


def handle_list_input(
    state: W,
    event: Event,
    context: Context,
    query: Callable[[W, Context], Query],
    open_row: Callable[[W, Any, Context], Turn[W]],
    letters: str | None = None,
) -> Turn[W]:
    """What every list makes of an input: a number or Enter opens a row, keys lead through it, and what is typed finds.
    `letters` are those of this list beside those of all; None where nothing is found by typing."""
    match event:
        case Choice() | CursorKey("enter"):
            row = chosen_row(state, event)
            return Turn(state) if row is None else open_row(state, row, context)
        case Command("n" | "p" as key) | CursorKey(key) if state.total:
            led = move_or_turn(state, key, page_size(context))
            return Turn(led, (query(led, context),))
        case TypedText(text) if letters is not None:
            found = with_typed_search(state, text, letters)
            return Turn(state) if found is None else Turn(found, (query(found, context),))
    return Turn(state)


def with_typed_search(state: W, text: str, letters: str = "", numbered: int | None = None) -> W | None:
    """Find as you type: the window on what is being typed, or None where that changes nothing. What may become a number
    of the list or a command is no search yet, so that the page stays; `letters` beside those of every list. Where
    digits have found something already, more of them go on with it, however many they are."""
    choices = numbered_rows(state) if numbered is None else numbered
    goes_on = len(text) > MAX_TYPED_DIGITS and text.isdecimal() and bool(state.typed) and text.startswith(state.typed)
    typed = "" if is_no_search(text, f"bh{PAGE_LETTERS}{letters}", choices) and not goes_on else text
    if typed == state.typed:
        return None
    listed: W = state._replace(typed=typed, first=0, cursor=-1)
    return listed


def turn_list_page(state: W, letter: str, size: int) -> W:
    """The next page or the one before; from the last on to the first, and the other way round."""
    size = max(1, size)
    first = state.first + (size if letter == "n" else -size)
    if first >= state.total:
        first = 0
    elif first < 0:
        first = (state.total - 1) // size * size if state.first == 0 and state.total else 0
    leafed: W = state._replace(first=first, cursor=-1)
    return leafed


def move_cursor(state: W, key: str, size: int) -> W:
    """The window after a cursor key."""
    cursor, first = scroll_window(state.cursor, state.first, state.total, size, key)
    after: W = state._replace(cursor=cursor, first=first)
    return after


def move_or_turn(state: W, key: str, size: int) -> W:
    """The window after a cursor key or a letter that turns pages."""
    return turn_list_page(state, key, size) if key in PAGE_LETTERS else move_cursor(state, key, size)


def row_at_cursor(state: ListState) -> Any | None:
    """The row under the cursor, where it is in the window."""
    inside = state.first <= state.cursor < state.first + len(state.rows)
    return state.rows[state.cursor - state.first] if inside else None


def numbered_rows(state: ListState) -> int:
    """So many rows of the window are choices."""
    return min(MAX_NUMBERED, len(state.rows))


def numbered_row(state: ListState, number: int) -> Any | None:
    """The row of that number."""
    return state.rows[number - 1] if 1 <= number <= numbered_rows(state) else None


def chosen_row(state: ListState, event: Event) -> Any | None:
    """The row that a number means, else the one under the cursor."""
    return numbered_row(state, event.number) if isinstance(event, Choice) else row_at_cursor(state)


def page_letters(state: ListState, has_two_line_rows: bool = False) -> str:
    """The letters that turn pages, where there is more than one: of a `tall` list the screen may show fewer rows than
    have come."""
    return (
        PAGE_LETTERS
        if state.total > (min(MIN_TWO_LINE_ROWS, len(state.rows)) if has_two_line_rows else len(state.rows))
        else ""
    )


def page_hints(state: ListState, has_two_line_rows: bool = False) -> tuple[KeyHint, ...]:
    """What is said of these letters."""
    return PAGE_HINTS if page_letters(state, has_two_line_rows) else ()


def list_view(
    state: ListState,
    name: str,
    title: Msg,
    prompt: Msg,
    column_heads: tuple[Msg, ...],
    rows: tuple[Row, ...],
    *hints: KeyHint,
    empty: Msg,
    numbered: int | None = None,
    may_have_more: bool = False,
    has_two_line_rows: bool = False,
) -> ListView:
    """The window on the screen; `hints` of its own stand before those of all lists. With `more`, not all of it is
    known; `tall`: as of a ListWindow."""
    return ListView(
        name=name,
        title=title,
        prompt=prompt,
        column_heads=column_heads,
        rows=rows,
        first=state.first,
        total=state.total,
        cursor=state.cursor,
        numbered_rows=numbered_rows(state) if numbered is None else numbered,
        empty=empty,
        key_hints=(*hints, *page_hints(state, has_two_line_rows), BACK),
        may_have_more=may_have_more,
        has_two_line_rows=has_two_line_rows,
    )


def product_prompt(state: ListState) -> Msg:
    """What a list of products asks for; letters turn its pages once what is being typed was ended with Enter."""
    if state.typed and page_letters(state):
        return msg("lookup.prompt_typed")
    return msg("lookup.prompt_list" if state.rows else "lookup.prompt")


def not_found_message(id_: str, text: str, may_have_more: bool) -> Msg:
    """That no product has these words (`id_`); where not all were looked through (`partly`), that more of the words
    finds more."""
    return msg("lookup.not_yet" if may_have_more else id_, text=text)


S = TypeVar("S")


def reject_input(state: S, event: Event) -> Turn[S]:
    """What a page says of an input that it has no use for: nothing that was typed or scanned is passed over. A number
    that somebody types would have chosen, were there anything of that number."""
    if isinstance(event, Scan):
        what = event.matches[0].label or event.matches[0].key
    elif isinstance(event, Text | UnknownCode):
        what = event[0]
        if what.isdecimal() and len(what) <= MAX_TYPED_DIGITS:
            return Turn(state, (), Verdict(WRONG, msg("input.no_choice", text=what)))
    else:
        return Turn(state)
    return Turn(state, (), Verdict(WRONG, msg("today.unknown", text=what)))


def query_window(id_: str, name: str, args: Mapping[str, Any], first: int, size: int) -> Query:
    """A window of a named read. Under the id `found` it was ended with Enter and is part of the journal; under any
    other id it is only a window."""
    return Query(id_, name, {**args, "first": first, "size": size}, is_live=id_ != "found")


def open_record(kind: str, key: str, label: str) -> Start | None:
    """The look at what was scanned, where there is one: at a product, or at a place."""
    if kind == PRODUCT:
        return Start("lookup", {"product_number": key, "label": label})
    return Start("browse", {"location_code": key}) if kind == LOCATION else None


def hand_order_below(order: str) -> Close:
    """The look is over: the job below gets the order, as if it had been scanned there; of pages that were only looked
    at, the first that has a use for orders."""
    return Close(event_for_below=Scan((Match(ORDER, order, order, code=order),)), close_unused_below=True)


def scroll_window(cursor: int, first: int, total: int, size: int, key: str) -> tuple[int, int]:
    """(cursor, first row) of a list window after a cursor key; a cursor of -1 stands before the first row seen."""
    size = max(1, size)
    jump = {"up": -1, "down": 1, "pageup": -size, "pagedown": size, "home": -total, "end": total}.get(key, 0)
    if not jump or not total:
        return cursor, first
    start = cursor if cursor >= 0 else (first - 1 if jump > 0 else first)
    cursor = max(0, min(total - 1, start + jump))
    return cursor, max(0, min(max(first, cursor - size + 1), cursor))


def turn_page(page: int, key: str) -> int:
    """The page of a detail after a cursor key or the letter that turns it."""
    return (
        0
        if key == "home"
        else page + {"pagedown": 1, "down": 1, "n": 1, "pageup": -1, "up": -1, "p": -1, "end": -page - 1}.get(key, 0)
    )


def is_row_number(text: str) -> bool:
    """Whether this is what stands before a row of some list, as it is written there."""
    return text.isascii() and text.isdecimal() and len(text) <= len(str(MAX_NUMBERED)) and not text.startswith("0")


def is_no_search(text: str, letters: str, choices: int = 0) -> bool:
    """Digits that choose, letters that command, and codes that a scanner is still sending are no words."""
    if len(text) < 2:
        return not text.isalpha() or text.lower() in letters
    if text.isdecimal() and (len(text) > MAX_TYPED_DIGITS or int(text) <= choices):
        return True
    return text[0] == "?" or "*" in text
