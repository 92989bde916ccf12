"""Tiles of the page Today: what needs a supervisor, how often, and the list behind each figure."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

from aisle.jobs.job import Context, Query, Rows, Start, money_message
from aisle.jobs.store_time import due_on_day_message, store_day
from aisle.jobs.supervisor.log_list import change_message, entry_label
from aisle.jobs.supervisor.order_filter import BUILT_IN_VIEWS, OrderFilter, query_arguments
from aisle.jobs.supervisor.order_rows import BoardOrder, parse_order_row
from aisle.jobs.view import Msg, Tile, known_number, msg, raw

MAX_NAMED_DELIVERIES = 3

_FILTERS = {**dict(BUILT_IN_VIEWS), "unclaimed": OrderFilter("partial", claim="free")}
"""Filters of the lists that tiles open."""


class TileFigure(NamedTuple):
    """Total of a tile, and what is first in its list."""

    total: int
    note: Msg = raw("")


class TileSource(NamedTuple):
    """Where the figure of a tile comes from, and what the tile opens."""

    title: Msg
    urgency: str
    query: Callable[[str, Context], Query]
    """Returns the query with the given id."""
    figure: Callable[[Rows, Context], TileFigure]
    opens: Start
    list_name: str = "headers"
    """List of the sync that the figure comes from."""
    is_for_desk: bool = False
    """True if only a desk shows it: a handheld has no room for it, and its home page has the same."""


def _orders_query(view: str) -> Callable[[str, Context], Query]:
    args = {**query_arguments(_FILTERS[view]), "search": "", "first": 0, "size": 1}
    return lambda id_, context: Query(id_, "order_board", {**args, "now": context.now}, is_live=True)


def _open_orders(view: str) -> Start:
    return Start("orders", {"filter": dict(_FILTERS[view]._asdict())})


def _late_orders(answer: Rows, context: Context) -> TileFigure:
    notes = (msg("tile.order_due", order=order.number, due=order.due) for order in _orders(answer, context))
    return TileFigure(answer.total, next(notes, raw("")))


def _stuck_orders(answer: Rows, context: Context) -> TileFigure:
    return TileFigure(answer.total, next(map(_stuck_note, _orders(answer, context)), raw("")))


def _idle_orders(answer: Rows, context: Context) -> TileFigure:
    """Return orders that nobody has, and how long the first one is idle."""
    notes = (
        msg("tile.order_silent", order=order.number, seconds=str(order.idle_s))
        if order.idle_s >= 0
        else raw(order.number)
        for order in _orders(answer, context)
    )
    return TileFigure(answer.total, next(notes, raw("")))


def _stuck_note(order: BoardOrder) -> Msg:
    if not order.claimed_by:
        return msg("tile.order_silent", order=order.number, seconds=str(order.idle_s))
    return msg("tile.order_idle", order=order.number, who=order.claimed_by, seconds=str(order.idle_s))


def _order_and_customer(answer: Rows, context: Context) -> TileFigure:
    notes = (msg("tile.order_of", order=order.number, who=order.customer) for order in _orders(answer, context))
    return TileFigure(answer.total, next(notes, raw("")))


def _orders(answer: Rows, context: Context) -> list[BoardOrder]:
    return [parse_order_row(row, context) for row in answer.rows]


def _differences(answer: Rows, context: Context) -> TileFigure:
    row = answer.rows[0]
    return TileFigure(row["differences"], msg("exceptions.value", value=money_message(row["value"])))


def _negative_stock(answer: Rows, context: Context) -> TileFigure:
    notes = (msg("tile.quantity_of", what=row["label"], quantity=known_number(row["quantity"])) for row in answer.rows)
    return TileFigure(answer.total, next(notes, raw("")))


def _late_deliveries(answer: Rows, context: Context) -> TileFigure:
    return TileFigure(answer.total, raw(", ".join(str(row["order_number"]) for row in answer.rows)))


def _excess_receipts(answer: Rows, context: Context) -> TileFigure:
    notes = (msg("tile.order_of", order=str(row["order_number"]), who=str(row["description"])) for row in answer.rows)
    return TileFigure(answer.total, next(notes, raw("")))


def _entries_to_review(answer: Rows, context: Context) -> TileFigure:
    notes = (msg("tile.quantity_of", what=entry_label(row), quantity=change_message(row)) for row in answer.rows)
    return TileFigure(answer.total, next(notes, raw("")))


def _expiry_checks(answer: Rows, context: Context) -> TileFigure:
    """Return how many products are to be checked, with the first one in walking order and its day."""
    notes = (
        msg("tile.order_due", order=row["product_name"], due=due_on_day_message(row["due"], context.now))
        for row in answer.rows
    )
    return TileFigure(answer.total, next(notes, raw("")))


def _picked_orders(answer: Rows, context: Context) -> TileFigure:
    """Return how many orders wait for their customers, and how many of them for too long."""
    row = answer.rows[0]
    if row["uncollected"]:
        return TileFigure(row["picked"], msg("tile.uncollected", count=row["uncollected"]))
    return TileFigure(row["picked"], msg("tile.order_of", order=row["order_number"], who=row["customer_name"]))


SOURCES: dict[str, TileSource] = {
    "late": TileSource(msg("exceptions.late"), "late", _orders_query("late"), _late_orders, _open_orders("late")),
    "stuck": TileSource(
        msg("exceptions.stuck"),
        "warning",
        lambda id_, context: Query(
            id_,
            "stuck",
            {"now": context.now, "minutes": context.policy.stuck_minutes, "first": 0, "size": 1},
            is_live=True,
        ),
        _stuck_orders,
        Start("exceptions", {"kind": "stuck"}),
    ),
    "unclaimed": TileSource(
        msg("tile.unclaimed"), "warning", _orders_query("unclaimed"), _idle_orders, _open_orders("unclaimed")
    ),
    "short": TileSource(
        msg("tile.short"), "warning", _orders_query("short"), _order_and_customer, _open_orders("short")
    ),
    "ready": TileSource(
        msg("tile.ready"),
        "ready",
        lambda id_, context: Query(
            id_, "picked_orders", {"now": context.now, "pickup_days": context.policy.pickup_days}, is_live=True
        ),
        _picked_orders,
        _open_orders("picked"),
    ),
    "differences": TileSource(
        msg("tile.differences"),
        "warning",
        lambda id_, context: Query(
            id_, "exceptions", {"now": context.now, "minutes": context.policy.stuck_minutes}, is_live=True
        ),
        _differences,
        Start("exceptions", {"kind": "differences"}),
        "logs",
    ),
    "negative_stock": TileSource(
        msg("exceptions.negative_stock"),
        "late",
        lambda id_, context: Query(id_, "negative_stock", {"first": 0, "size": 1}, is_live=True),
        _negative_stock,
        Start("exceptions", {"kind": "negative_stock"}),
        "products",
    ),
    "deliveries": TileSource(
        msg("tile.late_deliveries"),
        "warning",
        lambda id_, context: Query(
            id_,
            "deliveries",
            {"state": "late", "now": context.now, "search": "", "first": 0, "size": MAX_NAMED_DELIVERIES},
            is_live=True,
        ),
        _late_deliveries,
        Start("deliveries", {"subset": "late"}),
        "deliveries",
    ),
    "excess_receipts": TileSource(
        msg("exceptions.excess_receipts"),
        "warning",
        lambda id_, context: Query(id_, "excess_receipts", {"first": 0, "size": 1}, is_live=True),
        _excess_receipts,
        Start("exceptions", {"kind": "excess_receipts"}),
        "deliveries",
    ),
    "entries_to_review": TileSource(
        msg("exceptions.entries_to_review"),
        "warning",
        lambda id_, context: Query(id_, "entries_to_review", {"first": 0, "size": 1}, is_live=True),
        _entries_to_review,
        Start("exceptions", {"kind": "entries_to_review"}),
        "logs",
    ),
    "expiry_checks": TileSource(
        msg("home.expiry"),
        "warning",
        lambda id_, context: Query(
            id_, "expiry_checks", {"day": store_day(context.now), "first": 0, "size": 1}, is_live=True
        ),
        _expiry_checks,
        Start("expiry", {}),
        "products",
        is_for_desk=True,
    ),
}
"""Sources of the tiles by the id of their query, in the order of their numbers."""


def shown_sources(*, is_desk: bool) -> dict[str, TileSource]:
    """Return the sources of the tiles that a screen shows."""
    return {id_: source for id_, source in SOURCES.items() if is_desk or not source.is_for_desk}


def tile_queries(context: Context) -> tuple[Query, ...]:
    """Return the queries for the figures of all tiles."""
    return tuple(source.query(id_, context) for id_, source in shown_sources(is_desk=context.is_desk).items())


def make_tile(id_: str, figure: TileFigure | None, unread: Collection[str] = ()) -> Tile:
    """Return a tile with its figure, if it has come and its list is not `unread`. A total of zero has neither a note
    nor a tone."""
    source = SOURCES[id_]
    if figure is None or source.list_name in unread:
        return Tile(source.title, None)
    return Tile(source.title, figure.total, figure.note if figure.total else raw(""), source.urgency)


def tile_choice(tile: Tile) -> Msg:
    """Return the tile as a numbered choice, for screens without tiles."""
    return tile.title if tile.total is None else msg("beside", one=tile.title, other=tile.total)
