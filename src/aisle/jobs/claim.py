"""Who works on an order: what a row of it says, read for whoever asks. Plain values in, plain values out.

The interface has `is_claimed` and no more. Our own service says whose claim it is; elsewhere the reads say what this
host knows of it (`aisle.local.reads.claims`).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from aisle.jobs import store_time
from aisle.jobs.base import Context
from aisle.tuples import NamedTuple


class Claim(NamedTuple):
    """Somebody else's claim of an order, or one's own from another terminal."""

    who: str = ""
    """A name; empty where nobody says whose it is."""
    same: bool = False
    """It is the same person's, on a terminal where the order is still open."""
    terminal: str = ""
    since: str = ""
    """ISO 8601; empty where nobody says since when."""
    left: str = ""
    """ISO 8601: when whoever has begun it here left it; empty while that is open, or where nobody can know."""


def claim_of(row: Mapping[str, Any], context: Context) -> Claim | None:
    """The claim that stands in the way of this person on this terminal; None for none."""
    if not row.get("is_claimed"):
        return None
    by, terminal = str(row.get("claimed_by") or ""), str(row.get("claimed_terminal") or "")
    same = bool(by) and by == context.user
    if same and (terminal == context.terminal or not terminal or row.get("claim_open") is False):
        return None
    who = str(row.get("claimed_name") or by)
    return Claim(who, same, terminal, str(row.get("claimed_on") or ""), str(row.get("claim_left") or ""))


def is_later(one: str, other: str) -> bool:
    """Whether a moment lies behind another; what cannot be read lies behind nothing."""
    first, second = _moment(one), _moment(other)
    return first is not None and (second is None or first > second)


def _moment(text: str) -> datetime | None:
    return store_time.read(text)
