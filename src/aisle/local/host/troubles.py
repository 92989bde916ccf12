"""What a session tells its people of an error of this host's files; operators read the error itself."""

from __future__ import annotations

from aisle.errors import AisleError, SettingsError, StorageError
from aisle.jobs.view import Msg, msg

TROUBLES = {
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
"""By the trouble of a StorageError."""


def why_of(error: AisleError) -> Msg:
    """What is the matter, and what to do."""
    if isinstance(error, SettingsError):
        return msg("session.why_settings")
    trouble = error.trouble if isinstance(error, StorageError) else ""
    return msg(TROUBLES.get(trouble, "session.why_files"))
