"""Names of the filter of the order board: its fields, values and views."""

from __future__ import annotations

from aisle.jobs.supervisor.order_filter import FILTER_FIELDS, OrderFilter
from aisle.jobs.view import Msg, msg, raw

FIELD_NAMES = {
    "state": "orders.field_state",
    "due": "orders.field_due",
    "claim": "orders.field_claim",
    "shorts": "orders.field_shorts",
    "sort": "orders.field_sort",
    "direction": "orders.field_direction",
    "reference": "orders.field_reference",
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

VIEW_NAMES = {
    "active": msg("orders.state_active"),
    "late": msg("orders.due_late"),
    "at_work": msg("orders.claim_claimed"),
    "oldest": msg("orders.view_oldest"),
    "picked": msg("orders.state_picked"),
    "short": msg("orders.shorts_short"),
    "rejected": msg("orders.state_rejected"),
    "finished": msg("orders.state_finished"),
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
    *parts, text = (value_text(filter_, field) for field in ("state", *changed))
    for part in reversed(parts):
        text = msg("orders.join", one=part, other=text)
    return text
