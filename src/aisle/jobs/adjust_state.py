"""The state of losses and finds, and the reasons for them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from aisle.jobs.count.count_state import CountLine, Pool
from aisle.scan.meaning import Match
from aisle.settings import LARGE_QUANTITY, LOSS_REASONS

MAX_CHOICES = 99
"""Rows of a question that are numbered choices: one key each."""

MAX_UNDO = 20
"""So many losses can be taken back, last first."""

_REASON = re.compile(r"\s*(\d+)\s*([+-])\s*(\S.*)")


class Reason(NamedTuple):
    """Why, and whether the stock grows (1) or shrinks (-1) by it."""

    code: int
    sign: int
    text: str


class SentAdjustment(NamedTuple):
    """One loss that was sent, to be taken back."""

    line: CountLine
    quantity: Decimal
    """As it was sent, with its sign."""
    at: str
    """When it was said: the moment of its entry in the log."""


class AdjustState(NamedTuple):
    """A loss in hand."""

    phase: str = "product"
    """`product`, `place`, `quantity` or `reason`."""
    location: str = ""
    default_pool: int = 0
    line: CountLine | None = None
    candidates: tuple[CountLine, ...] = ()
    """Where the product lies by the books."""
    quantity: Decimal = Decimal(0)
    pending_scan: Match | None = None
    reasons: tuple[Reason, ...] = ()
    first_row: int = 0
    """Rows of a question that are scrolled away."""
    page_size: int = MAX_CHOICES
    """Rows of a question that the screen shows."""
    sent: tuple[SentAdjustment, ...] = ()
    closes_after_send: bool = False
    pools: tuple[Pool, ...] = ()
    has_expected: bool = False
    """The books say something of the product: what they do not have where it was is none."""
    chosen_reason: Reason | None = None
    """Why; whether more is lost than the books have is asked."""
    number_match: Match | None = None
    """What the digits typed last are the number of; whether they are a quantity is asked."""
    asked_quantity: Decimal | None = None
    """So many, of which it is asked whether they are meant, or what they are the number of."""
    looked_up_number: Decimal | None = None
    """Digits that are looked up."""
    is_implausible: bool = False
    """So many are far more than there were; whether they are meant is asked, and nothing else is done before."""
    large_quantity: Decimal = LARGE_QUANTITY
    """So many are asked about where nobody knows how many there were."""
    confirmed_quantity: Decimal | None = None
    """So many, far more than there were, are meant: nobody asks once more."""


def parse_reasons(lines: Iterable[str], logged: Iterable[Mapping[str, Any]] = ()) -> tuple[Reason, ...]:
    """The reasons of a table (`code - words`, `code + words`; other lines are left out), then those of the logs."""
    found = _parse_table(lines) or _parse_table(LOSS_REASONS)
    codes = {reason.code for reason in found}
    for row in logged:
        code = int(row["reason_code"])
        if code not in codes:
            codes.add(code)
            found.append(Reason(code, 1 if row.get("adds") else -1, str(row["reason_code_description"])))
    return tuple(found)


def _parse_table(lines: Iterable[str]) -> list[Reason]:
    read = (_REASON.fullmatch(line) for line in lines)
    return [Reason(int(line[1]), 1 if line[2] == "+" else -1, line[3].strip()) for line in read if line]
