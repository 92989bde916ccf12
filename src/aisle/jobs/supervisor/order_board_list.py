"""Order board: the list of the orders that a filter and a search leave, with marks, and the order in focus beside it.

The list is live, but rows do not jump: the order under the cursor, else the first one, keeps its row on the screen.
"""

from __future__ import annotations

from functools import lru_cache, partial
from operator import attrgetter
from typing import NamedTuple

from aisle.jobs import claim, list_cursor_and_search, list_page_base_class
from aisle.jobs.job import Args, Context, Event, Query, Rows, Start, Turn, reply
from aisle.jobs.list_cursor_and_search import ListOptions
from aisle.jobs.list_page_base_class import Column, ListFilter, ListPage, cells_of_rows, columns_with_values
from aisle.jobs.pages_and_page_job import Action, refuse
from aisle.jobs.printed_pick_list import query_pick_list
from aisle.jobs.supervisor.order_action_job import ACTION_LETTERS, ACTION_NAMES
from aisle.jobs.supervisor.order_filter import (
    BUILT_IN_VIEWS,
    DIRECTIONS,
    SORTS,
    OrderFilter,
    describe_filter,
    query_arguments,
    with_sort,
)
from aisle.jobs.supervisor.order_page import OrderState, order_pane
from aisle.jobs.supervisor.order_rows import BOARD_COLUMNS, DETAIL_COLUMNS, BoardOrder, parse_order_row
from aisle.jobs.typed_numbers_dates_and_letters import name_of, not_an_order
from aisle.jobs.view import ASK, GOOD, DetailView, Msg, Row, Sorting, Verdict, msg
from aisle.scan.grammar_and_meaning_types import (
    ORDER,
    REFERENCE,
    Accepts,
    CursorKey,
    Match,
    Scan,
    Text,
    TypedText,
    UnknownCode,
)

MAX_MARKED = 200
"""Most orders for one action."""


class SavedView(NamedTuple):
    """Filter that a person has saved under a name."""

    name: str
    filter: OrderFilter


class OrdersState(NamedTuple):
    """State of the window and of its marks."""

    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    options: ListOptions = ListOptions()
    rows: tuple[BoardOrder, ...] = ()
    total: int = 0
    filter: OrderFilter = OrderFilter()
    page: str = ""
    """Empty for the list; `filter`, `field`, `views`, `name`."""
    field: str = ""
    first_choice: int = 0
    """Index of the first choice on the screen."""
    size: int = 12
    """Number of choices on the screen."""
    is_marking: bool = False
    """True if numbers mark rows instead of opening them."""
    marked: tuple[str, ...] = ()
    views: tuple[SavedView, ...] = ()
    view_name: str = ""
    """Own view that was chosen last."""
    is_window_loading: bool = False
    """True while the rows of a window that followed the cursor have not come yet."""
    is_loaded: bool = False
    claims_for_others: tuple[claim.ClaimForOther, ...] = ()
    """Assignments to others made from this page."""
    new_above: int = 0
    """Orders that came above the window since it was at the beginning."""
    pane: OrderState | None = None
    """Details of the order in focus, on a wide screen."""


Result = Turn[OrdersState]
Actions = tuple[Action[OrdersState], ...]


_kept_columns = lru_cache(maxsize=2)(columns_with_values)
_kept_cells = lru_cache(maxsize=2)(cells_of_rows)
"""Columns and cells of the last rows, because most inputs only move the cursor."""


_COLUMNS_BESIDE_PANE = tuple(column for column in BOARD_COLUMNS if column not in DETAIL_COLUMNS)


class OrderBoard(ListPage[OrdersState, BoardOrder]):
    """List of the orders that the filter and the search leave."""

    name = "orders"
    query_name = "order_board"
    columns = BOARD_COLUMNS
    follows_typing = True
    has_progress_bars = True
    key = attrgetter("number")

    def title(self, state: OrdersState) -> Msg:
        """Return the filter, the search and the number of marked orders, and of new ones above the window."""
        title = self._plain_title(state)
        return msg("orders.title_new_above", title=title, count=state.new_above) if state.new_above else title

    def _plain_title(self, state: OrdersState) -> Msg:
        text = state.typed or state.search
        if state.is_marking or state.marked:
            count = len(state.marked)
            return msg("orders.title_marked_searched" if text else "orders.title_marked", count=count, text=text)
        return msg("orders.title_searched" if text else "orders.title", what=describe_filter(state.filter), text=text)

    def prompt(self, state: OrdersState) -> Msg:
        if state.options.is_desk:
            return msg("orders.prompt_desk")
        return msg("orders.prompt_marking" if state.is_marking else "orders.prompt")

    def empty_text(self, state: OrdersState) -> Msg:
        if not state.is_loaded:
            return msg("stores.loading")
        if text := state.typed or state.search:
            return msg("orders.no_match", text=text)
        return msg("orders.none_finished" if state.filter.state == "finished" else "orders.none")

    def page_size(self, context: Context) -> int:
        """Return the number of rows to query, without those that the pane takes below the list."""
        return max(1, super().page_size(context._replace(window_rows=context.window_rows - context.pane_rows)))

    def usual_columns(self, state: OrdersState) -> tuple[Column[BoardOrder], ...]:
        """Return the columns without those that the pane has."""
        return _COLUMNS_BESIDE_PANE if state.pane else self.columns

    def visible_columns(self, state: OrdersState) -> tuple[Column[BoardOrder], ...]:
        return _kept_columns(self.chosen_columns(state), state.rows)

    def cells(self, state: OrdersState, columns: tuple[Column[BoardOrder], ...]) -> tuple[tuple[Msg, ...], ...]:
        """Return the cells of the rows of the window."""
        return _kept_cells(columns, state.rows)

    def row(self, state: OrdersState, row: BoardOrder, cells: tuple[Msg, ...]) -> Row:
        return Row(row.number, cells, row.progress, row.number in state.marked)

    def arguments(self, state: OrdersState, context: Context) -> Args:
        args = {**query_arguments(state.filter), "now": context.now}
        if state.rows:
            args["near"] = {"order_number": state.rows[0].number, "position": state.rows[0].position}
        return args

    def query_with_cursor(self, state: OrdersState, context: Context, *, fill_page: bool = False) -> Query:
        """Return the query after which the order in focus keeps its row. `fill_page`: the screen size has changed."""
        query = self.query(state, context)
        if not state.rows:
            return query
        at = state.cursor - state.first if list_cursor_and_search.row_at_cursor(state) else 0
        args = {name: value for name, value in query.args.items() if name != "near"}
        return query._replace(args={**args, "anchor": state.rows[at].number, "row": at, "fills": fill_page})

    def parse_rows(self, answer: Rows, context: Context) -> tuple[BoardOrder, ...]:
        return tuple(parse_order_row(row, context) for row in answer.rows)

    def handle_rows(self, state: OrdersState, answer: Rows, context: Context) -> Result:
        """Update the window, which may have moved with the order in focus. The cursor stays on its order."""
        rows, before = self.parse_rows(answer, context), list_cursor_and_search.row_at_cursor(state)
        first = rows[0].position if rows else state.first
        fresh = list_cursor_and_search.with_rows(state._replace(first=first), rows, answer.total)
        at = next((index for index, row in enumerate(rows) if before and row.number == before.number), -1)
        if at >= 0 and state.cursor >= 0 and not state.is_window_loading:
            fresh = fresh._replace(cursor=first + at)
        is_same = bool(state.rows and rows) and rows[0].number == state.rows[0].number and not state.is_window_loading
        came = rows[0].position - state.rows[0].position if is_same else 0
        new_above = max(0, state.new_above + came) if first else 0
        fresh = fresh._replace(is_window_loading=False, is_loaded=True, new_above=new_above)
        return Turn(fresh, (self.query(fresh, context),) if list_cursor_and_search.is_past_end(state, answer) else ())

    def restart(self, state: OrdersState, context: Context, verdict: Msg | None = None) -> Result:
        return super().restart(state._replace(rows=()), context, verdict)

    def actions(self, state: OrdersState) -> Actions:
        is_marking = state.is_marking or bool(state.marked)
        mark = msg("orders.mark_end" if state.is_marking else "orders.mark")
        return (
            Action(msg("hint.filter"), partial(open_page, "filter"), "f", not is_marking),
            Action(msg("orders.views"), partial(open_page, "views"), "v", not is_marking),
            Action(mark, lambda state, _: list_page_base_class.toggle_marking(state), "m"),
            Action(msg("orders.mark_all"), _query_all, "a", is_marking),
            Action(msg("orders.actions"), partial(_start_action, ""), "d"),
            *(_DESK_ACTIONS if state.options.is_desk else ()),
        )

    def accepts(self, state: OrdersState) -> Accepts:
        return super().accepts(state)._replace(search=True)

    def handle_other_input(self, state: OrdersState, event: Event, context: Context) -> Result:
        match event:
            case Text(text) | UnknownCode(text) if state.is_marking and list_page_base_class.is_row_numbers(text):
                return list_page_base_class.mark_numbers(state, text, self.key, MAX_MARKED)
            case TypedText(text) if state.is_marking and list_page_base_class.is_row_numbers(text):
                return Turn(state)
            case CursorKey(key) if list_page_base_class.is_mark_key(state, event):
                marked = list_page_base_class.mark_with_key(state, key, self.page_size(context), self.key, MAX_MARKED)
                return Turn(marked, (self.query(marked, context),) if marked.first != state.first else ())
            case CursorKey(key) if key != "enter":
                return self._move_cursor(state, key, context)
            case Scan(matches):
                return self._handle_scan(state, matches, context)
            case UnknownCode(code):
                return self._handle_unknown_code(state, code, context)
            case TypedText(text):
                searched = "" if self._is_row_number(state, text) else text
                typed = list_cursor_and_search.with_typed_search(state, searched, self.letters(state))
                return Turn(state) if typed is None else Turn(typed, (self.query(typed._replace(rows=()), context),))
        return super().handle_other_input(state, event, context)

    def sort_by(self, state: OrdersState, sort: str, context: Context) -> Result:
        """Sort by a column, or in the other direction. The search stays."""
        if sort not in SORTS:
            return Turn(state)
        return self.restart(
            state._replace(filter=with_sort(state.filter, sort), search=state.typed or state.search), context
        )

    def sort_arguments(self, state: OrdersState) -> Args:
        return {}  # the filter has them

    def sorting(self, state: OrdersState) -> Sorting:
        return Sorting(state.filter.sort, DIRECTIONS[state.filter.direction])

    def _move_cursor(self, state: OrdersState, key: str, context: Context) -> Result:
        if not state.total:
            return Turn(state)
        moved = list_cursor_and_search.move_cursor(state, key, self.page_size(context))
        if moved.first == state.first:
            return Turn(moved)
        return Turn(moved._replace(is_window_loading=True), (self.query(moved, context),))

    def open_row(self, state: OrdersState, row: BoardOrder, context: Context) -> Result:
        """Open the row, or mark it while marking is on."""
        if state.is_marking:
            return Turn(_toggle_mark(state, row.number))
        return Turn(state._replace(typed=""), (_start_order(row.number),))

    def _handle_scan(self, state: OrdersState, matches: tuple[Match, ...], context: Context) -> Result:
        """Open or mark a scanned order. List the orders of a shared reference; look up a product or location."""
        numbers = tuple(dict.fromkeys(each.key for each in matches if each.kind in (ORDER, REFERENCE)))
        first = matches[0]
        if len(numbers) > 1:
            filter_ = state.filter._replace(reference=first.code or first.key)
            return self.restart(state._replace(filter=filter_, search=""), context)
        if numbers and state.is_marking:
            marked = _toggle_mark(state, numbers[0])
            return self._show_order(marked, numbers[0], context)._replace(
                verdict=Verdict(
                    GOOD, msg("orders.marked" if numbers[0] in marked.marked else "orders.unmarked", order=numbers[0])
                )
            )
        if numbers:
            return Turn(state, (_start_order(numbers[0]),))
        if state.is_marking:  # the marks stay on the screen
            return refuse(state, msg("page.not_this", what=name_of(first)))
        if start := list_cursor_and_search.open_record(first.kind, first.key, first.label):
            return Turn(state, (start,))
        return refuse(state, not_an_order(first))

    def _show_order(self, state: OrdersState, order: str, context: Context) -> Result:
        """Move the window to a marked order, if the filter includes it. The search is cleared."""
        if any(row.number == order for row in state.rows):
            return Turn(state)
        state = state._replace(search="", typed="", cursor=-1)
        query = self.query(state, context)
        return Turn(state, (query._replace(args={**query.args, "anchor": order, "row": 0, "fills": True}),))

    def _is_row_number(self, state: OrdersState, text: str) -> bool:
        """Return True if digits are meant as a row number, on the page or not. Longer numbers are a search."""
        return bool(state.rows) and text.isdigit() and len(text) <= len(str(list_cursor_and_search.MAX_NUMBERED))

    def _handle_unknown_code(self, state: OrdersState, code: str, context: Context) -> Result:
        """Open an order that this host does not know, since it may be finished long ago. A single letter is none."""
        if self._is_row_number(state, code):
            return refuse(state, msg("orders.no_row", row=code))
        if not state.total and (len(code) > 1 or code.isdigit()):
            return Turn(state._replace(typed=""), (_start_order(code),))
        return self.restart(state._replace(search=code), context)

    def filters(self, state: OrdersState) -> tuple[ListFilter, ...]:
        return tuple(ListFilter(name, {"filter": filter_}) for _, name, filter_ in BUILT_IN_VIEWS)

    def choose_filter(self, state: OrdersState, chosen: ListFilter, context: Context) -> Result:
        return apply_view(SavedView("", chosen.fields["filter"]), state, context)

    def count_queries(self, state: OrdersState, context: Context) -> tuple[Query, ...]:
        """Return one query for all figures, because most of them are stored."""
        views = [query_arguments(filter_) for _, _, filter_ in BUILT_IN_VIEWS]
        return (Query("order_counts", "order_counts", {"views": views, "now": context.now}, is_live=True),)

    def pane(self, state: OrdersState) -> DetailView | None:
        return order_pane(state.pane) if state.pane else None

    def go_back(self, state: OrdersState, context: Context) -> Result:
        return (
            list_page_base_class.clear_marks(state)
            if state.is_marking or state.marked
            else super().go_back(state, context)
        )


MAX_PANE_HISTORY = 12
"""Most events of the order in the pane."""


def with_pane(turn: Result, context: Context, *, is_changed: bool) -> Result:
    """Return the turn with the pane on the order in focus. Query its details if it is another one or has changed."""
    state = turn.state
    order = list_cursor_and_search.row_in_focus(state) if context.has_pane and not state.page else None
    if order is None:
        return turn._replace(state=state._replace(pane=None)) if state.pane else turn
    pane = state.pane or OrderState()
    if pane.number == order.number and not is_changed:
        return turn
    pane = pane._replace(order=order) if pane.number == order.number else OrderState(order.number, order)
    args = {"order_number": order.number}
    queries = (
        Query("pane", "order", args, is_live=True),
        Query("pane_history", "order_history", {**args, "size": MAX_PANE_HISTORY}, is_live=True),
    )
    return turn._replace(state=state._replace(pane=pane), effects=(*turn.effects, *queries))


def _start_order(number: str) -> Start:
    return Start("order", {"order_number": number})


def _toggle_mark(state: OrdersState, number: str) -> OrdersState:
    full = number not in state.marked and len(state.marked) >= MAX_MARKED
    return state if full else state._replace(marked=list_page_base_class.toggle_mark(state.marked, number))


def _query_all(state: OrdersState, context: Context) -> Result:
    args = {**query_arguments(state.filter), "search": state.search, "now": context.now, "size": MAX_MARKED}
    return Turn(state, (Query("all", "order_board", args, is_live=True),))


def mark_all_listed(state: OrdersState, numbers: tuple[str, ...], total: int) -> Result:
    """Mark all orders of the list; remove all marks if all are marked already."""
    text = msg("orders.all_marked", count=len(numbers))
    if total > len(numbers):
        text = msg("orders.first_marked", count=len(numbers), total=total)
    return list_page_base_class.mark_all(state, numbers, text)


def _chosen_orders(state: OrdersState) -> tuple[str, ...]:
    """Return all marked orders, else the one in focus."""
    row = (
        list_cursor_and_search.row_in_focus(state)
        if state.options.is_desk
        else list_cursor_and_search.row_at_cursor(state)
    )
    return state.marked or ((row.number,) if row else ())


def _print(state: OrdersState, context: Context) -> Result:
    """Print the pick list of the order in focus, or that of a batch of all marked orders."""
    orders = _chosen_orders(state)
    return Turn(state, (query_pick_list(orders),) if orders else ())


def _start_action(kind: str, state: OrdersState, context: Context) -> Result:
    """Start an action on all marked orders, else on the one under the cursor. An empty `kind` asks for it."""
    orders = _chosen_orders(state)
    if not orders:
        return reply(state._replace(is_marking=True), ASK, "orders.mark_first")
    return Turn(
        state,
        (Start("order_actions", {"orders": list(orders), **({"kind": kind, "is_one_key": True} if kind else {})}),),
    )


_DESK_ACTIONS: Actions = (
    *(Action(msg(ACTION_NAMES[kind]), partial(_start_action, kind), letter) for letter, kind in ACTION_LETTERS.items()),
    Action(msg("orders.print"), _print, "P"),
)


def apply_view(view: SavedView, state: OrdersState, context: Context) -> Result:
    return BOARD.restart(state._replace(page="", filter=view.filter, search="", view_name=view.name), context)


def open_page(page: str, state: OrdersState, context: Context, field: str = "") -> Result:
    return Turn(state._replace(page=page, field=field, first_choice=0, size=BOARD.page_size(context)))


BOARD = OrderBoard()
