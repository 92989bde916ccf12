"""What was made somebody's and is another's: the claim that was made later stands, and who made the first is told.

A page that had an order claimed keeps that in mind until it closes, or has told it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aisle.jobs.base import Query, Rows
from aisle.jobs.view import WRONG, Verdict, msg
from aisle.tuples import NamedTuple

MOST = 50
"""Claims that a page keeps in mind."""


class Given(NamedTuple):
    """An order, and whose it was said to be."""

    order: str
    user: str


def kept(before: tuple[Given, ...], answer: Mapping[str, Any] | None) -> tuple[Given, ...]:
    """With what the job `act` has done: what was said of an order last is what counts."""
    done: Mapping[str, Any] = answer or {}
    again = {str(each["order"]) for each in done.get("undo") or ()}
    fresh = [Given(str(order), str(user)) for order, user in done.get("given") or ()]
    again |= {each.order for each in fresh}
    return (*(each for each in before if each.order not in again), *fresh)[-MOST:]


def look(given: tuple[Given, ...]) -> tuple[Query, ...]:
    """How these orders stand."""
    return (Query("given", "orders_by_number", {"orders": [each.order for each in given]}, live=True),) if given else ()


def news(given: tuple[Given, ...], answer: Rows) -> tuple[tuple[Given, ...], Verdict | None]:
    """What is left to be kept in mind, and what to say of the one that is another's."""
    rows = {str(row["order_number"]): row for row in answer.rows}
    told, left = None, []
    for each in given:
        row = rows.get(each.order, {})
        by = str(row.get("claimed_by") or "")
        if row.get("is_claimed") and by and by != each.user:
            told = Verdict(WRONG, msg("act.outdone", order=each.order, name=str(row.get("claimed_name") or by)))
        else:
            left.append(each)
    return tuple(left), told
