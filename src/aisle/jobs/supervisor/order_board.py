"""Job of the order board: all orders of the store, filtered and sorted, and pages that edit its filter."""

from __future__ import annotations

import json
from functools import partial

from aisle.browser_addresses_and_packets import PageAddress
from aisle.jobs import claim
from aisle.jobs.job import Args, Changed, Closed, Context, Event, LocalNote, Query, Refresh, Rows, Turn, reply
from aisle.jobs.list_cursor_and_search import scroll_rows
from aisle.jobs.pages_and_page_job import Action, FormPage, Page, PageJob, refuse
from aisle.jobs.printed_pick_list import printed_pick_list
from aisle.jobs.supervisor.order_board_list import (
    BOARD,
    Actions,
    OrdersState,
    Result,
    SavedView,
    apply_view,
    mark_all_listed,
    open_page,
    with_pane,
)
from aisle.jobs.supervisor.order_filter import (
    BUILT_IN_VIEWS,
    FIELD_NAMES,
    FILTER_FIELDS,
    VALUE_NAMES,
    OrderFilter,
    changed_fields,
    describe_filter,
    filter_values,
    parse_filter,
    value_text,
    view_key,
    with_value,
)
from aisle.jobs.view import BACK, GOOD, INFO, NEXT_PAGE, Line, ListView, Msg, Row, Verdict, msg, raw
from aisle.scan.grammar_and_meaning_types import LOCATION, ORDER, PRODUCT, REFERENCE, Accepts, Choice, Command, Scan

MAX_SAVED_VIEWS = 9
"""Most saved views of a person, offered with the built-in ones."""


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
                first = scroll_rows(state.first_choice, len(self.choices(state)), state.size, "n")
                return Turn(state._replace(first_choice=first, size=BOARD.page_size(context)))
        return super().handle_input(state, event, context)

    def go_back(self, state: OrdersState, context: Context) -> Result:
        return open_page("", state, context)


class FilterPage(ChoicePage):
    """Choice of the field to edit."""

    name = "orders.filter"
    title_text = msg("hint.filter")
    prompt_text = msg("unconfirmed.choose")

    def actions(self, state: OrdersState) -> Actions:
        fields = (Action(self._field_text(state, field), partial(_edit_field, field)) for field in FILTER_FIELDS)
        return (*fields, Action(msg("log.clear"), _reset_filter))

    def _field_text(self, state: OrdersState, field: str) -> Msg:
        return msg("pair", name=msg(FIELD_NAMES[field]), value=value_text(state.filter, field))


def _edit_field(field: str, state: OrdersState, context: Context) -> Result:
    return open_page("field", state, context, field)


def _reset_filter(state: OrdersState, context: Context) -> Result:
    return BOARD.restart(state._replace(page="", filter=OrderFilter(), search=""), context)


class FieldPage(ChoicePage):
    """Choice of a value for the field. A reference is typed or scanned."""

    name = "orders.field"

    def title(self, state: OrdersState) -> Msg:
        return msg(FIELD_NAMES[state.field])

    def prompt(self, state: OrdersState) -> Msg:
        return msg("orders.prompt_reference" if state.field == "reference" else "unconfirmed.choose")

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
        return open_page("filter", state, context)


def _set_value(value: str, state: OrdersState, context: Context) -> Result:
    return _set_filter(state._replace(filter=with_value(state.filter, state.field, value)), context)


def _set_filter(state: OrdersState, context: Context) -> Result:
    """Return to the fields of the filter, and query the list that it leaves."""
    return BOARD.restart(open_page("filter", state, context).state, context)


class ViewsPage(ChoicePage):
    """Choice of a saved filter."""

    name = "orders.views"
    title_text = msg("orders.views")
    prompt_text = msg("orders.prompt_views")

    def actions(self, state: OrdersState) -> Actions:
        built_in = (Action(name, partial(apply_view, SavedView("", kept))) for _, name, kept in BUILT_IN_VIEWS)
        own = (Action(raw(view.name), partial(apply_view, view)) for view in state.views)
        save = Action(msg("orders.save_view"), partial(open_page, "name"), "k")
        return (*built_in, *own, save, Action(msg("orders.delete_view"), _delete_view, "x"))


def _delete_view(state: OrdersState, context: Context) -> Result:
    if not any(view.name == state.view_name for view in state.views):
        return reply(state, INFO, "orders.choose_view")
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
        return Accepts(text=True)

    def handle_text(self, state: OrdersState, text: str, context: Context) -> Result:
        """Save the filter under the typed name."""
        name = text.strip()
        others = tuple(view for view in state.views if view.name != name)
        if len(others) >= MAX_SAVED_VIEWS:
            return refuse(state._replace(page="views"), msg("orders.views_full", count=MAX_SAVED_VIEWS))
        kept = LocalNote("view", view_key(context.user, name), json.dumps(state.filter._asdict()))
        state = state._replace(page="", views=(*others, SavedView(name, state.filter)), view_name=name)
        return reply(state, GOOD, "orders.view_saved", kept, name=name)

    def go_back(self, state: OrdersState, context: Context) -> Result:
        return open_page("views", state, context)


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
    lists = ("headers", "lines", "changes")
    own_steps = ("orders.filter", "orders.field", "orders.views")
    state_type = OrdersState
    steps: tuple[str, ...] = tuple(page.name for page in PAGES.values())
    journalled = False
    topics = ("order", "outbox", "log", "person")
    preferred_kinds = (ORDER, REFERENCE, PRODUCT, LOCATION)

    def page(self, state: OrdersState) -> Page[OrdersState]:
        return PAGES[state.page]

    def address(self, state: OrdersState) -> PageAddress:
        """Return the address with the fields of the filter that differ from the usual ones."""
        return PageAddress("orders", filter=changed_fields(state.filter))

    def handle(self, state: OrdersState, event: Event, context: Context) -> Result:
        """Return the next state. The pane follows the order in focus."""
        turn = super().handle(state, event, context)
        return with_pane(turn, context, is_changed=isinstance(event, Rows) and event.id == "order_board")

    def handle_opened(self, state: OrdersState, args: Args, context: Context) -> Result:
        state = state._replace(filter=parse_filter(args["filter"])) if args.get("filter") else state
        state = state._replace(size=BOARD.page_size(context))
        queries = (BOARD.query(state, context), _query_views(context))
        return Turn(state, (*queries, Refresh("orders"), Refresh("logs")))

    def handle_changed(self, state: OrdersState, event: Changed, context: Context) -> Result:
        board = BOARD.query_with_cursor(state, context)
        return Turn(state, (board, *claim.query_claims(state.claims_for_others)))

    def query_again(self, state: OrdersState, context: Context) -> Result:
        size = BOARD.page_size(context)
        is_resized = state.size != size
        board = BOARD.query_with_cursor(state, context, fill_page=is_resized)
        first_choice = 0 if is_resized else state.first_choice
        return Turn(state._replace(size=size, first_choice=first_choice), (board, _query_views(context)))

    def handle_closed(self, state: OrdersState, event: Closed, context: Context) -> Result:
        """Remove all marks after an action has run."""
        if event.job != "order_actions":
            return self.query_again(state, context)
        state = state._replace(marked=(), is_marking=False) if event.answer else state
        state = state._replace(claims_for_others=claim.with_new_claims(state.claims_for_others, event.answer))
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
            case Rows("pick_list", rows):
                return Turn(state, (printed_pick_list(rows),))
            case Rows("order_counts", rows):
                return Turn(BOARD.with_options(state, counts=tuple(row["count"] for row in rows)))
            case Rows("assigned_orders"):
                kept, verdict = claim.report_lost_claims(state.claims_for_others, answer)
                return Turn(state._replace(claims_for_others=kept), (), verdict)
            case Rows("saved_views", rows):
                views = tuple(SavedView(row["name"], parse_filter(row["filter"])) for row in rows)
                return Turn(state._replace(views=views[:MAX_SAVED_VIEWS]))
            case Rows("all", rows, total):
                return mark_all_listed(state, tuple(row["order_number"] for row in rows), total)
        return Turn(state)


def _query_views(context: Context) -> Query:
    return Query("saved_views", "saved_views", {"user": context.user}, is_live=True)
