"""How a courier handles what may have arrived, and what is old: from the settings."""

from __future__ import annotations

from aisle.courier.send.marks import REFERENCE
from aisle.local.outbox.archive import USUAL, Kept
from aisle.tuples import NamedTuple


class Care(NamedTuple):
    """The courier's part of the settings."""

    settle_s: float = 120.0
    """Seconds in which a request that nobody answered may still arrive: longer than any hop on the way keeps one."""
    reference: str = REFERENCE
    """Where an operation's name goes on a service that keeps no keys: see aisle.courier.send.marks."""
    kept: Kept = USUAL
    """For how long outbox, journal and archive keep what is over."""
