"""Operation that creates a movement of the goods in hand, and its items. Interface: Create movement."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from aisle.jobs.job import Write
from aisle.jobs.move.goods_in_hand import split_over_takes
from aisle.jobs.move.move_state_and_rows import ZERO, Goods, MovementItem, OrderNeed

if TYPE_CHECKING:
    from aisle.operation_body_types import MovementEnd, MovementEntry

MOVEMENT_SOURCE = "aisle"


def movement_items(
    goods: Iterable[Goods], location: str, target_order: str = "", needs: tuple[OrderNeed, ...] = ()
) -> tuple[MovementItem, ...]:
    """Return the items of the movement that brings goods to a location, or to the lines of an order."""
    remaining_needs = list(needs)
    items: list[MovementItem] = []
    for part in goods:
        for piece, taken_at in split_over_takes(part):
            item = MovementItem(
                part.product, part.label, piece.quantity, part.location, piece.pool, part.order, part.line
            )
            item = item._replace(to_location=location, to_pool=part.to_pool, allow_overage=part.allow_overage)
            item = item._replace(taken_at=taken_at)
            if not target_order:
                items.append(item._replace(to_order=part.order, to_line=part.line) if part.stays_held else item)
                continue
            items += _split_over_lines(item._replace(to_order=target_order), remaining_needs)
    return tuple(items)


def reverse_item(item: MovementItem, moved_at: str) -> MovementItem:
    """Return the reverse of an item that was moved then, into the same pool. Goods of an order keep their pool."""
    return item._replace(
        location=item.to_location,
        pool=0 if item.to_order else item.to_pool or item.pool,
        order=item.to_order,
        line=item.to_line,
        to_location=item.location,
        to_pool=item.pool if item.to_pool else 0,
        to_order=item.order,
        to_line=item.line,
        allow_overage=False,
        taken_at="",
        undone_at=moved_at,
    )


def movement_write(movement_items: Iterable[MovementItem], store: str, user: str) -> Write:
    """Return the operation; the service applies all items or none. Interface: Create movement."""
    items: list[MovementEntry] = []
    orders: set[str] = set()
    products: set[str] = set()
    for movement_item in movement_items:
        item: MovementEntry = {
            "product_number": movement_item.product,
            "quantity": movement_item.quantity,
            "from_location": _movement_end(
                movement_item.location, movement_item.pool, movement_item.order, movement_item.line
            ),
            "to_location": _movement_end(
                movement_item.to_location, movement_item.to_pool, movement_item.to_order, movement_item.to_line
            ),
            "source": MOVEMENT_SOURCE,
        }
        if movement_item.allow_overage:
            item["allow_overage"] = True
        if movement_item.taken_at:
            item["taken_datetime"] = movement_item.taken_at
        if movement_item.undone_at:
            item["undone_datetime"] = movement_item.undone_at
        items.append(item)
        products.add(f"product/{movement_item.product}")
        orders.update(f"order/{order}" for order in (movement_item.order, movement_item.to_order) if order)
    lanes = (*sorted(orders), *sorted(products))
    return Write("create-movement", lanes, {"store_number": store}, {"AppUserName": user}, items)


def _movement_end(location: str, pool: int, order: str, line: int) -> MovementEnd:
    end: MovementEnd = {"location_code": location} if location else {}
    if pool:
        end["stock_pool"] = pool
    if order:
        end["customer_order_number"], end["customer_order_line_number"] = order, line
    return end


def _split_over_lines(item: MovementItem, needs: list[OrderNeed]) -> list[MovementItem]:
    """Return one item for each line that needs some of it; reduce `needs` accordingly."""
    items, rest = [], item.quantity
    for index, need in enumerate(needs):
        piece = min(rest, need.needed) if need.product == item.product else ZERO
        if piece > 0:
            items.append(item._replace(quantity=piece, to_line=need.line))
            needs[index] = need._replace(needed=need.needed - piece)
            rest -= piece
    return items
