"""Open jobs of a session, the one on the screen on top. An event runs through them; its effects are collected."""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, NamedTuple

from aisle import named_tuple_json
from aisle.cache.queries import topics_of_query
from aisle.host.notify_sockets import REFUSAL
from aisle.jobs import DETOURS, JOBS, PAGES_ABOVE_JOBS
from aisle.jobs.job import (
    Changed,
    Close,
    Closed,
    Context,
    Effect,
    Event,
    Export,
    ExportList,
    FileEffect,
    Job,
    Json,
    LocalNote,
    Opened,
    PinConfirmed,
    PrintTable,
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
from aisle.jobs.list_cursor_and_search import fill_page
from aisle.jobs.view import ASK, GOOD, INFO, Msg, Verdict, msg
from aisle.outbox.commit_journal import NewJob
from aisle.outbox.sessions_and_open_jobs import JobRow, OpenJob
from aisle.scan.grammar_and_meaning_types import CursorKey, Scan, TypedText
from aisle.session.scanned_serials import NO_SERIALS, ScannedSerials
from aisle.session.terminal_screen_and_keys import PAGE_BY_LETTER

_MAX_ANSWERS = 64
"""Query results of a page that it is notified of; changes of older ones show at the next full check."""

WITHOUT_WORK: Final = frozenset(
    (
        *("today", "orders", "exceptions", "deliveries", "products", "log"),
        *("order", "order_actions", "store_product", "look_up", "locations", "help", "palette"),
    )
)
"""Jobs that another page may close, because closing them loses no work."""

_WITHOUT_WAY_BACK: Final = frozenset(("order_actions", *PAGE_BY_LETTER.values()))
"""Jobs that no tab leads back to: a question about a page, and pages that explain one."""


class StackedJob(NamedTuple):
    """One open job."""

    job: Job[Any]
    state: Any
    job_id: str
    """Id in the journal; empty for a job that is not journalled."""
    topics_by_query: Mapping[str, frozenset[str]]
    """Topics of the last result of each query."""
    serials: ScannedSerials = NO_SERIALS
    """Serial numbers that were scanned in it."""

    @property
    def topics(self) -> frozenset[str]:
        """Return the topics of what the job shows, and of refusals if it writes."""
        return frozenset((REFUSAL,) if self.job_id else ()).union(*self.topics_by_query.values())

    @property
    def holds_work(self) -> bool:
        """True if closing the job would lose work: it is past its first step, which only offers what to work on."""
        is_work = self.job.journalled and self.job.name not in WITHOUT_WORK
        return is_work and self.job.step_name(self.state) != self.job.steps[0]

    def with_answer(self, query: Query, rows: Sequence[Json]) -> "StackedJob":
        """Return the job with the topics of a query result that its page shows now."""
        others = [each for each in self.topics_by_query.items() if each[0] != query.id]
        answer = query.id, topics_of_query(query.name, query.args, rows)
        return self._replace(topics_by_query=dict([*others, answer][-_MAX_ANSWERS:]))


def orders_by_job(stacked_jobs: Iterable[StackedJob]) -> dict[str, tuple[str, ...]]:
    """Return the orders that each journalled job works on, by job id."""
    return {stacked.job_id: stacked.job.orders_in_work(stacked.state) for stacked in stacked_jobs if stacked.job_id}


def is_readable(row: JobRow) -> bool:
    """Return whether this program can read the states of a stored job."""
    return row.name in JOBS and JOBS[row.name].version == row.version


class JobEvent(NamedTuple):
    """One event that a job handled, for the journal."""

    job_id: str
    event: tuple[Any, ...]
    """The event, or what the session asks (`OpenQuestions`)."""
    step_before: str
    step_after: str
    verdict: Verdict | None
    writes: tuple[Write, ...] = ()
    resolutions: tuple[Resolve, ...] = ()
    local_notes: tuple[LocalNote, ...] = ()


def open_question(earlier: Verdict | None, job: Job[Any], before: Any, turn: Turn[Any]) -> Verdict | None:
    """Return the verdict that goes with the open question of a job after a turn, or None if it asks nothing."""
    verdict, accepts = turn.verdict, job.accepts(turn.state)
    is_same = (job.step_name(before), job.accepts(before)) == (job.step_name(turn.state), accepts)
    if verdict and (verdict.kind == ASK or (verdict.kind != GOOD and accepts.choices and not is_same)):
        return verdict
    is_answered = verdict is not None and verdict.kind == GOOD
    return earlier if is_same and not is_answered else None


def _serials_after(
    serials: ScannedSerials, job: Job[Any], before: Any, event: Event, turn: Turn[Any]
) -> ScannedSerials:
    """Return the serial numbers that a job has taken after a turn."""
    return serials.after_event(
        event, turn.verdict, partial(job.quantity_taken, before), partial(job.quantity_taken, turn.state)
    )


@dataclass
class JobResult:
    """Effects of one input on the jobs."""

    verdict: Verdict | None = None
    events: list[JobEvent] = field(default_factory=list)
    opened: list[NewJob] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    refreshes: list[Refresh] = field(default_factory=list)
    requests: list[tuple[str, Request]] = field(default_factory=list)
    """Requests to the courier, each with its name."""
    session_effects: list[SessionEffect] = field(default_factory=list)
    """Effects that the session carries out."""
    opens_page: bool = False
    """Whether a job was opened on top of another one."""


class JobStack:
    """Open jobs, the one on the screen last. `answer_query` runs their queries, `make_id` gives new ones an id."""

    def __init__(self, answer_query: Callable[[Query | FileEffect], Rows], make_id: Callable[[], str]) -> None:
        self.jobs: list[StackedJob] = []
        self.answer_query = answer_query
        self.make_id = make_id

    @property
    def top(self) -> StackedJob:
        """Return the job on the screen."""
        return self.jobs[-1]

    def open_work(self) -> Msg | None:
        """Return the title of the open work nearest to the screen; None if there is none."""
        work = (stacked for stacked in reversed(self.jobs[1:]) if stacked.holds_work)
        return next((stacked.job.view(stacked.state).title for stacked in work), None)

    def snapshot(self) -> tuple[StackedJob, ...]:
        """Return the jobs and their states to go back to with `restore`."""
        return tuple(self.jobs)

    def restore(self, snapshot: Sequence[StackedJob]) -> None:
        """Go back to a snapshot."""
        self.jobs[:] = snapshot

    def push(self, name: str) -> StackedJob:
        """Put a new job on top."""
        job = JOBS[name]
        stacked = StackedJob(job, job.begin(), self.make_id() if job.journalled else "", {})
        self.jobs.append(stacked)
        return stacked

    def replay(self, row: OpenJob) -> tuple[bool, Verdict | None]:
        """Put a job of the journal on top, in the state after its last event, unless it cannot be read.

        Return whether it can, and its unanswered question.
        """
        if not is_readable(row.job):
            return False, None
        job = JOBS[row.job.name]
        question: Verdict | None = None
        try:
            state = named_tuple_json.from_text(type(job.begin()), row.snapshot) if row.snapshot else job.begin()
            serials = NO_SERIALS.with_earlier(named_tuple_json.from_text(Scan, text) for text in row.serial_scans)
            for event in row.events:
                resolved = named_tuple_json.from_text(Event, event.event)
                before, turn = state, job.handle(state, resolved, named_tuple_json.from_text(Context, event.facts))
                serials = _serials_after(serials, job, before, resolved, turn)
                state, question = turn.state, open_question(question, job, before, turn)
            job.view(state)
        except Exception:  # whatever it is, it must not keep anybody from starting the program
            return False, None
        self.jobs.append(StackedJob(job, state, row.job.job_id, {}, serials))
        return True, question

    def feed(self, event: Event, context: Context) -> JobResult:
        """Run an event through the job on top, and all that follows from it."""
        if isinstance(event, Scan) and not event.is_look_up and not self.top.job.keeps_next_scan(self.top.state):
            below = self._feed_below(event, context)
            if below:
                return below
        return EventRun(self, context).feed(len(self.jobs) - 1, event)

    def index_below(self, names: Collection[str]) -> int:
        """Return the index of the job below those on top that have these names."""
        found = (at for at in range(len(self.jobs) - 1, 0, -1) if self.jobs[at].job.name not in names)
        return next(found, 0)

    def index_below_pages(self, job_id: str) -> int:
        """Return the index of an open job that has only pages without work above it; 0 if there is none."""
        for index in range(len(self.jobs) - 1, 0, -1):
            stacked = self.jobs[index]
            if job_id and stacked.job_id == job_id:
                return index
            if stacked.job.journalled and stacked.job.name not in WITHOUT_WORK:
                break
        return 0

    def resize_lists(self, context: Context) -> None:
        """Give the lists of all jobs the number of rows that the screen has room for."""
        self.jobs[:] = [stacked._replace(state=fill_page(stacked.state, context)) for stacked in self.jobs]

    def open(self, start: Start, context: Context) -> JobResult:
        """Open a job on top of the one on the screen."""
        return EventRun(self, context).start(start)

    def run(self, context: Context) -> "EventRun":
        """Return the run of an event that opens or closes jobs."""
        return EventRun(self, context)

    def _feed_below(self, scan: Scan, context: Context) -> JobResult | None:
        """Close the detours on top if the job below them accepts the scan, or asks something; return None otherwise.

        Jobs are pure, so it is tried on a copy.
        """
        depth = self.index_below(DETOURS)
        if depth == len(self.jobs) - 1:
            return None
        trial = JobStack(self.answer_query, self.make_id)
        trial.jobs = list(self.jobs)
        result = EventRun(trial, context).feed_below(depth, scan)
        if result.verdict is None or (result.verdict.kind != GOOD and not _has_choices(self.jobs[depth])):
            return None
        self.jobs[:] = trial.jobs
        return result

    def _is_refusal_for_home(self) -> bool:
        """Return whether the home page reports refused movements because no open job does."""
        first, *above = (stacked.job.name for stacked in self.jobs)
        return first == "home" and bool(above) and not {"move", "clearance_tasks"} & {*above}

    def notify(self, changes: Iterable[Changed], context: Context) -> JobResult:
        """Run changes of the cache through the job on the screen; report refusals to home if no job above does."""
        run = EventRun(self, context)
        for change in changes:
            if change.topic == "outbox" and self._is_refusal_for_home():
                run.feed(0, Changed("refusal", ""))
            run.feed(len(self.jobs) - 1, change)
        return run.result


class EventRun:
    """Run of one event and all that follows from it."""

    def __init__(self, stack: JobStack, context: Context) -> None:
        self.stack = stack
        self.context = context
        self.queue: deque[tuple[int, Event, bool]] = deque()
        """(index of the job, event, whether it is the result of a live query)."""
        self.result = JobResult()
        self.not_done: Msg | None = None
        self.queries: list[tuple[int, Query]] = []
        """(index of the job, query) since a job was opened or closed."""

    def feed_below(self, index: int, event: Event) -> JobResult:
        """Close the jobs above an index and feed the event to the job there."""
        self._close_to_depth(index, is_told=True)
        return self.feed(index, event)

    def start(self, start: Start) -> JobResult:
        """Open a job on top, or go on with the same work if it is open."""
        self._open(start.job, start.args)
        return self._run_queue()

    def start_instead(self, start: Start, closed: Collection[str]) -> JobResult:
        """Close the jobs on top that may be closed, without an event for those below, and start another one."""
        self._close_to_depth(self.stack.index_below(closed))
        return self.start(start)

    def start_tab(self, start: Start) -> JobResult:
        """Start the page of a tab, which leads back to the page on the screen.

        Questions and help on top are closed, and the same tab with the pages above it if it is open.
        """
        self._close_to_depth(self.stack.index_below(_WITHOUT_WAY_BACK))
        self._close_down_to(start.job)
        return self.start(start)

    def close_above(self, index: int) -> JobResult:
        """Close all jobs above the one at this index, which then queries again."""
        self._close_to_depth(index, is_told=True)
        return self._run_queue()

    def feed(self, index: int, event: Event) -> JobResult:
        """Feed an event to the job at an index."""
        self.queue.append((index, event, False))
        return self._run_queue()

    def _run_queue(self) -> JobResult:
        while self.queue:
            self._run_event(*self.queue.popleft())
        verdict = self.result.verdict
        if self.not_done and verdict and not verdict.detail:
            self.result.verdict = verdict._replace(detail=self.not_done)
        return self.result

    def _run_event(self, index: int, event: Event, is_live: bool) -> None:
        if index >= len(self.stack.jobs):
            return
        stacked = self.stack.jobs[index]
        turn = stacked.job.handle(stacked.state, event, self.context)
        serials = _serials_after(stacked.serials, stacked.job, stacked.state, event, turn)
        self.stack.jobs[index] = stacked._replace(state=turn.state, serials=serials)
        self.result.verdict = turn.verdict or self.result.verdict
        writes = tuple(effect for effect in turn.effects if isinstance(effect, Write))
        resolutions = tuple(effect for effect in turn.effects if isinstance(effect, Resolve))
        local_notes = tuple(effect for effect in turn.effects if isinstance(effect, LocalNote))
        if writes or resolutions or local_notes or (not is_live and _is_journalled_event(stacked, event, turn.state)):
            before, after = stacked.job.step_name(stacked.state), stacked.job.step_name(turn.state)
            if isinstance(event, RawInput) and stacked.job.is_secret_text(stacked.state, event.text):
                event = RawInput()
            self.result.events.append(
                JobEvent(stacked.job_id, event, before, after, turn.verdict, writes, resolutions, local_notes)
            )
        is_unchanged = isinstance(event, Changed) and turn.state == stacked.state
        for effect in turn.effects:
            if not (is_unchanged and (index, effect) in self.queries):  # several changes at once: asked once
                self._run_effect(index, effect)

    def _run_effect(self, index: int, effect: Effect) -> None:
        match effect:
            case Query() if index < len(self.stack.jobs):
                answer = self.stack.answer_query(effect)
                self.queries.append((index, effect))
                self.stack.jobs[index] = self.stack.jobs[index].with_answer(effect, answer.rows)
                self.queue.appendleft((index, answer, effect.is_live))
            case Export() | ExportList() | PrintTable():
                self.queue.appendleft((index, self.stack.answer_query(effect), True))
            case Request():
                name = self.stack.make_id()
                self.result.requests.append((name, effect))
                self.queue.appendleft((index, Requested(name), False))
            case Refresh():
                self.result.refreshes.append(effect)
            case Start(job, args, not_done):
                self.not_done = not_done or self.not_done
                self._open(job, args)
            case Close():
                self._close(effect)
            case SignIn() | SignOut() | Quit() | SwitchStore() | SetPreference() | PinConfirmed() | UndoLast():
                self.result.session_effects.append(effect)

    def _open(self, job: str, args: Any) -> None:
        """Open a job, or continue the same work that is open below pages without work."""
        self.queries.clear()
        depth = self._depth_of_same_work(job, args)
        if depth:
            self._close_to_depth(depth)
            self.queue.append((depth, Resumed(), False))
            self.result.verdict = Verdict(INFO, msg("session.work_continued"))
            return
        parent = self.stack.top.job_id
        stacked = self.stack.push(job)
        self.result.opens_page = True
        if stacked.job_id:
            self.result.opened.append(NewJob(stacked.job_id, job, stacked.job.version, parent))
        self.queue.append((len(self.stack.jobs) - 1, Opened(args), False))

    def _close(self, close: Close) -> None:
        self.queries.clear()
        stacked = self.stack.jobs.pop()
        if stacked.job_id:
            self.result.closed.append(stacked.job_id)
        if close.close_unused_below and isinstance(close.event_for_below, Scan):
            while _is_passed_on(self.stack.top, close.event_for_below):
                stacked = self.stack.jobs.pop()
        below = len(self.stack.jobs) - 1
        if not stacked.job.hidden_from_below:
            self.queue.append((below, Closed(stacked.job.name, close.answer), False))
        elif close.event_for_below is None:
            self.queue.append((below, Resumed(), False))
        self.result.verdict = close.verdict or self.result.verdict
        self.not_done = close.not_done or self.not_done
        if close.event_for_below:
            self.queue.append((below, close.event_for_below, False))
        if close.start:
            self._close_down_to(close.start.job)
            self._open(close.start.job, close.start.args)

    def _close_down_to(self, job: str) -> None:
        """Close the pages on top that hold no work, down to a page of this job, so that none opens above itself."""
        names = [stacked.job.name for stacked in self.stack.jobs]
        found = (at for at, name in enumerate(names) if name == job and at and WITHOUT_WORK.issuperset(names[at:]))
        self._close_to_depth(next(found, len(names)) - 1)

    def _close_to_depth(self, depth: int, *, is_told: bool = False) -> None:
        """Close the jobs above the one at this index, which alone may be told."""
        while len(self.stack.jobs) > depth + 1:
            self.queue.clear()
            self._close(Close())
            if not is_told:
                self.queue.clear()

    def _depth_of_same_work(self, name: str, args: Any) -> int:
        """Return the index of the open job that does the same work, with no other work above it; 0 for none."""
        for index in range(len(self.stack.jobs) - 1, 0, -1):
            stacked = self.stack.jobs[index]
            if stacked.job.name == name and stacked.holds_work and stacked.job.is_same_work(stacked.state, args):
                return index
            if stacked.holds_work:
                break
        return 0


def _has_choices(stacked_job: StackedJob) -> bool:
    """Return whether a journalled job waits for a choice, so that it refuses scans."""
    return stacked_job.job.journalled and bool(stacked_job.job.view(stacked_job.state).choices)


def _is_passed_on(stacked_job: StackedJob, scan: Scan) -> bool:
    """Return whether a page holds no work and has no use for a scan, which goes to the job below."""
    used = stacked_job.job.prefers(stacked_job.state)
    return not (stacked_job.job.journalled or any(meaning.kind in used for meaning in scan.matches))


def _is_journalled_event(stacked_job: StackedJob, event: Event, state: Any) -> bool:
    """Return whether the journal needs an event: not of typing, cursor keys, or rows that changed nothing."""
    if isinstance(event, TypedText | CursorKey):
        return False
    if isinstance(event, Rows | Changed | Opened | Closed | Resumed):
        return stacked_job.job.journalled and state != stacked_job.state
    return True


HELP_PAGES = frozenset(PAGE_BY_LETTER.values())
"""Names of the jobs that explain the page below them."""


def is_help_page(stacked_job: StackedJob) -> bool:
    """Return whether a job explains the page below it."""
    return stacked_job.job.name in HELP_PAGES


def is_secret_text(stacked_jobs: Sequence[StackedJob], text: str) -> bool:
    """Return whether a text is a secret on the page on the screen, or on the one below a help page."""
    below: StackedJob = next(stacked for stacked in reversed(stacked_jobs) if not is_help_page(stacked))
    return below.job.is_secret_text(below.state, text)


def receiving_job(stacked_jobs: Sequence[StackedJob], scan: Scan) -> StackedJob:
    """Return the job that a scan is for: below a detour, the job that the detour was opened from."""
    top = stacked_jobs[-1]
    if scan.is_look_up or top.job.name not in DETOURS or top.job.keeps_next_scan(top.state):
        return top
    return next((stacked for stacked in reversed(stacked_jobs) if stacked.job.name not in DETOURS), top)


def is_above_open_job(stacked_jobs: Sequence[StackedJob]) -> bool:
    """Return whether the page on the screen hides that of a job whose work a scan goes on with."""
    top = stacked_jobs[-1]
    below = next((stacked for stacked in reversed(stacked_jobs) if stacked.job.name not in PAGES_ABOVE_JOBS), top)
    return below is not top and below.job.journalled and below.job.name not in WITHOUT_WORK


def page_key(stacked_jobs: Sequence[StackedJob]) -> tuple[int, str, str]:
    """Return a key of the job on the screen that differs from those of all jobs before and after it."""
    return len(stacked_jobs), stacked_jobs[-1].job.name, stacked_jobs[-1].job_id


def page_identity(stacked_jobs: Sequence[StackedJob]) -> tuple[Any, ...]:
    """Return what of the page on the screen decides on the meaning of a typed text."""
    job, state, job_id, *_ = stacked_jobs[-1]
    accepts = job.accepts(state)
    page = len(stacked_jobs), job.name, job_id, job.step_name(state), accepts.choices, accepts.quantity
    return *page, accepts.choice_letters, accepts.choice_values
