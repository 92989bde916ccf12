"""The open jobs of a session, the one on the screen on top: runs an event through them, gathers what has to happen."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from aisle.jobs import DETOURS, JOBS, codec
from aisle.jobs.base import (
    Ask,
    Asked,
    Changed,
    Close,
    Closed,
    Context,
    Effect,
    Event,
    Export,
    Heard,
    Job,
    Opened,
    Order,
    Proved,
    Query,
    Quit,
    Remark,
    Resumed,
    Rows,
    Settle,
    SignIn,
    SignOut,
    Start,
    Tune,
    Turn,
    UndoLast,
    Wish,
    WorkIn,
    Write,
    hides,
    holds,
    is_aside,
    wants,
)
from aisle.jobs.view import ASK, GOOD, Verdict
from aisle.jobs.window import refilled
from aisle.local.host.signals import REFUSAL
from aisle.local.outbox.journal import JobRow, NewJob, OpenJob
from aisle.local.session.concern import concern
from aisle.scan.meaning import Echo, Move, Thing
from aisle.tuples import NamedTuple

_ANSWERS = 64
"""Answers whose subjects a page is rung for; older ones are seen to at the next look."""


class Level(NamedTuple):
    """One open job."""

    job: Job[Any]
    state: Any
    ref: str
    """Its job_id in the journal; empty for a job that is not journalled."""
    shown: dict[str, frozenset[str]]
    """What each of its queries was answered with, in the words of a ring (`session.concern`); kept by `answered`."""

    @property
    def topics(self) -> frozenset[str]:
        """What it shows, in the words of a ring; a job that is journalled tells what was refused of its writes."""
        return frozenset((REFUSAL,) if self.ref else ()).union(*self.shown.values())

    def answered(self, query: Query, rows: Sequence[Mapping[str, Any]]) -> None:
        """The page shows this answer from now on, among its last ones."""
        self.shown.pop(query.id, None)
        self.shown[query.id] = concern(query.name, query.args, rows)
        if len(self.shown) > _ANSWERS:
            del self.shown[next(iter(self.shown))]


def held_by(levels: Iterable[Level]) -> dict[str, tuple[str, ...]]:
    """The orders that each journalled job works on, by its job_id."""
    return {level.ref: holds(level.job, level.state) for level in levels if level.ref}


def knows(row: JobRow) -> bool:
    """Whether this program has that job, and reads its states as they were written."""
    return row.name in JOBS and JOBS[row.name].version == row.version


class Noted(NamedTuple):
    """One event that a job took, for the journal."""

    ref: str
    job: str
    event: Event
    before: str
    after: str
    verdict: Verdict | None
    writes: tuple[Write, ...]
    settles: tuple[Settle, ...] = ()
    remarks: tuple[Remark, ...] = ()


def asked_since(question: Verdict | None, job: Job[Any], before: Any, turn: Turn[Any]) -> Verdict | None:
    """Why a job asks what it asks after a turn: what was said with the question, as long as its page asks the same."""
    said, open_ = turn.verdict, job.open(turn.state)
    is_same = (job.at(before), job.open(before)) == (job.at(turn.state), open_)
    if said and (said.kind == ASK or (said.kind != GOOD and open_.choices and not is_same)):
        return said
    is_answered = said is not None and said.kind == GOOD
    return question if is_same and not is_answered else None


class Outcome(NamedTuple):
    """What came of one input."""

    notes: tuple[Noted, ...]
    opened: tuple[NewJob, ...]
    closed: tuple[str, ...]
    wishes: tuple[Wish, ...]
    verdict: Verdict | None
    orders: tuple[Order, ...]
    """What the session itself is asked to do."""
    asks: tuple[tuple[str, Ask], ...] = ()
    """Each with its name."""
    covers: bool = False
    """Whether a page lies over another now, one of the journal or one of the house."""


class Stack:
    """The open jobs. `answer` reads the cache for a Query, or writes a file of it, `name` gives a new job its id."""

    def __init__(self, answer: Callable[[Query | Export], Rows], name: Callable[[], str]) -> None:
        self.levels: list[Level] = []
        self.answer = answer
        self.name = name
        self.question: Verdict | None = None
        """What the job that was put up again last had asked, where nobody has answered it."""

    @property
    def top(self) -> Level:
        """The job on the screen."""
        return self.levels[-1]

    def push(self, name: str) -> Level:
        """Puts a job on top, at its beginning."""
        job = JOBS[name]
        level = Level(job, job.begin(), self.name() if job.journalled else "", {})
        self.levels.append(level)
        return level

    def replay(self, row: OpenJob) -> bool:
        """Puts a job of the journal on top, as it stood after its last event; False if this program cannot read it."""
        if not knows(row.job):
            return False
        job = JOBS[row.job.name]
        question: Verdict | None = None
        try:
            state = codec.from_text(type(job.begin()), row.snapshot) if row.snapshot else job.begin()
            for event in row.events:
                resolved = codec.from_text(Event, event.event)
                before, turn = state, job.step(state, resolved, codec.from_text(Context, event.facts))
                state, question = turn.state, asked_since(question, job, before, turn)
            job.view(state)
        except Exception:  # whatever it is, it must not keep anybody from starting the program
            return False
        self.levels.append(Level(job, state, row.job.job_id, {}))
        self.question = question
        return True

    def feed(self, event: Event, context: Context) -> Outcome:
        """Runs one event through the top job, and on through whatever follows from it."""
        if isinstance(event, Thing) and not event.lookup and not wants(self.top.job, self.top.state):
            taken = self._taken_below(event, context)
            if taken:
                return taken
        return _Run(self, context).go(len(self.levels) - 1, event)

    def refill(self, context: Context) -> None:
        """Lists have as many rows as there is room for now, those under another page too."""
        self.levels[:] = [level._replace(state=refilled(level.state, context)) for level in self.levels]

    def open(self, start: Start, context: Context) -> Outcome:
        """Puts a job on top of the one on the screen."""
        return _Run(self, context).start(start)

    def _taken_below(self, thing: Thing, context: Context) -> Outcome | None:
        """A scan that the job below a detour accepts ends the detour, as any does that it has something to say of while
        it asks something itself; None where there is none, or it would not.

        Jobs are pure, so it is asked by letting it try on a copy.
        """
        depth = next((index for index in range(len(self.levels) - 1, -1, -1) if not self._is_detour(index)), 0)
        if depth == len(self.levels) - 1:
            return None
        trial = Stack(self.answer, self.name)
        trial.levels = list(self.levels)
        outcome = _Run(trial, context).go_on(depth, thing)
        if outcome.verdict is None or (outcome.verdict.kind != GOOD and not _asks(self.levels[depth])):
            return None
        self.levels[:] = trial.levels
        return outcome

    def _is_told_by_home(self) -> bool:
        """Whether nobody nearer than home tells of movements that were refused after their job was over."""
        first, *above = (level.job.name for level in self.levels)
        return first == "home" and bool(above) and not {"move", "tasks"} & {*above}

    def _is_detour(self, index: int) -> bool:
        return self.levels[index].job.name in DETOURS

    def tell(self, changed: Iterable[Changed], context: Context) -> Outcome:
        """Runs changes of the cache through the job on the screen. Home hears of refusals wherever somebody stands."""
        run = _Run(self, context)
        for change in changed:
            if change.topic == "outbox" and self._is_told_by_home():
                run.go(0, Changed("refusal", ""))
            run.go(len(self.levels) - 1, change)
        return run.outcome()


class _Run:
    """One event and all that follows from it."""

    def __init__(self, stack: Stack, context: Context) -> None:
        self.stack = stack
        self.context = context
        self.queue: deque[tuple[int, Event, bool]] = deque()
        """Which level, the event, and whether it is the answer to a live query."""
        self.notes: list[Noted] = []
        self.opened: list[NewJob] = []
        self.closed: list[str] = []
        self.wishes: list[Wish] = []
        self.orders: list[Order] = []
        self.asks: list[tuple[str, Ask]] = []
        self.covers = False
        self.verdict: Verdict | None = None
        self.answered: list[tuple[int, Query]] = []
        """What was asked, and by which level, since one was opened or closed."""

    def go_on(self, index: int, event: Event) -> Outcome:
        """Closes what lies above a level, and tells that the event."""
        while len(self.stack.levels) > index + 1:
            self._close(Close())
        return self.go(index, event)

    def start(self, start: Start) -> Outcome:
        self._open(start.job, start.args)
        return self._drained()

    def go(self, index: int, event: Event) -> Outcome:
        self.queue.append((index, event, False))
        return self._drained()

    def _drained(self) -> Outcome:
        while self.queue:
            self._step(*self.queue.popleft())
        return self.outcome()

    def outcome(self) -> Outcome:
        return Outcome(
            tuple(self.notes),
            tuple(self.opened),
            tuple(self.closed),
            tuple(self.wishes),
            self.verdict,
            tuple(self.orders),
            tuple(self.asks),
            self.covers,
        )

    def _step(self, index: int, event: Event, live: bool) -> None:
        if index >= len(self.stack.levels):
            return
        level = self.stack.levels[index]
        turn = level.job.step(level.state, event, self.context)
        self.stack.levels[index] = level._replace(state=turn.state)
        self.verdict = turn.verdict or self.verdict
        writes = tuple(effect for effect in turn.effects if isinstance(effect, Write))
        settles = tuple(effect for effect in turn.effects if isinstance(effect, Settle))
        remarks = tuple(effect for effect in turn.effects if isinstance(effect, Remark))
        if writes or settles or remarks or (not live and _worth_noting(level, event, turn.state)):
            before, after = level.job.at(level.state), level.job.at(turn.state)
            if isinstance(event, Heard) and hides(level.job, level.state, event.text):
                event = Heard()
            self.notes.append(
                Noted(level.ref, level.job.name, event, before, after, turn.verdict, writes, settles, remarks)
            )
        is_news = isinstance(event, Changed) and turn.state == level.state
        for effect in turn.effects:
            if not (is_news and (index, effect) in self.answered):  # several changes at once: asked once
                self._effect(index, effect)

    def _effect(self, index: int, effect: Effect) -> None:
        match effect:
            case Query():
                answer = self.stack.answer(effect)
                self.answered.append((index, effect))
                self.stack.levels[index].answered(effect, answer.rows)
                self.queue.appendleft((index, answer, effect.live))
            case Export():
                self.queue.appendleft((index, self.stack.answer(effect), True))
            case Ask():
                name = self.stack.name()
                self.asks.append((name, effect))
                self.queue.appendleft((index, Asked(name), False))
            case Wish():
                self.wishes.append(effect)
            case Start(job, args):
                self._open(job, args)
            case Close():
                self._close(effect)
            case SignIn() | SignOut() | Quit() | WorkIn() | Tune() | Proved() | UndoLast():
                self.orders.append(effect)

    def _open(self, job: str, args: Any) -> None:
        self.answered.clear()
        parent = self.stack.top.ref
        level = self.stack.push(job)
        self.covers = True
        if level.ref:
            self.opened.append(NewJob(level.ref, job, level.job.version, parent))
        self.queue.append((len(self.stack.levels) - 1, Opened(args), False))

    def _close(self, close: Close) -> None:
        self.answered.clear()
        level = self.stack.levels.pop()
        if level.ref:
            self.closed.append(level.ref)
        if close.onward and isinstance(close.said, Thing):
            while _passes_by(self.stack.top, close.said):
                level = self.stack.levels.pop()
        below = len(self.stack.levels) - 1
        if not is_aside(level.job):
            self.queue.append((below, Closed(level.job.name, close.answer), False))
        elif close.said is None:
            self.queue.append((below, Resumed(), False))
        self.verdict = close.verdict or self.verdict
        if close.said:
            self.queue.append((below, close.said, False))
        if close.start:
            self._open(close.start.job, close.start.args)


def _asks(level: Level) -> bool:
    """Whether work waits for a number that answers it: until then no scan can be taken, and each has to hear that."""
    return level.job.journalled and bool(level.job.view(level.state).choices)


def _passes_by(level: Level, thing: Thing) -> bool:
    """Whether a page holds no work and has no use for this: what it was handed goes on to the one below it."""
    used = level.job.prefers(level.state)
    return not (level.job.journalled or any(meaning.kind in used for meaning in thing.meanings))


def _worth_noting(level: Level, event: Event, state: Any) -> bool:
    """Typing and cursor keys leave no trace, nor do the windows of jobs that are not resumed."""
    if isinstance(event, Echo | Move):
        return False
    if isinstance(event, Rows | Changed | Opened | Closed | Resumed):
        return level.job.journalled and state != level.state
    return True
