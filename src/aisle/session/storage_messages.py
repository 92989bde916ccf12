"""Messages for people on errors of this host's files; operators read the error itself."""

from __future__ import annotations

from aisle.errors import AisleError, SettingsError, StorageError
from aisle.jobs.view import Msg, msg

MESSAGE_BY_KIND = {
    "full": "session.why_full",
    "busy": "session.why_busy",
    "damaged": "session.why_damaged",
    "shut": "session.why_shut",
    "read_only": "session.why_read_only",
    "place": "session.why_place",
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
    return msg(MESSAGE_BY_KIND.get(kind, "session.why_files"))


ALARM_MESSAGES = ("session.not_saved", "session.rest_lost", "session.no_file")
"""Messages that stand while nothing can be written."""
