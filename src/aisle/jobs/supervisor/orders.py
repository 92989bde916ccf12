"""Job of the order board: all orders of the store, filtered and sorted, opened or selected for an action.

The list is live, but rows do not jump: the order under the cursor, else the first one, keeps its row on the screen.
"""

from __future__ import annotations

import json
from typing import Any

from aisle.jobs import claims, pages
from aisle.jobs.job import (
    Args,
    Changed,
    Close,
    Closed,
    Context,
    Effect,
    Event,
    Job,
    Json,
    LocalNote,
    Opened,
    Query,
    Refresh,
    Resumed,
    Rows,
    Start,
    Turn,
)
from aisle.jobs.pages import page_size
from aisle.jobs.supervisor import orders_view
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
from aisle.jobs.supervisor.orders_view import BoardOrder, OrdersState, SavedView, parse_order_row
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Verdict, View, msg
from aisle.scan.meaning import (
    LOCATION,
    ORDER,
    PRODUCT,
    REFERENCE,
    Accepts,
    Back,
    Choice,
    Command,
    CursorKey,
    Scan,
    Text,
    TypedText,
    UnknownCode,
)

COMMAND_LETTERS = "fvmad"
"""Filter, views, mark, mark all, act."""

MAX_SAVED_VIEWS = 9
"""Most saved views of a person, offered with the built-in ones."""

MAX_MARKED = 200
"""Most orders for one action."""

Result = Turn[OrdersState]


class OrdersJob(Job[OrdersState]):
    """Job that shows the order board and its filter."""

    name = "orders"
    steps: tuple[str, ...] = ("orders", "orders.filter", "orders.field", "orders.views", "orders.name")
    version = 1
    journalled = False

    def begin(self) -> OrdersState:
        """Return the state before the first query."""
        return OrdersState()

    def accepts(self, state: OrdersState) -> Accepts:
        """Accept row numbers, letters that filter, mark and act, and words that search."""
        if state.page == "name":
            return Accepts(search=True)
        if state.page:
            letters = "nkx" if state.page == "views" else "n"
            return Accepts(
                choices=_visible_choice_count(state), command_letters=letters, search=state.field == "reference"
            )
        letters = COMMAND_LETTERS + pages.page_letters(state)
        return Accepts(choices=pages.numbered_rows(state), command_letters=letters, search=True, follows_typing=True)

    def prefers(self, state: OrdersState) -> tuple[str, ...]:
        """Prefer orders."""
        return (ORDER, REFERENCE, PRODUCT, LOCATION)

    def step_name(self, state: OrdersState) -> str:
        """Return one of `steps`."""
        return f"orders.{state.page}" if state.page else "orders"

    def view(self, state: OrdersState) -> View:
        """Return the screen."""
        return orders_view.page_view(state)

    def handle(self, state: OrdersState, event: Event, context: Context) -> Result:
        """Return the next state. Answers and changes come first, then inputs of the open page."""
        match event:
            case Opened(args):
                return _handle_opened(state, args, context)
            case Rows("assigned_orders"):
                kept, verdict = claims.report_lost_claims(state.claims_for_others, event)
                return Turn(state._replace(claims_for_others=kept), (), verdict)
            case Rows():
                return _handle_rows(state, event, context)
            case Changed("order" | "outbox" | "log" | "person"):
                return Turn(
                    state, (_query(state, context, keep_cursor=True), *claims.query_claims(state.claims_for_others))
                )
            case Closed("order_actions", answer):
                return _handle_action_done(state, answer, context)
            case Closed() | Resumed():
                ask = _query(
                    state, context, keep_cursor=True, fill_page=state.size != page_size(context, has_progress_bars=True)
                )
                return Turn(
                    state._replace(size=page_size(context, has_progress_bars=True)), (ask, _query_views(context))
                )
            case Back():
                return _go_back(state, context)
        if state.page:
            return _handle_choice_page(state, event, context)
        return _handle_list_input(state, event, context)


def _handle_opened(state: OrdersState, args: Args, context: Context) -> Result:
    state = state._replace(filter=parse_filter(args["filter"])) if args.get("filter") else state
    state = state._replace(size=page_size(context, has_progress_bars=True))
    return Turn(state, (_query(state, context), _query_views(context), Refresh("orders"), Refresh("logs")))


def _query_views(context: Context) -> Query:
    return Query("saved_views", "saved_views", {"user": context.user}, is_live=True)


def _query(state: OrdersState, context: Context, *, keep_cursor: bool = False, fill_page: bool = False) -> Query:
    """Return the query for the window.

    `keep_cursor`: the order in focus keeps its row. `fill_page`: the screen size has changed, so fill the page.
    """
    args: dict[str, Json] = {**query_arguments(state.filter), "search": state.typed or state.search, "now": context.now}
    at = state.cursor - state.first if state.first <= state.cursor < state.first + len(state.rows) else 0
    if keep_cursor and state.rows:
        args |= {"anchor": state.rows[at].number, "row": at, "fills": fill_page}
    elif state.rows:
        args["near"] = {"order_number": state.rows[0].number, "position": state.rows[0].position}
    return Query(
        "order_board",
        "order_board",
        {**args, "first": state.first, "size": page_size(context, has_progress_bars=True)},
        is_live=True,
    )


def _restart_list(state: OrdersState, context: Context) -> Result:
    """Start a new list at its beginning."""
    state = state._replace(first=0, cursor=-1, rows=())
    return Turn(state, (_query(state, context),))


# Answers


def _handle_rows(state: OrdersState, answer: Rows, context: Context) -> Result:
    match answer:
        case Rows("order_board", rows, total):
            return _update_window(state, answer, tuple(parse_order_row(row, context) for row in rows), total, context)
        case Rows("saved_views", rows, _):
            views = tuple(SavedView(str(row["name"]), parse_filter(row["filter"])) for row in rows)
            return Turn(state._replace(views=views[:MAX_SAVED_VIEWS]))
        case Rows("all", rows, total):
            numbers = tuple(str(row["order_number"]) for row in rows)
            return _mark_all(state, numbers, total)
    return Turn(state)


def _update_window(
    state: OrdersState, answer: Rows, rows: tuple[BoardOrder, ...], total: int, context: Context
) -> Result:
    """Update the window, which may have moved with the order in focus. The cursor stays on its order."""
    before = pages.row_at_cursor(state)
    first = rows[0].position if rows else state.first
    fresh = pages.with_rows(state._replace(first=first), rows, total)
    at = next((index for index, row in enumerate(rows) if before and row.number == before.number), -1)
    if at >= 0 and state.cursor >= 0 and not state.is_window_loading:
        fresh = fresh._replace(cursor=first + at)
    fresh = fresh._replace(is_window_loading=False, is_loaded=True)
    return Turn(fresh, (_query(fresh, context),) if pages.is_past_end(state, answer) else ())


def _handle_action_done(state: OrdersState, answer: Args | None, context: Context) -> Result:
    """Remove all marks after the action has run."""
    done = bool(answer)
    state = state._replace(marked=(), is_marking=False) if done else state
    state = state._replace(claims_for_others=claims.with_new_claims(state.claims_for_others, answer))
    return Turn(state, (_query(state, context, keep_cursor=True),))


# Inputs of the list


def _handle_list_input(state: OrdersState, event: Event, context: Context) -> Result:
    match event:
        case Choice() | CursorKey("enter"):
            row = pages.chosen_row(state, event)
            return _open_or_mark(state, row) if row else Turn(state)
        case CursorKey(key):
            return _move_cursor(state, key, context)
        case Command("n" | "p" as letter):
            paged = pages.turn_list_page(state, letter, page_size(context, has_progress_bars=True))
            return Turn(paged, (_query(paged, context),)) if state.total else Turn(state)
        case Command(letter):
            return _handle_command(state, letter, context)
        case TypedText(text):
            typed = pages.with_typed_search(state, "" if _is_row_number(state, text) else text, COMMAND_LETTERS)
            return Turn(state) if typed is None else _restart_list(typed, context)
        case Text(text):
            return _restart_list(state._replace(search=text, typed=""), context)
        case Scan(meanings):
            return _handle_scan(state, meanings, context)
        case UnknownCode(code):
            return _handle_unknown_code(state, code, context)
    return Turn(state)


def _move_cursor(state: OrdersState, key: str, context: Context) -> Result:
    if not state.total:
        return Turn(state)
    moved = pages.move_cursor(state, key, page_size(context, has_progress_bars=True))
    inside = moved.first == state.first
    return Turn(
        moved if inside else moved._replace(is_window_loading=True), () if inside else (_query(moved, context),)
    )


def _open_or_mark(state: OrdersState, row: BoardOrder) -> Result:
    """Open the row, or mark it while marking is on."""
    if not state.is_marking:
        return Turn(state._replace(typed=""), (_start_order(row.number),))
    return Turn(_toggle_mark(state, row.number))


def _start_order(number: str) -> Start:
    return Start("order", {"order_number": number})


def _toggle_mark(state: OrdersState, number: str) -> OrdersState:
    full = number not in state.marked and len(state.marked) >= MAX_MARKED
    return state if full else state._replace(marked=pages.toggle_mark(state.marked, number))


def _handle_command(state: OrdersState, letter: str, context: Context) -> Result:
    match letter:
        case "f":
            return _open_page(state, "filter", context)
        case "v":
            return _open_page(state, "views", context)
        case "m":
            return pages.toggle_marking(state)
        case "a":
            query = {**query_arguments(state.filter), "search": state.search, "now": context.now, "size": MAX_MARKED}
            return Turn(state, (Query("all", "order_board", query, is_live=True),))
        case "d":
            return _start_action(state)
    return Turn(state)


def _mark_all(state: OrdersState, numbers: tuple[str, ...], total: int) -> Result:
    """Mark all orders of the list; remove all marks if all are marked already."""
    text = msg("orders.all_marked", count=len(numbers))
    if total > len(numbers):
        text = msg("orders.first_marked", count=len(numbers), total=total)
    return pages.mark_all(state, numbers, text)


def _start_action(state: OrdersState) -> Result:
    """Start an action on all marked orders, else on the one under the cursor."""
    row = pages.row_at_cursor(state)
    orders = state.marked or ((row.number,) if row else ())
    if not orders:
        return Turn(state._replace(is_marking=True), (), Verdict(ASK, msg("orders.mark_first")))
    return Turn(state, (Start("order_actions", {"orders": list(orders)}),))


def _handle_scan(state: OrdersState, matches: tuple[Any, ...], context: Context) -> Result:
    """Open or mark a scanned order. List the orders of a shared reference; look up a product or location."""
    numbers = tuple(dict.fromkeys(each.key for each in matches if each.kind in (ORDER, REFERENCE)))
    if len(numbers) > 1:
        code = matches[0].code or matches[0].key
        return _restart_list(state._replace(filter=state.filter._replace(reference=code), search="", typed=""), context)
    if numbers and state.is_marking:
        marked = _toggle_mark(state, numbers[0])
        text = msg("orders.marked" if numbers[0] in marked.marked else "orders.unmarked", order=numbers[0])
        return _show_order(marked, numbers[0], context)._replace(verdict=Verdict(GOOD, text))
    if numbers:
        return Turn(state, (_start_order(numbers[0]),))
    first = matches[0]
    if start := pages.open_record(first.kind, first.key, first.label):
        return Turn(state, (start,))
    return Turn(state, (), Verdict(WRONG, msg("orders.is_person", name=first.label or first.key)))


def _show_order(state: OrdersState, order: str, context: Context) -> Result:
    """Move the window to a marked order, if the filter includes it. The search is cleared."""
    if any(row.number == order for row in state.rows):
        return Turn(state)
    state = state._replace(search="", typed="", cursor=-1)
    ask = _query(state, context)
    return Turn(state, (ask._replace(args={**ask.args, "anchor": order, "row": 0, "fills": True}),))


def _is_row_number(state: OrdersState, text: str) -> bool:
    """Return True if digits are meant as a row number, on the page or not. Words and longer numbers are a search."""
    return bool(state.rows) and text.isdigit() and len(text) <= len(str(pages.MAX_NUMBERED))


def _handle_unknown_code(state: OrdersState, code: str, context: Context) -> Result:
    """Open an order that this host does not know, since it may be finished long ago. A single letter is no order."""
    if _is_row_number(state, code):
        return Turn(state, (), Verdict(WRONG, msg("orders.no_row", row=code)))
    return (
        Turn(state._replace(typed=""), (_start_order(code),))
        if not state.total and (len(code) > 1 or code.isdigit())
        else _restart_list(state._replace(search=code, typed=""), context)
    )


# Filter and views


def _visible_choice_count(state: OrdersState) -> int:
    """Return the number of choices on the screen."""
    return max(0, min(state.size, len(orders_view.page_choices(state)) - state.first_choice))


def _open_page(state: OrdersState, page: str, context: Context, field: str = "") -> Result:
    return Turn(state._replace(page=page, field=field, first_choice=0, size=page_size(context, has_progress_bars=True)))


def _handle_choice_page(state: OrdersState, event: Event, context: Context) -> Result:
    match event:
        case Choice(choice) if choice <= _visible_choice_count(state):
            return _handle_choice(state, choice + state.first_choice, context)
        case Command("n") if state.page != "name":
            on = state.first_choice + state.size
            return Turn(
                state._replace(
                    first_choice=on if on < len(orders_view.page_choices(state)) else 0,
                    size=page_size(context, has_progress_bars=True),
                )
            )
        case Scan(meanings) if state.field == "reference":
            return _handle_choice_page(state, UnknownCode(meanings[0].code or meanings[0].key), context)
        case Text(text) | UnknownCode(text) if state.field == "reference":
            picked = state.filter._replace(reference=text.strip())
            return _restart_list(_open_page(state._replace(filter=picked), "filter", context).state, context)
        case Command("k") if state.page == "views":
            return _open_page(state, "name", context)
        case Command("x") if state.page == "views":
            return _delete_view(state, context)
        case Text(text) | UnknownCode(text) if state.page == "name":
            return _save_view(state, text.strip(), context)
    return pages.reject_input(state, event)


def _handle_choice(state: OrdersState, number: int, context: Context) -> Result:
    """Handle the choice of that number on the open page."""
    if state.page == "views":
        return _apply_view(state, number, context)
    if state.page == "field":
        picked = with_value(state.filter, state.field, filter_values(state.field)[number - 1])
        return _restart_list(_open_page(state._replace(filter=picked), "filter", context).state, context)
    if number <= len(FILTER_FIELDS):
        return _open_page(state, "field", context, FILTER_FIELDS[number - 1])
    return _restart_list(state._replace(page="", filter=OrderFilter(), search=""), context)


def _apply_view(state: OrdersState, choice: int, context: Context) -> Result:
    built = tuple(kept for _, kept in BUILT_IN_VIEWS)
    views = (*built, *(view.filter for view in state.views))
    if choice > len(views):
        return Turn(state)
    name = state.views[choice - 1 - len(built)].name if choice > len(built) else ""
    return _restart_list(state._replace(page="", filter=views[choice - 1], search="", view_name=name), context)


def _save_view(state: OrdersState, name: str, context: Context) -> Result:
    """Save the filter under a name."""
    kept = LocalNote("view", view_key(context.user, name), json.dumps(state.filter._asdict()))
    others = tuple(view for view in state.views if view.name != name)
    if len(others) >= MAX_SAVED_VIEWS:
        return Turn(state._replace(page="views"), (), Verdict(WRONG, msg("orders.views_full", count=MAX_SAVED_VIEWS)))
    state = state._replace(page="", views=(*others, SavedView(name, state.filter)), view_name=name)
    return Turn(state, (kept,), Verdict(GOOD, msg("orders.view_saved", name=name)))


def _delete_view(state: OrdersState, context: Context) -> Result:
    """Delete the person's own view that was chosen last."""
    if not any(view.name == state.view_name for view in state.views):
        return Turn(state, (), Verdict(INFO, msg("orders.choose_view")))
    gone = LocalNote("view", view_key(context.user, state.view_name), "")
    verdict = Verdict(GOOD, msg("orders.view_deleted", name=state.view_name))
    views = tuple(view for view in state.views if view.name != state.view_name)
    return Turn(state._replace(views=views, view_name=""), (gone,), verdict)


def _go_back(state: OrdersState, context: Context) -> Result:
    """Leave the open question, then marking, then the search, then the job."""
    if state.page:
        return _open_page(state, {"field": "filter", "name": "views"}.get(state.page, ""), context)
    if state.is_marking or state.marked:
        return pages.clear_marks(state)
    if state.search or state.typed:
        return _restart_list(state._replace(search="", typed=""), context)
    effects: tuple[Effect, ...] = (Close(),)
    return Turn(state, effects)
