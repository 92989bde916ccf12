"""Runner of events: they go through the jobs, and their effects are committed in one transaction, or rolled back.

Errors of the disk and of SQLite become StorageError in `host/database`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from aisle import named_tuple_json
from aisle.errors import AisleError, StorageError
from aisle.host.courier_log import append_fault, describe_fault
from aisle.jobs.job import Changed, Event, SessionEffect, Start
from aisle.jobs.view import INFO, WRONG, Msg, Verdict, msg
from aisle.outbox.operation_record import Author, principal_of
from aisle.scan.grammar_and_meaning_types import Command
from aisle.session.input_batch import InputBatch
from aisle.session.job_context_and_query_answers import SessionContext
from aisle.session.job_stack import JobResult, is_readable
from aisle.session.page import Page
from aisle.session.pending_question import NO_OPEN_QUESTIONS, NO_QUESTION, OpenQuestions
from aisle.session.pin_check import PinCheck
from aisle.session.profile import ProfileInForce
from aisle.session.shown_verdict_and_bells import Verdicts
from aisle.session.store_connection import StoreAccess, StoreConnection
from aisle.session.terminal_screen_and_keys import Terminal

if TYPE_CHECKING:
    from aisle.session.trace import Trace


class UnsentSecrets:
    """Secrets of requests to the courier, which no file may hold, until the courier has the request."""

    def __init__(self) -> None:
        self._secrets: dict[str, str] = {}

    def send(self, store_access: StoreAccess, secrets: Mapping[str, str]) -> None:
        """Send the secrets of requests that are durable now."""
        self._secrets |= secrets
        for name, secret in secrets.items():
            store_access.socket.send_secret(name, secret)

    def resend(self, store_access: StoreAccess) -> None:
        """Send the secrets of pending requests again, for a courier that did not get them; forget all others."""
        for name, secret in list(self._secrets.items()):
            if store_access.journal.is_request_pending(name):
                store_access.socket.send_secret(name, secret)
            else:
                del self._secrets[name]


class InputNotSavedError(Exception):
    """A commit in the middle of an input failed: the jobs are back at the last commit, and the screen says so."""


@dataclass(eq=False)
class EventRunner:
    """Runner of the session's events, with the effects since the last commit.

    `run_effect` carries out effects on the session itself; `explain_error` says why nothing could be written.
    """

    _page: Page
    _batch: InputBatch
    _context: SessionContext
    _profile: ProfileInForce
    _store: StoreConnection
    _verdicts: Verdicts
    _pin_check: PinCheck
    _trace: Trace | None
    run_effect: Callable[[SessionEffect], None]
    _explain_error: Callable[[StorageError], Msg]

    def __post_init__(self) -> None:
        self._secrets = UnsentSecrets()
        self._last_fault = ""
        """Fault that a change from elsewhere met last."""
        self.is_ending = False
        """Whether the session ends after this batch."""

    # Events

    def feed(self, event: Event, raw: str = "") -> None:
        """Feed an event to the job on the screen and apply the result."""
        self.apply(self._page.stack.feed(event, self._context.current()), raw)

    def open(self, start: Start, raw: str = "") -> None:
        """Open a job on top of the one on the screen and apply the result."""
        self.apply(self._page.stack.open(start, self._context.current()), raw)

    def notify(self, changes: Sequence[Changed]) -> None:
        """Feed changes of the cache to the job on the screen and apply the result."""
        self.apply(self._page.stack.notify(changes, self._context.current()))

    def apply(self, result: JobResult, raw: str = "") -> None:
        """Collect the result of an event, show its verdict and carry out its effects."""
        has_unseen_writes = self._store.unit_of_work.has_writes
        self._store.unit_of_work.add(result, self._context.at, raw, self._context.current())
        if result.verdict:
            self._verdicts.answer(result.verdict)
        self._page.drop_left_question()
        if has_unseen_writes and result.opens_page:
            self.commit_or_stop()  # the page was opened over a job that has written, and would be gone with its writes
        for effect in result.session_effects:
            self.run_effect(effect)

    def answer(self, verdict: Verdict, event: Event, raw: str) -> None:
        """Answer an input that no job handles."""
        self._store.unit_of_work.add_answer(event, self._context.at, raw, self._context.current(), verdict)
        self._verdicts.show(verdict)

    def undo_last(self) -> None:
        """Go back to the job of the person's last operation on this host to undo its last step, and reopen it if it is
        closed; say what no job can undo."""
        self.commit_or_stop()
        store, user = self._profile.current.store, self._context.user.user
        operation = self._store.journal.jobs.last_operation(store, user)
        if operation is None:
            self._verdicts.show(Verdict(INFO, msg("pick.nothing_to_undo")))
        elif index := self._page.stack.index_below_pages(operation.job_id):
            self.apply(self._page.stack.run(self._context.current()).close_above(index))
            self.feed(Command("u", is_own_step=True))
        elif operation.job is None or not is_readable(operation.job.job):
            self._verdicts.show(Verdict(WRONG, msg("home.not_undone", what=_record_number(operation.lanes))))
        elif resumed := self._store.unit_of_work.reopen(operation.job, self._context.current()):
            self.apply(resumed)
            self.feed(Command("u", is_own_step=True))
        else:
            text = msg("home.nothing_left_to_undo", what=_record_number(operation.lanes))
            self._verdicts.show(Verdict(WRONG, text))

    def is_refused(self, event: Event) -> bool:
        """Return whether the job on the screen would refuse an event. Jobs are pure: it is tried and undone."""
        before = self._page.stack.snapshot()
        verdict = self._page.stack.feed(event, self._context.current()).verdict
        self._page.stack.restore(before)
        return verdict is not None and verdict.kind == WRONG

    # Commit

    def query_written(self) -> None:
        """Let a page that shows what was written query it again."""
        if self._page.top.job.requery_after_write:
            result = self._page.stack.notify([Changed("outbox", "")], self._context.current())
            self.apply(replace(result, verdict=None))

    def commit(self) -> bool:
        """Commit everything since the last commit; if that fails, roll it back, say so and return False."""
        try:
            self.commit_or_raise()
        except StorageError as error:
            if not self._store.unit_of_work.can_roll_back:
                raise
            self._report_lost(self._explain_error(error))
            return False
        return True

    def commit_or_stop(self) -> None:
        """Commit in the middle of an input. Raise InputNotSavedError, so that nothing else of it happens."""
        if not self.commit():
            raise InputNotSavedError

    def _report_lost(self, why: Msg) -> None:
        """Say that the inputs since the last commit did nothing; the rest of the batch must not happen."""
        self._page.question = NO_QUESTION
        self._page.take_asked_number()
        self._batch.failure, self.is_ending = why, False
        verdict = Verdict(WRONG, msg("session.not_saved", why=why))
        self._verdicts.show(verdict)
        if self._trace:
            self._trace.mark_lost(verdict)

    @contextmanager
    def roll_back_failed_input(self) -> Iterator[None]:
        """Take back what is not committed if an input meets a fault, log that, and say so: the next one goes on."""
        try:
            yield
        except InputNotSavedError:
            pass
        except AisleError:
            raise  # the session cannot go on, and the error says why
        except Exception as error:
            self._roll_back(error)
            append_fault(self._store.folder.courier_log, error)
            self._report_lost(msg("session.why_fault"))

    @contextmanager
    def roll_back_failed_update(self) -> Iterator[None]:
        """Take back a change that no input made if it meets a fault. Log and report that unless it was the last one.

        Changes from elsewhere are read again and again.
        """
        try:
            yield
        except InputNotSavedError:
            pass
        except AisleError:
            raise
        except Exception as error:
            self._roll_back(error)
            if (fault := describe_fault(error)) != self._last_fault:
                self._last_fault = fault
                append_fault(self._store.folder.courier_log, error)
                self._verdicts.notify(Verdict(WRONG, msg("session.why_fault")))

    def _roll_back(self, error: Exception) -> None:
        """Put the jobs back as they were at the last commit; raise the error again if there was none."""
        if not self._store.unit_of_work.can_roll_back:
            raise error
        self._store.unit_of_work.roll_back()

    def commit_or_raise(self) -> None:
        """Commit, and wake the courier if it has something to do. Raise StorageError."""
        unit_of_work = self._store.unit_of_work
        secrets = unit_of_work.secrets
        self._store_question()
        user, profile = self._context.user.user, self._profile.current
        needs_principal = unit_of_work.supervises and self._pin_check.token_state()["wanted"]
        principal = principal_of(user) if needs_principal else ""
        author = Author(profile.store, user, terminal=profile.terminal, supervisor_principal=principal)
        has_courier_work = unit_of_work.commit(author)
        self._batch.uncommitted = 0
        if self._trace:
            self._trace.mark_committed()
        self._secrets.send(self._store.access, secrets)
        if has_courier_work:
            self._store.notifications.subscribe(self._page.topics)  # before the courier can notify anybody
            self._store.socket.wake_courier()

    def _store_question(self) -> None:
        """Add what the session asks to the journal unless it is the last event there."""
        self._page.drop_left_question()
        asked = self._page.asked_number
        is_rejected = self._batch.refused_scan.is_on(self._page.stack.jobs)
        questions = OpenQuestions(self._page.question, asked, is_rejected).without_pages()
        verdict = self._verdicts.current
        if questions != NO_OPEN_QUESTIONS and verdict and not self._store.unit_of_work.is_last_event(questions):
            context, text = self._context.current(), asked.text
            self._store.unit_of_work.add_answer(questions, self._context.at, text, context, verdict)

    def resend_secrets(self) -> None:
        """Send the courier again what no file may hold."""
        self._secrets.resend(self._store.access)
        self._pin_check.resend_token()


@dataclass(eq=False)
class SessionPart:
    """Part of a session that handles inputs, changes or frames, with what all of these share."""

    _page: Page
    _batch: InputBatch
    _context: SessionContext
    _profile: ProfileInForce
    _terminal: Terminal
    _store: StoreConnection
    _verdicts: Verdicts
    _pin_check: PinCheck
    _event_runner: EventRunner

    def __post_init__(self) -> None:
        """Prepare the state of this part alone."""


def _record_number(lanes: str) -> str:
    """Return the number of the first order, delivery or product that an operation was about."""
    first = named_tuple_json.from_text(tuple[str, ...], lanes)[:1] or ("",)
    return first[0].partition("/")[2]
