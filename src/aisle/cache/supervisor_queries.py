"""Queries of the supervisor's pages, by name; loaded with the first of them.

* `order_board`, `orders_by_number`, `absent_order` (order_number, since): see aisle.cache.order_board_queries.
* `order_history` (order_number, size), `order_outcomes` (orders, since): see aisle.cache.order_history_queries.
* `exceptions` (now, minutes): one row with the number of each kind.
* `differences`, `negative_stock`, `stuck` (now, minutes), `recounts`: windows (first, size); see
  aisle.cache.exception_queries.
* `saved_views` (user): saved filters of a person.
* `clearance_permission`, `tags`, `held_by_category`, `assignments`, `request_state`: see aisle.cache.clearance_queries.
* `today`, `today_hours`, `today_locations`, `today_terminals`: see aisle.cache.today_queries.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import apsw

from aisle.cache import clearance_queries, exception_queries, today_queries
from aisle.cache.exception_queries import PickedOverStock, open_recounts
from aisle.cache.operation_queries import count_needing_person
from aisle.cache.order_board_queries import OrderBoard, find_absent_order
from aisle.cache.order_history_queries import order_history, order_outcomes
from aisle.cache.order_overlay import Overlay, Row
from aisle.cache.row_values import QueryResult, window_bounds
from aisle.jobs.job import Json
from aisle.jobs.supervisor.order_filter import view_key
from aisle.outbox import session_requests
from aisle.outbox.local_notes import SAVED_VIEW, notes_of_topic

DEFAULT_SIZE = 50


class SupervisorQueries:
    """Supervisor's queries on one outbox; each gets the current cache."""

    def __init__(self, outbox: apsw.Connection, overlay: Overlay) -> None:
        self._outbox = outbox
        self._overlay = overlay
        self._board = OrderBoard(outbox, overlay)
        self._picked_over_stock = PickedOverStock()
        self._queries: Mapping[str, Callable[[apsw.Connection, Mapping[str, Json]], QueryResult]] = {
            "order_board": self._board.read,
            "orders_by_number": self._board.rows_of_orders,
            "absent_order": lambda cache, args: find_absent_order(cache, str(args["order_number"]), str(args["since"])),
            "order_history": lambda cache, args: order_history(cache, outbox, args),
            "order_outcomes": lambda _, args: order_outcomes(outbox, args),
            "differences": lambda cache, args: exception_queries.open_differences(cache, outbox, args),
            "negative_stock": lambda cache, args: exception_queries.negative_stock(
                cache, self._picked_over_stock, args
            ),
            "stuck": self._query_stuck,
            "recounts": lambda cache, args: _cut_window(open_recounts(cache, outbox), args),
            "exceptions": self._query_exceptions,
            "saved_views": self._query_saved_views,
            "clearance_permission": clearance_queries.clearance_permission,
            "tags": lambda cache, _: clearance_queries.tag_rows(cache),
            "held_by_category": clearance_queries.held_by_category,
            "assignments": lambda cache, args: clearance_queries.open_assignments(cache, outbox, overlay, args),
            "today": lambda cache, args: today_queries.figures_of_day(
                cache, outbox, lambda now: self._count_late(cache, now), args
            ),
            "today_hours": lambda cache, args: today_queries.work_by_hour(cache, outbox, args),
            "today_locations": today_queries.LocationFigures().read,
            "today_terminals": lambda cache, _: today_queries.terminals_in_use(cache, outbox),
            "request_state": lambda _, args: session_requests.read_answer(outbox, str(args["request_id"])),
        }

    def read(self, name: str, cache: apsw.Connection, args: Mapping[str, Json]) -> QueryResult:
        """Return rows and total number of a named query."""
        return self._queries[name](cache, args)

    def _query_stuck(self, cache: apsw.Connection, args: Mapping[str, Json]) -> QueryResult:
        numbers = exception_queries.stuck_orders(cache, self._outbox, args)
        first, size = window_bounds(args, DEFAULT_SIZE)
        rows, _ = self._board.rows_of_orders(cache, {"orders": numbers[first : first + size]})
        for row in rows:
            row["silent_since"] = row["silent_since"] or row["seen_at"]
        return rows, len(numbers)

    def _query_exceptions(self, cache: apsw.Connection, args: Mapping[str, Json]) -> QueryResult:
        differences, value = exception_queries.difference_totals(cache, self._outbox)
        row: Row = {
            "unconfirmed": count_needing_person(self._outbox)[1],
            "differences": differences,
            "value": value,
            "negative_stock": exception_queries.count_negative_stock(cache, self._picked_over_stock),
            "stuck": len(exception_queries.stuck_orders(cache, self._outbox, args)),
            "late": self._count_late(cache, str(args["now"])),
            "recounts": len(open_recounts(cache, self._outbox)),
        }
        return [row], 1

    def _count_late(self, cache: apsw.Connection, now: str) -> int:
        return self._board.count_late(cache, now)

    def _query_saved_views(self, _: apsw.Connection, args: Mapping[str, Json]) -> QueryResult:
        prefix = view_key(str(args["user"]))
        rows: list[Row] = [
            {"name": key.removeprefix(prefix), "filter": json.loads(note.text)}
            for key, note in notes_of_topic(self._outbox, SAVED_VIEW).items()
            if key.startswith(prefix)
        ]
        return rows, len(rows)


def _cut_window(rows: list[Row], args: Mapping[str, Json]) -> QueryResult:
    """Return a window on a list, or the rows with these `keys`."""
    if args.get("keys"):
        matching = [row for row in rows if row.get("key") in args["keys"]]
        return matching, len(matching)
    first, size = window_bounds(args, DEFAULT_SIZE)
    return rows[first : first + size], len(rows)
