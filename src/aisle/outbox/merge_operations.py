"""Merging of two writes into one with the effect of both. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aisle.jobs.job import Write
from aisle.outbox.operation_record import UPDATE_ORDER
from aisle.outbox.rebase_picks import merge_line_updates

if TYPE_CHECKING:
    from aisle.operation_body_types import LineUpdate, OrderUpdate

_SOURCE_FIELDS = ("preferred_location_code", "stock_pool")
"""Fields of a line that name the source of its goods."""


def can_merge(earlier: Write, later: Write) -> bool:
    """Return whether both have the same merge key and target, and pick no line from two locations."""
    same = (earlier.merge_key, earlier.operation, earlier.path, earlier.query) == (
        later.merge_key,
        later.operation,
        later.path,
        later.query,
    )
    return (
        bool(later.merge_key)
        and same
        and (earlier.user, earlier.needs_supervisor) == (later.user, later.needs_supervisor)
        and not (later.operation == UPDATE_ORDER and _picks_from_another_location(earlier, later))
    )


def _picks_from_another_location(earlier: Write, later: Write) -> bool:
    """Return whether a line is picked from different locations: quantities are absolute, so one would get all of it."""
    before, after = _source_locations(earlier), _source_locations(later)
    return any(before[line] != after[line] for line in before.keys() & after.keys())


def _source_locations(write: Write) -> dict[Any, tuple[Any, ...]]:
    lines = write.body["orders"].get("order_lines") or ()
    return {line["line_number"]: tuple(line.get(name) for name in _SOURCE_FIELDS) for line in lines}


def merge_writes(earlier: Write, later: Write) -> Write:
    """Return one write with the effect and the lanes of both.

    Update customer order: fields of the order and of each line (by `line_number`) are merged, the later ones winning;
    picked quantities are added up (see `rebase_picks`). Any other body is replaced by the later one.
    """
    body = later.body
    if later.operation == UPDATE_ORDER:
        body = {**earlier.body, **later.body, "orders": _merge_orders(earlier.body["orders"], later.body["orders"])}
    return later._replace(lanes=tuple(dict.fromkeys((*earlier.lanes, *later.lanes))), body=body)


def _merge_orders(earlier: OrderUpdate, later: OrderUpdate) -> OrderUpdate:
    order: OrderUpdate = {**earlier, **later}
    if "order_lines" in order:
        order["order_lines"] = _merge_lines(earlier.get("order_lines") or (), later.get("order_lines") or ())
    return order


def _merge_lines(earlier: Sequence[LineUpdate], later: Sequence[LineUpdate]) -> list[LineUpdate]:
    lines: dict[int, LineUpdate] = {}
    for line in (*earlier, *later):
        lines[line["line_number"]] = merge_line_updates(lines.get(line["line_number"], {}), line)
    return list(lines.values())


def product_lanes(write: Write) -> frozenset[str]:
    """Return the lanes of the products that an order's lines pick.

    A count or movement in these lanes separates two writes. A merged write happens when its later part does, but a
    count in between was made after the earlier part.
    """
    if write.operation != UPDATE_ORDER:
        return frozenset()
    lines = write.body["orders"].get("order_lines") or ()
    return frozenset(f"product/{line['product_number']}" for line in lines)


def merge_batch(writes: Sequence[Write]) -> tuple[list[Write], list[int]]:
    """Return the writes of a batch after merging, and for each given write the index of the one that carries it.

    A write is merged into an earlier one only if no write between them shares its lanes or those of its products. The
    merged write takes the position of the later one.
    """
    merged: list[Write] = []
    carriers: list[int] = []
    for write in writes:
        index = _merge_candidate_index(merged, write)
        if index < 0:
            merged.append(write)
            carriers.append(len(merged) - 1)
            continue
        merged.append(merge_writes(merged.pop(index), write))
        last = len(merged) - 1
        carriers = [last if at == index else at - (at > index) for at in carriers]
        carriers.append(last)
    return merged, carriers


def _merge_candidate_index(writes: Sequence[Write], write: Write) -> int:
    if not write.merge_key:
        return -1
    for index in range(len(writes) - 1, -1, -1):
        if can_merge(writes[index], write):
            between = {lane for other in writes[index + 1 :] for lane in other.lanes}
            return index if between.isdisjoint({*writes[index].lanes, *product_lanes(writes[index])}) else -1
    return -1
