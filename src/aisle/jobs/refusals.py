"""Entries of the log that the service refused: they changed nothing, and of them there is nothing to take back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from aisle.jobs.job import Query, Rows
from aisle.jobs.message import read_message
from aisle.jobs.view import WRONG, Verdict, msg

REFUSED_QUERY = "not_taken"
"""The id of the query for them."""

RefusalRows = tuple[Mapping[str, Any], ...]


def query_refused_since(moments: Iterable[str]) -> Query:
    """Asks what was refused of entries that were said at these moments, or later."""
    args = {"operation": "create-store-product-logs", "since": min(moments)}
    return Query(REFUSED_QUERY, "refusals", args)


def refused_entry(rows: RefusalRows, product: str, counted_at: str) -> Mapping[str, Any] | None:
    """The refusal of the entry of this product and moment; None where there is none."""
    for row in rows:
        for entry in row["body"].get("storeproductlog") or ():
            if (entry.get("product_number"), entry.get("scanned_datetime")) == (product, counted_at):
                return row
    return None


def refused_entry_verdict(row: Mapping[str, Any]) -> Verdict:
    """Why it was refused."""
    return Verdict(WRONG, msg("receive.refused", why=read_message(str(row["why"])), label=str(row["label"])))


MAX_REPORTED = 50
"""Refusals that a page remembers to have told."""


def query_refused_moves(since: str, *, is_reported: bool = False) -> Query:
    """What was refused since then; `heard`: a page was open that has told what was refused so far."""
    args = {"operation": "create-movement", "since": since}
    return Query("refused_before" if is_reported else "refused", "refusals", args, is_live=True)


def report_refused_moves(reported: tuple[str, ...], answer: Rows, user: str) -> tuple[tuple[str, ...], Verdict | None]:
    """What of it this person knows by now, and what to say to him of the last of it, if it has to be said."""
    fresh = [row for row in answer.rows if row.get("user") == user and row["op_id"] not in reported]
    known = (*reported, *(str(row["op_id"]) for row in fresh))[-MAX_REPORTED:]
    if not fresh or answer.id != "refused":
        return known, None
    return known, Verdict(
        WRONG, msg("move.refused", why=read_message(str(fresh[-1]["why"])), label=str(fresh[-1]["label"]))
    )
