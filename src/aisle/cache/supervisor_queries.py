"""Queries of the supervisor's pages, by name; loaded with the first of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import apsw

from aisle.cache import clearance_queries, exception_queries, today_queries
from aisle.cache.exception_queries import PickedOverStock, open_recounts
from aisle.cache.operation_queries import count_needing_person
from aisle.cache.order_board_queries import OrderBoard, find_absent_order
from aisle.cache.order_history_queries import order_history, order_outcomes
from aisle.cache.order_overlay import Overlay
from aisle.cache.row_values import QueryResult, window_bounds
from aisle.jobs.job import Args, Json
from aisle.jobs.supervisor.order_filter import view_key
from aisle.outbox import session_requests
from aisle.outbox.local_notes import SAVED_VIEW, notes_of_topic

if TYPE_CHECKING:
    from aisle.jobs.row_types import operations, orders, people, supervisor  # noqa: F401 - named in quotes below
    from aisle.jobs.row_types.orders import OrdersByNumberRow, SavedViewsRow
    from aisle.jobs.row_types.supervisor import ExceptionsRow, RecountsRow

DEFAULT_SIZE = 50

R = TypeVar("R")


class SupervisorQuery(NamedTuple, Generic[R]):
    """One query, with its row type as the type argument."""

    arguments: str
    """Names of its arguments."""
    read: Callable[[apsw.Connection, Args], QueryResult[R]]


class SupervisorQueries:
    """Supervisor's queries on one outbox; each gets the current cache."""

    def __init__(self, outbox: apsw.Connection, overlay: Overlay) -> None:
        self._outbox = outbox
        self._overlay = overlay
        self._board = OrderBoard(outbox, overlay)
        self._picked_over_stock = PickedOverStock()
        self.queries: Mapping[str, SupervisorQuery[Any]] = {
            "order_board": SupervisorQuery["orders.OrderBoardRow"](
                "status search reference claimed short late pickup_offset sort now anchor row fills near first size",
                self._board.read,
            ),
            "orders_by_number": SupervisorQuery["orders.OrdersByNumberRow"]("orders", self._board.rows_of_orders),
            "absent_order": SupervisorQuery["orders.AbsentOrderRow"](
                "order_number since",
                lambda cache, args: find_absent_order(cache, str(args["order_number"]), str(args["since"])),
            ),
            "order_history": SupervisorQuery["orders.OrderHistoryRow"](
                "order_number first size", lambda cache, args: order_history(cache, outbox, args)
            ),
            "order_outcomes": SupervisorQuery["orders.OrderOutcomesRow"](
                "orders since", lambda _, args: order_outcomes(outbox, args)
            ),
            "exceptions": SupervisorQuery["supervisor.ExceptionsRow"]("now minutes", self._query_exceptions),
            "differences": SupervisorQuery["supervisor.DifferencesRow"](
                "keys first size", lambda cache, args: exception_queries.open_differences(cache, outbox, args)
            ),
            "negative_stock": SupervisorQuery["supervisor.NegativeStockRow"](
                "keys first size",
                lambda cache, args: exception_queries.negative_stock(cache, self._picked_over_stock, args),
            ),
            "stuck": SupervisorQuery["orders.OrdersByNumberRow"]("now minutes first size", self._query_stuck),
            "recounts": SupervisorQuery["supervisor.RecountsRow"](
                "keys first size", lambda cache, args: _cut_window(open_recounts(cache, outbox), args)
            ),
            "saved_views": SupervisorQuery["orders.SavedViewsRow"]("user", self._query_saved_views),
            "clearance_permission": SupervisorQuery["people.ClearancePermissionRow"](
                "user", clearance_queries.clearance_permission
            ),
            "tags": SupervisorQuery["supervisor.TagsRow"]("", lambda cache, _: clearance_queries.tag_rows(cache)),
            "held_by_category": SupervisorQuery["supervisor.HeldByCategoryRow"](
                "tag", clearance_queries.held_by_category
            ),
            "assignments": SupervisorQuery["supervisor.AssignmentsRow"](
                "tag first size", lambda cache, args: clearance_queries.open_assignments(cache, outbox, overlay, args)
            ),
            "request_state": SupervisorQuery["operations.RequestStateRow"](
                "request_id", lambda _, args: session_requests.read_answer(outbox, str(args["request_id"]))
            ),
            "today": SupervisorQuery["supervisor.TodayRow"](
                "now",
                lambda cache, args: today_queries.figures_of_day(
                    cache, outbox, lambda now: self._count_late(cache, now), args
                ),
            ),
            "today_hours": SupervisorQuery["supervisor.TodayHoursRow"](
                "now", lambda cache, args: today_queries.work_by_hour(cache, outbox, args)
            ),
            "today_locations": SupervisorQuery["supervisor.TodayLocationsRow"](
                "now kind", today_queries.LocationFigures().read
            ),
            "today_terminals": SupervisorQuery["supervisor.TodayTerminalsRow"](
                "", lambda cache, _: today_queries.terminals_in_use(cache, outbox)
            ),
        }

    def read(self, name: str, cache: apsw.Connection, args: Args) -> QueryResult[Json]:
        """Return rows and total number of a named query."""
        return self.queries[name].read(cache, args)

    def _query_stuck(self, cache: apsw.Connection, args: Args) -> QueryResult[OrdersByNumberRow]:
        numbers = exception_queries.stuck_orders(cache, self._outbox, args)
        first, size = window_bounds(args, DEFAULT_SIZE)
        rows, _ = self._board.rows_of_orders(cache, {"orders": numbers[first : first + size]})
        for row in rows:
            row["idle_since"] = row["idle_since"] or row["seen_at"]
        return rows, len(numbers)

    def _query_exceptions(self, cache: apsw.Connection, args: Args) -> QueryResult[ExceptionsRow]:
        differences, value = exception_queries.difference_totals(cache, self._outbox)
        row: ExceptionsRow = {
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

    def _query_saved_views(self, _: apsw.Connection, args: Args) -> QueryResult[SavedViewsRow]:
        prefix = view_key(str(args["user"]))
        rows: list[SavedViewsRow] = [
            {"name": key.removeprefix(prefix), "filter": json.loads(note.text)}
            for key, note in notes_of_topic(self._outbox, SAVED_VIEW).items()
            if key.startswith(prefix)
        ]
        return rows, len(rows)


def _cut_window(rows: Sequence[RecountsRow], args: Args) -> QueryResult[RecountsRow]:
    """Return a window on a list, or the rows with these `keys`."""
    if args.get("keys"):
        matching = [row for row in rows if row["key"] in args["keys"]]
        return matching, len(matching)
    first, size = window_bounds(args, DEFAULT_SIZE)
    return list(rows[first : first + size]), len(rows)
