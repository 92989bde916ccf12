"""What is asked before somebody signs out: how much is not sent yet."""

from __future__ import annotations

from aisle.jobs.base import Query
from aisle.jobs.view import ASK, Verdict, msg

ASKED = Query("unsent", "unsent", {}, live=True)


def told(count: int) -> Verdict | None:
    """What is said first; None where all is sent."""
    return Verdict(ASK, msg("home.unsent", count=count)) if count else None
