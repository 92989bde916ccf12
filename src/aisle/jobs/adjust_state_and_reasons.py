"""State of the job for lost and found goods, and its reasons."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from aisle.jobs.count.count_state import CountLine
from aisle.jobs.quantity_or_record import QuantityQuestion
from aisle.jobs.stock_pool_names import Pools
from aisle.scan.grammar_and_meaning_types import Match
from aisle.settings.setting_definitions import LARGE_QUANTITY, LOSS_REASONS

if TYPE_CHECKING:
    from aisle.jobs.row_types.log import ReasonsRow

MAX_CHOICES = 99
"""Most rows of a question that can be chosen; each row needs one key."""

MAX_UNDO = 20
"""Number of sent adjustments that can be undone, the last one first."""

_EXPIRY = re.compile(
    r"expir|best before|out of date|use.by|p[eé]rim|abgelaufen|ablauf|verfall|mhd|verlopen|houdbaar|\btht\b|over datum",
    re.IGNORECASE,
)
"""Words that name expired goods, in any language of aisle."""

_REASON = re.compile(r"\s*(\d+)\s*([+-])\s*(\S.*)")


class Reason(NamedTuple):
    """Reason of an adjustment. `sign` is 1 if the stock grows, -1 if it shrinks."""

    code: int
    sign: int
    text: str


class SentAdjustment(NamedTuple):
    """Adjustment that was sent and can be undone."""

    line: CountLine
    quantity: Decimal
    """Quantity as it was sent, with its sign."""
    at: str
    """Time of its entry in the log."""
    pool_name: str = ""
    """Name of its stock pool, if the product lies there in several."""


class AdjustState(NamedTuple):
    """State of an adjustment that is being entered."""

    phase: str = "product"
    """`product`, `location`, `quantity` or `reason`."""
    location: str = ""
    default_pool: int = 0
    """Pool at a location where no stock of the product is known."""
    line: CountLine | None = None
    candidates: tuple[CountLine, ...] = ()
    """Locations and pools that have the product according to the stock data."""
    quantity: Decimal = Decimal(0)
    earlier_quantities: tuple[Decimal, ...] = ()
    """Quantity before each further entry for this line, for undo."""
    pending_scan: Match | None = None
    reasons: tuple[Reason, ...] = ()
    first_row: int = 0
    """Rows of the question above the first one on the screen."""
    page_size: int = MAX_CHOICES
    """Rows of the question that the screen shows."""
    sent: tuple[SentAdjustment, ...] = ()
    closes_after_send: bool = False
    starts_at_zero: bool = False
    """True if the job was opened for a product: the person says how many, and the first scan makes one."""
    expired_on: str = ""
    """Expiry date of the goods that are lost."""
    closes_after_undo: bool = False
    """True if the job was opened only to undo what another one had it send."""
    pools: Pools = ()
    has_expected: bool = False
    """True if stock figures of the product are known. A location without a figure then has an expected quantity of
    0."""
    chosen_reason: Reason | None = None
    """Chosen reason while the person confirms a loss above the expected quantity."""
    reason_number: int = 0
    """Number by which it was chosen; 0 if the quantity was set after it."""
    exceeded_answer: str = ""
    """Answer to the question if more than the stock is lost, while the stock is read again."""
    question: QuantityQuestion | None = None
    """Question about a quantity. Nothing else is accepted before its answer."""
    looked_up_number: Decimal | None = None
    """Digits for which a lookup of record numbers is under way."""
    large_quantity: Decimal = LARGE_QUANTITY
    """Quantity from which a confirmation is asked if the expected quantity is unknown."""
    confirmed_quantity: Decimal | None = None
    """Implausibly large quantity that the person has confirmed. It is not asked again."""
    chosen_location: str = ""
    """Location of the product before a count, which is not asked again after it."""
    is_location_chosen: bool = False
    """True if a person chose the location of the product in hand from a list."""
    chosen_pool: int | None = None
    """Pool that was chosen before a count, which is not asked again after it."""


def parse_reasons(lines: Iterable[str], logged: Iterable[ReasonsRow] = ()) -> tuple[Reason, ...]:
    """Return the reasons of a table, then those found in logs. A line of the table is `code - words` or `code + words`;
    other lines are ignored. An empty table gives the defaults."""
    found = _parse_table(lines) or _parse_table(LOSS_REASONS)
    codes = {reason.code for reason in found}
    for row in logged:
        code = int(row["reason_code"])
        if code not in codes:
            codes.add(code)
            found.append(Reason(code, 1 if row.get("adds") else -1, str(row["reason_code_description"])))
    return tuple(found)


def reason_of_expired(state: AdjustState) -> Reason | None:
    """Return the reason by which expired goods are lost without a question: the only one whose words name expiry."""
    named = [reason for reason in state.reasons if reason.sign < 0 and _EXPIRY.search(reason.text)]
    return named[0] if state.expired_on and len(named) == 1 else None


def _parse_table(lines: Iterable[str]) -> list[Reason]:
    read = (_REASON.fullmatch(line) for line in lines)
    return [Reason(int(line[1]), 1 if line[2] == "+" else -1, line[3].strip()) for line in read if line]
