"""Job of the order board: all orders of the store, filtered and sorted, opened or selected for an action.

The list is live, but rows do not jump: the order under the cursor, else the first one, keeps its row on the screen.
"""

from __future__ import annotations

import json
from functools import partial
from typing import NamedTuple

from aisle.jobs import claims, pages
from aisle.jobs.job import Args, Changed, Closed, Context, Event, LocalNote, Query, Refresh, Rows, Start, Turn
from aisle.jobs.list_page import Column, ListPage
from aisle.jobs.page_job import Action, FormPage, Page, PageJob, refuse
from aisle.jobs.quantities import not_an_order
from aisle.jobs.supervisor.order import OrderState, order_pane
from aisle.jobs.supervisor.order_actions import ACTION_NAMES
from aisle.jobs.supervisor.order_filter import (
    BUILT_IN_VIEWS,
    FILTER_FIELDS,
    OrderFilter,
    filter_values,
    parse_filter,
    query_arguments,
    view_key,
    with_value,
)
from aisle.jobs.supervisor.order_rows import BOARD_COLUMNS, DETAIL_COLUMNS, BoardOrder, parse_order_row
from aisle.jobs.view import (
    ASK,
    BACK,
    GOOD,
    INFO,
    NEXT_PAGE,
    Chip,
    DetailView,
    Line,
    ListView,
    Msg,
    Row,
    Verdict,
    msg,
    raw,
)
from aisle.scan.inputs import CHIP_KEY
from aisle.scan.meaning import (
    LOCATION,
    ORDER,
    PRODUCT,
    REFERENCE,
    Accepts,
    Choice,
    Command,
    CursorKey,
    Match,
    Scan,
    TypedText,
    UnknownCode,
)

MAX_SAVED_VIEWS = 9
"""Most saved views of a person, offered with the built-in ones."""

ACTION_LETTERS = {"c": "claim", "l": "release", "j": "reject", "i": "priority", "o": "hand_over"}
"""Actions on orders that have a letter of their own."""

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
    claims_for_others: tuple[claims.ClaimForOther, ...] = ()
    """Assignments to others made from this page."""
    is_desk: bool = False
    """True if the screen is that of a desk, where letters and a blank act at once."""
    pane: OrderState | None = None
    """Details of the order in focus, on a wide screen."""
    counts: tuple[int | None, ...] = ()
    """Number of orders of each built-in view, None where it is unknown."""


Result = Turn[OrdersState]
Actions = tuple[Action[OrdersState], ...]

# Board


class OrderBoard(ListPage[OrdersState, BoardOrder]):
    """List of the orders that the filter and the search leave."""

    name = "orders"
    query_name = "order_board"
    columns = BOARD_COLUMNS
    follows_typing = True
    has_progress_bars = True

    def title(self, state: OrdersState) -> Msg:
        """Return the filter, the search and the number of marked orders."""
        text = state.typed or state.search
        if state.is_marking or state.marked:
            count = len(state.marked)
            return msg("orders.title_marked_searched" if text else "orders.title_marked", count=count, text=text)
        return msg("orders.title_searched" if text else "orders.title", what=describe_filter(state.filter), text=text)

    def prompt(self, state: OrdersState) -> Msg:
        if state.is_desk:
            return msg("orders.prompt_desk")
        return msg("orders.prompt_marking" if state.is_marking else "orders.prompt")

    def empty_text(self, state: OrdersState) -> Msg:
        if not state.is_loaded:
            return msg("orders.loading")
        if text := state.typed or state.search:
            return msg("orders.no_match", text=text)
        return msg("orders.none_finished" if state.filter.state == "finished" else "orders.none")

    def key(self, row: BoardOrder) -> str:
        return row.number

    def visible_columns(self, state: OrdersState) -> tuple[Column[BoardOrder], ...]:
        """Return the columns in this state, without those that the pane has."""
        shown = super().visible_columns(state)
        return tuple(column for column in shown if column not in DETAIL_COLUMNS) if state.pane else shown

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
        at = state.cursor - state.first if pages.row_at_cursor(state) else 0
        args = {name: value for name, value in query.args.items() if name != "near"}
        return query._replace(args={**args, "anchor": state.rows[at].number, "row": at, "fills": fill_page})

    def parse_rows(self, answer: Rows, context: Context) -> tuple[BoardOrder, ...]:
        return tuple(parse_order_row(row, context) for row in answer.rows)

    def handle_rows(self, state: OrdersState, answer: Rows, context: Context) -> Result:
        """Update the window, which may have moved with the order in focus. The cursor stays on its order."""
        rows, before = self.parse_rows(answer, context), pages.row_at_cursor(state)
        first = rows[0].position if rows else state.first
        fresh = pages.with_rows(state._replace(first=first), rows, answer.total)
        at = next((index for index, row in enumerate(rows) if before and row.number == before.number), -1)
        if at >= 0 and state.cursor >= 0 and not state.is_window_loading:
            fresh = fresh._replace(cursor=first + at)
        fresh = fresh._replace(is_window_loading=False, is_loaded=True)
        return Turn(fresh, (self.query(fresh, context),) if pages.is_past_end(state, answer) else ())

    def restart(self, state: OrdersState, context: Context, verdict: Msg | None = None) -> Result:
        return super().restart(state._replace(rows=()), context, verdict)

    def actions(self, state: OrdersState) -> Actions:
        is_marking = state.is_marking or bool(state.marked)
        mark = msg("orders.mark_end" if state.is_marking else "orders.mark")
        return (
            Action(msg("orders.filter"), partial(_open_page, "filter"), "f", not is_marking),
            Action(msg("orders.views"), partial(_open_page, "views"), "v", not is_marking),
            Action(mark, lambda state, _: pages.toggle_marking(state), "m"),
            Action(msg("orders.mark_all"), _query_all, "a", is_marking),
            Action(msg("orders.actions"), partial(_start_action, ""), "d"),
            *(_DESK_ACTIONS if state.is_desk else ()),
        )

    def accepts(self, state: OrdersState) -> Accepts:
        return super().accepts(state)._replace(search=True)

    def handle_other_input(self, state: OrdersState, event: Event, context: Context) -> Result:
        match event:
            case CursorKey(key) if key.startswith(CHIP_KEY):
                _, filter_ = BUILT_IN_VIEWS[int(key.removeprefix(CHIP_KEY))]
                return _apply_view(SavedView("", filter_), state, context)
            case CursorKey(key) if key in pages.MARK_KEYS:
                marked = pages.mark_with_key(state, key, self.page_size(context), self.key, MAX_MARKED)
                return Turn(marked, (self.query(marked, context),) if marked.first != state.first else ())
            case CursorKey(key) if key != "enter":
                return self._move_cursor(state, key, context)
            case Scan(matches):
                return self._handle_scan(state, matches, context)
            case UnknownCode(code):
                return self._handle_unknown_code(state, code, context)
            case TypedText(text):
                searched = "" if self._is_row_number(state, text) else text
                typed = pages.with_typed_search(state, searched, self.letters(state))
                return Turn(state) if typed is None else Turn(typed, (self.query(typed._replace(rows=()), context),))
        return super().handle_other_input(state, event, context)

    def _move_cursor(self, state: OrdersState, key: str, context: Context) -> Result:
        if not state.total:
            return Turn(state)
        moved = pages.move_cursor(state, key, self.page_size(context))
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
        numbers, first = (
            tuple(dict.fromkeys(each.key for each in matches if each.kind in (ORDER, REFERENCE))),
            matches[0],
        )
        if len(numbers) > 1:
            filter_ = state.filter._replace(reference=first.code or first.key)
            return self.restart(state._replace(filter=filter_, search=""), context)
        if numbers and state.is_marking:
            marked = _toggle_mark(state, numbers[0])
            text = msg("orders.marked" if numbers[0] in marked.marked else "orders.unmarked", order=numbers[0])
            return self._show_order(marked, numbers[0], context)._replace(verdict=Verdict(GOOD, text))
        if numbers:
            return Turn(state, (_start_order(numbers[0]),))
        if start := pages.open_record(first.kind, first.key, first.label):
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
        return bool(state.rows) and text.isdigit() and len(text) <= len(str(pages.MAX_NUMBERED))

    def _handle_unknown_code(self, state: OrdersState, code: str, context: Context) -> Result:
        """Open an order that this host does not know, since it may be finished long ago. A single letter is none."""
        if self._is_row_number(state, code):
            return refuse(state, msg("orders.no_row", row=code))
        if not state.total and (len(code) > 1 or code.isdigit()):
            return Turn(state._replace(typed=""), (_start_order(code),))
        return self.restart(state._replace(search=code), context)

    def chips(self, state: OrdersState) -> tuple[Chip, ...]:
        return tuple(
            Chip(VIEW_NAMES[name], count, state.filter == filter_)
            for (name, filter_), count in zip(BUILT_IN_VIEWS, state.counts, strict=False)
        )

    def pane(self, state: OrdersState) -> DetailView | None:
        return order_pane(state.pane) if state.pane else None

    def go_back(self, state: OrdersState, context: Context) -> Result:
        """Leave marking, then the search, then the job."""
        return pages.clear_marks(state) if state.is_marking or state.marked else super().go_back(state, context)


MAX_PANE_HISTORY = 12
"""Most events of the order in the pane."""


def _with_pane(turn: Result, context: Context, *, is_changed: bool) -> Result:
    """Return the turn with the pane on the order in focus. Query its details if it is another one or has changed."""
    state = turn.state
    order = pages.row_in_focus(state) if context.has_pane and not state.page else None
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
    return state if full else state._replace(marked=pages.toggle_mark(state.marked, number))


def _query_all(state: OrdersState, context: Context) -> Result:
    args = {**query_arguments(state.filter), "search": state.search, "now": context.now, "size": MAX_MARKED}
    return Turn(state, (Query("all", "order_board", args, is_live=True),))


def _mark_all(state: OrdersState, numbers: tuple[str, ...], total: int) -> Result:
    """Mark all orders of the list; remove all marks if all are marked already."""
    text = msg("orders.all_marked", count=len(numbers))
    if total > len(numbers):
        text = msg("orders.first_marked", count=len(numbers), total=total)
    return pages.mark_all(state, numbers, text)


def _start_action(kind: str, state: OrdersState, context: Context) -> Result:
    """Start an action on all marked orders, else on the one under the cursor. An empty `kind` asks for it."""
    row = pages.row_at_cursor(state)
    orders = state.marked or ((row.number,) if row else ())
    if not orders:
        return Turn(state._replace(is_marking=True), (), Verdict(ASK, msg("orders.mark_first")))
    return Turn(state, (Start("order_actions", {"orders": list(orders), **({"kind": kind} if kind else {})}),))


_DESK_ACTIONS: Actions = tuple(
    Action(msg(ACTION_NAMES[kind]), partial(_start_action, kind), letter) for letter, kind in ACTION_LETTERS.items()
)

# Filter and views

FIELD_NAMES = {
    "state": "orders.field_state",
    "due": "orders.field_due",
    "claim": "orders.field_claim",
    "shorts": "orders.field_shorts",
    "sort": "orders.field_sort",
    "reference": "orders.field_reference",
}

VALUE_NAMES = {
    ("state", "active"): "orders.state_active",
    ("state", "to_pick"): "orders.state_to_pick",
    ("state", "open"): "orders.status_open",
    ("state", "partial"): "orders.status_in_progress",
    ("state", "picked"): "orders.state_picked",
    ("state", "rejected"): "orders.state_rejected",
    ("state", "finished"): "orders.state_finished",
    ("state", "all"): "orders.any",
    ("due", "any"): "orders.any",
    ("due", "late"): "orders.due_late",
    ("due", "today"): "orders.due_today",
    ("due", "tomorrow"): "orders.due_tomorrow",
    ("due", "week"): "orders.due_week",
    ("claim", "any"): "orders.any",
    ("claim", "claimed"): "orders.claim_claimed",
    ("claim", "free"): "orders.claim_free",
    ("shorts", "any"): "orders.any",
    ("shorts", "short"): "orders.shorts_short",
    ("sort", "pickup"): "orders.sort_pickup",
    ("sort", "age"): "orders.sort_age",
    ("sort", "number"): "orders.sort_number",
    ("reference", "none"): "orders.any",
}

VIEW_NAMES = {
    "active": msg("orders.state_active"),
    "late": msg("orders.due_late"),
    "at_work": msg("orders.claim_claimed"),
    "oldest": msg("orders.view_oldest"),
    "picked": msg("orders.state_picked"),
    "short": msg("orders.shorts_short"),
    "rejected": msg("orders.state_rejected"),
    "finished": msg("orders.state_finished"),
}


def _value_text(filter_: OrderFilter, field: str) -> Msg:
    value = filter_.value(field)
    if field == "reference" and value:
        return raw(value)
    return msg(VALUE_NAMES[field, value or "none"])


def describe_filter(filter_: OrderFilter) -> Msg:
    """Return the filter in a few words: all fields that differ from the default."""
    usual = OrderFilter()
    changed = [field for field in FILTER_FIELDS if field != "state" and filter_.value(field) != usual.value(field)]
    *parts, text = (_value_text(filter_, field) for field in ("state", *changed))
    for part in reversed(parts):
        text = msg("orders.join", one=part, other=text)
    return text


class ChoicePage(Page[OrdersState]):
    """Numbered list of choices, as many as fit on the screen; `n` shows the next ones."""

    def view(self, state: OrdersState) -> ListView:
        choices = self.choices(state)
        rows = choices[state.first_choice : state.first_choice + state.size]
        return ListView(
            name=self.name,
            title=self.title(state),
            prompt=self.prompt(state),
            column_heads=(msg("orders.filter_is", what=describe_filter(state.filter)),),
            rows=tuple(Row(str(at), (text,)) for at, text in enumerate(rows, state.first_choice)),
            first=state.first_choice,
            total=len(choices),
            numbered_rows=len(rows),
            key_hints=(*((NEXT_PAGE,) if len(choices) > state.size else ()), *self.key_hints(state), BACK),
        )

    def accepts(self, state: OrdersState) -> Accepts:
        visible = max(0, min(state.size, len(self.choices(state)) - state.first_choice))
        return Accepts(choices=visible, command_letters=f"n{self.letters(state)}")

    def handle_input(self, state: OrdersState, event: Event, context: Context) -> Result:
        match event:
            case Choice(number):
                return super().handle_input(state, Choice(number + state.first_choice), context)
            case Command("n"):
                on = state.first_choice + state.size
                first, size = on if on < len(self.choices(state)) else 0, BOARD.page_size(context)
                return Turn(state._replace(first_choice=first, size=size))
        return super().handle_input(state, event, context)

    def go_back(self, state: OrdersState, context: Context) -> Result:
        return _open_page("", state, context)


def _open_page(page: str, state: OrdersState, context: Context, field: str = "") -> Result:
    return Turn(state._replace(page=page, field=field, first_choice=0, size=BOARD.page_size(context)))


class FilterPage(ChoicePage):
    """Choice of the field to edit."""

    name = "orders.filter"
    title_text = msg("orders.filter")
    prompt_text = msg("orders.prompt_filter")

    def actions(self, state: OrdersState) -> Actions:
        fields = (Action(self._field_text(state, field), partial(_edit_field, field)) for field in FILTER_FIELDS)
        return (*fields, Action(msg("orders.reset_filter"), _reset_filter))

    def _field_text(self, state: OrdersState, field: str) -> Msg:
        return msg("orders.field", name=msg(FIELD_NAMES[field]), value=_value_text(state.filter, field))


def _edit_field(field: str, state: OrdersState, context: Context) -> Result:
    return _open_page("field", state, context, field)


def _reset_filter(state: OrdersState, context: Context) -> Result:
    return BOARD.restart(state._replace(page="", filter=OrderFilter(), search=""), context)


class FieldPage(ChoicePage):
    """Choice of a value for the field. A reference is typed or scanned."""

    name = "orders.field"

    def title(self, state: OrdersState) -> Msg:
        return msg(FIELD_NAMES[state.field])

    def prompt(self, state: OrdersState) -> Msg:
        return msg("orders.prompt_reference" if state.field == "reference" else "orders.prompt_field")

    def actions(self, state: OrdersState) -> Actions:
        values = filter_values(state.field)
        return tuple(Action(msg(VALUE_NAMES[state.field, value]), partial(_set_value, value)) for value in values)

    def accepts(self, state: OrdersState) -> Accepts:
        return super().accepts(state)._replace(search=state.field == "reference")

    def handle_other_input(self, state: OrdersState, event: Event, context: Context) -> Result:
        if isinstance(event, Scan) and state.field == "reference":
            return self.handle_text(state, event.matches[0].code or event.matches[0].key, context)
        return super().handle_other_input(state, event, context)

    def handle_text(self, state: OrdersState, text: str, context: Context) -> Result:
        if state.field != "reference":
            return super().handle_text(state, text, context)
        return _set_filter(state._replace(filter=state.filter._replace(reference=text.strip())), context)

    def go_back(self, state: OrdersState, context: Context) -> Result:
        return _open_page("filter", state, context)


def _set_value(value: str, state: OrdersState, context: Context) -> Result:
    return _set_filter(state._replace(filter=with_value(state.filter, state.field, value)), context)


def _set_filter(state: OrdersState, context: Context) -> Result:
    """Return to the fields of the filter, and query the list that it leaves."""
    return BOARD.restart(_open_page("filter", state, context).state, context)


class ViewsPage(ChoicePage):
    """Choice of a saved filter."""

    name = "orders.views"
    title_text = msg("orders.views")
    prompt_text = msg("orders.prompt_views")

    def actions(self, state: OrdersState) -> Actions:
        built_in = (
            Action(VIEW_NAMES[name], partial(_apply_view, SavedView("", kept))) for name, kept in BUILT_IN_VIEWS
        )
        own = (Action(raw(view.name), partial(_apply_view, view)) for view in state.views)
        save = Action(msg("orders.save_view"), partial(_open_page, "name"), "k")
        return (*built_in, *own, save, Action(msg("orders.delete_view"), _delete_view, "x"))


def _apply_view(view: SavedView, state: OrdersState, context: Context) -> Result:
    return BOARD.restart(state._replace(page="", filter=view.filter, search="", view_name=view.name), context)


def _delete_view(state: OrdersState, context: Context) -> Result:
    """Delete the person's own view that was chosen last."""
    if not any(view.name == state.view_name for view in state.views):
        return Turn(state, (), Verdict(INFO, msg("orders.choose_view")))
    gone = LocalNote("view", view_key(context.user, state.view_name), "")
    verdict = Verdict(GOOD, msg("orders.view_deleted", name=state.view_name))
    views = tuple(view for view in state.views if view.name != state.view_name)
    return Turn(state._replace(views=views, view_name=""), (gone,), verdict)


class NamePage(FormPage[OrdersState]):
    """Question for the name under which the filter is saved."""

    name = "orders.name"
    title_text = msg("orders.views")
    prompt_text = msg("orders.prompt_name")

    def lines(self, state: OrdersState) -> tuple[Line, ...]:
        return (Line("note", describe_filter(state.filter)),)

    def accepts(self, state: OrdersState) -> Accepts:
        return Accepts(search=True)

    def handle_text(self, state: OrdersState, text: str, context: Context) -> Result:
        """Save the filter under the typed name."""
        name = text.strip()
        others = tuple(view for view in state.views if view.name != name)
        if len(others) >= MAX_SAVED_VIEWS:
            return refuse(state._replace(page="views"), msg("orders.views_full", count=MAX_SAVED_VIEWS))
        kept = LocalNote("view", view_key(context.user, name), json.dumps(state.filter._asdict()))
        state = state._replace(page="", views=(*others, SavedView(name, state.filter)), view_name=name)
        return Turn(state, (kept,), Verdict(GOOD, msg("orders.view_saved", name=name)))

    def go_back(self, state: OrdersState, context: Context) -> Result:
        return _open_page("views", state, context)


BOARD = OrderBoard()
PAGES: dict[str, Page[OrdersState]] = {
    "": BOARD,
    "filter": FilterPage(),
    "field": FieldPage(),
    "views": ViewsPage(),
    "name": NamePage(),
}


class OrdersJob(PageJob[OrdersState]):
    """Job that shows the order board and its filter."""

    name = "orders"
    steps: tuple[str, ...] = tuple(page.name for page in PAGES.values())
    version = 1
    journalled = False
    topics = ("order", "outbox", "log", "person")
    preferred_kinds = (ORDER, REFERENCE, PRODUCT, LOCATION)

    def begin(self) -> OrdersState:
        return OrdersState()

    def page(self, state: OrdersState) -> Page[OrdersState]:
        return PAGES[state.page]

    def handle(self, state: OrdersState, event: Event, context: Context) -> Result:
        """Return the next state. The pane follows the order in focus."""
        turn = super().handle(state._replace(is_desk=context.is_desk), event, context)
        return _with_pane(turn, context, is_changed=isinstance(event, Rows) and event.id == "order_board")

    def handle_opened(self, state: OrdersState, args: Args, context: Context) -> Result:
        state = state._replace(filter=parse_filter(args["filter"])) if args.get("filter") else state
        state = state._replace(size=BOARD.page_size(context))
        queries = (BOARD.query(state, context), _query_views(context), _query_counts(context))
        return Turn(state, (*queries, Refresh("orders"), Refresh("logs")))

    def handle_changed(self, state: OrdersState, event: Changed, context: Context) -> Result:
        board = BOARD.query_with_cursor(state, context)
        return Turn(state, (board, _query_counts(context), *claims.query_claims(state.claims_for_others)))

    def query_again(self, state: OrdersState, context: Context) -> Result:
        size = BOARD.page_size(context)
        board = BOARD.query_with_cursor(state, context, fill_page=state.size != size)
        return Turn(state._replace(size=size), (board, _query_views(context), _query_counts(context)))

    def handle_closed(self, state: OrdersState, event: Closed, context: Context) -> Result:
        """Remove all marks after an action has run."""
        if event.job != "order_actions":
            return self.query_again(state, context)
        state = state._replace(marked=(), is_marking=False) if event.answer else state
        state = state._replace(claims_for_others=claims.with_new_claims(state.claims_for_others, event.answer))
        return Turn(state, (BOARD.query_with_cursor(state, context),))

    def handle_rows(self, state: OrdersState, answer: Rows, context: Context) -> Result:
        match answer:
            case Rows("order_board"):
                return BOARD.handle_rows(state, answer, context)
            case Rows("pane", rows) if state.pane:
                details = next((row for row in rows if row["order_number"] == state.pane.number), None)
                return Turn(state._replace(pane=state.pane._replace(details=details)))
            case Rows("pane_history", rows) if state.pane:
                return Turn(state._replace(pane=state.pane._replace(history=tuple(rows))))
            case Rows("order_counts", rows):
                return Turn(state._replace(counts=tuple(row["count"] for row in rows)))
            case Rows("assigned_orders"):
                kept, verdict = claims.report_lost_claims(state.claims_for_others, answer)
                return Turn(state._replace(claims_for_others=kept), (), verdict)
            case Rows("saved_views", rows):
                views = tuple(SavedView(row["name"], parse_filter(row["filter"])) for row in rows)
                return Turn(state._replace(views=views[:MAX_SAVED_VIEWS]))
            case Rows("all", rows, total):
                return _mark_all(state, tuple(row["order_number"] for row in rows), total)
        return Turn(state)


def _query_counts(context: Context) -> Query:
    views = [query_arguments(filter_) for _, filter_ in BUILT_IN_VIEWS]
    return Query("order_counts", "order_counts", {"views": views, "now": context.now}, is_live=True)


def _query_views(context: Context) -> Query:
    return Query("saved_views", "saved_views", {"user": context.user}, is_live=True)
