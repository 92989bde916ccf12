"""State of the job of exceptions, and the kinds of exceptions."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NamedTuple

from aisle.jobs.job import (
    Turn,
)
from aisle.jobs.page_job import Action
from aisle.jobs.row_types.supervisor import DifferencesRow, ExcessReceiptsRow
from aisle.jobs.searchable_list import ListOptions
from aisle.scan.grammar_types import Match

EXCEPTION_KINDS = (
    "unconfirmed", "differences", "negative_stock", "stuck", "late", "recounts", "excess_receipts", "entries_to_review",
)  # fmt: skip
"""Kinds of exceptions, in the order of their numbers."""


class ExceptionsState(NamedTuple):
    """State of the summary and of the list of one kind."""

    kind: str = ""
    """Kind that is listed; empty for the summary."""
    counts: tuple[tuple[str, int], ...] = ()
    difference_value: Decimal = Decimal(0)
    """Sum of the absolute values of all differences."""
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    options: ListOptions = ListOptions()
    rows: tuple[Any, ...] = ()
    """Rows of the kind that is listed."""
    total: int = 0
    is_marking: bool = False
    """True if numbers mark rows instead of opening them."""
    marked: tuple[str, ...] = ()
    scanned: tuple[Match, ...] = ()
    """Product or location whose differences are looked for, to mark them."""
    question: str = ""
    """`approve` or `recount` while that is asked for all marked rows; else the key of the opened difference."""
    approved: tuple[DifferencesRow, ...] = ()
    """Differences approved last; they can be undone."""
    accepted: tuple[ExcessReceiptsRow, ...] = ()
    """Line with excess accepted last; it can be undone."""
    features: tuple[str, ...] = ()
    """Features that the service announces."""
    is_loaded: bool = False
    size: int = 12
    """Number of rows that fit on the screen."""
    opened_directly: bool = False
    """True if the list of one kind was opened directly. Back then leaves the job."""

    @property
    def visible_kinds(self) -> tuple[str, ...]:
        """Kinds of the summary that are on the screen."""
        return EXCEPTION_KINDS[self.first : self.first + self.size]


Result = Turn[ExceptionsState]
Actions = tuple[Action[ExceptionsState], ...]
