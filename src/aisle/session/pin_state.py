"""What a session knows of the PIN of the person who is signed in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from aisle.cache.reader import CacheReader


class PinState(NamedTuple):
    """How it stands with the PIN of whoever stands here; moments in seconds since 1970."""

    valid_until: float = 0.0
    """Until when it is not asked for again."""
    confirmed_at: float = 0.0
    """When it was said last, and was right."""
    reminded_at: float = 0.0
    """When it was told last that something waits for it."""


NO_PIN = PinState()


def user_token_state(reader: CacheReader, user: str, now: str) -> Mapping[str, Any]:
    """What the files say of this person's: see the read `pass`. `now` in ISO 8601."""
    (row,), _ = reader.query("pass", {"user": user, "now": now})
    return row
