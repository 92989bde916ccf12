"""What a session makes of one input: a line is understood and goes to the job, or to a page of the house.

A part of aisle.local.session.session.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aisle.jobs.base import Event, Heard, Start, listens, passes
from aisle.jobs.view import ASK, INFO, WRONG, Msg, Verdict, msg
from aisle.local.session.asking import NOTHING, Asking, answered, fairly, page_of, priced, question
from aisle.local.session.ear import detour
from aisle.local.session.hearing import heard
from aisle.local.session.house import PAGES, hidden, is_house, meant, opening, page_called, pressed
from aisle.local.session.open_line import meant_for
from aisle.local.session.rights import is_out_of_place, is_said_twice, minded
from aisle.local.session.stack import Outcome
from aisle.local.session.terms import ALIASES, CURSOR
from aisle.scan.inputs import Decoded, Key, Line, Typed
from aisle.scan.meaning import Back, Choice, Command, Echo, Either, Move, Refused, Said, Times, Unknown

if TYPE_CHECKING:
    from aisle.local.session.session import Session


def lose(session: Session, rest: Sequence[Decoded]) -> None:
    """What came after an input that could not be kept was meant for a page that never came: it does not happen."""
    lines = sum(isinstance(item, Line) for item in rest)
    session._serial += lines
    if lines and session._verdict:
        count = session._unkept + lines
        session._verdict = Verdict(
            WRONG, msg("session.rest_lost", count=count, why=dict(session._verdict.text.args)["why"])
        )


def take_one(session: Session, item: Decoded, at: float) -> None:
    """Applies one input; what came of it is durable with the rest of its queue."""
    match item:
        case Typed(text):
            _echo(session, session._line.stands(text))
        case Line(text):
            session._serial += 1
            if session._line.text:
                _echo(session, "")
            own = session._line.ended(text)
            if own is None:
                return
            item = item._replace(text=own)
            session._unkept += 1
            _take_line(session, item, at)
        case Key(name) if name != "back" and listens(session._stack.top.job):
            _listen(session, Heard(key=name), name)
        case Key(name) if (said := meant(name, session._terms.keys, ALIASES)) is not None:
            if isinstance(said, Command) and said.letter in PAGES:
                _turn_to(session, PAGES[said.letter])
            else:
                _leave_for(session, said)
                _hear(session, said, name)
        case Key(name) if name in CURSOR:
            _absorb(session, Move(name), name)


def _take_line(session: Session, item: Line, at: float) -> None:
    top = session._stack.top
    item = item._replace(text=pressed(item.text, session._terms.keys, top))
    secret, page = hidden(session._stack.levels, item.text), page_called(item.text, top)
    said = Command(item.text.strip(" ").lower()) if page else _understand(session, item.text)
    if page:
        _turn_to(session, page)
    else:
        if _leave_for(session, said):
            said = _understand(session, item.text)
        if not secret and is_said_twice(session, item.text, said):
            secret = True
            session._tell(Verdict(INFO, msg("pin.twice")))
        elif not secret and is_out_of_place(session, item, said):
            secret = True
            session._tell(Verdict(ASK, msg("pin.elsewhere")))
        elif listens(session._stack.top.job) and not isinstance(said, Back):
            _listen(session, heard(item, said), "" if secret else item.text)
        else:
            _hear(session, said, "" if secret and not isinstance(said, Back) else item.text)
    if session._trace and secret and not (page or isinstance(said, Back)):
        item, said = item._replace(text=""), Unknown("")
    if session._trace:
        session._trace.saw(item, said, session._stack.top, session._verdict, at)


def _turn_to(session: Session, name: str) -> None:
    """Opens a page of the house over the job; one that is open already stays, and only help opens over another."""
    session._verdict = None
    top = session._stack.top
    if top.job.name == name:
        return
    if is_house(top) and name != "help":
        _leave(session)
    tuned = (session._terms.language, session._terms.theme)
    start = opening(name, session._stack.levels, session._terms.shown, tuned, colours=session.has_themes)
    session._absorb(session._stack.open(start, session._context()), "")


def _leave_for(session: Session, said: Said) -> bool:
    """Pages of the house leave for what is said to the job below; whether one has."""
    left = False
    while passes(session._stack.top.job, session._stack.top.state, said):
        _leave(session)
        left = True
    return left


def _leave(session: Session) -> None:
    name = session._stack.top.job.name
    while session._stack.top.job.name == name:
        session._absorb(session._stack.feed(Back(), session._context()), "")


def _echo(session: Session, text: str) -> None:
    session._absorb(session._stack.feed(Echo(text), session._context()), "")


def _listen(session: Session, heard: Heard, raw: str) -> None:
    """A job that listens gets an input as it came, whatever it means elsewhere."""
    session._verdict = None
    _absorb(session, heard, raw)


def _absorb(session: Session, event: Event, raw: str) -> None:
    session._absorb(minded(session, event, lambda: session._stack.feed(event, session._context())), raw)


def _understand(session: Session, text: str) -> Said:
    top = session._stack.top
    asking, prefers = session._asking, top.job.prefers(top.state)
    open_ = asking.open(top.job.open(top.state))
    said = session._ear.understand(text, open_, prefers)
    if asking.multiplies(said, text):
        said = session._ear.understand(asking.typed(text.strip(" ")), open_, prefers)
    if open_.by_hand and isinstance(said, Choice) and meant_for(session._stack.levels) != session._seen:
        return Refused("input.by_hand", text)  # it came with what opened the question: a scan in two pieces
    return said


def _hear(session: Session, said: Said, raw: str) -> None:
    """What a person said, by whatever way; what the session itself keeps in mind comes before the job."""
    session._verdict = None
    asking, session._asking = session._asking, NOTHING
    if asking.pending and isinstance(said, Back):
        _say(session, Verdict(INFO, msg("session.dropped")), said, raw)
        return
    said = asking.chosen(said)
    asked = detour(said, raw) if session._who.user else None
    match said:
        case Either(ways):
            session._asking = Asking(page_of(session._stack.levels), ways=ways)
            _say(session, Verdict(ASK, question(ways)), said, raw)
        case Times(number) if session._who.user:
            session._asking = Asking(page_of(session._stack.levels), times=number)
            _say(session, Verdict(INFO, msg("session.times", times=number)), said, raw)
        case Times(number):
            _say(session, Verdict(WRONG, msg("input.times", text=f"{number}*")), said, raw)
        case _ if asked:
            _look_up(session, *asked, said, raw)
        case Refused(why, text):
            _say(session, Verdict(WRONG, Msg(why, (("text", text),))), said, raw)
        case _:
            _hearken(session, minded(session, said, lambda: _answered(session, said)), said, raw)


def _answered(session: Session, said: Said) -> Outcome:
    return answered(session._stack, said, session._context(), session._rooms.reads)


def _hearken(session: Session, outcome: Outcome, said: Said, raw: str) -> None:
    """What came of what a person said, as far as this host can know it."""
    session._absorb(priced(fairly(outcome, said, session._rooms.reads.is_complete), said), raw)


def _look_up(session: Session, start: Start, told: Event, said: Said, raw: str) -> None:
    """What was asked about with `?` opens on top of the job on the screen, or on the page that is there already."""
    is_there = session._stack.top.job.name == start.job
    if not is_there:
        _hearken(session, session._stack.open(start, session._context()), said, raw)
    if is_there or not start.args:
        _hearken(session, session._stack.feed(told, session._context()), said, raw if is_there else "")


def _say(session: Session, verdict: Verdict, said: Said, raw: str) -> None:
    """The session's own answer, which no job hears of."""
    session._verdict = verdict
    session._keeper.say(said, session._at, raw, session._context(), verdict)
    session._ring(verdict)
