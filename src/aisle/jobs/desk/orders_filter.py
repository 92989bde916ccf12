"""What the order board can be filtered and sorted by: what the interface's list offers, and what a supervisor asks for.

Interface: List customer orders (fulfillment_status, is_active, is_picked, pickup_offset, reference, search_text).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aisle.tuples import NamedTuple

STATES: Mapping[str, tuple[str, ...]] = {
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

DUES: Mapping[str, int | None] = {"any": None, "late": None, "today": 0, "tomorrow": 1, "week": 7}
"""Days from today up to which orders are due (interface: pickup_offset)."""

CLAIMS: Mapping[str, bool | None] = {"any": None, "claimed": True, "free": False}
SHORTS: Mapping[str, bool] = {"any": False, "short": True}
SORTS = ("pickup", "age", "number")

FIELDS = ("state", "due", "claim", "shorts", "sort", "reference")
"""The parts of a filter, in the order of their numbers."""


class Filter(NamedTuple):
    """A word for each part; `reference` as it was typed or scanned."""

    state: str = "active"
    due: str = "any"
    claim: str = "any"
    shorts: str = "any"
    sort: str = "pickup"
    reference: str = ""


BUILT_IN = (
    ("active", Filter()),
    ("late", Filter("to_pick", due="late")),
    ("at_work", Filter("to_pick", claim="claimed")),
    ("oldest", Filter("to_pick", sort="age")),
    ("picked", Filter("picked")),
    ("short", Filter(shorts="short")),
    ("rejected", Filter("rejected")),
    ("finished", Filter("finished")),
)
"""The views that everybody has."""


def view_key(user: str, name: str = "") -> str:
    """The key of a person's view; without a name what all of his begin with, and nobody else's do."""
    return f"{user.replace('%', '%25').replace('/', '%2F')}/{name}"


def options(field: str) -> tuple[str, ...]:
    """The words that a part can have; of a reference there is but none, any other is typed."""
    known: dict[str, tuple[str, ...]] = {
        "state": tuple(STATES),
        "due": tuple(DUES),
        "claim": tuple(CLAIMS),
        "shorts": tuple(SHORTS),
        "sort": SORTS,
        "reference": ("none",),
    }
    return known.get(field, ())


def changed(filter_: Filter, field: str, word: str) -> Filter:
    """The filter with this word for that part."""
    return filter_._replace(**{field: "" if field == "reference" else word})


def filter_of(said: Mapping[str, Any]) -> Filter:
    """A filter that was kept; parts and words that this program does not know are left out."""
    known = {name: str(said[name]) for name in Filter._fields if name in said}
    return Filter(**{name: word for name, word in known.items() if name == "reference" or word in options(name)})


def args_of(filter_: Filter) -> dict[str, Any]:
    """The arguments of the read `board`."""
    args: dict[str, Any] = {
        "status": list(STATES[filter_.state]),
        "sort": filter_.sort,
        "reference": filter_.reference,
        "claimed": CLAIMS[filter_.claim],
        "short": SHORTS[filter_.shorts],
        "late": filter_.due == "late",
    }
    return {**args, "pickup_offset": DUES[filter_.due]} if DUES[filter_.due] is not None else args
