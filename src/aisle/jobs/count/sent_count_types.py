"""Row types of a count that was sent, which `undo_sent_count` reverses."""

from decimal import Decimal
from typing import NamedTuple


class StockChange(NamedTuple):
    """Stock change of one entry in a count that was sent."""

    product: str
    location: str
    pool: int
    quantity: Decimal
    counted_at: str
    label: str = ""
    unit: str = ""
    """Unit of goods that are measured; empty for pieces."""
    absorbed: Decimal = Decimal(0)
    """What the count took back of changes that came late; its undo lets them change the stock again."""
    undone_at: str = ""
    """Time of the entry that this one undoes; empty for another entry."""


class CountedQuantity(NamedTuple):
    """Quantity of a product in a count that was sent."""

    product: str
    quantity: Decimal


class SentCount(NamedTuple):
    """Count that was sent last, kept for undo."""

    label: str
    """Location or product."""
    changes: tuple[StockChange, ...] = ()
    unknown_count: int = 0
    """Number of products counted without known stock; those cannot be undone."""
    counted: tuple[CountedQuantity, ...] = ()
    listed_kind: str = ""
    """Kind of the target if a list was counted and more of it was left; else empty."""
    listed_key: str = ""
    counted_since: StockChange | None = None
    """Goods that somebody counted since, with the counted quantity, so that these are not undone; None without any."""
    has_unused: bool = False
    """True if the service does not use a count of it, because it had a later one; that has nothing to undo."""
    unused_before: Decimal | None = None
    """Count of the same goods that is not used because of this one, and stays so; None without one."""
    keeps_date: bool = False
    """True if its service keeps the date of the count when it is undone."""
    is_waiting: bool = False
    """True while the service has not confirmed it: what it books is known later, and only then reversed."""
