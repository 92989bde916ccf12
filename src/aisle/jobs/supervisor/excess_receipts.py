"""Acceptance of goods that were received beyond the announced quantity of a delivery's line, and its undo."""

from __future__ import annotations

from collections.abc import Sequence

from aisle.jobs.job import ACCEPTED_EXCESS, Effect, LocalNote
from aisle.jobs.row_types.supervisor import ExcessReceiptsRow
from aisle.jobs.supervisor.count_differences import NOT_REVIEWED, REVIEWED, write_at_store
from aisle.jobs.view import GOOD, Verdict, msg

EXCESS_QUERY = "excess_receipts"
"""Query of the lines with excess that nobody has accepted."""


def acceptance_effects(rows: Sequence[ExcessReceiptsRow], store: str, *, is_undone: bool = False) -> tuple[Effect, ...]:
    """Return the effects that accept the received quantities, or undo that.

    The service is sent the review of the log entries that it wants reviewed. It has no other field for it.
    """
    notes = [
        LocalNote(
            ACCEPTED_EXCESS,
            row["note_key"],
            "" if is_undone else str(row["received"]),
            needs_supervisor=True,
            mirrors_write=bool(row["to_review"]),
        )
        for row in rows
    ]
    status = NOT_REVIEWED if is_undone else REVIEWED
    keys = list(dict.fromkeys(key for row in rows for key in row["to_review"]))
    if not keys:
        return tuple(notes)
    reviews = [{"id": int(key), "review_status": status} for key in keys]
    lanes = tuple(f"log/{key}" for key in keys)
    return (*notes, write_at_store("review-logs", lanes, store, {"reviews": reviews}))


def acceptance_verdict(rows: Sequence[ExcessReceiptsRow]) -> Verdict:
    """Return what was accepted, and whether only this host knows it."""
    is_kept = all(row["to_review"] for row in rows)
    label = rows[0]["description"]
    if len(rows) == 1:
        return Verdict(GOOD, msg("excess.accepted" if is_kept else "excess.accepted_on_host", label=label))
    return Verdict(GOOD, msg("excess.lines_accepted" if is_kept else "excess.lines_accepted_on_host", count=len(rows)))


def undo_verdict(rows: Sequence[ExcessReceiptsRow]) -> Verdict:
    """Return how many lines are listed again."""
    return Verdict(GOOD, msg("excess.undone", count=len(rows)))
