"""Label that a scanner reads again and again: within the guard time, a read of it is the one before."""

from __future__ import annotations

from typing import NamedTuple

from aisle.jobs.store_time import seconds_since

LABEL_GUARD_S = 3
"""Seconds after the last read of a label within which another read of it is no new scan."""


class LabelRead(NamedTuple):
    """Last read of one of several labels."""

    keys: tuple[str, ...] = ()
    """Numbers or codes of their records."""
    at: str = ""
    """ISO 8601."""

    def is_repeated(self, key: str, now: str) -> bool:
        """Return True if a read of this record now is no new scan."""
        return bool(self.at) and key in self.keys and seconds_since(self.at, now) < LABEL_GUARD_S
