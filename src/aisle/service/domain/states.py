"""States of orders, lines, deliveries, reviews and recounts, and one table of their transitions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from aisle.service.errors import conflict

Fulfilment = Literal["open", "partial", "picked", "rejected", "finished"]

# Default `status_id` of an order, by state.
STATUS_IDS: dict[str, int] = {"open": 1, "partial": 2, "picked": 3, "rejected": 4, "finished": 5}

# States in which an order reserves nothing and takes no goods.
CLOSED_STATES = frozenset({"rejected", "finished"})

# States of a delivery and of its receipt, which exists only after the first goods. They follow from the quantities.
DELIVERY_OPEN, DELIVERY_PARTIAL, DELIVERY_RECEIVED = "open", "partial", "received"

# `review_status` of a log entry: a number in the filter, text in the entry.
NOTHING_TO_REVIEW, TO_REVIEW, REVIEWED = 0, 1, 2

# A recount is ended by a count of the same product and location, or by whoever ordered it.
RECOUNT_OPEN, RECOUNT_COUNTED, RECOUNT_WITHDRAWN = "open", "counted", "withdrawn"

StateKind = Literal["order", "line", "review", "recount"]

TRANSITIONS: dict[StateKind, dict[str, frozenset[str]]] = {
    "order": {
        "open": frozenset({"partial", "picked", "rejected", "finished"}),
        "partial": frozenset({"open", "picked", "rejected", "finished"}),
        "picked": frozenset({"open", "partial", "rejected", "finished"}),
        "rejected": frozenset({"open", "picked", "finished"}),
        "finished": frozenset(),
    },
    # While its order is open; afterwards it does not change.
    "line": {
        "open": frozenset({"partial", "picked", "short", "rejected"}),
        "partial": frozenset({"open", "picked", "short", "rejected"}),
        "picked": frozenset({"open", "partial", "short", "rejected"}),
        "short": frozenset({"open", "partial", "picked", "rejected"}),
        "rejected": frozenset({"open"}),
    },
    "review": {
        str(NOTHING_TO_REVIEW): frozenset(),
        str(TO_REVIEW): frozenset({str(REVIEWED)}),
        str(REVIEWED): frozenset({str(TO_REVIEW)}),
    },
    "recount": {
        RECOUNT_OPEN: frozenset({RECOUNT_COUNTED, RECOUNT_WITHDRAWN}),
        RECOUNT_COUNTED: frozenset(),
        RECOUNT_WITHDRAWN: frozenset(),
    },
}
"""Allowed next states of each state. Staying in a state is always allowed. The README has the same table."""


def check_transition(
    kind: StateKind, subject: str, before: str, after: str, field: str | None = None, **extra: Any
) -> None:
    """Raise Refusal (409) with both states for a forbidden transition. `subject` begins the sentence."""
    if before != after and after not in TRANSITIONS[kind][before]:
        raise conflict(f"{subject} is {before}; it cannot become {after}.", field, **extra)


def order_fulfilment(*, is_active: bool, is_rejected: bool, is_picked: bool, any_picked: bool) -> Fulfilment:
    """Return the state of an order from its flags."""
    if not is_active:
        return "finished"
    if is_rejected:
        return "rejected"
    if is_picked:
        return "picked"
    return "partial" if any_picked else "open"


def line_state(*, is_rejected: bool, is_picked: bool, is_fully_picked: bool, picked: int) -> str:
    """Return the state of a line from its flags and picked quantity."""
    if is_rejected:
        return "rejected"
    if is_fully_picked:
        return "picked"
    if is_picked:
        return "short"
    return "partial" if picked else "open"


def delivery_state(lines: Iterable[tuple[int, int]]) -> str:
    """Return the state of a delivery from the announced and received quantity of each line."""
    known = list(lines)
    if not any(received for _, received in known):
        return DELIVERY_OPEN
    return DELIVERY_RECEIVED if all(received >= quantity for quantity, received in known) else DELIVERY_PARTIAL
