"""What has happened since the last commit, gathered until it is made durable in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aisle import json_codec
from aisle.errors import StorageError
from aisle.jobs.job import Context, Event, LocalNote, Refresh, Request, Resolve, SignIn, SignOut, Write
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Msg, Verdict, msg
from aisle.outbox.journal import EventEntry, Journal, JournalBatch, NewJob, OpenJob, Snapshot
from aisle.outbox.operation_record import Author
from aisle.scan.meaning import Ambiguous, Multiplier, Scan
from aisle.session import ask_quantity
from aisle.session.job_stack import JobResult, JobStack, StackedJob, is_readable, orders_by_job
from aisle.session.profile import StoreAccess


class JournalDraft:
    """One batch in the making; `levels` is where the jobs stood when it began, to go back to if it cannot be kept."""

    def __init__(self, stacked_jobs: tuple[StackedJob, ...] = ()) -> None:
        self.levels = stacked_jobs
        self.entries: list[EventEntry] = []
        self.writes: list[tuple[int, Write]] = []
        self.resolutions: list[Resolve] = []
        self.local_notes: list[LocalNote] = []
        self.opened: list[NewJob] = []
        self.closed: list[str] = []
        self.refreshes: list[Refresh] = []
        self.requests: list[tuple[str, Request]] = []
        self.sign_in: SignIn | SignOut | None = None
        self._context: Context | None = None
        self._facts = ""

    @property
    def is_empty(self) -> bool:
        """True while there is nothing to keep."""
        return not (self.entries or self.opened or self.closed or self.refreshes or self.sign_in is not None)

    def add_event(
        self,
        job_id: str,
        at: float,
        raw: str,
        event: Event,
        context: Context,
        step_before: str,
        step_after: str,
        verdict: Verdict | None,
    ) -> int:
        """Adds one event and returns its index; what it was resolved to and what it was based on are kept with it."""
        if context is not self._context:
            self._context, self._facts = context, json_codec.to_text(context)
        self.entries.append(
            EventEntry(
                job_id=job_id,
                at=at,
                occurred=context.now,
                raw=raw,
                kind=type(event).__name__,
                event=json_codec.to_text(event),
                facts=self._facts,
                step_before=step_before,
                step_after=step_after,
                verdict=verdict.text.id if verdict else "",
            )
        )
        return len(self.entries) - 1

    def to_batch(
        self,
        session_id: str,
        terminal: str,
        author: Author,
        states: list[tuple[str, str]],
        orders_in_work: Iterable[tuple[str, tuple[str, ...]]] = (),
    ) -> JournalBatch:
        """All of it for the journal; `states` are (job_id, state) after the last entry, `holds` (job_id, orders)."""
        last = len(self.entries) - 1
        return JournalBatch(
            session_id=session_id,
            terminal=terminal,
            author=author,
            opened=tuple(self.opened),
            entries=tuple(self.entries),
            writes=tuple(self.writes),
            resolutions=tuple(self.resolutions),
            local_notes=tuple(self.local_notes),
            snapshots=tuple(Snapshot(job_id, text, last) for job_id, text in states),
            closed=tuple(self.closed),
            sign_in=self.sign_in,
            refreshes=tuple(self.refreshes),
            orders_in_work=tuple(orders_in_work),
            requests=tuple(self.requests),
        )


class UnsentSecrets:
    """The secrets that one session has to hand on, by the names of what was asked with them."""

    def __init__(self) -> None:
        self._secrets: dict[str, str] = {}

    def send(self, store_access: StoreAccess, secrets: Mapping[str, str]) -> None:
        """What was asked with these is durable now."""
        self._secrets |= secrets
        for name, secret in secrets.items():
            store_access.socket.send_secret(name, secret)

    def resend(self, store_access: StoreAccess) -> None:
        """A courier that was not there yet, or did not hear it, is told again; what is begun or over is forgotten."""
        for name, secret in list(self._secrets.items()):
            if store_access.journal.is_request_pending(name):
                store_access.socket.send_secret(name, secret)
            else:
                del self._secrets[name]


MAX_REPLAYED = 50
"""Events after which a job's state is kept whole, so that a resume replays no more."""

MAX_REPLAYED_WITH_QUESTION = 4 * MAX_REPLAYED
"""The same while a question of the job may be open."""


class UnitOfWork:
    """Between the jobs on the screen and the journal."""

    def __init__(self, journal: Journal, stack: JobStack, session_id: str) -> None:
        self._journal = journal
        self._stack = stack
        self._session_id = session_id
        self._draft = JournalDraft()
        self._events_since_snapshot: dict[str, int] = {}
        """Events of each job since its state was kept whole."""
        self._questions: set[str] = set()
        """The jobs that have asked something last: who resumes them finds the question among their events."""
        self.has_failed = False
        """Whether the last that was to be kept could not be."""
        self.unanswered: Ambiguous | Multiplier | Scan | None = None
        """What of a session that ended in mid-work waits for a number, or for a scan."""
        self._orders_in_work: Mapping[str, tuple[str, ...]] = {}
        """The orders that each job was said to work on."""

    @property
    def has_writes(self) -> bool:
        """Whether something is not durable yet that pages show."""
        return bool(self._draft.writes or self._draft.local_notes)

    @property
    def supervises(self) -> bool:
        """Whether something of it is what only a supervisor does."""
        return any(write.needs_supervisor for _, write in self._draft.writes)

    @property
    def secrets(self) -> dict[str, str]:
        """What has to be handed on by word of mouth as soon as this is durable, by the name of what was asked."""
        return {name: ask.secret for name, ask in self._draft.requests if ask.secret}

    @property
    def can_roll_back(self) -> bool:
        """Whether there is something to go back to."""
        return bool(self._draft.levels)

    def replace_journal(self, journal: Journal) -> None:
        """The journal is another one from now on, with all that was in the one before."""
        self._journal = journal
        self.has_failed = False

    # What happens

    def add(self, result: JobResult, at: float, raw: str, context: Context) -> None:
        """What came of an input; `raw` stays with the first event, `at` is seconds since 1970."""
        draft = self._draft
        for note in result.events:
            entry = draft.add_event(
                note.job_id, at, raw, note.event, context, note.step_before, note.step_after, note.verdict
            )
            raw = ""
            draft.writes += [(entry, write) for write in note.writes]
            draft.resolutions += note.resolutions
            draft.local_notes += note.local_notes
            self._track_question(note.job_id, note.verdict)
            self._events_since_snapshot[note.job_id] = self._events_since_snapshot.get(note.job_id, 0) + 1
        draft.opened += result.opened
        draft.closed += result.closed
        draft.refreshes += result.refreshes
        draft.requests += result.requests

    def _track_question(self, job_id: str, verdict: Verdict | None) -> None:
        if verdict and verdict.kind == ASK:
            self._questions.add(job_id)
        elif verdict and verdict.kind == GOOD:
            self._questions.discard(job_id)

    def add_answer(self, event: Event, at: float, raw: str, context: Context, verdict: Verdict) -> None:
        """An answer of the session's own."""
        top = self._stack.top
        step = top.job.step_name(top.state)
        self._draft.add_event("", at, raw, event, context, step, step, verdict)

    def is_last_event(self, event: Event) -> bool:
        """Whether nothing has happened since that was said, which a start after an end in mid-work asks again."""
        entries = self._draft.entries
        return not entries or (not entries[-1].job_id and entries[-1].event == json_codec.to_text(event))

    def set_sign_in(self, effect: SignIn | SignOut) -> None:
        """Whose the terminal is from now on."""
        self._draft.sign_in = effect

    def add_local_note(self, note: LocalNote) -> None:
        """What is to be remembered on this host, and no job's."""
        self._draft.local_notes.append(note)

    # Making it durable

    def commit(self, author: Author) -> bool:
        """One transaction for all that happened since the last one; whether the courier has something to do by it.

        Raises StorageError: then nothing has happened, and the jobs stand where they stood.
        """
        levels = self._stack.jobs
        draft, self._draft = self._draft, JournalDraft(tuple(levels))
        if draft.is_empty:
            return False
        held = orders_by_job(levels)
        holds = [(job_id, held[job_id]) for job_id in held if held[job_id] != self._orders_in_work.get(job_id, ())]
        states = self._due_snapshots(levels) if draft.entries else []
        try:
            self._journal.commit(draft.to_batch(self._session_id, author.terminal, author, states, holds))
        except StorageError:
            self.has_failed = True
            if draft.levels:
                levels[:] = draft.levels
            self._draft = JournalDraft(draft.levels)
            raise
        self.has_failed = False
        self._orders_in_work = held
        for job_id in draft.closed:
            self._events_since_snapshot.pop(job_id, None)
        return bool(draft.writes or draft.resolutions or draft.refreshes or draft.requests)

    def retry(self) -> bool:
        """Whether something can be kept now; that nothing could be is over then."""
        if self._journal.can_write(self._session_id):
            self.has_failed = False
        return not self.has_failed

    def _due_snapshots(self, stacked_jobs: list[StackedJob]) -> list[tuple[str, str]]:
        """(job_id, state) of the jobs whose replay has become long."""
        states = []
        for level in stacked_jobs:
            since = self._events_since_snapshot.get(level.job_id, 0)
            if level.job_id and since >= (
                MAX_REPLAYED_WITH_QUESTION if level.job_id in self._questions else MAX_REPLAYED
            ):
                states.append((level.job_id, json_codec.to_text(level.state)))
                self._events_since_snapshot[level.job_id] = 0
        return states

    # What was left

    def reopen(self, row: OpenJob) -> bool:
        """Puts a closed job up again on top; False where it cannot be read, or has nothing to undo. Raises
        StorageError."""
        if not self._stack.replay(row):
            return False
        top = self._stack.top
        if not top.job.can_undo(top.state):
            self._stack.jobs.pop()
            return False
        self._journal.reopen_job(self._session_id, row.job.job_id)
        self._events_since_snapshot[row.job.job_id] = len(row.events)
        return True

    def resume(self, store: str, user: str) -> Verdict | None:
        """Puts up the jobs that a person left open, those that nobody else works on; what is to be said of it."""
        said, before = None, ""
        jobs = self._journal.open_jobs(store, user, self._session_id)
        adopted = (
            set(self._journal.take_over_jobs(self._session_id, [row.job.job_id for row in jobs])) if jobs else set()
        )
        for row in jobs:
            if row.job.job_id not in adopted:
                continue
            if self._stack.replay(row):
                self._events_since_snapshot[row.job.job_id] = len(row.events)
                before = row.job.session_id
                said = self._stack.question or Verdict(INFO, msg("session.resumed"))
                self._track_question(row.job.job_id, said)
            else:
                self._draft.closed.append(row.job.job_id)
                why = "session.not_resumed" if is_readable(row.job) else "session.other_version"
                said = Verdict(WRONG, msg(why, job=_job_title(row.job.name)))
        self.unanswered = self._find_unanswered(before) if before else None
        return said

    def _find_unanswered(self, session_id: str) -> Ambiguous | Multiplier | Scan | None:
        """What the session itself asked last, or keeps in mind for the next scan, on the page that is up again."""
        last, top = self._journal.last_event(session_id), self._stack.top
        if last is None or last.job_id or last.step_after != top.job.step_name(top.state):
            return None
        try:
            said = json_codec.from_text(Event, last.event)
        except Exception:  # an older program wrote it
            return None
        if isinstance(said, Scan):
            return said if ask_quantity.is_quantity_needed(self._stack.jobs, said) else None
        return said if isinstance(said, Ambiguous | Multiplier) else None


def _job_title(job: str) -> Msg:
    """A job as people know it."""
    from aisle.jobs.supervisor.today import JOB_NAMES

    return msg(JOB_NAMES.get(job, "raw"), text=job)
