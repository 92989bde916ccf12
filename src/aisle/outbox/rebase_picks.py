"""Addition of what two people pick on one line, in whatever order their updates arrive. Pure.

An update line has the picker's result, `picked_quantity`, and the quantity found before, `base_picked_quantity`. Only
the difference is applied to the current line. Lines without a base are absolute, as in the interface.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from aisle.operation_body_types import LineUpdate

BASE: Final = "base_picked_quantity"
PICKED: Final = "picked_quantity"


class RebasedLine(NamedTuple):
    """Result for a line. `excess` exceeds the line: it is in a person's hand and recorded nowhere."""

    picked: Decimal
    excess: Decimal


def has_base(line: LineUpdate) -> bool:
    """Return whether an update line states the quantity found before."""
    return BASE in line and PICKED in line


def picked_change(line: LineUpdate) -> Decimal:
    """Return the change by the picker, of a line with a base."""
    return Decimal(line[PICKED]) - Decimal(line[BASE])


def rebase_line(line: LineUpdate, current: Decimal, ordered: Decimal, moved: Decimal = Decimal(0)) -> RebasedLine:
    """Apply the change to a line at `current` of the `ordered` quantity, `moved` of it at a location."""
    unlimited = current + picked_change(line)
    picked = max(min(unlimited, max(current, ordered)), min(current, moved))
    return RebasedLine(picked, unlimited - picked)


def is_picked(line: LineUpdate, rebased: RebasedLine, ordered: Decimal) -> bool:
    """Return whether the line counts as picked: it is full, or the picker knowingly closed it short."""
    return rebased.picked >= ordered or (bool(line.get("is_picked")) and Decimal(line[PICKED]) < ordered)


def merge_line_updates(earlier: LineUpdate, later: LineUpdate) -> LineUpdate:
    """Merge two updates of one line: field by field, with the changes of both added up."""
    line: LineUpdate = {**earlier, **later}
    if PICKED not in later or BASE not in line:
        return line
    if not has_base(later):
        del line[BASE]  # the result is absolute
    elif has_base(earlier):
        change = picked_change(earlier) + picked_change(later)
        line[PICKED] = max(Decimal(later[PICKED]), Decimal(earlier[BASE]) + change)
        line[BASE] = line[PICKED] - change
    elif PICKED in earlier:
        line[PICKED] = Decimal(earlier[PICKED]) + picked_change(later)
        del line[BASE]
    return line
