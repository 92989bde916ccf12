"""PIN page: asks for the PIN of the signed-in user before an operation that needs a supervisor.
`session/page` shows what is typed as stars.

It opens above the page where such an input was given, keeps that input, and passes it on once the service has accepted
the PIN. It takes raw input: wrong attempts are counted by the service, and a scan must not be one.
Beyond the interface: `/aisle/v1/sign-in`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from aisle.jobs.job import (
    Changed,
    Close,
    Closed,
    Context,
    Event,
    Job,
    Opened,
    PinConfirmed,
    Query,
    RawInput,
    Request,
    Requested,
    Resumed,
    Rows,
    Turn,
    reply,
)
from aisle.jobs.view import ASK, BACK, GOOD, INFO, WRONG, Line, Msg, Step, Verdict, msg, raw
from aisle.scan.grammar import parse_aim_prefix
from aisle.scan.grammar_and_meaning_types import Accepts, Back, Choice
from aisle.scan.inputs_and_line_grouping import TYPING_PAUSE_S
from aisle.stored_messages import read_message

if TYPE_CHECKING:
    from aisle.jobs.row_types.operations_and_session_answers import RequestStateRow
    from aisle.jobs.row_types.people_stores_and_features import UserTokenRow

TIMEOUT_S = 30.0
"""Seconds that the service may take to answer."""
MIN_TYPED_PACE_MS = round(TYPING_PAUSE_S * 1000)
"""Typical pause in ms between keys that a person types. A scanner is faster, even one that waits after each character.
A bad line splits a scan into only a few pieces."""
MIN_TYPED_LENGTH = 3
"""Number of characters needed to judge the pace."""
PIN_LENGTHS = range(4, 13)

_NAME_AND_PIN = re.compile(r"([^\W\d_]{2}[^\d_]*?)[\s,.:;/-]*(\d+)")

JOB_NAME = "pin"


class PinState(NamedTuple):
    """State of one attempt."""

    phase: str = "type"
    """`type`, `wait`, or `late` if no answer came."""
    name: str = ""
    held_event: Event | None = None
    """Input of the page below that is kept."""
    can_wait: bool = False
    """True if the kept input can be recorded without the PIN, and is sent once the PIN is known."""
    waiting_count: int = 0
    """Number of operations that wait for the PIN."""
    request_id: str = ""
    untaken_count: int = 0
    """Number of scans that were not taken while the service was asked."""
    why: Msg | None = None
    """Reason why there is no answer."""


Result = Turn[PinState]


class PinJob(Job[PinState]):
    """Job that asks for a PIN and waits for the answer."""

    name = JOB_NAME
    lists = ()
    state_type = PinState
    steps: tuple[str, ...] = ("pin", "pin.wait", "pin.late")
    journalled = False
    raw_input = True
    hidden_from_below = True

    def accepts(self, state: PinState) -> Accepts:
        return Accepts(choices=len(_choices(state))) if state.phase == "late" else Accepts(text=True)

    def is_secret(self, state: PinState) -> bool:
        """Return True: what is typed on these pages is never shown."""
        return True

    def step_name(self, state: PinState) -> str:
        return JOB_NAME if state.phase == "type" else f"{JOB_NAME}.{state.phase}"

    def view(self, state: PinState) -> Step:
        return _pin_step(self.step_name(state), state)

    def handle(self, state: PinState, event: Event, context: Context) -> Result:
        return _report_untaken(state, self._handle(state, event, context))

    def _handle(self, state: PinState, event: Event, context: Context) -> Result:
        match event:
            case Opened(args):
                state = state._replace(
                    name=context.person_name or context.user,
                    held_event=args.get("said"),
                    can_wait=bool(args.get("may_wait")),
                )
                return reply(state, ASK, "pin.prompt", _query_waiting(context))
            case Requested(request_id):
                state = state._replace(phase="wait", request_id=request_id, why=None)
                return reply(state, INFO, "pin.asked", _query_request(state))
            case Rows("user_token", rows, _) if rows:
                return _with_waiting(state, rows[0])
            case Rows("request_state", rows, _) if state.phase == "wait":
                return _handle_answer(state, rows[0]) if rows else Turn(state)  # the request is not durable yet
            case Changed("outbox" | "ask") | Resumed() | Closed():
                return Turn(state, (_query_request(state),) if state.phase == "wait" else ())
            case Back():
                return Turn(state, (Close(Verdict(INFO, _leave_message(state))),))
            case RawInput() if state.phase == "wait" and not event.key:
                state = state._replace(untaken_count=state.untaken_count + (not is_typed(event)))
                return reply(state, WRONG, "clearance_request.prompt_wait")
            case RawInput() if state.phase == "late" and isinstance(event.meaning, Choice):
                return _handle_choice(state, event.meaning.number)
            case RawInput() if not event.key:
                return _handle_raw_input(state, event)
        return Turn(state)


def _report_untaken(before: PinState, turn: Result) -> Result:
    """Report at the end of the wait that scans were not taken: the answer replaces the verdict on them."""
    state, effects, verdict = turn
    if not before.untaken_count or (state.phase == "wait" and not any(isinstance(each, Close) for each in effects)):
        return turn
    text = msg("pin.not_taken", count=before.untaken_count)
    closing = tuple(each._replace(not_done=text) if isinstance(each, Close) else each for each in effects)
    return Turn(state._replace(untaken_count=0), closing, verdict and verdict._replace(detail=text))


def _query_waiting(context: Context) -> Query:
    return Query("user_token", "user_token", {"user": context.user, "now": context.now}, is_live=True)


def _query_request(state: PinState) -> Query:
    return Query("request_state", "request_state", {"request_id": state.request_id}, is_live=True)


def _with_waiting(state: PinState, row: UserTokenRow) -> Result:
    """Set the number of waiting operations; close the page if it was opened by choice and no PIN is needed."""
    if state.held_event is None and not (row["wanted"] or row["waiting"]):
        return Turn(state, (Close(Verdict(INFO, msg("pin.not_needed"))),))
    return Turn(state._replace(waiting_count=int(row["waiting"])))


def is_pin_shaped(text: str) -> bool:
    """Return True if the text has the form of a PIN."""
    digits = text.strip()
    return digits.isascii() and digits.isdecimal() and len(digits) in PIN_LENGTHS


def name_before_pin(text: str) -> str:
    """Return the letters before digits that have the form of a PIN, with or without a blank between; else ""."""
    found = _NAME_AND_PIN.fullmatch(text.strip())
    return found[1] if found and is_pin_shaped(found[2]) else ""


def is_typed(raw_input: RawInput) -> bool:
    """Return True if a person typed the input: no scanner prefix, ended with CR or LF, and at a person's pace."""
    if raw_input.end not in ("cr", "lf") or parse_aim_prefix(raw_input.text).symbol or raw_input.dropped:
        return False
    return len(raw_input.text.strip()) >= MIN_TYPED_LENGTH and raw_input.pace_ms >= MIN_TYPED_PACE_MS


def _handle_raw_input(state: PinState, raw_input: RawInput) -> Result:
    """Send typed digits as an attempt; reject scans, because too many wrong attempts lock the user out."""
    text = raw_input.text.strip()
    if len(text) >= MIN_TYPED_LENGTH and not is_typed(raw_input):
        return reply(state, WRONG, "pin.scan_not_accepted")
    if not is_pin_shaped(text):
        return reply(state, WRONG, "pin.no_pin")
    return Turn(state, (Request("sign-in", {}, TIMEOUT_S, secret=text),))


def _handle_answer(state: PinState, row: RequestStateRow) -> Result:
    if row["state"] in ("requested", "started"):
        return Turn(state)
    answer = row.get("answer") or {}
    result, why = str(answer.get("how") or ""), read_message(str(answer.get("why") or ""))
    match result:
        case "done":
            closes = Close(Verdict(GOOD, msg("pin.done", name=state.name)), event_for_below=state.held_event)
            return Turn(state, (PinConfirmed(float(answer["until"])), closes))
        case "pin":
            return reply(state._replace(phase="type", request_id=""), WRONG, "pin.wrong")
        case "refused":
            return reply(state._replace(phase="type", request_id=""), WRONG, "pin.refused", why=why)
        case "role":
            return Turn(state, (Close(Verdict(WRONG, msg("clearance_request.role_denied"))),))
    text = msg("pin.not_reached", why=why) if answer.get("why") else msg("pin.no_answer")
    return Turn(state._replace(phase="late", request_id="", why=text), (), Verdict(WRONG, text))


def _choices(state: PinState) -> tuple[Msg, ...]:
    return (msg("pin.again"), *((msg("pin.save_without_pin"),) if state.can_wait else ()))


def _handle_choice(state: PinState, choice: int) -> Result:
    """Ask for the PIN again, or record the kept input now, to be sent when the PIN is known."""
    if choice == 2 and state.can_wait:
        return Turn(state, (Close(event_for_below=state.held_event),))
    return reply(state._replace(phase="type", why=None), ASK, "pin.prompt")


def _leave_message(state: PinState) -> Msg:
    return msg("session.dropped") if state.held_event is not None else msg("pin.left")


def _pin_step(name: str, state: PinState) -> Step:
    notes: tuple[Msg, ...] = (msg("pin.note"),)
    if state.phase == "wait":
        notes = (msg("pin.asked"),)
    elif state.why is not None:
        notes = (state.why,)
    if state.waiting_count:
        notes = (*notes, msg("pin.note_waiting", count=state.waiting_count))
    prompts = {
        "type": msg("pin.prompt"),
        "wait": msg("clearance_request.prompt_wait"),
        "late": msg("unconfirmed.choose"),
    }
    return Step(
        name=name,
        title=msg("home.pin"),
        prompt=prompts[state.phase],
        lines=(Line("product", raw(state.name)), *(Line("note", note) for note in notes)),
        choices=_choices(state) if state.phase == "late" else (),
        key_hints=(BACK,),
    )
