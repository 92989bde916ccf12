"""What the log's pages keep."""

from __future__ import annotations

from decimal import Decimal

from aisle.jobs.count.losing import Reason
from aisle.jobs.desk.logs_filter import Filter
from aisle.tuples import NamedTuple


class Entry(NamedTuple):
    """One entry of the log."""

    key: str
    at: str = ""
    user: str = ""
    product: str = ""
    label: str = ""
    place: str = ""
    pool: str = ""
    quantity: Decimal | None = Decimal(0)
    """What it changed the stock by; None where nobody says it."""
    counted: Decimal | None = None
    expected: Decimal | None = None
    reason: str = ""
    source: str = ""
    reference: str = ""
    order: str = ""
    review: str = ""
    who: str = ""
    """The name of `user`, where it is known."""
    work: str = ""
    """What was done, in the words that sources have: what aisle sent has itself for `source`."""


class Loss(NamedTuple):
    """What was lost for one reason, week by week."""

    reason: str
    weeks: tuple[Decimal, ...]
    total: Decimal


class Logs(NamedTuple):
    """A window on the log, and the pages over it."""

    phase: str = "list"
    """`list`, `entry`, `filter`, `value`, `export`, `sure` or `losses`."""
    filter: Filter = Filter()
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    rows: tuple[Entry, ...] = ()
    total: int = 0
    partial: bool = False
    """What is older than what is here was asked for and has not come yet."""
    entry: Entry | None = None
    field: str = ""
    """The part of the filter that is chosen."""
    reasons: tuple[Reason, ...] = ()
    losses: tuple[Loss, ...] = ()
    page: int = 0
    day: str = ""
    """Today, for the name of a file."""
    file: str = ""
    """The whole path of the file that is to be written."""
