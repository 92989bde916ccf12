"""The state of losses and finds, and the reasons for them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs.count.counting import Item, Pool
from aisle.scan.meaning import Meaning
from aisle.settings import LARGE_QUANTITY, REASONS
from aisle.tuples import NamedTuple

NUMBERED = 99
"""Rows of a question that are numbered choices: one key each."""

HISTORY = 20
"""So many losses can be taken back, last first."""

_REASON = re.compile(r"\s*(\d+)\s*([+-])\s*(\S.*)")


class Reason(NamedTuple):
    """Why, and whether the stock grows (1) or shrinks (-1) by it."""

    code: int
    sign: int
    words: str


class Said(NamedTuple):
    """One loss that was sent, to be taken back."""

    item: Item
    quantity: Decimal
    """As it was sent, with its sign."""
    at: str
    """When it was said: the moment of its entry in the log."""


class Losing(NamedTuple):
    """A loss in hand."""

    phase: str = "product"
    """`product`, `place`, `quantity` or `reason`."""
    place: str = ""
    default: int = 0
    item: Item | None = None
    spots: tuple[Item, ...] = ()
    """Where the product lies by the books."""
    quantity: Decimal = Decimal(0)
    pending: Meaning | None = None
    reasons: tuple[Reason, ...] = ()
    first: int = 0
    """Rows of a question that are scrolled away."""
    size: int = NUMBERED
    """Rows of a question that the screen shows."""
    sent: tuple[Said, ...] = ()
    once: bool = False
    pools: tuple[Pool, ...] = ()
    figures: bool = False
    """The books say something of the product: what they do not have where it was is none."""
    chosen: Reason | None = None
    """Why; whether more is lost than the books have is asked."""
    number: Meaning | None = None
    """What the digits typed last are the number of; whether they are a quantity is asked."""
    typed: Decimal | None = None
    """So many, of which it is asked whether they are meant, or what they are the number of."""
    looked: Decimal | None = None
    """Digits that are looked up."""
    beyond: bool = False
    """So many are far more than there were; whether they are meant is asked, and nothing else is done before."""
    limit: Decimal = LARGE_QUANTITY
    """So many are asked about where nobody knows how many there were."""
    sure: Decimal | None = None
    """So many, far more than there were, are meant: nobody asks once more."""


def reasons(lines: Iterable[str], learnt: Iterable[Mapping[str, Any]] = ()) -> tuple[Reason, ...]:
    """The reasons of a table (`code - words`, `code + words`; other lines are left out), then those of the logs."""
    found = _table(lines) or _table(REASONS)
    codes = {reason.code for reason in found}
    for row in learnt:
        code = int(row["reason_code"])
        if code not in codes:
            codes.add(code)
            found.append(Reason(code, 1 if row.get("adds") else -1, str(row["reason_code_description"])))
    return tuple(found)


def _table(lines: Iterable[str]) -> list[Reason]:
    read = (_REASON.fullmatch(line) for line in lines)
    return [Reason(int(line[1]), 1 if line[2] == "+" else -1, line[3].strip()) for line in read if line]
