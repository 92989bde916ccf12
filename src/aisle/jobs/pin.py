"""The PIN of whoever is signed in: asked before what only a supervisor does, once for all that he does in that time.

It opens over the page on which that was said, holds back what was said there, and hands it on once the service knows
the PIN: the page below never hears that it was kept waiting. It listens, for tries are counted: a scan is none.
Beyond the interface: `/aisle/v1/sign-in`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aisle.jobs.base import (
    Ask,
    Asked,
    Changed,
    Close,
    Closed,
    Context,
    Event,
    Heard,
    Opened,
    Proved,
    Query,
    Resumed,
    Rows,
    Turn,
)
from aisle.jobs.told import words
from aisle.jobs.view import ASK, BACK, GOOD, INFO, WRONG, Line, Msg, Step, Verdict, msg, raw
from aisle.scan.grammar import aim_of
from aisle.scan.inputs import BY_HAND_S
from aisle.scan.meaning import Back, Choice, Open
from aisle.tuples import NamedTuple

WAIT_S = 30.0
"""So long the service may take to answer."""
TYPED_MS = round(BY_HAND_S * 1000)
"""Between most keys that a person presses there is a pause at least as long; a scanner is faster, also one that waits
after each character, and what a bad line cuts a scan into are few pieces."""
FEWEST = 3
"""So many characters it takes to tell."""
DIGITS = range(4, 13)

NAME = "pin"
"""The page's name."""


class Proving(NamedTuple):
    """One PIN."""

    phase: str = "type"
    """`type`, `wait`, or `late`: no answer came."""
    name: str = ""
    said: Event | None = None
    """What was said on the page below, and is held back."""
    may_wait: bool = False
    """What is held back can be noted without the PIN, and is sent once it is said."""
    waiting: int = 0
    """So much waits for the PIN already."""
    ask_id: str = ""
    why: Msg | None = None
    """Why there is no answer."""


Result = Turn[Proving]


class PinJob:
    """Type it, wait, go on."""

    name = NAME
    steps: tuple[str, ...] = ("pin", "pin.wait", "pin.late")
    version = 1
    journalled = False
    listens = True
    aside = True

    def begin(self) -> Proving:
        """Nothing typed."""
        return Proving()

    def open(self, state: Proving) -> Open:
        """Any text is a try; a number goes on where no answer came."""
        return Open(choices=len(_choices(state))) if state.phase == "late" else Open(text=True)

    def prefers(self, state: Proving) -> tuple[str, ...]:
        """Nothing is scanned here."""
        return ()

    def hides(self, state: Proving) -> bool:
        """A PIN is nobody else's business, on whichever of these pages it is typed."""
        return True

    def at(self, state: Proving) -> str:
        """One of `steps`."""
        return NAME if state.phase == "type" else f"{NAME}.{state.phase}"

    def view(self, state: Proving) -> Step:
        """One prompt; what waits for it."""
        return _view(self.at(state), state)

    def step(self, state: Proving, event: Event, context: Context) -> Result:
        """A PIN is asked about once; what comes of it is read."""
        match event:
            case Opened(args):
                state = state._replace(
                    name=context.name or context.user, said=args.get("said"), may_wait=bool(args.get("may_wait"))
                )
                return Turn(state, (_look(context),), Verdict(ASK, msg("pin.now")))
            case Asked(ask_id):
                state = state._replace(phase="wait", ask_id=ask_id, why=None)
                return Turn(state, (_ask(state),), Verdict(INFO, msg("pin.asked")))
            case Rows("pass", rows, _) if rows:
                return _stands(state, rows[0])
            case Rows("ask", rows, _) if state.phase == "wait":
                return _answered(state, rows[0]) if rows else Turn(state)  # it is not durable yet
            case Changed("outbox" | "ask") | Resumed() | Closed():
                return Turn(state, (_ask(state),) if state.phase == "wait" else ())
            case Back():
                return Turn(state, (Close(Verdict(INFO, _left(state))),))
            case Heard() if state.phase == "wait" and not event.key:
                return Turn(state, (), Verdict(WRONG, msg("pin.wait_for_it")))
            case Heard() if state.phase == "late" and isinstance(event.said, Choice):
                return _chosen(state, event.said.number)
            case Heard() if not event.key:
                return _typed(state, event)
        return Turn(state)


def _look(context: Context) -> Query:
    return Query("pass", "pass", {"user": context.user, "now": context.now}, live=True)


def _ask(state: Proving) -> Query:
    return Query("ask", "ask", {"ask_id": state.ask_id}, live=True)


def _stands(state: Proving, row: Mapping[str, Any]) -> Result:
    """Whoever opens the page by himself, and has no PIN, is told so."""
    if state.said is None and not (row["wanted"] or row["waiting"]):
        return Turn(state, (Close(Verdict(INFO, msg("pin.unwanted"))),))
    return Turn(state._replace(waiting=int(row["waiting"])))


def is_like_one(text: str) -> bool:
    """Whether this could be a PIN: as many digits as one has."""
    digits = text.strip()
    return digits.isascii() and digits.isdecimal() and len(digits) in DIGITS


def is_typed(heard: Heard) -> bool:
    """Whether a person typed it, as far as the bytes tell: no scanner's prefix, its ending, and a person's pace."""
    if heard.end not in ("cr", "lf") or aim_of(heard.text).symbol or heard.dropped:
        return False
    return len(heard.text.strip()) >= FEWEST and heard.pace_ms >= TYPED_MS


def _typed(state: Proving, heard: Heard) -> Result:
    """A scan, or a burst of keys, is no try: tries are counted, and too many of them lock a person out."""
    text = heard.text.strip()
    if len(text) >= FEWEST and not is_typed(heard):
        return Turn(state, (), Verdict(WRONG, msg("pin.scanned")))
    if not is_like_one(text):
        return Turn(state, (), Verdict(WRONG, msg("pin.no_pin")))
    return Turn(state, (Ask("sign-in", {}, WAIT_S, secret=text),))


def _answered(state: Proving, row: Mapping[str, Any]) -> Result:
    if row["state"] in ("asked", "begun"):
        return Turn(state)
    answer: Mapping[str, Any] = row.get("answer") or {}
    how, why = str(answer.get("how") or ""), words(str(answer.get("why") or ""))
    match how:
        case "done":
            closes = Close(Verdict(GOOD, msg("pin.done", name=state.name)), said=state.said)
            return Turn(state, (Proved(float(answer["until"])), closes))
        case "pin":
            return Turn(state._replace(phase="type", ask_id=""), (), Verdict(WRONG, msg("pin.wrong")))
        case "refused":
            return Turn(state._replace(phase="type", ask_id=""), (), Verdict(WRONG, msg("pin.locked", why=why)))
        case "role":
            return Turn(state, (Close(Verdict(WRONG, msg("pin.role"))),))
    told = msg("pin.not_sent", why=why) if answer.get("why") else msg("pin.no_answer")
    return Turn(state._replace(phase="late", ask_id="", why=told), (), Verdict(WRONG, told))


def _choices(state: Proving) -> tuple[Msg, ...]:
    return (msg("pin.again"), *((msg("pin.note_it"),) if state.may_wait else ()))


def _chosen(state: Proving, choice: int) -> Result:
    """Once more; or it is noted now, and goes when the PIN is said."""
    if choice == 2 and state.may_wait:
        return Turn(state, (Close(said=state.said),))
    return Turn(state._replace(phase="type", why=None), (), Verdict(ASK, msg("pin.now")))


def _left(state: Proving) -> Msg:
    """What leaving comes to."""
    return msg("session.dropped") if state.said is not None else msg("pin.left")


def _view(name: str, state: Proving) -> Step:
    notes: tuple[Msg, ...] = (msg("pin.note"),)
    if state.phase == "wait":
        notes = (msg("pin.note_asked"),)
    elif state.why is not None:
        notes = (state.why,)
    if state.waiting:
        notes = (*notes, msg("pin.note_waiting", count=state.waiting))
    prompts = {"type": msg("pin.prompt"), "wait": msg("pin.prompt_wait"), "late": msg("pin.prompt_late")}
    return Step(
        name=name,
        title=msg("pin.title"),
        prompt=prompts[state.phase],
        lines=(Line("product", raw(state.name)), *(Line("note", note) for note in notes)),
        choices=_choices(state) if state.phase == "late" else (),
        hints=(BACK,),
    )
