"""Verdict on the screen with its bell: answers to inputs, and messages that no input caused, which never hide one."""

from __future__ import annotations

from typing import NamedTuple

from aisle.errors import AisleError, SettingsError, StorageError
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Msg, Verdict, msg
from aisle.session.job_context_and_query_answers import SessionContext
from aisle.session.profile import ProfileInForce

ALARM_MESSAGES = ("session.not_saved", "session.inputs_not_saved", "session.cannot_save")
"""Messages that stand while nothing can be written."""

STANDS_S = 10.0
"""Seconds for which an answer or a message stands alone before another message may be shown."""


class _Snapshot(NamedTuple):
    current: Verdict | None
    bells: int
    answered_at: float
    notification: tuple[Verdict | None, Verdict | None]


class Verdicts:
    """Verdict that the screen shows now, and the bells that go with it."""

    def __init__(self, profile: ProfileInForce, context: SessionContext) -> None:
        self._profile = profile
        self._context = context
        self.current: Verdict | None = None
        self.bells = 0
        """Bells to ring; whoever rings them sets it back to 0."""
        self._answered_at = 0.0
        """Moment of the last answer, in seconds since 1970."""
        self._notified_at = 0.0
        """Moment of the last message, in seconds since 1970."""
        self._notification: tuple[Verdict | None, Verdict | None] = (None, None)
        """The last message: the answer that it stands beside, and what is shown of both."""

    def start_batch(self) -> None:
        """Count the time that an answer stands from the inputs that follow."""
        self._answered_at = self._context.at

    def show(self, verdict: Verdict) -> None:
        """Show a verdict and ring its bell."""
        self.current = verdict
        if verdict.kind in (WRONG, ASK):
            self.bells = 3
        elif verdict.kind == GOOD and self._profile.current.rings_when_good:
            self.bells = max(self.bells, 1)

    def answer(self, verdict: Verdict) -> None:
        """Show the answer of a job to an input."""
        self._answered_at = self._context.at
        self.show(verdict)

    def greet(self, verdict: Verdict) -> None:
        """Show a message in silence if nothing else is shown."""
        if self.current is None:
            self.current = verdict
            self._notification = (None, verdict)

    @property
    def is_busy(self) -> bool:
        """Return whether messages wait: a refusal or question stands, or an answer was given a moment ago."""
        answer = self._last_answer()
        is_new = answer is not None and abs(self._context.at - self._answered_at) < STANDS_S
        return is_new or self._is_response_expected

    @property
    def is_free_for_report(self) -> bool:
        """Return whether a report hides nothing: neither an answer, nor a message that came a moment ago."""
        return not self.is_busy and self.is_free_for_correction

    @property
    def is_free_for_correction(self) -> bool:
        """Return whether a new answer may be corrected: no refusal, question or new message stands."""
        shown = self._notification[1]
        is_new = abs(self._context.at - self._notified_at) < STANDS_S
        return not (self._is_response_expected or (shown is not None and self.current is shown and is_new))

    @property
    def _is_response_expected(self) -> bool:
        """True if a refusal or a question stands."""
        answer = self._last_answer()
        return answer is not None and answer.kind in (WRONG, ASK)

    def notify(self, verdict: Verdict) -> None:
        """Show a message that no input caused, before the answer that stands."""
        answer = self._last_answer()
        shown = verdict
        if answer is not None:
            shown = verdict._replace(text=msg("pick.join", what=verdict.text, more=answer.text))
        self._notification, self._notified_at = (answer, shown), self._context.at
        self.show(shown)

    def keep_question(self, before: _Snapshot, *, is_open: bool) -> None:
        """Show a notification after the question that it has replaced, if that is still open."""
        notification = self.current
        if notification is None or notification is before.current or notification.kind == ASK:
            return
        self.restore(before)
        question = self._last_answer()
        if not is_open or question is None or question.kind != ASK:
            self.answer(notification)
            return
        shown = question._replace(text=msg("pick.join", what=question.text, more=notification.text))
        self._notification = (question, shown)
        self.show(shown)

    def _last_answer(self) -> Verdict | None:
        """Return the answer to the last input while it stands."""
        answer, shown = self._notification
        return answer if self.current is shown else self.current

    def add_detail(self, detail: Msg) -> None:
        """Add a detail to the verdict unless it has one."""
        if self.current is None:
            self.current = Verdict(INFO, detail)
        elif not self.current.detail:
            self.current = self.current._replace(detail=detail)

    def drop_report(self) -> None:
        """Drop the report of earlier scans that were not taken from the verdict: it was seen."""
        if self.current is not None:
            self.current = without_report(self.current)

    def end_report(self, report: Verdict | None) -> None:
        """Drop a report on the page that was left, if it is still shown. A refusal or question stands."""
        if report is not None and self.current is report and report.kind in (GOOD, INFO):
            self.current = None

    def snapshot(self) -> _Snapshot:
        """Return the state to go back to with `restore`."""
        return _Snapshot(self.current, self.bells, self._answered_at, self._notification)

    def restore(self, snapshot: _Snapshot) -> None:
        """Go back to a snapshot."""
        self.current, self.bells, self._answered_at, self._notification = snapshot


def without_report(verdict: Verdict) -> Verdict:
    """Return a verdict without the report of earlier scans that were not taken."""
    text = without_reports(verdict.text)
    return verdict if text is verdict.text else verdict._replace(text=text)


NOT_APPLIED = ("session.not_applied", "session.number_not_applied")
"""Messages with a report of earlier inputs that were not taken."""


def without_reports(text: Msg) -> Msg:
    """Return a message without what it reports of earlier inputs that were not taken."""
    said = dict(text.args)["said"] if text.id in NOT_APPLIED else None
    return without_reports(said) if isinstance(said, Msg) else text


_MESSAGE_BY_ERROR_KIND = {
    "full": "session.why_full",
    "busy": "session.why_busy",
    "damaged": "session.why_damaged",
    "shut": "session.why_not_writable",
    "read_only": "session.why_read_only",
    "place": "session.why_unsafe_disk",
    "newer": "session.why_newer",
    "gone": "session.why_gone",
    "gone_again": "session.why_gone_again",
    "log_gone": "session.why_log_gone",
}
"""Message ids by the kind of a StorageError."""


def error_message(error: AisleError) -> Msg:
    """Return what is wrong and what to do."""
    if isinstance(error, SettingsError):
        return msg("session.why_settings")
    kind = error.kind if isinstance(error, StorageError) else ""
    return msg(_MESSAGE_BY_ERROR_KIND.get(kind, "session.why_files"))
