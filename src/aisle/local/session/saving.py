"""That nothing can be kept is said as long as it is so, and no longer: nobody has to scan to find out.

A part of aisle.local.session.session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aisle.jobs.view import INFO, Verdict, msg

if TYPE_CHECKING:
    from aisle.local.session.desk import Desk

ALARMS = ("session.not_saved", "session.rest_lost", "session.no_file")
"""What is said while nothing can be kept."""


def try_again(desk: Desk) -> None:
    """Looks whether something can be kept again, where it could not; the alarm ends then."""
    alarm = desk._verdict.text if desk._verdict and desk._verdict.text.id in ALARMS else None
    if not (alarm or desk._keeper.has_failed):
        return
    if desk._keeper.try_again() and alarm:
        # Where the alarm was about this host alone, there is nothing to do again.
        lost = alarm.id != "session.no_file"
        desk._verdict = Verdict(INFO, msg("session.saves_again" if lost else "session.can_save"))
