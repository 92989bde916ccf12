"""What the order board can be filtered and sorted by: what the interface's list offers, and what a supervisor asks for.

Interface: List customer orders (fulfillment_status, is_active, is_picked, pickup_offset, reference, search_text).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

STATUSES_BY_STATE: Mapping[str, tuple[str, ...]] = {
    "active": ("open", "partial", "picked", "rejected"),
    "to_pick": ("open", "partial"),
    "open": ("open",),
    "partial": ("partial",),
    "picked": ("picked",),
    "rejected": ("rejected",),
    "finished": ("finished",),
    "all": ("open", "partial", "picked", "rejected", "finished"),
}
"""The states of the orders that are listed, by the word of the filter."""

DUE_DAYS: Mapping[str, int | None] = {"any": None, "late": None, "today": 0, "tomorrow": 1, "week": 7}
"""Days from today up to which orders are due (interface: pickup_offset)."""

CLAIM_VALUES: Mapping[str, bool | None] = {"any": None, "claimed": True, "free": False}
SHORT_VALUES: Mapping[str, bool] = {"any": False, "short": True}
SORTS = ("pickup", "age", "number")

FILTER_FIELDS = ("state", "due", "claim", "shorts", "sort", "reference")
"""The parts of a filter, in the order of their numbers."""


class OrderFilter(NamedTuple):
    """A word for each part; `reference` as it was typed or scanned."""

    state: str = "active"
    due: str = "any"
    claim: str = "any"
    shorts: str = "any"
    sort: str = "pickup"
    reference: str = ""


BUILT_IN_VIEWS = (
    ("active", OrderFilter()),
    ("late", OrderFilter("to_pick", due="late")),
    ("at_work", OrderFilter("to_pick", claim="claimed")),
    ("oldest", OrderFilter("to_pick", sort="age")),
    ("picked", OrderFilter("picked")),
    ("short", OrderFilter(shorts="short")),
    ("rejected", OrderFilter("rejected")),
    ("finished", OrderFilter("finished")),
)
"""The views that everybody has."""


def view_key(user: str, name: str = "") -> str:
    """The key of a person's view; without a name what all of his begin with, and nobody else's do."""
    return f"{user.replace('%', '%25').replace('/', '%2F')}/{name}"


def filter_values(field: str) -> tuple[str, ...]:
    """The words that a part can have; of a reference there is but none, any other is typed."""
    known: dict[str, tuple[str, ...]] = {
        "state": tuple(STATUSES_BY_STATE),
        "due": tuple(DUE_DAYS),
        "claim": tuple(CLAIM_VALUES),
        "shorts": tuple(SHORT_VALUES),
        "sort": SORTS,
        "reference": ("none",),
    }
    return known.get(field, ())


def with_value(filter_: OrderFilter, field: str, value: str) -> OrderFilter:
    """The filter with this word for that part."""
    return filter_._replace(**{field: "" if field == "reference" else value})


def parse_filter(saved: Mapping[str, Any]) -> OrderFilter:
    """A filter that was kept; parts and words that this program does not know are left out."""
    known = {name: str(saved[name]) for name in OrderFilter._fields if name in saved}
    return OrderFilter(
        **{name: word for name, word in known.items() if name == "reference" or word in filter_values(name)}
    )


def query_arguments(filter_: OrderFilter) -> dict[str, Any]:
    """The arguments of the read `board`."""
    args: dict[str, Any] = {
        "status": list(STATUSES_BY_STATE[filter_.state]),
        "sort": filter_.sort,
        "reference": filter_.reference,
        "claimed": CLAIM_VALUES[filter_.claim],
        "short": SHORT_VALUES[filter_.shorts],
        "late": filter_.due == "late",
    }
    return {**args, "pickup_offset": DUE_DAYS[filter_.due]} if DUE_DAYS[filter_.due] is not None else args
