"""What is said before somebody signs out: what he has picked and not put down, and what is not sent yet."""

from __future__ import annotations

from aisle.jobs.amounts import number
from aisle.jobs.base import Context, Query, Rows
from aisle.jobs.view import ASK, Verdict, msg


def asked(context: Context) -> Query:
    """The question what is open."""
    return Query("open", "open", {"user": context.user, "now": context.now}, live=True)


def told(answer: Rows) -> Verdict | None:
    """What is said first; None where nothing is open."""
    unsent, count = answer.total, sum(number(row["count"]) for row in answer.rows)
    orders = ", ".join(str(row["order_number"]) for row in answer.rows)
    if not answer.rows:
        return Verdict(ASK, msg("home.unsent", count=unsent)) if unsent else None
    if unsent:
        return Verdict(ASK, msg("home.in_hand_unsent", count=count, orders=orders, unsent=unsent))
    return Verdict(ASK, msg("home.in_hand", count=count, orders=orders))
