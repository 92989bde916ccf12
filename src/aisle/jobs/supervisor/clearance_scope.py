"""Job that chooses what a clearance is requested for: a tag of locations, then categories of goods held there."""

from __future__ import annotations

from abc import abstractmethod
from decimal import Decimal
from typing import NamedTuple, TypeVar

from aisle.barcode_keys import has_valid_check_digit
from aisle.jobs import pages
from aisle.jobs.job import Context, Effect, Event, Query, Rows, Start, Turn
from aisle.jobs.list_page import Column, ListPage
from aisle.jobs.page_job import Action, Page, PageJob, refuse
from aisle.jobs.view import INFO, Msg, Verdict, msg, raw
from aisle.roles import may_supervise
from aisle.scan.meaning import Accepts, Command, CursorKey, Match


class Tag(NamedTuple):
    """Tag of the store's locations."""

    key: str
    location_count: int = 0


class Category(NamedTuple):
    """Category of goods that are held at locations with the tag."""

    key: str
    lines: int = 0
    quantity: Decimal = Decimal(0)
    is_typed: bool = False
    """True if a person typed it. It is not known to be held."""


class ClearanceState(NamedTuple):
    """State of the choice of a tag and categories."""

    service_knows_people: bool = True
    """True if the service knows people. If not, its token alone decides."""
    role: str = ""
    is_loaded: bool = False
    """True once the fields above were read."""
    tag: str = ""
    """Empty while the tag is being chosen."""
    rows: tuple[Tag | Category, ...] = ()
    """Window that is shown."""
    tags: tuple[Tag, ...] = ()
    categories: tuple[Category, ...] = ()
    chosen: tuple[str, ...] = ()
    """Chosen categories; none means all."""
    first: int = 0
    cursor: int = -1
    search: str = ""
    typed: str = ""
    size: int = 12

    @property
    def all_rows(self) -> tuple[Tag | Category, ...]:
        """All rows of the page; none for a person who may not clear."""
        if self.is_loaded and not self.may_clear:
            return ()
        return self.categories if self.tag else self.tags

    @property
    def total(self) -> int:
        """Number of rows."""
        return len(self.all_rows)

    @property
    def may_clear(self) -> bool:
        """True if this person may clear, as far as this host knows."""
        return may_supervise(self.role, service_known=self.is_loaded, knows_people=self.service_knows_people)


Result = Turn[ClearanceState]
R = TypeVar("R", Tag, Category)


def _with_window(state: ClearanceState) -> ClearanceState:
    """Return the state with the rows of its page. A page beyond the end of a shortened list moves to the start."""
    first = state.first if state.first < state.total else 0
    return state._replace(first=first, rows=state.all_rows[first : first + max(1, state.size)])


def _denial(state: ClearanceState) -> Msg | None:
    if not state.is_loaded:
        return msg("clearance.not_loaded")
    return None if state.may_clear else msg("clearance.role_denied")


class ClearanceList(ListPage[ClearanceState, R]):
    """List of all tags or categories. Its windows are parts of one answer; words name what is not listed."""

    def empty_text(self, state: ClearanceState) -> Msg:
        return _denial(state) or self.no_rows_text

    def key(self, row: R) -> str:
        return row.key

    def accepts(self, state: ClearanceState) -> Accepts:
        return super().accepts(state)._replace(search=True)

    def handle_other_input(self, state: ClearanceState, event: Event, context: Context) -> Result:
        match event:
            case Command("n" | "p" as key) | CursorKey(key) if key != "enter":
                return Turn(_with_window(pages.move_or_turn(state, key, state.size)))
        return super().handle_other_input(state, event, context)

    def handle_text(self, state: ClearanceState, text: str, context: Context) -> Result:
        """Handle a typed tag or category. Product codes and unknown row numbers are rejected."""
        text = text.strip()
        if all(row.key != text for row in state.all_rows):
            if pages.is_row_number(text):
                return refuse(state, msg("input.no_choice", text=text))
            if has_valid_check_digit(text):
                return refuse(state, msg("clearance.not_this", what=text))
        return self.handle_name(state, text) if text else Turn(state)

    @abstractmethod
    def handle_name(self, state: ClearanceState, name: str) -> Result:
        """Choose the row of that name, or what is not listed."""


class TagList(ClearanceList[Tag]):
    """List of the tags of the store's locations."""

    name = "clearance"
    title_text = msg("clearance.title")
    prompt_text = msg("clearance.prompt_tag")
    no_rows_text = msg("clearance.no_tags")
    columns = (
        Column(msg("clearance.head_tag"), lambda row: raw(row.key)),
        Column(msg("clearance.head_locations"), lambda row: msg("number", value=row.location_count)),
    )

    def open_row(self, state: ClearanceState, row: Tag, context: Context) -> Result:
        return _choose_tag(state, row.key)

    def handle_name(self, state: ClearanceState, name: str) -> Result:
        """Choose a tag. An unlisted one is accepted because the service may know it."""
        return _choose_tag(state, next((tag.key for tag in state.tags if tag.key.casefold() == name.casefold()), name))


def _choose_tag(state: ClearanceState, tag: str) -> Result:
    if denial := _denial(state):
        return refuse(state, denial)
    state = _with_window(state._replace(tag=tag, categories=(), chosen=(), first=0, cursor=-1))
    return Turn(state, (_query_categories(tag),), Verdict(INFO, _scope_message(state)))


def _query_categories(tag: str) -> Query:
    return Query("held_by_category", "held_by_category", {"tag": tag}, is_live=True)


class CategoryList(ClearanceList[Category]):
    """List of the categories held at the locations of the tag. None chosen means all."""

    name = "clearance.categories"
    prompt_text = msg("clearance.prompt_category")
    no_rows_text = msg("clearance.no_categories")

    def title(self, state: ClearanceState) -> Msg:
        return msg("clearance.title_of", tag=state.tag)

    def visible_columns(self, state: ClearanceState) -> tuple[Column[Category], ...]:
        return (
            Column(
                msg("clearance.head_category"), lambda row: raw(row.key) if row.key else msg("clearance.no_category")
            ),
            Column(msg("clearance.head_lines"), lambda row: msg("number", value=row.lines)),
            Column(msg("clearance.head_held"), lambda row: msg("number", value=row.quantity)),
            Column(
                msg("clearance.head_chosen"),
                lambda row: msg("clearance.chosen") if row.key in state.chosen else raw(""),
            ),
        )

    def actions(self, state: ClearanceState) -> tuple[Action[ClearanceState], ...]:
        return (Action(msg("clearance.go_on"), _start_request, "d"),)

    def open_row(self, state: ClearanceState, row: Category, context: Context) -> Result:
        return _toggle_category(state, row.key)

    def handle_name(self, state: ClearanceState, name: str) -> Result:
        """Choose a category. An unlisted one is accepted only if none is known here."""
        named = [each.key for each in state.categories if each.key.casefold() == name.casefold()]
        if not named and any(not each.is_typed for each in state.categories):
            return refuse(state, msg("clearance.no_such", what=name, tag=state.tag))
        if not named:
            state = _with_window(state._replace(categories=(*state.categories, Category(name, is_typed=True))))
        return _toggle_category(state, named[0] if named else name)

    def go_back(self, state: ClearanceState, context: Context) -> Result:
        return Turn(_with_window(state._replace(tag="", categories=(), chosen=(), first=0, cursor=-1)))


def _toggle_category(state: ClearanceState, key: str) -> Result:
    state = state._replace(chosen=pages.toggle_mark(state.chosen, key))
    return Turn(state, (), Verdict(INFO, _scope_message(state)))


def _scope_message(state: ClearanceState) -> Msg:
    if state.chosen:
        return msg("clearance.some", tag=state.tag, count=len(state.chosen))
    return msg("clearance.all", tag=state.tag)


def _start_request(state: ClearanceState, context: Context) -> Result:
    if denial := _denial(state):
        return refuse(state, denial)
    meant = [each for each in state.categories if not state.chosen or each.key in state.chosen]
    args = {
        "tag": state.tag,
        "categories": list(state.chosen),
        "lines": sum(each.lines for each in meant),
        "people": state.service_knows_people,
    }
    return Turn(state, (Start("clearance_request", args),))


TAGS, CATEGORIES = TagList(), CategoryList()


class ClearanceJob(PageJob[ClearanceState]):
    """Job that chooses a tag, then categories."""

    name = "clearance"
    steps: tuple[str, ...] = ("clearance", "clearance.categories")
    version = 1
    journalled = False
    topics = ("location", "person", "order", "outbox", "store")

    def begin(self) -> ClearanceState:
        return ClearanceState()

    def page(self, state: ClearanceState) -> Page[ClearanceState]:
        return CATEGORIES if state.tag else TAGS

    def handle(self, state: ClearanceState, event: Event, context: Context) -> Result:
        """Return the next state. The rows of a window depend on the size of the screen."""
        return super().handle(state._replace(size=pages.page_size(context)), event, context)

    def query_again(self, state: ClearanceState, context: Context) -> Result:
        return super().query_again(_with_window(state), context)

    def queries(self, state: ClearanceState, context: Context) -> tuple[Effect, ...]:
        who = Query("clearance_permission", "clearance_permission", {"user": context.user}, is_live=True)
        held = (_query_categories(state.tag),) if state.tag else ()
        return (who, Query("tags", "tags", {}, is_live=True), *held)

    def handle_rows(self, state: ClearanceState, answer: Rows, context: Context) -> Result:
        match answer:
            case Rows("clearance_permission", (row, *_)):
                state = state._replace(service_knows_people=row["people"], role=row["role"], is_loaded=row["is_known"])
            case Rows("tags", rows):
                state = state._replace(tags=tuple(Tag(row["tag"], row["locations"]) for row in rows))
            case Rows("held_by_category", rows):
                found = tuple(Category(row["category_code"], row["lines"], row["quantity"]) for row in rows)
                named = {each.key for each in found}
                typed = (each for each in state.categories if each.is_typed and each.key not in named)
                state = state._replace(categories=(*found, *typed))
        return Turn(_with_window(state))

    def handle_scan(self, state: ClearanceState, matches: tuple[Match, ...], context: Context) -> Result:
        return refuse(state, msg("clearance.not_this", what=matches[0].label or matches[0].key))
