"""Clearance: the job that chooses a tag and categories, and the screens of the request itself."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NamedTuple

from aisle.barcode_keys import has_valid_check_digit
from aisle.jobs import pages
from aisle.jobs.job import Changed, Close, Closed, Context, Event, Job, Json, Opened, Query, Resumed, Rows, Start, Turn
from aisle.jobs.move.clearance_tasks import TaskRow, quantity_with_unit
from aisle.jobs.pages import page_size
from aisle.jobs.quantities import to_decimal
from aisle.jobs.shell.pin import MIN_TYPED_LENGTH
from aisle.jobs.stored_message import read_message
from aisle.jobs.view import (
    BACK,
    INFO,
    PAGE_HINTS,
    WRONG,
    Block,
    DetailView,
    KeyHint,
    Line,
    ListView,
    Msg,
    Row,
    Step,
    Verdict,
    View,
    msg,
    raw,
)
from aisle.roles import may_supervise
from aisle.scan.meaning import Accepts, Back, Choice, Command, CursorKey, Scan, Text, TypedText, UnknownCode


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

    are_people_loaded: bool = True
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


MIN_CONFIRMATION = 5
"""Minimum length of the confirmation text. A shorter tag is typed repeatedly until it is that long."""


class ClearanceRequestState(NamedTuple):
    """State of one clearance request."""

    phase: str = "confirm"
    """`sure`, `wait` or `done`."""
    tag: str = ""
    categories: tuple[str, ...] = ()
    line_count: int = 0
    """Order lines with goods held there, as far as this host knows."""
    service_knows_people: bool = True
    """True if the service knows people and wants a person's PIN."""
    lists_tasks: bool = False
    """True if the service lists the tasks that it assigned."""
    request_id: str = ""
    is_running: bool = False
    requested_at: str = ""
    """Time of the request."""
    outcome: str = ""
    """Result: `done`, `refused`, `role`, `not_sent`, `expired` or `unknown`."""
    why: str = ""
    new_task_count: int = -1
    """Number of new tasks; below 0 if unknown."""
    tasks: tuple[TaskRow, ...] = ()
    total: int = 0
    page: int = 0


def confirmation_text(tag: str) -> str:
    """Return the text to type as confirmation.

    It is the tag. A tag too short to tell typing from a scan is repeated.
    """
    short = 0 < len(tag) < MIN_TYPED_LENGTH
    return " ".join([tag] * (-(-(MIN_CONFIRMATION + 1) // (len(tag) + 1)))) if short else tag


OUTCOME_TEXTS = {
    "refused": "clearance_request.refused",
    "role": "clearance_request.role_denied",
    "not_sent": "clearance_request.not_reached",
    "expired": "clearance_request.expired",
    "unknown": "clearance_request.unknown",
}


def list_view(state: ClearanceState) -> ListView:
    """Return the list of tags, or of the categories held at the locations of one tag."""
    heads: tuple[str, ...] = (
        "clearance.head_category",
        "clearance.head_lines",
        "clearance.head_held",
        "clearance.head_chosen",
    )
    if not state.tag:
        heads = ("clearance.head_tag", "clearance.head_locations")
    return pages.list_view(
        state,
        "clearance.categories" if state.tag else "clearance",
        msg("clearance.title_of", tag=state.tag) if state.tag else msg("clearance.title"),
        msg("clearance.prompt_category") if state.tag else msg("clearance.prompt_tag"),
        tuple(msg(id_) for id_ in heads),
        tuple(_row(state, each) for each in state.rows),
        *((KeyHint("d", msg("clearance.go_on")),) if state.tag else ()),
        empty=_empty_text(state),
    )


def _empty_text(state: ClearanceState) -> Msg:
    if not state.is_loaded:
        return msg("clearance.not_loaded")
    if not state.may_clear:
        return msg("clearance.role_denied")
    return msg("clearance.no_categories") if state.tag else msg("clearance.no_tags")


def _row(state: ClearanceState, each: Tag | Category) -> Row:
    if not state.tag:
        return Row(each.key, (raw(each.key), msg("number", value=each[1])))
    key, lines, quantity = each.key, each[1], each[2] if len(each) > 2 else 0
    name = raw(key) if key else msg("clearance.no_category")
    mark = msg("clearance.chosen") if key in state.chosen else raw("")
    return Row(key, (name, msg("number", value=lines), msg("number", value=quantity), mark))


def result_choices(state: ClearanceRequestState) -> tuple[Msg, ...]:
    """Return the choices of the last page."""
    if state.phase != "done":
        return ()
    return (
        (msg("clearance_request.show_tasks"),)
        if state.outcome == "done"
        else (msg("clearance_request.show_tasks"), msg("clearance_request.try_again"))
    )


def request_view(state: ClearanceRequestState) -> View:
    """Return the screen of the current phase."""
    return _result_view(state) if state.phase == "done" else _request_step(state)


def outcome_message(state: ClearanceRequestState) -> Msg:
    """Return the message with the result."""
    if state.outcome == "done":
        return (
            msg("clearance_request.new_tasks", tag=state.tag, count=state.new_task_count)
            if state.new_task_count >= 0
            else msg("clearance_request.done")
        )
    return msg(OUTCOME_TEXTS.get(state.outcome, "clearance_request.unknown"), why=read_message(state.why))


def _categories_message(state: ClearanceRequestState) -> Msg:
    if state.categories:
        return msg("clearance_request.categories", what=", ".join(state.categories))
    return msg("clearance_request.all_categories")


def _request_step(state: ClearanceRequestState) -> Step:
    place = Line("location", raw(state.tag))
    if state.phase == "wait":
        note = msg("clearance_request.note_running") if state.is_running else msg("clearance_request.note_requested")
        return _simple_step("clearance_request.wait", msg("clearance_request.prompt_wait"), place, Line("note", note))
    known = (Line("quantity", msg("clearance_request.lines", count=state.line_count)),) if state.line_count else ()
    note = msg("clearance_request.note_confirm") if state.service_knows_people else msg("clearance_request.note_token")
    lines = (place, Line("product", _categories_message(state)), *known, Line("note", note))
    return _simple_step(
        "clearance_request.confirm", msg("clearance_request.prompt_confirm", tag=confirmation_text(state.tag)), *lines
    )


def _simple_step(name: str, prompt: Msg, *lines: Line) -> Step:
    return Step(name=name, title=msg("clearance_request.title"), prompt=prompt, lines=lines, key_hints=(BACK,))


def _result_view(state: ClearanceRequestState) -> DetailView:
    """Return the page with the result: the created tasks, or the known figures if the service does not list tasks."""
    facts = [
        (msg("clearance_request.head_tag"), raw(state.tag)),
        (msg("clearance_request.head_what"), _categories_message(state)),
    ]
    facts.append((msg("clearance_request.head_asked"), msg("log.at", at=state.requested_at)))
    if state.line_count:
        facts.append((msg("clearance_request.head_lines"), msg("number", value=state.line_count)))
    blocks = [Block(msg("clearance_request.request"), tuple(facts), is_compact=True)]
    if state.outcome == "unknown":
        advice = "clearance_request.find_out" if state.lists_tasks else "clearance_request.find_out_there"
        blocks.insert(0, Block(msg("clearance_request.title_find_out"), ((msg(advice, tag=state.tag),),)))
    if state.lists_tasks:
        rows = tuple(
            (
                raw(each.task.label),
                raw(each.task.location),
                quantity_with_unit(each.task.quantity, each.task.unit if each.task.allows_decimals else ""),
                raw(each.task.order),
            )
            for each in state.tasks
        )
        title = msg("clearance_request.to_move", count=state.total)
        blocks.append(Block(title, rows or ((msg("clearance_request.nothing_to_move"),),)))
    else:
        blocks.append(Block(msg("clearance_request.to_move_unlisted"), ((msg("clearance_tasks.unlisted"),),)))
    return DetailView(
        name="clearance_request.done",
        title=msg("clearance_request.title"),
        prompt=msg("clearance_request.prompt_done"),
        lines=(Line("product", outcome_message(state)),),
        blocks=tuple(blocks),
        page=state.page,
        choices=result_choices(state),
        key_hints=(*PAGE_HINTS, BACK),
    )


Result = Turn[ClearanceState]


class ClearanceJob(Job[ClearanceState]):
    """Job that chooses a tag, then categories."""

    name = "clearance"
    steps: tuple[str, ...] = ("clearance", "clearance.categories")
    version = 1
    journalled = False

    def begin(self) -> ClearanceState:
        """Return the state without a tag."""
        return ClearanceState()

    def accepts(self, state: ClearanceState) -> Accepts:
        """Accept row numbers, and words for a tag or a category."""
        letters = pages.page_letters(state) + ("d" if state.tag else "")
        return Accepts(choices=pages.numbered_rows(state), command_letters=letters, search=True)

    def prefers(self, state: ClearanceState) -> tuple[str, ...]:
        """Prefer nothing, because no scan is accepted here."""
        return ()

    def step_name(self, state: ClearanceState) -> str:
        """Return one of `steps`."""
        return "clearance.categories" if state.tag else "clearance"

    def view(self, state: ClearanceState) -> ListView:
        """Return the list to choose from."""
        return list_view(state)

    def handle(self, state: ClearanceState, event: Event, context: Context) -> Result:
        """Return the next state. Numbers choose, words name what is not listed."""
        state = state._replace(size=page_size(context))
        match event:
            case Opened() | Resumed() | Closed() | Changed("location" | "person" | "order" | "outbox" | "store"):
                return Turn(_with_window(state), _queries(state, context))
            case Rows(id_, rows, _):
                return Turn(_with_window(_with_rows(state, id_, rows)))
            case Back():
                cleared = state._replace(tag="", categories=(), chosen=(), first=0, cursor=-1)
                return Turn(_with_window(cleared)) if state.tag else Turn(state, (Close(),))
            case Choice() | CursorKey("enter"):
                return _choose_row(state, pages.chosen_row(state, event))
            case Command("n" | "p" as key) | CursorKey(key):
                return Turn(_with_window(pages.move_or_turn(state, key, state.size)))
            case Command("d") if state.tag:
                return _start_request(state)
            case Text(text) | UnknownCode(text):
                return _handle_text(state, text.strip())
            case Scan((meaning, *_)):
                return Turn(state, (), Verdict(WRONG, msg("clearance.not_this", what=meaning.label or meaning.key)))
            case TypedText():
                return Turn(state)
        return Turn(state)


def _queries(state: ClearanceState, context: Context) -> tuple[Query, ...]:
    who = Query("clearance_permission", "clearance_permission", {"user": context.user}, is_live=True)
    tagged = (Query("held_by_category", "held_by_category", {"tag": state.tag}, is_live=True),) if state.tag else ()
    return (who, Query("tags", "tags", {}, is_live=True), *tagged)


def _with_rows(state: ClearanceState, id_: str, rows: tuple[Json, ...]) -> ClearanceState:
    match id_:
        case "clearance_permission" if rows:
            row = rows[0]
            is_loaded, people = bool(row["is_known"]), bool(row["people"])
            return state._replace(
                are_people_loaded=is_loaded, service_knows_people=people, role=str(row["role"]), is_loaded=is_loaded
            )
        case "tags":
            return state._replace(tags=tuple(Tag(str(row["tag"]), int(to_decimal(row["locations"]))) for row in rows))
        case "held_by_category":
            found = tuple(
                Category(str(row["category_code"]), int(to_decimal(row["lines"])), to_decimal(row["quantity"]))
                for row in rows
            )
            named = {each.key for each in found}
            typed = tuple(each for each in state.categories if each.is_typed and each.key not in named)
            return state._replace(categories=(*found, *typed))
    return state


def _with_window(state: ClearanceState) -> ClearanceState:
    """Return the state with the rows of its page. A page beyond the end of a shortened list moves to the start."""
    first = state.first if state.first < state.total else 0
    return state._replace(first=first, rows=state.all_rows[first : first + max(1, state.size)])


def _denial(state: ClearanceState) -> Verdict | None:
    if not state.is_loaded:
        return Verdict(WRONG, msg("clearance.not_loaded"))
    return None if state.may_clear else Verdict(WRONG, msg("clearance.role_denied"))


def _choose_row(state: ClearanceState, row: Tag | Category | None) -> Result:
    if row is None:
        return Turn(state)
    return _choose_tag(state, row.key) if isinstance(row, Tag) else _toggle_category(state, row.key)


def _handle_text(state: ClearanceState, text: str) -> Result:
    """Handle a typed tag or category.

    An unlisted tag is accepted because the service may know it. An unlisted category is accepted only if none is known
    here. Product codes and unknown row numbers are rejected.
    """
    if not text:
        return Turn(state)
    if pages.is_row_number(text) and all(each.key != text for each in state.all_rows):
        return Turn(state, (), Verdict(WRONG, msg("input.no_choice", text=text)))
    if has_valid_check_digit(text) and all(each.key != text for each in state.all_rows):
        return Turn(state, (), Verdict(WRONG, msg("clearance.not_this", what=text)))
    if not state.tag:
        known = next((tag.key for tag in state.tags if tag.key.casefold() == text.casefold()), text)
        return _choose_tag(state, known)
    listed = any(not each.is_typed for each in state.categories)
    if all(each.key.casefold() != text.casefold() for each in state.categories):
        if listed:
            return Turn(state, (), Verdict(WRONG, msg("clearance.no_such", what=text, tag=state.tag)))
        state = _with_window(state._replace(categories=(*state.categories, Category(text, is_typed=True))))
    return _toggle_category(
        state, next(each.key for each in state.categories if each.key.casefold() == text.casefold())
    )


def _choose_tag(state: ClearanceState, tag: str) -> Result:
    denied = _denial(state)
    if denied:
        return Turn(state, (), denied)
    state = _with_window(state._replace(tag=tag, categories=(), chosen=(), first=0, cursor=-1))
    return Turn(
        state,
        (Query("held_by_category", "held_by_category", {"tag": tag}, is_live=True),),
        Verdict(INFO, _scope_message(state)),
    )


def _toggle_category(state: ClearanceState, key: str) -> Result:
    is_chosen = key in state.chosen
    chosen = tuple(each for each in state.chosen if each != key) if is_chosen else (*state.chosen, key)
    state = state._replace(chosen=chosen)
    return Turn(state, (), Verdict(INFO, _scope_message(state)))


def _scope_message(state: ClearanceState) -> Any:
    if state.chosen:
        return msg("clearance.some", tag=state.tag, count=len(state.chosen))
    return msg("clearance.all", tag=state.tag)


def _start_request(state: ClearanceState) -> Result:
    if denied := _denial(state):
        return Turn(state, (), denied)
    meant = [each for each in state.categories if not state.chosen or each.key in state.chosen]
    args = {
        "tag": state.tag,
        "categories": list(state.chosen),
        "lines": sum(each.lines for each in meant),
        "people": state.service_knows_people,
    }
    return Turn(state, (Start("clearance_request", args),))
