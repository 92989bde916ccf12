"""What can have become of a piece of work, from noting it on, and the word that people have for it."""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

STATE_WORDS = {
    "noted": "word.noted",
    "sent": "word.sent",
    "confirmed": "word.confirmed",
    "refused": "word.refused",
    "unclear": "word.unclear",
    "settled": "word.settled",
}


class Msg(NamedTuple):
    """A message of the catalogue by its id, with its arguments.

    Strings among the arguments are raw: they pass `aisle.text` where they are drawn.
    """

    id: str
    args: tuple[tuple[str, str | int | Decimal | Msg], ...] = ()


def msg(id_: str, **args: str | int | Decimal | Msg) -> Msg:
    """A message with named arguments."""
    return Msg(id_, tuple(args.items()))


def raw(text: str) -> Msg:
    """Text as it came."""
    return Msg("raw", (("text", text),))


def known_number(value: Decimal | None) -> Decimal | Msg:
    """A number in a text, and `?` where nobody has said it."""
    return raw("?") if value is None else value


def number_message(value: Decimal | None) -> Msg:
    """A number by itself, and `?` where nobody has said it."""
    return msg("number", value=known_number(value))


def signed_message(value: Decimal, amount: Decimal | Msg | None = None) -> Msg:
    """A difference with its sign; `shown` stands for its amount where that is said in another way."""
    return msg(
        "count.signed",
        sign="+" if value > 0 else "-" if value < 0 else "±",
        value=abs(value) if amount is None else amount,
    )


GOOD, WRONG, INFO, ASK = "good", "wrong", "info", "ask"
"""The kinds of a verdict: accepted, not accepted (with why and a way on), told, a choice is open."""


class Verdict(NamedTuple):
    """The answer to the last input."""

    kind: str
    text: Msg
    is_multiline: bool = False
    """All of it is said, on several lines where one is too short; what else is good has one line."""
    detail: Msg | None = None
    """What else has to be known of what was done; on further lines, where one is too short."""


def undo_verdict(text: Msg) -> Verdict:
    """Says what was undone: which goods, how many, from where and to where."""
    return Verdict(GOOD, text, is_multiline=True)


class Line(NamedTuple):
    """One important line of a step; `role` decides its place and weight on every size of screen.

    Roles: `place`, `product`, `quantity`, `who`, `note`, `tote`.
    """

    role: str
    text: Msg


class LabelledValue(NamedTuple):
    """A label and a value, shown where there is room, first things first."""

    label: Msg
    value: Msg


class UpcomingStop(NamedTuple):
    """One stop to come: where, what, how many."""

    location: str
    label: str
    quantity: Decimal | None
    """None where nobody has said how many."""


class KeyHint(NamedTuple):
    """A command of the step: its letter and what it does."""

    letter: str
    text: Msg
    is_always_shown: bool = False
    """It leads on from this page too, where all of it is on the screen."""


BACK = KeyHint("b", msg("hint.back"))
"""To what lies below this page; nearly all of them have it."""

NEXT_PAGE = KeyHint("n", msg("hint.page_on"))
PAGE_HINTS = (NEXT_PAGE, KeyHint("p", msg("hint.page_back")))
"""Through the pages of what does not fit on one screen."""

PAGING_TEXT_IDS = (*(hint.text.id for hint in PAGE_HINTS), "browse.rest")
"""What hints say that mean something only where there is more than one page."""


class Step(NamedTuple):
    """One thing to do now."""

    name: str
    """`job.step`, the name in the screen registry, the trace and the journal."""
    title: Msg
    prompt: Msg
    lines: tuple[Line, ...] = ()
    labelled_values: tuple[LabelledValue, ...] = ()
    upcoming: tuple[UpcomingStop, ...] = ()
    choices: tuple[Msg, ...] = ()
    """Numbered from 1, unless they have `keys`."""
    key_hints: tuple[KeyHint, ...] = ()
    done: Decimal = Decimal(0)
    total: Decimal = Decimal(0)
    """Progress, in pieces where goods of several units have no sum; total 0 shows none."""
    upcoming_title: Msg = Msg("coming.title")
    """What stands over `coming`."""
    is_upcoming_at_hand: bool = False
    """What comes is here already: what it is matters more than its place."""
    first: int = 0
    """Index of `choices[0]`, where they are a part of more."""
    choice_total: int = 0
    """So many there are to choose from, where that may be more than a screen has room for."""
    choice_letters: str = ""
    """The letters of the choices, where numbers are quantities."""


class Row(NamedTuple):
    """One row of a list. Cells are in the order of their importance; the last that do not fit are left out."""

    key: str
    cells: tuple[Msg, ...]
    progress: Decimal = Decimal(-1)
    """Progress from 0 to 1, drawn as a bar where there is room; below 0: none."""
    is_marked: bool = False
    """Something is to be done to it, together with others."""


class ListView(NamedTuple):
    """A window on a list of any length."""

    name: str
    title: Msg
    prompt: Msg
    column_heads: tuple[Msg, ...]
    """Column heads, one for each cell."""
    rows: tuple[Row, ...]
    first: int
    """Index of `rows[0]` in the whole list."""
    total: int
    cursor: int = -1
    """Index in the whole list; -1 while nobody has moved it."""
    numbered_rows: int = 0
    """So many rows from the first of the window are choices, numbered from 1."""
    empty: Msg = Msg("list.empty")
    choices: tuple[Msg, ...] = ()
    """Numbered on from the rows."""
    key_hints: tuple[KeyHint, ...] = ()
    has_progress_bars: bool = False
    """Its rows show how far they are: columns give way to the bars where there is some room."""
    may_have_more: bool = False
    """More may be there than `total`: so far they were counted, and what follows is found by more of its words."""
    has_two_line_rows: bool = False
    """On a narrow screen each row has two lines, though fewer are in sight then: its second cell says what the first
    does not."""


class Block(NamedTuple):
    """A titled part of a detail: rows of cells, the first cell of each the most important."""

    title: Msg
    rows: tuple[tuple[Msg, ...], ...]
    numbered_rows: int = 0
    """So many of the rows are choices, numbered from 1."""
    is_compact: bool = False
    """On a small screen it goes without its title, and a row that fits into one line stays on one."""
    cell_styles: tuple[str, ...] = ()
    """How the cells of a row are drawn, where that is what they are there to show: kinds of a verdict, `accent`,
    `bold`, `dim`, `reversed`."""
    is_title_needed: bool = False
    """The title says what the rows do not: where it is left out, each row says it."""


class MapLocation(NamedTuple):
    """One place on a map, and how full it is."""

    location: str
    fill: Decimal
    """From 0 (empty) to 1."""
    is_current: bool = False


class DetailView(NamedTuple):
    """Everything about one thing, to be read; page by page where it does not fit."""

    name: str
    title: Msg
    prompt: Msg
    lines: tuple[Line, ...] = ()
    """What it is, in a few important lines."""
    blocks: tuple[Block, ...] = ()
    page: int = 0
    """Which page of the blocks is shown; the screen decides how many there are, and counts on from the last to the
    first."""
    map_locations: tuple[MapLocation, ...] = ()
    """The places around in the order of feet, drawn as a map where there is room."""
    choices: tuple[Msg, ...] = ()
    """Numbered on from the rows of the blocks, unless they have `keys`."""
    key_hints: tuple[KeyHint, ...] = ()
    choice_letters: str = ""
    """The letters of the choices, where numbers say how many."""


class Series(NamedTuple):
    """One row of bars."""

    label: Msg
    values: tuple[Decimal, ...]
    """From 0 on, one for each place on the axis."""
    total: Decimal | None = Decimal(0)
    """None where they do not add up to anything."""
    axis: tuple[Msg, ...] = ()
    """What stands under its own bars, where they are of other things than those of the other rows."""


class Chart(NamedTuple):
    """Figures drawn as bars, one row of them under the other on one scale; page by page where they do not fit."""

    name: str
    title: Msg
    prompt: Msg
    series: tuple[Series, ...]
    axis: tuple[Msg, ...]
    """What stands under the bars, short."""
    lines: tuple[Line, ...] = ()
    """What it says in words."""
    page: int = 0
    empty: Msg = Msg("list.empty")
    choices: tuple[Msg, ...] = ()
    key_hints: tuple[KeyHint, ...] = ()
    is_heat_map: bool = False
    """A map: one row for each series, a sign for each of its values, the darker the higher."""


View = Step | ListView | DetailView | Chart
"""Everything a job can show."""


def numbered_rows(view: View) -> int:
    """So many rows of a page are choices: its other choices are numbered on from them."""
    if isinstance(view, DetailView):
        return sum(block.numbered_rows for block in view.blocks)
    return view.numbered_rows if isinstance(view, ListView) else 0


def without_row_numbers(view: View) -> View:
    """The page without the numbers of its rows."""
    if isinstance(view, DetailView):
        return view._replace(blocks=tuple(block._replace(numbered_rows=0) for block in view.blocks))
    return view._replace(numbered_rows=0) if isinstance(view, ListView) else view


class MissingList(NamedTuple):
    """A list of the service that cannot be read, or not wholly."""

    name: str
    why: str
    """As `aisle.jobs.message` keeps it; empty where nobody knows."""


class UnusableRows(NamedTuple):
    """Rows of a list of the service that cannot be used."""

    name: str
    rows: int
    why: str
    """The field of one of them that makes no sense, or why else."""
    is_repeated: bool = False
    """They are there twice, and the last row of each key counts."""


class LinkState(NamedTuple):
    """The state of the link, shown on every screen."""

    state: str
    """`live`, `partial`, `offline`, `syncing`, `none` (no courier yet), `stuck` (one that does not answer), `renewed`
    (what a newer program reads, this one cannot), `refused` (token) or `unkept` (nothing can be noted on this host)."""
    age_s: float = -1.0
    """Seconds since the cache was last confirmed by the service; below 0: never."""
    waiting: int = 0
    """Operations not yet confirmed."""
    needs_person: int = 0
    """Operations that need a person."""
    done: int = 0
    total: int = 0
    """Progress of a running full sync in rows; total 0: unknown."""
    missing_lists: tuple[str, ...] = ()
    """Where the link is `partial`: the lists that do not come."""
    unread_lists: tuple[str, ...] = ()
    """Lists of the store that were never read to their end: nobody knows what is in them."""
    waiting_other_stores: int = 0
    """Operations of other stores that terminals of this host were changed to or from, not yet confirmed."""
    unreadable_lists: tuple[MissingList, ...] = ()
    """The lists that could not be read when they were last asked for."""
    unusable_rows: tuple[UnusableRows, ...] = ()
    """Rows that could not be used when their lists were last read."""
    heartbeat_age_s: float = 0.0
    """Where the link is `stuck`: seconds since the courier's last sign of life."""


class Frame(NamedTuple):
    """All that is on the screen."""

    view: View
    link: LinkState
    verdict: Verdict | None = None
    typed: str = ""
    store: str = ""
    user: str = ""
    scan_serial: int = 0
    """Number of the last scan of this session, so that two equal verdicts can be told apart."""
    language: str = "en"
    """Of all that is said."""
    theme: str = ""
    """How it is coloured; empty for the sixteen colours of the terminal."""


TRUE_COLOUR = 1 << 24
"""Colours of a terminal that says it has them all."""
