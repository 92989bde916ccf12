"""Pages that edit the order board's filter: its fields and values, and saved filters."""

from __future__ import annotations

import json
from functools import partial

from aisle.jobs.job import Context, Event, LocalNote, Turn, reply
from aisle.jobs.list_cursor_and_search import scroll_rows
from aisle.jobs.pages_and_page_job import Action, FormPage, Page, refuse
from aisle.jobs.supervisor.order_board_list import BOARD, Actions, OrdersState, Result, SavedView, apply_view, open_page
from aisle.jobs.supervisor.order_filter import (
    BUILT_IN_VIEWS,
    FIELD_NAMES,
    FILTER_FIELDS,
    VALUE_NAMES,
    OrderFilter,
    describe_filter,
    filter_values,
    value_text,
    view_key,
    with_value,
)
from aisle.jobs.view import BACK, GOOD, INFO, NEXT_PAGE, Line, ListView, Msg, Row, Verdict, msg, raw
from aisle.scan.grammar_and_meaning_types import Accepts, Choice, Command, Scan

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
