"""The PIN of whoever is at a terminal: what this session knows of it, and what the store's files say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aisle.local.reads.reads import Reads
from aisle.tuples import NamedTuple


class Pin(NamedTuple):
    """How it stands with the PIN of whoever stands here; moments in seconds since 1970."""

    until: float = 0.0
    """Until when it is not asked for again."""
    said: float = 0.0
    """When it was said last, and was right."""
    reminded: float = 0.0
    """When it was told last that something waits for it."""


NO_PIN = Pin()


def pass_of(reads: Reads, user: str, now: str) -> Mapping[str, Any]:
    """What the files say of this person's: see the read `pass`. `now` in ISO 8601."""
    (row,), _ = reads.query("pass", {"user": user, "now": now})
    return row
