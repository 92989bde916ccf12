"""Registry of a session's queries: their declaration, and the module of each.

A query is a function (context, arguments) that returns rows of a type of aisle.jobs.row_types. `declare_query` gives it
its name, its arguments (`first` and `size` are the window) and the topics whose change would change its answer.
Queries that the session answers itself: aisle.session.answer_job_queries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any, NamedTuple, TypeVar

from aisle.cache.query_context import QueryContext
from aisle.host.notify_sockets import ANYTHING, format_topic
from aisle.jobs.job import Args, Json

F = TypeVar("F", bound=Callable[..., Any])


TopicsOf = Callable[[Args, Sequence[Json]], Iterable[str]]
"""Function that returns the topics of an answer from its arguments and rows."""


def whole_topics(*topics: str) -> TopicsOf:
    """Return these topics. None: an answer to one input, or of data without a topic."""
    return lambda _args, _rows: topics


def topic_of(topic: str, field: str, *more: str) -> TopicsOf:
    """Return the topic of the one object named by this argument, all objects of the topic without it; and `more`."""
    return lambda args, _rows: (format_topic(topic, str(args.get(field) or "")), *more)


def topics_of_list(topic: str, field: str) -> TopicsOf:
    """Return the topics of the objects listed by this argument."""
    return lambda args, _rows: [format_topic(topic, str(each)) for each in args.get(field) or ()]


def topics_of_rows(topic: str, field: str) -> TopicsOf:
    """Return the topics of the objects in the rows; the whole topic if there are no rows."""
    return lambda _args, rows: [format_topic(topic, str(row.get(field) or "")) for row in rows] or [topic]


class DeclaredQuery(NamedTuple):
    """One query."""

    arguments: str
    """Names of its arguments."""
    topics_of: TopicsOf
    read: Callable[[QueryContext, Args], Any]
    sorts: tuple[str, ...] = ()
    """Fields of its rows by which it reads them from an index."""


DECLARED: dict[str, DeclaredQuery] = {}
"""Queries of the modules loaded so far, by name."""


_ANY_TOPIC = whole_topics(ANYTHING)


def declare_query(
    name: str, arguments: str, topics_of: TopicsOf = _ANY_TOPIC, sorts: tuple[str, ...] = ()
) -> Callable[[F], F]:
    """Declare the decorated function as the query of this name. By default any change may concern its answer."""

    def declare(read: F) -> F:
        DECLARED[name] = DeclaredQuery(arguments, topics_of, read, sorts)
        return read

    return declare


_QUERIES_BY_MODULE = {
    "chain_catalogue_queries": ("catalogue", "catalogue_page", "facets"),
    "claim_and_priority_queries": ("assigned_orders",),
    "clearance_and_assignment_queries": (
        "assignment_left",
        "assignments",
        "clearance_permission",
        "held_by_category",
        "tags",
    ),
    "code_queries": ("records_by_number",),
    "delivery_queries": (
        "deliveries",
        "deliveries_expecting",
        "delivery",
        "next_deliveries",
        "partly_received",
    ),
    "excess_receipt_queries": ("excess_receipts",),
    "difference_queries": ("differences",),
    "exception_queries": ("exceptions", "negative_stock", "stuck"),
    "expiry_check_queries": ("checked_products", "due_checks", "expiry_checks"),
    "goods_in_hand_queries": ("open_work",),
    "location_queries": ("held_goods", "location", "location_use", "locations", "locations_of_products"),
    "later_count_queries": ("later_counts", "moves_since", "unused_counts"),
    "log_queries": ("counts_booked_otherwise", "counts_since", "log", "log_sums", "losses", "my_entries", "reasons"),
    "unconfirmed_operation_queries": (
        "needing_person",
        "refused_operations",
        "request_state",
        "unconfirmed",
        "undos_after_counts",
    ),
    "order_board_queries": ("absent_order", "order_board", "order_counts", "orders_by_number", "saved_views"),
    "order_event_queries": ("order_history", "order_outcomes"),
    "order_queries": ("order", "order_to_pick", "orders", "orders_with_product", "pick_list"),
    "people_and_rights_queries": ("features", "list_choices", "people", "person", "preferences", "user_token"),
    "receipt_queries": ("receipt_kinds", "receipts"),
    "recount_queries": ("recounts",),
    "entries_to_review_queries": ("entries_to_review",),
    "product_queries": ("product", "search", "store_product", "surrounding"),
    "record_search": ("records",),
    "chain_store_queries": ("store", "store_page", "stores"),
    "other_locations_and_reasons_queries": ("other_locations", "short_reasons"),
    "today_queries": ("today", "today_hours", "today_locations", "today_terminals"),
    "uncollected_order_queries": ("picked_orders", "uncollected"),
    "unexpected_scan_queries": ("pickup_locations", "stock_at_location", "unexpected_product"),
    "unread_lists": ("unread_lists",),
}
MODULE_BY_QUERY = {name: module for module, names in _QUERIES_BY_MODULE.items() for name in names}

_WITHOUT_TOPICS = ("file", "message_texts", "terminal")
"""Queries of the session whose answers no change concerns."""


def find_query(name: str) -> DeclaredQuery:
    """Return a query by name. Raise KeyError if there is none."""
    if name not in DECLARED:
        import_module(f"aisle.cache.{MODULE_BY_QUERY[name]}")
    return DECLARED[name]


def topics_of_query(name: str, args: Args, rows: Sequence[Json]) -> frozenset[str]:
    """Return the topics whose change would change this answer; any for an unknown query."""
    if name in MODULE_BY_QUERY:
        return frozenset(find_query(name).topics_of(args, rows))
    return frozenset(() if name in _WITHOUT_TOPICS else (ANYTHING,))
