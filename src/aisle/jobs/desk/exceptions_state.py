"""What the list of what has to be settled keeps."""

from __future__ import annotations

from decimal import Decimal

from aisle.jobs.desk.orders_rows import Listed
from aisle.tuples import NamedTuple

KINDS = ("doubts", "differences", "impossible", "stuck", "late", "recounts")
"""What there is to settle, in the order of its numbers."""


class Row(NamedTuple):
    """One thing to settle."""

    key: str
    label: str = ""
    product: str = ""
    place: str = ""
    order: str = ""
    kind: str = ""
    who: str = ""
    at: str = ""
    quantity: Decimal = Decimal(0)
    of: Decimal = Decimal(0)
    value: Decimal | None = None
    """Money; None where no price is known."""
    review: str = ""
    listed: Listed | None = None
    """Of an order: as the board has it."""


class Exceptions(NamedTuple):
    """The counts of all kinds, and the list of one."""

    kind: str = ""
    """Empty for the summary."""
    counts: tuple[tuple[str, int], ...] = ()
    value: Decimal = Decimal(0)
    """What the differences come to, whichever way they go."""
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    rows: tuple[Row, ...] = ()
    total: int = 0
    marking: bool = False
    """Numbers mark instead of opening."""
    marked: tuple[str, ...] = ()
    asking: str = ""
    """`approve` or `recount`: whether it shall be done to all that are marked; else the key of one difference."""
    approved: tuple[Row, ...] = ()
    """What was approved last, and can be taken back."""
    features: tuple[str, ...] = ()
    """What the service announces."""
    loaded: bool = False
    size: int = 12
    """Rows that fit on the screen."""
    straight: bool = False
    """The list of one kind was asked for: back leads out of it."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of the summary that are in sight."""
        return KINDS[self.first : self.first + self.size]

    @property
    def chosen(self) -> tuple[Row, ...]:
        """The difference that was opened, while it is in sight."""
        return tuple(row for row in self.rows if row.key == self.asking)
