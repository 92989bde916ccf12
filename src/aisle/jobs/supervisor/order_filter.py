"""Filter and sort order of the order board, with the names of its fields, values and views.

Parameters of the interface's list, and further ones for supervisors. Interface: List customer orders
(fulfillment_status, is_active, is_picked, pickup_offset, reference, search_text).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from aisle.jobs.job import Args, Json
from aisle.jobs.view import Msg, join_messages, msg, raw

STATUSES_BY_STATE: Mapping[str, tuple[str, ...]] = {
    "active": ("open", "partial", "picked"),
    "to_pick": ("open", "partial"),
    "open": ("open",),
    "partial": ("partial",),
    "picked": ("picked",),
    "rejected": ("rejected",),
    "finished": ("finished",),
    "all": ("open", "partial", "picked", "rejected", "finished"),
}
"""Order states that each filter value lists."""

DUE_DAYS: Mapping[str, int | None] = {"any": None, "late": None, "today": 0, "tomorrow": 1, "week": 7}
"""Days from today until which orders are due (interface: pickup_offset)."""

CLAIM_VALUES: Mapping[str, bool | None] = {"any": None, "claimed": True, "free": False}
SHORT_VALUES: Mapping[str, bool] = {"any": False, "short": True}
SORTS = ("pickup", "age", "number", "customer", "state", "progress", "claim")
DIRECTIONS: Mapping[str, bool] = {"ascending": False, "descending": True}

FILTER_FIELDS = ("state", "due", "claim", "shorts", "sort", "direction", "reference")
"""Fields of a filter, in the order of their numbers."""


class OrderFilter(NamedTuple):
    """Filter with a value for each field; `reference` as it was typed or scanned."""

    state: str = "active"
    due: str = "any"
    claim: str = "any"
    shorts: str = "any"
    sort: str = "pickup"
    direction: str = "ascending"
    reference: str = ""

    def value(self, field: str) -> str:
        """Return the value of a field."""
        return str(self._asdict()[field])


BUILT_IN_VIEWS = (
    ("active", msg("orders.state_active"), OrderFilter()),
    ("late", msg("orders.due_late"), OrderFilter("to_pick", due="late")),
    ("at_work", msg("orders.claim_claimed"), OrderFilter("to_pick", claim="claimed")),
    ("oldest", msg("orders.view_oldest"), OrderFilter("to_pick", sort="age")),
    ("picked", msg("orders.state_picked"), OrderFilter("picked")),
    ("short", msg("orders.shorts_short"), OrderFilter(shorts="short")),
    ("rejected", msg("orders.state_rejected"), OrderFilter("rejected")),
    ("finished", msg("orders.state_finished"), OrderFilter("finished")),
)
"""Views that everybody has: id, name and filter."""


def view_key(user: str, name: str = "") -> str:
    """Return the key of a person's view. Without a name it is the prefix of all views of this person and of no
    other."""
    return f"{user.replace('%', '%25').replace('/', '%2F')}/{name}"


def filter_values(field: str) -> tuple[str, ...]:
    """Return the values of a filter field to choose from. For a reference that is only `none`; others are typed."""
    known: dict[str, tuple[str, ...]] = {
        "state": tuple(STATUSES_BY_STATE),
        "due": tuple(DUE_DAYS),
        "claim": tuple(CLAIM_VALUES),
        "shorts": tuple(SHORT_VALUES),
        "sort": SORTS,
        "direction": tuple(DIRECTIONS),
        "reference": ("none",),
    }
    return known.get(field, ())


def with_value(filter_: OrderFilter, field: str, value: str) -> OrderFilter:
    """Return the filter with this value for the field."""
    return filter_._replace(**{field: "" if field == "reference" else value})


def with_sort(filter_: OrderFilter, sort: str) -> OrderFilter:
    """Return the filter sorted by this column; in the other direction if it is sorted by it already."""
    is_reversed = filter_.sort == sort and filter_.direction == "ascending"
    return filter_._replace(sort=sort, direction="descending" if is_reversed else "ascending")


def parse_filter(saved: Args) -> OrderFilter:
    """Parse a stored filter. Unknown fields and values are ignored."""
    known = {name: str(saved[name]) for name in OrderFilter._fields if name in saved}
    return OrderFilter(
        **{name: value for name, value in known.items() if name == "reference" or value in filter_values(name)}
    )


def changed_fields(filter_: OrderFilter) -> tuple[tuple[str, str], ...]:
    """Return the fields with their values that differ from those of the usual filter."""
    usual = OrderFilter()
    return tuple((name, filter_.value(name)) for name in FILTER_FIELDS if filter_.value(name) != usual.value(name))


def query_arguments(filter_: OrderFilter) -> Args:
    """Return the filter as arguments of the query `order_board`."""
    args: dict[str, Json] = {
        "status": list(STATUSES_BY_STATE[filter_.state]),
        "sort": filter_.sort,
        "descending": DIRECTIONS[filter_.direction],
        "reference": filter_.reference,
        "claimed": CLAIM_VALUES[filter_.claim],
        "short": SHORT_VALUES[filter_.shorts],
        "late": filter_.due == "late",
    }
    return {**args, "pickup_offset": DUE_DAYS[filter_.due]} if DUE_DAYS[filter_.due] is not None else args


FIELD_NAMES = {
    "state": "head.state",
    "due": "head.pickup",
    "claim": "orders.field_claim",
    "shorts": "orders.field_shorts",
    "sort": "orders.field_sort",
    "direction": "orders.field_direction",
    "reference": "orders.head_reference",
}

VALUE_NAMES = {
    ("state", "active"): "orders.state_active",
    ("state", "to_pick"): "orders.state_to_pick",
    ("state", "open"): "orders.status_open",
    ("state", "partial"): "orders.status_in_progress",
    ("state", "picked"): "orders.state_picked",
    ("state", "rejected"): "orders.state_rejected",
    ("state", "finished"): "orders.state_finished",
    ("state", "all"): "orders.any",
    ("due", "any"): "orders.any",
    ("due", "late"): "orders.due_late",
    ("due", "today"): "orders.due_today",
    ("due", "tomorrow"): "orders.due_tomorrow",
    ("due", "week"): "orders.due_week",
    ("claim", "any"): "orders.any",
    ("claim", "claimed"): "orders.claim_claimed",
    ("claim", "free"): "orders.claim_free",
    ("shorts", "any"): "orders.any",
    ("shorts", "short"): "orders.shorts_short",
    ("sort", "pickup"): "orders.sort_pickup",
    ("sort", "age"): "orders.sort_age",
    ("sort", "number"): "orders.sort_number",
    ("sort", "customer"): "orders.sort_customer",
    ("sort", "state"): "orders.sort_state",
    ("sort", "progress"): "orders.sort_progress",
    ("sort", "claim"): "orders.sort_claim",
    ("direction", "ascending"): "orders.direction_ascending",
    ("direction", "descending"): "orders.direction_descending",
    ("reference", "none"): "orders.any",
}


def value_text(filter_: OrderFilter, field: str) -> Msg:
    """Return the value of a field in words."""
    value = filter_.value(field)
    if field == "reference" and value:
        return raw(value)
    return msg(VALUE_NAMES[field, value or "none"])


def describe_filter(filter_: OrderFilter) -> Msg:
    """Return the filter in a few words: all fields that differ from the default."""
    usual = OrderFilter()
    changed = [field for field in FILTER_FIELDS if field != "state" and filter_.value(field) != usual.value(field)]
    return join_messages([value_text(filter_, field) for field in ("state", *changed)])
