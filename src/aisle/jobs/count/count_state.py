"""State of a count: its target, its lines, and the history for undo.

The target of a count is a location, or one product at all its locations. Each pair of product and pool at a location is
one line.
"""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

from aisle.jobs.count.sent_count_types import SentCount, StockChange
from aisle.jobs.job import Policy, Turn
from aisle.jobs.names_in_messages import Pools
from aisle.jobs.typed_numbers_dates_and_letters import QuantityQuestion
from aisle.jobs.walk_order_sort_keys import NO_WALK_ORDER
from aisle.scan.grammar_and_meaning_types import Match

MAX_UNDO = 100

MAX_PRODUCTS = 200
"""Number of products read when a location is opened. In a stockroom the others are read when they are scanned, and all
of them at the end."""


FOUND_BY_WORDS = "found"
"""Kind of a choice among the products here that have the typed words in their names."""


class ExpectedStock(NamedTuple):
    """Expected stock of a line, as `CountLine` has it."""

    expected: Decimal
    held: Decimal
    is_expected_unknown: bool


class LaterCount(NamedTuple):
    """Count that somebody made of the same goods after this one."""

    name: str
    counted: Decimal
    at: str
    """ISO 8601 UTC."""


class LeftOut(NamedTuple):
    """Counted lines that are not sent, because their goods have a later count."""

    label: str
    """Product of the first one."""
    line_count: int
    later: LaterCount
    """Later count of the first one."""
    unit: str = ""
    """Unit of the first one; empty for pieces."""


class CountLine(NamedTuple):
    """Count of one product in one pool at one location. Quantities are in base units."""

    location: str
    """Empty for stock at no location."""
    product: str
    label: str
    pool: int = 0
    """Pool; 0 for the location's own where pools are unknown."""
    expected: Decimal = Decimal(0)
    """Stock at the time of the last scan or entry, including goods held for customers."""
    held: Decimal = Decimal(0)
    """Quantity held for customers; when a product is counted at all locations, goods in hand beside `expected`."""
    allows_decimals: bool = False
    unit: str = ""
    price: Decimal = Decimal(0)
    counted: Decimal | None = None
    counted_at: str = ""
    """Time of the last scan or entry, ISO 8601 UTC."""
    needs_recount: bool = False
    is_recounted: bool = False
    is_left_as_is: bool = False
    """True if it was not found and its stock stays unchanged."""
    is_expected_unknown: bool = False
    """True if the stock is unknown: `expected` has no meaning, and there is no difference."""
    is_typed: bool = False
    """True if the counted quantity was typed and nothing was scanned since."""
    undone: Decimal = Decimal(0)
    """Part of `expected` that comes from undos since the last scan or entry of what was booked before it."""
    latest: ExpectedStock | None = None
    """Expected stock that was read since the last scan or entry; the next one is compared with it. None for none."""
    later: LaterCount | None = None
    """Count that somebody made of these goods since; None without one."""
    begun_at: str = ""
    """Time of the first scan or entry that is part of `counted`, ISO 8601 UTC; empty if that is `counted_at`."""
    changed: Decimal = Decimal(0)
    """Part of `counted`: what was found less what was lost between its first and its last scan."""

    @property
    def difference(self) -> Decimal:
        """Counted less expected; 0 while not counted or if the stock is unknown."""
        return Decimal(0) if self.counted is None or self.is_expected_unknown else self.counted - self.expected

    @property
    def first_at(self) -> str:
        """Time of the first scan or entry that is part of the counted quantity; empty while not counted."""
        return "" if self.counted is None else self.begun_at or self.counted_at

    @property
    def entered(self) -> Decimal:
        """Counted quantity as it was scanned or typed."""
        return (self.counted or Decimal(0)) - self.changed

    @property
    def value(self) -> Decimal:
        """Value of the difference; 0 if the price is unknown."""
        return self.difference * self.price

    @property
    def is_missing(self) -> bool:
        """True if stock is expected but the line is neither counted nor left unchanged."""
        return self.counted is None and bool(self.expected) and not self.is_left_as_is


LineKey = tuple[str, str, int]
"""Location, product and pool of a line."""


class UndoStep(NamedTuple):
    """State of a line before an entry, for undo."""

    location: str
    product: str
    pool: int
    counted: Decimal | None = None
    counted_at: str = ""
    stock: ExpectedStock | None = None
    """Expected stock that the earlier quantity is compared with."""
    left: tuple[LineKey, ...] = ()
    """Keys of the lines that one answer left as they are; the other fields are then those of the first one."""
    loss: str = ""
    """Adjustment that was sent from this count, for the job that undoes it; the other fields are then empty."""
    begun_at: str = ""
    changed: Decimal = Decimal(0)


class CountTarget(NamedTuple):
    """Target of a count: a `location`, or a `product` at all its locations. As a choice it may also be
    `FOUND_BY_WORDS`."""

    kind: str
    key: str
    label: str = ""
    walk_order: Decimal = NO_WALK_ORDER
    added: int = 0
    """Serial number by which it was added to the list."""


class SentSummary(NamedTuple):
    """Summary of a count that was sent, for its message."""

    label: str
    """Location or product."""
    line_count: int
    differing_count: int


class CountState(NamedTuple):
    """State of the count job."""

    phase: str = "start"
    """`start`, `list`, `count`, `missing`, `recount`, `summary`, `pool` or `leave`."""
    mode: str = ""
    """`location` or `product`."""
    location: str = ""
    product: str = ""
    """Product that is counted location by location."""
    label: str = ""
    default_pool: int = 0
    """Default pool of the location; 0 if unknown."""
    chosen_pool: int = 0
    """Pool chosen for further entries; 0 for none."""
    lines: tuple[CountLine, ...] = ()
    current_index: int = -1
    """Index of the line whose quantity is open."""
    recount_quantity: Decimal | None = None
    """Result so far of the second count."""
    recounted_at: str = ""
    """Time of the last scan of the second count, ISO 8601 UTC."""
    recount_begun_at: str = ""
    """Time of its first scan."""
    recount_stock: ExpectedStock | None = None
    """Expected stock at that time."""
    history: tuple[UndoStep, ...] = ()
    question_start: int = 0
    """Number of entries in the history when counting was finished: later ones answer questions."""
    next_target: CountTarget | None = None
    plan: tuple[CountTarget, ...] = ()
    """Targets still to be counted, in walking order."""
    typed_number: Decimal | None = None
    """Digits that are being looked up: a quantity or a record's number."""
    choices: tuple[CountTarget, ...] = ()
    question: QuantityQuestion | None = None
    asked_at: str = ""
    """Time of the scan or number in question, ISO 8601 UTC; its quantity is counted then, not at the answer."""
    asked_stock: ExpectedStock | None = None
    """Expected stock at that time."""
    pending_scan: Match | None = None
    """Scan of a product that is being looked up."""
    sent: SentSummary | None = None
    first_row: int = 0
    """Index of the first row shown in a list."""
    pools: Pools = ()
    closes_after_send: bool = False
    """True if the job was opened for one location or product and closes when that is sent."""
    only_product: str = ""
    """The only product counted at the open location; empty for all."""
    has_unread_lines: bool = False
    """True if the location has more stock lines than were read."""
    product_count: int = 0
    """Number of products in stock at the location, as far as known."""
    is_expected_unknown: bool = False
    """True if the service has reported no stock quantities at all."""
    last_sent: SentCount | None = None
    is_blind: bool = False
    ordered_recounts: int = 0
    """Number of ordered recounts that are not done."""
    are_locations_unknown: bool = False
    """True if the service has reported no stock locations at all."""
    has_moved_on: bool = False
    """True if the last input was a number that answered a question, so that the page went on to another quantity. The
    next number may be a correction, so it is asked about."""
    is_listed: bool = False
    """True if the target that is counted came from the list."""
    untaken: str = ""
    """Label of a scan whose question was not answered; the next verdict says that it is not taken."""
    left_out: LeftOut | None = None
    """Lines left out because of a later count; the next verdict says so."""
    stock_changes: tuple[StockChange, ...] = ()
    """What was lost or found of the counted products since the first of them was counted."""
    moves: tuple[StockChange, ...] = ()
    """What came or left otherwise since then, for example by a movement or a pick."""

    @property
    def current_line(self) -> CountLine | None:
        """Line whose quantity is open."""
        return self.lines[self.current_index] if 0 <= self.current_index < len(self.lines) else None

    @property
    def usual_pool(self) -> int:
        """Pool that is counted where none is named."""
        return self.default_pool or 1

    @property
    def counted_lines(self) -> tuple[CountLine, ...]:
        """All lines that are counted."""
        return tuple(item for item in self.lines if item.counted is not None)

    @property
    def differing_lines(self) -> tuple[CountLine, ...]:
        """Counted lines with a difference, highest value first."""
        differing = [item for item in self.lines if item.difference]
        return tuple(sorted(differing, key=lambda item: (-abs(item.value), -abs(item.difference), item.label)))

    @property
    def question_index(self) -> int:
        """Index of the line in question, because it was not scanned or needs a recount; -1 for none."""
        for index, item in enumerate(self.lines):
            if item.is_missing if self.phase == "missing" else item.needs_recount:
                return index
        return -1

    def list_again(self, sent: SentCount) -> CountState:
        """Return the state with an undone target of a list back on it, as the next one, unless it is counted now. If
        nothing is counted, the list is shown."""
        is_on_list = any((each.kind, each.key) == (sent.listed_kind, sent.listed_key) for each in self.plan)
        is_counted_now = self.phase != "start" and sent.listed_key in (self.location, self.product)
        if not sent.listed_key or is_on_list or is_counted_now:
            return self
        plan = (CountTarget(sent.listed_kind, sent.listed_key, sent.label), *self.plan)
        return self._replace(plan=plan, phase="list" if self.phase == "start" else self.phase)


Result = Turn[CountState]


def exceeds_threshold(line: CountLine, policy: Policy) -> bool:
    """Return True if the difference is so large that a recount is needed; a threshold of 0 is not applied."""
    if line.latest and line.latest.expected == line.counted:
        return False  # the stock is known to be as counted since
    units, value = abs(line.difference), abs(line.value)
    share = policy.recount_percent
    return bool(
        (policy.recount_units and units > policy.recount_units)
        or (share and line.expected and units * 100 > share * abs(line.expected))
        or (policy.recount_value and value > policy.recount_value)
    )
