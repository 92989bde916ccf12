"""Resuming of the jobs that a person left open, with the question that was open, and reopening of a closed job.

`sign_in_and_out` finds the person; the journal's rows are read by `outbox/sessions_and_open_jobs`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from aisle import named_tuple_json
from aisle.jobs.job import Context, Resumed
from aisle.jobs.view import INFO, WRONG, Msg, Verdict, msg
from aisle.outbox.commit_journal import Journal
from aisle.outbox.sessions_and_open_jobs import OpenJob
from aisle.session.job_stack import WITHOUT_WORK, JobResult, JobStack, is_readable
from aisle.session.pending_question import NO_OPEN_QUESTIONS, OpenQuestions


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
