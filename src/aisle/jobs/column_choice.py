"""Choice of a list's columns: numbers show and hide them. The order of choosing is that of their importance."""

from __future__ import annotations

import json
from typing import Any, Final, Generic, Protocol, TypeVar

from aisle.jobs.job import Context, Event, LocalNote, Query, Rows, Turn
from aisle.jobs.list_cursor_and_search import ListOptions, Replaceable
from aisle.jobs.pages_and_page_job import CHOICES_ID, Action, Page
from aisle.jobs.view import BACK, KeyHint, ListView, Msg, Row, msg, raw
from aisle.scan.grammar_and_meaning_types import Accepts, Choice

LIST_TOPIC: Final = "list"
"""Topic of the note of what a person chose for a list."""


PRESENT_NAMES: Final = {
    "clearance.head_locations": "home.locations",
    "clearance.head_tag": "clearance_request.head_tag",
    "exceptions.head_counted": "head.counted",
    "exceptions.head_difference": "head.difference",
    "exceptions.head_product": "head.product",
    "exceptions.head_value": "head.value",
    "head.reference": "orders.head_reference",
    "head.why": "head.reason",
    "locations.head_location": "head.location",
    "orders.head_reason": "head.reason",
    "orders.head_short": "shortage.title",
    "orders.head_state": "head.state",
    "products.head_count": "products.title_all",
    "unconfirmed.head_state": "head.state",
}
"""Names of columns by those under which they were stored before their title became that of another column too. Add a
row when the message of a title gets another id."""


class ListWithOptions(Replaceable, Protocol):
    """State of a list page."""

    @property
    def options(self) -> ListOptions:
        """What a person chose for the list."""


W = TypeVar("W", bound=ListWithOptions)


class ColumnPage(Page[W], Generic[W]):
    """Page over a list, with its columns as rows. A column's name is the id of its title."""

    def __init__(self, name: str, titles: tuple[Msg, ...], usual: tuple[str, ...]) -> None:
        self.name = name
        self._titles = titles
        self._usual = usual

    def view(self, state: W) -> ListView:
        shown = self._shown(state)
        rows = tuple(
            Row(title.id, (title, msg("number", value=shown.index(title.id) + 1) if title.id in shown else raw("–")))
            for title in self._titles
        )
        return ListView(
            name=self.name,
            title=msg("columns.title"),
            prompt=msg("columns.prompt"),
            column_heads=(msg("columns.head_column"), msg("columns.head_place")),
            rows=rows,
            first=0,
            total=len(rows),
            numbered_rows=len(rows),
            key_hints=(KeyHint("a", msg("columns.usual")), BACK),
        )

    def accepts(self, state: W) -> Accepts:
        return Accepts(choices=len(self._titles), command_letters="a")

    def actions(self, state: W) -> tuple[Action[W], ...]:
        return (Action(msg("columns.usual"), lambda state, context: self._keep(state, (), context), "a"),)

    def handle_other_input(self, state: W, event: Event, context: Context) -> Turn[W]:
        """Show a column as the last one, or hide it. One column stays."""
        if not isinstance(event, Choice):
            return super().handle_other_input(state, event, context)
        name, shown = self._titles[event.number - 1].id, self._shown(state)
        others = tuple(each for each in shown if each != name)
        return self._keep(state, (others or shown) if name in shown else (*shown, name), context)

    def go_back(self, state: W, context: Context) -> Turn[W]:
        return Turn(with_options(state, is_choosing_columns=False))

    def _shown(self, state: W) -> tuple[str, ...]:
        return state.options.columns or self._usual

    def _keep(self, state: W, columns: tuple[str, ...], context: Context) -> Turn[W]:
        fresh = with_options(state, columns=columns)
        return Turn(fresh, (choices_note(fresh.options, self.name, context),))


def with_options(state: W, **fields: Any) -> W:
    """Return the state of a list with these options."""
    changed: W = state._replace(options=state.options._replace(**fields))
    return changed


def _note_key(name: str, user: str) -> str:
    return f"{user}/{name}"


def choices_note(options: ListOptions, name: str, context: Context) -> LocalNote:
    """Return the note of what this person chose for a list."""
    chosen = {"columns": options.columns, "sort": options.sort, "is_descending": options.is_descending}
    return LocalNote(LIST_TOPIC, _note_key(name, context.user), json.dumps(chosen))


def query_choices(name: str, context: Context) -> Query:
    """Return the query for what this person chose for a list."""
    return Query(CHOICES_ID, "list_choices", {"key": _note_key(name, context.user)}, is_live=True)


def read_choices(answer: Rows) -> dict[str, Any]:
    """Return the fields of `ListOptions` that a person chose; fields of other types are left out."""
    chosen = json.loads(answer.rows[0]["text"]) if answer.rows else {}
    stored = chosen.get("columns", ())
    names = map(str, stored) if isinstance(stored, list) else ()
    return {
        "columns": tuple(dict.fromkeys(PRESENT_NAMES.get(name, name) for name in names)),
        "sort": str(chosen.get("sort", "")),
        "is_descending": bool(chosen.get("is_descending")),
    }
