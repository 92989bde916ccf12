"""What the log of today keeps: its entries, and the window on them."""

from __future__ import annotations

from decimal import Decimal

from aisle.tuples import NamedTuple


class Entry(NamedTuple):
    """One entry of the log, of this host or of the service's."""

    key: str
    id: str = ""
    """The service's number; empty while it has not said one."""
    at: str = ""
    user: str = ""
    product: str = ""
    label: str = ""
    place: str = ""
    pool: int = 0
    counted: Decimal | None = None
    difference: Decimal | None = Decimal(0)
    """What it changed the stock by; None where nobody says it."""
    reason: str = ""
    word: str = "confirmed"
    """What has become of it; one of `fate.WORDS`."""
    why: str = ""
    undone: bool = False

    @property
    def undoable(self) -> bool:
        """It is known to the service, it changed something, and nobody has taken it back."""
        return bool(self.id and self.difference and self.word == "confirmed" and not self.undone)


class Log(NamedTuple):
    """A window on the log; with `entry` that one alone."""

    mine: bool = True
    product: str = ""
    label: str = ""
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    rows: tuple[Entry, ...] = ()
    total: int = 0
    entry: Entry | None = None
    asking: bool = False
    """Whether the entry shall be taken back is the question."""
