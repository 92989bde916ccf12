"""What picking tells the service. Interface: Update customer order, Create movement."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs.base import Write
from aisle.jobs.pick import hands, picking
from aisle.jobs.pick.history import Back, Did, Laid
from aisle.jobs.pick.picking import Picking, did
from aisle.jobs.pick.walk import Take


def updates(before: Picking, state: Picking, touched: Iterable[int], store: str) -> tuple[Write, ...]:
    """What these lines stand at, one operation for each order touched; quantities are absolute, and say what they were.

    An order is only called picked with the take that picks its last line, and no longer so with the undo of it: what
    somebody else does to other lines meanwhile is his to say.
    """
    lines: dict[str, list[dict[str, Any]]] = {}
    for index in touched:
        take = state.takes[index]
        lines.setdefault(take.order, []).append(_line(before.takes[index], take))
    return tuple(_update(state, order, found, store, picking.is_full(before, order)) for order, found in lines.items())


def _line(was: Take, take: Take) -> dict[str, Any]:
    line: dict[str, Any] = {"line_number": take.line, "product_number": take.product}
    line["base_picked_quantity"], line["picked_quantity"] = was.picked, take.picked
    line["is_picked"] = not take.open
    if take.place:
        line["preferred_location_code"] = take.place
    if take.pool:
        line["stock_pool"] = take.pool
    return line


def _update(state: Picking, order: str, lines: list[dict[str, Any]], store: str, was_full: bool) -> Write:
    body: dict[str, object] = {"order_number": order, "order_lines": lines}
    full = picking.is_full(state, order)
    if full or was_full:
        body["is_picked"] = full
    return write_order(order, body, store)


def write_order(order: str, body: Mapping[str, object], store: str) -> Write:
    """An update of one order, in its lane; it is one with those before it that were not sent."""
    lane = f"order/{order}"
    return Write("update-customer-order", (lane,), {"store_number": store}, {}, {"orders": body}, merge=lane)


def claim(order: str, store: str, *, claimed: bool = True) -> Write:
    """Somebody works on the order, or does so no more; whoever it is and where goes beside it."""
    return write_order(order, {"order_number": order, "is_claimed": claimed}, store)


def why_of(code: str, words: str) -> dict[str, str]:
    """A reason as orders and lines say it; what is empty is not said."""
    why = {"rejection_reason_code": code, "rejection_reason_code_description": words}
    return {name: text for name, text in why.items() if text}


def reject(order: str, code: str, words: str, store: str) -> Write:
    """The order is not delivered, and why: a supervisor's to say, also in the middle of a round."""
    body = {"order_number": order, "is_rejected": True, **why_of(code, words)}
    return write_order(order, body, store)._replace(supervises=True)


def shortage(
    state: Picking, indexes: Collection[int], store: str, code: str, words: str
) -> tuple[Picking, tuple[Write, ...]]:
    """Lines closed with what is in their totes. Why stays with them where the service says that it keeps that; else
    the journal alone knows.
    """
    closed = picking.put(state, {index: state.takes[index].picked for index in indexes}, closed=True)
    writes = updates(state, closed, indexes, store)
    for write in writes:
        for line in write.body["orders"]["order_lines"]:
            line.update(why_of(code, words))
    return closed, writes


def put_down(
    state: Picking, place: str, store: str, user: str, *, others: bool = False
) -> tuple[Picking, tuple[Write, ...]]:
    """What is in hand laid at a pick-up place, held by its order lines: of all totes, or of the one that was named.

    What somebody else has in hand who picks it too is his to put down, unless `others` says that it lies here as well.
    One operation an order, none when nothing is in hand.
    """
    meant = [take for take in state.takes if state.only in ("", take.order)]
    each = ((take, take.in_hand if others else hands.to_lay(state, take)) for take in meant)
    laid = tuple(Laid(take.order, take.line, quantity) for take, quantity in each if quantity)
    if not laid:
        return state, ()
    writes = _movements(_lines_of(state, laid), store, user, to={"location_code": place})
    down = picking.moved(state, laid, 1, place)._replace(ways=(), only="")
    return did(down, Did(laid=laid, place=place)), writes


def pick_up(state: Picking, step: Did, store: str, user: str) -> tuple[Picking, tuple[Write, ...]]:
    """What was put down is in hand again, as far as it still lies there."""
    lying = {(take.order, take.line): take.moved for take in state.takes}
    laid = tuple(each for each in step.laid if lying.get((each.order, each.line), 0) >= each.quantity)
    if not laid:
        return state, ()
    writes = _movements(_lines_of(state, laid), store, user, came={"location_code": step.place})
    return picking.moved(state, laid, -1, step.place), writes


def _lines_of(state: Picking, laid: Iterable[Laid]) -> list[tuple[Take, Decimal]]:
    takes = {(take.order, take.line): take for take in state.takes}
    return [(takes[each.order, each.line], each.quantity) for each in laid]


def put_back(backs: Iterable[Back], store: str, user: str, *, undone: bool = False) -> tuple[Write, ...]:
    """What orders that have left the round left in the hand lies where it was again, or is in hand after all.

    Of a rejected one the books have it at no place; for one that somebody else picks it counts as picked. What found no
    room on its line they never took away.
    """
    backs = tuple(backs)
    returned = _returned([back for back in backs if back.passed_on], store, undone=undone)
    return (*returned, *_laid_back([back for back in backs if back.free], store, user, undone=undone))


def put_for_others(
    backs: Iterable[Back], place: str, store: str, user: str, *, undone: bool = False
) -> tuple[Write, ...]:
    """Goods of orders that somebody else picks now are laid at a place for their lines, or are in hand again."""
    there: Mapping[str, str] = {"location_code": place}
    came, to = (there, {}) if undone else ({}, there)
    held = [(back.line, back.quantity) for back in backs if back.line]
    return _movements(held, store, user, came=came, to=to)


def _returned(backs: Iterable[Back], store: str, *, undone: bool) -> tuple[Write, ...]:
    """Goods of lines that somebody else picks now are picked no more, or are again."""
    stood: dict[tuple[str, int], tuple[Take, Take]] = {}
    for back in backs:
        if back.line:
            was, now = stood.get((back.order, back.line.line), (back.line, back.line))
            stood[back.order, back.line.line] = was, now.at(now.picked - back.quantity)
    bodies: dict[str, dict[str, Any]] = {}
    for (order, _), (was, now) in stood.items():
        body = bodies.setdefault(order, {"order_number": order, "order_lines": []})
        body["order_lines"].append(_line(now, was) if undone else _line(was, now))
        if now.open and not undone:
            body["is_picked"] = False
    return tuple(write_order(order, body, store) for order, body in bodies.items())


def _laid_back(backs: Iterable[Back], store: str, user: str, *, undone: bool) -> tuple[Write, ...]:
    items: dict[str, list[dict[str, Any]]] = {}
    for back in backs:
        pool = {"stock_pool": back.pool} if back.pool else {}
        ends: tuple[dict[str, Any], dict[str, Any]] = (pool, {"location_code": back.place, **pool})
        came, to = ends[::-1] if undone else ends
        item = {"product_number": back.product, "quantity": back.quantity, "from_location": came, "to_location": to}
        items.setdefault(back.order, []).append(item)
    return tuple(_movement(order, found, store, user) for order, found in items.items())


def _movements(
    held: Iterable[tuple[Take, Decimal]],
    store: str,
    user: str,
    *,
    came: Mapping[str, str] | None = None,
    to: Mapping[str, str] | None = None,
) -> tuple[Write, ...]:
    """Goods of order lines from one place to another; no place is the hand."""
    items: dict[str, list[dict[str, Any]]] = {}
    for take, quantity in held:
        holder = {"customer_order_number": take.order, "customer_order_line_number": take.line}
        item = {
            "product_number": take.product,
            "quantity": quantity,
            "from_location": {**holder, **(came or {})},
            "to_location": {**holder, **(to or {})},
        }
        items.setdefault(take.order, []).append(item)
    return tuple(_movement(order, found, store, user) for order, found in items.items())


def _movement(order: str, items: list[dict[str, Any]], store: str, user: str) -> Write:
    lanes = (f"order/{order}", *sorted({f"product/{item['product_number']}" for item in items}))
    return Write("create-movement", lanes, {"store_number": store}, {"AppUserName": user}, items)
