"""Job of one clearance request: typed confirmation, a single request, and its result.

It takes raw input, because the confirmation must be typed, not scanned. The request is answered or expires; it is never
sent late and never twice. If its result is unknown, the page says so and explains how to find out. Interface: Create
customer order clearance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aisle.jobs.job import (
    Args,
    Changed,
    Close,
    Closed,
    Context,
    Event,
    Job,
    Json,
    Opened,
    Query,
    RawInput,
    Request,
    Requested,
    Resumed,
    Rows,
    Start,
    Turn,
)
from aisle.jobs.move.clearance_tasks import parse_task_row
from aisle.jobs.pages import turn_page
from aisle.jobs.quantities import to_decimal
from aisle.jobs.shell.pin import is_typed
from aisle.jobs.supervisor import clearance
from aisle.jobs.supervisor.clearance import ClearanceRequestState, confirmation_text
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Verdict, View, msg
from aisle.scan.meaning import Accepts, Back, Choice, Command

if TYPE_CHECKING:
    from aisle.jobs.row_types.operations import RequestStateRow

TIMEOUT_S = 30.0
"""Seconds the request may wait to be sent. After that it expires."""
MAX_TASKS = 50
"""Most tasks on the last page."""

Result = Turn[ClearanceRequestState]


class ClearanceRequestJob(Job[ClearanceRequestState]):
    """Job that requests a clearance: confirm, wait, read the result. The common PIN page asks for the PIN in
    between."""

    name = "clearance_request"
    steps: tuple[str, ...] = ("clearance_request.confirm", "clearance_request.wait", "clearance_request.done")
    version = 1
    journalled = True
    raw_input = True

    def begin(self) -> ClearanceRequestState:
        """Return the state before the confirmation."""
        return ClearanceRequestState()

    def accepts(self, state: ClearanceRequestState) -> Accepts:
        """Accept text for the confirmation, then numbers and page letters."""
        if state.phase == "confirm":
            return Accepts(text=True)
        return Accepts(choices=len(clearance.result_choices(state)), command_letters="np")

    def prefers(self, state: ClearanceRequestState) -> tuple[str, ...]:
        """Prefer nothing, because no scan is accepted here."""
        return ()

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

    def step_name(self, state: ClearanceRequestState) -> str:
        """Return one of `steps`."""
        return f"clearance_request.{state.phase}"

    def view(self, state: ClearanceRequestState) -> View:
        """Return the screen of the current phase."""
        return clearance.request_view(state)

    def handle(self, state: ClearanceRequestState, event: Event, context: Context) -> Result:
        """Return the next state. Each phase has its own functions below."""
        match event:
            case Opened(args):
                return _handle_opened(args)
            case Requested(request_id):
                state = state._replace(
                    phase="wait", request_id=request_id, is_running=False, requested_at=context.now, outcome="", why=""
                )
                shows = Query(
                    "asked", "request_state", {"request_id": request_id}, is_live=True
                )  # subscribes to this answer
                return Turn(state, (shows,), Verdict(INFO, msg("clearance_request.requested")))
            case Rows(id_, rows, total):
                return _handle_rows(state, id_, rows, total)
            case Changed("outbox" | "ask" | "assignment") | Resumed() | Closed():
                return Turn(state, _queries(state))
            case Back():
                return _go_back(state)
            case RawInput() if event.key:
                return Turn(state._replace(page=turn_page(state.page, event.key)))
            case RawInput():
                return _handle_raw_input(state, event)
        return Turn(state)


def _handle_opened(args: Args) -> Result:
    state = ClearanceRequestState(
        tag=str(args.get("tag") or ""),
        categories=tuple(str(each) for each in args.get("categories") or ()),
        line_count=int(to_decimal(args.get("lines"))),
        service_knows_people=bool(args.get("people", True)),
    )
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


def _handle_raw_input(state: ClearanceRequestState, raw_input: RawInput) -> Result:
    if state.phase == "confirm":
        return _check_confirmation(state, raw_input)
    match raw_input.meaning:
        case Command("n" | "p" as letter):
            return Turn(state._replace(page=turn_page(state.page, letter)))
        case Choice(choice):
            return _handle_choice(state, choice)
    return Turn(
        state,
        (),
        Verdict(WRONG, msg("clearance_request.wait" if state.phase == "wait" else "clearance_request.no_other_input")),
    )


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


def _handle_rows(state: ClearanceRequestState, id_: str, rows: tuple[Json, ...], total: int) -> Result:
    match id_:
        case "request_state" if state.phase == "wait":
            return _handle_request_state(state, rows[0] if rows else {"state": "unknown", "answer": {}})
        case "clearance_permission" if rows:
            return Turn(state._replace(lists_tasks=bool(rows[0]["listed"])))
        case "clearance_tasks":
            return Turn(state._replace(tasks=tuple(parse_task_row(row) for row in rows), total=total))
    return Turn(state)


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
    return Turn(state, _queries(state), Verdict(kind, clearance.outcome_message(state)))


def _handle_choice(state: ClearanceRequestState, choice: int) -> Result:
    """Open the list of tasks, or start again from the confirmation if nothing was done or the result is unknown."""
    if choice == 1:
        return Turn(state, (Close(start=Start("clearance_tasks", {"tag": state.tag})),))
    if choice == 2 and state.outcome != "done":
        return Turn(
            state._replace(phase="confirm", request_id="", outcome="", why="", new_task_count=-1, tasks=(), total=0)
        )
    return Turn(state)


def _go_back(state: ClearanceRequestState) -> Result:
    """Leave the page. A request under way continues."""
    verdict = Verdict(INFO, msg("clearance_request.continues", tag=state.tag)) if state.phase == "wait" else None
    return Turn(state, (Close(verdict),))
