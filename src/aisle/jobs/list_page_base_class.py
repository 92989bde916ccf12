"""Base class of pages that list rows: columns, search, cursor and window."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from aisle.jobs import column_choice, list_cursor_and_search
from aisle.jobs.column_choice import ColumnPage, ListWithOptions, with_options
from aisle.jobs.job import MAX_SORTED, Args, Close, Context, Event, ExportList, Query, Rows, Turn, reply
from aisle.jobs.list_cursor_and_search import (
    ListState,
    Replaceable,
    move_cursor,
    page_hints,
    row_at_cursor,
    row_in_focus,
)
from aisle.jobs.pages_and_page_job import COUNT_ID, Action, Page, refuse
from aisle.jobs.view import BACK, INFO, Chip, DetailView, ListView, Msg, Row, Sorting, Verdict, msg, raw
from aisle.scan.grammar_and_meaning_types import Accepts, CursorKey, Scan, Text, TypedText, UnknownCode
from aisle.scan.inputs_and_line_grouping import CHIP_KEY, MARK_KEYS, ROW_KEY, SORT_KEY


class PageState(ListState, ListWithOptions, Protocol):
    """State of a list page."""


W = TypeVar("W", bound=PageState)
R = TypeVar("R")
T = TypeVar("T")


class Column(NamedTuple, Generic[R]):
    """Column of a list. The first ones are the most important; the last ones are left out if they do not fit."""

    title: Msg
    value: Callable[[R], Msg]
    is_optional: bool = False
    """True if it is left out while no row of the window has a value for it."""
    sort: str = ""
    """Sort order that its heading chooses: a field of the query's rows. Empty for none."""


class ListFilter(NamedTuple):
    """Filter that everybody has: a chip above the list."""

    text: Msg
    fields: Mapping[str, Any]
    """Fields of the state that make the filter, with their values."""


def columns_with_values(columns: tuple[Column[R], ...], rows: tuple[R, ...]) -> tuple[Column[R], ...]:
    """Return the columns without optional ones that are empty in all rows."""
    return tuple(
        column for column in columns if not column.is_optional or any(column.value(row) != raw("") for row in rows)
    )


def cells_of_rows(columns: tuple[Column[R], ...], rows: tuple[R, ...]) -> tuple[tuple[Msg, ...], ...]:
    """Return the cells of each row."""
    return tuple(tuple(column.value(row) for column in columns) for row in rows)


class ListPage(Page[W], Generic[W, R]):
    """Page that lists the rows of a query. A number or Enter opens a row, `/` searches, a click on a heading sorts."""

    query_name: str
    columns: tuple[Column[R], ...] = ()
    key: Callable[[R], str]
    """Returns the key of a row."""
    no_rows_text: Msg
    """Text in place of rows without a search, if it is always the same."""
    no_match_id = "look_up.no_match"
    """Message that no row matches the search."""
    follows_typing = False
    indexed_sorts: tuple[str, ...] = ()
    """Sort orders for which the cache has an index, however long the list is."""
    has_progress_bars = False
    has_two_line_rows = False
    """True if each row takes two lines on a narrow screen."""

    def empty_text(self, state: W) -> Msg:
        """Return the text in place of rows: that none matches the search, or that there are none."""
        if text := state.typed or state.search:
            return list_cursor_and_search.not_found_message(self.no_match_id, text, self.may_have_more(state))
        return self.no_rows_text

    @abstractmethod
    def open_row(self, state: W, row: R, context: Context) -> Turn[W]:
        """Open a row."""

    def arguments(self, state: W, context: Context) -> Args:
        """Return the arguments of the query besides search and window."""
        return {}

    def all_columns(self, state: W) -> tuple[Column[R], ...]:
        """Return all columns of the list in this state."""
        return self.columns

    def visible_columns(self, state: W) -> tuple[Column[R], ...]:
        """Return the columns to show. Those that are optional and empty are left out."""
        return columns_with_values(self.chosen_columns(state), state.rows)

    def chosen_columns(self, state: W) -> tuple[Column[R], ...]:
        """Return the columns that the person chose at a desk, the most important first; all if none is known here."""
        columns, options = self.all_columns(state), state.options
        by_name = {column.title.id: column for column in columns}
        chosen = tuple(by_name[name] for name in options.columns if name in by_name) if options.is_desk else ()
        return chosen or self.usual_columns(state)

    def usual_columns(self, state: W) -> tuple[Column[R], ...]:
        """Return the columns to show until a person chooses others."""
        return self.all_columns(state)

    def cover(self, state: W) -> Page[W] | None:
        """Return the choice of the columns while it is open."""
        if not state.options.is_choosing_columns:
            return None
        usual = tuple(column.title.id for column in self.usual_columns(state))
        return ColumnPage(self.name, tuple(column.title for column in self.all_columns(state)), usual)

    def choice_queries(self, context: Context) -> tuple[Query, ...]:
        """Return the query for the columns and the sort order that the person chose last."""
        return (column_choice.query_choices(self.name, context),)

    def handle_choices(self, state: W, answer: Rows, context: Context) -> Turn[W]:
        """Show the list as the person chose it last."""
        chosen = self.with_options(state, **column_choice.read_choices(answer))
        is_sorted = self.sort_arguments(chosen) != self.sort_arguments(state)
        return Turn(chosen, (self.query(chosen, context),) if is_sorted else ())

    def _choose_columns(self, state: W, context: Context) -> Turn[W]:
        return Turn(self.with_options(state, is_choosing_columns=True))

    def cells(self, state: W, columns: tuple[Column[R], ...]) -> tuple[tuple[Msg, ...], ...]:
        """Return the cells of the rows of the window."""
        return cells_of_rows(columns, state.rows)

    def may_have_more(self, state: W) -> bool:
        """Return True if more rows may match than are counted."""
        return False

    def parse_rows(self, answer: Rows, context: Context) -> tuple[R, ...]:
        """Return the rows of an answer."""
        return answer.rows

    def row(self, state: W, row: R, cells: tuple[Msg, ...]) -> Row:
        """Return a row of the view with these cells."""
        return Row(self.key(row), cells)

    def query(self, state: W, context: Context) -> Query:
        """Return the query for the window."""
        return Query(self.query_name, self.query_name, self.window_arguments(state, context), is_live=True)

    def window_arguments(self, state: W, context: Context) -> Args:
        """Return all arguments of the query for the window."""
        search = {"search": state.typed or state.search} if self.follows_typing else {}
        return {
            **self.arguments(state, context),
            **search,
            **self.sort_arguments(state),
            "first": state.first,
            "size": self.page_size(context),
        }

    def sort_arguments(self, state: W) -> Args:
        """Return the arguments by which the query sorts."""
        sort = self._chosen_sort(state)
        return {"order_by": sort, "descending": state.options.is_descending} if sort else {}

    def _chosen_sort(self, state: W) -> str:
        """Return the sort order that was chosen, empty if it is not one of this list."""
        return next((column.sort for column in self.all_columns(state) if column.sort == state.options.sort), "")

    def page_size(self, context: Context) -> int:
        """Return the number of rows to query."""
        return list_cursor_and_search.page_size(context, has_progress_bars=self.has_progress_bars)

    def view(self, state: W) -> ListView:
        """Return the screen."""
        columns = self.visible_columns(state)
        return ListView(
            name=self.name,
            title=self.title(state),
            prompt=self.prompt(state),
            column_heads=tuple(column.title for column in columns),
            rows=tuple(map(partial(self.row, state), state.rows, self.cells(state, columns))),
            first=state.first,
            total=state.total,
            cursor=state.cursor,
            numbered_rows=self.numbered_rows(state),
            empty=self.empty_text(state),
            choices=self.choices(state),
            key_hints=(*self.key_hints(state), *page_hints(state, self.has_two_line_rows), BACK),
            has_progress_bars=self.has_progress_bars,
            may_have_more=self.may_have_more(state),
            has_two_line_rows=self.has_two_line_rows,
            pane=self.pane(state),
            chips=self.chips(state),
            sums=self.sums(state),
            sorts=tuple(column.sort for column in columns),
            sorting=self.sorting(state),
        )

    def sorting(self, state: W) -> Sorting | None:
        """Return by which column the list is sorted, None if its headings do not sort."""
        has_sorts = any(column.sort for column in self.all_columns(state))
        sort = self._chosen_sort(state)
        is_sorted = self._can_sort(state, sort)
        return Sorting(sort if is_sorted else "", is_sorted and state.options.is_descending) if has_sorts else None

    def _can_sort(self, state: W, sort: str) -> bool:
        """Return True if the list is short enough to be sorted so, or an index has this order."""
        return state.total <= MAX_SORTED or sort in self.indexed_sorts

    def sort_by(self, state: W, sort: str, context: Context) -> Turn[W]:
        """Sort by a column, in the other direction if it is the one already. The search stays."""
        if not self._can_sort(state, sort):
            return refuse(state, msg("list.too_many_to_sort", count=MAX_SORTED))
        shown = self.sorting(state)
        is_descending = shown is not None and shown.sort == sort and not shown.is_descending
        state = self.with_options(state, sort=sort, is_descending=is_descending)
        turn = self.restart(state._replace(search=state.typed or state.search), context)
        note = column_choice.choices_note(state.options, self.name, context)
        return turn._replace(effects=(*turn.effects, note)) if context.is_desk else turn

    def _sort_by_next(self, state: W, context: Context) -> Turn[W]:
        """Sort by the next column that the list shows, from left to right."""
        sorts = [column.sort for column in self.visible_columns(state) if column.sort]
        shown = self.sorting(state)
        return self.sort_by(state, next_of(sorts, shown.sort), context) if sorts and shown else Turn(state)

    def _reverse(self, state: W, context: Context) -> Turn[W]:
        """Sort in the other direction."""
        shown = self.sorting(state)
        return self.sort_by(state, shown.sort, context) if shown and shown.sort else self._sort_by_next(state, context)

    def sums(self, state: W) -> Msg | None:
        """Return the sums over all rows of the filter, None if there are none."""
        return None

    def filters(self, state: W) -> tuple[ListFilter, ...]:
        """Return the filters that everybody has."""
        return ()

    def choose_filter(self, state: W, chosen: ListFilter, context: Context) -> Turn[W]:
        """Show the list with this filter. The search stays."""
        return self.restart(state._replace(**chosen.fields, search=state.typed or state.search), context)

    def choose_next_filter(self, state: W, context: Context) -> Turn[W]:
        """Show the list with the next filter; the last one is followed by the first."""
        filters = self.filters(state)
        shown = next((each for each in filters if state._replace(**each.fields) == state), filters[-1])
        chosen = next_of(filters, shown)
        return self.choose_filter(state, chosen, context)._replace(verdict=Verdict(INFO, chosen.text))

    def chips(self, state: W) -> tuple[Chip, ...]:
        """Return the filters above the list of a desk, as soon as they are counted."""
        return tuple(
            Chip(each.text, count, state._replace(**each.fields) == state)
            for each, count in zip(self.filters(state), state.options.counts, strict=False)
        )

    def count_queries(self, state: W, context: Context) -> tuple[Query, ...]:
        """Return the queries for the number of rows of each filter, without a search."""
        unsearched = state._replace(search="", typed="", first=0)
        queries = (self.query(unsearched._replace(**each.fields), context) for each in self.filters(state))
        return tuple(
            query._replace(id=f"{COUNT_ID}{at}", args={**query.args, "size": 0}) for at, query in enumerate(queries)
        )

    def with_count(self, state: W, answer: Rows) -> W:
        """Return the state with the number of rows of a filter."""
        at, counts = int(answer.id.removeprefix(COUNT_ID)), state.options.counts
        counts = (*counts[:at], *(None for _ in range(len(counts), at)), answer.total, *counts[at + 1 :])
        return self.with_options(state, counts=counts)

    def at_desk(self, state: W, is_desk: bool) -> W:
        """Return the state at a desk, or at a handheld."""
        return state if state.options.is_desk == is_desk else self.with_options(state, is_desk=is_desk)

    def page_actions(self, state: W) -> tuple[Action[W], ...]:
        """Return its actions, and at a desk those that all lists have."""
        own = self.actions(state)
        if not state.options.is_desk:
            return own
        is_sorted = self.sorting(state) is not None
        sorts = (
            Action(msg("orders.sort"), self._sort_by_next, "s"),
            Action(msg("list.reverse"), self._reverse, "S"),
        )
        shared = (
            *(sorts if is_sorted else ()),
            Action(msg("columns.title"), self._choose_columns, "C"),
            Action(msg("hint.export"), self._export, "x"),
        )
        letters = {action.letter for action in own}
        return (*own, *(action for action in shared if action.letter not in letters))

    def _export(self, state: W, context: Context) -> Turn[W]:
        """Export all rows that the filter and the search leave."""
        columns = self.all_columns(state)

        def cells(rows: tuple[Any, ...]) -> list[tuple[Msg, ...]]:
            parsed = self.parse_rows(Rows(self.name, rows, len(rows)), context)
            return [tuple(column.value(row) for column in columns) for row in parsed]

        name = f"aisle-{self.name.replace('.', '-')}"
        query = self.query(state._replace(first=0, rows=()), context)
        heads = tuple(column.title for column in columns)
        return Turn(state, (ExportList("file_for_people", name, query, heads, cells),))

    def with_options(self, state: W, **fields: Any) -> W:
        """Return the state with these options."""
        return with_options(state, **fields)

    def pane(self, state: W) -> DetailView | None:
        """Return the details of the row in focus for a wide screen, None if there are none."""
        return None

    def numbered_rows(self, state: W) -> int:
        """Return the number of rows that are choices."""
        return list_cursor_and_search.numbered_rows(state)

    def accepts(self, state: W) -> Accepts:
        """Accept the numbers of rows, letters, and words if they search."""
        letters = self.letters(state) + list_cursor_and_search.page_letters(state, self.has_two_line_rows)
        choices = self.numbered_rows(state) + len(self.choices(state))
        return Accepts(choices=choices, command_letters=letters, follows_typing=self.follows_typing)

    def handle_rows(self, state: W, answer: Rows, context: Context) -> Turn[W]:
        """Show the rows of the window. Query again if it is beyond the end."""
        fresh = list_cursor_and_search.with_rows(state, self.parse_rows(answer, context), answer.total)
        return Turn(fresh, (self.query(fresh, context),) if list_cursor_and_search.is_past_end(state, answer) else ())

    def handle_input(self, state: W, event: Event, context: Context) -> Turn[W]:
        """Handle an input. A slash before words only says that they are a search."""
        if isinstance(event, CursorKey) and event.key.startswith(CHIP_KEY):
            at = int(event.key.removeprefix(CHIP_KEY))
            return next((self.choose_filter(state, each, context) for each in self.filters(state)[at:]), Turn(state))
        if isinstance(event, CursorKey) and event.key.startswith(SORT_KEY):
            return self.sort_by(state, event.key.removeprefix(SORT_KEY), context)
        if self.follows_typing and isinstance(event, Text | UnknownCode | TypedText) and event[0].startswith("/"):
            event = TypedText(event[0][1:]) if isinstance(event, TypedText) else Text(event[0][1:])
        return super().handle_input(state, event, context)

    def handle_other_input(self, state: W, event: Event, context: Context) -> Turn[W]:
        """Search, open a row, or move the cursor or the window."""
        if isinstance(event, Text | UnknownCode | Scan):
            return super().handle_other_input(state, event, context)
        letters = self.letters(state) if self.follows_typing else None
        return list_cursor_and_search.handle_list_input(state, event, context, self.query, self.open_row, letters)

    def handle_text(self, state: W, text: str, context: Context) -> Turn[W]:
        """Search for words ended with Enter."""
        if self.follows_typing:
            return self.restart(state._replace(search=text), context)
        return super().handle_text(state, text, context)

    def restart(self, state: W, context: Context, verdict: Msg | None = None) -> Turn[W]:
        """Show the list at its beginning, after its search or filter has changed."""
        state = state._replace(typed="", first=0, cursor=-1)
        return Turn(state, (self.query(state, context),), Verdict(INFO, verdict) if verdict else None)

    def go_back(self, state: W, context: Context) -> Turn[W]:
        """Clear the search, or close the job."""
        if state.search or state.typed:
            return self.restart(state._replace(search=""), context)
        return Turn(state, (Close(),))


class SearchState(PageState, Protocol):
    """State of a list whose search may lead straight to its only hit."""

    @property
    def open_single_hit(self) -> bool:
        """True after a search that was ended with Enter. A single hit then opens at once."""

    @property
    def may_have_more(self) -> bool:
        """True if more rows may match than are counted."""


H = TypeVar("H", bound=SearchState)


class SearchPage(ListPage[H, R]):
    """List in which words search. Ended with Enter, a search opens its only hit."""

    follows_typing = True

    def may_have_more(self, state: H) -> bool:
        """Return True if more rows may match than are counted."""
        return state.may_have_more

    def single_hit(self, state: H) -> R | None:
        """Return the only row found."""
        hit: R | None = state.rows[0] if state.total == 1 and state.rows and not state.may_have_more else None
        return hit

    def handle_text(self, state: H, text: str, context: Context) -> Turn[H]:
        """Search for words ended with Enter."""
        return self.restart(state._replace(search=text, open_single_hit=True), context)

    def handle_rows(self, state: H, answer: Rows, context: Context) -> Turn[H]:
        """Show the rows of the window, or open the only hit."""
        turn = super().handle_rows(state._replace(may_have_more=answer.may_have_more), answer, context)
        if turn.effects or not state.open_single_hit:
            return turn
        fresh: H = turn.state._replace(open_single_hit=False)
        hit = self.single_hit(fresh)
        return self.open_row(fresh, hit, context) if hit is not None else Turn(fresh)


def next_of(values: Sequence[T], current: T) -> T:
    """Return the value after the current one; the last is followed by the first."""
    return values[(values.index(current) + 1) % len(values)] if current in values else values[0]


class MarkableList(Replaceable, Protocol):
    """State of a list whose rows can be marked."""

    @property
    def is_marking(self) -> bool:
        """True if numbers mark rows instead of opening them."""

    @property
    def marked(self) -> tuple[str, ...]:
        """Keys of the marked rows, in the order of marking."""


M = TypeVar("M", bound=MarkableList)


def toggle_marking(state: M) -> Turn[M]:
    """Switch numbers between marking and opening rows."""
    text = msg("orders.marking_ended", count=len(state.marked)) if state.is_marking else msg("orders.marking")
    return Turn(state._replace(is_marking=not state.is_marking), (), Verdict(INFO, text))


def is_mark_key(state: MarkableList, event: Event) -> bool:
    """Return True for a key that marks. A click on a row does while marking is on."""
    if not isinstance(event, CursorKey):
        return False
    return event.key in MARK_KEYS or (state.is_marking and event.key.startswith(ROW_KEY))


def toggle_mark(marked: tuple[str, ...], key: str) -> tuple[str, ...]:
    """Return the marks with this key added, or removed if it was marked."""
    return tuple(each for each in marked if each != key) if key in marked else (*marked, key)


def mark_with_key(state: Any, key: str, size: int, key_of: Callable[[Any], str], most: int) -> Any:
    """Return the list after a key that marks: the row in focus, that and the next one up or down (Shift and arrow), or
    a clicked row. A next row that is not in the window yet is marked by the next key."""
    if key.startswith(ROW_KEY):
        state, key = move_cursor(state, key, size), "mark"
    row = row_in_focus(state)
    if row is None:
        return state
    state = state._replace(cursor=state.cursor if row_at_cursor(state) else state.first)
    if key == "mark":
        return state._replace(marked=toggle_mark(state.marked, key_of(row))[:most])
    moved = move_cursor(state, key.removeprefix("shift+"), size)
    names = (key_of(row), *(key_of(each) for each in (row_at_cursor(moved),) if each is not None))
    return moved._replace(marked=tuple(dict.fromkeys((*state.marked, *names)))[:most])


_ROW_NUMBERS = re.compile(r"\d{1,3}\s*([-,]\s*\d{1,3}\s*)+")


def is_row_numbers(text: str) -> bool:
    """Return True for several row numbers, such as `1-3` or `1,2,5`, or for the beginning of such a text."""
    return bool({*"-,"} & {*text}) and bool(_ROW_NUMBERS.fullmatch(f"{text.rstrip(' -,')},1"))


def mark_numbers(state: Any, text: str, key_of: Callable[[Any], str], most: int) -> Turn[Any]:
    """Mark the rows of several numbers. Nothing is marked if one of them has no row."""
    numbers: list[int] = []
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        if not first.strip().isdigit() or not (last or first).strip().isdigit():
            return refuse(state, msg("orders.no_row", row=text))
        numbers += range(int(first), int(last or first) + 1)
    rows = [list_cursor_and_search.numbered_row(state, number) for number in numbers]
    if not rows or any(row is None for row in rows):
        return refuse(state, msg("orders.no_row", row=text))
    marked = tuple(dict.fromkeys((*state.marked, *map(key_of, rows))))[:most]
    return Turn(state._replace(marked=marked), (), Verdict(INFO, msg("orders.rows_marked", count=len(marked))))


def mark_all(state: M, keys: tuple[str, ...], message: Msg) -> Turn[M]:
    """Mark all of these rows; remove all marks if all of them are marked already."""
    if set(keys) <= set(state.marked):
        return reply(state._replace(marked=()), INFO, "orders.rows_marked", count=0)
    return Turn(state._replace(marked=keys), (), Verdict(INFO, message))


def clear_marks(state: M) -> Turn[M]:
    """Remove all marks and stop marking."""
    return reply(state._replace(is_marking=False, marked=()), INFO, "orders.rows_marked", count=0)
