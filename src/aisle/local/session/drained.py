"""The queue in hand: inputs of one read happened together; from the first that cannot be kept, none has."""

from __future__ import annotations

from typing import Any

from aisle.local.session.asking import NOTHING, Asking
from aisle.local.session.covered import Covered
from aisle.tuples import NamedTuple


class Queue(NamedTuple):
    """How far one drained queue has come."""

    at: float = 0.0
    """The moment of all that is in it, in seconds since 1970."""
    seen: tuple[Any, ...] = ()
    """The page that was on the screen before it."""
    asked: Asking = NOTHING
    """What the session itself asked, or kept in mind, before it."""
    unkept: int = 0
    """Its lines since the last commit."""
    covered: Covered = Covered()
    """What of it was not taken."""
    failed: bool = False
    """Whether a part of it could not be kept: the rest of it must not happen."""
