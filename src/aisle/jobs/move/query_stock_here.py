"""Stock at the location of a move: its queries, and counts made there since the goods in hand were taken.

The stock here is shown with the goods in hand, as if they were still there, so that no page takes them for missing. The
service is told when they were taken, and takes them off the stock once.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from aisle.jobs.count.count_state import LaterCount
from aisle.jobs.job import Close, Context, Effect, Query, Turn, Write
from aisle.jobs.move.goods_in_hand import find_goods, free_goods, shift_stock
from aisle.jobs.move.move_state_and_rows import (
    ZERO,
    Goods,
    MoveState,
    Result,
    StockLine,
    Take,
    is_open_order,
    parse_held_goods,
    parse_stock_lines,
)
from aisle.jobs.names_in_messages import amount_of
from aisle.jobs.view import Msg, msg
from aisle.row_values import to_decimal

if TYPE_CHECKING:
    from aisle.jobs.row_types.locations import LocationRow
    from aisle.jobs.row_types.log import LaterCountsRow
    from aisle.jobs.row_types.orders import OrderRow


def query_location(id_: str, location: str) -> Query:
    """Return the query for the stock at a location, up to `MAX_PRODUCTS`."""
    return Query(id_, "location", {"location_code": location, "size": MAX_PRODUCTS})


def query_product_here(state: MoveState, product: str) -> Query:
    """Return the query for a product at the current location that was not read with it."""
    return Query("here", "location", {"location_code": state.location, "product_number": product})


def query_location_again(state: MoveState) -> Query:
    """Return the query that reads the stock at the current location again."""
    return (
        query_location("again", state.location)
        if state.has_unread_stock
        else Query("again", "location", {"location_code": state.location})
    )


def query_all_here(state: MoveState) -> Query:
    """Return the query for all stock at the current location."""
    return Query(QUERY_ALL, "location", {"location_code": state.location})


def refresh_stock(state: MoveState, row: LocationRow | None) -> MoveState:
    """Update the state with the stock of the current location, also for goods taken here."""
    if row is None:
        return state._replace(source_stock=(), is_source_known=False, has_unread_stock=False, product_count=0)
    stock = parse_stock_lines(row)
    product_count = int(to_decimal(row.get("total"), Decimal(len(stock))))
    are_locations_unknown = bool(row.get("unnamed"))
    state = state._replace(
        is_source_known=True,
        has_unread_stock=product_count > len(stock),
        product_count=product_count,
        are_locations_unknown=are_locations_unknown,
    )
    state = state._replace(source_stock=(*stock, *_goods_in_question(state, stock)))
    stock = shift_stock(state, goods_before_counts(state), 1)
    in_hand = tuple(_with_current_stock(part, stock, state) for part in state.in_hand)
    return state._replace(source_stock=stock, in_hand=in_hand)


def with_product_here(state: MoveState, row: LocationRow | None) -> MoveState:
    """Add the queried stock of a product at the current location."""
    return state._replace(source_stock=(*state.source_stock, *(parse_stock_lines(row) if row else ())))


def _with_current_stock(goods: Goods, stock: tuple[StockLine, ...], state: MoveState) -> Goods:
    if goods.location.casefold() != state.location.casefold():
        return goods
    line = next((each for each in stock if each.product == goods.product), None)
    if line is None and state.has_unread_stock:
        return goods
    if goods.order:
        held = [hold for hold in (line.held if line else ()) if (hold.order, hold.line) == (goods.order, goods.line)]
        return goods._replace(available=held[0].quantity if held else ZERO)
    if line is None and goods.taken_before_count:
        return goods._replace(available=goods.taken_before_count)
    if line is None:
        return goods._replace(available=ZERO, pools=())
    fresh = free_goods(line, goods.location, goods.pool)
    return goods._replace(available=fresh.available, pools=fresh.pools)


def refresh_goods_of_order(state: MoveState, row: OrderRow | None) -> MoveState:
    """Update the state with the goods that the order at the source holds now, also for those taken from it."""
    if not state.order or (row is not None and not row.get("lines_known", True)):
        return state
    lines = parse_held_goods(row, state.location) if row is not None and is_open_order(row) else ()
    held = {(hold.line, hold.location): hold.quantity for line in lines for hold in line.held}
    in_hand = tuple(
        part._replace(available=held.get((part.line, part.location), ZERO))
        if part.order == state.order and not part.stays_held
        else part
        for part in state.in_hand
    )
    return state._replace(order_lines=_with_goods_in_question(state, lines), in_hand=in_hand)


def _with_goods_in_question(state: MoveState, lines: tuple[StockLine, ...]) -> tuple[StockLine, ...]:
    """Return the goods of the order with the product in question, without quantity if nothing is left of it. Without
    it the answer would be ignored."""
    product = state.pending_scan.key if state.choices and state.pending_scan else ""
    if any(line.product == product and line.held for line in lines):
        return lines
    gone = tuple(
        line._replace(held=tuple(hold._replace(quantity=ZERO) for hold in line.held))
        for line in state.order_lines
        if line.product == product
    )
    return (*(line for line in lines if line.product != product), *gone)


MAX_PRODUCTS = 200
"""Number of products read when a location is opened; others are read when they are scanned."""


QUERY_ALL = "all"
"""Query of all stock at a location, and its id."""


def _goods_in_question(state: MoveState, stock: tuple[StockLine, ...]) -> tuple[StockLine, ...]:
    """Return the product in question with no stock, if it has none here any more. Without it the answer would take
    nothing. If the location has unread stock, the line stays as it was. A question about a number may cover it."""
    product = state.pending_scan.key if state.choices and state.pending_scan else ""
    if any(each.product == product for each in stock):
        return ()
    lines = tuple(each for each in state.source_stock if each.product == product)
    return lines if state.has_unread_stock else tuple(each._replace(free=ZERO, pools=(), held=()) for each in lines)


COUNTS_QUERY = "counts_since_take"
"""Id of the query for these counts."""


def query_counts(state: MoveState) -> Query | None:
    """Return the query for counts since goods in hand were taken; None without goods from a location."""
    taken = [part for part in state.in_hand if part.location and part.takes]
    goods = [[part.product, part.location, part.pool, part.takes[0].at] for part in taken]
    return Query(COUNTS_QUERY, "later_counts", {"goods": goods}) if goods else None


def with_counts(state: MoveState, rows: tuple[LaterCountsRow, ...]) -> MoveState:
    """Return the state with the last count of the location of each of its goods in hand."""
    found = {
        (row["product_number"], row["location_code"], row["pool"]): LaterCount(
            row["user_name"], row["counted_quantity"], row["at"]
        )
        for row in rows
    }
    in_hand = (part._replace(later=found.get((part.product, part.location, part.pool))) for part in state.in_hand)
    return state._replace(in_hand=tuple(in_hand))


def goods_before_counts(state: MoveState) -> tuple[Goods, ...]:
    """Return the goods in hand with the quantities that counts of their locations lack."""
    lacking = (part._replace(quantity=part.taken_before_count) for part in state.in_hand)
    return tuple(part for part in lacking if part.quantity)


def count_goods_in_hand(state: MoveState, location: str, context: Context) -> MoveState:
    """Return the state after a count of a location that this job has opened: its goods in hand were counted, too."""
    return state._replace(
        in_hand=tuple(
            part._replace(takes=(Take(part.quantity, context.now),), later=None)
            if part.location.casefold() == location.casefold()
            else part
            for part in state.in_hand
        )
    )


def report_goods_put_back(before: MoveState, turn: Result) -> Result:
    """Add to the verdict that somebody counted the location without the goods that are put back there."""
    detail = _counted_without(before, turn.state)
    if detail is None or any(isinstance(effect, Write) for effect in turn.effects):
        return turn
    told = turn.verdict and turn.verdict._replace(detail=detail)
    return Turn(turn.state, tuple(_with_detail(effect, detail) for effect in turn.effects), told)


def _with_detail(effect: Effect, detail: Msg) -> Effect:
    """Return an effect whose verdict is shown on the page below with this detail."""
    if not isinstance(effect, Close) or effect.verdict is None:
        return effect
    return effect._replace(verdict=effect.verdict._replace(detail=detail))


def _counted_without(before: MoveState, after: MoveState) -> Msg | None:
    """Return who counted a location without goods that were in hand and are no longer; None if nobody did."""
    for part in before.in_hand:
        index = find_goods(after.in_hand, part)
        left = after.in_hand[index].taken_before_count if index >= 0 else 0
        if part.later and left < part.taken_before_count:
            name, counted, at = part.later
            return msg("count.counted_later", name=name, counted=amount_of(part, counted), at=at)
    return None
