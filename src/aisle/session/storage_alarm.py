"""What a session tells its people of an error of this host's files; operators read the error itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aisle.errors import AisleError, SettingsError, StorageError
from aisle.jobs.view import INFO, Msg, Verdict, msg

if TYPE_CHECKING:
    from aisle.session.session_base import SessionBase


MESSAGE_BY_KIND = {
    "full": "session.why_full",
    "busy": "session.why_busy",
    "damaged": "session.why_damaged",
    "shut": "session.why_shut",
    "read_only": "session.why_read_only",
    "place": "session.why_location",
    "newer": "session.why_newer",
    "gone": "session.why_gone",
    "gone_again": "session.why_gone_again",
    "log_gone": "session.why_log_gone",
}
"""By the trouble of a StorageError."""


def error_message(error: AisleError) -> Msg:
    """What is the matter, and what to do."""
    if isinstance(error, SettingsError):
        return msg("session.why_settings")
    trouble = error.kind if isinstance(error, StorageError) else ""
    return msg(MESSAGE_BY_KIND.get(trouble, "session.why_files"))


ALARM_MESSAGES = ("session.not_saved", "session.rest_lost", "session.no_file")
"""What is said while nothing can be kept."""


def retry_saving(session: SessionBase) -> None:
    """Looks whether something can be kept again, where it could not; the alarm ends then."""
    alarm = session._verdict.text if session._verdict and session._verdict.text.id in ALARM_MESSAGES else None
    if not (alarm or session._unit_of_work.has_failed):
        return
    if session._unit_of_work.retry() and alarm:
        # Where the alarm was about this host alone, there is nothing to do again.
        lost = alarm.id != "session.no_file"
        session._verdict = Verdict(INFO, msg("session.saving_works_again" if lost else "session.can_save"))
