"""What two people pick on one line is added up, whoever is heard of first; pure.

An update line says what its picker made of it, `picked_quantity`, and what he found, `base_picked_quantity`. Only the
difference is his; it is done to the line as it stands. Lines without a base are absolute, as the interface has them.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

BASE, PICKED = "base_picked_quantity", "picked_quantity"

LineUpdate = Mapping[str, Any]


class RebasedLine(NamedTuple):
    """What a line comes to; `left` found no room on it: it is in somebody's hand and in no book."""

    picked: Decimal
    excess: Decimal


def has_base(line: LineUpdate) -> bool:
    """Whether an update line says what its picker found."""
    return BASE in line and PICKED in line


def picked_change(line: LineUpdate) -> Decimal:
    """What the picker did, of a line with a base."""
    return Decimal(line[PICKED]) - Decimal(line[BASE])


def rebase_line(line: LineUpdate, current: Decimal, ordered: Decimal, moved: Decimal = Decimal(0)) -> RebasedLine:
    """His share, done to a line that `stands` at so much `of` what is ordered, `moved` of it at a place."""
    wanted = current + picked_change(line)
    picked = max(min(wanted, max(current, ordered)), min(current, moved))
    return RebasedLine(picked, wanted - picked)


def is_picked(line: LineUpdate, rebased: RebasedLine, ordered: Decimal) -> bool:
    """Whether the line counts as picked then: it is full, or its picker has closed it short, and knew that it was."""
    return rebased.picked >= ordered or (bool(line.get("is_picked")) and Decimal(line[PICKED]) < ordered)


def merge_line_updates(earlier: LineUpdate, later: LineUpdate) -> dict[str, Any]:
    """Two updates of one line as one: field by field, and both shares together."""
    line = {**earlier, **later}
    if PICKED not in later or BASE not in line:
        return line
    if not has_base(later):
        del line[BASE]  # absolute again
    elif has_base(earlier):
        both = picked_change(earlier) + picked_change(later)
        line[PICKED] = max(Decimal(later[PICKED]), Decimal(earlier[BASE]) + both)
        line[BASE] = line[PICKED] - both
    elif PICKED in earlier:
        line[PICKED] = Decimal(earlier[PICKED]) + picked_change(later)
        del line[BASE]
    return line
