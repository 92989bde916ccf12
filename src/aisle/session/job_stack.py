"""The open jobs of a session, the one on the screen on top: runs an event through them, gathers what has to happen."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from aisle import json_codec
from aisle.cache.query_registry import topics_of_query
from aisle.host.notify_sockets import REFUSAL
from aisle.jobs import DETOURS, JOBS
from aisle.jobs.job import (
    Changed,
    Close,
    Closed,
    Context,
    Effect,
    Event,
    Export,
    Job,
    LocalNote,
    Opened,
    PinConfirmed,
    Query,
    Quit,
    RawInput,
    Refresh,
    Request,
    Requested,
    Resolve,
    Resumed,
    Rows,
    SessionEffect,
    SetPreference,
    SignIn,
    SignOut,
    Start,
    SwitchStore,
    Turn,
    UndoLast,
    Write,
)
from aisle.jobs.pages import fill_page
from aisle.jobs.view import (
    ASK,
    BACK,
    GOOD,
    PAGING_TEXT_IDS,
    DetailView,
    KeyHint,
    Msg,
    Step,
    Verdict,
    View,
    numbered_rows,
)
from aisle.outbox.journal import JobRow, NewJob, OpenJob
from aisle.scan.meaning import Back, Command, CursorKey, Meaning, Scan, TypedText

_MAX_ANSWERS = 64
"""Answers whose subjects a page is rung for; older ones are seen to at the next look."""


class StackedJob(NamedTuple):
    """One open job."""

    job: Job[Any]
    state: Any
    job_id: str
    """Its job_id in the journal; empty for a job that is not journalled."""
    topics_by_query: dict[str, frozenset[str]]
    """What each of its queries was answered with, in the words of a ring (`session.concern`); kept by `answered`."""

    @property
    def topics(self) -> frozenset[str]:
        """What it shows, in the words of a ring; a job that is journalled tells what was refused of its writes."""
        return frozenset((REFUSAL,) if self.job_id else ()).union(*self.topics_by_query.values())

    def record_answer(self, query: Query, rows: Sequence[Mapping[str, Any]]) -> None:
        """The page shows this answer from now on, among its last ones."""
        self.topics_by_query.pop(query.id, None)
        self.topics_by_query[query.id] = topics_of_query(query.name, query.args, rows)
        if len(self.topics_by_query) > _MAX_ANSWERS:
            del self.topics_by_query[next(iter(self.topics_by_query))]


def orders_by_job(stacked_jobs: Iterable[StackedJob]) -> dict[str, tuple[str, ...]]:
    """The orders that each journalled job works on, by its job_id."""
    return {level.job_id: level.job.orders_in_work(level.state) for level in stacked_jobs if level.job_id}


def is_readable(row: JobRow) -> bool:
    """Whether this program has that job, and reads its states as they were written."""
    return row.name in JOBS and JOBS[row.name].version == row.version


class JobEvent(NamedTuple):
    """One event that a job took, for the journal."""

    job_id: str
    job: str
    event: Event
    step_before: str
    step_after: str
    verdict: Verdict | None
    writes: tuple[Write, ...]
    resolutions: tuple[Resolve, ...] = ()
    local_notes: tuple[LocalNote, ...] = ()


def open_question(earlier: Verdict | None, job: Job[Any], before: Any, turn: Turn[Any]) -> Verdict | None:
    """Why a job asks what it asks after a turn: what was said with the question, as long as its page asks the same."""
    said, open_ = turn.verdict, job.accepts(turn.state)
    is_same = (job.step_name(before), job.accepts(before)) == (job.step_name(turn.state), open_)
    if said and (said.kind == ASK or (said.kind != GOOD and open_.choices and not is_same)):
        return said
    is_answered = said is not None and said.kind == GOOD
    return earlier if is_same and not is_answered else None


class JobResult(NamedTuple):
    """What came of one input."""

    events: tuple[JobEvent, ...]
    opened: tuple[NewJob, ...]
    closed: tuple[str, ...]
    refreshes: tuple[Refresh, ...]
    verdict: Verdict | None
    session_effects: tuple[SessionEffect, ...]
    """What the session itself is asked to do."""
    requests: tuple[tuple[str, Request], ...] = ()
    """Each with its name."""
    opens_page: bool = False
    """Whether a page lies over another now, one of the journal or one of the house."""


class JobStack:
    """The open jobs. `answer` reads the cache for a Query, or writes a file of it, `name` gives a new job its id."""

    def __init__(self, answer_query: Callable[[Query | Export], Rows], make_id: Callable[[], str]) -> None:
        self.jobs: list[StackedJob] = []
        self.answer_query = answer_query
        self.make_id = make_id
        self.question: Verdict | None = None
        """What the job that was put up again last had asked, where nobody has answered it."""

    @property
    def top(self) -> StackedJob:
        """The job on the screen."""
        return self.jobs[-1]

    def push(self, name: str) -> StackedJob:
        """Puts a job on top, at its beginning."""
        job = JOBS[name]
        level = StackedJob(job, job.begin(), self.make_id() if job.journalled else "", {})
        self.jobs.append(level)
        return level

    def replay(self, row: OpenJob) -> bool:
        """Puts a job of the journal on top, as it stood after its last event; False if this program cannot read it."""
        if not is_readable(row.job):
            return False
        job = JOBS[row.job.name]
        question: Verdict | None = None
        try:
            state = json_codec.from_text(type(job.begin()), row.snapshot) if row.snapshot else job.begin()
            for event in row.events:
                resolved = json_codec.from_text(Event, event.event)
                before, turn = state, job.handle(state, resolved, json_codec.from_text(Context, event.facts))
                state, question = turn.state, open_question(question, job, before, turn)
            job.view(state)
        except Exception:  # whatever it is, it must not keep anybody from starting the program
            return False
        self.jobs.append(StackedJob(job, state, row.job.job_id, {}))
        self.question = question
        return True

    def feed(self, event: Event, context: Context) -> JobResult:
        """Runs one event through the top job, and on through whatever follows from it."""
        if isinstance(event, Scan) and not event.is_look_up and not self.top.job.keeps_next_scan(self.top.state):
            taken = self._feed_below(event, context)
            if taken:
                return taken
        return _EventRun(self, context).feed(len(self.jobs) - 1, event)

    def resize_lists(self, context: Context) -> None:
        """Lists have as many rows as there is room for now, those under another page too."""
        self.jobs[:] = [level._replace(state=fill_page(level.state, context)) for level in self.jobs]

    def open(self, start: Start, context: Context) -> JobResult:
        """Puts a job on top of the one on the screen."""
        return _EventRun(self, context).start(start)

    def _feed_below(self, scan: Scan, context: Context) -> JobResult | None:
        """A scan that the job below a detour accepts ends the detour, as any does that it has something to say of while
        it asks something itself; None where there is none, or it would not.

        Jobs are pure, so it is asked by letting it try on a copy.
        """
        depth = next((index for index in range(len(self.jobs) - 1, -1, -1) if not self._is_detour(index)), 0)
        if depth == len(self.jobs) - 1:
            return None
        trial = JobStack(self.answer_query, self.make_id)
        trial.jobs = list(self.jobs)
        outcome = _EventRun(trial, context).feed_below(depth, scan)
        if outcome.verdict is None or (outcome.verdict.kind != GOOD and not _has_choices(self.jobs[depth])):
            return None
        self.jobs[:] = trial.jobs
        return outcome

    def _is_refusal_for_home(self) -> bool:
        """Whether nobody nearer than home tells of movements that were refused after their job was over."""
        first, *above = (level.job.name for level in self.jobs)
        return first == "home" and bool(above) and not {"move", "tasks"} & {*above}

    def _is_detour(self, index: int) -> bool:
        return self.jobs[index].job.name in DETOURS

    def notify(self, changes: Iterable[Changed], context: Context) -> JobResult:
        """Runs changes of the cache through the job on the screen. Home hears of refusals wherever somebody stands."""
        run = _EventRun(self, context)
        for change in changes:
            if change.topic == "outbox" and self._is_refusal_for_home():
                run.feed(0, Changed("refusal", ""))
            run.feed(len(self.jobs) - 1, change)
        return run.result()


class _EventRun:
    """One event and all that follows from it."""

    def __init__(self, stack: JobStack, context: Context) -> None:
        self.stack = stack
        self.context = context
        self.queue: deque[tuple[int, Event, bool]] = deque()
        """Which level, the event, and whether it is the answer to a live query."""
        self.events: list[JobEvent] = []
        self.opened: list[NewJob] = []
        self.closed: list[str] = []
        self.refreshes: list[Refresh] = []
        self.session_effects: list[SessionEffect] = []
        self.requests: list[tuple[str, Request]] = []
        self.opens_page = False
        self.verdict: Verdict | None = None
        self.queries: list[tuple[int, Query]] = []
        """What was asked, and by which level, since one was opened or closed."""

    def feed_below(self, index: int, event: Event) -> JobResult:
        """Closes what lies above a level, and tells that the event."""
        while len(self.stack.jobs) > index + 1:
            self._close(Close())
        return self.feed(index, event)

    def start(self, start: Start) -> JobResult:
        self._open(start.job, start.args)
        return self._run_queue()

    def feed(self, index: int, event: Event) -> JobResult:
        self.queue.append((index, event, False))
        return self._run_queue()

    def _run_queue(self) -> JobResult:
        while self.queue:
            self._run_event(*self.queue.popleft())
        return self.result()

    def result(self) -> JobResult:
        return JobResult(
            tuple(self.events),
            tuple(self.opened),
            tuple(self.closed),
            tuple(self.refreshes),
            self.verdict,
            tuple(self.session_effects),
            tuple(self.requests),
            self.opens_page,
        )

    def _run_event(self, index: int, event: Event, is_live: bool) -> None:
        if index >= len(self.stack.jobs):
            return
        level = self.stack.jobs[index]
        turn = level.job.handle(level.state, event, self.context)
        self.stack.jobs[index] = level._replace(state=turn.state)
        self.verdict = turn.verdict or self.verdict
        writes = tuple(effect for effect in turn.effects if isinstance(effect, Write))
        settles = tuple(effect for effect in turn.effects if isinstance(effect, Resolve))
        remarks = tuple(effect for effect in turn.effects if isinstance(effect, LocalNote))
        if writes or settles or remarks or (not is_live and _is_journalled_event(level, event, turn.state)):
            before, after = level.job.step_name(level.state), level.job.step_name(turn.state)
            if isinstance(event, RawInput) and level.job.is_secret_text(level.state, event.text):
                event = RawInput()
            self.events.append(
                JobEvent(level.job_id, level.job.name, event, before, after, turn.verdict, writes, settles, remarks)
            )
        is_news = isinstance(event, Changed) and turn.state == level.state
        for effect in turn.effects:
            if not (is_news and (index, effect) in self.queries):  # several changes at once: asked once
                self._run_effect(index, effect)

    def _run_effect(self, index: int, effect: Effect) -> None:
        match effect:
            case Query():
                answer = self.stack.answer_query(effect)
                self.queries.append((index, effect))
                self.stack.jobs[index].record_answer(effect, answer.rows)
                self.queue.appendleft((index, answer, effect.is_live))
            case Export():
                self.queue.appendleft((index, self.stack.answer_query(effect), True))
            case Request():
                name = self.stack.make_id()
                self.requests.append((name, effect))
                self.queue.appendleft((index, Requested(name), False))
            case Refresh():
                self.refreshes.append(effect)
            case Start(job, args):
                self._open(job, args)
            case Close():
                self._close(effect)
            case SignIn() | SignOut() | Quit() | SwitchStore() | SetPreference() | PinConfirmed() | UndoLast():
                self.session_effects.append(effect)

    def _open(self, job: str, args: Any) -> None:
        self.queries.clear()
        parent = self.stack.top.job_id
        level = self.stack.push(job)
        self.opens_page = True
        if level.job_id:
            self.opened.append(NewJob(level.job_id, job, level.job.version, parent))
        self.queue.append((len(self.stack.jobs) - 1, Opened(args), False))

    def _close(self, close: Close) -> None:
        self.queries.clear()
        level = self.stack.jobs.pop()
        if level.job_id:
            self.closed.append(level.job_id)
        if close.close_unused_below and isinstance(close.event_for_below, Scan):
            while _is_passed_on(self.stack.top, close.event_for_below):
                level = self.stack.jobs.pop()
        below = len(self.stack.jobs) - 1
        if not level.job.hidden_from_below:
            self.queue.append((below, Closed(level.job.name, close.answer), False))
        elif close.event_for_below is None:
            self.queue.append((below, Resumed(), False))
        self.verdict = close.verdict or self.verdict
        if close.event_for_below:
            self.queue.append((below, close.event_for_below, False))
        if close.start:
            self._open(close.start.job, close.start.args)


def _has_choices(stacked_job: StackedJob) -> bool:
    """Whether work waits for a number that answers it: until then no scan can be taken, and each has to hear that."""
    return stacked_job.job.journalled and bool(stacked_job.job.view(stacked_job.state).choices)


def _is_passed_on(stacked_job: StackedJob, scan: Scan) -> bool:
    """Whether a page holds no work and has no use for this: what it was handed goes on to the one below it."""
    used = stacked_job.job.prefers(stacked_job.state)
    return not (stacked_job.job.journalled or any(meaning.kind in used for meaning in scan.matches))


def _is_journalled_event(stacked_job: StackedJob, event: Event, state: Any) -> bool:
    """Typing and cursor keys leave no trace, nor do the windows of jobs that are not resumed."""
    if isinstance(event, TypedText | CursorKey):
        return False
    if isinstance(event, Rows | Changed | Opened | Closed | Resumed):
        return stacked_job.job.journalled and state != stacked_job.state
    return True


PAGE_BY_LETTER = {"h": "help", ".": "commands"}
"""The letters of the house, and the pages that they open."""

HELP_CODE = "AISLE:HELP"
"""The printed command barcode for the first of them."""

MessageText = Callable[[Msg, str], str]
"""All that a message says in a language; who composes the program knows it."""


def page_of_line(text: str, top_job: StackedJob) -> str:
    """The page of the house that a line asks for; empty for none. A job that listens gets what was scanned."""
    text = text.strip(" ")
    if text.upper() == HELP_CODE and not top_job.job.raw_input:
        return PAGE_BY_LETTER["h"]
    return PAGE_BY_LETTER.get(text.lower(), "")


def apply_key_names(text: str, keys: Mapping[str, str], top_job: StackedJob) -> str:
    """What a line means once keys have other names: a single one is the command that was given to it. A page that takes
    any text has it as text, unless it knows that command."""
    own = keys.get(text.strip(" ").lower()) if keys else None
    if own is None or top_job.job.raw_input:
        return text
    open_ = top_job.job.accepts(top_job.state)
    if text.strip(" ").lower() in open_.choice_letters and own not in open_.choice_letters:  # what is asked comes first
        return text
    return text if open_.text and own not in (*PAGE_BY_LETTER, *open_.command_letters) else own


def meaning_of_key(key: str, keys: Mapping[str, str], aliases: Mapping[str, Meaning]) -> Meaning | None:
    """What a key that is no text stands for, if for anything."""
    if key in keys:
        return Back() if keys[key] == "b" else Command(keys[key])
    return aliases.get(key)


def is_help_page(stacked_job: StackedJob) -> bool:
    """Whether this is one of its pages."""
    return stacked_job.job.name in PAGE_BY_LETTER.values()


def is_secret_text(stacked_jobs: Sequence[StackedJob], text: str) -> bool:
    """Whether this text is a secret: on the page on the screen, or on the one under a page of the house."""
    below: StackedJob = next(level for level in reversed(stacked_jobs) if not is_help_page(level))
    return below.job.is_secret_text(below.state, text)


def has_back_key(stacked_job: StackedJob) -> bool:
    """Whether its page says that something lies behind it, or below it."""
    return any(hint.letter == BACK.letter for hint in stacked_job.job.view(stacked_job.state).key_hints)


def rename_keys(view: View, names_by_letter: Mapping[str, str]) -> View:
    """The page with its letters as they are called here."""
    view = view._replace(
        key_hints=tuple(hint._replace(letter=names_by_letter.get(hint.letter, hint.letter)) for hint in view.key_hints)
    )
    if isinstance(view, Step | DetailView) and view.choice_letters:
        return view._replace(
            choice_letters="".join(
                _key_name(each, view.choice_letters, names_by_letter) for each in view.choice_letters
            )
        )
    return view


def _key_name(letter: str, keys: str, names_by_letter: Mapping[str, str]) -> str:
    """What a choice is called here: its letter, unless a key was given to that which is none of the others."""
    named = names_by_letter.get(letter, letter)
    return named if len(named) == 1 and named not in keys else letter


def help_page_start(
    name: str,
    stacked_jobs: Sequence[StackedJob],
    names_by_letter: Mapping[str, str],
    language_and_theme: tuple[str, str],
    *,
    colours: bool,
    is_fully_shown: bool,
) -> Start:
    """What opens a page of the house over these jobs. `shown`: keys of letters that have another one; `tuned`: language
    and theme of the terminal; `whole`: all of the page is on the screen."""
    top = stacked_jobs[-1]
    view = top.job.view(top.state)
    if is_fully_shown:
        view = view._replace(
            key_hints=tuple(
                hint for hint in view.key_hints if hint.is_always_shown or hint.text.id not in PAGING_TEXT_IDS
            )
        )
    if name == "help":
        args = {
            "step": view.name,
            "open": top.job.accepts(top.state),
            "prefers": top.job.prefers(top.state),
            "listens": top.job.raw_input,
            "letters": _renamed_hints(view, names_by_letter),
            "keys": tuple(names_by_letter.items()),
        }
        return Start(name, args)
    hears = not top.job.raw_input
    return Start(
        name,
        {
            "letters": view.key_hints if hears else (),
            "choices": view.choices if hears else (),
            "keys": view.choice_letters if isinstance(view, Step | DetailView) else "",
            "numbered": numbered_rows(view),
            "open": tuple(level.job.name for level in stacked_jobs),
            "signed_in": stacked_jobs[0].job.name != "sign_in",
            "language": language_and_theme[0],
            "theme": language_and_theme[1],
            "colours": colours,
        },
    )


def _renamed_hints(view: View, names_by_letter: Mapping[str, str]) -> tuple[KeyHint, ...]:
    return tuple(hint._replace(letter=names_by_letter.get(hint.letter, hint.letter)) for hint in view.key_hints)


def answer_words(query: Query, language: str, message_text: MessageText | None) -> Rows:
    """The answer to the query `words`: what messages say, to be found by."""
    rows = tuple(
        {"words": message_text(each, language) if message_text else each.id} for each in query.args["messages"]
    )
    return Rows(query.id, rows, len(rows))
