"""What is said of differences that were looked at: to our own service of what it wants reviewed, else on this host."""

from __future__ import annotations

from collections.abc import Sequence

from aisle.jobs.base import Effect, Remark, Write
from aisle.jobs.desk.exceptions_state import Exceptions, Row
from aisle.jobs.view import Msg, msg

TO_REVIEW = "1"
"""interface: review_status of our own service, of what it wants somebody to look at; of 0 it keeps no review."""

UNDONE, DONE = 1, 2
"""interface: review_status that is written."""


def is_kept(state: Exceptions, row: Row) -> bool:
    """Whether the service keeps that this difference was approved; else this host alone does."""
    return "reviews" in state.features and row.key.isdecimal() and row.review == TO_REVIEW


def is_told(state: Exceptions, row: Row) -> bool:
    """Whether the service is told what is decided of this difference: that it is counted again, or approved."""
    if state.asking == "recount":
        return "recounts" in state.features and row.key.isdecimal()
    return is_kept(state, row)


def remark(state: Exceptions, row: Row, text: str) -> Remark:
    """What this host keeps of a difference that was looked at."""
    return Remark("review", row.key, text, supervises=True, mirrors=is_told(state, row))


def writes(state: Exceptions, rows: Sequence[Row], store: str, status: int = DONE) -> list[Write]:
    """What our own service is told of these: reviews of what it wants reviewed, and recounts."""
    path = {"store_number": store}
    told = [row for row in rows if is_told(state, row)]
    if not told:
        return []
    subjects = tuple(f"log/{row.key}" for row in told)
    if state.asking == "recount":
        body = {"recounts": [{"log_id": int(row.key)} for row in told]}
        return [Write("write-recounts", subjects, path, {}, body, supervises=True)]
    reviews = {"reviews": [{"id": int(row.key), "review_status": status} for row in told]}
    return [Write("review-logs", subjects, path, {}, reviews, supervises=True)]


def recounts(state: Exceptions, rows: Sequence[Row], store: str) -> list[Effect]:
    """What has these counted again: the service is told of those whose entries it keeps, this host of all others."""
    others = [row for row in rows if not is_told(state, row)]
    return [
        *writes(state, rows, store),
        *(Remark("recount", f"{row.product}/{row.place}", row.label or row.product, supervises=True) for row in others),
    ]


def withdrawal(row: Row, store: str) -> list[Effect]:
    """What takes a recount back where it is kept; nothing while it is on its way there and has no number yet."""
    if row.kind == "noted":
        return []
    here = Remark("recount", f"{row.product}/{row.place}", "", supervises=True, mirrors=row.kind == "kept")
    if row.kind != "kept":
        return [here]
    body = {"recounts": [{"id": int(row.key), "state": "withdrawn"}]}
    there = {"store_number": store}
    return [here, Write("write-recounts", (f"recount/{row.key}",), there, {}, body, supervises=True)]


def told(state: Exceptions, rows: Sequence[Row]) -> Msg:
    """What was done, and how much of it no service hears of."""
    if state.asking == "recount":
        return msg("exceptions.recounted", count=len(rows))
    here = sum(not is_kept(state, row) for row in rows)
    return msg("exceptions.approved_here" if here else "exceptions.approved", count=len(rows), here=here)


def taken_back(state: Exceptions, store: str) -> list[Effect]:
    """What takes back that the differences were approved which were approved last."""
    return [
        *(remark(state, row, "") for row in state.approved),
        *writes(state, state.approved, store, UNDONE),
    ]
