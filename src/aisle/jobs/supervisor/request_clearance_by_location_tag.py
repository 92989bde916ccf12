"""Jobs of a clearance: the choice of a tag and categories, and the request with its typed confirmation and its result.

The request takes raw input, because the confirmation must be typed, not scanned. It is answered or expires; it is never
sent late and never twice. If its result is unknown, the page says so and explains how to find out. Interface: Create
customer order clearance.
"""

from __future__ import annotations

from abc import abstractmethod
from decimal import Decimal
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

from aisle.barcode_numbers import has_valid_check_digit
from aisle.jobs import list_cursor_and_search, list_page_base_class
from aisle.jobs.job import (
    Args,
    Close,
    Context,
    Effect,
    Event,
    Query,
    RawInput,
    Request,
    Requested,
    Rows,
    Start,
    Turn,
    reply,
)
from aisle.jobs.list_cursor_and_search import ListOptions
from aisle.jobs.list_page_base_class import Column, ListPage
from aisle.jobs.move.clearance_tasks import TaskRow, parse_task_row, quantity_with_unit
from aisle.jobs.pages_and_page_job import Action, DetailPage, FormPage, Page, PageJob, refuse
from aisle.jobs.row_types.operations_and_session_answers import RequestStateRow
from aisle.jobs.shell.pin import MIN_TYPED_LENGTH, is_typed
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Block, Line, Msg, Verdict, msg, raw
from aisle.row_values import to_decimal
from aisle.scan.grammar_and_meaning_types import Accepts, Choice, Command, CursorKey, Match
from aisle.stored_messages import read_message
from aisle.supervisor_role import may_supervise


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
    options: ListOptions = ListOptions()
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
        return msg("stores.loading")
    return None if state.may_clear else msg("clearance.role_denied")


class ClearanceList(ListPage[ClearanceState, R]):
    """List of all tags or categories. Its windows are parts of one answer; words name what is not listed."""

    key = attrgetter("key")

    def empty_text(self, state: ClearanceState) -> Msg:
        return _denial(state) or self.no_rows_text

    def accepts(self, state: ClearanceState) -> Accepts:
        return super().accepts(state)._replace(search=True)

    def handle_other_input(self, state: ClearanceState, event: Event, context: Context) -> Result:
        match event:
            case Command("n" | "p" as key) | CursorKey(key) if key != "enter":
                return Turn(_with_window(list_cursor_and_search.move_or_turn(state, key, state.size)))
        return super().handle_other_input(state, event, context)

    def handle_text(self, state: ClearanceState, text: str, context: Context) -> Result:
        """Handle a typed tag or category. Product codes and unknown row numbers are rejected."""
        text = text.strip()
        if all(row.key != text for row in state.all_rows):
            if list_cursor_and_search.is_row_number(text):
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
        Column(msg("clearance_request.head_tag"), lambda row: raw(row.key)),
        Column(msg("home.locations"), lambda row: msg("number", value=row.location_count)),
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

    def all_columns(self, state: ClearanceState) -> tuple[Column[Category], ...]:
        return (
            Column(
                msg("clearance.head_category"), lambda row: raw(row.key) if row.key else msg("clearance.no_category")
            ),
            Column(msg("clearance.head_lines"), lambda row: msg("number", value=row.lines)),
            Column(msg("clearance.head_held"), lambda row: msg("number", value=row.quantity)),
            Column(
                msg("clearance.head_chosen"),
                lambda row: msg("unconfirmed.yes") if row.key in state.chosen else raw(""),
            ),
        )

    def actions(self, state: ClearanceState) -> tuple[Action[ClearanceState], ...]:
        return (Action(msg("move.go_on"), _start_request, "d"),)

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
    state = state._replace(chosen=list_page_base_class.toggle_mark(state.chosen, key))
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
    lists = ("locations",)
    state_type = ClearanceState
    steps: tuple[str, ...] = ("clearance", "clearance.categories")
    journalled = False
    topics = ("location", "person", "order", "outbox", "store")

    def page(self, state: ClearanceState) -> Page[ClearanceState]:
        return CATEGORIES if state.tag else TAGS

    def handle(self, state: ClearanceState, event: Event, context: Context) -> Result:
        """Return the next state. The rows of a window depend on the size of the screen."""
        return super().handle(state._replace(size=list_cursor_and_search.page_size(context)), event, context)

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


TIMEOUT_S = 30.0
"""Seconds the request may wait to be sent. After that it expires."""

MAX_TASKS = 50
"""Most tasks on the last page."""

MIN_CONFIRMATION = 5
"""Minimum length of the confirmation text. A shorter tag is typed repeatedly until it is that long."""


class ClearanceRequestState(NamedTuple):
    """State of one clearance request."""

    phase: str = "confirm"
    """`confirm`, `wait` or `done`."""
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
    """Outcome of the request: `done`, `refused`, `role`, `not_sent`, `expired` or `unknown`."""
    why: str = ""
    new_task_count: int = -1
    """Number of new tasks; below 0 if unknown."""
    tasks: tuple[TaskRow, ...] = ()
    total: int = 0
    page: int = 0


def confirmation_text(tag: str) -> str:
    """Return the text to type as confirmation. It is the tag. A tag too short to tell typing from a scan is
    repeated."""
    short = 0 < len(tag) < MIN_TYPED_LENGTH
    return " ".join([tag] * (-(-(MIN_CONFIRMATION + 1) // (len(tag) + 1)))) if short else tag


OUTCOME_TEXTS = {
    "refused": "store_product.refused",
    "role": "clearance_request.role_denied",
    "not_sent": "clearance_request.not_sent",
    "expired": "clearance_request.expired",
    "unknown": "clearance_request.unknown",
}


RequestResult = Turn[ClearanceRequestState]


def outcome_message(state: ClearanceRequestState) -> Msg:
    """Return the message with the result."""
    if state.outcome == "done" and state.new_task_count >= 0:
        return msg("clearance_request.new_tasks", tag=state.tag, count=state.new_task_count)
    if state.outcome == "done":
        return msg("clearance_request.done")
    return msg(OUTCOME_TEXTS.get(state.outcome, "clearance_request.unknown"), why=read_message(state.why))


def _categories_message(state: ClearanceRequestState) -> Msg:
    if state.categories:
        return msg("clearance_request.categories", what=", ".join(state.categories))
    return msg("clearance_request.all_categories")


class ConfirmPage(FormPage[ClearanceRequestState]):
    """Question that is answered by typing the tag."""

    name = "clearance_request.confirm"
    title_text = msg("clearance.title")

    def prompt(self, state: ClearanceRequestState) -> Msg:
        return msg("clearance_request.prompt_confirm", tag=confirmation_text(state.tag))

    def lines(self, state: ClearanceRequestState) -> tuple[Line, ...]:
        count, knows_people = state.line_count, state.service_knows_people
        known = (Line("quantity", msg("clearance_request.lines", count=count)),) if count else ()
        note = msg("clearance_request.note_confirm" if knows_people else "clearance_request.note_token")
        what = Line("product", _categories_message(state))
        return (Line("location", raw(state.tag)), what, *known, Line("note", note))

    def accepts(self, state: ClearanceRequestState) -> Accepts:
        return Accepts(text=True)

    def handle_input(self, state: ClearanceRequestState, event: Event, context: Context) -> RequestResult:
        return _check_confirmation(state, event) if isinstance(event, RawInput) and not event.key else Turn(state)


def _check_confirmation(state: ClearanceRequestState, raw_input: RawInput) -> RequestResult:
    text, wanted = raw_input.text.strip(), confirmation_text(state.tag)
    if text != wanted:
        return reply(state, WRONG, "clearance_request.prompt_confirm", tag=wanted)
    if not is_typed(raw_input):
        return reply(state, WRONG, "input.scan_not_accepted")
    body = {"tag": state.tag, "categories": list(state.categories)}
    return Turn(state, (Request("clearance", body, TIMEOUT_S, needs_supervisor=True),))


class WaitPage(FormPage[ClearanceRequestState]):
    """Page while the request is under way. Leaving it does not stop the request."""

    name = "clearance_request.wait"
    title_text = msg("clearance.title")
    prompt_text = msg("clearance_request.prompt_wait")

    def lines(self, state: ClearanceRequestState) -> tuple[Line, ...]:
        note = "clearance_request.note_running" if state.is_running else "clearance_request.note_requested"
        return (Line("location", raw(state.tag)), Line("note", msg(note)))

    def accepts(self, state: ClearanceRequestState) -> Accepts:
        return Accepts(command_letters="np")

    def handle_input(self, state: ClearanceRequestState, event: Event, context: Context) -> RequestResult:
        return refuse(state, msg("clearance_request.prompt_wait"))

    def go_back(self, state: ClearanceRequestState, context: Context) -> RequestResult:
        return Turn(state, (Close(Verdict(INFO, msg("clearance_request.continues", tag=state.tag))),))


class ResultPage(DetailPage[ClearanceRequestState]):
    """Page with the result: the created tasks, or the known figures if the service does not list tasks."""

    name = "clearance_request.done"
    title_text = msg("clearance.title")
    prompt_text = msg("unconfirmed.choose")

    def lines(self, state: ClearanceRequestState) -> tuple[Line, ...]:
        return (Line("product", outcome_message(state)),)

    def blocks(self, state: ClearanceRequestState) -> tuple[Block, ...]:
        advice: tuple[Block, ...] = ()
        if state.outcome == "unknown":
            text = "clearance_request.find_out" if state.lists_tasks else "clearance_request.find_out_there"
            advice = (Block(msg("clearance_request.title_find_out"), ((msg(text, tag=state.tag),),)),)
        count = ((msg("clearance_request.head_lines"), msg("number", value=state.line_count)),)
        facts = (
            (msg("clearance_request.head_tag"), raw(state.tag)),
            (msg("clearance_request.head_what"), _categories_message(state)),
            (msg("clearance_request.head_asked"), msg("log.at", at=state.requested_at)),
            *(count if state.line_count else ()),
        )
        return (*advice, Block(msg("clearance_request.request"), facts, is_compact=True), _task_block(state))

    def actions(self, state: ClearanceRequestState) -> tuple[Action[ClearanceRequestState], ...]:
        shown = Action(msg("home.clearance_tasks"), _show_tasks)
        again = Action(msg("clearance_request.try_again"), _try_again)
        return (shown,) if state.outcome == "done" else (shown, again)

    def handle_input(self, state: ClearanceRequestState, event: Event, context: Context) -> RequestResult:
        match event:
            case RawInput(key=key) if key:
                return super().handle_input(state, CursorKey(key), context)
            case RawInput(meaning=Command() | Choice() as meaning):
                return super().handle_input(state, meaning, context)
        return refuse(state, msg("unconfirmed.choose"))


def _task_block(state: ClearanceRequestState) -> Block:
    if not state.lists_tasks:
        return Block(msg("home.clearance_tasks"), ((msg("clearance_tasks.unlisted"),),))
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
    return Block(title, rows or ((msg("list.empty"),),))


def _show_tasks(state: ClearanceRequestState, context: Context) -> RequestResult:
    return Turn(state, (Close(start=Start("clearance_tasks", {"tag": state.tag})),))


def _try_again(state: ClearanceRequestState, context: Context) -> RequestResult:
    """Start again from the confirmation, because nothing was done or the result is unknown."""
    state = state._replace(phase="confirm", request_id="", outcome="", why="", new_task_count=-1, tasks=(), total=0)
    return Turn(state)


PAGES: dict[str, Page[ClearanceRequestState]] = {"confirm": ConfirmPage(), "wait": WaitPage(), "done": ResultPage()}


class ClearanceRequestJob(PageJob[ClearanceRequestState]):
    """Job that requests a clearance: confirm, wait, read the result. The common PIN page asks for the PIN in
    between."""

    name = "clearance_request"
    lists = ()
    state_type = ClearanceRequestState
    steps: tuple[str, ...] = tuple(page.name for page in PAGES.values())
    raw_input = True
    topics = ("outbox", "ask", "assignment")

    def page(self, state: ClearanceRequestState) -> Page[ClearanceRequestState]:
        return PAGES[state.phase]

    def is_secret(self, state: ClearanceRequestState) -> bool:
        """Return True while waiting, because a PIN may be typed again then."""
        return state.service_knows_people and state.phase == "wait"

    def is_secret_text(self, state: ClearanceRequestState, text: str) -> bool:
        """Return True for text with digits that is not the confirmation: it may be a PIN typed too early or too late.
        One digit on the last page is a choice."""
        if state.phase == "confirm" and confirmation_text(state.tag).startswith(text.strip()):
            return False
        return sum(char.isdigit() for char in text) > (state.phase == "done")

    def handle(self, state: ClearanceRequestState, event: Event, context: Context) -> RequestResult:
        """Return the next state. The id of a request comes once it is stored."""
        if not isinstance(event, Requested):
            return super().handle(state, event, context)
        waiting = state._replace(phase="wait", request_id=event.request_id, is_running=False, outcome="", why="")
        # It only makes changes of the request reach this page.
        subscription = Query("subscription", "request_state", {"request_id": event.request_id}, is_live=True)
        return reply(waiting._replace(requested_at=context.now), INFO, "pin.asked", subscription)

    def handle_opened(self, state: ClearanceRequestState, args: Args, context: Context) -> RequestResult:
        state = ClearanceRequestState(
            tag=str(args.get("tag") or ""),
            categories=tuple(str(each) for each in args.get("categories") or ()),
            line_count=int(to_decimal(args.get("lines"))),
            service_knows_people=bool(args.get("people", True)),
        )
        return Turn(state)

    def queries(self, state: ClearanceRequestState, context: Context) -> tuple[Effect, ...]:
        return _queries(state)

    def handle_rows(self, state: ClearanceRequestState, answer: Rows, context: Context) -> RequestResult:
        match answer:
            case Rows("request_state", rows) if state.phase == "wait":
                return _handle_request_state(state, rows[0] if rows else {"state": "unknown", "answer": {}})
            case Rows("clearance_permission", (row, *_)):
                return Turn(state._replace(lists_tasks=row["listed"]))
            case Rows("clearance_tasks", rows, total):
                return Turn(state._replace(tasks=tuple(parse_task_row(row) for row in rows), total=total))
        return Turn(state)


def _queries(state: ClearanceRequestState) -> tuple[Query, ...]:
    if state.phase == "wait":
        return (Query("request_state", "request_state", {"request_id": state.request_id}),)
    if state.phase != "done":
        return ()
    return (
        Query("clearance_permission", "clearance_permission", {"user": ""}, is_live=True),
        Query("clearance_tasks", "assignments", {"tag": state.tag, "size": MAX_TASKS}, is_live=True),
    )


def _handle_request_state(state: ClearanceRequestState, row: RequestStateRow) -> RequestResult:
    answer = row.get("answer") or {}
    match row["state"]:
        case "requested":
            return Turn(state)
        case "started":
            return Turn(state._replace(is_running=True))
        case "expired":
            return _finish(state, "expired", "", None)
        case "answered" if answer.get("how") == "pin":
            return reply(state._replace(phase="confirm", request_id=""), ASK, "clearance_request.pin_expired")
        case "answered":
            return _finish(state, str(answer.get("how")), str(answer.get("why") or ""), answer.get("fresh"))
    return _finish(state, "unknown", str(answer.get("why") or ""), None)


def _finish(state: ClearanceRequestState, outcome: str, reason: str, new_task_count: Any) -> RequestResult:
    state = state._replace(
        phase="done",
        outcome=outcome,
        why=reason,
        new_task_count=-1 if new_task_count is None else int(new_task_count),
        page=0,
    )
    kind = GOOD if outcome == "done" else ASK if outcome == "unknown" else WRONG
    return Turn(state, _queries(state), Verdict(kind, outcome_message(state)))
