"""Keeps what the jobs of a session do: gathered, made durable in one transaction, put up again where it was left."""

from __future__ import annotations

from collections.abc import Mapping

from aisle.errors import StorageError
from aisle.jobs import codec
from aisle.jobs.base import Context, Event, Remark, SignIn, SignOut, can_undo
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Msg, Verdict, msg
from aisle.local.outbox.journal import Journal, OpenJob
from aisle.local.outbox.operation import Author
from aisle.local.session import how_much
from aisle.local.session.draft import Draft
from aisle.local.session.stack import Level, Outcome, Stack, held_by, knows
from aisle.scan.meaning import Either, Thing, Times

REPLAY = 50
"""Events after which a job's state is kept whole, so that a resume replays no more."""

REPLAY_ASKED = 4 * REPLAY
"""The same while a question of the job may be open."""


class Keeper:
    """Between the jobs on the screen and the journal."""

    def __init__(self, journal: Journal, stack: Stack, session_id: str) -> None:
        self._journal = journal
        self._stack = stack
        self._id = session_id
        self._draft = Draft()
        self._since: dict[str, int] = {}
        """Events of each job since its state was kept whole."""
        self._questions: set[str] = set()
        """The jobs that have asked something last: who resumes them finds the question among their events."""
        self.has_failed = False
        """Whether the last that was to be kept could not be."""
        self.unanswered: Either | Times | Thing | None = None
        """What of a session that ended in mid-work waits for a number, or for a scan."""
        self._held: Mapping[str, tuple[str, ...]] = {}
        """The orders that each job was said to work on."""

    @property
    def has_writes(self) -> bool:
        """Whether something is not durable yet that pages show."""
        return bool(self._draft.writes or self._draft.remarks)

    @property
    def supervises(self) -> bool:
        """Whether something of it is what only a supervisor does."""
        return any(write.supervises for _, write in self._draft.writes)

    @property
    def secrets(self) -> dict[str, str]:
        """What has to be handed on by word of mouth as soon as this is durable, by the name of what was asked."""
        return {name: ask.secret for name, ask in self._draft.asks if ask.secret}

    @property
    def has_begun(self) -> bool:
        """Whether there is something to go back to."""
        return bool(self._draft.levels)

    def move(self, journal: Journal) -> None:
        """The journal is another one from now on, with all that was in the one before."""
        self._journal = journal
        self.has_failed = False

    # What happens

    def add(self, outcome: Outcome, at: float, raw: str, context: Context) -> None:
        """What came of an input; `raw` stays with the first event, `at` is seconds since 1970."""
        draft = self._draft
        for note in outcome.notes:
            entry = draft.enter(note.ref, at, raw, note.event, context, note.before, note.after, note.verdict)
            raw = ""
            draft.writes += [(entry, write) for write in note.writes]
            draft.settles += note.settles
            draft.remarks += note.remarks
            self._heed_question(note.ref, note.verdict)
            self._since[note.ref] = self._since.get(note.ref, 0) + 1
        draft.opened += outcome.opened
        draft.closed += outcome.closed
        draft.wishes += outcome.wishes
        draft.asks += outcome.asks

    def _heed_question(self, ref: str, verdict: Verdict | None) -> None:
        if verdict and verdict.kind == ASK:
            self._questions.add(ref)
        elif verdict and verdict.kind == GOOD:
            self._questions.discard(ref)

    def say(self, event: Event, at: float, raw: str, context: Context, verdict: Verdict) -> None:
        """An answer of the session's own."""
        top = self._stack.top
        step = top.job.at(top.state)
        self._draft.enter("", at, raw, event, context, step, step, verdict)

    def is_last(self, event: Event) -> bool:
        """Whether nothing has happened since that was said, which a start after an end in mid-work asks again."""
        entries = self._draft.entries
        return not entries or (not entries[-1].job_id and entries[-1].event == codec.to_text(event))

    def stay(self, order: SignIn | SignOut) -> None:
        """Whose the terminal is from now on."""
        self._draft.stay = order

    def remark(self, remark: Remark) -> None:
        """What is to be remembered on this host, and no job's."""
        self._draft.remarks.append(remark)

    # Making it durable

    def keep(self, author: Author) -> bool:
        """One transaction for all that happened since the last one; whether the courier has something to do by it.

        Raises StorageError: then nothing has happened, and the jobs stand where they stood.
        """
        levels = self._stack.levels
        draft, self._draft = self._draft, Draft(tuple(levels))
        if draft.empty:
            return False
        held = held_by(levels)
        holds = [(job_id, held[job_id]) for job_id in held if held[job_id] != self._held.get(job_id, ())]
        states = self._whole_states(levels) if draft.entries else []
        try:
            self._journal.commit(draft.batch(self._id, author.terminal, author, states, holds))
        except StorageError:
            self.has_failed = True
            if draft.levels:
                levels[:] = draft.levels
            self._draft = Draft(draft.levels)
            raise
        self.has_failed = False
        self._held = held
        for job_id in draft.closed:
            self._since.pop(job_id, None)
        return bool(draft.writes or draft.settles or draft.wishes or draft.asks)

    def try_again(self) -> bool:
        """Whether something can be kept now; that nothing could be is over then."""
        if self._journal.can_keep(self._id):
            self.has_failed = False
        return not self.has_failed

    def _whole_states(self, levels: list[Level]) -> list[tuple[str, str]]:
        """(job_id, state) of the jobs whose replay has become long."""
        states = []
        for level in levels:
            since = self._since.get(level.ref, 0)
            if level.ref and since >= (REPLAY_ASKED if level.ref in self._questions else REPLAY):
                states.append((level.ref, codec.to_text(level.state)))
                self._since[level.ref] = 0
        return states

    # What was left

    def take_up(self, row: OpenJob) -> bool:
        """Puts a closed job up again on top; False where it cannot be read, or has nothing to undo. Raises
        StorageError."""
        if not self._stack.replay(row):
            return False
        top = self._stack.top
        if not can_undo(top.job, top.state):
            self._stack.levels.pop()
            return False
        self._journal.take_up(self._id, row.job.job_id)
        self._since[row.job.job_id] = len(row.events)
        return True

    def resume(self, store: str, user: str) -> Verdict | None:
        """Puts up the jobs that a person left open, those that nobody else works on; what is to be said of it."""
        said, before = None, ""
        jobs = self._journal.open_jobs(store, user, self._id)
        adopted = set(self._journal.adopt(self._id, [row.job.job_id for row in jobs])) if jobs else set()
        for row in jobs:
            if row.job.job_id not in adopted:
                continue
            if self._stack.replay(row):
                self._since[row.job.job_id] = len(row.events)
                before = row.job.session_id
                said = self._stack.question or Verdict(INFO, msg("session.resumed"))
                self._heed_question(row.job.job_id, said)
            else:
                self._draft.closed.append(row.job.job_id)
                why = "session.not_resumed" if knows(row.job) else "session.other_version"
                said = Verdict(WRONG, msg(why, job=_called(row.job.name)))
        self.unanswered = self._unanswered(before) if before else None
        return said

    def _unanswered(self, session_id: str) -> Either | Times | Thing | None:
        """What the session itself asked last, or keeps in mind for the next scan, on the page that is up again."""
        last, top = self._journal.last_of(session_id), self._stack.top
        if last is None or last.job_id or last.step_after != top.job.at(top.state):
            return None
        try:
            said = codec.from_text(Event, last.event)
        except Exception:  # an older program wrote it
            return None
        if isinstance(said, Thing):
            return said if how_much.is_asked(self._stack.levels, said) else None
        return said if isinstance(said, Either | Times) else None


def _called(job: str) -> Msg:
    """A job as people know it."""
    from aisle.jobs.desk.today_view import JOBS

    return msg(JOBS.get(job, "raw"), text=job)
