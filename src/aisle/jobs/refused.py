"""How pages that somebody stands on tell that a movement of his was refused after the job that made it was over."""

from __future__ import annotations

from aisle.jobs.base import Query, Rows
from aisle.jobs.told import words
from aisle.jobs.view import WRONG, Verdict, msg

MOST = 50
"""Refusals that a page remembers to have told."""


def refusals(since: str, *, heard: bool = False) -> Query:
    """What was refused since then; `heard`: a page was open that has told what was refused so far."""
    args = {"operation": "create-movement", "since": since}
    return Query("refused_before" if heard else "refused", "refusals", args, live=True)


def news(before: tuple[str, ...], answer: Rows, user: str) -> tuple[tuple[str, ...], Verdict | None]:
    """What of it this person knows by now, and what to say to him of the last of it, if it has to be said."""
    fresh = [row for row in answer.rows if row.get("user") == user and row["op_id"] not in before]
    known = (*before, *(str(row["op_id"]) for row in fresh))[-MOST:]
    if not fresh or answer.id != "refused":
        return known, None
    return known, Verdict(WRONG, msg("move.refused", why=words(str(fresh[-1]["why"])), label=str(fresh[-1]["label"])))
