"""What the list of deliveries keeps, and the page of one over it."""

from __future__ import annotations

from decimal import Decimal

from aisle.jobs.receive.receiving import Line, Listed
from aisle.tuples import NamedTuple

OPEN, RECEIVED, ALL, RECEIPTS = "open", "received", "all", "receipts"
"""What the list shows; receipts come type by type where there are several."""


class Sheet(NamedTuple):
    """One delivery as its page shows it."""

    number: str
    supplier: str = ""
    state: str = ""
    expected: str = ""
    kind: str = ""
    reference: str = ""
    containers: str = ""
    origin: str = ""
    tracing: str = ""
    of: Decimal = Decimal(0)
    received: Decimal | None = Decimal(0)
    """None where nobody says it."""
    lines: tuple[Line, ...] = ()


class Deliveries(NamedTuple):
    """The list, and the page of one over it."""

    show: str = OPEN
    kind: str = ""
    """Of receipts: which type; empty for all."""
    kinds: tuple[str, ...] = ()
    """The types of receipts that there are."""
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    rows: tuple[Listed, ...] = ()
    total: int = 0
    number: str = ""
    """The delivery whose page is open; empty for the list."""
    sheet: Sheet | None = None
    page: int = 0
