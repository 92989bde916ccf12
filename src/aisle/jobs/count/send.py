"""What a count sends: its entries, and what takes them back. Interface: Create store product logs."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs import goods
from aisle.jobs.base import Context, Write
from aisle.jobs.count import counting, not_taken
from aisle.jobs.count.counting import Change, Counting, Gone, Item
from aisle.jobs.view import INFO, WRONG, Msg, Verdict, msg
from aisle.undone import UNDO


def writes(state: Counting, context: Context) -> tuple[Write, ...]:
    """The operations that tell the service what was counted; a count is never merged with another."""
    entries = [(item.product, _entry(state, item, context.user)) for item in _in_order(state.counted)]
    return tuple(
        counting.logs(
            [entry for _, entry in part], [product for product, _ in part], context.store, context.user, counted=True
        )
        for part in (entries[first : first + counting.BATCH] for first in range(0, len(entries), counting.BATCH))
    )


def gone(what: str, state: Counting) -> Gone:
    """This count as it is taken back once it is sent."""
    return Gone(what, changes(state), sum(item.unsaid for item in state.counted))


def kept(sent: Gone) -> Verdict:
    """Says why nothing of a sent count can be taken back."""
    if sent.unsaid:
        return Verdict(WRONG, msg("count.cannot_take_back", what=sent.what))
    return Verdict(INFO, msg("count.none_to_take_back", what=sent.what))


def changes(state: Counting) -> tuple[Change, ...]:
    """What this count changes the stock by when it is sent."""
    return tuple(
        Change(item.product, item.place, item.pool, item.difference, _moment(state, item), item.label)
        for item in _in_order(state.counted)
        if item.difference
    )


def _moment(state: Counting, item: Item) -> str:
    """When it was counted; a total of the store is not told before its last part."""
    return item.at if item.place else max([item.at, *(other.at for other in state.items)])


def taken(gone: Gone, rows: not_taken.Rows) -> tuple[Gone, Mapping[str, Any] | None]:
    """A sent count without what the service refused of it, and the last refusal."""
    found = [(each, not_taken.refused(rows, each.product, each.at)) for each in gone.changes]
    last = next((row for _, row in reversed(found) if row), None)
    return gone._replace(changes=tuple(each for each, row in found if row is None)), last


def opposites(gone: Gone, context: Context) -> tuple[Write, ...]:
    """The operations that take a sent count back."""
    parts = (gone.changes[first : first + counting.BATCH] for first in range(0, len(gone.changes), counting.BATCH))
    return tuple(
        counting.logs(
            [_opposite(each, context) for each in part], [each.product for each in part], context.store, context.user
        )
        for part in parts
    )


def undone(gone: Gone) -> Msg:
    """Says what taking a sent count back changes: the stock of which products, or of one product at which places."""
    tour = len({each.place for each in gone.changes}) > 1
    changes = []
    for each in gone.changes:
        key, label = (each.place, each.place) if tour and each.place else (each.product, each.label or each.product)
        changes.append(goods.Goods(key, label, -each.quantity, is_change=True))
    told = goods.about("count.taken_back", "count.taken_back_many", changes, what=gone.what)
    return msg("count.taken_back_partly", told=told, count=gone.unsaid) if gone.unsaid else told


def _opposite(change: Change, context: Context) -> dict[str, Any]:
    return {
        "product_number": change.product,
        **({"location_code": change.place} if change.place else {}),
        f"stock_pool_{change.pool}" if change.pool else "quantity": -change.quantity,
        "reference": UNDO + change.at,
        "scanned_datetime": context.now,
        "app_user_name": context.user,
        "source": counting.SOURCE,
    }


def _in_order(items: tuple[Item, ...]) -> list[Item]:
    """What lies at no place comes last: it is told as the store's total, the places included."""
    return sorted(items, key=lambda item: not item.place)


def _entry(state: Counting, item: Item, user: str) -> dict[str, Any]:
    counted, expected = item.counted or Decimal(0), item.expected
    if not item.place:
        others = [other for other in state.items if other.place and _belongs(other, item)]
        known = sum((other.expected if other.counted is None else other.counted for other in others), Decimal(0))
        if state.mode == "product":  # what is in hand for orders is of the store, and not of this stop
            known += item.held
        counted, expected = counted + known, expected + known
    place = {"location_code": item.place} if item.place else {}
    bare = item.pool in (0, state.default if state.mode == "place" and item.place else 0)
    quantity = "counted_quantity" if bare else f"stock_pool_{item.pool}"
    return {
        "product_number": item.product,
        **place,
        quantity: counted,
        **({} if item.unsaid else {"expected_quantity": expected}),
        "scanned_datetime": _moment(state, item),
        "app_user_name": user,
        "source": counting.SOURCE,
    }


def _belongs(one: Item, other: Item) -> bool:
    """Whether a place's item belongs to the total that `other` stands for; a total of no pool holds them all."""
    return one.product == other.product and other.pool in (0, one.pool)
