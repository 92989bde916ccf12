"""Job of one clearance request: typed confirmation, a single request, and its result.

It takes raw input, because the confirmation must be typed, not scanned. The request is answered or expires; it is never
sent late and never twice. If its result is unknown, the page says so and explains how to find out. Interface: Create
customer order clearance.
"""

from __future__ import annotations

from typing import Any, NamedTuple

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
)
from aisle.jobs.move.clearance_tasks import TaskRow, parse_task_row, quantity_with_unit
from aisle.jobs.page_job import Action, DetailPage, FormPage, Page, PageJob, refuse
from aisle.jobs.quantities import to_decimal
from aisle.jobs.row_types.operations import RequestStateRow
from aisle.jobs.shell.pin import MIN_TYPED_LENGTH, is_typed
from aisle.jobs.stored_message import read_message
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Block, Line, Msg, Verdict, msg, raw
from aisle.scan.meaning import Accepts, Choice, Command, CursorKey

TIMEOUT_S = 30.0
"""Seconds the request may wait to be sent. After that it expires."""

MAX_TASKS = 50
"""Most tasks on the last page."""

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


Result = Turn[ClearanceRequestState]


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
    title_text = msg("clearance_request.title")

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

    def handle_input(self, state: ClearanceRequestState, event: Event, context: Context) -> Result:
        return _check_confirmation(state, event) if isinstance(event, RawInput) and not event.key else Turn(state)


def _check_confirmation(state: ClearanceRequestState, raw_input: RawInput) -> Result:
    text, wanted = raw_input.text.strip(), confirmation_text(state.tag)
    if text != wanted:
        may_be_pin = not text or ClearanceRequestJob().is_secret_text(state, text)
        answer = (
            msg("clearance_request.wrong_text", tag=wanted)
            if may_be_pin
            else msg("clearance_request.not_the_tag", text=text, tag=wanted)
        )
        return Turn(state, (), Verdict(WRONG, answer))
    if not is_typed(raw_input):
        return Turn(state, (), Verdict(WRONG, msg("clearance_request.scan_not_accepted", tag=wanted)))
    body = {"tag": state.tag, "categories": list(state.categories)}
    return Turn(state, (Request("clearance", body, TIMEOUT_S, needs_supervisor=True),))


class WaitPage(FormPage[ClearanceRequestState]):
    """Page while the request is under way. Leaving it does not stop the request."""

    name = "clearance_request.wait"
    title_text = msg("clearance_request.title")
    prompt_text = msg("clearance_request.prompt_wait")

    def lines(self, state: ClearanceRequestState) -> tuple[Line, ...]:
        note = "clearance_request.note_running" if state.is_running else "clearance_request.note_requested"
        return (Line("location", raw(state.tag)), Line("note", msg(note)))

    def accepts(self, state: ClearanceRequestState) -> Accepts:
        return Accepts(command_letters="np")

    def handle_input(self, state: ClearanceRequestState, event: Event, context: Context) -> Result:
        return refuse(state, msg("clearance_request.wait"))

    def go_back(self, state: ClearanceRequestState, context: Context) -> Result:
        return Turn(state, (Close(Verdict(INFO, msg("clearance_request.continues", tag=state.tag))),))


class ResultPage(DetailPage[ClearanceRequestState]):
    """Page with the result: the created tasks, or the known figures if the service does not list tasks."""

    name = "clearance_request.done"
    title_text = msg("clearance_request.title")
    prompt_text = msg("clearance_request.prompt_done")

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
        shown = Action(msg("clearance_request.show_tasks"), _show_tasks)
        again = Action(msg("clearance_request.try_again"), _try_again)
        return (shown,) if state.outcome == "done" else (shown, again)

    def handle_input(self, state: ClearanceRequestState, event: Event, context: Context) -> Result:
        match event:
            case RawInput(key=key) if key:
                return super().handle_input(state, CursorKey(key), context)
            case RawInput(meaning=Command() | Choice() as meaning):
                return super().handle_input(state, meaning, context)
        return refuse(state, msg("clearance_request.no_other_input"))


def _task_block(state: ClearanceRequestState) -> Block:
    if not state.lists_tasks:
        return Block(msg("clearance_request.to_move_unlisted"), ((msg("clearance_tasks.unlisted"),),))
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
    return Block(title, rows or ((msg("clearance_request.nothing_to_move"),),))


def _show_tasks(state: ClearanceRequestState, context: Context) -> Result:
    return Turn(state, (Close(start=Start("clearance_tasks", {"tag": state.tag})),))


def _try_again(state: ClearanceRequestState, context: Context) -> Result:
    """Start again from the confirmation, because nothing was done or the result is unknown."""
    state = state._replace(phase="confirm", request_id="", outcome="", why="", new_task_count=-1, tasks=(), total=0)
    return Turn(state)


PAGES: dict[str, Page[ClearanceRequestState]] = {"confirm": ConfirmPage(), "wait": WaitPage(), "done": ResultPage()}


class ClearanceRequestJob(PageJob[ClearanceRequestState]):
    """Job that requests a clearance: confirm, wait, read the result. The common PIN page asks for the PIN in
    between."""

    name = "clearance_request"
    steps: tuple[str, ...] = tuple(page.name for page in PAGES.values())
    version = 1
    journalled = True
    raw_input = True
    topics = ("outbox", "ask", "assignment")

    def begin(self) -> ClearanceRequestState:
        return ClearanceRequestState()

    def page(self, state: ClearanceRequestState) -> Page[ClearanceRequestState]:
        return PAGES[state.phase]

    def is_secret(self, state: ClearanceRequestState) -> bool:
        """Return True while waiting, because a PIN may be typed again then."""
        return state.service_knows_people and state.phase == "wait"

    def is_secret_text(self, state: ClearanceRequestState, text: str) -> bool:
        """Return True for text with digits that is not the confirmation: it may be a PIN typed too early or too late.

        One digit on the last page is a choice.
        """
        if state.phase == "confirm" and confirmation_text(state.tag).startswith(text.strip()):
            return False
        return sum(char.isdigit() for char in text) > (state.phase == "done")

    def handle(self, state: ClearanceRequestState, event: Event, context: Context) -> Result:
        """Return the next state. The id of a request comes once it is stored."""
        if not isinstance(event, Requested):
            return super().handle(state, event, context)
        asked = state._replace(phase="wait", request_id=event.request_id, is_running=False, outcome="", why="")
        subscription = Query("asked", "request_state", {"request_id": event.request_id}, is_live=True)
        verdict = Verdict(INFO, msg("clearance_request.requested"))
        return Turn(asked._replace(requested_at=context.now), (subscription,), verdict)

    def handle_opened(self, state: ClearanceRequestState, args: Args, context: Context) -> Result:
        state = ClearanceRequestState(
            tag=str(args.get("tag") or ""),
            categories=tuple(str(each) for each in args.get("categories") or ()),
            line_count=int(to_decimal(args.get("lines"))),
            service_knows_people=bool(args.get("people", True)),
        )
        return Turn(state)

    def queries(self, state: ClearanceRequestState, context: Context) -> tuple[Effect, ...]:
        return _queries(state)

    def handle_rows(self, state: ClearanceRequestState, answer: Rows, context: Context) -> Result:
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


def _handle_request_state(state: ClearanceRequestState, row: RequestStateRow) -> Result:
    """Handle the state of the request: under way or over."""
    answer = row.get("answer") or {}
    match row["state"]:
        case "requested":
            return Turn(state)
        case "started":
            return Turn(state._replace(is_running=True))
        case "expired":
            return _finish(state, "expired", "", None)
        case "answered" if answer.get("how") == "pin":
            verdict = Verdict(ASK, msg("clearance_request.pin_expired"))
            return Turn(state._replace(phase="confirm", request_id=""), (), verdict)
        case "answered":
            return _finish(state, str(answer.get("how")), str(answer.get("why") or ""), answer.get("fresh"))
    return _finish(state, "unknown", str(answer.get("why") or ""), None)


def _finish(state: ClearanceRequestState, outcome: str, reason: str, new_task_count: Any) -> Result:
    state = state._replace(
        phase="done",
        outcome=outcome,
        why=reason,
        new_task_count=-1 if new_task_count is None else int(new_task_count),
        page=0,
    )
    kind = GOOD if outcome == "done" else ASK if outcome == "unknown" else WRONG
    return Turn(state, _queries(state), Verdict(kind, outcome_message(state)))
