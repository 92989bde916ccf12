"""Two writes that say one thing after another become one that says both; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aisle.jobs.base import Json, Write
from aisle.local.outbox.operation import UPDATE
from aisle.local.outbox.rebase import laid_over

_WHERE = ("preferred_location_code", "stock_pool")
"""What of a line says where its goods were taken."""


def mergeable(earlier: Write, later: Write) -> bool:
    """True when both carry the same merge key, go to the same address, and take no line's goods from two places."""
    same = (earlier.merge, earlier.operation, earlier.path, earlier.query) == (
        later.merge,
        later.operation,
        later.path,
        later.query,
    )
    return (
        bool(later.merge)
        and same
        and (earlier.user, earlier.supervises) == (later.user, later.supervises)
        and not (later.operation == UPDATE and _takes_elsewhere(earlier, later))
    )


def _takes_elsewhere(earlier: Write, later: Write) -> bool:
    """Quantities are absolute, so one write would book all of a line from the place that it names."""
    before, after = _places(earlier), _places(later)
    return any(before[line] != after[line] for line in before.keys() & after.keys())


def _places(write: Write) -> dict[Any, tuple[Any, ...]]:
    lines = write.body["orders"].get("order_lines") or ()
    return {line["line_number"]: tuple(line.get(name) for name in _WHERE) for line in lines}


def merged(earlier: Write, later: Write) -> Write:
    """One write with the effect of both, in the lanes of both.

    Update customer order: the lines of the later one lie over those of the earlier one by `line_number`, field by
    field (what is picked is added up, see `rebase`), and so do the fields of the order. Any other body is replaced by
    the later one.
    """
    body = later.body
    if later.operation == UPDATE:
        body = {**earlier.body, **later.body, "orders": _order(earlier.body["orders"], later.body["orders"])}
    return later._replace(lanes=tuple(dict.fromkeys((*earlier.lanes, *later.lanes))), body=body)


def _order(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> dict[str, Any]:
    order = {**earlier, **later}
    if "order_lines" in order:
        order["order_lines"] = _lines(earlier.get("order_lines") or (), later.get("order_lines") or ())
    return order


def _lines(earlier: Sequence[Mapping[str, Any]], later: Sequence[Mapping[str, Any]]) -> list[Json]:
    lines: dict[Any, dict[str, Any]] = {}
    for line in (*earlier, *later):
        lines[line["line_number"]] = laid_over(lines.get(line["line_number"], {}), line)
    return list(lines.values())


def goods(write: Write) -> frozenset[str]:
    """The lanes of the products that an order's lines take. What is counted or moved in them parts two writes.

    A merged write happened when its later part did; a count in between has seen the goods of the earlier part gone.
    """
    if write.operation != UPDATE:
        return frozenset()
    lines = write.body["orders"].get("order_lines") or ()
    return frozenset(f"product/{line['product_number']}" for line in lines)


def fold(writes: Sequence[Write]) -> tuple[list[Write], list[int]]:
    """The writes of one batch, those merged that can be, and for each given write the index of the one that carries it.

    A write is merged into the one before it only when nothing stands between them in its lanes, or in those of its
    goods; the result stands where the later one stood.
    """
    kept: list[Write] = []
    carriers: list[int] = []
    for write in writes:
        index = _partner(kept, write)
        if index < 0:
            kept.append(write)
            carriers.append(len(kept) - 1)
            continue
        kept.append(merged(kept.pop(index), write))
        last = len(kept) - 1
        carriers = [last if at == index else at - (at > index) for at in carriers]
        carriers.append(last)
    return kept, carriers


def _partner(kept: Sequence[Write], write: Write) -> int:
    if not write.merge:
        return -1
    for index in range(len(kept) - 1, -1, -1):
        if mergeable(kept[index], write):
            between = {lane for other in kept[index + 1 :] for lane in other.lanes}
            return index if between.isdisjoint({*kept[index].lanes, *goods(kept[index])}) else -1
    return -1
