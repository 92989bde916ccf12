"""Tiles of the page Today: what needs a supervisor, how often, and the list behind each figure."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from aisle.jobs.job import Args, Context, Query, Rows, Start, money_message
from aisle.jobs.store_time import due_on_day_message, store_day
from aisle.jobs.supervisor.log_list import change_message, entry_label
from aisle.jobs.supervisor.order_filter import BUILT_IN_VIEWS, OrderFilter, query_arguments
from aisle.jobs.supervisor.order_rows import BoardOrder, parse_order_row
from aisle.jobs.view import Msg, Tile, known_number, msg, raw

MAX_NAMED_DELIVERIES = 3

_FILTERS = {**{id_: filter_ for id_, _, filter_ in BUILT_IN_VIEWS}, "unclaimed": OrderFilter("partial", claim="free")}
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


def _query(name: str, arguments: Callable[[Context], Args]) -> Callable[[str, Context], Query]:
    return lambda id_, context: Query(id_, name, arguments(context), is_live=True)


def _query_first(
    name: str, arguments: Callable[[Context], Args] = lambda context: {}
) -> Callable[[str, Context], Query]:
    """Return the query for the first row of a list."""
    return _query(name, lambda context: {**arguments(context), "first": 0, "size": 1})


def _query_orders(view: str) -> Callable[[str, Context], Query]:
    args = {**query_arguments(_FILTERS[view]), "search": ""}
    return _query_first("order_board", lambda context: {**args, "now": context.now})


def _open_orders(view: str) -> Start:
    return Start("orders", {"filter": dict(_FILTERS[view]._asdict())})


def _note_of_first(note: Callable[[Any, Context], Msg]) -> Callable[[Rows, Context], TileFigure]:
    """Return the figure of a list: its total, and a note on its first row."""
    return lambda answer, context: TileFigure(answer.total, note(answer.rows[0], context) if answer.rows else raw(""))


def _note_of_first_order(note: Callable[[BoardOrder], Msg]) -> Callable[[Rows, Context], TileFigure]:
    return _note_of_first(lambda row, context: note(parse_order_row(row, context)))


def _idle_note(order: BoardOrder) -> Msg:
    """Return an order that nobody has, and how long it is idle if that is known."""
    if order.idle_s < 0:
        return raw(order.number)
    return msg("tile.order_silent", order=order.number, seconds=str(order.idle_s))


def _stuck_note(order: BoardOrder) -> Msg:
    if not order.claimed_by:
        return msg("tile.order_silent", order=order.number, seconds=str(order.idle_s))
    return msg("tile.order_idle", order=order.number, who=order.claimed_by, seconds=str(order.idle_s))


def _differences(answer: Rows, context: Context) -> TileFigure:
    row = answer.rows[0]
    return TileFigure(row["differences"], msg("exceptions.value", value=money_message(row["value"])))


def _late_deliveries(answer: Rows, context: Context) -> TileFigure:
    return TileFigure(answer.total, raw(", ".join(str(row["order_number"]) for row in answer.rows)))


def _picked_orders(answer: Rows, context: Context) -> TileFigure:
    """Return how many orders wait for their customers, and how many of them for too long."""
    row = answer.rows[0]
    if row["uncollected"]:
        return TileFigure(row["picked"], msg("tile.uncollected", count=row["uncollected"]))
    return TileFigure(row["picked"], msg("tile.order_of", order=row["order_number"], who=row["customer_name"]))


SOURCES: dict[str, TileSource] = {
    "late": TileSource(
        msg("exceptions.late"),
        "late",
        _query_orders("late"),
        _note_of_first_order(lambda order: msg("tile.order_due", order=order.number, due=order.due)),
        _open_orders("late"),
    ),
    "stuck": TileSource(
        msg("exceptions.stuck"),
        "warning",
        _query_first("stuck", lambda context: {"now": context.now, "minutes": context.policy.stuck_minutes}),
        _note_of_first_order(_stuck_note),
        Start("exceptions", {"kind": "stuck"}),
    ),
    "unclaimed": TileSource(
        msg("tile.unclaimed"),
        "warning",
        _query_orders("unclaimed"),
        _note_of_first_order(_idle_note),
        _open_orders("unclaimed"),
    ),
    "short": TileSource(
        msg("tile.short"),
        "warning",
        _query_orders("short"),
        _note_of_first_order(lambda order: msg("tile.order_of", order=order.number, who=order.customer)),
        _open_orders("short"),
    ),
    "ready": TileSource(
        msg("tile.ready"),
        "ready",
        _query("picked_orders", lambda context: {"now": context.now, "pickup_days": context.policy.pickup_days}),
        _picked_orders,
        _open_orders("picked"),
    ),
    "differences": TileSource(
        msg("tile.differences"),
        "warning",
        _query("exceptions", lambda context: {"now": context.now, "minutes": context.policy.stuck_minutes}),
        _differences,
        Start("exceptions", {"kind": "differences"}),
        "logs",
    ),
    "negative_stock": TileSource(
        msg("exceptions.negative_stock"),
        "late",
        _query_first("negative_stock"),
        _note_of_first(
            lambda row, _: msg("tile.quantity_of", what=row["label"], quantity=known_number(row["quantity"]))
        ),
        Start("exceptions", {"kind": "negative_stock"}),
        "stock",
    ),
    "deliveries": TileSource(
        msg("tile.late_deliveries"),
        "warning",
        _query(
            "deliveries",
            lambda context: {
                "state": "late",
                "now": context.now,
                "search": "",
                "first": 0,
                "size": MAX_NAMED_DELIVERIES,
            },
        ),
        _late_deliveries,
        Start("deliveries", {"subset": "late"}),
        "deliveries",
    ),
    "excess_receipts": TileSource(
        msg("exceptions.excess_receipts"),
        "warning",
        _query_first("excess_receipts"),
        _note_of_first(lambda row, _: msg("tile.order_of", order=row["order_number"], who=row["description"])),
        Start("exceptions", {"kind": "excess_receipts"}),
        "deliveries",
    ),
    "entries_to_review": TileSource(
        msg("exceptions.entries_to_review"),
        "warning",
        _query_first("entries_to_review"),
        _note_of_first(lambda row, _: msg("tile.quantity_of", what=entry_label(row), quantity=change_message(row))),
        Start("exceptions", {"kind": "entries_to_review"}),
        "logs",
    ),
    "expiry_checks": TileSource(
        msg("home.expiry"),
        "warning",
        _query_first("expiry_checks", lambda context: {"day": store_day(context.now)}),
        _note_of_first(
            lambda row, context: msg(
                "tile.order_due", order=row["product_name"], due=due_on_day_message(row["due"], context.now)
            )
        ),
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
