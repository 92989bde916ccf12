"""What lists and pages have in common: a window on a list of any length, its pages, numbers and cursor, and what of a
person's typing is a search.

The state of a job with a list is a `Window`: it has the fields that are named there. `answered` takes the rows that
came, `said` what a person says to every list alike, `shown` draws it; what one list alone does stays in its job.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

from aisle.jobs.base import Close, Context, Event, Query, Rows, Start, Turn
from aisle.jobs.view import BACK, PAGES, WRONG, Hint, ListWindow, Msg, Row, Verdict, msg
from aisle.scan.meaning import LOCATION, ORDER, PRODUCT, Choice, Command, Echo, Meaning, Move, Text, Thing, Unknown

LONGEST_TAIL = 8
"""Digits of a barcode that somebody types at most; more of them at once come from a scanner."""

NUMBERED = 99
"""Rows that are numbered choices at most."""

COUNTED = 100
"""What a search by words counts and lists at most, where it says so: who gets as many types another letter."""

TALL = 3
"""Rows of two lines that any screen shows."""

LETTERS = "np"
"""The letters that turn the pages of a list."""


class Window(Protocol):
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


W = TypeVar("W", bound=Window)


def room(context: Context, *, bars: bool = False) -> int:
    """How many rows a window may ask for where one line of commands stands under the list, or beside it, where its rows
    have no `bars`; no more than somebody who goes on from here has seen of it."""
    more = 0 if bars else context.aside
    return min(context.rows + (1 if context.rows > 1 else 0) + more, context.sight)


def arrived(state: W, rows: tuple[Any, ...], total: int) -> W:
    """The window with the answer to its query; one that lay behind the end of a list that has become shorter stands
    at its beginning, without rows."""
    first = state.first if rows or not total else 0
    came: W = state._replace(rows=rows, total=total, first=first, cursor=min(state.cursor, total - 1))
    return came


def refilled(state: Any, context: Context) -> Any:
    """The same state for a screen of another size: the window of a list begins so far up that its page is full, and so
    far down that the cursor is on it. Any other state as it is."""
    if not {"first", "cursor"} <= {*getattr(state, "_fields", ())} or not hasattr(state, "total"):
        return state
    first = max(0, min(state.first, state.total - max(1, room(context))))
    if state.cursor >= 0:  # some lists have a row less
        first = max(first, state.cursor - max(1, context.rows) + 1)
    return state if first == state.first else state._replace(first=first)


def is_behind(asked: Window, answer: Rows) -> bool:
    """Whether the window that was asked for lies behind the end of its list, and has to be asked for again; one at its
    beginning does not, whatever the answer says: that would be asked for without end."""
    return asked.first > 0 and answer.total > 0 and not answer.rows


def answered(
    state: W, answer: Rows, rows: tuple[Any, ...], context: Context, ask: Callable[[W, Context], Query]
) -> Turn[W]:
    """The window with the rows that its answer was read as; it is asked for again where it lay behind the end."""
    fresh = arrived(state, rows, answer.total)
    return Turn(fresh, (ask(fresh, context),) if is_behind(state, answer) else ())


def said(
    state: W,
    event: Event,
    context: Context,
    ask: Callable[[W, Context], Query],
    opens: Callable[[W, Any, Context], Turn[W]],
    letters: str | None = None,
) -> Turn[W]:
    """What every list makes of an input: a number or Enter opens a row, keys lead through it, and what is typed finds.
    `letters` are those of this list beside those of all; None where nothing is found by typing."""
    match event:
        case Choice() | Move("enter"):
            row = picked(state, event)
            return Turn(state) if row is None else opens(state, row, context)
        case Command("n" | "p" as key) | Move(key) if state.total:
            led = turned(state, key, room(context))
            return Turn(led, (ask(led, context),))
        case Echo(text) if letters is not None:
            found = typing(state, text, letters)
            return Turn(state) if found is None else Turn(found, (ask(found, context),))
    return Turn(state)


def typing(state: W, text: str, letters: str = "", numbered: int | None = None) -> W | None:
    """Find as you type: the window on what is being typed, or None where that changes nothing. What may become a number
    of the list or a command is no search yet, so that the page stays; `letters` beside those of every list. Where
    digits have found something already, more of them go on with it, however many they are."""
    choices = numbered_rows(state) if numbered is None else numbered
    goes_on = len(text) > LONGEST_TAIL and text.isdecimal() and bool(state.typed) and text.startswith(state.typed)
    typed = "" if is_command(text, f"bh{LETTERS}{letters}", choices) and not goes_on else text
    if typed == state.typed:
        return None
    listed: W = state._replace(typed=typed, first=0, cursor=-1)
    return listed


def paged(state: W, letter: str, size: int) -> W:
    """The next page or the one before; from the last on to the first, and the other way round."""
    size = max(1, size)
    first = state.first + (size if letter == "n" else -size)
    if first >= state.total:
        first = 0
    elif first < 0:
        first = (state.total - 1) // size * size if state.first == 0 and state.total else 0
    leafed: W = state._replace(first=first, cursor=-1)
    return leafed


def moved(state: W, key: str, size: int) -> W:
    """The window after a cursor key."""
    cursor, first = windowed(state.cursor, state.first, state.total, size, key)
    after: W = state._replace(cursor=cursor, first=first)
    return after


def turned(state: W, key: str, size: int) -> W:
    """The window after a cursor key or a letter that turns pages."""
    return paged(state, key, size) if key in LETTERS else moved(state, key, size)


def at_cursor(state: Window) -> Any | None:
    """The row under the cursor, where it is in the window."""
    inside = state.first <= state.cursor < state.first + len(state.rows)
    return state.rows[state.cursor - state.first] if inside else None


def numbered_rows(state: Window) -> int:
    """So many rows of the window are choices."""
    return min(NUMBERED, len(state.rows))


def chosen(state: Window, number: int) -> Any | None:
    """The row of that number."""
    return state.rows[number - 1] if 1 <= number <= numbered_rows(state) else None


def picked(state: Window, event: Event) -> Any | None:
    """The row that a number means, else the one under the cursor."""
    return chosen(state, event.number) if isinstance(event, Choice) else at_cursor(state)


def letters(state: Window, tall: bool = False) -> str:
    """The letters that turn pages, where there is more than one: of a `tall` list the screen may show fewer rows than
    have come."""
    return LETTERS if state.total > (min(TALL, len(state.rows)) if tall else len(state.rows)) else ""


def page_hints(state: Window, tall: bool = False) -> tuple[Hint, ...]:
    """What is said of these letters."""
    return PAGES if letters(state, tall) else ()


def shown(
    state: Window,
    name: str,
    title: Msg,
    prompt: Msg,
    heads: tuple[Msg, ...],
    rows: tuple[Row, ...],
    *hints: Hint,
    empty: Msg,
    numbered: int | None = None,
    more: bool = False,
    tall: bool = False,
) -> ListWindow:
    """The window on the screen; `hints` of its own stand before those of all lists. With `more`, not all of it is
    known; `tall`: as of a ListWindow."""
    return ListWindow(
        name=name,
        title=title,
        prompt=prompt,
        heads=heads,
        rows=rows,
        first=state.first,
        total=state.total,
        cursor=state.cursor,
        numbered=numbered_rows(state) if numbered is None else numbered,
        empty=empty,
        hints=(*hints, *page_hints(state, tall), BACK),
        more=more,
        tall=tall,
    )


def prompt(state: Window) -> Msg:
    """What a list of products asks for; letters turn its pages once what is being typed was ended with Enter."""
    if state.typed and letters(state):
        return msg("lookup.prompt_typed")
    return msg("lookup.prompt_list" if state.rows else "lookup.prompt")


def not_found(id_: str, text: str, partly: bool) -> Msg:
    """That no product has these words (`id_`); where not all were looked through (`partly`), that more of the words
    finds more."""
    return msg("lookup.not_yet" if partly else id_, text=text)


S = TypeVar("S")


def unheard(state: S, event: Event) -> Turn[S]:
    """What a page says of an input that it has no use for: nothing that was typed or scanned is passed over. A number
    that somebody types would have chosen, were there anything of that number."""
    if isinstance(event, Thing):
        what = event.meanings[0].label or event.meanings[0].key
    elif isinstance(event, Text | Unknown):
        what = event[0]
        if what.isdecimal() and len(what) <= LONGEST_TAIL:
            return Turn(state, (), Verdict(WRONG, msg("input.no_choice", text=what)))
    else:
        return Turn(state)
    return Turn(state, (), Verdict(WRONG, msg("today.unknown", text=what)))


def search(id_: str, name: str, args: Mapping[str, Any], first: int, size: int) -> Query:
    """A window of a named read. Under the id `found` it was ended with Enter and is part of the journal; under any
    other id it is only a window."""
    return Query(id_, name, {**args, "first": first, "size": size}, live=id_ != "found")


def looked_up(kind: str, key: str, label: str) -> Start | None:
    """The look at what was scanned, where there is one: at a product, or at a place."""
    if kind == PRODUCT:
        return Start("lookup", {"product_number": key, "label": label})
    return Start("browse", {"location_code": key}) if kind == LOCATION else None


def handed(order: str) -> Close:
    """The look is over: the job below gets the order, as if it had been scanned there; of pages that were only looked
    at, the first that has a use for orders."""
    return Close(said=Thing((Meaning(ORDER, order, order, code=order),)), onward=True)


def windowed(cursor: int, first: int, total: int, size: int, key: str) -> tuple[int, int]:
    """(cursor, first row) of a list window after a cursor key; a cursor of -1 stands before the first row seen."""
    size = max(1, size)
    jump = {"up": -1, "down": 1, "pageup": -size, "pagedown": size, "home": -total, "end": total}.get(key, 0)
    if not jump or not total:
        return cursor, first
    start = cursor if cursor >= 0 else (first - 1 if jump > 0 else first)
    cursor = max(0, min(total - 1, start + jump))
    return cursor, max(0, min(max(first, cursor - size + 1), cursor))


def leafed(page: int, key: str) -> int:
    """The page of a detail after a cursor key or the letter that turns it."""
    return (
        0
        if key == "home"
        else page + {"pagedown": 1, "down": 1, "n": 1, "pageup": -1, "up": -1, "p": -1, "end": -page - 1}.get(key, 0)
    )


def is_row_number(text: str) -> bool:
    """Whether this is what stands before a row of some list, as it is written there."""
    return text.isascii() and text.isdecimal() and len(text) <= len(str(NUMBERED)) and not text.startswith("0")


def is_command(text: str, letters: str, choices: int = 0) -> bool:
    """Digits that choose, letters that command, and codes that a scanner is still sending are no words."""
    if len(text) < 2:
        return not text.isalpha() or text.lower() in letters
    if text.isdecimal() and (len(text) > LONGEST_TAIL or int(text) <= choices):
        return True
    return text[0] == "?" or "*" in text
