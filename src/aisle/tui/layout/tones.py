"""Tones: colours of what is late, needs attention, is ready or is over. A word or a sign says the same."""

from __future__ import annotations

from typing import Final

from aisle.jobs.view import Msg

LATE, WARNING, READY, QUIET = "tone-late", "tone-warning", "tone-ready", "tone-quiet"
"""Roles of texts with a tone."""

TONE_BY_ID: Final = {
    "exceptions.negative": LATE,
    "moment.late": LATE,
    "operation_state.confirmed": READY,
    "operation_state.in_doubt": WARNING,
    "operation_state.refused": LATE,
    "operation_state.resolved": QUIET,
    "orders.priority": WARNING,
    "orders.short": WARNING,
    "orders.status_finished": QUIET,
    "orders.status_picked": READY,
    "orders.status_rejected": QUIET,
}
"""Tone of each message that has one."""


def tone_of(message: Msg) -> str:
    """Return the tone of a message or of a message in it; empty if there is none."""
    if tone := TONE_BY_ID.get(message.id):
        return tone
    return next((tone for _, value in message.args if isinstance(value, Msg) and (tone := tone_of(value))), "")
