"""Two writes that say one thing after another become one that says both; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aisle.jobs.job import Json, Write
from aisle.outbox.operation_record import UPDATE_ORDER
from aisle.outbox.rebase import merge_line_updates

_SOURCE_FIELDS = ("preferred_location_code", "stock_pool")
"""What of a line says where its goods were taken."""


def can_merge(earlier: Write, later: Write) -> bool:
    """True when both carry the same merge key, go to the same address, and take no line's goods from two places."""
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
    """Quantities are absolute, so one write would book all of a line from the place that it names."""
    before, after = _source_locations(earlier), _source_locations(later)
    return any(before[line] != after[line] for line in before.keys() & after.keys())


def _source_locations(write: Write) -> dict[Any, tuple[Any, ...]]:
    lines = write.body["orders"].get("order_lines") or ()
    return {line["line_number"]: tuple(line.get(name) for name in _SOURCE_FIELDS) for line in lines}


def merge_writes(earlier: Write, later: Write) -> Write:
    """One write with the effect of both, in the lanes of both.

    Update customer order: the lines of the later one lie over those of the earlier one by `line_number`, field by
    field (what is picked is added up, see `rebase`), and so do the fields of the order. Any other body is replaced by
    the later one.
    """
    body = later.body
    if later.operation == UPDATE_ORDER:
        body = {**earlier.body, **later.body, "orders": _merge_orders(earlier.body["orders"], later.body["orders"])}
    return later._replace(lanes=tuple(dict.fromkeys((*earlier.lanes, *later.lanes))), body=body)


def _merge_orders(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> dict[str, Any]:
    order = {**earlier, **later}
    if "order_lines" in order:
        order["order_lines"] = _merge_lines(earlier.get("order_lines") or (), later.get("order_lines") or ())
    return order


def _merge_lines(earlier: Sequence[Mapping[str, Any]], later: Sequence[Mapping[str, Any]]) -> list[Json]:
    lines: dict[Any, dict[str, Any]] = {}
    for line in (*earlier, *later):
        lines[line["line_number"]] = merge_line_updates(lines.get(line["line_number"], {}), line)
    return list(lines.values())


def product_lanes(write: Write) -> frozenset[str]:
    """The lanes of the products that an order's lines take. What is counted or moved in them parts two writes.

    A merged write happened when its later part did; a count in between has seen the goods of the earlier part gone.
    """
    if write.operation != UPDATE_ORDER:
        return frozenset()
    lines = write.body["orders"].get("order_lines") or ()
    return frozenset(f"product/{line['product_number']}" for line in lines)


def merge_batch(writes: Sequence[Write]) -> tuple[list[Write], list[int]]:
    """The writes of one batch, those merged that can be, and for each given write the index of the one that carries it.

    A write is merged into the one before it only when nothing stands between them in its lanes, or in those of its
    goods; the result stands where the later one stood.
    """
    kept: list[Write] = []
    carriers: list[int] = []
    for write in writes:
        index = _merge_candidate_index(kept, write)
        if index < 0:
            kept.append(write)
            carriers.append(len(kept) - 1)
            continue
        kept.append(merge_writes(kept.pop(index), write))
        last = len(kept) - 1
        carriers = [last if at == index else at - (at > index) for at in carriers]
        carriers.append(last)
    return kept, carriers


def _merge_candidate_index(writes: Sequence[Write], write: Write) -> int:
    if not write.merge_key:
        return -1
    for index in range(len(writes) - 1, -1, -1):
        if can_merge(writes[index], write):
            between = {lane for other in writes[index + 1 :] for lane in other.lanes}
            return index if between.isdisjoint({*writes[index].lanes, *product_lanes(writes[index])}) else -1
    return -1
