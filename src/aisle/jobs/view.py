"""Views: what a job shows on the screen, as data. The screen decides on layout, language and colours."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import NamedTuple

STATE_WORDS = {
    "queued": "operation_state.queued",
    "sending": "operation_state.sending",
    "confirmed": "operation_state.confirmed",
    "refused": "operation_state.refused",
    "in_doubt": "operation_state.in_doubt",
    "resolved": "operation_state.resolved",
}


class Msg(NamedTuple):
    """Message of the catalogue: its id and its arguments. Strings among the arguments are raw: they pass
    `aisle.terminal_text` when they are drawn."""

    id: str
    args: tuple[tuple[str, str | int | Decimal | Msg], ...] = ()


def msg(id_: str, **args: str | int | Decimal | Msg) -> Msg:
    """Return a message with named arguments."""
    return Msg(id_, tuple(args.items()))


def raw(text: str) -> Msg:
    """Return text as a message, unchanged."""
    return Msg("raw", (("text", text),))


def join_messages(texts: Sequence[Msg], id_: str = "orders.join") -> Msg:
    """Return several messages as one; empty for none."""
    *parts, whole = texts or (raw(""),)
    for part in reversed(parts):
        whole = msg(id_, one=part, other=whole)
    return whole


def known_number(value: Decimal | None) -> Decimal | Msg:
    """Return a number for use in a text; `?` if it is unknown."""
    return raw("?") if value is None else value


def number_message(value: Decimal | None) -> Msg:
    """Return a number as a message; `?` if it is unknown."""
    return msg("number", value=known_number(value))


def signed_message(value: Decimal, amount: Decimal | Msg | None = None) -> Msg:
    """Return a difference with its sign. `amount` replaces its absolute value in the text."""
    return msg(
        "count.signed",
        sign="+" if value > 0 else "-" if value < 0 else "±",
        value=abs(value) if amount is None else amount,
    )


GOOD, WRONG, INFO, ASK = "good", "wrong", "info", "ask"
"""Kinds of a verdict: accepted; not accepted (with the reason and a way on); information; a choice is open."""


class Verdict(NamedTuple):
    """Answer to the last input."""

    kind: str
    text: Msg
    is_multiline: bool = False
    """True if the text may take several lines. Other good verdicts have one line."""
    detail: Msg | None = None
    """Further information on what was done; it may take several lines."""

    def wrap(self, text_id: str, **args: str | int | Decimal | Msg) -> Verdict:
        """Return this verdict with its text as the argument `said` of a longer message."""
        return self._replace(text=msg(text_id, **args, said=self.text))


def undo_verdict(text: Msg) -> Verdict:
    """Return a verdict that names what was undone: goods, quantity, from where and to where."""
    return Verdict(GOOD, text, is_multiline=True)


class Line(NamedTuple):
    """Important line of a step. `role` decides its position and weight on every screen size. Roles: `location`,
    `product`, `quantity`, `user`, `note`, `tote`."""

    role: str
    text: Msg
    bar: tuple[Msg, Msg] | None = None
    """Left and right text of the row of a quantity on a handheld; None for `text` alone."""


class LabelledValue(NamedTuple):
    """Label and value, shown if there is space; the first ones have priority."""

    label: Msg
    value: Msg


class UpcomingStop(NamedTuple):
    """Later stop: location, product, quantity."""

    location: str
    label: str
    quantity: Decimal | None
    """None if unknown."""
    unit: str = ""
    """Unit of goods that are measured; empty for pieces."""


class KeyHint(NamedTuple):
    """Command of the step: its letter and its description."""

    letter: str
    text: Msg
    is_always_shown: bool = False
    """True if it is useful even when the whole page fits on the screen."""


BACK = KeyHint("b", msg("hint.back"))
"""Hint to leave the page; nearly all pages have it."""

NEXT_PAGE = KeyHint("n", msg("hint.next_page"))
PAGE_HINTS = (NEXT_PAGE, KeyHint("p", msg("hint.previous_page")))
"""Hints to turn pages when the content does not fit on one screen."""

PAGING_TEXT_IDS = (*(hint.text.id for hint in PAGE_HINTS), "locations.next_page")
"""Ids of hint texts that are shown only if there is more than one page."""


class Step(NamedTuple):
    """Single thing to do now."""

    name: str
    """`job.step`: the name in the screen registry, the trace and the journal."""
    title: Msg
    prompt: Msg
    lines: tuple[Line, ...] = ()
    labelled_values: tuple[LabelledValue, ...] = ()
    upcoming: tuple[UpcomingStop, ...] = ()
    choices: tuple[Msg, ...] = ()
    """Numbered from 1, unless they have `choice_letters`."""
    key_hints: tuple[KeyHint, ...] = ()
    done: Decimal = Decimal(0)
    total: Decimal = Decimal(0)
    """Progress for the bar, in pieces if goods of several units have no sum. A total of 0 shows no progress."""
    progress: Msg | None = None
    """The same in words, if it is not `done` of `total`."""
    upcoming_title: Msg = Msg("upcoming.title")
    """Title of `upcoming`."""
    is_upcoming_at_hand: bool = False
    """True if the upcoming goods are at hand already. Their names then matter more than their locations."""
    first: int = 0
    """Index of `choices[0]` if they are part of a longer list."""
    choice_total: int = 0
    """Number of choices in all, if there may be more than fit on the screen."""
    choice_letters: str = ""
    """Letters of the choices, if numbers are quantities."""


class Chip(NamedTuple):
    """Filter above a list, chosen by a click."""

    text: Msg
    total: int | None
    """Number of its rows, None if unknown."""
    is_active: bool
    """True if the list shows it."""


class Row(NamedTuple):
    """Row of a list. Cells are ordered by importance; the last ones are left out if they do not fit."""

    key: str
    cells: tuple[Msg, ...]
    progress: Decimal = Decimal(-1)
    """Progress from 0 to 1, drawn as a bar if there is space; below 0: none."""
    is_marked: bool = False
    """True if it is marked for an action on several rows."""
    is_changed: bool = False
    """True if it changed a moment ago."""


CHANGED_S = 3.0
"""Seconds for which a changed row is marked."""


class Block(NamedTuple):
    """Titled part of a detail view: rows of cells, the first cell of each the most important."""

    title: Msg
    rows: tuple[tuple[Msg, ...], ...]
    numbered_rows: int = 0
    """Number of rows that are choices, numbered from 1."""
    is_compact: bool = False
    """True if a small screen omits its title and keeps rows that fit on one line."""
    cell_styles: tuple[str, ...] = ()
    """Styles of the cells of a row: kinds of a verdict, `accent`, `bold`, `dim`, `reversed`. For cells that demonstrate
    a style."""
    is_wide: bool = False
    """True if it takes the whole width of a desk, above the other blocks, where half of it would cut its rows."""
    is_title_needed: bool = False
    """True if the rows need the title. If it is left out, each row repeats it."""
    edited_rows: tuple[int, ...] = ()
    """Indices of the rows whose values are being changed."""


class Tile(NamedTuple):
    """Figure of a dashboard. Its number opens the list behind it."""

    title: Msg
    total: int | None
    """None while it is unknown."""
    note: Msg = Msg("raw", (("text", ""),))
    """What is first in the list."""
    urgency: str = ""
    """Tone of a total above 0: `late`, `warning` or `ready`; empty for none."""


class Dashboard(NamedTuple):
    """Page at a glance for a wide screen: tiles that open lists, and panels below them."""

    tiles: tuple[Tile, ...]
    """The first choices of the page, in their order."""
    charts: tuple[Chart, ...] = ()
    """Charts below the tiles, side by side."""
    blocks: tuple[Block, ...] = ()
    """Tables beside the charts."""
    blocks_below: tuple[Block, ...] = ()
    """Blocks before those of the page."""
    cursor: int = -1
    """Index of the tile that Enter opens; -1 for none."""


class SidePane(NamedTuple):
    """Pane beside the blocks of a page: a chart with axes, and tables below it."""

    chart: Chart | None
    """Chart whose series share one axis; the first one is drawn full, the others hatched."""
    blocks: tuple[Block, ...] = ()


class MapLocation(NamedTuple):
    """Location on a map, with its fill."""

    location: str
    fill: Decimal
    """From 0 (empty) to 1."""
    is_current: bool = False


class DetailView(NamedTuple):
    """Details of one record; paged if they do not fit."""

    name: str
    title: Msg
    prompt: Msg
    lines: tuple[Line, ...] = ()
    """Its most important lines."""
    blocks: tuple[Block, ...] = ()
    page: int = 0
    """Index of the page shown. The screen decides how many pages there are; it wraps around."""
    map_locations: tuple[MapLocation, ...] = ()
    """Locations nearby in walking order, drawn as a map if there is space."""
    choices: tuple[Msg, ...] = ()
    """Further choices, numbered on from the rows of the blocks, unless they have `choice_letters`."""
    key_hints: tuple[KeyHint, ...] = ()
    choice_letters: str = ""
    """Keys of the choices that are not numbered on: letters where numbers are quantities, or numbers of their own."""
    dashboard: Dashboard | None = None
    """Tiles and panels that a wide screen shows above the blocks."""
    side: SidePane | None = None
    """What a desk shows beside the blocks."""


class Sorting(NamedTuple):
    """Column by which a list is sorted."""

    sort: str
    """Sort order of the column."""
    is_descending: bool = False


class ListView(NamedTuple):
    """Window on a list of any length."""

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
    """Index in the whole list; -1 until it is moved."""
    numbered_rows: int = 0
    """Number of choices among the rows, from the first one of the window, numbered from 1."""
    empty: Msg = Msg("list.empty")
    choices: tuple[Msg, ...] = ()
    """Further choices, numbered on from the rows, unless they have `choice_letters`."""
    key_hints: tuple[KeyHint, ...] = ()
    choice_letters: str = ""
    """Letters of the choices, if a quantity was open on the page before: a number is none."""
    has_progress_bars: bool = False
    """True if its rows show progress. Columns are left out to make space for the bars."""
    may_have_more: bool = False
    """True if more than `total` rows may match; a longer search finds the others."""
    has_two_line_rows: bool = False
    """True if each row takes two lines on a narrow screen, because its second cell says what the first does not. Fewer
    rows are then visible."""
    pane: DetailView | None = None
    """Details of the row at the cursor, beside the list on a wide screen, below it on a narrower desk."""
    chips: tuple[Chip, ...] = ()
    """Filters above the list on a wide screen."""
    sums: Msg | None = None
    """Sums over all rows of the filter, below the chips."""
    sorts: tuple[str, ...] = ()
    """Sort order that each heading chooses, empty for none."""
    sorting: Sorting | None = None
    """None if the headings do not sort."""


class Series(NamedTuple):
    """Row of bars."""

    label: Msg
    values: tuple[Decimal, ...]
    """Values from 0, one for each position on the axis."""
    total: Decimal | None = Decimal(0)
    """None if a sum makes no sense."""
    axis: tuple[Msg, ...] = ()
    """Axis labels of this series, if they differ from those of the chart."""


class Chart(NamedTuple):
    """Bar chart: one row of bars for each series, on one scale; paged if it does not fit."""

    name: str
    title: Msg
    prompt: Msg
    series: tuple[Series, ...]
    axis: tuple[Msg, ...]
    """Short labels below the bars."""
    lines: tuple[Line, ...] = ()
    """Summary in words."""
    page: int = 0
    empty: Msg = Msg("list.empty")
    choices: tuple[Msg, ...] = ()
    key_hints: tuple[KeyHint, ...] = ()
    is_heat_map: bool = False
    """True to draw a map: one row for each series, one character for each value, darker for higher values."""


View = Step | ListView | DetailView | Chart
"""All kinds of views."""


def numbered_rows(view: View) -> int:
    """Return the number of rows of a page that are choices. Its other choices are numbered on from them."""
    if isinstance(view, DetailView):
        return sum(block.numbered_rows for block in view.blocks)
    return view.numbered_rows if isinstance(view, ListView) else 0


def numbered_choice(view: View, number: int) -> Msg | None:
    """Return the choice with this number on a page whose choices are numbered; None if it shows none.

    Rows without a place in that numbering are chosen by their own numbers, as stock pools are.
    """
    if not isinstance(view, Step | ListView) or view.choice_letters:
        return None
    rows = view.rows if isinstance(view, ListView) else ()
    numbered = view.numbered_rows if isinstance(view, ListView) else 0
    choices = (*(row.cells[0] for row in rows[:numbered]), *view.choices)
    if choices:
        return choices[number - 1] if 0 < number <= len(choices) else None
    return next((row.cells[-1] for row in rows if row.key == str(number)), None)


def without_row_numbers(view: View) -> View:
    """Return the page without row numbers."""
    if isinstance(view, DetailView):
        return view._replace(blocks=tuple(block._replace(numbered_rows=0) for block in view.blocks))
    return view._replace(numbered_rows=0) if isinstance(view, ListView) else view


class MissingList(NamedTuple):
    """List of the service that cannot be read, or only in part."""

    name: str
    why: str
    """Reason as stored by `aisle.stored_messages`; empty if unknown."""


class UnusableRows(NamedTuple):
    """Rows of a list of the service that cannot be used."""

    name: str
    rows: int
    why: str
    """Invalid field of one of them, or another reason."""
    is_repeated: bool = False
    """True if they are duplicates. The last row of each key is used."""


class LinkState(NamedTuple):
    """State of the link to the service, shown on every screen."""

    state: str
    """State: `live`, `partial`, `offline`, `syncing`, or one of these.

    * `none`: no courier yet.
    * `stuck`: the courier does not answer.
    * `renewed`: the database belongs to a newer program.
    * `refused`: the service refuses the token.
    * `unkept`: this host cannot store operations.
    """
    age_s: float = -1.0
    """Seconds since the service last confirmed the cache; below 0: never."""
    waiting: int = 0
    """Operations not yet confirmed."""
    needs_person: int = 0
    """Operations that need a person."""
    done: int = 0
    total: int = 0
    """Progress of a running full sync in rows; a total of 0 means unknown."""
    missing_lists: tuple[str, ...] = ()
    """Lists that do not come, if the link is `partial`."""
    unread_lists: tuple[str, ...] = ()
    """Lists of the store that were never read completely, so their content is unknown."""
    waiting_other_stores: int = 0
    """Unconfirmed operations of other stores, to or from which terminals of this host were switched."""
    unreadable_lists: tuple[MissingList, ...] = ()
    """Lists that could not be read at the last attempt."""
    unusable_rows: tuple[UnusableRows, ...] = ()
    """Rows that could not be used when their lists were last read."""
    heartbeat_age_s: float = 0.0
    """Seconds since the courier's last heartbeat, if the link is `stuck`."""


class Tab(NamedTuple):
    """Page that a desk offers above every page."""

    name: str
    """Job that it opens."""
    text: Msg
    total: int | None
    """Number of its records; None if it is zero, unknown or without a meaning."""
    is_active: bool
    """True if the page on the screen belongs to it."""


class Frame(NamedTuple):
    """Complete content of the screen."""

    view: View
    link: LinkState
    verdict: Verdict | None = None
    typed: str = ""
    store: str = ""
    user: str = ""
    scan_serial: int = 0
    """Number of the last scan in this session."""
    language: str = "en"
    """Language of all texts."""
    theme: str = ""
    """Colour theme; empty for the sixteen colours of the terminal."""
    today: date | None = None
    """Day of the store, by which dates show their year or not."""
    tabs: tuple[Tab, ...] = ()
    """Tabs above the page; none on a handheld."""
    one_key_letters: str = ""
    """Letters that act without Enter; a blank among them marks a row. None on a handheld."""
    verdict_repeats: int = 1
    """Times that this verdict was the answer in a row."""
    address: str = "/"
    """Address of the page in a browser."""
    dropped_length: int = 0
    """Number of characters of the open line that were typed for another page."""
    lists: tuple[str, ...] = ()
    """Lists of the service that the job shows, the most important first."""
    main_list: str = ""
    """List of the service that the page lists; empty for other data."""


TRUE_COLOUR = 1 << 24
"""Number of colours of a true-colour terminal."""


MIN_DESK_COLUMNS, MIN_DESK_ROWS = 100, 30
"""Size of a screen from which it is a desk, with tabs and a mouse."""


def is_desk_size(columns: int, rows: int) -> bool:
    """Return True if a screen of this size is a desk, not a handheld."""
    return columns >= MIN_DESK_COLUMNS and rows >= MIN_DESK_ROWS


MIN_MARGIN_COLUMNS, MARGIN_CELLS = 60, 2
"""Columns of a screen from which its text has margins, and the cells of both margins."""


MIN_SIDE_COMMAND_COLUMNS = 140
"""Columns of a screen from which the commands stand beside a list."""


MIN_PANE_COLUMNS = 140
"""Columns of a screen from which the details of a row stand beside its list."""


PANE_ROWS = 14
"""Rows of the details of a row where they stand below its list."""
