"""Queries by name: the module of each, which is loaded with the first of its queries.

Queries that the session answers itself: aisle.session.answer_job_queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from aisle.cache.query_context import DECLARED, DeclaredQuery
from aisle.host.notify_sockets import ANYTHING
from aisle.jobs.job import Args, Json

_QUERIES_BY_MODULE = {
    "chain_catalogue_queries": ("catalogue", "catalogue_page", "facets"),
    "claim_queries": ("assigned_orders",),
    "clearance_queries": ("assignments", "clearance_permission", "held_by_category", "tags"),
    "code_queries": ("records_by_number",),
    "delivery_queries": (
        "deliveries",
        "deliveries_expecting",
        "delivery",
        "partly_received",
        "receipt_kinds",
        "receipts",
    ),
    "exception_queries": ("differences", "exceptions", "negative_stock", "recounts", "stuck"),
    "goods_in_hand_queries": ("open_work",),
    "location_queries": ("location", "location_use", "locations", "locations_of_products"),
    "log_queries": ("log", "losses", "my_entries", "reasons"),
    "operation_queries": ("needing_person", "refused_operations", "request_state", "unconfirmed"),
    "order_board_queries": ("absent_order", "order_board", "order_counts", "orders_by_number", "saved_views"),
    "order_event_queries": ("order_history", "order_outcomes"),
    "order_queries": ("order", "order_to_pick", "orders", "orders_with_product"),
    "people_queries": ("language", "people", "person", "user_token"),
    "pick_queries": (
        "features",
        "other_locations",
        "pickup_locations",
        "short_reasons",
        "stock_at_location",
        "unexpected_product",
    ),
    "product_queries": ("next_deliveries", "product", "search", "store_product", "surrounding"),
    "record_search": ("records",),
    "store_queries": ("store", "store_page", "stores", "unread_lists"),
    "today_queries": ("today", "today_hours", "today_locations", "today_terminals"),
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
