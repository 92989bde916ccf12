"""Events and effects since the last commit, written to the journal in one transaction; jobs resumed from it.

`sign_in_and_out` finds the person; the journal's rows are read by `outbox/sessions_and_open_jobs`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from aisle import named_tuple_json
from aisle.errors import StorageError
from aisle.jobs.job import Context, Event, LocalNote, Resumed, SignIn, SignOut
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Msg, Verdict, msg
from aisle.outbox.commit_journal import EventEntry, Journal, JournalBatch, Snapshot
from aisle.outbox.operation_record import Author
from aisle.outbox.sessions_and_open_jobs import OpenJob
from aisle.scan.grammar_and_meaning_types import Quantity, RefusedInput, UnknownCode
from aisle.session.job_stack import WITHOUT_WORK, JobEvent, JobResult, JobStack, StackedJob, is_readable, orders_by_job
from aisle.session.pending_question import NO_OPEN_QUESTIONS, OpenQuestions

MAX_REPLAYED = 50
"""Events after which a snapshot of a job is stored, so that a resume replays no more."""

MAX_REPLAYED_WITH_QUESTION = 4 * MAX_REPLAYED
"""The same while a question of the job may be open."""

MAX_REFUSED_BYTES = 500_000
"""Approximate bytes of refused inputs that a session stores a minute; no scanner and no person reaches them."""

_REFUSED_ROW_BYTES = 400
"""Approximate bytes of an event beside its text, which it holds twice."""


class RefusedInputLimit:
    """Limit for stored refused inputs, so that a flood of them fills no disk."""

    def __init__(self) -> None:
        self._minute_began = 0.0
        self._bytes = 0

    def exceeds(self, raw: str, at: float) -> bool:
        """Count a refused input at `at` (seconds since 1970); return True if the minute has too many."""
        if not 0 <= at - self._minute_began < 60:
            self._minute_began, self._bytes = at, 0
        self._bytes += _REFUSED_ROW_BYTES + 2 * len(raw.encode(errors="replace"))
        return self._bytes > MAX_REFUSED_BYTES


class UnitOfWork:
    """Collector of effects that commits them, or rolls the jobs back."""

    def __init__(self, journal: Journal, stack: JobStack, session_id: str) -> None:
        self._journal = journal
        self._stack = stack
        self._session_id = session_id
        self._batch = JournalBatch(session_id)
        """Content of the next transaction."""
        self._jobs_before: tuple[StackedJob, ...] = ()
        """The jobs as they were when it began."""
        self._facts: tuple[Context | None, str] = None, ""
        """The last context of an event, and its text."""
        self._events_since_snapshot: dict[str, int] = {}
        """Events of each job since its last snapshot."""
        self._questions: set[str] = set()
        """Jobs with an open question, which a resume finds among their events."""
        self._returned: set[str] = set()
        """Jobs that went back to an earlier state, which the journal gets as a snapshot."""
        self.written = 0
        """Number of writes, decisions and notes since the session started."""
        self._refused_limit = RefusedInputLimit()
        self.has_failed = False
        """Whether the last commit failed."""
        self.questions = NO_OPEN_QUESTIONS
        """What was open in the session whose work was resumed."""
        self._orders_in_work: Mapping[str, tuple[str, ...]] = {}
        """Orders of each job as the journal has them."""

    @property
    def has_writes(self) -> bool:
        """Return whether writes that pages show are not durable yet."""
        return bool(self._batch.writes or self._batch.local_notes)

    @property
    def supervises(self) -> bool:
        """Return whether one of the writes needs a supervisor."""
        return any(write.needs_supervisor for _, write in self._batch.writes)

    @property
    def secrets(self) -> dict[str, str]:
        """Return the secrets of the collected requests, by name."""
        return {name: ask.secret for name, ask in self._batch.requests if ask.secret}

    @property
    def can_roll_back(self) -> bool:
        """Return whether the jobs can go back to an earlier state."""
        return bool(self._jobs_before)

    def replace_journal(self, journal: Journal) -> None:
        """Use a journal that holds all that the old one held."""
        self._journal = journal
        self.has_failed = False

    # What happens

    def add(self, result: JobResult, at: float, raw: str, context: Context) -> None:
        """Add the effects of an input; its `raw` text goes with the first event, `at` is in seconds since 1970."""
        batch = self._batch
        for note in result.events:
            self._add_event(note, at, raw, context)
            raw = ""
            batch.writes += [(len(batch.entries) - 1, write) for write in note.writes]
            batch.resolutions += note.resolutions
            batch.local_notes += note.local_notes
            self.written += len(note.writes) + len(note.resolutions) + len(note.local_notes)
            self._track_question(note.job_id, note.verdict)
            self._events_since_snapshot[note.job_id] = self._events_since_snapshot.get(note.job_id, 0) + 1
        batch.opened += result.opened
        batch.closed += result.closed
        batch.refreshes += result.refreshes
        batch.requests += result.requests

    def _add_event(self, note: JobEvent, at: float, raw: str, context: Context) -> None:
        """Add an event with its meaning and the facts that it was decided on."""
        if context is not self._facts[0]:
            self._facts = context, named_tuple_json.to_text(context)
        self._batch.entries.append(
            EventEntry(
                job_id=note.job_id,
                at=at,
                occurred=context.now,
                raw=raw,
                kind=type(note.event).__name__,
                event=named_tuple_json.to_text(note.event),
                facts=self._facts[1],
                step_before=note.step_before,
                step_after=note.step_after,
                verdict=note.verdict.text.id if note.verdict else "",
            )
        )

    def _track_question(self, job_id: str, verdict: Verdict | None) -> None:
        if verdict and verdict.kind == ASK:
            self._questions.add(job_id)
        elif verdict and verdict.kind == GOOD:
            self._questions.discard(job_id)

    def add_answer(self, event: Event | OpenQuestions, at: float, raw: str, context: Context, verdict: Verdict) -> None:
        """Add an answer that the session itself gave; of a flood of refused inputs only the first are kept."""
        if isinstance(event, RefusedInput | UnknownCode | Quantity) and self._refused_limit.exceeds(raw, at):
            return
        top = self._stack.top
        step = top.job.step_name(top.state)
        self._add_event(JobEvent("", event, step, step, verdict), at, raw, context)

    def is_last_event(self, event: OpenQuestions) -> bool:
        """Return whether an event of the session is the last one, so that a resume will find it."""
        entries = self._batch.entries
        return not entries or (not entries[-1].job_id and entries[-1].event == named_tuple_json.to_text(event))

    def go_back(self, stacked_jobs: Sequence[StackedJob]) -> None:
        """Put the jobs on the screen as they were some inputs ago; close those that were opened since.

        What they have written since stays written.
        """
        before, now = _states_by_id(stacked_jobs), _states_by_id(self._stack.jobs)
        self._batch.closed += now.keys() - before.keys()
        gone = before.keys() - now.keys()
        self._batch.reopened += gone
        self._returned |= gone | {job_id for job_id in before.keys() & now.keys() if before[job_id] != now[job_id]}
        self._stack.restore(stacked_jobs)

    def set_sign_in(self, effect: SignIn | SignOut) -> None:
        """Add that somebody signs in or out."""
        self._batch.sign_in = effect

    def add_local_note(self, note: LocalNote) -> None:
        """Add a note on this host that belongs to no job."""
        self._batch.local_notes.append(note)

    # Making it durable

    def commit(self, author: Author) -> bool:
        """Write everything in one transaction; return whether the courier has something to do.

        Raise StorageError after rolling the jobs back.
        """
        batch = self._batch
        if not batch.is_empty:
            try:
                self._write(batch, author)
            except StorageError:
                self.has_failed = True
                self.roll_back()
                raise
        self.discard()
        return bool(batch.writes or batch.resolutions or batch.refreshes or batch.requests)

    def _write(self, batch: JournalBatch, author: Author) -> None:
        orders = orders_by_job(self._stack.jobs)
        batch.terminal, batch.author = author.terminal, author
        batch.orders_in_work += [each for each in orders.items() if each[1] != self._orders_in_work.get(each[0], ())]
        if batch.entries:
            batch.snapshots += self._due_snapshots(self._stack.jobs)
        self._journal.commit(batch)
        self.has_failed = False
        self._orders_in_work = orders
        for job_id in batch.closed:
            self._events_since_snapshot.pop(job_id, None)
            self._questions.discard(job_id)

    def roll_back(self) -> None:
        """Forget what is not committed, and put the jobs back as they were before it."""
        if self.can_roll_back:
            self._stack.restore(self._jobs_before)
        self._batch = JournalBatch(self._session_id)

    def discard(self) -> None:
        """Forget what is not committed; the jobs stay as they are."""
        self._batch, self._jobs_before = JournalBatch(self._session_id), self._stack.snapshot()

    def store_notes(self, notes: Sequence[LocalNote], author: Author) -> None:
        """Store notes that belong to no event, at once. Raise StorageError."""
        self._journal.commit(JournalBatch(self._session_id, author.terminal, author, local_notes=[*notes]))

    def retry(self) -> bool:
        """Return whether the journal can be written again."""
        if self._journal.sessions.can_write(self._session_id):
            self.has_failed = False
        return not self.has_failed

    def _due_snapshots(self, stacked_jobs: list[StackedJob]) -> list[Snapshot]:
        """Return the states, after the last entry, of the jobs whose replay has become long."""
        states = []
        for job_id, state in ((stacked.job_id, stacked.state) for stacked in stacked_jobs if stacked.job_id):
            limit = MAX_REPLAYED_WITH_QUESTION if job_id in self._questions else MAX_REPLAYED
            if job_id in self._returned or self._events_since_snapshot.get(job_id, 0) >= limit:
                states.append(Snapshot(job_id, named_tuple_json.to_text(state), len(self._batch.entries) - 1))
                self._events_since_snapshot[job_id] = 0
        self._returned.clear()
        return states

    # What was left

    def reopen(self, row: OpenJob, context: Context) -> JobResult | None:
        """Reopen a closed job on top and resume it; return None if nothing is left to undo. Raise StorageError."""
        resumed = reopen_job(self._journal, self._stack, self._session_id, row, context)
        if resumed is not None:
            self._events_since_snapshot[row.job.job_id] = len(row.events)
        return resumed

    def resume(self, store: str, user: str, pages: Collection[str] | None = None) -> Verdict | None:
        """Reopen the jobs that a person left and nobody else works on; return a verdict on it.

        Pages without work are left to other terminals unless their ids are among `pages`; None takes all.
        """
        found = resume_jobs(self._journal, self._stack, self._session_id, store, user, pages)
        for job in found.resumed:
            self._events_since_snapshot[job.job_id] = job.events
            self._track_question(job.job_id, job.verdict)
        self._batch.closed += found.unreadable
        self.questions = found.questions
        return found.verdict


def _states_by_id(stacked_jobs: Sequence[StackedJob]) -> dict[str, Any]:
    """Return the states of journalled jobs."""
    return {stacked.job_id: stacked.state for stacked in stacked_jobs if stacked.job_id}


class ResumedJob(NamedTuple):
    """Job that is open again, with the number of its events and the verdict on it."""

    job_id: str
    events: int
    verdict: Verdict


class ResumedJobs(NamedTuple):
    """Result of a resume."""

    verdict: Verdict | None
    resumed: tuple[ResumedJob, ...]
    unreadable: tuple[str, ...]
    """Ids of jobs that cannot be read."""
    questions: OpenQuestions
    """What the session whose work was resumed has asked."""


def resume_jobs(
    journal: Journal, stack: JobStack, session_id: str, store: str, user: str, pages: Collection[str] | None = None
) -> ResumedJobs:
    """Open again the jobs that a person left and nobody else works on; of pages without work only these, if given."""
    jobs = journal.jobs.open_jobs(store, user, session_id)
    if pages is not None:
        jobs = [row for row in jobs if row.job.name not in WITHOUT_WORK or row.job.job_id in pages]
    adopted = set(journal.jobs.take_over_jobs(session_id, [row.job.job_id for row in jobs])) if jobs else set()
    verdict, earlier_session = None, ""
    resumed: list[ResumedJob] = []
    unreadable: list[str] = []
    for row in jobs:
        if row.job.job_id not in adopted:
            continue
        is_open, question = stack.replay(row)
        if is_open:
            earlier_session = row.job.session_id
            verdict = _resumed_verdict(journal, session_id, question, journal.sessions.terminal_of(earlier_session))
            resumed.append(ResumedJob(row.job.job_id, len(row.events), question or verdict))
        else:
            unreadable.append(row.job.job_id)
            text_id = "session.not_resumed" if is_readable(row.job) else "session.other_version"
            verdict = Verdict(WRONG, msg(text_id, job=_job_title(row.job.name)))
    questions = _find_questions(journal, stack, earlier_session) if earlier_session else NO_OPEN_QUESTIONS
    return ResumedJobs(verdict, tuple(resumed), tuple(unreadable), questions)


def reopen_job(journal: Journal, stack: JobStack, session_id: str, row: OpenJob, context: Context) -> JobResult | None:
    """Open a closed job on top and resume it. Return None if it cannot be read, has nothing to undo, or closes again
    because of what others did meanwhile: the jobs are as before then. Raise StorageError.
    """
    before = stack.snapshot()
    if stack.replay(row)[0] and stack.top.job.can_undo(stack.top.state):
        resumed = stack.feed(Resumed(), context)
        if stack.top.job_id == row.job.job_id:
            journal.jobs.reopen_job(session_id, row.job.job_id)
            return resumed
    stack.restore(before)
    return None


def _resumed_verdict(journal: Journal, session_id: str, question: Verdict | None, terminal: str) -> Verdict:
    """Return the verdict on a resumed job; it names the terminal where the job was left if that is another one."""
    if not terminal or terminal == journal.sessions.terminal_of(session_id):
        return question or Verdict(INFO, msg("session.resumed"))
    text = msg("session.resumed_from", terminal=terminal)
    return question._replace(detail=question.detail or text) if question else Verdict(INFO, text)


def _find_questions(journal: Journal, stack: JobStack, session_id: str) -> OpenQuestions:
    """Return what was open at the end of a session if its page is on the screen again."""
    last, top = journal.last_event(session_id), stack.top
    if last is None or last.job_id or last.kind != OpenQuestions.__name__:
        return NO_OPEN_QUESTIONS
    if last.step_after != top.job.step_name(top.state):
        return NO_OPEN_QUESTIONS
    try:
        found: OpenQuestions = named_tuple_json.from_text(OpenQuestions, last.event)
    except Exception:  # another version wrote it
        return NO_OPEN_QUESTIONS
    return found


def _job_title(job: str) -> Msg:
    """Return a job's name for people."""
    from aisle.jobs.supervisor.today import JOB_NAMES

    return msg(JOB_NAMES.get(job, "raw"), text=job)
